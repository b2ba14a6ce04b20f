"""Slurm, by submitit, a few source files a job. Tests use its local executor (``local``), too."""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import Unreachable
from . import MOST_DEATHS, Lost, attempt, checked

_FILES, _LOOK_S = 4, 1.0
_HINTS = "Look at --scheduler, the partition: sinfo.", "The same command goes on from there."


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any],
    *, workers: int, scheduler: str, folder: Path, say: Callable[[str], None],
) -> Iterator[Any]:  # fmt: skip
    """See `..engines`."""

    def work(path: list[str], packed: bytes) -> Any:  # sent as code: ours is found by the path
        __import__("sys").path[:0] = path
        attempt, function, jobs = __import__("pickle").loads(packed)
        return [attempt(function, job) for job in jobs]

    slurm = import_module(".slurm_queue", __package__)
    left, running, deaths = iter(jobs), dict[Any, list[Any]](), Counter[Any]()
    batches, again, room = iter(lambda: list(islice(left, _FILES)), []), list[list[Any]](), workers
    with slurm.Queue(folder / "slurm", scheduler) as queue:
        say(f"Slurm's logs: {folder / 'slurm'}")
        while True:
            while len(running) < room and (some := again.pop() if again else next(batches, None)):
                packed = pickle.dumps((attempt, function, some))
                try:
                    running[queue.submit(work, sys.path, packed)] = some
                except slurm.Refused as error:
                    again.append(some)
                    if not running:
                        raise Unreachable(f"Slurm takes no job: {error}", *_HINTS) from None
                    room = len(running)  # until one has ended
            if not running:
                return
            for job in queue.done():
                some, room = running.pop(job), workers
                try:
                    yield from map(checked, queue.answer(job))
                except slurm.Died as error:
                    deaths.update(some)
                    again += ([one] for one in some if deaths[one] < MOST_DEATHS)  # each alone
                    why = f"its jobs died: {str(error)[:200]}"
                    yield from (Lost(one, why) for one in some if deaths[one] == MOST_DEATHS)
            time.sleep(_LOOK_S)
