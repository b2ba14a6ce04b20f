"""Send one request: choose the proxy and connection, and keep the deadline.

`Transport` sends for all threads. It is the only module that imports requests, for its encoding of
URLs, forms and cookies. Values that requests reads from the environment come from the settings.

Errors of the libraries become `Unreachable` (`build_unreachable_error`): a failure at the site, at
a proxy, or at a certificate. The libraries' own messages hold whole URLs, which may hold keys, so
their text is not shown. Besides its sentence, an error has two facts for programs, ``lasting`` and
``trouble`` (see `errors.Unreachable`), and a command that helps, if there is one.
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
from .address_policy import AddressPolicy, get_host_and_port, has_credentials
from .connections import (
    CONNECT_TIMEOUT_S,
    READ_TIMEOUT_S,
    DamagedBody,
    ProxyRefused,
    RequestContext,
    Unpacker,
    create_connection_pools,
    require_socks_support,
)
from .messages import Answer, Request, log_request, redact_url
from .network import Certificate, Proxy, ProxyRules
from .work import Cancellation, get_cancellation

if TYPE_CHECKING:
    from ..settings import Settings

_BLOCK_BYTES = 64 * 1024
_DRAIN_MAX_S = 2.0  # seconds a body nobody wants may take

# urllib3 logs whole URLs, and ours hold keys.
logging.getLogger("urllib3").setLevel(logging.ERROR)


class Transport:
    """Sends requests for all threads of a process, over connections that stay open.

    Parameters
    ----------
    settings : Settings
        The proxies and the trusted certificates.
    address_policy : AddressPolicy
        Decides which hosts may have a private address.
    """

    def __init__(self, settings: Settings, address_policy: AddressPolicy) -> None:
        self._guard = address_policy
        self._context = partial(network.get_tls_context, settings)
        self._proxy_rules = ProxyRules(settings)
        self._pools: dict[Proxy, urllib3.PoolManager] = {}
        self._lock = threading.Lock()
        self._all = Cancellation()

    def send_request(
        self,
        hop: Request,
        seconds: float,
        limit: int,
        wanted: Callable[[int], bool],
        receiver: Receiver | None = None,
    ) -> Answer:
        """Send *hop* and read the answer, all within *seconds*.

        The body is read only for a status that is *wanted*, and empty otherwise. A *receiver* gets
        every block of the body as it arrives.

        Raises
        ------
        NotAvailable
            The address is rejected or malformed.
        Unreachable
            No connection, no answer, or an incomplete answer.
        BadContent
            The body has more than *limit* bytes.
        NotConfigured
            A named proxy or bundle of certificates is unusable.
        Cancelled
            The work was cancelled.
        """
        with self._open_context(hop, seconds) as (proxy, context):
            return self._send_and_read(hop, proxy, context, limit, wanted, receiver)

    def stream_answer(self, hop: Request, seconds: float) -> Iterator[Any]:
        """Send *hop*; yield status and headers of the answer, then its body, block by block.

        For bodies too large for memory: they are not unpacked, and only their time is limited.
        Raises the same errors as `send_request`. Read or close each stream in one thread.
        """
        with self._open_context(hop, seconds) as (proxy, context):
            with closing(
                self._open_response(_to_prepared_request(hop), proxy, context)
            ) as response:
                headers = CaseInsensitiveDict(response.headers)
                host = urlsplit(hop.url).netloc
                if trouble := find_proxy_error(response.status, headers, host, proxy):
                    raise trouble
                yield response.status, headers
                yield from _read_blocks(response)
            context.raise_if_cancelled()

    @contextmanager
    def _open_context(self, hop: Request, seconds: float) -> Iterator[tuple[Proxy, RequestContext]]:
        """Prepare sending *hop* in the block; convert errors of the libraries to ours."""
        host, proxy = urlsplit(hop.url).netloc, self._proxy_rules.find_proxy(hop.url)
        context = RequestContext(self._guard, seconds, self._all, get_cancellation())
        try:
            with context.activate(), log_request(hop, context):
                self._check_proxy_use(hop, proxy, context)
                yield proxy, context
        except (requests.exceptions.InvalidURL, LocationValueError):
            msg = f"{host} is not a usable address."
            raise NotAvailable(msg) from None
        except (requests.RequestException, HTTPError, OSError, DamagedBody) as error:
            context.raise_if_cancelled()  # else it is our own hanging up
            # Not chained: the libraries' messages hold the URL, and the URL may hold a key.
            raise build_unreachable_error(error, host, proxy) from None

    def cancel_requests(self) -> None:
        """Cancel all present and future requests, because the process is about to end."""
        self._all.cancel()

    def find_proxy(self, url: str) -> Proxy:
        """Return the proxy for the host of *url*."""
        return self._proxy_rules.find_proxy(url)

    def check_configuration(self) -> None:
        """Check that every named proxy and bundle of certificates is usable.

        Raises
        ------
        NotConfigured
            A proxy or bundle is unusable.
        """
        for proxy in self._proxy_rules.list_proxies():
            require_socks_support(proxy)
        self._context()

    def fetch_certificate(self, url: str, seconds: float) -> Certificate:
        """Return the certificate of the server at *url*, trusted or not; send no request.

        Raises
        ------
        Unreachable
            No encrypted connection could be made.
        """
        host, proxy = urlsplit(url).netloc, self._proxy_rules.find_proxy(url)
        manager = create_connection_pools(proxy, network.create_unverified_context)
        context = RequestContext(self._guard, seconds, self._all, get_cancellation())
        try:
            with context.activate():
                pool: Any = manager.connection_from_url(url)
                pool.timeout = Timeout(connect=min(CONNECT_TIMEOUT_S, seconds))
                with closing(pool._new_conn()) as line:  # noqa: SLF001 - never lent, never kept
                    pool._prepare_proxy(line) if pool.proxy else line.connect()  # noqa: SLF001
                    return Certificate.parse(line.sock.getpeercert(binary_form=True))
        except (HTTPError, OSError, ValueError) as error:
            raise build_unreachable_error(error, host, proxy) from None

    def _check_proxy_use(self, hop: Request, proxy: Proxy, context: RequestContext) -> None:
        """Reject a request that must not go through a proxy."""
        if proxy and urlsplit(hop.url).scheme == "http" and has_credentials(hop):
            host = urlsplit(hop.url).netloc
            msg = f"{proxy.description} would see the key for {host}; it was not asked."
            raise NotAvailable(msg, "Use https, or add the host to NO_PROXY.", blocked=True)
        if proxy.resolves_names:
            self._guard.require_public_name(*get_host_and_port(hop.url), context.resolve_host)

    def _send_and_read(
        self,
        hop: Request,
        proxy: Proxy,
        context: RequestContext,
        limit: int,
        wanted: Callable[[int], bool],
        receiver: Receiver | None,
    ) -> Answer:
        """Send a request and return the answer, with its body if it is wanted."""
        request = _to_prepared_request(hop)
        with closing(self._open_response(request, proxy, context)) as response:
            headers = CaseInsensitiveDict(response.headers)
            if trouble := find_proxy_error(
                response.status, headers, urlsplit(hop.url).netloc, proxy
            ):
                raise trouble
            if hop.cookies is not None:
                extract_cookies_to_jar(hop.cookies, request, response)  # type: ignore[no-untyped-call]
            keep = wanted(response.status)
            try:
                body = (
                    _read_body(response, limit, receiver)
                    if keep
                    else _discard_body(response, context)
                )
            except _TooLarge:
                msg = f"{urlsplit(hop.url).netloc} sent more than {limit / 1e6:.0f} MB; "
                msg += "the rest was not read."
                raise BadContent(msg, verdict="not_a_paper", status=response.status) from None
        context.raise_if_cancelled()  # what was cut off may look complete
        return _to_answer(request.url or "", response.status, headers, body)

    def _open_response(
        self, request: requests.PreparedRequest, proxy: Proxy, context: RequestContext
    ) -> Any:
        """Send a request and return the unread response."""
        url = request.url or ""
        forwarded = proxy and not proxy.is_socks and urlsplit(url).scheme == "http"
        left = context.get_seconds_left()
        response = (
            self._get_pools(proxy)
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
                timeout=Timeout(
                    connect=min(CONNECT_TIMEOUT_S, left), read=min(READ_TIMEOUT_S, left)
                ),
            )
        )
        context.status = response.status
        return response

    def _get_pools(self, proxy: Proxy) -> urllib3.PoolManager:
        """Return the pools of connections through a proxy."""
        with self._lock:
            if proxy not in self._pools:
                require_socks_support(proxy)
                self._pools[proxy] = create_connection_pools(proxy, self._context)
            return self._pools[proxy]


class Receiver(Protocol):
    """Stores a body as it arrives, and may have its beginning already."""

    def begin_body(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Prepare for a new body; return the bytes that are stored already."""

    def append_block(self, block: bytes) -> None:
        """Store a block as it was sent."""


def create_cookie_jar() -> RequestsCookieJar:
    """Return an empty cookie jar for one chain of redirects."""
    return RequestsCookieJar()


class _TooLarge(Exception):
    """The body is larger than the limit."""


def _to_prepared_request(hop: Request) -> requests.PreparedRequest:
    """Return the request in the form of the requests library."""
    # A header urllib3 would add by itself is kept out unless it was asked for.
    headers = {"Accept-Encoding": SKIP_HEADER, **hop.headers}
    return requests.Request(
        hop.method,
        hop.url,
        headers=headers,
        params=hop.params,
        data=hop.form if hop.content is None else hop.content,
        json=hop.json,
        cookies=hop.cookies,
    ).prepare()


def _read_body(response: Any, limit: int, receiver: Receiver | None) -> bytes:
    """Return the whole unpacked body; raise `_TooLarge` above *limit* bytes, packed or not."""
    begun = receiver.begin_body(response.status, response.headers) if receiver else b""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and len(begun) + int(announced) > limit:
        raise _TooLarge
    unpacker = Unpacker(response.headers.get("Content-Encoding", ""))
    pieces, taken, size = [begun], len(begun), len(begun)
    for block in _read_blocks(response):
        if receiver:
            receiver.append_block(block)
        taken += len(block)
        for piece in unpacker.unpack(block):
            pieces.append(piece)
            size += len(piece)
            if max(size, taken) > limit:
                raise _TooLarge
    unpacker.finish()
    return b"".join(pieces)


def _read_blocks(response: Any) -> Iterator[bytes]:
    """Yield the bytes of each read of the socket."""
    while True:
        # Never more than belongs to this answer: http.client would wait for it.
        block = response.read1(min(_BLOCK_BYTES, response.length_remaining or _BLOCK_BYTES), False)
        if not block:
            return
        yield block


def _discard_body(response: Any, context: RequestContext) -> bytes:
    """Read and discard a short body, so that the connection can be used again."""
    announced = response.headers.get("Content-Length", "")
    if announced.isdigit() and int(announced) <= _BLOCK_BYTES:
        context.until = min(context.until, time.monotonic() + _DRAIN_MAX_S)
        with suppress(HTTPError, OSError):
            for _ in _read_blocks(response):
                pass
    return b""


def _to_answer(url: str, status: int, headers: CaseInsensitiveDict[str], body: bytes) -> Answer:
    """Return an answer from the parts of a response."""
    kind = http.client.HTTPMessage()
    kind["Content-Type"] = headers.get("Content-Type", "") or "application/octet-stream"
    charset = kind.get_content_charset("")
    return Answer(
        status=status,
        url=redact_url(url),
        body=body,
        media=kind.get_content_type() if "Content-Type" in headers else "",
        charset=charset if isinstance(charset, str) else "",
        headers=headers,
    )


_UNKNOWN_NAME_CODES = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_NO_ROUTE_CODES = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL}
# What proxies call themselves in the Server header of pages they write; a site keeps its own.
_PROXY_SERVERS = re.compile(
    r"squid|tinyproxy|privoxy|proxy|zscaler|blue ?coat|forcepoint|websense|fortigate|ironport"
    r"|mcafee|sophos|barracuda|netskope",
    re.I,
)
# OpenSSL's numbers (x509_vfy.h).
_EXPIRED, _TOO_EARLY, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64

CA_BUNDLE_HINT = (
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
ISSUER_HINT = f"Who issued it: {command_line('setup doctor')}."


@dataclass(frozen=True, slots=True)
class _Cause:
    """The cause of a failed request: description, permanence, kind of trouble, hints.

    ``reset`` is True if the other side closed the connection, probably by chance.
    """

    words: str
    lasting: bool = False
    trouble: str = ""
    hints: tuple[str, ...] = ()
    because: str = ""
    reset: bool = False


def build_unreachable_error(error: BaseException, host: str, proxy: Proxy) -> Unreachable:
    """Return the error for a library's *error* during a request to *host*."""
    causes = list(_list_causes(error))
    if proxy and (at_proxy := _find_proxy_cause(causes, proxy)):
        return _build_proxy_error(host, at_proxy)
    cause = _find_site_cause(causes)
    return Unreachable(f"{host} {cause.words}.", *cause.hints, **_to_details(cause))


def find_proxy_error(
    status: int, headers: Mapping[str, Any], host: str, proxy: Proxy
) -> Unreachable | None:
    """Return the error if a proxy wrote this answer, not the site (plain HTTP only), else None."""
    wrote = headers.get("X-Squid-Error") or _PROXY_SERVERS.search(headers.get("Server") or "")
    if status == 407 or (status >= 400 and wrote):
        return _build_proxy_error(host, _find_refusal_cause(status, headers, proxy, in_place=True))
    return None


def _build_proxy_error(host: str, cause: _Cause) -> Unreachable:
    """Return the error for a host that was not reached because of a proxy."""
    msg = f"{host} was not reached: {cause.words}."
    return Unreachable(msg, *cause.hints, **_to_details(replace(cause, because=cause.words)))


def _to_details(cause: _Cause) -> dict[str, Any]:
    """Return the details of an error, without empty ones."""
    facts = {name: getattr(cause, name) for name in ("lasting", "trouble", "because", "reset")}
    return {name: fact for name, fact in facts.items() if fact}


def _find_proxy_cause(causes: list[BaseException], proxy: Proxy) -> _Cause | None:
    """Return the cause if the request failed at the proxy, else None."""
    for cause in causes:
        if isinstance(cause, ProxyRefused):
            return _find_refusal_cause(cause.status, cause.headers, proxy)
    if proxy.is_socks and (name := _find_socks_error(causes)):
        return _find_socks_cause(name, causes, proxy)
    if not any(isinstance(cause, ProxyError) for cause in causes) and not _has_no_proxy_connection(
        causes, proxy
    ):
        return None
    inner = _find_site_cause(causes)
    lasting = inner.lasting or inner.trouble == "certificate"
    hints = inner.hints if inner.trouble == "certificate" else (_build_correction_hint(proxy),)
    return _Cause(f"the proxy {proxy.description} {inner.words}", lasting, "proxy", hints)


def _has_no_proxy_connection(causes: list[BaseException], proxy: Proxy) -> bool:
    """Return whether a plain request through a proxy got no connection: the proxy failed."""
    from urllib3.exceptions import NewConnectionError

    return not proxy.is_socks and any(isinstance(cause, NewConnectionError) for cause in causes)


def _find_refusal_cause(
    status: int, headers: Mapping[str, Any], proxy: Proxy, in_place: bool = False
) -> _Cause:
    """Return the cause of a proxy's own error answer."""
    who = f"the proxy {proxy.description}" if proxy else "a proxy that this network puts in between"
    if status == 407:
        return _find_login_cause(who, headers, proxy)
    if status < 500:
        verb = "answered in its place" if in_place else "does not let us through"
        return _Cause(f"{who} {verb} ({status})", True, "proxy", (_LET_THROUGH_HINT,))
    return _Cause(f"{who} could not reach it either ({status})", False, "proxy")


def _find_login_cause(who: str, headers: Mapping[str, Any], proxy: Proxy) -> _Cause:
    """Return the cause of a proxy's 407: a missing, wrong or unsupported login."""
    schemes = str(headers.get("Proxy-Authenticate") or "").lower()
    if schemes and "basic" not in schemes:
        scheme = re.sub(r"[^a-z]", "", schemes.split()[0])[:20] or "something else"
        words = f"{who} wants a login by {scheme}, which Papershelf does not speak (407)"
        return _Cause(words, True, "proxy", (_NTLM_HINT,))
    refused, missing = "refuses that user name and password", "wants a user name and a password"
    words = f"{who} {refused if proxy.user or proxy.password else missing} (407)"
    return _Cause(words, True, "proxy", (_build_correction_hint(proxy, login=True),))


def _build_correction_hint(proxy: Proxy, login: bool = False) -> str:
    """Return the command that corrects the setting of a proxy."""
    name = proxy.variable if proxy.variable.isupper() else "HTTPS_PROXY"
    place = f"{proxy.host}:{proxy.port}" if proxy else "HOST:PORT"
    scheme = proxy.scheme or "http"
    if login:
        text = "Give them (in the password @ is written %40, # %23, / %2F, % itself %25)"
        return f"{text}: export {name}={scheme}://USER:PASSWORD@{place}"
    return f"Correct it (export {name}=http://HOST:PORT), or try without: unset {name}"


def _find_socks_error(causes: list[BaseException]) -> str:
    """Return the class name of the first PySocks error among *causes*, or ""."""
    names = {type(cause).__name__ for cause in causes if type(cause).__module__ == "socks"}
    return min(names, default="")


def _find_socks_cause(name: str, causes: list[BaseException], proxy: Proxy) -> _Cause:
    """Return the cause of a failure at a SOCKS proxy."""
    text = " ".join(str(cause) for cause in causes if type(cause).__module__ == "socks")
    if "Auth" in name or "authentication" in text:
        words = f"the proxy {proxy.description} refuses that user name and password"
        return _Cause(words, True, "proxy", (_build_correction_hint(proxy, login=True),))
    if name == "ProxyConnectionError":
        inner = _find_site_cause([cause for cause in causes if type(cause).__module__ != "socks"])
        return _Cause(
            f"the proxy {proxy.description} {inner.words}",
            inner.lasting,
            "proxy",
            (_build_correction_hint(proxy),),
        )
    if name == "GeneralProxyError" and (proxy.user or proxy.password):
        words = (
            f"the proxy {proxy.description} hung up, as some do at a wrong user name or password"
        )
        return _Cause(words, False, "proxy", (_build_correction_hint(proxy, login=True),))
    return _Cause(f"the proxy {proxy.description} could not reach it either", False, "proxy")


def _find_site_cause(causes: list[BaseException]) -> _Cause:
    """Return the cause of a failure at the site itself."""
    for cause in causes:
        if isinstance(cause, DamagedBody):
            return _Cause(f"sent a body that is {cause}")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _find_certificate_cause(cause)
        if isinstance(cause, socket.gaierror):
            lasting = cause.errno in _UNKNOWN_NAME_CODES
            return _Cause("could not be found by name (DNS)", lasting, "name")
        if isinstance(cause, ConnectionRefusedError):
            return _Cause("refused the connection", trouble="silence")
        if isinstance(cause, OSError) and cause.errno in _NO_ROUTE_CODES:
            return _Cause("cannot be reached from this network (no route)", trouble="route")
    for kind, words in _WORDS_BY_ERROR.items():
        if any(isinstance(cause, kind) for cause in causes):
            trouble = "silence" if kind is TimeoutError else ""
            reset = any(isinstance(cause, _RESET_ERRORS) for cause in causes)
            return _Cause(words, trouble=trouble, reset=reset)
    return _Cause("could not be reached")


def _find_certificate_cause(error: ssl.SSLCertVerificationError) -> _Cause:
    """Return the cause of a rejected certificate, in OpenSSL's or the system's own words."""
    code = getattr(error, "verify_code", 0)
    why = str(getattr(error, "verify_message", "") or error.reason or "not trusted")
    hints: tuple[str, ...] = (ISSUER_HINT, CA_BUNDLE_HINT)  # what is to be pasted comes last
    if code in (_EXPIRED, _TOO_EARLY):
        hints = (ISSUER_HINT, "If this computer's clock is right, the site has to renew it.")
    elif code in (_OTHER_NAME, _OTHER_ADDRESS):
        why = "it is made out to another name"
        hints = ("This network may show a login page instead: open it in a browser.",)
    words = f"has a certificate that cannot be trusted ({why[:120]})"
    return _Cause(words, True, "certificate", hints, why[:120])


_RESET_ERRORS = (ConnectionError, ssl.SSLEOFError)
_WORDS_BY_ERROR: dict[type[BaseException], str] = {
    TimeoutError: "did not answer in time",
    ssl.SSLError: "broke off the encrypted connection (TLS)",
    ConnectionError: "broke off the connection",
    http.client.IncompleteRead: "stopped in the middle of its answer",
    http.client.HTTPException: "answered with something that is not HTTP",
    InvalidHeader: "answered with headers that contradict each other",
}


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and all its causes."""
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
