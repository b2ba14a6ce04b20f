"""How NCBI's E-utilities are spoken to, whichever database is asked.

Not a source of its own: `pubmed` and `pmc` stand on it. Errors hide in answers with status 200,
and the body of an error may hold the API key, so bodies never reach a message.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import BadContent, NotConfigured, NotOffered, Unreachable
from ..web import Answer, Rate, Web

# The limits are 3 and 10 a second; at exactly a third of a second NCBI still refuses now and then.
RATE = Rate(
    bucket="ncbi",
    services=("eutils", "idconv"),
    every=0.4,
    every_with_key=0.11,
    key="ncbi_api_key",
    delay="ncbi_request_delay_ms",
    least=0.36,
)
BATCH = 200
_LONGEST_GET = 1000
_ERROR = re.compile(rb"<ERROR>\s*(.*?)\s*</ERROR>", re.S)


def ask(
    web: Web, tool: str, params: Mapping[str, Any], read: Callable[[Answer], Any] | None = None
) -> Answer:
    """Call one E-utility; a rate limit or backend fault inside a 200 counts as unreachable.

    Parameters
    ----------
    web : Web
    tool : str
        ``esearch``, ``efetch``, …
    params : Mapping
        Blank values are left out: a blank ``api_key`` is answered with status 400.
    read : callable, optional
        Reads the answer while it may still be asked for again: what it finds unreadable
        (`BadContent`) counts as damaged on the way.

    Raises
    ------
    NotConfigured
        No e-mail address is set, or NCBI refuses the key.
    NotOffered
        NCBI will not answer this request.
    Unreachable
        NCBI is down or busy.
    """
    settings = web.settings
    form = {
        **params,
        "tool": settings.ncbi_tool_identifier,
        "email": settings.require_email("NCBI"),
        "api_key": settings.key("ncbi_api_key"),
    }
    form = {name: str(value) for name, value in form.items() if value not in ("", None)}
    url = f"{settings.eutils_base_url}/{tool}.fcgi"

    def check(answer: Answer) -> None:
        _complain(answer)
        if read is None or empty_id_list(answer):
            return
        try:
            read(answer)
        except BadContent as bad:
            msg = f"NCBI's answer arrived damaged: {bad.message}"
            raise Unreachable(msg, "Try again in a minute.") from bad

    # A POST keeps the key out of every URL, and is what NCBI asks for beyond 200 identifiers.
    if "api_key" in form or sum(map(len, form.values())) > _LONGEST_GET:
        return web.post(url, form, allow={400}, check=check)
    return web.get(url, form, allow={400}, check=check)


def _complain(answer: Answer) -> None:
    """Turn NCBI's errors in disguise into ours. Never quotes the body: it may echo the key."""
    start = answer.body[:2000]
    if b"API rate limit exceeded" in start:
        msg = "NCBI says too many requests came from this address."
        raise Unreachable(msg, "It is being asked more slowly now.", retry_after=2.0, status=429)
    if b"API key" in start and b"invalid" in start:
        msg = "NCBI refuses the API key."
        raise NotConfigured(msg, "Correct NCBI_API_KEY, or unset it.")
    match = _ERROR.search(start)
    error = match[1].decode("utf-8", "replace") if match else ""
    if "Unable to obtain query" in error:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    if error and "ist is empty" not in error:
        msg = f"NCBI had trouble of its own: {error}"
        raise Unreachable(msg, "Try again in a minute.")
    if answer.status == 400 and not empty_id_list(answer):
        msg = "NCBI refused the request (status 400)."
        raise NotOffered(msg, "Check the query.", status=400)


def empty_id_list(answer: Answer) -> bool:
    """Whether NCBI found no usable identifier in the list it was sent."""
    return answer.status == 400 and b"list is empty" in answer.body.replace(b"+", b" ")
