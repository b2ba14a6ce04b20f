"""Connect with urllib3: address checks, deadlines, cancellation, pools, and unpacking.

urllib3 has no options for these, so its connections are subclassed. The address is checked on
connecting, so that a name that resolves differently the second time gains nothing. Every read from
the socket ends at the deadline, even if a server sends one byte a second. Another thread can end
the request, and a proxy's refusal keeps its status and headers.

All threads share the pools; the `RequestContext` of one request travels in the context.

A gzip of 64 kB can unpack to 64 MB. zlib is therefore asked for bounded pieces, so that the reader
can stop after each piece. The end of the stream is checked, because a compressed body that stops
early without a length header would look complete otherwise.
"""

from __future__ import annotations

import concurrent.futures
import http.client
import io
import socket
import ssl
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError

from ..command_line import install_command
from ..errors import Cancelled, NotAvailable, NotConfigured
from .address_policy import AddressPolicy, is_public_address
from .network import Proxy
from .work import Cancellation

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
"""Seconds without a single byte."""
_RESOLVE_POLL_S = 0.2  # between two checks for a cancellation, where no socket can be shut
_HOSTS, _IDLE = 32, 16  # pools, and idle connections of each: the most any site is asked at once
_request_context: ContextVar[RequestContext] = ContextVar("papershelf_request_context")
_PIECE_BYTES = 256 * 1024
_GZIP_BITS = 31  # gzip header and checksum
_WRAPPED, _RAW = 15, -15  # the two things servers mean by "deflate"
_UNSUPPORTED_ENCODINGS = frozenset({"br", "zstd", "compress", "x-compress"})


class ProxyRefused(OSError):
    """A proxy refused to open a tunnel."""

    def __init__(self, status: int, headers: Any) -> None:
        super().__init__(f"the proxy answered {status}")
        self.status = status
        self.headers = headers


class RequestContext:
    """The deadline, address policy and cancellations of one request, for its connections.

    Parameters
    ----------
    guard : Guard
        Decides which hosts may have a private address.
    seconds : float
        The seconds until the deadline.
    cancellations
        The cancellations that can end the request.

    Attributes
    ----------
    status : int
        The status of the answer; 0 before the answer.
    """

    def __init__(
        self,
        address_policy: AddressPolicy,
        seconds: float,
        *cancellations: Cancellation | None,
    ) -> None:
        self.address_policy = address_policy
        self.status = 0
        self.until = time.monotonic() + seconds
        self._cancellations = [one for one in cancellations if one]
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()

    @contextmanager
    def activate(self) -> Iterator[None]:
        """In the block, connections of this thread use the context and can be cancelled."""
        token = _request_context.set(self)
        try:
            with ExitStack() as stack:
                for cancellation in self._cancellations:
                    stack.enter_context(cancellation.abort_on_cancel(self))
                yield
        finally:
            _request_context.reset(token)
            self._close_socket()

    def get_seconds_left(self) -> float:
        """Return the seconds until the deadline.

        Raises
        ------
        Cancelled
            The work was cancelled.
        TimeoutError
            The deadline has passed.
        """
        self.raise_if_cancelled()
        seconds = self.until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the deadline is over")
        return seconds

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if the work was cancelled."""
        if any(one.cancelled for one in self._cancellations):
            raise Cancelled

    def watch_socket(self, sock: Any) -> None:
        """Keep a copy of the socket for `abort`, because a TLS handshake detaches the original."""
        with self._lock:
            self._close_socket()
            self._socket = socket.fromfd(sock.fileno(), socket.AF_INET, socket.SOCK_STREAM)
        self.raise_if_cancelled()

    def abort(self) -> None:
        """Shut the socket, which wakes the thread that reads, writes or connects."""
        with self._lock, suppress(OSError):
            if self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)

    def resolve_host(self, host: str, port: int, patience: float = float("inf")) -> list[Any]:
        """Return the addresses of a host, as `socket.getaddrinfo` returns them.

        The system's resolver can be neither timed nor interrupted, so it runs in its own thread.
        """
        found: concurrent.futures.Future[list[Any]] = concurrent.futures.Future()
        threading.Thread(target=_resolve_into_future, args=(found, host, port), daemon=True).start()
        until = time.monotonic() + patience
        while not found.done():
            if time.monotonic() > until:
                raise TimeoutError("nobody knew the name in time")
            concurrent.futures.wait([found], min(_RESOLVE_POLL_S, self.get_seconds_left()))
        return found.result()

    def _close_socket(self) -> None:
        """Close our copy of the socket."""
        if self._socket:
            self._socket.close()
            self._socket = None


def _resolve_into_future(found: concurrent.futures.Future[list[Any]], host: str, port: int) -> None:
    """Resolve a host, and put the addresses into a future."""
    try:
        found.set_result(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError) as error:
        found.set_exception(error)


class _DeadlineReader(io.RawIOBase):
    """A socket's reading end on which no read outlasts the deadline."""

    def __init__(self, raw: io.RawIOBase, sock: Any) -> None:
        self._raw = raw
        self._sock = sock

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read into a buffer, within the deadline."""
        context = _request_context.get()
        self._sock.settimeout(min(READ_TIMEOUT_S, context.get_seconds_left()))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close the reader and the wrapped reader."""
        if not self.closed:
            self._raw.close()
        super().close()


class _DeadlineResponse(http.client.HTTPResponse):
    """A response whose reads end at the deadline."""

    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        raw = self.fp.detach()
        self.fp = io.BufferedReader(_DeadlineReader(raw, sock))


class _GuardedConnection:
    """Mixin for urllib3's connections: checked addresses, deadlines, cancellation."""

    response_class: Any = _DeadlineResponse

    def __init__(self, proxy: Proxy, /, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._proxy = proxy

    def _new_conn(self) -> socket.socket:
        """Connect to a permitted address, or through a SOCKS proxy."""
        assert isinstance(self, HTTPConnection)
        try:
            if self._proxy.is_socks:
                return _connect_through_socks(self._proxy, self.host, self.port)
            return _connect_to_permitted_address(self, trusted=bool(self._proxy))
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error

    def request(self, *args: Any, **options: Any) -> None:
        """Send a request over a socket that a cancellation can shut."""
        assert isinstance(self, HTTPConnection)
        if self.sock is not None:
            _request_context.get().watch_socket(self.sock)
        super().request(*args, **options)  # type: ignore[misc]

    def _tunnel(self) -> None:
        """Ask the proxy for a tunnel; http.client drops the status and headers of a refusal."""
        assert isinstance(self, HTTPConnection)
        proxy_headers: dict[str, str] = self._tunnel_headers  # type: ignore[attr-defined]
        host = f"[{self._tunnel_host}]" if ":" in str(self._tunnel_host) else self._tunnel_host
        place = f"{host}:{self._tunnel_port}"
        head = {"Host": place, **proxy_headers}
        lines = [f"CONNECT {place} HTTP/1.1", *(f"{name}: {head[name]}" for name in head), "", ""]
        self.send("\r\n".join(lines).encode("latin-1"))
        response = self.response_class(self.sock, method="CONNECT")
        try:
            response.begin()
        finally:
            response.close()
        if not 200 <= response.status < 300:
            self.close()
            raise ProxyRefused(response.status, response.headers)


class _GuardedHTTP(_GuardedConnection, HTTPConnection):
    pass


class _GuardedHTTPS(_GuardedConnection, HTTPSConnection):
    pass


def _connect_to_permitted_address(connection: HTTPConnection, trusted: bool) -> socket.socket:
    """Connect to a permitted address of the host; if *trusted*, to any address."""
    context, host, port = _request_context.get(), connection.host, connection.port
    failure = OSError("no address")
    for family, kind, number, _, address in _resolve_permitted_addresses(
        context, host, port, trusted
    ):
        sock = socket.socket(family, kind, number)
        try:
            for option in connection.socket_options or ():
                sock.setsockopt(*option)
            sock.settimeout(min(CONNECT_TIMEOUT_S, context.get_seconds_left()))
            context.watch_socket(sock)
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failure


def _resolve_permitted_addresses(
    context: RequestContext, host: str, port: int, trusted: bool
) -> list[Any]:
    """Return the addresses of a host that may be connected to."""
    try:
        found = context.resolve_host(host, port)
    except UnicodeError:
        msg = f"{host[:100]} is not a usable host name."
        raise NotAvailable(msg) from None
    if trusted or context.address_policy.is_trusted_host(host, port):
        return found
    public = [info for info in found if is_public_address(str(info[4][0]))]
    if found and not public:
        raise context.address_policy.build_private_address_error(host)
    return public


def _connect_through_socks(proxy: Proxy, host: str, port: int) -> socket.socket:
    """Connect through a SOCKS proxy, to the name or to a permitted address."""
    import socks

    context = _request_context.get()
    target = host
    if not proxy.resolves_names:
        target = str(_resolve_permitted_addresses(context, host, port, trusted=False)[0][4][0])
    sock: socket.socket = socks.socksocket()
    try:
        kind = socks.SOCKS4 if proxy.scheme.startswith("socks4") else socks.SOCKS5
        login = (proxy.user or None, proxy.password or None)
        sock.set_proxy(kind, proxy.host, proxy.port, True, *login)  # type: ignore[attr-defined]
        sock.settimeout(min(CONNECT_TIMEOUT_S, context.get_seconds_left()))
        context.watch_socket(sock)
        sock.connect((target, port))
    except BaseException:
        sock.close()
        raise
    return sock


def require_socks_support(proxy: Proxy) -> None:
    """Raise `NotConfigured` if *proxy* is a SOCKS proxy and PySocks is missing."""
    if not proxy.is_socks:
        return
    try:
        import socks  # noqa: F401 - whether it is there
    except ImportError:
        msg = f"{proxy.variable} is a SOCKS proxy, for which a package is missing."
        hint = f"Install it: {install_command('socks')}"
        raise NotConfigured(msg, hint) from None


def create_connection_pools(
    proxy: Proxy, context: Callable[[], ssl.SSLContext]
) -> urllib3.PoolManager:
    """Return the pools of connections through one *proxy*, for all threads.

    Parameters
    ----------
    context
        Creates the TLS context of a new pool.
    """
    options: dict[str, Any] = {"num_pools": _HOSTS, "maxsize": _IDLE}
    if not proxy or proxy.is_socks:
        return _DirectPools(proxy, context, **options)
    headers = {}
    if proxy.user or proxy.password:
        login = b64encode(f"{proxy.user}:{proxy.password}".encode()).decode()
        headers["Proxy-Authorization"] = f"Basic {login}"
    if proxy.scheme == "https":
        options["proxy_ssl_context"] = context()
    return _ProxyPools(proxy, context, proxy_url=proxy.url, proxy_headers=headers, **options)


class _GuardedPools:
    """Mixin for urllib3's pool managers: their pools make guarded connections."""

    def __init__(self, proxy: Proxy, context: Callable[[], ssl.SSLContext], **options: Any) -> None:
        super().__init__(**options)
        self._proxy = proxy
        self._context = context

    def _new_pool(self, scheme: str, *args: Any, **options: Any) -> Any:
        """Create a pool that makes guarded connections."""
        pool: Any = super()._new_pool(scheme, *args, **options)  # type: ignore[misc]
        if scheme == "https":
            pool.conn_kw["ssl_context"] = self._context()
        guarded = _GuardedHTTPS if scheme == "https" else _GuardedHTTP
        pool.ConnectionCls = partial(guarded, self._proxy)
        return pool


class _DirectPools(_GuardedPools, urllib3.PoolManager):
    pass


class _ProxyPools(_GuardedPools, urllib3.ProxyManager):
    pass


class DamagedBody(Exception):
    """The body does not match its Content-Encoding, or stops too early."""


class Unpacker:
    """Decompresses a body of one Content-Encoding, block by block.

    Parameters
    ----------
    encoding : str
        The header's value. Words that name no compression (``identity``, ``utf-8``) are ignored.

    Raises
    ------
    DamagedBody
        The body is compressed in a way that was not requested, or more than once.
    """

    def __init__(self, encoding: str) -> None:
        codes = [code.strip().lower() for code in encoding.split(",")]
        packed = [
            c for c in codes if c in _UNSUPPORTED_ENCODINGS or c in ("gzip", "x-gzip", "deflate")
        ]
        if len(packed) > 1 or _UNSUPPORTED_ENCODINGS.intersection(packed):
            raise DamagedBody(f"compressed as {', '.join(packed)[:60]}, which was not asked for")
        self._bits = (_WRAPPED if packed == ["deflate"] else _GZIP_BITS) if packed else 0
        self._zip = zlib.decompressobj(self._bits) if packed else None
        self._begun = False

    def unpack(self, block: bytes) -> Iterator[bytes]:
        """Yield the unpacked pieces of *block*, each at most 256 kB."""
        if self._zip is None:
            yield block
            return
        while True:
            piece, block = self._unpack_piece(block)
            if piece:
                yield piece
            if self._zip.eof:
                block = self._start_next_member()
            if not block and len(piece) < _PIECE_BYTES:
                return

    def finish(self) -> None:
        """Check that the compressed stream is complete."""
        if self._zip is not None and self._begun and not self._zip.eof:
            raise DamagedBody("cut off in the middle")

    def _unpack_piece(self, block: bytes) -> tuple[bytes, bytes]:
        """Return the next unpacked piece, and the rest of the block."""
        assert self._zip is not None
        try:
            piece = self._zip.decompress(block, _PIECE_BYTES)
        except zlib.error:
            if self._begun or self._bits != _WRAPPED:
                raise DamagedBody("not compressed the way it says") from None
            self._bits, self._zip = _RAW, zlib.decompressobj(_RAW)
            return self._unpack_piece(block)
        self._begun = self._begun or bool(block)
        return piece, self._zip.unconsumed_tail

    def _start_next_member(self) -> bytes:
        """Start the next member of a gzip stream; ignore other bytes after the end."""
        assert self._zip is not None
        rest = self._zip.unused_data
        if self._bits == _GZIP_BITS and rest.startswith(b"\x1f\x8b"):
            self._zip = zlib.decompressobj(_GZIP_BITS)
            return rest
        return b""
