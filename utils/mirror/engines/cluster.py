"""The connection to a Dask cluster: who waits for it, notices that it is gone, and says so.

Dask's own client cancels what it was asked for when its scheduler dies, gives up after a while, and
waits for ever for a scheduler that hangs. Here a scheduler that does not answer is `Gone`, however
that came; then another connection is made to whoever answers at that address.
"""

from __future__ import annotations

import gc
import logging
import pickle
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import Any, Self

from ...errors import BadRequest, NotConfigured, Unreachable
from ...system.process import get_version
from ..parts import READERS
from . import run_safely

_FIRST_S = 30.0  # a scheduler that never answered: the address is wrong, or it does not run
_PATIENCE_S = 300.0  # for one that did answer, and for the first worker
_SILENCE_S = 30.0  # a scheduler that says nothing for so long hangs
_LOOK_S = 5.0  # how often a scheduler is asked while nothing is ready
_TLS = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__TLS__CLIENT__CERT and …__TLS__CLIENT__KEY"


class Gone(Exception):
    """The scheduler answers no more, and nothing that it was given."""


class Killed(Exception):
    """So many workers died while they had a job."""

    def __init__(self, deaths: int) -> None:
        super().__init__(deaths)
        self.deaths = deaths


class Cluster:
    """A cluster that exists, or (without *address*) one of *workers* processes of this machine."""

    def __init__(self, address: str, workers: int, say: Callable[[str], None]) -> None:
        self.address, self._workers, self._say = address, workers, say
        self._dask: Any = import_module("distributed")
        self._own: Any = None
        self._client: Any = None
        self._done = SimpleQueue[Any]()

    def __enter__(self) -> Self:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # we say what matters
        with ExitStack() as stack:
            if not self.address:
                self._own = stack.enter_context(self._start_own())
                self.address = self._own.scheduler_address
            stack.callback(self._close_client)
            self._connect_to_scheduler(_FIRST_S)
            self._ended = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.close()

    @contextmanager
    def _start_own(self) -> Iterator[Any]:
        """Start our own cluster: encrypted, because Dask's sockets obey every user of the machine.

        It would take a worker for lost, and end who starts it again, after fifteen seconds.
        """
        slow = {"distributed.deploy.lost-worker-timeout": _PATIENCE_S}
        size = {"n_workers": self._workers, "threads_per_worker": 1}
        told = {"scheduler_kwargs": {"allowed_failures": 0}, "silence_logs": logging.CRITICAL}
        with ExitStack() as stack:
            stack.enter_context(import_module("dask").config.set(slow))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a port that is taken; the dashboard is named
                own = stack.enter_context(self._dask.LocalCluster(security=True, **size, **told))
            yield own

    # -- the work ----------------------------------------------------------------------------

    def count_free_slots(self) -> int:
        """Return how many jobs can run at once; wait if there is no worker.

        Raises
        ------
        Gone
            The scheduler does not answer.
        Unreachable
            No worker came.
        """
        began, said = time.monotonic(), False
        while not (threads := sum(self._ask_scheduler("ncores").values())):
            waited = time.monotonic() - began
            if waited > _PATIENCE_S:
                msg = f"The Dask cluster at {self.address} had no worker for {waited:.0f} s."
                raise Unreachable(msg, _start_one(f"worker {self.address}"))
            if waited > _LOOK_S and not said:
                self._say(f"The Dask cluster at {self.address} has no worker: waiting for one.")
                said = True
            time.sleep(0.2)
        return int(threads)

    def submit(self, function: Callable[[Any], Any], job: Any) -> Any:
        """Give it a job; the future is what `next_done` returns when it is done."""
        # Packed: a scheduler needs nothing of ours, and a worker without it says so.
        packed = pickle.dumps(_Call(function, job))
        try:
            future = self._client.submit(pickle.loads, packed, pure=False)  # noqa: S301 - ours
            future.add_done_callback(self._done.put)
        except (OSError, self._dask.client.ClosedClientError) as error:
            raise Gone from error
        return future

    def next_done(self) -> Any:
        """Return the next finished future; raise like `count_free_slots`."""
        while True:
            try:
                return self._done.get(timeout=_LOOK_S)
            except Empty:
                self.count_free_slots()

    def get_result(self, future: Any) -> Any:
        """Return the result of a job, or its error, for `raise_if_error`.

        Raises
        ------
        Killed
            Workers died with it, as many as the cluster allows.
        Gone
            The scheduler does not answer.
        NotConfigured
            A worker cannot do it: it lacks Papershelf, or has another version.
        """
        while True:
            try:
                return future.result(timeout=_SILENCE_S)  # made again, if its worker died meanwhile
            except self._dask.KilledWorker as error:
                raise Killed(error.allowed_failures + 1) from None
            except self._dask.TimeoutError:
                self.count_free_slots()
            except (CancelledError, OSError) as error:
                raise Gone from error
            except (ImportError, AttributeError) as error:
                why = f"it cannot load it ({error})"
                raise _to_unfit_error("A worker of the Dask cluster", why, get_version()) from error

    def _ask_scheduler(self, what: str) -> Any:
        try:
            asked = getattr(self._client.scheduler, what)
            return self._client.sync(asked, callback_timeout=_SILENCE_S)
        except (OSError, AttributeError, self._dask.client.ClosedClientError) as error:
            raise Gone from error  # a client that gave up has no scheduler

    # -- who is there ------------------------------------------------------------------------

    def connect_again(self, jobs: int) -> None:
        """Wait for the next scheduler at the address, and submit *jobs* again.

        Raises
        ------
        Unreachable
            Nobody did, for five minutes.
        """
        self._say(
            f"The Dask scheduler at {self.address} does not answer any more: waiting for it, for "
            f"{_PATIENCE_S / 60:.0f} minutes at the most. It is given {jobs} jobs once more."
        )
        self._connect_to_scheduler(_PATIENCE_S)

    def _connect_to_scheduler(self, patience: float) -> None:
        until = time.monotonic() + patience
        while True:
            self._close_client()
            try:
                left = max(1.0, min(_SILENCE_S, until - time.monotonic()))
                self._client = self._dask.Client(
                    self._own or self.address, timeout=left, set_as_default=False
                )
                self._say(f"Dask's dashboard: {self._get_dashboard()}")
                return
            except (OSError, Gone) as error:
                if time.monotonic() >= until:
                    raise self._to_no_scheduler_error(patience, error) from error
            except (TypeError, ValueError, ImportError) as error:
                msg = f"No Dask scheduler can be asked at {self.address!r}: {error}."
                hint = "Give --scheduler tcp://HOST:8786."
                raise BadRequest(msg, hint, f"One at tls:// needs certificates: {_TLS}.") from error
            time.sleep(1)

    def _close_client(self) -> None:
        client, self._client, self._done = self._client, None, SimpleQueue()
        if client:
            with suppress(OSError, self._dask.client.ClosedClientError):
                client.close(timeout=_LOOK_S)
        # A client that failed ends where it is collected; inside another's start, that hangs.
        gc.collect()

    def _get_dashboard(self) -> str:
        host = re.sub(r"^\w+://|:\d+$", "", self.address)
        port = self._ask_scheduler("identity")["services"].get("dashboard")
        return self._dask.utils.format_dashboard_link(host, port) if port else "none"

    def _to_no_scheduler_error(self, patience: float, error: Exception) -> Unreachable:
        msg = f"No Dask scheduler answers at {self.address}, for {patience:.0f} s: {error}."
        hint = "Check --scheduler, and whether it runs; with encryption its address begins with tls://."
        host, _, port = re.sub(r"^\w+://", "", self.address).rpartition(":")
        return Unreachable(msg, hint, _start_one(f"scheduler --host {host} --port {port}"))


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


def _start_one(what: str) -> str:
    return f"Start one: dask {what}; then the same command goes on from there."
