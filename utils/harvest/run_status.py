"""The status of a running harvest: counts, remaining time, and the sites that papers wait for."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from ..download.climb import Rung
from ..http import Web
from ..model.job import Job, SiteWait
from ..model.paper import format_timestamp
from ..shelf.ledger import Ledger
from .lanes import BY_PUBLISHER, Lanes, Outage, Outages

_SOON_S = 20.0  # what is through so soon is worth no word
_RATE_OVER_S = 30.0
_TOO_EARLY_S = 5.0  # earlier, nobody can say how long it will take
_SETTLES_S = 20.0  # in which a new estimate has taken the place of the old one, by two thirds


class StatusReporter:
    """Reports the status of one run, and writes its waits into the ledger for other processes.

    Parameters
    ----------
    ledger : Ledger
    lanes : Lanes
    outages : Outages
    rungs : Sequence[Rung]
        Whose routes the lanes are named after.
    web : Web
        Where the sites are, and how often they may be asked.
    """

    def __init__(
        self,
        ledger: Ledger,
        lanes: Lanes,
        outages: Outages,
        rungs: Sequence[Rung],
        web: Web,
    ) -> None:
        self._ledger = ledger
        self._lanes = lanes
        self._outages = outages
        self._services = {rung.via: rung.source.service for rung in rungs}
        self._settings = web.settings
        self._every = {rate.bucket: seconds for rate, seconds in web.limiter.list_intervals()}
        self._meter = ProgressMeter(self._every)
        self._published: tuple[SiteWait, ...] = ()
        self._done_at = 0.0

    def now(self) -> Progress:
        """The counts, how long the rest will take, and the sites it waits for."""
        later = self._lanes.later()
        job, done = self._ledger.job(), self._lanes.done()
        progress = self._meter.progress(job, done, self._lanes.waiting(), later)
        out = [self._wait_for(outage, later[1]) for outage in self._outages.now()]
        slow = self._slow_site(progress)
        if (*out, *slow) != self._published:
            self._published = (*out, *slow)
            self._ledger.record_waits(self._published)
        parked = bool(progress.later and not progress.waiting and later[1] > _SOON_S)
        job = replace(job, waits=self._published)
        return replace(progress, job=job, only_waits=bool(slow) or parked)

    def _slow_site(self, progress: Progress) -> list[SiteWait]:
        """The one site that has all that remains, but for what waits for sites that are out."""
        waiting = progress.waiting or {}
        if len(waiting) != 1:
            return []
        [(via, papers)] = waiting.items()
        eta_s = max(progress.eta_s or 0.0, papers * self._every.get(via, 0.0))
        if via not in self._services or eta_s < _SOON_S:
            return []
        through = time.time() + eta_s
        if abs(through - self._done_at) > _SOON_S:  # else it would be another one with every look
            self._done_at = through
        return [SiteWait(self._site_name(via), papers, format_timestamp(self._done_at))]

    def _wait_for(self, outage: Outage, due_s: float) -> SiteWait:
        """The wait for a site that is out: until a paper comes back to it."""
        now = time.time()
        again = outage.again if outage.again > now else now + due_s
        site = self._site_name(outage.via, outage.tag)
        return SiteWait(
            site,
            outage.papers,
            format_timestamp(again),
            format_timestamp(outage.since),
            outage.said,
        )

    def _site_name(self, via: str, tag: str = "") -> str:
        """Return the name of a rung's site."""
        if tag:
            return f"the site behind DOIs of {tag}"
        if via in BY_PUBLISHER and self._services[via] == "doi":
            return "the publishers' sites"
        service = self._services.get(via, "eutils")
        return urlsplit(str(getattr(self._settings, f"{service}_base_url"))).netloc


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a harvest.

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
    """Estimates rate and remaining time from the last half minute.

    Papers end in bursts, so the time at which all are through is smoothed: who looks twice sees it
    move, not jump.

    Parameters
    ----------
    every : dict of str to float, optional
        By lane, the seconds between two papers that its site allows: no estimate is faster.
    """

    def __init__(self, every: Mapping[str, float] | None = None) -> None:
        self._every = every or {}
        self._samples: deque[tuple[float, dict[str, int], int]] = deque(maxlen=120)
        self._through: float | None = None
        self._at = 0.0

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
        if times:
            times += [size * self._every.get(n, 0.0) for n, size in waiting.items()]
        eta = self._smooth(now, max(times) if times and seconds > _TOO_EARLY_S else None)
        return Progress(job, rate, eta, {n: size for n, size in waiting.items() if size}, later[0])

    def _smooth(self, now: float, seconds: float | None) -> float | None:
        """The seconds left, between what was expected so far and what is measured now.

        Where nothing can be measured for a while, what was expected stands until it is over.
        """
        passed, self._at = now - self._at, now
        if seconds is not None and self._through is None:
            self._through = now + seconds
        elif seconds is not None and self._through is not None:
            weight = 1 - math.exp(-passed / _SETTLES_S)
            self._through += weight * (now + seconds - self._through)
        elif self._through is not None and self._through <= now:
            self._through = None
        return None if self._through is None else max(0.0, self._through - now)
