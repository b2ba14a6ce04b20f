"""What is sent to a site and what comes back: requests, answers, and their line in the log.

Addresses are shown without keys, tokens and addresses of people (`redact`). A caller that wants no
earlier answer (``force``, ``--retry``, another round of a harvest) sets `not_older_than`; the limit
travels in the context of the work.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..errors import Unreachable
from ..system.plain_text import clean_text, clean_values, shortened

if TYPE_CHECKING:
    from .connections import RequestContext

MAX_BYTES = 64 * 1024 * 1024
"""The largest answer we take, in bytes after decompression."""
_OURSELVES = frozenset({"email", "mailto", "tool"})
SECRETS = frozenset({"api_key", "apikey", "key", "token", "access_token"}) | _OURSELVES
"""Query parameters that say who we are; `redact` removes them."""
KEYS = SECRETS - _OURSELVES
"""Those that somebody else could use."""
DAYS = 1.0
"""Days for which an answer is given again to the same request."""
_DAY = 86400.0
_ESCAPE = re.compile(r"\\[ubf]")
_since: ContextVar[float] = ContextVar("papershelf_since", default=0.0)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it will be sent.

    ``cookies`` live as long as the chain of the request's redirects.
    """

    method: str
    url: str
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None
    json: Any = None
    cookies: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of one site, read to its end.

    ``url`` is where it finally came from, without secrets; ``body`` is decompressed; ``media`` is
    the MIME type in lower case without parameters; ``charset`` is what the header said, else empty;
    the names in ``headers`` may be spelled in any case.
    """

    status: int
    url: str
    body: bytes
    media: str = ""
    charset: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """The host, for messages."""
        return urlsplit(self.url).netloc

    def text(self) -> str:
        """The body as clean text: in the charset of the header, else UTF-8, else Windows-1252."""
        return clean_text(self._decoded())

    def _decoded(self) -> str:
        if self.charset:
            try:
                return self.body.decode(self.charset, "replace").removeprefix("\ufeff")
            except (LookupError, ValueError):
                pass  # a charset nobody knows, or one for something else ("idna")
        try:
            return self.body.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.body.decode("cp1252", "replace")

    def json(self) -> Any:
        """The body as JSON with clean texts; raw newlines in them are taken, as E-utilities sends.

        Raises
        ------
        Unreachable
            It is not JSON: some gateway answered in the site's place.
        """
        try:
            text = self.text()
            value = json.loads(text, strict=False)
            # A character that deceives can only be left where it was written as an escape.
            return clean_values(value) if _ESCAPE.search(text) else value
        except (ValueError, RecursionError):
            msg = f"{self.host} answered with something that is not JSON."
            raise Unreachable(msg, status=self.status) from None


def redact(url: str) -> str:
    """*url* without keys, tokens, addresses and user names.

    >>> redact("https://me:pw@a.org/x?db=pmc&api_key=1&email=a%40b.c&id=1%2C2#top")
    'https://a.org/x?db=pmc&id=1%2C2#top'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    query = parts.query
    if names_secrets(query):
        pairs = parse_qsl(query, keep_blank_values=True)
        query = urlencode([pair for pair in pairs if pair[0].lower() not in SECRETS])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def names_secrets(query: str) -> bool:
    """Return whether a query string carries one of the `SECRETS`."""
    return any(name.lower() in SECRETS for name, _ in parse_qsl(query, keep_blank_values=True))


@contextmanager
def not_older_than(at: float) -> Iterator[None]:
    """Inside, no answer is used that was given before *at*, in seconds of `time.time`."""
    token = _since.set(max(at, _since.get()))
    try:
        yield
    finally:
        _since.reset(token)


def is_fresh(at: float, days: float = DAYS) -> bool:
    """Return whether an answer of this time may be used, also if the clock was set back."""
    return at >= _since.get() and abs(time.time() - at) <= days * _DAY


log = logging.getLogger(__name__)
_LONGEST = 1000
# Links to stored objects are good for whoever has them (AWS Signature Version 4, CloudFront).
_SIGNED = ("signature", "credential", "security-token", "policy", "key-pair-id")


@contextmanager
def logged(hop: Request, context: RequestContext) -> Iterator[None]:
    """Log what is sent inside: method, address without keys, status, milliseconds on the wire."""
    if not log.isEnabledFor(logging.DEBUG):
        yield
        return
    began = time.monotonic()
    try:
        yield
    finally:
        about = {
            "method": hop.method,
            "url": shown_address(hop),
            "status": context.status or None,
            "ms": round(1000 * (time.monotonic() - began)),
        }
        words = (hop.method, about["url"], context.status or "no answer", about["ms"])
        log.debug("%s %s: %s, %d ms", *words, extra=about)


def shown_address(hop: Request) -> str:
    """The address of a request with its parameters, also those of a form; without any key.

    >>> shown_address(Request("POST", "https://a.org/x", form={"id": [1, 2], "api_key": "1"}))
    'https://a.org/x?id=1&id=2'
    """
    parts = urlsplit(hop.url)
    sent = {**(hop.params or {}), **(hop.form or {})}
    more = urlencode({name: v for name, v in sent.items() if v is not None}, doseq=True)
    pairs = parse_qsl("&".join(filter(None, (parts.query, more))), keep_blank_values=True)
    kept = [(name, v) for name, v in pairs if not name.lower().endswith(_SIGNED)]
    return shortened(redact(urlunsplit(parts._replace(query=urlencode(kept)))), _LONGEST)
