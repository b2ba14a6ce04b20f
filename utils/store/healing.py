"""What every method of the shelf does when it finds the catalogue damaged."""

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
    """Make a damaged catalogue again from the files, then do what was asked."""

    @functools.wraps(method)
    def guarded(self: H, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except CatalogueBroken as error:
            self.heal(error)
            return method(self, *args, **kwargs)

    return guarded
