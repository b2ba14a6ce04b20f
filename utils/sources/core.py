"""Fetch open texts that CORE gathered from repositories, with a free key.

A search by DOI names the repositories that have the work, and brings the words CORE took out of its
own copy; that copy itself is a download. Every call is paid in tokens, so many a minute and a day:
one for a search, up to five for a download. https://api.core.ac.uk/docs/v3 and
https://core.ac.uk/services/api (for text mining of one's own, not for commerce).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import urlsplit

from ..errors import NotAvailable, NotConfigured, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..http.retry import parse_retry_after
from ..model.identifiers import Ids
from ..model.paper import Fetched, Media, Paper
from ..model.site import Address, Key
from .loose_json import to_count, to_dict, to_dicts, to_text
from .publisher import OpenCopy, deduplicate_copies, fetch_copies
from .source import Route, Source, one_by_one

_MAX_WORKS = 3
_MAX_COPIES = (
    2  # copies at repositories that are asked for: most were met at Unpaywall's or OpenAlex's
)
_MAX_TOKENS_PER_CALL = 5  # tokens of a download, at most
_WITHHELD_TEXT = "Not available for public API users."  # in the place of the text, without a key
_KNOWN_DOI = "10.1371/journal.pone.0111303"


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Yield the copies at repositories, then CORE's own file, then the text CORE extracted.

    The key goes to CORE's interface alone: a download leads to another host, where it is left out.

    Raises
    ------
    NotAvailable
        CORE does not know the DOI, or has no text of it.
    NotConfigured
        The key is refused.
    Unreachable
        It did not answer, or the tokens of the day are spent.
    """
    doi = paper.ids.doi
    answer = _search_works(doi, _MAX_WORKS, web)
    works = to_dicts(to_dict(answer.json()).get("results"))
    work = next((one for one in works if Ids.maybe(to_text(one.get("doi"))).doi == doi), None)
    if work is None:
        raise NotAvailable(f"CORE does not know doi:{doi}.")
    links = deduplicate_copies(OpenCopy(link) for link in _list_links(work))
    copies = [
        copy
        for copy in links
        if not _is_own_copy(copy.url) and not _is_identifier_of(copy.url, paper)
    ]
    yield from fetch_copies(copies[:_MAX_COPIES], web, source=SOURCE.name, via="core")
    number = to_count(work.get("id"))
    if number is not None and any(_is_own_copy(copy.url) for copy in links):
        yield _fetch_file(number, web)
    words = work.get("fullText")
    if isinstance(words, str) and words.strip() not in ("", _WITHHELD_TEXT):
        body = words.encode("utf-8", "replace")
        yield Fetched(body, "markdown", answer.url, SOURCE.name, "core", charset="utf-8")
    elif not links:
        raise NotAvailable(f"CORE has no text of doi:{doi}.")


def _search_works(doi: str, most: int, web: Web, *, kept: bool = True) -> Answer:
    """Return the works of a DOI, quoted, since its parts would match millions."""
    return web.get(
        f"{web.settings.address('core')}/search/works/",
        {"q": f'doi:"{doi}"', "limit": most},
        headers=_build_headers(web),
        allow={401, 403},
        check=_require_works,
        kept=kept,
    )


def _fetch_file(number: int, web: Web) -> Fetched | SourceMiss:
    """Return CORE's copy, or the page that blocks it; files are on another host than the API."""
    address = web.settings.address("core")
    try:
        answer = web.get(
            f"{address}/works/{number}/download",
            headers=_build_headers(web),
            allow={401, 403},
            check=lambda answer: _check_key(answer) if answer.url.startswith(address) else None,
            kept=True,
        )
    except SourceMiss as miss:
        return miss
    media: Media = "pdf" if b"%PDF-" in answer.body[:1024] else "html"
    return Fetched(
        answer.body,
        media,
        answer.url,
        SOURCE.name,
        "core",
        charset=answer.charset,
        status=answer.status,
    )


def _list_links(work: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of a work; a single one is sometimes sent without a list."""
    named = work.get("sourceFulltextUrls")
    downloads = (
        row.get("url") for row in to_dicts(work.get("links")) if row.get("type") == "download"
    )
    for link in (work.get("downloadUrl"), *(named if isinstance(named, list) else [named])):
        if found := to_text(link):
            yield found
    yield from filter(None, map(to_text, downloads))


def _is_own_copy(url: str) -> bool:
    """Return whether a link leads to CORE's own copy, whose host rejects programs."""
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        return host == "core.ac.uk" or host.endswith(".core.ac.uk")
    return False


def _is_identifier_of(url: str, paper: Paper) -> bool:
    """Return whether a link is an identifier of the paper: other routes request its page."""
    return Ids.maybe(url).shares(paper.ids)


def _build_headers(web: Web) -> dict[str, str]:
    """Return the header with the key; {} without a key."""
    key = web.settings.key("core_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _require_works(answer: Answer) -> None:
    """Raise for a rejected key, or an answer without works."""
    _check_key(answer)
    if not isinstance(to_dict(answer.json()).get("results"), list):
        raise Unreachable("CORE sent an answer without results.", "Try again later.")


def _check_key(answer: Answer) -> None:
    """Raise `NotConfigured` for a rejected key."""
    if answer.status in {401, 403}:
        msg = "CORE refuses the key in CORE_API_KEY."
        raise NotConfigured(msg, "Correct it, or get one: https://core.ac.uk/services/api")


def parse_cooldown(headers: Mapping[str, str]) -> float:
    """Return the seconds until new tokens, if too few are left for the most expensive call.

    >>> sent = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "X-RateLimit-Remaining": "4"}
    >>> parse_cooldown({**sent, "X-RateLimit-Retry-After": "2026-10-21T07:28:30+0000"})
    31.0
    >>> parse_cooldown({**sent, "X-RateLimit-Remaining": "5"}), parse_cooldown(sent)
    (0.0, 0.0)
    """
    left = to_count(headers.get("X-RateLimit-Remaining") or headers.get("X-RateLimitRemaining"))
    told = headers.get("X-RateLimit-Retry-After") or ""
    if not told or (left is not None and left >= _MAX_TOKENS_PER_CALL):
        return 0.0
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(told)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        told = format_datetime(moment, usegmt=True)
    seconds = parse_retry_after(told, headers.get("Date"))
    return seconds + 1 if seconds else 0.0  # both moments are told without their fractions


def _check_access(web: Web) -> str:
    """Search for one paper, at the cost of one token, to test the key."""
    if not web.settings.key("core_api_key"):
        web.get(web.settings.address("core"), allow=range(400, 600))
        return ""
    answer = _search_works(_KNOWN_DOI, 1, web, kept=False)
    left = answer.headers.get("X-RateLimit-Remaining", "")
    return f"{left} tokens are left for now" if left else ""


SOURCE = Source(
    name="core",
    about="CORE: open texts gathered from repositories, with your own free key",
    addresses=(Address("core", "https://api.core.ac.uk/v3", "CORE"),),
    keys=(
        Key(
            "core_api_key",
            "open texts that CORE gathered from repositories (a free key)",
            "https://core.ac.uk/services/api",
        ),
    ),
    many_hosts=True,
    label="DOI",
    # Ten a minute are what the smallest of the published limits allows; what tokens are left
    # after a download, which costs several, the headers of each answer say.
    rates=(Rate("core", ("core",), every=6.0, in_flight=1, asked=parse_cooldown),),
    routes=(
        Route(
            "core",
            ("doi",),
            one_by_one(fetch_full_text),
            key="core_api_key",
            share=0.05,
            has_pdfs=True,
            label="Open copy (CORE)",
            version="",
            terms="Found through CORE: for text mining of your own, not for commerce.",
        ),
    ),
    check_access=_check_access,
)
