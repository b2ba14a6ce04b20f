"""Requests to arXiv: its rate limit, and what its refusals mean.

One request every three seconds, one at a time, summed over everything a user runs, for the search,
the files and the licenses together. Its refusals are 429, 406 or 503, mostly without
``Retry-After`` and at any rate of requests, and they last. So all processes send it nothing for a
minute, then for two, and the caller gets the error.
https://info.arxiv.org/help/api/tou.html · https://github.com/lukasschwab/arxiv.py/issues/203
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import BadContent, NotOffered, Unreachable
from ...web import Answer, Rate, Web

RATE = Rate(
    "arxiv", ("arxiv", "arxiv_oai"), every=3.0, in_flight=1, penalty=60.0, hosts=("arxiv.org",)
)
REMEMBERED_DAYS = 1.0
"""The index changes at midnight; asking the same more than once a day is against the rules."""

ATOM = "{http://www.w3.org/2005/Atom}"
OPENSEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ENOUGH = frozenset({406, 429, 503})
_ERRORS = "arxiv.org/api/errors"

Check = Callable[[Answer], object]


def ask(
    url: str,
    web: Web,
    params: Mapping[str, Any] | None = None,
    *,
    allow: frozenset[int] = frozenset(),
    check: Check | None = None,
    patient: bool = True,
    kept: bool = False,
) -> Answer:
    """Fetch something from arXiv.

    Parameters
    ----------
    patient
        False where a refusal is to be raised at once and not waited out.
    kept
        See `Web.get`.

    Raises
    ------
    NotOffered
        There is no such thing.
    Unreachable
        arXiv is down, or refuses us for a while; ``retry_after`` is the backoff in seconds.
    """

    def check_refusal(answer: Answer) -> None:
        if answer.status in _ENOUGH:
            pause = web.pace.refused(answer.url)
            msg = f"arXiv answered {answer.status}: it wants to be left alone."
            raise Unreachable(msg, status=answer.status, retry_after=pause, lasting=not patient)
        if check is not None:
            check(answer)

    return web.get(url, params, allow=allow | _ENOUGH, check=check_refusal, kept=kept)


def read_feed(answer: Answer) -> Any:
    """The root of an Atom feed.

    Raises
    ------
    NotOffered
        arXiv refuses the request: a feed with one entry, at status 400 or 200.
    Unreachable
        It is no feed at all.
    """
    from ...formats.safe_xml import parse

    try:
        root = parse(answer.body)
    except BadContent:
        root = None
    if root is None or root.tag != f"{ATOM}feed":
        msg = "arXiv answered with something that is not a feed."
        raise Unreachable(msg, "Try again later.")
    for entry in root.iter(f"{ATOM}entry"):
        if _ERRORS in (entry.findtext(f"{ATOM}id") or ""):
            reason = " ".join((entry.findtext(f"{ATOM}summary") or "no reason given").split())
            msg = f"arXiv refused the request: {reason[:200]}"
            raise NotOffered(msg.rstrip(".") + ".", status=400)
    return root
