"""How much is tried: a third of what is meant, and all of it with ``EXAMPLES=all``.

A number in ``EXAMPLES`` says which third: CI gives the hour of the commit, so that every third has
its turn. Whoever changes what a property or a matrix is about tries all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar
from zlib import crc32

from hypothesis import HealthCheck, settings

EXAMPLES = os.environ.get("EXAMPLES", "")
ALL = EXAMPLES == "all"
_TURN = 0 if ALL else int(EXAMPLES or 0)
Row = TypeVar("Row")
Column = TypeVar("Column")


def share(number: int) -> int:
    """So many where all are tried, else a third of them."""
    return number if ALL else max(1, number // 3)


def has_turn(place: int, every: int = 3) -> bool:
    """Whether what stands at this *place* is tried: all of it, or one in *every* so many."""
    return ALL or (place + _TURN) % every == 0


def takes_its_minute(name: str) -> bool:
    """Whether a test marked ``minute`` is tried: never without ``EXAMPLES``."""
    return bool(EXAMPLES) and has_turn(crc32(name.encode()))


def some(rows: Iterable[Row], every: int = 3) -> list[Row]:
    """All rows where all are tried, else one in *every* so many, and at least one."""
    rows = list(rows)
    every = min(every, len(rows)) or 1
    return [row for at, row in enumerate(rows) if has_turn(at, every)]


def often(examples: int = 100, **more: Any) -> settings:
    """So many *examples* where all are tried. None fails by its clock: that is the machine's."""
    known = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    return settings(**{**known, **more}, max_examples=share(examples))


def pairs(
    rows: Iterable[Row], columns: Iterable[Column], every: int = 3
) -> list[tuple[Row, Column]]:
    """Of all pairs one in *every* so many, such that every row and every column is met."""
    columns = list(columns)
    assert len(columns) >= every
    return [
        (row, column)
        for at, row in enumerate(rows)
        for turn, column in enumerate(columns)
        if has_turn(at + turn, every)
    ]
