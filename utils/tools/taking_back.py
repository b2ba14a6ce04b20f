"""Tool calls that a host cancels, by ``notifications/cancelled`` or by hanging up.

A tool works in a thread, and no thread can be stopped from outside. So the call is abandoned at
once and its `Cancellation` is set: its requests end at the socket, and no other follows.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from ..web import Cancellation

P = ParamSpec("P")
Result = TypeVar("Result")


def revocable(tool: Callable[P, Result]) -> Callable[P, Awaitable[Result]]:
    """Run *tool* in a thread, until it is over or the host cancels the call."""

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
