"""Connections over HTTP that must say in good time what they want.

uvicorn waits for the headers of a request as long as somebody sends a byte now and then, and each
such connection counts among those it serves: a few hundred would lock everybody out. Here headers
have a deadline, and where too many are waited for, of one address or of all, those who have kept us
waiting longest give way, so that who sends a request at once is served beside any number of them.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

HEADERS_S = 10.0
"""From the connection, or the first byte of a later request, to the end of its headers."""
MOST_SILENT = 256
MOST_SILENT_OF_ONE = 32
"""Of one address: a proxy sends a request as soon as it has connected."""
_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Silent:
    """The connections whose headers are waited for, the longest waiting first."""

    def __init__(self) -> None:
        self._all: dict[Connection, None] = {}
        self._by_address: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> None:
        """Wait for one more; who waits longest gives way where there are too many."""
        of_one = self._by_address.setdefault(connection.address, {})
        self._all[connection] = of_one[connection] = None
        if len(of_one) > MOST_SILENT_OF_ONE:
            next(iter(of_one)).give_up()
        elif len(self._all) > MOST_SILENT:
            next(iter(self._all)).give_up()

    def discard(self, connection: Connection) -> None:
        """Wait for one less."""
        self._all.pop(connection, None)
        of_one = self._by_address.get(connection.address, {})
        of_one.pop(connection, None)
        if not of_one:
            self._by_address.pop(connection.address, None)


class Connection(H11Protocol):
    """uvicorn's connection, with a deadline for headers."""

    def __init__(self, silent: Silent, **known: Any) -> None:
        super().__init__(**known)
        self._silent = silent
        self._deadline: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take in what came; a request that has its headers is waited for no longer."""
        super().data_received(data)
        working = self.cycle is not None and not self.cycle.response_complete
        if working or self.transport.is_closing():
            self._wait_no_more()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._wait_no_more()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Hang up on somebody who says nothing."""
        self._wait_no_more()
        log.debug("No request came from %s", self.address)
        self.transport.write(_LATE)
        self.transport.close()

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEADERS_S, self.give_up)
        self._silent.add(self)

    def _wait_no_more(self) -> None:
        self._silent.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def punctual_connections() -> type[asyncio.Protocol]:
    """What uvicorn makes a connection with; those of one server give way to each other."""
    return cast("type[asyncio.Protocol]", partial(Connection, Silent()))
