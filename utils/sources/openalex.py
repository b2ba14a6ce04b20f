"""Search OpenAlex, and fetch open copies and citations that other sources lack.

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
from collections.abc import Iterator, Mapping, Sequence
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
from . import unpaywall
from .europepmc import Kind, LinkedPaper, strip_html
from .loose_json import to_count, to_dict, to_dicts, to_short_text, to_text
from .publisher import (
    MAX_COPIES,
    OpenCopy,
    deduplicate_copies,
    fetch_copies,
    list_location_copies,
)
from .source import Query, Route, Source, add_search_cache, one_by_one, to_day_range

LAST_HIT = 10_000
"""OpenAlex pages through so many works of a search only."""
# https://developers.openalex.org/guides/page-through-results (November 2026)
_PAGE, _LAST_PAGE = 100, 500
_MAX_LINKED = 200
COPY_FIELDS = "id,doi,is_retracted,best_oa_location,locations,has_content"
"""The fields requested of a single work."""
_LINKS = ("pdf_url", "landing_page_url")
RECORD_FIELDS = (
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
_DAY_S = 86_400
CACHE_DAYS = 1.0
MAX_DOIS_PER_LIST = 50
"""The most DOIs in the filter of one list."""
# https://docs.openalex.org/api-entities/works/filter-works (values of a filter, joined by |)
_FILTERS: dict[Kind, str] = {"citations": "cites", "references": "cited_by"}


def fetch_open_copies(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the open copies that OpenAlex names and no other route tried, the best first.

    Raises
    ------
    NotAvailable
        OpenAlex does not know the DOI, or knows no other open copy.
    """
    doi = paper.ids.doi
    work = fetch_work(f"doi:{doi}", COPY_FIELDS, web, kept=True)
    known = _list_copies(work)
    if not known:
        msg = f"OpenAlex lists no open copy of doi:{doi}."
        raise NotAvailable(msg, "Ask the authors or your library.")
    if not (copies := _select_untried_copies(known, paper, web)[:MAX_COPIES]):
        msg = f"OpenAlex lists no open copy of doi:{doi} that was not tried before."
        raise NotAvailable(msg, "Ask the authors or your library.")
    retracted = work.get("is_retracted") is True
    for found in fetch_copies(copies, web, source=SOURCE.name, via="openalex"):
        yield replace(found, retracted=retracted) if isinstance(found, Fetched) else found


def list_open_copies(wanted: Sequence[Ids], web: Web) -> dict[Ids, list[OpenCopy]]:
    """Return the copies that OpenAlex names for up to 50 papers with a DOI, without fetching them.

    One list, which is paid for (see the module). Raises the errors of `list_works`.
    """
    params = {
        "filter": "doi:" + "|".join(ids.doi for ids in wanted),
        "select": COPY_FIELDS,
        "per_page": MAX_DOIS_PER_LIST,
    }
    _, works, _ = list_works(params, web)
    by_doi = {to_ids(work).doi: _list_copies(work) for work in works}
    return {ids: by_doi.get(ids.doi, []) for ids in wanted}


def _list_copies(work: Mapping[str, Any]) -> list[OpenCopy]:
    """Return the copies of a work, the best first, manuscripts and preprints last."""
    best = [to_dict(work.get("best_oa_location"))]
    others = [row for row in to_dicts(work.get("locations")) if row.get("is_oa") is True]
    return deduplicate_copies(
        copy
        for place in best + others
        for copy in list_location_copies(place, _LINKS, to_text(place.get("id")))
    )


def _select_untried_copies(copies: list[OpenCopy], paper: Paper, web: Web) -> list[OpenCopy]:
    """Return the copies that no other route requests."""
    before = takewhile(lambda name: name != SOURCE.name, web.settings.papers_sources)
    tried = (
        unpaywall.recall_copies(paper.ids.doi, web)[:MAX_COPIES] if "unpaywall" in before else []
    )
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
    params = _build_params(query)
    total, works, costs = _list_works_in_range(params, query.start, query.max_results, web)
    papers = tuple(map(to_paper, works))
    end = query.start + len(papers)
    return SearchResult(
        query=query.text,
        effective_query=" ".join(f"{name}={params[name]}" for name in ("search", "filter")).strip(),
        total=total,
        papers=papers,
        warnings=tuple(costs),
        next_start=end if papers and end < min(total, LAST_HIT) else None,
    )


def _list_works_in_range(
    params: Mapping[str, Any], start: int, most: int, web: Web
) -> tuple[int, list[dict[str, Any]], list[str]]:
    """Return the total of a list, *most* of its works from *start* on, and their cost.

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


def _build_params(query: Query) -> dict[str, Any]:
    """Return the parameters of a search."""
    if query.start >= LAST_HIT:
        msg = f"start is {query.start}, but OpenAlex numbers only the first {LAST_HIT:,} works."
        raise BadRequest(msg, "Narrow the search, for example by date.")
    if query.sort_by not in _SORTS:
        msg = f"OpenAlex cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It sorts by {' or '.join(_SORTS)}.")
    if query.categories:
        msg = "OpenAlex has none of the categories of arXiv or Semantic Scholar."
        raise BadRequest(msg, "Search without them.")
    sort = _SORTS[query.sort_by]
    if not query.text.strip() and query.sort_by == "relevance":
        sort = _SORTS["pub_date"]  # without words nothing is more relevant than another
    return {
        "search": query.text.strip(),
        "filter": _build_filter(query),
        "sort": sort,
        "select": RECORD_FIELDS,
    }


def _build_filter(query: Query) -> str:
    """Return the filter of a search."""
    first, last = to_day_range(query, "OpenAlex")
    parts = [f"from_publication_date:{first}"] if first else []
    parts += [f"to_publication_date:{last}"] if last else []
    if author := _remove_separators(query.author):
        parts.append(f"raw_author_name.search:{author}")
    if query.publication_types:
        ours = {name.lower(): kind for kind, name in _TYPES.items()}
        if unknown := [kind for kind in query.publication_types if kind.lower() not in ours]:
            msg = f"OpenAlex has no publication type {', '.join(map(repr, unknown))}."
            raise BadRequest(msg, f"It has {', '.join(_TYPES.values())}.")
        parts.append("type:" + "|".join(ours[kind.lower()] for kind in query.publication_types))
    return ",".join(parts)


def _remove_separators(author: str) -> str:
    """Return a name without the characters that separate filters."""
    return " ".join(re.sub(r"[,|:!\"]", " ", author).split())


def to_paper(work: Mapping[str, Any]) -> Paper:
    """Return a work as a paper; its abstract is an index of word positions."""
    place = to_dict(work.get("primary_location"))
    journal = to_dict(place.get("source"))
    biblio = to_dict(work.get("biblio"))
    kind = to_text(work.get("type"))
    pages = (to_text(biblio.get("first_page")), to_text(biblio.get("last_page")))
    best = to_dict(work.get("best_oa_location"))
    name = to_short_text(journal.get("display_name"))
    return Paper(
        ids=to_ids(work),
        # Some titles have a line break as the two characters "\\n".
        title=strip_html(to_short_text(work.get("title")).replace("\\n", " ")),
        abstract=_rebuild_abstract(work.get("abstract_inverted_index")),
        authors=tuple(_to_author(row) for row in to_dicts(work.get("authorships"))),
        # A preprint server is followed by who runs it, in brackets.
        journal=name.partition(" (")[0] if name.endswith(")") else name,
        issn=to_text(journal.get("issn_l")),
        volume=to_text(biblio.get("volume")),
        issue=to_text(biblio.get("issue")),
        pages="-".join(dict.fromkeys(filter(None, pages))),
        # Where only the year is known, OpenAlex says New Year's Day.
        published=to_text(work.get("publication_date")).removesuffix("-01-01"),
        publication_types=tuple(filter(None, (_TYPES.get(kind, kind),))),
        notices=(Notice("retraction"),) if work.get("is_retracted") is True else (),
        license=to_text(place.get("license")) or to_text(best.get("license")),
        reference_count=to_count(work.get("referenced_works_count")) or 0,
    )


def to_ids(work: Mapping[str, Any]) -> Ids:
    """Return the identifiers of a work; PMCIDs may come without their prefix."""
    names = to_dict(work.get("ids"))
    number = to_text(names.get("pmcid")).rstrip("/").rpartition("/")[2].upper().removeprefix("PMC")
    return Ids(
        doi=Ids.maybe(to_text(work.get("doi"))).doi,
        pmid=Ids.maybe(to_text(names.get("pmid"))).pmid,
        pmcid=Ids.maybe(f"PMC{number}").pmcid,
        arxiv=Ids.maybe(to_text(work.get("doi"))).arxiv,
    )


def _to_author(row: Mapping[str, Any]) -> Author:
    """Return an author; the family name is before a comma, else the last word of the name."""
    who = to_dict(row.get("author"))
    name = to_short_text(who.get("display_name")) or to_short_text(row.get("raw_author_name"))
    family, comma, given = (part.strip() for part in name.partition(","))
    if not comma:
        given, _, family = name.rpartition(" ")
    places = row.get("raw_affiliation_strings")
    return Author(
        family=family,
        given=given,
        orcid=to_text(who.get("orcid")).rpartition("/")[2],
        affiliations=tuple(filter(None, map(to_text, places if isinstance(places, list) else ()))),
    )


def _rebuild_abstract(index: object) -> str:
    """Return an abstract from the positions of its words.

    >>> _rebuild_abstract({"cells": [1, 4], "The": [0], "divide;": [2], "other": [3]})
    'The cells divide; other cells'
    """
    words = {
        at: word
        for word, places in to_dict(index).items()
        for at in (places if isinstance(places, list) else ())
        if isinstance(at, int)
    }
    return strip_html(" ".join(word for _, word in sorted(words.items())))


def check_access(web: Web) -> str:
    """Request one record, which is free; a search would be charged."""
    fetch_work("doi:10.7717/peerj.4375", "id", web)
    return ""


def fetch_work(name: str, fields: str, web: Web, *, kept: bool = False) -> dict[str, Any]:
    """Return one work by ``doi:…`` or ``pmid:…``, which is free; {} if it is unknown.

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
        headers=build_auth_headers(web),
        allow={401, 404, 429},
        check=partial(_check_answer, is_list=False),
        kept=kept,
    )
    return {} if answer.status == 404 else to_dict(answer.json())


def list_works(params: Mapping[str, Any], web: Web) -> tuple[int, list[dict[str, Any]], str]:
    """Return the number of works of a list or search, one page of works, and its cost.

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
    kept = to_dict(web.cache.get("openalex_list", name))
    if (total := to_count(kept.get("total"))) is not None:
        return total, to_dicts(kept.get("works")), ""
    answer = web.get(
        f"{web.settings.address('openalex')}/works",
        params,
        headers=build_auth_headers(web),
        allow={400, 401, 403, 429},
        check=partial(_check_answer, is_list=True),
    )
    reply = to_dict(answer.json())
    total, works = _get_total(reply), to_dicts(reply.get("results"))
    kept = {"total": total, "works": works}
    web.cache.put("openalex_list", name, kept, CACHE_DAYS)
    return total, works, _describe_cost(answer)


def _get_total(reply: Mapping[str, Any]) -> int:
    """Return the number of works; raise if it is missing, since a guess would lose pages."""
    total = to_count(to_dict(reply.get("meta")).get("count"))
    if total is None:
        raise Unreachable("OpenAlex did not say how many works there are.", "Try again later.")
    return total


def build_auth_headers(web: Web) -> dict[str, str]:
    """Return the header with the key, which must not be in logged addresses."""
    key = web.settings.key("openalex_api_key")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _check_answer(answer: Answer, *, is_list: bool) -> None:
    """Raise the error for an answer without works."""
    if answer.status == 401:
        msg = "OpenAlex refuses the key in OPENALEX_API_KEY."
        raise NotConfigured(msg, "Correct it, or unset it: single works are free without.")
    if answer.status == 429:
        raise build_limit_error(answer)
    if answer.status == 404:
        return
    reply = answer.json()
    if answer.status in {400, 403}:
        reason = to_text(to_dict(reply).get("message")) or to_text(to_dict(reply).get("error"))
        msg = f"OpenAlex cannot answer this query: {reason[:200] or answer.status}"
        raise BadRequest(msg, "Ask in plain words; quotes and AND, OR, NOT are understood.")
    named = to_dict(reply)
    if not (isinstance(named.get("results"), list) if is_list else to_text(named.get("id"))):
        raise Unreachable("OpenAlex sent an answer without works.", "Try again later.")
    if is_list:
        _get_total(reply)


def build_limit_error(answer: Answer) -> Unreachable:
    """Return the error for a 429: too many requests at once, or a spent budget.

    A spent budget comes with a Retry-After of many hours, or with none
    (https://github.com/rpatrik96/bibtexupdater/pull/50).
    """
    pause = parse_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
    left = _read_lowest_number(answer, "X-RateLimit-Remaining", "X-RateLimit-Remaining-USD")
    # A search may cost more than the little that is left; only the words of the answer say so.
    spent = left is not None and (left <= 0 or b"budget" in answer.body[:2000].lower())
    if not spent and pause <= CLOSED_S:
        details: dict[str, Any] = {"retry_after": pause} if pause else {}
        return Unreachable("OpenAlex answered 429.", status=429, **details)
    until = (
        pause or _read_lowest_number(answer, "X-RateLimit-Reset") or _DAY_S - time.time() % _DAY_S
    )
    msg = f"OpenAlex's budget of the day is spent; the next begins in {until / 3600:.1f} hours."
    hint = "Try again after midnight UTC; other sources can be asked now."
    return Unreachable(msg, hint, status=429, lasting=True, retry_after=min(until, _DAY_S))


def _describe_cost(answer: Answer) -> str:
    """Return the cost of a call and the rest of the budget, if the headers tell."""
    cost = _read_lowest_number(answer, "X-RateLimit-Cost-USD")
    left = _read_lowest_number(answer, "X-RateLimit-Remaining-USD")
    if not cost:
        return ""
    rest = "" if left is None else f"; {left:.3f} are left until midnight UTC"
    return f"OpenAlex charged USD {cost:.4f}{rest}."


def _read_lowest_number(answer: Answer, *names: str) -> float | None:
    """Return the smallest number in these headers; else None."""
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
    search=add_search_cache("openalex", search),
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


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[LinkedPaper], str]:
    """Return the length of a list, its first *most* works (up to 200), and its address.

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
    params = {"filter": works_filter, "sort": "publication_date:desc", "select": RECORD_FIELDS}
    total, works, _ = _list_works_in_range(params, 0, max(1, min(most, _MAX_LINKED)), web)
    url = f"{web.settings.address('openalex')}/works?filter={works_filter}"
    return total, [LinkedPaper.from_paper(to_paper(work)) for work in works], url
