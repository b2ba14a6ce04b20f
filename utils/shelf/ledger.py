"""The ledger of one harvest: the requested papers, the attempts, and how each paper ended.

One SQLite file per job in ``.papershelf/jobs``, so that two harvests never wait for each other.
Every step is committed before and after it has an effect: whoever is killed loses the request
under way and nothing else. WAL with ``synchronous=NORMAL`` costs no flush per step; after a power
cut (not a crash) the last steps may be missing, and are taken again: a paper that is on the shelf
is found there.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, fields
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..errors import DamagedStore, InUse, StoreFailed
from ..model.identifiers import Ids
from ..model.job import Coverage, Harvested, Job, JobCounts, JobSearch, PaperSelection, SiteWait
from ..model.paper import Attempt, Paper, StoredPaper, to_row, utc_now
from ..system import safe_files, sqlite
from ..system.plain_text import replace_surrogates
from .ledger_file import (
    INSERT_ASKED,
    VERSION,
    Asked,
    DuplicateFinder,
    build_damaged_ledger_error,
    build_ledger_error,
    build_unknown_harvest_error,
    create_ledger_file,
    get_lock_path,
    hold_ledger_lock,
    is_preprint_request,
    list_storable_identifiers,
    migrate_ledger,
    open_ledger_file,
    parse_paper_json,
    parse_paper_state,
    to_attempt_row,
    to_ids_json,
    to_json,
    to_paper_end_columns,
    to_request_row,
)
from .paper_file import list_form_names

log = logging.getLogger(__name__)
_MADE_AGAIN = (
    "The ledger %s is damaged and was set aside as %s. The harvest is made again from its query "
    "or list: texts are found on the shelf, and answers in the journal. Lost are the attempts at "
    "papers without a text, and what each source has cost."
)
_ANY_TIME = "9999"  # later than every ISO 8601 time
_FILED = "('full_text', 'abstract', 'record')"
_WITHOUT_TEXT = "('pending', 'abstract', 'record', 'failed')"
_MISSED = "state IN ('abstract', 'record', 'failed')"
_ENDED: dict[PaperSelection, str] = {
    "all": "state <> 'duplicate'",
    "retrieved": "state = 'full_text'",
    "not_retrieved": _MISSED,
}
_BY_SOURCE = "SELECT via, COUNT(*) FROM papers WHERE state = 'full_text' GROUP BY via"
_BY_REASON = f"SELECT reason, COUNT(*) FROM papers WHERE {_MISSED} GROUP BY reason"  # noqa: S608
_DUPLICATE = "duplicate"  # a state of rows only: a duplicate is no paper of its own
_TEXTS = (
    *("file", "source", "via", "license", "version", "sha256", "reason", "detail"),
    "ended_at",
)
_REOPEN = f"""UPDATE papers SET state = 'pending', round = round + 1,
    {", ".join(f"{name} = ''" for name in _TEXTS)},
    paper = CASE WHEN ids = '{{}}' THEN paper END WHERE"""  # noqa: S608
_VERSIONS = """SELECT version, COUNT(*) FROM papers
    WHERE state = 'full_text' AND version IN ('preprint', 'accepted') GROUP BY version"""
_FACTS = ("job_id", "title", "query", "effective_query", "begun_at", "ended_at", "cancelled_at")
_MORE_FACTS = ("hits", "duplicates", "notes")
_IDENTITY = "identity of "  # and the one that says how a paper without identifier was found
_ATTEMPT = ", ".join(f"attempts.{field.name}" for field in fields(Attempt))


class Ledger:
    """The papers and attempts of one job, for all threads; other processes can read it meanwhile.

    Parameters
    ----------
    path : Path
        The file; `create` makes it.
    """

    def __init__(self, path: Path) -> None:
        with safe_files.disk_errors(path, "read"):
            known = path.exists()
        if not known:
            raise build_unknown_harvest_error(path)
        self.path = path
        self._turn = threading.RLock()
        with self._convert_to_store_failed():
            self._db, version = migrate_ledger(open_ledger_file(path))
        if version == 0:
            raise build_damaged_ledger_error(path, "it is empty")
        if version != VERSION:
            msg = f"The ledger {path.name} is of another version ({version})."
            hint = "Delete it and run the command again; papers on the shelf are found there."
            raise StoreFailed(msg, hint)

    @classmethod
    def create(cls, path: Path, job: Job, entries: Iterable[Asked]) -> Ledger:
        """Create a ledger with all requested papers; it exists once all are listed.

        One that another process made in the meantime stays as it is.
        """
        safe_files.make_folder(path.parent, 0o700)
        facts = {name: getattr(job, name) for name in (*_FACTS, *_MORE_FACTS)}
        facts["searches"] = [asdict(search) for search in job.searches]
        with safe_files.exclusive_lock(path.with_name("new.lock")):
            if not path.exists():
                try:
                    create_ledger_file(
                        path,
                        {name: to_json(value) for name, value in facts.items()},
                        map(to_request_row, entries),
                    )
                except (sqlite3.Error, OSError) as error:
                    raise build_ledger_error(path, error) from error
        return cls(path)

    @classmethod
    def open_if_undamaged(cls, path: Path) -> Ledger | None:
        """Open the ledger at *path*; None if it is missing, or damaged and moved aside.

        Raises
        ------
        InUse
            It is damaged, and another process works on it.
        """
        if not path.exists():
            return None
        try:
            ledger = cls(path)
            with ledger._open_for_reading() as db:
                if db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                    return ledger
            ledger.close()
        except DamagedStore:
            pass
        with hold_ledger_lock(path):
            aside = sqlite.build_damaged_path(path)
            sqlite.move_database_aside(path, aside)
        log.warning(_MADE_AGAIN, path.name, aside.name)
        return None

    def close(self) -> None:
        """Close the database file."""
        with self._turn, suppress(sqlite3.Error):
            self._db.close()

    # -- one process at a time ---------------------------------------------------------------

    @contextmanager
    def exclusive_lock(self, patience_s: float = 1.0) -> Iterator[None]:
        """Hold this job's lock among processes inside.

        Raises
        ------
        InUse
            Another process works on it.
        """
        with hold_ledger_lock(self.path, patience_s):
            yield

    def is_running(self) -> bool:
        """Return whether a process works on this job now."""
        if not get_lock_path(self.path).exists():
            return False
        try:
            with self.exclusive_lock(patience_s=0.0):
                return False
        except InUse:
            return True
        except StoreFailed:  # nobody works on a disk that is full
            return False

    # -- the job -----------------------------------------------------------------------------

    def read_job(self) -> Job:
        """Return the job with its current counts."""
        facts = self._read_job_facts()
        with self._open_for_reading() as db:
            states = dict(db.execute("SELECT state, COUNT(*) FROM papers GROUP BY state"))
            aside = dict(db.execute(_VERSIONS))
        merged = states.pop(_DUPLICATE, 0)
        counts = JobCounts(requested=sum(states.values()), **states, **aside)
        return Job(
            **{name: facts.get(name, "") for name in _FACTS},
            hits=facts.get("hits", 0),
            duplicates=facts.get("duplicates", 0) + merged,
            counts=counts,
            notes=tuple(facts.get("notes", ())),
            waits=tuple(SiteWait(**row) for row in facts.get("waits", ())),
            searches=tuple(JobSearch(**row) for row in facts.get("searches", ())),
        )

    def record_job_end(self) -> None:
        """Record that no paper is pending any more."""
        with self._open_for_writing() as db:
            _write_facts(db, {"ended_at": utc_now()})

    def record_site_waits(self, waits: Sequence[SiteWait]) -> None:
        """Record which sites the papers wait for, so that other processes can show it."""
        with self._open_for_writing() as db:
            _write_facts(db, {"waits": [asdict(wait) for wait in waits]})

    def record_cancellation(self, at: str) -> None:
        """Record when the job was cancelled; an empty time lets it continue."""
        with self._open_for_writing() as db:
            _write_facts(db, {"cancelled_at": at})

    def add_job_note(self, text: str) -> None:
        """Add a remark about the whole job, unless the job has the same remark."""
        notes = self._read_job_facts().get("notes", [])
        if text not in notes:
            with self._open_for_writing() as db:
                _write_facts(db, {"notes": [*notes, text]})

    def _read_job_facts(self) -> dict[str, Any]:
        with self._open_for_reading() as db:
            query = "SELECT name, value FROM job WHERE name NOT GLOB ?"
            rows = db.execute(query, (f"{_IDENTITY}*",)).fetchall()
        return {name: json.loads(value) for name, value in rows}

    # -- papers on their way -----------------------------------------------------------------

    def add_search_hits(
        self,
        entries: Iterable[Asked],
        hits: int,
        *,
        notes: Sequence[str] | None = None,
        searches: Sequence[JobSearch] = (),
        duplicates: int | None = None,
    ) -> None:
        """Add new hits of the job's queries; other given values replace the stored ones."""
        with self._open_for_writing() as db:
            known = {name for (name,) in db.execute("SELECT name FROM names")}
            for (ids,) in db.execute("SELECT ids FROM papers"):
                known.update(Ids(**json.loads(ids)).names())
            fresh = [to_request_row(one) for one in entries if known.isdisjoint(one[1].names())]
            db.executemany(INSERT_ASKED, fresh)
            facts: dict[str, Any] = {"hits": hits}
            facts |= {"ended_at": ""} if fresh else {}
            facts |= {"notes": list(notes)} if notes is not None else {}
            facts |= {"duplicates": duplicates} if duplicates is not None else {}
            facts |= {"searches": [asdict(search) for search in searches]} if searches else {}
            _write_facts(db, facts)

    def remove_untried_papers(self, asked: Iterable[str]) -> int:
        """Remove untried papers that were requested in these words; return their number."""
        with self._open_for_writing() as db:
            before = db.total_changes
            db.executemany(
                "DELETE FROM papers WHERE asked = ? AND state = 'pending'",
                ((words,) for words in asked),
            )
            return db.total_changes - before

    def list_pending_papers(self) -> list[int]:
        """Return the numbers of the papers that have not ended."""
        with self._open_for_reading() as db:
            rows = db.execute("SELECT number FROM papers WHERE state = 'pending' ORDER BY number")
            return [number for (number,) in rows]

    def read_requests(self, numbers: Sequence[int]) -> dict[int, tuple[Ids, str, int]]:
        """Return identifiers, requested text and round of papers, by their numbers."""
        marks = ",".join("?" * len(numbers))
        query = f"SELECT number, ids, asked, round FROM papers WHERE number IN ({marks})"  # noqa: S608
        with self._open_for_reading() as db:
            rows = db.execute(query, list(numbers)).fetchall()
        return {number: (Ids(**json.loads(ids)), asked, n) for number, ids, asked, n in rows}

    def get_reopening_time(self, numbers: Sequence[int]) -> float:
        """Return the time (`time.time`) before which attempts do not count for reopened papers.

        0 where all of them are in their first round.
        """
        marks = ",".join("?" * len(numbers))
        query = f"SELECT max(round) FROM papers WHERE number IN ({marks})"  # noqa: S608
        with self._open_for_reading() as db:
            [(round_,)] = db.execute(query, list(numbers)).fetchall()
            told = db.execute("SELECT value FROM job WHERE name = 'reopened'").fetchall()
        return float(told[0][0]) if round_ and told else 0.0

    def record_identity(self, number: int, ids: Ids, how: str) -> None:
        """Record which paper an entry without an identifier is, and how it was identified."""
        update = """UPDATE papers SET ids = ?1, paper = json_set(paper, '$.ids', json(?1))
            WHERE number = ?2"""
        with self._open_for_writing() as db:
            db.execute(update, (to_ids_json(ids), number))
            _write_facts(db, {f"{_IDENTITY}{number}": how})

    def store_paper_record(self, number: int, paper: Paper) -> int | None:
        """Store the record of a paper; return the number of the paper it is a duplicate of."""
        return self.store_paper_records({number: paper}).get(number)

    def store_paper_records(self, papers: Mapping[int, Paper]) -> dict[int, int]:
        """Store paper records by number; return the original paper of each duplicate.

        Names of one paper belong to the first of the list that had them. Its preprint, asked for as
        such, is a report of its own.
        """
        with self._open_for_writing() as db:
            listed = DuplicateFinder(db, papers)
            same = {
                n: first for n, paper in papers.items() if (first := listed.find_or_add(n, paper))
            }
            known = {n: paper for n, paper in papers.items() if n not in same}
            names = [
                (name, n)
                for n, paper in known.items()
                for name in list_storable_identifiers(paper.ids)
            ]
            db.executemany("INSERT OR IGNORE INTO names VALUES (?, ?)", names)
            rows = [(to_json(to_row(one)), to_ids_json(one.ids), n) for n, one in known.items()]
            db.executemany("UPDATE papers SET paper = ?, ids = ? WHERE number = ?", rows)
            if same:
                merged = [(_DUPLICATE, f"the same as number {of}", n) for n, of in same.items()]
                db.executemany("UPDATE papers SET state = ?, detail = ? WHERE number = ?", merged)
        return same

    def get_paper_record(self, number: int) -> Paper | None:
        """Return the record of a paper; None before its lookup."""
        with self._open_for_reading() as db:
            [(row,)] = db.execute("SELECT paper FROM papers WHERE number = ?", (number,))
        return parse_paper_json(row) if row else None

    def begin_rung(self, numbers: Sequence[int], rung: str) -> None:
        """Record the rung that is about to be tried for papers.

        With it, how many attempts there are: once there are more, its own are recorded.
        """
        with self._open_for_writing() as db:
            update = """UPDATE papers SET rung = ? || '#' ||
                (SELECT COUNT(*) FROM attempts WHERE at_number = number) WHERE number = ?"""
            db.executemany(update, [(rung, number) for number in numbers])

    def record_attempts(self, number: int, attempts: Sequence[Attempt]) -> None:
        """Record the attempts at the rung of `begin_rung`."""
        with self._open_for_writing() as db:
            _insert_attempts(db, number, attempts)
            if not attempts:
                db.execute("UPDATE papers SET rung = '' WHERE number = ?", (number,))

    def get_unfinished_rung(self, number: int) -> str:
        """Return the rung that was begun and whose attempts are not recorded; "" if none."""
        with self._open_for_reading() as db:
            query = """SELECT rung, (SELECT COUNT(*) FROM attempts WHERE at_number = number)
                FROM papers WHERE number = ?"""
            [(begun, recorded)] = db.execute(query, (number,))
        rung, _, before = str(begun).partition("#")  # one of an older version has no number
        return "" if before and recorded > int(before) else rung

    def list_attempts(self, number: int) -> list[Attempt]:
        """Return the attempts for a paper in its present round, in order."""
        query = f"""SELECT {_ATTEMPT} FROM attempts JOIN papers ON number = at_number
            WHERE number = ? AND attempts.round = papers.round ORDER BY attempts.rowid"""  # noqa: S608
        with self._open_for_reading() as db:
            return [Attempt(*row) for row in db.execute(query, (number,))]

    def record_paper_result(
        self,
        number: int,
        stored: StoredPaper,
        sha256: str,
        reason: str,
        detail: str,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        """Mark a paper as finished with the text on the shelf: full text, abstract or record.

        *attempts* are those that led to it and were not written down before.
        """
        self._write_paper_end(
            number, to_paper_end_columns(stored, sha256, reason, detail), attempts
        )

    def record_manual_text(self, number: int, stored: StoredPaper, sha256: str) -> bool:
        """End a paper with a manually added text; return False if it had its text already.

        A text of another version that stands in for the published one does not count.
        """
        lacking = _WITHOUT_TEXT
        if stored.version in ("published", "") and not self._is_preprint_request(number):
            lacking = f"{_WITHOUT_TEXT} OR version IN ('preprint', 'accepted')"
        said = (stored.verdict, stored.evidence) if stored.shows_evidence else ("", "")
        if lacked := self._write_paper_end(
            number, to_paper_end_columns(stored, sha256, *said), of=lacking
        ):
            self.record_attempts(number, stored.attempts[-1:])
        return lacked

    def _is_preprint_request(self, number: int) -> bool:
        with self._open_for_reading() as db:
            [(asked,)] = db.execute("SELECT asked FROM papers WHERE number = ?", (number,))
        return is_preprint_request(asked)

    def list_paper_files(self) -> dict[int, str]:
        """Return the file name of each paper that ended with a file, by the paper's number."""
        query = f"SELECT number, file FROM papers WHERE file <> '' AND state IN {_FILED}"  # noqa: S608
        with self._open_for_reading() as db:
            return dict(db.execute(query).fetchall())

    def rename_files(self, files: Iterable[tuple[str, str]]) -> int:
        """Record new file names, given as (old, new) pairs; return the number of changes."""
        with self._open_for_writing() as db:
            query = "UPDATE papers SET file = ? WHERE file = ?"
            return sum(db.execute(query, (new, old)).rowcount for old, new in files)

    def reopen_paper_if_lost(self, number: int, file: str) -> bool:
        """Reopen a paper whose *file* is rejected or missing; False if it has another file."""
        with self._open_for_writing() as db:
            query = f"{_REOPEN} state IN {_FILED} AND file IN (?, ?) AND number = ?"
            found = db.execute(query, (*list_form_names(file), number)).rowcount > 0
            if found:
                _write_facts(db, {"ended_at": "", "reopened": time.time()})
        return found

    def record_failure(
        self, number: int, reason: str, detail: str, attempts: Sequence[Attempt] = ()
    ) -> None:
        """End a paper for which nothing was found; *attempts* are not recorded yet."""
        values = {"state": "failed", "reason": reason, "detail": replace_surrogates(detail)}
        self._write_paper_end(number, values, attempts)

    def _write_paper_end(
        self,
        number: int,
        values: Mapping[str, str],
        attempts: Sequence[Attempt] = (),
        of: str = "('pending')",
    ) -> bool:
        values = {**values, "rung": "", "ended_at": utc_now()}
        columns = ", ".join(f"{name} = ?" for name in values)
        with self._open_for_writing() as db:
            _insert_attempts(db, number, attempts)
            update = f"UPDATE papers SET {columns} WHERE number = ? AND (state IN {of})"  # noqa: S608
            return db.execute(update, [*values.values(), number]).rowcount > 0

    def find_paper_numbers(self, ids: Ids) -> list[int]:
        """Return the numbers of a paper with these identifiers, in any state."""
        names = ids.names()
        asked = " OR ".join(["json_extract(ids, ?) = ?"] * len(names))
        query = f"""SELECT number, ids FROM papers WHERE {asked} OR number IN
            (SELECT number FROM names WHERE name IN ({",".join("?" * len(names))}))"""  # noqa: S608
        values = [part for n in names for part in ("$." + n.partition(":")[0], n.partition(":")[2])]
        with self._open_for_reading() as db:
            rows = db.execute(query, [*values, *names]).fetchall()
        return [number for number, row in rows if not ids.clash(Ids(**json.loads(row)))]

    def list_paper_identifiers(self) -> frozenset[str]:
        """Return every identifier of the papers, in the form of `Ids.names`."""
        with self._open_for_reading() as db:
            names = {name for (name,) in db.execute("SELECT name FROM names")}
            rows = db.execute("SELECT ids FROM papers").fetchall()
        return frozenset(
            names.union(*(list_storable_identifiers(Ids(**json.loads(ids))) for (ids,) in rows))
        )

    def list_papers_without_text(self) -> list[tuple[Ids, str]]:
        """Return identifiers and title of papers without a full text that have an identifier."""
        query = f"""SELECT ids, json_extract(paper, '$.title') FROM papers
            WHERE state IN {_WITHOUT_TEXT} AND ids <> '{{}}'"""  # noqa: S608
        with self._open_for_reading() as db:
            rows = db.execute(query).fetchall()
        return [(Ids(**json.loads(ids)), str(title or "")) for ids, title in rows]

    def list_unidentified_papers(self) -> list[tuple[int, str]]:
        """Return number and description of papers requested without an identifier."""
        with self._open_for_reading() as db:
            return db.execute("SELECT number, asked FROM papers WHERE ids = '{}'").fetchall()

    def reopen_papers_by_outcome(self, which: str) -> int:
        """Reopen papers that ended in a state: ``failed``, ``abstract``, ``record``, or an outcome.

        Or the version of a text (``preprint``, ``accepted``), where another one may be had by now.

        Returns
        -------
        int
            How many.
        """
        tried = """SELECT at_number FROM attempts JOIN papers ON number = at_number
            WHERE outcome = ? AND attempts.round = papers.round"""
        update = f"""{_REOPEN} (state IN ('failed', 'abstract', 'record')
            AND (state = ? OR reason = ? OR number IN ({tried})))
            OR (state = 'full_text' AND version = ?)"""
        with self._open_for_writing() as db:
            found = db.execute(update, (which, which, which, which)).rowcount
            if found:
                _write_facts(db, {"ended_at": "", "reopened": time.time()})
        return found

    def reopen_unanswered_papers(self, before: str = _ANY_TIME) -> int:
        """Reopen the papers for which a site did not answer, in the same round.

        Answers of other sites stand, and only those that did not answer are asked again.

        Parameters
        ----------
        before : str, optional
            Those that ended earlier than this (ISO 8601, UTC), or later than now: a clock was set
            back since.

        Returns
        -------
        int
            How many.
        """
        clear = ", ".join(f"{name} = ''" for name in _TEXTS)
        update = f"""UPDATE papers SET state = 'pending', {clear}
            WHERE state IN ('failed', 'abstract', 'record') AND NOT ended_at BETWEEN ? AND ?
            AND reason IN ('could_not_tell', 'unreachable')"""  # noqa: S608
        with self._open_for_writing() as db:
            found = db.execute(update, (before, utc_now())).rowcount
            if found:
                _write_facts(db, {"ended_at": ""})
        return found

    # -- reading it --------------------------------------------------------------------------

    def count_coverage(self) -> Coverage:
        """Count the full texts by route, and the papers without full text by reason."""
        with self._open_for_reading() as db:
            counted = [
                dict(db.execute(f"{query} ORDER BY COUNT(*) DESC, 1").fetchall())
                for query in (_BY_SOURCE, _BY_REASON)
            ]
        return Coverage(*counted)

    def read_outcomes(
        self, which: PaperSelection = "all", *, start: int = 0, most: int = -1, reason: str = ""
    ) -> Iterator[Harvested]:
        """Yield the papers and their outcomes, in the order of the list.

        Parameters
        ----------
        which : Which, optional
            Those that ended with a text, without one, or every paper.
        start, most : int, optional
            From the paper of this number on, so many (-1: all). A page that begins with a number
            stays where it is, whatever ends in the meantime.
        reason : str, optional
            Only those without a text for this reason.
        """
        query = f"""SELECT number, asked, state, paper, ids,
            (SELECT value FROM job WHERE name = '{_IDENTITY}' || number), {", ".join(_TEXTS)}
            FROM papers WHERE {_ENDED[which]} AND number >= ? AND ? IN (reason, '')
            ORDER BY number LIMIT ?"""  # noqa: S608
        with self._convert_to_store_failed(), closing(open_ledger_file(self.path)) as db:
            for row in db.execute(query, (start, reason, most)):
                number, asked, state, paper, ids, identity, *texts = row
                yield Harvested(
                    number=number,
                    asked=asked,
                    state=parse_paper_state(state),
                    paper=parse_paper_json(paper) if paper else Paper(Ids(**json.loads(ids))),
                    attempts=tuple(self.list_attempts(number)),
                    identity=json.loads(identity) if identity else "",
                    **dict(zip(_TEXTS, texts, strict=True)),
                )

    def read_all_attempts(self) -> Iterator[tuple[int, list[Attempt]]]:
        """Yield each paper's number and its attempts in the present round."""
        query = f"""SELECT at_number, {_ATTEMPT} FROM attempts JOIN papers ON number = at_number
            WHERE attempts.round = papers.round ORDER BY at_number, attempts.rowid"""  # noqa: S608
        with self._convert_to_store_failed(), closing(open_ledger_file(self.path)) as db:
            for number, rows in groupby(db.execute(query), itemgetter(0)):
                yield number, [Attempt(*row[1:]) for row in rows]

    # -- the database ------------------------------------------------------------------------

    @contextmanager
    def _open_for_reading(self) -> Iterator[sqlite3.Connection]:
        with self._turn, self._convert_to_store_failed():
            yield self._db

    @contextmanager
    def _open_for_writing(self) -> Iterator[sqlite3.Connection]:
        with self._turn, self._convert_to_store_failed(), sqlite.transaction(self._db) as db:
            yield db

    @contextmanager
    def _convert_to_store_failed(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise build_ledger_error(self.path, error) from error


def _insert_attempts(db: sqlite3.Connection, number: int, attempts: Sequence[Attempt]) -> None:
    """Insert attempts in the present round of a paper."""
    if attempts:
        [(round_,)] = db.execute("SELECT round FROM papers WHERE number = ?", (number,))
        rows = [(number, round_, *to_attempt_row(attempt)) for attempt in attempts]
        db.executemany("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _write_facts(db: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    rows = [(name, to_json(value)) for name, value in facts.items()]
    db.executemany("INSERT OR REPLACE INTO job VALUES (?, ?)", rows)
