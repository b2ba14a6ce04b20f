"""Redirects: where the next request goes, and which headers and keys may go with it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from ..errors import NotOffered
from . import addresses
from .answer import KEYS, Answer, names_secrets

MOST = 10
"""Redirects we follow for one request."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# What may be told to a stranger; every other header may be a key, whatever a publisher calls it.
_HARMLESS = frozenset({"accept", "accept-encoding", "accept-language", "user-agent", "range",
                       "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
                       "if-range"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hop:
    """One request as it will be sent. ``cookies`` live as long as the chain of its redirects."""

    method: str
    url: str
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None
    json: Any = None
    cookies: Any = None


def is_redirect(answer: Answer) -> bool:
    """Whether *answer* is a redirect with an address."""
    return answer.status in _REDIRECTS and "location" in answer.headers


def follow(hop: Hop, answer: Answer) -> Hop:
    """The next request.

    Raises
    ------
    NotOffered
        It would resend a form, show a key over plain HTTP, or leave the web.
    """
    host = urlsplit(hop.url).netloc
    if hop.method != "GET":
        msg = f"{host} redirected a {hop.method} request; it was not sent again."
        raise NotOffered(msg, status=answer.status)
    target = _target(hop.url, answer.headers["location"])
    parts = addresses.parse(target)
    headers = dict(hop.headers)
    if not _same_server(hop.url, target):
        headers = {name: v for name, v in headers.items() if _is_harmless(name)}
    carries = not all(map(_is_harmless, headers)) or names_secrets(parts.query)
    if carries and urlsplit(hop.url).scheme == "https" and parts.scheme == "http":
        msg = f"{host} redirected a request with a key to plain HTTP; it was not followed."
        raise NotOffered(msg, status=answer.status)
    return replace(hop, url=target, params=None, headers=headers)


def carries_key(hop: Hop) -> bool:
    """Whether *hop* holds what only the site itself may see."""
    names = {*(hop.params or ()), *(hop.form or ()), *dict(parse_qsl(urlsplit(hop.url).query))}
    return not all(map(_is_harmless, hop.headers)) or not KEYS.isdisjoint(map(str.lower, names))


def _is_harmless(header: str) -> bool:
    return header.lower() in _HARMLESS


def _same_server(one: str, other: str) -> bool:
    """Whether two URLs lead to one server; its usual plain and encrypted ports are one."""
    here, there = addresses.site(one), addresses.site(other)
    return here[0] == there[0] and (here[1] == there[1] or {here[1], there[1]} == {80, 443})


def _target(base: str, location: str) -> str:
    """Where a Location header leads; http.client reads as Latin-1 what servers send as UTF-8."""
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode()
    try:
        return urldefrag(urljoin(base, location.strip())).url
    except ValueError:
        msg = f"{urlsplit(base).netloc} redirected to something that is no address."
        raise NotOffered(msg) from None
