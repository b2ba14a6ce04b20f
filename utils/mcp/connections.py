"""Deadlines for connections over HTTP that have not sent a request yet.

uvicorn waits for the headers of a request as long as a byte arrives now and then. Each such
connection counts among those that uvicorn serves: a few hundred would lock out every other caller.

Here headers have a deadline of `HEADERS_S` from the connection, or from the first byte of a later
request. Where more than `PATIENT_OF_ONE` connections of one address wait, or more than `PATIENT`
in all, the deadline of the oldest is shortened to `HURRIED_S`. A caller that opens fifty
connections at once and sends its requests within seconds therefore loses none of them. Above
`MOST_WAITING` connections the oldest is answered with status 429 at once.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

HEADERS_S = 10.0
HURRIED_S = 3.0
PATIENT = 256
PATIENT_OF_ONE = 32
MOST_WAITING = 384
_NO_BODY = b"connection: close\r\ncontent-length: 0\r\n\r\n"
_LATE = b"HTTP/1.1 408 Request Timeout\r\n" + _NO_BODY
_CROWDED = b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\n" + _NO_BODY


class WaitingRoom:
    """The connections of one server whose headers have not arrived yet, the oldest first."""

    def __init__(self) -> None:
        self._all: dict[Connection, None] = {}
        self._patient: dict[Connection, None] = {}
        self._patient_by_address: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> None:
        """Add a connection; shorten the deadline of the oldest where too many wait."""
        of_one = self._patient_by_address.setdefault(connection.address, {})
        self._all[connection] = self._patient[connection] = of_one[connection] = None
        if len(of_one) > PATIENT_OF_ONE:
            self._hurry(next(iter(of_one)))
        elif len(self._patient) > PATIENT:
            self._hurry(next(iter(self._patient)))
        if len(self._all) > MOST_WAITING:
            next(iter(self._all)).give_up(_CROWDED)

    def discard(self, connection: Connection) -> None:
        """Remove a connection."""
        self._all.pop(connection, None)
        self._discard_patient(connection)

    def _hurry(self, connection: Connection) -> None:
        self._discard_patient(connection)
        connection.hurry()

    def _discard_patient(self, connection: Connection) -> None:
        self._patient.pop(connection, None)
        of_one = self._patient_by_address.get(connection.address, {})
        of_one.pop(connection, None)
        if not of_one:
            self._patient_by_address.pop(connection.address, None)


class Connection(H11Protocol):
    """uvicorn's connection, with a deadline for headers."""

    def __init__(self, waiting_room: WaitingRoom, **options: Any) -> None:
        super().__init__(**options)
        self._waiting_room = waiting_room
        self._began = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self.address = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Parse *data*; stop the deadline once the headers are complete."""
        super().data_received(data)
        working = self.cycle is not None and not self.cycle.response_complete
        if working or self.transport.is_closing():
            self._wait_no_more()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        self._wait_no_more()
        super().connection_lost(exc)

    def hurry(self) -> None:
        """Shorten the deadline to `HURRIED_S` after the wait began."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = self.loop.call_at(self._began + HURRIED_S, self.give_up)

    def give_up(self, answer: bytes = _LATE) -> None:
        """Send *answer* and close the connection."""
        self._wait_no_more()
        log.debug("No request came from %s", self.address)
        self.transport.write(answer)
        self.transport.close()

    def _wait(self) -> None:
        self._began = self.loop.time()
        self._deadline = self.loop.call_at(self._began + HEADERS_S, self.give_up)
        self._waiting_room.add(self)

    def _wait_no_more(self) -> None:
        self._waiting_room.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def punctual_connections() -> type[asyncio.Protocol]:
    """Return uvicorn's factory of connections; those of one server share a `WaitingRoom`."""
    return cast("type[asyncio.Protocol]", partial(Connection, WaitingRoom()))
