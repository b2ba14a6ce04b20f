"""The HTTP layer of the loopback internet: requests, replies and the server."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote

XML, JSON = "text/xml; charset=UTF-8", "application/json"
HTML, TEXT, PDF = "text/html; charset=utf-8", "text/plain; charset=utf-8", "application/pdf"


@dataclass(frozen=True)
class Call:
    """A request on its way to a service; ``path`` is what follows the service's name, unquoted.

    ``raw`` is the whole target as sent, with the query; ``host`` the base URL of the socket.
    """

    at: float
    service: str
    method: str
    path: str
    raw: str
    pairs: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    body: bytes
    host: str

    @property
    def params(self) -> dict[str, str]:
        """The query and form parameters; the last value of a repeated name counts."""
        return dict(self.pairs)

    def header(self, name: str) -> str:
        """Return a header regardless of its case; empty if missing."""
        return self.headers.get(name.lower(), "")


@dataclass
class Reply:
    """A service's reply; ``manner`` selects how the connection misbehaves while sending.

    ``refused``: it says that the host's limit was passed.
    """

    status: int = 200
    body: bytes = b""
    media: str = HTML
    headers: dict[str, str] = field(default_factory=dict)
    manner: str = ""
    stream: Iterator[bytes] | None = None
    refused: bool = False


def text(body: str, media: str = HTML, status: int = 200, **headers: str) -> Reply:
    """Return a reply with text; underscores in header names become hyphens."""
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, body.encode(), media, spelled)


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    """Return a reply with JSON."""
    return text(json.dumps(value, ensure_ascii=False), JSON, status, **headers)


def redirect(where: str, status: int = 302, **headers: str) -> Reply:
    """Return a redirect."""
    return text(
        f'<html><a href="{where}">moved</a></html>', HTML, status, Location=where, **headers
    )


Answer = Callable[[Call], Reply]


class Handler(BaseHTTPRequestHandler):
    """Parses a request, passes it to the server's ``answer`` and sends the reply."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b""
        path, _, query = self.path.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        if "x-www-form-urlencoded" in self.headers.get("Content-Type", ""):
            pairs += parse_qsl(body.decode(errors="replace"), keep_blank_values=True)
        pairs += self.listed(body)
        headers = {name.lower(): value for name, value in self.headers.items()}
        call = Call(
            time.time(),
            "",
            self.command,
            unquote(path),
            self.path,
            tuple(pairs),
            headers,
            body,
            self.server.url,
        )
        self._send(self.server.answer(call))

    do_GET = do_POST = do_HEAD = _serve  # noqa: N815

    def listed(self, body: bytes) -> list[tuple[str, str]]:
        """Return additional parameters from the request's body."""
        return []

    def _send(self, reply: Reply) -> None:
        try:
            self.send(reply)
        except (BrokenPipeError, ConnectionResetError):
            self.server.deserted += 1
            self.close_connection = True

    def send(self, reply: Reply) -> None:
        """Send a reply, with its body if the request expects one."""
        self._head(reply)
        if self.command != "HEAD" and reply.status != 304:
            self.send_body(reply)

    def send_body(self, reply: Reply) -> None:
        """Send the body."""
        if reply.stream is None:
            self.wfile.write(reply.body)
            return
        for chunk in reply.stream:
            self.wfile.write(chunk)

    def _head(self, reply: Reply) -> None:
        self.send_response(reply.status)
        if reply.media:
            self.send_header("Content-Type", reply.media)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.stream is None:
            promised = len(reply.body) * (2 if reply.manner == "truncate" else 1)
            self.send_header("Content-Length", str(promised))
        if reply.stream is not None or reply.manner == "truncate":
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing, because every request is recorded in ``World.requests``."""


class Listener(ThreadingHTTPServer):
    """A server on one loopback port, which acts as a separate host."""

    handler: type[Handler] = Handler
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, answer: Answer) -> None:
        super().__init__(("127.0.0.1", port), self.handler)
        self.answer = answer
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.deserted = 0  # answers whose reader was gone before they ended
        self._closing = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def open(self) -> None:
        """Begin to answer requests."""
        self._thread.start()

    def close(self) -> None:
        """Stop answering requests."""
        self._closing = True
        socket.create_connection(("127.0.0.1", self.server_port)).close()  # it waits for a request
        self._thread.join()
        self.server_close()

    def _serve(self) -> None:
        """Handle one request after the other until the listener is closed."""
        while not self._closing:
            self.handle_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that hangs up."""
