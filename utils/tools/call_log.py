"""One log line per call: which tool, for whom, how long it took and what came of it."""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any

from fastmcp.server.middleware import Middleware

from ..logs import belonging_to, bound

log = logging.getLogger(__name__)


def new_request() -> str:
    """A name for a request, to find all its lines by."""
    return secrets.token_hex(4)


class Calls(Middleware):
    """Names each request in the logs, and writes what came of each call."""

    async def on_request(self, context: Any, call_next: Any) -> Any:
        """Let the request pass; its lines carry a name of its own, or the one HTTP gave it."""
        with belonging_to(request=bound("request") or new_request()):
            return await call_next(context)

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Let the call pass, and write one line about it."""
        message = context.message
        job = (message.arguments or {}).get("job_id")
        # Names come from outside: one as long as a novel is no name.
        name = str(message.name)[:64]
        with belonging_to(tool=name, job=str(job or "")[:64]):
            began = time.monotonic()
            outcome = "failed"
            try:
                result = await call_next(context)
                outcome = _outcome(result)
                return result
            finally:
                seconds = round(time.monotonic() - began, 3)
                told = {"seconds": seconds, "outcome": outcome}
                log.info("%s: %s in %.3f s", name, outcome, seconds, extra=told)


def _outcome(result: Any) -> str:
    """``ok``, or the code of the error envelope."""
    if not getattr(result, "is_error", False):
        return "ok"
    envelope = getattr(result, "meta", None) or {}
    return str(envelope.get("error", {}).get("code", "UNKNOWN"))
