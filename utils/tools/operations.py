"""Tools of several operations: what each takes, checked before anything is done.

One tool of many operations costs a host a fifth of what a tool for each would. What an operation
does not take is refused, not ignored: it was sent for a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BadRequest
from ..library import Library

Arguments = Mapping[str, Any]
Report = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a tool.

    ``does`` and ``costs`` (tokens) describe it. ``needs`` are the required arguments, of ``one_of``
    exactly one is required, ``takes`` are the optional ones; names separated by blanks.
    """

    does: str
    call: Callable[[Library, Arguments], Any]
    needs: str = ""
    one_of: str = ""
    takes: str = ""
    costs: str = ""

    def run(
        self, name: str, library: Library, args: Arguments, report: Report | None = None
    ) -> Any:
        """Check the arguments and call; long operations call *report* with (done, total).

        Raises
        ------
        BadRequest
            An argument is missing, or one too many: says which, and which there are.
        """
        present = {argument for argument, value in args.items() if value not in _NOTHING}
        accepted = f"{self.needs} {self.one_of} {self.takes}".split()
        hint = f"It takes: {', '.join(accepted) or 'nothing'}."
        if unknown := sorted(present - {*accepted}):
            raise BadRequest(f"{name} takes no {', '.join(unknown)}.", hint)
        if missing := [argument for argument in self.needs.split() if argument not in present]:
            raise BadRequest(f"{name} needs {' and '.join(missing)}.", hint)
        if self.one_of and len(present & {*self.one_of.split()}) != 1:
            raise BadRequest(f"{name} needs one of {', '.join(self.one_of.split())}.", hint)
        return self.call(library, {**args, "report": report})


_NOTHING: tuple[Any, ...] = ("", (), 0, False)
