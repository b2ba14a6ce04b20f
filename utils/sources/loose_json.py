"""Read untrusted JSON, in which any member may be missing, null or of another type.

What a site sends is hostile input also where it is well-formed. These readers never fail: a value
of the wrong type counts as absent. Texts are clean: `..http.Answer` sees to that.
"""

from __future__ import annotations

import re
from typing import Any

MAX_NAME_CHARS = 2000
"""Characters of a title or name that are looked at; the longest real ones have some 1,000."""

_DIGITS = re.compile(r"\d{1,15}", re.A)


def to_dict(value: object) -> dict[str, Any]:
    """Return a JSON object; {} for any other value.

    >>> to_dict({"a": 1}), to_dict(None), to_dict("a")
    ({'a': 1}, {}, {})
    """
    return value if isinstance(value, dict) else {}


def to_dicts(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; [] for any other value.

    >>> to_dicts([{"a": 1}, None, "b"]), to_dicts({"a": 1})
    ([{'a': 1}], [])
    """
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def to_text(value: object) -> str:
    """Return a string or number as one line of text; "" for any other value.

    >>> to_text(" a  b "), to_text(12), to_text(None), to_text(True), to_text(["a"])
    ('a b', '12', '', '', '')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value.split()) if isinstance(value, str) else ""


def to_short_text(value: object) -> str:
    """Return a title or name as text, cut to `MAX_NAME_CHARS` characters."""
    return to_text(value)[:MAX_NAME_CHARS]


def to_count(value: object) -> int | None:
    """Return a count sent as number or digits; None for other values, or beyond 15 digits.

    >>> [to_count(value) for value in (12, " 12 ", "1.5", "-1", "9" * 5000, None)]
    [12, 12, None, None, None, None]
    """
    digits = to_text(value)
    return int(digits) if _DIGITS.fullmatch(digits) else None
