"""Crossref: what publishers registered about a DOI, retractions included.

The last to be asked for a record: for DOIs that neither PubMed nor Europe PMC knows.
https://www.crossref.org/documentation/retrieve-metadata/rest-api/
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ..model.identifiers import Ids
from ..model.paper import Author, Notice, NoticeKind, Paper, now
from ..web import Rate, Web
from .loose_json import whole
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


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind DOIs, one request each."""
    return {ids: paper for ids in wanted if (paper := _ask(ids.doi, web))}


def _ask(doi: str, web: Web) -> Paper | None:
    answer = web.get(
        f"{web.settings.address('crossref')}/works/{quote(doi, safe='')}",
        {"mailto": web.settings.pubmed_email},
        allow={404},
        check=lambda got: got.status == 404 or got.json(),
        kept=True,
    )
    return None if answer.status == 404 else _paper(answer.json()["message"])


def _paper(work: dict[str, Any]) -> Paper:
    return Paper(
        ids=Ids(doi=work["DOI"]),
        title=_plain(" ".join(filter(None, work.get("title") or ()))),
        abstract=_plain(work.get("abstract") or ""),
        authors=tuple(_author(author) for author in work.get("author") or () if author),
        journal=_plain(" ".join((work.get("container-title") or ())[:1])),
        issn=" ".join((work.get("ISSN") or ())[:1]),
        volume=work.get("volume") or "",
        issue=work.get("issue") or "",
        pages=work.get("page") or "",
        published=_date(work.get("issued") or {}),
        publication_types=tuple(filter(None, (work.get("type"),))),
        notices=tuple(
            Notice(_NOTICES[update["type"]], f"doi:{update.get('DOI') or '?'}")
            for update in work.get("updated-by") or ()
            if update.get("type") in _NOTICES
        ),
        license=_license(work.get("license") or ()),
        reference_count=whole(work.get("reference-count")) or 0,
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
    parts = (issued.get("date-parts") or [[]])[0] or []
    return "-".join(f"{int(part):02d}" for part in parts if part)


def _license(rows: Sequence[dict[str, Any]]) -> str:
    """The terms that hold today for the published version.

    Those of the manuscript, of text mining or of sharing among publishers are no license to reuse.

    >>> _license([{"URL": "http://mine.test", "content-version": "tdm"}, {"URL": "http://cc.test"}])
    'http://cc.test'
    >>> _license([{"URL": "http://cc.test", "start": {"date-parts": [[2999, 1]]}}])
    ''
    """
    holding = [
        row
        for row in rows
        if row
        and (row.get("content-version") or "unspecified") in {"vor", "unspecified"}
        and _date(row.get("start") or {}) <= now()[:10]
    ]
    best = sorted(holding, key=lambda row: row.get("content-version") != "vor")
    return next((row.get("URL") or "" for row in best), "")


def _plain(text: str) -> str:
    """Titles carry HTML, abstracts a fragment of JATS."""
    spaced = re.sub(r"</jats:(?:p|title)>", "\n\n", text)
    return html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", spaced)).strip()


SOURCE = Source(
    name="crossref",
    about="Crossref: records of DOIs, retraction notices",
    # The polite pool: ten single DOIs a second.
    rates=(Rate("crossref", ("crossref",), every=0.1, in_flight=3),),
    lookup=Lookup(("doi",), 1, look_up),
)
