"""Readers of untrusted JSON: any member may be missing, null or of another type.

What a site sends is hostile input also where it is well-formed. These readers never fail: a value
of the wrong type counts as absent. Texts are clean: `..http.Answer` sees to that.
"""

from __future__ import annotations

import re
from typing import Any

LONGEST_NAME = 2000
"""Characters of a title or name that are looked at; the longest real ones have some 1,000."""

_WHOLE = re.compile(r"\d{1,15}", re.A)


def mapping(value: object) -> dict[str, Any]:
    """An object, else an empty one.

    >>> mapping({"a": 1}), mapping(None), mapping("a")
    ({'a': 1}, {}, {})
    """
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, Any]]:
    """The objects in a list, else none.

    >>> mappings([{"a": 1}, None, "b"]), mappings({"a": 1})
    ([{'a': 1}], [])
    """
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A string or number as one line of text, else an empty one.

    >>> text(" a  b "), text(12), text(None), text(True), text(["a"])
    ('a b', '12', '', '', '')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else ""


def short_text(value: object) -> str:
    """A title or name: a `text`, of which at most `LONGEST_NAME` characters are kept."""
    return text(value)[:LONGEST_NAME]


def whole(value: object) -> int | None:
    """A count, sent as a number or its digits; None for anything else, and beyond 15 digits.

    >>> whole(12), whole(" 12 "), whole("1.5"), whole("-1"), whole("9" * 5000), whole(None)
    (12, 12, None, None, None, None)
    """
    digits = text(value)
    return int(digits) if _WHOLE.fullmatch(digits) else None
