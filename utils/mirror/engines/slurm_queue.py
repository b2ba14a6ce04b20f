"""Slurm's queue: how jobs get into it, whether it still has them, and that none of ours is left.

Submitit asks Slurm's accounting (``sacct``) what became of a job. Many clusters keep none; a job
that was cancelled or killed there is never done. ``squeue`` is there wherever ``sbatch`` is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, Self

from ...errors import NotConfigured, Unreachable

_NEEDS = {"time": 60, "mem": "2GB", "cpus_per_task": 1}
_LOOK_S = 30  # at the most between two looks at the queue


@cache
def _executor() -> Any:
    """Submitit's executor for Slurm, with jobs that are looked up in the queue."""
    from submitit import SlurmExecutor, SlurmJob
    from submitit.slurm.slurm import SlurmInfoWatcher

    class Watcher(SlurmInfoWatcher):
        """What became of jobs: those that the queue does not have any more are gone.

        Where it cannot be looked at, nothing is known, and submitit goes on waiting.
        """

        def _make_command(self) -> list[str] | None:
            ours = self._registered - self._finished
            return ["squeue", "--me", "--noheader", "--format=%A %T"] if ours else None

        def read_info(self, string: bytes | str) -> dict[str, dict[str, str]]:
            told = string if isinstance(string, str) else string.decode()
            there = dict(line.split()[:2] for line in told.splitlines() if line.strip())
            return {job: {"State": there.get(job, "GONE")} for job in self._registered}

    class Job(SlurmJob[Any]):
        watcher = Watcher(delay_s=_LOOK_S)

    class Executor(SlurmExecutor):
        job_class = Job

    return Executor


class Refused(Exception):
    """Slurm takes no job now; in its own words."""


class Died(Exception):
    """A job ended without a result."""


class Queue:
    """Where jobs go: Slurm's queue, or (*scheduler* is ``local``) processes of this machine.

    Raises
    ------
    Unreachable
        There is no Slurm here.
    """

    def __init__(self, folder: Path, scheduler: str) -> None:
        from submitit import LocalExecutor

        self._jobs = list[Any]()
        try:
            local = scheduler == "local"
            self._executor: Any = (LocalExecutor if local else _executor())(folder)
        except RuntimeError as error:
            msg = f"There is no Slurm here: {error}."
            raise Unreachable(msg, "Run it where sbatch is.", lasting=True) from None
        partition = {"partition": scheduler} if scheduler else {}
        self._executor.update_parameters(**({"timeout_min": 60} if local else _NEEDS | partition))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take out what is not done: nobody waits for it any more."""
        for job in self._jobs:
            if not job.paths.result_pickle.exists():
                job.cancel(check=False)

    def submit(self, function: Callable[..., Any], *given: Any) -> Any:
        """Put in a job; raises `Refused` where Slurm does not take it."""
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        try:
            with redirect_stderr(StringIO()):  # submitit says there what it raises
                job = self._executor.submit(function, *given)
        except (FailedJobError, FailedSubmissionError, OSError) as error:
            raise Refused(" ".join(str(error).split())) from error
        self._jobs.append(job)
        return job

    def done(self) -> list[Any]:
        """The jobs that have come to an end, whatever that was; each is told once."""
        ended = [job for job in self._jobs if job.done()]
        self._jobs = [job for job in self._jobs if job not in ended]
        return ended

    def answer(self, job: Any) -> Any:
        """What a job that is done came to.

        Raises
        ------
        Died
            It has no result: it was killed, cancelled, or had too little time or memory.
        NotConfigured
            Its node could not even begin.
        """
        from submitit.core.utils import FailedJobError, UncompletedJobError

        try:
            return job.result()
        except FailedJobError as error:
            # Of a traceback and where it lies, the line that says what was raised.
            why = re.findall(r"^[\w.]+(?:Error|Exception|Exit)\b.*", str(error), re.M)
            raise NotConfigured(
                f"A node of Slurm could not begin job {job.job_id}: {(why or [error])[-1]}.",
                f"It needs this Python and Papershelf under the same path: {sys.executable}.",
                f"Look at {job.paths.stderr}; then the same command goes on from there.",
            ) from None
        except UncompletedJobError as error:
            raise Died(str(error)) from None
