"""Run readers of untrusted files in child processes, on all cores.

A hanging child is killed after a deadline, a crash ends only the child, and a memory limit stops a
child that grows. A child may also be killed from outside, so a crash is retried once. A child that
cannot start, or raises an error, is a bug. Children answer in JSON, so that a compromised child
cannot send an object that its parent would run. Their output goes to the log, because the parent's
standard output may carry the MCP protocol. `multiprocessing` is not used: it runs the caller's
script again in the child, which breaks notebooks and scripts without a main guard.
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

DEADLINE_S = 60.0  # seconds; the longest theses read in five
_MEMORY_LIMIT_BYTES = 2 << 30  # bytes of address space
_RETIRE_ABOVE_BYTES = 200 << 20  # bytes of memory; most papers are read in 60 MB
# New objects between two runs of the cycle collector; Python's 700 costs an eighth of the time.
_GC_THRESHOLD = 50_000
_LENGTH_PREFIX = struct.Struct("!Q")
_START_CODE = "import sys; sys.path.insert(0, sys.argv[1]); from {} import serve; serve()"
# The parent packages stay empty modules: running them would import what the child does not need.
_BARE_START_CODE = """import sys, types
for name in {}:
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
from {} import serve; serve()"""


class ChildReadError(Exception):
    """The child process returned no result: it crashed, or was killed after its deadline."""


class ChildCrashError(ChildReadError):
    """The child process died while reading; *after* is its run time in seconds."""

    def __init__(self, message: str, after: float) -> None:
        super().__init__(message)
        self.after = after


class ReaderChild:
    """A child process that runs the ``serve`` function of a module until its parent ends it."""

    def __init__(self, start: str) -> None:
        root = Path(__file__).resolve().parents[2]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
            [sys.executable, "-c", start, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C goes to a whole group; the parent handles it, and children end with the parent.
            process_group=0 if os.name == "posix" else None,
        )
        self._ready = False

    def read_in_child(self, body: bytes, deadline: float) -> dict[str, Any]:
        """Send *body* to the child and return its result.

        Raises
        ------
        ChildFailed
            The child gave no answer and has ended.
        RuntimeError
            The child could not start.
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
                    raise ChildReadError(msg) from error
                msg = "the reader crashed"
                raise ChildCrashError(msg, time.monotonic() - begun) from error
        return answer

    def _wait_for_start(self, answers: IO[bytes]) -> None:
        """Wait until the child reports that it is ready."""
        try:
            with self._kill_after_deadline(DEADLINE_S):
                _receive_message(answers)
        except EOFError as error:
            msg = "A reader process could not start. See its output in the log."
            raise RuntimeError(msg) from error
        self._ready = True

    @contextmanager
    def _kill_after_deadline(self, deadline: float) -> Iterator[threading.Event]:
        """Kill the child if the ``with`` block takes longer than *deadline* seconds."""
        expired = threading.Event()  # a timer is alive while it kills, so it cannot tell

        def kill_child() -> None:
            expired.set()
            self._process.kill()

        late = threading.Timer(deadline, kill_child)
        late.daemon = True
        late.start()
        try:
            yield expired
        finally:
            late.cancel()

    def kill_process(self) -> None:
        """Kill the child process."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class ChildPool:
    """A pool of at most *most* child processes that run ``serve`` of *module*, started on demand.

    A *bare* child imports its module without the parent packages, and so starts faster.
    """

    def __init__(self, module: str, most: int, *, bare: bool = False) -> None:
        around = {*_list_parent_packages(module), *_list_parent_packages(__name__)}
        self.start = (
            _BARE_START_CODE.format(sorted(around), module) if bare else _START_CODE.format(module)
        )
        self._free = threading.BoundedSemaphore(most)
        self._idle: list[ReaderChild] = []
        self._pid = os.getpid()

    def read_in_idle_child(self, body: bytes, deadline: float = DEADLINE_S) -> dict[str, Any]:
        """Send *body* to an idle child and return its result.

        Raises
        ------
        ChildFailed
            Two children crashed in a row, or took longer than *deadline* seconds together.
        RuntimeError
            No child can start, or the reader raised an unexpected error.
        """
        if self._pid != os.getpid():  # after a fork: the children are our parent's
            self._idle, self._pid = [], os.getpid()
        with self._free:
            try:
                answer = self._read_with_child(
                    self._idle.pop() if self._idle else None, body, deadline
                )
            except ChildCrashError as crash:
                answer = self._read_with_child(None, body, max(deadline - crash.after, 0.0))
        if bug := answer.get("bug"):
            msg = f"The reader failed: {bug}"
            raise RuntimeError(msg)
        return answer

    def _read_with_child(
        self, child: ReaderChild | None, body: bytes, deadline: float
    ) -> dict[str, Any]:
        """Read *body* with *child* or a new one; reuse the child unless its memory grew large."""
        child = child or ReaderChild(self.start)
        try:
            answer = child.read_in_child(body, deadline)
        except BaseException:
            child.kill_process()
            raise
        if answer.pop("swollen", False):  # memory for a large file is not needed for the next files
            child.kill_process()
        else:
            self._idle.append(child)
        return answer

    def stop_idle_children(self) -> int:
        """Stop the idle children and return their number."""
        dismissed = 0
        while self._idle:
            self._idle.pop().kill_process()
            dismissed += 1
        return dismissed


def _list_parent_packages(module: str) -> list[str]:
    """Return the names of the packages that contain a module."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def serve_jobs(
    read: Callable[[bytes], dict[str, Any]],
    memory: int = _MEMORY_LIMIT_BYTES,
    swollen: int = _RETIRE_ABOVE_BYTES,
) -> None:
    """Process jobs in the child process until the parent closes the pipe.

    The child may use *memory* bytes of address space, and ends after a job that needed more than
    *swollen* bytes of memory.
    """
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep prints of libraries out of the answers
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.set_threshold(_GC_THRESHOLD)
    began = _measure_peak_memory()
    with suppress(EOFError, BrokenPipeError):  # the parent is gone
        _send_message(answers, b"ready")
        while True:
            job = _receive_message(jobs)
            with _exit_when_parent_ends(jobs):
                answer = _read_or_describe_error(read, job)
            # A new process begins with the peak of the one that started it.
            if _measure_peak_memory() > max(began, swollen):
                answer["swollen"] = True
            _send_message(answers, json.dumps(answer).encode())


def _measure_peak_memory() -> int:
    """Return this process's peak memory in bytes; 0 if the system does not report it.

    On Linux the peak is that of this program; elsewhere, ``getrusage`` includes the parent's
    memory.
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
def _exit_when_parent_ends(jobs: IO[bytes]) -> Iterator[None]:
    """Make the system end this process when the parent's end of the pipe closes.

    The system sends a signal, because a watching thread would not run during a long regex.
    """
    if not sys.platform.startswith("linux"):  # elsewhere pipes send no signals
        yield
        return
    import fcntl
    import select

    quiet = fcntl.fcntl(jobs, fcntl.F_GETFL)
    fcntl.fcntl(jobs, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(jobs, fcntl.F_SETFL, quiet | os.O_ASYNC)  # unhandled SIGIO ends this process
    try:
        if select.select([jobs], [], [], 0)[0]:
            raise EOFError  # the parent was gone before
        yield
    finally:
        fcntl.fcntl(jobs, fcntl.F_SETFL, quiet)


def _read_or_describe_error(read: Callable[[bytes], dict[str, Any]], body: bytes) -> dict[str, Any]:
    """Return the reader's result, or a description of the error that it raised."""
    try:
        return read(body)
    except (MemoryError, RecursionError):
        return {"error": "broken"}
    except Exception as bug:  # noqa: BLE001 - sent to the parent, which raises it
        with suppress(OSError):  # a log that cannot be written
            traceback.print_exc()
        return {"bug": repr(bug)}


def _send_message(pipe: IO[bytes], body: bytes) -> None:
    """Write one message to *pipe*, preceded by its length."""
    pipe.write(_LENGTH_PREFIX.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def _receive_message(pipe: IO[bytes]) -> bytes:
    """Read one message from *pipe*.

    Raises
    ------
    EOFError
        The other side closed the pipe.
    """
    head = pipe.read(_LENGTH_PREFIX.size)
    if len(head) < _LENGTH_PREFIX.size:
        raise EOFError
    size = _LENGTH_PREFIX.unpack(head)[0]
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return body
