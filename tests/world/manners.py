"""How the wire misbehaves: a body in drips, headers that come late, a connection that is reset."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from contextlib import suppress

from utils.demo import wire
from utils.demo.wire import Answer, Reply

# Real seconds, also under a stage clock: a slow body must be slow for the socket that reads it.
_NEVER = threading.Event()


def dawdle(seconds: float) -> None:
    """Wait, also under a stage clock."""
    if seconds:
        _NEVER.wait(seconds)


class Handler(wire.Handler):
    """Sends a reply in its manner."""

    def send(self, reply: Reply) -> None:
        if reply.manner == "reset":
            self._reset()
            return
        if reply.manner == "slow_headers":
            dawdle(3)
        super().send(reply)

    def send_body(self, reply: Reply) -> None:
        if reply.manner != "drip":
            super().send_body(reply)
            return
        for at in range(len(reply.body)):
            self.wfile.write(reply.body[at : at + 1])
            self.wfile.flush()
            dawdle(0.2)

    def _reset(self) -> None:
        """Hang up with RST instead of FIN, in the middle of nothing."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.rfile.close()
        self.connection.close()

    def listed(self, body: bytes) -> list[tuple[str, str]]:
        return _listed(body)


def _listed(body: bytes) -> list[tuple[str, str]]:
    """The names a JSON body lists, as a parameter: a batch of others is another question."""
    if not body.startswith(b'{"ids"'):
        return []
    with suppress(ValueError, TypeError, KeyError):
        return [("ids", ",".join(json.loads(body)["ids"]))]
    return []


class Listener(wire.Listener):
    """A loopback socket that answers in every manner."""

    handler = Handler

    def __init__(self, port: int, answer: Answer, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(port, answer)
        if tls:  # shaken hands with where each is answered, not where all are let in
            # By name: proxies that look into it make out certificates to names.
            self.url = f"https://localhost:{self.server_port}"
            self.socket = tls.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
