"""How much is tried: a third of what is meant, and all of it with ``EXAMPLES=all``.

CI tries all; whoever changes what a property or a matrix is about does so, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

ALL = os.environ.get("EXAMPLES") == "all"
Row = TypeVar("Row")
Column = TypeVar("Column")


def share(number: int) -> int:
    """So many where all are tried, else a third of them."""
    return number if ALL else max(1, number // 3)


def some(rows: Iterable[Row], every: int = 3) -> list[Row]:
    """All rows where all are tried, else one in *every* so many, the first among them."""
    return list(rows)[:: 1 if ALL else every]


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
        if ALL or (at + turn) % every == 0
    ]
