"""Resolve a reference without an identifier to its paper, or to candidates, but never guess.

Candidates come from `.reference_search`; whether one is the paper, the judge of same papers says
(`.same_paper`). It is taken where that says *same* with a confidence of `MIN_CONFIDENCE` at the
least, and no other candidate is as good. A list's record says less than a database's, so more is
asked for here where its silence could hide another paper:

- another year, or page, only beside the same volume: an updated review keeps title and people;
- a comment, or what is in another issue, only at the same page;
- of more hits than were looked at, only one at the same place in the journal
  (`MIN_CONFIDENCE_IF_CROWDED`);
- a title that is the beginning of another only at the same place and by the same authors.

What a list does not say cannot tell two papers apart: beside title, first author, journal and year
there may be another paper of all these, which is taken where the right one is nowhere to be found.

A record without title is its paper where journal, year, volume, first page and first author agree.

What was resolved is remembered for a year, and what was not for a day; that a site did not answer
is never remembered, and never shown as "nothing found".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..http import Web
from ..judges.titles import measure_title_likeness
from ..lists.pasted import ListEntry
from ..model.identifiers import Ids
from ..model.paper import Paper, paper_from_row, to_row
from ..sources import Source
from ..system.plain_text import one_line
from .compared_records import (
    ComparedRecord,
    compare_authors,
    compare_journals,
    compare_pages,
    compare_volumes,
    count_years_between,
)
from .reference_search import ECITMATCH, STEPS, WantedReference, iterate_candidates
from .same_paper import Judgement, Relation, judge_compared_pair, judge_pair

MIN_CONFIDENCE = 0.9
"""The least confidence with which a candidate is taken (see `.same_paper`)."""
MIN_CONFIDENCE_IF_CROWDED = 0.95
"""That of a candidate at the same place in the journal."""
_RULES_VERSION = (
    1  # a higher number when other papers would be taken: what is remembered is asked again
)
_KNOWN_DAYS, _UNKNOWN_DAYS = 365.0, 1.0
_MAX_CANDIDATES = 5  # candidates that are told
# Types of what may have the title of the paper it is about.
_ABOUT_OTHERS = {"comment", "expression of concern", "retraction notice"}
_NEAR_TITLE_LIKENESS = 0.6
_MIN_CUT_TITLE_WORDS = 5  # words of a title that may be the beginning of another
_RELATIONS: Mapping[Relation, str] = {
    "same": "",
    "may_be": "",
    "different": "",
    "preprint_of": "the article of this preprint: ",
    "has_preprint": "its preprint: ",
    "version_of": "another version: ",
}
_BATCH_REFERENCES = 100  # references that are worked on together
Status = Literal["given", "resolved", "candidates", "not_found", "could_not_tell", "unreadable"]


@dataclass(frozen=True, slots=True)
class ResolvedCandidate:
    """A paper that a reference may mean, with confidence, reason and source."""

    paper: Paper
    relation: Relation
    confidence: float
    reason: str
    named_by: str

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        names = ("relation", "confidence", "reason", "named_by")
        said = {name: getattr(self, name) for name in names}
        return {**self.paper.short_row(), "arxiv": self.paper.ids.arxiv, **said}

    def __str__(self) -> str:
        """Return the identifiers and the reason on one line."""
        said = f"{_RELATIONS[self.relation]}{self.reason}"
        return f"{', '.join(self.paper.ids.names())} ({said}; {self.confidence:.2f})"


@dataclass(frozen=True, slots=True)
class Resolution:
    """The outcome for one reference of a list.

    Parameters
    ----------
    asked : str
        The words of the list.
    status : str
        ``given`` (it had an identifier), ``resolved``, ``candidates`` (none is sure),
        ``not_found``, ``could_not_tell`` (a site did not answer) or ``unreadable`` (it says too
        little to look for).
    ids : Ids
        Of the paper; empty where it is not known.
    confidence : float
        How sure that is, 0 to 1.
    reason, named_by : str
        Why, and which site named the paper.
    candidates : tuple of Candidate
        What else it may be, the likeliest first.
    titled : tuple of Paper
        Where none is sure: papers with nearly this title, also by other authors or of other years.
    message : str
        What is wrong, empty when nothing is.
    """

    asked: str
    status: Status
    ids: Ids = field(default_factory=Ids)
    confidence: float = 0.0
    reason: str = ""
    named_by: str = ""
    candidates: tuple[ResolvedCandidate, ...] = ()
    message: str = ""
    titled: tuple[Paper, ...] = ()

    def __str__(self) -> str:
        """Return on one line which paper the reference is, how certain that is, and why."""
        said = f"{self.confidence:.2f}: {self.reason}"
        return f"{', '.join(self.ids.names())} ({said}; {self.named_by})" if self.named_by else ""

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        names = {"pmid": self.ids.pmid, "pmcid": self.ids.pmcid, "doi": self.ids.doi}
        return {
            "asked": self.asked,
            "status": self.status,
            **names,
            "arxiv": self.ids.arxiv,
            "confidence": self.confidence,
            "reason": self.reason,
            "named_by": self.named_by,
            "candidates": [one.row() for one in self.candidates],
            "message": self.message,
        }


def resolve_entries(
    entries: Iterable[ListEntry], web: Web, sources: Sequence[Source], *, anew: bool = False
) -> Iterator[Resolution]:
    """Yield the papers or candidates found for each entry of a list, in order.

    Parameters
    ----------
    entries : iterable of Entry
        Those with an identifier are passed on as they are.
    anew : bool, optional
        Look again for what was not found lately.

    Raises
    ------
    NotConfigured
        No e-mail address is set.
    """
    web.settings.require_email("NCBI")
    waiting: list[ListEntry] = []
    for entry in entries:
        waiting.append(entry)
        if sum(not one.ids for one in waiting) >= _BATCH_REFERENCES:
            yield from _resolve_entry_batch(waiting, web, sources, anew=anew)
            waiting = []
    yield from _resolve_entry_batch(waiting, web, sources, anew=anew)


def _resolve_entry_batch(
    entries: Sequence[ListEntry], web: Web, sources: Sequence[Source], *, anew: bool
) -> Iterator[Resolution]:
    done: dict[int, Resolution] = {}
    for at, entry in enumerate(entries):
        if entry.ids:
            done[at] = Resolution(entry.asked, "given", entry.ids, 1.0, "the list names it")
        elif not (entry.paper and _is_searchable(entry.paper)):
            told = "It names no title, and no place in a journal."
            done[at] = Resolution(entry.asked, "unreadable", message=told)
        elif known := _load_cached_resolution(entry.paper, web, anew=anew):
            done[at] = replace(known, asked=entry.asked)
    wanted = {
        at: WantedReference(entry.paper)
        for at, entry in enumerate(entries)
        if at not in done and entry.paper
    }
    for at, found in _search_step_by_step(wanted, web, sources):
        done[at] = replace(found, asked=entries[at].asked)
        _cache_resolution(wanted[at].paper, found, web)
    yield from (done[at] for at in range(len(entries)))


def _is_searchable(paper: Paper) -> bool:
    return bool(paper.title or (paper.journal and paper.pages and (paper.volume or paper.year)))


def _search_step_by_step(
    wanted: Mapping[int, WantedReference], web: Web, sources: Sequence[Source]
) -> Iterator[tuple[int, Resolution]]:
    """Search in steps, each for the references that are not resolved yet."""
    left = dict(wanted)
    for step in STEPS:
        if not left:
            return
        step(list(left.values()), web, sources)
        for at, one in list(left.items()):
            found = choose_candidate(one)
            if found.status == "resolved":
                del left[at]
                yield at, found
    yield from ((at, _build_unresolved(one)) for at, one in left.items())


def _build_unresolved(one: WantedReference) -> Resolution:
    """Return the outcome of a reference for which no candidate is certain."""
    found = replace(
        choose_candidate(one), titled=tuple(_list_candidates_by_title(one)[:_MAX_CANDIDATES])
    )
    if one.silent:
        message = " ".join(one_line(told) for told in one.silent.values())
        return replace(found, status="could_not_tell", message=message)
    return found


def _list_candidates_by_title(one: WantedReference) -> list[Paper]:
    """Return the candidates with nearly the reference's title, the nearest first."""
    named = (paper for paper, _ in iterate_candidates(one))
    near = [(measure_title_likeness(one.paper.title, paper.title), paper) for paper in named]
    near.sort(key=lambda pair: -pair[0])
    return [paper for likeness, paper in near if likeness >= _NEAR_TITLE_LIKENESS]


def choose_candidate(one: WantedReference) -> Resolution:
    """Return the candidate that certainly is the paper; otherwise all likely candidates."""
    row = ComparedRecord(one.paper)
    judged = (_judge_candidate(row, paper, site) for paper, site in iterate_candidates(one))
    near = sorted(
        (candidate for candidate in judged if candidate.relation != "different"),
        key=lambda candidate: -candidate.confidence,
    )
    least = MIN_CONFIDENCE_IF_CROWDED if one.crowded else MIN_CONFIDENCE
    same = [
        candidate
        for candidate in near
        if candidate.confidence >= least and _is_unambiguous(row, candidate)
    ]
    told = tuple(near[:_MAX_CANDIDATES])
    if not same:
        return Resolution("", "candidates" if told else "not_found", candidates=told)
    best = same[0]
    ids, rivals = _merge_best_candidates(best, same[1:])
    if rivals:
        msg = f"Several are as good: {', '.join(str(one.paper.ids) for one in (best, *rivals))}."
        return Resolution("", "candidates", candidates=told, message=msg)
    return Resolution("", "resolved", ids, best.confidence, best.reason, best.named_by)


def _judge_candidate(row: ComparedRecord, paper: Paper, site: str) -> ResolvedCandidate:
    other = ComparedRecord(paper)
    said = _compare_records(row, other)
    if said.relation == "different" and site == ECITMATCH:
        said = Judgement("may_be", "at this place in the journal, but with another title", 0.3)
    return ResolvedCandidate(paper, said.relation, said.confidence, said.reason, site)


def _compare_records(row: ComparedRecord, other: ComparedRecord) -> Judgement:
    """Judge how a candidate relates to the reference."""
    if not row.titles:
        return _judge_by_citation(row, other)
    said = judge_compared_pair(row, other)
    if said.relation == "different" and _is_title_truncated(row, other):
        whole = replace(row.paper, title=f"{row.paper.title.rstrip('. ')}…")
        return judge_compared_pair(ComparedRecord(whole), other)
    return said


def _is_title_truncated(row: ComparedRecord, other: ComparedRecord) -> bool:
    """Return whether one title is the beginning of the other, cut by a field's length."""
    begins = len(row.folded_title) < len(other.folded_title) and other.folded_title.startswith(
        row.folded_title
    )
    return begins and len(row.titles[0]) >= _MIN_CUT_TITLE_WORDS


def _judge_by_citation(row: ComparedRecord, other: ComparedRecord) -> Judgement:
    agreeing = (
        compare_journals(row, other),
        compare_volumes(row, other),
        compare_pages(row, other),
        compare_authors(row, other),
    )
    if set(agreeing) == {"same"} and count_years_between(row, other) == 0:
        return Judgement(
            "same", "same journal, year, volume, first page and author", MIN_CONFIDENCE_IF_CROWDED
        )
    if "differ" in agreeing:
        return Judgement("different", "another place or other authors", 0.0)
    return Judgement("may_be", "no title to tell by", 0.5)


def _is_unambiguous(row: ComparedRecord, candidate: ResolvedCandidate) -> bool:
    """Return whether a candidate is the paper, and no similar paper is possible."""
    if candidate.relation != "same":
        return False
    other = ComparedRecord(candidate.paper)
    on_page = compare_pages(row, other) == "same"
    elsewhere = bool(count_years_between(row, other)) or (
        row.page[1] and other.page[1] and not on_page
    )
    if elsewhere and compare_volumes(row, other) != "same":
        return False
    if on_page:
        return True
    kinds = {kind.casefold() for kind in candidate.paper.publication_types}
    return not (kinds & _ABOUT_OTHERS) and not _are_in_different_issues(row.paper, candidate.paper)


def _are_in_different_issues(ours: Paper, theirs: Paper) -> bool:
    """Return whether both records name an issue number, and the numbers differ."""
    issues = [one.issue.strip().lstrip("0") for one in (ours, theirs)]
    return all(map(str.isdigit, issues)) and issues[0] != issues[1]


def _merge_best_candidates(
    best: ResolvedCandidate, others: Sequence[ResolvedCandidate]
) -> tuple[Ids, list[ResolvedCandidate]]:
    """Return the identifiers of the best candidate's records, and equally good papers."""
    ids, rivals = best.paper.ids, []
    for other in others:
        if ids.clash(other.paper.ids) or judge_pair(best.paper, other.paper).relation != "same":
            if other.confidence >= best.confidence:
                rivals.append(other)
        else:
            ids |= other.paper.ids
    return ids, rivals


def _build_cache_key(paper: Paper) -> str:
    said = json.dumps(to_row(paper), sort_keys=True, ensure_ascii=True)
    return f"{_RULES_VERSION} {hashlib.sha256(said.encode()).hexdigest()}"


def _load_cached_resolution(paper: Paper, web: Web, *, anew: bool) -> Resolution | None:
    kept = web.cache.get("resolution", _build_cache_key(paper))
    with suppress(LookupError, TypeError, AttributeError, ValueError):  # another version wrote it
        if kept and (kept["status"] == "resolved" or not anew):
            near = tuple(
                ResolvedCandidate(**{**one, "paper": paper_from_row(one["paper"])})
                for one in kept["candidates"]
            )
            titled = tuple(map(paper_from_row, kept["titled"]))
            fields = {name: kept[name] for name in ("confidence", "reason", "named_by", "message")}
            ids = Ids(**kept["ids"])
            return Resolution("", kept["status"], ids, candidates=near, titled=titled, **fields)
    return None


def _cache_resolution(paper: Paper, found: Resolution, web: Web) -> None:
    if found.status == "could_not_tell":
        return
    row = {
        "status": found.status,
        "ids": {name: value for name, value in to_row(found.ids).items() if value},
        "confidence": found.confidence,
        "reason": found.reason,
        "named_by": found.named_by,
        "message": found.message,
        "candidates": [
            to_row(replace(one, paper=_drop_abstract(one.paper))) for one in found.candidates
        ],
        "titled": [to_row(_drop_abstract(one)) for one in found.titled],
    }
    days = _KNOWN_DAYS if found.status == "resolved" else _UNKNOWN_DAYS
    web.cache.put("resolution", _build_cache_key(paper), row, days)


def _drop_abstract(paper: Paper) -> Paper:
    return replace(paper, abstract="", other_abstracts=(), mesh=())
