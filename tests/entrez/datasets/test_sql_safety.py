"""Hostile statements are refused or bounded, and never change the file or make another."""

import hashlib
import json
import time
from pathlib import Path

import pytest

from tests.entrez.datasets.endless_statements import BOUNDED
from tests.entrez.datasets.hostile_statements import REFUSED
from utils.entrez.datasets.sql_query import MAX_CHARS, MAX_ROWS, SqlResultPage, run_query
from utils.errors import BadRequest

SECONDS = 0.25  # each may take this long; the last test gives the usual two
_MARGIN = 60.0  # for a machine with other work to do


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def attempted(genes: Path, sql: str, seconds: float = SECONDS) -> SqlResultPage | BadRequest:
    """What becomes of *sql*: rows within the bounds or a refusal, soon, and nothing written."""
    before, beside = digest(genes), set(genes.parent.iterdir())
    began = time.monotonic()
    told: SqlResultPage | BadRequest
    try:
        told = run_query(genes, sql, seconds=seconds)
    except BadRequest as refused:
        told = refused
    if isinstance(told, BadRequest):
        assert told.hints
        assert len(str(told.envelope())) < 3_000
    else:
        assert told.seconds <= seconds
        assert len(told.rows) <= MAX_ROWS
        assert len(json.dumps(told.rows, ensure_ascii=False, separators=(",", ":"))) <= MAX_CHARS
    assert time.monotonic() - began < seconds + _MARGIN
    assert digest(genes) == before
    assert set(genes.parent.iterdir()) == beside
    return told


def test_there_are_enough_of_them() -> None:
    assert len({*REFUSED, *BOUNDED}) == len([*REFUSED, *BOUNDED]) > 300


@pytest.mark.parametrize("sql", REFUSED, ids=range(len(REFUSED)))
def test_what_does_more_than_read_is_refused(genes: Path, tmp_path: Path, sql: str) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    told = attempted(genes, sql.replace("{elsewhere}", str(elsewhere)))
    assert isinstance(told, BadRequest), told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sql", BOUNDED, ids=range(len(BOUNDED)))
def test_what_never_ends_or_swells_is_bounded(genes: Path, sql: str) -> None:
    attempted(genes, sql)


@pytest.mark.parametrize("sql", BOUNDED[:2])
def test_the_usual_bound_is_two_seconds(genes: Path, sql: str) -> None:
    told = attempted(genes, sql, seconds=2.0)
    if isinstance(told, BadRequest):
        assert "longer than 2 s" in told.message


def test_a_library_elsewhere_is_not_loaded_nor_a_file_read(genes: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words", encoding="utf-8")
    for sql in (
        f"SELECT readfile('{secret}')",
        f"SELECT load_extension('{secret}')",
        f"SELECT * FROM json_each('{secret}')",
        f"ATTACH '{secret}' AS a",
        f"SELECT * FROM '{secret}'",
    ):
        told = attempted(genes, sql)
        assert "secret words" not in str(told)
        assert isinstance(told, BadRequest)


def test_after_all_that_the_dataset_answers(genes: Path) -> None:
    assert run_query(genes, "SELECT count(*) FROM gene").rows == ((40,),)
