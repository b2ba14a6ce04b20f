"""OpenAlex: open copies that Unpaywall does not name, a search over all fields, and citations.

Single works are free, also without a key, and say where open copies lie. Since February 2026 every
other call is paid from a daily budget: ten cents for an address, a dollar for a free key. So pages
of a search are remembered, and citations (the longest lists there are, across all fields) are asked
for only where NCBI and Europe PMC have none. A spent budget and too many requests at once share the
status 429; the headers tell them apart. Lists have a rate limit of their own here: a list that
cannot be paid today closes no single work.
https://developers.openalex.org/api-reference/works
https://developers.openalex.org/guides/authentication
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any
from urllib.parse import quote

from ..errors import BadRequest, NotAvailable, NotConfigured, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..http.retry import CLOSED_S, parse_retry_after
from ..model.identifiers import Ids
from ..model.paper import Author, Fetched, Notice, Paper, SearchResult
from ..model.site import Address, Key
from ..model.versions import version_from_locator
from . import unpaywall
from .europepmc import Kind, Linked, without_html
from .loose_json import mapping, mappings, short_text, text, whole
from .publisher import MOST, OpenCopy, distinct, fetch_copies
from .source import Query, Route, Source, one_by_one, remembered, whole_days

LAST_HIT = 10_000
"""OpenAlex pages through so many works of a search only."""
# https://developers.openalex.org/guides/page-through-results (November 2026)
_PAGE, _LAST_PAGE = 100, 500
_MOST_LINKED = 200
COPIES = "id,doi,is_retracted,best_oa_location,locations,has_content"
"""The fields requested of a single work."""
RECORD = (
    "id,doi,ids,title,publication_date,type,authorships,primary_location,best_oa_location,biblio,"
    "is_retracted,abstract_inverted_index,referenced_works_count"
)
"""The fields requested of a work on a list; with all of them each is up to 40 kB."""
_SORTS = {"relevance": "relevance_score:desc", "pub_date": "publication_date:desc"}
_TYPES = {
    "article": "Journal Article",
    "review": "Review",
    "preprint": "Preprint",
    "letter": "Letter",
    "editorial": "Editorial",
    "erratum": "Published Erratum",
    "dataset": "Dataset",
}
_DAY = 86_400
REMEMBERED_DAYS = 1.0
_FILTERS: dict[Kind, str] = {"citations": "cites", "references": "cited_by"}


def fetch_open_copies(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the open copies OpenAlex names, the best first, but for those tried before.

    Raises
    ------
    NotAvailable
        OpenAlex does not know the DOI, or knows no other open copy.
    """
    doi = paper.ids.doi
    work = fetch_work(f"doi:{doi}", COPIES, web, kept=True)
    known = _copies(work)
    if not known:
        msg = f"OpenAlex knows no open copy of doi:{doi}."
        raise NotAvailable(msg, "Ask the authors or your library.")
    if not (copies := _untried(known, paper, web)[:MOST]):
        msg = f"OpenAlex knows no open copy of doi:{doi} that was not tried before."
        raise NotAvailable(msg, "Ask the authors or your library.")
    retracted = work.get("is_retracted") is True
    for found in fetch_copies(copies, web, source=SOURCE.name, via="openalex"):
        yield replace(found, retracted=retracted) if isinstance(found, Fetched) else found


def _copies(work: Mapping[str, Any]) -> list[OpenCopy]:
    """The best one first, but accepted manuscripts and preprints behind all others."""
    best = [mapping(work.get("best_oa_location"))]
    others = [row for row in mappings(work.get("locations")) if row.get("is_oa") is True]
    return distinct(
        OpenCopy(link, text(place.get("license")), version_from_locator(place.get("version")))
        for place in best + others
        for name in ("pdf_url", "landing_page_url")
        if (link := text(place.get(name)))
    )


def _untried(copies: list[OpenCopy], paper: Paper, web: Web) -> list[OpenCopy]:
    """The copies that no other rung asks for: not Unpaywall's, the DOI's own page, PMC's pages."""
    before = takewhile(lambda name: name != SOURCE.name, web.settings.papers_sources)
    tried = unpaywall.recall_copies(paper.ids.doi, web)[:MOST] if "unpaywall" in before else []
    places = {copy.place for copy in tried}
    return [
        copy
        for copy in copies
        if copy.place not in places
        and not Ids.maybe(copy.url).shares(paper.ids)
        and (web.address_policy.is_open_to_programs(copy.url) or Ids.maybe(copy.url).arxiv)
    ]


def search(query: Query, web: Web) -> SearchResult:
    """Search OpenAlex in plain words, with quotes and AND, OR, NOT; needs a key.

    Returns
    -------
    SearchResult
        The warnings say what the search cost, where OpenAlex says it.

    Raises
    ------
    NotConfigured
        There is no key, or OpenAlex refuses it.
    BadRequest
        OpenAlex has no such filter or order, or the page lies beyond the 10,000 works it numbers.
    Unreachable
        It did not answer, or the day's budget is spent.
    """
    params = _params(query)
    total, works, costs = _list_stretch(params, query.start, query.max_results, web)
    papers = tuple(map(paper_of, works))
    end = query.start + len(papers)
    return SearchResult(
        query=query.text,
        effective_query=" ".join(f"{name}={params[name]}" for name in ("search", "filter")).strip(),
        total=total,
        papers=papers,
        warnings=tuple(costs),
        next_start=end if papers and end < min(total, LAST_HIT) else None,
    )


def _list_stretch(
    params: Mapping[str, Any], start: int, most: int, web: Web
) -> tuple[int, list[dict[str, Any]], list[str]]:
    """Return the total of a list, *most* of its works from *start* on, and what they cost.

    Pages are numbered. Those that touch the stretch are requested: one, unless a caller leaps.
    """
    size = max(1, min(most, _PAGE))
    end = min(start + most, LAST_HIT)
    pages = -(-end // size)
    if pages * size > LAST_HIT or pages > _LAST_PAGE:
        size, pages = _PAGE, -(-end // _PAGE)  # full pages end with the last work that is shown
    first = start // size
    works: list[dict[str, Any]] = []
    total, costs = 0, []
    for page in range(first, pages):
        total, sent, cost = list_works({**params, "per_page": size, "page": page + 1}, web)
        works += sent
        costs += [cost] if cost else []
        if len(sent) < size:
            break
    skipped = start - first * size
    return total, works[skipped : skipped + most], costs


def _params(query: Query) -> dict[str, Any]:
    """The parameters of a search."""
    if query.start >= LAST_HIT:
        msg = f"start is {query.start}, but OpenAlex numbers only the first {LAST_HIT:,} works."
        raise BadRequest(msg, "Narrow the search, for example by date.")
    if query.sort_by not in _SORTS:
        msg = f"OpenAlex cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It sorts by {' or '.join(_SORTS)}.")
    if query.categories:
        msg = "OpenAlex has none of the categories of arXiv or Semantic Scholar."
        raise BadRequest(msg, "Ask without them.")
    sort = _SORTS[query.sort_by]
    if not query.text.strip() and query.sort_by == "relevance":
        sort = _SORTS["pub_date"]  # without words nothing is more relevant than another
    return {"search": query.text.strip(), "filter": _filter(query), "sort": sort, "select": RECORD}


def _filter(query: Query) -> str:
    first, last = whole_days(query, "OpenAlex")
    parts = [f"from_publication_date:{first}"] if first else []
    parts += [f"to_publication_date:{last}"] if last else []
    if author := _word(query.author):
        parts.append(f"raw_author_name.search:{author}")
    if query.publication_types:
        ours = {name.lower(): kind for kind, name in _TYPES.items()}
        if unknown := [kind for kind in query.publication_types if kind.lower() not in ours]:
            msg = f"OpenAlex has no publication type {', '.join(map(repr, unknown))}."
            raise BadRequest(msg, f"It has {', '.join(_TYPES.values())}.")
        parts.append("type:" + "|".join(ours[kind.lower()] for kind in query.publication_types))
    return ",".join(parts)


def _word(author: str) -> str:
    """A name without the signs that separate filters."""
    return " ".join(re.sub(r"[,|:!\"]", " ", author).split())


def paper_of(work: Mapping[str, Any]) -> Paper:
    """A work as a paper; its identifiers are URLs, its abstract an index of word positions."""
    place = mapping(work.get("primary_location"))
    journal = mapping(place.get("source"))
    biblio = mapping(work.get("biblio"))
    kind = text(work.get("type"))
    pages = (text(biblio.get("first_page")), text(biblio.get("last_page")))
    best = mapping(work.get("best_oa_location"))
    name = short_text(journal.get("display_name"))
    return Paper(
        ids=ids_of(work),
        title=without_html(short_text(work.get("title"))),
        abstract=_abstract(work.get("abstract_inverted_index")),
        authors=tuple(_author(row) for row in mappings(work.get("authorships"))),
        # A preprint server is followed by who runs it, in brackets.
        journal=name.partition(" (")[0] if name.endswith(")") else name,
        issn=text(journal.get("issn_l")),
        volume=text(biblio.get("volume")),
        issue=text(biblio.get("issue")),
        pages="-".join(dict.fromkeys(filter(None, pages))),
        # Where only the year is known, OpenAlex says New Year's Day.
        published=text(work.get("publication_date")).removesuffix("-01-01"),
        publication_types=tuple(filter(None, (_TYPES.get(kind, kind),))),
        notices=(Notice("retraction"),) if work.get("is_retracted") is True else (),
        license=text(place.get("license")) or text(best.get("license")),
        reference_count=whole(work.get("referenced_works_count")) or 0,
    )


def ids_of(work: Mapping[str, Any]) -> Ids:
    """The identifiers of a work; those of PubMed Central come without their letters."""
    names = mapping(work.get("ids"))
    number = text(names.get("pmcid")).rstrip("/").rpartition("/")[2].upper().removeprefix("PMC")
    return Ids(
        doi=Ids.maybe(text(work.get("doi"))).doi,
        pmid=Ids.maybe(text(names.get("pmid"))).pmid,
        pmcid=Ids.maybe(f"PMC{number}").pmcid,
        arxiv=Ids.maybe(text(work.get("doi"))).arxiv,
    )


def _author(row: Mapping[str, Any]) -> Author:
    """Names are given whole; the last word is the family name more often than not."""
    who = mapping(row.get("author"))
    name = short_text(who.get("display_name")) or short_text(row.get("raw_author_name"))
    given, _, family = name.rpartition(" ")
    places = row.get("raw_affiliation_strings")
    return Author(
        family=family,
        given=given,
        orcid=text(who.get("orcid")).rpartition("/")[2],
        affiliations=tuple(filter(None, map(text, places if isinstance(places, list) else ()))),
    )


def _abstract(index: object) -> str:
    """An abstract from the position of each word; OpenAlex may not give it in order.

    >>> _abstract({"cells": [1, 4], "The": [0], "divide;": [2], "other": [3]})
    'The cells divide; other cells'
    """
    words = {
        at: word
        for word, places in mapping(index).items()
        for at in (places if isinstance(places, list) else ())
        if isinstance(at, int)
    }
    return without_html(" ".join(word for _, word in sorted(words.items())))


def check_access(web: Web) -> str:
    """One record: a search would be paid for."""
    fetch_work("doi:10.7717/peerj.4375", "id", web)
    return ""


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
        headers=auth_headers(web),
        allow={401, 404, 429},
        check=partial(_check, is_list=False),
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
        # Without one, all users of an address share the budget of some hundred searches a day.
        msg = "OpenAlex is searched only with a key, and OPENALEX_API_KEY is not set."
        raise NotConfigured(msg, "Get a free one at openalex.org, or search another source.")
    name = "&".join(f"{key}={value}" for key, value in sorted(params.items()))
    kept = mapping(web.cache.get("openalex_list", name))
    if (total := whole(kept.get("total"))) is not None:
        return total, mappings(kept.get("works")), ""
    answer = web.get(
        f"{web.settings.address('openalex')}/works",
        params,
        headers=auth_headers(web),
        allow={400, 401, 403, 429},
        check=partial(_check, is_list=True),
    )
    reply = mapping(answer.json())
    total, works = _total(reply), mappings(reply.get("results"))
    kept = {"total": total, "works": works}
    web.cache.put("openalex_list", name, kept, REMEMBERED_DAYS)
    return total, works, _cost(answer)


def _total(reply: Mapping[str, Any]) -> int:
    """Return the number of works; raise without one, since a guess would lose pages."""
    total = whole(mapping(reply.get("meta")).get("count"))
    if total is None:
        raise Unreachable("OpenAlex did not say how many works there are.", "Try again later.")
    return total


def auth_headers(web: Web) -> dict[str, str]:
    """The key travels in a header: addresses are shown, logged and remembered."""
    key = web.settings.key("openalex_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _check(answer: Answer, *, is_list: bool) -> None:
    """Raise what the status of an answer without works means."""
    if answer.status == 401:
        msg = "OpenAlex refuses the key in OPENALEX_API_KEY."
        raise NotConfigured(msg, "Correct it, or unset it: single works are free without.")
    if answer.status == 429:
        raise too_much(answer)
    if answer.status == 404:
        return
    reply = answer.json()
    if answer.status in {400, 403}:
        reason = text(mapping(reply).get("message")) or text(mapping(reply).get("error"))
        msg = f"OpenAlex cannot be asked so: {reason[:200] or answer.status}"
        raise BadRequest(msg, "Ask in plain words; quotes and AND, OR, NOT are understood.")
    named = mapping(reply)
    if not (isinstance(named.get("results"), list) if is_list else text(named.get("id"))):
        raise Unreachable("OpenAlex sent an answer without works.", "Try again later.")
    if is_list:
        _total(reply)


def too_much(answer: Answer) -> Unreachable:
    """Return the error for a 429: too many requests at once, or the day's budget is spent.

    A spent budget comes with a Retry-After of many hours, or with none
    (https://github.com/rpatrik96/bibtexupdater/pull/50).
    """
    pause = parse_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
    left = _least(answer, "X-RateLimit-Remaining", "X-RateLimit-Remaining-USD")
    # A search may cost more than the little that is left; only the words of the answer say so.
    spent = left is not None and (left <= 0 or b"budget" in answer.body[:2000].lower())
    if not spent and pause <= CLOSED_S:
        details: dict[str, Any] = {"retry_after": pause} if pause else {}
        return Unreachable("OpenAlex answered 429.", status=429, **details)
    until = pause or _least(answer, "X-RateLimit-Reset") or _DAY - time.time() % _DAY
    msg = f"OpenAlex's budget of the day is spent; the next begins in {until / 3600:.1f} hours."
    hint = "Try again after midnight UTC; other sources can be asked now."
    return Unreachable(msg, hint, status=429, lasting=True, retry_after=min(until, _DAY))


def _cost(answer: Answer) -> str:
    """Return the cost of a call and the rest of the budget, as far as the headers tell."""
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


SOURCE = Source(
    name="openalex",
    about="OpenAlex: open copies of DOIs; search over all fields with a key",
    addresses=(Address("openalex", "https://api.openalex.org", "OpenAlex"),),
    keys=(
        Key(
            "openalex_api_key",
            "search in OpenAlex (its single records are free)",
            "https://openalex.org/settings/api",
        ),
    ),
    kept_by="machines",
    searched=5,
    search_needs_key=True,
    many_hosts=True,
    label="DOI",
    # A hundred a second are allowed; nobody here needs them.
    rates=(
        Rate("openalex", ("openalex",), every=0.1, in_flight=4),
        Rate(
            "openalex_list",
            ("openalex",),
            every=0.1,
            key="openalex_api_key",
            in_flight=4,
            paths=("/works",),
        ),
    ),
    search=remembered("openalex", search),
    routes=(
        Route(
            "openalex",
            ("doi",),
            one_by_one(fetch_open_copies),
            has_pdfs=True,
            label="Open copy (OpenAlex)",
            version="",
        ),
    ),
    check_access=check_access,
)


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """Return how many works a list has, the first *most* (up to 200), and the list's address.

    Raises
    ------
    NotConfigured
        There is no key, or it is refused.
    NotAvailable
        OpenAlex does not know the paper, or it has neither DOI nor PMID.
    Unreachable
        It did not answer, or the day's budget is spent.
    """
    if not web.settings.key("openalex_api_key"):
        msg = "OpenAlex lists citations only for a key, and OPENALEX_API_KEY is not set."
        raise NotConfigured(msg, "Get a free one at openalex.org.")
    name = f"doi:{ids.doi}" if ids.doi else f"pmid:{ids.pmid}"
    work = fetch_work(name, "id", web) if ids.doi or ids.pmid else {}
    number = str(work.get("id") or "").rpartition("/")[2]
    if not number:
        raise NotAvailable(f"OpenAlex does not know {ids}.", "Ask PubMed or Europe PMC.")
    works_filter = f"{_FILTERS[kind]}:{number}"
    params = {"filter": works_filter, "sort": "publication_date:desc", "select": RECORD}
    total, works, _ = _list_stretch(params, 0, max(1, min(most, _MOST_LINKED)), web)
    url = f"{web.settings.address('openalex')}/works?filter={works_filter}"
    return total, [Linked.of(paper_of(work)) for work in works], url
