"""Dask: a cluster that exists, by its scheduler's address, or one of processes on this machine.

A scheduler that goes away takes along what it knew and nothing else: jobs that were not answered
are given to the one that comes after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from importlib import import_module
from itertools import islice
from typing import Any

from ...errors import Unreachable
from . import MOST_DEATHS, Lost

_PATIENCE_S = 300  # for the first worker


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any],
    *, workers: int, scheduler: str, say: Callable[[str], None], **_: Any,
) -> Iterator[Any]:  # fmt: skip
    """See `.engines`."""
    dask: Any = import_module("distributed")
    with ExitStack() as stack:
        # Encrypted, for Dask's own sockets obey every user of the machine.
        cluster = scheduler or stack.enter_context(
            dask.LocalCluster(n_workers=workers, threads_per_worker=1, security=True)
        )
        try:
            client = stack.enter_context(dask.Client(cluster, timeout=30, set_as_default=False))
        except OSError as error:
            msg = f"No Dask scheduler answers at {scheduler}."
            raise Unreachable(msg, "Look at --scheduler, and whether it runs.") from error
        say(f"Dask's dashboard: {client.dashboard_link}")
        client.wait_for_workers(1 if scheduler else workers, timeout=_PATIENCE_S)
        left, given = iter(jobs), dict[Any, Any]()
        running = dask.as_completed(loop=client.loop)
        # No more than run at once: a worker that dies makes all it has suspicious.
        more = list(islice(left, max(1, sum(client.nthreads().values()))))
        while True:
            for job in more:
                given[future := client.submit(function, job, pure=False)] = job
                running.add(future)
            if not given:
                return
            job = given.pop(future := next(running))
            try:
                made = future.result()  # made again, where its worker took it along
            except CancelledError:  # its scheduler is gone
                more = [job]
                continue
            except dask.KilledWorker:
                made = Lost(job, f"{MOST_DEATHS} workers that read it died")
            yield made
            more = list(islice(left, 1))
