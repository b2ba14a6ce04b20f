"""``references.ris`` and ``references.bib``: every paper once, readable by others, never torn."""

import re
from dataclasses import replace

import pytest
import rispy

from tests.shelf.papers import paper
from utils.errors import StoreFailed
from utils.harvest import jobs
from utils.harvest.jobs import list_harvested_papers, list_shelf_papers, write_references
from utils.lists.references import read_file_entries
from utils.model.job import Harvested

pytestmark = pytest.mark.slow


@pytest.fixture
def shelf(library):
    """A shelf with seven abstracts."""
    papers = [
        replace(paper(pmid=str(n), doi=f"10.1000/{n}"), title=f"Größe & {n}") for n in range(1, 8)
    ]
    library.shelf.save_abstracts(papers)
    return library.shelf


def test_others_read_what_is_written(library, shelf):
    ris, bib = library.upkeep.write_references()
    titles = {entry["title"] for entry in rispy.loads(ris.read_text(encoding="utf-8"))}
    assert titles == {f"Größe & {n}" for n in range(1, 8)}
    for path in (ris, bib):
        entries = list(read_file_entries(path.read_bytes(), path.name))
        assert {entry.ids.doi for entry in entries} == {f"10.1000/{n}" for n in range(1, 8)}
        assert len(entries) == 7


@pytest.mark.parametrize("page", [1, 3, 7, 100])
def test_a_shelf_is_gone_through_page_by_page(shelf, monkeypatch, page):
    monkeypatch.setattr(jobs, "_PAGE", page)
    found = list(list_shelf_papers(shelf))
    assert sorted(about.ids.pmid for about, _ in found) == list("1234567")
    assert not any(path for _, path in found)  # abstracts are no attachments


def test_an_empty_shelf_gives_empty_files(library):
    for path in library.upkeep.write_references():
        assert not path.read_text(encoding="utf-8").strip()


def test_of_a_harvest_only_what_is_on_the_shelf_is_listed():
    rows = [
        Harvested(1, "1", "abstract", paper(pmid="1"), file="pmid_1_abstract.txt"),
        Harvested(2, "2", "failed", paper(pmid="2")),
        Harvested(3, "3", "pending", paper(pmid="3")),
        Harvested(4, "4", "full_text", paper(pmid="4"), file="pmid_4.txt"),
    ]
    [(about, path), (_, text)] = list_harvested_papers(iter(rows))
    assert about.ids.pmid == "1"
    assert (path, text) == ("", "../../pmid_4.txt")


def test_both_are_written_or_neither(shelf, tmp_path):
    before = [
        path.read_bytes() for path in write_references(lambda: list_shelf_papers(shelf), tmp_path)
    ]

    def broken():
        yield from list(list_shelf_papers(shelf))[:2]
        raise StoreFailed("The disk is full.")

    with pytest.raises(StoreFailed):
        write_references(broken, tmp_path)
    names = (jobs.RIS, jobs.BIBTEX)
    assert [(tmp_path / name).read_bytes() for name in names] == before
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(names)


def test_a_folder_that_cannot_be_is_said(shelf, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreFailed):
        write_references(lambda: list_shelf_papers(shelf), tmp_path / "file")


def test_references_that_did_not_change_are_not_written_again(library, shelf):
    def seen():
        stats = [path.stat() for path in library.upkeep.write_references()]
        return [(one.st_ino, one.st_mtime_ns) for one in stats]

    before = seen()
    assert seen() == before
    library.shelf.save_abstracts([replace(paper(pmid="8"), title="Another one")])
    assert not set(seen()) & set(before)


def test_references_are_written_while_papers_are_still_read(tmp_path):
    """Were they made in memory first, nothing would be on the disk when the last one is taken."""
    written = []

    def papers():
        for number in range(2000):
            yield replace(paper(pmid=str(number + 1)), title=f"A long title {number} " * 10), ""
        written.append(sum(path.stat().st_size for path in tmp_path.glob(".*.part")))

    paths = write_references(papers, tmp_path)
    assert written[-1] > sum(path.stat().st_size for path in paths) - 100_000


def test_no_list_names_a_place_of_this_machine(library, world):
    harvest = library.harvest([world.paper("pmc_cloud").pmid, world.paper("paywall").pmid])
    for _ in harvest:
        pass
    lists = [harvest.folder / name for name in (jobs.RIS, jobs.BIBTEX)]
    for path in [*lists, *library.upkeep.write_references()]:
        text = path.read_text(encoding="utf-8")
        assert str(library.shelf.folder) not in text
        [line] = [line for line in text.splitlines() if ".txt" in line]
        name = re.search(r"[./\w-]+\.txt", line)[0]
        assert (path.parent / name).resolve() in set(library.shelf.folder.glob("*.txt"))
