"""Write ``worklist.html``: links to the papers that a person must fetch in a browser.

The papers are grouped by publisher, so that one visit to a site serves all its papers. Each link
leads through the reader's library if the settings name one; the program opens no link itself.
``inbox --watch`` files each PDF that a person saves and rewrites the page. An open page reloads
itself periodically, which needs neither a server nor a script.

A paper's publisher is derived from the prefix of its DOI, under which publishers register with
Crossref. The list is from memory of their DOIs; an unlisted prefix is shown as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..model.job import Harvested, Job
from ..system.safe_files import disk_errors, replace_text_file
from .labels import build_search_link, build_shelf_link, get_missing_reason
from .library_links import ReadersLibrary
from .page import render_template

_PUBLISHERS = {
    "10.1016": "Elsevier",
    "10.1053": "Elsevier",
    "10.1067": "Elsevier",
    "10.1002": "Wiley",
    "10.1111": "Wiley",
    "10.1007": "Springer Nature",
    "10.1038": "Springer Nature",
    "10.1186": "Springer Nature",
    "10.1080": "Taylor & Francis",
    "10.1081": "Taylor & Francis",
    "10.3109": "Taylor & Francis",
    "10.1093": "Oxford University Press",
    "10.1017": "Cambridge University Press",
    "10.1097": "Wolters Kluwer",
    "10.1177": "Sage",
    "10.1021": "American Chemical Society",
    "10.1039": "Royal Society of Chemistry",
    "10.1056": "New England Journal of Medicine",
    "10.1001": "American Medical Association",
    "10.1136": "BMJ",
    "10.1126": "AAAS",
    "10.1073": "PNAS",
    "10.1128": "American Society for Microbiology",
    "10.1152": "American Physiological Society",
    "10.1158": "AACR",
    "10.1161": "American Heart Association",
    "10.1200": "ASCO",
    "10.1210": "Endocrine Society",
    "10.1242": "Company of Biologists",
    "10.1159": "Karger",
    "10.1055": "Thieme",
    "10.1089": "Mary Ann Liebert",
    "10.1146": "Annual Reviews",
    "10.1515": "De Gruyter",
    "10.1109": "IEEE",
    "10.1371": "PLOS",
    "10.1101": "Cold Spring Harbor Laboratory",
}
NO_DOI = "Without a DOI"
WORKLIST_FILE = "worklist.html"
MANUAL_ROUTE = "manual"
MISSING_STATES = ("abstract", "record", "failed")
_UNFETCHABLE_REASONS = (
    "bad_request",
    "not_found",
    "no_identifier",
)  # an unidentified paper cannot be fetched by hand
_RELOAD_AFTER_S = 30

AddPaper = Callable[[Harvested], None]


def find_publisher_name(doi: str) -> str:
    """Return the publisher's name, or else the prefix of the DOI.

    >>> [find_publisher_name(doi) for doi in ("10.1016/j.x.2024.1", "10.99999/a", "")]
    ['Elsevier', 'DOI prefix 10.99999', 'Without a DOI']
    """
    prefix = doi.partition("/")[0]
    return _PUBLISHERS.get(prefix, f"DOI prefix {prefix}") if prefix else NO_DOI


@dataclass(frozen=True, slots=True)
class WorklistEntry:
    """One paper on the worklist, with only the fields that the page shows."""

    publisher: str
    title: str
    about: str
    reason: str
    link: str
    arrived: bool

    @classmethod
    def from_row(cls, row: Harvested, library: ReadersLibrary, *, arrived: bool) -> WorklistEntry:
        """Build a worklist entry, with a link to the shelf or through the library."""
        paper = row.paper
        journal = paper.journal or paper.journal_abbreviation
        return cls(
            find_publisher_name(paper.ids.doi),
            paper.title or row.asked,
            " · ".join(filter(None, (f"{journal} {paper.year}".strip(), str(paper.ids)))),
            get_missing_reason(row.reason).name,
            build_shelf_link(row.file)
            if arrived
            else library.build_link(paper) or build_search_link(row),
            arrived,
        )


@dataclass(frozen=True, slots=True)
class PublisherPapers:
    """The papers of one publisher."""

    name: str
    papers: tuple[WorklistEntry, ...]

    @property
    def open_count(self) -> int:
        """The number of papers that have not arrived yet."""
        return sum(not paper.arrived for paper in self.papers)


def is_fetchable(row: Harvested) -> bool:
    """Return whether a paper lacks its full text and has identifiers for fetching it by hand."""
    return row.state in MISSING_STATES and row.reason not in _UNFETCHABLE_REASONS


@contextlib.contextmanager
def open_worklist(folder: Path, job: Job, library: ReadersLibrary) -> Iterator[AddPaper]:
    """Yield a function that adds a paper to the worklist; the page is deleted if it stays empty."""
    papers: list[WorklistEntry] = []

    def add_row(row: Harvested) -> None:
        arrived = row.state == "full_text" and row.via == MANUAL_ROUTE
        if arrived or is_fetchable(row):
            papers.append(WorklistEntry.from_row(row, library, arrived=arrived))

    yield add_row
    path = folder / WORKLIST_FILE
    if not papers:
        path.unlink(missing_ok=True)
        return
    page = _render_worklist_page(job, papers)
    with disk_errors(path), replace_text_file(path) as file:
        file.write(page)


def _render_worklist_page(job: Job, papers: list[WorklistEntry]) -> str:
    by_name = sorted(papers, key=lambda one: (one.publisher == NO_DOI, one.publisher))
    sites = [
        PublisherPapers(name, tuple(some))
        for name, some in groupby(by_name, lambda one: one.publisher)
    ]
    # Sort by all papers, not by the open ones: the order must not change while papers arrive.
    sites.sort(key=lambda site: (site.name == NO_DOI, -len(site.papers), site.name))
    open_ = sum(site.open_count for site in sites)
    filled = {"sites": sites, "open": open_, "total": len(papers), "renewed_s": _RELOAD_AFTER_S}
    return render_template(WORKLIST_FILE, job=job, **filled)
