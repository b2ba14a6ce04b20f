"""Listen on the loopback interface, and run the desk until it is interrupted."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from ..errors import BadRequest
from .access import LOOPBACK, Access
from .application import build_application

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..library import Library

_MAX_CONNECTIONS = 200
_GRACE_S = 2


class DeskServer(uvicorn.Server):
    """A server that is bound to its socket."""

    def __init__(self, config: uvicorn.Config, listening: socket.socket) -> None:
        super().__init__(config)
        self._listening = listening

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until the process is asked to end."""
        super().run(sockets or [self._listening])


def build_server(library: Library, port: int, announce: Callable[[str], object]) -> DeskServer:
    """Return the server of a desk, already listening.

    Parameters
    ----------
    library : Library
    port : int
        The port to listen on; 0 for any free port.
    announce : callable
        Called with the first address.

    Raises
    ------
    BadRequest
        The port cannot be listened on.
    """
    listening = _open_socket(port)
    access = Access(listening.getsockname()[1])
    config = uvicorn.Config(
        build_application(library, access),
        http="h11",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_S,
    )
    announce(access.first_address)
    return DeskServer(config, listening)


def serve_desk(library: Library, port: int, announce: Callable[[str], object]) -> None:
    """Run the desk of a library until the process is asked to end; see `build_server`."""
    server = build_server(library, port, announce)
    library.upkeep.recheck_daily()
    server.run()


def _open_socket(port: int) -> socket.socket:
    """Return a listening socket of the loopback interface."""
    try:
        return socket.create_server((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"The desk cannot listen on port {port}: {reason}."
        raise BadRequest(msg, "Leave out --port to use any free port.") from None
