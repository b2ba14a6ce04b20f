"""A pack is the old one or the new one, whatever happens while it is written."""

import errno
import json
import os
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tests.killed import Fate
from tests.small_disks import disk
from utils.errors import BadRequest, StoreFailed
from utils.packs import writing
from utils.packs.writing import MANIFEST, PackFile, write_pack
from utils.system import safe_files

__all__ = ["disk"]


def made(mark: str, count: int = 3) -> list[PackFile]:
    """The files of a pack, all of which hold *mark*."""
    contents = {f"PDF/{number}.pdf": f"{mark} {number}".encode() for number in range(count)}
    contents["references.ris"] = mark.encode()
    return [PackFile(path, len(data), partial(bytes, data)) for path, data in contents.items()]


def read(target: Path) -> dict[str, bytes] | None:
    """The files of a pack without its list; None if there is no pack."""
    if target.suffix == ".zip" and target.exists():
        with zipfile.ZipFile(target) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
    elif target.exists():
        files = (path for path in target.rglob("*") if path.is_file())
        found = {path.relative_to(target).as_posix(): path.read_bytes() for path in files}
    else:
        return None
    listed = json.loads(found.pop(MANIFEST))["files"]
    assert sorted(listed) == sorted(found)
    return found


def contents(files: list[PackFile]) -> dict[str, bytes]:
    return {file.path: file.read() for file in files}


@pytest.fixture(params=["pack", "pack.zip"])
def target(request, tmp_path):
    return tmp_path / "out" / request.param


@pytest.fixture
def write(target, tmp_path):
    return partial(write_pack, target, lock=tmp_path / "lock")


def siblings(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if path != target)


def test_a_new_pack_replaces_the_old_one_and_leaves_nothing_beside(target, write):
    assert write(made("old", 5))
    assert write(made("new"))
    assert read(target) == contents(made("new"))
    assert siblings(target) == []


def test_the_same_pack_is_not_written_again(target, write, monkeypatch):
    write(made("one"))
    monkeypatch.setattr(writing, "_read_verified_content", None)
    assert not write(made("one"))


@pytest.mark.parametrize("new", ["old", "new"])
def test_a_zip_that_a_person_changed_is_not_replaced(tmp_path, new):
    target, lock = tmp_path / "pack.zip", tmp_path / "lock"
    write_pack(target, made("old"), lock)
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("my notes.txt", "of a person")
    with pytest.raises(BadRequest, match="was changed after the pack was written"):
        write_pack(target, made(new), lock)
    with zipfile.ZipFile(target) as archive:
        assert archive.read("my notes.txt") == b"of a person"


def test_a_folder_that_lost_a_file_is_made_whole(tmp_path):
    target = tmp_path / "pack"
    write = partial(write_pack, target, lock=tmp_path / "lock")
    write(made("one"))
    (target / "PDF/1.pdf").unlink()
    assert write(made("one"))
    assert read(target) == contents(made("one"))


@pytest.mark.parametrize("harm", ["add", "change"])
def test_what_a_person_did_to_a_pack_is_not_overwritten(tmp_path, harm):
    target = tmp_path / "pack"
    write = partial(write_pack, target, lock=tmp_path / "lock")
    write(made("old"))
    (target / ".DS_Store").write_bytes(b"macOS")  # the system's, not a person's
    assert write(made("new"))
    path = target / ("PDF/0.pdf" if harm == "change" else "notes.txt")
    path.write_bytes(b"annotated")
    with pytest.raises(BadRequest, match="added or changed") as refused:
        write(made("newer"))
    assert str(path) in refused.value.message
    assert path.read_bytes() == b"annotated"
    assert (target / "references.ris").read_bytes() == b"new"


def test_something_else_at_the_place_is_left_alone(target, write):
    if target.suffix:
        target.parent.mkdir()
        target.write_bytes(b"PK mine")
    else:
        target.mkdir(parents=True)
        (target / "thesis.docx").write_bytes(b"mine")
    with pytest.raises(BadRequest, match="is not a pack"):
        write(made("one"))
    kept = target if target.suffix else target / "thesis.docx"
    assert kept.read_bytes().endswith(b"mine")
    assert siblings(target) == []


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "pack").mkdir()
    assert write_pack(tmp_path / "pack", made("one"), tmp_path / "lock")


@pytest.mark.parametrize("at", range(1, 5))
def test_a_full_disk_leaves_the_old_pack_and_takes_no_space(target, write, monkeypatch, at):
    write(made("old"))
    count = 0

    def flush(descriptor: int) -> None:
        nonlocal count
        count += 1
        if count == min(at, 1 if target.suffix else at):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", flush)
    with pytest.raises(StoreFailed, match="space"):
        write(made("new", 6))
    monkeypatch.undo()
    assert read(target) == contents(made("old"))
    assert siblings(target) == []
    assert write(made("new", 6))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pack", "pack.zip"])
def test_a_real_disk_that_fills_leaves_the_old_pack(disk, tmp_path, monkeypatch, name):
    write = partial(write_pack, disk / name, lock=tmp_path / "lock")
    write(made("old"))
    big = [PackFile(f"PDF/{n}.pdf", 900_000, partial(bytes, 900_000)) for n in range(5)]
    with pytest.raises(StoreFailed, match="MB free"):
        write(big)
    monkeypatch.setattr(writing, "_require_free_space", lambda *_: None)  # another program takes it
    with pytest.raises(StoreFailed, match="space"):
        write(big)
    assert read(disk / name) == contents(made("old"))
    assert siblings(disk / name) == []
    assert write(big[:2])
    assert read(disk / name) == contents(big[:2])


def test_a_disk_without_room_is_told_before_anything_is_written(target, write, monkeypatch):
    usage = type("Usage", (), {"free": 3})
    monkeypatch.setattr(writing.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(StoreFailed, match="free"):
        write(made("one"))
    assert siblings(target) == []
    assert not target.exists()


def test_a_file_that_changes_meanwhile_stops_the_pack(target, write):
    answers = iter([b"before", b"after!"])
    files = [PackFile("PDF/1.pdf", 6, lambda: next(answers)), *made("one")]
    with pytest.raises(StoreFailed, match="changed on the shelf"):
        write(files)
    assert not target.exists()


def test_an_interrupted_folder_goes_on_where_it_stopped(tmp_path, monkeypatch):
    target = tmp_path / "pack"
    part = tmp_path / ".pack.part"
    (part / "PDF").mkdir(parents=True)
    (part / "PDF/0.pdf").write_bytes(b"one 0")
    (part / "PDF/1.pdf").write_bytes(b"torn")
    (part / "PDF/9.pdf").write_bytes(b"of another list")
    written = []
    real = safe_files.write_flushed_file
    monkeypatch.setattr(
        safe_files,
        "write_flushed_file",
        lambda path, data: (written.append(data), real(path, data)),
    )
    assert write_pack(target, made("one"), tmp_path / "lock")
    assert read(target) == contents(made("one"))
    assert b"one 0" not in written
    assert b"one 1" in written


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_a_kill_at_any_step_leaves_the_old_pack_or_the_new_one(target, write):
    """After each kill the next run brings the new pack; nothing is torn and nothing is left."""
    write(made("old"))
    old, new = contents(made("old")), contents(made("new", 4))
    seen = set()
    for at in range(1, 200):
        if _is_killed_while_writing(target, write, at):
            found = read(target)
            if found is None:  # between the two renames of a folder
                found = read(target.with_name(f".{target.name}.old"))
                assert found == old
                seen.add("old, put aside")
            else:
                assert found in (old, new)
                seen.add("old" if found == old else "new")
            write(made("new", 4))
            assert read(target) == new
            write(made("old"))
            assert siblings(target) == []
        else:
            break
    assert {"old", "new"} <= seen
    assert at < 199


def _is_killed_while_writing(target: Path, write, at: int) -> bool:
    child = os.fork()
    if child == 0:
        fate = Fate(at)
        for name in ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir"):
            fate.around(os, name)
        try:
            write(made("new", 4))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
