"""Read papers from a Zotero library, and push papers of the shelf into it.

`pull_papers` reads a library or one of its collections as a list of papers, through the local API
of the Zotero on this computer, through zotero.org with a key (`.client`), or from a copy of
``zotero.sqlite`` (`.database`). `read_list` makes ``zotero:COLLECTION`` a list wherever the shell
takes a file of papers. `push_papers` writes into a library (`.push`) and `undo_last_push` takes
that back; the journal of both is on the shelf (`.journal`).

The core does not import this package: it is registered in `..plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import BadRequest, NothingFound
from ..lists.pasted import Entry
from ..model.job import Harvested
from ..model.paper import Paper
from ..settings import Settings
from ..shelf import Shelf
from ..system.plain_text import one_line
from .client import ZoteroApi, get_setting, open_library
from .database import ZoteroDatabase
from .items import is_paper, item_to_paper, items_to_entries
from .journal import Journal
from .push import Attach, Push, carry_out, plan_push, settle_steps, undo_push

_MAX_NAMED = 20


def pull_items(
    settings: Settings, collection: str = "", database: Path | None = None
) -> list[dict[str, Any]]:
    """Return the items of papers in a library, or in one of its collections.

    Parameters
    ----------
    settings : Settings
        The addresses, the key and the library.
    collection : str, optional
        The name, the path (``Reviews/Moss``) or the key of a collection; without it, the library.
    database : Path, optional
        The file ``zotero.sqlite``, read instead of Zotero being asked.

    Raises
    ------
    BadRequest
        There is no such collection or database, or several collections have the name.
    NothingFound
        There is no paper in it.
    Unreachable, NotConfigured
        Zotero does not run, does not let other programs read, or refuses the key.
    """
    if database is not None:
        library: Any = ZoteroDatabase(database, get_setting(settings, "library"))
    else:
        library = open_library(settings)
    key = find_collection(library.list_collections(), collection) if collection else ""
    items = [item for item in library.list_papers(key) if is_paper(item)]
    if not items:
        where = f"The collection {collection!r}" if collection else "The library"
        raise NothingFound(f"{where} of Zotero has no papers.", "Name another collection.")
    return items


def pull_papers(
    settings: Settings, collection: str = "", database: Path | None = None
) -> list[Paper]:
    """Return the papers of a library; see `pull_items`."""
    return [item_to_paper(item) for item in pull_items(settings, collection, database)]


def read_list(settings: Settings, name: str) -> list[Entry]:
    """Return the papers of ``zotero:NAME`` as entries; without a name, those of the library."""
    return items_to_entries(pull_items(settings, name.strip()))


def push_papers(
    settings: Settings,
    shelf: Shelf,
    rows: Iterable[Harvested],
    *,
    collection: str = "",
    attach: Attach = "linked",
    dry_run: bool = True,
) -> Push:
    """Add papers to the library: items, a collection, tags, a note, PDF and text.

    Parameters
    ----------
    rows : iterable of Harvested
        The papers of a harvest, review or list.
    collection : str, optional
        The name or key of the collection; made where none has the name.
    attach : str, optional
        ``linked`` to the files on the shelf, ``stored`` in Zotero, or ``none``.
    dry_run : bool, optional
        Write nothing into Zotero; the result says what would be written.

    Raises
    ------
    BadRequest
        Files are to be linked in the library of a group, which Zotero does not allow.
    Unreachable, NotConfigured
        Zotero does not run, or does not let us write.
    """
    group = bool(get_setting(settings, "library"))
    if group and attach == "linked":
        msg = "Zotero links no files in the library of a group."
        raise BadRequest(msg, "Give --attach stored, or --attach none.")
    with _open_for_push(settings, shelf) as (api, journal, library):
        steps = settle_steps(journal, library, api)
        options: Any = {"collection": collection, "attach": attach, "own_use": not group}
        push = plan_push(rows, shelf, api, steps, **options)
        if not dry_run:
            api.allow_writing(journal)
            carry_out(push, journal, library, api, shelf)
        return push


def undo_last_push(settings: Settings, shelf: Shelf, *, dry_run: bool = True) -> Push:
    """Take back the last push of this shelf that was not undone; see `.push.undo_push`."""
    with _open_for_push(settings, shelf) as (api, journal, library):
        if not dry_run:
            api.allow_writing(journal)
        return undo_push(journal, library, api, dry_run=dry_run)


@contextmanager
def _open_for_push(settings: Settings, shelf: Shelf) -> Iterator[tuple[ZoteroApi, Journal, str]]:
    api, journal = open_library(settings, writable=True), Journal(shelf.folder)
    library = api.identify()
    with journal.lock():
        yield api, journal, library


def find_collection(collections: Sequence[Mapping[str, Any]], wanted: str) -> str:
    """Return the key of the collection with this name, path or key.

    Raises
    ------
    BadRequest
        No collection or several collections have the name.
    """
    paths = name_collections(collections)
    folded = wanted.strip().strip("/").casefold()
    exact = [key for key, path in paths.items() if key == wanted or path.casefold() == folded]
    named = [key for key, path in paths.items() if path.rpartition("/")[2].casefold() == folded]
    for found in (exact, named):
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(f"{paths[key]} ({key})" for key in found[:_MAX_NAMED])
            msg = f"{len(found)} collections of Zotero have the name {wanted!r}: {shown}."
            raise BadRequest(msg, "Name one by its path or by its key, in parentheses here.")
    known = ", ".join(sorted(paths.values())[:_MAX_NAMED])
    msg = f"Zotero has no collection {one_line(wanted)[:80]!r}."
    hint = f"There are: {known}." if known else "The library has no collections."
    raise BadRequest(msg, hint, f"To read all: {command_line('zotero pull')}")


def name_collections(collections: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the path of each collection, ``Reviews/Moss``, by its key."""
    by_key = {str(one.get("key")): one for one in collections}
    paths = {}
    for key, one in by_key.items():
        names, above = [one_line(str(one.get("name", "")))[:200]], one.get("parentCollection")
        while above in by_key and len(names) < len(by_key):  # a loop would have no end
            names.append(one_line(str(by_key[above].get("name", "")))[:200])
            above = by_key[above].get("parentCollection")
        paths[key] = "/".join(reversed(names))
    return paths
