"""The engine without any: one job after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def run(function: Callable[[Any], Any], jobs: Iterable[Any], **_: Any) -> Iterator[Any]:
    """See `..engines`."""
    return map(function, jobs)
