"""The harvest as rows: tables for Excel, R and pandas, and a list for a library.

``papers.csv``, ``not_retrieved.csv`` and ``searches.csv`` are tables. ``not_retrieved.ris`` is what
a library is asked to get from another, in its system's own format: systems for interlibrary loan
and document delivery read kind, authors, title, journal with its ISSN, volume, issue, pages, year,
DOI, and PubMed's number as accession number. That number stands in a note too, for the systems that
show people only notes. Abstracts and keywords are left out.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

from ..citations import to_ris
from ..model.job import Harvested, Job
from ..system.plain_text import to_cell
from ..system.safe_files import disk_errors, replace_text_file
from .labels import best_link, links, reason_for
from .library_links import ReadersLibrary
from .worklist import to_fetch

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
LOANS = "not_retrieved.ris"
_KIND, _UNKNOWN_KIND, _END = "TY  - JOUR\n", "TY  - GEN\n", "ER  - \n\n"


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
    with replace_text_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        yield lambda row: writer.writerow([to_cell(row[column]) for column in columns])


@contextlib.contextmanager
def loan_requests(folder: Path) -> Iterator[Add]:
    """Write the file of the papers handed over; where none is to be fetched, there is no file."""
    path, written = folder / LOANS, 0
    with replace_text_file(path) as file:

        def add(row: Harvested) -> None:
            nonlocal written
            if to_fetch(row):
                file.write(loan_request(row))
                written += 1

        yield add
    if not written:
        with disk_errors(path, "delete"):
            path.unlink(missing_ok=True)


def loan_request(row: Harvested) -> str:
    """One paper as a RIS record.

    >>> from ..model.identifiers import Ids
    >>> from ..model.paper import Paper
    >>> print(loan_request(Harvested(1, "7", "abstract", Paper(Ids(pmid="7"), "Moss"))).strip())
    TY  - JOUR
    TI  - Moss
    AN  - 7
    DB  - PubMed
    UR  - https://pubmed.ncbi.nlm.nih.gov/7/
    N1  - PMID: 7
    ER  -
    """
    paper = row.paper
    journal = paper.journal or paper.journal_abbreviation
    brief = replace(paper, journal=journal, abstract="", keywords=(), mesh=())
    record = to_ris(brief).removesuffix(_END)
    # Of what nothing but an identifier is known, an article in a journal is the best guess.
    if record.startswith(_UNKNOWN_KIND):
        record = _KIND + record.removeprefix(_UNKNOWN_KIND)
    note = f"N1  - PMID: {paper.ids.pmid}\n" if paper.ids.pmid else ""
    return f"{record}{note}{_END}"
