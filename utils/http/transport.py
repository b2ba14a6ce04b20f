"""Sending one request: through which proxy, over which connection, within which time.

The only file that imports requests, for its encoding of URLs, forms and cookies; what it would take
from the environment comes from the settings.
"""

from __future__ import annotations

import http.client
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import requests
import urllib3
from requests.cookies import RequestsCookieJar, extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import HTTPError, LocationValueError
from urllib3.util import SKIP_HEADER, Timeout

from ..errors import BadContent, NotAvailable
from . import trust
from .address_policy import AddressPolicy, Request, carries_key, site
from .answer import Answer, redact
from .cancellation import Cancellation, current
from .connections import CONNECT_S, QUIET_S, Damaged, RequestContext, Unpacker, pools, require_socks
from .failures import proxy_error, unreachable
from .proxies import Proxy, ProxyRules
from .request_log import logged
from .trust import Certificate

if TYPE_CHECKING:
    from ..settings import Settings

_BLOCK = 64 * 1024
_SHORT = 2.0  # seconds a body nobody wants may take

# urllib3 logs whole URLs, and ours hold keys.
logging.getLogger("urllib3").setLevel(logging.ERROR)


class Transport:
    """Sends requests for all threads of a process, over connections that stay open.

    Parameters
    ----------
    settings : Settings
        Which proxies there are, and whose certificates are believed.
    guard : Guard
        Says which hosts may have a private address.
    """

    def __init__(self, settings: Settings, address_policy: AddressPolicy) -> None:
        self._guard = address_policy
        self._context = partial(trust.context, settings)
        self._proxy_rules = ProxyRules(settings)
        self._pools: dict[Proxy, urllib3.PoolManager] = {}
        self._lock = threading.Lock()
        self._all = Cancellation()

    def carry(
        self,
        hop: Request,
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
        NotAvailable
            The address is refused or malformed.
        Unreachable
            No connection, no answer, or only a part of one.
        BadContent
            More than *limit* bytes.
        NotConfigured
            A proxy or a bundle of certificates is named that cannot be used.
        Cancelled
            Somebody ended it.
        """
        with self._active(hop, seconds) as (proxy, context):
            return self._fetch(hop, proxy, context, limit, wanted, receiver)

    def flow(self, hop: Request, seconds: float) -> Iterator[Any]:
        """Send *hop*; first status and headers of the answer, then its body, block by block.

        For what is too large to be held: nothing is unpacked and nothing bounded, but in time.
        Raises what `carry` does. Only one at a time, and to be read, or closed, in one thread.
        """
        with self._active(hop, seconds) as (proxy, context):
            with closing(self._send(_prepare(hop), proxy, context)) as response:
                headers = CaseInsensitiveDict(response.headers)
                host = urlsplit(hop.url).netloc
                if trouble := proxy_error(response.status, headers, host, proxy):
                    raise trouble
                yield response.status, headers
                yield from _blocks(response)
            context.raise_if_cancelled()

    @contextmanager
    def _active(self, hop: Request, seconds: float) -> Iterator[tuple[Proxy, RequestContext]]:
        """What sending *hop* needs; errors of the libraries come out as ours."""
        host, proxy = urlsplit(hop.url).netloc, self._proxy_rules.proxy_for(hop.url)
        context = RequestContext(self._guard, seconds, self._all, current())
        try:
            with context.active(), logged(hop, context):
                self._judge(hop, proxy, context)
                yield proxy, context
        except (requests.exceptions.InvalidURL, LocationValueError):
            msg = f"{host} is not a usable address."
            raise NotAvailable(msg) from None
        except (requests.RequestException, HTTPError, OSError, Damaged) as error:
            context.raise_if_cancelled()  # else it is our own hanging up
            # Not chained: the libraries' messages hold the URL, and the URL may hold a key.
            raise unreachable(error, host, proxy) from None

    def cancel(self) -> None:
        """Cancel every request under way and to come: the process is to end."""
        self._all.cancel()

    def proxy_for(self, url: str) -> Proxy:
        """The proxy for the host of *url*."""
        return self._proxy_rules.proxy_for(url)

    def check(self) -> None:
        """Check that every proxy and bundle of certificates that is named can be used.

        Raises
        ------
        NotConfigured
            One cannot.
        """
        for proxy in self._proxy_rules.all():
            require_socks(proxy)
        self._context()

    def fetch_certificate(self, url: str, seconds: float) -> Certificate:
        """The certificate that whoever answers at *url* shows, trusted or not; sends no request.

        Raises
        ------
        Unreachable
            There is no encrypted connection to be had.
        """
        host, proxy = urlsplit(url).netloc, self._proxy_rules.proxy_for(url)
        manager = pools(proxy, trust.unverifying)
        context = RequestContext(self._guard, seconds, self._all, current())
        try:
            with context.active():
                pool: Any = manager.connection_from_url(url)
                pool.timeout = Timeout(connect=min(CONNECT_S, seconds))
                with closing(pool._new_conn()) as line:  # noqa: SLF001 - never lent, never kept
                    pool._prepare_proxy(line) if pool.proxy else line.connect()  # noqa: SLF001
                    return Certificate.parse(line.sock.getpeercert(binary_form=True))
        except (HTTPError, OSError, ValueError) as error:
            raise unreachable(error, host, proxy) from None

    def _judge(self, hop: Request, proxy: Proxy, context: RequestContext) -> None:
        """Refuse what must not go through a proxy."""
        if proxy and urlsplit(hop.url).scheme == "http" and carries_key(hop):
            msg = (
                f"{proxy.shown} would see the key for {urlsplit(hop.url).netloc}; it was not asked."
            )
            raise NotAvailable(msg, "Ask it by https, or name it in NO_PROXY.", blocked=True)
        if proxy.resolves_names:
            self._guard.require_public_name(*site(hop.url), context.look_up)

    def _fetch(
        self,
        hop: Request,
        proxy: Proxy,
        context: RequestContext,
        limit: int,
        wanted: Callable[[int], bool],
        receiver: Receiver | None,
    ) -> Answer:
        request = _prepare(hop)
        with closing(self._send(request, proxy, context)) as response:
            headers = CaseInsensitiveDict(response.headers)
            if trouble := proxy_error(response.status, headers, urlsplit(hop.url).netloc, proxy):
                raise trouble
            if hop.cookies is not None:
                extract_cookies_to_jar(hop.cookies, request, response)  # type: ignore[no-untyped-call]
            keep = wanted(response.status)
            try:
                body = _read(response, limit, receiver) if keep else _drain(response, context)
            except _TooLarge:
                msg = f"{urlsplit(hop.url).netloc} sent more than {limit / 1e6:.0f} MB; "
                msg += "the rest was not read."
                raise BadContent(msg, verdict="not_a_paper", status=response.status) from None
        context.raise_if_cancelled()  # what was cut off may look complete
        return _answer(request.url or "", response.status, headers, body)

    def _send(
        self, request: requests.PreparedRequest, proxy: Proxy, context: RequestContext
    ) -> Any:
        url = request.url or ""
        forwarded = proxy and not proxy.socks and urlsplit(url).scheme == "http"
        left = context.seconds_left()
        response = (
            self._pools_for(proxy)
            .connection_from_url(url)
            .urlopen(
                request.method or "GET",
                url if forwarded else request.path_url,
                body=request.body,
                headers=request.headers,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
                retries=False,
                timeout=Timeout(connect=min(CONNECT_S, left), read=min(QUIET_S, left)),
            )
        )
        context.status = response.status
        return response

    def _pools_for(self, proxy: Proxy) -> urllib3.PoolManager:
        with self._lock:
            if proxy not in self._pools:
                require_socks(proxy)
                self._pools[proxy] = pools(proxy, self._context)
            return self._pools[proxy]


class Receiver(Protocol):
    """Keeps a body while it comes, and may have the beginning of it."""

    def begin(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Take note of a body that is about to come; what is there of it already."""

    def add(self, block: bytes) -> None:
        """Take a block as it was sent."""


def new_cookies() -> RequestsCookieJar:
    """An empty jar for one chain of redirects."""
    return RequestsCookieJar()


class _TooLarge(Exception):
    pass


def _prepare(hop: Request) -> requests.PreparedRequest:
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


def _read(response: Any, limit: int, receiver: Receiver | None) -> bytes:
    """The whole body, unpacked, at most *limit* bytes of it packed or not."""
    begun = receiver.begin(response.status, response.headers) if receiver else b""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and len(begun) + int(announced) > limit:
        raise _TooLarge
    unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
    pieces, taken, size = [begun], len(begun), len(begun)
    for block in _blocks(response):
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


def _blocks(response: Any) -> Iterator[bytes]:
    """What each single read of the socket brought."""
    while True:
        # Never more than belongs to this answer: http.client would wait for it.
        block = response.read1(min(_BLOCK, response.length_remaining or _BLOCK), False)
        if not block:
            return
        yield block


def _drain(response: Any, context: RequestContext) -> bytes:
    """Read and drop a short body, so that the connection can be used again."""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) <= _BLOCK:
        context.until = min(context.until, time.monotonic() + _SHORT)
        with suppress(HTTPError, OSError):
            for _ in _blocks(response):
                pass
    return b""


def _answer(url: str, status: int, headers: CaseInsensitiveDict[str], body: bytes) -> Answer:
    kind = http.client.HTTPMessage()
    kind["Content-Type"] = headers.get("Content-Type", "") or "application/octet-stream"
    charset = kind.get_content_charset("")
    return Answer(
        status=status,
        url=redact(url),
        body=body,
        media=kind.get_content_type() if "Content-Type" in headers else "",
        charset=charset if isinstance(charset, str) else "",
        headers=headers,
    )
