"""Run harvests in threads of a server process (MCP, the desk).

The state of a run is in its ledger. A harvest that ends with the process can be resumed from the
shell, Python, MCP or the desk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import BadRequest, PaperError

if TYPE_CHECKING:
    from .jobs import Harvest
    from .run_status import Progress

log = logging.getLogger(__name__)
MAX_RUNS = 2
"""Concurrent harvests in one process; more would only wait for the same sites."""
_STEP_S = 1.0
_MAX_STOP_S = 15.0  # until a cancelled harvest has stopped, its report included


@dataclass(slots=True)
class HarvestRun:
    """A harvest that this process runs, or has run."""

    harvest: Harvest
    thread: threading.Thread | None = None
    progress: Progress | None = None
    error: PaperError | None = None

    @property
    def is_alive(self) -> bool:
        """Return whether the harvest's thread is running."""
        return self.thread is not None and self.thread.is_alive()


class BackgroundHarvests:
    """The harvests that one process runs.

    Parameters
    ----------
    open_harvest : callable
        Returns the harvest of a job's name.
    busy_hint : str
        The hint if `MAX_RUNS` harvests are running.
    """

    def __init__(self, open_harvest: Callable[[str], Harvest], busy_hint: str) -> None:
        self._open_harvest = open_harvest
        self._busy_hint = busy_hint
        self._runs: dict[str, HarvestRun] = {}
        self._lock = threading.Lock()

    def start_run(self, harvest: Harvest) -> HarvestRun:
        """Start a thread for a harvest, unless this process runs it already.

        Raises
        ------
        BadRequest
            `MAX_RUNS` harvests are running already.
        """
        with self._lock:
            run = self._runs.get(harvest.job_id)
            # Equal calls at the same time share one harvest: its ledger stays open.
            is_same = run is not None and run.harvest is harvest
            is_alive = run is not None and run.is_alive
            is_full = sum(run.is_alive for run in self._runs.values()) >= MAX_RUNS
            if (is_alive or is_full) and not is_same:
                harvest.ledger.close()
            if run and is_alive:
                return run
            if is_full:
                raise BadRequest(f"{MAX_RUNS} harvests are running already.", self._busy_hint)
            run = self._runs[harvest.job_id] = HarvestRun(harvest)
            name = f"harvest {harvest.job_id}"
            run.thread = threading.Thread(target=_run_harvest, args=(run,), name=name, daemon=True)
            run.thread.start()
            return run

    def get_run(self, job_id: str) -> HarvestRun | None:
        """Return the run of a job; None if this process never ran the job."""
        return self._runs.get(job_id)

    def wait_for_end(self, job_id: str, seconds: float) -> None:
        """Wait until a job has ended, at most *seconds*."""
        run = self._runs.get(job_id)
        if run and run.thread and run.is_alive:
            run.thread.join(seconds)
        else:  # another process works on it
            time.sleep(seconds)

    def cancel_run(self, job_id: str) -> None:
        """Request that a job stop, and wait until it has, for a while."""
        harvest = self._open_harvest(job_id)
        with closing(harvest.ledger):
            harvest.cancel()
            until = time.monotonic() + _MAX_STOP_S
            while self._is_running(harvest) and time.monotonic() < until:
                self.wait_for_end(job_id, _STEP_S)

    def _is_running(self, harvest: Harvest) -> bool:
        run = self._runs.get(harvest.job_id)
        return bool(run and run.is_alive) or harvest.ledger.is_running()

    def get_error(self, job_id: str) -> PaperError | None:
        """Return the error that ended a run of this process, if any."""
        run = self._runs.get(job_id)
        return run.error if run and not run.is_alive else None


def _run_harvest(run: HarvestRun) -> None:
    try:
        for progress in run.harvest:
            run.progress = progress
    except PaperError as error:
        run.error = error
        log.warning("The harvest %s stopped: %s", run.harvest.job_id, error.text)
    except Exception as bug:
        # A thread ends silently: the status reports the error.
        log.exception("The harvest %s stopped", run.harvest.job_id)
        msg = f"The harvest stopped because Papershelf has a bug: {bug!r}."
        run.error = PaperError(msg, "Please report it. Start the harvest again to resume it.")
