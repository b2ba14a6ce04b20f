"""Extract family names from personal names and from author lines."""

from __future__ import annotations

import re

_NAME = re.compile(r"(?:[^\W\d_][\w.'\u2019\u2010-]*\s+){1,5}[^\W\d_][\w.'\u2019\u2010-]*")
_SEPARATOR = re.compile(r"[,;\u2022]|\s+and\s+|\s+&\s+")
_MAX_NAME_CHARS = 60  # characters of a name


def extract_family_names_from_line(line: str) -> list[str]:
    """Return the family names in a line, in order; words that are not names are skipped.

    >>> extract_family_names_from_line("Ada Roe, Jan van Poe and Wei Zhang, University 5")
    ['Roe', 'Poe', 'Zhang']
    """
    parts = (part.strip(" .~").removeprefix("and ").strip() for part in _SEPARATOR.split(line))
    return [
        extract_family_name_from_full_name(name)
        for name in parts
        if len(name) <= _MAX_NAME_CHARS and _NAME.fullmatch(name)
    ]


def extract_family_name_from_full_name(name: str) -> str:
    """Return the family name in ``Doe, Jane`` or ``Jane A. Doe Jr``.

    >>> names = ("Del Coco, Laura", "Simon YW Ho", "J Doe Jr.")
    >>> [extract_family_name_from_full_name(name) for name in names]
    ['Del Coco', 'Ho', 'Doe']
    """
    if "," in name:
        return name.partition(",")[0].strip()
    parts = [
        part
        for part in name.split()
        if not re.fullmatch(r"(jr|sr|ii|iii|iv|phd|md)\.?", part, re.I)
    ]
    return parts[-1] if parts else name
