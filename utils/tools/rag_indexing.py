"""The index of the corpus, brought up to date behind the calls that ask for it.

Making vectors of a field takes minutes, and a call has seconds. So one thread of the server works
on the index; a call waits for it as long as it may, and the work goes on after that. When the host
hangs up, what was done stays, and the next indexing goes on from there.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from ..errors import PaperError

if TYPE_CHECKING:
    from ..corpus.index import Indexed
    from ..library import Library

log = logging.getLogger(__name__)


class Indexing:
    """Who asks is served by a run that begins after the question, never by an older one."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._turn = threading.Condition()
        self._wanted = 0
        self._done = 0
        self._running = False
        self._progress: Indexed | None = None
        self._trouble: PaperError | None = None

    def said(self, longest_s: float) -> list[str]:
        """Bring the index up to date, wait so long for it, and say what is not as it should be."""
        with self._turn:
            self._wanted += 1
            mine = self._wanted
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, name="indexing", daemon=True).start()
            over = self._turn.wait_for(lambda: self._done >= mine, max(0.0, longest_s))
            progress, trouble = self._progress, self._trouble
        if not over:
            return [_going_on(progress)]
        if trouble:
            return [f"Stored, and not indexed: {trouble}"]
        return list(progress.warnings) if progress else []

    def _work(self) -> None:
        while True:
            with self._turn:
                if self._done >= self._wanted:
                    self._running = False
                    return
                begun = self._wanted
            trouble = self._indexed()
            with self._turn:
                self._done, self._trouble = begun, trouble
                self._turn.notify_all()

    def _indexed(self) -> PaperError | None:
        self._progress = None
        try:
            for progress in self._library.corpus.index():
                self._progress = progress
        except PaperError as error:
            log.warning("Indexing stopped: %s", error)
            return error
        except Exception as bug:
            # Nobody hears a thread die: whoever waits for it is told.
            log.exception("Indexing stopped")
            msg = f"Indexing stopped by a mistake of ours: {bug!r}."
            return PaperError(msg, "Please report it.")
        return None


def _going_on(progress: Indexed | None) -> str:
    so_far = f" ({progress.done:,} of {progress.total:,} papers)" if progress else ""
    return f"Still indexing behind this call{so_far}: searches find more as it goes on."
