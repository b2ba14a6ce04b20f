"""Infer table layouts from the shape of all records of a database, and fill the tables.

Objects become columns ``a_b``, lists become child tables, and everything else becomes JSON: in a
column of its own or, beyond a table's maximum of columns, in ``other_fields``. Between the passes
the records wait in a temporary database on disk, so that a hundred thousand of them need no memory.

The shape gives a field's members, whether several values occur, and their kinds. An object and a
list of one object are treated alike, and so are a scalar and an object with that scalar as its own
text, because records of one database differ in this. Objects with hundreds of members (such as maps
by identifier) and very deep objects do not suit tables and are kept as JSON. Everything is bounded,
because the records come from the web.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ...system.plain_text import to_escaped_json
from .tables import (
    KEYWORDS,
    POSITION,
    UID,
    ColumnType,
    Scalar,
    StagingNotes,
    TableDefinition,
    TableWriter,
    ValueKind,
    choose_column_type,
    classify_cell_value,
    convert_to_column_type,
    join_field_path,
    to_column_name,
    to_unique_identifier,
)
from .trees import INNER_LIST, OWN_TEXT, RawRecordPage, Tree, iterate_records

MAX_TABLES = 40
MAX_COLUMNS = 250
REST_COLUMN = "other_fields"
JSON_TYPE = "JSON"  # the declared type; SQLite keeps it as text and has functions to read it
_MAX_DEPTH = 12  # levels of members
_MAX_MEMBERS = 120  # members of an object
_MAX_RECORD_MEMBERS = 600  # members of a record
_MAX_TOTAL_MEMBERS = 4000  # members in all


class FieldTarget:
    """The column or sub-table that stores a field's values.

    ``index`` is the column of the field's scalars, or of its JSON, and ``kind`` their type (None
    for JSON); ``members`` are the places of fields within; ``below`` is the table of list items.
    """

    __slots__ = ("below", "index", "kind", "members")

    def __init__(self) -> None:
        self.index: int | None = None
        self.kind: ColumnType | None = None
        self.members: dict[str, FieldTarget] = {}
        self.below: TableLayout | None = None


class TableLayout:
    """A table, the shape of its rows, and the column or sub-table of each field."""

    def __init__(self, table: TableDefinition, shape: FieldShape) -> None:
        self.table, self.shape, self.place = table, shape, FieldTarget()
        self.taken = {UID, POSITION, REST_COLUMN, table.key}
        self.rest: int | None = None
        self.ids = count(1)
        if table.parent is not None:
            self.taken.add(table.parent.key)

    def add_column(self, path: list[str], kind: str) -> int:
        """Add a column and return its index in the row, not counting keys."""
        self.table.columns.append(
            (to_unique_identifier(join_field_path(path) or "value", self.taken), kind)
        )
        return len(self.table.columns) - 1


class DatasetLayout:
    """The tables for records of one shape; ``empty`` lists fields without any value."""

    def __init__(self, shape: FieldShape, name: str, uid: str) -> None:
        self._names = {UID, POSITION, REST_COLUMN}
        main = TableDefinition(to_unique_identifier(to_column_name(name), self._names), [], uid=uid)
        self.empty: list[str] = []
        self.all = [TableLayout(main, shape)]
        # The list grows while it is iterated: tables nearest to the record get the short names.
        for below in self.all:
            self._lay_out_table(below)

    def _lay_out_table(self, below: TableLayout) -> None:
        shape, place = below.shape, below.place
        self._add_field_column(below, shape, place, [])
        for name, member in shape.members.items():
            self._assign_field(below, member, place, [name])
        if shape.more or below.rest is not None:
            below.table.columns.append((REST_COLUMN, JSON_TYPE))
            below.rest = len(below.table.columns) - 1

    def _assign_field(
        self, below: TableLayout, shape: FieldShape, above: FieldTarget, path: list[str]
    ) -> None:
        """Assign a field and its nested fields to columns or tables."""
        if not shape.has_values:
            self.empty.append(".".join([below.table.name, *path]))
            return
        if len(below.table.columns) >= MAX_COLUMNS:
            below.rest = -1  # set when all columns are known
            return
        place = above.members[path[-1]] = FieldTarget()
        if shape.as_json or (shape.many and len(self.all) >= MAX_TABLES):
            place.index = below.add_column(path, JSON_TYPE)
        elif shape.many:
            place.below = self._add_table(below, shape, path)
        else:
            self._add_field_column(below, shape, place, path)
            if shape.more:
                below.rest = -1
            for name, member in shape.members.items():
                self._assign_field(below, member, place, [*path, name])

    def _add_field_column(
        self, below: TableLayout, shape: FieldShape, place: FieldTarget, path: list[str]
    ) -> None:
        if shape.kinds:
            place.kind = choose_column_type(shape.kinds, join_field_path(path))
            place.index = below.add_column(path, "TEXT" if place.kind == "DATE" else place.kind)

    def _add_table(self, above: TableLayout, shape: FieldShape, path: list[str]) -> TableLayout:
        name = join_field_path(_drop_wrapped_list_name(path, above.shape))
        if name in self._names or name in KEYWORDS:
            name = f"{above.table.name}_{name}"
        above.table.keyed = above.table.parent is not None
        table = TableDefinition(
            to_unique_identifier(f"{name}_table" if name == UID else name, self._names),
            [],
            above.table,
        )
        self.all.append(TableLayout(table, shape))
        return self.all[-1]


def _drop_wrapped_list_name(path: list[str], shape: FieldShape) -> list[str]:
    """Return a list's path without its last name if the list is its wrapper's only member."""
    for name in path[:-1]:
        shape = shape.members[name]
    alone = len(path) > 1 and len(shape.members) == 1 and not shape.kinds
    return path[:-1] if alone else path


class InferredTables:
    """Read pages of any database into tables."""

    def __init__(self, database: sqlite3.Connection, name: str, notes: StagingNotes) -> None:
        self._database, self._name, self._notes = database, name, notes
        self._shapes = ShapeCollector()
        self._whole_uids = True
        # A temporary database of SQLite's, separate from the dataset's own tables.
        database.execute(
            "CREATE TEMP TABLE _waiting (number INTEGER PRIMARY KEY, uid TEXT UNIQUE, fields)"
        )

    def add_page(self, page: RawRecordPage) -> None:
        """Read a page and store its records until the tables are laid out."""
        for uid, fields in iterate_records(page):
            if fields is None:
                self._notes.add_missing_id(uid or "")
                continue
            number = self._notes.get_next_record_number()
            named = uid or f"record_{number}"
            if fields.get(UID) == named:
                fields.pop(UID)
            self._shapes.add_record(fields)
            self._whole_uids &= classify_cell_value(named) in {"whole", "year"}
            known = "SELECT 1 FROM _waiting WHERE uid = ?"
            if self._database.execute(known, (named,)).fetchone():
                self._notes.add_repeated_id(named)
            added = (number, named, json.dumps(fields))
            self._database.execute("INSERT OR REPLACE INTO _waiting VALUES (?, ?, ?)", added)

    def finish_tables(self) -> dict[str, int]:
        """Lay out and fill the tables, and return the number of rows by table."""
        uid = "INTEGER" if self._whole_uids else "TEXT"
        layout = DatasetLayout(self._shapes.root, self._name, uid)
        self._notes.empty_fields = layout.empty
        tables = TableWriter(self._database, [below.table for below in layout.all])
        waiting = "SELECT uid, fields FROM _waiting ORDER BY number"
        for named, fields in self._database.execute(waiting):
            key = int(named) if self._whole_uids else named
            for table, row in _iterate_item_rows(layout.all[0], json.loads(fields), [key], key):
                tables.add_row(table, row)
        self._database.execute("DROP TABLE _waiting")
        return tables.finish_tables()


def _iterate_item_rows(
    below: TableLayout, item: Tree, keys: list[Any], uid: int | str
) -> Iterator[tuple[TableDefinition, list[Any]]]:
    """Yield the row of an item and the rows of the lists within it."""
    row: list[Any] = [None] * len(below.table.columns)
    lists: list[tuple[TableLayout, list[Any]]] = []
    rest: dict[str, Tree] = {}
    _fill_row(row, below.place, item, lists, rest, [])
    if rest and below.rest is not None:
        row[below.rest] = to_escaped_json(rest)
    own = next(below.ids) if below.table.keyed else None
    yield below.table, [*([] if own is None else [own]), *keys, *row]
    for inner, items in lists:
        link = [] if own is None else [own]
        for position, part in enumerate(items, 1):
            yield from _iterate_item_rows(inner, part, [*link, uid, position], uid)


def _fill_row(
    row: list[Any],
    place: FieldTarget,
    item: Tree,
    lists: list[tuple[TableLayout, list[Any]]],
    rest: dict[str, Tree],
    path: list[str],
) -> None:
    if not isinstance(item, dict):
        _fill_cell(row, place, item)
        return
    for name, value in item.items():
        if is_empty_value(value):
            continue
        if name == OWN_TEXT and not isinstance(value, dict | list):
            _fill_cell(row, place, value)
        elif (member := place.members.get(name)) is None:
            rest[".".join([*path, name])] = value
        elif member.below is not None:
            lists.append((member.below, to_item_list(value)))
        elif member.index is not None and member.kind is None:
            row[member.index] = to_escaped_json(value)
        else:
            for part in to_item_list(value):
                _fill_row(row, member, part, lists, rest, [*path, name])


def _fill_cell(row: list[Any], place: FieldTarget, value: Scalar) -> None:
    if place.index is not None and place.kind is not None:
        row[place.index] = convert_to_column_type(value, place.kind)


@dataclass(slots=True)
class FieldShape:
    """The shape of one field in all records: kinds of value, members, and whether it repeats.

    ``kinds`` are the kinds of its own scalars, ``members`` the fields within. ``many``: several
    values occurred at once; ``as_json``: the field is kept as JSON; ``more``: it has uncounted
    members.
    """

    depth: int = 0
    kinds: set[ValueKind] = field(default_factory=set)
    members: dict[str, FieldShape] = field(default_factory=dict)
    many: bool = False
    as_json: bool = False
    more: bool = False

    @property
    def has_values(self) -> bool:
        """True if any record has a value in this field; NCBI's placeholder date does not count."""
        return bool(self.kinds - {"no date"} or self.as_json or self.more) or any(
            member.has_values for member in self.members.values()
        )


class ShapeCollector:
    """Collects the shape of records one at a time; ``root`` is the shape so far."""

    def __init__(self) -> None:
        self.root = FieldShape()
        self._left = _MAX_TOTAL_MEMBERS

    def add_record(self, fields: dict[str, Tree]) -> None:
        """Add one record to the shape."""
        self._add_item(fields, self.root)

    def _add_value(self, value: Tree, shape: FieldShape) -> None:
        if isinstance(value, list):
            shape.many = True
        for item in to_item_list(value):
            self._add_item(item, shape)

    def _add_item(self, item: Tree, shape: FieldShape) -> None:
        if not isinstance(item, dict):
            shape.kinds.add(classify_cell_value(item))
            return
        if shape.as_json:
            return
        if shape.depth >= _MAX_DEPTH:
            self._mark_as_json(shape)
            return
        for name, value in item.items():
            if name == OWN_TEXT and not isinstance(value, dict | list):
                if not is_empty_value(value):
                    shape.kinds.add(classify_cell_value(value))
            elif (member := self._get_or_add_member(shape, name)) is not None:
                self._add_value(value, member)

    def _get_or_add_member(self, shape: FieldShape, name: str) -> FieldShape | None:
        if member := shape.members.get(name):
            return member
        if shape.depth and len(shape.members) >= _MAX_MEMBERS:
            self._mark_as_json(shape)
        elif not self._left or len(shape.members) >= _MAX_RECORD_MEMBERS:
            shape.more = True
        if shape.as_json or shape.more:
            return None
        self._left -= 1
        shape.members[name] = FieldShape(shape.depth + 1)
        return shape.members[name]

    def _mark_as_json(self, shape: FieldShape) -> None:
        shape.as_json = True
        self._left += sum(1 for _ in _iterate_nested_shapes(shape))
        shape.members.clear()


def _iterate_nested_shapes(shape: FieldShape) -> Iterator[FieldShape]:
    for member in shape.members.values():
        yield member
        yield from _iterate_nested_shapes(member)


def is_empty_value(value: Tree) -> bool:
    """Return whether a value is an empty text, list or object, or missing."""
    return value is None or value == "" or value == [] or value == {}


def to_item_list(value: Tree) -> list[dict[str, Tree] | Scalar]:
    """Return a field's value as a list; a list within a list is wrapped in an object.

    >>> to_item_list("a"), to_item_list([1, None, [2]]), to_item_list("")
    (['a'], [1, {'values': [2]}], [])
    """
    if not isinstance(value, list):
        return [] if is_empty_value(value) else [value]
    return [
        {INNER_LIST: item} if isinstance(item, list) else item
        for item in value
        if not is_empty_value(item)
    ]
