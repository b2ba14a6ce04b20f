"""Fetch PubMed's records of papers in four levels of detail.

Everything that can be read out of a record (``abstract_plus``), what a citation needs
(``citation_data``), and PubMed's own XML or MEDLINE text. Failures are reported per paper: one that
is not in PubMed is distinct from one that could not be requested.
"""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ...command_line import command_line
from ...errors import BadContent, BadRequest, NotFound, PaperError, SourceMiss
from ...http import Web
from ...model.identifiers import Ids
from ...model.paper import Author, Paper
from ...readers.pubmed_articles import CompleteRecord, get_medline_title, parse_complete_record
from ...sources.eutils import MAX_IDS_PER_REQUEST
from ...sources.pubmed import (
    Form,
    describe_record_request,
    fetch_papers,
    fetch_records,
    recall_records,
)
from ...system.plain_text import replace_surrogates, shorten

Level = Literal["abstract_plus", "full_xml", "medline_text", "citation_data"]
LEVELS: tuple[Level, ...] = get_args(Level)
MAX_AUTHORS = 100
_KINDS = {"doi": "DOI", "pmcid": "PMCID", "arxiv": "number of arXiv", "s2": "number of S2"}


@dataclass(frozen=True, slots=True)
class DetailedRecords:
    """The records of many papers, in the order of the request.

    ``records`` holds XML, or MEDLINE text, by PMID; ``not_found`` the PMIDs PubMed does not know
    (or no longer: merged ones vanish), ``failed`` why others could not be requested, among them
    texts that are no PMID. ``urls`` and ``method`` are empty when no request was needed.
    """

    requested: tuple[str, ...]
    records: dict[str, str]
    not_found: tuple[str, ...]
    failed: dict[str, PaperError]
    urls: tuple[str, ...]
    method: str


def fetch_details(pmids: Sequence[str | int], level: Level, web: Web) -> DetailedRecords:
    """Return the records of papers, with 200 per request; recent records come from the cache.

    Raises
    ------
    BadRequest
        None of them is a PMID, or there is none.
    SourceMiss
        Nothing at all could be learned.
    """
    wanted, malformed = _parse_pmids(pmids)
    if not wanted:
        nothing = BadRequest("No PMID was given.", "For example 31452104.")
        raise next(iter(malformed.values()), nothing)
    form: Form = "medline" if level == "medline_text" else "xml"
    found = recall_records(wanted, form, web)
    missing = [pmid for pmid in wanted if pmid not in found]
    failed: dict[str, PaperError] = {}
    requests: list[tuple[str, str]] = []
    for start in range(0, len(missing), MAX_IDS_PER_REQUEST):
        batch = missing[start : start + MAX_IDS_PER_REQUEST]
        requests.append(describe_record_request(batch, form, web))
        try:
            found |= fetch_records(batch, form, web)
            failed |= _build_withheld_errors(
                [pmid for pmid in batch if pmid not in found], form, web
            )
        except SourceMiss as miss:
            failed |= dict.fromkeys((pmid for pmid in batch if pmid not in found), miss)
    if failed and len(failed) == len(wanted):
        raise next(iter(failed.values()))
    return DetailedRecords(
        requested=wanted,
        records={pmid: found[pmid] for pmid in wanted if pmid in found},
        not_found=tuple(pmid for pmid in missing if pmid not in found and pmid not in failed),
        failed=malformed | failed,
        urls=tuple(url for _, url in requests),
        method=requests[0][0] if requests else "",
    )


def _parse_pmids(texts: Sequence[str | int]) -> tuple[tuple[str, ...], dict[str, PaperError]]:
    """Return the PMIDs among *texts*, each once, and the errors of the others."""
    wanted: list[str] = []
    malformed: dict[str, PaperError] = {}
    for text in map(str, texts):
        try:
            wanted.append(parse_pmid(text))
        except BadRequest as wrong:
            malformed[shorten(replace_surrogates(text), 40)] = wrong
    return tuple(dict.fromkeys(wanted)), malformed


def _build_withheld_errors(missing: Sequence[str], form: Form, web: Web) -> dict[str, SourceMiss]:
    """Return errors for papers that PubMed has but sends no MEDLINE text of."""
    if form == "xml" or not missing:
        return {}
    there = fetch_records(missing, "xml", web)
    return {pmid: BadContent("PubMed sent no MEDLINE text.", verdict="empty") for pmid in there}


def fetch_paper(pmid: str | int, web: Web) -> Paper:
    """Fetch PubMed's record of one paper.

    Raises
    ------
    NotFound
        PubMed answered, and has no such PMID.
    """
    wanted = parse_pmid(pmid)
    if paper := fetch_papers([wanted], web).get(wanted):
        return paper
    msg = f"PubMed has no record PMID {wanted}."
    raise NotFound(msg, "Check the number; it may have been merged into another record.")


def parse_pmid(text: str | int) -> str:
    """Return the number of a PMID in any spelling.

    >>> parse_pmid("PMID: 007"), parse_pmid(31452104)
    ('7', '31452104')

    Raises
    ------
    BadRequest
        It is something else.
    """
    ids = Ids.maybe(str(text))
    if ids.pmid:
        return ids.pmid
    shown = shorten(str(text), 40)
    if ids:
        kind, _, _ = ids.key.partition(":")
        msg = f"{shown!r} is not a PMID, but a {_KINDS[kind]}."
        search = command_line(f"search '{shown}'")
        raise BadRequest(msg, f"To find its PMID: {search}")
    raise BadRequest(f"{shown!r} is not a valid PMID.", "A PMID is a number of up to 8 digits.")


def to_detail_row(record: str, level: Level, *, mesh: bool, grants: bool) -> dict[str, Any]:
    """Return a record as a row with the fields of a level of detail.

    A text level gives the title only: the text itself is shown apart.
    """
    if level == "medline_text":
        return {"title": get_medline_title(record)}
    article = parse_complete_record(record)
    if level == "full_xml":
        return {"title": article.paper.title}
    shown = _to_full_row(article) if level == "abstract_plus" else _to_citation_row(article)
    if mesh:
        shown["mesh_terms"] = [
            {
                "descriptor_name": heading.descriptor,
                "qualifier_name": heading.qualifier,
                "is_major_topic": heading.major,
                "ui": heading.ui,
            }
            for heading in article.headings
        ]
    if grants and level == "abstract_plus":
        shown["grant_list"] = [
            {"grant_id": grant.number, "agency": grant.agency, "country": grant.country}
            for grant in article.grants
        ]
    return shown


def _to_full_row(article: CompleteRecord) -> dict[str, Any]:
    paper = article.paper
    return {
        "title": paper.title,
        "abstract_text": paper.abstract,
        "authors": [_to_author_row(author) for author in paper.authors[:MAX_AUTHORS]],
        "author_count": len(paper.authors),
        "journal_info": {
            "title": paper.journal,
            "iso_abbreviation": paper.journal_abbreviation,
            "volume": paper.volume,
            "issue": paper.issue,
            "pages": paper.pages,
            "publication_date": _to_date_row(paper.published, article.printed_date),
        },
        "publication_types": list(paper.publication_types),
        "keywords": list(paper.keywords),
        "doi": paper.ids.doi,
        "pmcid": paper.ids.pmcid,
        "retracted": paper.retracted,
    }


def _to_citation_row(article: CompleteRecord) -> dict[str, Any]:
    paper = article.paper
    return {
        "title": paper.title,
        "authors": [format_pubmed_author(author) for author in paper.authors[:MAX_AUTHORS]],
        "author_count": len(paper.authors),
        "journal": paper.journal,
        "journal_abbreviation": paper.journal_abbreviation,
        "publication_date": paper.published,
        "volume": paper.volume,
        "issue": paper.issue,
        "pages": paper.pages,
        "doi": paper.ids.doi,
        "pmcid": paper.ids.pmcid,
        "publication_types": list(paper.publication_types),
        "retracted": paper.retracted,
    }


def format_pubmed_author(author: Author) -> str:
    """Return an author as PubMed lists them: ``Doe JA``, or the name of the group."""
    if author.collective:
        return author.collective
    initials = author.initials or "".join(part[0] for part in author.given.split())
    return " ".join(filter(None, (author.family, initials, author.suffix)))


def _to_author_row(author: Author) -> dict[str, str]:
    person = {
        "last_name": author.family,
        "first_name": author.given,
        "initials": author.initials,
        "affiliation": "; ".join(author.affiliations),
    }
    if author.collective:
        person["collective_name"] = author.collective
    if author.orcid:
        person["orcid"] = author.orcid
    return person


def _to_date_row(published: str, printed: str) -> dict[str, Any]:
    """Return the known parts of a date, and the date as printed in the issue."""
    year, month, day, *_ = [*published.split("-"), "", "", ""]
    return {
        "year": int(year) if year else None,
        "month": calendar.month_abbr[int(month)] if month else "",
        "day": int(day) if day else None,
        "medline_date": printed,
    }
