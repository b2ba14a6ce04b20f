"""Processes that tests start: whatever becomes of a test, they end, and whatever they started.

Each leads a session of its own and carries a mark in its environment, which its children inherit
into whatever group or session they go. Nothing here waits for ever: not for an end, and not for
the last byte of a pipe that a survivor holds.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

LAST_RESORT_S = 200.0
"""What nobody waits for in earnest; the limit of a whole test is in pyproject.toml."""
_MARK = "PAPERSHELF_TEST_RUN"
_numbers = itertools.count()
_started: list[Process] = []
_watchers: list[subprocess.Popen[bytes]] = []


def eventually(true: Callable[[], object]) -> bool:
    """Whether it comes true; asked again and again, for real also under a stage clock."""
    for _ in range(int(LAST_RESORT_S * 50)):
        if true():
            return True
        threading.Event().wait(0.02)
    return False


class Process(subprocess.Popen[Any]):
    """A process that ends with the test, or where its ``with`` is left by an error."""

    def __init__(self, command: Any, *, env: Any = None, **options: Any) -> None:
        if options.get("text"):
            options.setdefault("encoding", "utf-8")
        self.mark = f"{_MARK}={_run_id()}.{os.getpid()}.{next(_numbers)}"
        name, _, value = self.mark.partition("=")
        environment = {**(os.environ if env is None else env), name: value}
        super().__init__(command, env=environment, start_new_session=True, **options)
        _started.append(self)

    def wait(self, timeout: float | None = LAST_RESORT_S) -> int:
        """Wait for real also under a stage clock, on which no time would pass for the process."""
        until, pause = time.monotonic() + (timeout or 0), 0.001
        while self.poll() is None:
            if timeout is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(self.args, timeout)
            threading.Event().wait(pause)
            pause = min(0.05, 2 * pause)
        return super().wait()

    def communicate(self, input: Any = None, timeout: float | None = LAST_RESORT_S) -> Any:  # noqa: A002
        return super().communicate(input, timeout)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind:
            self.end()
        super().__exit__(kind, error, trace)

    def survivors(self) -> list[int]:
        """What it started and left running, and itself; Linux only."""
        return _marked(self.mark)

    def nothing_left(self) -> bool:
        """Whether all of that has ended, or does soon."""
        return eventually(lambda: not self.survivors())

    def end(self) -> None:
        """Kill it with all it started, at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        _kill_marked(self.mark)
        self.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            with suppress(OSError, ValueError):
                if pipe:
                    pipe.close()


def run(
    command: Any,
    *,
    input: Any = None,  # noqa: A002
    text: bool = True,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end, both its outputs kept; *check* that it says all went well."""
    pipe = subprocess.PIPE
    given = pipe if input is not None else subprocess.DEVNULL
    with Process(command, stdin=given, stdout=pipe, stderr=pipe, text=text, **options) as process:
        out, err = process.communicate(input)
    assert process.returncode == 0 or not check, err
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def begin_run() -> None:
    """Mark this run, its workers inherit it, and have somebody watch over it from outside.

    Also undo what a background job ignores: else the processes of tests would be deaf to the
    signals that are to end them.
    """
    for name in ("SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # unlike SIG_IGN, this is not inherited
    if _MARK not in os.environ:
        unmarked = dict(os.environ)
        os.environ[_MARK] = uuid.uuid4().hex
        _watchers.append(_watcher(unmarked))


def end_of_run() -> None:
    """Have the watcher end what a worker that was killed could not end any more."""
    while _watchers:
        watcher = _watchers.pop()
        watcher.communicate()


def _watcher(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A process that ends what this run left, when we hang up: also by ``kill -9``."""
    return subprocess.Popen(
        [sys.executable, __file__, _run_id()],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end_of_test() -> None:
    """End what the test started."""
    while _started:
        _started.pop().end()


def _run_id() -> str:
    return os.environ.get(_MARK, "")


def _kill_marked(mark: str) -> None:
    def gone() -> bool:
        left = _marked(mark)
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return not left

    eventually(gone)


def _marked(mark: str) -> list[int]:
    """Processes with this mark, or one that begins so; none where there is no ``/proc``."""
    exact, longer = f"\0{mark}\0".encode(), f"\0{mark}.".encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # somebody else's, or it has ended meanwhile
            around = b"\0" + place.read_bytes()
            if (exact in around or longer in around) and int(place.parent.name) != os.getpid():
                found.append(int(place.parent.name))
    return found


if __name__ == "__main__":
    sys.stdin.buffer.read()
    _kill_marked(f"{_MARK}={sys.argv[1]}")
