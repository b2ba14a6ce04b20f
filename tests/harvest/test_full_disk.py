"""A disk that is full, a real one of three megabytes: said so, lost nothing, gone on with later."""

import subprocess
import sys
from contextlib import suppress

import pytest

from tests.processes import run
from tests.test_doors import SERVER, environment  # noqa: F401 - a fixture


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
