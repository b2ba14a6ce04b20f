"""What the ladder's short names are called when people read them: routes, licenses, states."""

from __future__ import annotations

import re

from ..model.job import State
from ..model.paper import Version
from ..model.sites import ROUTES

STATE_LABELS: dict[State, str] = {
    "full_text": "Full text",
    "abstract": "Abstract only",
    "record": "Record only",
    "failed": "No text",
    "pending": "Not tried yet",
}
ASIDE: dict[Version, str] = {"preprint": "Preprints", "accepted": "Accepted manuscripts"}
"""Versions of a paper that are not the published one."""
_ROUTES = {via: route.label for via, route in ROUTES.items()} | {"manual": "Added by hand"}
_CC = re.compile(r"CC (BY(?:-NC)?(?:-SA|-ND)?)\b", re.I)
_TERMS = {
    "BY": "share and adapt, with credit",
    "BY-SA": "share and adapt under the same license, with credit",
    "BY-ND": "share unchanged, with credit",
    "BY-NC": "share and adapt for non-commercial ends, with credit",
    "BY-NC-SA": "as CC BY-NC, under the same license",
    "BY-NC-ND": "share unchanged for non-commercial ends, with credit",
}
PUBLIC = ("CC0 / public domain", "no conditions")
OTHER = ("Other terms", "the publisher’s own; see the file’s header")
UNSTATED = ("Not stated", "read, but ask before you redistribute")


def route_label(via: str) -> str:
    """A route for people.

    >>> route_label("efetch"), route_label("some_site")
    ('PubMed Central (E-utilities)', 'some site')
    """
    return _ROUTES.get(via, via.replace("_", " ") or "Not recorded")


def license_group(text: str) -> tuple[str, str]:
    """The kind of license, whatever its version, and what it allows.

    >>> license_group("CC BY-NC 4.0")[0], license_group("TDM")[0], license_group("")[0]
    ('CC BY-NC', 'Other terms', 'Not stated')
    """
    if not text:
        return UNSTATED
    if text.upper().startswith(("CC0", "PUBLIC DOMAIN")):
        return PUBLIC
    if match := _CC.match(text):
        code = match[1].upper()
        return f"CC {code}", _TERMS[code]
    return OTHER


def share(part: int, whole: int, digits: int = 0) -> str:
    """A percentage that never rounds something to nothing, nor almost all to all.

    >>> share(1, 3000), share(2999, 3000), share(1, 3), share(1, 3, 1), share(0, 0)
    ('<1 %', '>99 %', '33 %', '33.3 %', '–')
    """
    if not whole:
        return "–"
    if not part:
        return "0 %"
    if part == whole:
        return "100 %"
    percent = round(100 * part / whole, digits)
    least = 10**-digits
    if percent < least:
        return f"<{least:g} %"
    if percent > 100 - least:
        return f">{100 - least:g} %"
    return f"{percent:.{digits}f} %"


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "paper"), counted(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def lasted(seconds: float) -> str:
    """A duration in the two largest units that say something.

    >>> lasted(59), lasted(8000), lasted(200_000)
    ('59 s', '2 h 13 min', '2 d 7 h')
    """
    whole = max(0, round(seconds))
    for size, unit, small, lesser in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size} {unit}" + (f" {rest} {lesser}" if rest else "")
    return f"{whole} s"
