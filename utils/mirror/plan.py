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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

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

PUBMED_PASSAGES = 0.0007
"""Passages that count for each packed byte: 45 million of 64 GB, repeated ones aside."""
PMC_ARTICLE_BYTES = 20_000.0
"""Packed bytes of an article's JATS and metadata (`mirror_pmc`)."""
PMC_PARTS = 1.5
"""Bytes of parts for each byte of an article's."""
PMC_REQUESTS = 16
"""Requests to PMC's Cloud Service a second, on any number of cores, where no other is set."""
PMC_PASSAGES = 34
"""Passages of an article's full text."""
VECTORS_BYTES = 458.0
"""Bytes of a vector of 384 numbers, its signs and its key, as a mirror keeps them."""
CITATIONS = 1.0e6
"""Edges read and put together in both orders, a second of one core (`mirror_citations`)."""
CITATIONS_BYTES = 14.6
"""Bytes of an edge: NIH's pairs, and the files in both orders."""
CITATIONS_EDGES = 870_000_000
"""Edges there are, until a mirror has counted its own."""
# The share of indexing by words that one process does, which joins the splits: 2 million records on
# 16 cores took 96 of 902 s of CPU (quality/benchmarks/README.md).
JOINING_SHARE = 0.11
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
    read = [file for file in known.values() if file.is_read and file.cpu]
    rates = _get_own_rates(read, read_rates(folder))
    size, cores = sum(file.size for file in due), workers or os.cpu_count() or 1
    passages, used = size * PUBMED_PASSAGES, max(1, min(cores, len(due)))
    hours = size / rates.pubmed_bytes / _HOUR
    search = passages / rates.words / _HOUR
    sources = sum(file.size for file in absent) if keep else 0
    return MirrorPlan(
        year=year,
        baseline=last,
        listed=len(listed),
        files=len(due),
        size=size,
        core_hours=hours,
        hours=hours / used,
        cores=cores,
        disk=round(size * rates.pubmed_parts) + sources,
        kept_sources=sources,
        free=_get_free_bytes(folder),
        measured=rates.origin,
        search_hours=search,
        search_disk=round(passages * rates.words_bytes),
        vector_hours=passages / rates.vectors / _HOUR,
        vector_disk=round(passages * VECTORS_BYTES),
        end_hours=hours / used + _divide_indexing(search, used),
        bottleneck=_find_longest_step(
            {"reading": hours / used, "indexing": _divide_indexing(search, used)}
        ),
    )


def _divide_indexing(core_hours: float, cores: int) -> float:
    """Return the hours of indexing on so many cores."""
    return core_hours * (JOINING_SHARE + (1 - JOINING_SHARE) / cores)


def _find_longest_step(hours: dict[str, float]) -> str:
    """Return the name of the step that takes longest; empty if nothing is to be done."""
    longest = max(hours, key=lambda name: hours[name])
    return longest if hours[longest] else ""


def _has_current_parts(folder: Path, known: SourceFile | None, listed: SourceFile) -> bool:
    """Return whether the listed version of a file was read by today's reader."""
    return known is not None and known.listed == listed.listed and known.has_current_parts(folder)


def _is_fetched(folder: Path, known: SourceFile | None) -> bool:
    return known is not None and bool(known.md5) and known.get_source_path(folder).exists()


def _get_own_rates(read: Sequence[SourceFile], rates: Rates) -> Rates:
    """Return rates; this mirror's own reading rates replace the defaults if it read some files."""
    size = sum(file.size for file in read)
    if len(read) < _ENOUGH or not size:
        return rates
    cpu, parts = sum(file.cpu for file in read), sum(file.bytes for file in read)
    origin = f"{len(read):,} files read here"
    return replace(rates, pubmed_bytes=size / cpu, pubmed_parts=parts / size, origin=origin)


def _get_free_bytes(folder: Path) -> int:
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(nearest).free


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
    read = [file for file in files if file.is_read and file.cpu]
    again = sum(file.records for file in files if file.state == "done" and not file.is_read)
    rates, count = read_rates(folder), sum(file.records for file in read)
    each, cpu, parts, measured = PMC_ARTICLE_BYTES, rates.pmc_article_s, PMC_PARTS, Rates().origin
    if len(read) >= _ENOUGH and count:
        size = sum(file.size for file in read)
        each, cpu = size / count, sum(file.cpu for file in read) / count
        parts, measured = sum(file.bytes for file in read) / size, f"{count:,} articles read here"
    chosen = web.settings.pmc_cloud_request_delay_ms
    delay = 1000 / PMC_REQUESTS if chosen is None else chosen
    new, cores = len(found.new), workers or os.cpu_count() or 1
    hours = (new + again) * cpu / _HOUR
    request_hours = 2 * new * (max(5.0, delay) / 1000) / _HOUR
    search = (new + again) * PMC_PASSAGES / rates.words / _HOUR
    steps = {
        "fetching": request_hours,
        "reading": hours / cores,
        "indexing": _divide_indexing(search, cores),
    }
    return PmcPlan(
        listed=found.listed,
        new=new,
        gone=len(found.gone),
        again=again,
        requests=2 * new,
        request_hours=request_hours,
        size=round(new * each),
        core_hours=hours,
        hours=hours / cores,
        cores=cores,
        disk=round(new * each * (1 + parts)),
        free=_get_free_bytes(folder),
        measured=measured,
        search_hours=search,
        # Batches are read while the next ones are fetched; the index waits for both.
        end_hours=max(request_hours, hours / cores) + _divide_indexing(search, cores),
        bottleneck=_find_longest_step(steps),
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
    rate = table.rate if table and table.rate else CITATIONS
    own = table is not None and rate == table.rate
    return CitationsPlan(
        collection=day,
        size=size,
        edges=edges if due else 0,
        core_hours=due * edges / rate / 3600,
        disk=round(due * edges * CITATIONS_BYTES) + size,
        measured="the last run here" if own else "quality/benchmarks/README.md",
        unknown=unknown,
    )
