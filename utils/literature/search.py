"""One question to several sources at once, and one list of papers out of their answers.

Every source is asked the same wish side by side, in its own pace; what they found becomes one list
(see `.fused_results`). A source that fails, or is slow, is named: it never looks like one that
found nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Literal, TypeGuard
from weakref import WeakKeyDictionary

from ..errors import BadRequest, NotConfigured, PaperError, Unreachable
from ..model.paper import SearchResult
from ..model.sites import SEARCHED
from ..pubmed.search import checked
from ..sources import Query, Source
from ..web import Web
from ..web.patience import Patience
from .bare_query import bare_words
from .fused_results import Found, Link, Same, fused

SORTS = ("relevance", "pub_date")
MOST_RESULTS = 100  # the most any of the sources sends in one answer
_TAGS_KNOWN_BY = "pubmed"
LONGEST_S = 15.0  # of the twenty a call has; the rest is for merging and the door
_EARLIEST, _LATEST = 1800, 2999

Outcome = Literal["answered", "unreachable", "busy", "refused", "not_configured", "slow"]
# As word processors set them: to a search they are letters.
_STRAIGHT = str.maketrans("“”„‟«»‘’", '""""""\'\'')
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

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self) | {"warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class Gathered:
    """One list of papers, and how each source did."""

    query: str
    papers: tuple[Found, ...]
    asked: tuple[Asked, ...]
    warnings: tuple[str, ...] = ()


__all__ = ["Asked", "Found", "Gathered", "Link", "Outcome", "Same", "search_papers"]

# Work that was too slow for one call goes on, and the same call joins it.
_patience: WeakKeyDictionary[Web, Patience[SearchResult]] = WeakKeyDictionary()
_Answers = dict[str, SearchResult | PaperError | None]


def search_papers(  # noqa: PLR0913 - the filters of one search
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
    wishes, warnings = _spelled(wish, chosen)
    answers = _answers(chosen, wishes, web, longest_s)
    asked = tuple(_asked(source, wishes[source.name], answers, longest_s) for source in chosen)
    if not any(one.outcome == "answered" for one in asked):
        raise _nobody_answered(asked, answers)
    papers, contradictions = fused(
        {name: answer.papers for name, answer in answers.items() if _is_answer(answer)},
        by_date=sort_by == "pub_date",
    )
    silent = tuple(one.message for one in asked if one.outcome != "answered")
    return Gathered(query, papers[:max_results], asked, (*warnings, *silent, *contradictions))


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
        query.translate(_STRAIGHT).strip(),
        max_results=max_results,
        sort_by=sort_by,
        author=" ".join(author.split()),
    )
    if first or last:
        wish = replace(wish, min_date=str(first or _EARLIEST), max_date=str(last or _LATEST))
    return checked(wish)


def _chosen(among: Sequence[str], sources: Sequence[Source], web: Web) -> list[Source]:
    able = {source.name: source for source in sources if source.search}
    names = list(dict.fromkeys(among))
    if not names:
        names = [name for name, key in SEARCHED.items() if not key or web.settings.key(key)]
    if strange := [name for name in names if name not in able]:
        msg = f"{', '.join(strange)} cannot be searched."
        raise BadRequest(msg, f"Choose among {', '.join(able)}.")
    return [able[name] for name in names]


def _spelled(wish: Query, chosen: Sequence[Source]) -> tuple[dict[str, Query], tuple[str, ...]]:
    """The wish for each source; PubMed's field tags mean nothing anywhere else."""
    bare, warnings = bare_words(wish.text)
    wishes = {
        source.name: wish if source.name == _TAGS_KNOWN_BY else replace(wish, text=bare)
        for source in chosen
    }
    elsewhere = any(name != _TAGS_KNOWN_BY for name in wishes)
    return wishes, warnings if elsewhere else ()


def _answers(
    chosen: Sequence[Source], wishes: Mapping[str, Query], web: Web, longest_s: float
) -> _Answers:
    """What each source sent or why it could not; None for what is still under way."""
    works = {
        _asking(wish, source): partial(source.search, wish, web)
        for source in chosen
        if source.search and (wish := wishes[source.name]).text
    }
    over = _patience.setdefault(web, Patience(workers=32)).run_together(works, longest_s)
    answers: _Answers = {}
    for source in chosen:
        asked = _asking(wishes[source.name], source)
        if asked not in works:
            answers[source.name] = BadRequest(
                "nothing is left of this query without PubMed's field tags."
            )
        else:
            answers[source.name] = _outcome_of(over[asked]) if asked in over else None
    return answers


def _asking(wish: Query, source: Source) -> Hashable:
    return source.name, wish


def _outcome_of(work: Future[SearchResult]) -> SearchResult | PaperError:
    try:
        return work.result()
    except PaperError as error:
        return error


def _asked(source: Source, wish: Query, answers: _Answers, longest_s: float) -> Asked:
    answer, label = answers[source.name], source.about.split(":")[0]
    if answer is None:
        said = f"{label} was not there within {longest_s:.0f} s; it goes on. Ask the same again."
        return Asked(source.name, "slow", query=wish.text, message=said)
    if isinstance(answer, PaperError):
        said = str(answer) if label in answer.message else f"{label}: {answer}"
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
