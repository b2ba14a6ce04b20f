"""Crossref: what publishers registered about a DOI, retractions included.

The last one asked what a paper is: for DOIs that neither PubMed nor Europe PMC knows.
https://www.crossref.org/documentation/retrieve-metadata/rest-api/
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ..errors import NotFound, NotOffered, PaperError, Unreachable
from ..identifiers import Ids
from ..paper import Author, Notice, NoticeKind, Paper
from ..web import Rate, Web
from .source import Lookup, Source

_NOTICES: dict[str, NoticeKind] = {
    "retraction": "retraction",
    "removal": "retraction",
    "withdrawal": "retraction",
    "expression_of_concern": "expression_of_concern",
    "correction": "erratum",
    "erratum": "erratum",
    "corrigendum": "erratum",
}


def look_up(wanted: Sequence[Ids], web: Web) -> Iterator[tuple[Ids, Paper | PaperError]]:
    """The records behind DOIs, one request each; `NotFound` where Crossref has none."""
    for ids in wanted:
        try:
            yield ids, _ask(ids.doi, web)
        except (NotFound, NotOffered, Unreachable) as error:
            yield ids, error


def _ask(doi: str, web: Web) -> Paper:
    answer = web.get(
        f"{web.settings.crossref_base_url}/works/{quote(doi, safe='')}",
        {"mailto": web.settings.pubmed_email},
        allow={404},
    )
    if answer.status == 404:
        msg = f"Crossref has no record of doi:{doi}."
        raise NotFound(msg, "Check the DOI.")
    return _paper(answer.json()["message"])


def _paper(work: dict[str, Any]) -> Paper:
    return Paper(
        ids=Ids(doi=work["DOI"]),
        title=_plain(" ".join(work.get("title") or ())),
        abstract=_plain(work.get("abstract") or ""),
        authors=tuple(map(_author, work.get("author") or ())),
        journal=_plain(" ".join((work.get("container-title") or ())[:1])),
        issn=" ".join((work.get("ISSN") or ())[:1]),
        volume=work.get("volume") or "",
        issue=work.get("issue") or "",
        pages=work.get("page") or "",
        published=_date(work.get("issued") or {}),
        publication_types=tuple(filter(None, (work.get("type"),))),
        notices=tuple(
            Notice(_NOTICES[update["type"]], f"doi:{update.get('DOI', '')}")
            for update in work.get("updated-by") or ()
            if update.get("type") in _NOTICES
        ),
        license=_license(work.get("license") or ()),
    )


def _author(row: dict[str, Any]) -> Author:
    return Author(
        family=row.get("family") or "",
        given=row.get("given") or "",
        collective=row.get("name") or "",
        orcid=(row.get("ORCID") or "").rpartition("/")[2],
    )


def _date(issued: dict[str, Any]) -> str:
    """An ISO date as long as its parts are known.

    >>> _date({"date-parts": [[2026, 2]]}), _date({"date-parts": [[None]]})
    ('2026-02', '')
    """
    parts = (issued.get("date-parts") or [[]])[0]
    return "-".join(f"{part:02d}" for part in parts if part)


def _license(rows: Sequence[dict[str, Any]]) -> str:
    """The terms of the published version; those for text mining alone are no license to reuse.

    >>> _license([{"URL": "http://mine.test", "content-version": "tdm"}, {"URL": "http://cc.test"}])
    'http://cc.test'
    """
    best = sorted(rows, key=lambda row: row.get("content-version") != "vor")
    return next((row.get("URL", "") for row in best if row.get("content-version") != "tdm"), "")


def _plain(text: str) -> str:
    """Titles carry HTML, abstracts a fragment of JATS."""
    spaced = re.sub(r"</jats:(?:p|title)>", "\n\n", text)
    return html.unescape(re.sub(r"</?[a-zA-Z][^>]*>", "", spaced)).strip()


SOURCE = Source(
    name="crossref",
    about="Crossref: records of DOIs, retraction notices",
    service="crossref",
    # The polite pool: ten single DOIs a second.
    rates=(Rate("crossref", ("crossref",), every=0.1),),
    lookup=Lookup(("doi",), look_up),
)
