"""Keep the index of the corpus up to date in a background thread.

Making vectors of a field takes minutes, and a call has seconds: a call waits as long as it may, and
the work goes on after that. When the host hangs up, what was done stays, and the next indexing goes
on from there.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import PaperError
from ..library import Library

if TYPE_CHECKING:
    from ..corpus.index import IndexProgress

log = logging.getLogger(__name__)
_POLL_INTERVAL_S = 1.0


def _ignore_message(message: str) -> None:
    """Discard a progress message."""


class IndexUpdater:
    """Indexing in one thread; each request is served by a run that began after it."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._turn = threading.Condition()
        self._wanted = 0
        self._done = 0
        self._running = False
        self._progress: IndexProgress | None = None
        self._error: PaperError | None = None

    def update(
        self, max_wait_s: float, report: Callable[[str], None] = _ignore_message
    ) -> list[str]:
        """Bring the index up to date, waiting at most *max_wait_s* seconds; return warnings.

        *report* is called every second of the wait with how far the indexing is.
        """
        end = time.monotonic() + max_wait_s
        with self._turn:
            self._wanted += 1
            mine = self._wanted
            if not self._running:
                self._running = True
                threading.Thread(target=self._serve_requests, name="indexing", daemon=True).start()
        while not (over := self._is_done(mine, end)) and time.monotonic() < end:
            report(f"Indexing{_format_progress(self._progress)}")
        progress, trouble = self._progress, self._error
        if not over:
            told = f"Still indexing behind this call{_format_progress(progress)}"
            return [f"{told}: searches find more as it goes on."]
        if trouble:
            return [f"Stored, and not indexed: {trouble}"]
        return list(progress.warnings) if progress else []

    def _is_done(self, number: int, end: float) -> bool:
        """Wait up to a second, never beyond *end*, and return whether the request is served."""
        with self._turn:
            seconds = min(_POLL_INTERVAL_S, max(0.0, end - time.monotonic()))
            return self._turn.wait_for(lambda: self._done >= number, seconds)

    def _serve_requests(self) -> None:
        """Index until every request is served."""
        while True:
            with self._turn:
                if self._done >= self._wanted:
                    self._running = False
                    return
                asked_for = self._wanted
            trouble = self._index_once()
            with self._turn:
                self._done, self._error = asked_for, trouble
                self._turn.notify_all()

    def _index_once(self) -> PaperError | None:
        """Index the corpus once, and return the error if indexing fails."""
        self._progress = None
        try:
            for progress in self._library.corpus.index():
                self._progress = progress
        except PaperError as error:
            log.warning("Indexing stopped: %s", error.text)
            return error
        except Exception as bug:
            # A thread dies silently: whoever waits for it gets the error.
            log.exception("Indexing stopped")
            msg = f"Indexing stopped because of a fault in Papershelf: {bug!r}."
            return PaperError(msg, "Please report it.")
        return None


def _format_progress(progress: IndexProgress | None) -> str:
    return f" ({progress.done:,} of {progress.total:,} papers)" if progress else ""
