"""Exports: every row, once, whole or not at all, in a form that spreadsheets and programs read."""

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.entrez.datasets.small_datasets import dataset, written
from utils.entrez.datasets import export as exporting
from utils.entrez.datasets.export import export_rows
from utils.entrez.datasets.sql_query import run_query
from utils.errors import BadRequest, NotConfigured, StoreFailed

ODD = [
    (1, 0.5, "=HYPERLINK(1)", None),
    (-2, -1.0, "+1", b"\xff\x00"),
    (2**62, 1e300, "a\nb\x07 \u202e c", "é,;\"'"),
    (0, None, "  ", ""),
]
COUNT = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    tables = "CREATE TABLE a (whole INTEGER, part REAL, words TEXT, other)"
    return written(tmp_path / "datasets", "odd_00000001", tables, {"a": ODD}, {})


def rows_of(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def test_every_row_is_in_the_csv(genes: Path, tmp_path: Path) -> None:
    sql = "SELECT uid, weight, score, description FROM gene ORDER BY weight"
    told = export_rows(genes, sql, tmp_path / "out" / "genes.csv")
    rows = rows_of(told.file)
    assert rows[0] == list(told.columns) == ["uid", "weight", "score", "description"]
    assert rows[1:] == [[str(value) for value in row] for row in run_query(genes, sql).rows]
    assert told.rows == len(rows) - 1 == 40
    assert told.size == told.file.stat().st_size
    assert told.form == "csv"


def test_a_spreadsheet_runs_nothing(odd: Path, tmp_path: Path) -> None:
    sql = "SELECT *, 1 AS \"=cmd|' /C calc'!A0\" FROM a ORDER BY rowid"
    header, *rows = rows_of(export_rows(odd, sql, tmp_path / "a.csv").file)
    assert header[-1] == "'=cmd|' /C calc'!A0"
    assert rows[0] == ["1", "0.5", "'=HYPERLINK(1)", "", "1"]
    assert rows[1] == ["-2", "-1.0", "'+1", "x'ff00'", "1"]  # a number is no formula
    assert rows[2][2:4] == ["a b c", "é,;\"'"]
    assert rows[3] == ["0", "", "", "", "1"]


def test_many_pages_are_one_file_and_the_statement_runs_once(genes: Path, tmp_path: Path) -> None:
    sql = f"{COUNT.format(23_456)}, random() AS dice FROM n"
    told = export_rows(genes, sql, tmp_path / "a.csv")
    rows = rows_of(told.file)[1:]
    assert told.rows == len(rows) == 23_456
    assert [int(row[0]) for row in rows] == list(range(1, 23_457))
    assert len({row[1] for row in rows}) == len(rows)


def test_long_cells_are_not_cut(genes: Path, tmp_path: Path) -> None:
    sql = "SELECT printf('%.*c', 3000000, 'a') FROM gene LIMIT 3"
    assert [
        len(row[0]) for row in _long_rows(export_rows(genes, sql, tmp_path / "a.csv").file)
    ] == [3_000_000] * 3


def _long_rows(file: Path) -> list[list[str]]:
    before = csv.field_size_limit(10_000_000)
    try:
        return rows_of(file)[1:]
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize(
    "form", ["csv", pytest.param("parquet", marks=pytest.mark.extras("pyarrow"))]
)
def test_no_rows_are_a_file_with_columns(genes: Path, tmp_path: Path, form: Any) -> None:
    told = export_rows(genes, "SELECT uid, name AS uid FROM gene WHERE 0", tmp_path / "a", form)
    assert told.rows == 0
    assert told.columns == ("uid", "uid_2")
    assert told.size == told.file.stat().st_size > 0


@pytest.mark.extras("pyarrow")
def test_parquet_keeps_values_as_they_are(odd: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    told = export_rows(odd, "SELECT * FROM a ORDER BY rowid", tmp_path / "a.parquet", "parquet")
    table = parquet.read_table(told.file)
    assert [str(field.type) for field in table.schema] == ["int64", "double", "string", "string"]
    kept = [tuple(row.values()) for row in table.to_pylist()]
    as_text = {b"\xff\x00": "x'ff00'"}
    assert kept == [(*row[:3], as_text.get(row[3], row[3])) for row in ODD]
    assert told.size == told.file.stat().st_size


@pytest.mark.extras("pyarrow")
@pytest.mark.parametrize(
    ("values", "kind", "kept"),
    [
        ("(1), (NULL), (2)", "int64", [1, None, 2]),
        ("(1), (0.5)", "double", [1.0, 0.5]),
        ("(9007199254740993), (0.5)", "string", ["9007199254740993", "0.5"]),
        ("(1), ('a'), (NULL)", "string", ["1", "a", None]),
        ("(NULL), (NULL)", "string", [None, None]),
        ("(9e999), (1)", "string", ["inf", "1"]),
    ],
)
def test_the_type_of_a_column_fits_all_its_values(
    genes: Path, tmp_path: Path, values: str, kind: str, kept: list[Any]
) -> None:
    from pyarrow import parquet

    sql = f"SELECT column1 AS a FROM (VALUES {values})"
    table = parquet.read_table(export_rows(genes, sql, tmp_path / "a", "parquet").file)
    assert str(table.schema.field("a").type) == kind
    assert table.column("a").to_pylist() == kept


@pytest.mark.extras("pyarrow")
def test_a_type_that_changes_after_many_pages_is_noticed(genes: Path, tmp_path: Path) -> None:
    from pyarrow import parquet

    sql = f"{COUNT.format(12_000)} + CASE WHEN i = 12000 THEN 0.5 ELSE 0 END AS a FROM n"
    table = parquet.read_table(export_rows(genes, sql, tmp_path / "a", "parquet").file)
    assert str(table.schema.field("a").type) == "double"
    assert table.num_rows == 12_000
    assert table.column("a")[11_999].as_py() == 12_000.5


def test_without_pyarrow_the_command_is_told(
    genes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotConfigured, match="pyarrow") as caught:
        export_rows(genes, "SELECT 1", tmp_path / "a.parquet", "parquet")
    assert "uv sync --inexact --extra parquet" in caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("sql", "how", "message"),
    [
        ("DELETE FROM gene", {}, "not authorized"),
        ("SELECT nme FROM gene", {}, "no such column: nme"),
        ("-- nothing", {}, "no statement"),
        ("SELECT 1; SELECT 2", {}, "one statement at a time"),
        (f"{COUNT.format(30_000)} FROM n", {"max_rows": 20_000}, "more than 20,000 rows"),
        ("SELECT uid FROM gene", {"max_rows": 39}, "more than 39 rows"),
        ("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n",
         {"seconds": 0.3}, "longer than 0.3 s"),
        ("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
         {"seconds": 0.3}, "too long|longer than"),
        ("SELECT json_extract(CASE uid WHEN '7030' THEN '{' ELSE extra END, '$') FROM gene",
         {}, "malformed JSON"),
        ("SELECT 1", {"form": "xlsx"}, "'xlsx' is not a valid export format"),
    ],
)  # fmt: skip
def test_what_fails_leaves_the_old_file_and_no_other(
    genes: Path, tmp_path: Path, sql: str, how: dict[str, Any], message: str
) -> None:
    target = tmp_path / "a.csv"
    target.write_text("the old one", encoding="utf-8")
    with pytest.raises(BadRequest, match=message):
        export_rows(genes, sql, target, **how)
    assert target.read_text(encoding="utf-8") == "the old one"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_grows_too_large_is_given_up(
    genes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "MAX_BYTES", 10_000)
    with pytest.raises(BadRequest, match="passes 10,000 bytes"):
        export_rows(genes, f"{COUNT.format(9_000)} FROM n", tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_broken_dataset_and_a_refusing_disk_are_failures_of_the_store(
    genes: Path, tmp_path: Path
) -> None:
    torn = dataset(tmp_path, genes=3000)
    torn.write_bytes(torn.read_bytes()[:40_000])
    with pytest.raises(StoreFailed, match="cannot be read"):
        export_rows(torn, "SELECT * FROM gene ORDER BY name", tmp_path / "a.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(StoreFailed, match=r"folder\.csv"):
        export_rows(genes, "SELECT 1", folder)
    assert {file.name for file in tmp_path.iterdir()} == {torn.name, "folder.csv"}
