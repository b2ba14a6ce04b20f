"""Nothing is written outside the shelf, over something else, or by halves."""

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.shelf.papers import assert_consistent, paper, save, texts
from utils.errors import BadRequest, StoreFailed
from utils.model.identifiers import Ids
from utils.model.paper import Paper, StoredPaper
from utils.shelf import Shelf
from utils.system.safe_files import (
    delete_stale_temporary_files,
    open_temporary_folder,
    write_file,
    write_if_absent,
)

REFUSED = [
    "../x.txt", "sub/../../x.txt", "sub/../x.txt", "/etc/x.txt", "/x.txt", ".papershelf/x.txt",
    ".papershelf/records/x.txt", "sub/.hidden/x.txt", ".x.txt", "x\x00.txt", "x\n.txt", "", " ",
    ".", "x", "x.py", "index.csv", "index.jsonl", "x.txt.exe", "out/x.txt", "link.txt",
    "loop/x.txt", "..\\x.txt", "C:\\x.txt",
]  # fmt: skip


@pytest.mark.parametrize("wanted", REFUSED)
def test_a_copy_never_leaves_the_shelf(shelf: Shelf, tmp_path: Path, wanted: str) -> None:
    stored = save(shelf, paper(pmid="7"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (shelf.folder / "out").symlink_to(outside)
    (shelf.folder / "link.txt").symlink_to(outside / "x.txt")
    (shelf.folder / "loop").symlink_to(shelf.folder / "loop")
    before = sorted(shelf.folder.rglob("*"))
    with pytest.raises(BadRequest) as refused:
        shelf.copy_text_to(stored, wanted)
    assert refused.value.hint
    with pytest.raises(BadRequest):
        shelf.resolve_copy_path(wanted)
    assert sorted(shelf.folder.rglob("*")) == before
    assert list(outside.iterdir()) == []


def test_a_copy_is_written_where_it_was_asked_for(shelf: Shelf) -> None:
    stored = save(shelf, paper(pmid="7"))
    text = shelf.read_text(stored)
    for wanted in ("mine.txt", "review/one.md", str(shelf.folder / "two.md")):
        path = shelf.copy_text_to(stored, wanted)
        assert path.read_text(encoding="utf-8") == text
        assert path.is_relative_to(shelf.folder)
        assert shelf.copy_text_to(stored, wanted) == path  # again is no error
    assert shelf.copy_text_to(stored, "pmid_7.txt") == Path(stored.path)
    assert shelf.find_paper_by_file("mine") == stored  # a copy is the same paper
    shelf.rebuild_catalogue()
    assert shelf.count_papers()["papers"] == 1
    assert shelf.find_text(Ids(pmid="7")) == stored


def test_a_copy_never_replaces_anything(shelf: Shelf) -> None:
    one, two = save(shelf, paper(pmid="7")), save(shelf, paper(pmid="8"))
    with pytest.raises(BadRequest, match="another paper"):
        shelf.copy_text_to(one, "pmid_8.txt")
    with pytest.raises(BadRequest, match="another paper"):
        shelf.copy_text_to(one, "PMID_8.txt")  # the same file on Windows and macOS
    (shelf.folder / "notes.txt").write_text("mine", encoding="utf-8")
    (shelf.folder / "folder.txt").mkdir()
    for taken in ("notes.txt", "folder.txt"):
        with pytest.raises(BadRequest, match="exists already"):
            shelf.copy_text_to(one, taken)
    assert (shelf.folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert shelf.find_text(Ids(pmid="8")) == two


def test_a_copy_named_like_another_paper_does_not_pass_for_it(shelf: Shelf) -> None:
    one = save(shelf, paper(pmid="7"))
    shelf.copy_text_to(one, "pmid_9.txt")
    assert shelf.find_text(Ids(pmid="9")) is None
    nine = save(shelf, paper(pmid="9"), "the ninth")
    assert Path(nine.path).name != "pmid_9.txt"
    assert shelf.find_text(Ids(pmid="7")) == one


def test_only_names_are_looked_up_as_files(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "pmid_1.txt").write_text("x " * 500, encoding="utf-8")
    save(shelf, paper(pmid="7"))
    for name in ("../pmid_1", "../pmid_1.txt", str(tmp_path / "pmid_1.txt"), ".papershelf", "a\0"):
        assert shelf.find_paper_by_file(name) is None


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_file(path, b"old")
    with path.open("rb") as reader:
        write_file(path, b"new and longer")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new and longer"
    assert not write_if_absent(path, b"newest")
    assert write_if_absent(tmp_path / "y.txt", b"y")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.txt", "y.txt"]


def test_leftovers_are_swept_when_old(tmp_path: Path) -> None:
    for name in (".a.txt.1.ff.part", ".b.txt.1.ff.part", "mine.part", ".keep"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    hours_ago = time.time() - 7200
    for name in (".a.txt.1.ff.part", "mine.part", ".keep"):
        os.utime(tmp_path / name, (hours_ago, hours_ago))
    assert delete_stale_temporary_files(tmp_path) == 1
    left = sorted(p.name for p in tmp_path.iterdir())
    assert left == [".b.txt.1.ff.part", ".keep", "mine.part"]


def test_a_temporary_folder_of_a_killed_process_stays_for_a_day(tmp_path: Path) -> None:
    for hours in (2, 25):
        folder = tmp_path / f".{hours}.part"
        folder.mkdir()
        (folder / "x.parquet").write_text("x", encoding="utf-8")
        at = time.time() - 3600 * hours
        os.utime(folder, (at, at))
    with open_temporary_folder(tmp_path) as mine:
        (mine / "y.parquet").write_text("y", encoding="utf-8")
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted([".2.part", mine.name])
    assert [p.name for p in tmp_path.iterdir()] == [".2.part"]


def test_the_shelf_sweeps_when_it_is_opened(shelf: Shelf) -> None:
    save(shelf, paper(pmid="7"))
    shelf.close()
    part = shelf.folder / ".pmid_8.txt.1.ff.part"
    part.write_text("torn", encoding="utf-8")
    os.utime(part, (1, 1))
    time.sleep(8 * 86_400)  # the stage clock
    assert shelf.find_text(Ids(pmid="7")) is not None
    assert not part.exists()


class Failing:
    """The disk refuses the n-th time something is made durable."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, code: int) -> None:
        self.left = at
        real = os.fsync

        def fsync(descriptor: int) -> None:
            self.left -= 1
            if self.left == 0:
                raise OSError(code, os.strerror(code))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", fsync)


def _tried(shelf: Shelf, about: Paper) -> tuple[StoredPaper | None, StoreFailed | None]:
    try:
        return save(shelf, about, "new text"), None
    except StoreFailed as failed:
        return None, failed


@pytest.mark.parametrize("at", range(1, 11))
@pytest.mark.parametrize("before", ["nothing", "abstract", "full_text"])
def test_a_full_disk_leaves_no_half_state(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, at: int, before: str
) -> None:
    save(shelf, paper(pmid="1"))
    about = paper(doi="10.1/a", pmid="7")
    old: Any = None
    if before == "abstract":
        old = shelf.save_abstract(about, ())
    elif before == "full_text":
        old = save(shelf, about, "old text")
    with monkeypatch.context() as patch:
        failing = Failing(patch, at, errno.ENOSPC)
        new, failed = _tried(shelf, about)
        assert (failing.left <= 0) == bool(failed)  # no failure goes unnoticed
    if failed:
        assert "Could not" in failed.message
        assert "free some space" in failed.hint
    found = shelf.find_text(Ids(pmid="7"))
    if new:
        assert found == new
    elif found is not None:  # either as it was, or the new paper whole
        assert found.sha256 == (old.sha256 if old else None) or "new text" in shelf.read_text(found)
    assert_consistent(shelf)
    assert save(shelf, about, "at last").kind == "full_text"
    assert_consistent(shelf)
    assert len(texts(shelf)) == 2


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreFailed, match="file") as failed:
        save(Shelf(tmp_path / "file" / "papers"), paper(pmid="7"))
    assert "PAPERS_DIR" in failed.value.hint
