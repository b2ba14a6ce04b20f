"""The figures of a harvest, turned into files people look at.

Belongs here: what draws, words or tabulates a `Job` and its papers. Nothing in this room asks a
site, opens a database or reads an argument: it is handed rows and a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from ..job import Harvested, Job
from ..safe_files import make_folder, write_whole
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
REFERENCES = ("references.ris", "references.bib")


def write_report(job: Job, rows: Callable[[], Iterator[Harvested]], folder: Path) -> Path:
    """Write everything a reviewer gets of a harvest; return the page.

    Parameters
    ----------
    job : Job
    rows : callable
        Its papers, in the order of their numbers. They are gone through once, so that all files
        tell of the same moment, also while the harvest goes on.
    folder : Path
        The folder of this job (``reports/<job>``); made when absent. The shelf's files are taken
        to lie two folders up. Reference lists already in it are linked.

    Raises
    ------
    StoreFailed
        The disk refuses; each file is then the old one or the new one, never a part.
    """
    from . import page, prisma
    from .figures import Figures
    from .lock_file import lock_file
    from .tables import not_retrieved_table, papers_table

    make_folder(folder)
    figures = Figures()
    with ExitStack() as files:
        sinks = [
            figures.add,
            files.enter_context(papers_table(folder)),
            files.enter_context(not_retrieved_table(folder)),
            files.enter_context(lock_file(folder, job)),
        ]
        for row in rows():
            for add in sinks:
                add(row)
    # Papers are merged while we read: what is no row of that moment was a duplicate by then.
    merged = max(0, job.counts.requested + job.duplicates - figures.total)
    job = replace(job, duplicates=merged)
    flow = prisma.flow(job, figures)
    write_whole(folder / "prisma.svg", prisma.svg(flow, job.title).encode("utf-8", "replace"))
    write_whole(folder / "prisma.csv", prisma.numbers(flow).encode("utf-8", "replace"))
    # The page comes last: it links to the others.
    beside = [name for name in REFERENCES if (folder / name).is_file()]
    write_whole(folder / PAGE, page.page(job, figures, flow, beside).encode("utf-8", "replace"))
    return folder / PAGE
