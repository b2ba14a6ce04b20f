"""A paper as CSL-JSON, the one form from which every citation format is made.

Field names and types are those of the CSL 1.0.2 data schema (``csl-data.json``), which knows
``DOI``, ``PMID`` and ``PMCID``; an arXiv identifier is the ``archive_location`` in ``arXiv``.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any
from urllib.parse import quote

from ..model.paper import Author, Notice, Paper
from ..system.plain_text import one_line
from .typography import page_ranges

_TAG = re.compile(
    r"</?(?:i|b|u|em|strong|su[bp]|sc|scp|tt|span|p|br|italic|bold|title|inf|(?:mml|jats):[\w-]+)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.I,
)
_SCRIPT = re.compile(r"<(su[bp])>([\d+−-]{1,9})</\1>", re.I | re.A)
_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_BRACKETED = re.compile(r"\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]")
_TYPES = {
    "Preprint": "article",
    "Academic Dissertation": "thesis",
    "Newspaper Article": "article-newspaper",
    "Dataset": "dataset",
}
_ARXIV = ("", "arXiv", "arXiv.org")  # as arXiv, and as Semantic Scholar names the place
_LANGUAGES = {
    "eng": "en", "fre": "fr", "ger": "de", "spa": "es", "ita": "it", "por": "pt", "rus": "ru",
    "jpn": "ja", "chi": "zh", "pol": "pl", "dut": "nl", "kor": "ko", "tur": "tr", "swe": "sv",
    "dan": "da", "nor": "no", "cze": "cs", "hun": "hu", "ukr": "uk", "heb": "he", "fin": "fi",
}  # fmt: skip
_ASCII = str.maketrans(
    {"ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_SMALL = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "by", "can", "der", "die", "do", "does", "for", "from",
        "how", "in", "is", "la", "le", "of", "on", "or", "the", "to", "un", "une", "what", "with",
    )
)  # fmt: skip


def csl_item(paper: Paper, key: str = "") -> dict[str, Any]:
    """The paper as one item of CSL-JSON; what is not known is left out.

    Parameters
    ----------
    paper : Paper
    key : str
        The ``id``; made by `citation_key` where it is empty.
    """
    ids, arxiv = paper.ids, one_line(paper.ids.arxiv)
    bookshelf = paper.pages if paper.pages.startswith("NBK") else ""
    kind = _kind(paper, bookshelf)
    item = {
        "id": key or citation_key(paper),
        "type": kind,
        "genre": "Preprint" if kind == "article" else "",
        "title": plain_title(paper.title) or plain_title(paper.vernacular_title),
        "original-title": plain_title(paper.vernacular_title) if plain_title(paper.title) else "",
        "author": [_name(author) for author in paper.authors if author.name.strip()],
        "container-title": "" if kind == "book" else plain(paper.journal),
        "container-title-short": "" if bookshelf else plain(paper.journal_abbreviation),
        "issued": _date(paper.published),
        "volume": plain(paper.volume),
        "issue": plain(paper.issue),
        "page": "" if bookshelf else _pages(plain(paper.pages)),
        "ISSN": plain(paper.issn),
        "DOI": one_line(ids.doi),
        "PMID": one_line(ids.pmid),
        "PMCID": one_line(ids.pmcid),
        "archive": "arXiv" if arxiv else "",
        "archive_location": arxiv,
        "URL": _url(paper, bookshelf),
        "language": _language(paper),
        "keyword": "; ".join(_keywords(paper)),
        "abstract": plain(paper.abstract),
        "note": ". ".join(_notes(paper)),
    }
    return {name: value for name, value in item.items() if value}


def citation_key(paper: Paper) -> str:
    """Author, year and first significant word: depends on nothing but the paper.

    >>> from utils.model.identifiers import Ids
    >>> citation_key(Paper(Ids(), "The Role of mRNA", authors=(Author("Łoś"),), published="2019"))
    'los2019role'
    """
    first = paper.authors[0] if paper.authors else Author()
    family = _letters(first.family or first.collective.split(" ")[0]) or "anon"
    words = (_letters(word) for word in re.split(r"[\s/–—-]+", plain_title(paper.title)[:500]))
    telling = next((word for word in words if word and word not in _SMALL), "")
    return f"{family[:30]}{_letters(paper.year)}{telling[:30]}"


def plain(text: str) -> str:
    """One line without markup: ``<i>`` and ``&amp;`` are not part of a title, ``p < 0.05`` is.

    >>> plain("10<sup>3</sup> <i>E.&nbsp;coli</i>")
    '10³ E. coli'
    """
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub("", _SCRIPT.sub(_raise_or_lower, text))
    return one_line(text)


def _raise_or_lower(found: re.Match[str]) -> str:
    """Digits of a superscript or subscript as such characters: 10³ is not 103."""
    return found[2].translate(_LOWERED if found[1].lower() == "sub" else _RAISED)


def plain_title(text: str) -> str:
    """A title without markup, PubMed's final dot and the brackets of a translation.

    >>> plain_title("[On <i>C. elegans</i> &amp; CO<sub>2</sub>].")
    'On C. elegans & CO₂'
    """
    title = _without_final_dot(text)
    translated = _BRACKETED.fullmatch(title)
    return translated[1].rstrip(".").strip() if translated else title


def is_translated(paper: Paper) -> bool:
    """Whether the title is PubMed's own translation: it stands in brackets."""
    return bool(_BRACKETED.fullmatch(_without_final_dot(paper.title)))


def _without_final_dot(text: str) -> str:
    title = plain(text)
    return title[:-1].rstrip() if title.endswith(".") and not title.endswith("..") else title


def _kind(paper: Paper, bookshelf: str) -> str:
    if bookshelf:
        return "chapter" if paper.journal and paper.journal != paper.title else "book"
    if paper.ids.arxiv and paper.ids.doi and paper.journal not in _ARXIV:
        return "article-journal"  # arXiv's record, with the place where it was published
    for name, kind in _TYPES.items():
        if name in paper.publication_types:
            return kind
    if paper.ids.arxiv and paper.journal in _ARXIV:
        return "article"
    return "article-journal" if paper.journal or paper.journal_abbreviation else "document"


def _name(author: Author) -> dict[str, str]:
    if author.collective:
        return {"literal": plain(author.collective)}
    words = plain(author.family).split(" ")
    # "van der Berg": small words in front of the name, which is never all of it.
    small = next((at for at, word in enumerate(words) if not word[:1].islower()), 0)
    # NLM's initials stand side by side: "JA" would be read as one name.
    given = plain(author.given) or " ".join(f"{letter}." for letter in plain(author.initials))
    # "Maria de la" Cruz: small words at the end of the given names have no initials.
    first = given.split(" ")
    until = next(
        (at for at in range(len(first), 0, -1) if not first[at - 1][:1].islower()), len(first)
    )
    name = {
        "family": " ".join(words[small:]),
        "given": " ".join(first[:until]),
        "suffix": plain(author.suffix),
        "dropping-particle": " ".join(first[until:]),
        "non-dropping-particle": " ".join(words[:small]),
    }
    return {part: value for part, value in name.items() if value}


def _date(published: str) -> dict[str, list[list[int]]]:
    match = re.fullmatch(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-([0-2]\d|3[01]))?)?", published, re.A)
    parts = [int(part) for part in match.groups() if part] if match else []
    return {"date-parts": [parts]} if all(parts) and parts else {}


def _language(paper: Paper) -> str:
    first = one_line(paper.languages[0]) if paper.languages else ""
    return _LANGUAGES.get(first, first)


def _pages(pages: str) -> str:
    """A range in full: PubMed shortens its end.

    >>> _pages("1123-9"), _pages("S12-S18"), _pages("e123"), _pages("115-9, 121-4")
    ('1123-1129', 'S12-S18', 'e123', '115-119, 121-124')
    """
    return page_ranges(pages).replace("–", "-")


def _url(paper: Paper, bookshelf: str) -> str:
    ids = paper.ids
    if ids.doi:
        return f"https://doi.org/{quote(one_line(ids.doi), safe='/:;().,_-')}"
    if bookshelf:
        return f"https://www.ncbi.nlm.nih.gov/books/{quote(bookshelf)}/"
    if ids.arxiv:
        return f"https://arxiv.org/abs/{quote(one_line(ids.arxiv))}"
    if ids.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{quote(one_line(ids.pmid))}/"
    pmcid = quote(one_line(ids.pmcid))
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/" if pmcid else ""


def _keywords(paper: Paper) -> list[str]:
    """The authors' own, else the MeSH headings without their qualifiers."""
    words = paper.keywords or [heading.lstrip("*").partition("/")[0] for heading in paper.mesh]
    return list(dict.fromkeys(filter(None, (plain(word).replace(";", ",") for word in words))))


def _notes(paper: Paper) -> list[str]:
    notes = ["Retracted publication"] if paper.retracted else []
    words = {"retraction": "Retraction", "expression_of_concern": "Expression of concern"}
    return notes + [
        f"{words[notice.kind]}: {_reference(notice)}"
        for notice in paper.notices
        if notice.kind in words and _reference(notice)
    ]


def _reference(notice: Notice) -> str:
    text = plain(notice.reference).rstrip(".")
    return " ".join(filter(None, (text, f"(PMID {notice.pmid})" if notice.pmid else "")))


def _letters(text: str) -> str:
    """Lower-case ASCII letters and digits of *text*."""
    folded = unicodedata.normalize("NFKD", text.lower().translate(_ASCII))
    return re.sub(r"[^a-z0-9]", "", folded)
