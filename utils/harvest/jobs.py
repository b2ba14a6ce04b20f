"""Which harvest is meant: made from what is asked, found again by it, resumed, reported.

The name of a job follows from the question (or the list), so that the same command on the same
shelf is the same job: it goes on where it was interrupted, and a finished one asks PubMed for what
is new.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import get_args

from ..download.ladder import Ladder
from ..errors import BadRequest, NotFound, StoreFailed
from ..lists.duplicates import merged
from ..lists.pasted import Entry
from ..model.identifiers import Ids
from ..model.job import Job
from ..model.paper import Verdict, moment, now
from ..model.versions import STAND_INS
from ..pubmed.search import every_pmid
from ..pubmed.slices import Sweep
from ..sources import Query
from ..store.ledger import Ledger
from ..system.safe_files import disk
from .bulk import run
from .progress import Progress

log = logging.getLogger(__name__)

_SLUG = 40
_ENDS = {
    *("failed", "abstract", "record", *get_args(Verdict), "unreachable", "not_offered", "embargo"),
    *("not_found", "could_not_tell", "bad_request", "no_identifier", "bug"),
} - {"full_text"}
_SINCE_S = 60.0  # a site that was out a moment ago is out
_RENEWED_S = 60.0  # a report that is there already, at the most once in
_MANY = 200_000  # papers that nobody asks for by mistake
_LIMITED = "Only "  # how a note about a limit begins
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")


@dataclass(frozen=True, slots=True)
class Harvest:
    """A job on a shelf. Going through it works on it, and says how far it is.

    Examples
    --------
    >>> for progress in library.harvest(query="CXCL12 AND CXCR4"):   # doctest: +SKIP
    ...     print(progress.job.counts, progress.eta_s)
    """

    ledger: Ledger
    ladder: Ladder
    prefer_pmc: bool = True

    @property
    def job_id(self) -> str:
        """The job's name."""
        return self.ledger.path.stem

    @property
    def folder(self) -> Path:
        """Where its report lies."""
        return self.ladder.shelf.folder / "reports" / self.job_id

    def __iter__(self) -> Iterator[Progress]:
        """Work until no paper is pending, then write the report; see `.bulk.run`."""
        with self.ledger.alone():
            self._go_on()
            waited, again = False, 0.0
            for progress in run(self.ledger, self.ladder, prefer_pmc=self.prefer_pmc):
                if progress.only_waits and not waited and time.monotonic() >= again:
                    self.report()  # nobody need wait for the slowest site
                    again = time.monotonic() + _RENEWED_S
                waited = progress.only_waits
                yield progress
            self.report()  # still at work: whoever looks now does not miss the report

    def job(self) -> Job:
        """The job with its counts of this moment."""
        return self.ledger.job()

    def go_on(self) -> int:
        """Open papers again of which nobody could tell whether there is a text; how many.

        Those that ended so more than a minute ago: going through a harvest begins with them. Sites
        that did answer are not asked again for them.

        Raises
        ------
        BadRequest
            Another process works on the job.
        """
        with self.ledger.alone():
            return self._go_on()

    def _go_on(self) -> int:
        if self.ladder.web.settings.papers_offline:
            return 0
        return self.ledger.go_on(moment(time.time() - _SINCE_S))

    def retry(self, which: str) -> int:
        """Open papers again that ended so (``failed``, ``abstract``, ``record``, or an outcome).

        ``preprint`` and ``accepted`` are those of which only that version was had.

        Several words are separated by commas; returns how many papers.

        Raises
        ------
        BadRequest
            No paper can end so.
        """
        words = ends_in(which)
        with self.ledger.alone():
            return sum(self.ledger.reopen(word) for word in words)

    def report(self) -> Path:
        """Write the report of what there is by now; the page to look at."""
        from ..reports import write_report
        from ..reports.library_links import ReadersLibrary
        from .reference_files import of_rows, write_references

        shelf = self.ladder.shelf.folder
        write_references(lambda: of_rows(self.ledger.rows(), shelf), self.folder)
        job = self.job()
        if self.ledger.running():
            told = [f"{wait}. This page is renewed then." for wait in job.waits]
            job = replace(job, notes=(*told, *job.notes))
        library = ReadersLibrary.of(self.ladder.web.settings)
        return write_report(job, self.ledger.rows, self.folder, library)


def harvest(
    papers: Iterable[str | int | Ids | Entry],
    query: str | Query,
    job_id: str,
    ladder: Ladder,
    *,
    title: str = "",
    max_papers: int = 0,
    retry: str = "",
    prefer_pmc: bool = True,
) -> Harvest:
    """The harvest that is meant by one of three: identifiers, a PubMed query, the name of a job.

    Parameters
    ----------
    papers, query, job_id
        One of them; the others empty.
    ladder : Ladder
    title : str, optional
        What a list is called.
    max_papers : int, optional
        At the most so many; 0 for all.
    retry : str, optional
        Try once more what ended so: ``failed``, ``abstract``, or the outcome of an attempt.
    prefer_pmc : bool, optional
        False asks the publisher's side first.

    Raises
    ------
    BadRequest
        Not one of the three is given, or no paper can end as *retry* says.
    """
    if retry:
        ends_in(retry)  # refused before there is a job
    if bool(query) + bool(job_id) + bool(papers) != 1:
        msg = "A harvest needs one of three: a query, identifiers, or the name of a job."
        raise BadRequest(msg, "Leave the other two out.")
    if job_id:
        ledger = of_id(job_id, ladder)
    elif query:
        asked = query if isinstance(query, Query) else Query(query)
        ledger = of_query(asked, ladder, most=max_papers)
    else:
        entries = [_entry(paper) for paper in papers]
        title = title or f"{len(entries):,} identifier{'s' * (len(entries) != 1)}"
        ledger = of_list(entries, title, ladder, most=max_papers)
    meant = Harvest(ledger, ladder, prefer_pmc)
    if retry:
        meant.retry(retry)
    return meant


def _entry(paper: str | int | Ids | Entry) -> Entry:
    if isinstance(paper, Entry):
        return paper
    return Entry(str(paper), paper if isinstance(paper, Ids) else Ids.parse(str(paper)))


def ends_in(which: str) -> list[str]:
    """The words of a list such as ``failed,paywall``, if papers can end so.

    Raises
    ------
    BadRequest
        No paper can.
    """
    words = [word.strip() for word in which.split(",")]
    choices = _ENDS.union(STAND_INS)
    if unknown := set(words) - choices:
        msg = f"No paper ends as {', '.join(sorted(unknown))!r}."
        raise BadRequest(msg, f"Choose among {', '.join(sorted(choices))}.")
    return words


def of_query(query: Query, ladder: Ladder, *, most: int = 0) -> Ledger:
    """The job that fetches every hit of a question (at the *most* so many).

    An unfinished job is taken up as it is, unless it was limited to fewer papers than are asked
    for now; a finished one learns of new hits first.

    Raises
    ------
    BadRequest
        There are too many hits to take them all unlimited, or the question cannot be asked.
    NotConfigured, Unreachable
        The search could not be made; there is no job then.
    """
    dates = (query.min_date, query.max_date, query.date_type)
    path = _path(ladder, query.text, [query.text, *dates, *query.publication_types])
    ledger = Ledger(path) if path.exists() else None
    if ledger and not ledger.job().ended_at and not _wants_more(ledger.job(), most):
        return ledger
    found = every_pmid(query, ladder.web)
    if found.total > _MANY and not most:
        msg = f"PubMed finds {found.total:,} papers, more than {_MANY:,}."
        raise BadRequest(msg, "Narrow the query, by dates say, or set a limit (max_papers).")
    hits = ((f"PMID {pmid}", Ids(pmid=pmid)) for page in found.pages for pmid in page)
    if ledger:
        _learn(ledger, found, hits, most)
        return ledger
    entries = list(islice(hits, most or None))
    notes = _notes(found, len(entries), most)
    if not entries:
        msg = f"PubMed finds nothing for {query.text!r}."
        raise NotFound(msg, "Check the spelling; " + " ".join(notes))
    job = Job(
        path.stem,
        query.text,
        query=query.text,
        effective_query=found.effective_query,
        hits=found.total,
        begun_at=now(),
        notes=tuple(notes),
    )
    return Ledger.create(path, job, entries)


def _learn(ledger: Ledger, found: Sweep, hits: Iterable[tuple[str, Ids]], most: int) -> None:
    """Add what a question brings today and did not, up to the limit."""
    taken = _taken(ledger.job())
    if most:
        known = {row.asked for row in ledger.rows()}
        hits = islice((hit for hit in hits if hit[0] not in known), max(0, most - taken))
    entries = list(hits)
    notes = _notes(found, taken + len(entries), most)
    ledger.add(entries, hits=found.total, notes=notes)


def _notes(found: Sweep, taken: int, most: int) -> list[str]:
    """What a reviewer has to know about the hits; complete once their pages were read."""
    notes = list(found.warnings)
    if most and taken < found.total:
        notes.append(f"{_LIMITED}{taken:,} of {found.total:,} hits were asked for.")
    return notes


def _taken(job: Job) -> int:
    """How many hits of a question are in its job."""
    return job.counts.requested + job.duplicates


def _wants_more(job: Job, most: int) -> bool:
    """Whether a job was limited to fewer papers than are asked for now."""
    limited = any(note.startswith(_LIMITED) for note in job.notes)
    return limited and (not most or most > _taken(job))


def of_list(entries: Iterable[Entry], title: str, ladder: Ladder, *, most: int = 0) -> Ledger:
    """The job that fetches the papers of a list, each once.

    Raises
    ------
    BadRequest
        The list is empty.
    """
    entries = list(entries)
    once = merged(entries)
    papers = once.papers[:most] if most else once.papers
    if not papers:
        raise BadRequest("No paper was asked for.", "Give a query, identifiers or a file of them.")
    named = sorted(entry.ids.key if entry.ids else entry.asked for entry in papers)
    path = _path(ladder, title, named)
    if path.exists():
        return Ledger(path)
    notes = list(once.contradictions)
    if len(papers) < len(once.papers):
        notes.append(f"{_LIMITED}{len(papers):,} of {len(once.papers):,} papers were asked for.")
    job = Job(
        path.stem,
        title,
        hits=len(entries),
        duplicates=once.duplicates,
        begun_at=now(),
        notes=tuple(notes),
    )
    return Ledger.create(path, job, papers)


def of_id(job_id: str, ladder: Ladder) -> Ledger:
    """The job of this name.

    Raises
    ------
    NotFound
        There is none.
    """
    if not _ID.fullmatch(job_id):
        msg = f"{job_id!r} is no name of a harvest."
        raise BadRequest(msg, "See `status` for those there are.")
    return Ledger(_folder(ladder) / f"{job_id}.db")


def every_job(ladder: Ladder) -> list[Job]:
    """All jobs of the shelf, the newest first."""
    jobs = []
    with disk(_folder(ladder), "read"):
        paths = [*_folder(ladder).glob("*.db")]
    for path in paths:
        try:
            with closing(Ledger(path)) as ledger:
                jobs.append(ledger.job())
        except StoreFailed as damaged:  # the others are still worth seeing
            log.warning("%s", damaged)
    return sorted(jobs, key=lambda job: job.begun_at, reverse=True)


def _path(ladder: Ladder, title: str, asked: Sequence[str]) -> Path:
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:_SLUG].strip("-")
    mark = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:8]
    return _folder(ladder) / f"{words or 'harvest'}-{mark}.db"


def _folder(ladder: Ladder) -> Path:
    return ladder.shelf.folder / ".papershelf" / "jobs"
