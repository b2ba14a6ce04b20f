"""One question to several sources at once, and one list of papers out of their answers.

Every source is asked the same wish side by side, in its own pace. What they found is merged (see
`.same_paper`) and ordered by reciprocal rank fusion: a paper scores 1/(60 + rank) in every list it
is in (Cormack, Clarke & Büttcher, SIGIR 2009), so that agreement beats any single opinion and no
source's scores need to be comparable with another's. A source that fails or is slow is named.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeGuard
from weakref import WeakKeyDictionary

from .bare_query import bare_words
from .errors import BadRequest, NotConfigured, PaperError, Unreachable
from .identifiers import Ids
from .merged_record import as_one, by_trust
from .paper import Paper, SearchResult
from .patience import Patience
from .pubmed_search import checked
from .same_paper import Judgement, Relation, grouped
from .sources import Query, Source
from .web import Web

USUAL = ("pubmed", "europepmc", "arxiv", "semantic_scholar")
WITH_KEY = "openalex"
SORTS = ("relevance", "pub_date")
MOST_RESULTS = 100  # the most any of the sources sends in one answer
LONGEST_S = 15.0  # of the twenty a call has; the rest is for merging and the door
_FUSION = 60
_EARLIEST, _LATEST = 1800, 3000

Outcome = Literal["answered", "unreachable", "busy", "refused", "not_configured", "slow"]
# When nobody answered, this is what the reader hears of first.
_GRAVITY: tuple[Outcome, ...] = ("unreachable", "busy", "slow", "not_configured", "refused")


@dataclass(frozen=True, slots=True)
class Asked:
    """How it went at one source.

    ``total`` is that source's own count of hits (None when it did not answer), ``returned`` how
    many of them it sent; ``query`` the question as it was put there, in the source's own words
    where it told them; ``message`` what is wrong, empty when nothing is.
    """

    source: str
    outcome: Outcome
    total: int | None = None
    returned: int = 0
    query: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Same:
    """A record that was merged into another, and why; ``confidence`` is 1 for identifiers."""

    source: str
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Link:
    """Another paper that belongs to this one, kept apart.

    ``relation`` is this paper's: it is a ``preprint_of`` the other, ``has_preprint`` in it, is
    another ``version_of`` it, or ``may_be`` the same paper, which nothing proves.
    """

    relation: Relation
    ids: Ids
    title: str
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Found:
    """A paper, merged from every source that found it.

    ``sources`` are those that sent it, the one whose fields win first (see `.merged_record`);
    ``same`` what was merged into that first record.
    """

    paper: Paper
    sources: tuple[str, ...]
    same: tuple[Same, ...] = ()
    linked: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """One list of papers, and how each source did."""

    query: str
    papers: tuple[Found, ...]
    asked: tuple[Asked, ...]
    warnings: tuple[str, ...] = ()


# Work that was too slow for one call goes on, and the same call joins it.
_patience: WeakKeyDictionary[Web, Patience[SearchResult]] = WeakKeyDictionary()
_Answers = dict[str, SearchResult | PaperError | None]


def search_papers(
    query: str,
    web: Web,
    sources: Sequence[Source],
    *,
    among: Sequence[str] = (),
    max_results: int = 20,
    start_year: int = 0,
    end_year: int = 0,
    author: str = "",
    sort_by: str = "relevance",
    longest_s: float = LONGEST_S,
) -> Gathered:
    """Ask several sources the same question; every paper once, with all that was found on it.

    Parameters
    ----------
    query : str
        Words, phrases in quotes, AND/OR/NOT. PubMed's field tags reach PubMed as they are; the
        others get the words.
    among : sequence of str, optional
        Names of sources; PubMed, Europe PMC, arXiv and Semantic Scholar when none is given, and
        OpenAlex where its key is set.
    max_results : int, optional
        How many each source is asked for, and how many the merged list has at the most.
    start_year, end_year : int, optional
        Years of publication, both included; 0 for an open end.
    author : str, optional
        A name that every paper must carry.
    sort_by : {"relevance", "pub_date"}, optional
    longest_s : float, optional
        Seconds the call waits. A source that takes longer is ``slow``; its work goes on, and the
        same call finds it.

    Raises
    ------
    BadRequest
        The question cannot be asked; nothing was sent.
    PaperError
        No source answered: the gravest reason, with every other in its message.
    """
    wish = _wish(query, max_results, (start_year, end_year), author, sort_by)
    chosen = _chosen(among, sources, web)
    bare, warnings = bare_words(wish.text)
    wishes = {
        source.name: wish if source.name == "pubmed" else replace(wish, text=bare)
        for source in chosen
    }
    answers = _answers(chosen, wishes, web, longest_s)
    asked = tuple(_asked(source, wishes[source.name], answers, longest_s) for source in chosen)
    if not any(one.outcome == "answered" for one in asked):
        raise _nobody_answered(asked, answers)
    if all(source.name == "pubmed" for source in chosen):
        warnings = ()
    found, contradictions = merged_lists(
        {name: answer.papers for name, answer in answers.items() if _is_answer(answer)}
    )
    ordered = _by_date(found) if sort_by == "pub_date" else found
    silent = tuple(one.message for one in asked if one.outcome != "answered")
    papers = tuple(_preprints_after(ordered)[:max_results])
    return Gathered(query, papers, asked, (*warnings, *silent, *contradictions))


def merged_lists(
    lists: Mapping[str, Sequence[Paper]],
) -> tuple[list[Found], tuple[str, ...]]:
    """Several sources' lists as one, the best first, and what contradicts itself in them."""
    records = [
        (name, rank, paper) for name, papers in lists.items() for rank, paper in enumerate(papers)
    ]
    families = grouped([paper for _, _, paper in records])
    found, scores = [], []
    for group in families.groups:
        members = sorted(group, key=lambda at: by_trust(records[at][0], records[at][2]))
        found.append(_found([records[at] for at in members], members, families.reasons))
        best = {}
        for at in group:
            name, rank, _ = records[at]
            best[name] = min(rank, best.get(name, rank))
        scores.append(sum(1 / (_FUSION + rank + 1) for rank in best.values()))
    for one, other, judgement in families.links:
        found[one] = _linked(found[one], found[other], judgement)
        found[other] = _linked(found[other], found[one], judgement.turned)
    order = sorted(range(len(found)), key=lambda at: -scores[at])
    return [found[at] for at in order], families.contradictions


def _wish(query: str, max_results: int, years: tuple[int, int], author: str, sort_by: str) -> Query:
    if sort_by not in SORTS:
        raise BadRequest(f"sort_by is {sort_by!r}.", f"It must be one of {', '.join(SORTS)}.")
    if not 1 <= max_results <= MOST_RESULTS:
        msg = f"max_results is {max_results}; it must lie between 1 and {MOST_RESULTS}."
        raise BadRequest(msg, "Ask a single source for more.")
    for name, year in zip(("start_year", "end_year"), years, strict=True):
        if year and not _EARLIEST <= year <= _LATEST:
            msg = f"{name} is {year}; it must lie between {_EARLIEST} and {_LATEST}."
            raise BadRequest(msg, "Leave it out, or give 0, for an open end.")
    first, last = years
    if first and last and first > last:
        raise BadRequest(f"start_year {first} is later than end_year {last}.", "Swap them.")
    wish = Query(
        query.strip(), max_results=max_results, sort_by=sort_by, author=" ".join(author.split())
    )
    if first or last:
        wish = replace(wish, min_date=str(first or _EARLIEST), max_date=str(last or _LATEST))
    return checked(wish)


def _chosen(among: Sequence[str], sources: Sequence[Source], web: Web) -> list[Source]:
    able = {source.name: source for source in sources if source.search}
    names = list(dict.fromkeys(among))
    if not names:
        names = [*USUAL, *((WITH_KEY,) if web.settings.openalex_api_key else ())]
    if strange := [name for name in names if name not in able]:
        msg = f"{', '.join(strange)} cannot be searched."
        raise BadRequest(msg, f"Choose among {', '.join(able)}.")
    return [able[name] for name in names]


def _answers(
    chosen: Sequence[Source], wishes: Mapping[str, Query], web: Web, longest_s: float
) -> _Answers:
    """What each source sent or why it could not; None for what is still under way."""
    works = {}
    for source in chosen:
        assert source.search is not None
        asked: Hashable = (source.name, wishes[source.name])
        works[asked] = partial(source.search, wishes[source.name], web)
    patience = _patience.setdefault(web, Patience(workers=32))
    over = patience.together(works, longest_s)
    return {
        name: _outcome_of(over[name, wish]) if (name, wish) in over else None
        for name, wish in wishes.items()
    }


def _outcome_of(work: Future[SearchResult]) -> SearchResult | PaperError:
    try:
        return work.result()
    except PaperError as error:
        return error


def _asked(source: Source, wish: Query, answers: _Answers, longest_s: float) -> Asked:
    answer, label = answers[source.name], source.about.split(":")[0]
    if answer is None:
        said = f"{label} was not there within {longest_s:.0f} s; ask the same again to have it."
        return Asked(source.name, "slow", query=wish.text, message=said)
    if isinstance(answer, PaperError):
        said = f"{label}: {answer}"
        return Asked(source.name, _outcome(answer), query=wish.text, message=said)
    return Asked(
        source.name,
        "answered",
        total=answer.total,
        returned=len(answer.papers),
        query=answer.effective_query or answer.query,
        warnings=answer.warnings,
    )


def _outcome(error: PaperError) -> Outcome:
    if isinstance(error, NotConfigured):
        return "not_configured"
    if isinstance(error, BadRequest) or error.details.get("status") in (400, 401, 403):
        return "refused"
    return "busy" if error.code == "RATE_LIMIT" else "unreachable"


def _nobody_answered(asked: Sequence[Asked], answers: _Answers) -> PaperError:
    """The gravest of the reasons, and in its words all of them."""
    gravest = min(asked, key=lambda one: _GRAVITY.index(one.outcome))
    told = " ".join(one.message for one in asked)
    outcomes = {one.source: one.outcome for one in asked}
    error = answers[gravest.source]
    if not isinstance(error, PaperError):
        return Unreachable(f"No source answered in time. {told}", sources=outcomes)
    details = {**error.details, "sources": outcomes}
    said = error.message if len(asked) == 1 else f"No source answered. {told}"
    return type(error)(said, error.hint if len(asked) == 1 else "", **details)


def _is_answer(answer: SearchResult | PaperError | None) -> TypeGuard[SearchResult]:
    return isinstance(answer, SearchResult)


def _found(
    records: Sequence[tuple[str, int, Paper]],
    places: Sequence[int],
    reasons: Mapping[int, Judgement],
) -> Found:
    """One paper out of its records, the most trusted first."""
    papers = [paper for _, _, paper in records]
    same = []
    for (name, _, paper), at in zip(records[1:], places[1:], strict=True):
        why = reasons.get(at) or reasons[places[0]]
        same.append(Same(name, paper.ids, paper.title, why.reason, why.confidence))
    names = tuple(dict.fromkeys(name for name, _, _ in records))
    return Found(as_one(papers), names, tuple(same))


def _linked(ours: Found, theirs: Found, judgement: Judgement) -> Found:
    paper = theirs.paper
    link = Link(judgement.relation, paper.ids, paper.title, judgement.reason, judgement.confidence)
    return replace(ours, linked=(*ours.linked, link))


def _by_date(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda one: one.paper.published, reverse=True)


def _preprints_after(found: Sequence[Found]) -> Iterator[Found]:
    """The same order, but a preprint right behind its published version; that of the better."""
    by_ids = {one.paper.ids: one for one in found if one.paper.ids}
    given: set[int] = set()
    for one in found:
        published = next(_related(one, "preprint_of", by_ids), one)
        for each in (published, *_related(published, "has_preprint", by_ids), one):
            if id(each) not in given:
                given.add(id(each))
                yield each


def _related(one: Found, relation: Relation, by_ids: Mapping[Ids, Found]) -> Iterator[Found]:
    yield from (
        by_ids[link.ids] for link in one.linked if link.relation == relation and link.ids in by_ids
    )
