"""MCP over HTTP: one endpoint with authorization, limits for each caller, and an orderly shutdown.

Stateless: no request needs what an earlier one left in memory, so any number of these processes on
one shelf may stand behind a proxy. From outside to inside a request meets: a name for the logs,
the check of Host and Origin (DNS rebinding), its token, CORS, the limits of its caller
(`CallerLimiter`), the bounds of its body (`BodyReader`), the scope that its call needs
(`ScopeChallenge`), the check of its JSON-RPC message (`MessageValidator`), the gate, the tool.

Before that, connections that have not sent a request yet have a deadline. uvicorn waits for the
headers of a request as long as a byte arrives now and then, and counts each such connection among
those that it serves: a few hundred would lock out every other caller. Here headers have a deadline
of `HEADERS_TIMEOUT_S` from the connection, or from the first byte of a later request. The oldest
connection's deadline becomes `CROWDED_HEADERS_TIMEOUT_S` where too many wait: more than
`MAX_PATIENT_CONNECTIONS_PER_ADDRESS` of one address, or more than `MAX_PATIENT_CONNECTIONS` in all.
A caller that opens fifty connections at once and sends its requests within seconds therefore loses
none of them. Above `MAX_PENDING_CONNECTIONS` the oldest is answered with status 429 at once.

Not here, since a proxy does it better: TLS.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit

import anyio
import uvicorn
from mcp.types import INVALID_REQUEST
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import BadRequest, NotConfigured
from ..library import Library
from ..logs import add_log_fields
from ..system.plain_text import replace_surrogates
from . import build
from .auth import DOWNLOAD_SCOPE, ENDPOINT_PATH, READ_SCOPE, build_default_address, build_token_gate
from .calls import make_request_name
from .delivery import NamedSessions
from .messages import MessageFault, describe_invalid_line, find_fault

if TYPE_CHECKING:
    from types import FrameType

    from fastmcp import FastMCP
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..settings import Settings
    from .auth import TokenGate

log = logging.getLogger(__name__)

HEADERS_TIMEOUT_S = 10.0
CROWDED_HEADERS_TIMEOUT_S = 3.0
MAX_PATIENT_CONNECTIONS = 256
MAX_PATIENT_CONNECTIONS_PER_ADDRESS = 32
MAX_PENDING_CONNECTIONS = 384
_NO_BODY = b"connection: close\r\ncontent-length: 0\r\n\r\n"
_TIMEOUT_RESPONSE = b"HTTP/1.1 408 Request Timeout\r\n" + _NO_BODY
_OVERLOAD_RESPONSE = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n" + _NO_BODY

BODY_MAX_BYTES = 1_000_000
"""Bytes of one request: some 50,000 identifiers."""
BODY_TIMEOUT_S = 30.0
REQUESTS_PER_S = 10.0
BURST_REQUESTS = 100
MAX_CONCURRENT_REQUESTS = 16
"""Requests of one caller that are served at once: no caller takes all of the 40 worker threads."""
QUEUE_TIMEOUT_S = 30.0
"""Longest wait of a request for its turn: with a call of 20 s, less than the minute of hosts."""
MAX_QUEUED_REQUESTS = 100
MAX_CONNECTIONS = 512

_MAX_REMEMBERED_CALLERS = 10_000
_SHUTDOWN_GRACE_S = 3
_ALLOWED_HEADERS = [
    *("authorization", "content-type", "accept", "last-event-id"),
    *("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"),
]


class PendingConnections:
    """The connections of one server whose headers have not arrived yet, the oldest first."""

    def __init__(self) -> None:
        self._all: dict[Connection, None] = {}
        self._patient: dict[Connection, None] = {}
        self._patient_by_address: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> None:
        """Add a connection; shorten the deadline of the oldest where too many wait."""
        of_one = self._patient_by_address.setdefault(connection.address, {})
        self._all[connection] = self._patient[connection] = of_one[connection] = None
        if len(of_one) > MAX_PATIENT_CONNECTIONS_PER_ADDRESS:
            self._shorten_deadline(next(iter(of_one)))
        elif len(self._patient) > MAX_PATIENT_CONNECTIONS:
            self._shorten_deadline(next(iter(self._patient)))
        if len(self._all) > MAX_PENDING_CONNECTIONS:
            next(iter(self._all)).answer_and_close(_OVERLOAD_RESPONSE)

    def discard(self, connection: Connection) -> None:
        """Remove a connection."""
        self._all.pop(connection, None)
        self._discard_waiting(connection)

    def _shorten_deadline(self, connection: Connection) -> None:
        """Close a connection soon, to make room."""
        self._discard_waiting(connection)
        connection.shorten_deadline()

    def _discard_waiting(self, connection: Connection) -> None:
        self._patient.pop(connection, None)
        of_one = self._patient_by_address.get(connection.address, {})
        of_one.pop(connection, None)
        if not of_one:
            self._patient_by_address.pop(connection.address, None)


class Connection(H11Protocol):
    """A uvicorn connection with a deadline for the headers of a request."""

    def __init__(self, pending: PendingConnections, **options: Any) -> None:
        super().__init__(**options)
        self._pending = pending
        self._began = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._start_deadline()

    def data_received(self, data: bytes) -> None:
        """Parse *data*; stop the deadline once the headers are complete."""
        super().data_received(data)
        working = self.cycle is not None and not self.cycle.response_complete
        if working or self.transport.is_closing():
            self._stop_deadline()
        elif self._deadline is None:
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        self._stop_deadline()
        super().connection_lost(exc)

    def shorten_deadline(self) -> None:
        """Shorten the deadline to `CROWDED_HEADERS_TIMEOUT_S` after the wait began."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = self.loop.call_at(
                self._began + CROWDED_HEADERS_TIMEOUT_S, self.answer_and_close
            )

    def answer_and_close(self, response: bytes = _TIMEOUT_RESPONSE) -> None:
        """Send *response* and close the connection."""
        self._stop_deadline()
        log.debug("No request came from %s", self.address)
        self.transport.write(response)
        self.transport.close()

    def _start_deadline(self) -> None:
        """Start the deadline for a request's headers."""
        self._began = self.loop.time()
        self._deadline = self.loop.call_at(self._began + HEADERS_TIMEOUT_S, self.answer_and_close)
        self._pending.add(self)

    def _stop_deadline(self) -> None:
        self._pending.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def make_connection_factory() -> type[asyncio.Protocol]:
    """Return uvicorn's factory of connections, which share one `PendingConnections`."""
    return cast("type[asyncio.Protocol]", partial(Connection, PendingConnections()))


def serve_http(settings: Settings) -> NoReturn:
    """Serve until a signal ends it.

    Raises
    ------
    NotConfigured
        There is no key, or no public address for a door that is open to the network.
    BadRequest
        The address cannot be listened on, or a setting is of no use.
    """
    _require_public_address(settings)
    build_token_gate(
        settings, build_default_address(settings)
    )  # complain about keys before taking the port
    listening = _open_socket(settings)
    port = listening.getsockname()[1]
    own = build_default_address(settings.model_copy(update={"mcp_http_port": port}))
    log.info("Listening on %s", own, extra={"address": own})
    # uvicorn ends in good order, then raises the signal again. One may come before it is up.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _exit_process())
    library = Library(settings)
    library.upkeep.recheck_daily()
    Server(build_application(library, own)).run(sockets=[listening])
    _exit_process()


class Server(uvicorn.Server):
    """A uvicorn server that logs nothing, limits connections and stops within seconds."""

    def __init__(self, app: ASGIApp) -> None:
        config = uvicorn.Config(
            app,
            http=make_connection_factory(),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # who connected is a fact; a header is a claim
            lifespan="on",
            ws="none",
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=_SHUTDOWN_GRACE_S,
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the shutdown; calls that still run after some seconds are abandoned."""
        super().handle_exit(sig, frame)
        last = threading.Timer(_SHUTDOWN_GRACE_S + 1, _exit_process)
        last.daemon = True
        last.start()


def _exit_process() -> NoReturn:
    """End the process at once, without waiting for downloads; no file is left half written."""
    log.info("Ended")
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def build_application(library: Library, own_address: str) -> ASGIApp:
    """Return the ASGI application of *library*, middleware included."""
    gate = build_token_gate(library.settings, own_address)
    return wrap_server(gate, build(library, gate), library.settings, own_address)


def wrap_server(
    gate: TokenGate, server: FastMCP[Any], settings: Settings, own_address: str
) -> ASGIApp:
    """Return the application of a server behind authorization, limits and request logging."""

    @server.custom_route("/healthz", methods=["GET"])
    async def healthz(_: Request) -> Response:
        """Answer a health check."""
        return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})

    origins = list(settings.mcp_allowed_origins)
    cors = Middleware(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=_ALLOWED_HEADERS,
        expose_headers=["www-authenticate", "mcp-session-id", "retry-after"],
    )
    app = server.http_app(
        ENDPOINT_PATH,
        [
            *([cors] if origins else []),
            Middleware(CallerLimiter),
            Middleware(BodyReader),
            Middleware(ScopeChallenge, gate),
            Middleware(MessageValidator),
            Middleware(NamedSessions),
        ],
        stateless_http=True,
        host_origin_protection=True,
        allowed_hosts=_list_allowed_hosts(settings.mcp_auth_audience, own_address),
        allowed_origins=origins,
    )
    return RequestLog(app)


class RequestLog:
    """Gives each request a name in the logs, and logs the refused ones."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request and log its status: refused requests at INFO, others at DEBUG."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with add_log_fields(request=make_request_name()):
            began = time.monotonic()
            await self._app(scope, receive, note_status)
            level = logging.INFO if status >= 400 else logging.DEBUG
            # The path is theirs to choose; the query may hold a token put there by mistake.
            facts = {"status": status, "seconds": round(time.monotonic() - began, 3)}
            log.log(level, "%s %s: %d", scope["method"], scope["path"][:200], status, extra=facts)


@dataclass(slots=True)
class _CallerLimits:
    """One caller's token bucket, its slots, and the number of its requests that wait."""

    tokens: float = BURST_REQUESTS
    updated_at: float = 0.0
    queued: int = 0
    slots: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(MAX_CONCURRENT_REQUESTS))


class CallerLimiter:
    """Give each caller `BURST_REQUESTS` requests in a row, then `REQUESTS_PER_S`.

    At most `MAX_CONCURRENT_REQUESTS` of them run at once. A request beyond that waits for its turn
    in the order of arrival. A request that would wait longer than `QUEUE_TIMEOUT_S`, or behind
    `MAX_QUEUED_REQUESTS` others, is answered with 429 and Retry-After: few clients send a refused
    request again.

    A caller is the subject of the token. Requests without a valid token share the turns of their
    address and never wait, so that guessing tokens costs other callers nothing. Each process
    counts for itself.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._limits_by_caller: OrderedDict[str, _CallerLimits] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request when the caller's turn has come."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limits = self._get_limits(_get_caller_key(scope))
        if retry_after := await self._wait_for_turn(
            limits, QUEUE_TIMEOUT_S if _get_token(scope) else 0.0
        ):
            headers = {"retry-after": str(max(1, round(retry_after + 0.5)))}
            await _refuse_request(429, "Too many requests; slow down.", headers)(
                scope, receive, send
            )
            return
        try:
            await self._app(scope, receive, send)
        finally:
            limits.slots.release()

    def _get_limits(self, caller: str) -> _CallerLimits:
        """Return a caller's request counter."""
        limits = self._limits_by_caller.setdefault(
            caller, _CallerLimits(updated_at=time.monotonic())
        )
        self._limits_by_caller.move_to_end(caller)
        if len(self._limits_by_caller) > _MAX_REMEMBERED_CALLERS:
            self._limits_by_caller.popitem(last=False)
        return limits

    async def _wait_for_turn(self, limits: _CallerLimits, max_wait_s: float) -> float:
        """Take one of the slots and return 0, or return the seconds after which to ask again."""
        max_wait_s = max_wait_s if limits.queued < MAX_QUEUED_REQUESTS else 0.0
        if (wait := self._reserve_turn(limits, max_wait_s)) > max_wait_s:
            return wait
        if not wait:
            with suppress(anyio.WouldBlock):
                limits.slots.acquire_nowait()
                return 0.0
        limits.queued += 1
        try:
            with anyio.move_on_after(max_wait_s):
                await anyio.sleep(wait)
                await limits.slots.acquire()
                return 0.0
        finally:
            limits.queued -= 1
        return 1.0

    def _reserve_turn(self, limits: _CallerLimits, max_wait_s: float = 0.0) -> float:
        """Return the seconds until the next turn; reserve it if they are within *max_wait_s*."""
        now = time.monotonic()
        limits.tokens = min(
            BURST_REQUESTS, limits.tokens + (now - limits.updated_at) * REQUESTS_PER_S
        )
        limits.updated_at = now
        wait = max(0.0, (1 - limits.tokens) / REQUESTS_PER_S)
        if wait <= max_wait_s:
            limits.tokens -= 1
        return wait


class BodyReader:
    """Reads a body to its end before it is worked on: in bounded memory, in bounded time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request with its whole body."""
        # Without a valid token the body is not read; the gate answers 401.
        if scope["type"] != "http" or not _get_token(scope):
            await self._app(scope, receive, send)
            return
        body = bytearray()
        with anyio.move_on_after(BODY_TIMEOUT_S) as timeout:
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > BODY_MAX_BYTES or not message.get("more_body", False):
                    break
            else:
                return  # gone before the end
        if timeout.cancelled_caught:
            await _refuse_request(408, "The request took too long to arrive.")(scope, receive, send)
        elif len(body) > BODY_MAX_BYTES:
            await _refuse_request(413, "The request is too large.")(scope, receive, send)
        else:
            await self._app(scope, _make_replay(bytes(body), receive), send)


class MessageValidator:
    """Middleware that answers an invalid JSON-RPC body as stdio does, with its id if any."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request if its body is a valid message."""
        if scope["type"] != "http" or scope["method"] != "POST" or not _get_token(scope):
            await self._app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if not (fault := find_fault(body) or _find_empty_body_fault(body)):
            await self._app(scope, _make_replay(body, receive), send)
            return
        error = {"code": fault.code, "message": fault.message}
        content = {"jsonrpc": "2.0", "id": _get_sendable_id(fault.id), "error": error}
        await JSONResponse(content, 400)(scope, receive, send)


def _find_empty_body_fault(body: bytes) -> MessageFault | None:
    """Return the fault of an empty body, else None."""
    return None if body.strip() else describe_invalid_line("")


class ScopeChallenge:
    """Answers a call beyond the scope of its token with the scope that the call needs.

    The tool itself is hidden from such a token (`TokenGate.guarded`); this answer is how a client
    learns what to ask its user for (MCP 2026-07-28, Authorization: 403 ``insufficient_scope``).
    """

    def __init__(self, app: ASGIApp, gate: TokenGate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request unless the token lacks the scope of the tool it calls."""
        token = _get_token(scope)
        if token is None or DOWNLOAD_SCOPE in token.scopes:
            await self._app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        request = _parse_tool_call(body)
        tool = request.get("params", {}).get("name", "")
        if tool not in self._gate.writing_tools:
            await self._app(scope, _make_replay(body, receive), send)
            return
        msg = f"{tool} needs a token with the scope {DOWNLOAD_SCOPE}; this one lacks it."
        refusal = NotConfigured(msg, f"Get one with the scopes {READ_SCOPE} and {DOWNLOAD_SCOPE}.")
        error = {"code": INVALID_REQUEST, "message": str(refusal), "data": refusal.envelope()}
        headers = {"www-authenticate": self._gate.build_challenge("insufficient_scope", msg)}
        content = {"jsonrpc": "2.0", "id": _get_sendable_id(request.get("id")), "error": error}
        await JSONResponse(content, 403, headers)(scope, receive, send)


def _parse_tool_call(body: bytes) -> dict[str, Any]:
    """Return the tool call in a body; empty for any other body."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(request, dict) or request.get("method") != "tools/call":
        return {}
    names_a_tool = isinstance(params := request.get("params"), dict) and isinstance(
        params.get("name"), str
    )
    return request if names_a_tool else {}


def _get_sendable_id(name: object) -> int | str | None:
    """Return the ID of a request; None if it cannot be encoded, such as NaN."""
    if isinstance(name, str) and name == replace_surrogates(name):
        return name
    return name if isinstance(name, int) and not isinstance(name, bool) else None


def _make_replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that repeats a body already read."""
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again


def _refuse_request(status: int, why: str, headers: dict[str, str] | None = None) -> Response:
    # Closed: what is still on its way belongs to the refused request.
    """Return the response to a refused request, and close the connection."""
    always = {"connection": "close", "cache-control": "no-store"}
    return JSONResponse({"error": why}, status, {**always, **(headers or {})})


def _get_token(scope: Scope) -> Any:
    """Return the verified token of a request; None if it has none."""
    return getattr(scope.get("user"), "access_token", None)


def _get_caller_key(scope: Scope) -> str:
    """Return the name under which a caller's requests are counted."""
    if token := _get_token(scope):
        return f"token {token.client_id} {token.subject}"
    client = scope.get("client")
    return f"address {client[0] if client else ''}"


def _list_allowed_hosts(audience: str, own_address: str) -> list[str]:
    """Return the host names by which clients may address the server, besides loopback names."""
    return [host for host in (urlsplit(audience).netloc, urlsplit(own_address).netloc) if host]


def _require_public_address(settings: Settings) -> None:
    """Raise an error if the server would listen on the network without a public address."""
    try:
        loopback = ipaddress.ip_address(settings.mcp_http_host).is_loopback
    except ValueError:
        loopback = settings.mcp_http_host == "localhost"
    if not loopback and not urlsplit(settings.mcp_auth_audience).netloc:
        msg = f"{settings.mcp_http_host} is open to the network, and its public address is unknown."
        hint = "Set MCP_AUTH_AUDIENCE to the address clients use (https://papers.lab.edu/mcp)."
        raise NotConfigured(msg, hint)


def _open_socket(settings: Settings) -> socket.socket:
    """Return a listening socket for the configured address."""
    host, port = settings.mcp_http_host, settings.mcp_http_port
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=MAX_CONNECTIONS)
    except OSError as error:
        msg = f"Cannot listen on {host}, port {port}: {error.strerror or error}."
        raise BadRequest(msg, "Choose another: --host, --port.") from None
