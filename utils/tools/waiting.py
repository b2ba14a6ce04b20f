"""What a tool does while a site keeps it waiting: say so, and give up in good time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..errors import Unreachable
from ..patience import LONGEST_ANSWER_S, Patience

_STEP_S = 1.0
Result = TypeVar("Result")


class Waiting:
    """Work that answers in the time a call may take; the host hears once a second that it waits.

    *site* is whom the words blame.
    """

    def __init__(self, site: str = "NCBI") -> None:
        self._site = site
        self._patience: Patience[Any] = Patience(_STEP_S)

    def wait(self, asked: Hashable, work: Callable[[], Result]) -> Result | None:
        """What *work* returns, or None when it is not there in time and goes on.

        *asked* tells which calls are the same: the next such one picks it up.
        """
        steps = int(LONGEST_ANSWER_S / _STEP_S)
        for step in range(1, steps + 1):
            result: Result | None = self._patience.wait(asked, work)
            if result is not None:
                return result
            tell(step, steps, f"{self._site} keeps us waiting")
        return None

    def result(self, asked: Hashable, work: Callable[[], Result]) -> Result:
        """What *work* returns; see `wait`.

        Raises
        ------
        Unreachable
            It is not there in time.
        """
        result = self.wait(asked, work)
        if result is None:
            msg = f"{self._site} keeps this request waiting; it goes on."
            raise Unreachable(msg, "Call again with the same arguments in a minute.")
        return result


def tell(done: float, total: float, message: str) -> None:
    """Report progress to a host that asked for it.

    Tools run in worker threads; the loop is asked to send it.
    """
    from anyio.from_thread import run
    from fastmcp.server.dependencies import get_context

    run(get_context().report_progress, done, total, message)
