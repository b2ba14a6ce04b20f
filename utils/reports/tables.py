"""``papers.csv``, ``not_retrieved.csv`` and ``searches.csv``: the harvest as rows.

For Excel, R and pandas.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from ..model.job import Harvested, Job
from ..system.plain_text import cell
from ..system.safe_files import replacing
from .labels import best_link, links, reason_for
from .library_links import ReadersLibrary

PAPERS = "papers.csv"
NOT_RETRIEVED = "not_retrieved.csv"
COLUMNS = (
    *("number", "asked", "state", "pmid", "pmcid", "doi", "arxiv", "title", "year", "journal"),
    *("license", "source", "via", "retracted", "reason", "detail", "file", "sha256", "ended_at"),
    *("version", "identity"),
)
MISSING_COLUMNS = (
    *("number", "asked", "state", "reason", "sentence", "link", "doi_link", "pubmed_link"),
    *("pmc_link", "pmid", "pmcid", "doi", "arxiv", "title", "year", "journal"),
    "library_link",
)

SEARCHES = "searches.csv"
SEARCH_COLUMNS = ("where", "query", "effective_query", "searched_at", "hits", "taken")

Add = Callable[[Harvested], None]


@contextlib.contextmanager
def papers_table(folder: Path) -> Iterator[Add]:
    """``papers.csv``, one row for each paper handed over."""
    with _open_table(folder / PAPERS, COLUMNS) as write:

        def add(row: Harvested) -> None:
            write(
                {
                    **_common_cells(row),
                    "license": row.license,
                    "source": row.source,
                    "via": row.via,
                    "retracted": row.paper.retracted,
                    "reason": row.reason,
                    "detail": row.detail,
                    "file": row.file,
                    "sha256": row.sha256,
                    "ended_at": row.ended_at,
                    "version": row.version,
                    "identity": row.identity,
                }
            )

        yield add


@contextlib.contextmanager
def not_retrieved_table(folder: Path, library: ReadersLibrary) -> Iterator[Add]:
    """``not_retrieved.csv``: papers without full text, why, and where to look by hand."""
    with _open_table(folder / NOT_RETRIEVED, MISSING_COLUMNS) as write:

        def add(row: Harvested) -> None:
            if row.state not in ("abstract", "record", "failed"):
                return
            at = {link.site: link.url for link in links(row.paper.ids)}
            write(
                {
                    **_common_cells(row),
                    "reason": row.reason,
                    "sentence": row.detail or reason_for(row.reason).meaning,
                    "link": best_link(row),
                    "doi_link": at.get("DOI", ""),
                    "pubmed_link": at.get("PubMed", ""),
                    "pmc_link": at.get("PMC", ""),
                    "library_link": library.link(row.paper),
                }
            )

        yield add


def write_searches(folder: Path, job: Job) -> None:
    """``searches.csv``: each search as PRISMA-S wants it reported, and each list."""
    with _open_table(folder / SEARCHES, SEARCH_COLUMNS) as write:
        for search in job.searches:
            write({"where": search.name, **asdict(search)})


def _common_cells(row: Harvested) -> dict[str, object]:
    paper, ids = row.paper, row.paper.ids
    return {
        "number": row.number,
        "asked": row.asked,
        "state": row.state,
        "pmid": ids.pmid,
        "pmcid": ids.pmcid,
        "doi": ids.doi,
        "arxiv": f"arXiv:{ids.arxiv}" if ids.arxiv else "",  # 2511.0410 is no number
        "title": paper.title,
        "year": paper.year,
        "journal": paper.journal or paper.journal_abbreviation,
    }


@contextlib.contextmanager
def _open_table(
    path: Path, columns: tuple[str, ...]
) -> Iterator[Callable[[dict[str, object]], None]]:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        yield lambda row: writer.writerow([cell(row[column]) for column in columns])
