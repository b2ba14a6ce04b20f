"""Write the report of a review: its page, its tables, and the appendix on its searches.

``review.html`` shows the review with its figure, conflicts and changes. Like the harvest page, the
page is self-contained and has no script; Jinja escapes every text.

The tables list records with their status, conflicts, searches and unmatched rows.

``prisma-s.md`` reports item by item how the review searched, for the appendix of its paper. The
items are those of PRISMA-S (Rethlefsen ML et al., Syst Rev 2021;10:39,
https://doi.org/10.1186/s13643-020-01542-z, CC BY 4.0). Answers that no program can give come from
the protocol, and an item without an answer is marked.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from markupsafe import Markup

from ..model.job import Harvested, JobSearch
from ..reports.page import render_template
from ..reports.prisma import TO_FILL, PrismaFlow, render_svg
from ..system.plain_text import clean_text, one_line, to_spreadsheet_cell
from .ledger import PairAnswer, ReviewEvent, ReviewLedger, ReviewRecord, SearchRun
from .protocol import Protocol
from .screening import list_duplicates
from .standing import ScreeningStatus
from .updating import (
    CHANGE_LABELS,
    get_urgency_rank,
    list_changes,
    list_unanswered_sources,
    split_events_at_publication,
)

MAX_ROWS_SHOWN = 50
"""Maximum number of rows of a table on the page; the CSV files have all rows."""
Row = tuple[object, ...]
_RECORD_COLUMNS = (
    *("papershelf_key", "pmid", "pmcid", "doi", "title", "year", "journal", "found_by"),
    *("title_abstract", "full_text", "reason", "retracted", "text", "file", "labels", "notes"),
)
_DECISION_COLUMNS = ("papershelf_key", "title", "stage", "screener", "decision", "reason")
_PAIR_COLUMNS = (
    *("papershelf_key", "title", "year", "pmid", "doi", "duplicate_of", "title_of_other"),
    *("in_common", "screener", "decision"),
)
"""`review import` reads the table again, with decisions: ``duplicate`` or ``not_duplicate``."""
_SEARCH_COLUMNS = (
    *("arm", "kind", "where", "query", "effective_query", "limits", "searched_at", "hits", "taken"),
)
_CHANGE_COLUMNS = ("at", "outcome", "papershelf_key", "pmid", "doi", "title", "detail")
_STAGE_LABELS = {"title_abstract": "title and abstract", "full_text": "full text"}
TextOf = Callable[[ReviewRecord, dict[str, Harvested]], Harvested | None]
_OPEN_ANSWER = f"*{TO_FILL}*"


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of the review's page.

    Parameters
    ----------
    headline : sequence of (str, int)
        The numbers at the top.
    searches : sequence of tuple
        Source, kind, query, day, records.
    conflicts : sequence of tuple
        Record, stage, screener, decision, reason; ``conflicting`` is the number of records.
    changes : sequence of tuple
        Changes since the last published state, else of the last update: record, change, day,
        detail; ``happened`` counts the changes of each kind.
    published_at : str
        The time of the last publication; empty if there is none.
    could_not_tell : sequence of str
        Sources that did not respond at the last update.
    unmatched : int
        The number of rows of decision files that match no record.
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


def render_review_page(shown: PageContent, flow: PrismaFlow) -> str:
    """Render the page of a review."""
    # Trusted: `render_svg` escapes every text.
    drawing = Markup(render_svg(flow, shown.title))  # noqa: S704
    return render_template("review.html", review=shown, prisma=drawing)


def render_review_tables(
    every: Sequence[ScreeningStatus],
    ledger: ReviewLedger,
    texts: dict[str, Harvested],
    text_of: TextOf,
) -> dict[str, str]:
    """Return the CSV tables of a review, by file name."""
    labels, notes = ledger.list_labels(), ledger.list_notes()
    unmatched = [
        {"event": str(event), "place": place, "title": title, "why": why}
        for event, place, title, why in ledger.list_unmatched_rows()
    ]
    return {
        "records.csv": _format_csv(
            _RECORD_COLUMNS,
            (
                _to_record_row(one, text_of(one.record, texts))
                | {
                    "labels": "; ".join(labels.get(one.record.key, ())),
                    "notes": "; ".join(map(": ".join, notes.get(one.record.key, ()))),
                }
                for one in every
            ),
        ),
        "decisions.csv": _format_csv(
            _DECISION_COLUMNS, (row for one in every for row in _to_decision_rows(one))
        ),
        "conflicts.csv": _format_csv(
            _DECISION_COLUMNS,
            (row for one in every for row in _to_decision_rows(one, conflicts_only=True)),
        ),
        "changes.csv": _format_csv(
            _CHANGE_COLUMNS, _to_change_rows(every, list(ledger.list_events()))
        ),
        "searches.csv": _format_csv(_SEARCH_COLUMNS, map(_to_search_row, ledger.list_searches())),
        "unmatched.csv": _format_csv(("event", "place", "title", "why"), unmatched),
        "duplicates.csv": _format_csv(
            _PAIR_COLUMNS, _to_pair_rows(every, ledger.list_pair_answers())
        ),
    }


def _to_pair_rows(
    every: Sequence[ScreeningStatus], answers: Sequence[PairAnswer]
) -> Iterator[dict[str, object]]:
    """Yield a row for each pair that may be one paper, then those that people decided."""
    titles = {one.record.key: one.record.paper.title or one.record.asked for one in every}
    papers = {one.record.key: one.record.paper for one in every}
    pairs = [
        (one.second.record.key, one.first.record.key, one.reason, "", "")
        for one in list_duplicates(every, answers)
    ]
    pairs += [
        (one.key, one.other, "", one.screener, one.choice)
        for one in answers
        if {one.key, one.other} <= papers.keys()
    ]
    for key, other, reason, screener, choice in pairs:
        paper = papers[key]
        yield {
            "papershelf_key": key,
            "title": titles[key],
            "year": paper.year,
            "pmid": paper.ids.pmid,
            "doi": paper.ids.doi,
            "duplicate_of": other,
            "title_of_other": titles[other],
            "in_common": reason,
            "screener": screener,
            "decision": choice,
        }


def build_page_content(
    name: str, protocol: Protocol, every: Sequence[ScreeningStatus], ledger: ReviewLedger
) -> PageContent:
    """Collect the content of the review's page."""
    events = list(ledger.list_events())
    updates = [at for at, event in enumerate(events) if event.what == "update"]
    published_at, later = split_events_at_publication(events)
    if not published_at:
        later = events[updates[-1] :] if updates else []
    changes = sorted(
        _to_change_rows(every, later), key=lambda row: get_urgency_rank(str(row["outcome"]))
    )
    conflicts = [row for one in every for row in _to_decision_rows(one, conflicts_only=True)]
    columns = ("title", "stage", "screener", "decision", "reason")
    return PageContent(
        name,
        protocol.title or name,
        protocol.question,
        events[updates[-1]].at if updates else "",
        count_headline_numbers(every),
        [
            (one.search.name, one.kind, one.search.query, one.search.searched_at[:10],
             one.search.hits)
            for one in ledger.list_searches()
        ],
        [
            tuple(row[column] for column in columns)
            for row in map(_add_stage_label, conflicts[:MAX_ROWS_SHOWN])
        ],
        len({row["papershelf_key"] for row in conflicts}),
        [
            (row["title"], CHANGE_LABELS[str(row["outcome"])], str(row["at"])[:10],
             row["detail"] or row["doi"] or row["pmid"])
            for row in changes[:MAX_ROWS_SHOWN]
        ],
        list(Counter(CHANGE_LABELS[str(row["outcome"])] for row in changes).items()),
        published_at,
        list_unanswered_sources(events),
        len(ledger.list_unmatched_rows()),
    )  # fmt: skip


def count_headline_numbers(every: Sequence[ScreeningStatus]) -> list[tuple[str, int]]:
    """Return the numbers at the top of the page."""
    return [
        ("Records", sum(not one.duplicate_of for one in every)),
        ("Screened", sum(one.is_screened for one in every)),
        ("Excluded by title and abstract", sum(one.first == "exclude" for one in every)),
        ("Assessed by full text", sum(one.is_assessed for one in every)),
        ("Included reports", sum(one.second == "include" for one in every)),
        ("Retracted", sum(one.record.paper.retracted for one in every)),
    ]


def render_review_appendix(
    protocol: Protocol,
    searches: Sequence[SearchRun],
    duplicates: tuple[int | None, int],
    runs: int,
    software: str,
) -> str:
    """Render the PRISMA-S appendix of a review; see `render_appendix`."""
    reported = [ReportedSearch(one.search, one.kind, one.limits) for one in searches]
    answers = protocol.prisma_s or {}
    options = {"duplicates": duplicates, "runs": runs}
    return render_appendix(protocol.title, reported, answers, software=software, **options)  # type: ignore[arg-type]


def _to_record_row(one: ScreeningStatus, text: Harvested | None) -> dict[str, object]:
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
        "full_text": one.second if one.is_assessed else "",
        "reason": one.reason,
        "retracted": paper.retracted,
        "text": text.state if text else "",
        "file": text.file if text else "",
    }


def _add_stage_label(row: Mapping[str, object]) -> dict[str, object]:
    """Return a decision row with its stage in words."""
    return {**row, "stage": _STAGE_LABELS.get(str(row["stage"]), row["stage"])}


def _to_decision_rows(
    one: ScreeningStatus, *, conflicts_only: bool = False
) -> Iterable[dict[str, object]]:
    """Yield a row for each decision; with *conflicts_only*, for stages in conflict."""
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


def _to_change_rows(
    every: Sequence[ScreeningStatus], events: Sequence[ReviewEvent]
) -> Iterable[dict[str, object]]:
    """Yield a row for each change of *events*, latest first."""
    records = {one.record.key: one.record for one in every}
    for one in list_changes(events, records.values()):
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


def _to_search_row(one: SearchRun) -> dict[str, object]:
    told = asdict(one.search)
    return told | {"arm": one.arm, "kind": one.kind, "where": one.search.name, "limits": one.limits}


def _format_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([to_spreadsheet_cell(one_line(str(row[column]))) for column in columns])
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class ReportedSearch:
    """A search in the appendix: the kind of source, and its limits in words."""

    search: JobSearch
    kind: str
    limits: str = ""


def render_appendix(
    title: str,
    searches: Sequence[ReportedSearch],
    answers: Mapping[str, str],
    *,
    duplicates: tuple[int | None, int],
    runs: int,
    software: str,
) -> str:
    """Render the PRISMA-S appendix in Markdown.

    Parameters
    ----------
    answers : mapping of str to str
        The authors' answers: ``registries``, ``browsing``, ``contacts``, ``other_methods``,
        ``filters``, ``prior_work``, ``peer_review``.
    duplicates : (int or None, int)
        Records removed as duplicates, and how many of them people found.
    runs : int
        The number of times that the searches were run.
    software : str
        The program that removed duplicates, with its version.
    """
    parts = [
        f"# How we searched{f': {_clean_to_one_line(title)}' if title else ''}",
        "After PRISMA-S (Rethlefsen et al., Syst Rev 2021;10:39, doi 10.1186/s13643-020-01542-z).",
        *_format_source_items(searches, answers),
        *_format_strategy_items(searches),
        f"**10. Search filters.** {_get_protocol_answer(answers, 'filters')}",
        f"**11. Prior work.** {_get_protocol_answer(answers, 'prior_work')}",
        f"**12. Updates.** {_describe_updates(runs)}",
        f"**13. Dates of searches.** {_describe_search_dates(searches)}",
        f"**14. Peer review.** {_get_protocol_answer(answers, 'peer_review')}",
        f"**15. Total records.** {_describe_hit_totals(searches)}",
        f"**16. Deduplication.** {_describe_deduplication(duplicates, software)}",
    ]
    return "\n\n".join(parts) + "\n"


def _format_source_items(
    searches: Sequence[ReportedSearch], answers: Mapping[str, str]
) -> Iterator[str]:
    """Yield items 1 to 7: the sources searched."""
    of_kind = {one.kind: [] for one in searches}  # type: dict[str, list[str]]
    for one in searches:
        of_kind[one.kind].append(_clean_to_one_line(one.search.name))
    named = {kind: ", ".join(dict.fromkeys(names)) for kind, names in of_kind.items()}
    several = len({one.search.query for one in searches}) < len(searches)
    together = "Some strategies were run in several databases; see item 8." if several else "No."
    sites = [named[kind] for kind in ("website", "organisation") if kind in named]
    browsing = "; ".join(filter(None, [*sites, answers.get("browsing", "")]))
    yield f"**1. Database name.** {named.get('database') or _OPEN_ANSWER}"
    yield f"**2. Multi-database searching.** {together}"
    registers = "; ".join(filter(None, [named.get("register", ""), answers.get("registries", "")]))
    yield f"**3. Study registries.** {registers or _OPEN_ANSWER}"
    yield f"**4. Online resources and browsing.** {browsing or _OPEN_ANSWER}"
    yield f"**5. Citation searching.** {named.get('citation searching') or _OPEN_ANSWER}"
    yield f"**6. Contacts.** {_get_protocol_answer(answers, 'contacts')}"
    yield f"**7. Other methods.** {_get_protocol_answer(answers, 'other_methods')}"


def _format_strategy_items(searches: Sequence[ReportedSearch]) -> Iterator[str]:
    """Yield items 8 and 9: each search as it was run, and its limits."""
    yield "**8. Full search strategies**, copied exactly as run; **9. limits and restrictions**:"
    for number, one in enumerate(searches, 1):
        search = one.search
        day = search.searched_at[:10] or TO_FILL
        yield f"{number}. {_clean_to_one_line(search.name)}, {day}: {search.hits:,} records"
        yield _quote_query(search.query) if search.query else f"   {_OPEN_ANSWER}"
        if search.effective_query and search.effective_query != search.query:
            yield f"   As the site understood it:\n\n{_quote_query(search.effective_query)}"
        yield f"   Limits: {_clean_to_one_line(one.limits) or 'none'}."


def _quote_query(query: str) -> str:
    """Return a query as an indented block, in which Markdown is not interpreted."""
    return "\n".join(f"       {line}" for line in clean_text(query).splitlines())


def _describe_updates(runs: int) -> str:
    times = "once" if runs == 1 else f"{runs:,} times"
    return f"All searches were run {times}; the last run is reported."


def _describe_search_dates(searches: Sequence[ReportedSearch]) -> str:
    days = (
        f"{_clean_to_one_line(one.search.name)} {one.search.searched_at[:10]}" for one in searches
    )
    return "; ".join(dict.fromkeys(days)) + "." if searches else _OPEN_ANSWER


def _describe_hit_totals(searches: Sequence[ReportedSearch]) -> str:
    if not searches:
        return _OPEN_ANSWER
    each = "; ".join(
        f"{_clean_to_one_line(one.search.name)} {one.search.hits:,}" for one in searches
    )
    return f"{sum(one.search.hits for one in searches):,}: {each}."


def _describe_deduplication(duplicates: tuple[int | None, int], software: str) -> str:
    number, by_hand = duplicates
    removed = _OPEN_ANSWER if number is None else f"{number:,} duplicates were removed"
    people = f" Of these, {by_hand:,} were found by people." if by_hand else ""
    return (
        f"{removed} by {software}: records that share an identifier and contradict each other in "
        f"none are one, else those whose title, authors, year and place in a journal agree.{people}"
    )


def _get_protocol_answer(answers: Mapping[str, str], name: str) -> str:
    return _clean_to_one_line(answers.get(name, "")) or _OPEN_ANSWER


def _clean_to_one_line(text: str) -> str:
    return one_line(clean_text(text))
