r"""Tables of journals: AASTeX's ``deluxetable``, Oxford's ``\processtable``.

The former's caption, head and notes are commands of their own
(https://journals.aas.org/aastexguide/); the latter's are arguments.
"""

from __future__ import annotations

from typing import Final

from .tokens import PARAGRAPH
from .walk import Command, Scope, Walk


def _table_scope(walk: Walk) -> Scope | None:
    return next((scope for scope in reversed(walk.scopes) if scope.kind == "table"), None)


def _caption(walk: Walk) -> None:
    tokens = walk.stream.take_argument(long=True)
    scope = _table_scope(walk)
    own = scope.number if scope is not None else ""
    if own:
        walk.numbers.set_current(own, "table")
    number = own or walk.numbers.step("table")
    walk.add(f"**Table {number}.** {walk.line(tokens)}".rstrip())


def _process(walk: Walk) -> None:
    caption = walk.stream.take_argument(long=True)
    table, notes = walk.stream.take_argument(long=True), walk.stream.take_argument(long=True)
    walk.stream.put_back([*table, PARAGRAPH, *notes, PARAGRAPH])
    walk.add(f"**Table {walk.numbers.step('table')}.** {walk.line(caption)}".rstrip())


def _number(walk: Walk) -> None:
    number = walk.line(walk.stream.take_argument())
    if (scope := _table_scope(walk)) is not None:
        scope.number = number


def _head(walk: Walk) -> None:
    walk.deluxe_head = walk.stream.take_argument(long=True)


def _start(walk: Walk) -> None:
    head, walk.deluxe_head = walk.deluxe_head, []
    walk.environments["startdata"](walk, "startdata")
    walk.stream.put_back([*head, "\\\\", "\\hline"] if head else [])


def _end(walk: Walk) -> None:
    walk.close_environment("startdata")


def _note(walk: Walk) -> None:
    mark, note = walk.line(walk.stream.take_argument()), walk.take_line()
    walk.add(f"<sup>{mark}</sup> {note}" if mark else note)


def _remark(before: str) -> Command:
    def add_remark(walk: Walk) -> None:
        remark = walk.take_line()
        walk.add(f"{before}{remark}" if remark else "")

    return add_remark


def _mark(walk: Walk) -> None:
    mark = walk.line(walk.stream.take_argument())
    walk.write(f"<sup>{mark}</sup>" if mark else "")


def _row(walk: Walk) -> None:
    """A line of its own across the table."""
    walk.stream.put_back([*walk.stream.take_argument(long=True), "\\\\"])


def _layout(arguments: int) -> Command:
    return lambda walk: walk.skip("m" * arguments, star=True)


DELUXE: Final[dict[str, Command]] = {
    "processtable": _process,
    "tablecaption": _caption,
    "tablenum": _number,
    "tablehead": _head,
    "startdata": _start,
    "enddata": _end,
    "tablenotetext": _note,
    "tablenotemark": _mark,
    "tablecomments": _remark("Note. "),
    "tablerefs": _remark("References. "),
    **dict.fromkeys(("cutinhead", "sidehead"), _row),
    "nodata": lambda walk: walk.write("…"),
    **dict.fromkeys(("tabletypesize", "tablewidth", "tablecolumns", "movetabledown"), _layout(1)),
    **dict.fromkeys(("colnumbers", "decimalcolnumbers", "decimals", "startlongtable"), _layout(0)),
}
