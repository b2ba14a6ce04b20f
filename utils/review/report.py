"""The report of a review: its page, its tables, and how it searched.

``review.html`` shows the review with its figure, conflicts and news. As the page of a harvest it
loads nothing and holds no script; Jinja escapes every text from outside.

The tables hold records with their standing, conflicts, searches and rows of no record.

``prisma-s.md`` says item by item how the review searched, for the appendix of its paper. The items
are those of PRISMA-S (Rethlefsen ML et al., Syst Rev 2021;10:39,
https://doi.org/10.1186/s13643-020-01542-z, CC BY 4.0). What no program knows is the authors' to
say, and an item without an answer says so.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from markupsafe import Markup

from ..model.job import Harvested, Search
from ..reports.page import render_template
from ..reports.prisma import TO_FILL, Flow, render_svg
from ..system.plain_text import clean_text, one_line, to_cell
from .ledger import Event, Record, ReviewLedger, Searched
from .protocol import Protocol
from .standing import Standing
from .updating import IN_WORDS, changes_of, silent_in, since_published, urgency

SHOWN = 50
"""Rows of a table on the page; the files beside it have all of them."""
Row = tuple[object, ...]
_RECORDS = (
    *("papershelf_key", "pmid", "pmcid", "doi", "title", "year", "journal", "found_by"),
    *("title_abstract", "full_text", "reason", "retracted", "text", "file", "labels"),
)
_DECISIONS = ("papershelf_key", "title", "stage", "screener", "decision", "reason")
_SEARCHES = (
    *("arm", "kind", "where", "query", "effective_query", "limits", "searched_at", "hits", "taken"),
)
_CHANGES = ("at", "outcome", "papershelf_key", "pmid", "doi", "title", "detail")
_STAGES = {"title_abstract": "title and abstract", "full_text": "full text"}
TextOf = Callable[[Record, dict[str, Harvested]], Harvested | None]
_OPEN = f"*{TO_FILL}*"


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows of a review.

    Parameters
    ----------
    headline : sequence of (str, int)
        The numbers at the top.
    searches : sequence of tuple
        Where, kind, query, day, records.
    conflicts : sequence of tuple
        Record, stage, screener, decision, reason; ``conflicting`` is how many records.
    changes : sequence of tuple
        Since the state that was published last, else of the last update: record, what happened,
        day, detail; ``happened`` is how many of each.
    published_at : str
        When it was published; empty where it never was.
    could_not_tell : sequence of str
        Who did not answer at the last update.
    unmatched : int
        Rows of decision files that are no record of the review.
    """

    name: str
    title: str
    question: str
    searched_at: str
    headline: Sequence[tuple[str, int]]
    searches: Sequence[Row]
    conflicts: Sequence[Row]
    conflicting: int
    changes: Sequence[Row]
    happened: Sequence[tuple[str, int]]
    published_at: str
    could_not_tell: Sequence[str]
    unmatched: int


def review_page(shown: Shown, flow: Flow) -> str:
    """The page."""
    # Trusted: `render_svg` escapes every text.
    drawing = Markup(render_svg(flow, shown.title))  # noqa: S704
    return render_template("review.html", review=shown, prisma=drawing)


def of_review(
    every: Sequence[Standing],
    ledger: ReviewLedger,
    texts: dict[str, Harvested],
    text_of: TextOf,
) -> dict[str, str]:
    """The tables as text, by the names of their files."""
    labels = ledger.labels()
    unmatched = [
        {"event": str(event), "place": place, "title": title, "why": why}
        for event, place, title, why in ledger.unmatched()
    ]
    return {
        "records.csv": _table(
            _RECORDS, (_record_row(one, text_of(one.record, texts), labels) for one in every)
        ),
        "decisions.csv": _table(_DECISIONS, (row for one in every for row in _decision_rows(one))),
        "conflicts.csv": _table(
            _DECISIONS,
            (row for one in every for row in _decision_rows(one, conflicts_only=True)),
        ),
        "changes.csv": _table(_CHANGES, _change_rows(every, list(ledger.events()))),
        "searches.csv": _table(_SEARCHES, map(_search_row, ledger.searches())),
        "unmatched.csv": _table(("event", "place", "title", "why"), unmatched),
    }


def shown_of(
    name: str, protocol: Protocol, every: Sequence[Standing], ledger: ReviewLedger
) -> Shown:
    """What the review's page shows."""
    events = list(ledger.events())
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    published_at, later = since_published(events)
    if not published_at:
        later = events[updates[-1] :] if updates else []
    changes = sorted(_change_rows(every, later), key=lambda row: urgency(str(row["outcome"])))
    conflicts = [row for one in every for row in _decision_rows(one, conflicts_only=True)]
    columns = ("title", "stage", "screener", "decision", "reason")
    return Shown(
        name,
        protocol.title or name,
        protocol.question,
        events[updates[-1]].at if updates else "",
        headline(every),
        [
            (one.search.name, one.kind, one.search.query, one.search.searched_at[:10],
             one.search.hits)
            for one in ledger.searches()
        ],
        [tuple(row[column] for column in columns) for row in map(_readable, conflicts[:SHOWN])],
        len({row["papershelf_key"] for row in conflicts}),
        [
            (row["title"], IN_WORDS[str(row["outcome"])], str(row["at"])[:10],
             row["detail"] or row["doi"] or row["pmid"])
            for row in changes[:SHOWN]
        ],
        list(Counter(IN_WORDS[str(row["outcome"])] for row in changes).items()),
        published_at,
        silent_in(events),
        len(ledger.unmatched()),
    )  # fmt: skip


def headline(every: Sequence[Standing]) -> list[tuple[str, int]]:
    """The numbers at the top of the page."""
    return [
        ("Records", len(every)),
        ("Screened", sum(one.screened for one in every)),
        ("Excluded by title and abstract", sum(one.first == "exclude" for one in every)),
        ("Assessed by full text", sum(one.assessed for one in every)),
        ("Included reports", sum(one.second == "include" for one in every)),
        ("Retracted", sum(one.record.paper.retracted for one in every)),
    ]


def appendix_of(
    protocol: Protocol,
    searches: Sequence[Searched],
    duplicates: int | None,
    runs: int,
    software: str,
) -> str:
    """PRISMA-S of a review."""
    reported = [Reported(one.search, one.kind, one.limits) for one in searches]
    answers = protocol.prisma_s or {}
    options = {"duplicates": duplicates, "runs": runs}
    return appendix(protocol.title, reported, answers, software=software, **options)  # type: ignore[arg-type]


def _record_row(
    one: Standing, text: Harvested | None, labels: Mapping[str, Sequence[str]]
) -> dict[str, object]:
    paper = one.record.paper
    return {
        "papershelf_key": one.record.key,
        "pmid": paper.ids.pmid,
        "pmcid": paper.ids.pmcid,
        "doi": paper.ids.doi,
        "title": paper.title or one.record.asked,
        "year": paper.year,
        "journal": paper.journal or paper.journal_abbreviation,
        "found_by": one.record.arm,
        "title_abstract": one.first,
        "full_text": one.second if one.assessed else "",
        "reason": one.reason,
        "retracted": paper.retracted,
        "text": text.state if text else "",
        "file": text.file if text else "",
        "labels": "; ".join(labels.get(one.record.key, ())),
    }


def _readable(row: Mapping[str, object]) -> dict[str, object]:
    """A row as people read it."""
    return {**row, "stage": _STAGES.get(str(row["stage"]), row["stage"])}


def _decision_rows(one: Standing, *, conflicts_only: bool = False) -> Iterable[dict[str, object]]:
    """A row for each word of a screener; of conflicts, those of the stage in question."""
    stages = {"title_abstract": one.first, "full_text": one.second}
    for decision in one.decisions:
        if not conflicts_only or stages[decision.stage] == "conflict":
            yield {
                "papershelf_key": one.record.key,
                "title": one.record.paper.title or one.record.asked,
                "stage": decision.stage,
                "screener": decision.screener,
                "decision": decision.choice,
                "reason": "; ".join(decision.reasons),
            }


def _change_rows(every: Sequence[Standing], events: Sequence[Event]) -> Iterable[dict[str, object]]:
    """What *events* brought, the latest first."""
    records = {one.record.key: one.record for one in every}
    for one in changes_of(events, records.values()):
        paper = records[one.key].paper
        yield {
            "at": one.at,
            "outcome": one.outcome,
            "papershelf_key": one.key,
            "pmid": paper.ids.pmid,
            "doi": paper.ids.doi,
            "title": paper.title or records[one.key].asked,
            "detail": one.detail,
        }


def _search_row(one: Searched) -> dict[str, object]:
    told = asdict(one.search)
    return told | {"arm": one.arm, "kind": one.kind, "where": one.search.name, "limits": one.limits}


def _table(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([to_cell(one_line(str(row[column]))) for column in columns])
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Reported:
    """One search for the appendix: the kind of source, and its limits in words."""

    search: Search
    kind: str
    limits: str = ""


def appendix(
    title: str,
    searches: Sequence[Reported],
    answers: Mapping[str, str],
    *,
    duplicates: int | None,
    runs: int,
    software: str,
) -> str:
    """The appendix, in Markdown.

    Parameters
    ----------
    answers : mapping of str to str
        What the authors say: ``registries``, ``browsing``, ``contacts``, ``other_methods``,
        ``filters``, ``prior_work``, ``peer_review``.
    duplicates : int or None
        Records removed as duplicates.
    runs : int
        How often the searches were run.
    software : str
        What removed duplicates, with its version.
    """
    parts = [
        f"# How we searched{f': {_line(title)}' if title else ''}",
        "After PRISMA-S (Rethlefsen et al., Syst Rev 2021;10:39, doi 10.1186/s13643-020-01542-z).",
        *_sources(searches, answers),
        *_strategies(searches),
        f"**10. Search filters.** {_answer(answers, 'filters')}",
        f"**11. Prior work.** {_answer(answers, 'prior_work')}",
        f"**12. Updates.** {_updates(runs)}",
        f"**13. Dates of searches.** {_dates(searches)}",
        f"**14. Peer review.** {_answer(answers, 'peer_review')}",
        f"**15. Total records.** {_totals(searches)}",
        f"**16. Deduplication.** {_deduplication(duplicates, software)}",
    ]
    return "\n\n".join(parts) + "\n"


def _sources(searches: Sequence[Reported], answers: Mapping[str, str]) -> Iterator[str]:
    """Items 1 to 7: where was searched."""
    of_kind = {one.kind: [] for one in searches}  # type: dict[str, list[str]]
    for one in searches:
        of_kind[one.kind].append(_line(one.search.name))
    named = {kind: ", ".join(dict.fromkeys(names)) for kind, names in of_kind.items()}
    several = len({one.search.query for one in searches}) < len(searches)
    together = "Some strategies were run in several databases; see item 8." if several else "No."
    sites = [named[kind] for kind in ("website", "organisation") if kind in named]
    browsing = "; ".join(filter(None, [*sites, answers.get("browsing", "")]))
    yield f"**1. Database name.** {named.get('database') or _OPEN}"
    yield f"**2. Multi-database searching.** {together}"
    registers = "; ".join(filter(None, [named.get("register", ""), answers.get("registries", "")]))
    yield f"**3. Study registries.** {registers or _OPEN}"
    yield f"**4. Online resources and browsing.** {browsing or _OPEN}"
    yield f"**5. Citation searching.** {named.get('citation searching') or _OPEN}"
    yield f"**6. Contacts.** {_answer(answers, 'contacts')}"
    yield f"**7. Other methods.** {_answer(answers, 'other_methods')}"


def _strategies(searches: Sequence[Reported]) -> Iterator[str]:
    """Items 8 and 9: each search as it was run, and its limits."""
    yield "**8. Full search strategies**, copied exactly as run; **9. limits and restrictions**:"
    for number, one in enumerate(searches, 1):
        search = one.search
        day = search.searched_at[:10] or TO_FILL
        yield f"{number}. {_line(search.name)}, {day}: {search.hits:,} records"
        yield _quoted(search.query) if search.query else f"   {_OPEN}"
        if search.effective_query and search.effective_query != search.query:
            yield f"   As the site understood it:\n\n{_quoted(search.effective_query)}"
        yield f"   Limits: {_line(one.limits) or 'none'}."


def _quoted(query: str) -> str:
    """A query as an indented block: no sign in it is taken for markup."""
    return "\n".join(f"       {line}" for line in clean_text(query).splitlines())


def _updates(runs: int) -> str:
    times = "once" if runs == 1 else f"{runs:,} times"
    return f"All searches were run {times}; the last run is reported."


def _dates(searches: Sequence[Reported]) -> str:
    days = (f"{_line(one.search.name)} {one.search.searched_at[:10]}" for one in searches)
    return "; ".join(dict.fromkeys(days)) + "." if searches else _OPEN


def _totals(searches: Sequence[Reported]) -> str:
    if not searches:
        return _OPEN
    each = "; ".join(f"{_line(one.search.name)} {one.search.hits:,}" for one in searches)
    return f"{sum(one.search.hits for one in searches):,}: {each}."


def _deduplication(duplicates: int | None, software: str) -> str:
    removed = _OPEN if duplicates is None else f"{duplicates:,} duplicates were removed"
    return (
        f"{removed} by {software}: records that share an identifier and contradict each other in "
        "none are one, else those whose title, authors, year and place in a journal agree."
    )


def _answer(answers: Mapping[str, str], name: str) -> str:
    return _line(answers.get(name, "")) or _OPEN


def _line(text: str) -> str:
    return one_line(clean_text(text))
