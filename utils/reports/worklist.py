"""``worklist.html``: the papers no program could have, one page to click through in a browser.

Ordered by publisher, so that one visit to a site serves all its papers. Each link is the one the
reader's library would resolve, where the settings name a library; nothing is opened by us. What
a person saves, ``inbox --watch`` files, and writes the page anew; an open page loads itself again
now and then, which needs neither a server nor a script.

A paper's publisher is told from its DOI, by the prefixes under which publishers register with
Crossref, from memory of their DOIs; a prefix that is not here stands for itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..model.job import Harvested, Job
from ..system.safe_files import disk_errors, replace_text_file
from .labels import best_link, reason_for, shelf_link
from .library_links import ReadersLibrary
from .page import styled

_BY_PREFIX = {
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
OTHERS = "Without a DOI"
WORKLIST = "worklist.html"
VIA = "manual"
MISSING = ("abstract", "record", "failed")
_UNTELLING = ("bad_request", "not_found", "no_identifier")  # nobody can fetch what is not known
_RENEWED_S = 30

Add = Callable[[Harvested], None]


def publisher_of(doi: str) -> str:
    """The publisher's name, else the prefix of the DOI.

    >>> publisher_of("10.1016/j.x.2024.1"), publisher_of("10.99999/a"), publisher_of("")
    ('Elsevier', 'DOI prefix 10.99999', 'Without a DOI')
    """
    prefix = doi.partition("/")[0]
    return _BY_PREFIX.get(prefix, f"DOI prefix {prefix}") if prefix else OTHERS


@dataclass(frozen=True, slots=True)
class ToFetch:
    """One paper for a person: as little of it as the page shows, for there may be thousands."""

    publisher: str
    title: str
    about: str
    reason: str
    link: str
    arrived: bool

    @classmethod
    def of(cls, row: Harvested, library: ReadersLibrary, *, arrived: bool) -> ToFetch:
        """What the page says of a paper, and where the reader's library would have it."""
        paper = row.paper
        journal = paper.journal or paper.journal_abbreviation
        return cls(
            publisher_of(paper.ids.doi),
            paper.title or row.asked,
            " · ".join(filter(None, (f"{journal} {paper.year}".strip(), str(paper.ids)))),
            reason_for(row.reason).name,
            shelf_link(row.file) if arrived else library.link(paper) or best_link(row),
            arrived,
        )


@dataclass(frozen=True, slots=True)
class Site:
    """The papers of one publisher."""

    name: str
    papers: tuple[ToFetch, ...]

    @property
    def open(self) -> int:
        """How many have not arrived."""
        return sum(not one.arrived for one in self.papers)


def to_fetch(row: Harvested) -> bool:
    """Whether a paper has no full text, and is known well enough for a person to get it."""
    return row.state in MISSING and row.reason not in _UNTELLING


@contextlib.contextmanager
def worklist(folder: Path, job: Job, library: ReadersLibrary) -> Iterator[Add]:
    """Write the page of the papers handed over; where none is to be fetched, there is no page."""
    papers: list[ToFetch] = []

    def add(row: Harvested) -> None:
        arrived = row.state == "full_text" and row.via == VIA
        if arrived or to_fetch(row):
            papers.append(ToFetch.of(row, library, arrived=arrived))

    yield add
    path = folder / WORKLIST
    if not papers:
        path.unlink(missing_ok=True)
        return
    page = _page(job, papers)
    with disk_errors(path), replace_text_file(path) as file:
        file.write(page)


def _page(job: Job, papers: list[ToFetch]) -> str:
    by_name = sorted(papers, key=lambda one: (one.publisher == OTHERS, one.publisher))
    sites = [Site(name, tuple(some)) for name, some in groupby(by_name, lambda one: one.publisher)]
    # By what there was, not by what is left: an open page does not shuffle while papers arrive.
    sites.sort(key=lambda site: (site.name == OTHERS, -len(site.papers), site.name))
    open_ = sum(site.open for site in sites)
    filled = {"sites": sites, "open": open_, "total": len(papers), "renewed_s": _RENEWED_S}
    return styled(WORKLIST, job=job, **filled)
