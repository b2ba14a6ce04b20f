"""SQL on a dataset: pages that lose nothing, values as they are, errors in SQLite's words."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.entrez.datasets.small_datasets import dataset, written
from utils.entrez.datasets.sql_query import MAX_PAGE_ROWS, run_query
from utils.errors import BadRequest, StoreFailed


def told(genes: Path, sql: str, **how: Any) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        run_query(genes, sql, **how)
    return caught.value


def test_rows_come_with_the_names_of_their_columns(genes: Path) -> None:
    asked = run_query(genes, "SELECT uid, weight, score, NULL AS n FROM gene ORDER BY uid LIMIT 2")
    assert asked.columns == ("uid", "weight", "score", "n")
    assert asked.rows == (("7000", 0, 0.0, None), ("7001", 10, -0.25, None))
    assert asked.next_start is None
    assert not asked.cut
    assert 0 <= asked.seconds < 2


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM gene",
        "WITH g AS (SELECT * FROM gene) SELECT count(*) FROM g",
        "SELECT count(*) FROM (SELECT 1 FROM gene)",
        "SELECT sum(1) FROM gene g JOIN gene_location l ON l.gene_uid = g.uid",
        (
            "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
            "SELECT max(i) FROM n"
        ),
        "SELECT count(*) FROM gene, json_each(gene.extra, '$.tags') t WHERE t.value = 'x'",
        "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY weight) AS n FROM gene)",
        "SELECT count(*) FROM gene WHERE EXISTS (SELECT 1 FROM gene_alias)",
        "SELECT value FROM _dataset WHERE name = 'records'",
        "SELECT 40 WHERE (SELECT count(*) FROM pragma_table_info('gene')) = 8",
    ],
)
def test_what_reading_needs_is_allowed(genes: Path, sql: str) -> None:
    assert [str(value) for value in run_query(genes, sql).rows[0]] == ["40"]


def test_pragmas_that_describe_are_answered(genes: Path) -> None:
    assert [row[1] for row in run_query(genes, "PRAGMA table_info(gene_alias)").rows] == [
        *("id", "gene_uid", "position", "alias")
    ]
    assert "USING INDEX" in str(run_query(genes, "EXPLAIN QUERY PLAN " + JOINED).rows)


JOINED = "SELECT * FROM gene g JOIN gene_alias a ON a.gene_uid = g.uid"


@pytest.mark.parametrize(
    "bounds", [{"max_results": 7}, {"max_chars": 300}, {"max_results": MAX_PAGE_ROWS}]
)
def test_pages_together_are_the_whole(genes: Path, bounds: dict[str, int]) -> None:
    sql = f"{JOINED} ORDER BY a.id"
    rows: list[tuple[Any, ...]] = []
    start: int | None = 0
    while start is not None:
        page = run_query(genes, sql, start=start, **bounds)
        assert 0 < len(page.rows) <= bounds.get("max_results", 120)
        assert page.next_start in {None, start + len(page.rows)}
        rows += page.rows
        start = page.next_start
    assert rows == list(run_query(genes, sql, max_results=1000, max_chars=1_000_000).rows)
    assert len(rows) == 120


@pytest.mark.parametrize("max_chars", [100, 1_000, 5_000])
def test_a_page_keeps_to_its_characters(genes: Path, max_chars: int) -> None:
    page = run_query(genes, "SELECT description FROM gene ORDER BY uid", max_chars=max_chars)
    sent = json.dumps(page.rows, ensure_ascii=False, separators=(",", ":"))
    assert len(sent) <= max_chars
    assert page.rows


def test_a_row_longer_than_a_page_is_cut_and_says_so(genes: Path) -> None:
    asked = run_query(genes, "SELECT 1, printf('%.*c', 100000, 'a'), 'b'", max_chars=1_000)
    number, long, short = asked.rows[0]
    assert asked.cut
    assert (number, short) == (1, "b")
    assert long.endswith("[cut: 100,000 characters]")
    assert len(long) < 1_000


@pytest.mark.parametrize(
    ("cell", "columns", "max_chars"),
    [("printf('%.*c', 1000, 'a')", 1500, 20_000), ("1234567890123", 1900, 20_000), ("'a'", 1, 1)],
)
def test_a_row_that_cannot_fit_is_refused(
    genes: Path, cell: str, columns: int, max_chars: int
) -> None:
    error = told(genes, "SELECT " + ", ".join([cell] * columns), max_chars=max_chars)
    assert f"A row of {columns:,} columns has more characters than max_chars." == error.message
    assert run_query(genes, f"SELECT {cell}").rows


def test_values_json_has_no_word_for_are_texts(genes: Path) -> None:
    sql = "SELECT 9e999, -9e999, x'00ff', CAST(x'ff' AS TEXT), 9223372036854775807"
    assert run_query(genes, sql).rows == (("inf", "-inf", "x'00ff'", "�", 2**63 - 1),)


def test_names_in_double_quotes_are_names_only(genes: Path) -> None:
    sql = """SELECT "name" AS "a ""name\""", 'say "x"' FROM "gene" -- "no"
        WHERE "uid" = '7001' /* "nor" */"""
    asked = run_query(genes, sql)
    assert asked.columns == ('a "name"', "'say \"x\"'")
    assert asked.rows == (("GEN1", 'say "x"'),)
    error = told(genes, 'SELECT count(*) FROM gene WHERE "wieght" > 100')  # true of every text
    assert error.message == "SQLite refuses the statement: no such column: wieght."
    assert "gene has the columns uid, name, description" in error.hint


@pytest.mark.parametrize(
    ("sql", "message", "hint"),
    [
        ("SELECT nme FROM gene", "no such column: nme", "gene has the columns uid, name"),
        ("SELECT g.nme FROM gene g", "no such column: g.nme", "gene has the columns uid, name"),
        (JOINED + " WHERE zzz", "no such column: zzz", "gene_alias has the columns id, gene_uid"),
        ('SELECT * FROM gene WHERE name = "GEN1"', "no such column: GEN1", "gene has the columns"),
        ("SELECT 1 FROM genes", "no such table: genes", "The tables are gene, gene_alias"),
        ("SELECT lenght(name) FROM gene", "no such function: lenght", "gene has the columns"),
        ("SELECT load_extension('x')", "not authorized to use function", "use SELECT"),
        ("SELECT substr(name) FROM gene", "wrong number of arguments", "gene has the columns"),
        ("SELECT * FORM gene", 'near "FORM": syntax error', "The tables are gene"),
        ("SELECT 1; SELECT 2", "one statement at a time", "The tables are gene"),
        ("SELECT * FROM gene WHERE uid = ?", "bindings", "gene has the columns"),
        ("SELECT 1 UNION SELECT 1, 2", "same number of result columns", "The tables are gene"),
        ("DELETE FROM gene", "not authorized", "A dataset is read-only"),
        ("ATTACH 'a.db' AS b", "not authorized", "A dataset is read-only"),
        ("PRAGMA journal_mode = WAL", "not authorized", "A dataset is read-only"),
        ("  -- nothing", "no statement", "Begin with SELECT"),
        (" ", "no statement", "Begin with SELECT"),
        ("SELECT 'a\0b'", "null character", "The tables are gene"),
        ("SELECT '\ud800'", "surrogates not allowed", "The tables are gene"),
        ("SELECT " + "1," * 60_000 + "1", "has 120,008 characters", "Shorten it"),
    ],
)
def test_an_error_is_sqlites_own_with_the_columns(
    genes: Path, sql: str, message: str, hint: str
) -> None:
    error = told(genes, sql)
    assert message in error.message
    assert hint in error.hint


def test_a_statement_that_takes_too_long_is_stopped_and_told_why(genes: Path) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    )
    error = told(genes, endless, seconds=0.3)
    assert "longer than 0.3 s" in error.message
    assert "end WITH RECURSIVE by a condition" in error.hint
    assert run_query(genes, "SELECT 1").rows == ((1,),)


def test_a_function_that_cannot_be_interrupted_is_killed(genes: Path) -> None:
    alike = "SELECT instr(printf('%.*c', 20000000, 'a'), printf('%.*c', 9000000, 'a') || 'b')"
    assert "longer than 0.5 s" in told(genes, alike, seconds=0.5).message
    assert run_query(genes, "SELECT 1").rows == ((1,),)


def test_a_statement_that_swells_is_stopped(genes: Path) -> None:
    swelling = (
        "WITH RECURSIVE n(i, t) AS (VALUES(1, printf('%.*c', 8000000, 'a')) UNION ALL "
        "SELECT i + 1, t || i FROM n WHERE i < 1000) SELECT t FROM n ORDER BY t DESC"
    )
    assert "memory" in told(genes, swelling, seconds=20).message
    assert run_query(genes, "SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"start": -1}, {"start": 2**70}, {"max_results": 0}, {"max_results": 10**6}),
        *({"max_chars": 0}, {"max_chars": 10**9}, {"seconds": 0}, {"seconds": 1e9}),
        {"seconds": float("nan")},
    ],
)
def test_bounds_have_bounds(genes: Path, wrong: dict[str, Any]) -> None:
    assert next(iter(wrong)) in told(genes, "SELECT 1", **wrong).message


def test_a_start_behind_the_last_row_is_an_empty_page(genes: Path) -> None:
    asked = run_query(genes, "SELECT uid FROM gene", start=1000)
    assert (asked.columns, asked.rows, asked.next_start) == (("uid",), (), None)


def test_what_is_no_dataset_is_a_failure_of_the_store(tmp_path: Path) -> None:
    torn = dataset(tmp_path)
    torn.write_bytes(torn.read_bytes()[:5000])
    text = tmp_path / "gene_00000002.db"
    text.write_text("no database at all " * 100, encoding="utf-8")
    for file in (torn, text, tmp_path / "gene_00000003.db", tmp_path):
        with pytest.raises(StoreFailed, match="cannot be read") as caught:
            run_query(file, "SELECT * FROM gene")
        assert "stage the records again" in caught.value.hint


def test_odd_names_of_folders_and_tables_are_only_names(tmp_path: Path) -> None:
    folder = tmp_path / "a?mode=rwc&x=#%20 'b'"
    tables = 'CREATE TABLE "or""der" ("se lect" TEXT, "`" TEXT)'
    file = written(folder, "gene_00000001", tables, {'"or""der"': [("a", "b")]}, {})
    assert run_query(file, 'SELECT "se lect", "`" FROM "or""der"').rows == (("a", "b"),)


def test_many_may_ask_at_once(genes: Path) -> None:
    counted: list[Any] = []

    def count(start: int) -> None:
        counted.extend(
            run_query(genes, "SELECT weight FROM gene ORDER BY uid", start=start).rows[0]
        )

    threads = [threading.Thread(target=count, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counted) == [10 * number for number in range(12)]
