"""Crossref REST: single works and a bibliographic search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from utils.demo.doi import get_landing_page
from utils.demo.pages import get_pdf_path
from utils.demo.prose import abstract, references
from utils.demo.records import Record
from utils.demo.wire import TEXT, Call, Reply, as_json, text

if TYPE_CHECKING:
    from tests.world import World

_UPDATES = {
    "RetractionIn": "retraction",
    "ExpressionOfConcernIn": "expression_of_concern",
    "ErratumIn": "correction",
}


def crossref(call: Call, world: World) -> Reply:
    """``/works/{doi}`` or ``/works?query…``."""
    pool = {
        "x_api_pool": "polite-array"
        if "mailto" in str(call.params) + call.header("user-agent")
        else "public-array",
        "x_rate_limit_limit": "10",
        "x_rate_limit_interval": "1s",
        "x_concurrency_limit": "3",
    }
    if call.path.startswith("/works/"):
        record = world.corpus.by_doi.get(call.path.removeprefix("/works/").lower())
        if record is None or record.journal.title in {"arXiv", "Zenodo"}:
            return text("Resource not found.", TEXT, 404, **pool)
        message = {
            "status": "ok",
            "message-type": "work",
            "message-version": "1.0.0",
            "message": _work(record, world),
        }
        return as_json(message, 200, **pool)
    if call.path == "/works":
        return _list(call, world, pool)
    return text("Resource not found.", TEXT, 404, **pool)


def _list(call: Call, world: World, pool: dict[str, str]) -> Reply:
    rows = call.params.get("rows", "20")
    if not rows.isdigit() or int(rows) > 1000:
        told = {
            "type": "integer-not-valid",
            "value": rows,
            "message": "Integer specified as rows is not valid",
        }
        return as_json(
            {"status": "failed", "message-type": "validation-failure", "message": [told]},
            400,
            **pool,
        )
    query = (
        " ".join(value for name, value in call.pairs if name.startswith("query")).lower().split()
    )
    scored = [
        (sum(word in record.plain_title.lower() for word in query), record)
        for record in world.corpus.records
        if record.doi and record.journal.title != "arXiv"
    ]
    hits = [
        record for score, record in sorted(scored, key=lambda pair: -pair[0]) if score or not query
    ]
    items = [_work(record, world) for record in hits[: int(rows)]]
    message = {"total-results": len(hits), "items-per-page": int(rows), "items": items}
    return as_json(
        {
            "status": "ok",
            "message-type": "work-list",
            "message-version": "1.0.0",
            "message": message,
        },
        200,
        **pool,
    )


def _work(record: Record, world: World) -> dict[str, Any]:
    date = {"date-parts": [[int(part) for part in record.published.split("-")]]}
    link = [
        {
            "URL": world.url(record.site) + get_pdf_path(record),
            "content-type": "application/pdf",
            "content-version": "vor",
            "intended-application": "similarity-checking",
        }
    ]
    if record.page == "pdf":
        link[0]["intended-application"] = "text-mining"
    if record.mined.startswith("crossref"):
        link.append(_mining_link(record, world))
    return {
        "DOI": record.doi, "type": "journal-article", "title": [record.title],
        "container-title": [record.journal.title], "publisher": record.journal.publisher,
        "author": _authors(record), "issued": date, "published-online": date,
        "volume": record.volume, "issue": record.issue, "page": record.pages,
        "ISSN": [record.journal.issn], "link": link, "reference-count": len(references(record)),
        "is-referenced-by-count": 0, "URL": f"https://doi.org/{record.doi}",
        "resource": {"primary": {"URL": get_landing_page(record, world)}}, **_told_late(record),
        **_license(record),
    }  # fmt: skip


# The fields of links and licenses: Crossref, "Text and data mining for researchers", and the
# REST API's format (github.com/CrossRef/rest-api-doc, api_format.md: License, Resource link).
def _mining_link(record: Record, world: World) -> dict[str, str]:
    return {
        "URL": world.url(record.site) + _mining_path(record),
        "content-type": "application/xml",
        "content-version": "vor",
        "intended-application": "text-mining",
    }


def _license(record: Record) -> dict[str, Any]:
    if not record.mined.startswith("crossref"):
        return {}
    kind, _, day = record.mined.partition(" ")  # crossref_later DAY: from that day
    first = day or ("2999-01-01" if kind == "crossref_later" else f"{record.year}-01-01")
    return {
        "license": [
            {
                "start": {"date-parts": [[int(part) for part in first.split("-")]], "timestamp": 0},
                "content-version": "tdm",
                "delay-in-days": 0,
                "URL": f"https://{record.site}.test/terms/mining",
            }
        ]
    }


def _authors(record: Record) -> list[dict[str, Any]]:
    more = {"sequence": "additional", "affiliation": []}
    people = [{"given": given, "family": family, **more} for family, given in record.authors]
    return [*people, {"name": record.collective, **more}] if record.collective else people


def _told_late(record: Record) -> dict[str, Any]:
    """What only some works have: an abstract, and notices published after them."""
    parts: dict[str, Any] = {}
    if paragraphs := abstract(record):
        parts["abstract"] = "".join(f"<jats:p>{body}</jats:p>" for _, body in paragraphs)
    updates = [
        {"DOI": f"{record.doi}.notice", "type": _UPDATES[kind], "source": "publisher"}
        for kind, *_ in record.notices
        if kind in _UPDATES
    ]
    return parts | ({"updated-by": updates} if updates else {})


def _mining_path(record: Record) -> str:
    """Where the JATS of a paper lies at its publisher, for text mining."""
    return f"/mining/{quote(record.doi, safe='')}.xml"
