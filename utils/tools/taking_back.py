"""Tool calls that a host takes back, by ``notifications/cancelled`` or by hanging up.

A tool works in a thread, and no thread can be stopped from outside. So the call is left at once,
and the work is told (`Cancellation`): its requests end at the socket, and no other follows.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from ..web import Cancellation

P = ParamSpec("P")
Result = TypeVar("Result")


def revocable(tool: Callable[P, Result]) -> Callable[P, Awaitable[Result]]:
    """Have *tool* work in a thread, until it is over or its host takes the call back."""

    @functools.wraps(tool)
    async def call(*args: P.args, **options: P.kwargs) -> Result:
        from anyio import get_cancelled_exc_class, to_thread

        work = Cancellation()
        try:
            return await to_thread.run_sync(
                work.run, functools.partial(tool, *args, **options), abandon_on_cancel=True
            )
        except get_cancelled_exc_class():
            work.cancel()
            raise

    return call
