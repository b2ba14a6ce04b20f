"""Search PubMed, and fetch its records, parsed or as they are.

E-utilities ``esearch`` and ``efetch`` with ``db=pubmed``. A PMID that PubMed does not know (any
more) is left out of the answer silently, and the order of the answer is not promised.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..errors import BadContent, BadRequest, Unreachable
from ..http import Answer, Web
from ..model.identifiers import Ids
from ..model.paper import Paper, SearchResult, to_row
from ..model.site import Address, Key
from .eutils import (
    MAX_IDS_PER_REQUEST,
    RATE,
    build_public_url,
    call_utility,
    get_total,
    is_sent_by_post,
    list_warnings,
)
from .source import Lookup, Query, Source, add_search_cache, recall_papers

# PubMed serves the first 9,999 hits of a search only; retstart may be at most 9,998.
LAST_HIT = 9_999
_DOIS_PER_SEARCH = 50
_CACHE_DAYS = 1.0
_SORTS = {
    "pub_date": "pub_date",
    "relevance": "relevance",
    "author": "Author",
    "journal": "JournalName",
}
_PMID = re.compile(r"[1-9]\d{0,8}", re.A)
_WARNINGS = {
    "phrasesnotfound": "Not found in PubMed: {}.",
    "fieldsnotfound": "Field tag ignored, PubMed does not know it: [{}].",
    "phrasesignored": "Ignored by PubMed: {}.",
    "quotedphrasesnotfound": "No such phrase in PubMed, its words were searched one by one: {}.",
    "outputmessages": "PubMed says: {}",
}
Form = Literal["xml", "medline"]
_FORMS: dict[Form, dict[str, str]] = {
    "xml": {"retmode": "xml"},
    "medline": {"retmode": "text", "rettype": "medline"},
}


@dataclass(frozen=True, slots=True)
class Hits:
    """The PMIDs of one page of a search, and PubMed's reading of the query.

    ``web_env`` and ``query_key`` point to the whole result on NCBI's history server.
    """

    pmids: tuple[str, ...]
    start: int
    total: int
    effective_query: str
    warnings: tuple[str, ...]
    web_env: str = ""
    query_key: str = ""

    def build_slice_params(self, offset: int, size: int) -> dict[str, Any]:
        """Return the parameters that request a part of this page from the history server."""
        place = {"WebEnv": self.web_env, "query_key": self.query_key}
        return {**place, "retstart": self.start + offset, "retmax": size}


def search(query: Query, web: Web) -> SearchResult:
    """Search PubMed in its own query language.

    Returns
    -------
    SearchResult
        Papers in the order asked for. A PMID whose record PubMed did not send is named in the
        warnings.
    """
    hits = search_pmids(query, web)
    records = fetch_papers(hits.pmids, web, hits)
    papers = tuple(records[pmid] for pmid in hits.pmids if pmid in records)
    missing = [pmid for pmid in hits.pmids if pmid not in records]
    warnings = hits.warnings
    if missing:
        warnings += (f"PubMed sent no record for PMID {', '.join(missing)}.",)
    end = query.start + len(hits.pmids)
    more = hits.pmids and end < min(hits.total, LAST_HIT)
    return SearchResult(
        query=query.text,
        effective_query=hits.effective_query,
        total=hits.total,
        papers=papers,
        warnings=warnings,
        next_start=end if more else None,
    )


def search_pmids(query: Query, web: Web, *, kept: bool = False) -> Hits:
    """Return one page of the PMIDs of a search; *kept* stores it on the history server.

    Raises
    ------
    BadRequest
        The page begins beyond the 9,999 hits PubMed serves.
    Unreachable
        PubMed reported an error of its own, also where the status was 200.
    """
    if query.start >= LAST_HIT:
        msg = f"start is {query.start}, but PubMed serves only the first {LAST_HIT:,} hits."
        raise BadRequest(msg, "Narrow the search, for example by date.")
    params = _build_page_params(query, kept=kept)
    result = get_search_result(call_utility(web, "esearch", params, read=Answer.json).json())
    hits = _to_hits(result, query, query.start)
    expected = max(0, min(params["retmax"], hits.total - query.start))
    if (sent := len(hits.pmids)) >= expected:
        return hits
    warning = f"PubMed sent {sent} of the {expected} hits of this page."
    return replace(hits, warnings=(*hits.warnings, warning))


def _to_hits(result: Mapping[str, Any], query: Query, start: int = 0) -> Hits:
    """Return the hits of a search result."""
    return Hits(
        pmids=tuple(map(str, result["idlist"])),
        start=start,
        total=get_total(result),
        effective_query=add_date_range(result.get("querytranslation") or "", query),
        warnings=list_warnings(result, _WARNINGS),
        web_env=result.get("webenv") or "",
        query_key=result.get("querykey") or "",
    )


def build_search_url(query: Query, web: Web, *, kept: bool = False) -> str:
    """Return the address of a search, without secrets."""
    return build_public_url(web, "esearch", _build_page_params(query, kept=kept))


def fetch_first_hits(query: Query, web: Web, among: str = "") -> Hits:
    """Return all PMIDs of a search, or the first 9,999 of a longer one.

    Unlike `search_pmids` it takes no page that is shorter than PubMed's own count for an answer.

    Parameters
    ----------
    query : Query
    web : Web
    among : str
        Narrows the search, such as ``AND hasabstract``; the query's own words stay untouched.

    Raises
    ------
    Unreachable
        PubMed did not answer, or sent other numbers of hits than it counted, several times.
    """

    def read(answer: Answer) -> None:
        try:
            result = get_search_result(answer.json())
        except Unreachable:
            if among:
                raise
            return  # PubMed cannot run the search at all: raised below, and not tried again
        count, sent = get_total(result), {str(pmid) for pmid in result["idlist"]}
        if len(sent) != min(count, LAST_HIT) or not all(map(_PMID.fullmatch, sent)):
            raise BadContent(f"PubMed counted {count:,} hits and returned {len(sent):,}.")

    page = {"retmax": LAST_HIT, "sort": "pub_date"}
    answer = call_utility(web, "esearch", {**_build_search_params(query, among), **page}, read=read)
    return _to_hits(get_search_result(answer.json()), query)


def count_hits(query: Query, web: Web, among: str = "") -> int:
    """Return the number of hits; *among* narrows the search, see `fetch_first_hits`.

    Raises
    ------
    Unreachable
        PubMed did not answer, or not with a number.
    """
    answer = call_utility(
        web, "esearch", {**_build_search_params(query, among), "rettype": "count"}, read=Answer.json
    )
    return get_total(get_search_result(answer.json(), needs="count"))


def fetch_papers(
    pmids: Sequence[str], web: Web, hits: Hits | None = None, *, anew: bool = False
) -> dict[str, Paper]:
    """Return the records of many papers, by PMID; skip unknown PMIDs.

    Records fetched within the last day are not asked for again, unless *anew*. When *hits* is
    given and more than one batch is wanted, the identifiers stay on NCBI's history server, unless
    it has forgotten them.
    """
    known = {} if anew else recall_papers("pubmed", pmids, web)
    wanted = [pmid for pmid in dict.fromkeys(pmids) if pmid not in known]
    from_history = bool(hits and hits.web_env and len(wanted) == len(pmids) > MAX_IDS_PER_REQUEST)
    for start in range(0, len(wanted), MAX_IDS_PER_REQUEST):
        batch = wanted[start : start + MAX_IDS_PER_REQUEST]
        params = {"id": ",".join(batch)}
        if from_history and hits:
            try:
                papers = _fetch_batch(hits.build_slice_params(start, len(batch)), web)
            except Unreachable as error:
                if not error.details.get("expired"):
                    raise
                from_history = False
                papers = _fetch_batch(params, web)
        else:
            papers = _fetch_batch(params, web)
        for paper in papers:
            known[paper.ids.pmid] = paper
    return known


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind PMIDs and DOIs."""
    pmids = _find_pmids([ids.doi for ids in wanted if not ids.pmid and ids.doi], web)
    pmid_of = {ids: ids.pmid or pmids.get(ids.doi, "") for ids in wanted}
    records = fetch_papers([pmid for pmid in pmid_of.values() if pmid], web)
    return {ids: records[pmid] for ids, pmid in pmid_of.items() if pmid in records}


def recall_cached_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the records behind PMIDs that were fetched within the last day."""
    kept = recall_papers("pubmed", [ids.pmid for ids in wanted if ids.pmid], web)
    return {ids: kept[ids.pmid] for ids in wanted if ids.pmid in kept}


def _fetch_batch(which: Mapping[str, Any], web: Web) -> list[Paper]:
    """Fetch and cache the papers of one request."""
    from ..readers.pubmed import iterate_records

    papers: list[Paper] = []

    def read(answer: Answer) -> None:
        papers[:] = [record for record in iterate_records(answer.body) if isinstance(record, Paper)]
        # At once: the next batch is made of others, and would bring these again.
        rows = {paper.ids.pmid: to_row(paper) for paper in papers}
        web.cache.put_many("pubmed", rows, _CACHE_DAYS)

    call_utility(web, "efetch", {"db": "pubmed", "retmode": "xml", **which}, read)
    return papers


def _find_pmids(dois: Sequence[str], web: Web) -> dict[str, str]:
    """Return the PMID of each DOI that PubMed has.

    PubMed degrades an unknown DOI to a search for its pieces and returns other papers, so only
    records that carry the DOI themselves count.
    """
    found: dict[str, str] = {}
    for start in range(0, len(dois), _DOIS_PER_SEARCH):
        batch = [doi for doi in dois[start : start + _DOIS_PER_SEARCH] if '"' not in doi]
        if not batch:
            continue
        query = Query(" OR ".join(f'"{doi}"[doi]' for doi in batch), max_results=4 * len(batch))
        for pmid, paper in fetch_papers(search_pmids(query, web).pmids, web).items():
            if paper.ids.doi in batch:
                found[paper.ids.doi] = pmid
    return found


def _build_page_params(query: Query, *, kept: bool) -> dict[str, Any]:
    """Return the parameters of a page of a search."""
    wanted = min(query.max_results, LAST_HIT - query.start)
    return {
        **_build_search_params(query),
        "retstart": query.start,
        "retmax": wanted,
        "sort": _SORTS[query.sort_by],
        "usehistory": "y" if kept or wanted > MAX_IDS_PER_REQUEST else "",
    }


def _build_search_params(query: Query, among: str = "") -> dict[str, str]:
    """Return the parameters of a search that all requests for it share."""
    words = build_term(query)
    return {
        "db": "pubmed",
        "retmode": "json",
        "term": f"({words}) {among}" if among else words,
        "datetype": query.date_type if query.min_date else "",
        "mindate": query.min_date,
        "maxdate": query.max_date,
    }


def add_date_range(words: str, query: Query) -> str:
    """Return the term with its range of dates, which PubMed's own term does not include.

    >>> add_date_range("moss[ti]", Query("moss[ti]", min_date="2020/05", max_date="3000"))
    'moss[ti] AND 2020/05:3000[pdat]'
    """
    days = f"{query.min_date}:{query.max_date}[{query.date_type}]"
    given = words and query.min_date and query.min_date not in words.rpartition(" AND ")[2]
    return f"{words} AND {days}" if given else words


def build_term(query: Query) -> str:
    """Return the term to send: the query, narrowed to its author and publication types.

    Raises
    ------
    BadRequest
        PubMed has no such categories.
    """
    if query.categories:
        msg = "PubMed has none of the categories of arXiv or Semantic Scholar."
        raise BadRequest(msg, "Search without them, or narrow by MeSH heading.")
    parts = []
    if author := " ".join(re.sub(r'[][()":]', " ", query.author).split()):
        parts.append(f"{author}[au]")  # without quotes: "Varga I" is to find "Varga IM" too
    if types := [kind.replace('"', "") for kind in query.publication_types]:
        parts.append("(" + " OR ".join(f'"{kind}"[pt]' for kind in types) + ")")
    if not parts:
        return query.text
    return " AND ".join([f"({query.text})"] * bool(query.text.strip()) + parts)


def get_search_result(reply: Any, needs: str = "idlist") -> dict[str, Any]:
    """Return the members of ``esearchresult``; raise `Unreachable` for a failed search."""
    result = reply.get("esearchresult") if isinstance(reply, dict) else None
    if not isinstance(result, dict) or not isinstance(
        result.get(needs), list if needs == "idlist" else str
    ):
        error_text = result.get("ERROR") if isinstance(result, dict) else ""
        error = " ".join(str(error_text or "an answer without a result").split())
        msg = f"PubMed could not run the search: {error}"
        raise Unreachable(msg, "Check brackets and quotes in the query, or try again in a minute.")
    return result


def check_access(web: Web) -> str:
    """Run a small search, and describe its number of hits."""
    total = search(Query("pubmed", max_results=1), web).total
    return f"a search ({total:,} hits)"


SOURCE = Source(
    name="pubmed",
    about="NCBI PubMed: search, and the record and abstract of every paper in it",
    addresses=(
        Address("eutils", "https://eutils.ncbi.nlm.nih.gov/entrez/eutils", "NCBI E-utilities"),
    ),
    keys=(
        Key(
            "ncbi_api_key",
            "10 requests a second at NCBI instead of 3",
            "https://account.ncbi.nlm.nih.gov/settings/",
            aliases=("pubmed_api_key",),
        ),
    ),
    kept_by="indexers",
    searched=1,
    label="PubMed_Abstract",
    rates=(RATE,),
    search=add_search_cache("pubmed", search),
    lookup=Lookup(("pmid", "doi"), MAX_IDS_PER_REQUEST, look_up_papers, recall_cached_papers),
    check_access=check_access,
)


def recall_records(pmids: Sequence[str], form: Form, web: Web) -> dict[str, str]:
    """Return the records that were fetched within the last day."""
    kept = web.cache.get_many(f"pubmed_{form}", pmids)
    return {pmid: record for pmid, record in kept.items() if isinstance(record, str)}


def fetch_records(pmids: Sequence[str], form: Form, web: Web) -> dict[str, str]:
    """Return the records of at most 200 PMIDs, in one request; skip unknown PMIDs.

    Raises
    ------
    Unreachable
        PubMed did not answer, or not with records.
    """
    from ..readers.pubmed_articles import split_medline_records, split_xml_records

    found: dict[str, str] = {}

    def read(answer: Answer) -> None:
        found.clear()
        found.update(
            split_xml_records(answer.body)
            if form == "xml"
            else split_medline_records(answer.text())
        )

    call_utility(web, "efetch", _build_record_params(pmids, form), read)
    wanted = set(pmids)
    records = {pmid: record for pmid, record in found.items() if pmid in wanted}
    for pmid, record in records.items():
        web.cache.put(f"pubmed_{form}", pmid, record, _CACHE_DAYS)
    return records


def describe_record_request(pmids: Sequence[str], form: Form, web: Web) -> tuple[str, str]:
    """Return the method and address of the request for records, without secrets."""
    params = _build_record_params(pmids, form)
    return "POST" if is_sent_by_post(web, params) else "GET", build_public_url(
        web, "efetch", params
    )


def _build_record_params(pmids: Sequence[str], form: Form) -> dict[str, Any]:
    """Return the parameters of a request for records."""
    return {"db": "pubmed", "id": ",".join(pmids), **_FORMS[form]}
