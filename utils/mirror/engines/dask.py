"""Dask: a cluster that exists, by its scheduler's address, or one of processes on this machine.

A scheduler that goes away takes along what it knew and nothing else: jobs that were not answered
are given to the one that comes after it. A job with which workers died may have lain beside another
one, or they were killed from outside: it is tried again in the end with nothing beside it, and is
lost only if that kills workers, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import MOST_DEATHS, Lost, raise_if_error
from .cluster import Cluster, Gone, Killed


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any],
    *, workers: int, scheduler: str, say: Callable[[str], None], **_: Any,
) -> Iterator[Any]:  # fmt: skip
    """See `..engines`."""
    left, again, suspects = iter(jobs), list[Any](), list[Any]()
    given, deaths = dict[Any, Any](), Counter[Any]()

    def take() -> Any:
        if again:
            return again.pop()
        job = next(left, None)
        return suspects.pop() if job is None and suspects and not given else job

    with Cluster(scheduler, workers, say) as cluster:
        while True:
            try:
                # No more than run at once: a worker that dies makes all it has suspicious.
                while len(given) < cluster.count_free_slots() and (job := take()) is not None:
                    again.append(job)  # until the cluster has it
                    future = cluster.submit(function, job)
                    given[future] = again.pop()
                if not given:
                    return
                made = cluster.get_result(future := cluster.next_done())
            except Gone:
                again += given.values()
                given.clear()
                cluster.connect_again(len(again))
            except Killed as error:
                job = given.pop(future)
                deaths[job] += error.deaths
                if deaths[job] == error.deaths or deaths[job] < MOST_DEATHS:
                    suspects.append(job)
                    continue
                died = f"{deaths[job]} workers died while reading it"
                yield Lost(job, f"{died}, the last one with no other job")
            else:
                del given[future]
                yield raise_if_error(made)
