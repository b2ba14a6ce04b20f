"""Whatever becomes of a run of the tests, no process that it started is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import Process, eventually

ROOT = Path(__file__).resolve().parents[1]
# A run that starts what starts another, in a session of its own, and then waits.
_RUN = """
import os, sys, threading
os.environ.pop("PAPERSHELF_TEST_RUN", None)
from tests import processes
processes.begin_run()
sleep = "import time; time.sleep(600)"
further = f"[sys.executable, '-c', {sleep!r}], start_new_session=True"
starts = f"import subprocess, sys; subprocess.Popen({further}).wait()"
process = processes.Process([sys.executable, "-c", starts])
assert processes.eventually(lambda: len(process.survivors()) == 2)
print(*process.survivors(), flush=True)
if sys.argv[1:] == ["a test ends"]:
    processes.end_of_test()
threading.Event().wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("how", ["a test ends", "the run is killed"])
def test_no_process_outlives_its_test_or_its_run(how):
    with Process(
        [sys.executable, "-c", _RUN, how], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as run:
        left = [Path(f"/proc/{pid}/cmdline") for pid in run.stdout.readline().split()]
        assert len(left) == 2
        if how == "the run is killed":
            run.send_signal(signal.SIGKILL)
        assert eventually(lambda: not any(map(_lives, left)))
        run.kill()


def _lives(command: Path) -> bool:
    try:
        return bool(command.read_bytes())  # of a zombie, nothing is left to read
    except OSError:
        return False
