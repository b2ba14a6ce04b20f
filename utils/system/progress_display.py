"""Show progress of long work: a bar in a notebook, one line on a terminal, nothing elsewhere.

There is one progress line, `LINE`, at the bottom of the terminal, for the shell and for Python. It
is drawn without escape sequences: a carriage return, the text, and spaces over the former text.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from shutil import get_terminal_size
from threading import RLock
from types import TracebackType
from typing import Any, Self

from .process import is_dumb_terminal

_REDRAW_INTERVAL_S = 0.25


class _ProgressLine:
    """The progress line of the terminal; several threads may write to it."""

    def __init__(self) -> None:
        self.quiet = False
        self.text = ""
        self._lock = RLock()
        self._drawn_chars, self._is_paused = 0, False

    def is_visible(self) -> bool:
        """Return whether progress is shown: on a terminal that can redraw, without ``--quiet``."""
        return sys.stderr.isatty() and not self.quiet and not is_dumb_terminal()

    def show_text(self, text: str) -> None:
        """Show *text* instead of the line's previous text."""
        self.text = text
        self.draw_text(text)

    def draw_text(self, text: str) -> None:
        """Draw *text* on the terminal's last line if progress is shown."""
        with self._lock:
            if text and self.is_visible() and not self._is_paused:
                line = text[: get_terminal_size().columns - 1]
                sys.stderr.write(f"\r{line}{' ' * (self._drawn_chars - len(line))}")
                sys.stderr.flush()
                self._drawn_chars = len(line)

    def clear_line(self) -> None:
        """Clear the line before other output is written."""
        with self._lock:
            if self._drawn_chars:
                sys.stderr.write(f"\r{' ' * self._drawn_chars}\r")
                sys.stderr.flush()
                self._drawn_chars = 0

    @contextmanager
    def pause_display(self) -> Iterator[None]:
        """In the block, leave the terminal to other output, or to a wait of hours."""
        self.clear_line()
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False


LINE = _ProgressLine()


class ProgressDisplay:
    """A display of progress, used in a ``with`` block.

    Parameters
    ----------
    is_shown : bool, optional
        False shows nothing.
    """

    def __init__(self, is_shown: bool = True) -> None:
        self._in_notebook = is_shown and _is_running_in_notebook()
        self._on_terminal = is_shown and not self._in_notebook
        self._handle: Any = None
        self._last: tuple[int, int, str] = (0, 0, "")
        self._again_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._draw_last_state()
        if self._on_terminal:
            LINE.clear_line()

    def show_progress(self, done: int, total: int, text: str = "") -> None:
        """Show that *done* of *total* are finished; redraw at most four times a second."""
        self._last = done, total, text
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _REDRAW_INTERVAL_S
            self._draw_last_state()

    def _draw_last_state(self) -> None:
        """Draw the last state that was shown."""
        done, total, text = self._last
        if self._in_notebook:
            self._draw_in_notebook(done, total, text)
        elif self._on_terminal:
            LINE.show_text(f"{done:,} of {total:,}  {text}")

    def _draw_in_notebook(self, done: int, total: int, text: str) -> None:
        """Draw the bar, or update the bar drawn before."""
        from IPython.display import HTML, display

        bar = HTML(
            f'<progress value="{done}" max="{max(total, 1)}" style="width: 20em"></progress> '
            f"{done:,} of {total:,} {escape(text)}"
        )
        if self._handle is None:
            self._handle = display(bar, display_id=True)
        else:
            self._handle.update(bar)


def _is_running_in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")
