"""The running process: its version, standard streams, the signals that end it, and its clock.

Signals (Ctrl-C, SIGTERM, a terminal that was closed) end the program at any moment, imports
included, with exit status 130 and no traceback. No file of ours is ever half written, and child
processes end when they see that their parent is gone. Standard input, output and error are made fit
to be read and written in any locale.
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


def exit_on_signals() -> None:
    """From now on, exit at once on SIGINT, SIGTERM and SIGHUP."""
    _set_handler(_exit_at_once)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let the first signal raise `KeyboardInterrupt` inside, and a second one exit at once.

    Python loses an exception that is raised while it tidies up (in ``__del__``, in the import
    machinery), and may leave a lock taken: so ten seconds later the process exits anyway. Where
    something made another exception of it (Python 3.11, while a class is made), it is that again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = _set_handler(_raise_interrupt)
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
    """Return whether an error was raised from an interrupt, not merely during one."""
    cause = error.__cause__
    return cause is not None and (
        isinstance(cause, KeyboardInterrupt) or _is_caused_by_interrupt(cause)
    )


def _set_handler(handler: _Handler) -> dict[int, Any]:
    """Set *handler*, and return the previous handlers; an ignored signal (nohup) stays ignored."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    replaced = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in replaced:
        signal.signal(number, handler)
    return replaced


def _raise_interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Raise `KeyboardInterrupt`, and exit later if the exception is lost."""
    _set_handler(_exit_at_once)
    last_resort = threading.Timer(_LAST_RESORT_S, os._exit, [INTERRUPTED_EXIT_STATUS])
    last_resort.daemon = True
    last_resort.start()
    raise KeyboardInterrupt


def _exit_at_once(_number: int, _frame: FrameType | None) -> NoReturn:
    """Exit without cleaning up."""
    os._exit(INTERRUPTED_EXIT_STATUS)


def is_dumb_terminal() -> bool:
    """Return whether the terminal can only write line after line (``TERM=dumb``)."""
    return _read_variable("TERM") in ("dumb", "unknown")


def allows_colour() -> bool:
    """Return whether text may have colours: not with ``NO_COLOR``, nor on a dumb terminal."""
    return not _read_variable("NO_COLOR") and not is_dumb_terminal()


def _read_variable(name: str) -> str:
    return os.environ.get(name, "")  # noqa: TID251 - of the terminal, no setting of ours


_ERROR_HANDLER_NAME = "papershelf-replace"
_replaced_letters: list[str] = []


def prepare_streams() -> None:
    """Make files and pipes UTF-8, and let a console show `?` for a missing letter."""
    _open_closed_streams()
    codecs.register_error(_ERROR_HANDLER_NAME, _replace_letters)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors=_ERROR_HANDLER_NAME)
        else:
            stream.reconfigure(encoding="utf-8", errors="replace")


def warn_replaced_letters() -> None:
    """Warn once, on standard error, that the console could not show some letters."""
    if not _replaced_letters:
        return
    _replaced_letters.clear()
    sys.stderr.write(
        "This console cannot show every letter: each missing one is a `?`. Set it to UTF-8 (on "
        "Windows: chcp 65001), or redirect the output into a file.\n"
    )


def _replace_letters(error: UnicodeError) -> tuple[str, int]:
    """Replace letters that the console lacks by ``?``, and remember them."""
    if not isinstance(error, UnicodeEncodeError):
        return codecs.replace_errors(error)  # type: ignore[return-value]
    _replaced_letters.append(error.object[error.start : error.end])
    return "?" * (error.end - error.start), error.end


def _open_closed_streams() -> None:
    """Open the null device where a standard stream is closed (`>&-`).

    Else the next file that is opened gets its number, and a stray line of output lands in it.
    Writing to a closed standard output still fails, as it does for every program.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:  # the lowest number that is free is the one that is given
            os.open(os.devnull, os.O_RDONLY if number < 2 else os.O_WRONLY)
        stream = os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
        setattr(sys, name, stream)


class SteadyClock:
    """`time.time` that never goes back. Not thread-safe: callers lock."""

    def __init__(self) -> None:
        self._seen = 0.0
        self._lost = 0.0

    def now(self) -> float:
        """Return seconds; only differences between two readings are meaningful."""
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
        found = re.search(r'^version = "(.+)"', text, re.M)
        return found[1] if found else "0"
    from importlib import metadata

    return metadata.version("papershelf")
