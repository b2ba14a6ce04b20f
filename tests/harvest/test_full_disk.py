"""A disk that is full, a real one of three megabytes: said so, lost nothing, gone on with later."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.harvests import assert_kept, done, ended, library_of, torn
from tests.processes import Process, eventually, run
from tests.test_doors import SERVER, environment  # noqa: F401 - a fixture
from tests.world import World
from utils.safe_files import sweep


@pytest.fixture
def disk(tmp_path):
    """A filesystem of its own, so small that a harvest fills it."""
    place = tmp_path / "disk"
    place.mkdir()
    done = run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)])
    if done.returncode:
        pytest.skip("only an administrator may mount a filesystem of three megabytes")
    yield place
    with suppress(OSError, subprocess.SubprocessError):
        run(["umount", "--lazy", str(place)])


def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(
    environment,  # noqa: F811
    disk,
    world,
):
    environment["PAPERS_DIR"] = str(disk / "papers")
    wanted = "\n".join(paper.pmid for paper in world.papers if paper.pmid)

    def shell(*arguments):
        return run([sys.executable, SERVER, *arguments], env=environment, input=wanted)

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


@pytest.fixture(scope="module")
def field():
    """More than three megabytes of papers, of which some go on being sent for a while."""
    with World(field=80, latency=0.05) as world:
        yield world


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


def test_a_disk_that_fills_in_mid_harvest_tears_and_loses_nothing(disk, field, tmp_path):
    """To the last byte at any instant, or by what the harvest itself writes: the journal mostly."""
    run(["mount", "-o", "remount,size=64m", str(disk)])
    papers = disk / "papers"
    wanted = [paper.pmid for paper in field.field if not paper.branch.startswith("jina")][:60]
    folders = {"PAPERS_DIR": str(papers), "PAPERS_PACE_DIR": str(tmp_path / "pace")}
    settings = {**os.environ, **field.environment(), **folders}
    command = [sys.executable, SERVER, "harvest", *wanted]

    for room in (400_000, 100_000, 0):  # each time further on
        pipe = subprocess.PIPE
        asked = len(field.requests)
        with Process(command, env=settings, stdout=pipe, stderr=pipe, text=True) as harvest:
            assert eventually(lambda asked=asked: len(field.requests) > asked + 20)
            fill(disk / "ballast", room)
            told = harvest.communicate()[1]
        assert harvest.returncode == 4, told
        assert "disk is full" in told or "ree some" in told
        (disk / "ballast").unlink()
        before = sound(papers)
    assert 0 < before < len(wanted)
    again = run(command, env=settings)
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
            sweep(part.parent)
            assert not part.exists()


def expected(field, pmid):
    return next(paper.expected for paper in field.field if paper.pmid == pmid)
