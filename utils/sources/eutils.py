"""How NCBI's E-utilities are spoken to, whichever database is asked.

Not a source of its own: `pubmed` and `pmc` stand on it. Errors hide in answers with status 200,
and the body of an error may hold the API key, so bodies never reach a message.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import NotConfigured, NotOffered, Unreachable
from ..web import Answer, Rate, Web

RATE = Rate(
    bucket="ncbi",
    services=("eutils", "idconv"),
    every=1 / 3,
    every_with_key=0.1,
    key="ncbi_api_key",
)
BATCH = 200
_LONGEST_GET = 1000
_ERROR = re.compile(rb"<ERROR>\s*(.*?)\s*</ERROR>", re.S)


def ask(web: Web, tool: str, params: Mapping[str, Any]) -> Answer:
    """Call one E-utility; a rate limit or backend fault inside a 200 counts as unreachable.

    Parameters
    ----------
    web : Web
    tool : str
        ``esearch``, ``efetch``, …
    params : Mapping
        Blank values are left out: a blank ``api_key`` is answered with status 400.

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
    # A POST keeps the key out of every URL, and is what NCBI asks for beyond 200 identifiers.
    if "api_key" in form or sum(map(len, form.values())) > _LONGEST_GET:
        return web.post(url, form, allow={400}, check=_complain)
    return web.get(url, form, allow={400}, check=_complain)


def error_in(body: bytes) -> str:
    """The text of an ``<ERROR>`` element, empty when there is none."""
    match = _ERROR.search(body[:4000])
    return match[1].decode("utf-8", "replace") if match else ""


def _complain(answer: Answer) -> None:
    """Turn NCBI's errors in disguise into ours. Never quotes the body: it may echo the key."""
    start = answer.body[:2000]
    if b"API rate limit exceeded" in start:
        msg = "NCBI says too many requests came from this address."
        raise Unreachable(msg, "It is being asked more slowly now.", retry_after=2.0, status=429)
    if b"API key" in start and b"invalid" in start:
        msg = "NCBI refuses the API key."
        raise NotConfigured(msg, "Correct NCBI_API_KEY, or unset it.")
    error = error_in(start)
    if error.startswith("Error occurred:") or "Unable to obtain query" in error:
        msg = f"NCBI had trouble of its own: {error}"
        raise Unreachable(msg, "Try again in a minute.")
    if answer.status == 400 and not empty_id_list(answer):
        msg = "NCBI refused the request (status 400)."
        raise NotOffered(msg, "Check the query.", status=400)


def empty_id_list(answer: Answer) -> bool:
    """Whether NCBI found no usable identifier in the list it was sent."""
    return answer.status == 400 and b"list is empty" in answer.body.replace(b"+", b" ")
