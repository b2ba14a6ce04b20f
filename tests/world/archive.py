"""The Internet Archive: the availability API, and captures as they were sent.

Forms: archive.org/help/wayback_api.php; ``id_`` as the documentation of its CDX server has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from utils.demo.records import Record
from utils.demo.wire import HTML, PDF, Call, Reply, as_json, text

from .pdf import pdf_of

if TYPE_CHECKING:
    from . import World

_MOMENT = "20240229101112"


def archive(call: Call, world: World) -> Reply:
    """``/available?url=``: an empty object where nothing was captured."""
    url = call.params.get("url", "")
    if _kept(url, world) is None:
        return as_json({"url": url, "archived_snapshots": {}})
    closest = {
        "status": "200",
        "available": True,
        "url": f"http://web.archive.org/web/{_MOMENT}/{url}",
        "timestamp": _MOMENT,
    }
    return as_json({"url": url, "archived_snapshots": {"closest": closest}})


def captures(call: Call, world: World) -> Reply:
    """``/{moment}id_/{url}``: the bytes; without ``id_`` a page with a bar around them."""
    found = re.fullmatch(r"/(\d{14})(id_)?/(.+)", call.path)
    record = _kept(found[3], world) if found else None
    if record is None or found is None:
        return text("<h1>The Wayback Machine has not archived that URL.</h1>", HTML, 404)
    if not found[2]:
        return text("<title>Wayback Machine</title><div id='wm-ipp'></div>", HTML)
    return Reply(200, pdf_of(record), PDF)


def _kept(url: str, world: World) -> Record | None:
    item = re.search(r"/item/(.+)/download$", unquote(url))
    record = world.corpus.by_doi.get(item[1].lower()) if item else None
    return record if record and record.unpaywall == "dead" else None
