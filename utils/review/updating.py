"""An update of a review: every search again, every record asked about again, who cites it now.

Decisions are never touched. What came is kept in steps, each of them whole: new hits and news of
records, then new citing papers. Killed between, the same command goes on, and the tables of the
report have both. A database that does not answer keeps its search of the last update, with its day;
the first search has to be answered by all, for a figure that lacks one is worse than none.

News of a record is that it was retracted or corrected, or that a copy of it is open now.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..download.ladder import Ladder
from ..download.records import CROSSREF_ANEW, PUBMED_ANEW, look_up
from ..errors import BadRequest, NotConfigured, PaperError, Unreachable
from ..harvest.searches import Collected, collect, wanted_searches
from ..http import require_newer_than
from ..lists.pasted import Entry
from ..lists.references import read_file_entries
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..sources import Query
from .ledger import Event, Record, Searched
from .protocol import NAME, OTHER_METHODS, ListFile, Protocol

if TYPE_CHECKING:
    from .review import Review

Outcome = Literal["retracted", "concern", "corrected", "new_copy"]
_OUTCOMES: dict[str, Outcome] = {
    "retraction": "retracted",
    "expression_of_concern": "concern",
    "erratum": "corrected",
    "republication": "corrected",
    "update": "corrected",
}

_NOBODY = Ids()
IN_WORDS = {
    "retracted": "retracted",
    "concern": "expression of concern",
    "corrected": "corrected",
    "new_copy": "in PMC now",
    "citing": "cites what is included",
    "citation searching": "found by citations",
    "new": "new",
}
"""What happened, as people read it, the most urgent first."""


def urgency(outcome: str) -> int:
    """The place of what happened among `IN_WORDS`."""
    return list(IN_WORDS).index(outcome)


@dataclass(frozen=True, slots=True)
class Update:
    """What an update brought.

    Parameters
    ----------
    new : tuple of Record
        Records that no earlier update had.
    news : tuple of News
        What is new about those that were there.
    citing : tuple of Record
        New papers that cite an included report: records of *citation searching* from now on.
    silent : tuple of str
        Who could not tell what: nothing follows from what they did not say. Ask again.
    """

    new: tuple[Record, ...]
    news: tuple[News, ...]
    citing: tuple[Record, ...]
    searches: tuple[Searched, ...]
    notes: tuple[str, ...]
    silent: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing that anybody has to look at."""
        return not (self.new or self.news or self.citing or self.silent)


def update(review: Review) -> Update:
    """Make an update; see `.review.Review.update`."""
    protocol, ledger = review.protocol(), review.ledger
    known, before = ledger.records(), ledger.searches()
    papers = [record.paper for record in known]
    first = _collected(review, protocol, papers, before, others=False)
    found = _looked_up(review, first.papers)
    rest = _collected(review, protocol, [*papers, *(paper for _, paper in found)], (), others=True)
    others = _looked_up(review, rest.papers)
    renewed, untold = looked_up_anew(known, review.ladder)
    searches = [
        *_databases_searched(protocol, first, before),
        *_lists_searched(protocol, first),
        *_lists_searched(protocol, rest),
    ]
    changes = find_news(known, renewed)
    silent = [*(told for _, told in first.silent), *untold]
    with ledger.event("update", {}) as writer:
        added = writer.add_records("databases", found)
        added += writer.add_records("other", others)
        writer.add_searches(searches)
        writer.update_records(renewed)
        counted = dict(Counter(str(one.outcome) for one in changes))
        hits = {one.search.name: one.search.hits for one in searches}
        told = [asdict(one) for one in changes]
        writer.note({"new": added, "hits": hits, **counted, "news": told, "silent": silent})
        number = writer.number
    citing, unanswered, notes = _citing_now(review)
    return Update(
        tuple(_of_event(review, number)),
        tuple(changes),
        citing,
        tuple(searches),
        (*first.notes, *rest.notes, *notes),
        (*silent, *unanswered),
    )


def _of_event(review: Review, number: int) -> list[Record]:
    return [record for record in review.ledger.records() if record.event == number]


# -- searches --------------------------------------------------------------------------------------


def _collected(
    review: Review,
    protocol: Protocol,
    known: Sequence[Paper],
    before: Sequence[Searched],
    *,
    others: bool,
) -> Collected:
    sources = review.ladder.sources
    databases = () if others else protocol.databases
    wanted_searches("", [one.source for one in databases], sources)  # names are checked here
    queries = [replace(one.query, text=f"{one.source}: {one.query.text}") for one in databases]
    wanted = wanted_searches(queries, (), sources)
    lists = {
        one.name: _entries_of(one)
        for one in protocol.lists
        if (one.kind in OTHER_METHODS) == others
    }
    if not others and not (wanted or protocol.lists):
        msg = f"The protocol of {review.name} names no database and no list."
        raise BadRequest(msg, f"Fill in {review.folder / NAME}.")
    spared = {at for at, one in enumerate(databases) if _last_of(one.source, one.query, before)}
    return collect(wanted, lists, review.ladder, known, spared=spared)


def _last_of(source: str, query: Query, before: Sequence[Searched]) -> Searched | None:
    """The same search as the last update made it, if it did."""
    asked = (source, query.text, _limits(query))
    return next(
        (one for one in before if (one.search.source, one.search.query, one.limits) == asked), None
    )


def _limits(query: Query) -> str:
    dates = [query.min_date and f"from {query.min_date}", query.max_date and f"to {query.max_date}"]
    return " ".join(filter(None, dates))


def _databases_searched(
    protocol: Protocol, found: Collected, before: Sequence[Searched]
) -> Iterator[Searched]:
    """The searches of databases; those that nobody answered are as the last update made them."""
    silent = {at for at, _ in found.silent}
    answered = iter(one for one in found.searches if one.source)
    for at, database in enumerate(protocol.databases):
        last = _last_of(database.source, database.query, before) if at in silent else None
        yield last or Searched("databases", "database", next(answered), _limits(database.query))


def _lists_searched(protocol: Protocol, found: Collected) -> Iterator[Searched]:
    """The lists, with what the protocol says of each."""
    lists = {one.name: one for one in protocol.lists}
    for search in found.searches:
        if not search.source:
            told = lists[search.name]
            searched = replace(
                search, query=told.query, searched_at=told.searched or search.searched_at
            )
            arm = "other" if told.kind in OTHER_METHODS else "databases"
            yield Searched(arm, told.kind, searched, told.limits)


def _looked_up(review: Review, entries: Iterable[Entry]) -> list[tuple[Entry, Paper]]:
    """What is known of each entry: by a database, else by the list, else its identifiers."""
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


def _entries_of(one: ListFile) -> list[Entry]:
    """The papers of a list in the protocol."""
    try:
        data = one.path.read_bytes()
    except OSError as error:
        msg = f"The list {one.path.name} of the protocol cannot be read: {error.strerror}."
        raise BadRequest(msg, f"Put it into {one.path.parent}.") from error
    try:
        return list(read_file_entries(data, one.path.name))
    except PaperError as error:
        raise BadRequest(f"{one.path.name}: {error.message}", error.hint) from error


# -- who cites what is included --------------------------------------------------------------------


def chased(events: Iterable[Event]) -> set[tuple[str, str]]:
    """Which records' citations were searched by a person's wish, and in which directions."""
    return {
        (key, way)
        for event in events
        if event.what == "snowball" and not event.detail.get("by_update")
        for way in event.detail["ways"]
        for key in event.detail["seeds"]
    }


def _citing_now(review: Review) -> tuple[tuple[Record, ...], tuple[str, ...], tuple[str, ...]]:
    """New papers that cite included reports; who could not tell; what a reviewer has to know.

    Asked about are reports whose citing papers `review snowball` searched: what is new is what it
    did not find.
    """
    done = chased(review.events())
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
    return tuple(_of_event(review, number)), found.notes, notes


# -- since the published state ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """Something that came after the review began: when, what, to which record."""

    at: str
    outcome: str
    key: str
    detail: str = ""


def changes_of(events: Sequence[Event], records: Iterable[Record]) -> Iterator[Change]:
    """All that *events* brought, the latest event first, new records before news of old ones."""
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
            yield Change(event.at, outcome, key, detail)
        for one in event.detail.get("news", ()):
            yield Change(event.at, one["outcome"], one["key"], one["detail"])


def since_published(events: Sequence[Event]) -> tuple[str, list[Event]]:
    """When the review's state was published last, and what happened since; empty: never."""
    at = next((n for n in range(len(events) - 1, -1, -1) if events[n].what == "published"), None)
    return ("", []) if at is None else (events[at].at, list(events[at + 1 :]))


def silent_in(events: Sequence[Event]) -> list[str]:
    """Who could not tell what at the last update."""
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    last = events[updates[-1] :] if updates else []
    told = [line for event in last for line in event.detail.get("silent", ())]
    return list(dict.fromkeys(told))


@dataclass(frozen=True, slots=True)
class News:
    """Something new about a record."""

    key: str
    outcome: Outcome
    title: str
    detail: str = ""


def looked_up_anew(records: Sequence[Record], ladder: Ladder) -> tuple[dict[str, Paper], list[str]]:
    """What PubMed, else Crossref, says of records now, by key; who could not tell of how many.

    No earlier answer is used. Who has neither PMID nor DOI cannot be asked about.
    """
    names = {record.key: record.paper.ids for record in records}
    wanted = {key: ids for key, ids in names.items() if ids.pmid or ids.doi}
    if not wanted:
        return {}, []
    with require_newer_than(time.time()):
        found = look_up(
            list(dict.fromkeys(wanted.values())), ladder.web, [PUBMED_ANEW, CROSSREF_ANEW]
        )
    told: dict[str, Paper] = {}
    silent: Counter[str] = Counter()
    for record in records:
        paper = found.get(wanted.get(record.key, _NOBODY))
        if isinstance(paper, Unreachable | NotConfigured):
            silent[str(paper.details.get("said") or paper.message)] += 1
        if isinstance(paper, Paper):
            told[record.key] = _merged(record.paper, paper)
    return told, [
        f"{n:,} {'record' if n == 1 else 'records'} could not be asked about: {why}"
        for why, n in silent.items()
    ]


def _merged(before: Paper, after: Paper) -> Paper:
    """The new record, with what only the old one knew."""
    notices = dict.fromkeys((*after.notices, *before.notices))
    return replace(
        after,
        ids=after.ids | before.ids,
        title=after.title or before.title,
        abstract=after.abstract or before.abstract,
        notices=tuple(notices),
    )


def find_news(records: Sequence[Record], renewed: Mapping[str, Paper]) -> list[News]:
    """How records differ from what was known of them."""
    made: list[News] = []
    for record in records:
        before, after = record.paper, renewed.get(record.key)
        if after is None:
            continue
        made += [
            News(record.key, _OUTCOMES[notice.kind], after.title, notice.reference)
            for notice in after.notices
            if notice not in before.notices and notice.kind in _OUTCOMES
        ]
        noticed = any(one.key == record.key and one.outcome == "retracted" for one in made)
        if after.retracted and not before.retracted and not noticed:
            made.append(News(record.key, "retracted", after.title))
        if after.ids.pmcid and not before.ids.pmcid:
            made.append(News(record.key, "new_copy", after.title, after.ids.pmcid))
    return made
