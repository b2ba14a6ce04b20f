"""The PDF, the text and the page of a paper, opened in the person's own programs."""

import json
from pathlib import Path

import pytest

from utils.cli import opening


@pytest.fixture
def opened(monkeypatch):
    """Return the addresses that a desktop was asked to open."""
    addresses = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda address: addresses.append(address) or True)
    return addresses


@pytest.fixture
def paper(shell, world):
    """Return a paper on the shelf that has a PDF."""
    paper = world.paper("publisher_pdf")
    shell("download", paper.pmid)
    return paper


@pytest.mark.parametrize(
    ("words", "ending"), [([], ".pdf"), (["pdf"], ".pdf"), (["text"], ".txt")], ids=str
)
def test_a_paper_is_opened_in_the_persons_own_program(shell, paper, opened, words, ending):
    status, said, _ = shell("read", paper.pmid, "--open", *words)
    path = Path(said.strip())
    assert (status, path.suffix) == (0, ending)
    assert opened == [path.as_uri()]


def test_the_text_is_opened_where_there_is_no_pdf(shell, world, opened):
    shell("download", world.paper("pmc_cloud").pmid)
    _, said, _ = shell("read", world.paper("pmc_cloud").pmid, "--open", "--json")
    row = json.loads(said)
    assert row["opened"] is True
    assert opened == [Path(row["target"]).as_uri()]
    assert row["target"].endswith(".txt")


def test_a_missing_pdf_is_named_with_the_command_that_fetches_it(shell, world, opened):
    shell("download", world.paper("pmc_cloud").pmid)
    status, _, remarks = shell("read", world.paper("pmc_cloud").pmid, "--open", "pdf")
    assert status == 1
    assert "has no PDF on the shelf" in remarks
    assert "shelf pdf" in remarks
    assert opened == []


def test_the_page_is_the_papers_own_address(shell, paper, opened):
    shell("read", paper.pmid, "--open", "page")
    assert opened == [f"https://doi.org/{paper.doi}"]


def test_a_link_out_of_the_shelf_is_not_opened(shell, paper, opened, tmp_path):
    _, said, _ = shell("read", paper.pmid, "--open", "pdf")
    elsewhere = tmp_path / "elsewhere.pdf"
    elsewhere.write_bytes(b"%PDF-1.4")
    Path(said.strip()).unlink()
    Path(said.strip()).symlink_to(elsewhere)
    opened.clear()
    status, _, remarks = shell("read", paper.pmid, "--open", "pdf")
    assert (status, opened) == (2, [])
    assert "outside of the shelf" in remarks


def test_without_a_display_the_path_is_printed(shell, paper, opened, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(opening.sys, "platform", "linux")
    status, said, remarks = shell("read", paper.pmid, "--open")
    assert (status, opened) == (0, [])
    assert Path(said.strip()).is_file()
    assert "no display here" in remarks


def test_a_list_shows_which_papers_have_a_pdf(shell, world, paper):
    shell("download", world.paper("pmc_cloud").pmid)
    _, said, _ = shell("list")
    assert said.count(".pdf") == 1
    rows = [json.loads(line) for line in shell("list", "--json")[1].splitlines()]
    assert {row["pmid"]: Path(row["pdf"]).suffix for row in rows} == {
        paper.pmid: ".pdf",
        world.paper("pmc_cloud").pmid: "",
    }


def test_a_list_can_leave_out_papers_without_a_pdf(shell, world, paper):
    shell("download", world.paper("pmc_cloud").pmid)
    _, said, remarks = shell("list", "--has-pdf", "--json")
    assert [json.loads(line)["pmid"] for line in said.splitlines()] == [paper.pmid]
    assert "1 of 1 papers" in remarks


def test_an_empty_list_says_that_no_paper_has_a_pdf(shell, world):
    shell("download", world.paper("pmc_cloud").pmid)
    _, _, remarks = shell("list", "--has-pdf")
    assert "The filter for papers with a PDF leaves no papers. Without it: 1." in remarks
