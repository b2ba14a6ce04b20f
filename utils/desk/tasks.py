"""Long work that the desk does in threads, with its progress in words."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import PaperError

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Task:
    """One piece of work: its thread, the latest words about its progress, and its error."""

    words: str = "Starting."
    error: str = ""
    thread: threading.Thread | None = None

    @property
    def is_alive(self) -> bool:
        """Return whether the work goes on."""
        return self.thread is not None and self.thread.is_alive()


class Tasks:
    """The tasks of one desk; one at a time of each name."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Task | None:
        """Return the latest task of a name."""
        return self._tasks.get(name)

    def start(self, name: str, steps: Iterator[str]) -> Task:
        """Go through *steps* in a thread, unless a task of this name is at work."""
        with self._lock:
            task = self._tasks.get(name)
            if task and task.is_alive:
                return task
            task = self._tasks[name] = Task()
            task.thread = threading.Thread(target=_run_task, args=(task, steps), daemon=True)
            task.thread.start()
            return task


def _run_task(task: Task, steps: Iterator[str]) -> None:
    try:
        for task.words in steps:
            pass
    except PaperError as error:
        task.error = error.text
    except Exception:
        log.exception("A task of the desk failed")
        task.error = "The work stopped by a fault of Papershelf. The log has the details."
