"""CORE: open texts gathered from the world's repositories, for holders of a free key.

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
from .loose_json import mapping, mappings, text, whole
from .publisher import OpenCopy, distinct, fetch_copies
from .source import Route, Source, one_by_one

_HITS = 3
_MOST = 2  # copies at repositories that are asked for: most were met at Unpaywall's or OpenAlex's
_DEAREST = 5  # tokens of a download, at most
_WITHHELD = "Not available for public API users."  # in the place of the text, without a key
_KNOWN = "10.1371/journal.pone.0111303"


def full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """The copies at repositories, then CORE's own file, then the words that CORE took out of it.

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
    answer = _search(doi, _HITS, web)
    works = mappings(mapping(answer.json()).get("results"))
    work = next((one for one in works if Ids.maybe(text(one.get("doi"))).doi == doi), None)
    if work is None:
        raise NotAvailable(f"CORE does not know doi:{doi}.")
    links = distinct(OpenCopy(link) for link in _links(work))
    copies = [copy for copy in links if not _is_own(copy.url) and not _is_of(copy.url, paper)]
    yield from fetch_copies(copies[:_MOST], web, source=SOURCE.name, via="core")
    number = whole(work.get("id"))
    if number is not None and any(_is_own(copy.url) for copy in links):
        yield _fetch_file(number, web)
    words = work.get("fullText")
    if isinstance(words, str) and words.strip() not in ("", _WITHHELD):
        body = words.encode("utf-8", "replace")
        yield Fetched(body, "markdown", answer.url, SOURCE.name, "core", charset="utf-8")
    elif not links:
        raise NotAvailable(f"CORE has no text of doi:{doi}.")


def _search(doi: str, most: int, web: Web, *, kept: bool = True) -> Answer:
    """The works of a DOI: in quotes, or its parts would find millions; the last slash saves one."""
    return web.get(
        f"{web.settings.address('core')}/search/works/",
        {"q": f'doi:"{doi}"', "limit": most},
        headers=_headers(web),
        allow={401, 403},
        check=_judge,
        kept=kept,
    )


def _fetch_file(number: int, web: Web) -> Fetched | SourceMiss:
    """CORE's copy, or the page in its way; its files lie on another host than its interface."""
    address = web.settings.address("core")
    try:
        answer = web.get(
            f"{address}/works/{number}/download",
            headers=_headers(web),
            allow={401, 403},
            check=lambda answer: _judge_key(answer) if answer.url.startswith(address) else None,
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


def _links(work: Mapping[str, Any]) -> Iterator[str]:
    """Return the addresses of a work; a single one is sometimes sent without a list."""
    named = work.get("sourceFulltextUrls")
    downloads = (
        row.get("url") for row in mappings(work.get("links")) if row.get("type") == "download"
    )
    for link in (work.get("downloadUrl"), *(named if isinstance(named, list) else [named])):
        if found := text(link):
            yield found
    yield from filter(None, map(text, downloads))


def _is_own(url: str) -> bool:
    """Return whether a link leads to CORE's own copy, whose host turns programs away."""
    with suppress(ValueError):
        host = urlsplit(url).hostname or ""
        return host == "core.ac.uk" or host.endswith(".core.ac.uk")
    return False


def _is_of(url: str, paper: Paper) -> bool:
    """Return whether a link is an identifier of the paper: other rungs ask for its page."""
    return Ids.maybe(url).shares(paper.ids)


def _headers(web: Web) -> dict[str, str]:
    key = web.settings.key("core_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _judge(answer: Answer) -> None:
    _judge_key(answer)
    if not isinstance(mapping(answer.json()).get("results"), list):
        raise Unreachable("CORE sent an answer without results.", "Try again later.")


def _judge_key(answer: Answer) -> None:
    if answer.status in {401, 403}:
        msg = "CORE refuses the key in CORE_API_KEY."
        raise NotConfigured(msg, "Correct it, or get one: https://core.ac.uk/services/api")


def stay_away(headers: Mapping[str, str]) -> float:
    """Seconds until there are tokens again, where too few are left for the dearest call.

    >>> sent = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT", "X-RateLimit-Remaining": "4"}
    >>> stay_away({**sent, "X-RateLimit-Retry-After": "2026-10-21T07:28:30+0000"})
    31.0
    >>> stay_away({**sent, "X-RateLimit-Remaining": "5"}), stay_away(sent)
    (0.0, 0.0)
    """
    left = whole(headers.get("X-RateLimit-Remaining") or headers.get("X-RateLimitRemaining"))
    told = headers.get("X-RateLimit-Retry-After") or ""
    if not told or (left is not None and left >= _DEAREST):
        return 0.0
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(told)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        told = format_datetime(moment, usegmt=True)
    seconds = parse_retry_after(told, headers.get("Date"))
    return seconds + 1 if seconds else 0.0  # both moments are told without their fractions


def _check_access(web: Web) -> str:
    """Search for one paper, for one token: whether the key is right."""
    if not web.settings.key("core_api_key"):
        web.get(web.settings.address("core"), allow=range(400, 600))
        return ""
    answer = _search(_KNOWN, 1, web, kept=False)
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
    rates=(Rate("core", ("core",), every=6.0, in_flight=1, asked=stay_away),),
    routes=(
        Route(
            "core",
            ("doi",),
            one_by_one(full_text),
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
