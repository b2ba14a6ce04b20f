"""A disk that is full, a real one of three megabytes: said so, lost nothing, gone on with later.

The processes are real, their clock is played: what they wait for would take a minute.
"""

import itertools
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clients.python_clients import PatientWorld
from tests.harvests import assert_kept, done, ended, library_of, torn
from tests.processes import run
from tests.small_disks import disk
from utils.system.safe_files import delete_stale_temporary_files

__all__ = ["disk"]
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SERVER = [sys.executable, "-m", "tests.clients.hasty_server"]


@pytest.fixture(scope="module")
def _field():
    """More than three megabytes of papers, of which some go on being sent for a while."""
    with PatientWorld(field=80, latency=0.05) as world:
        yield world


@pytest.fixture
def field(_field):
    _field.reset()
    return _field


def told(world, disk, folder):
    """What a process is told of this world and of this disk."""
    folders = {"PAPERS_DIR": str(disk / "papers"), "PAPERS_PACE_DIR": str(folder / "pace")}
    return {**os.environ, **world.environment(), **folders}


def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(
    disk,
    field,
    tmp_path,
):
    environment = told(field, disk, tmp_path)
    wanted = "\n".join(paper.pmid for paper in field.papers[: -len(field.field)] if paper.pmid)

    def shell(*arguments):
        return run([*SERVER, *arguments], env=environment, cwd=ROOT, input=wanted)

    ballast = disk / "ballast"
    ballast.write_bytes(bytes(2_000_000))
    harvest = shell("harvest", "-")
    assert harvest.returncode == 4
    assert "ree some" in harvest.stderr  # space
    with suppress(OSError), (disk / "rest").open("wb", buffering=0) as rest:
        while True:  # to the last byte, and nothing is left that another process opened
            rest.write(bytes(4096))
    status = shell("status")
    assert status.returncode == 0
    assert "pending" in status.stdout
    assert "could not be used" not in status.stderr
    ballast.unlink()
    (disk / "rest").unlink()
    run(["mount", "-o", "remount,size=64m", str(disk)])
    again = shell("harvest", "-")
    assert again.returncode in (0, 1), again.stderr
    assert " 0 failed" in again.stdout
    assert not list((disk / "papers").glob("*.part"))


def fill(place: Path, room: int) -> None:
    """Take what room there is, but for so many bytes."""
    with suppress(OSError), place.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    os.truncate(place, max(0, place.stat().st_size - room))


def sound(papers: Path) -> int:
    """How many papers have ended, each of them as its ledger says, and no text torn."""
    assert not torn(papers)
    [ledger] = (papers / ".papershelf/jobs").glob("*.db")
    assert_kept(papers, ledger)
    return len(ended(ledger))


@pytest.fixture
def midway(field, monkeypatch):
    """Have something happen while the twentieth request from now on is under way."""
    waiting = []
    real, numbers = field._main.answer, itertools.count(1)

    def answer(call):
        if waiting and next(numbers) % 20 == 0:
            waiting.pop()()
        return real(call)

    monkeypatch.setattr(field._main, "answer", answer)
    return waiting.append


@pytest.mark.lab
def test_a_disk_that_fills_in_mid_harvest_tears_and_loses_nothing(disk, field, midway, tmp_path):
    """To the last byte at any instant, or by what the harvest itself writes: the journal mostly."""
    run(["mount", "-o", "remount,size=64m", str(disk)])
    papers = disk / "papers"
    wanted = [paper.pmid for paper in field.field if not paper.branch.startswith("jina")][:60]
    settings = told(field, disk, tmp_path)
    command = [*SERVER, "harvest", *wanted]

    for room in (400_000, 100_000, 0):  # each time further on
        midway(lambda room=room: fill(disk / "ballast", room))
        harvest = run(command, env=settings, cwd=ROOT)
        assert harvest.returncode == 4, harvest.stderr
        assert "disk is full" in harvest.stderr or "ree some" in harvest.stderr
        (disk / "ballast").unlink()
        before = sound(papers)
    assert 0 < before < len(wanted)
    again = run(command, env=settings, cwd=ROOT)
    assert again.returncode in (0, 1), again.stderr
    assert " 0 failed" in again.stdout
    assert sound(papers) == len(wanted)
    library = library_of(field, tmp_path, papers_dir=papers)
    asked = len(field.requests)
    rows = done(library.harvest(wanted))
    library.shelf.close()
    assert len(field.requests) == asked
    assert [row.state for row in rows] == [expected(field, pmid) for pmid in wanted]
    for part in papers.rglob("*.part"):  # beginnings of bodies, to be gone on with
        if part.parent.name != "parts":  # of a writer that was under way when the program ended
            os.utime(part, (0, 0))
            delete_stale_temporary_files(part.parent)
            assert not part.exists()


def expected(field, pmid):
    return next(paper.expected for paper in field.field if paper.pmid == pmid)
