"""Store a paper's objects as files next to its text; missing files are downloaded.

`.found_files` finds files to fetch; for other files the address is listed. This module writes the
tables. A complete file is not fetched again. Each file appears when it is complete,
``objects.json`` last.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadRequest, NotFound, PaperError
from ..http.messages import MAX_BODY_BYTES
from ..model.paper import OBJECT_KINDS, ObjectKind, PaperObject, StoredPaper, TableGrid
from ..outline import find_figure_and_table_labels
from ..shelf import Shelf
from ..shelf.paper_file import get_objects_folder
from ..system import safe_files
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import one_line, shorten, to_escaped_json
from .found_files import ObjectFile, ObjectFileFinder
from .listing import (
    Mention,
    find_mentions,
    iterate_tables,
    list_objects,
    list_objects_without_files,
)
from .long_table import grid_to_csv, table_to_json

if TYPE_CHECKING:
    from ..http import Web

MAX_OBJECT_BYTES = 500_000_000
"""Default limit for one paper's files."""
MANIFEST = "objects.json"
TABLES = "tables.json"
# The last two belong to `..curation.places`.
_RESERVED_NAMES = {MANIFEST, TABLES, "places.json", "original.pdf"}
_UNSAFE_CHARS = re.compile(r"[^\w.+-]+")
_NAME_MAX_CHARS = 120
_NUMBER_MAX_DIGITS, _LABEL_MAX_CHARS, _LABEL_LIST_MAX_CHARS = 9, 60, 1000
_PARALLEL_PAPERS = 8  # papers; the Cloud Service allows twice as many requests
_NO_ROOM = "Left out: the paper's files are larger than what was asked for."


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object of a paper with its file on the shelf, or the reason why the file is missing.

    ``file`` is its path (empty if missing), ``url`` its source or where to get it, ``rows``
    and ``columns`` the size of a table, ``grid`` its cells.
    """

    kind: ObjectKind
    label: str
    caption: str = ""
    file: str = ""
    url: str = ""
    license: str = ""
    md5: str = ""
    bytes: int = 0
    rows: int = 0
    columns: int = 0
    mentioned: str = ""
    reason: str = ""
    grid: TableGrid | None = field(default=None, compare=False, repr=False)

    def row(self) -> dict[str, Any]:
        """Return the known fields for the shell and programs, without a table's cells."""
        always = {"kind": self.kind, "label": self.label}
        named = asdict(replace(self, grid=None))
        return always | {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class PaperObjects:
    """A paper's objects and the folder that contains their files."""

    stored: StoredPaper
    folder: Path
    objects: tuple[StoredObject, ...]


def collect_objects(
    stored: StoredPaper,
    shelf: Shelf,
    web: Web,
    kinds: Sequence[ObjectKind] = OBJECT_KINDS,
    *,
    only: str = "",
    fetch: bool = True,
    most_bytes: int = MAX_OBJECT_BYTES,
) -> PaperObjects:
    """List a paper's objects, and download them to the shelf unless *fetch* is False.

    *only* is the label of one object ("fig 2"), or its number in the list.

    Raises
    ------
    NotFound
        No object has the label or number *only*.
    StoreFailed
        The disk refuses to write; existing files stay.
    """
    folder = get_objects_folder(Path(stored.path))
    wanted = _list_selected_objects(stored, shelf, kinds, only)
    places = find_mentions(stored, shelf)
    if not wanted or not fetch:
        listed = _match_stored_objects(wanted, stored)
        return PaperObjects(
            stored, folder, tuple(_add_first_mention(item, places) for item in listed)
        )
    with web.leases.hold_lease(
        f"objects {folder.name}", f"the figures and tables of {stored.paper.ids}"
    ):
        safe_files.make_folder(folder)
        files = ObjectFileFinder(stored, shelf, web)
        kept = _ObjectWriter(stored, folder, files, most_bytes).write_objects(wanted, places)
        rows = [
            _build_row_with_relative_paths(item)
            for item in (*_list_objects_to_keep(folder, kinds, kept), *kept)
        ]
        safe_files.write_file(folder / MANIFEST, to_escaped_json(rows).encode())
    return PaperObjects(stored, folder, tuple(kept))


def find_objects_in_passage(text: str, stored: StoredPaper, shelf: Shelf) -> list[StoredObject]:
    """Return the objects that a passage of a paper's text mentions or shows."""
    labels, words = set(find_figure_and_table_labels(text)), text.casefold()
    found = list_objects_without_files(stored, shelf)
    return _match_stored_objects(
        [item for item in found if _is_in_passage(item, labels, words)], stored
    )


def _is_in_passage(item: PaperObject, labels: set[str], words: str) -> bool:
    if not labels.isdisjoint(_parse_labels(item.label)):
        return True
    name = item.label.partition(":")[0].strip().casefold()
    return item.kind == "supplement" and bool(name) and _contains_whole_name(name, words)


@lru_cache(maxsize=4096)  # every page of a paper is compared with all labels
def _parse_labels(label: str) -> frozenset[str]:
    return frozenset(find_figure_and_table_labels(label))


def _contains_whole_name(name: str, words: str) -> bool:
    """Return whether a text contains a name, but not as part of a longer name ("file 12")."""
    at = words.find(name)
    while at >= 0:
        end = at + len(name)
        if not words[end : end + 1].isalnum() and not words[max(at - 1, 0) : at].isalnum():
            return True
        at = words.find(name, end)
    return False


def _list_selected_objects(
    stored: StoredPaper, shelf: Shelf, kinds: Sequence[ObjectKind], only: str
) -> list[PaperObject]:
    if strange := [kind for kind in kinds if kind not in OBJECT_KINDS]:
        known = f"Choose among {', '.join(OBJECT_KINDS)}."
        msg = f"{strange[0]!r} is not a kind of object."
        raise BadRequest(msg, suggest_nearest_name(strange[0], OBJECT_KINDS), known)
    found = [item for item in list_objects(stored, shelf) if item.kind in kinds]
    return select_objects_by_label(found, only) if only else found


def _match_stored_objects(found: Sequence[PaperObject], stored: StoredPaper) -> list[StoredObject]:
    """Return objects with the files that earlier runs stored for them."""
    folder = get_objects_folder(Path(stored.path))
    before = {(item.kind, item.label): item for item in read_stored_objects(folder)}
    return [
        _restore_stored_object(before.get((item.kind, item.label)), item, stored) for item in found
    ]


def collect_objects_of_papers(
    texts: Iterable[StoredPaper],
    shelf: Shelf,
    web: Web,
    kinds: Sequence[ObjectKind] = OBJECT_KINDS,
    *,
    fetch: bool = True,
    most_bytes: int = MAX_OBJECT_BYTES,
) -> Iterator[PaperObjects | tuple[StoredPaper, PaperError]]:
    """Collect the objects of papers, in order; yield an error together with its paper.

    Full texts are read one by one, as there may be a hundred thousand.
    """

    def collect_or_return_error(
        stored: StoredPaper,
    ) -> PaperObjects | tuple[StoredPaper, PaperError]:
        try:
            return collect_objects(stored, shelf, web, kinds, fetch=fetch, most_bytes=most_bytes)
        except PaperError as error:
            return stored, error

    with ThreadPoolExecutor(_PARALLEL_PAPERS) as pool:
        for batch in _iterate_text_batches(texts, 4 * _PARALLEL_PAPERS):
            yield from pool.map(collect_or_return_error, batch)


def _iterate_text_batches(texts: Iterable[StoredPaper], size: int) -> Iterator[list[StoredPaper]]:
    left = iter(texts)
    while batch := list(islice(left, size)):
        yield batch


def read_stored_objects(folder: Path) -> list[StoredObject]:
    """Return the objects of earlier runs whose files still exist; empty if the list is damaged.

    The list has only file names, because shelf and folder may have moved since.
    """
    try:
        rows = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = [_add_folder_to_file(StoredObject(**row), folder) for row in rows]
    except (OSError, ValueError, TypeError):
        return []
    return [item for item in found if not item.file or Path(item.file).is_file()]


def _add_folder_to_file(item: StoredObject, folder: Path) -> StoredObject:
    return replace(item, file=str(folder / Path(item.file).name)) if item.file else item


def _build_row_with_relative_paths(item: StoredObject) -> dict[str, Any]:
    row = asdict(replace(item, file=Path(item.file).name, grid=None))
    return {name: value for name, value in row.items() if name != "grid"}


def _list_objects_to_keep(
    folder: Path, kinds: Sequence[ObjectKind], kept: Sequence[StoredObject]
) -> list[StoredObject]:
    """Return the objects to keep listed: other kinds, and files of an earlier text."""
    files = {item.file for item in kept if item.file}
    labels = {(item.kind, item.label) for item in kept}
    return [
        item
        for item in read_stored_objects(folder)
        if item.kind not in kinds
        or (item.file and item.file not in files and (item.kind, item.label) not in labels)
    ]


class _ObjectWriter:
    """Writes one paper's objects to the shelf."""

    def __init__(
        self, stored: StoredPaper, folder: Path, files: ObjectFileFinder, most_bytes: int
    ) -> None:
        self._stored = stored
        self._folder = folder
        self._files = files
        self._left = most_bytes
        self._names = set(_RESERVED_NAMES)
        self._before = {item.file: item for item in read_stored_objects(folder) if item.file}

    def write_objects(
        self, found: Sequence[PaperObject], places: Mapping[str, Mention]
    ) -> list[StoredObject]:
        """Write every object; return each with its file or the reason for having none."""
        grids = {id(item): (number, grid) for number, item, grid in iterate_tables(found)}
        kept, tidy = [], []
        for item in found:
            if id(item) in grids:
                number, grid = grids[id(item)]
                mention = places.get(normalize_object_label(item.label))
                tidy.append(table_to_json(number, item, grid, mention))
                kept.append(self._write_table(item, grid))
            else:
                kept += self._write_files(item, found)
        if tidy:
            safe_files.write_file(self._folder / TABLES, to_escaped_json(tidy).encode())
        return [_add_first_mention(item, places) for item in kept]

    def _write_table(self, item: PaperObject, grid: TableGrid) -> StoredObject:
        path = self._folder / self._choose_unused_name(item, "csv")
        data = grid_to_csv(grid)
        if not path.is_file() or path.read_bytes() != data:
            safe_files.write_file(path, data)
        listed = _to_unfetched_object(item, self._stored)
        return replace(
            listed, file=str(path), md5=_compute_md5(data), bytes=len(data), url="", reason=""
        )

    def _write_files(self, item: PaperObject, every: Sequence[PaperObject]) -> list[StoredObject]:
        """Store the files of a figure (one image is enough) or of a supplement."""
        listed = _to_unfetched_object(item, self._stored)
        files, why = self._files.find_files(item, every)
        if not files:
            return [replace(listed, reason=why)]
        return [
            self._write_object_file(item, replace(listed, url=file.url), file) for file in files
        ]

    def _write_object_file(
        self, item: PaperObject, listed: StoredObject, file: ObjectFile
    ) -> StoredObject:
        ending = Path(file.name).suffix.lstrip(".").lower()
        path = self._folder / self._choose_unused_name(item, ending, file.name)
        before = self._before.get(str(path))
        if before and before.md5 == (file.md5 or before.md5) == _compute_file_md5(path):
            return replace(before, caption=item.caption)
        most = min(self._left, MAX_BODY_BYTES)
        try:
            data = file.take(most) if most else b""
        except PaperError as error:
            return replace(listed, reason=f"{error.message}")
        if not data:
            return replace(listed, reason=_NO_ROOM)
        self._left -= len(data)
        safe_files.write_file(path, data)
        kept = replace(listed, file=str(path), license=file.license or listed.license, reason="")
        return replace(kept, md5=_compute_md5(data), bytes=len(data))

    def _choose_unused_name(self, item: PaperObject, ending: str, own: str = "") -> str:
        """Return a file name that no other file in the folder has."""
        stem = _to_file_slug(
            Path(own).stem
            if item.kind == "supplement" and own
            else normalize_object_label(item.label)
        )
        stem = (stem or item.kind)[:_NAME_MAX_CHARS]
        name, number = f"{stem}.{_to_file_slug(ending)}".rstrip("."), 1
        while name.lower() in self._names:
            number += 1
            name = f"{stem}-{number}.{_to_file_slug(ending)}".rstrip(".")
        self._names.add(name.lower())
        return name


def select_objects_by_label(found: Sequence[PaperObject], only: str) -> list[PaperObject]:
    """Return the objects with a label, in any spelling, or the object with a number in the list.

    Raises
    ------
    NotFound
        No object matches.
    """
    wanted, labels_wanted = (
        normalize_object_label(only).casefold(),
        set(find_figure_and_table_labels(only)),
    )
    if labelled := [
        item for item in found if normalize_object_label(item.label).casefold() == wanted
    ]:
        return labelled
    if labelled := [
        item
        for item in found
        if not labels_wanted.isdisjoint(find_figure_and_table_labels(item.label))
    ]:
        return labelled
    if wanted.isdecimal() and len(wanted) <= _NUMBER_MAX_DIGITS and 0 < int(wanted) <= len(found):
        return [found[int(wanted) - 1]]
    labels = "; ".join(item.label or f"{at} ({item.kind})" for at, item in enumerate(found, 1))
    raise NotFound(
        f"The paper has no {shorten(one_line(only), _LABEL_MAX_CHARS)!r}.",
        f"It has: {shorten(labels, _LABEL_LIST_MAX_CHARS)}." if found else "It has no such object.",
    )


def normalize_object_label(label: str) -> str:
    """Return a label as `..outline` spells it: "Fig. 2" becomes "Figure 2"."""
    words = re.sub(r"^(?:fig(?:ure|s)?|abb|рис)\b\.?", "Figure", label.strip(), flags=re.I)
    return re.sub(r"^tab(?:le)?\b\.?", "Table", words, flags=re.I).strip(" .:")


def _to_unfetched_object(item: PaperObject, stored: StoredPaper) -> StoredObject:
    """Return an object before any download, with an address where a person can find it."""
    ids = stored.paper.ids
    pmc = f"https://pmc.ncbi.nlm.nih.gov/articles/{ids.pmcid}/" if ids.pmcid else ""
    address = next((name for name in item.files if name.startswith(("https://", "http://"))), "")
    rows, columns = (len(item.grid.rows), item.grid.width) if item.grid else (0, 0)
    return StoredObject(
        *(item.kind, item.label, item.caption),
        url=address or (f"https://doi.org/{ids.doi}" if ids.doi else pmc),
        license=stored.license,
        rows=rows,
        columns=columns,
        grid=item.grid,
        reason="not fetched" if not item.grid else "",
    )


def _restore_stored_object(
    before: StoredObject | None, item: PaperObject, stored: StoredPaper
) -> StoredObject:
    """Return an object as stored by an earlier run, with the current text's table size."""
    listed = _to_unfetched_object(item, stored)
    if before is None:
        return listed
    return replace(before, rows=listed.rows, columns=listed.columns, grid=item.grid)


def _add_first_mention(kept: StoredObject, places: Mapping[str, Mention]) -> StoredObject:
    place = places.get(normalize_object_label(kept.label))
    return replace(kept, mentioned=place.section) if place else kept


def _to_file_slug(text: str) -> str:
    return _UNSAFE_CHARS.sub("-", text).strip("-.").lower()


def _compute_md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _compute_file_md5(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError:
        return ""
