"""The file of a ledger: how it is opened and locked, and what its errors mean."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path

from ..errors import DamagedStore, InUse, StoreFailed
from ..system import safe_files, sqlite
from .ledger_schema import in_memory

_PATIENCE_S = 30.0
_NAMED = 5  # harvests that a hint names, the newest


def connect(path: Path) -> sqlite3.Connection:
    """Open a ledger's file; on a full disk, a copy of it to read from."""
    try:
        return _open(path)
    except sqlite3.OperationalError as error:
        if not sqlite.has_no_room(error):
            raise
        with suppress(OSError, sqlite3.Error):
            return _open_copy(path)
        raise


def _open_copy(path: Path) -> sqlite3.Connection:
    """A copy to read from: beside the file itself a full disk has no room for what SQLite needs."""
    with tempfile.TemporaryDirectory(prefix="papershelf-") as folder:
        for part in (path, path.with_name(f"{path.name}-wal")):
            if part.exists():
                shutil.copy(part, folder)
        db = in_memory(_open(Path(folder, path.name)))
    db.execute("PRAGMA query_only = ON")
    return db


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite.connect(path, _PATIENCE_S)
    sqlite.use_wal(db, path, "NORMAL")
    return db


@contextmanager
def exclusive_lock(path: Path, patience_s: float = 1.0) -> Iterator[None]:
    """Hold the lock of a ledger among processes.

    Raises
    ------
    InUse
        Another process holds it.
    """
    with ExitStack() as stack:
        try:
            ours = stack.enter_context(sqlite.try_lock(lock_path(path), patience_s))
        except sqlite3.Error as error:
            raise store_error(lock_path(path), error) from error
        if not ours:
            msg = f"The harvest {path.stem} is running in another process."
            raise InUse(msg, "Wait for it, or look at it with `status`.")
        yield


def lock_path(path: Path) -> Path:
    """Return the file that locks a ledger."""
    return path.with_suffix(".lock")


def store_error(path: Path, error: Exception) -> StoreFailed:
    """Return the error to raise for what SQLite or the disk said about a ledger."""
    if access_error := safe_files.access_error(path):
        return access_error
    msg = f"The ledger {path.name} could not be used: {error}."
    hint = "Free some disk space, and see that its folder can be written."
    if sqlite.is_busy(error):
        hint = "Another process holds it: wait until it is done, or end it."
    elif sqlite.is_damaged(error):
        return damage_error(path, str(error))
    return StoreFailed(msg, hint, file=str(path))


def damage_error(path: Path, why: str) -> DamagedStore:
    """Return the error to raise for a ledger that cannot be read."""
    hint = (
        "Harvest the same query or list again: the ledger is then made again from that, from the "
        "shelf and from the answers that sites gave."
    )
    return DamagedStore(f"The ledger {path.name} is damaged: {why}.", hint, file=str(path))


def ledgers_folder(shelf: Path) -> Path:
    """Return the folder of a shelf's ledgers."""
    return shelf / ".papershelf" / "jobs"


def name_other_harvests(path: Path) -> str:
    """Return a hint for a missing harvest: the likeliest name, else the newest ones."""
    others = sorted(path.parent.glob("*.db"), key=lambda one: -one.stat().st_mtime)
    names = [one.stem for one in others]
    named = get_close_matches(path.stem, names, 1) or names[:_NAMED]
    more = f" and {len(names) - len(named)} more" if len(names) > len(named) else ""
    return f"There are: {', '.join(named)}{more}." if names else "There is none on this shelf yet."
