"""Download thousands of papers: every lawfully available text, as fast as the sites allow.

Each rung of the ladder is a lane with its own threads, so that all sites are asked concurrently.

1. Papers without an identifier are identified (`identify_papers`).
2. Records and abstracts are fetched in batches.
3. Each paper moves from rung to rung until its text is on the shelf.

A site that is unavailable is passed over, and its papers return to the site later in the run. The
ledger records every step of a paper before and after the step; a run that was killed resumes when
it is started again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..download.climb import Ask, Climb, DownloadRequest, Fail, Rung, Serve, Settle, State, Wait
from ..download.ladder import Ladder, Step, get_lease_name
from ..download.records import look_up_records
from ..errors import (
    NotConfigured,
    NotFound,
    PaperError,
    StoreFailed,
    Unreachable,
    is_blocked_by_network,
)
from ..http import Patience, require_answers_since
from ..lists.pasted import ListEntry
from ..model.identifiers import Ids
from ..model.job import find_most_informative_failure
from ..model.paper import Attempt, Document, Paper, StoredPaper, Version, find_answered_routes
from ..model.verdicts import TextCopy
from ..model.versions import OTHER_VERSION, infer_requested_version, is_request_satisfied
from ..readers.reader_processes import read_and_judge_in_child
from ..search.resolve import Resolution, resolve_entries
from ..shelf import is_identified_by_name_only, strip_header
from ..shelf.ledger import Ledger
from .lanes import BY_PUBLISHER, Lane, Lanes, Outages
from .run_status import Progress, StatusReporter

log = logging.getLogger(__name__)
_LOOK_UP, _AGAIN, _IDENTIFY = "look up", "again", "identify"
_LOOKUP_BATCH = 200  # the maximum that NCBI accepts in one request
_WAIT_FOR_BATCH_S = 10.0  # wait to fill a batch of JATS requests: NCBI counts requests
_WAIT_FOR_COPIES_S = 2.0  # shorter for copies' addresses: slow sites wait for the result
_THREADS_PER_SITE = (
    8  # for most sites: sixteen requests a second, each under way for a fifth of one
)
_MAX_PER_HOST = 4  # papers of one publisher under way: one request a second to its host
_NO_ANSWER = {
    Unreachable.outcome,
    "saved",
}  # "saved": by a run that was killed before it recorded the rung
_BUSY_S = 2.0  # until a paper that another process works on is tried again
_PASSED_OVER = "the site was out, and was passed over"
_ON_SHELF = Attempt("", "not_offered", "On the shelf already, without its text.")
_BACKLOG_WINDOW_S = 10.0  # reading is the bottleneck when texts wait throughout this period


def run_harvest(ledger: Ledger, ladder: Ladder, *, prefer_pmc: bool = True) -> Iterator[Progress]:
    """Run a job until no paper is pending; yield the progress twice a second.

    The run ends early if the ledger records that the job was cancelled, or if the caller stops
    iterating; finished papers stay finished. The caller must hold the job's lock
    (`Ledger.exclusive_lock`).

    Raises
    ------
    NotConfigured
        No e-mail address is set.
    StoreFailed
        The disk is full or broken; pending papers stay pending.
    """
    ladder.web.settings.require_email("NCBI")
    reading = ReaderQueue(read_and_judge_in_child)
    ladder = replace(ladder, read=reading)
    harvest = _Run(ledger, ladder, prefer_pmc=prefer_pmc)
    harvest.start()
    try:
        while harvest.lanes.wait_until_done(0.5):
            progress = replace(harvest.status.update_progress(), unread=reading.count_unread())
            yield progress
            if progress.job.cancelled_at:
                break
    finally:
        harvest.stop()
    ledger.record_site_waits(())
    if not ledger.read_job().counts.pending:
        ledger.record_job_end()
    yield Progress(ledger.read_job())


class _Run:
    """One run over the pending papers of one job."""

    def __init__(self, ledger: Ledger, ladder: Ladder, *, prefer_pmc: bool = True) -> None:
        self.ledger = ledger
        self.ladder = ladder
        self.prefer_pmc = prefer_pmc
        self.offline = ladder.web.settings.papers_offline
        self.outages = Outages()
        again = Lane(_AGAIN, self._queue_again, threads=1)
        first = Lane(_LOOK_UP, self._look_up_papers, threads=3, batch=_LOOKUP_BATCH)
        nameless = Lane(_IDENTIFY, self._identify_papers, threads=1, batch=IDENTIFIED_AT_ONCE)
        self.lanes = Lanes([first, nameless, again, *map(self._build_lane, ladder.rungs)])
        # The requested version of a paper, unless it is the published one.
        self._wanted_versions: dict[int, Version] = {}
        # Texts to compare later texts with, by the number of the paper.
        self._copies: dict[int, list[TextCopy] | None] = {}
        self._stopped = threading.Event()
        self.status = StatusReporter(ledger, self.lanes, self.outages, ladder.rungs, ladder.web)

    def start(self) -> None:
        """Queue the pending papers, and start the lanes."""
        self.ledger.record_site_waits(())
        self.ledger.record_cancellation("")
        for number in self.ledger.list_pending_papers():
            self.lanes.queue_number(_LOOK_UP, number)
        self.lanes.start()

    def stop(self) -> None:
        """Start no more work and discard unfinished work, which the next run repeats."""
        self._stopped.set()
        self.lanes.stop()

    def _build_lane(self, rung: Rung) -> Lane:
        """Return the lane of a rung, with threads and batches that suit its site."""
        work, batch = partial(self._ask_rung, rung), rung.route.batch
        if batch > 1:
            wait_s = _WAIT_FOR_COPIES_S if rung.via in BY_PUBLISHER else _WAIT_FOR_BATCH_S
            return Lane(rung.via, work, threads=2, batch=batch, wait_s=wait_s)
        if rung.via in BY_PUBLISHER:
            return Lane(rung.via, work, threads=32, per_tag=_MAX_PER_HOST)
        most = max(rate.in_flight for rate in rung.source.rates)
        return Lane(rung.via, work, threads=min(most, _THREADS_PER_SITE))

    # -- what the papers are -----------------------------------------------------------------

    def _look_up_papers(self, numbers: Sequence[int]) -> None:
        """Look up the records of papers; those on the shelf are finished at once."""
        known: dict[int, Paper] = {}
        wanted: dict[Ids, list[int]] = {}
        rows = self.ledger.read_requests(numbers)
        absent = self.ladder.shelf.find_papers_without_text(ids for ids, *_ in rows.values())
        for number, (ids, asked, round_) in rows.items():
            self.outages.clear_deferred_sites(number)
            with self._isolate_errors(number):
                self._remember_wanted_version(number, asked)
                paper = self.ledger.get_paper_record(number)
                if paper and paper.recorded_by:  # an interrupted run had got this far
                    stored = self.ladder.shelf.find_text(paper.ids)
                    if stored and not is_identified_by_name_only(stored):
                        self._take_next_step(number, self._restore_climb(number, paper))
                    else:
                        known[number] = paper
                elif not ids:
                    self.lanes.queue_number(_IDENTIFY, number)
                else:
                    texts: list[StoredPaper] | None = [] if round_ or ids in absent else None
                    climb = self.ladder.start_climb(self._build_request(number, ids), texts=texts)
                    if isinstance(self.ladder.choose_next_action(climb), Serve):
                        self._start_climb(number, climb)
                    else:
                        wanted.setdefault(ids, []).append(number)
        self._begin_climbs(known | self._look_up_records(wanted))

    def _identify_papers(self, numbers: Sequence[int]) -> None:
        """Identify papers that came without an identifier, and queue them for lookup."""
        for number, resolution in identify_papers(self.ledger, numbers, self.ladder):
            if self._stopped.is_set():
                return
            with self._isolate_errors(number):
                if resolution.status == "resolved":
                    self.ledger.record_identity(number, resolution.ids, str(resolution))
                    self.lanes.queue_number(_LOOK_UP, number)
                elif resolution.status != "could_not_tell":
                    self.ledger.record_failure(
                        number, "no_identifier", explain_missing_identifier(resolution)
                    )
                elif not self._schedule_return(number, _IDENTIFY):
                    self.ledger.record_failure(
                        number, "could_not_tell", explain_missing_identifier(resolution)
                    )

    def _look_up_records(self, wanted: Mapping[Ids, Sequence[int]]) -> dict[int, Paper]:
        """Look papers up, and return the records found by number. Duplicates end here."""
        if not wanted:
            return {}
        numbers = [number for same in wanted.values() for number in same]
        self.ledger.begin_rung(numbers, _LOOK_UP)
        with require_answers_since(self.ledger.get_reopening_time(numbers)), Patience(inf).apply():
            found = look_up_records(list(wanted), self.ladder.web, self.ladder.sources)
        if any(not isinstance(outcome, Unreachable) for outcome in found.values()):
            self.outages.record_answer(_LOOK_UP, "")
        outcomes = {number: found[ids] for ids, same in wanted.items() for number in same}
        papers = {n: result for n, result in sorted(outcomes.items()) if isinstance(result, Paper)}
        merged = self.ledger.store_paper_records(papers)
        for ids, same in wanted.items():
            for number in same:
                if isinstance(outcome := outcomes[number], PaperError):
                    with self._isolate_errors(number):
                        self._handle_lookup_error(number, ids, outcome)
        return {number: paper for number, paper in papers.items() if number not in merged}

    def _begin_climbs(self, papers: Mapping[int, Paper]) -> None:
        """Save the abstracts, long before the slowest site answers, and queue the papers."""
        shelf = self.ladder.shelf
        absent = shelf.find_papers_without_text(paper.ids for paper in papers.values())
        climbs: dict[int, Climb] = {}
        for number, paper in papers.items():
            texts = [] if paper.ids in absent else shelf.find_texts(paper.ids)
            climb = climbs[number] = self._restore_climb(number, paper, "looked_up", texts)
            self.ladder.merge_record_and_text(climb)
        if new := [climb.paper for climb in climbs.values() if not climb.stored]:
            shelf.save_abstracts(new)
        for number, climb in climbs.items():
            with self._isolate_errors(number):
                # The shelf may add identifiers that make the paper a duplicate within this job.
                (self._start_climb if climb.stored else self._take_next_step)(number, climb)

    def _handle_lookup_error(self, number: int, ids: Ids, outcome: PaperError) -> None:
        """Postpone a paper whose lookup failed, or go on with the error as its record."""
        if isinstance(outcome, NotConfigured) or is_blocked_by_network(outcome):
            raise outcome
        if isinstance(outcome, Unreachable) and (
            pause_s := self._schedule_return(number, _LOOK_UP)
        ):
            answer = str(outcome.details.get("said", outcome.message))
            self.outages.defer_paper(number, _LOOK_UP, "")
            self.outages.record_failure(_LOOK_UP, "", pause_s, answer)
            return
        climb = self.ladder.start_climb(
            self._build_request(number, ids), record=outcome, state="looked_up"
        )
        if isinstance(outcome, Unreachable) and climb.stored:
            climb.record = climb.stored.paper
        self._start_climb(number, climb)

    def _start_climb(self, number: int, climb: Climb) -> None:
        """Record a paper's identity; go on unless another row is the same paper."""
        action = self.ladder.choose_next_action(climb)
        paper = action.stored.paper if isinstance(action, Serve) else climb.paper
        if isinstance(action, Fail):
            self.ledger.record_failure(number, _classify_error(action.error), str(action.error))
        elif self.ledger.store_paper_record(number, paper) is None:
            self._take_next_step(number, climb)

    def _remember_wanted_version(self, number: int, asked: str) -> None:
        if (wants := infer_requested_version(Ids.maybe(asked))) != "published":
            self._wanted_versions[number] = wants

    def _build_request(self, number: int, ids: Ids) -> DownloadRequest:
        """Return the request for a paper, in the version that the user's identifier names."""
        wants = self._wanted_versions.get(number, "published")
        return DownloadRequest(ids, wants, prefer_pmc=self.prefer_pmc, offline=self.offline)

    # -- the way up --------------------------------------------------------------------------

    def _take_next_step(self, number: int, climb: Climb) -> None:
        """Take a paper's next step: end it, queue it at a rung, or postpone it."""
        recorded, deferred = len(climb.tried), self.outages.get_deferred_sites(number)

        def is_away(rung: Rung) -> bool:
            away_s = self.outages.get_seconds_away(rung.via, _get_registrant(rung, climb.paper))
            return rung.via in deferred or away_s > 0

        match self.ladder.choose_next_action(climb, is_away):
            case Serve(stored):
                self._end_paper(number, stored)
            case Ask(rung, notes, passed_over):
                self._record_skipped_rungs(number, climb, notes, passed_over)
                self.lanes.queue_number(rung.via, number, _get_queue_tag(rung, climb.paper))
            case Wait(notes, passed_over):
                self._record_skipped_rungs(number, climb, notes, passed_over)
                if not self._queue_for_later(number, climb.paper, passed_over):
                    self._settle_paper(number, climb, recorded)
            case Settle(notes):
                self._record_skipped_rungs(number, climb, notes)
                self._settle_paper(number, climb, recorded)

    def _record_skipped_rungs(
        self, number: int, climb: Climb, notes: Sequence[Attempt], passed_over: Sequence[Rung] = ()
    ) -> None:
        """Record the rungs that are not needed, and the rungs that are unavailable."""
        if needless := [attempt for attempt in notes if attempt.outcome == OTHER_VERSION]:
            self.ledger.record_attempts(number, needless)
        for rung in passed_over:
            self.outages.defer_paper(number, rung.via, _get_registrant(rung, climb.paper))
        out = [Attempt(rung.via, Unreachable.outcome, _PASSED_OVER) for rung in passed_over]
        climb.record_attempts([*notes, *out])

    def _queue_for_later(self, number: int, paper: Paper, rungs: Sequence[Rung]) -> bool:
        """Queue a paper again for when one of the rungs may answer; return False if none may."""
        sites = [(rung.via, _get_registrant(rung, paper)) for rung in rungs]
        sites = [site for site in sites if not self.outages.is_away_too_long(*site)]
        if not sites:
            return False
        away_s = max(self.outages.get_seconds_away(*site) for site in sites)
        may_recover = any(self.outages.can_recover_soon(*site) for site in sites)
        return self._schedule_return(number, _AGAIN, away_s, may_recover) > 0

    def _restore_climb(
        self,
        number: int,
        paper: Paper,
        state: State = "climbing",
        texts: list[StoredPaper] | None = None,
    ) -> Climb:
        """Return the state of a paper's climb, restored from the ledger."""
        request = replace(self._build_request(number, paper.ids), retry=True)
        tried, find = self.ledger.list_attempts(number), self.ladder.shelf.find_full_texts
        passed = find_answered_routes(tried, _NO_ANSWER)
        return Climb(request, find, paper, state, tried, passed, texts=texts)

    def _schedule_return(
        self, number: int, lane: str, away_s: float = 0.0, may_recover: bool = False
    ) -> float:
        """Queue a paper for sites that were unavailable; return the delay, or 0."""
        pause_s = (
            0.0 if self.offline else self.outages.plan_return_delay_s(number, away_s, may_recover)
        )
        if pause_s:
            self.lanes.queue_number(lane, number, after=pause_s)
        return pause_s

    def _queue_again(self, numbers: Sequence[int]) -> None:
        """Queue papers again at the sites that were unavailable."""
        for number in numbers:
            self.outages.clear_deferred_sites(number)
            with self._isolate_errors(number):
                self._take_next_step(number, self._restore_climb(number, self._get_paper(number)))

    def _get_paper(self, number: int) -> Paper:
        """Return a paper's record from the ledger, or an empty record."""
        return self.ledger.get_paper_record(number) or Paper(Ids())

    def _ask_rung(self, rung: Rung, numbers: Sequence[int]) -> None:
        """Ask one rung for papers that still lack a text, unless the rung is unavailable."""
        papers = {number: self._get_paper(number) for number in numbers}
        with self._lease_papers(rung, papers) as ours:
            climbs = {number: self._restore_climb(number, paper) for number, paper in ours.items()}
            lacking = {
                n: climb for n, climb in climbs.items() if not self._end_if_shelved(n, climb)
            }
            if open_to_us := self._select_reachable_papers(rung, lacking):
                ended = set(open_to_us) - self._ask_and_store(rung, open_to_us)
                lacking = {n: climb for n, climb in lacking.items() if n not in ended}
        for number, climb in lacking.items():  # not earlier: the next rung needs their leases
            with self._isolate_errors(number):
                self._take_next_step(number, self._restore_climb(number, climb.paper))

    def _select_reachable_papers(self, rung: Rung, climbs: Mapping[int, Climb]) -> dict[int, Climb]:
        """Return the papers to ask a rung for now; defer the others until their site is back."""
        tags = {number: _get_registrant(rung, climb.paper) for number, climb in climbs.items()}
        back = {
            tag for tag in dict.fromkeys(tags.values()) if self.outages.can_ask_now(rung.via, tag)
        }
        for number, tag in tags.items():
            if tag not in back:
                self.outages.defer_paper(number, rung.via, tag)
        return {number: climb for number, climb in climbs.items() if tags[number] in back}

    @contextmanager
    def _lease_papers(self, rung: Rung, papers: Mapping[int, Paper]) -> Iterator[dict[int, Paper]]:
        """Hold the leases of papers that no other process works on; queue the others again."""
        leases = self.ladder.web.leases
        names = leases.take_free_leases({get_lease_name(paper) for paper in papers.values()})
        for number, paper in papers.items():
            if get_lease_name(paper) not in names:
                self.lanes.queue_number(
                    rung.via, number, _get_queue_tag(rung, paper), after=_BUSY_S
                )
        try:
            yield {
                number: paper for number, paper in papers.items() if get_lease_name(paper) in names
            }
        finally:
            leases.release_leases(names)

    def _end_if_shelved(self, number: int, climb: Climb) -> bool:
        """End a paper whose text is on the shelf by now; return whether it was ended."""
        stored = climb.stored
        if stored is None or not is_request_satisfied(climb.request.wants, stored):
            return False
        with self._isolate_errors(number):
            self._end_paper(number, stored, self._find_unrecorded_attempts(number, stored))
        return True

    def _find_unrecorded_attempts(self, number: int, stored: StoredPaper) -> list[Attempt]:
        """Return a text's attempts that a killed run saved with the text but not in the ledger."""
        via, recorded = self.ledger.get_unfinished_rung(number), self.ledger.list_attempts(number)
        return [
            attempt
            for attempt in stored.attempts
            if attempt.source == via and attempt not in recorded
        ]

    def _ask_and_store(self, rung: Rung, climbs: Mapping[int, Climb]) -> set[int]:
        """Ask one rung for papers, and store the texts; return papers that need another rung."""
        for number, climb in climbs.items():
            climb.copies = self._copies.get(number)
        steps = {n: self.ladder.begin_step(climb) for n, climb in climbs.items()}
        self.ledger.begin_rung(list(climbs), rung.via)
        try:
            since = self.ledger.get_reopening_time(list(climbs))
            with require_answers_since(since), Patience(inf).apply():
                self.ladder.ask_rung(rung, list(steps.values()))
        except (StoreFailed, NotConfigured):
            raise
        except Exception as bug:
            log.exception("%s failed on %s", rung.via, [str(s.paper.ids) for s in steps.values()])
            for step in steps.values():
                step.record_attempt(rung.via, "failed", f"internal error: {bug!r}")
        unserved: set[int] = set()
        for number, step in steps.items():
            with self._isolate_errors(number, step.attempts):
                if self._store_result(number, rung, step, climbs[number]):
                    unserved.add(number)
                    self._copies[number] = step.copies
                else:
                    self._copies.pop(number, None)
        return unserved

    def _store_result(self, number: int, rung: Rung, step: Step, climb: Climb) -> bool:
        """Store the text that a rung found; return whether the paper needs another rung."""
        if self._stopped.is_set():
            return False
        self._record_site_answer(number, rung, step)
        if stored := self.ladder.store_result(rung, step, climb):
            self._end_paper(number, stored, step.attempts)
            return False
        self.ledger.record_attempts(number, step.attempts)
        return True

    @contextmanager
    def _isolate_errors(self, number: int, unrecorded: Sequence[Attempt] = ()) -> Iterator[None]:
        """In the block, let an error fail only this paper, unless disk or configuration failed."""
        try:
            yield
        except (StoreFailed, NotConfigured):
            raise
        except PaperError as error:
            if is_blocked_by_network(
                error
            ):  # affects all papers until a person fixes the problem; they stay pending
                raise
            self.ledger.record_failure(number, _classify_error(error), error.text, unrecorded)
        except Exception as bug:
            log.exception("Number %s of %s failed", number, self.ledger.path.stem)
            why = f"Papershelf has a bug: {bug!r}. Please report it."
            self.ledger.record_failure(number, "bug", why, unrecorded)

    def _record_site_answer(self, number: int, rung: Rung, step: Step) -> None:
        """Record whether the site of a rung answered."""
        tag = "" if step.service_down else _get_registrant(rung, step.paper)
        if all(attempt.outcome == "unreachable" for attempt in step.attempts):
            last = step.attempts[-1]
            recorded = (step.stay_away_s, last.detail)
            self.outages.record_failure(rung.via, tag, *recorded, itself=bool(last.status))
        else:
            self.outages.record_answer(rung.via, tag)
        if step.attempts[-1].outcome == "unreachable":
            self.outages.defer_paper(
                number, rung.via, _get_registrant(rung, step.paper), already_tried=True
            )

    # -- end of a paper ----------------------------------------------------------------------

    def _settle_paper(self, number: int, climb: Climb, recorded: int) -> None:
        """Save the abstract after all rungs failed; *recorded* attempts are in the ledger."""
        self.outages.clear_deferred_sites(number)
        named = {attempt.source for attempt in climb.tried[:recorded]}
        rest = [
            a for a in climb.tried[recorded:] if a.source not in named or a.outcome == OTHER_VERSION
        ]
        climb.tried = story = [*climb.tried[:recorded], *rest]
        # Keep passed-over rungs, so that `--retry unreachable` finds the paper.
        passed_over = [attempt for attempt in rest if attempt.detail == _PASSED_OVER]
        why = find_most_informative_failure(story) or Attempt(
            "", "not_offered", "No source offers it."
        )
        if stored := self.ladder.save_fallback(climb):
            embargo = next((a.detail for a in story if a.detail.startswith("embargoed")), "")
            if embargo and why.outcome != Unreachable.outcome:
                why = Attempt("", "embargo", f"In PMC, but {embargo}.")
            self._end_paper(number, stored, passed_over, why)
        else:
            self.ledger.record_failure(number, "could_not_tell", why.detail, passed_over)

    def _end_paper(
        self,
        number: int,
        stored: StoredPaper,
        unrecorded: Sequence[Attempt] = (),
        why: Attempt = _ON_SHELF,
    ) -> None:
        """End a paper with the text on the shelf; *why* explains a missing full text."""
        stored, text = self._find_current_text(stored)
        if stored.kind == "full_text":
            shown = (stored.verdict, stored.evidence) if stored.shows_evidence else ("", "")
            reason, detail = shown
        else:
            why = (
                find_most_informative_failure(stored.attempts) or _ON_SHELF
                if why is _ON_SHELF
                else why
            )
            reason, detail = why.outcome, why.detail
        self.outages.clear_deferred_sites(number)
        sha256 = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        self.ledger.record_paper_result(number, stored, sha256, reason, detail, unrecorded)

    def _find_current_text(self, stored: StoredPaper) -> tuple[StoredPaper, str]:
        """Return the text that is now on the shelf: another process may have found it meanwhile."""
        shelf = self.ladder.shelf
        try:
            return stored, strip_header(shelf.read_text(stored))
        except StoreFailed:
            if Path(stored.path).exists():
                raise
        if there := shelf.find_text(stored.paper.ids, stored.version):
            return there, strip_header(shelf.read_text(there))
        msg = f"The file of {stored.paper.ids} was removed during the harvest."
        raise Unreachable(msg, "Run the harvest again.")


def _get_registrant(rung: Rung, paper: Paper) -> str:
    """Return the tag that distinguishes hosts behind a rung: the DOI's registrant."""
    return paper.ids.doi.partition("/")[0] if rung.via in BY_PUBLISHER else ""


def _get_queue_tag(rung: Rung, paper: Paper) -> str:
    """Return the tag of a paper's queue in the lane of a rung.

    A service that accepts batches has one queue for papers of all publishers.
    """
    return "" if rung.route.batch > 1 else _get_registrant(rung, paper)


def _classify_error(error: PaperError) -> str:
    """Return the ledger's word for a failed lookup."""
    if isinstance(error, NotFound):
        return "not_found"
    return "could_not_tell" if isinstance(error, Unreachable) else "bad_request"


class ReaderQueue:
    """Calls a reading function, and counts the texts that wait for a CPU core.

    Parameters
    ----------
    read : callable
        Makes a document from a site's response.
    cores : int, optional
        Number of texts that can be read at once.
    """

    def __init__(self, read: Callable[..., Document], cores: int = os.cpu_count() or 1) -> None:
        self._read = read
        self.cores = cores
        self._inside = 0
        self._lock = threading.Lock()
        self._seen: deque[tuple[float, int]] = deque()

    def __call__(self, *arguments: Any, **options: Any) -> Document:
        """Read a text; it counts as waiting or being read meanwhile."""
        self._change_unread_count(1)
        try:
            return self._read(*arguments, **options)
        finally:
            self._change_unread_count(-1)

    def count_unread(self) -> int:
        """Return how many texts waited for a core throughout the last ten seconds."""
        now = time.monotonic()
        with self._lock:
            self._seen.append((now, max(0, self._inside - self.cores)))
            began = self._seen[0][0]
            while self._seen[0][0] < now - _BACKLOG_WINDOW_S:
                self._seen.popleft()
            return (
                min(waiting for _, waiting in self._seen) if now - began > _BACKLOG_WINDOW_S else 0
            )

    def _change_unread_count(self, change: int) -> None:
        with self._lock:
            self._inside += change


IDENTIFIED_AT_ONCE = 50
_LOOK_HINT = (
    f"List the candidates ({command_line('harvest resolve LIST')}) and add the right "
    "identifier to the list."
)


def identify_papers(
    ledger: Ledger, numbers: Sequence[int], ladder: Ladder
) -> Iterator[tuple[int, Resolution]]:
    """Identify papers of a job by their descriptions in its list.

    Reopened papers are searched for again; see `..search.resolve`.
    """
    asked = ledger.read_requests(numbers)
    for again in (False, True):
        chosen = [number for number, (*_, round_) in asked.items() if bool(round_) is again]
        entries = (
            ListEntry(asked[number][1], Ids(), ledger.get_paper_record(number)) for number in chosen
        )
        yield from zip(
            chosen, resolve_entries(entries, ladder.web, ladder.sources, anew=again), strict=True
        )


def explain_missing_identifier(found: Resolution) -> str:
    """Return why a paper still has no identifier, with the candidates."""
    head = f"“{found.asked}” came without an identifier"
    candidates = (
        f"It may be {'; or '.join(map(str, found.candidates))}." if found.candidates else ""
    )
    if found.status == "could_not_tell":
        return f"{head}, and the search for it failed: {found.message} {candidates}".strip()
    if found.status == "unreadable":
        return f"{head}, and its record has too little data to search for it."
    if not found.candidates:
        return f"{head}, and no similar paper was found."
    return f"{head}, and no match is certain. {found.message} {candidates} {_LOOK_HINT}".replace(
        "  ", " "
    )
