"""A clock that only sleeping moves on, and a step at which a process kills itself."""

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

from utils.http.transport import Transport

_NEVER = threading.Event()


class Stage:
    """A clock that only sleeping moves on."""

    def __init__(self) -> None:
        self._real, self._ahead = time.time, 0.0
        time.time, time.sleep = self.now, self.sleep

    def now(self) -> float:
        return self._real() + self._ahead

    def sleep(self, seconds: float) -> None:
        self._ahead += max(0.0, seconds)
        _NEVER.wait(0.001)  # others may run


class Fate:
    """Kills this process at the n-th step."""

    def __init__(self, at: int) -> None:
        self.left = at
        self._lock = threading.Lock()

    def step(self) -> None:
        with self._lock:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
                _NEVER.wait()

    def around(self, owner: Any, name: str) -> None:
        """Have a step before and after every call."""
        real: Callable[..., Any] = getattr(owner, name)

        def acted(*args: Any, **kwargs: Any) -> Any:
            self.step()
            made = real(*args, **kwargs)
            self.step()
            return made

        setattr(owner, name, acted)


def doom(at: int) -> None:
    """Have this process die at one of the steps that have an effect."""
    fate = Fate(at)

    class Doomed(sqlite3.Connection):
        def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
            if sql != "COMMIT":
                return super().execute(sql, *given)
            fate.step()
            made = super().execute(sql, *given)
            fate.step()
            return made

    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **given: connect(*args, **{"factory": Doomed, **given})
    for name in ("fsync", "replace", "unlink", "link"):
        fate.around(os, name)
    fate.around(Transport, "send_request")
