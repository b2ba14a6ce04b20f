"""A fixture of a real disk that is soon full."""

import subprocess
from contextlib import suppress

import pytest

from tests.processes import run


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
