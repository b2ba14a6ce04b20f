"""Pack references with their PDF files for Covidence, EndNote, Rayyan, Zotero, or as a folder.

`pack_references` chooses the PDF of each reference (`.selection`), names it (`.names`), lays the
files out as the program expects them (`.programs`) and writes them whole or not at all
(`.writing`). A paper without a PDF gets one printed from its text on request (`.rendering`).
``pack.html`` says how to import the pack and what is missing.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..model.job import Harvested
from ..model.paper import StoredPaper
from ..model.tabular import Table, Tabular
from ..reports.labels import get_best_link, get_reason
from ..reports.library_links import ReadersLibrary
from ..reports.page import render_template
from ..reports.tables import MISSING_COLUMNS, begin_table, to_missing_cells
from ..shelf import Shelf
from ..system.safe_files import PRIVATE_FOLDER, make_folder
from .names import DEFAULT_PATTERN, UniqueNames
from .programs import LAYOUTS, Layout, Program, get_layout, place_pdf, write_references
from .selection import HeldPdf, Reference, select_references
from .writing import PackFile, write_pack

__all__ = ["DEFAULT_PATTERN", "LAYOUTS", "Pack", "Program", "Reference", "pack_references"]

_CONTENTS_COLUMNS = (
    *("pmid", "title", "first_author", "year", "journal", "doi", "pmcid", "via", "version"),
    *("license", "retracted", "rendering", "file", "reason"),
)
_LOCK_FILE = "packs.lock"
_RENDERING_MARK = " (rendering)"


@dataclass(frozen=True, slots=True)
class Pack(Tabular):
    """A pack that was written, or with ``dry_run`` would be written.

    Parameters
    ----------
    path : Path
        The folder or the ZIP.
    references : tuple of Reference
        Every reference, in the order of the list.
    size : int
        The bytes of all files.
    is_new : bool
        False if the same pack was there already, or nothing was to be written.
    """

    path: Path
    program: str
    references: tuple[Reference, ...]
    size: int = 0
    is_new: bool = False

    @property
    def attached(self) -> tuple[Reference, ...]:
        """The references with a PDF."""
        return tuple(one for one in self.references if one.pdf)

    @property
    def rendered(self) -> tuple[Reference, ...]:
        """The references whose PDF was printed from their text."""
        return tuple(one for one in self.attached if one.pdf and one.pdf.is_rendering)

    @property
    def missing(self) -> tuple[Reference, ...]:
        """The references without a PDF; ``row.reason`` says why."""
        return tuple(one for one in self.references if not one.pdf)

    @property
    def reasons(self) -> dict[str, int]:
        """The number of references without a PDF by reason, the most frequent first."""
        return dict(Counter(one.row.reason for one in self.missing).most_common())

    def to_table(self) -> Table:
        """Return a row for each reference."""
        rows = [one.to_row() for one in self.references]
        return Table(_CONTENTS_COLUMNS, [tuple(row[c] for c in _CONTENTS_COLUMNS) for row in rows])


def pack_references(  # noqa: PLR0913 - the options of a pack
    rows: Iterable[Harvested],
    program: str,
    path: Path,
    shelf: Shelf,
    *,
    title: str = "",
    names: str = DEFAULT_PATTERN,
    keys: str = "",
    own_use: bool = False,
    render: bool = False,
    library: ReadersLibrary | None = None,
    dry_run: bool = False,
) -> Pack:
    """Pack the references of a harvest or list with their PDF files.

    Parameters
    ----------
    program : str
        One of `LAYOUTS`.
    path : Path
        The folder; or the ZIP, if the name ends with ``.zip``.
    title : str, optional
        The name of the harvest or list, for the page.
    names : str, optional
        The pattern of the names of PDF files; see `.names`.
    keys : str, optional
        The pattern of the citation keys; see `..citations.keys`. Without it, only BibTeX has keys.
    own_use : bool, optional
        Include files that the terms of a publisher's key reserve for the reader.
    render : bool, optional
        Print the text of a paper that has no PDF; see `.rendering`.
    library : ReadersLibrary, optional
        The reader's library, for links to missing papers.
    dry_run : bool, optional
        Write nothing.

    Raises
    ------
    BadRequest
        The program or the pattern is unknown, or *path* is not a pack that may be replaced.
    NotConfigured
        *render* needs the packages of the extra ``render``.
    StoreFailed
        The disk refuses.
    """
    layout, assigned = get_layout(program), UniqueNames(names)
    printer = partial(_print_text, shelf=shelf, dry_run=dry_run) if render else None
    selected = select_references(rows, shelf, own_use=own_use, print_text=printer)
    references = tuple(_assign_pdf_path(one, layout, assigned) for one in selected)
    pack = Pack(path, program, references)
    linked = [(one.paper, one.file) for one in references]
    lists = dict(write_references(layout, linked, keys))
    files = list(_list_files(pack, layout, title, lists, library or ReadersLibrary()))
    pack = replace(pack, size=sum(file.size for file in files))
    if dry_run:
        return pack
    make_folder(shelf.folder / PRIVATE_FOLDER, 0o700)
    lock = shelf.folder / PRIVATE_FOLDER / _LOCK_FILE
    return replace(pack, is_new=write_pack(path, files, lock))


def _print_text(stored: StoredPaper, shelf: Shelf, *, dry_run: bool) -> HeldPdf:
    from .rendering import get_rendered_pdf

    return get_rendered_pdf(stored, shelf, dry_run=dry_run)


def _assign_pdf_path(reference: Reference, layout: Layout, names: UniqueNames) -> Reference:
    """Return a reference with the path of its PDF in the pack, if it has one."""
    if reference.pdf is None:
        return reference
    name = names.assign(reference.paper, _RENDERING_MARK * reference.pdf.is_rendering)
    return replace(reference, file=place_pdf(layout, name, reference.paper))


def _list_files(
    pack: Pack, layout: Layout, title: str, lists: Mapping[str, bytes], library: ReadersLibrary
) -> Iterator[PackFile]:
    """Yield every file of a pack; *lists* are the files of references."""
    contents = [one.to_row() for one in pack.references]
    missing = [to_missing_cells(one.row, library) for one in pack.missing]
    made = {
        "pack.html": _render_page(pack, layout, title, library).encode("utf-8", "replace"),
        "contents.csv": _format_table(_CONTENTS_COLUMNS, contents),
        "missing.csv": _format_table(MISSING_COLUMNS, missing),
        **lists,
    }
    for name, data in made.items():
        yield PackFile(name, len(data), partial(bytes, data))
    for one in pack.attached:
        if one.pdf:
            yield PackFile(one.file, one.pdf.size, one.pdf.read)


def _format_table(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    write: Callable[[dict[str, object]], None] = begin_table(out, columns)
    for row in rows:
        write(row)
    return out.getvalue().encode("utf-8", "replace")


def _render_page(pack: Pack, layout: Layout, title: str, library: ReadersLibrary) -> str:
    """Render the page with the steps of the import and the list of what is missing."""
    missing = [
        {
            "title": one.paper.title or one.row.asked,
            "ids": str(one.paper.ids or ""),
            "reason": get_reason(one.row.reason),
            "detail": one.row.detail,
            "link": library.build_link(one.paper) or get_best_link(one.row),
        }
        for one in pack.missing
    ]
    attached = [
        {"title": one.paper.title or one.row.asked, "file": one.file, "pdf": one.pdf}
        | {"retracted": one.paper.retracted}
        for one in pack.attached
    ]
    filled = {"layout": layout, "missing": missing, "attached": attached}
    return render_template("pack.html", title=title, total=len(pack.references), **filled)
