"""Which failures of a reading process are the file's doing, and which are not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.readers.reading_children import DIES, reader
from utils.readers.child_processes import ChildCrashError, ChildPool, ChildReadError

ECHO = reader("{'read': body.decode()}")


@pytest.fixture
def children() -> Iterator[ChildPool]:
    made = ChildPool("nothing", most=2)
    made.start = ECHO
    yield made
    made.stop_idle_children()


def test_a_child_that_was_killed_while_idle_is_replaced(children: ChildPool) -> None:
    assert children.read_in_idle_child(b"one") == {"read": "one"}
    [idle] = children._idle
    idle._process.kill()
    idle._process.wait()
    assert children.read_in_idle_child(b"two") == {"read": "two"}


def test_a_crash_gets_one_more_try_in_a_fresh_child(children: ChildPool, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    crash = f"os._exit(9) if not os.path.exists({str(seen)!r}) and not os.mkdir({str(seen)!r})"
    children.start = reader(f"{crash} else {{'read': 1}}")
    assert children.read_in_idle_child(b"one") == {"read": 1}


def test_a_mistake_of_ours_is_raised_and_the_child_goes_on(children: ChildPool) -> None:
    with pytest.raises(RuntimeError, match="UnicodeDecodeError"):
        children.read_in_idle_child(b"\xff")
    [idle] = children._idle
    assert children.read_in_idle_child(b"two") == {"read": "two"}
    assert children._idle == [idle]


def test_a_child_that_a_file_made_swell_is_replaced(children: ChildPool) -> None:
    swells = "{'read': len(b'x' * (300 << 20) if body == b'large' else body)}"
    children.start = reader(swells)
    assert children.read_in_idle_child(b"small") == {"read": 5}
    [first] = children._idle
    assert children.read_in_idle_child(b"small") == {"read": 5}
    assert children._idle == [first]
    assert children.read_in_idle_child(b"large") == {"read": 300 << 20}
    assert not children._idle
    assert first._process.poll() is not None
    assert children.read_in_idle_child(b"small") == {"read": 5}


def test_a_child_that_cannot_start_is_no_crash(children: ChildPool) -> None:
    children.start = "import nothing_of_that_name"
    with pytest.raises(RuntimeError, match="could not start"):
        children.read_in_idle_child(b"one")


def test_what_crashes_every_child_is_given_up(children: ChildPool) -> None:
    children.start = DIES
    with pytest.raises(ChildCrashError, match="crashed"):
        children.read_in_idle_child(b"one")


def test_two_tries_share_one_deadline(children: ChildPool, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    first = f"not os.path.exists({str(seen)!r}) and not os.mkdir({str(seen)!r})"
    children.start = reader(f"time.sleep(0.3) or os._exit(9) if {first} else time.sleep(600)")
    with pytest.raises(ChildReadError, match=r"no answer within [01]\.\d+ s"):
        children.read_in_idle_child(b"one", deadline=2.0)


def test_a_bare_child_brings_no_packages() -> None:
    children = ChildPool("tests.readers.bare_reader", most=1, bare=True)
    try:
        loaded = children.read_in_idle_child(b"one")["loaded"]
    finally:
        children.stop_idle_children()
    assert loaded == ["utils", "utils.readers", "utils.readers.child_processes"]
