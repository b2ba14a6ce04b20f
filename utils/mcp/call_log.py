"""One log line for each tool call, resource and prompt: its name, seconds and outcome."""

from __future__ import annotations

import logging
import secrets
import time
from typing import Any

from anyio import get_cancelled_exc_class
from fastmcp.server.middleware import Middleware
from mcp import MCPError

from .logs import belonging_to, bound

log = logging.getLogger(__name__)

_SHOWN = 64


def new_request() -> str:
    """A random name for a request, carried by all its log lines."""
    return secrets.token_hex(4)


class CallLog(Middleware):
    """Names each request in the logs, and logs the outcome of each call."""

    async def on_request(self, context: Any, call_next: Any) -> Any:
        """Pass the request on; its lines carry a name of its own, or the one HTTP gave it."""
        with belonging_to(request=bound("request") or new_request()):
            return await call_next(context)

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass the call on, and log one line about it."""
        message = context.message
        job = str((message.arguments or {}).get("job_id") or "")
        # Names come from outside and may be of any length.
        name = str(message.name)[:_SHOWN]
        with belonging_to(tool=name, job=job[:_SHOWN]):
            return await _log_outcome(name, context, call_next)

    async def on_read_resource(self, context: Any, call_next: Any) -> Any:
        """Pass the reading on, and log one line about it."""
        return await _log_outcome(str(context.message.uri)[:_SHOWN], context, call_next)

    async def on_get_prompt(self, context: Any, call_next: Any) -> Any:
        """Pass the request for a prompt on, and log one line about it."""
        return await _log_outcome(str(context.message.name)[:_SHOWN], context, call_next)


async def _log_outcome(name: str, context: Any, call_next: Any) -> Any:
    began = time.monotonic()
    outcome = "failed"
    try:
        result = await call_next(context)
        outcome = _outcome(result)
        return result
    except MCPError as error:
        outcome = _code(error.data)
        raise
    except get_cancelled_exc_class():
        outcome = "taken back"
        raise
    finally:
        seconds = round(time.monotonic() - began, 3)
        facts = {"seconds": seconds, "outcome": outcome}
        log.info("%s: %s in %.3f s", name, outcome, seconds, extra=facts)


def _outcome(result: Any) -> str:
    """``ok``, or the code of the error envelope."""
    return _code(getattr(result, "meta", None)) if getattr(result, "is_error", False) else "ok"


def _code(envelope: Any) -> str:
    error = envelope.get("error") if isinstance(envelope, dict) else None
    return str(error.get("code", "UNKNOWN")) if isinstance(error, dict) else "UNKNOWN"
