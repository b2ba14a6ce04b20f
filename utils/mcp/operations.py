"""What toolset ``entrez`` has in common: tools of several operations, and their answers.

One tool of many operations costs a host a fifth of what a tool for each would. What an operation
does not take is refused, not ignored: it was sent for a reason. An answer is the dataclass that the
operation returns, as plain JSON without empty members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest
from ..library import Library
from ..system.plain_text import shortened

if TYPE_CHECKING:
    from ..entrez import DatabaseInfo, DatabaseList, Summary

_ALWAYS = {"total", "next_start", "ids", "records", "corrected", "counts", "rows"}
Arguments = Mapping[str, Any]
Report = Callable[[int, int], object]


def to_json(found: Any) -> Any:
    """An answer as JSON has it: dataclasses as objects, without empty members.

    A member that is empty because there is nothing (no hits, no next page) stays.
    """
    if is_dataclass(found):
        if (convert := _SPECIAL.get(type(found).__name__)) is not None:
            return convert(found)
        members = {one.name: to_json(getattr(found, one.name)) for one in fields(found)}
        return {name: value for name, value in members.items() if _says_something(name, value)}
    if isinstance(found, Mapping):
        return {str(name): to_json(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [to_json(one) for one in found]
    return str(found) if isinstance(found, Path) else found


def _says_something(name: str, value: Any) -> bool:
    return name in _ALWAYS or value not in ("", [], None, {})


def _summary(found: Summary) -> dict[str, Any]:
    """The database's own fields, overruled by ours where the names are the same."""
    left_out = {"left_out": list(found.left_out)} if found.left_out else {}
    asked_as = {"asked": found.asked} if found.asked else {}
    return {**to_json(found.fields), "uid": found.uid, **asked_as, **left_out}


def _database(found: DatabaseInfo) -> dict[str, Any]:
    return {
        "name": found.name,
        "title": found.title,
        "description": found.description,
        "total": found.records,
        "last_update": found.last_update,
        "uid": f"{found.uid}, such as {found.example}",
        "fetch": [f"{form.name}: {form.gives}" for form in found.fetch],
        "staged_from": found.staged_from,
        "fields": {one.name: shortened(one.description or one.title, 120) for one in found.fields},
        "links": {one.name: shortened(one.title or one.description, 80) for one in found.links},
    }


def _databases(found: DatabaseList) -> dict[str, Any]:
    rows = [
        {"name": one.name, "title": one.title, "uid": f"{one.uid}, such as {one.example}"}
        for one in found.databases
    ]
    return {"databases": rows, "warnings": list(found.warnings)}


_SPECIAL: Mapping[str, Any] = {
    "Summary": _summary,
    "DatabaseInfo": _database,
    "DatabaseList": _databases,
}


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
