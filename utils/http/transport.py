"""Sending one request: through which proxy, over which connection, within which time.

`Transport` sends for all threads. The only module that imports requests, for its encoding of URLs,
forms and cookies; what requests would take from the environment comes from the settings.

What the libraries raise becomes `Unreachable` (`unreachable_error`): a failure at the site, at a
proxy, or at a certificate. The libraries' own messages hold whole URLs, and those may hold keys, so
none of their text is shown. Besides its sentence, an error has two facts for programs, ``lasting``
and ``trouble`` (see `errors.Unreachable`), and the command that helps, where one does.
"""

from __future__ import annotations

import errno
import http.client
import logging
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import requests
import urllib3
from requests.cookies import RequestsCookieJar, extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import HTTPError, InvalidHeader, LocationValueError, ProxyError
from urllib3.util import SKIP_HEADER, Timeout

from ..command_line import command_line
from ..errors import BadContent, NotAvailable, Unreachable
from . import network
from .address_policy import AddressPolicy, carries_key, site
from .connections import (
    CONNECT_S,
    QUIET_S,
    Damaged,
    ProxyRefused,
    RequestContext,
    Unpacker,
    pools,
    require_socks,
)
from .messages import Answer, Request, logged, redact
from .network import Certificate, Proxy, ProxyRules
from .work import Cancellation, current_cancellation

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
    address_policy : AddressPolicy
        Says which hosts may have a private address.
    """

    def __init__(self, settings: Settings, address_policy: AddressPolicy) -> None:
        self._guard = address_policy
        self._context = partial(network.tls_context, settings)
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
        """Prepare to send *hop* inside; errors of the libraries are raised as ours."""
        host, proxy = urlsplit(hop.url).netloc, self._proxy_rules.proxy_for(hop.url)
        context = RequestContext(self._guard, seconds, self._all, current_cancellation())
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
            raise unreachable_error(error, host, proxy) from None

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
        manager = pools(proxy, network.unverified_context)
        context = RequestContext(self._guard, seconds, self._all, current_cancellation())
        try:
            with context.active():
                pool: Any = manager.connection_from_url(url)
                pool.timeout = Timeout(connect=min(CONNECT_S, seconds))
                with closing(pool._new_conn()) as line:  # noqa: SLF001 - never lent, never kept
                    pool._prepare_proxy(line) if pool.proxy else line.connect()  # noqa: SLF001
                    return Certificate.parse(line.sock.getpeercert(binary_form=True))
        except (HTTPError, OSError, ValueError) as error:
            raise unreachable_error(error, host, proxy) from None

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
    """Yield the bytes of each read of the socket."""
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


_NAMELESS = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}
# What proxies call themselves in the Server header of pages they write; a site keeps its own.
_PROXIES = re.compile(
    r"squid|tinyproxy|privoxy|proxy|zscaler|blue ?coat|forcepoint|websense|fortigate|ironport"
    r"|mcafee|sophos|barracuda|netskope",
    re.I,
)
# OpenSSL's numbers (x509_vfy.h).
_EXPIRED, _TOO_EARLY, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64

GIVE_CA = (
    "Where the network looks into encrypted traffic, ask its administrators for the certificate "
    "of its authority, and then: export PAPERS_CA_BUNDLE=/path/to/ca.pem"
)
_LET_THROUGH_HINT = (
    "Ask the network's administrators to let it through, or, where it can be reached without the "
    "proxy, add it to NO_PROXY."
)
_NTLM_HINT = (
    "Run px or cntlm on this computer, which do, then: export HTTPS_PROXY=http://127.0.0.1:3128"
)
WHO_ISSUED = f"Who issued it: {command_line('setup doctor')}."


@dataclass(frozen=True, slots=True)
class _Cause:
    """The cause of a failed request: words, whether it lasts, the trouble by name, hints.

    ``reset``: the other side hung up, as if by chance.
    """

    words: str
    lasting: bool = False
    trouble: str = ""
    hints: tuple[str, ...] = ()
    because: str = ""
    reset: bool = False


def unreachable_error(error: BaseException, host: str, proxy: Proxy) -> Unreachable:
    """The error to raise for an *error* of a library during a request to *host*."""
    causes = list(_causes(error))
    if proxy and (at_proxy := _proxy_cause(causes, proxy)):
        return _unreachable_through_proxy(host, at_proxy)
    cause = _site_cause(causes)
    return Unreachable(f"{host} {cause.words}.", *cause.hints, **_facts(cause))


def proxy_error(
    status: int, headers: Mapping[str, Any], host: str, proxy: Proxy
) -> Unreachable | None:
    """The error if a proxy wrote this answer and not the site (over plain HTTP only), else None."""
    wrote = headers.get("X-Squid-Error") or _PROXIES.search(headers.get("Server") or "")
    if status == 407 or (status >= 400 and wrote):
        return _unreachable_through_proxy(
            host, _refusal_cause(status, headers, proxy, in_place=True)
        )
    return None


def _unreachable_through_proxy(host: str, cause: _Cause) -> Unreachable:
    msg = f"{host} was not reached: {cause.words}."
    return Unreachable(msg, *cause.hints, **_facts(replace(cause, because=cause.words)))


def _facts(cause: _Cause) -> dict[str, Any]:
    facts = {name: getattr(cause, name) for name in ("lasting", "trouble", "because", "reset")}
    return {name: fact for name, fact in facts.items() if fact}


def _proxy_cause(causes: list[BaseException], proxy: Proxy) -> _Cause | None:
    """Return the cause if the request failed at the proxy, else None."""
    for cause in causes:
        if isinstance(cause, ProxyRefused):
            return _refusal_cause(cause.status, cause.headers, proxy)
    if proxy.socks and (name := _socks_error(causes)):
        return _socks_cause(name, causes, proxy)
    if not any(isinstance(cause, ProxyError) for cause in causes) and not _failed_to_connect(
        causes, proxy
    ):
        return None
    inner = _site_cause(causes)
    lasting = inner.lasting or inner.trouble == "certificate"
    hints = inner.hints if inner.trouble == "certificate" else (_correction_hint(proxy),)
    return _Cause(f"the proxy {proxy.shown} {inner.words}", lasting, "proxy", hints)


def _failed_to_connect(causes: list[BaseException], proxy: Proxy) -> bool:
    """Return whether a plain request through a proxy got no connection: then the proxy failed."""
    from urllib3.exceptions import NewConnectionError

    return not proxy.socks and any(isinstance(cause, NewConnectionError) for cause in causes)


def _refusal_cause(
    status: int, headers: Mapping[str, Any], proxy: Proxy, in_place: bool = False
) -> _Cause:
    """Return the cause behind a proxy's own answer."""
    who = f"the proxy {proxy.shown}" if proxy else "a proxy that this network puts in between"
    if status == 407:
        return _login_cause(who, headers, proxy)
    if status < 500:
        verb = "answered in its place" if in_place else "does not let us through"
        return _Cause(f"{who} {verb} ({status})", True, "proxy", (_LET_THROUGH_HINT,))
    return _Cause(f"{who} could not reach it either ({status})", False, "proxy")


def _login_cause(who: str, headers: Mapping[str, Any], proxy: Proxy) -> _Cause:
    schemes = str(headers.get("Proxy-Authenticate") or "").lower()
    if schemes and "basic" not in schemes:
        scheme = re.sub(r"[^a-z]", "", schemes.split()[0])[:20] or "something else"
        words = f"{who} wants a login by {scheme}, which Papershelf does not speak (407)"
        return _Cause(words, True, "proxy", (_NTLM_HINT,))
    refused, missing = "refuses that user name and password", "wants a user name and a password"
    words = f"{who} {refused if proxy.user or proxy.password else missing} (407)"
    return _Cause(words, True, "proxy", (_correction_hint(proxy, login=True),))


def _correction_hint(proxy: Proxy, login: bool = False) -> str:
    name = proxy.variable if proxy.variable.isupper() else "HTTPS_PROXY"
    place = f"{proxy.host}:{proxy.port}" if proxy else "HOST:PORT"
    scheme = proxy.scheme or "http"
    if login:
        text = "Give them (in the password @ is written %40, # %23, / %2F, % itself %25)"
        return f"{text}: export {name}={scheme}://USER:PASSWORD@{place}"
    return f"Correct it (export {name}=http://HOST:PORT), or try without: unset {name}"


def _socks_error(causes: list[BaseException]) -> str:
    """The name of PySocks' error; the package may be absent, and then it raised nothing."""
    names = {type(cause).__name__ for cause in causes if type(cause).__module__ == "socks"}
    return min(names, default="")


def _socks_cause(name: str, causes: list[BaseException], proxy: Proxy) -> _Cause:
    text = " ".join(str(cause) for cause in causes if type(cause).__module__ == "socks")
    if "Auth" in name or "authentication" in text:
        words = f"the proxy {proxy.shown} refuses that user name and password"
        return _Cause(words, True, "proxy", (_correction_hint(proxy, login=True),))
    if name == "ProxyConnectionError":
        inner = _site_cause([cause for cause in causes if type(cause).__module__ != "socks"])
        return _Cause(
            f"the proxy {proxy.shown} {inner.words}",
            inner.lasting,
            "proxy",
            (_correction_hint(proxy),),
        )
    if name == "GeneralProxyError" and (proxy.user or proxy.password):
        words = f"the proxy {proxy.shown} hung up, as some do at a wrong user name or password"
        return _Cause(words, False, "proxy", (_correction_hint(proxy, login=True),))
    return _Cause(f"the proxy {proxy.shown} could not reach it either", False, "proxy")


def _site_cause(causes: list[BaseException]) -> _Cause:
    for cause in causes:
        if isinstance(cause, Damaged):
            return _Cause(f"sent a body that is {cause}")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _certificate_cause(cause)
        if isinstance(cause, socket.gaierror):
            lasting = cause.errno in _NAMELESS
            return _Cause("could not be found by name (DNS)", lasting, "name")
        if isinstance(cause, ConnectionRefusedError):
            return _Cause("refused the connection", trouble="silence")
        if isinstance(cause, OSError) and cause.errno in _NO_ROUTE:
            return _Cause("cannot be reached from this network (no route)", trouble="route")
    for kind, words in _WORDS.items():
        if any(isinstance(cause, kind) for cause in causes):
            trouble = "silence" if kind is TimeoutError else ""
            reset = any(isinstance(cause, _RESETS) for cause in causes)
            return _Cause(words, trouble=trouble, reset=reset)
    return _Cause("could not be reached")


def _certificate_cause(error: ssl.SSLCertVerificationError) -> _Cause:
    """Return the cause of a refused certificate, in OpenSSL's or the system's own words."""
    code = getattr(error, "verify_code", 0)
    why = str(getattr(error, "verify_message", "") or error.reason or "not trusted")
    hints: tuple[str, ...] = (WHO_ISSUED, GIVE_CA)  # what is to be pasted comes last
    if code in (_EXPIRED, _TOO_EARLY):
        hints = (WHO_ISSUED, "If this computer's clock is right, the site has to renew it.")
    elif code in (_OTHER_NAME, _OTHER_ADDRESS):
        why = "it is made out to another name"
        hints = ("A login page of this network may stand in its place: open it in a browser.",)
    words = f"has a certificate that cannot be trusted ({why[:120]})"
    return _Cause(words, True, "certificate", hints, why[:120])


_RESETS = (ConnectionError, ssl.SSLEOFError)
_WORDS: dict[type[BaseException], str] = {
    TimeoutError: "did not answer in time",
    ssl.SSLError: "broke off the encrypted connection (TLS)",
    ConnectionError: "broke off the connection",
    http.client.IncompleteRead: "stopped in the middle of its answer",
    http.client.HTTPException: "answered with something that is not HTTP",
    InvalidHeader: "answered with headers that contradict each other",
}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and all its causes."""
    todo, done = [error], set()
    while todo:
        one = todo.pop()
        if id(one) in done:
            continue
        done.add(id(one))
        yield one
        causes = [
            one.__cause__,
            one.__context__,
            getattr(one, "reason", None),
            getattr(one, "socket_err", None),
            *one.args,
        ]
        todo.extend(cause for cause in causes if isinstance(cause, BaseException))
