"""What bringing a mirror up to date would take, before anything but two listings is fetched.

Sizes are those of the listings, to three figures. Rates are this machine's own, as soon as it has
read a few files; until then those of `quality/benchmarks/README.md`, and the plan says which.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..sources.pubmed_files import last_of_baseline, list_files
from .manifest import Manifest, SourceFile
from .pubmed import SOURCE, noted, source_path
from .rates import (
    PUBMED_BYTES,
    PUBMED_PARTS,
    PUBMED_PASSAGES,
    VECTORS,
    VECTORS_BYTES,
    WORDS,
    WORDS_BYTES,
)

if TYPE_CHECKING:
    from ..http import Web

_ENOUGH = 3  # files, before this machine's own rates count
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class MirrorPlan:
    """What an update would take.

    ``files`` with ``size`` bytes are to be fetched of the ``listed`` ones (``baseline`` files of
    which are the ``year``'s baseline, 0: NLM's notice does not say); ``core_hours`` of reading, on
    ``cores`` of this machine ``hours``; ``disk`` bytes are needed, of which ``kept_sources`` are
    the files themselves, and ``free`` there are. ``measured`` says whose rates these are.
    To find what is new takes ``search_hours`` more core-hours and ``search_disk`` bytes by words,
    ``vector_hours`` and ``vector_disk`` by meaning, where no published vectors are taken.
    """

    year: int
    baseline: int
    listed: int
    files: int
    size: int
    core_hours: float
    hours: float
    cores: int
    disk: int
    kept_sources: int
    free: int
    measured: str
    search_hours: float = 0.0
    search_disk: int = 0
    vector_hours: float = 0.0
    vector_disk: int = 0


def plan(folder: Path, web: Web, *, keep: bool = True, workers: int = 0) -> MirrorPlan:
    """What an update would take; see `.pubmed.update` for its options.

    Raises
    ------
    Unreachable
        The listings could not be had.
    """
    listed = [noted(file) for file in list_files(web)]
    year, last = last_of_baseline(web)
    known = {file.name: file for file in Manifest(folder).files(SOURCE)}
    due = [file for file in listed if not _is_here(folder, known.get(file.name), file)]
    absent = [file for file in due if not _is_fetched(folder, known.get(file.name))]
    read = [file for file in known.values() if file.is_read and file.cpu]
    speed, growth, measured = _rates(read)
    size, cores = sum(file.size for file in due), workers or os.cpu_count() or 1
    hours = size / speed / _HOUR
    sources = sum(file.size for file in absent) if keep else 0
    return MirrorPlan(
        year=year,
        baseline=last,
        listed=len(listed),
        files=len(due),
        size=size,
        core_hours=hours,
        hours=hours / cores,
        cores=cores,
        disk=round(size * growth) + sources,
        kept_sources=sources,
        free=_free(folder),
        measured=measured,
        **_to_search(size * PUBMED_PASSAGES),
    )


def _to_search(passages: float) -> dict[str, Any]:
    """What it takes to find so many passages."""
    return {
        "search_hours": passages / WORDS / _HOUR,
        "search_disk": round(passages * WORDS_BYTES),
        "vector_hours": passages / VECTORS / _HOUR,
        "vector_disk": round(passages * VECTORS_BYTES),
    }


def _is_here(folder: Path, known: SourceFile | None, listed: SourceFile) -> bool:
    return known is not None and known.listed == listed.listed and known.is_here(folder)


def _is_fetched(folder: Path, known: SourceFile | None) -> bool:
    return known is not None and bool(known.md5) and source_path(folder, known).exists()


def _rates(read: Sequence[SourceFile]) -> tuple[float, float, str]:
    """Bytes that a core reads in a second, bytes of parts for each of them, and who says so."""
    size = sum(file.size for file in read)
    if len(read) < _ENOUGH or not size:
        return PUBMED_BYTES, PUBMED_PARTS, "quality/benchmarks/README.md"
    cpu, parts = sum(file.cpu for file in read), sum(file.bytes for file in read)
    return size / cpu, parts / size, f"{len(read):,} files read here"


def _free(folder: Path) -> int:
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(nearest).free
