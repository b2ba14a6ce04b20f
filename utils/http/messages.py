"""Represent requests and answers, and log them without keys, tokens and personal addresses.

`redact_url` removes keys, tokens and e-mail addresses from URLs. A caller that does not accept
earlier answers (``force``, ``--retry``, another round of a harvest) sets `require_answers_since`;
the limit travels in the context of the work.
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
from ..system.plain_text import clean_json_texts, clean_text, shorten

if TYPE_CHECKING:
    from .connections import RequestContext

MAX_BODY_BYTES = 64 * 1024 * 1024
"""The largest body that is accepted, in bytes after decompression."""
_CLIENT_PARAMETERS = frozenset({"email", "mailto", "tool"})
SECRET_PARAMETERS = (
    frozenset({"api_key", "apikey", "key", "token", "access_token"}) | _CLIENT_PARAMETERS
)
"""Query parameters that identify us; `redact_url` removes them."""
KEY_PARAMETERS = SECRET_PARAMETERS - _CLIENT_PARAMETERS
"""The secret parameters that another person could use."""
ANSWER_DAYS = 1.0
"""Days for which a stored answer is reused for the same request."""
_DAY_S = 86400.0
_ESCAPE = re.compile(r"\\[ubf]")
_since: ContextVar[float] = ContextVar("papershelf_since", default=0.0)


@dataclass(frozen=True, slots=True)
class Request:
    """One request, before it is sent.

    ``cookies`` are kept for the chain of the request's redirects.
    """

    method: str
    url: str
    params: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None
    json: Any = None
    content: bytes | None = None
    cookies: Any = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer of one site, read to its end.

    ``url`` is the final address after redirects, without secrets; ``body`` is decompressed;
    ``media`` is the MIME type in lower case without parameters; ``charset`` is the charset in the
    header, else empty; the names in ``headers`` may be spelled in any case.
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
        """Return the body as clean text: charset of the header, else UTF-8 or Windows-1252."""
        return clean_text(self._decode_body())

    def _decode_body(self) -> str:
        """Return the body as text, before cleaning."""
        if self.charset:
            try:
                return self.body.decode(self.charset, "replace").removeprefix("\ufeff")
            except (LookupError, ValueError):
                pass  # an unknown charset, or a codec for something else ("idna")
        try:
            return self.body.decode("utf-8-sig")
        except UnicodeDecodeError:
            return self.body.decode("cp1252", "replace")

    def json(self) -> Any:
        """Return the body as JSON with clean texts; accept raw newlines in strings (E-utilities).

        Raises
        ------
        Unreachable
            The body is not JSON: a gateway answered instead of the site.
        """
        try:
            text = self.text()
            value = json.loads(text, strict=False)
            # A character that deceives can only be left where it was written as an escape.
            return clean_json_texts(value) if _ESCAPE.search(text) else value
        except (ValueError, RecursionError):
            msg = f"{self.host} answered with something that is not JSON."
            raise Unreachable(msg, status=self.status) from None


def redact_url(url: str) -> str:
    """Return *url* without keys, tokens, e-mail addresses and user names.

    >>> redact_url("https://me:pw@a.org/x?db=pmc&api_key=1&email=a%40b.c&id=1%2C2#top")
    'https://a.org/x?db=pmc&id=1%2C2#top'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    query = parts.query
    if has_secrets(query):
        pairs = parse_qsl(query, keep_blank_values=True)
        query = urlencode([pair for pair in pairs if pair[0].lower() not in SECRET_PARAMETERS])
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def has_secrets(query: str) -> bool:
    """Return whether a query string carries one of the `SECRET_PARAMETERS`."""
    return any(
        name.lower() in SECRET_PARAMETERS for name, _ in parse_qsl(query, keep_blank_values=True)
    )


@contextmanager
def require_answers_since(at: float) -> Iterator[None]:
    """In the block, use no stored answer that is older than *at*, in seconds of `time.time`."""
    token = _since.set(max(at, _since.get()))
    try:
        yield
    finally:
        _since.reset(token)


def is_answer_fresh(at: float, days: float = ANSWER_DAYS) -> bool:
    """Return whether an answer of this age may be used, even if the clock was set back."""
    return at >= _since.get() and abs(time.time() - at) <= days * _DAY_S


log = logging.getLogger(__name__)
_MAX_LOGGED_CHARS = 1000
# Signed links to stored objects work for anyone (AWS Signature Version 4, CloudFront).
_SIGNATURE_PARAMETERS = ("signature", "credential", "security-token", "policy", "key-pair-id")


@contextmanager
def log_request(hop: Request, context: RequestContext) -> Iterator[None]:
    """Log the request sent inside: method, address without keys, status, milliseconds."""
    if not log.isEnabledFor(logging.DEBUG):
        yield
        return
    began = time.monotonic()
    try:
        yield
    finally:
        about = {
            "method": hop.method,
            "url": to_loggable_url(hop),
            "status": context.status or None,
            "ms": round(1000 * (time.monotonic() - began)),
        }
        words = (hop.method, about["url"], context.status or "no answer", about["ms"])
        log.debug("%s %s: %s, %d ms", *words, extra=about)


def to_loggable_url(hop: Request) -> str:
    """Return the URL of a request with its parameters and form fields, without any key.

    >>> to_loggable_url(Request("POST", "https://a.org/x", form={"id": [1, 2], "api_key": "1"}))
    'https://a.org/x?id=1&id=2'
    """
    parts = urlsplit(hop.url)
    sent = {**(hop.params or {}), **(hop.form or {})}
    more = urlencode({name: v for name, v in sent.items() if v is not None}, doseq=True)
    pairs = parse_qsl("&".join(filter(None, (parts.query, more))), keep_blank_values=True)
    kept = [(name, v) for name, v in pairs if not name.lower().endswith(_SIGNATURE_PARAMETERS)]
    return shorten(redact_url(urlunsplit(parts._replace(query=urlencode(kept)))), _MAX_LOGGED_CHARS)
