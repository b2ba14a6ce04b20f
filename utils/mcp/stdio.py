"""MCP over standard input and output, tolerant of hosts that deviate from the protocol.

The SDK serves well-formed messages of one protocol era. Here stands what it leaves open: a line
that is no message is answered, as over HTTP, instead of passed over, and who asks
``server/discover`` first may still open the connection with ``initialize``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .messages import find_id_error, find_sdk_fault

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from mcp.shared.message import SessionMessage


async def serve_stdio(server: FastMCP[Any]) -> None:
    """Serve one host until it hangs up."""
    from fastmcp.server.context import reset_transport, set_transport
    from mcp.server.stdio import stdio_server

    token = set_transport("stdio")
    try:
        async with server._lifespan_manager(), stdio_server() as (incoming, outgoing):  # noqa: SLF001
            await _serve_connection(server, _receive_messages(incoming, outgoing), outgoing)
    finally:
        reset_transport(token)


async def _serve_connection(
    server: FastMCP[Any], messages: AsyncIterator[SessionMessage], out: Any
) -> None:
    """Answer discovery requests separately, then serve the connection that the host opens."""
    import anyio

    async for opening in messages:
        if getattr(opening.message, "method", "") == "server/discover":
            await _answer_separately(server, opening, out)
            continue
        send, receive = _make_stream_pair()
        async with anyio.create_task_group() as group:
            group.start_soon(_forward_messages, opening, messages, send)
            await _run_server(server, receive, out)
            group.cancel_scope.cancel()
        return
    await out.aclose()


async def _run_server(server: FastMCP[Any], incoming: Any, outgoing: Any) -> None:
    """Run the protocol server on two streams."""
    lowlevel = server._mcp_server  # noqa: SLF001
    await lowlevel.run(incoming, outgoing, lowlevel.create_initialization_options())


async def _answer_separately(server: FastMCP[Any], request: SessionMessage, out: Any) -> None:
    """Answer one request in a connection of its own, which does not affect later requests."""
    import anyio

    send, receive = _make_stream_pair()
    answer, answers = _make_stream_pair()
    async with anyio.create_task_group() as group:
        group.start_soon(_run_server, server, receive, answer)
        await send.send(request)
        await out.send(await answers.receive())
        await send.aclose()
        group.cancel_scope.cancel()


def _make_stream_pair() -> tuple[Any, Any]:
    """Return the two ends of a stream, as the SDK's transports make them."""
    from mcp.shared._context_streams import create_context_streams

    return create_context_streams[Any](1)


async def _forward_messages(opening: SessionMessage, messages: Any, send: Any) -> None:
    """Send the opening message, then all others, to the server."""
    import anyio

    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with send:
            await send.send(opening)
            async for message in messages:
                await send.send(message)


async def _receive_messages(incoming: Any, outgoing: Any) -> AsyncIterator[SessionMessage]:
    """Yield a host's valid messages, and answer the invalid ones."""
    from mcp.shared.message import SessionMessage
    from mcp_types import ErrorData, JSONRPCError

    async for item in incoming:
        is_message = isinstance(item, SessionMessage)
        fault = find_id_error(item.message) if is_message else find_sdk_fault(item)
        if is_message and not fault:
            yield item
        elif fault:
            error = ErrorData(code=fault.code, message=fault.message)
            answer = JSONRPCError(jsonrpc="2.0", id=fault.id, error=error)
            await outgoing.send(SessionMessage(answer))
