"""What kept an answer from us, in words: the site, the way to it, or a certificate.

The libraries' own messages hold whole URLs, and those may hold keys; none of their text is shown.
Beside the sentence stand two facts for programs, `lasting` and `trouble` (see
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
from .connections import ProxyRefused
from .proxies import Way
from .unpacking import Damaged

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
_LET_THROUGH = (
    "Ask the network's administrators to let it through, or, where it can be reached without the "
    "proxy, add it to NO_PROXY."
)
_SPEAKS_NTLM = (
    "Run px or cntlm on this computer, which do, then: export HTTPS_PROXY=http://127.0.0.1:3128"
)
WHO_ISSUED = "Who issued it: server.py doctor."


@dataclass(frozen=True, slots=True)
class _Cause:
    """Why: words, whether waiting is in vain, what is in the way, and what to do."""

    words: str
    lasting: bool = False
    trouble: str = ""
    hints: tuple[str, ...] = ()
    because: str = ""


def unreachable(error: BaseException, host: str, way: Way) -> Unreachable:
    """The sentence for an *error* that a library raised on the way to *host*."""
    causes = list(_causes(error))
    if way and (at_proxy := _at_proxy(causes, way)):
        return _not_reached(host, at_proxy)
    cause = _at_site(causes)
    return Unreachable(f"{host} {cause.words}.", *cause.hints, **_facts(cause))


def in_its_place(
    status: int, headers: Mapping[str, Any], host: str, way: Way
) -> Unreachable | None:
    """The error, where a proxy wrote this answer and not the site; shows over plain HTTP only."""
    wrote = headers.get("X-Squid-Error") or _PROXIES.search(headers.get("Server") or "")
    if status == 407 or (status >= 400 and wrote):
        return _not_reached(host, _refused(status, headers, way, in_place=True))
    return None


def _not_reached(host: str, cause: _Cause) -> Unreachable:
    msg = f"{host} was not reached: {cause.words}."
    return Unreachable(msg, *cause.hints, **_facts(replace(cause, because=cause.words)))


def _facts(cause: _Cause) -> dict[str, Any]:
    facts = {"lasting": cause.lasting, "trouble": cause.trouble, "because": cause.because}
    return {name: fact for name, fact in facts.items() if fact}


def _at_proxy(causes: list[BaseException], way: Way) -> _Cause | None:
    """What went wrong at the proxy, if it was there."""
    for cause in causes:
        if isinstance(cause, ProxyRefused):
            return _refused(cause.status, cause.headers, way)
    if way.socks and (name := _socks_error(causes)):
        return _socks(name, causes, way)
    if not any(isinstance(cause, ProxyError) for cause in causes) and not _dialling(causes, way):
        return None
    inner = _at_site(causes)
    lasting = inner.lasting or inner.trouble == "certificate"
    hints = inner.hints if inner.trouble == "certificate" else (_correct(way),)
    return _Cause(f"the proxy {way.shown} {inner.words}", lasting, "proxy", hints)


def _dialling(causes: list[BaseException], way: Way) -> bool:
    """Whether a plain request through a proxy got no connection: then it was the proxy's."""
    from urllib3.exceptions import NewConnectionError

    return not way.socks and any(isinstance(cause, NewConnectionError) for cause in causes)


def _refused(status: int, headers: Mapping[str, Any], way: Way, in_place: bool = False) -> _Cause:
    """What a proxy's own answer means."""
    who = f"the proxy {way.shown}" if way else "a proxy that this network puts in between"
    if status == 407:
        return _login_wanted(who, headers, way)
    if status < 500:
        verb = "answered in its place" if in_place else "does not let us through"
        return _Cause(f"{who} {verb} ({status})", True, "proxy", (_LET_THROUGH,))
    return _Cause(f"{who} could not reach it either ({status})", False, "proxy")


def _login_wanted(who: str, headers: Mapping[str, Any], way: Way) -> _Cause:
    asked = str(headers.get("Proxy-Authenticate") or "").lower()
    if asked and "basic" not in asked:
        scheme = re.sub(r"[^a-z]", "", asked.split()[0])[:20] or "something else"
        words = f"{who} wants a login by {scheme}, which Papershelf does not speak (407)"
        return _Cause(words, True, "proxy", (_SPEAKS_NTLM,))
    refused, missing = "refuses that user name and password", "wants a user name and a password"
    words = f"{who} {refused if way.user or way.password else missing} (407)"
    return _Cause(words, True, "proxy", (_correct(way, login=True),))


def _correct(way: Way, login: bool = False) -> str:
    name = way.variable if way.variable.isupper() else "HTTPS_PROXY"
    place = f"{way.host}:{way.port}" if way else "HOST:PORT"
    scheme = way.scheme or "http"
    if login:
        told = "Give them (in the password @ is written %40, # %23, / %2F, % itself %25)"
        return f"{told}: export {name}={scheme}://USER:PASSWORD@{place}"
    return f"Correct it (export {name}=http://HOST:PORT), or try without: unset {name}"


def _socks_error(causes: list[BaseException]) -> str:
    """The name of PySocks' error; the package may be absent, and then it raised nothing."""
    names = {type(cause).__name__ for cause in causes if type(cause).__module__ == "socks"}
    return min(names, default="")


def _socks(name: str, causes: list[BaseException], way: Way) -> _Cause:
    told = " ".join(str(cause) for cause in causes if type(cause).__module__ == "socks")
    if "Auth" in name or "authentication" in told:
        words = f"the proxy {way.shown} refuses that user name and password"
        return _Cause(words, True, "proxy", (_correct(way, login=True),))
    if name == "ProxyConnectionError":
        inner = _at_site([cause for cause in causes if type(cause).__module__ != "socks"])
        return _Cause(
            f"the proxy {way.shown} {inner.words}", inner.lasting, "proxy", (_correct(way),)
        )
    if name == "GeneralProxyError" and (way.user or way.password):
        words = f"the proxy {way.shown} hung up, as some do at a wrong user name or password"
        return _Cause(words, False, "proxy", (_correct(way, login=True),))
    return _Cause(f"the proxy {way.shown} could not reach it either", False, "proxy")


def _at_site(causes: list[BaseException]) -> _Cause:
    for cause in causes:
        if isinstance(cause, Damaged):
            return _Cause(f"sent a body that is {cause}")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _certificate(cause)
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
            return _Cause(words, trouble=trouble)
    return _Cause("could not be reached")


def _certificate(error: ssl.SSLCertVerificationError) -> _Cause:
    """What a certificate was refused for; the reason is OpenSSL's or the system's own sentence."""
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


_WORDS: dict[type[BaseException], str] = {
    TimeoutError: "did not answer in time",
    ssl.SSLError: "broke off the encrypted connection (TLS)",
    ConnectionError: "broke off the connection",
    http.client.IncompleteRead: "stopped in the middle of its answer",
    http.client.HTTPException: "answered with something that is not HTTP",
    InvalidHeader: "answered with headers that contradict each other",
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
        grown = [
            one.__cause__,
            one.__context__,
            getattr(one, "reason", None),
            getattr(one, "socket_err", None),
            *one.args,
        ]
        todo.extend(cause for cause in grown if isinstance(cause, BaseException))
