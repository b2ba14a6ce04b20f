"""Reading other people's JSON without faith: any member may be missing, null or another thing.

What a site sends is hostile input also where it is well-formed. A reader made of these three never
fails; what has the wrong shape counts as absent.
"""

from __future__ import annotations

from typing import Any


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
