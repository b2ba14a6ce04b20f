"""Ctrl-C and its like end the program whatever it does, imports included: status 130, no traceback.

The program sends the signal to itself, at an import it was told: no test here depends on a clock.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples import ALL
from tests.processes import Process, run
from tests.readers.reading_children import reader
from utils.system.process import raise_on_first_signal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INSTANTS = 4 if ALL else 2
# As ``python server.py``, but a signal comes at the n-th import; it ends by saying how many were.
_DOOMED = """
import os, sys
number, at, *words = sys.argv[1:]
sys.argv, seen, end = ["server.py", *words], 0, os._exit

def hear(event, arguments):
    global seen
    if event == "import":
        seen += 1
        if seen == int(at):
            os.kill(os.getpid(), int(number))

def tell(status):
    os.write(2, f" imports: {seen}".encode())
    end(status)

os._exit = tell
sys.path.insert(0, os.getcwd())
program = compile(open("server.py").read(), "server.py", "exec")
sys.addaudithook(hear)
try:
    exec(program, {"__name__": "__main__"})
except SystemExit as over:
    tell(over.code)
"""
DOORS = {
    "shell": ("status", "--json"),
    "MCP on stdio": (),
    "MCP over HTTP": ("--transport", "http", "--port", "0"),
}


@pytest.fixture
def environment(settings):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    known = {name.upper(): str(value) for name, value in settings.items()}
    return {**kept, **known, "MCP_AUTH_SECRET_KEY": ""}


def doomed(environment, words, number=0, at=0):
    command = [sys.executable, "-c", _DOOMED, str(int(number)), str(at), *words]
    return run(command, cwd=ROOT, env=environment)


@pytest.mark.parametrize("door", DOORS)
def test_a_signal_at_any_import_is_the_end_without_a_traceback(environment, door):
    words = DOORS[door]
    imports = int(doomed(environment, words).stderr.rpartition("imports: ")[2])
    for turn, number in zip(range(_INSTANTS), itertools.cycle(SIGNALS), strict=False):
        at = 1 + turn * (imports - 1) // _INSTANTS
        done = doomed(environment, words, number, at)
        assert (done.returncode, done.stdout) == (130, ""), (number, at, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", SIGNALS)
def test_a_server_that_waits_for_its_host_ends_at_once(environment, number):
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"},
        },
    }
    pipe = subprocess.PIPE
    command = [sys.executable, "server.py"]
    streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "text": True}
    with Process(command, cwd=ROOT, env=environment, **streams) as server:
        server.stdin.write(json.dumps(greeting) + "\n")
        server.stdin.flush()
        assert "serverInfo" in server.stdout.readline()
        server.send_signal(number)
        assert server.wait() == 130  # its standard input is still open
        assert "Traceback" not in server.stderr.read()


def test_what_a_signal_cannot_interrupt_does_not_keep_the_program():
    """An exception that is raised where Python ignores it; the second signal, and no second one."""
    lost = """
import os, signal, sys, threading
from utils.system import process

process._LAST_RESORT_S = 0.2 if sys.argv[1:] == ["once"] else 600
with process.raise_on_first_signal():
    class Tidy:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            [None for _ in range(10)]
    Tidy()
    print("lost", flush=True)
    if sys.argv[1:] == ["twice"]:
        os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()
"""
    for times in ("once", "twice"):
        done = run([sys.executable, "-c", lost, times], cwd=ROOT)
        assert (done.returncode, done.stdout) == (130, "lost\n"), done.stderr


def test_below_nohup_a_closed_terminal_does_not_end_it():
    deaf = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from utils.system import process
process.exit_at_once_on_signals()
with process.raise_on_first_signal():
    os.kill(os.getpid(), signal.SIGHUP)
print("still here")
"""
    done = run([sys.executable, "-c", deaf], cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "still here\n"), done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pipes send no signals")
@pytest.mark.parametrize("while_it", ["sits in the interpreter", "waits"])
def test_a_reading_process_ends_with_its_parent_whatever_it_reads(tmp_path, while_it):
    """``kill -9`` of us: nobody is left to kill a child that reads an endless file."""
    work = {
        "sits in the interpreter": "__import__('re').match('(a*)*b', 'a' * 60)",
        "waits": "time.sleep(600)",
    }[while_it]
    tell = "open(body.decode(), 'w').close() or "
    parent = (
        "import sys\nfrom utils.readers.child_processes import ChildPool\n"
        "children = ChildPool('nothing', most=1)\n"
        f"children.start = {reader(tell + work)!r}\n"
        "children.read_in_idle_child(sys.argv[1].encode())\n"
    )
    os.mkfifo(fifo := tmp_path / "reading")
    with Process([sys.executable, "-c", parent, str(fifo)], cwd=ROOT) as process:
        fifo.read_bytes()  # until the child has opened it, and closed it again
        assert len(process.survivors()) == 2
        process.kill()
        process.wait()
        assert process.nothing_left()


def test_an_interrupt_that_became_another_exception_is_one_again():
    """As Python 3.11 makes a RuntimeError of what ``__set_name__`` raises."""

    class Field:
        def __set_name__(self, owner, name):
            raise RuntimeError from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt), raise_on_first_signal():
        type("Model", (), {"field": Field()})
    with pytest.raises(ZeroDivisionError), raise_on_first_signal():
        1 / 0  # noqa: B018
