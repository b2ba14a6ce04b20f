"""What a dataset holds: tables, columns and relations."""

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.entrez.datasets import pages
from tests.entrez.datasets.small_datasets import dataset, written
from utils.entrez.datasets.building import build_dataset
from utils.entrez.datasets.schema import ColumnInfo, read_schema
from utils.entrez.datasets.trees import RawRecordPage
from utils.errors import StoreFailed


def test_tables_columns_and_relations_are_those_of_the_file(genes: Path) -> None:
    told = read_schema(genes)
    assert [(table.name, table.rows) for table in told.tables] == [
        *(("gene", 40), ("gene_alias", 120), ("gene_location", 40))
    ]
    assert told.tables[0].columns[:2] == (
        ColumnInfo("uid", "TEXT", key=True),
        ColumnInfo("name", "TEXT"),
    )
    assert told.tables[1].columns[1] == ColumnInfo("gene_uid", "TEXT", refers_to="gene.uid")
    assert told.relations == (
        "gene_alias.gene_uid -> gene.uid",
        "gene_location.gene_uid -> gene.uid",
    )
    assert told.about["database"] == "gene"
    assert told.about["records"] == "40"


def test_the_text_is_short_and_says_all(genes: Path) -> None:
    told = read_schema(genes)
    text = told.to_text()
    assert "gene_alias (120 rows): id integer key, gene_uid -> gene.uid, position integer" in text
    assert len(text) < 900


@pytest.mark.parametrize("genes", [0, 1, 2])
def test_a_dataset_with_hardly_any_rows_has_a_schema(tmp_path: Path, genes: int) -> None:
    told = read_schema(dataset(tmp_path, genes=genes))
    assert told.tables[0].rows == genes


@pytest.mark.parametrize(
    ("tables", "rows"),
    [
        ("CREATE TABLE a (b)", {}),
        ("CREATE TABLE a (b)", {"a": [(None,), (None,)]}),
        ('CREATE TABLE "or""der" ("group" TEXT, "a b" INTEGER)', {'"or""der"': [("x", 1)] * 3}),
        ("CREATE TABLE a (uid INTEGER PRIMARY KEY, up REFERENCES a)", {"a": [(1, 1), (2, 1)]}),
        ("CREATE TABLE a (b BLOB, c REAL)", {"a": [(b"\xff", float("inf")), (b"", -1.5)]}),
        ("CREATE TABLE a (uid TEXT, date DATE)", {"a": [("1", "2026"), ("2", "2025-03")]}),
        ("CREATE TABLE a (x, y, PRIMARY KEY (y, x)) WITHOUT ROWID", {"a": [(1, 2), (2, 1)]}),
        ("CREATE TABLE a (t TEXT)", {"a": [("=1+1;'\"--",), ("x" * 100_000,)]}),
        ("", {}),
    ],
)
def test_odd_datasets_have_a_schema_too(
    tmp_path: Path, tables: str, rows: dict[str, list[tuple[object, ...]]]
) -> None:
    told = read_schema(written(tmp_path, "odd_00000001", tables, rows, {}))
    assert len(told.tables) == bool(tables)
    assert told.to_text()


def test_a_wide_table_and_many_tables_are_told_in_short(tmp_path: Path) -> None:
    wide = "CREATE TABLE wide (uid INTEGER PRIMARY KEY, " + ", ".join(
        f"column_{number} TEXT" for number in range(900)
    )
    many = ";".join(f"CREATE TABLE t{number} (uid REFERENCES wide(uid))" for number in range(150))
    told = read_schema(written(tmp_path, "odd_00000001", f"{wide});{many}", {}, {}))
    assert len(told.tables) == 151
    assert len(told.tables[0].columns) == 901
    assert "and 861 more" in told.to_text()


def test_what_is_no_dataset_has_no_schema(tmp_path: Path) -> None:
    file = tmp_path / "gene_00000001.db"
    file.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(StoreFailed, match="gene_00000001 cannot be read"):
        read_schema(file)


def test_a_file_that_says_nothing_of_itself_still_has_tables(tmp_path: Path) -> None:
    file = dataset(tmp_path)
    with sqlite3.connect(file) as database:
        database.execute("DROP TABLE _dataset")
    told = read_schema(file)
    assert told.about == {}
    assert len(told.tables) == 3


@pytest.mark.parametrize("name", ["GENES", "RUNS", "SAMPLES", "VARIANTS", "TAXA", "COMPOUNDS"])
def test_what_is_staged_has_a_schema(tmp_path: Path, name: str) -> None:
    page = getattr(pages, name)
    about = {"id": "a", "database": page.database, "title": "All", "form": page.form}
    built = build_dataset([page], tmp_path / "a_00000001.db", about)
    told = read_schema(built.file)
    assert {table.name: table.rows for table in told.tables} == dict(built.tables)


def recorded_pages(folder: Path) -> Iterator[RawRecordPage]:
    """Every recorded answer that holds records: of PubMed, of PMC, and summaries of the others."""
    for file in sorted((folder / "eutils" / "esummary").glob("*.xml")):
        database = file.name.split(".")[1] if file.name.startswith("klortho_") else "entrez"
        yield RawRecordPage(database, "docsum_xml", file.read_bytes())
    for file in sorted((folder / "pubmed" / "bulk").glob("*.xml.gz")):
        yield RawRecordPage("pubmed", "pubmed_xml", gzip.decompress(file.read_bytes()))
    for file in sorted((folder / "pmc" / "efetch").glob("*.xml")):
        yield RawRecordPage("pmc", "pmc_xml", file.read_bytes())


@pytest.mark.slow
@pytest.mark.shared
def test_what_was_recorded_is_staged_described_and_asked(tmp_path: Path, shared: Path) -> None:
    databases = set()
    for number, page in enumerate(recorded_pages(shared)):
        about = {"database": page.database, "form": page.form}
        built = build_dataset([page], tmp_path / f"{page.database}_{number:08}.db", about)
        told = read_schema(built.file)
        assert {table.name: table.rows for table in told.tables} == dict(built.tables)
        databases.add(page.database)
    assert len(databases) > 12
