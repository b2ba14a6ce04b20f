"""How many examples are tried: a fixed third of them, or all with ``EXAMPLES=all``.

The third is the same in every run. Whoever changes what a property or a matrix is about tries all.
"""

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

ALL = os.environ.get("EXAMPLES", "") == "all"
Row = TypeVar("Row")
Column = TypeVar("Column")


def share(number: int) -> int:
    """Return *number* where all examples are tried, else a third of it."""
    return number if ALL else max(1, number // 3)


def has_turn(place: int, every: int = 3) -> bool:
    """Return whether the example at this *place* is tried: all, or one in *every* so many."""
    return ALL or place % every == 0


def some(rows: Iterable[Row], every: int = 3) -> list[Row]:
    """Return all rows where all are tried, else one in *every* so many, and at least one."""
    rows = list(rows)
    every = min(every, len(rows)) or 1
    return [row for at, row in enumerate(rows) if has_turn(at, every)]


def often(examples: int = 100, **more: Any) -> settings:
    """Return Hypothesis settings for this number of *examples*, without a deadline.

    Where not all examples are tried, the same third is made in every run.
    """
    known = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    known["derandomize"] = not ALL
    return settings(**{**known, **more}, max_examples=share(examples))


def pairs(
    rows: Iterable[Row], columns: Iterable[Column], every: int = 3
) -> list[tuple[Row, Column]]:
    """Return one pair in *every* so many, such that every row and every column occurs."""
    columns = list(columns)
    assert len(columns) >= every
    return [
        (row, column)
        for at, row in enumerate(rows)
        for turn, column in enumerate(columns)
        if has_turn(at + turn, every)
    ]
