"""Packs in the shell: of a harvest, of a review, of a list."""

import json
import zipfile
from pathlib import Path

import pytest

from utils.cli.output import BAD_REQUEST_STATUS, NO_FULL_TEXT_STATUS
from utils.packs import LAYOUTS


@pytest.fixture
def listed(world, tmp_path):
    """A list of three papers: one from a PDF, one from XML, one behind a paywall."""
    branches = ("unpaywall_pdf", "pmc_cloud", "paywall")
    path = tmp_path / "included.txt"
    path.write_text("\n".join(world.paper(branch).pmid for branch in branches), encoding="utf-8")
    return path


def test_a_harvested_list_is_packed_by_its_file_and_by_its_job(shell, world, listed, tmp_path):
    shell("harvest", listed, "--pdf")
    job = find_job(tmp_path)
    status, said, remarks = shell("export", "pack", listed, "--for", "zotero")
    assert status == NO_FULL_TEXT_STATUS
    assert "2 of 3 references with a PDF" in said
    assert "1 without a PDF: Behind a paywall" in remarks
    target = tmp_path / "papers" / "packs" / f"{job}-zotero"
    assert len(list(target.rglob("*.pdf"))) == 2
    _, said, _ = shell("pack", job, "--for", "zotero")
    assert "unchanged" in said


def find_job(folder: Path) -> str:
    [ledger] = (folder / "papers" / ".papershelf" / "jobs").glob("*.db")
    return ledger.stem


def test_a_list_that_was_not_harvested_is_packed_as_the_shelf_has_it(
    shell, world, listed, tmp_path
):
    shell("download", world.paper("unpaywall_pdf").pmid)
    target = tmp_path / "mine"
    status, said, _ = shell("pack", listed, "--zip", "--output", target, "--json")
    row = json.loads(said)
    assert status == NO_FULL_TEXT_STATUS
    assert row["file_path"] == f"{target}.zip"
    assert (row["references"], row["attached"], row["missing"]) == (3, 1, {"not_tried": 2})
    with zipfile.ZipFile(row["file_path"]) as archive:
        assert sum(name.endswith(".pdf") for name in archive.namelist()) == 1


def test_a_paper_that_was_downloaded_in_vain_says_why(shell, world):
    pmid = world.paper("paywall").pmid
    shell("download", pmid)
    _, said, _ = shell("pack", pmid, "--json")
    assert json.loads(said)["missing"] == {"paywall": 1}


def test_a_dry_run_says_what_it_takes(shell, world, tmp_path):
    pmid = world.paper("unpaywall_pdf").pmid
    shell("download", pmid)
    status, said, _ = shell("pack", pmid, "--dry-run", "--names", "{pmid}", "--output", "mine")
    assert status == 0
    assert "1 of 1 reference with a PDF" in said
    assert "nothing was written" in said
    assert not Path("mine").exists()


def test_each_layout_can_be_asked_for(shell):
    for program in LAYOUTS:
        status, said, _ = shell("pack", "31452104", "--for", program, "--dry-run", "--json")
        assert status == NO_FULL_TEXT_STATUS
        assert json.loads(said)["program"] == program


@pytest.mark.parametrize(
    ("words", "about"),
    [
        (("no-such-job",), "no harvest or review"),
        (("missing.ris",), "There is no file"),
        (("two", "words"), "not a harvest"),
        (("31452104", "--names", "{titel}"), "unknown field"),
        (("31452104", "--for", "word"), "word"),
    ],
)
def test_a_slip_says_what_to_type(shell, words, about):
    status, _, remarks = shell("export", "pack", *words)
    assert status == BAD_REQUEST_STATUS
    assert about in remarks


def test_an_empty_review_says_what_to_do(shell):
    shell("review", "new", "moss")
    status, _, remarks = shell("pack", "moss")
    assert status == BAD_REQUEST_STATUS
    assert "review update moss" in remarks


def test_two_lists_of_one_harvest_bring_its_reasons(shell, world, listed, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text(world.paper("publisher_pdf").pmid, encoding="utf-8")
    shell("harvest", listed, other)
    _, said, _ = shell("pack", listed, other, "--json")
    row = json.loads(said)
    assert row["missing"]["paywall"] == 1
    assert row["references"] == 4


def test_typed_identifiers_find_their_harvest(shell, world):
    pmids = [world.paper(branch).pmid for branch in ("unpaywall_pdf", "paywall")]
    shell("harvest", *pmids)
    _, said, _ = shell("pack", *pmids, "--json")
    assert json.loads(said)["missing"] == {"paywall": 1}
