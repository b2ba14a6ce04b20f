"""Signals that end the program: Ctrl-C, SIGTERM, a terminal that was closed.

At any moment, imports included: exit status 130, and no traceback. No file of ours is ever half
written, and child processes end when they see that we are gone.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
_LAST_RESORT_S = 10.0
_Handler = Callable[[int, "FrameType | None"], Any]


def end_at_once_on_signals() -> None:
    """From now on, exit at once on each of these signals."""
    _set_handler(_exit)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have the first such signal raise `KeyboardInterrupt` here, and a second one exit at once.

    Python loses an exception that is raised while it tidies up (in ``__del__``, in the import
    machinery), and may leave a lock taken: so ten seconds later the process exits anyway. Where
    something made another exception of it (Python 3.11, while a class is made), it is that again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = _set_handler(_interrupt)
    try:
        yield
    except Exception as error:
        if _comes_of_an_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _comes_of_an_interrupt(error: BaseException) -> bool:
    """Whether it was made of an interrupt; what an interrupt was answered with is another thing."""
    cause = error.__cause__
    return cause is not None and (
        isinstance(cause, KeyboardInterrupt) or _comes_of_an_interrupt(cause)
    )


def _set_handler(handler: _Handler) -> dict[int, Any]:
    """Set *handler*, and return the handlers before; a signal that is ignored (nohup) stays so."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    replaced = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in replaced:
        signal.signal(number, handler)
    return replaced


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    _set_handler(_exit)
    last_resort = threading.Timer(_LAST_RESORT_S, os._exit, [INTERRUPTED])
    last_resort.daemon = True
    last_resort.start()
    raise KeyboardInterrupt


def _exit(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
