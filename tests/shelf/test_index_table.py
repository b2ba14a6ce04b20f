"""index.csv: always current, whole, and harmless in Excel."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.shelf.papers import assert_consistent, index, paper, save
from utils.model.identifiers import Ids
from utils.model.paper import Attempt, Author
from utils.shelf import Shelf
from utils.shelf.listing import COLUMNS, IndexTable


def test_every_save_is_in_the_index_at_once(shelf: Shelf) -> None:
    save(shelf, paper(doi="10.1/a", pmid="1"))
    row = index(shelf.folder)[0]
    assert tuple(row) == COLUMNS
    assert row["key"] == "doi:10.1/a"
    assert row["authors"] == "Jane A Doe, The Cell Group"
    assert (row["kind"], row["file"], row["retracted"]) == ("full_text", "10.1_a.txt", "False")
    shelf.save_abstract(paper(pmid="2"), ())
    assert [row["pmid"] for row in index(shelf.folder)] == ["1", "2"]
    save(shelf, paper(pmid="2"))
    assert [row["kind"] for row in index(shelf.folder)] == ["full_text", "full_text"]
    (shelf.folder / "pmid_2.txt").unlink()
    assert shelf.find_text(Ids(pmid="2")) is None
    assert [row["pmid"] for row in index(shelf.folder)] == ["1"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r="])
def test_no_cell_is_a_formula(shelf: Shelf, start: str) -> None:
    formula = f'{start}HYPERLINK("http://x","a")'
    about = replace(
        paper(pmid="1"), title=formula, journal=formula, authors=(Author(collective=formula),)
    )
    shelf.save_abstract(about, ())
    for value in index(shelf.folder)[0].values():
        assert not value.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_a_title_with_breaks_and_quotes_stays_one_row(shelf: Shelf) -> None:
    about = replace(paper(pmid="1"), title='a,"b"\nc\r\nd\u2028e\x00f\ud83d')
    shelf.save_abstract(about, ())
    assert index(shelf.folder)[0]["title"] == 'a,"b" c d ef\ufffd'
    assert len((shelf.folder / "index.csv").read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize("damage", ["torn", "longer", "as long", "deleted", "empty"])
def test_a_damaged_index_is_written_again(shelf: Shelf, damage: str) -> None:
    save(shelf, paper(pmid="1"))
    save(shelf, paper(pmid="2"))
    path = shelf.folder / "index.csv"
    whole = path.read_bytes()
    if damage == "deleted":
        path.unlink()
    else:
        damaged = {"torn": whole[:-7], "longer": whole + b"x,y", "as long": whole.swapcase()}
        path.write_bytes(damaged.get(damage, b""))
    save(shelf, paper(pmid="3"))
    assert [row["pmid"] for row in index(shelf.folder)] == ["1", "2", "3"]
    path.write_bytes(whole[:-7])
    shelf.close()
    assert Shelf(shelf.folder).find_text(Ids(pmid="1")) is not None  # opening is enough
    assert [row["pmid"] for row in index(shelf.folder)] == ["1", "2", "3"]


def test_on_a_large_shelf_changes_are_gathered_and_settled_at_the_end(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        shelf.save_abstract(paper(pmid=str(number)), ())
    monkeypatch.setattr("utils.shelf.shelf_writer._SMALL", 0)
    monkeypatch.setattr(shelf._writer, "_rewrite_at", float("inf"))
    save(shelf, paper(pmid="1"))
    save(shelf, paper(pmid="4"))
    rows = {row["pmid"]: row["kind"] for row in index(shelf.folder)}
    assert rows == {"1": "abstract", "2": "abstract", "3": "abstract", "4": "full_text"}
    shelf.close()
    rows = {row["pmid"]: row["kind"] for row in index(shelf.folder)}
    assert rows == {"1": "full_text", "2": "abstract", "3": "abstract", "4": "full_text"}
    assert_consistent(shelf)


def stamp(folder: Path) -> tuple[int, int]:
    """Return what changes when the file is written again."""
    status = (folder / "index.csv").stat()
    return status.st_ino, status.st_mtime_ns


def test_what_changes_no_line_leaves_the_file_as_it_is(shelf: Shelf) -> None:
    stored = shelf.save_abstract(paper(pmid="1"), ())
    save(shelf, paper(pmid="2"))
    before = stamp(shelf.folder)
    told = shelf.record_attempts(stored, [Attempt("publisher", "paywall", "Closed.")])
    assert told.attempts[0].outcome == "paywall"
    assert shelf.find_text(Ids(pmid="1")) == told
    shelf.close()
    assert Shelf(shelf.folder).find_text(Ids(pmid="1")) == told
    assert stamp(shelf.folder) == before
    assert_consistent(shelf)


def test_a_file_that_would_stay_the_same_is_left_in_place(shelf: Shelf) -> None:
    for number in range(1, 4):
        save(shelf, paper(pmid=str(number)))
    before = stamp(shelf.folder)
    shelf._writer.rewrite_index()
    shelf.rebuild_catalogue()
    assert stamp(shelf.folder) == before
    with (shelf.folder / "index.csv").open("a", encoding="utf-8") as file:
        file.write("by hand")
    shelf.rebuild_catalogue()
    assert [row["pmid"] for row in index(shelf.folder)] == ["1", "2", "3"]
    assert stamp(shelf.folder) != before


def test_the_file_is_written_line_by_line(tmp_path: Path) -> None:
    """Were they made in memory first, nothing would be on the disk when the last line is asked."""
    written: list[int] = []
    count = 3000

    def lines() -> Iterator[str]:
        for number in range(count):
            yield json.dumps({"pmid": str(number), "title": "A long title, " * 20}) + "\n"
        written.extend(path.stat().st_size for path in tmp_path.glob(".*.part"))

    IndexTable(tmp_path).write_rows(lines())
    whole = tmp_path / "index.csv"
    [so_far] = written
    assert so_far > whole.stat().st_size - 100_000
    assert whole.read_text(encoding="utf-8").count("\n") == count + 1


def turn_into_older_version(shelf: Shelf) -> None:
    """Give the catalogue the rows and the note that the version with ``index.jsonl`` wrote."""
    shelf.close()
    with shelf._catalogue.open_transaction() as connection:
        sections = "json_insert(line, '$.sections', json_array('methods', 'results'))"
        connection.execute(f"UPDATE papers SET line = {sections} || char(10)")
        stamps = (
            f"{shelf._writer.index.describe_file_state().partition(' ')[0]} 12:34:56 22 columns"
        )
        shelf._catalogue.set_fact("index_state", stamps)


@pytest.mark.parametrize(("first", "left"), [('{"key": "pmid:1", ', False), ("my notes", True)])
def test_the_json_lines_of_an_older_version_are_removed_once(
    shelf: Shelf, caplog: pytest.LogCaptureFixture, first: str, left: bool
) -> None:
    """A file that nothing keeps up to date looks current; a file of somebody else stays."""
    save(shelf, paper(pmid="1"))
    turn_into_older_version(shelf)
    before = stamp(shelf.folder)
    old = shelf.folder / "index.jsonl"
    old.write_text(first, encoding="utf-8")
    for _ in range(2):
        with Shelf(shelf.folder) as opened:
            assert opened.find_text(Ids(pmid="1")) is not None
    assert (old.exists(), stamp(shelf.folder)) == (left, before)
    save(shelf, paper(pmid="2"))
    assert [row["pmid"] for row in index(shelf.folder)] == ["1", "2"]
    assert caplog.text.count("list --json") == (not left)


def test_json_lines_that_cannot_be_removed_hold_nothing_up(
    shelf: Shelf, caplog: pytest.LogCaptureFixture
) -> None:
    (shelf.folder / "index.jsonl").mkdir(parents=True)
    save(shelf, paper(pmid="1"))
    save(shelf, paper(pmid="2"))
    assert len(index(shelf.folder)) == 2
    assert caplog.text.count("Delete it") == 1
