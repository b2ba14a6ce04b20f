"""Sending one request over a guarded, timed connection. The only file that imports requests.

Three things no option of requests or urllib3 gives, done by subclassing urllib3's connections:
the address is judged when it is connected to (a name that resolves differently the second time
gains nothing), every single read from the socket ends at the deadline (a server that drips a byte a
second cannot keep us, not even in its headers), and nothing is taken from the environment.
"""

from __future__ import annotations

import http.client
import io
import logging
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.util import SKIP_HEADER
from urllib3.util.connection import create_connection

from ..errors import BadContent, NotOffered, Unreachable
from .addresses import Guard, is_public
from .answer import Answer, redact
from .redirects import Hop
from .unpacking import Damaged, Unpacker

_BLOCK = 64 * 1024
_CONNECT = 10.0
_QUIET = 60.0  # seconds without a single byte
_SHORT = 2.0  # seconds a body nobody wants may take
_NAMELESS = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}

# urllib3 logs whole URLs, and ours hold keys.
logging.getLogger("urllib3").setLevel(logging.ERROR)


class Courier:
    """Carries requests for one thread, keeping its connections open.

    Parameters
    ----------
    guard : Guard
        Says which hosts may have a private address.
    """

    def __init__(self, guard: Guard) -> None:
        self._leash = _Leash(guard)
        self._adapter = _Adapter(self._leash)

    def carry(
        self,
        hop: Hop,
        seconds: float,
        limit: int,
        wanted: Callable[[int], bool],
        receiver: Receiver | None = None,
    ) -> Answer:
        """Send *hop* and read the answer, all within *seconds*.

        The body is read only for a status that is *wanted*; it is empty otherwise. A *receiver*
        is shown every block of it as it comes.

        Raises
        ------
        NotOffered
            The address is refused or malformed.
        Unreachable
            No connection, no answer, or only a part of one.
        BadContent
            More than *limit* bytes.
        """
        host = urlsplit(hop.url).netloc
        self._leash.until = time.monotonic() + seconds
        try:
            request = _prepare(hop)
            response = self._adapter.send(
                request,
                stream=True,
                timeout=(min(_CONNECT, seconds), min(_QUIET, seconds)),
                proxies={},
            )
            with closing(response):
                if hop.cookies is not None:
                    hop.cookies.update(response.cookies)
                keep = wanted(response.status_code)
                body = _read(response, limit, receiver) if keep else _drain(response, self._leash)
        except requests.exceptions.InvalidURL:
            msg = f"{host} is not a usable address."
            raise NotOffered(msg) from None
        except (requests.RequestException, HTTPError, OSError, Damaged) as error:
            reason, lasting = _why(error)
            # Not chained: the libraries' messages hold the URL, and the URL may hold a key.
            told: dict[str, Any] = {"lasting": True} if lasting else {}
            raise Unreachable(f"{host} {reason}.", **told) from None
        except _TooLarge:
            msg = f"{host} sent more than {limit / 1e6:.0f} MB; the rest was not read."
            raise BadContent(msg, verdict="not_a_paper", status=response.status_code) from None
        return _answer(response, body)


class Receiver(Protocol):
    """Who keeps a body while it comes, and may have the beginning of it."""

    def begin(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Hear what is about to come; what of the body is there already."""

    def add(self, block: bytes) -> None:
        """Take a block as it was sent."""


def new_cookies() -> RequestsCookieJar:
    """An empty jar for one chain of redirects."""
    return RequestsCookieJar()


class _TooLarge(Exception):
    pass


class _Leash:
    """What the connections of one thread must know about the errand they are on."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.until = 0.0

    def left(self) -> float:
        """Seconds until the deadline."""
        seconds = self.until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the deadline is over")
        return seconds

    def connect(self, connection: HTTPConnection) -> socket.socket:
        """Connect to a permitted address of the host and to no other."""
        host, port = connection.host, connection.port
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError:
            msg = f"{host[:100]} is not a usable host name."
            raise NotOffered(msg) from None
        addresses = [str(info[4][0]) for info in found]
        if not self.guard.trusts(host, port):
            addresses = [address for address in addresses if is_public(address)]
            if not addresses:
                raise self.guard.refuse(host)
        failure: OSError = OSError("no address")
        for address in addresses:
            try:
                return create_connection(
                    (address, port),
                    min(_CONNECT, self.left()),
                    socket_options=connection.socket_options,
                )
            except OSError as error:
                failure = error
        raise failure


class _Timed(io.RawIOBase):
    """A socket's reading end on which no read outlasts the deadline."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, leash: _Leash) -> None:
        self._raw = raw
        self._sock = sock
        self._leash = leash

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(min(_QUIET, self._leash.left()))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    def __init__(self, leash: _Leash, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_Timed(raw, sock, leash))


class _Guarded:
    """What both kinds of connection do differently from urllib3's."""

    def __init__(self, leash: _Leash, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._leash = leash
        self.response_class: Any = partial(_TimedResponse, leash)

    def _new_conn(self) -> socket.socket:
        assert isinstance(self, HTTPConnection)
        try:
            return self._leash.connect(self)
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error


class _GuardedHTTP(_Guarded, HTTPConnection):
    pass


class _GuardedHTTPS(_Guarded, HTTPSConnection):
    pass


class _Manager(urllib3.PoolManager):
    """Pools whose connections are guarded."""

    def __init__(self, leash: _Leash, **options: Any) -> None:
        super().__init__(**options)
        self._leash = leash

    def _new_pool(self, scheme: str, *args: Any, **options: Any) -> Any:
        pool: Any = super()._new_pool(scheme, *args, **options)
        guarded = _GuardedHTTPS if scheme == "https" else _GuardedHTTP
        pool.ConnectionCls = partial(guarded, self._leash)
        return pool


class _Adapter(HTTPAdapter):
    def __init__(self, leash: _Leash) -> None:
        self._leash = leash
        super().__init__(max_retries=urllib3.Retry(0, read=False))

    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **options: Any
    ) -> None:
        self.poolmanager = _Manager(
            self._leash, num_pools=connections, maxsize=maxsize, block=block, **options
        )


def _prepare(hop: Hop) -> requests.PreparedRequest:
    # A header urllib3 would add by itself is kept out unless it was asked for.
    headers = {"Accept-Encoding": SKIP_HEADER, **hop.headers}
    return requests.Request(
        hop.method,
        hop.url,
        headers=headers,
        params=hop.params,
        data=hop.form,
        json=hop.json,
        cookies=hop.cookies,
    ).prepare()


def _read(response: requests.Response, limit: int, receiver: Receiver | None) -> bytes:
    """The whole body, unpacked, at most *limit* bytes of it packed or not."""
    begun = receiver.begin(response.status_code, response.headers) if receiver else b""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and len(begun) + int(announced) > limit:
        raise _TooLarge
    unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
    pieces, taken, size = [begun], len(begun), len(begun)
    for block in _blocks(response.raw):
        if receiver:
            receiver.add(block)
        taken += len(block)
        for piece in unpacker.feed(block):
            pieces.append(piece)
            size += len(piece)
            if max(size, taken) > limit:
                raise _TooLarge
    unpacker.finish()
    return b"".join(pieces)


def _blocks(raw: Any) -> Iterator[bytes]:
    """What each single read of the socket brought."""
    while True:
        # Never more than belongs to this answer: http.client would wait for it.
        block = raw.read1(min(_BLOCK, raw.length_remaining or _BLOCK), decode_content=False)
        if not block:
            return
        yield block


def _drain(response: requests.Response, leash: _Leash) -> bytes:
    """Read a short body away, so that the connection can be used again; or let it go."""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) <= _BLOCK:
        leash.until = min(leash.until, time.monotonic() + _SHORT)
        with suppress(HTTPError, OSError):
            for _ in _blocks(response.raw):
                pass
    return b""


def _answer(response: requests.Response, body: bytes) -> Answer:
    kind = http.client.HTTPMessage()
    kind["Content-Type"] = response.headers.get("Content-Type", "") or "application/octet-stream"
    charset = kind.get_content_charset("")
    return Answer(
        status=response.status_code,
        url=redact(response.url),
        body=body,
        media=kind.get_content_type() if "Content-Type" in response.headers else "",
        charset=charset if isinstance(charset, str) else "",
        headers=response.headers,
    )


def _why(error: BaseException) -> tuple[str, bool]:
    """What happened, in words, and whether asking again cannot help."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, Damaged):
            return f"sent a body that is {cause}", False
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"has a certificate that cannot be trusted ({cause.verify_message})", True
        if isinstance(cause, socket.gaierror):
            return "could not be found by name (DNS)", cause.errno in _NAMELESS
        if isinstance(cause, ConnectionRefusedError):
            return "refused the connection", False
    for kind, words in _WORDS.items():
        if any(isinstance(cause, kind) for cause in causes):
            return words, False
    return "could not be reached", False


_WORDS: dict[type[BaseException], str] = {
    TimeoutError: "did not answer in time",
    ssl.SSLError: "broke off the encrypted connection (TLS)",
    ConnectionError: "broke off the connection",
    http.client.IncompleteRead: "stopped in the middle of its answer",
    http.client.HTTPException: "answered with something that is not HTTP",
    requests.exceptions.InvalidHeader: "answered with headers that contradict each other",
}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and everything it grew out of."""
    todo, done = [error], set()
    while todo:
        one = todo.pop()
        if id(one) in done:
            continue
        done.add(id(one))
        yield one
        grown = [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
        todo.extend(cause for cause in grown if isinstance(cause, BaseException))
