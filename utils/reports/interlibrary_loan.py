"""``not_retrieved.ris``: what a library is asked to get from another, in its system's own format.

Systems for interlibrary loan and document delivery read RIS: kind, authors, title, journal with its
ISSN, volume, issue, pages, year, DOI, and PubMed's number as accession number. That number stands
in a note too, for the systems that show people only notes. Abstracts and keywords are left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ..citations import to_ris
from ..model.job import Harvested
from ..system.safe_files import disk, replacing
from .worklist import to_fetch

LOANS = "not_retrieved.ris"
_KIND, _UNKNOWN_KIND, _END = "TY  - JOUR\n", "TY  - GEN\n", "ER  - \n\n"

Add = Callable[[Harvested], None]


@contextlib.contextmanager
def loan_requests(folder: Path) -> Iterator[Add]:
    """Write the file of the papers handed over; where none is to be fetched, there is no file."""
    path, written = folder / LOANS, 0
    with replacing(path) as file:

        def add(row: Harvested) -> None:
            nonlocal written
            if to_fetch(row):
                file.write(loan_request(row))
                written += 1

        yield add
    if not written:
        with disk(path, "delete"):
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
