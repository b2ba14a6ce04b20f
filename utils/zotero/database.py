"""Read papers from a copy of ``zotero.sqlite``, in the form of Zotero's API.

An open Zotero may hold its database locked for itself (``PRAGMA locking_mode=EXCLUSIVE`` in
``chrome/content/zotero/xpcom/db.js`` of zotero/zotero). SQLite's backup gives a whole copy where
the lock allows it. Otherwise the file and its log are copied, and the copy is checked: a copy made
in the middle of a write is made again. Zotero's own file is never written to.

The tables are those of ``resource/schema/userdata.sql`` in zotero/zotero.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import BadRequest, Unreachable
from ..system import sqlite
from ..system.safe_files import disk_errors

_ITEMS = """
SELECT i.itemID, i.key, t.typeName FROM items i JOIN itemTypes t USING (itemTypeID)
WHERE i.libraryID = ? AND t.typeName NOT IN ('attachment', 'note', 'annotation')
    AND i.itemID NOT IN (SELECT itemID FROM deletedItems) ORDER BY i.itemID"""
_FIELDS = """
SELECT d.itemID, f.fieldName, v.value FROM itemData d JOIN fields f USING (fieldID)
JOIN itemDataValues v USING (valueID)"""
_CREATORS = """
SELECT ic.itemID, t.creatorType, c.firstName, c.lastName, c.fieldMode FROM itemCreators ic
JOIN creators c USING (creatorID) JOIN creatorTypes t USING (creatorTypeID)
ORDER BY ic.itemID, ic.orderIndex"""
_COLLECTIONS = """
SELECT c.key, c.collectionName, p.key FROM collections c
LEFT JOIN collections p ON p.collectionID = c.parentCollectionID WHERE c.libraryID = ?"""
_MEMBERS = """
SELECT ci.itemID, c.key FROM collectionItems ci JOIN collections c USING (collectionID)"""
_COPIES = 3  # attempts to copy the files between two writes of Zotero


class ZoteroDatabase:
    """The collections and papers of a Zotero database, read from a temporary copy.

    Parameters
    ----------
    path : Path
        The file ``zotero.sqlite``, or the folder that holds it.
    library : str, optional
        Empty for the user's own library, ``groups/ID`` for a group's.
    """

    def __init__(self, path: Path, library: str = "") -> None:
        path = path.expanduser()
        file = path / "zotero.sqlite" if path.is_dir() else path
        if not file.is_file():
            msg = f"The Zotero database {file} does not exist."
            hint = "Zotero shows its folder in Settings > Advanced > Files and Folders."
            raise BadRequest(msg, hint)
        with _open_database_copy(file) as db:
            try:
                self._read_tables(db, library)
            except sqlite3.Error as error:
                msg = f"{file} is not a Zotero database that can be read: {error}."
                raise BadRequest(msg, "Give the file zotero.sqlite of Zotero 5 or newer.") from None

    def list_collections(self) -> list[dict[str, Any]]:
        """Return all collections of the library."""
        return self._collections

    def list_top_items(self, collection: str = "") -> list[dict[str, Any]]:
        """Return the papers of the library, or of the collection with this key."""
        if not collection:
            return self._items
        return [item for item in self._items if collection in item["collections"]]

    def _read_tables(self, db: sqlite3.Connection, library: str) -> None:
        number = _find_library_number(db, library)
        fields: defaultdict[int, dict[str, Any]] = defaultdict(dict)
        for item, name, value in db.execute(_FIELDS):
            fields[item][name] = _extract_iso_date(str(value)) if name == "date" else str(value)
        creators: defaultdict[int, list[dict[str, str]]] = defaultdict(list)
        for item, kind, first, last, mode in db.execute(_CREATORS):
            name = {"name": last or ""} if mode else {"firstName": first or "", "lastName": last}
            creators[item].append({"creatorType": kind, **name})
        members: defaultdict[int, list[str]] = defaultdict(list)
        for item, key in db.execute(_MEMBERS):
            members[item].append(key)
        self._items = [
            fields[item]
            | {"key": key, "itemType": kind, "creators": creators[item]}
            | {"collections": members[item]}
            for item, key, kind in db.execute(_ITEMS, (number,))
        ]
        rows = db.execute(_COLLECTIONS, (number,))
        names = ("key", "name", "parentCollection")
        self._collections = [dict(zip(names, row, strict=True)) for row in rows]


def _find_library_number(db: sqlite3.Connection, library: str) -> int:
    """Return the number that the database gives to a library."""
    query = "SELECT libraryID FROM libraries WHERE type = 'user'"
    group = library.removeprefix("groups/")
    if library:
        query = "SELECT libraryID FROM groups WHERE groupID = ?"
    row = db.execute(query, (group,) if library else ()).fetchone()
    if row is None:
        known = ", ".join(
            f"groups/{group_id}" for (group_id,) in db.execute("SELECT groupID FROM groups")
        )
        msg = f"The Zotero database has no {f'library {library}' if library else 'user library'}."
        raise BadRequest(
            msg, f"Its group libraries: {known}." if known else "It has no group libraries."
        )
    return int(row[0])


def _extract_iso_date(text: str) -> str:
    """Return the ISO part of a date as Zotero stores it: ``2019-05-00 May 2019``.

    >>> _extract_iso_date("2019-05-00 May 2019"), _extract_iso_date("2019-05-03 2019-05-03")
    ('2019-05', '2019-05-03')
    """
    stored = text[:10]
    if len(stored) < 10 or stored[4] + stored[7] != "--":
        return text
    while stored.endswith("-00"):
        stored = stored[:-3]
    return stored if stored != "0000" else text[10:].strip()


@contextmanager
def _open_database_copy(file: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection to a consistent copy of a database that another program may use."""
    with tempfile.TemporaryDirectory(prefix="papershelf-zotero-") as folder:
        copy = Path(folder) / "zotero.sqlite"
        for _ in range(_COPIES):
            if _copy_by_sqlite_backup(file, copy) or _copy_database_files(file, copy):
                with closing(sqlite3.connect(copy)) as db:
                    yield db
                return
    msg = f"{file} changed during each of {_COPIES} attempts to copy it."
    raise Unreachable(msg, "Wait until Zotero has finished syncing, and try again.")


def _copy_by_sqlite_backup(file: Path, copy: Path) -> bool:
    """Copy a database with SQLite's backup; return False if Zotero has locked it."""
    try:
        with (
            closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.execute("PRAGMA busy_timeout = 200")
            source.execute("BEGIN")
            # Raises where the file is locked; `backup` alone would wait for ever.
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            source.backup(target)
    except sqlite3.Error as error:
        if sqlite.is_damage_error(error):
            msg = f"{file} is not a database that can be read: {error}."
            raise BadRequest(msg, "Give the file zotero.sqlite of Zotero 5 or newer.") from None
        return False
    return True


def _copy_database_files(file: Path, copy: Path) -> bool:
    """Copy a database file and its logs; return whether the copy is consistent."""
    for ending in (*sqlite.FILE_ENDINGS[:2], "-journal"):
        target = Path(f"{copy}{ending}")
        target.unlink(missing_ok=True)
        with disk_errors(file, "read"), suppress(FileNotFoundError):
            shutil.copyfile(f"{file}{ending}", target)
    try:
        with closing(sqlite3.connect(copy)) as db:
            return bool(db.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.Error:
        return False
