"""Lay out tables after the shape of all records of a database, then fill them in a second pass.

Objects become columns ``a_b``, lists become tables below the one they stand in, everything else
becomes JSON: in a column of its own or, beyond the columns a table may have, in ``other_fields``.
Between the passes the records wait in a temporary database on disk, so that a hundred thousand of
them need no memory.

The shape says which members there are, whether several, and of what kinds. An object and a list of
one object count as the same, and so do a scalar and an object that has it as its own text, because
records of one database differ in this. What no table could hold well (objects with hundreds of
members, such as maps by identifier, and very deep ones) is kept as JSON. Everything is bounded: the
records come from the web.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ...system.plain_text import to_plain_json
from .tables import (
    KEYWORDS,
    POSITION,
    UID,
    Kind,
    Notes,
    Scalar,
    Table,
    Tables,
    Type,
    converted,
    joined,
    kind_of,
    plain,
    type_of,
    unique,
)
from .trees import INNER, OWN, Page, Tree, records

MOST_TABLES = 40
MOST_COLUMNS = 250
REST = "other_fields"
JSON = "JSON"  # the declared type; SQLite keeps it as text and has functions to read it
_DEEPEST = 12  # levels of members
_WIDEST = 120  # members of an object
_WIDEST_RECORD = 600  # members of a record
_MOST = 4000  # members in all


class Place:
    """Where a field's values go.

    ``index`` is the column of its own scalars, or of its JSON, and ``kind`` their type (None for
    JSON); ``members`` are the places within; ``below`` is the table of its items.
    """

    __slots__ = ("below", "index", "kind", "members")

    def __init__(self) -> None:
        self.index: int | None = None
        self.kind: Type | None = None
        self.members: dict[str, Place] = {}
        self.below: TableLayout | None = None


class TableLayout:
    """A table, the shape of its rows, and the place where each part of them goes."""

    def __init__(self, table: Table, shape: Shape) -> None:
        self.table, self.shape, self.place = table, shape, Place()
        self.taken = {UID, POSITION, REST, table.key}
        self.rest: int | None = None
        self.ids = count(1)
        if table.parent is not None:
            self.taken.add(table.parent.key)

    def column(self, path: list[str], kind: str) -> int:
        """Add a column; returns its place in the row, keys not counted."""
        self.table.columns.append((unique(joined(path) or "value", self.taken), kind))
        return len(self.table.columns) - 1


class Layout:
    """The tables for records of one shape; ``empty`` are fields no record fills."""

    def __init__(self, shape: Shape, name: str, uid: str) -> None:
        self._names = {UID, POSITION, REST}
        main = Table(unique(plain(name), self._names), [], uid=uid)
        self.empty: list[str] = []
        self.all = [TableLayout(main, shape)]
        # It grows as it goes: the tables nearest to the record come first, and get the short names.
        for below in self.all:
            self._lay_out(below)

    def _lay_out(self, below: TableLayout) -> None:
        shape, place = below.shape, below.place
        self._add_column(below, shape, place, [])
        for name, member in shape.members.items():
            self._place(below, member, place, [name])
        if shape.more or below.rest is not None:
            below.table.columns.append((REST, JSON))
            below.rest = len(below.table.columns) - 1

    def _place(self, below: TableLayout, shape: Shape, above: Place, path: list[str]) -> None:
        """Find a place for a field, and for those in it."""
        if not shape.seen:
            self.empty.append(".".join([below.table.name, *path]))
            return
        if len(below.table.columns) >= MOST_COLUMNS:
            below.rest = -1  # known when all columns are
            return
        place = above.members[path[-1]] = Place()
        if shape.as_json or (shape.many and len(self.all) >= MOST_TABLES):
            place.index = below.column(path, JSON)
        elif shape.many:
            place.below = self._add_table(below, shape, path)
        else:
            self._add_column(below, shape, place, path)
            if shape.more:
                below.rest = -1
            for name, member in shape.members.items():
                self._place(below, member, place, [*path, name])

    def _add_column(self, below: TableLayout, shape: Shape, place: Place, path: list[str]) -> None:
        if shape.kinds:
            place.kind = type_of(shape.kinds, joined(path))
            place.index = below.column(path, "TEXT" if place.kind == "DATE" else place.kind)

    def _add_table(self, above: TableLayout, shape: Shape, path: list[str]) -> TableLayout:
        name = joined(_unwrapped(path, above.shape))
        if name in self._names or name in KEYWORDS:
            name = f"{above.table.name}_{name}"
        above.table.keyed = above.table.parent is not None
        table = Table(
            unique(f"{name}_table" if name == UID else name, self._names), [], above.table
        )
        self.all.append(TableLayout(table, shape))
        return self.all[-1]


def _unwrapped(path: list[str], shape: Shape) -> list[str]:
    """A list's path without its own name where it is all that stands in its wrapper."""
    for name in path[:-1]:
        shape = shape.members[name]
    alone = len(path) > 1 and len(shape.members) == 1 and not shape.kinds
    return path[:-1] if alone else path


class InferredTables:
    """Reads pages of any database into tables."""

    def __init__(self, database: sqlite3.Connection, name: str, notes: Notes) -> None:
        self._database, self._name, self._notes = database, name, notes
        self._shapes = Shapes()
        self._whole_uids = True
        # Beside the dataset's own tables, in a database of its own that SQLite deletes.
        database.execute(
            "CREATE TEMP TABLE _waiting (number INTEGER PRIMARY KEY, uid TEXT UNIQUE, fields)"
        )

    def add(self, page: Page) -> None:
        """Read a page, and keep its records until the tables are laid out."""
        for uid, fields in records(page):
            if fields is None:
                self._notes.add_missing(uid or "")
                continue
            number = self._notes.next_number()
            named = uid or f"record_{number}"
            if fields.get(UID) == named:
                fields.pop(UID)
            self._shapes.learn(fields)
            self._whole_uids &= kind_of(named) in {"whole", "year"}
            known = "SELECT 1 FROM _waiting WHERE uid = ?"
            if self._database.execute(known, (named,)).fetchone():
                self._notes.add_repeated(named)
            added = (number, named, json.dumps(fields))
            self._database.execute("INSERT OR REPLACE INTO _waiting VALUES (?, ?, ?)", added)

    def finish(self) -> dict[str, int]:
        """Lay out the tables and fill them; rows by table."""
        uid = "INTEGER" if self._whole_uids else "TEXT"
        layout = Layout(self._shapes.root, self._name, uid)
        self._notes.empty_fields = layout.empty
        tables = Tables(self._database, [below.table for below in layout.all])
        waiting = "SELECT uid, fields FROM _waiting ORDER BY number"
        for named, fields in self._database.execute(waiting):
            key = int(named) if self._whole_uids else named
            for table, row in _rows(layout.all[0], json.loads(fields), [key], key):
                tables.add(table, row)
        self._database.execute("DROP TABLE _waiting")
        return tables.finish()


def _rows(
    below: TableLayout, item: Tree, keys: list[Any], uid: int | str
) -> Iterator[tuple[Table, list[Any]]]:
    """The row of an item, and those of the lists in it."""
    row: list[Any] = [None] * len(below.table.columns)
    lists: list[tuple[TableLayout, list[Any]]] = []
    rest: dict[str, Tree] = {}
    _fill(row, below.place, item, lists, rest, [])
    if rest and below.rest is not None:
        row[below.rest] = to_plain_json(rest)
    own = next(below.ids) if below.table.keyed else None
    yield below.table, [*([] if own is None else [own]), *keys, *row]
    for inner, items in lists:
        link = [] if own is None else [own]
        for position, part in enumerate(items, 1):
            yield from _rows(inner, part, [*link, uid, position], uid)


def _fill(
    row: list[Any],
    place: Place,
    item: Tree,
    lists: list[tuple[TableLayout, list[Any]]],
    rest: dict[str, Tree],
    path: list[str],
) -> None:
    if not isinstance(item, dict):
        _set_cell(row, place, item)
        return
    for name, value in item.items():
        if is_nothing(value):
            continue
        if name == OWN and not isinstance(value, dict | list):
            _set_cell(row, place, value)
        elif (member := place.members.get(name)) is None:
            rest[".".join([*path, name])] = value
        elif member.below is not None:
            lists.append((member.below, items_of(value)))
        elif member.index is not None and member.kind is None:
            row[member.index] = to_plain_json(value)
        else:
            for part in items_of(value):
                _fill(row, member, part, lists, rest, [*path, name])


def _set_cell(row: list[Any], place: Place, value: Scalar) -> None:
    if place.index is not None and place.kind is not None:
        row[place.index] = converted(value, place.kind)


@dataclass(slots=True)
class Shape:
    """One field over all records.

    ``kinds`` are those of its own scalars, ``members`` the fields in it, ``many`` whether several
    came at once; ``as_json`` that it is to be kept as JSON, ``more`` that it has members that were
    not counted.
    """

    depth: int = 0
    kinds: set[Kind] = field(default_factory=set)
    members: dict[str, Shape] = field(default_factory=dict)
    many: bool = False
    as_json: bool = False
    more: bool = False

    @property
    def seen(self) -> bool:
        """Whether any record has a value here; NCBI's date for none is no value."""
        return bool(self.kinds - {"no date"} or self.as_json or self.more) or any(
            member.seen for member in self.members.values()
        )


class Shapes:
    """Learns the shape of records one by one, in ``root``."""

    def __init__(self) -> None:
        self.root = Shape()
        self._left = _MOST

    def learn(self, fields: dict[str, Tree]) -> None:
        """Take one record into account."""
        self._item(fields, self.root)

    def _value(self, value: Tree, shape: Shape) -> None:
        if isinstance(value, list):
            shape.many = True
        for item in items_of(value):
            self._item(item, shape)

    def _item(self, item: Tree, shape: Shape) -> None:
        if not isinstance(item, dict):
            shape.kinds.add(kind_of(item))
            return
        if shape.as_json:
            return
        if shape.depth >= _DEEPEST:
            self._give_up(shape)
            return
        for name, value in item.items():
            if name == OWN and not isinstance(value, dict | list):
                if not is_nothing(value):
                    shape.kinds.add(kind_of(value))
            elif (member := self._member(shape, name)) is not None:
                self._value(value, member)

    def _member(self, shape: Shape, name: str) -> Shape | None:
        if member := shape.members.get(name):
            return member
        if shape.depth and len(shape.members) >= _WIDEST:
            self._give_up(shape)
        elif not self._left or len(shape.members) >= _WIDEST_RECORD:
            shape.more = True
        if shape.as_json or shape.more:
            return None
        self._left -= 1
        shape.members[name] = Shape(shape.depth + 1)
        return shape.members[name]

    def _give_up(self, shape: Shape) -> None:
        shape.as_json = True
        self._left += sum(1 for _ in _below(shape))
        shape.members.clear()


def _below(shape: Shape) -> Iterator[Shape]:
    for member in shape.members.values():
        yield member
        yield from _below(member)


def is_nothing(value: Tree) -> bool:
    """Whether a value is empty."""
    return value is None or value == "" or value == [] or value == {}


def items_of(value: Tree) -> list[dict[str, Tree] | Scalar]:
    """What stands in a field, as a list; a list within a list is an object around it.

    >>> items_of("a"), items_of([1, None, [2]]), items_of("")
    (['a'], [1, {'values': [2]}], [])
    """
    if not isinstance(value, list):
        return [] if is_nothing(value) else [value]
    return [
        {INNER: item} if isinstance(item, list) else item for item in value if not is_nothing(item)
    ]
