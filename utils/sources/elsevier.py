"""Fetch full texts as XML from Elsevier's Article Retrieval API, with a text-mining key.

The key is personal; whether a text comes is decided by the network the request comes from, or by
an institutional token besides. Who has no right to an article is answered 200 with its abstract.
The PDF is not asked for: to whom it is closed, its first page is sent as if it were all.
https://dev.elsevier.com/documentation/ArticleRetrievalAPI.wadl
https://dev.elsevier.com/tecdoc_api_authentication.html
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from ..command_line import command_line
from ..errors import NotAvailable, NotConfigured, NotEntitled, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address, Key
from ..readers import elsevier
from .publisher import is_doi_of_host, quote_doi
from .source import TEXT_MINING_TERMS, Route, Source, one_by_one

_HOSTS = ("elsevier.com", "sciencedirect.com", "cell.com", "thelancet.com")
_PREFIXES = ("10.1016/", "10.1053/", "10.1067/", "10.1054/")
_HANDLED_STATUSES = frozenset({400, 401, 403, 404, 406, 429})
_REFUSED_DAYS = 1 / 24
_DAY_S = 86_400.0
_MIN_MILLISECONDS = 1e11  # a moment beyond this is not in seconds: both have been seen


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the article as XML.

    Raises
    ------
    NotAvailable
        It is no article of Elsevier's.
    NotEntitled
        It is one, and this key, token and network have no right to its text.
    NotConfigured
        The key or the token is refused.
    """
    doi = paper.ids.doi
    if not doi.startswith("10.1016/") and not is_doi_of_host(doi, web, _HOSTS):
        raise NotAvailable(f"doi:{doi} leads to another publisher than Elsevier.")
    refused = web.cache.get("elsevier_refuses_us", _hash_credentials(web))
    if refused:
        raise NotEntitled(
            str(refused), f"Correct it, and try again in an hour: {command_line('setup doctor')}"
        )
    url = f"{web.settings.address('elsevier')}/article/doi/{quote_doi(doi)}"
    answer = web.get(
        url,
        headers=_build_headers(web),
        allow=_HANDLED_STATUSES,
        check=lambda a: _check_answer(a, web),
        kept=True,
    )
    yield Fetched(answer.body, "elsevier", answer.url, SOURCE.name, "elsevier", charset="utf-8")


def _build_headers(web: Web) -> dict[str, str]:
    """Return the headers with the key and the token."""
    token = web.settings.key("elsevier_insttoken")
    headers = {"Accept": "text/xml", "X-ELS-APIKey": web.settings.key("elsevier_api_key")}
    return headers | ({"X-ELS-Insttoken": token} if token else {})


def _hash_credentials(web: Web) -> str:
    """Return a hash of key and token, because a refusal applies to these credentials only."""
    from hashlib import sha256

    names = ("elsevier_api_key", "elsevier_insttoken")
    return sha256("\n".join(map(web.settings.key, names)).encode()).hexdigest()[:16]


def _check_answer(answer: Answer, web: Web) -> None:
    """Raise the error for an answer without a text, by the words of the service."""
    said = answer.text()[:2000]
    match answer.status:
        case 200 if not elsevier.has_full_text(answer.body):
            msg = (
                "Elsevier sent the abstract alone: this key and network have no right to the text."
            )
            raise NotEntitled(msg, _build_network_hint(web), status=200)
        case 400 | 404 | 406:
            raise NotAvailable("Elsevier has no such article as XML.", status=answer.status)
        case 401 | 403:
            raise _record_refusal(said, answer.status, web)
        case 429:
            raise _build_quota_error(answer)


def _build_network_hint(web: Web) -> str:
    """Return the hint to ask from another network or with a token."""
    token = "" if web.settings.key("elsevier_insttoken") else ", or set ELSEVIER_INSTTOKEN"
    return f"Ask from your institution's network or VPN{token}."


def _record_refusal(said: str, status: int, web: Web) -> NotEntitled | NotConfigured:
    """Return the error for a refusal of our credentials, and remember it for an hour."""
    refusal: NotEntitled | NotConfigured
    if "does not resolve to an account" in said:
        refusal = NotEntitled(
            "Elsevier does not know this network as a subscriber's.",
            _build_network_hint(web),
            status=status,
        )
    elif "Institution Token" in said:
        msg = "Elsevier says that ELSEVIER_INSTTOKEN does not belong to ELSEVIER_API_KEY."
        refusal = NotConfigured(msg, "Ask the library for a token for this very key.")
    elif status == 401 and "AUTHORIZATION_ERROR" not in said:
        msg = "Elsevier refuses the key in ELSEVIER_API_KEY."
        refusal = NotConfigured(msg, "Correct it: https://dev.elsevier.com/apikey/manage")
    else:
        refusal = NotEntitled(
            "Elsevier does not open its articles to this key, or not in this network.",
            "Have article retrieval enabled for the key (elsevier.support, product ScienceDirect "
            "APIs), or ask from your institution's network.",
            status=status,
        )
    web.cache.put("elsevier_refuses_us", _hash_credentials(web), refusal.message, _REFUSED_DAYS)
    return refusal


def _build_quota_error(answer: Answer) -> Unreachable:
    """Return the error for a 429: the week's quota is used up, or too many requests at once."""
    if "QUOTA_EXCEEDED" not in answer.headers.get("X-ELS-Status", ""):
        return Unreachable("Elsevier answered 429.", status=429)
    seconds = _parse_reset_time(answer.headers.get("X-RateLimit-Reset", ""))
    return Unreachable(
        f"Elsevier's quota of the week is used up; the next begins in {seconds / 3600:.0f} hours.",
        "Other sources can be asked now.",
        status=429,
        lasting=True,
        retry_after=min(seconds, _DAY_S),
    )


def _parse_reset_time(text: str) -> float:
    """Return the seconds until a time in seconds or milliseconds since 1970; a day if invalid."""
    try:
        moment = float(text)
    except ValueError:
        return _DAY_S
    moment = moment / 1000 if moment > _MIN_MILLISECONDS else moment
    return max(1.0, moment - time.time()) if math.isfinite(moment) else _DAY_S


def _check_access(web: Web) -> str:
    """Request an open article to test key and network."""
    if not web.settings.key("elsevier_api_key"):
        web.get(web.settings.address("elsevier"), allow=range(400, 600))
        return ""
    url = f"{web.settings.address('elsevier')}/article/doi/{_OPEN_DOI}"
    answer = web.get(
        url,
        headers=_build_headers(web),
        allow=_HANDLED_STATUSES,
        check=lambda a: _check_answer(a, web),
    )
    left = answer.headers.get("X-RateLimit-Remaining", "")
    return f"opens articles to this key{f'; {left} requests are left this week' if left else ''}"


_OPEN_DOI = "10.1016/j.softx.2015.10.001"  # gold open access: closed to nobody whose key is enabled
SOURCE = Source(
    name="elsevier",
    about="Elsevier's articles as XML, with your own key for text mining",
    addresses=(Address("elsevier", "https://api.elsevier.com/content", "Elsevier"),),
    keys=(
        Key(
            "elsevier_api_key",
            "Elsevier's articles as XML, where your institution subscribes",
            "https://dev.elsevier.com/apikey/manage",
        ),
        Key(
            "elsevier_insttoken",
            "the same articles from outside your institution's network",
            "https://dev.elsevier.com/support.html",
        ),
    ),
    label="DOI",
    rates=(Rate("elsevier", ("elsevier",), every=0.5, in_flight=2),),
    routes=(
        Route(
            "elsevier",
            ("doi",),
            one_by_one(fetch_full_text),
            key="elsevier_api_key",
            share=0.075,
            prefixes=_PREFIXES,
            label="Elsevier (text mining)",
            terms=TEXT_MINING_TERMS,
        ),
    ),
    check_access=_check_access,
)
