"""One line of the log for each request that was sent, at level debug."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..system.plain_text import shortened
from .answer import redact

if TYPE_CHECKING:
    from .address_policy import Request
    from .connections import RequestContext

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

    >>> from .address_policy import Request
    >>> shown_address(Request("POST", "https://a.org/x", form={"id": [1, 2], "api_key": "1"}))
    'https://a.org/x?id=1&id=2'
    """
    parts = urlsplit(hop.url)
    sent = {**(hop.params or {}), **(hop.form or {})}
    more = urlencode({name: v for name, v in sent.items() if v is not None}, doseq=True)
    pairs = parse_qsl("&".join(filter(None, (parts.query, more))), keep_blank_values=True)
    kept = [(name, v) for name, v in pairs if not name.lower().endswith(_SIGNED)]
    return shortened(redact(urlunsplit(parts._replace(query=urlencode(kept)))), _LONGEST)
