"""arXiv: its search, and the record of every preprint on it.

Beside it: how it is asked (`.arxiv.manners`), what (`.arxiv.query`), what an entry says
(`.arxiv.records`), and the texts (`.arxiv.files`).
https://info.arxiv.org/help/api/user-manual.html
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from ...errors import BadRequest, NotOffered, Unreachable
from ...identifiers import Ids
from ...paper import Paper, SearchResult, paper_from
from ...web import Answer, Web
from ..source import Lookup, Query, Route, Source, one_by_one, remembered
from .entries import paper_of
from .files import full_text
from .manners import ATOM, OPENSEARCH, RATE, REMEMBERED_DAYS, ask, feed
from .query import LAST, SHAKY, Question, question_of

_IDS_PER_REQUEST = 100


def search(query: Query, web: Web, *, sort_order: str = "descending") -> SearchResult:
    """Ask arXiv's index; the same question is sent once a day.

    Raises
    ------
    BadRequest
        It cannot be asked so, or arXiv refuses it.
    Unreachable
        arXiv is down, wants to be left alone, or keeps sending pages without the hits it counted.
    """
    question = question_of(query, sort_order)
    total, papers = _page(question, web)
    end = question.start + len(papers)
    more = bool(papers) and end < total
    warnings = list(question.warnings)
    if more and end >= LAST:
        warnings.append(f"arXiv shows the first {LAST:,} hits only; narrow the search by years.")
    elif total > SHAKY:
        warnings.append(
            f"Of {total:,} hits those after {SHAKY:,} come unreliably; narrow the search by years."
        )
    return SearchResult(
        query.text,
        question.search_query,
        total,
        papers,
        tuple(warnings),
        end if more and end < LAST else None,
    )


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The records behind arXiv identifiers, in their newest versions."""
    known = records([ids.arxiv for ids in wanted], web)
    return {ids: known[ids.arxiv] for ids in wanted if ids.arxiv in known}


def records(names: Sequence[str], web: Web) -> dict[str, Paper]:
    """What arXiv knows under *names* (``2601.00001``, ``2601.00001v1``), by these names."""
    known = remembered("arxiv", names, web)
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if not unknown:
        return known
    answer = ask(
        f"{web.settings.arxiv_base_url}/api/query",
        web,
        # Without max_results even a list of identifiers is cut to ten.
        {"id_list": ",".join(unknown), "max_results": len(unknown)},
        allow=frozenset({400}),
        check=feed,
    )
    for paper in _papers(answer):
        # An entry names its version, whether or not one was asked for.
        for name in (f"{paper.ids.arxiv}v{paper.version}", paper.ids.arxiv):
            if name in unknown:
                known[name] = paper
                _remember(name, paper, web)
    return known


def in_version(name: str, version: str, web: Web) -> Paper | None:
    """One record in the version asked for, else in the newest; None when there is no such paper."""
    asked = f"{name}v{version}" if version else name
    return records([asked], web).get(asked)


def _page(question: Question, web: Web) -> tuple[int, tuple[Paper, ...]]:
    """How many hits there are, and those of one page."""
    name = json.dumps(question.params, sort_keys=True)
    if kept := web.memory.recall("arxiv_search", name):
        return kept["total"], tuple(paper_from(row) for row in kept["papers"])
    try:
        answer = ask(
            f"{web.settings.arxiv_base_url}/api/query",
            web,
            question.params,
            allow=frozenset({400}),
            check=_require_hits,
        )
    except NotOffered as refused:
        if refused.details.get("status") != 400:
            raise
        raise BadRequest(refused.message, "Simplify the query, or ask for fewer hits.") from None
    total, papers = _total(answer), tuple(_papers(answer))
    kept = {"total": total, "papers": [asdict(paper) for paper in papers]}
    web.memory.keep("arxiv_search", name, kept, REMEMBERED_DAYS)
    for paper in papers:  # a search shows the newest versions: no need to look them up after it
        _remember(paper.ids.arxiv, paper, web)
    return total, papers


def _require_hits(answer: Answer) -> None:
    """A page inside the total that holds nothing is arXiv's own trouble, and passes."""
    root = feed(answer)
    start = root.findtext(f"{OPENSEARCH}startIndex") or "0"
    if _total(answer) > int(start) and root.find(f"{ATOM}entry") is None:
        msg = "arXiv counted hits and sent a page without any."
        raise Unreachable(msg, "Try again later, or narrow the search by years.")


def _remember(name: str, paper: Paper, web: Web) -> None:
    web.memory.keep("arxiv", name, asdict(paper), REMEMBERED_DAYS)


def _total(answer: Answer) -> int:
    told = feed(answer).findtext(f"{OPENSEARCH}totalResults") or ""
    if not told.strip().isdecimal():
        msg = "arXiv did not say how many hits there are."
        raise Unreachable(msg, "Try again later.")
    return int(told)


def _papers(answer: Answer) -> list[Paper]:
    """The papers of a feed; what has no author is no paper (unknown identifiers, at times)."""
    entries = feed(answer).iter(f"{ATOM}entry")
    papers = (paper_of(entry) for entry in entries if entry.find(f"{ATOM}author") is not None)
    return [replace(paper, recorded_by=SOURCE.name) for paper in papers if paper.ids.arxiv]


SOURCE = Source(
    name="arxiv",
    about="arXiv: search, preprints' records, and their texts as HTML, LaTeX or PDF",
    service="arxiv",
    label="arXiv",
    rates=(RATE,),
    search=search,
    lookup=Lookup(("arxiv",), _IDS_PER_REQUEST, look_up),
    routes=(Route("arxiv", ("arxiv",), one_by_one(full_text)),),
)
