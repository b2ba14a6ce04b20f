"""Small datasets as a stage leaves them: tables by hand, and ``_dataset`` beside them."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.fixtures import fixture_text

GENES = fixture_text("entrez/datasets/small_datasets_genes.sql")


def dataset(
    folder: Path,
    name: str = "gene_00000001",
    *,
    genes: int = 40,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """A dataset of invented genes with aliases and places."""
    rows = {
        "gene": [_gene(number) for number in range(genes)],
        "gene_alias": [
            (3 * number + one, str(7000 + number), one, f"ALIAS{(number * one) % 7}")
            for number in range(genes)
            for one in range(3)
        ],
        "gene_location": [
            (number, str(7000 + number), number * 1000, number * 1000 + 500, "+-"[number % 2])
            for number in range(genes)
        ],
    }
    return written(folder, name, GENES, rows, {"records": genes, **(about or {})})


def _gene(number: int) -> tuple[Any, ...]:
    return (
        str(7000 + number), f"GEN{number}", f"the gene number {number}, δ", str(number % 5 + 1),
        number * 10, -number / 4, f"2026-{number % 12 + 1:02d}-01",
        json.dumps({"tags": [f"t{number}", "x"]}),
    )  # fmt: skip


def written(
    folder: Path,
    name: str,
    tables: str,
    rows: Mapping[str, Iterable[tuple[Any, ...]]],
    about: Mapping[str, Any],
) -> Path:
    """A dataset of any tables."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.db"
    told = {"id": name, "database": name.rpartition("_")[0], "title": f"All of {name}", **about}
    told = {"created": "2026-11-01T10:00:00Z", "warnings": "[]", **told}
    database = sqlite3.connect(file)
    with database:
        database.executescript(f"BEGIN; {tables}; COMMIT;")
        for table, cells in rows.items():
            for row in cells:
                database.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
        database.execute("CREATE TABLE _dataset (name TEXT PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO _dataset VALUES (?, ?)", list(told.items()))
    database.close()
    return file
