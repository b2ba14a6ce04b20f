"""Texts that the disk cut or lost, or that something else took the place of, come back."""

import logging
import os
from pathlib import Path

import pytest

from tests.own_words import paper as whole
from tests.shelf.papers import assert_consistent, paper, save
from tests.world import World
from utils import Library
from utils.model.identifiers import Ids
from utils.model.paper import StoredPaper
from utils.shelf import Shelf, strip_header

ROUTES = ["pmc_cloud", "publisher_html", "unpaywall_pdf", "arxiv"]


def downloaded(library: Library, world: World, name: str = "pmc_cloud") -> StoredPaper:
    record = world.paper(name)
    return library.download(record.doi or record.pmid).stored


def cut(stored: StoredPaper, size: int) -> bytes:
    """Cut a file on the disk; return what it held."""
    before = Path(stored.path).read_bytes()
    os.truncate(stored.path, size if size >= 0 else len(before) + size)
    return before


@pytest.mark.parametrize("size", [0, 100, 900, -400, -1])
def test_a_cut_text_is_made_again_from_the_kept_bytes(
    library: Library,
    world: World,
    caplog: pytest.LogCaptureFixture,
    size: int,
) -> None:
    stored = downloaded(library, world)
    before = cut(stored, size)
    asked = len(world.requests)
    with caplog.at_level(logging.WARNING):
        found = library.shelf.find_text(stored.paper.ids)
    assert found is not None
    assert (found.kind, found.verdict) == ("full_text", "full_text")
    assert Path(found.path).read_bytes() == before
    assert len(world.requests) == asked
    assert any("kept bytes" in one.getMessage() for one in caplog.records)
    assert_consistent(library.shelf)


@pytest.mark.parametrize("name", ROUTES)
def test_every_kind_of_kept_bytes_gives_its_text_again(
    library: Library, world: World, name: str
) -> None:
    stored = downloaded(library, world, name)
    before = cut(stored, 900)
    found = library.shelf.find_text(stored.paper.ids)
    assert found is not None
    assert found.kind == "full_text"
    assert strip_header(Path(found.path).read_text(encoding="utf-8")) == strip_header(
        before.decode()
    )


def test_blocks_that_were_never_written_are_found(library: Library, world: World) -> None:
    stored = downloaded(library, world)
    path = Path(stored.path)
    before = path.read_bytes()
    path.write_bytes(before[:-2000] + bytes(2000))
    assert library.shelf.find_text(stored.paper.ids)
    assert path.read_bytes() == before


@pytest.mark.parametrize("door", ["rebuild", "counts", "audit", "list"])
def test_a_cut_text_counts_at_no_door_before_it_is_whole_again(
    library: Library, world: World, door: str
) -> None:
    stored = downloaded(library, world)
    before = cut(stored, 900)
    if door == "rebuild":
        library.upkeep.rebuild()
    elif door == "counts":
        assert library.shelf.count_papers()["full_text"] == 1
    elif door == "audit":
        assert [one.outcome for one in library.upkeep.audit(fix=True)] == ["unchanged"]
    else:
        library.shelf.list_papers()
    assert Path(stored.path).read_bytes() == before


def test_without_kept_bytes_a_cut_text_is_rejected(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"), f"# On cells\n\n## Methods\n\n{whole(900)}")
    cut(stored, 900)
    assert shelf.count_papers()["full_text"] == 0
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert found.kind == "rejected"
    assert found.evidence
    assert_consistent(shelf)


def test_something_else_in_a_texts_place_goes_to_the_quarantine(
    library: Library, world: World
) -> None:
    stored = downloaded(library, world)
    path = Path(stored.path)
    before = path.read_bytes()
    path.write_text("Please log in to read on.", encoding="utf-8")
    found = library.shelf.find_text(stored.paper.ids)
    assert found is not None
    assert found.kind == "full_text"
    assert path.read_bytes() == before
    assert library.shelf.count_papers()["quarantined"] == 1


def test_notes_of_a_hand_stay(library: Library, world: World) -> None:
    stored = downloaded(library, world)
    path = Path(stored.path)
    edited = path.read_text(encoding="utf-8") + "\nMy own notes on this paper.\n"
    path.write_text(edited, encoding="utf-8")
    found = library.shelf.find_text(stored.paper.ids)
    assert found is not None
    assert (found.kind, found.verdict) == ("full_text", "full_text")
    assert path.read_text(encoding="utf-8") == edited


def test_a_cut_abstract_is_written_again(shelf: Shelf) -> None:
    stored = shelf.save_abstract(paper(pmid="7"), ())
    before = cut(stored, -60)
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert Path(found.path).read_bytes() == before


def test_deleted_files_are_not_counted(library: Library, world: World) -> None:
    stored = downloaded(library, world)
    other = downloaded(library, world, "publisher_html")
    Path(stored.path).unlink()
    counts = library.shelf.count_papers()
    assert (counts["papers"], counts["full_text"]) == (1, 1)
    Path(other.path).unlink()
    assert library.shelf.count_papers()["papers"] == 0


def test_an_audit_makes_lost_files_again(library: Library, world: World) -> None:
    stored = downloaded(library, world)
    other = downloaded(library, world, "publisher_html")
    before = Path(stored.path).read_bytes()
    Path(stored.path).unlink()
    assert library.shelf.count_papers()["full_text"] == 1
    assert [one.outcome for one in library.upkeep.audit()] == ["lost", "unchanged"]
    assert not Path(stored.path).exists()
    assert [one.outcome for one in library.upkeep.audit([stored.paper.ids], fix=True)] == [
        "restored"
    ]
    assert Path(stored.path).read_bytes() == before
    assert {one.outcome for one in library.upkeep.audit(fix=True)} == {"unchanged"}
    assert library.shelf.count_papers()["full_text"] == 2
    assert Path(other.path).exists()
    assert_consistent(library.shelf)


def test_a_lost_file_without_kept_bytes_is_asked_for_again(library: Library, world: World) -> None:
    stored = downloaded(library, world)
    Path(stored.path).unlink()
    for kept in (library.shelf.folder / ".papershelf" / "raw").iterdir():
        kept.unlink()
    assert [one.outcome for one in library.upkeep.audit(fix=True)] == ["lost"]
    assert library.shelf.find_text(stored.paper.ids) is None


def test_a_harvest_counts_files_and_not_entries(library: Library, world: World) -> None:
    names = [world.paper(name).doi for name in ("pmc_cloud", "publisher_html")]
    harvest = library.harvest(names)
    list(harvest)
    assert harvest.job().counts.full_text == 2
    for file in harvest.ledger.list_paper_files().values():
        (library.shelf.folder / file).unlink()
    list(harvest)
    assert harvest.job().counts.full_text == 2
    assert all(
        (library.shelf.folder / file).is_file()
        for file in harvest.ledger.list_paper_files().values()
    )
    assert library.shelf.count_papers()["full_text"] == 2
