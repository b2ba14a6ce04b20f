"""Recovery from a damaged catalogue, for every method of the shelf."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from .catalogue import CatalogueBroken

P = ParamSpec("P")
T = TypeVar("T")


class Healer(Protocol):
    """Something with a catalogue that can be made again."""

    def heal(self, error: CatalogueBroken) -> None:
        """Make the catalogue again from the files."""


H = TypeVar("H", bound=Healer)


def healing(method: Callable[Concatenate[H, P], T]) -> Callable[Concatenate[H, P], T]:
    """Rebuild a damaged catalogue from the files, then call *method* again."""

    @functools.wraps(method)
    def guarded(self: H, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except CatalogueBroken as error:
            self.heal(error)
            return method(self, *args, **kwargs)

    return guarded
