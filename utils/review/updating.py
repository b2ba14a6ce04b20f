"""Update a review: repeat every search, refresh every record, and find new citing papers.

Decisions are never changed. The results are stored in two transactions: new hits and news of
records, then new citing papers. If the program is killed in between, the same command continues. A
database that does not respond keeps its search of the last update, with its date. The first update
fails if a database does not respond: a figure without one of the databases would be wrong.

News of a record are retractions, corrections and new open copies.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..download.ladder import Ladder
from ..download.records import CROSSREF_ANEW, PUBMED_ANEW, look_up_records
from ..errors import BadRequest, NotConfigured, PaperError, Unreachable
from ..harvest.searches import CollectedPapers, build_site_queries, collect_papers
from ..http import require_answers_since
from ..lists.pasted import ListEntry
from ..lists.references import read_file_entries
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..sources import SOURCES, Query
from ..system.named_files import build_unreadable_error
from .ledger import ReviewEvent, ReviewRecord, SearchRun
from .protocol import OTHER_METHODS, PROTOCOL_FILE, ImportedList, Kind, Protocol

if TYPE_CHECKING:
    from .review import Review

Outcome = Literal["retracted", "concern", "corrected", "new_copy"]
_NOTICE_OUTCOMES: dict[str, Outcome] = {
    "retraction": "retracted",
    "expression_of_concern": "concern",
    "erratum": "corrected",
    "republication": "corrected",
    "update": "corrected",
}

_NO_IDS = Ids()
CHANGE_LABELS = {
    "retracted": "retracted",
    "concern": "expression of concern",
    "corrected": "corrected",
    "new_copy": "in PMC now",
    "citing": "cites what is included",
    "citation searching": "found by citations",
    "new": "new",
}
"""Words for each kind of change, the most urgent kind first."""


def get_urgency_rank(outcome: str) -> int:
    """Return the rank of a change in `CHANGE_LABELS`."""
    return list(CHANGE_LABELS).index(outcome)


@dataclass(frozen=True, slots=True)
class ReviewUpdate:
    """The result of an update.

    Parameters
    ----------
    new : tuple of Record
        Records that no earlier update had.
    news : tuple of News
        News of the records that were already known.
    citing : tuple of Record
        New papers that cite an included report; they are now records of *citation searching*.
    silent : tuple of str
        Sources that did not respond: their results are unknown. Update again later.
    """

    new: tuple[ReviewRecord, ...]
    news: tuple[RecordNews, ...]
    citing: tuple[ReviewRecord, ...]
    searches: tuple[SearchRun, ...]
    notes: tuple[str, ...]
    silent: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """True if the update needs no attention."""
        return not (self.new or self.news or self.citing or self.silent)


def update_review(review: Review) -> ReviewUpdate:
    """Update a review; see `.review.Review.update`."""
    protocol, ledger = review.protocol(), review.ledger
    known, before = ledger.list_records(), ledger.list_searches()
    papers = [record.paper for record in known]
    first = _collect_search_hits(review, protocol, papers, before, others=False)
    found = _fetch_entry_records(review, first.papers)
    rest = _collect_search_hits(
        review, protocol, [*papers, *(paper for _, paper in found)], (), others=True
    )
    others = _fetch_entry_records(review, rest.papers)
    renewed, untold = refresh_records(known, review.ladder)
    searches = [
        *_merge_database_searches(protocol, first, before),
        *_describe_list_searches(protocol, first),
        *_describe_list_searches(protocol, rest),
    ]
    changes = find_record_news(known, renewed)
    silent = [*(told for _, told in first.silent), *untold]
    with ledger.record_event("update", {}) as writer:
        added = writer.add_records("databases", found)
        added += writer.add_records("other", others)
        writer.add_searches(searches)
        writer.update_records(renewed)
        counted = dict(Counter(str(one.outcome) for one in changes))
        hits = {one.search.name: one.search.hits for one in searches}
        told = [asdict(one) for one in changes]
        writer.set_event_detail(
            {"new": added, "hits": hits, **counted, "news": told, "silent": silent}
        )
        number = writer.number
    citing, unanswered, notes = _find_new_citing_papers(review)
    return ReviewUpdate(
        tuple(_list_event_records(review, number)),
        tuple(changes),
        citing,
        tuple(searches),
        (*first.notes, *rest.notes, *notes),
        (*silent, *unanswered),
    )


def _list_event_records(review: Review, number: int) -> list[ReviewRecord]:
    return [record for record in review.ledger.list_records() if record.event == number]


# -- searches --------------------------------------------------------------------------------------


def _collect_search_hits(
    review: Review,
    protocol: Protocol,
    known: Sequence[Paper],
    before: Sequence[SearchRun],
    *,
    others: bool,
) -> CollectedPapers:
    sources = review.ladder.sources
    databases = () if others else protocol.databases
    build_site_queries(
        "", [one.source for one in databases], sources
    )  # validates the names of the sources
    queries = [replace(one.query, text=f"{one.source}: {one.query.text}") for one in databases]
    wanted = build_site_queries(queries, (), sources)
    lists = {
        one.name: _read_list_file(one)
        for one in protocol.lists
        if (one.kind in OTHER_METHODS) == others
    }
    if not others and not (wanted or protocol.lists):
        msg = f"The protocol of {review.name} names no database and no list."
        raise BadRequest(msg, f"Fill in {review.folder / PROTOCOL_FILE}.")
    spared = {
        at for at, one in enumerate(databases) if _find_last_search(one.source, one.query, before)
    }
    return collect_papers(wanted, lists, review.ladder, known, spared=spared)


def _find_last_search(source: str, query: Query, before: Sequence[SearchRun]) -> SearchRun | None:
    """Return the same search of the last update, if there was one."""
    asked = (source, query.text, _describe_limits(query))
    return next(
        (one for one in before if (one.search.source, one.search.query, one.limits) == asked), None
    )


def _describe_limits(query: Query) -> str:
    dates = [query.min_date and f"from {query.min_date}", query.max_date and f"to {query.max_date}"]
    return " ".join(filter(None, dates))


def _merge_database_searches(
    protocol: Protocol, found: CollectedPapers, before: Sequence[SearchRun]
) -> Iterator[SearchRun]:
    """Yield the databases' searches; one without an answer is taken from the last update."""
    silent = {at for at, _ in found.silent}
    registers = {source.name for source in SOURCES if source.is_register}
    answered = iter(one for one in found.searches if one.source)
    for at, database in enumerate(protocol.databases):
        last = _find_last_search(database.source, database.query, before) if at in silent else None
        kind: Kind = "register" if database.source in registers else "database"
        yield last or SearchRun("databases", kind, next(answered), _describe_limits(database.query))


def _describe_list_searches(protocol: Protocol, found: CollectedPapers) -> Iterator[SearchRun]:
    """Yield the lists as searches, with the protocol's details of each."""
    lists = {one.name: one for one in protocol.lists}
    for search in found.searches:
        if not search.source:
            told = lists[search.name]
            searched = replace(
                search, query=told.query, searched_at=told.searched or search.searched_at
            )
            arm = "other" if told.kind in OTHER_METHODS else "databases"
            yield SearchRun(arm, told.kind, searched, told.limits)


def _fetch_entry_records(
    review: Review, entries: Iterable[ListEntry]
) -> list[tuple[ListEntry, Paper]]:
    """Return each entry with its paper: from a database, else the list, else identifiers only."""
    from ..download.records import fetch_records

    entries = list(entries)
    wanted = dict.fromkeys(entry.ids for entry in entries if entry.ids)
    ladder = review.ladder
    found = dict(fetch_records(wanted, ladder.shelf, ladder.web, ladder.sources))
    made = []
    for entry in entries:
        known = found.get(entry.ids) if entry.ids else entry.paper
        if not isinstance(known, Paper):
            known = Paper(entry.ids)
        made.append((entry, replace(known, ids=known.ids | entry.ids)))
    return made


def _read_list_file(one: ImportedList) -> list[ListEntry]:
    """Return the entries of a list in the protocol."""
    try:
        data = one.path.read_bytes()
    except OSError as error:
        raise build_unreadable_error(one.path, error) from error
    try:
        return list(read_file_entries(data, one.path.name))
    except PaperError as error:
        raise BadRequest(f"{one.path.name}: {error.message}", error.hint) from error


# -- papers that cite included reports -------------------------------------------------------------


def find_searched_citations(events: Iterable[ReviewEvent]) -> set[tuple[str, str]]:
    """Return the records and directions whose citations a person has searched."""
    return {
        (key, way)
        for event in events
        if event.what == "snowball" and not event.detail.get("by_update")
        for way in event.detail["ways"]
        for key in event.detail["seeds"]
    }


def _find_new_citing_papers(
    review: Review,
) -> tuple[tuple[ReviewRecord, ...], tuple[str, ...], tuple[str, ...]]:
    """Return new papers citing included reports, sources without an answer, and notes.

    Only reports whose citing papers `review snowball` has searched are asked about: a new citing
    paper is one that `review snowball` did not find.
    """
    done = find_searched_citations(review.events())
    kept = [one.record for one in review.standings() if one.second == "include"]
    seeds = [record for record in kept if (record.key, "forward") in done]
    notes: tuple[str, ...] = ()
    if rest := len(kept) - len(seeds):
        what = "report was" if rest == 1 else "reports were"
        told = f"Who cites {rest:,} included {what} never searched:"
        notes = (f"{told} review snowball {review.name}",)
    if not seeds:
        return (), (), notes
    number, found = review.search_citations(seeds, ("forward",), by_update=True)
    return tuple(_list_event_records(review, number)), found.notes, notes


# -- since the published state ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReviewChange:
    """A change since the review began: time, kind, record."""

    at: str
    outcome: str
    key: str
    detail: str = ""


def list_changes(
    events: Sequence[ReviewEvent], records: Iterable[ReviewRecord]
) -> Iterator[ReviewChange]:
    """Yield the changes of *events*, latest first, new records before news of old records."""
    brought: dict[int, list[str]] = {}
    for record in records:
        brought.setdefault(record.event, []).append(record.key)
    for event in sorted(events, key=lambda one: -one.number):
        outcome, detail = "new", ""
        if event.what == "snowball":
            outcome = "citing" if event.detail.get("by_update") else "citation searching"
        elif event.what != "update":
            continue
        leads: dict[str, Any] = event.detail.get("leads", {})
        for key in brought.get(event.number, ()):
            detail = "; ".join(leads.get(key, ()))
            yield ReviewChange(event.at, outcome, key, detail)
        for one in event.detail.get("news", ()):
            yield ReviewChange(event.at, one["outcome"], one["key"], one["detail"])


def split_events_at_publication(events: Sequence[ReviewEvent]) -> tuple[str, list[ReviewEvent]]:
    """Return the time of the last publication and the later events; empty if never published."""
    at = next((n for n in range(len(events) - 1, -1, -1) if events[n].what == "published"), None)
    return ("", []) if at is None else (events[at].at, list(events[at + 1 :]))


def list_unanswered_sources(events: Sequence[ReviewEvent]) -> list[str]:
    """Return the sources that did not respond at the last update."""
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    last = events[updates[-1] :] if updates else []
    told = [line for event in last for line in event.detail.get("silent", ())]
    return list(dict.fromkeys(told))


@dataclass(frozen=True, slots=True)
class RecordNews:
    """A difference between the stored and the current record of a paper."""

    key: str
    outcome: Outcome
    title: str
    detail: str = ""


def refresh_records(
    records: Sequence[ReviewRecord], ladder: Ladder
) -> tuple[dict[str, Paper], list[str]]:
    """Fetch current records from PubMed, else Crossref, by key; also return failures in sentences.

    Cached answers are not used. Records with neither PMID nor DOI are skipped.
    """
    names = {record.key: record.paper.ids for record in records}
    wanted = {key: ids for key, ids in names.items() if ids.pmid or ids.doi}
    if not wanted:
        return {}, []
    with require_answers_since(time.time()):
        found = look_up_records(
            list(dict.fromkeys(wanted.values())), ladder.web, [PUBMED_ANEW, CROSSREF_ANEW]
        )
    told: dict[str, Paper] = {}
    silent: Counter[str] = Counter()
    for record in records:
        paper = found.get(wanted.get(record.key, _NO_IDS))
        if isinstance(paper, Unreachable | NotConfigured):
            silent[str(paper.details.get("said") or paper.message)] += 1
        if isinstance(paper, Paper):
            told[record.key] = _merge_papers(record.paper, paper)
    return told, [
        f"{n:,} {'record' if n == 1 else 'records'} could not be asked about: {why}"
        for why, n in silent.items()
    ]


def _merge_papers(before: Paper, after: Paper) -> Paper:
    """Return the new record, completed by details that only the old record has."""
    notices = dict.fromkeys((*after.notices, *before.notices))
    return replace(
        after,
        ids=after.ids | before.ids,
        title=after.title or before.title,
        abstract=after.abstract or before.abstract,
        notices=tuple(notices),
    )


def find_record_news(
    records: Sequence[ReviewRecord], renewed: Mapping[str, Paper]
) -> list[RecordNews]:
    """Return the differences between stored and current records."""
    made: list[RecordNews] = []
    for record in records:
        before, after = record.paper, renewed.get(record.key)
        if after is None:
            continue
        made += [
            RecordNews(record.key, _NOTICE_OUTCOMES[notice.kind], after.title, notice.reference)
            for notice in after.notices
            if notice not in before.notices and notice.kind in _NOTICE_OUTCOMES
        ]
        noticed = any(one.key == record.key and one.outcome == "retracted" for one in made)
        if after.retracted and not before.retracted and not noticed:
            made.append(RecordNews(record.key, "retracted", after.title))
        if after.ids.pmcid and not before.ids.pmcid:
            made.append(RecordNews(record.key, "new_copy", after.title, after.ids.pmcid))
    return made
