"""Search ClinicalTrials.gov, the register of trials, by its API of version 2.

A trial has no DOI and no PMID: its number (``NCT…``) is kept as the pages of its record, and the
publications that its sponsor or PubMed names as its results are notices of later versions.
Publications that are only named as background are left out.

Pages are reached by tokens, each page's end leading to the next; they are remembered for an hour.
The total comes with the first page only. An error is a sentence in plain text with status 400.
https://clinicaltrials.gov/data-api/api; about 50 requests a minute are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BadRequest, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import TRIAL_REGISTRATION, Author, Notice, Paper, SearchResult
from ..model.site import Address
from ..system.plain_text import decode_references, one_line
from .loose_json import to_count, to_dict, to_dicts, to_text
from .source import Query, Source, add_search_cache, to_day_range

_PAGE = 1000
_LAST_START = 10_000  # hits that are passed over to reach a page whose token is unknown
_MARK_DAYS = 1 / 24
_SORTS = {"relevance": "@relevance", "pub_date": "StudyFirstPostDate:desc"}
_RESULT_TYPES = ("RESULT", "DERIVED")
_FIELDS = (
    "NCTId,BriefTitle,OfficialTitle,BriefSummary,LeadSponsorName,StudyFirstPostDate,"
    "StudyFirstSubmitDate,LastUpdatePostDate,StudyType,Condition,Keyword,ReferencePMID,"
    "ReferenceType,ReferenceCitation"
)


def search(query: Query, web: Web) -> SearchResult:
    """Search ClinicalTrials.gov in its own syntax; dates are dates of first posting.

    Raises
    ------
    BadRequest
        It has no such filter or order, cannot read the query, or the page lies too far away.
    Unreachable
        It did not answer, or not with trials.
    """
    params = _build_params(query)
    name = " ".join(f"{key}={value}" for key, value in sorted(params.items()))
    kept = to_dict(web.cache.get("clinicaltrials_page", f"{query.start} {name}"))
    at = query.start if kept else 0
    token, total = to_text(kept.get("token")), to_count(kept.get("total")) or 0
    if query.start > _LAST_START and not kept:
        msg = f"ClinicalTrials.gov has no numbered pages; hit {query.start:,} is too far to reach."
        raise BadRequest(msg, "Narrow the search, for example by date, or go page by page.")
    trials: list[dict[str, Any]] = []
    end = query.start + query.max_results
    while at < end:
        stop = query.start if at < query.start else end
        page = _fetch_page({**params, "pageSize": min(_PAGE, stop - at)}, token, web)
        rows = to_dicts(page.get("studies"))
        total = total if token else to_count(page.get("totalCount")) or len(rows)
        trials += rows if at >= query.start else []
        at, token = at + len(rows), to_text(page.get("nextPageToken"))
        if not (rows and token):
            break
    if token:
        mark = {"token": token, "total": total}
        web.cache.put("clinicaltrials_page", f"{at} {name}", mark, _MARK_DAYS)
    return SearchResult(
        query=query.text,
        effective_query=" ".join(
            params[key] for key in ("query.term", "filter.advanced") if key in params
        ),
        total=total,
        papers=tuple(map(_to_paper, trials)),
        next_start=at if token and trials else None,
    )


def _build_params(query: Query) -> dict[str, Any]:
    """Return the parameters of a search, without the paging parameters."""
    if query.author or query.categories or query.publication_types:
        msg = "ClinicalTrials.gov has no authors, categories or publication types."
        raise BadRequest(msg, "Search without them.")
    if query.sort_by not in _SORTS:
        msg = f"ClinicalTrials.gov cannot sort by {query.sort_by!r}."
        raise BadRequest(msg, f"It sorts by {' or '.join(_SORTS)}.")
    if not query.text.strip():
        raise BadRequest("There is nothing to search for.", "Give words.")
    params = {"query.term": query.text.strip(), "sort": _SORTS[query.sort_by], "fields": _FIELDS}
    first, last = to_day_range(query, "ClinicalTrials.gov")
    if first or last:
        limits = f"RANGE[{first or 'MIN'},{last or 'MAX'}]"
        params["filter.advanced"] = f"AREA[StudyFirstPostDate]{limits}"
    return params


def _fetch_page(params: Mapping[str, Any], token: str, web: Web) -> dict[str, Any]:
    """Return one page of trials."""
    page = {"pageToken": token} if token else {"countTotal": "true"}
    answer = web.get(
        f"{web.settings.address('clinicaltrials')}/studies",
        {**params, **page},
        allow={400},
        check=_check_answer,
    )
    return to_dict(answer.json())


def _check_answer(answer: Answer) -> None:
    """Raise for a query that cannot be read, or an answer without trials."""
    if answer.status == 400:
        reason = one_line(answer.body[:300].decode("utf-8", "replace"))
        msg = f"ClinicalTrials.gov cannot answer this query: {reason[:200].rstrip('.')}."
        raise BadRequest(msg, "Ask in plain words; quotes and AND, OR, NOT are understood.")
    if not isinstance(to_dict(answer.json()).get("studies"), list):
        raise Unreachable("ClinicalTrials.gov sent an answer without trials.", "Try again later.")


def _to_paper(study: Mapping[str, Any]) -> Paper:
    """Return the record of a trial."""
    parts = to_dict(study.get("protocolSection"))

    def get_part(module: str) -> dict[str, Any]:
        return to_dict(parts.get(f"{module}Module"))

    named, status, topics = (get_part(one) for one in ("identification", "status", "conditions"))
    sponsor = to_dict(get_part("sponsorCollaborators").get("leadSponsor"))
    kind = to_text(get_part("design").get("studyType")).replace("_", " ").capitalize()
    title = to_text(named.get("officialTitle")) or to_text(named.get("briefTitle"))
    words = [*(topics.get("conditions") or ()), *(topics.get("keywords") or ())]
    return Paper(
        Ids(),
        title=one_line(decode_references(title)),
        abstract=decode_references(to_text(get_part("description").get("briefSummary"))),
        authors=tuple(Author(collective=name) for name in [to_text(sponsor.get("name"))] if name),
        journal="ClinicalTrials.gov",
        pages=to_text(named.get("nctId")),
        published=_get_day(status, "studyFirstPostDateStruct"),
        entered=to_text(status.get("studyFirstSubmitDate")),
        revised=_get_day(status, "lastUpdatePostDateStruct"),
        publication_types=(TRIAL_REGISTRATION, *([kind] if kind else [])),
        keywords=tuple(dict.fromkeys(filter(None, map(to_text, words)))),
        notices=tuple(
            Notice("update", one_line(to_text(one.get("citation"))), to_text(one.get("pmid")))
            for one in to_dicts(get_part("references").get("references"))
            if one.get("type") in _RESULT_TYPES and to_text(one.get("pmid"))
        ),
    )


def _get_day(status: Mapping[str, Any], name: str) -> str:
    return to_text(to_dict(status.get(name)).get("date"))


SOURCE = Source(
    name="clinicaltrials",
    probe="/version",
    about="ClinicalTrials.gov: registered trials, for the searches of reviews",
    addresses=(
        Address("clinicaltrials", "https://clinicaltrials.gov/api/v2", "ClinicalTrials.gov"),
    ),
    rates=(Rate("clinicaltrials", ("clinicaltrials",), every=1.3, in_flight=1),),
    search=add_search_cache("clinicaltrials", search),
    is_register=True,
)
