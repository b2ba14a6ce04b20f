"""Killed at any instant, or many at once: no file is torn and all parts tell the same story."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.examples import share, some
from tests.processes import Process
from tests.shelf.deaths import die_at_step
from tests.shelf.papers import assert_consistent, dump, fetched, index, paper, save, texts
from tests.shelf.writer import body
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.shelf import Shelf, strip_header
from utils.shelf.catalogue import Catalogue
from utils.shelf.paper_file import NO_FULL_TEXT
from utils.system.safe_files import write_file, write_flushed_file

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def start(folder: Path, seed: int, *more: str) -> Process:
    command = [sys.executable, "-m", "tests.shelf.writer", str(folder), str(seed), *more]
    return Process(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def assert_whole(folder: Path) -> None:
    """Every text is one of those that were written, to its last line."""
    for path in folder.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("- Title: On cells\n")
        if text.endswith(f"{NO_FULL_TEXT}\n"):
            continue
        number, turn = strip_header(text).split("\n", 1)[0].removeprefix("begin ").split()
        assert strip_header(text) == body(int(number), int(turn))


def test_killed_at_any_instant_nothing_is_torn(tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    chance = random.Random(7)
    for round_ in range(share(12)):
        writer = start(folder, round_ * 1000)
        assert writer.stdout is not None
        writer.stdout.readline()
        with contextlib.suppress(subprocess.TimeoutExpired):
            writer.wait(chance.uniform(0.0, 0.25))
        writer.send_signal(signal.SIGKILL)
        assert writer.wait() == -signal.SIGKILL
        writer.stdout.close()
        assert_whole(folder)
        with Shelf(folder) as shelf:  # whoever comes next finds everything in order
            for number in range(1, 41):
                found = shelf.find_text(Ids(pmid=str(number)))
                assert (found is not None) == any(
                    f"pmid_{number}" in name.replace("_abstract", "").removesuffix(".txt").split()
                    or name == f"10.1000_{number}.txt"
                    for name in texts(shelf)
                )
            for part in folder.rglob("*.part"):  # swept when old; the test cannot wait an hour
                part.unlink()
            assert_consistent(shelf)
            assert len(texts(shelf)) == shelf.count_papers()["papers"]


def _shelved(shelf: Shelf, about: Paper, before: str) -> None:
    """What was known of the paper before."""
    if before == "abstract":
        shelf.save_abstract(about, ())
    elif before == "full_text":
        save(shelf, about, "old text")
    elif before == "preprint":
        save(shelf, about, "old text", version="preprint")


def assert_aside(shelf: Shelf, ids: Ids) -> None:
    """The preprint of a paper is as it was, whatever happened to the article beside it."""
    aside = shelf.find_text(ids, "preprint")
    assert aside is not None
    assert aside.version == "preprint"
    assert strip_header(shelf.read_text(aside)) == "old text\n"
    assert shelf.read_raw_answer(aside) is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("before", some(["nothing", "abstract", "full_text", "preprint"], 2))
def test_killed_at_each_step_in_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    about = paper(doi="10.1/a", pmid="7")
    for at in range(1, 60):
        folder = tmp_path / str(at)
        with Shelf(folder) as shelf:
            save(shelf, paper(pmid="1"))
            _shelved(shelf, about, before)
        child = os.fork()
        if child == 0:
            die_at_step(monkeypatch, at)
            save(Shelf(folder), about, "new text")
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for part in folder.rglob("*.part"):
            part.unlink()
        with Shelf(folder) as shelf:
            found = shelf.find_text(Ids(pmid="7"))
            if before != "nothing" or status == 0:
                assert found is not None
            if found is not None and found.kind == "full_text":
                assert strip_header(shelf.read_text(found)) in {"old text\n", "new text\n"}
                assert shelf.read_raw_answer(found) is not None
            if before == "preprint":
                assert_aside(shelf, about.ids)
            assert_consistent(shelf)
            counts = shelf.count_papers()
            assert len(texts(shelf)) == counts["full_text"] + counts["abstract"]
            assert counts["papers"] <= 2
        if status == 0:
            assert at > 10  # the steps were really met
            return
    pytest.fail("never came to the end")


def test_two_processes_may_save_the_same_papers(tmp_path: Path) -> None:
    folder = tmp_path / "shelf"
    writers = [start(folder, seed, "--count", "25") for seed in (0, 0, 10)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert_whole(folder)
    with Shelf(folder) as shelf:
        assert shelf.count_papers() == {
            "papers": 35,
            "full_text": 35,
            "abstract": 0,
            "record": 0,
            "rejected": 0,
            "preprint": 0,
            "accepted": 0,
            "retracted": 0,
            "quarantined": 0,
        }
        assert len(index(folder)) == len(texts(shelf)) == 35
        assert_consistent(shelf)


def test_many_threads_may_use_one_shelf(shelf: Shelf) -> None:
    def work(number: int) -> None:
        about = paper(pmid=str(number % 10 + 1))
        shelf.save_abstract(about, ())
        save(shelf, about, body(number, 0))
        found = shelf.find_text(about.ids)
        assert found is not None
        assert found.kind == "full_text"
        shelf.list_papers(text="cells")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(60)))
    assert shelf.count_papers()["papers"] == 10
    assert_whole(shelf.folder)
    assert_consistent(shelf)


def test_what_was_overtaken_leaves_the_deletion_that_overtook_it(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An abstract is announced; the full text comes first, and its deletion must not be lost."""
    about = paper(pmid="7")
    shelf.save_abstract(about, ())
    begin, writing = Catalogue.announce_change, Catalogue.open_transaction

    def announced(catalogue: Catalogue, file: str, task: str, since: float) -> None:
        begin(catalogue, file, task, since)
        monkeypatch.setattr(Catalogue, "announce_change", begin)
        monkeypatch.setattr(Catalogue, "open_transaction", overtaken)

    def overtaken(catalogue: Catalogue) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        monkeypatch.setattr(Catalogue, "open_transaction", writing)
        save(other, about)
        return writing(catalogue)

    with Shelf(shelf.folder) as other:
        assert other.find_text(about.ids)
        monkeypatch.setattr(
            other._stock, "finish_announced_changes", lambda: None
        )  # the deletion waits
        monkeypatch.setattr(Catalogue, "announce_change", announced)
        shelf.save_abstract(about, ())
    assert shelf.count_papers()["papers"] == 1
    assert_consistent(shelf)


def test_a_reader_never_meets_a_gap_during_an_upgrade(shelf: Shelf) -> None:
    """While abstracts give way to full texts, the paper is always there for others."""
    about = paper(doi="10.1/a", pmid="7")
    shelf.save_abstract(about, ())
    done = threading.Event()
    missed: list[int] = []

    def look() -> None:
        with Shelf(shelf.folder) as other:
            while not done.is_set():
                if other.find_text(Ids(pmid="7")) is None:
                    missed.append(1)

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(30):
        save(shelf, about, body(number, 0))
    done.set()
    reader.join()
    assert not missed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_may_use_its_parents_shelf(shelf: Shelf) -> None:
    save(shelf, paper(pmid="1"))
    child = os.fork()
    if child == 0:
        try:
            assert shelf.find_text(Ids(pmid="1")) is not None
            save(shelf, paper(pmid="2"))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shelf.find_text(Ids(pmid="2")) is not None
    assert_consistent(shelf)


def test_an_unfinished_change_of_a_dead_process_is_finished(shelf: Shelf) -> None:
    """The text is on the disk, and its writer died before it could tell the catalogue."""
    other = Shelf(shelf.folder.with_name("other"))
    made = save(other, paper(doi="10.1000/x", pmid="7"))
    save(shelf, paper(pmid="1"))
    ended = Process([sys.executable, "-c", ""])
    ended.wait()
    shelf._catalogue.announce_change("10.1000_x.txt", "register", 0.0)
    for part in ("10.1000_x.txt", ".papershelf/records/10.1000_x.json"):
        write_file(shelf.folder / part, (other.folder / part).read_bytes())
    shelf.close()
    found = shelf.find_text(Ids(pmid="7"))
    assert found is not None
    assert found.sha256 == made.sha256
    assert dump(shelf)["names"][0][0] == "doi:10.1000/x"
    other.close()


def test_a_part_file_is_never_reused(tmp_path: Path) -> None:
    write_flushed_file(tmp_path / "x.part", b"one")
    with pytest.raises(Exception, match="exists"):
        write_flushed_file(tmp_path / "x.part", fetched().body)
