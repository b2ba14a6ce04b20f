r"""Tables of journals: AASTeX's ``deluxetable``, Oxford's ``\processtable``.

The former's caption, head and notes are commands of their own, which
https://journals.aas.org/aastexguide/ tells; of the latter they are arguments.
"""

from __future__ import annotations

from typing import Final

from .tokens import PARAGRAPH
from .walk import Command, Walk


def _caption(walk: Walk) -> None:
    tokens = walk.gullet.argument(long=True)
    scope = next((scope for scope in reversed(walk.scopes) if scope.kind == "table"), None)
    own = scope.number if scope is not None else ""
    if own:
        walk.numbers.mean(own, "table")
    number = own or walk.numbers.step("table")
    walk.add(f"**Table {number}.** {walk.line(tokens)}".rstrip())


def _process(walk: Walk) -> None:
    caption = walk.gullet.argument(long=True)
    table, notes = walk.gullet.argument(long=True), walk.gullet.argument(long=True)
    walk.gullet.put_back([*table, PARAGRAPH, *notes, PARAGRAPH])
    walk.add(f"**Table {walk.numbers.step('table')}.** {walk.line(caption)}".rstrip())


def _number(walk: Walk) -> None:
    said = walk.line(walk.gullet.argument())
    for scope in reversed(walk.scopes):
        if scope.kind == "table":
            scope.number = said
            break


def _head(walk: Walk) -> None:
    walk.deluxe_head = walk.gullet.argument(long=True)


def _start(walk: Walk) -> None:
    head, walk.deluxe_head = walk.deluxe_head, []
    walk.environments["startdata"](walk, "startdata")
    walk.gullet.put_back([*head, "\\\\", "\\hline"] if head else [])


def _end(walk: Walk) -> None:
    walk.close_environment("startdata")


def _note(walk: Walk) -> None:
    mark, said = walk.line(walk.gullet.argument()), walk.line(walk.gullet.argument(long=True))
    walk.add(f"<sup>{mark}</sup> {said}" if mark else said)


def _told(before: str) -> Command:
    def tell(walk: Walk) -> None:
        said = walk.line(walk.gullet.argument(long=True))
        walk.add(f"{before}{said}" if said else "")

    return tell


def _mark(walk: Walk) -> None:
    said = walk.line(walk.gullet.argument())
    walk.write(f"<sup>{said}</sup>" if said else "")


def _row(walk: Walk) -> None:
    """A line of its own across the table."""
    walk.gullet.put_back([*walk.gullet.argument(long=True), "\\\\"])


def _layout(arguments: int) -> Command:
    return lambda walk: walk.skip("m" * arguments)


DELUXE: Final[dict[str, Command]] = {
    "processtable": _process,
    "tablecaption": _caption,
    "tablenum": _number,
    "tablehead": _head,
    "startdata": _start,
    "enddata": _end,
    "tablenotetext": _note,
    "tablenotemark": _mark,
    "tablecomments": _told("Note. "),
    "tablerefs": _told("References. "),
    **dict.fromkeys(("cutinhead", "sidehead"), _row),
    "nodata": lambda walk: walk.write("…"),
    **dict.fromkeys(("tabletypesize", "tablewidth", "tablecolumns", "movetabledown"), _layout(1)),
    **dict.fromkeys(("colnumbers", "decimalcolnumbers", "decimals", "startlongtable"), _layout(0)),
}
