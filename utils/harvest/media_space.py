"""How much room the figures, tables and files of a harvest's papers take, before any is fetched.

Judged by what earlier papers of this shelf have; where these are few, by the sizes that PMC's Cloud
Service lists for a sample of the papers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..download.ladder import Ladder
from ..download.records import look_up
from ..errors import NotAvailable, PaperError
from ..lists.pasted import Entry
from ..media import best_forms, is_image, kept_before
from ..model.objects import ObjectKind
from ..model.paper import Paper
from ..search.pubmed.search import search
from ..sources import Query
from ..sources.pmc import sizes_of

_ENOUGH = 10  # papers
_MOST_READ = 1000  # folders of earlier papers
_TABLES = 5_500  # bytes of a paper's tables as CSV and JSON: the mean of 259 recorded articles
_IN_PMC = "pubmed pmc[sb]"


@dataclass(frozen=True, slots=True)
class MediaSpace:
    """What the objects of *papers* take: files to fetch, bytes, those of the largest one looked at.

    ``basis`` says in words what that is judged by.
    """

    papers: int
    files: int
    size: int
    largest: int
    basis: str

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _One:
    """What one paper has: files and bytes."""

    files: int
    size: int


def media_space(
    papers: int,
    kinds: Sequence[ObjectKind],
    entries: Sequence[Entry],
    queries: Sequence[Query],
    ladder: Ladder,
) -> MediaSpace:
    """The room for the objects of *papers* in PMC, which are some of *entries* or of *queries*."""
    tables = _TABLES if "table" in kinds else 0
    if not set(kinds) - {"table"}:
        return MediaSpace(papers, 0, papers * tables, tables, "what tables take on the average")
    known = list(islice(_of_shelf(ladder.shelf.folder, kinds), _MOST_READ))
    basis = f"{len(known)} papers of this shelf"
    if len(known) < _ENOUGH:
        known = list(_of_cloud(_sample(entries, queries, ladder), kinds, ladder))
        basis = f"what PMC lists for {len(known)} of the papers"
    if not known:
        return MediaSpace(papers, 0, papers * tables, 0, "nothing: PMC could not be asked")
    share = papers / len(known)
    return MediaSpace(
        papers,
        round(share * sum(one.files for one in known)),
        round(share * sum(one.size for one in known)) + papers * tables,
        max(one.size for one in known) + tables,
        basis,
    )


def _of_shelf(folder: Path, kinds: Sequence[ObjectKind]) -> Iterator[_One]:
    """Earlier papers whose files were fetched; tables are counted by themselves."""
    for each in folder.glob("*.files"):
        rows = (one for one in kept_before(each) if one.kind in kinds and one.kind != "table")
        fetched = [one.bytes for one in rows if one.file]
        if fetched:
            yield _One(len(fetched), sum(fetched))


def _sample(entries: Sequence[Entry], queries: Sequence[Query], ladder: Ladder) -> Iterable[str]:
    """PMCIDs of some of the papers, spread over a list; the newest of a query."""
    named = [entry for entry in entries if entry.ids]
    size = min(len(named), 2 * _ENOUGH)
    chosen = [named[number * len(named) // size].ids for number in range(size)]
    found = look_up(chosen, ladder.web, ladder.sources).values() if chosen else ()
    papers = [one for one in found if isinstance(one, Paper)]
    for query in queries if not papers else ():
        asked = replace(query, text=f"({query.text}) AND {_IN_PMC}", max_results=_ENOUGH)
        papers += search(asked, ladder.web, ladder.sources).papers
    return islice((one.ids.pmcid for one in papers if one.ids.pmcid), _ENOUGH)


def _of_cloud(pmcids: Iterable[str], kinds: Sequence[ObjectKind], ladder: Ladder) -> Iterator[_One]:
    """What the Cloud Service lists of each; a paper that it lacks has nothing there."""
    for pmcid in pmcids:
        try:
            sizes = sizes_of(pmcid, ladder.web)
        except NotAvailable:
            yield _One(0, 0)
            continue
        except PaperError:
            continue
        names = best_forms(sizes) if "figure" in kinds else []
        if "supplement" in kinds:
            names += [name for name in sizes if not is_image(name)]
        yield _One(len(names), sum(sizes[name] for name in names))
