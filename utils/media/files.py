"""A paper's objects as files beside its text, fetched where a site hands them out.

Where files can be had says `.found_files`; of others the address is listed. Tables are made here.
A file that is there and whole is not asked for again; each appears when it is whole,
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

from ..errors import NotFound, PaperError
from ..http.messages import MAX_BODY_BYTES
from ..model.paper import OBJECT_KINDS, Grid, ObjectKind, PaperObject, StoredPaper
from ..outline import labels_in
from ..shelf import Shelf
from ..shelf.paper_file import objects_folder
from ..system import safe_files
from ..system.plain_text import one_line, shorten, to_plain_json
from .found_files import FoundFile, FoundFiles
from .listing import Mention, all_rows, mentions, objects_of, objects_without_files
from .long_table import table_csv, tidy_table

if TYPE_CHECKING:
    from ..http import Web

MOST_BYTES = 500_000_000
"""Of one paper's files, unless asked otherwise."""
MANIFEST = "objects.json"
TABLES = "tables.json"
_TAKEN = {MANIFEST, TABLES, "places.json", "original.pdf"}  # the latter of `..curation.places`
_UNSAFE = re.compile(r"[^\w.+-]+")
_LONGEST_NAME = 120
_DIGITS, _NAMED, _LISTED = 9, 60, 1000  # characters
_AT_ONCE = 8  # papers; the Cloud Service takes twice as many requests
_NO_ROOM = "Left out: the paper's files are larger than what was asked for."


@dataclass(frozen=True, slots=True)
class Kept:
    """One object as it lies on the shelf, or why it does not.

    ``file`` is its path (empty: not there), ``url`` where it came from or can be had, ``rows`` and
    ``columns`` the size of a table, ``grid`` its cells.
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
    grid: Grid | None = field(default=None, compare=False, repr=False)

    def row(self) -> dict[str, Any]:
        """What of it is known, for the shell and for programs; the cells are in its file."""
        always = {"kind": self.kind, "label": self.label}
        named = asdict(replace(self, grid=None))
        return always | {name: value for name, value in named.items() if value}


@dataclass(frozen=True, slots=True)
class PaperObjects:
    """What a paper has, and the folder it lies in."""

    stored: StoredPaper
    folder: Path
    objects: tuple[Kept, ...]


def gather(
    stored: StoredPaper,
    shelf: Shelf,
    web: Web,
    kinds: Sequence[ObjectKind] = OBJECT_KINDS,
    *,
    only: str = "",
    fetch: bool = True,
    most_bytes: int = MOST_BYTES,
) -> PaperObjects:
    """List a paper's objects, and unless *fetch* is False bring them onto the shelf.

    *only* is the label of one of them ("fig 2"), or its number in the list.

    Raises
    ------
    NotFound
        None is called what *only* says.
    StoreFailed
        The disk refuses; what is there stays.
    """
    folder = objects_folder(Path(stored.path))
    found = _wanted(stored, shelf, kinds, only)
    places = mentions(stored, shelf)
    if not found or not fetch:
        listed = _known(found, stored)
        return PaperObjects(stored, folder, tuple(_mentioned(one, places) for one in listed))
    with web.leases.hold(f"objects {folder.name}", f"the figures and tables of {stored.paper.ids}"):
        safe_files.make_folder(folder)
        files = FoundFiles(stored, shelf, web)
        kept = _Keeping(stored, folder, files, most_bytes).all(found, places)
        rows = [_portable(one) for one in (*_others(folder, kinds, kept), *kept)]
        safe_files.write_file(folder / MANIFEST, to_plain_json(rows).encode())
    return PaperObjects(stored, folder, tuple(kept))


def objects_in(text: str, stored: StoredPaper, shelf: Shelf) -> list[Kept]:
    """The objects that a stretch of a paper's text speaks of or shows, as far as they are here."""
    labels, words = set(labels_in(text)), text.casefold()
    found = objects_without_files(stored, shelf)
    return _known([one for one in found if _is_in(one, labels, words)], stored)


def _is_in(one: PaperObject, labels: set[str], words: str) -> bool:
    if not labels.isdisjoint(_labels_of(one.label)):
        return True
    name = one.label.partition(":")[0].strip().casefold()
    return one.kind == "supplement" and bool(name) and _stands_in(name, words)


@lru_cache(maxsize=4096)  # every page of a paper is held against all its labels
def _labels_of(label: str) -> frozenset[str]:
    return frozenset(labels_in(label))


def _stands_in(name: str, words: str) -> bool:
    """Whether a name is in a text, and not as the beginning of another ("file 1" in "file 12")."""
    at = words.find(name)
    while at >= 0:
        end = at + len(name)
        if not words[end : end + 1].isalnum() and not words[max(at - 1, 0) : at].isalnum():
            return True
        at = words.find(name, end)
    return False


def _wanted(
    stored: StoredPaper, shelf: Shelf, kinds: Sequence[ObjectKind], only: str
) -> list[PaperObject]:
    found = [one for one in objects_of(stored, shelf) if one.kind in kinds]
    return chosen(found, only) if only else found


def _known(found: Sequence[PaperObject], stored: StoredPaper) -> list[Kept]:
    """Objects as earlier runs left them."""
    folder = objects_folder(Path(stored.path))
    before = {(one.kind, one.label): one for one in kept_before(folder)}
    return [_as_kept(before.get((one.kind, one.label)), one, stored) for one in found]


def gather_many(
    texts: Iterable[StoredPaper],
    shelf: Shelf,
    web: Web,
    kinds: Sequence[ObjectKind] = OBJECT_KINDS,
    *,
    fetch: bool = True,
    most_bytes: int = MOST_BYTES,
) -> Iterator[PaperObjects | tuple[StoredPaper, PaperError]]:
    """As `gather`, several papers side by side, in their order; an error with its paper.

    Full texts are read as they are needed: there may be a hundred thousand.
    """

    def one(stored: StoredPaper) -> PaperObjects | tuple[StoredPaper, PaperError]:
        try:
            return gather(stored, shelf, web, kinds, fetch=fetch, most_bytes=most_bytes)
        except PaperError as error:
            return stored, error

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for batch in _batches(texts, 4 * _AT_ONCE):
            yield from pool.map(one, batch)


def _batches(texts: Iterable[StoredPaper], size: int) -> Iterator[list[StoredPaper]]:
    left = iter(texts)
    while batch := list(islice(left, size)):
        yield batch


def kept_before(folder: Path) -> list[Kept]:
    """What an earlier run brought and is still there; a damaged list is none.

    The list has the files' names only: shelf and folder may have moved since.
    """
    try:
        rows = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found = [_in_folder(Kept(**row), folder) for row in rows]
    except (OSError, ValueError, TypeError):
        return []
    return [one for one in found if not one.file or Path(one.file).is_file()]


def _in_folder(one: Kept, folder: Path) -> Kept:
    return replace(one, file=str(folder / Path(one.file).name)) if one.file else one


def _portable(one: Kept) -> dict[str, Any]:
    row = asdict(replace(one, file=Path(one.file).name, grid=None))
    return {name: value for name, value in row.items() if name != "grid"}


def _others(folder: Path, kinds: Sequence[ObjectKind], kept: Sequence[Kept]) -> list[Kept]:
    """What stays listed beside *kept*: other kinds, and files of an earlier text of the paper."""
    files = {one.file for one in kept if one.file}
    labels = {(one.kind, one.label) for one in kept}
    return [
        one
        for one in kept_before(folder)
        if one.kind not in kinds
        or (one.file and one.file not in files and (one.kind, one.label) not in labels)
    ]


class _Keeping:
    """One paper's objects on their way to the shelf."""

    def __init__(
        self, stored: StoredPaper, folder: Path, files: FoundFiles, most_bytes: int
    ) -> None:
        self._stored = stored
        self._folder = folder
        self._files = files
        self._left = most_bytes
        self._names = set(_TAKEN)
        self._before = {one.file: one for one in kept_before(folder) if one.file}

    def all(self, found: Sequence[PaperObject], places: Mapping[str, Mention]) -> list[Kept]:
        """Every object in the paper's order, with its file or the reason why there is none."""
        grids = {id(one): (number, grid) for number, one, grid in all_rows(found)}
        kept, tidy = [], []
        for one in found:
            if id(one) in grids:
                number, grid = grids[id(one)]
                mention = places.get(label_key(one.label))
                tidy.append(tidy_table(number, one, grid, mention))
                kept.append(self._keep_table(one, grid))
            else:
                kept += self._keep_files(one, found)
        if tidy:
            safe_files.write_file(self._folder / TABLES, to_plain_json(tidy).encode())
        return [_mentioned(one, places) for one in kept]

    def _keep_table(self, one: PaperObject, grid: Grid) -> Kept:
        path = self._folder / self._name(one, "csv")
        data = table_csv(grid)
        if not path.is_file() or path.read_bytes() != data:
            safe_files.write_file(path, data)
        listed = _listed(one, self._stored)
        return replace(listed, file=str(path), md5=_md5(data), bytes=len(data), url="", reason="")

    def _keep_files(self, one: PaperObject, every: Sequence[PaperObject]) -> list[Kept]:
        """The files of a figure, of which one image is enough, or of a supplement."""
        listed = _listed(one, self._stored)
        files, why = self._files.of(one, every)
        if not files:
            return [replace(listed, reason=why)]
        return [self._keep_file(one, replace(listed, url=file.url), file) for file in files]

    def _keep_file(self, one: PaperObject, listed: Kept, file: FoundFile) -> Kept:
        ending = Path(file.name).suffix.lstrip(".").lower()
        path = self._folder / self._name(one, ending, file.name)
        before = self._before.get(str(path))
        if before and before.md5 == (file.md5 or before.md5) == _md5_of(path):
            return replace(before, caption=one.caption)
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
        return replace(kept, md5=_md5(data), bytes=len(data))

    def _name(self, one: PaperObject, ending: str, own: str = "") -> str:
        """A file's name that nothing else in the folder has."""
        stem = _slug(Path(own).stem if one.kind == "supplement" and own else label_key(one.label))
        stem = (stem or one.kind)[:_LONGEST_NAME]
        name, number = f"{stem}.{_slug(ending)}".rstrip("."), 1
        while name.lower() in self._names:
            number += 1
            name = f"{stem}-{number}.{_slug(ending)}".rstrip(".")
        self._names.add(name.lower())
        return name


def chosen(found: Sequence[PaperObject], only: str) -> list[PaperObject]:
    """Those of a label, in whatever spelling, or the one of a number in the list.

    Raises
    ------
    NotFound
        There is none.
    """
    wanted, labels_wanted = label_key(only).casefold(), set(labels_in(only))
    if labelled := [one for one in found if label_key(one.label).casefold() == wanted]:
        return labelled
    if labelled := [one for one in found if not labels_wanted.isdisjoint(labels_in(one.label))]:
        return labelled
    if wanted.isdecimal() and len(wanted) <= _DIGITS and 0 < int(wanted) <= len(found):
        return [found[int(wanted) - 1]]
    labels = "; ".join(one.label or f"{at} ({one.kind})" for at, one in enumerate(found, 1))
    raise NotFound(
        f"The paper has no {shorten(one_line(only), _NAMED)!r}.",
        f"It has: {shorten(labels, _LISTED)}." if found else "It has no such object.",
    )


def label_key(label: str) -> str:
    """A label as `..outline.floats_of` spells it: "Fig. 2" is "Figure 2"."""
    words = re.sub(r"^(?:fig(?:ure|s)?|abb|рис)\b\.?", "Figure", label.strip(), flags=re.I)
    return re.sub(r"^tab(?:le)?\b\.?", "Table", words, flags=re.I).strip(" .:")


def _listed(one: PaperObject, stored: StoredPaper) -> Kept:
    """An object before anything of it is fetched, with the address where a person finds it."""
    ids = stored.paper.ids
    pmc = f"https://pmc.ncbi.nlm.nih.gov/articles/{ids.pmcid}/" if ids.pmcid else ""
    address = next((name for name in one.files if name.startswith(("https://", "http://"))), "")
    rows, columns = (len(one.grid.rows), one.grid.width) if one.grid else (0, 0)
    return Kept(
        *(one.kind, one.label, one.caption),
        url=address or (f"https://doi.org/{ids.doi}" if ids.doi else pmc),
        license=stored.license,
        rows=rows,
        columns=columns,
        grid=one.grid,
        reason="not fetched" if not one.grid else "",
    )


def _as_kept(before: Kept | None, one: PaperObject, stored: StoredPaper) -> Kept:
    """An object as an earlier run left it; a table's size is that of the text there is now."""
    listed = _listed(one, stored)
    if before is None:
        return listed
    return replace(before, rows=listed.rows, columns=listed.columns, grid=one.grid)


def _mentioned(kept: Kept, places: Mapping[str, Mention]) -> Kept:
    place = places.get(label_key(kept.label))
    return replace(kept, mentioned=place.section) if place else kept


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text).strip("-.").lower()


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _md5_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    except OSError:
        return ""
