"""Run a review: search, import decisions, export records, count and report.

A review is a folder in ``reviews/`` of the shelf: ``protocol.yaml`` is its protocol and
``review.db`` its history. One harvest, ``review-NAME``, fetches its full texts to the shelf.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..download.ladder import Ladder
from ..errors import BadRequest
from ..harvest.jobs import Harvest
from ..lists.decisions import GivenFacts, read_screened_records
from ..lists.described import parsed_paper_to_entry
from ..lists.pasted import ListEntry
from ..model.job import Harvested, Job, JobSearch, PaperState
from ..model.paper import utc_now
from ..model.tabular import ResultList
from ..reports import prisma
from ..search.citation_indexes import DIRECTIONS, Direction
from ..shelf.ledger import Ledger
from ..shelf.ledger_file import get_ledgers_folder
from ..system.keyword_options import accept_former_options, reject_wrong_options
from ..system.process import get_version
from ..system.safe_files import disk_errors, exclusive_lock, is_device_name, make_folder, write_file
from . import report, screening
from .exchange import Program, RecordTags, export_records
from .ledger import (
    AT_UPDATES,
    ReviewEvent,
    ReviewLedger,
    ReviewRecord,
    SearchRun,
    build_unknown_review_error,
    make_record_key,
)
from .matching import Unmatched, match_rows
from .protocol import (
    PROTOCOL_FILE,
    PROTOCOL_TEMPLATE,
    Protocol,
    add_list,
    read_protocol,
    write_protocol_fields,
)
from .report import render_review_page
from .snowball import Snowball, search_citations
from .standing import (
    STANDING_COLUMNS,
    ScreeningStatus,
    count_prisma_numbers,
    derive_screening_statuses,
)
from .updating import (
    ReviewUpdate,
    find_searched_citations,
    list_changes,
    list_unanswered_sources,
    split_events_at_publication,
    update_review,
)

if TYPE_CHECKING:
    from .ranking import Ranking

FOLDER = "reviews"
_MOST_LEADS = 20  # seed papers stored for each record found by citation searching
_NAME_FORM = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


@dataclass(frozen=True, slots=True)
class DecisionImport:
    """The outcome of importing a decision file: matched rows, decisions and unmatched rows."""

    rows: int
    decisions: int
    screeners: tuple[str, ...]
    unmatched: tuple[Unmatched, ...]


@reject_wrong_options()
@dataclass(frozen=True, slots=True)
class Review:
    """A systematic review on a shelf."""

    name: str
    ladder: Ladder

    @property
    def folder(self) -> Path:
        """The folder of the review."""
        return self.ladder.shelf.folder / FOLDER / self.name

    @property
    def ledger(self) -> ReviewLedger:
        """The ledger of the review."""
        return ReviewLedger(self.folder)

    def protocol(self) -> Protocol:
        """Return the current protocol; see `.protocol.read_protocol`."""
        return read_protocol(self.folder)

    def events(self) -> list[ReviewEvent]:
        """Return all events, oldest first."""
        return list(self.ledger.list_events())

    # -- searching ---------------------------------------------------------------------------

    def update(self) -> ReviewUpdate:
        """Repeat the protocol's searches and refresh all records; decisions are kept.

        New papers that cite included reports become records of *citation searching* if `snowball`
        has searched those reports forward before.

        Raises
        ------
        BadRequest
            The protocol cannot be used, or a list in it cannot be read.
        NotConfigured, Unreachable
            A search without an earlier result failed; the review is unchanged.
        """
        with exclusive_lock(self.folder / "update.lock"):
            return update_review(self)

    def snowball(self, directions: Sequence[Direction] = DIRECTIONS) -> Snowball:
        """Search the citations of the included reports, and add the new papers to the review.

        Reports whose citations were already searched in a direction are skipped: the next round
        starts with the reports included since. New records belong to *citation searching*.

        Raises
        ------
        BadRequest
            There is no included report whose citations were not searched yet.
        """
        with exclusive_lock(self.folder / "update.lock"):
            done = find_searched_citations(self.events())
            kept = [one.record for one in self.standings() if one.second == "include"]
            ways = [way for way in directions if any((r.key, way) not in done for r in kept)]
            seeds = [r for r in kept if any((r.key, way) not in done for way in ways)]
            if not seeds:
                msg = f"The review {self.name} has no included report to start from, or no new one."
                raise BadRequest(
                    msg, "Take in decisions on full texts: review import --stage full_text."
                )
            return self.search_citations(seeds, ways)[1]

    def search_citations(
        self,
        seeds: Sequence[ReviewRecord],
        directions: Sequence[Direction],
        *,
        by_update: bool = False,
    ) -> tuple[int, Snowball]:
        """Search the citations of *seeds*, and add new papers; return event number and result."""
        shelf, web, sources = self.ladder.shelf, self.ladder.web, self.ladder.sources
        known = [record.paper for record in self.ledger.list_records()]
        papers = [record.paper for record in seeds]
        found = search_citations(papers, shelf, web, sources, known=known, directions=directions)
        fresh = [
            (parsed_paper_to_entry(one.paper, one.paper.title), one.paper)
            for one in found.candidates
        ]
        detail = {
            "seeds": [record.key for record in seeds],
            "ways": list(directions),
            "new": len(fresh),
            "by_update": by_update,
            "leads": {
                make_record_key(entry): list(one.seeds)[:_MOST_LEADS]
                for (entry, _), one in zip(fresh, found.candidates, strict=True)
            },
            "silent": list(found.notes),
            "unmatched": [list(pair) for pair in found.unmatched],
        }
        with self.ledger.record_event("snowball", detail) as writer:
            writer.add_records("other", fresh)
            writer.add_searches(
                [_to_citation_search(found, len(seeds), directions, by_update=by_update)]
            )
            return writer.number, found

    # -- decisions ---------------------------------------------------------------------------

    def read_decisions(
        self, data: bytes, name: str, facts: GivenFacts | None = None
    ) -> DecisionImport:
        """Import a decision file; see `..lists.decisions`.

        Raises
        ------
        BadRequest
            The file cannot be read, contains no decision, or none of its rows matches a record of
            this review.
        """
        rows = list(read_screened_records(data, name, facts))
        ledger = self.ledger
        found = match_rows(
            rows, ledger.list_records(), ledger.list_rayyan_keys(), ledger.list_pair_answers()
        )
        if not found.rows:
            msg = f"None of the {len(rows):,} rows of {name} is a record of the review {self.name}."
            first = command_line(f"review update {self.name}")
            raise BadRequest(msg, f"If it is this review's file, first: {first}")
        voices = Counter(d.screener for _, one in found.rows for d in one.decisions)
        detail = {"file": name, "rows": len(rows), "matched": len(found.rows), "by": dict(voices)}
        with self.ledger.record_event("decisions", detail) as writer:
            decided = writer.add_decisions(found.rows)
            writer.add_unmatched_rows(found.unmatched)
        return DecisionImport(len(found.rows), decided, tuple(voices), found.unmatched)

    def record_decision(
        self, key: str, screener: str, choice: str, *, stage: str, reason: str = ""
    ) -> None:
        """Record a decision of one screener; see `.screening.record_decision`."""
        screening.record_decision(self, key, screener, choice, stage=stage, reason=reason)

    def decide_pair(self, key: str, other: str, choice: str, *, screener: str = "") -> None:
        """Record that *key* is the duplicate of *other*, or that it is ``not_duplicate``.

        See `.screening.record_pair_answer`.
        """
        screening.record_pair_answer(self, key, other, choice, screener=screener)

    def undo_decision(self, key: str, screener: str, *, stage: str) -> None:
        """Undo a decision of one screener; see `.screening.undo_decision`."""
        screening.undo_decision(self, key, screener, stage=stage)

    def set_protocol(self, fields: Mapping[str, Any]) -> Protocol:
        """Set fields of the protocol; see `.protocol.write_protocol_fields`."""
        with exclusive_lock(self.folder / "update.lock"):
            return write_protocol_fields(self.folder, fields)

    def add_list(self, data: bytes, name: str, kind: str, title: str = "") -> Protocol:
        """Add an exported list to the protocol, for the next `update`; see `.protocol.add_list`."""
        with exclusive_lock(self.folder / "update.lock"):
            return add_list(self.folder, data, name, kind, title)

    def find_duplicates(self) -> list[screening.PossibleDuplicate]:
        """Return pairs of records that may be one paper; see `.screening.list_duplicates`."""
        return screening.list_duplicates(self.standings(), self.ledger.list_pair_answers())

    def standings(self) -> ResultList[ScreeningStatus]:
        """Return the status of every record, in the order in which the records were added."""
        ledger = self.ledger
        found = derive_screening_statuses(
            ledger.list_records(),
            ledger.list_decisions(),
            self.protocol(),
            ledger.list_pair_answers(),
        )
        return ResultList(found, STANDING_COLUMNS, ScreeningStatus.row)

    def rank(self) -> Ranking:
        """Return the unscreened records, the likeliest first, as learned from the decisions.

        See `.ranking` for the model and for the rule that says when screening may stop.

        Raises
        ------
        BadRequest
            The review has no records.
        NotConfigured
            The extra ``rank`` is not installed.
        """
        from .ranking import rank_records

        return rank_records(self.standings(), self.ledger.list_screened_batches(), self.protocol())

    # -- full texts --------------------------------------------------------------------------

    @property
    def job_id(self) -> str:
        """The name of the harvest of the review's full texts."""
        return f"review-{self.name}"

    @accept_former_options(excluded_too="with_excluded")
    def harvest(self, *, with_excluded: bool = False) -> Harvest:
        """Return the harvest of the full texts; iterating over the harvest does the work.

        Records excluded by title and abstract are left out unless *excluded_too*, even if an
        earlier call has already queued them.

        Raises
        ------
        BadRequest
            There is no record to harvest, or another process is running the harvest.
        """
        every = self.standings()
        wanted = [s for s in every if s.is_wanted or (with_excluded and not s.duplicate_of)]
        if not wanted:
            msg = f"The review {self.name} has no records whose texts are wanted."
            search = command_line(f"review update {self.name}")
            raise BadRequest(msg, f"Search for them: {search}")
        entries = [one.record.entry for one in wanted]
        ledger = self._prepare_ledger(entries, {one.record.asked for one in every})
        with self.ledger.record_event("harvest", {"job": self.job_id, "records": len(entries)}):
            pass
        return Harvest(ledger, self.ladder)

    def _prepare_ledger(self, entries: Sequence[ListEntry], every: set[str]) -> Ledger:
        """Return the harvest's ledger, with exactly these papers left to try."""
        path = get_ledgers_folder(self.ladder.shelf.folder) / f"{self.job_id}.db"
        size = len(entries)
        origin = JobSearch("", f"Review {self.name}", hits=size, taken=size, searched_at=utc_now())
        if path.exists():
            ledger = Ledger(path)
            with ledger.exclusive_lock():  # no other process is fetching the withdrawn papers
                ledger.remove_untried_papers(every - {entry.asked for entry in entries})
                asked = {row.asked for row in ledger.read_outcomes()}
                fresh = [one for one in entries if one.ids or one.asked not in asked]
                ledger.add_search_hits(fresh, size, searches=(origin,))
            return ledger
        report = command_line(f"review report {self.name}")
        note = f"To draw the PRISMA figure of the review: {report}"
        title = self.protocol().title or self.name
        job = Job(
            self.job_id, title, hits=size, begun_at=utc_now(), notes=(note,), searches=(origin,)
        )
        return Ledger.create(path, job, entries)

    def texts(self) -> list[Harvested]:
        """Return the retrieval status of each record whose text is wanted."""
        found = self._index_texts_by_name()
        rows = (
            _find_harvested_text(one.record, found)
            or Harvested(number, one.record.asked, "pending", one.record.paper)
            for number, one in enumerate(self.standings(), 1)
            if one.is_wanted
        )
        return list({row.asked: row for row in rows}.values())

    def _index_texts_by_name(self) -> dict[str, Harvested]:
        """Return the harvest's rows by every name of their papers."""
        path = get_ledgers_folder(self.ladder.shelf.folder) / f"{self.job_id}.db"
        if not path.exists():
            return {}
        with closing(Ledger(path)) as ledger:
            rows = list(ledger.read_outcomes())
        by_name = {row.asked: row for row in rows}
        return by_name | {name: row for row in rows for name in row.paper.ids.names()}

    # -- out ---------------------------------------------------------------------------------

    def export(self, program: Program, *, stage: str = "", ranked: bool = False) -> list[Path]:
        """Write the records for a screening program into ``export/``; return the files.

        With the *stage* ``full_text``, only records included by title and abstract are written;
        duplicates found by hand never are.
        If *ranked*, records to screen come first, in the order of `rank`, with their places.
        """
        texts = self._index_texts_by_name()
        rows = [s for s in self.standings() if not s.duplicate_of]
        rows = [s for s in rows if stage != "full_text" or s.is_sought]
        places = {one.record.key: one.rank for one in self.rank().rows} if ranked else {}
        rows.sort(key=lambda one: places.get(one.record.key, len(rows) + 1))

        def get_relative_file(one: ScreeningStatus) -> str:
            row = _find_harvested_text(one.record, texts)
            return f"../../../{row.file}" if row and row.state == "full_text" else ""

        folder = self.folder / "export"
        make_folder(folder)
        tags = RecordTags(self.ledger.list_labels(), self.ledger.list_notes())
        files = export_records(program, rows, get_relative_file, places, tags)
        for name, text in files.items():
            write_file(folder / name, text.encode("utf-8", "replace"))
        with self.ledger.record_event("export", {"for": program, "records": len(rows)}):
            pass
        return [folder / name for name in files]

    def numbers(self) -> prisma.PrismaNumbers:
        """Return the current numbers for the PRISMA flow diagram."""
        texts = self._index_texts_by_name()

        def get_text_state(record: ReviewRecord) -> PaperState | None:
            row = _find_harvested_text(record, texts)
            return row.state if row else None

        return count_prisma_numbers(
            self.standings(), self.ledger.list_searches(), get_text_state, self.protocol()
        )

    @accept_former_options(drawings="draw")
    def report(self, draw: Iterable[str] = (), *, published: bool = False) -> list[Path]:
        """Write page, figure, appendix and tables into the review's folder; return the files.

        With *published*, this state is recorded as published: `status` and later reports then list
        the changes since this state.

        Raises
        ------
        NotConfigured
            The package that draws a format of `..reports.prisma.DRAWINGS` is not installed.
        """
        protocol, every, ledger = self.protocol(), self.standings(), self.ledger
        numbers = self.numbers()
        flow = prisma.build_prisma_flow(numbers)
        files = prisma.write_flow(flow, self.folder, protocol.title, draw)
        runs = sum(event.what == "update" for event in ledger.list_events())
        made = report.render_review_tables(
            every, ledger, self._index_texts_by_name(), _find_harvested_text
        )
        made["prisma-s.md"] = report.render_review_appendix(
            protocol,
            ledger.list_searches(),
            (numbers.duplicates, sum(bool(one.duplicate_of) for one in every)),
            runs,
            f"Papershelf {get_version()}",
        )
        shown = report.build_page_content(self.name, protocol, every, ledger)
        made = {"review.html": render_review_page(shown, flow), **made}
        for name, text in made.items():
            write_file(self.folder / name, text.encode("utf-8", "replace"))
        if published:
            with ledger.record_event("published", {"records": len(every)}):
                pass
        return [*(self.folder / name for name in made), *files]

    def status(self) -> dict[str, Any]:
        """Return the numbers of the review as a JSON-serialisable dict."""
        every, events = self.standings(), self.events()
        updates = [event for event in events if event.what == "update"]
        published_at, later = split_events_at_publication(events)
        changes = list_changes(later, (one.record for one in every))
        return {
            "review": self.name,
            "title": self.protocol().title,
            "folder": str(self.folder),
            "records": len(every),
            "searched_at": updates[-1].at if updates else "",
            "published_at": published_at,
            "since_published": dict(Counter(one.outcome for one in changes)),
            "could_not_tell": list_unanswered_sources(events),
            "title_abstract": dict(Counter(one.first for one in every)),
            "full_text": dict(Counter(one.second for one in every if one.is_assessed)),
            "conflicts": [one.record.key for one in every if "conflict" in (one.first, one.second)],
            "texts": dict(
                Counter(row.state for row in _drop_repeated_rows(self._index_texts_by_name()))
            ),
            "remarks": list(prisma.build_prisma_flow(self.numbers()).remarks),
            "events": len(events),
        }


def create_review(name: str, ladder: Ladder) -> Review:
    """Create a review: its folder, with a protocol to fill in; existing files are left unchanged.

    Raises
    ------
    BadRequest
        The name contains other characters than small letters, digits and hyphens.
    """
    if not _is_valid_review_name(name):
        msg = f"{name!r} is not a name for a review."
        raise BadRequest(msg, "Use small letters, digits and hyphens: moss-and-light.")
    review = Review(name, ladder)
    make_folder(review.folder)
    path = review.folder / PROTOCOL_FILE
    with disk_errors(path):
        if not path.exists():
            write_file(path, PROTOCOL_TEMPLATE.format(title=name).encode())
    ReviewLedger.create(review.folder)
    return review


def open_review(name: str, ladder: Ladder) -> Review:
    """Return the review of this name.

    Raises
    ------
    UnknownName
        There is no such review.
    """
    if not _is_valid_review_name(name):
        raise build_unknown_review_error(ladder.shelf.folder / FOLDER / Path(name).name)
    review = Review(name, ladder)
    review.ledger  # noqa: B018 - raises UnknownName for a missing ledger
    return review


def list_reviews(ladder: Ladder) -> list[Review]:
    """Return all reviews of the shelf, by name."""
    folder = ladder.shelf.folder / FOLDER
    with disk_errors(folder, "read"):
        names = sorted(path.parent.name for path in folder.glob("*/review.db"))
    return [Review(name, ladder) for name in names]


def _is_valid_review_name(name: str) -> bool:
    """Return whether a review can have this name."""
    return bool(_NAME_FORM.fullmatch(name)) and not is_device_name(name)


def _to_citation_search(
    found: Snowball, seeds: int, ways: Sequence[Direction], *, by_update: bool
) -> SearchRun:
    """Describe a citation search for the figure and the appendix."""
    many, directions = len(found.candidates), " and ".join(ways)
    search = JobSearch(
        "",
        f"Citation searching ({directions}) in {', '.join(found.indexes)}",
        query=f"{directions} citations of {seeds:,} included reports",
        hits=many,
        taken=many,
        searched_at=utc_now(),
    )
    return SearchRun("other", "citation searching", search, AT_UPDATES if by_update else "")


def _find_harvested_text(record: ReviewRecord, texts: dict[str, Harvested]) -> Harvested | None:
    """Return the harvest's row of a record's full text; None if it was not sought."""
    names = [*record.paper.ids.names(), record.asked]
    return next((texts[name] for name in names if name in texts), None)


def _drop_repeated_rows(texts: dict[str, Harvested]) -> list[Harvested]:
    return list({row.number: row for row in texts.values()}.values())
