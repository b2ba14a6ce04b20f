"""Calls that report progress while a site keeps them waiting, and give up in good time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ..errors import Unreachable
from ..http import Cancellation, Cooldown
from ..http.work import LONGEST_ANSWER_S, SharedWork

LONGEST_WAIT_S = 50.0
"""Of a call that asks to wait: hosts give a call up after a minute (TypeScript SDK's default)."""
_STEP_S = 1.0
Result = TypeVar("Result")


class LongCalls:
    """Runs work for the time a call may take, reporting progress to the host once a second.

    *site* is named as the cause of the wait.
    """

    def __init__(self, site: str = "NCBI") -> None:
        self._site = site
        self._patience: SharedWork[Any] = SharedWork(_STEP_S)
        # Each is kept by the work it is about, for as long as that is under way.
        self._holds: WeakValueDictionary[Hashable, Cooldown] = WeakValueDictionary()

    def wait(
        self, call: Hashable, work: Callable[[], Result], progress: Callable[[], str] = str
    ) -> Result | None:
        """What *work* returns, or None when it is not there in time and goes on.

        *call* tells which calls are the same: the next such one picks it up. *progress* says how
        far the work is, in a sentence; where it is silent, the site is blamed.
        """
        work = partial(self._hold(call).run, work)
        steps = int(LONGEST_ANSWER_S / _STEP_S)
        for step in range(1, steps + 1):
            result: Result | None = self._patience.wait(call, work)
            if result is not None:
                return result
            tell(step, steps, progress() or f"{self._site} keeps us waiting")
        return None

    def result(
        self, call: Hashable, work: Callable[[], Result], progress: Callable[[], str] = str
    ) -> Result:
        """What *work* returns; see `wait`.

        Raises
        ------
        Unreachable
            It is not there in time; with ``retry_after`` when the site asked us to wait.
        """
        hold = self._hold(call)
        result = self.wait(call, work, progress)
        if result is None:
            raise self._give_up(math.ceil(hold.seconds_left()), progress())
        return result

    def call(self, function: Callable[..., Result], *args: Hashable, **options: Hashable) -> Result:
        """What ``function(*args, **options)`` returns; equal calls share one run. See `result`."""
        call = (function.__name__, *args, *sorted(options.items()))
        return self.result(call, lambda: function(*args, **options))

    def _hold(self, call: Hashable) -> Cooldown:
        return self._holds.setdefault(call, Cooldown())

    def _give_up(self, seconds: int, progress: str) -> Unreachable:
        if not seconds:
            msg = progress or f"{self._site} keeps this request waiting"
            msg = f"{msg}; it goes on."
            return Unreachable(msg, "Call again with the same arguments in a minute.")
        msg = f"{self._site} asked us to wait; this request goes on after that."
        hint = f"Call again in {seconds} s with the same arguments."
        # Some say it with 503; that they named a time is what counts.
        return Unreachable(msg, hint, status=429, retry_after=float(seconds))


def tell(done: float, total: float, message: str) -> None:
    """Report progress to a host that asked for it, from a worker thread."""
    from anyio.from_thread import run
    from fastmcp.server.dependencies import get_context

    run(get_context().report_progress, done, total, message)


async def run_in_thread(work: Callable[[], Result]) -> Result:
    """Run *work* in a thread until it ends or the host cancels the call.

    A thread cannot be stopped from outside. The call is abandoned at once, and its `Cancellation`
    is set: its requests end at the socket, and no other follows.
    """
    from anyio import get_cancelled_exc_class, to_thread

    cancellation = Cancellation()
    try:
        return await to_thread.run_sync(cancellation.run, work, abandon_on_cancel=True)
    except get_cancelled_exc_class():
        cancellation.cancel()
        raise
