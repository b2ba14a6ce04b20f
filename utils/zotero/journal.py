"""Record what was written into Zotero, so that nothing is written twice and all can be undone.

The journal is ``.papershelf/zotero/journal.db`` of the shelf. Each step of a push (an object that
is created, or an item that gets tags and a collection) is recorded as ``planned`` before its
request, and as ``made`` with its version after the answer. After a kill in between, the next push
compares the planned steps with the library: a step was carried out if its key is in the library.

The journal also stores the access keys that Zotero programs issue with their users' consent. Such a
key gives access only to that program on this computer.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import InUse, StoreFailed
from ..model.paper import utc_now
from ..system import sqlite
from ..system.safe_files import PRIVATE_FOLDER, make_folder

StepKind = Literal["collection", "item", "change", "note", "attachment"]
StepState = Literal["planned", "made", "undone", "left"]
_SCHEMA = """
CREATE TABLE IF NOT EXISTS steps (number INTEGER PRIMARY KEY, library TEXT NOT NULL,
    push TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, payload TEXT NOT NULL,
    identity TEXT NOT NULL, file TEXT NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS steps_key ON steps (library, key);
CREATE TABLE IF NOT EXISTS keys (server TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID;
"""
_COLUMNS = "number, kind, key, payload, identity, file, state, version"


@dataclass(frozen=True, slots=True)
class PushStep:
    """One object that a push creates or changes.

    Parameters
    ----------
    kind : str
        A created object, or ``change`` for tags and a collection added to an item.
    key : str
        The object's key in Zotero.
    payload : mapping
        The data to send; for a change, the added ``tags`` and ``collections``, or the new text of
        a ``note`` with the text ``before``.
    identity : str
        For an item: the paper's identifiers or title, to find the item again.
    file : str
        For an attachment: the file to upload; empty once it is uploaded.
    """

    kind: StepKind
    key: str
    payload: Mapping[str, Any]
    identity: str = ""
    file: str = ""
    state: StepState = "planned"
    version: int = 0
    number: int = 0


class PushJournal:
    """A shelf's journal of its pushes to Zotero; it implements `.client.KeyStore`."""

    def __init__(self, shelf: Path) -> None:
        self._folder = shelf / PRIVATE_FOLDER / "zotero"
        self._path = self._folder / "journal.db"

    @contextmanager
    def lock_pushes(self) -> Iterator[None]:
        """Allow only one process at a time to push from this shelf."""
        make_folder(self._folder, 0o700)
        with sqlite.hold_process_lock(self._folder / "push.lock") as is_ours:
            if not is_ours:
                msg = "Another push from this shelf to Zotero is running."
                raise InUse(msg, "Wait until it has finished.")
            yield

    def record_planned_steps(
        self, library: str, push: str, steps: Sequence[PushStep]
    ) -> list[PushStep]:
        """Record steps before their request is sent, and return the steps with their numbers."""
        made = []
        with self._open_journal_database() as db:
            for step in steps:
                row = (library, push, step.kind, step.key, json.dumps(step.payload))
                query = "INSERT INTO steps VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, 'planned', 0)"
                number = db.execute(query, (*row, step.identity, step.file)).lastrowid
                made.append(replace(step, number=number or 0))
        return made

    def update_steps(self, steps: Sequence[PushStep]) -> None:
        """Record the state, version and file of steps."""
        query = "UPDATE steps SET state = ?, version = ?, file = ? WHERE number = ?"
        with self._open_journal_database() as db:
            db.executemany(query, [(s.state, s.version, s.file, s.number) for s in steps])

    def delete_steps(self, steps: Sequence[PushStep]) -> None:
        """Delete steps that were not carried out."""
        with self._open_journal_database() as db:
            db.executemany("DELETE FROM steps WHERE number = ?", [(s.number,) for s in steps])

    def list_steps(self, library: str, push: str = "") -> list[PushStep]:
        """Return the steps of a library, or of one push, that were not undone."""
        query = f"""SELECT {_COLUMNS} FROM steps WHERE library = ? AND ? IN (push, '')
            AND state IN ('planned', 'made') ORDER BY number"""  # noqa: S608
        with self._open_journal_database() as db:
            rows = db.execute(query, (library, push)).fetchall()
        return [
            PushStep(kind, key, json.loads(payload), identity, file, state, version, number)
            for number, kind, key, payload, identity, file, state, version in rows
        ]

    def find_last_push_name(self, library: str) -> str:
        """Return the name of the last push that was not undone; empty without one."""
        query = """SELECT push FROM steps WHERE library = ? AND state IN ('planned', 'made')
            ORDER BY number DESC LIMIT 1"""
        with self._open_journal_database() as db:
            row = db.execute(query, (library,)).fetchone()
        return str(row[0]) if row else ""

    def find_access_key(self, server: str) -> str:
        """Return the access key for a server; empty if none is stored."""
        with self._open_journal_database() as db:
            row = db.execute("SELECT key FROM keys WHERE server = ?", (server,)).fetchone()
        return str(row[0]) if row else ""

    def store_access_key(self, server: str, key: str) -> None:
        """Store the access key for a server."""
        with self._open_journal_database() as db:
            db.execute("REPLACE INTO keys VALUES (?, ?)", (server, key))

    @contextmanager
    def _open_journal_database(self) -> Iterator[sqlite3.Connection]:
        make_folder(self._folder, 0o700)
        try:
            with closing(sqlite.open_database(self._path, 30.0)) as db:
                db.executescript(_SCHEMA)
                with sqlite.transaction(db):
                    yield db
        except sqlite3.Error as error:
            msg = f"The journal of Zotero pushes cannot be used: {self._path}: {error}."
            raise StoreFailed(msg) from error


def make_push_name() -> str:
    """Return a new unique name for a push: the time and a random suffix."""
    return f"{utc_now()} {secrets.token_hex(4)}"
