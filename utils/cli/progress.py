"""Show a command's progress in the terminal's progress line.

The line shows what a command says of its progress. After two seconds it also shows how long the
command runs, and the name of a command that says nothing. Output clears the line first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeVar

from ..system.progress_display import LINE

T = TypeVar("T")
_DELAY_S = 2.0
_LINE_INTERVAL_S = 30.0  # where nobody watches


@contextmanager
def show_elapsed_time(name: str) -> Iterator[None]:
    """Show every second how long the command *name* has run, after the first two seconds."""
    if not LINE.is_visible():
        yield
        return
    began, ended = time.monotonic(), Event()
    LINE.text = ""

    def tick() -> None:
        while not ended.wait(1.0):
            seconds = time.monotonic() - began
            if seconds >= _DELAY_S:
                LINE.draw_text(f"{(LINE.text or name).rstrip(' …')} … {seconds:,.0f} s")

    ticker = Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()
        LINE.clear_line()


def show_count(done: int, total: int) -> None:
    """Show on a terminal how many of *total* items are done."""
    LINE.show_text(f"{done:,} of {total:,} …" if done < total > 1 else "")
    if done >= total:
        LINE.clear_line()


def show_steps(
    steps: Iterable[T], describe: Callable[[T], str], note: Callable[[str], None]
) -> T | None:
    """Iterate over *steps*, show the progress, and return the last step; None without steps.

    On a terminal the text of a step is shown each second; elsewhere one is noted twice a minute.
    """
    last: T | None = None
    shown = time.monotonic()
    every = 1.0 if LINE.is_visible() else _LINE_INTERVAL_S
    for last in steps:
        if time.monotonic() - shown >= every:
            shown = time.monotonic()
            (LINE.show_text if LINE.is_visible() else note)(describe(last))
    LINE.clear_line()
    return last
