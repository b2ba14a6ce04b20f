"""What a paper holds beside its running text: figures, tables, supplementary files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

ObjectKind = Literal["figure", "table", "supplement"]
OBJECT_KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table as plain text: what spans several rows stands in each of them.

    ``head`` are the rows above the body, from the widest heading to the narrowest, spans filled;
    all rows are equally long. ``notes`` stand under the table.
    """

    head: tuple[tuple[str, ...], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Each column's name: its headings from top to bottom, each said once."""
        named = (
            " / ".join(dict.fromkeys(filter(None, levels)))
            for levels in zip(*self.head, strict=True)
        )
        return tuple(named) if self.head else ("",) * self.width

    @property
    def width(self) -> int:
        """How many columns it has."""
        return len((self.head or self.rows or ((),))[0])


@dataclass(frozen=True, slots=True)
class PaperObject:
    """One figure, table or supplementary file, as the paper's text or XML names it.

    ``files`` are the names (or addresses) the article gives its images or files, ``grid`` the
    cells of a table that is not an image.
    """

    kind: ObjectKind
    label: str
    caption: str = ""
    files: tuple[str, ...] = field(default=())
    grid: Grid | None = None
