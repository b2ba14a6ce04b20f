"""Datasets in the shell: stage, look, ask, take away."""

import csv
import json

import pytest

from utils.cli import main


@pytest.fixture
def shell(world, monkeypatch, tmp_path, capsys):
    """Runs a command; its status, lines and remarks."""
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / "papers"))
    monkeypatch.setenv("PAPERS_PACE_DIR", str(tmp_path / "pace"))

    def run(*arguments):
        status = main(arguments)
        said = capsys.readouterr()
        return status, said.out.splitlines(), said.err

    return run


@pytest.fixture
def dataset(shell):
    status, [line], _ = shell("stage", "pubmed", "coral", "--json")
    assert status == 0
    return json.loads(line)["dataset"]


def test_a_result_becomes_tables(shell):
    status, lines, remark = shell("stage", "pubmed", "coral")
    assert status == 0
    assert lines[0].startswith("pubmed_")
    assert any(line.split() == ["articles", "3"] for line in lines)
    assert "server.py data datasets pubmed_" in remark


def test_tables_are_shown_with_their_columns(shell, dataset):
    _, lines, _ = shell("datasets")
    assert lines[0].startswith(dataset)
    _, lines, _ = shell("datasets", dataset)
    assert any(line.startswith("articles (3 rows): ") and "pmid" in line for line in lines)


def test_rows_are_lines_or_objects(shell, dataset):
    statement = "SELECT pmid, year FROM articles ORDER BY pmid"
    _, lines, _ = shell("sql", dataset, statement)
    assert lines[0] == "pmid\tyear"
    _, objects, _ = shell("sql", dataset, statement, "--json")
    assert [json.loads(line)["pmid"] for line in objects] == [
        int(line.split("\t")[0]) for line in lines[1:]
    ]
    _, lines, remark = shell("sql", dataset, statement, "--max-rows", "1")
    assert len(lines) == 2
    assert "--start 1" in remark


def test_all_rows_become_a_file(shell, dataset, tmp_path):
    target = tmp_path / "coral.csv"
    status, [line], _ = shell("sql", dataset, "SELECT pmid FROM articles", "--out", str(target))
    assert (status, line) == (0, f"3 rows in {target}")
    assert len(list(csv.DictReader(target.open(encoding="utf-8")))) == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("stage", "genes", "BRCA1"), "Did you mean gene"),
        (("stage", "gene"), "No identifiers of gene"),
        (("datasets", "gene_00000000"), "no dataset"),
        (("sql", "gene_00000000", "SELECT 1"), "no dataset"),
    ],
)
def test_mistakes_end_with_a_status_and_a_word(shell, arguments, told):
    status, _, remark = shell(*arguments)
    assert status != 0
    assert told in remark
