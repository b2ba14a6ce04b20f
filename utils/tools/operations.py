"""Tools of several operations: what each operation takes, checked before anything is done.

One tool of many operations costs a host a fifth of what a tool for each would. What an operation
does not take is refused, not ignored: whoever sent it meant something by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BadRequest
from ..library import Library

Given = Mapping[str, Any]
Told = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a tool.

    ``does`` and ``costs`` (in tokens) are for whoever asks. ``needs`` are the arguments it cannot
    do without, of ``one_of`` it needs exactly one, and ``takes`` are the others it knows; names by
    blanks.
    """

    does: str
    call: Callable[[Library, Given], Any]
    needs: str = ""
    one_of: str = ""
    takes: str = ""
    costs: str = ""

    def done(self, name: str, library: Library, given: Given, told: Told | None = None) -> Any:
        """Do it; *told* hears how far it is (done, of how many) from those that take long.

        Raises
        ------
        BadRequest
            An argument is missing, or one too many: says which, and which there are.
        """
        here = {argument for argument, value in given.items() if value not in _NOTHING}
        known = f"{self.needs} {self.one_of} {self.takes}".split()
        also = f"It takes: {', '.join(known) or 'nothing'}."
        if strangers := sorted(here - {*known}):
            raise BadRequest(f"{name} takes no {', '.join(strangers)}.", also)
        if missing := [argument for argument in self.needs.split() if argument not in here]:
            raise BadRequest(f"{name} needs {' and '.join(missing)}.", also)
        if self.one_of and len(here & {*self.one_of.split()}) != 1:
            raise BadRequest(f"{name} needs one of {', '.join(self.one_of.split())}.", also)
        return self.call(library, {**given, "told": told})


_NOTHING: tuple[Any, ...] = ("", (), 0, False)
