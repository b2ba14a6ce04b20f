"""Show a command's progress as one line at the bottom of a terminal.

The line shows what a command says of its progress. After two seconds it also shows how long the
command runs, and the name of a command that says nothing. Output clears the line first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import Event, RLock, Thread
from typing import TypeVar

T = TypeVar("T")
_SILENT_S = 2.0
_LINE_EVERY_S = 30.0  # where nobody watches


class _ProgressLine:
    """The progress line of the terminal; several threads may write to it."""

    def __init__(self) -> None:
        self.quiet = False
        self._lock = RLock()
        self._text, self._is_visible, self._is_paused = "", False, False

    def is_watched(self) -> bool:
        """Return whether progress is shown: standard error is a terminal, without ``--quiet``."""
        return sys.stderr.isatty() and not self.quiet

    def show(self, text: str) -> None:
        """Show *text* instead of the line's previous text."""
        self._text = text
        self._draw(text)

    def _draw(self, text: str) -> None:
        """Draw *text* on the terminal's last line if progress is shown."""
        with self._lock:
            if text and self.is_watched() and not self._is_paused:
                sys.stderr.write(f"\r\033[K{text[: get_terminal_size().columns - 1]}")
                sys.stderr.flush()
                self._is_visible = True

    def clear(self) -> None:
        """Clear the line before other output is written."""
        with self._lock:
            if self._is_visible:
                sys.stderr.write("\r\033[K")
                sys.stderr.flush()
                self._is_visible = False

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Release the terminal for other drawing, or for waiting for hours."""
        self.clear()
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Show every second how long the command *name* has run, after the first two seconds."""
        if not self.is_watched():
            yield
            return
        began, ended = time.monotonic(), Event()
        self._text = ""

        def tick() -> None:
            while not ended.wait(1.0):
                seconds = time.monotonic() - began
                if seconds >= _SILENT_S:
                    self._draw(f"{(self._text or name).rstrip(' …')} … {seconds:,.0f} s")

        ticker = Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()
            self.clear()


LINE = _ProgressLine()


def show_count(done: int, total: int) -> None:
    """Show on a terminal how many of *total* items are done."""
    LINE.show(f"{done:,} of {total:,} …" if done < total > 1 else "")
    if done >= total:
        LINE.clear()


def show_steps(
    steps: Iterable[T], text_of: Callable[[T], str], note: Callable[[str], None]
) -> T | None:
    """Iterate over *steps*, show progress, and return the last step; None without any steps.

    On a terminal the text of a step is shown each second; elsewhere one is noted twice a minute.
    """
    last: T | None = None
    shown = time.monotonic()
    every = 1.0 if LINE.is_watched() else _LINE_EVERY_S
    for last in steps:
        if time.monotonic() - shown >= every:
            shown = time.monotonic()
            (LINE.show if LINE.is_watched() else note)(text_of(last))
    LINE.clear()
    return last
