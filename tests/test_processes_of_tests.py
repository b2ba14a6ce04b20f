"""Whatever becomes of a run of the tests, no process that it started is left."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import Process, eventually, run

pytestmark = pytest.mark.slow

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


_HANGS = """
import signal, sys, threading
from tests.processes import Process

def hang(folder):
    process = Process([sys.executable, "-c", "import time; time.sleep(600)"])
    (folder / str(process.pid)).touch()
    threading.Event().wait()

def test_that_a_signal_ends(request):
    hang(request.config.rootpath)

def test_that_no_signal_reaches(request):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    hang(request.config.rootpath)

def test_after_them():
    pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_test_that_hangs_ends_with_its_processes_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "test_hangs.py").write_text(_HANGS, encoding="utf-8")
    settings = ("timeout=2", "timeout_method=signal", "faulthandler_timeout=8")
    options = [f"--override-ini={one}" for one in (*settings, "faulthandler_exit_on_timeout=true")]
    done = run(
        ["env", "-u", "PAPERSHELF_TEST_RUN",  # a run of its own
         sys.executable, "-m", "pytest", "-n1", "-q", "-p", "conftest", *options],
        cwd=tmp_path,
    )  # fmt: skip
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert "Timeout (>2.0s)" in done.stdout
    assert "crashed while running" in done.stdout
    left = [Path(f"/proc/{one.name}/cmdline") for one in tmp_path.iterdir() if one.name.isdigit()]
    assert len(left) == 2
    assert not any(map(_lives, left))


def _lives(command: Path) -> bool:
    try:
        return bool(command.read_bytes())  # of a zombie, nothing is left to read
    except OSError:
        return False
