"""Slurm, by submitit, a few source files a job. Tests use its local executor (``local``)."""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import Unreachable
from . import MOST_DEATHS, Lost, attempt, checked

_FILES, _LOOK_S = 4, 1.0
_NEEDS = {"timeout_min": 60, "mem_gb": 2, "cpus_per_task": 1}


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any],
    *, workers: int, scheduler: str, folder: Path, say: Callable[[str], None],
) -> Iterator[Any]:  # fmt: skip
    """See `.engines`."""
    import submitit

    def work(path: list[str], packed: bytes) -> Any:  # sent as code: ours is found by the path
        __import__("sys").path[:0] = path
        attempt, function, jobs = __import__("pickle").loads(packed)
        return [attempt(function, job) for job in jobs]

    kind = "local" if scheduler == "local" else "slurm"
    try:
        executor = submitit.AutoExecutor(folder=folder / "slurm", cluster=kind)
    except RuntimeError as error:
        msg = f"There is no Slurm here: {error}."
        raise Unreachable(msg, "Run it where sbatch is.", lasting=True) from None
    partition = {"slurm_partition": scheduler} if scheduler and kind == "slurm" else {}
    executor.update_parameters(**_NEEDS, **partition)
    say(f"Slurm's logs: {folder / 'slurm'}")
    left, alone, running, deaths = iter(jobs), list[Any](), dict[Any, list[Any]](), Counter[Any]()
    while True:
        while len(running) < workers and (some := alone[:1] or list(islice(left, _FILES))):
            del alone[:1]
            packed = pickle.dumps((attempt, function, some))
            running[executor.submit(work, sys.path, packed)] = some
        if not running:
            return
        for job in [job for job in running if job.done()]:
            some = running.pop(job)
            try:
                yield from map(checked, job.result())
            except submitit.core.utils.UncompletedJobError as error:
                deaths.update(some)
                alone += [job for job in some if deaths[job] < MOST_DEATHS]
                lost = (job for job in some if deaths[job] == MOST_DEATHS)
                yield from (Lost(job, f"its jobs died: {str(error)[:200]}") for job in lost)
        time.sleep(_LOOK_S)
