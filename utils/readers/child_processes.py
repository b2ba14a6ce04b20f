"""Reading processes: hostile files are read where they can do no harm, and on every core.

A child that hangs is killed after a deadline, one that crashes takes nothing with it, and one
that grows meets a memory limit. A child killed from outside says nothing about the file, so a crash
is tried again; one that cannot start, or raises, is an error of the program. It answers in JSON, so
that even a child taken over by a file cannot hand its parent an object to run. What it prints goes
to the log, since the parent's standard output may be the MCP protocol. Not `multiprocessing`: that
starts the caller's own script again in the child, which a notebook or a script without a main guard
does not survive.
"""

from __future__ import annotations

import gc
import json
import os
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

DEADLINE = 60.0  # seconds; the longest theses read in five
_MEMORY = 2 << 30  # bytes of address space
_SWOLLEN = 200 << 20  # bytes of memory; most papers are read in 60 MB
# New objects between two searches for cycles; at Python's 700 they take an eighth of the time.
_GARBAGE_OBJECTS = 50_000
_LENGTH = struct.Struct("!Q")
_START = "import sys; sys.path.insert(0, sys.argv[1]); from {} import serve; serve()"
# The packages on the way stand empty: running them would bring what the child does without.
_BARE = """import sys, types
for name in {}:
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
from {} import serve; serve()"""


class ChildFailed(Exception):
    """The child gave no answer: it crashed, or was killed after its deadline."""


class ChildCrashed(ChildFailed):
    """The child died of what it read, or was killed, *after* so many seconds."""

    def __init__(self, message: str, after: float) -> None:
        super().__init__(message)
        self.after = after


class Child:
    """One process that runs the ``serve`` of a module until we end or hang up."""

    def __init__(self, start: str) -> None:
        root = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
            [sys.executable, "-c", start, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C goes to a whole group; it is ours to answer, and our end is theirs.
            process_group=0 if os.name == "posix" else None,
        )
        self._ready = False

    def ask(self, body: bytes, deadline: float) -> dict[str, Any]:
        """Have *body* read.

        Raises
        ------
        ChildFailed
            No answer came; the child is dead.
        RuntimeError
            It could not even start.
        """
        assert self._process.stdin
        assert self._process.stdout
        if not self._ready:
            self._wait_for_start(self._process.stdout)
        begun = time.monotonic()
        with self._kill_after_deadline(deadline) as expired:
            try:
                _send_message(self._process.stdin, body)
                answer: dict[str, Any] = json.loads(_receive_message(self._process.stdout))
            except (EOFError, OSError, ValueError) as error:
                if expired.is_set():
                    msg = f"no answer within {deadline:g} s"
                    raise ChildFailed(msg) from error
                msg = "the reader crashed"
                raise ChildCrashed(msg, time.monotonic() - begun) from error
        return answer

    def _wait_for_start(self, answers: IO[bytes]) -> None:
        try:
            with self._kill_after_deadline(DEADLINE):
                _receive_message(answers)
        except EOFError as error:
            msg = "A reading process could not start; its output is in the log."
            raise RuntimeError(msg) from error
        self._ready = True

    @contextmanager
    def _kill_after_deadline(self, deadline: float) -> Iterator[threading.Event]:
        expired = threading.Event()  # a timer is alive while it kills, so it cannot tell

        def expire() -> None:
            expired.set()
            self._process.kill()

        late = threading.Timer(deadline, expire)
        late.daemon = True
        late.start()
        try:
            yield expired
        finally:
            late.cancel()

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class Children:
    """A pool of at most *most* children that run the ``serve`` of *module*.

    A *bare* one imports its module without the packages around it, and so starts at once.
    """

    def __init__(self, module: str, most: int, *, bare: bool = False) -> None:
        around = {*_list_parent_packages(module), *_list_parent_packages(__name__)}
        self.start = _BARE.format(sorted(around), module) if bare else _START.format(module)
        self._free = threading.BoundedSemaphore(most)
        self._idle: list[Child] = []
        self._pid = os.getpid()

    def ask(self, body: bytes, deadline: float = DEADLINE) -> dict[str, Any]:
        """Have *body* read by whichever child is free.

        Raises
        ------
        ChildFailed
            It crashed, and so did another; or they took longer than *deadline* seconds.
        RuntimeError
            No child can start, or the reader raised an error of its own.
        """
        if self._pid != os.getpid():  # after a fork: the children are our parent's
            self._idle, self._pid = [], os.getpid()
        with self._free:
            try:
                answer = self._ask_child(self._idle.pop() if self._idle else None, body, deadline)
            except ChildCrashed as crash:
                answer = self._ask_child(None, body, max(deadline - crash.after, 0.0))
        if bug := answer.get("bug"):
            msg = f"The reader failed: {bug}"
            raise RuntimeError(msg)
        return answer

    def _ask_child(self, child: Child | None, body: bytes, deadline: float) -> dict[str, Any]:
        child = child or Child(self.start)
        try:
            answer = child.ask(body, deadline)
        except BaseException:
            child.kill()
            raise
        if answer.pop("swollen", False):  # what a large file took, the next ones do not need
            child.kill()
        else:
            self._idle.append(child)
        return answer

    def stop_idle(self) -> int:
        """Stop the idle children; return their number."""
        dismissed = 0
        while self._idle:
            self._idle.pop().kill()
            dismissed += 1
        return dismissed


def _list_parent_packages(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def serve_with(
    read: Callable[[bytes], dict[str, Any]], memory: int = _MEMORY, swollen: int = _SWOLLEN
) -> None:
    """Answer until the parent hangs up. Runs in the child.

    It may take *memory* bytes of address space, and ends after a job for which it took more than
    *swollen* bytes of memory.
    """
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing a library prints may be taken for an answer
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(_GARBAGE_OBJECTS)
    began = _measure_peak_memory()
    with suppress(EOFError, BrokenPipeError):  # our parent is gone
        _send_message(answers, b"ready")
        while True:
            job = _receive_message(jobs)
            with _end_with_parent(jobs):
                answer = _answer_safely(read, job)
            # A new process begins with the peak of the one that started it.
            if _measure_peak_memory() > max(began, swollen):
                answer["swollen"] = True
            _send_message(answers, json.dumps(answer).encode())


def _measure_peak_memory() -> int:
    """Return this process's peak memory in bytes; 0 if the system does not report it.

    On Linux the count begins with the program; elsewhere, and by ``getrusage``, with its parent's.
    """
    with suppress(OSError, LookupError, ValueError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    with suppress(ImportError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return 0


@contextmanager
def _end_with_parent(jobs: IO[bytes]) -> Iterator[None]:
    """Have the system end this process when its parent's end of the pipe closes.

    By signal, since a thread that watched the pipe would not run during a long regex.
    """
    if not sys.platform.startswith("linux"):  # elsewhere pipes send no signals
        yield
        return
    import fcntl
    import select

    quiet = fcntl.fcntl(jobs, fcntl.F_GETFL)
    fcntl.fcntl(jobs, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(jobs, fcntl.F_SETFL, quiet | os.O_ASYNC)  # unhandled SIGIO ends us
    try:
        if select.select([jobs], [], [], 0)[0]:
            raise EOFError  # it was gone before
        yield
    finally:
        fcntl.fcntl(jobs, fcntl.F_SETFL, quiet)


def _answer_safely(read: Callable[[bytes], dict[str, Any]], body: bytes) -> dict[str, Any]:
    try:
        return read(body)
    except (MemoryError, RecursionError):
        return {"error": "broken"}
    except Exception as bug:  # noqa: BLE001 - sent to the parent, which raises it
        with suppress(OSError):  # a log that cannot be written
            traceback.print_exc()
        return {"bug": repr(bug)}


def _send_message(pipe: IO[bytes], body: bytes) -> None:
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def _receive_message(pipe: IO[bytes]) -> bytes:
    """Return one message.

    Raises
    ------
    EOFError
        The other side is gone.
    """
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    size = _LENGTH.unpack(head)[0]
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return body
