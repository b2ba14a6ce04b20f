"""Write a harvest as CSV tables, and as a RIS request list for a library.

``papers.csv``, ``not_retrieved.csv`` and ``searches.csv`` are tables. ``not_retrieved.ris`` is a
request list for a library's interlibrary loan or document delivery system. Such systems read kind,
authors, title, journal with its ISSN, volume, issue, pages, year, DOI, and the PMID as accession
number. The PMID is also in a note, for systems that show only notes. Abstracts and keywords are
left out.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TextIO

from ..citations import format_ris_record
from ..model.job import Harvested, Job
from ..model.permissions import PERMISSION_COLUMNS, get_permissions
from ..system.plain_text import to_spreadsheet_cell
from ..system.safe_files import disk_errors, replace_text_file
from .labels import build_paper_links, build_search_link, get_missing_reason
from .library_links import ReadersLibrary
from .worklist import is_fetchable

PAPERS_FILE = "papers.csv"
NOT_RETRIEVED_FILE = "not_retrieved.csv"
COLUMNS = (
    *("number", "asked", "state", "pmid", "pmcid", "doi", "arxiv", "title", "year", "journal"),
    *("license", "source", "via", "retracted", "reason", "detail", "file", "sha256", "ended_at"),
    *("version", "identity"),
    *PERMISSION_COLUMNS,
)
MISSING_COLUMNS = (
    *("number", "asked", "state", "reason", "sentence", "link", "doi_link", "pubmed_link"),
    *("pmc_link", "pmid", "pmcid", "doi", "arxiv", "title", "year", "journal"),
    "library_link",
)

SEARCHES_FILE = "searches.csv"
SEARCH_COLUMNS = ("where", "query", "effective_query", "searched_at", "hits", "taken")

AddPaper = Callable[[Harvested], None]
LOANS_FILE = "not_retrieved.ris"
_ARTICLE_LINE, _UNKNOWN_LINE, _RECORD_END = "TY  - JOUR\n", "TY  - GEN\n", "ER  - \n\n"


@contextlib.contextmanager
def open_papers_table(folder: Path) -> Iterator[AddPaper]:
    """Yield a function that adds a paper's row to ``papers.csv``."""
    with _open_csv_table(folder / PAPERS_FILE, COLUMNS) as write:

        def add_row(row: Harvested) -> None:
            write(
                {
                    **_to_common_cells(row),
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
                    **get_permissions(row.license, row.via, row.paper.ids.doi).to_row(),
                }
            )

        yield add_row


@contextlib.contextmanager
def open_missing_table(folder: Path, library: ReadersLibrary) -> Iterator[AddPaper]:
    """Yield a function that adds a paper without full text to ``not_retrieved.csv``."""
    with _open_csv_table(folder / NOT_RETRIEVED_FILE, MISSING_COLUMNS) as write:

        def add_row(row: Harvested) -> None:
            if row.state in ("abstract", "record", "failed"):
                write(build_missing_paper_row(row, library))

        yield add_row


def build_missing_paper_row(row: Harvested, library: ReadersLibrary) -> dict[str, object]:
    """Return a missing paper as a row with the columns `MISSING_COLUMNS`."""
    at = {link.site: link.url for link in build_paper_links(row.paper.ids)}
    return {
        **_to_common_cells(row),
        "reason": row.reason,
        "sentence": row.detail or get_missing_reason(row.reason).meaning,
        "link": build_search_link(row),
        "doi_link": at.get("DOI", ""),
        "pubmed_link": at.get("PubMed", ""),
        "pmc_link": at.get("PMC", ""),
        "library_link": library.build_link(row.paper),
    }


def write_searches_table(folder: Path, job: Job) -> None:
    """Write ``searches.csv``: each search as PRISMA-S requires, and each list."""
    with _open_csv_table(folder / SEARCHES_FILE, SEARCH_COLUMNS) as write:
        for search in job.searches:
            write({"where": search.name, **asdict(search)})


def _to_common_cells(row: Harvested) -> dict[str, object]:
    paper, ids = row.paper, row.paper.ids
    return {
        "number": row.number,
        "asked": row.asked,
        "state": row.state,
        "pmid": ids.pmid,
        "pmcid": ids.pmcid,
        "doi": ids.doi,
        "arxiv": f"arXiv:{ids.arxiv}"
        if ids.arxiv
        else "",  # a bare 2511.0410 would become a number in Excel
        "title": paper.title,
        "year": paper.year,
        "journal": paper.journal or paper.journal_abbreviation,
    }


@contextlib.contextmanager
def _open_csv_table(
    path: Path, columns: tuple[str, ...]
) -> Iterator[Callable[[dict[str, object]], None]]:
    with replace_text_file(path) as file:
        yield begin_csv_table(file, columns)


def begin_csv_table(file: TextIO, columns: Sequence[str]) -> Callable[[dict[str, object]], None]:
    """Write the header of a CSV table, and return a function that writes a row."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    return lambda row: writer.writerow([to_spreadsheet_cell(row[column]) for column in columns])


@contextlib.contextmanager
def open_loan_requests(folder: Path) -> Iterator[AddPaper]:
    """Yield a function that writes a loan request; without any request, no file is left."""
    path, written = folder / LOANS_FILE, 0
    with replace_text_file(path) as file:

        def add_row(row: Harvested) -> None:
            nonlocal written
            if is_fetchable(row):
                file.write(format_loan_request(row))
                written += 1

        yield add_row
    if not written:
        with disk_errors(path, "delete"):
            path.unlink(missing_ok=True)


def format_loan_request(row: Harvested) -> str:
    """Return a paper's loan request as a RIS record.

    >>> from ..model.identifiers import Ids
    >>> from ..model.paper import Paper
    >>> paper = Harvested(1, "7", "abstract", Paper(Ids(pmid="7"), "Moss"))
    >>> print(format_loan_request(paper).strip())
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
    record = format_ris_record(brief).removesuffix(_RECORD_END)
    # A paper known only by its identifier is most likely a journal article.
    if record.startswith(_UNKNOWN_LINE):
        record = _ARTICLE_LINE + record.removeprefix(_UNKNOWN_LINE)
    note = f"N1  - PMID: {paper.ids.pmid}\n" if paper.ids.pmid else ""
    return f"{record}{note}{_RECORD_END}"
