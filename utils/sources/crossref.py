"""Fetch the records that publishers registered at Crossref, retractions included.

The last to be asked for a record: for DOIs that neither PubMed nor Europe PMC knows.
https://www.crossref.org/documentation/retrieve-metadata/rest-api/

Some publishers register addresses for text mining, too. A link is no permission: one is followed
where a license for text mining, or a free one, holds today.
https://www.crossref.org/documentation/retrieve-metadata/rest-api/text-and-data-mining-for-researchers/

Works are found by the words of a reference, too (``query.bibliographic``): the best match first,
and there always is one, so whoever asks has to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.licenses import find_cc_license
from ..model.paper import (
    Author,
    Fetched,
    Notice,
    NoticeKind,
    Paper,
    Version,
    describe_opening,
    to_row,
    utc_now,
)
from ..model.site import Address
from ..system.plain_text import decode_references
from .loose_json import to_count, to_dict, to_dicts
from .publisher import OpenCopy, deduplicate_copies, fetch_copies
from .source import TEXT_MINING_TERMS, Lookup, Route, Source, one_by_one, recall_papers

_MINING_APPLICATION = "text-mining"
_REMEMBERED_DAYS, _RECORD_DAYS = 7.0, 1.0
_VERSIONS: dict[str, Version] = {"vor": "published", "am": "accepted"}
_MINING_TYPES = ("application/xml", "text/xml", "application/pdf", "text/html", "unspecified")
# They want the keys of sources of their own.
_KEYED_HOSTS = ("api.elsevier.com", "api.wiley.com", "api.springernature.com")
_WORK_TYPES = (
    *("journal-article", "proceedings-article", "posted-content", "book-chapter", "book"),
    *("monograph", "edited-book", "reference-entry", "report", "dissertation"),
)
_SELECTED_FIELDS = (
    "DOI,type,title,subtitle,author,container-title,short-container-title,ISSN,issued,volume,issue,"
    "page,article-number,update-to,updated-by"
)
# What a notice is, by PubMed's word.
_NOTICE_TYPES = {
    "retraction": "Retraction of Publication",
    "removal": "Retraction of Publication",
    "withdrawal": "Retraction of Publication",
    "expression_of_concern": "Expression of Concern",
    "correction": "Published Erratum",
    "erratum": "Published Erratum",
    "corrigendum": "Published Erratum",
    "addendum": "Published Erratum",
}
_NOTICES: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "removal": "retraction",
    "withdrawal": "retraction",
    "expression_of_concern": "expression_of_concern",
    "correction": "erratum",
    "erratum": "erratum",
    "corrigendum": "erratum",
}


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind DOIs, one request each."""
    works = {ids: work for ids in wanted if (work := _fetch_work(ids.doi, web))}
    return {ids: _to_paper(work) for ids, work in works.items()}


def recall_cached_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records of works that were fetched recently for any purpose."""
    known = recall_papers("crossref_record", [ids.doi for ids in wanted if ids.doi], web)
    return {ids: known[ids.doi] for ids in wanted if ids.doi in known}


def _fetch_work(doi: str, web: Web) -> dict[str, Any]:
    """Return Crossref's record of a DOI; empty if it has none."""
    answer = web.get(
        f"{web.settings.address('crossref')}/works/{quote(doi, safe='')}",
        {"mailto": web.settings.contact},
        allow={404},
        check=_read_work,
        kept=True,
    )
    work = _read_work(answer)
    web.cache.put("crossref_links", doi, _select_links(work), days=_REMEMBERED_DAYS)
    if work:
        web.cache.put("crossref_record", doi, to_row(_to_paper(work)), days=_RECORD_DAYS)
    return work


def _read_work(answer: Answer) -> dict[str, Any]:
    """Return the work of an answer, {} for 404; raise `Unreachable` for anything else."""
    work = {} if answer.status == 404 else to_dict(to_dict(answer.json()).get("message"))
    if answer.status != 404 and not work.get("DOI"):
        raise Unreachable("Crossref sent an answer that is not a work.", "Try again later.")
    return work


def _read_works(answer: Answer) -> list[dict[str, Any]]:
    """Return the works of an answer; raise `Unreachable` if it is not a list of works."""
    items = to_dict(to_dict(answer.json()).get("message")).get("items")
    if not isinstance(items, list):
        raise Unreachable("Crossref sent an answer without works.", "Try again later.")
    return to_dicts(items)


def _select_links(work: Mapping[str, Any]) -> dict[str, Any]:
    """Return the links and licenses of a work."""
    return {name: work.get(name) or [] for name in ("link", "license")}


def find_works(words: str, web: Web, most: int = 5) -> list[Paper]:
    """Return the works that best match a reference in words, the best match first.

    Titles have their subtitles. What is no work of its own (issues, figures, peer reviews) is left
    out, and a notice about another work says by its type that it is one.

    Raises
    ------
    Unreachable
        Crossref did not answer, or not with works.
    """
    params = {
        "query.bibliographic": words,
        "rows": most,
        "select": _SELECTED_FIELDS,
        "mailto": web.settings.contact,
    }
    address = f"{web.settings.address('crossref')}/works"
    items = _read_works(web.get(address, params, check=_read_works, kept=True))
    return [
        _to_found_paper(work)
        for work in items
        if work.get("DOI") and work.get("type") in _WORK_TYPES
    ]


def _to_found_paper(work: dict[str, Any]) -> Paper:
    """Return the paper of a work that was found by words."""
    paper = _to_paper(work)
    main, subtitle = paper.title, _strip_markup(" ".join((work.get("subtitle") or ())[:1]))
    updates = {row.get("type") for row in work.get("update-to") or () if row}
    kinds = (
        *paper.publication_types,
        *(_NOTICE_TYPES[one] for one in updates if one in _NOTICE_TYPES),
    )
    return replace(
        paper,
        title=f"{main}: {subtitle}" if main and subtitle and subtitle not in main else main,
        journal_abbreviation=_strip_markup(" ".join((work.get("short-container-title") or ())[:1])),
        pages=paper.pages or work.get("article-number") or "",
        publication_types=(*kinds, "Preprint") if "posted-content" in kinds else kinds,
    )


def fetch_mining_copies(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the copies that a publisher registered for text mining, XML before PDF.

    Raises
    ------
    NotAvailable
        Crossref does not know the DOI, nothing is registered, or no license allows it today.
    """
    doi = paper.ids.doi
    work = web.cache.get("crossref_links", doi) or _select_links(_fetch_work(doi, web))
    opening = describe_opening(
        _to_date(row.get("start") or {}) for row in filter(_is_mining_license, work["license"])
    )
    if not (copies := _list_mining_copies(work)):
        msg = f"Its publisher registered no address for text mining.{opening}"
        raise NotAvailable(msg)
    if not _is_mining_allowed(work):
        msg = "Its publisher registered no license for text mining that holds today."
        raise NotAvailable(f"{msg}{opening}")
    yield from fetch_copies(copies, web, source=SOURCE.name, via="crossref")


def _list_mining_copies(work: Mapping[str, Any]) -> list[OpenCopy]:
    """Return the copies for text mining, the best type first."""
    links = [
        link
        for link in work.get("link") or ()
        if link.get("intended-application") == _MINING_APPLICATION
        and link.get("content-type") in _MINING_TYPES
        and urlsplit(link.get("URL") or "").hostname not in (None, *_KEYED_HOSTS)
    ]
    links.sort(key=lambda link: _MINING_TYPES.index(link["content-type"]))
    license_ = find_cc_license(_find_license(work.get("license") or ()))
    return deduplicate_copies(
        OpenCopy(link["URL"], license_, _VERSIONS.get(link.get("content-version"), "published"))
        for link in links
    )


def _is_mining_allowed(work: Mapping[str, Any]) -> bool:
    """Return whether a license for text mining, or a free license, is valid today."""
    return any(_is_license_valid(row) for row in work["license"] if _is_mining_license(row))


def _is_mining_license(row: Mapping[str, Any]) -> bool:
    """Return whether a license permits text mining, by its purpose or because it is free."""
    is_for_mining = row and row.get("content-version") == "tdm"
    return bool(row and (is_for_mining or find_cc_license(row.get("URL") or "")))


def _is_license_valid(row: Mapping[str, Any]) -> bool:
    """Return whether a license is valid today."""
    return _to_date(row.get("start") or {}) <= utc_now()[:10]


def _to_paper(work: dict[str, Any]) -> Paper:
    """Return the paper of a work."""
    return Paper(
        ids=Ids(doi=work["DOI"]),
        title=_strip_markup(" ".join(filter(None, work.get("title") or ()))),
        abstract=_strip_markup(work.get("abstract") or ""),
        authors=tuple(_to_author(author) for author in work.get("author") or () if author),
        journal=_strip_markup(" ".join((work.get("container-title") or ())[:1])),
        issn=" ".join((work.get("ISSN") or ())[:1]),
        volume=work.get("volume") or "",
        issue=work.get("issue") or "",
        pages=work.get("page") or "",
        published=_to_date(work.get("issued") or {}),
        publication_types=tuple(filter(None, (work.get("type"),))),
        notices=tuple(
            Notice(_NOTICES[update["type"]], f"doi:{update.get('DOI') or '?'}")
            for update in work.get("updated-by") or ()
            if update.get("type") in _NOTICES
        ),
        license=_find_license(work.get("license") or ()),
        reference_count=to_count(work.get("reference-count")) or 0,
    )


def _to_author(row: dict[str, Any]) -> Author:
    """Return an author of a work."""
    return Author(
        family=row.get("family") or "",
        given=row.get("given") or "",
        collective=row.get("name") or "",
        orcid=(row.get("ORCID") or "").rpartition("/")[2],
    )


def _to_date(issued: dict[str, Any]) -> str:
    """Return an ISO date, as precise as its known parts.

    >>> _to_date({"date-parts": [[2026, 2]]}), _to_date({"date-parts": [[None]]})
    ('2026-02', '')
    """
    parts = (issued.get("date-parts") or [[]])[0] or []
    return "-".join(f"{int(part):02d}" for part in parts if part)


def _find_license(rows: Sequence[dict[str, Any]]) -> str:
    """Return the license that is valid today for the published version.

    Those of the manuscript, of text mining or of sharing among publishers are no license to reuse.

    >>> _find_license([{"URL": "http://mine.test", "content-version": "tdm"}, {"URL": "http://cc.test"}])
    'http://cc.test'
    >>> _find_license([{"URL": "http://cc.test", "start": {"date-parts": [[2999, 1]]}}])
    ''
    """
    holding = [
        row
        for row in rows
        if row
        and (row.get("content-version") or "unspecified") in {"vor", "unspecified"}
        and _is_license_valid(row)
    ]
    best = sorted(holding, key=lambda row: row.get("content-version") != "vor")
    return next((row.get("URL") or "" for row in best), "")


def _strip_markup(text: str) -> str:
    """Return a text without its markup; titles have HTML, abstracts JATS."""
    spaced = re.sub(r"</jats:(?:p|title)>", "\n\n", text)
    return decode_references(re.sub(r"</?[a-zA-Z][^<>]*>", "", spaced)).strip()


SOURCE = Source(
    name="crossref",
    probe="/works?rows=0",
    about="Crossref: records of DOIs, retraction notices, publishers' links for text mining",
    addresses=(Address("crossref", "https://api.crossref.org/v1", "Crossref"),),
    kept_by="publishers",
    many_hosts=True,
    label="DOI",
    # The polite pool: ten single DOIs a second, three lists, and three requests at once.
    rates=(
        Rate("crossref", ("crossref",), every=0.1, in_flight=2),
        Rate("crossref_list", ("crossref",), every=0.34, in_flight=1, paths=("/works",)),
    ),
    lookup=Lookup(("doi",), 1, look_up_papers, recall_cached_papers),
    routes=(
        Route(
            "crossref",
            ("doi",),
            one_by_one(fetch_mining_copies),
            share=0.05,
            has_pdfs=True,
            label="Publisher (link for text mining)",
            terms=TEXT_MINING_TERMS,
        ),
    ),
)
