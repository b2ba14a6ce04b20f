"""A mirror as a source of records and full texts: asked before any site, also offline.

Records: a `..sources.source.RecordSource`, by PMID, DOI or PMCID. A generation that is older than a
week is used only where the network is not: a paper may have been retracted since. A caller that
wants no earlier answer is not given an older generation either.

Full texts: what the Cloud Service of PMC once sent, so it is read and judged as any download of it;
tables and places come along. A mirror that cannot be read is named in the log, and delays no paper.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import NotAvailable, PaperError, SourceMiss
from ..http import Web
from ..http.messages import is_answer_fresh
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper
from ..settings import Settings
from ..sources import Route
from ..sources.pmc import SOURCE as PMC
from .bundles import read_article

if TYPE_CHECKING:
    from .citation_table import Citations
    from .generations import Generations

log = logging.getLogger(__name__)
DAYS = 7.0
"""Days for which a generation counts as PubMed's own word."""
CITATIONS_DAYS = 45.0
"""Days for which a table replaces a site's own list: NIH's collection appears once a month."""


def records(wanted: Iterable[Ids], settings: Settings) -> dict[Ids, Paper]:
    """Return the records of papers in the mirror; empty if the mirror is missing or stale.

    A mirror that cannot be read is told in the log, and does not hold up who can ask PubMed.
    """
    asked = [ids for ids in dict.fromkeys(wanted) if ids.pmid or ids.doi or ids.pmcid]
    if not (asked and (settings.mirror_folder / "current" / "pubmed").exists()):
        return {}
    if find_spec("pyarrow") is None:
        return {}
    from .generations import Generations, find_pmids
    from .reading import read_papers

    generations = Generations(settings.mirror_folder, "pubmed")
    try:
        generation = generations.require_current()
        made_at = datetime.fromisoformat(generation.made_at).timestamp()
        if not (settings.papers_offline or is_answer_fresh(made_at, DAYS)):
            return {}
        pmids = find_pmids(asked, generations, generation)
        found = read_papers(set(pmids.values()), generations)
        return {ids: found[pmid] for ids, pmid in pmids.items() if pmid in found}
    except PaperError as error:
        log.warning("The mirror was not asked: %s", error.text)
        return {}


def citations(settings: Settings, *, fresh: bool = False) -> Citations | None:
    """Return the mirror's table of citations; None without one.

    Where a *fresh* one is wanted, one that is older than `CITATIONS_DAYS` counts only offline.
    """
    from .citation_table import Citations, get_pointer

    folder = settings.mirror_folder
    if not get_pointer(folder).exists() or find_spec("pyarrow") is None:
        return None
    try:
        found = Citations(folder)
    except PaperError as error:
        log.warning("The mirror's citations were not asked: %s", error.text)
        return None
    made_at = datetime.fromisoformat(found.table.made_at).timestamp()
    usable = not fresh or settings.papers_offline or is_answer_fresh(made_at, CITATIONS_DAYS)
    return found if usable else None


VIA = "mirror"


def has_readable_pmc_mirror(settings: Settings) -> bool:
    """Return whether a mirror of PMC and the packages that read it are present."""
    there = (settings.mirror_folder / "current" / "pmc").exists()
    return there and find_spec("pyarrow") is not None and find_spec("duckdb") is not None


def make_local_routes(settings: Settings) -> dict[str, Route]:
    """Return the route to the mirror of PMC, tried before PMC itself; empty without a mirror."""
    if not has_readable_pmc_mirror(settings):
        return {}
    return {PMC.name: Route(VIA, ("pmcid", "pmid", "doi"), fetch, share=0.725, local=True)}


def fetch(papers: Sequence[Paper], web: Web) -> Iterator[tuple[Paper, Fetched | SourceMiss]]:
    """Yield the JATS of papers as the Cloud Service sent it; by PMCID, else by PMID or DOI."""
    from .generations import Generations

    generations, found = Generations(web.settings.mirror_folder, "pmc"), dict[Ids, Fetched]()
    try:
        found = _find_articles([paper.ids for paper in papers], generations)
    except (PaperError, OSError) as error:
        log.warning("The mirror of PMC was not asked: %s", error)
    for paper in papers:
        if fetched := found.get(paper.ids):
            yield paper, fetched
        else:
            yield paper, NotAvailable(f"The mirror of PMC does not have {paper.ids}.")


def _find_articles(wanted: Sequence[Ids], generations: Generations) -> dict[Ids, Fetched]:
    """Return what the published generation has of these papers."""
    from .reading import find_live_places, read_rows_at

    generation = generations.require_current()
    pmcids = find_pmcids(wanted, generations.folder / generation.name)
    live = find_live_places(pmcids.values(), generations, generation)
    files = {file.order: file for file in generations.list_files(generation)}
    found: dict[Ids, Fetched] = {}
    for ids, pmcid in pmcids.items():
        if pmcid in live:
            file, position = files[live[pmcid][0]], live[pmcid][1]
            part = file.get_part_path(generations.mirror)
            [row] = read_rows_at(part, [position], ("version",))
            bundle = file.get_source_path(generations.mirror)
            try:
                fetched = read_article(bundle, f"PMC{pmcid}.{row['version']}")
                found[ids] = replace(fetched, via=VIA)
            except PaperError as error:
                log.warning("The mirror of PMC lacks PMC%s: %s", pmcid, error.text)
    return found


def find_pmcids(wanted: Iterable[Ids], place: Path) -> dict[Ids, int]:
    """Return the PMCID of each paper as a number; papers without one are left out."""
    from .generations import NAMES, open_duckdb

    found: dict[Ids, int] = {}
    with closing(open_duckdb(place)) as db:
        for ids in wanted:
            digits = ids.pmcid.removeprefix("PMC").partition(".")[0]
            if digits.isdecimal():
                found[ids] = int(digits)
                continue
            value: int | str = int(ids.pmid) if ids.pmid.isdecimal() else ids.doi.lower()
            column = "doi" if isinstance(value, str) else "pmid"
            query = f"SELECT min(pmcid) FROM read_parquet(?) WHERE {column} = ?"  # noqa: S608
            row = db.execute(query, [str(place / NAMES), value]).fetchone() if value else None
            if row and row[0]:
                found[ids] = int(row[0])
    return found
