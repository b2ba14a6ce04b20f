"""Read publishers' pages that need a browser, through Jina Reader.

Its answer has status 200 whatever the publisher answered; the real status stands in its
``Warning:`` lines, which `..readers.plain_markdown` reads. Never pointed at NCBI, Europe PMC or
arXiv.
https://jina.ai/reader · https://github.com/jina-ai/reader
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import NotAvailable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address, Key
from .publisher import find_landing_page
from .source import Route, Source, one_by_one

_REFUSALS = {
    401: "asks for a key (networks of clouds and universities are often refused without one)",
    402: "says the key has no tokens left",
    403: "refuses this address for now",
    409: "says the page is larger than the budget",
    413: "says the page is too large",
    422: "found no content there",
    451: "is not allowed to read that site without a key",
}
_MAX_PAGES = 3
# These are about us, not about the page: asking for the next paper would only be refused again.
_ACCOUNT_STATUSES = frozenset({401, 402})
_REFUSAL_DAYS = 1 / 24


def fetch_page(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch the publisher's page as markdown, as Jina's browser renders it.

    Raises
    ------
    NotAvailable
        Jina Reader will not read that page for us.
    """
    target = find_landing_page(paper.ids.doi, web)
    web.address_policy.require_open_to_programs(target)
    _raise_if_refused(web)
    answer = web.get(
        f"{web.settings.address('jina_reader')}/{target}",
        headers={"Accept": "text/plain", **_build_auth_header(web)},
        allow=_REFUSALS,
        kept=True,
    )
    _check_status(answer, target, web)
    yield _to_fetched(answer.body, target, "jina")


def fetch_found_pages(paper: Paper, web: Web) -> Iterator[Fetched]:
    """Fetch pages found by a web search for the title; needs a key.

    Raises
    ------
    NotAvailable
        No key is set, or Jina will not search for us.
    """
    if not paper.title:
        msg = "Without a title there is nothing to search for."
        raise NotAvailable(msg)
    _raise_if_refused(web)
    answer = web.get(
        f"{web.settings.address('jina_search')}/",
        {"q": f'"{paper.title}"', "num": _MAX_PAGES},
        headers={"Accept": "application/json", **_build_auth_header(web)},
        allow=_REFUSALS,
        kept=True,
    )
    _check_status(answer, "the search", web)
    found: list[dict[str, Any]] = answer.json().get("data") or []
    for row in found[:_MAX_PAGES]:
        if row.get("content") and web.address_policy.is_open_to_programs(row.get("url", "")):
            yield _to_fetched(row["content"].encode(), row["url"], "jina_search")


def _build_auth_header(web: Web) -> dict[str, str]:
    """Return the header with the key; {} without a key."""
    key = web.settings.key("jina_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _build_refusal_name(web: Web) -> str:
    """Return the cache name of a refusal, which differs with and without a key."""
    return "with a key" if _build_auth_header(web) else "without a key"


def _raise_if_refused(web: Web) -> None:
    """Raise if Jina refused us within the last hour."""
    if refusal := web.cache.get("jina_refuses_us", _build_refusal_name(web)):
        raise NotAvailable(str(refusal), _build_refusal_hint(web, "in an hour"))


def _build_refusal_hint(web: Web, when: str) -> str:
    """Return a hint after a refusal, about the key and the time to retry."""
    about_key = "See what JINA_API_KEY has left" if _build_auth_header(web) else "Set JINA_API_KEY"
    return f"{about_key}, or try again {when}."


def _check_status(answer: Answer, target: str, web: Web) -> None:
    """Raise for a refusal; remember a refusal of our account."""
    if answer.status not in _REFUSALS:
        return
    refusal = f"Jina Reader {_REFUSALS[answer.status]}"
    if answer.status in _ACCOUNT_STATUSES:
        web.cache.put("jina_refuses_us", _build_refusal_name(web), f"{refusal}.", _REFUSAL_DAYS)
    hint = (
        _build_refusal_hint(web, "later") if answer.status in _ACCOUNT_STATUSES | {403, 451} else ""
    )
    raise NotAvailable(f"{refusal} ({target}).", hint, status=answer.status)


def _to_fetched(body: bytes, url: str, via: str) -> Fetched:
    """Return the fetched text of a page."""
    return Fetched(body, "markdown", url, SOURCE.name, via, charset="utf-8")


SOURCE = Source(
    name="jina",
    about="Jina Reader on the publisher's page; its search only with a key",
    addresses=(
        Address("jina_reader", "https://r.jina.ai", "Jina Reader"),
        Address("jina_search", "https://s.jina.ai", "Jina search"),
    ),
    keys=(
        Key(
            "jina_api_key",
            "500 requests a minute at Jina Reader, and search",
            "https://jina.ai/api-dashboard",
        ),
    ),
    label="DOI",
    rates=(
        Rate("jina", ("jina_reader",), 3.0, 0.12, key="jina_api_key", in_flight=8),
        Rate("jina_search", ("jina_search",), every=0.6, key="jina_api_key", in_flight=8),
    ),
    routes=(
        Route(
            "jina",
            ("doi",),
            one_by_one(fetch_page),
            share=0.125,
            label="Publisher, via Jina Reader",
        ),
        Route(
            "jina_search",
            ("doi", "pmid"),
            one_by_one(fetch_found_pages),
            key="jina_api_key",
            label="Found by Jina Search",
            version="",
        ),
    ),
)
