"""Pack references with their PDF files for Covidence, EndNote, Rayyan, Zotero, or as a folder.

`pack_references` chooses the PDF of each reference (`.selection`), names it (`.names`), lays the
files out as the program expects them (`.programs`) and writes them whole or not at all
(`.writing`). A paper without a PDF gets one printed from its text on request (`.rendering`).
``pack.html`` explains how to import the pack, and lists the missing PDF files.
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
from ..model.tabular import Table, TabularResult
from ..reports.labels import build_search_link, get_missing_reason
from ..reports.library_links import ReadersLibrary
from ..reports.page import render_template
from ..reports.tables import MISSING_COLUMNS, begin_csv_table, build_missing_paper_row
from ..shelf import Shelf
from ..system.safe_files import PRIVATE_FOLDER, make_folder
from .names import DEFAULT_PATTERN, UniqueFileNames
from .programs import (
    LAYOUTS,
    PackLayout,
    Program,
    build_pdf_path,
    get_pack_layout,
    iterate_reference_files,
)
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
class Pack(TabularResult):
    """A pack that was written, or with ``dry_run`` would have been written.

    Parameters
    ----------
    path : Path
        The folder or the ZIP.
    references : tuple of Reference
        Every reference, in the order of the list.
    size : int
        The total size of all files in bytes.
    is_new : bool
        False if an identical pack already exists, or with ``dry_run``.
    """

    path: Path
    program: str
    references: tuple[Reference, ...]
    size: int = 0
    is_new: bool = False

    @property
    def attached(self) -> tuple[Reference, ...]:
        """The references with a PDF."""
        return tuple(reference for reference in self.references if reference.pdf)

    @property
    def rendered(self) -> tuple[Reference, ...]:
        """The references whose PDF was printed from their text."""
        return tuple(
            reference for reference in self.attached if reference.pdf and reference.pdf.is_rendering
        )

    @property
    def missing(self) -> tuple[Reference, ...]:
        """The references without a PDF; ``row.reason`` gives the reason."""
        return tuple(reference for reference in self.references if not reference.pdf)

    @property
    def reasons(self) -> dict[str, int]:
        """The number of references without a PDF by reason, the most frequent first."""
        return dict(Counter(reference.row.reason for reference in self.missing).most_common())

    def to_table(self) -> Table:
        """Return a table with a row for each reference."""
        rows = [reference.to_row() for reference in self.references]
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
        Include files that may not be passed on, or whose licence is unknown.
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
        The disk reports an error.
    """
    layout, assigned = get_pack_layout(program), UniqueFileNames(names)
    printer = partial(_get_rendering_lazily, shelf=shelf, dry_run=dry_run) if render else None
    selected = select_references(rows, shelf, own_use=own_use, print_text=printer)
    references = tuple(_assign_pdf_path(reference, layout, assigned) for reference in selected)
    pack = Pack(path, program, references)
    linked = [(reference.paper, reference.file) for reference in references]
    lists = dict(iterate_reference_files(layout, linked, keys))
    files = list(_iterate_pack_files(pack, layout, title, lists, library or ReadersLibrary()))
    pack = replace(pack, size=sum(file.size for file in files))
    if dry_run:
        return pack
    make_folder(shelf.folder / PRIVATE_FOLDER, 0o700)
    lock = shelf.folder / PRIVATE_FOLDER / _LOCK_FILE
    return replace(pack, is_new=write_pack(path, files, lock))


def _get_rendering_lazily(stored: StoredPaper, shelf: Shelf, *, dry_run: bool) -> HeldPdf:
    """Return the PDF rendering of a text; ReportLab is imported on first use."""
    from .rendering import get_rendered_pdf

    return get_rendered_pdf(stored, shelf, dry_run=dry_run)


def _assign_pdf_path(reference: Reference, layout: PackLayout, names: UniqueFileNames) -> Reference:
    """Return a reference with the path of its PDF in the pack, if it has one."""
    if reference.pdf is None:
        return reference
    name = names.assign_name(reference.paper, _RENDERING_MARK * reference.pdf.is_rendering)
    return replace(reference, file=build_pdf_path(layout, name, reference.paper))


def _iterate_pack_files(
    pack: Pack, layout: PackLayout, title: str, lists: Mapping[str, bytes], library: ReadersLibrary
) -> Iterator[PackFile]:
    """Yield every file of a pack; *lists* contains the reference files."""
    contents = [reference.to_row() for reference in pack.references]
    missing = [build_missing_paper_row(reference.row, library) for reference in pack.missing]
    tables = {
        "pack.html": _render_pack_page(pack, layout, title, library).encode("utf-8", "replace"),
        "contents.csv": _format_csv(_CONTENTS_COLUMNS, contents),
        "missing.csv": _format_csv(MISSING_COLUMNS, missing),
        **lists,
    }
    for name, data in tables.items():
        yield PackFile(name, len(data), partial(bytes, data))
    for reference in pack.attached:
        if reference.pdf:
            yield PackFile(reference.file, reference.pdf.size, reference.pdf.read)


def _format_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    write: Callable[[dict[str, object]], None] = begin_csv_table(out, columns)
    for row in rows:
        write(row)
    return out.getvalue().encode("utf-8", "replace")


def _render_pack_page(pack: Pack, layout: PackLayout, title: str, library: ReadersLibrary) -> str:
    """Render the page with the import steps and the list of missing papers."""
    missing = [
        {
            "title": reference.paper.title or reference.row.asked,
            "ids": str(reference.paper.ids or ""),
            "reason": get_missing_reason(reference.row.reason),
            "detail": reference.row.detail,
            "link": library.build_link(reference.paper) or build_search_link(reference.row),
        }
        for reference in pack.missing
    ]
    attached = [
        {
            "title": reference.paper.title or reference.row.asked,
            "file": reference.file,
            "pdf": reference.pdf,
        }
        | {"retracted": reference.paper.retracted}
        for reference in pack.attached
    ]
    filled = {"layout": layout, "missing": missing, "attached": attached}
    return render_template("pack.html", title=title, total=len(pack.references), **filled)
