"""Dask: a cluster that exists, by its scheduler's address, or one of processes on this machine.

Dask gives the job of a worker that died to another one, as often as its scheduler allows. Such a
job may have lain beside the one that kills workers, or they were killed from outside. So it is
tried again in the end with nothing beside it, and is lost only if that kills workers, too.

Dask connects again to a scheduler that was started again at the same address, which knows nothing
of the jobs: those that were not answered are given to it once more.
"""

from __future__ import annotations

import gc
import logging
import pickle
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, islice
from typing import Any

from ...errors import BadRequest, NotConfigured, Unreachable
from ...system.process import get_version
from ..parts import READERS
from . import Lost, raise_if_error, run_safely

_SCHEDULER_S = 30.0  # for a scheduler that does not answer
_WORKER_S = 300.0  # for the first worker
_CLOSE_S = 5.0
_LOOK_S = 0.2
_TLS = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"


def run(
    function: Callable[[Any], Any], jobs: Iterable[Any],
    *, workers: int, scheduler: str, say: Callable[[str], None], **_: Any,
) -> Iterator[Any]:  # fmt: skip
    """See `..engines`."""
    killed: Any = import_module("distributed").KilledWorker
    suspects: list[Any] = []
    with _connect(scheduler, workers, say) as cluster:
        for job, made in _run_jobs(cluster, function, jobs):
            if isinstance(made, killed):
                suspects.append(job)
            else:
                yield raise_if_error(made)
        for suspect in suspects:
            for job, made in _run_jobs(cluster, function, [suspect]):
                if isinstance(made, killed):
                    died = f"{2 * (made.allowed_failures + 1)} workers died while reading it"
                    yield Lost(job, f"{died}, the last one with no other job")
                else:
                    yield raise_if_error(made)


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster: a client and the address of its scheduler; ``say`` receives messages."""

    client: Any
    address: str
    say: Callable[[str], None]


def _run_jobs(
    cluster: _Cluster, function: Callable[[Any], Any], jobs: Iterable[Any]
) -> Iterator[tuple[Any, Any]]:
    """Yield each job with its result or its error, as they come."""
    dask: Any = import_module("distributed")
    left, given = iter(jobs), dict[Any, Any]()
    results = dask.as_completed(loop=cluster.client.loop)
    while True:
        # No more than run at once: a worker that dies makes all it has suspicious.
        for job in islice(left, max(0, _count_workers(cluster) - len(given))):
            # Packed: a scheduler needs nothing of ours, and a worker without it says so.
            packed = pickle.dumps(_Call(function, job))
            future = cluster.client.submit(pickle.loads, packed, pure=False)  # noqa: S301 - ours
            given[future] = job
            results.add(future)
        if not given:
            return
        future = next(results)
        try:
            made = future.result()  # computed again, if its worker died meanwhile
        except (OSError, CancelledError):
            cluster.say(
                f"The Dask scheduler at {cluster.address} does not answer any more: waiting for "
                f"it, for {_SCHEDULER_S:.0f} s at most. It is given {len(given)} jobs once more."
            )
            left, given = chain(given.values(), left), {}
            results = dask.as_completed(loop=cluster.client.loop)
            continue
        except dask.KilledWorker as error:
            made = error
        except (ImportError, AttributeError) as error:
            who, why = "A worker of the Dask cluster", f"it cannot load it ({error})"
            made = _to_unfit_error(who, why, get_version())
        yield given.pop(future), made


def _count_workers(cluster: _Cluster) -> int:
    """Return how many jobs can run at once; wait for a scheduler and a worker.

    Raises
    ------
    Unreachable
        Neither of them came.
    """
    client = cluster.client
    while True:
        try:
            if threads := sum(client.nthreads().values()):
                return int(threads)
            cluster.say(f"The Dask cluster at {cluster.address} has no worker: waiting for one.")
            client.wait_for_workers(1, timeout=_WORKER_S)
        except TimeoutError:
            msg = f"The Dask cluster at {cluster.address} had no worker for {_WORKER_S:.0f} s."
            raise Unreachable(msg, _start_one(f"worker {cluster.address}")) from None
        except (OSError, AttributeError) as error:
            if client.status == "closed":  # it gave up
                raise _to_no_scheduler_error(cluster.address, error) from error
            time.sleep(_LOOK_S)


@contextmanager
def _connect(scheduler: str, workers: int, say: Callable[[str], None]) -> Iterator[_Cluster]:
    """Yield the cluster of a scheduler, or (without one) a cluster of our own."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what matters
    dask: Any = import_module("distributed")
    with _start_cluster(workers) if not scheduler else nullcontext(scheduler) as where:
        # A client that failed ends where it is collected; inside the start of another, that hangs.
        gc.collect()
        try:
            client = dask.Client(where, timeout=_SCHEDULER_S, set_as_default=False)
        except OSError as error:
            raise _to_no_scheduler_error(scheduler, error) from error
        except (TypeError, ValueError, ImportError) as error:
            msg = f"No Dask scheduler can be asked at {scheduler!r}: {error}."
            hint = "Give --scheduler tcp://HOST:8786."
            raise BadRequest(msg, hint, f"One at tls:// needs certificates: {_TLS}.") from error
        try:
            say(f"Dask's dashboard: {_get_dashboard(client)}")
            yield _Cluster(client, client.scheduler.address, say)
        finally:
            with suppress(OSError, dask.client.ClosedClientError):
                client.close(timeout=_CLOSE_S)


def _get_dashboard(client: Any) -> str:
    with suppress(KeyError):
        return str(client.dashboard_link)
    return "none"


@contextmanager
def _start_cluster(workers: int) -> Iterator[Any]:
    """Start our own cluster: encrypted, because Dask's sockets obey every user of the machine.

    It would take a worker for lost, and end who starts it again, after fifteen seconds.
    """
    dask: Any = import_module("distributed")
    slow = {"distributed.deploy.lost-worker-timeout": _WORKER_S}
    size = {"n_workers": workers, "threads_per_worker": 1}
    told = {"scheduler_kwargs": {"allowed_failures": 1}, "silence_logs": logging.CRITICAL}
    with import_module("dask").config.set(slow), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a port that is taken; the dashboard is named
        cluster = dask.LocalCluster(security=True, **size, **told)
    with cluster:
        yield cluster


def _to_no_scheduler_error(address: str, error: Exception) -> Unreachable:
    msg = f"No Dask scheduler answers at {address}, for {_SCHEDULER_S:.0f} s: {error}."
    hint = "Check --scheduler, and whether it runs; with encryption its address begins with tls://."
    host, _, port = re.sub(r"^\w+://", "", address).rpartition(":")
    return Unreachable(msg, hint, _start_one(f"scheduler --host {host} --port {port}"))


def _start_one(what: str) -> str:
    return f"Start one: dask {what}; then the same command goes on from there."


class _Call:
    """A job with its function, which is done where it is unpacked."""

    def __init__(self, function: Callable[[Any], Any], job: Any) -> None:
        self._parts = (get_version(), READERS, function, job)

    def __reduce__(self) -> tuple[Any, ...]:
        return _run_job, self._parts


def _run_job(wanted: str, readers: dict[str, int], function: Callable[[Any], Any], job: Any) -> Any:
    """Return a function's result for a job on a worker, or its error."""
    who = f"The Dask worker on {socket.gethostname()}"
    if (get_version(), READERS) != (wanted, readers):
        other = f"it has {get_version()} with the readers {READERS} and not {readers}"
        return _to_unfit_error(who, other, wanted)
    made = run_safely(function, job)
    if isinstance(made, ImportError):
        return _to_unfit_error(who, f"it lacks a package ({made})", wanted)
    return made


def _to_unfit_error(who: str, why: str, wanted: str) -> NotConfigured:
    """Return why a worker cannot do the work, and what would make it able."""
    return NotConfigured(
        f"{who} cannot work for Papershelf {wanted}: {why}.",
        f'Install the same there, and start it again: pip install "papershelf[mirror]=={wanted}"',
    )
