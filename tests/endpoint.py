"""The HTTP door of a library, on a port of its own, with tokens to come in by."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2

from tests.processes import LAST_RESORT_S
from utils import Library
from utils.mcp.auth import DOWNLOAD_SCOPE, READ_SCOPE, make_token
from utils.mcp.http import Server, build_application

SECRET = "tide-pool limpets hold on with 14 strong feet"
PING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t",
        "version": "0"}},
}  # fmt: skip
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # made once: that takes longer than a request


class Endpoint:
    """A running door; ``with`` closes it. *opened* makes the application of a library."""

    def __init__(
        self, library: Library, opened: Callable[[Library, str], Any] = build_application
    ) -> None:
        self.settings = library.settings
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.url = f"{self.base}/mcp"
        self._server = Server(opened(library, self.url))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def __enter__(self) -> Endpoint:
        self._thread.start()
        patience = time.monotonic() + 30
        while not self._server.started and time.monotonic() < patience:
            threading.Event().wait(0.01)
        assert self._server.started
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(30)
        self._socket.close()

    def token(self, *scopes: str, subject: str = "alice", days: float = 1) -> str:
        return make_token(self.settings, subject, scopes or (READ_SCOPE, DOWNLOAD_SCOPE), days)

    def post(self, token: str = "", body: Any = PING, **headers: str) -> httpx2.Response:
        """One request; *token* is sent as it is."""
        sent = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if token:
            sent["authorization"] = f"Bearer {token}"
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return httpx2.post(
            self.url, content=data, headers=sent, timeout=LAST_RESORT_S, verify=_NO_TLS
        )

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return httpx2.get(
            f"{self.base}{path}", headers=headers, timeout=LAST_RESORT_S, verify=_NO_TLS
        )
