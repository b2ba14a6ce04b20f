"""doi.org with its handles and agencies; see `utils.demo.doi` for the resolver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from utils.demo import doi as resolver
from utils.demo.doi import get_landing_page
from utils.demo.wire import Call, Reply, as_json

if TYPE_CHECKING:
    from tests.world import World


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
        value = {"format": "string", "value": get_landing_page(record, world)}
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
    return resolver.doi(call, world)
