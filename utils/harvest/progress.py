"""How far a harvest is, and how long the rest will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from ..model.job import Job

_RATE_OVER_S = 30.0
_SOON_S = 3.0  # earlier, nobody can say how long it will take


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a harvest is.

    Parameters
    ----------
    job : Job
        With the counts of this moment.
    rate : float
        Papers that ended per second, of late.
    eta_s : float or None
        Seconds until the slowest lane is through at its present pace; None while nobody can say.
    waiting : dict
        By site, how many papers are queued there or under way.
    later : int
        Papers that wait for a site that was out.
    only_waits : bool
        Whether all that remains waits, for one slow site or for sites that are out: what can be
        had soon is there.
    unread : int
        Texts that have waited for a core all the time of late: reading is what takes the time.
    """

    job: Job
    rate: float = 0.0
    eta_s: float | None = None
    waiting: dict[str, int] | None = None
    later: int = 0
    only_waits: bool = False
    unread: int = 0


class ProgressMeter:
    """Estimates rate and remaining time from the last half minute."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, dict[str, int], int]] = deque(maxlen=120)

    def progress(
        self,
        job: Job,
        done: dict[str, int],
        waiting: Mapping[str, int],
        later: tuple[int, float],
    ) -> Progress:
        """Add a sample, and return the progress by it.

        Parameters
        ----------
        job : Job
        done, waiting : dict
            By lane, how many papers went through, and how many are queued or under way.
        later : tuple
            How many wait for a time to come, and in how many seconds the first is due.
        """
        ended = job.counts.requested - job.counts.pending
        now = time.monotonic()
        while self._samples and now - self._samples[0][0] > _RATE_OVER_S:
            self._samples.popleft()
        self._samples.append((now, done, ended))
        began, done_then, ended_then = self._samples[0]
        seconds = max(now - began, 1e-9)
        rate = (ended - ended_then) / seconds
        times = [
            waiting[n] * seconds / (done[n] - done_then[n])
            for n in done
            if waiting[n] and done[n] > done_then[n]
        ]
        if rate:
            times.append(job.counts.pending / rate)
        if later[0]:
            times.append(later[1])
        eta = max(times) if times and now - began > _SOON_S else None
        return Progress(job, rate, eta, {n: size for n, size in waiting.items() if size}, later[0])
