"""Reading processes: hostile files are read where they can do no harm, and on every core.

A child that hangs is killed after a deadline, one that crashes takes nothing with it, and one
that swells meets a memory limit. It answers in JSON, so that even a child taken over by a file
cannot hand its parent an object to run. What it prints goes to the log, since the parent's
standard output may be the MCP protocol. Not `multiprocessing`: that starts the caller's own script
again in the child, which a notebook or a script without a main guard does not survive.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

DEADLINE = 60.0  # seconds; the longest theses read in five
_MEMORY = 2 << 30  # bytes of address space
_LENGTH = struct.Struct("!Q")
_START = "import sys; sys.path.insert(0, sys.argv[1]); from {} import serve; serve()"


class ChildFailed(Exception):
    """The child gave no answer: it crashed, or was killed after its deadline."""


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

    def ask(self, body: bytes, deadline: float) -> dict[str, Any]:
        """Have *body* read.

        Raises
        ------
        ChildFailed
            No answer came; the child is dead.
        """
        expired = threading.Event()  # a timer still runs while it kills: it cannot be asked

        def expire() -> None:
            expired.set()
            self._process.kill()

        late = threading.Timer(deadline, expire)
        late.daemon = True
        late.start()
        try:
            assert self._process.stdin
            assert self._process.stdout
            _send(self._process.stdin, body)
            answer: dict[str, Any] = json.loads(_receive(self._process.stdout))
        except (EOFError, OSError, ValueError) as error:
            msg = f"no answer within {deadline:g} s" if expired.is_set() else "the reader crashed"
            raise ChildFailed(msg) from error
        finally:
            late.cancel()
        return answer

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class Children:
    """Up to *most* children that run the ``serve`` of *module*, each started when needed."""

    def __init__(self, module: str, most: int) -> None:
        self.start = _START.format(module)
        self._free = threading.BoundedSemaphore(most)
        self._idle: list[Child] = []
        self._pid = os.getpid()

    def ask(self, body: bytes, deadline: float = DEADLINE) -> dict[str, Any]:
        """Have *body* read by whichever child is free.

        Raises
        ------
        ChildFailed
            It crashed, or took longer than *deadline* seconds; the next one is a new one.
        """
        if self._pid != os.getpid():  # after a fork: the children are our parent's
            self._idle, self._pid = [], os.getpid()
        with self._free:
            child = self._idle.pop() if self._idle else Child(self.start)
            try:
                answer = child.ask(body, deadline)
            except BaseException:
                child.kill()
                raise
            self._idle.append(child)
            return answer

    def dismiss(self) -> int:
        """End the children that are idle; how many there were."""
        dismissed = 0
        while self._idle:
            self._idle.pop().kill()
            dismissed += 1
        return dismissed


def serve_with(read: Callable[[bytes], dict[str, Any]]) -> None:
    """Answer until the parent hangs up. Runs in the child."""
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing a library prints may be taken for an answer
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            body = _receive(jobs)
        except EOFError:
            return
        try:
            answer = read(body)
        except (MemoryError, RecursionError):
            answer = {"error": "broken"}
        try:
            _send(answers, json.dumps(answer).encode())
        except BrokenPipeError:  # our parent was killed while we read
            return


def _send(pipe: IO[bytes], body: bytes) -> None:
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    """One message.

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
