"""The running process: version, standard streams, signal handlers and clock.

Signals (Ctrl-C, SIGTERM, a closed terminal) end the program at any moment, imports included, with
exit status 130 and no traceback. Files are written atomically, and child processes end when they
see that their parent has ended. Standard input, output and error work in any locale.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from ..command_line import IN_CHECKOUT, ROOT

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED_EXIT_STATUS = 130
_LAST_RESORT_S = 10.0
_Handler = Callable[[int, "FrameType | None"], Any]


def exit_at_once_on_signals() -> None:
    """Make the process exit at once on SIGINT, SIGTERM and SIGHUP."""
    _set_signal_handler(_exit_without_cleanup)


@contextmanager
def raise_on_first_signal() -> Iterator[None]:
    """In the block, raise `KeyboardInterrupt` on the first signal, and exit at once on a second.

    Python loses an exception that is raised in ``__del__`` or in the import machinery, and may
    leave a lock held; the process therefore exits ten seconds later in any case. If Python replaces
    the exception (3.11, while it creates a class), the block raises `KeyboardInterrupt` again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set signal handlers
        return
    before = _set_signal_handler(_raise_interrupt)
    try:
        yield
    except Exception as error:
        if _is_caused_by_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_caused_by_interrupt(error: BaseException) -> bool:
    """Return whether an interrupt caused the error, not only preceded it."""
    cause = error.__cause__
    return cause is not None and (
        isinstance(cause, KeyboardInterrupt) or _is_caused_by_interrupt(cause)
    )


def _set_signal_handler(handler: _Handler) -> dict[int, Any]:
    """Set *handler*, and return the previous handlers; an ignored signal (nohup) stays ignored."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    replaced = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in replaced:
        signal.signal(number, handler)
    return replaced


def _raise_interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Raise `KeyboardInterrupt`, and exit ten seconds later in case Python loses the exception."""
    _set_signal_handler(_exit_without_cleanup)
    last_resort = threading.Timer(_LAST_RESORT_S, os._exit, [INTERRUPTED_EXIT_STATUS])
    last_resort.daemon = True
    last_resort.start()
    raise KeyboardInterrupt


def _exit_without_cleanup(_number: int, _frame: FrameType | None) -> NoReturn:
    """Exit without cleaning up."""
    os._exit(INTERRUPTED_EXIT_STATUS)


def is_dumb_terminal() -> bool:
    """Return whether the terminal can only append lines (``TERM=dumb``)."""
    return _read_environment_variable("TERM") in ("dumb", "unknown")


def is_colour_allowed() -> bool:
    """Return whether output may have colours: not with ``NO_COLOR``, nor on a dumb terminal."""
    return not _read_environment_variable("NO_COLOR") and not is_dumb_terminal()


def _read_environment_variable(name: str) -> str:
    return os.environ.get(name, "")  # noqa: TID251 - the terminal's, not a setting


_ERROR_HANDLER_NAME = "papershelf-replace"
_replaced_letters: list[str] = []


def configure_standard_streams() -> None:
    """Use UTF-8 for files and pipes; let a console show `?` for a character that it lacks."""
    _open_closed_streams()
    codecs.register_error(_ERROR_HANDLER_NAME, _replace_missing_characters)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors=_ERROR_HANDLER_NAME)
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def warn_of_replaced_characters() -> None:
    """Warn once, on standard error, that the console could not show some characters."""
    if not _replaced_letters:
        return
    _replaced_letters.clear()
    sys.stderr.write(
        "This console cannot show some characters and shows `?` instead. Set it to UTF-8 (on "
        "Windows: chcp 65001), or redirect the output into a file.\n"
    )


def _replace_missing_characters(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the console lacks by ``?``, and record them for the warning."""
    if not isinstance(error, UnicodeEncodeError):
        return codecs.replace_errors(error)  # type: ignore[return-value]
    _replaced_letters.append(error.object[error.start : error.end])
    return "?" * (error.end - error.start), error.end


def _open_closed_streams() -> None:
    """Open the null device where a standard stream is closed (`>&-`).

    Otherwise the next opened file would get the stream's number, and stray output would be written
    to it. Writing to a closed standard output still fails, as for every program.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:  # `open` returns the lowest free number
            os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)
        stream = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)


class SteadyClock:
    """A clock like `time.time` that never goes back. Not thread-safe: callers lock."""

    def __init__(self) -> None:
        self._seen = 0.0
        self._lost = 0.0

    def read_seconds(self) -> float:
        """Return a time in seconds; only differences between two readings are meaningful."""
        reading = time.time() + self._lost
        if (back := self._seen - reading) > 0:
            self._lost += back
            reading = self._seen
        self._seen = reading
        return reading


@cache
def get_version() -> str:
    """Return the version of Papershelf; in a checkout, the version in its pyproject.toml."""
    if IN_CHECKOUT:
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        match = re.search(r'^version = "(.+)"', text, re.M)
        return match[1] if match else "0"
    from importlib import metadata

    return metadata.version("papershelf")
