"""One at a time, over threads and processes; who dies holds nothing."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.processes import Process, eventually
from utils.errors import Unreachable
from utils.http import locks as module
from utils.http.locks import Leases

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys
from pathlib import Path
from utils.http.locks import Leases
held = Leases(Path(sys.argv[1]))
print(sorted(held.take_free_leases(sys.argv[2:])), flush=True)
sys.stdin.readline()
held.release_leases(sys.argv[2:])
print("released", flush=True)
sys.stdin.readline()
"""


def holder(folder: Path, *names: str) -> Process:
    return Process(
        [sys.executable, "-c", HOLDER, str(folder), *names],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(tmp_path / "leases")


def test_what_one_holds_nobody_else_takes(leases: Leases, tmp_path: Path) -> None:
    other = Leases(tmp_path / "leases")  # as another process would
    assert leases.take_free_leases({"a", "b"}) == {"a", "b"}
    assert leases.take_free_leases({"a"}) == set()
    assert other.take_free_leases({"b", "c"}) == {"c"}
    leases.release_leases({"a", "b"})
    assert other.take_free_leases({"a", "b", "c"}) == {"a", "b"}


def test_who_waits_is_let_in_when_the_other_is_through(leases: Leases) -> None:
    order: list[str] = []
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with leases.hold_lease("a", "a paper"):
            order.append("second")

    with leases.hold_lease("a", "a paper"):
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_of_many_names_those_that_are_free_are_enough(leases: Leases) -> None:
    with leases.hold_lease("a", "a"), leases.hold_free_leases({"a", "b"}, "records") as mine:
        assert mine == {"b"}


def test_an_error_inside_gives_the_lease_back(leases: Leases) -> None:
    with pytest.raises(ZeroDivisionError), leases.hold_lease("a", "a"):
        raise ZeroDivisionError
    assert leases.take_free_leases({"a"}) == {"a"}


@pytest.mark.real_time
def test_another_process_is_kept_away_until_it_lets_go(leases: Leases, tmp_path: Path) -> None:
    process = holder(tmp_path / "leases", "a")
    assert process.stdout
    assert process.stdin
    assert process.stdout.readline() == "['a']\n"
    assert leases.take_free_leases({"a", "b"}) == {"b"}
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "released\n"
    assert leases.take_free_leases({"a"}) == {"a"}
    process.end()


@pytest.mark.real_time
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_who_is_killed_holds_nothing(leases: Leases, tmp_path: Path) -> None:
    process = holder(tmp_path / "leases", "a", "b")
    assert process.stdout
    assert process.stdout.readline() == "['a', 'b']\n"
    assert leases.take_free_leases({"a"}) == set()
    process.send_signal(signal.SIGSTOP)  # alive, however long it says nothing
    assert leases.take_free_leases({"a"}) == set()
    process.send_signal(signal.SIGKILL)
    assert eventually(lambda: leases.take_free_leases({"a"}))
    assert leases.take_free_leases({"b"}) == {"b"}
    process.end()
    assert len(list((tmp_path / "leases").glob("*.alive"))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_holds_nothing_of_its_parent_s(leases: Leases) -> None:
    assert leases.take_free_leases({"a"}) == {"a"}
    child = os.fork()
    if child == 0:
        os._exit(7 if leases.take_free_leases({"a", "b"}) == {"b"} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert leases.take_free_leases({"b"}) == {"b"}  # the child has ended
    other = Leases(leases._folder)
    assert other.take_free_leases({"a"}) == set()  # the parent has not


def test_waiting_has_an_end_that_says_what_was_waited_for(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_LEASE_WAIT_S", 0.2)
    other = Leases(leases._folder)
    with (
        leases.hold_lease("a", "a"),
        pytest.raises(Unreachable, match="the paper pmid:1, which another thread is working on"),
        other.hold_lease("a", "the paper pmid:1"),
    ):
        pass


def test_a_damaged_file_is_set_aside_and_keeps_nobody_out(leases: Leases) -> None:
    leases.take_free_leases({"a"})
    (leases._folder / "leases.sqlite").write_bytes(b"this is no database " * 1000)
    assert leases.take_free_leases({"b"}) == {"b"}
    assert (leases._folder / "leases.damaged").exists()
    other = Leases(leases._folder)
    assert leases.take_free_leases({"c"}) == {"c"}
    assert other.take_free_leases({"c"}) == set()


def test_a_folder_that_cannot_be_made_still_keeps_threads_apart(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    leases = Leases(tmp_path / "file" / "leases")
    assert leases.take_free_leases({"a"}) == {"a"}
    assert leases.take_free_leases({"a"}) == set()
    leases.release_leases({"a"})
    assert leases.take_free_leases({"a"}) == {"a"}


def test_a_full_disk_lets_nobody_wait_for_ever(
    leases: Leases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be given back is free all the same."""
    other = Leases(leases._folder)
    leases.take_free_leases({"a"})

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Leases, "_open_transaction", full)
        leases.release_leases({"a"})
    assert other.take_free_leases({"a"}) == {"a"}


def test_nothing_is_made_before_the_first_lease(leases: Leases) -> None:
    assert not leases._folder.exists()
    leases.release_leases([])
    assert not leases._folder.exists()
    leases.take_free_leases({"a"})
    assert leases._folder.stat().st_mode & 0o777 == 0o700
