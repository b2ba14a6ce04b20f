"""`Unreachable` errors from what libraries raise: at the site, at a proxy, at a certificate.

The libraries' own messages hold whole URLs, and those may hold keys; none of their text is shown.
Besides the sentence an error has two facts for programs, `lasting` and `trouble` (see
`errors.Unreachable`), and the command that helps, where one does.
"""

from __future__ import annotations

import errno
import http.client
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from urllib3.exceptions import InvalidHeader, ProxyError

from ..errors import Unreachable
from .connections import Damaged, ProxyRefused
from .proxies import Proxy

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
WHO_ISSUED = "Who issued it: server.py doctor."


@dataclass(frozen=True, slots=True)
class _Cause:
    """Why a request failed: words, whether it lasts, the trouble by name, and what to do.

    ``reset``: the other side hung up, as if by chance.
    """

    words: str
    lasting: bool = False
    trouble: str = ""
    hints: tuple[str, ...] = ()
    because: str = ""
    reset: bool = False


def unreachable(error: BaseException, host: str, proxy: Proxy) -> Unreachable:
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
    """What went wrong at the proxy, if it was there."""
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
    """Whether a plain request through a proxy got no connection: then the proxy failed."""
    from urllib3.exceptions import NewConnectionError

    return not proxy.socks and any(isinstance(cause, NewConnectionError) for cause in causes)


def _refusal_cause(
    status: int, headers: Mapping[str, Any], proxy: Proxy, in_place: bool = False
) -> _Cause:
    """What a proxy's own answer means."""
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
    """Why a certificate was refused; the reason is OpenSSL's or the system's own sentence."""
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
