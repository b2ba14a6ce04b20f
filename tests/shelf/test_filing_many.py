"""Many abstracts in one change: the same shelf as one by one, whatever is in the way."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.killed import Fate
from tests.own_words import paper as whole
from tests.shelf.papers import assert_consistent, dump, index, paper, save, texts
from utils.errors import StoreFailed
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.shelf import Shelf
from utils.shelf.paper_file import NO_FULL_TEXT
from utils.system import safe_files


def recorded(**ids: str) -> Paper:
    return replace(paper(**ids), recorded_by="pubmed")


MANY = [recorded(pmid=str(number)) for number in range(1, 61)]


def test_all_are_there_in_their_order(shelf: Shelf) -> None:
    stored = shelf.save_abstracts(MANY)
    assert [one.paper.ids for one in stored] == [one.ids for one in MANY]
    assert {one.kind for one in stored} == {"abstract"}
    assert {one.via for one in stored} == {"pubmed"}
    for one in stored:
        assert Path(one.path).read_text(encoding="utf-8").endswith(f"{NO_FULL_TEXT}\n")
        assert shelf.find_text(one.paper.ids) == one
    assert len(index(shelf.folder)) == len(MANY)
    assert_consistent(shelf)


def test_it_is_the_shelf_that_one_by_one_makes(shelf: Shelf, tmp_path: Path) -> None:
    shelf.save_abstracts(MANY)
    with Shelf(tmp_path / "other") as other:
        for one in MANY:
            other.save_abstract(one, ())
        assert texts(other) == texts(shelf)
        assert [name for name, _ in dump(other)["names"]] == [n for n, _ in dump(shelf)["names"]]


def test_nothing_to_do(shelf: Shelf) -> None:
    assert list(shelf.save_abstracts([])) == []
    assert texts(shelf) == []


def test_a_paper_twice_in_a_batch_is_one(shelf: Shelf) -> None:
    same = [recorded(pmid="1"), recorded(pmid="1", doi="10.1000/a"), recorded(doi="10.1000/a")]
    stored = shelf.save_abstracts([*same, recorded(pmid="2")])
    assert len(stored) == 4
    assert shelf.count_papers()["papers"] == 2
    for one in same:
        found = shelf.find_text(one.ids)
        assert found is not None
        assert found.paper.ids == Ids(pmid="1", doi="10.1000/a")
    assert_consistent(shelf)


def test_papers_that_want_the_same_file_get_two(shelf: Shelf) -> None:
    one, other = recorded(doi="10.1000/a/b"), recorded(doi="10.1000/a:b")
    stored = shelf.save_abstracts([one, other])
    assert len({stored[0].path, stored[1].path}) == 2
    for about in (one, other):
        found = shelf.find_text(about.ids)
        assert found is not None
        assert found.paper.ids == about.ids
    assert_consistent(shelf)


def test_a_full_text_that_is_there_stays(shelf: Shelf) -> None:
    text = save(shelf, paper(pmid="1", doi="10.1000/a"))
    stored = shelf.save_abstracts([recorded(pmid="1"), recorded(pmid="2")])
    assert (stored[0].kind, stored[0].path) == ("full_text", text.path)
    assert stored[1].kind == "abstract"
    assert shelf.count_papers()["papers"] == 2
    assert_consistent(shelf)


def test_an_abstract_that_is_there_is_learnt_from(shelf: Shelf) -> None:
    shelf.save_abstract(recorded(pmid="1"), ())
    shelf.save_abstracts([recorded(pmid="1", doi="10.1000/a"), recorded(pmid="2")])
    assert shelf.count_papers()["papers"] == 2
    assert shelf.find_text(Ids(doi="10.1000/a")) is not None
    assert_consistent(shelf)


def test_an_older_programs_full_text_under_the_name_counts_as_being_there(shelf: Shelf) -> None:
    shelf.folder.mkdir(parents=True)
    words = whole(900)
    path = shelf.folder / "pmid_1.txt"
    path.write_text(f"On cells\n\n{words}", encoding="utf-8")
    stored = shelf.save_abstracts([recorded(pmid="1"), recorded(pmid="2")])
    assert (stored[0].kind, Path(stored[0].path).name) == ("full_text", "pmid_1.txt")
    assert words in path.read_text(encoding="utf-8")
    assert texts(shelf) == ["pmid_1.txt", "pmid_2_abstract.txt"]


def test_a_full_disk_tears_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    real, left = safe_files.write_flushed_file, [30]

    def fail_when_full(part: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StoreFailed("The disk is full.")
        real(part, data)

    monkeypatch.setattr(safe_files, "write_flushed_file", fail_when_full)
    with pytest.raises(StoreFailed):
        shelf.save_abstracts(MANY)
    monkeypatch.setattr(safe_files, "write_flushed_file", real)
    assert not list(shelf.folder.rglob("*.part"))
    shelf.save_abstracts(MANY)
    assert shelf.count_papers()["papers"] == len(MANY)
    assert_consistent(shelf)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_killed_at_each_step_in_turn(tmp_path: Path) -> None:
    few = MANY[:3]
    for at in range(1, 200, 3):
        folder = tmp_path / str(at)
        with Shelf(folder) as shelf:
            save(shelf, paper(pmid="99"))
        child = os.fork()
        if child == 0:
            fate = Fate(at)
            for name in ("fsync", "replace", "unlink"):
                fate.around(os, name)
            with Shelf(folder) as shelf:
                shelf.save_abstracts(few)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for part in folder.rglob("*.part"):
            part.unlink()
        with Shelf(folder) as shelf:
            for path in folder.glob("pmid_?_abstract.txt"):
                assert path.read_text(encoding="utf-8").endswith(f"{NO_FULL_TEXT}\n")
            shelf.save_abstracts(few)
            assert shelf.count_papers()["papers"] == len(few) + 1
            assert len(texts(shelf)) == len(few) + 1
            assert_consistent(shelf)
        if status == 0:
            assert at > 20  # the steps were really met
            return
    pytest.fail("never came to the end")
