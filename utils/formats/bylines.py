"""Family names out of a line of authors, as papers print it."""

from __future__ import annotations

import re

from .html.claims import family_name

_NAME = re.compile(r"(?:[^\W\d_][\w.'\u2019\u2010-]*\s+){1,5}[^\W\d_][\w.'\u2019\u2010-]*")
_BETWEEN = re.compile(r"[,;\u2022]|\s+and\s+|\s+&\s+")
_LONGEST = 60  # characters of a name


def families_in(line: str) -> list[str]:
    """The family names, in order; what is no name is left out.

    >>> families_in("Ada Roe, Jan van Poe and Wei Zhang, University 5")
    ['Roe', 'Poe', 'Zhang']
    """
    parts = (part.strip(" .~").removeprefix("and ").strip() for part in _BETWEEN.split(line))
    return [family_name(name) for name in parts if len(name) <= _LONGEST and _NAME.fullmatch(name)]
