"""The figures of a harvest, turned into files people look at.

Belongs here: what draws, words or tabulates a `Job` and its papers. Nothing in this room asks a
site, opens a database or reads an argument: it is handed rows and a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..model.job import Harvested, Job
from ..model.paper import utc_now
from ..system.safe_files import disk_errors, make_folder, replace_text_file
from .library_links import ReadersLibrary
from .lock_file import ByName, Difference, Differences, Lock, Locked, compare, read_lock

__all__ = [
    "ByName",
    "Difference",
    "Differences",
    "Lock",
    "Locked",
    "compare",
    "read_lock",
    "write_report",
]

PAGE = "report.html"
BESIDE = ("references.ris", "references.bib", "worklist.html", "not_retrieved.ris")
"""What the page links to where it is there."""


def write_report(
    job: Job,
    rows: Callable[[], Iterator[Harvested]],
    folder: Path,
    library: ReadersLibrary | None = None,
    drawings: Iterable[str] = (),
) -> Path:
    """Write the report of a harvest (page, tables, lock, diagram); return the page.

    Files that would be the same stay as they are.

    Parameters
    ----------
    job : Job
    rows : callable
        Its papers, in the order of their numbers. They are read once, so that all files show the
        same moment, also while the harvest goes on.
    folder : Path
        The folder of this job (``reports/<job>``); made when absent. The shelf's files are taken
        to lie two folders up. Reference lists already in it are linked.
    library : ReadersLibrary, optional
        The reader's library, for links to what could not be had.
    drawings : iterable of str, optional
        Kinds of `.prisma.DRAWINGS` in which the flow is drawn besides.

    Raises
    ------
    NotConfigured
        What draws a kind is not installed.
    StoreFailed
        The disk refuses; each file is then the old one or the new one, never a part.
    """
    from . import page, prisma
    from .figures import Figures
    from .lock_file import lock_file
    from .tables import loan_requests, not_retrieved_table, papers_table, write_searches
    from .worklist import worklist

    library = library or ReadersLibrary()
    make_folder(folder)
    figures = Figures()
    with ExitStack() as files:
        sinks = [
            figures.add,
            files.enter_context(papers_table(folder)),
            files.enter_context(not_retrieved_table(folder, library)),
            files.enter_context(loan_requests(folder)),
            files.enter_context(worklist(folder, job, library)),
            files.enter_context(lock_file(folder, job)),
        ]
        for row in rows():
            for add in sinks:
                add(row)
    write_searches(folder, job)
    # Papers are merged while we read: what is no row of that moment was a duplicate by then.
    merged = max(0, job.counts.requested + job.duplicates - figures.total)
    job = replace(job, duplicates=merged)
    flow = prisma.flow(prisma.with_file(prisma.numbers_of(job, figures), folder))
    prisma.write(flow, folder, job.title, drawings)
    # The page comes last: it links to the others.
    beside = [name for name in BESIDE if (folder / name).exists()]
    old_page = _read_text(folder / PAGE)
    # A page that differs only in the moment it was made stays as it is.
    made = partial(page.page, job, figures, flow, library, beside)
    new_page = made(page.made_at(old_page))
    _write(folder / PAGE, new_page if new_page == old_page else made(utc_now()))
    return folder / PAGE


def _read_text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _write(path: Path, text: str) -> None:
    with disk_errors(path), replace_text_file(path) as file:
        file.write(text)
