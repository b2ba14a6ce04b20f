"""``adopt`` in the shell: what is printed, the table, and the exit status."""

import csv
import json
import shlex
import textwrap

import pytest

from tests.own_words import prose
from tests.world.pdf import pdf_of, write
from utils.cli.output import NO_FULL_TEXT_STATUS


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "my pdfs"
    made.mkdir()
    return made


def tea():
    return write(["Thoughts on the brewing of tea in winter", "", *textwrap.wrap(prose(900), 90)])


def test_a_folder_is_adopted_and_counted(shell, world, folder, settings):
    record = world.paper("paywall")
    (folder / "a.pdf").write_bytes(pdf_of(record))
    status, said, remarks = shell("adopt", str(folder))
    assert (status, said) == (0, "")
    assert "1  filed on the shelf" in remarks
    table = settings["papers_dir"] / "adopted.csv"
    [row] = csv.DictReader(table.open(encoding="utf-8"))
    assert (row["file"], row["state"]) == ("a.pdf", "filed")
    assert row["paper"] == f"doi:{record.doi.lower()}"


def test_a_file_that_is_not_filed_says_what_to_type(shell, world, folder):
    (folder / "tea.pdf").write_bytes(tea())
    status, said, remarks = shell("shelf", "adopt", str(folder))
    assert status == NO_FULL_TEXT_STATUS
    assert said.startswith("tea.pdf: ")
    assert "adopted.csv" in remarks


def test_a_dry_run_writes_a_table_only_where_told(shell, world, folder, settings, tmp_path):
    (folder / "a.pdf").write_bytes(pdf_of(world.paper("paywall")))
    table = tmp_path / "table.csv"
    status, said, _ = shell("adopt", str(folder), "--dry-run", "--output", str(table))
    assert status == 0
    assert said.startswith("a.pdf: ready: doi:")
    assert table.exists()
    assert not (settings["papers_dir"] / "adopted.csv").exists()


def test_one_file_is_filed_as_the_paper_that_is_named(shell, world, folder):
    record = world.paper("abstract_only")
    path = folder / "scan 0001.pdf"
    path.write_bytes(pdf_of(record))
    status, said, _ = shell("adopt", str(path), "--as", record.pmid, "--json")
    assert status == 0
    row = json.loads(said)
    assert (row["state"], row["paper"]) == ("filed", f"PMID {record.pmid}")


def test_the_command_to_type_can_be_pasted(shell, world, folder):
    path = folder / "my paper's copy.pdf"
    path.write_bytes(pdf_of(world.paper("paywall")))
    _, said, _ = shell("adopt", str(folder), "--no-lookup", "--json")
    row = json.loads(said)
    assert row["state"] == "unknown"
    assert str(path) in shlex.split(row["command"])


def test_a_folder_without_pdf_files_is_said_so(shell, folder):
    status, _, remarks = shell("adopt", str(folder))
    assert status == 0
    assert "There is no PDF file in" in remarks
