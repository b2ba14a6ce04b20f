"""Look for new texts automatically, for a bounded number of papers a day.

This happens at the end of a harvest in the shell, and while a server runs. All processes of a shelf
share a small database, ``recheck.db``: the day on which each paper is due, and the number of papers
chosen today. A run chooses its papers and counts them in one transaction, before it asks. So the
bound holds for any number of processes, and the papers of a killed run are due on the next day.

A paper is due again after `_RECENT_DAYS`, or after `_OLD_DAYS` if it was published years ago. If
PMC, Unpaywall or a licence named the day on which a copy opens, the paper is due on that day.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import date, timedelta
from pathlib import Path

from ..download.ladder import Ladder
from ..errors import PaperError
from ..model.paper import StoredPaper, utc_now
from ..system.safe_files import make_folder
from ..system.sqlite import open_file_transaction
from .recheck import Change
from .text_recheck import find_opening_day, list_lacking_files, recheck_files

log = logging.getLogger(__name__)
_RECENT_DAYS, _OLD_DAYS = 14, 28
_OLD_AGE_DAYS = 3 * 365  # since publication
_MAX_OPENING_DAYS = 90  # a copy may appear elsewhere before an embargo ends
_NEXT_LOOK = ""  # in place of a file: the day on which the shelf is looked through again
_UNDECIDED = {"could_not_tell", "postponed"}
_SCHEMAS = (
    "CREATE TABLE IF NOT EXISTS due (file TEXT PRIMARY KEY, day TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS chosen (day TEXT PRIMARY KEY, papers INTEGER NOT NULL)",
)


def recheck_due_texts(ladder: Ladder) -> Iterator[Change]:
    """Look for new texts of the papers that are due, within the bound of this day.

    Yields
    ------
    Change
        One for each paper that was asked about. None if ``PAPERS_RECHECK_PER_DAY`` papers were
        chosen today, if the shelf is offline, or if no e-mail address is set.
    """
    settings = ladder.web.settings
    if settings.papers_offline or not (settings.contact and settings.papers_recheck_per_day):
        return
    for change in recheck_files(_choose_due_files(ladder), ladder):
        yield change
        file = change.file_path.replace("\\", "/").rpartition("/")[2]
        stored = ladder.shelf.find_paper_by_file(file)
        if stored and change.outcome not in _UNDECIDED:
            with _open_schedule(ladder) as db:
                due = file, _compute_due_day(stored, utc_now())
                db.execute("INSERT OR REPLACE INTO due VALUES (?, ?)", due)


def find_due_texts(ladder: Ladder) -> list[Change]:
    """Return what `recheck_due_texts` gained; errors are logged, not raised."""
    gained = []
    try:
        for change in recheck_due_texts(ladder):
            if change.outcome == "gained":
                gained.append(change)
                log.info("%s: a full text appeared. %s", change.ids, change.detail)
    except (PaperError, sqlite3.Error, OSError) as error:
        log.info("The search for new texts stopped: %s", error)
    return gained


def _choose_due_files(ladder: Ladder) -> list[str]:
    """Return the files of due papers, the longest due first, within what this day has left."""
    today, most = utc_now()[:10], ladder.web.settings.papers_recheck_per_day
    with _open_schedule(ladder) as db:
        days: dict[str, str] = dict(db.execute("SELECT file, day FROM due"))
        is_full = _count_chosen(db, today) >= most
    if is_full or days.get(_NEXT_LOOK, "") > today:
        return []

    def is_due(stored: StoredPaper) -> bool:
        file = Path(stored.path).name
        if file not in days:
            asked = max((one.at for one in stored.attempts), default=stored.saved_at)
            days[file] = _compute_due_day(stored, asked)
        return days[file] <= today

    files = sorted(list_lacking_files(ladder, is_due), key=lambda file: days[file])
    tomorrow = _add_days(today, 1)
    with _open_schedule(ladder) as db:  # another process may have chosen papers meanwhile
        held = {file for (file,) in db.execute("SELECT file FROM due WHERE day > ?", (today,))}
        count = _count_chosen(db, today)
        chosen = [file for file in files if file not in held][: max(0, most - count)]
        entries = chosen if count + len(chosen) >= most else [*chosen, _NEXT_LOOK]
        db.executemany("INSERT OR REPLACE INTO due VALUES (?, ?)", [(f, tomorrow) for f in entries])
        db.execute("DELETE FROM chosen")
        db.execute("INSERT INTO chosen VALUES (?, ?)", (today, count + len(chosen)))
    return chosen


def _compute_due_day(stored: StoredPaper, asked: str) -> str:
    """Return the day on which a paper is due that was last *asked* about at this time."""
    day = asked[:10]
    is_old = "" < stored.paper.published < _add_days(day, -_OLD_AGE_DAYS)
    due = _add_days(day, _OLD_DAYS if is_old else _RECENT_DAYS)
    opening = find_opening_day(stored, day)
    return min(opening, _add_days(day, _MAX_OPENING_DAYS)) if opening else due


def _open_schedule(ladder: Ladder) -> AbstractContextManager[sqlite3.Connection]:
    """Open a transaction on the database of due papers."""
    folder = ladder.shelf.folder / ".papershelf"
    make_folder(folder)
    return open_file_transaction(folder / "recheck.db", _SCHEMAS)


def _count_chosen(db: sqlite3.Connection, day: str) -> int:
    row = db.execute("SELECT papers FROM chosen WHERE day = ?", (day,)).fetchone()
    return int(row[0]) if row else 0


def _add_days(day: str, days: int) -> str:
    return (date.fromisoformat(day) + timedelta(days)).isoformat()
