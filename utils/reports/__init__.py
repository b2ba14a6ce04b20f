"""Write the files of a harvest's report.

This package draws, describes and tabulates a `Job` and its papers. It makes no requests, opens no
database and parses no arguments: callers pass rows and a folder.
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
from .lock_file import (
    CorpusDifferences,
    CorpusLock,
    IdsIndex,
    LockedPaper,
    PaperDifference,
    compare_lock,
    read_lock,
)

__all__ = [
    "CorpusDifferences",
    "CorpusLock",
    "IdsIndex",
    "LockedPaper",
    "PaperDifference",
    "compare_lock",
    "read_lock",
    "write_report",
]

REPORT_PAGE = "report.html"
OPTIONAL_FILES = ("references.ris", "references.bib", "worklist.html", "not_retrieved.ris")
"""Files that the page links to if they exist."""


def write_report(
    job: Job,
    rows: Callable[[], Iterator[Harvested]],
    folder: Path,
    library: ReadersLibrary | None = None,
    drawings: Iterable[str] = (),
) -> Path:
    """Write the report of a harvest (page, tables, lock, diagram); return the page.

    Files whose content would not change are left alone.

    Parameters
    ----------
    job : Job
    rows : callable
        Iterates the job's papers in the order of their numbers. They are read once, so that all
        files show the same moment even while the harvest continues.
    folder : Path
        The folder of this job (``reports/<job>``), created if missing. Links assume that the
        shelf's files are two folders up. Reference lists already in the folder are linked.
    library : ReadersLibrary, optional
        The reader's library, for links to papers that were not retrieved.
    drawings : iterable of str, optional
        Additional formats of the flow diagram, from `.prisma.DRAWINGS`.

    Raises
    ------
    NotConfigured
        The package that draws a format is not installed.
    StoreFailed
        A file cannot be written; each file is then the old or the new version, never partial.
    """
    from . import page, prisma
    from .figures import HarvestFigures
    from .lock_file import open_lock_writer
    from .tables import (
        open_loan_requests,
        open_missing_table,
        open_papers_table,
        write_searches_table,
    )
    from .worklist import open_worklist

    library = library or ReadersLibrary()
    make_folder(folder)
    figures = HarvestFigures()
    with ExitStack() as files:
        sinks = [
            figures.add_paper,
            files.enter_context(open_papers_table(folder)),
            files.enter_context(open_missing_table(folder, library)),
            files.enter_context(open_loan_requests(folder)),
            files.enter_context(open_worklist(folder, job, library)),
            files.enter_context(open_lock_writer(folder, job)),
        ]
        for row in rows():
            for add in sinks:
                add(row)
    write_searches_table(folder, job)
    # Papers may be merged during the loop; a paper without a row was a duplicate by then.
    merged = max(0, job.counts.requested + job.duplicates - figures.total)
    job = replace(job, duplicates=merged)
    flow = prisma.build_prisma_flow(
        prisma.merge_numbers_file(prisma.count_harvest_numbers(job, figures), folder)
    )
    prisma.write_flow(flow, folder, job.title, drawings)
    # The page is written last because it links to the other files.
    beside = [name for name in OPTIONAL_FILES if (folder / name).exists()]
    old_page = _read_text_or_empty(folder / REPORT_PAGE)
    # A page that differs only in its date is left alone.
    made = partial(page.render_report, job, figures, flow, library, beside)
    new_page = made(page.parse_creation_date(old_page))
    _write_text(folder / REPORT_PAGE, new_page if new_page == old_page else made(utc_now()))
    return folder / REPORT_PAGE


def _read_text_or_empty(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""


def _write_text(path: Path, text: str) -> None:
    with disk_errors(path), replace_text_file(path) as file:
        file.write(text)
