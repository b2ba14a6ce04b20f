"""A cached property that is computed once per object, even by several threads."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import TypeVar

T = TypeVar("T")
_LOCK = RLock()


class shared_property(cached_property[T]):  # noqa: N801 - used as `cached_property` is
    """A `functools.cached_property` that two threads never compute twice.

    Since Python 3.12 the standard one has no lock: threads that share a library could create two
    rate limiters or two database engines. One lock serves all objects, because values are created
    rarely, and one value may need another.
    """

    def __get__(self, instance: object, owner: type | None = None) -> T:  # type: ignore[override]
        """Return the value of *instance*; compute the value on first use."""
        with _LOCK:
            return super().__get__(instance, owner)
