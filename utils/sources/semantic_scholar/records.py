"""Semantic Scholar's records, as papers.

Every field may be missing, null or of another type than documented, and is then empty: the graph is
made by programs from what publishers sent. Field names: https://api.semanticscholar.org/api-docs/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...formats.licenses import license_name
from ...model.identifiers import Ids
from ...model.paper import Author, Paper
from ...system.plain_text import clean_text
from ..loose_json import line, mapping, mappings

# Asked for by name: without, only the identifier and the title come.
LIST_FIELDS = (
    "paperId,externalIds,url,title,abstract,venue,publicationVenue,year,publicationDate,"
    "publicationTypes,journal,authors,citationCount,referenceCount,influentialCitationCount,"
    "openAccessPdf"
)
# Not to be had from the bulk search, nor in lists of citations.
FIELDS = f"{LIST_FIELDS},tldr"

_TYPES = {
    "JournalArticle": "Journal Article",
    "Review": "Review",
    "CaseReport": "Case Reports",
    "ClinicalTrial": "Clinical Trial",
    "Conference": "Congress",
    "Dataset": "Dataset",
    "Editorial": "Editorial",
    "LettersAndComments": "Letter",
    "MetaAnalysis": "Meta-Analysis",
    "News": "News",
    "Book": "Book",
    "BookSection": "Book Chapter",
}
SPELLED = {ours: theirs for theirs, ours in _TYPES.items()}
"""Semantic Scholar's word for each publication type it knows, by ours (PubMed's)."""

_PREPRINTS = re.compile(
    r"arxiv(\.org)?|corr|(bio|med|chem|psy|eco|engr|chin)a?rxiv|ssrn( electronic journal)?"
    r"|research square|preprints(\.org)?|authorea( preprints)?",
    re.I,
)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
_GROUP = re.compile(
    r"\b(consortium|collaborat(ion|ive)|group|network|committee|society|association|team|alliance"
    r"|investigators|initiative|project|task force|institute|university|organi[sz]ation"
    r"|council|ministry)\b",
    re.I,
)
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|I{2,3}|IV", re.I)
_PARTICLE = re.compile(
    "af|al|bin|da|das|de|del|della|den|der|des|di|dos|du|el|ibn|la|le|ten|ter|van|von|zu|zur"
)
_CREATIVE_COMMONS = re.compile(r"CCBY((?:NC|ND|SA)*)")


@dataclass(frozen=True, slots=True)
class ScholarPaper:
    """A paper as Semantic Scholar knows it.

    Counts are None where it does not say; ``url`` is its page there (which it asks to be linked
    to), ``author_ids`` are aligned with ``paper.authors``, ``tldr`` is one sentence written by a
    program, ``open_copy`` the address of a free copy it has seen.
    """

    paper: Paper
    citation_count: int | None = None
    reference_count: int | None = None
    influential_citation_count: int | None = None
    url: str = ""
    author_ids: tuple[str, ...] = ()
    tldr: str = ""
    open_copy: str = ""


@dataclass(frozen=True, slots=True)
class ScholarPage:
    """A page of a list at Semantic Scholar, and how to get the next.

    ``total`` is how long the list is (an estimate for searches), None where nobody says.
    ``next_start`` is None at the end, and where Semantic Scholar shows no more: then one of the
    ``warnings`` tells what is left out. A bulk search is continued with ``token`` and
    ``next_start`` together.
    """

    total: int | None
    papers: tuple[ScholarPaper, ...]
    next_start: int | None = None
    token: str = ""
    warnings: tuple[str, ...] = ()


def scholar_paper(row: Any) -> ScholarPaper | None:
    """The paper of a row; None without an identifier and a title."""
    if not isinstance(row, dict):
        return None
    authors = [
        (author, line(one.get("authorId")))
        for one in mappings(row.get("authors"))
        if (author := author_of(line(one.get("name"))))
    ]
    paper = _paper(row, tuple(author for author, _ in authors))
    if not (paper.ids or paper.title):
        return None
    return ScholarPaper(
        paper=paper,
        citation_count=count(row.get("citationCount")),
        reference_count=count(row.get("referenceCount")),
        influential_citation_count=count(row.get("influentialCitationCount")),
        url=_link(row.get("url")),
        author_ids=tuple(number for _, number in authors),
        tldr=line(mapping(row.get("tldr")).get("text")),
        open_copy=_link(mapping(row.get("openAccessPdf")).get("url")),
    )


def author_of(name: str) -> Author | None:
    """An author from a name printed whole; None where there is none.

    Particles belong to the family name; a name with a word for a group is a group's.

    >>> a = author_of("B. V. van der Werkhoven")
    >>> a.given, a.family, a.initials
    ('B. V.', 'van der Werkhoven', 'BV')
    >>> author_of("The ENCODE Project Consortium").collective
    'The ENCODE Project Consortium'
    """
    words = name.replace(",", ", ").split()
    if not words:
        return None
    if len(words) > 1 and _GROUP.search(name) and not re.match(r"[A-Z]\.?\s", name):
        return Author(collective=name)
    suffix = words.pop() if len(words) > 2 and _SUFFIX.fullmatch(words[-1]) else ""
    if words[0].endswith(",") and len(words) > 1:  # "Doe, J."
        words = [*words[1:], words[0]]
    words = [word.rstrip(",") for word in words]
    first = len(words) - 1
    while first > 0 and _PARTICLE.fullmatch(words[first - 1]):
        first -= 1
    given, family = " ".join(words[:first]), " ".join(words[first:])
    if not family:
        return None
    initials = "".join(part[0].upper() for part in re.split(r"[\s.-]+", given) if part)
    return Author(family, given, initials, suffix)


def _paper(row: Mapping[str, Any], authors: tuple[Author, ...]) -> Paper:
    journal, venue = mapping(row.get("journal")), mapping(row.get("publicationVenue"))
    shown = line(row.get("venue"))
    name = line(journal.get("name")) or line(venue.get("name")) or shown
    return Paper(
        ids=_ids(row),
        title=line(row.get("title")),
        abstract=_prose(row.get("abstract")),
        authors=authors,
        journal=name,
        journal_abbreviation=shown if shown != name and shown.endswith(".") else "",
        issn=line(venue.get("issn")),
        **_place(journal, preprint=bool(_PREPRINTS.fullmatch(name))),
        published=_published(row),
        publication_types=_types(row, preprint=bool(_PREPRINTS.fullmatch(name))),
        license=_license(line(mapping(row.get("openAccessPdf")).get("license"))),
        reference_count=count(row.get("referenceCount")) or 0,
    )


def _ids(row: Mapping[str, Any]) -> Ids:
    """All names of the paper that have the form of one."""
    names = mapping(row.get("externalIds"))
    doi = Ids.maybe(line(names.get("DOI")))
    number = line(names.get("PubMedCentral")).upper().removeprefix("PMC")
    return Ids(
        doi=doi.doi,
        pmid=Ids.maybe(f"PMID:{line(names.get('PubMed'))}").pmid,
        pmcid=Ids.maybe(f"PMC{number}").pmcid,
        arxiv=Ids.maybe(f"arXiv:{line(names.get('ArXiv'))}").arxiv or doi.arxiv,
        s2=Ids.maybe(line(row.get("paperId"))).s2,
    )


def _place(journal: Mapping[str, Any], *, preprint: bool) -> dict[str, Any]:
    r"""Volume, issue and pages; two numbers in the volume are a volume and an issue.

    A preprint server has neither: ``abs/2601.00001`` is no volume.

    >>> _place({"volume": "12 3", "pages": "\n  525 - 535 "}, preprint=False)
    {'volume': '12', 'issue': '3', 'pages': '525-535'}
    """
    if preprint:
        return {}
    volume, pages = line(journal.get("volume")), line(journal.get("pages"))
    number, _, issue = volume.partition(" ")
    if not (number.isdecimal() and re.fullmatch(r"\d+", issue)):
        number, issue = volume, ""
    pages = re.sub(r"\s*([-\u2010-\u2013])\s*", r"\1", pages)
    return {"volume": number, "issue": issue, "pages": pages}


def _published(row: Mapping[str, Any]) -> str:
    day, year = line(row.get("publicationDate")), line(row.get("year"))
    if _DATE.fullmatch(day):
        return day
    return year if re.fullmatch(r"\d{4}", year) else ""


def _types(row: Mapping[str, Any], *, preprint: bool) -> tuple[str, ...]:
    """PubMed's words; a preprint is one, whatever else Semantic Scholar takes it for."""
    values = row.get("publicationTypes")
    theirs = [kind for kind in values if isinstance(kind, str)] if isinstance(values, list) else []
    ours = dict.fromkeys(_TYPES[kind] for kind in theirs if kind in _TYPES)
    if preprint:
        return ("Preprint", *(kind for kind in ours if kind != "Journal Article"))
    return tuple(ours)


def _license(name: str) -> str:
    """Of the free copy; the short names come without blanks.

    >>> _license("CCBYNCND"), _license("CC0"), _license("publisher-specific")
    ('CC BY-NC-ND', 'CC0 1.0', 'publisher-specific')
    """
    if match := _CREATIVE_COMMONS.fullmatch(name.upper()):
        return "-".join(("CC BY", *re.findall("..", match[1])))
    return license_name(name) or name


def _prose(value: Any) -> str:
    """Paragraphs stay; an abstract that may not be shown is null."""
    return clean_text(value).strip() if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """A number of papers; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _link(value: Any) -> str:
    """An address a person can open; many "copies" are an empty string with a disclaimer."""
    link = line(value)
    return link if re.fullmatch(r"https?://[^\s/<>\"]+(/[^\s<>\"]*)?", link) else ""
