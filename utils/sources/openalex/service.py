"""Requests to OpenAlex: the key, the two meanings of its 429, and what a call cost.

Since February 2026 every call but that for a single work is paid from a daily budget: ten cents
for an address, a dollar for a free key. A spent budget and too many requests at once share one
status; the headers tell them apart. https://developers.openalex.org/guides/authentication
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from ...errors import BadRequest, NotConfigured, Unreachable
from ...web import Answer, Web
from ...web.retry import retry_after
from ..loose_json import mapping, mappings, text, whole

_DAY = 86_400
REMEMBERED_DAYS = 1.0


def fetch_work(name: str, fields: str, web: Web, *, kept: bool = False) -> dict[str, Any]:
    """One work by ``doi:…`` or ``pmid:…``, which is free; empty when there is none.

    Raises
    ------
    NotConfigured
        The key is refused.
    Unreachable
        It did not answer; or the day's budget is spent, and it answers no more.
    """
    url = f"{web.settings.address('openalex')}/works/{quote(name, safe=':/')}"
    answer = web.get(
        url,
        {"select": fields},
        headers=_headers(web),
        allow={401, 404, 429},
        check=partial(_check, free=True),
        kept=kept,
    )
    return {} if answer.status == 404 else mapping(answer.json())


def list_works(params: Mapping[str, Any], web: Web) -> tuple[int, list[dict[str, Any]], str]:
    """A page of a list or search: how many works there are, those sent, and what it cost.

    Remembered for a day, because each page is paid for; a page that is remembered costs nothing.

    Raises
    ------
    NotConfigured
        There is no key, or it is refused.
    BadRequest
        OpenAlex cannot read the query.
    Unreachable
        It did not answer; or the day's budget is spent.
    """
    if not web.settings.key("openalex_api_key"):
        msg = "OpenAlex searches only with a key, and OPENALEX_API_KEY is not set."
        raise NotConfigured(msg, "Get a free one at openalex.org, or search another source.")
    name = "&".join(f"{key}={value}" for key, value in sorted(params.items()))
    kept = mapping(web.memory.recall("openalex_list", name))
    if (total := whole(kept.get("total"))) is not None:
        return total, mappings(kept.get("works")), ""
    answer = web.get(
        f"{web.settings.address('openalex')}/works",
        params,
        headers=_headers(web),
        allow={400, 401, 403, 429},
        check=partial(_check, free=False),
    )
    reply = mapping(answer.json())
    total, works = _total(reply), mappings(reply.get("results"))
    kept = {"total": total, "works": works}
    web.memory.keep("openalex_list", name, kept, REMEMBERED_DAYS)
    return total, works, _cost(answer)


def _total(reply: Mapping[str, Any]) -> int:
    """How many works there are; raises without a number, since a guess would lose pages."""
    total = whole(mapping(reply.get("meta")).get("count"))
    if total is None:
        raise Unreachable("OpenAlex did not say how many works there are.", "Try again later.")
    return total


def _headers(web: Web) -> dict[str, str]:
    """The key travels in a header: addresses are shown, logged and remembered."""
    key = web.settings.key("openalex_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _check(answer: Answer, *, free: bool) -> None:
    """Raise for an answer without works: what its status means."""
    if answer.status == 401:
        msg = "OpenAlex refuses the key in OPENALEX_API_KEY."
        raise NotConfigured(msg, "Correct it, or unset it: single works are free without.")
    if answer.status == 429:
        raise _too_much(answer, free=free)
    if answer.status == 404:
        return
    reply = answer.json()
    if answer.status in {400, 403}:
        reason = text(mapping(reply).get("message")) or text(mapping(reply).get("error"))
        msg = f"OpenAlex cannot be asked so: {reason[:200] or answer.status}"
        raise BadRequest(msg, "Ask in plain words; quotes and AND, OR, NOT are understood.")
    if not isinstance(reply, dict) or not (free or isinstance(reply.get("results"), list)):
        raise Unreachable("OpenAlex sent an answer without works.", "Try again later.")
    if not free:
        _total(reply)


def _too_much(answer: Answer, *, free: bool) -> Unreachable:
    """Too many at once, which a short pause mends; or the day's budget is spent.

    A search that cannot be paid is no reason to stay away: single works go on being free.
    """
    pause = retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
    left = _least(answer, "X-RateLimit-Remaining", "X-RateLimit-Remaining-USD")
    # A search may cost more than the little that is left; only the words of the answer say so.
    spent = left is not None and (left <= 0 or b"budget" in answer.body[:2000].lower())
    if not spent:
        details: dict[str, Any] = {"retry_after": pause} if pause else {}
        return Unreachable("OpenAlex answered 429.", status=429, **details)
    until = _least(answer, "X-RateLimit-Reset") or _DAY - time.time() % _DAY
    msg = f"OpenAlex's budget of the day is spent; the next begins in {until / 3600:.1f} hours."
    hint = "Try again after midnight UTC; other sources can be asked now."
    stay = {"retry_after": min(until, _DAY)} if free else {}
    return Unreachable(msg, hint, status=429, lasting=True, **stay)


def _cost(answer: Answer) -> str:
    """What a call cost and what is left, as far as the headers tell."""
    cost = _least(answer, "X-RateLimit-Cost-USD")
    left = _least(answer, "X-RateLimit-Remaining-USD")
    if not cost:
        return ""
    rest = "" if left is None else f"; {left:.3f} are left until midnight UTC"
    return f"OpenAlex charged USD {cost:.4f}{rest}."


def _least(answer: Answer, *names: str) -> float | None:
    """The smallest of the numbers under these headers; None when there is none."""
    found = []
    for name in names:
        try:
            found.append(float(answer.headers.get(name, "")))
        except ValueError:
            continue
    return min((value for value in found if abs(value) < math.inf), default=None)
