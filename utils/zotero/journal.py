"""Remember what was written into Zotero, so that nothing is doubled and all can be undone.

The journal is ``.papershelf/zotero/journal.db`` of the shelf. Each step of a push (an object that
is created, or an item that gets tags and a collection) is recorded as ``planned`` before its
request, and as ``made`` with its version after the answer. After a kill in between, the next push
compares the planned steps with the library: a key that is there was made, another one was not.

Keys that a Zotero program gave us by its user's consent are kept here, too. They open nothing but
that program, on this computer.
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
class Step:
    """One object of a push.

    Parameters
    ----------
    kind : str
        A created object, or ``change`` for tags and a collection added to an item.
    key : str
        The object's key in Zotero.
    payload : mapping
        What is sent; of a change, the ``tags`` and ``collections`` that are added.
    identity : str
        For an item: the paper in words, to find the item where it has no identifier.
    file : str
        For an attachment: the file to store, until it is stored.
    """

    kind: StepKind
    key: str
    payload: Mapping[str, Any]
    identity: str = ""
    file: str = ""
    state: StepState = "planned"
    version: int = 0
    number: int = 0


class Journal:
    """The journal of one shelf; it implements `.client.KeyStore`."""

    def __init__(self, shelf: Path) -> None:
        self._folder = shelf / PRIVATE_FOLDER / "zotero"
        self._path = self._folder / "journal.db"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let only one process push from this shelf."""
        make_folder(self._folder, 0o700)
        with sqlite.hold_process_lock(self._folder / "push.lock") as is_ours:
            if not is_ours:
                msg = "Another push to Zotero from this shelf is under way."
                raise InUse(msg, "Wait until it has ended.")
            yield

    def plan(self, library: str, push: str, steps: Sequence[Step]) -> list[Step]:
        """Record steps before their request."""
        made = []
        with self._open_journal() as db:
            for step in steps:
                row = (library, push, step.kind, step.key, json.dumps(step.payload))
                query = "INSERT INTO steps VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, 'planned', 0)"
                number = db.execute(query, (*row, step.identity, step.file)).lastrowid
                made.append(replace(step, number=number or 0))
        return made

    def update(self, steps: Sequence[Step]) -> None:
        """Record the state, version and file of steps."""
        query = "UPDATE steps SET state = ?, version = ?, file = ? WHERE number = ?"
        with self._open_journal() as db:
            db.executemany(query, [(s.state, s.version, s.file, s.number) for s in steps])

    def delete(self, steps: Sequence[Step]) -> None:
        """Forget steps that were not carried out."""
        with self._open_journal() as db:
            db.executemany("DELETE FROM steps WHERE number = ?", [(s.number,) for s in steps])

    def list_steps(self, library: str, push: str = "") -> list[Step]:
        """Return the steps of a library, or of one push, that were not undone."""
        query = f"""SELECT {_COLUMNS} FROM steps WHERE library = ? AND ? IN (push, '')
            AND state IN ('planned', 'made') ORDER BY number"""  # noqa: S608
        with self._open_journal() as db:
            rows = db.execute(query, (library, push)).fetchall()
        return [
            Step(kind, key, json.loads(payload), identity, file, state, version, number)
            for number, kind, key, payload, identity, file, state, version in rows
        ]

    def find_last_push(self, library: str) -> str:
        """Return the name of the last push that was not undone, or an empty string."""
        query = """SELECT push FROM steps WHERE library = ? AND state IN ('planned', 'made')
            ORDER BY number DESC LIMIT 1"""
        with self._open_journal() as db:
            row = db.execute(query, (library,)).fetchone()
        return str(row[0]) if row else ""

    def find_key(self, server: str) -> str:
        """Return the key for a server, or an empty string."""
        with self._open_journal() as db:
            row = db.execute("SELECT key FROM keys WHERE server = ?", (server,)).fetchone()
        return str(row[0]) if row else ""

    def keep_key(self, server: str, key: str) -> None:
        """Keep the key for a server."""
        with self._open_journal() as db:
            db.execute("REPLACE INTO keys VALUES (?, ?)", (server, key))

    @contextmanager
    def _open_journal(self) -> Iterator[sqlite3.Connection]:
        make_folder(self._folder, 0o700)
        try:
            with closing(sqlite.open_database(self._path, 30.0)) as db:
                db.executescript(_SCHEMA)
                with sqlite.transaction(db):
                    yield db
        except sqlite3.Error as error:
            msg = f"The journal of pushes, {self._path}, cannot be used: {error}."
            raise StoreFailed(msg) from error


def name_push() -> str:
    """Return a new name for a push."""
    return f"{utc_now()} {secrets.token_hex(4)}"
