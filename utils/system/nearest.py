"""Find the name for which a word is probably a misspelling."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MIN_RATIO = 0.75
# The share of letters that agree, by difflib: `limt` and `limit` 0.89, `souce` and `force` 0.6.
_MAX_CHARS = 64


def find_nearest_name(word: str, names: Iterable[str]) -> str:
    """Return the name closest to *word*, or "" if none is close.

    Hyphens, underscores and capitals do not count.

    >>> find_nearest_name("downlod", ["search", "download"])
    'download'
    >>> find_nearest_name("--souce", ["--force"])
    ''
    """
    from difflib import get_close_matches

    folded = {_fold_name(name): name for name in reversed([*names])}
    matches = get_close_matches(_fold_name(word[:_MAX_CHARS]), folded, 1, _MIN_RATIO)
    return folded[matches[0]] if matches else ""


def suggest_nearest_name(word: str, names: Iterable[str]) -> str:
    """Return "Did you mean …?" with the closest of *names*; "" if none is close."""
    name = find_nearest_name(word, names)
    return f"Did you mean {name}?" if name else ""


def _fold_name(name: str) -> str:
    return re.sub(r"[-_\s]+", "", name).casefold()
