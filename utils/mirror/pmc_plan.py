"""What bringing a mirror of PMC up to date would take, before any article is fetched.

The inventory has no sizes: those are this mirror's own, as soon as it has read some batches; until
then those of `quality/benchmarks/README.md`. Of a choice by license, year or journal the metadata
of every article has to be asked for; the plan counts these requests, and cannot know how many will
fit.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .manifest import Manifest
from .objects import Objects
from .pmc import SOURCE, Choice, difference
from .rates import PMC_ARTICLE_BYTES, PMC_ARTICLE_S, PMC_PARTS, PMC_REQUESTS

if TYPE_CHECKING:
    from ..http import Web

_ENOUGH = 3  # batches, before this mirror's own rates count


@dataclass(frozen=True, slots=True)
class PmcPlan:
    """What an update would take.

    Of ``listed`` articles ``new`` versions are to be looked at and ``gone`` ones drop out. An older
    version read or judged ``again`` texts that are here: today's reads and judges them from their
    kept bytes. The update takes ``requests`` (``request_hours`` at our pace) and at most
    ``size`` bytes; ``core_hours`` of reading, ``hours`` on ``cores``; ``disk`` bytes are needed,
    ``free`` there are. ``measured`` says whose rates these are.
    """

    listed: int
    new: int
    gone: int
    again: int
    requests: int
    request_hours: float
    size: int
    core_hours: float
    hours: float
    cores: int
    disk: int
    free: int
    measured: str


def plan(
    folder: Path, web: Web, choice: Choice | None = None, *, retry: bool = False, workers: int = 0
) -> PmcPlan:
    """What an update would take; see `.pmc.update` for its options.

    Raises
    ------
    Unreachable
        The listing could not be had.
    """
    objects = Objects(folder)
    before = objects.fact("choice")
    wanted = choice or (Choice.from_json(before) if before else Choice())
    anew = bool(before) and wanted.to_json() != before
    found = difference(objects, wanted, web, retry=retry, chosen_anew=anew)
    files = Manifest(folder).files(SOURCE)
    read = [file for file in files if file.is_read and file.cpu]
    again = sum(file.records for file in files if file.state == "done" and not file.is_read)
    count, measured = sum(file.records for file in read), "quality/benchmarks/README.md"
    each, cpu, parts = PMC_ARTICLE_BYTES, PMC_ARTICLE_S, PMC_PARTS
    if len(read) >= _ENOUGH and count:
        size = sum(file.size for file in read)
        each, cpu = size / count, sum(file.cpu for file in read) / count
        parts, measured = sum(file.bytes for file in read) / size, f"{count:,} articles read here"
    cores, hours = workers or os.cpu_count() or 1, (len(found.new) + again) * cpu / 3600
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return PmcPlan(
        listed=found.listed,
        new=len(found.new),
        gone=len(found.gone),
        again=again,
        requests=2 * len(found.new),
        request_hours=2 * len(found.new) / PMC_REQUESTS / 3600,
        size=round(len(found.new) * each),
        core_hours=hours,
        hours=hours / cores,
        cores=cores,
        disk=round(len(found.new) * each * (1 + parts)),
        free=shutil.disk_usage(nearest).free,
        measured=measured,
    )
