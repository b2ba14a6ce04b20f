"""What holds of every dataset, whatever it was built of."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from utils.entrez.datasets.building import BuiltDataset
from utils.entrez.datasets.tables import KEYWORDS

TYPES = {
    "INTEGER": {"integer"},
    "REAL": {"real"},
    "TEXT": {"text"},
    "JSON": {"text", "integer", "real"},  # a number in JSON is one in SQLite, too
}


def rows(file: Path, sql: str, *values: object) -> list[tuple]:
    """What a query gives."""
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as database:
        return database.execute(sql, values).fetchall()


def told(file: Path) -> dict[str, str]:
    """What the dataset says of itself."""
    return dict(rows(file, "SELECT name, value FROM _dataset"))


def columns(file: Path, table: str) -> dict[str, str]:
    """Types by column."""
    return dict(rows(file, "SELECT name, type FROM pragma_table_info(?)", table))


def tables(file: Path) -> list[str]:
    """The tables of records and what belongs to them."""
    kept = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    return [name for (name,) in rows(file, kept) if name != "_dataset"]


def check(built: BuiltDataset) -> None:
    """Assert that the file is sound, and is what it is said to be."""
    file = built.file
    assert rows(file, "PRAGMA integrity_check") == [("ok",)]
    assert rows(file, "PRAGMA foreign_key_check") == []
    assert sorted(tables(file)) == sorted(built.tables)
    main = next(iter(built.tables))
    assert built.tables[main] == built.records == int(told(file)["records"])
    assert json.loads(told(file)["not_found"]) == list(built.not_found)
    assert json.loads(told(file)["warnings"]) == list(built.warnings)
    assert built.size == file.stat().st_size
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # nothing is left over
    for table, count in built.tables.items():
        assert rows(file, f"SELECT count(*) FROM {table}") == [(count,)]
        _check_names(file, table)
        _check_types(file, table)
        _check_relations(file, table, main)


def _check_names(file: Path, table: str) -> None:
    for name in (table, *columns(file, table)):
        assert re.fullmatch(r"[a-z][a-z0-9_]*", name), name
        assert name not in KEYWORDS
    assert "uid" in columns(file, table)


def _check_types(file: Path, table: str) -> None:
    for column, kind in columns(file, table).items():
        found = {t for (t,) in rows(file, f"SELECT DISTINCT typeof({column}) FROM {table}")}
        assert found <= TYPES[kind] | {"null"}, (table, column, kind, found)


def _check_relations(file: Path, table: str, main: str) -> None:
    links = rows(file, 'SELECT "table", "from" FROM pragma_foreign_key_list(?)', table)
    if table == main:
        assert links == []
        assert rows(file, f"SELECT count(*) - count(DISTINCT uid) FROM {table}") == [(0,)]
        return
    assert (main, "uid") in links
    lead = "SELECT ii.name FROM pragma_index_list(?) il, pragma_index_info(il.name) ii"
    indexed = {name for (name,) in rows(file, f"{lead} WHERE ii.seqno = 0", table)}
    assert {column for _, column in links} <= indexed
    keys = ", ".join(column for _, column in links)
    again = f"SELECT 1 FROM {table} GROUP BY {keys}, position HAVING count(*) > 1"
    assert rows(file, again) == []
