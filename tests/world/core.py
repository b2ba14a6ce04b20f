"""CORE v3: works by DOI, with their words for who has a key; files lie on a host of their own.

Forms: reach-and-bulk.md 3 and upstream-apis.md 6.3 of the facts sheets; that a download answers 302
to ``core.ac.uk``, where a key is answered 400, is the Rust crate's fastpaper-cli 0.3.0. The bodies
of refusals are remembered, not documented.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.world import walls
from tests.world.pdf import pdf_of
from utils.demo.prose import abstract, body, references
from utils.demo.records import Record, strip_markup
from utils.demo.wire import HTML, PDF, Call, Reply, as_json, redirect, text

if TYPE_CHECKING:
    from tests.world import World

KEY = "core-key-of-a-reader"
_QUERY = re.compile(r'doi:"(10\.[^"]+)"')
_WITHHELD = "Not available for public API users."
_ANY_HIT = 4_812_377  # what a query finds whose DOI is not in quotes


def work_id(record: Record) -> int:
    """The number of a work."""
    return int(hashlib.sha1(record.doi.encode()).hexdigest()[:7], 16)


def core(call: Call, world: World) -> Reply:
    """``/search/works/?q=doi:"…"`` and ``/works/{id}/download``."""
    if call.path == "/search/works":
        return redirect(f"{world.url('core')}/search/works/?{call.raw.partition('?')[2]}", 301)
    key = call.header("authorization").removeprefix("Bearer ")
    if key not in {"", KEY}:
        return as_json({"message": "Invalid API key."}, 401)
    download = call.path.endswith("/download")
    if call.path == "/search/works/":
        return as_json(_found(call, world, public=not key))
    record = _by_number(call.path.removeprefix("/works/").removesuffix("/download"), world)
    if not download or record is None or not _has_file(record):
        return as_json({"message": "Not found"}, 404)
    return redirect(f"{world.url('core_files')}/download/{work_id(record)}.pdf")


def files(call: Call, world: World) -> Reply:
    """``core.ac.uk/download/{id}.pdf``: to nobody who brings a key, and to few programs."""
    record = _by_number(call.path.removeprefix("/download/").removesuffix(".pdf"), world)
    if call.header("authorization"):
        return text("<html><h1>400 Bad Request</h1></html>", HTML, 400)
    if record is None or not _has_file(record):
        return text("<html><h1>404 Not Found</h1></html>", HTML, 404)
    if record.core == "walled":
        return walls.captcha(403)
    return Reply(200, pdf_of(world.paper("gone") if record.core == "other" else record), PDF)


def _has_file(record: Record) -> bool:
    return record.core in {"file", "walled", "other"}


def _by_number(number: str, world: World) -> Record | None:
    return next((one for one in world.papers if one.core and str(work_id(one)) == number), None)


def _found(call: Call, world: World, *, public: bool) -> dict[str, Any]:
    asked = _QUERY.fullmatch(call.params.get("q", ""))
    record = world.corpus.by_doi.get(asked[1].lower()) if asked else None
    works = [_work(record, world, public=public)] if record and record.core else []
    return {
        "totalHits": len(works) if asked else _ANY_HIT,
        "limit": int(call.params.get("limit", "10")), "offset": 0, "scrollId": None,
        "results": works, "tooks": [], "esTook": 12,
    }  # fmt: skip


def _work(record: Record, world: World, *, public: bool) -> dict[str, Any]:
    number = work_id(record)
    own = f"https://core.ac.uk/download/{number}.pdf" if _has_file(record) else None
    item = f"{world.url('repository')}/item/{quote(record.doi, safe='')}/download"
    words = _words(record) if record.core in {"file", "text", "stub"} else None
    links = [{"type": "display", "url": f"https://core.ac.uk/works/{number}"}]
    return {
        "acceptedDate": "", "arxivId": None,
        "authors": [{"name": f"{family}, {given}"} for family, given in record.authors],
        "citationCount": 0, "contributors": [],
        "outputs": [f"https://api.core.ac.uk/v3/outputs/{number}"],
        "createdDate": f"{record.entered}T08:21:07",
        "abstract": " ".join(strip_markup(part) for _, part in abstract(record)),
        "documentType": "research", "doi": record.doi, "downloadUrl": own,
        "fullText": _WITHHELD if public else words, "id": number,
        "identifiers": [{"identifier": record.doi, "type": "DOI"}], "title": record.plain_title,
        "language": {"code": "en", "name": "English"}, "pubmedId": record.pmid or None,
        "publishedDate": f"{record.published}T00:00:00",
        "publisher": f"'{record.journal.publisher}'",
        "sourceFulltextUrls": [item] if record.core == "elsewhere" else [],
        "yearPublished": int(record.year),
        "journals": [{"title": record.journal.title, "identifiers": [record.journal.issn]}],
        "links": [{"type": "download", "url": own}, *links] if own else links,
    }  # fmt: skip


def _words(record: Record) -> str:
    """What a program took out of a PDF: no markup, and of a stub the first page only."""
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    parts = [record.plain_title, people, f"https://doi.org/{record.doi}", "Abstract"]
    parts += [strip_markup(part) for _, part in abstract(record)]
    if record.core == "stub":
        return "\n\n".join(parts)
    for title, paragraphs in body(record):
        parts += [title, *map(strip_markup, paragraphs)]
    rows = enumerate(references(record), start=1)
    cited = [f"{at}. {who}. {title}. {where} {year}." for at, (who, title, where, year, _) in rows]
    return "\n\n".join([*parts, "References", *cited])
