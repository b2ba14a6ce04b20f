"""Plans: what bringing a mirror up to date would take, before anything but listings is fetched.

Sizes of PubMed's files are those of the listings; PMC's inventory has none. Rates are this mirror's
own as soon as it has read a few files, until then the measured ones below, and a plan says which.
Of a choice by license, year or journal the metadata of every article of PMC has to be requested;
the plan counts these requests, and cannot foresee how many articles will fit.

Seconds are those of one core; `.rates` says how they were measured.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import NotAvailable, Unreachable
from ..sources.citation_collection import find_newest_snapshot
from ..sources.pubmed_files import fetch_baseline_end, list_files
from .citation_table import get_published_table
from .citations import get_pairs_path, is_read
from .generations import Generations
from .manifest import Manifest, SourceFile
from .objects import ObjectTable
from .pmc import Choice, find_differences
from .pubmed import SOURCE, to_source_file
from .rates import Rates, measure_rates, read_rates

if TYPE_CHECKING:
    from ..http import Web

CITATIONS_EDGES = 870_000_000
"""Edges there are, until a mirror has counted its own."""
_ENOUGH = 3  # files or batches, before this mirror's own rates count
_HOUR = 3600.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """The effort of an update of PubMed or PMC.

    ``size`` bytes are to be fetched. Reading takes ``core_hours``, which are ``hours`` on ``cores``
    of this machine; the index of words takes ``search_hours`` more of one core. From the fetched
    files to a search by words it takes ``end_hours`` on ``cores``, and ``bottleneck`` is the
    longest step. ``disk`` bytes are needed, and ``free`` ones available. ``measured`` names the
    origin of the rates.
    """

    listed: int
    size: int
    core_hours: float
    hours: float
    cores: int
    disk: int
    free: int
    measured: str
    search_hours: float
    end_hours: float
    bottleneck: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MirrorPlan(Effort):
    """The effort of an update of PubMed.

    ``files`` of the ``listed`` ones are to be fetched; ``baseline`` is the number of files in the
    baseline of ``year`` (0: NLM's notice does not say). ``kept_sources`` bytes of ``disk`` are the
    files themselves. The index takes ``search_disk`` bytes by words, and ``vector_hours`` and
    ``vector_disk`` by meaning where no published vectors are taken. No more cores are of use than
    there are files.
    """

    year: int
    baseline: int
    files: int
    kept_sources: int
    search_disk: int
    vector_hours: float
    vector_disk: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PmcPlan(Effort):
    """The effort of an update of PMC.

    Of ``listed`` articles ``new`` versions are looked at, and ``gone`` ones drop out. An older
    version read or judged ``again`` texts that are here: they are made again from their kept bytes.
    The update takes ``requests`` (``request_hours`` at the set rate), and ``size`` is the most
    that it can fetch.
    """

    new: int
    gone: int
    again: int
    requests: int
    request_hours: float


def plan_pubmed(
    folder: Path, web: Web, *, keep: bool = True, workers: int = 0, measure: bool = False
) -> MirrorPlan:
    """Return the effort of an update; see `.pubmed.update` for its options.

    With *measure*, the rates of this machine are measured first, in about a minute.

    Raises
    ------
    Unreachable
        The listings could not be fetched.
    """
    if measure:
        measure_rates(folder, web, web.settings)
    listed = [to_source_file(file) for file in list_files(web)]
    year, last = fetch_baseline_end(web)
    known = {file.name: file for file in Manifest(folder).list_files(SOURCE)}
    due = [file for file in listed if not _has_current_parts(folder, known.get(file.name), file)]
    absent = [file for file in due if not _is_fetched(folder, known.get(file.name))]
    rates, size = _find_rates(folder, SOURCE, known.values()), sum(file.size for file in due)
    sources = sum(file.size for file in absent) if keep else 0
    passages = size * rates.pubmed_passages
    return MirrorPlan(
        year=year,
        baseline=last,
        files=len(due),
        kept_sources=sources,
        search_disk=round(passages * rates.words_bytes),
        vector_hours=passages / rates.vectors / _HOUR,
        vector_disk=round(passages * rates.vector_bytes),
        listed=len(listed),
        size=size,
        disk=round(size * rates.pubmed_parts) + sources,
        measured=rates.origin,
        **_divide_work(folder, rates, size / rates.pubmed_bytes, passages, workers, files=len(due)),
    )


def _divide_work(
    folder: Path, rates: Rates, cpu: float, passages: float, workers: int,
    *, files: int = 0, request_hours: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Return the hours of an update's steps: of one core, and on cores, of some *files* at most.

    Batches are read while the next ones are fetched; the index waits for both.
    """
    cores = workers or os.cpu_count() or 1
    used, hours = min(cores, files or cores), cpu / _HOUR
    search = passages / rates.words / _HOUR
    indexing = search * (rates.joining_share + (1 - rates.joining_share) / used)
    steps = {"fetching": request_hours, "reading": hours / used, "indexing": indexing}
    longest = max(steps, key=lambda name: steps[name])
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return {
        "core_hours": hours,
        "hours": hours / used,
        "cores": cores,
        "search_hours": search,
        "end_hours": max(request_hours, hours / used) + indexing,
        "bottleneck": longest if steps[longest] else "",
        "free": shutil.disk_usage(nearest).free,
    }


def _find_rates(folder: Path, source: str, files: Iterable[SourceFile]) -> Rates:
    """Return rates; those of reading are this mirror's own if it read some files of a source."""
    rates, read = read_rates(folder), [file for file in files if file.is_read and file.cpu]
    size, cpu = sum(file.size for file in read), sum(file.cpu for file in read)
    made, rows = sum(file.bytes for file in read), sum(file.records for file in read)
    if len(read) < _ENOUGH or not (size and rows):
        return rates if source == SOURCE else replace(rates, origin=Rates().origin)
    if source == SOURCE:
        origin, own = f"{len(read):,} files read here", {"pubmed_bytes": size / cpu}
        return replace(rates, **own, pubmed_parts=made / size, origin=origin)
    origin, own = f"{rows:,} articles read here", {"pmc_article_s": cpu / rows}
    own["pmc_article_bytes"] = size / rows
    return replace(rates, **own, pmc_parts=made / size, origin=origin)


def _has_current_parts(folder: Path, known: SourceFile | None, listed: SourceFile) -> bool:
    """Return whether the listed version of a file was read by today's reader."""
    return known is not None and known.listed == listed.listed and known.has_current_parts(folder)


def _is_fetched(folder: Path, known: SourceFile | None) -> bool:
    return known is not None and bool(known.md5) and known.get_source_path(folder).exists()


def plan_pmc(
    folder: Path, web: Web, choice: Choice | None = None, *, retry: bool = False, workers: int = 0
) -> PmcPlan:
    """Return the effort of an update; see `.pmc.update` for its options.

    Raises
    ------
    Unreachable
        The listing could not be fetched.
    """
    _, found = find_differences(ObjectTable(folder), choice, web, retry=retry)
    files = Manifest(folder).list_files("pmc")
    again = sum(file.records for file in files if file.state == "done" and not file.is_read)
    rates, new = _find_rates(folder, "pmc", files), len(found.new)
    chosen = web.settings.pmc_cloud_request_delay_ms
    delay = 1000 / rates.pmc_requests if chosen is None else max(5.0, chosen)
    request_hours, size = 2 * new * delay / 1000 / _HOUR, new * rates.pmc_article_bytes
    cpu, passages = (new + again) * rates.pmc_article_s, (new + again) * rates.pmc_passages
    return PmcPlan(
        new=new,
        gone=len(found.gone),
        again=again,
        requests=2 * new,
        request_hours=request_hours,
        listed=found.listed,
        size=round(size),
        disk=round(size * (1 + rates.pmc_parts)),
        measured=rates.origin,
        **_divide_work(folder, rates, cpu, passages, workers, request_hours=request_hours),
    )


@dataclass(frozen=True, slots=True)
class CitationsPlan:
    """The requirements of an update of citations; empty if nothing is new.

    ``collection`` is the day of NIH's newest (empty: not known, ``unknown`` says why), of which
    ``size`` bytes are to be fetched. About ``edges`` citations take at most ``core_hours`` and
    ``disk`` bytes. ``measured`` says whose rates these are.
    """

    collection: str
    size: int
    edges: int
    core_hours: float
    disk: int
    measured: str
    unknown: str = ""


def plan_citations(folder: Path, web: Web) -> CitationsPlan:
    """Return the work that an update would take; see `.citations.update`."""
    table, day, size, unknown = get_published_table(folder), "", 0, ""
    try:
        newest = find_newest_snapshot(web)
    except (Unreachable, NotAvailable) as error:
        unknown = error.message
    else:
        day = newest.published
        size = 0 if is_read(get_pairs_path(folder, newest)) else newest.size
    current = Generations(folder, "pubmed").get_complete()
    due = bool(size or table is None or (current and current.name != table.pubmed))
    edges = table.edges if table else CITATIONS_EDGES
    rates = Rates()
    own = table.rate if table else 0.0
    return CitationsPlan(
        collection=day,
        size=size,
        edges=edges if due else 0,
        core_hours=due * edges / (own or rates.citations) / _HOUR,
        disk=round(due * edges * rates.citations_bytes) + size,
        measured="the last run here" if own else rates.origin,
        unknown=unknown,
    )
