"""Show progress of long work: a bar in a notebook, one line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from html import escape
from shutil import get_terminal_size
from types import TracebackType
from typing import Any, Self

_REDRAW_INTERVAL_S = 0.25


class ProgressDisplay:
    """Shows how much of some work is done; used in a ``with`` block.

    Parameters
    ----------
    is_shown : bool, optional
        False shows nothing.
    """

    def __init__(self, is_shown: bool = True) -> None:
        self._in_notebook = is_shown and _runs_in_notebook()
        self._on_terminal = is_shown and not self._in_notebook and sys.stderr.isatty()
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
        self._draw_progress()
        if self._on_terminal:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def show(self, done: int, total: int, text: str = "") -> None:
        """Show that *done* of *total* are finished, at most four times a second."""
        self._last = done, total, text
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _REDRAW_INTERVAL_S
            self._draw_progress()

    def _draw_progress(self) -> None:
        """Draw the last state that was shown."""
        done, total, text = self._last
        if self._in_notebook:
            self._draw_in_notebook(done, total, text)
        elif self._on_terminal:
            line = f"{done:,} of {total:,}  {text}"[: get_terminal_size().columns - 1]
            sys.stderr.write(f"\r\033[K{line}")
            sys.stderr.flush()

    def _draw_in_notebook(self, done: int, total: int, text: str) -> None:
        """Draw the bar, or update the bar drawn before."""
        from IPython.display import HTML, display

        shown = HTML(
            f'<progress value="{done}" max="{max(total, 1)}" style="width: 20em"></progress> '
            f"{done:,} of {total:,} {escape(text)}"
        )
        if self._handle is None:
            self._handle = display(shown, display_id=True)
        else:
            self._handle.update(shown)


def _runs_in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return hasattr(shell, "kernel")
