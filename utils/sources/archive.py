"""Find captures of dead repository links in the Internet Archive.

The availability API names the capture nearest to now; the bytes as they were sent are had by
``id_`` behind its moment, else the archive's own frame is around them.
https://archive.org/help/wayback_api.php · https://archive.org/developers/wayback-cdx-server.html
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from ..errors import Unreachable
from ..http import Answer, Rate, Web
from ..model.site import Address
from .loose_json import to_dict, to_text
from .source import Source

_CAPTURE = re.compile(
    r"https?://web\.archive\.org(?::\d+)?/web/(\d{4,14})(?:[a-z]{2}_)?/(.+)", re.S
)
_CACHE_DAYS = 30.0


def find_capture(url: str, web: Web) -> str:
    """Return the archive's address of a missing page; "" if the archive has no capture.

    Asked once in a month for each address.

    Raises
    ------
    Unreachable
        The archive did not answer.
    """
    kept = web.cache.get("archived", url)
    if kept is None:
        address = f"{web.settings.address('archive')}/available"
        closest = _get_closest_capture(web.get(address, {"url": url}, check=_get_closest_capture))
        there = closest.get("available") is True and to_text(closest.get("status")) == "200"
        kept = to_text(closest.get("url")) if there else ""
        web.cache.put("archived", url, kept, _CACHE_DAYS)
    found = _CAPTURE.fullmatch(str(kept))
    # The address is made by us: what the answer says may lead anywhere.
    if not found or not urlsplit(found[2]).scheme.startswith("http"):
        return ""
    return f"{web.settings.address('web_archive')}/{found[1]}id_/{found[2]}"


def _get_closest_capture(answer: Answer) -> dict[str, Any]:
    """Return the capture that an answer names; {} for none."""
    captures = to_dict(answer.json()).get("archived_snapshots")
    if not isinstance(captures, dict):
        raise Unreachable("The Internet Archive sent no list of captures.", "Try again later.")
    return to_dict(captures.get("closest"))


SOURCE = Source(
    name="archive",
    about="Internet Archive: what lay at a repository's link that is dead",
    addresses=(
        Address("archive", "https://archive.org/wayback", "Internet Archive"),
        Address("web_archive", "https://web.archive.org/web", "Internet Archive's captures"),
    ),
    rates=(
        Rate("archive", ("archive",), every=1.0, in_flight=1),
        Rate("web_archive", ("web_archive",), every=2.0, in_flight=1),
    ),
)
