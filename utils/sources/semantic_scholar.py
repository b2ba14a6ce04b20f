"""Search Semantic Scholar, and fetch its papers and citations.

Two searches: by relevance, in plain words, of which the first 999 hits are shown; and in bulk, with
operators and an order, to the end. Citations come the newest first; of each list 9,999 are shown,
and the paper's own record says how many there are. Requests: see `.semantic_scholar_graph`.
https://api.semanticscholar.org/api-docs/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import BadRequest, NotAvailable, NotConfigured, NotFound, SourceMiss, Unreachable
from ..http import Web
from ..model.identifiers import Ids
from ..model.paper import Paper, SearchResult
from ..model.site import Key
from .europepmc import Kind, LinkedPaper
from .loose_json import to_dict, to_text
from .semantic_scholar_graph import (
    ADDRESS,
    FIELDS,
    LIST_FIELDS,
    PAGE_BEYOND_END,
    RATE,
    TYPE_NAMES,
    ScholarPage,
    ScholarPaper,
    build_form_error,
    build_graph_name,
    build_paper_path,
    cache_reply,
    fetch_batch,
    recall_reply,
    request_json,
    to_paper_count,
    to_scholar_paper,
)
from .source import Lookup, Query, Source, add_search_cache, to_day_range

__all__ = ["SOURCE", "ScholarPage", "ScholarPaper"]

FIELDS_OF_STUDY = (
    "Computer Science", "Medicine", "Chemistry", "Biology", "Materials Science", "Physics",
    "Geology", "Psychology", "Art", "History", "Geography", "Sociology", "Business",
    "Political Science", "Economics", "Philosophy", "Mathematics", "Engineering",
    "Environmental Science", "Agricultural and Food Sciences", "Education", "Law", "Linguistics",
)  # fmt: skip
BULK_PAGE_SIZE = 1000
"""Hits a bulk search sends at once, whether wanted or not."""
_MAX_RELEVANT_HITS = 999  # offset + limit must stay below 1000
_IDS_PER_BATCH = 500
_HITS_PER_PAGE = 100
_HYPHENS = re.compile("[-\u2010-\u2015\u2212]")
_EXCLUDED = re.compile(r"\b(?:AND)?NOT\s+\S")
_CONNECTED = re.compile(r"\b(?:AND|OR|NOT)\b")
_OPERATORS = re.compile(r'[-"()\[\]{}+|*~^]+')
_OTHER_END: dict[Kind, str] = {"citations": "citingPaper", "references": "citedPaper"}
_MAX_LISTED = 9_999  # offset + limit must stay below 10,000
_MAX_LIST_PAGE = 1000


def search(query: Query, web: Web) -> SearchResult:
    """Search in plain words, by relevance, or in bulk with the newest first.

    Raises
    ------
    BadRequest
        It cannot be searched so.
    NotConfigured
        The key is not known.
    Unreachable
        It did not answer, or with something else.
    """
    filters = _build_query_filters(query)
    words, warnings_of_words = to_plain_words(query.text)
    if query.sort_by == "relevance":
        page = search_by_relevance(words, filters, query.max_results, query.start, web)
    elif query.sort_by == "pub_date":
        page = _search_newest(words, filters, query, web)
    else:
        msg = f"Semantic Scholar cannot sort by {query.sort_by}."
        raise BadRequest(msg, "Sort by relevance or pub_date.")
    papers = tuple(found.paper for found in page.papers)
    total = query.start if page.total is None else page.total  # None: the list ended before
    warnings = (*warnings_of_words, *page.warnings)
    return SearchResult(query.text, words, total, papers, warnings, page.next_start)


def search_by_relevance(
    words: str, filters: Mapping[str, str], most: int, start: int, web: Web
) -> ScholarPage:
    """Return up to *most* hits in plain *words*, the most relevant first; see `search`."""
    page = _fetch_relevant_page(words, filters, most, start, web)
    while page.next_start is not None and len(page.papers) < most:
        try:
            left = most - len(page.papers)
            more = _fetch_relevant_page(words, filters, left, page.next_start, web)
        except SourceMiss as miss:
            warning = f"The list is cut short: {miss.message}"
            return replace(page, warnings=(*page.warnings, warning))
        page = ScholarPage(
            page.total,
            (*page.papers, *more.papers),
            more.next_start,
            warnings=(*page.warnings, *more.warnings),
        )
    return page


def search_bulk(params: Mapping[str, str], most: int, start: int, web: Web) -> ScholarPage:
    """Return hits *start* to *start* + *most* of a thousand, and the token of the next thousand.

    *params* are ``query`` (with operators), ``sort``, ``token`` and filters, as Semantic
    Scholar spells them.
    """
    reply = request_json(
        "/paper/search/bulk", {**params, "fields": LIST_FIELDS}, web, require_page_with_total
    )
    rows, token = get_rows(reply), reply.get("token")
    papers = tuple(filter(None, map(to_scholar_paper, rows[start : start + most])))
    total = reply["total"]
    if start + most < len(rows):
        return ScholarPage(total, papers, start + most, params.get("token", ""))
    if isinstance(token, str) and token and rows:
        return ScholarPage(total, papers, 0, token)
    return ScholarPage(total, papers)


def fetch_paper(name: str, web: Web) -> ScholarPaper:
    """Return the paper of a name as `to_graph_name` spells it.

    Raises
    ------
    BadRequest
        It has no such name.
    NotConfigured
        The key is not known.
    NotFound
        Semantic Scholar does not know the paper.
    Unreachable
        It did not answer, or with something else.
    """

    def read(reply: Any) -> ScholarPaper:
        if found := to_scholar_paper(reply):
            return found
        raise build_form_error(reply)

    def learn(row: Any) -> None:
        _cache_rows([row], web)

    return request_json(build_paper_path(name), {"fields": FIELDS}, web, read, learn=learn)


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the other identifiers of papers with Semantic Scholar's own identifiers.

    Whoever those names belong to keeps the better record (names of authors in full, notices), so
    ours is only given where a paper has no other name.
    """
    found = {ids: known.paper for ids, known in fetch_papers(wanted, web).items()}
    return {
        ids: Paper(paper.ids) if replace(paper.ids, s2="") else paper
        for ids, paper in found.items()
    }


def fetch_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, ScholarPaper]:
    """Return up to 500 papers by any of their identifiers; skip unknown ones.

    Raises
    ------
    NotAvailable
        It refuses these together (``details["status"]`` is 400).
    NotConfigured
        The key is not known.
    Unreachable
        It did not answer, or with something else.
    """
    rows = {
        ids: recall_reply(build_paper_path(build_graph_name(ids)), {"fields": FIELDS}, web)
        for ids in wanted
    }
    if unasked := [ids for ids, row in rows.items() if row is None]:
        try:
            answers = fetch_batch([build_graph_name(ids) for ids in unasked], FIELDS, web)
        except BadRequest as refusal:
            raise NotAvailable(refusal.message, refusal.hint, status=400) from None
        rows.update(zip(unasked, answers, strict=True))
    papers = {ids: to_scholar_paper(row) for ids, row in rows.items()}
    return {ids: paper for ids, paper in papers.items() if paper}


def count_hits(web: Web) -> int:
    """Return the number of hits of a small search, never cached: it tests site and key."""
    params = {"query": "pubmed", "limit": 1}
    return (
        to_paper_count(
            request_json("/paper/search", params, web, require_page_with_total, again=True).get(
                "total"
            )
        )
        or 0
    )


def to_plain_words(text: str) -> tuple[str, tuple[str, ...]]:
    """Return *text* for the search by relevance, with a warning if it was changed.

    It knows no operators, and finds nothing for a word with a hyphen.

    >>> to_plain_words("off-target effects")
    ('off target effects', ())
    >>> to_plain_words('"CRISPR-Cas9" AND (off-target)')[0]
    'CRISPR Cas9 off target'

    Raises
    ------
    BadRequest
        Nothing is left, or something is to be left out: that search would bring it all the same.
    """
    if _EXCLUDED.search(text):
        msg = "Semantic Scholar's search by relevance cannot leave anything out (NOT)."
        raise BadRequest(msg, "Leave out NOT, or search the other sources.")
    spaced = " ".join(_HYPHENS.sub(" ", text).split())
    bare = _CONNECTED.sub(" ", spaced)
    words = " ".join(_OPERATORS.sub(" ", bare).split())
    if not words:
        raise BadRequest("The query has no word to search for.", "Such as: neural networks")
    warning = f"Semantic Scholar's search by relevance takes plain words; it was asked: {words}"
    return words, (warning,) if words != spaced else ()


def get_date_limits(query: Query) -> tuple[str, str]:
    """Return the first and the last day of a query; whole years as years, which match more."""
    first, last = to_day_range(query, "Semantic Scholar")
    if first[4:] in ("", "-01-01") and last[4:] in ("", "-12-31"):
        return first[:4], last[:4]
    return first, last


def build_filters(first: str, last: str, fields: Sequence[str]) -> dict[str, str]:
    """Return the filters of both searches: dates (``YYYY[-MM[-DD]]``, "" for open) and fields.

    >>> build_filters("2020", "", ["biology"]), build_filters("2020-02", "2020-03", [])
    ({'year': '2020-', 'fieldsOfStudy': 'Biology'}, {'publicationDateOrYear': '2020-02:2020-03'})

    Raises
    ------
    BadRequest
        There is no such field of study.
    """
    made = {}
    if first or last:
        years = len(first) in (0, 4) and len(last) in (0, 4)
        made = (
            {"year": f"{first}-{last}"} if years else {"publicationDateOrYear": f"{first}:{last}"}
        )
    spelled = {field.lower(): field for field in FIELDS_OF_STUDY}
    for field in fields:
        if field.strip().lower() not in spelled:
            msg = f"Semantic Scholar has no field of study {field[:80]!r}."
            raise BadRequest(msg, f"It has {', '.join(FIELDS_OF_STUDY)}.")
    if fields:
        made["fieldsOfStudy"] = ",".join(spelled[field.strip().lower()] for field in fields)
    return made


def require_list_reply(reply: Any) -> dict[str, Any]:
    """Return a reply that holds a list, which may be null; raise for another form."""
    if not isinstance(reply, dict) or not isinstance(reply.get("data", ""), list | None):
        raise build_form_error(reply)
    return reply


def require_page_with_total(reply: Any) -> dict[str, Any]:
    """Return a page of a search; raise without a total, since a guess would lose pages."""
    if to_paper_count(require_list_reply(reply).get("total")) is None:
        msg = "Semantic Scholar did not say how many hits there are."
        raise Unreachable(msg, "Try again later.")
    return require_list_reply(reply)


def get_rows(reply: Mapping[str, Any]) -> list[Any]:
    """Return the rows of a list that may be null."""
    return reply.get("data") or []


def get_next_start(reply: Mapping[str, Any], start: int) -> int | None:
    """Return the offset of the next page, which is always after this one."""
    following = to_paper_count(reply.get("next"))
    return following if following is not None and following > start else None


def _fetch_relevant_page(
    words: str, filters: Mapping[str, str], most: int, start: int, web: Web
) -> ScholarPage:
    """Return one page of the search by relevance."""
    limit = min(most, _HITS_PER_PAGE, _MAX_RELEVANT_HITS - start)
    if limit < 1:
        shown = f"Semantic Scholar shows the first {_MAX_RELEVANT_HITS} hits of a search."
        msg = f"start is {start:,}; {shown}"
        raise BadRequest(msg, "Narrow it by years or fields of study, or search in bulk.")

    def learn(reply: Any) -> None:
        _cache_rows(get_rows(reply), web)

    params = {"query": words, "offset": start, "limit": limit, "fields": FIELDS, **filters}
    try:
        reply = request_json("/paper/search", params, web, require_page_with_total, learn=learn)
    except BadRequest as refusal:
        if PAGE_BEYOND_END not in refusal.message:
            raise
        warning = "Semantic Scholar ends the list here, before the total it told."
        return ScholarPage(None, (), warnings=(warning,))
    rows, total = get_rows(reply), reply["total"]
    papers = tuple(filter(None, map(to_scholar_paper, rows)))
    following, reached = get_next_start(reply, start), start + len(rows)
    if following is not None and following < _MAX_RELEVANT_HITS:
        return ScholarPage(total, papers, following)
    if total <= reached:
        return ScholarPage(total, papers)
    warning = (
        f"Semantic Scholar shows {reached:,} of about {total:,} hits;"
        " narrow the search, or search in bulk."
    )
    return ScholarPage(total, papers, warnings=(warning,))


def _search_newest(words: str, filters: Mapping[str, str], query: Query, web: Web) -> ScholarPage:
    """Return the newest hits of a bulk search; the search by relevance has no other order."""
    if query.start + query.max_results > BULK_PAGE_SIZE:
        msg = (
            f"Semantic Scholar shows the {BULK_PAGE_SIZE:,} newest hits; start is {query.start:,}."
        )
        raise BadRequest(msg, "Narrow the search by date.")
    params = {"query": words, "sort": "publicationDate:desc", **filters}
    page = search_bulk(params, query.max_results, query.start, web)
    if not page.token:
        return page
    warning = (
        f"Semantic Scholar shows the {BULK_PAGE_SIZE:,} newest hits; narrow the search by date."
    )
    return replace(page, next_start=None, token="", warnings=(warning,))


def _build_query_filters(query: Query) -> dict[str, str]:
    """Return the filters of a query; raise `BadRequest` for unsupported ones."""
    if query.author:
        msg = "Semantic Scholar's search does not look for authors."
        raise BadRequest(msg, "Leave the author out, or ask another source.")
    made = build_filters(*get_date_limits(query), query.categories)
    if unknown := [kind for kind in query.publication_types if kind not in TYPE_NAMES]:
        msg = f"Semantic Scholar knows no publication type {', '.join(unknown)}."
        raise BadRequest(msg, f"It knows {', '.join(TYPE_NAMES)}.")
    if kinds := [TYPE_NAMES[kind] for kind in query.publication_types]:
        made["publicationTypes"] = ",".join(kinds)
    return made


def _cache_rows(rows: Sequence[Any], web: Web) -> None:
    """Cache the papers of a page for a day."""
    for row in rows:
        if name := Ids.maybe(to_text(to_dict(row).get("paperId"))).s2:
            cache_reply(build_paper_path(name), {"fields": FIELDS}, row, web)


def check_access(web: Web) -> str:
    """Run a small search, and describe its number of hits."""
    return f"a search ({count_hits(web):,} hits)"


SOURCE = Source(
    name="semantic_scholar",
    about="Semantic Scholar: papers of every discipline, citation counts, who cites whom",
    addresses=(ADDRESS,),
    keys=(
        Key(
            "semantic_scholar_api_key",
            "one request a second of your own, instead of a pool everybody shares; given for "
            "your own research, not to third-party applications, and withdrawn after 60 idle days",
            "https://www.semanticscholar.org/product/api#api-key-form",
        ),
    ),
    kept_by="machines",
    searched=4,
    rates=(RATE,),
    search=add_search_cache("semantic_scholar", search),
    lookup=Lookup(("s2",), _IDS_PER_BATCH, look_up_papers),
    check_access=check_access,
)


def fetch_linked_papers(name: str, kind: Kind, most: int, start: int, web: Web) -> ScholarPage:
    """Return up to 1,000 papers that cite the paper *name*, or that it cites.

    Raises
    ------
    BadRequest
        *start* lies beyond what it shows.
    NotConfigured
        The key is not known.
    NotFound
        Semantic Scholar does not know the paper.
    Unreachable
        It did not answer, or with something else.
    """
    limit = min(most, _MAX_LIST_PAGE, _MAX_LISTED - start)
    if limit < 1:
        shown = f"Semantic Scholar shows the first {_MAX_LISTED:,} {kind} of a paper."
        msg = f"start is {start:,}; {shown}"
        raise BadRequest(msg, "Its data sets hold all of them.")
    params = {"fields": LIST_FIELDS, "offset": start, "limit": limit}
    reply = request_json(f"{build_paper_path(name)}/{kind}", params, web, require_list_reply)
    rows = get_rows(reply)
    ends = (row.get(_OTHER_END[kind]) if isinstance(row, dict) else None for row in rows)
    papers = tuple(filter(None, map(to_scholar_paper, ends)))
    warnings = []
    if reply["data"] is None:
        warnings.append(f"The publisher lets Semantic Scholar show no {kind}.")
    if nameless := len(rows) - len(papers):
        warnings.append(f"{nameless:,} of these {kind} have no record and are left out.")
    following = get_next_start(reply, start)
    if following is None and start == 0 and reply["data"] is not None:
        return ScholarPage(len(rows), papers, warnings=tuple(warnings))
    total, more_warnings = _fetch_total(name, kind, web)
    reached = start + len(rows)
    if following is None or following >= _MAX_LISTED:
        following = None
        more_warnings += _build_gap_warning(kind, total, reached)
    return ScholarPage(total, papers, following, warnings=(*warnings, *more_warnings))


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[LinkedPaper], str]:
    """Return the length of the list, its first *most* papers, and the requested address.

    Raises
    ------
    NotAvailable
        Semantic Scholar does not know the paper, or not the key.
    Unreachable
        It did not answer, or with something else.
    """
    try:
        page = fetch_linked_papers(build_graph_name(ids), kind, most, 0, web)
    except (BadRequest, NotFound, NotConfigured) as error:
        raise NotAvailable(error.message, error.hint) from None
    rows = [LinkedPaper.from_paper(found.paper) for found in page.papers]
    total = len(rows) if page.total is None else max(page.total, len(rows))
    path = f"{build_paper_path(build_graph_name(ids))}/{kind}"
    return total, rows[:most], f"{web.settings.address('semantic_scholar')}{path}"


def _fetch_total(name: str, kind: Kind, web: Web) -> tuple[int | None, tuple[str, ...]]:
    """Return the length of the list, from the paper's record."""
    try:
        paper = fetch_paper(name, web)
    except SourceMiss as silent:
        return None, (f"How many {kind} there are could not be asked: {silent.message}",)
    return (paper.citation_count if kind == "citations" else paper.reference_count), ()


def _build_gap_warning(kind: Kind, total: int | None, reached: int) -> tuple[str, ...]:
    """Return a warning about papers that the list does not show."""
    if total is None:
        at_the_wall = reached >= _MAX_LISTED
        warning = f"Semantic Scholar shows the first {_MAX_LISTED:,} {kind}; there may be more."
        return (warning,) if at_the_wall else ()
    beyond = total - reached
    warning = (
        f"Semantic Scholar shows the first {reached:,} of {total:,} {kind};"
        f" {beyond:,} lie beyond what it lists."
    )
    return (warning,) if beyond > 0 else ()
