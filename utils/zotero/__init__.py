"""Read papers from a Zotero library, and push papers of the shelf into it.

`fetch_papers` reads a library or one of its collections as a list of papers, through the local API
of the Zotero on this computer, through zotero.org with a key (`.client`), or from a copy of
``zotero.sqlite`` (`.database`). `read_collection_as_entries` provides the list
``zotero:COLLECTION`` for every shell command that accepts a file of papers. `push_papers_to_zotero`
writes into a library (`.push`), and `undo_last_push` reverts that; the journal of both is on the
shelf (`.journal`).

The core does not import this package: it is registered in `..plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import BadRequest, NothingFound
from ..lists.pasted import ListEntry
from ..model.job import Harvested
from ..model.paper import Paper
from ..settings import Settings
from ..shelf import Shelf
from ..system.plain_text import one_line
from .client import ZoteroApi, get_zotero_setting, open_zotero_library
from .database import ZoteroDatabase
from .items import is_paper_item, item_to_paper, items_to_entries
from .journal import PushJournal
from .push import Attach, Push, carry_out_push, plan_push, resolve_unanswered_steps, undo_push

_MAX_NAMED = 20


def fetch_items(
    settings: Settings, collection: str = "", database: Path | None = None
) -> list[dict[str, Any]]:
    """Return the items that describe papers in a Zotero library or in one of its collections.

    Parameters
    ----------
    settings : Settings
        The addresses, the key and the library.
    collection : str, optional
        The name, path (``Reviews/Moss``) or key of a collection; empty for the whole library.
    database : Path, optional
        The file ``zotero.sqlite``, to be read instead of the running Zotero.

    Raises
    ------
    BadRequest
        There is no such collection or database, or several collections have the name.
    NothingFound
        The library or collection has no papers.
    Unreachable, NotConfigured
        Zotero is not running, does not allow other programs to read, or refuses the key.
    """
    if database is not None:
        library: Any = ZoteroDatabase(database, get_zotero_setting(settings, "library"))
    else:
        library = open_zotero_library(settings)
    key = find_collection(library.list_collections(), collection) if collection else ""
    items = [item for item in library.list_top_items(key) if is_paper_item(item)]
    if not items:
        where = f"The collection {collection!r}" if collection else "The library"
        raise NothingFound(f"{where} in Zotero has no papers.", "Name another collection.")
    return items


def fetch_papers(
    settings: Settings, collection: str = "", database: Path | None = None
) -> list[Paper]:
    """Return the papers of a Zotero library or collection; see `fetch_items`."""
    return [item_to_paper(item) for item in fetch_items(settings, collection, database)]


def read_collection_as_entries(settings: Settings, name: str) -> list[ListEntry]:
    """Return the papers of ``zotero:NAME`` as list entries; an empty name means all papers."""
    return items_to_entries(fetch_items(settings, name.strip()))


def push_papers_to_zotero(
    settings: Settings,
    shelf: Shelf,
    rows: Iterable[Harvested],
    *,
    collection: str = "",
    attach: Attach = "linked",
    dry_run: bool = True,
) -> Push:
    """Add papers to a Zotero library: items, a collection, tags, a note, PDF and text.

    Parameters
    ----------
    rows : iterable of Harvested
        The papers of a harvest, review or list.
    collection : str, optional
        The name or key of the target collection; it is created if no collection has the name.
    attach : str, optional
        ``linked`` to the files on the shelf, ``stored`` in Zotero, or ``none``.
    dry_run : bool, optional
        Write nothing into Zotero; only return the plan.

    Raises
    ------
    BadRequest
        *attach* is ``linked`` for a group library, in which Zotero does not allow linked files.
    Unreachable, NotConfigured
        Zotero is not running, or does not allow writing.
    """
    group = bool(get_zotero_setting(settings, "library"))
    if group and attach == "linked":
        msg = "Zotero does not allow linked files in a group library."
        raise BadRequest(msg, "Add --attach stored or --attach none.")
    with _open_library_and_journal(settings, shelf) as (api, journal, library):
        steps = resolve_unanswered_steps(journal, library, api)
        options: Any = {"collection": collection, "attach": attach, "own_use": not group}
        push = plan_push(rows, shelf, api, steps, **options)
        if not dry_run:
            api.obtain_write_access(journal)
            carry_out_push(push, journal, library, api, shelf)
        return push


def undo_last_push(settings: Settings, shelf: Shelf, *, dry_run: bool = True) -> Push:
    """Undo this shelf's last push that is still in effect; see `.push.undo_push`."""
    with _open_library_and_journal(settings, shelf) as (api, journal, library):
        if not dry_run:
            api.obtain_write_access(journal)
        return undo_push(journal, library, api, dry_run=dry_run)


@contextmanager
def _open_library_and_journal(
    settings: Settings, shelf: Shelf
) -> Iterator[tuple[ZoteroApi, PushJournal, str]]:
    """Yield the Zotero library, the push journal (locked) and the library's identifier."""
    api, journal = open_zotero_library(settings, writable=True), PushJournal(shelf.folder)
    library = api.get_library_id()
    with journal.lock_pushes():
        yield api, journal, library


def find_collection(collections: Sequence[Mapping[str, Any]], wanted: str) -> str:
    """Return the key of the collection with this name, path or key.

    Raises
    ------
    BadRequest
        No collection or several collections have the name.
    """
    paths = build_collection_paths(collections)
    folded = wanted.strip().strip("/").casefold()
    exact = [key for key, path in paths.items() if key == wanted or path.casefold() == folded]
    named = [key for key, path in paths.items() if path.rpartition("/")[2].casefold() == folded]
    for found in (exact, named):
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(f"{paths[key]} ({key})" for key in found[:_MAX_NAMED])
            msg = f"{len(found)} Zotero collections have the name {wanted!r}: {shown}."
            raise BadRequest(msg, "Give the path of one of them, or its key (in parentheses).")
    known = ", ".join(sorted(paths.values())[:_MAX_NAMED])
    msg = f"Zotero has no collection {one_line(wanted)[:80]!r}."
    hint = f"Collections: {known}." if known else "The library has no collections."
    raise BadRequest(msg, hint, f"To read the whole library: {command_line('zotero pull')}")


def build_collection_paths(collections: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the path of each collection, such as ``Reviews/Moss``, by the collection's key."""
    by_key = {str(collection.get("key")): collection for collection in collections}
    paths = {}
    for key in by_key:
        names: list[str] = []
        at: Any = key
        while at in by_key and len(names) < len(by_key):  # in case parents form a loop
            names.append(one_line(str(by_key[at].get("name", "")))[:200])
            at = by_key[at].get("parentCollection")
        paths[key] = "/".join(reversed(names))
    return paths
