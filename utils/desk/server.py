"""Listen, and run the desk until it is interrupted.

A desk of this computer listens on the loopback interface only.
"""

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
    from .access import Verify

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


def build_server(
    library: Library,
    port: int,
    announce: Callable[[str], object],
    public_address: str = "",
    verify: Verify | None = None,
) -> DeskServer:
    """Return the server of a desk, already listening.

    Parameters
    ----------
    library : Library
    port : int
        The port to listen on; 0 for any free port.
    announce : callable
        Called with the first address.
    public_address, verify : optional
        Of a remote desk, which listens on the address of the setting ``MCP_HTTP_HOST``; see
        `.access.Access`.

    Raises
    ------
    BadRequest
        The port cannot be listened on, or the public address is not one.
    """
    listening = _open_socket(library.settings.mcp_http_host if verify else LOOPBACK, port)
    try:
        access = Access(listening.getsockname()[1], public_address, verify)
    except BadRequest:
        listening.close()
        raise
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


def serve_desk(
    library: Library,
    port: int,
    announce: Callable[[str], object],
    public_address: str = "",
    verify: Verify | None = None,
) -> None:
    """Run the desk of a library until the process is asked to end; see `build_server`."""
    server = build_server(library, port, announce, public_address, verify)
    library.upkeep.recheck_daily()
    server.run()


def _open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"The desk cannot listen on {host}, port {port}: {reason}."
        raise BadRequest(msg, "Choose another port: --port.") from None
