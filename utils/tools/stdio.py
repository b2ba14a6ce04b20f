"""MCP over standard input and output, for hosts that do not all keep the same manners.

The SDK serves well-formed messages of one protocol era. Here stands what it leaves open: a line
that is no message is answered, as over HTTP, instead of passed over, and who asks
``server/discover`` first may still open the connection with ``initialize``.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from mcp.shared.message import SessionMessage

_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600
_MOST_CHARACTERS = 10_000_000  # of a line that is read again, for its id


async def speak(server: FastMCP[Any]) -> None:
    """Serve one host until it hangs up."""
    from fastmcp.server.context import reset_transport, set_transport
    from mcp.server.stdio import stdio_server

    token = set_transport("stdio")
    try:
        async with server._lifespan_manager(), stdio_server() as (incoming, outgoing):  # noqa: SLF001
            await _serve(server, _messages(incoming, outgoing), outgoing)
    finally:
        reset_transport(token)


async def _serve(server: FastMCP[Any], messages: AsyncIterator[SessionMessage], out: Any) -> None:
    """Answer what only asks who we are by itself, then serve the connection that is opened."""
    import anyio

    async for opening in messages:
        if getattr(opening.message, "method", "") == "server/discover":
            await _answer_alone(server, opening, out)
            continue
        send, receive = _pipe()
        async with anyio.create_task_group() as group:
            group.start_soon(_forward, opening, messages, send)
            await _run(server, receive, out)
            group.cancel_scope.cancel()
        return
    await out.aclose()


async def _run(server: FastMCP[Any], incoming: Any, outgoing: Any) -> None:
    lowlevel = server._mcp_server  # noqa: SLF001
    await lowlevel.run(incoming, outgoing, lowlevel.create_initialization_options())


async def _answer_alone(server: FastMCP[Any], request: SessionMessage, out: Any) -> None:
    """The answer to one request in a connection of its own, which settles nothing for others."""
    import anyio

    send, receive = _pipe()
    answer, answers = _pipe()
    async with anyio.create_task_group() as group:
        group.start_soon(_run, server, receive, answer)
        await send.send(request)
        await out.send(await answers.receive())
        await send.aclose()
        group.cancel_scope.cancel()


def _pipe() -> tuple[Any, Any]:
    """Two ends, as the SDK's own transports make them."""
    from mcp.shared._context_streams import create_context_streams

    return create_context_streams[Any](1)


async def _forward(opening: SessionMessage, messages: Any, send: Any) -> None:
    import anyio

    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with send:
            await send.send(opening)
            async for message in messages:
                await send.send(message)


async def _messages(incoming: Any, outgoing: Any) -> AsyncIterator[SessionMessage]:
    """The messages of a host; what is none is answered."""
    from mcp.shared.message import SessionMessage
    from mcp_types import ErrorData, JSONRPCError

    async for item in incoming:
        if isinstance(item, SessionMessage):
            yield item
        elif (said := _said(item)) != "":
            identifier, code, message = describe_fault(said)
            error = ErrorData(code=code, message=message)
            answer = JSONRPCError(jsonrpc="2.0", id=identifier, error=error)
            await outgoing.send(SessionMessage(answer))


def _said(fault: Exception) -> Any:
    """What pydantic could make no message of: a line, or what it says in JSON."""
    with suppress(AttributeError, IndexError, KeyError):
        errors: list[dict[str, Any]] = fault.errors()  # type: ignore[attr-defined]
        said = errors[0]["input"]
        return said.strip() if isinstance(said, str) else said
    return None


def describe_fault(said: Any) -> tuple[str | int | None, int, str]:
    """The id of a request that is none, the JSON-RPC code and what is wrong with it.

    *said* is a line that is not JSON, or a value that is no message.

    >>> describe_fault({"id": 7})
    (7, -32600, 'This is no JSON-RPC message: see https://www.jsonrpc.org/specification.')
    """
    if not isinstance(said, str):
        if isinstance(said, list):
            return None, _INVALID_REQUEST, "Batches are not served: send one message a line."
        what = "This is no JSON-RPC message: see https://www.jsonrpc.org/specification."
        return _id_of(said), _INVALID_REQUEST, what
    try:
        value = json.loads(said[:_MOST_CHARACTERS])
    except ValueError as error:
        return None, _PARSE_ERROR, f"This line is not JSON: {error}."
    except RecursionError:
        return None, _PARSE_ERROR, "This line is not JSON: it is nested too deeply."
    # Python reads what stands for no character; nobody else does.
    return _id_of(value), _PARSE_ERROR, "This line is not JSON: a surrogate without its other half."


def _id_of(said: Any) -> str | int | None:
    found = said.get("id") if isinstance(said, dict) else None
    known = isinstance(found, (str, int)) and not isinstance(found, bool)
    return found if known and str(found).isprintable() else None
