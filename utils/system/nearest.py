"""Find the name that a mistyped word means."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MIN_RATIO = 0.75
# The share of letters that agree, by difflib: `limt` and `limit` 0.89, `souce` and `force` 0.6.
_MAX_CHARS = 64


def find_nearest(word: str, names: Iterable[str]) -> str:
    """Return the name closest to *word*, or "" if none is close.

    Hyphens, underscores and capitals do not count.

    >>> find_nearest("downlod", ["search", "download"])
    'download'
    >>> find_nearest("--souce", ["--force"])
    ''
    """
    from difflib import get_close_matches

    folded = {_fold_name(name): name for name in reversed([*names])}
    near = get_close_matches(_fold_name(word[:_MAX_CHARS]), folded, 1, _MIN_RATIO)
    return folded[near[0]] if near else ""


def suggest_nearest(word: str, names: Iterable[str]) -> str:
    """Return the question whether the closest of *names* is meant; "" if none is close."""
    near = find_nearest(word, names)
    return f"Did you mean {near}?" if near else ""


def _fold_name(name: str) -> str:
    return re.sub(r"[-_\s]+", "", name).casefold()
