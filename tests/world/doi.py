"""doi.org: 302 to the publisher's page, 404 for what nobody registered; handles and agencies."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from tests.world.publishers import article_path
from tests.world.records import Record
from tests.world.wire import HTML, Call, Reply, as_json, redirect, text

if TYPE_CHECKING:
    from tests.world import World


def landing(record: Record, world: World) -> str:
    """Where a DOI leads."""
    if record.journal.title == "arXiv":
        return f"{world.url('arxiv')}/abs/{record.arxiv}"
    return world.url(record.site) + article_path(record)


def doi(call: Call, world: World) -> Reply:
    """Resolve."""
    for prefix in ("/api/handles/", "/doiRA/", "/"):
        if call.path.startswith(prefix):
            break
    name = call.path.removeprefix(prefix)
    record = world.corpus.by_doi.get(name.lower())
    if prefix == "/api/handles/":
        if record is None:
            return as_json({"responseCode": 100, "handle": name}, 404)
        value = {"format": "string", "value": landing(record, world)}
        return as_json(
            {
                "responseCode": 1,
                "handle": name,
                "values": [{"index": 1, "type": "URL", "data": value}],
            }
        )
    if prefix == "/doiRA/":
        told = {"RA": "Crossref"} if record else {"status": "DOI does not exist"}
        return as_json([{"DOI": name, **told}])
    if record is None:
        return text(
            f"<html><head><title>Error: DOI Not Found</title></head><body><h1>DOI Not Found</h1><p>"
            f"{escape(name)}</p></body></html>",
            HTML,
            404,
        )
    return redirect(landing(record, world), 302, Vary="Accept")
