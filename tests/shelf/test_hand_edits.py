"""Files edited, emptied or deleted by hand while nobody looked."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.shelf.papers import assert_consistent, paper, save
from utils.model.identifiers import Ids
from utils.shelf import Shelf, strip_header


def test_an_edited_file_is_served_as_it_is_now(shelf: Shelf) -> None:
    old = save(shelf, paper(pmid="7"), "words")
    path = Path(old.path)
    path.write_text(path.read_text(encoding="utf-8") + "and my notes\n", encoding="utf-8")
    new = shelf.find_text(Ids(pmid="7"))
    assert new is not None
    assert new.sha256 != old.sha256
    assert new.attempts == old.attempts
    assert strip_header(shelf.read_text(new)) == "words\nand my notes\n"
    assert_consistent(shelf)


def test_a_touched_file_is_the_same_paper(shelf: Shelf) -> None:
    old = save(shelf, paper(pmid="7"))
    os.utime(old.path, (1, 1))
    assert shelf.find_text(Ids(pmid="7")) == old
    assert_consistent(shelf)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2024-01-01", "2024-01-01T00:00:00+00:00"),
        ("2024-01-01T01:30:00.5+02:00", "2023-12-31T23:30:00+00:00"),
        ("2024-01-01T01:30", "2024-01-01T01:30:00+00:00"),
        ("yesterday", ""),
        ("0001-01-01T00:00+23:00", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("lost", [False, True], ids=["edited", "without a record"])
def test_a_date_written_by_hand_is_read_as_one_or_not_at_all(
    shelf: Shelf, written: str, read: str, lost: bool
) -> None:
    stored = shelf.save_abstract(paper(pmid="7"), ())
    path = Path(stored.path)
    path.write_text(
        path.read_text(encoding="utf-8").replace(stored.saved_at, written), encoding="utf-8"
    )
    os.utime(path, (1e9, 1e9))
    known = stored.saved_at
    if lost:
        shelf.close()
        shutil.rmtree(shelf.folder / ".papershelf")
        known = "2001-09-09T01:46:40+00:00"  # the file's own time
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert found.saved_at == (read or known)


def test_a_file_whose_name_is_not_utf8_stops_nothing(shelf: Shelf) -> None:
    if sys.getfilesystemencoding() != "utf-8":
        pytest.skip("the names of files are not UTF-8 here")
    save(shelf, paper(pmid="7"))
    name = os.fsencode(shelf.folder) + b"/pap\xe9r.txt"
    try:
        with open(name, "wb") as file:  # noqa: PTH123 - pathlib takes no bytes
            file.write(b"Title: A\nPMID: 5\n\n" + b"words " * 100)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    report = shelf.rebuild_catalogue()
    assert report.full_text == 1
    assert report.ignored == (("pap\udce9r.txt", "its name is not UTF-8"),)


def test_a_file_replaced_by_no_paper_is_rejected(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"))
    Path(stored.path).write_text("Please log in to read on.", encoding="utf-8")
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert (found.kind, found.verdict) == ("rejected", "not_a_paper")
    assert_consistent(shelf)


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_emptied_file_is_no_paper_any_more(shelf: Shelf, text: str) -> None:
    stored = save(shelf, paper(pmid="7"))
    Path(stored.path).write_text(text, encoding="utf-8")
    assert shelf.find_text(Ids(pmid="7")) is None
    assert shelf.count_papers()["papers"] == 0
    assert save(shelf, paper(pmid="7")).path == stored.path
    assert_consistent(shelf)


def test_a_file_replaced_by_an_abstract_is_an_abstract(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"))
    Path(stored.path).write_text(
        "Title: On cells\nPMID: 7\n\nAbstract:\nWe counted.\n", encoding="utf-8"
    )
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert (found.kind, found.via) == ("abstract", "adopted")
    assert_consistent(shelf)


def test_a_file_replaced_by_another_papers_is_not_served(shelf: Shelf) -> None:
    seven, eight = save(shelf, paper(pmid="7")), save(shelf, paper(pmid="8"), "the eighth")
    Path(seven.path).write_bytes(Path(eight.path).read_bytes())
    assert shelf.find_text(Ids(pmid="7")) is None
    assert shelf.find_text(Ids(pmid="8")) == eight
    assert_consistent(shelf)


def test_a_deleted_file_leaves_the_list(shelf: Shelf) -> None:
    for number in range(1, 6):
        save(shelf, paper(pmid=str(number)))
    for number in (2, 5):
        (shelf.folder / f"pmid_{number}.txt").unlink()
    total, found = shelf.list_papers(max_results=2)
    assert total == 4  # the second is only noticed when somebody looks at it
    assert [stored.paper.ids.pmid for stored in found] == ["4", "3"]
    shelf.rebuild_catalogue()
    assert shelf.list_papers()[0] == 3
    assert_consistent(shelf)


def test_a_file_put_back_under_its_name_is_found_again(shelf: Shelf) -> None:
    stored = save(shelf, paper(doi="10.1/a", pmid="7"))
    path = Path(stored.path)
    data = path.read_bytes()
    path.unlink()
    assert shelf.find_text(Ids(pmid="7")) is None
    path.write_bytes(data)
    found = shelf.find_text(Ids(doi="10.1/a"))
    assert found is not None
    assert found.paper.ids == Ids(doi="10.1/a", pmid="7")  # its header knows


def test_a_broken_record_is_no_reason_to_lose_a_paper(shelf: Shelf) -> None:
    save(shelf, paper(pmid="7"))
    record = shelf.folder / ".papershelf" / "records" / "pmid_7.json"
    for text in ("{", "[]", '{"stored": null}', '{"stored": {"path": "../../x.txt"}}', "null"):
        record.write_text(text, encoding="utf-8")
        shelf.rebuild_catalogue()
        found = shelf.find_text(Ids(pmid="7"))
        assert found is not None
        assert Path(found.path).parent == shelf.folder
