"""``resolve`` in the shell, against the stand-in internet."""

import csv
import json

import pytest

from utils.lists.references import read_file_entries


@pytest.fixture
def export(world, tmp_path):
    """A title-only list: two papers of the world, one of nobody, and one with a DOI."""
    known = [world.paper("pmc_cloud"), world.paper("doi_only")]
    rows = [[r.plain_title, r.year, r.journal.title, r.volume, r.pages, ""] for r in known]
    rows.append(["Zyzzyva xylophagous quokkas juggle brightly", "2019", "J Tests", "", "", ""])
    rows.append(["Given", "2025", "J", "", "", world.paper("paywall").doi])
    path = tmp_path / "covidence.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["Title", "Year", "Journal", "Volume", "Pages", "DOI"], *rows])
    return path


def test_a_list_is_completed_and_what_is_not_sure_is_said(shell, world, export, tmp_path):
    status, out, err = shell("resolve", export, "--output", tmp_path / "done.ris")
    assert status == 1
    assert world.paper("pmc_cloud").pmid in out
    assert "not found" in out
    assert "4 references: 1 with an identifier, 2 resolved, 1 not found" in err
    entries = list(read_file_entries((tmp_path / "done.ris").read_bytes()))
    wanted = [world.paper(branch) for branch in ("pmc_cloud", "doi_only")]
    assert [entry.ids.doi for entry in entries[:2]] == [record.doi for record in wanted]
    assert entries[2].asked.endswith("quokkas juggle brightly. J Tests")
    assert entries[3].ids.doi == world.paper("paywall").doi


def test_json_has_a_row_for_every_reference(shell, export):
    _, out, _ = shell("resolve", export, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["row"] for row in rows] == [1, 2, 3, 4]
    assert [row["status"] for row in rows] == ["resolved", "resolved", "not_found", "given"]
    assert all(row["confidence"] >= 0.9 for row in rows if row["doi"])


def test_a_table_can_be_read_again_as_a_list(shell, export, tmp_path):
    shell("resolve", export, "--output", tmp_path / "done.csv")
    entries = list(read_file_entries((tmp_path / "done.csv").read_bytes(), "done.csv"))
    assert [bool(entry.ids) for entry in entries] == [True, True, False, True]


def test_a_site_that_is_out_is_said_to_be_out(shell, world, export):
    world.mood("down", "eutils")
    world.mood("down", "crossref")
    _, out, err = shell("resolve", export)
    assert "not found" not in out
    assert "a site did not answer" in out
    assert "run the same command" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["moss in peat"], "is not a file of references"),
        (["--output", "x.docx", "31452104"], "does not end in .csv"),
    ],
)
def test_what_is_no_list_is_refused(shell, world, words, told):
    status, _, err = shell("resolve", *words)
    assert status == 2
    assert told in err
    assert not world.requests
