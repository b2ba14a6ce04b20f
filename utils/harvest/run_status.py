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

_MIN_REPORTED_WAIT_S = 20.0  # a wait shorter than this is not reported
_RATE_WINDOW_S = 30.0
_MIN_MEASURED_S = 5.0  # before that, an estimate of the remaining time is unreliable
_SMOOTHING_S = 20.0  # time constant: after it, the new estimate counts for two thirds


class StatusReporter:
    """Reports the status of one run, and writes its waits into the ledger for other processes.

    Parameters
    ----------
    ledger : Ledger
    lanes : Lanes
    outages : Outages
    rungs : Sequence[Rung]
        The rungs after whose routes the lanes are named.
    web : Web
        Provides the addresses and rate limits of the sites.
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

    def update_progress(self) -> Progress:
        """Return the counts, the remaining time and the sites that the run waits for."""
        later = self._lanes.count_postponed()
        job, done = self._ledger.read_job(), self._lanes.count_done()
        progress = self._meter.add_sample(job, done, self._lanes.count_waiting(), later)
        out = [self._outage_to_wait(outage, later[1]) for outage in self._outages.list_outages()]
        slow = self._find_slow_site(progress)
        if (*out, *slow) != self._published:
            self._published = (*out, *slow)
            self._ledger.record_site_waits(self._published)
        parked = bool(progress.later and not progress.waiting and later[1] > _MIN_REPORTED_WAIT_S)
        job = replace(job, waits=self._published)
        return replace(progress, job=job, only_waits=bool(slow) or parked)

    def _find_slow_site(self, progress: Progress) -> list[SiteWait]:
        """Return a wait for the only site that still has papers, unless it is nearly done."""
        waiting = progress.waiting or {}
        if len(waiting) != 1:
            return []
        [(via, papers)] = waiting.items()
        eta_s = max(progress.eta_s or 0.0, papers * self._every.get(via, 0.0))
        if via not in self._services or eta_s < _MIN_REPORTED_WAIT_S:
            return []
        through = time.time() + eta_s
        if (
            abs(through - self._done_at) > _MIN_REPORTED_WAIT_S
        ):  # else each call would report a new wait
            self._done_at = through
        return [SiteWait(self._get_site_name(via), papers, format_timestamp(self._done_at))]

    def _outage_to_wait(self, outage: Outage, due_s: float) -> SiteWait:
        """Return the wait for a site that is unavailable: until a paper returns to the site."""
        now = time.time()
        again = outage.again if outage.again > now else now + due_s
        site = self._get_site_name(outage.via, outage.tag)
        return SiteWait(
            site,
            outage.papers,
            format_timestamp(again),
            format_timestamp(outage.since),
            outage.said,
        )

    def _get_site_name(self, via: str, tag: str = "") -> str:
        """Return the name of a rung's site."""
        if tag:
            return f"the publisher's site for DOIs with prefix {tag}"
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
        The job with its current counts.
    rate : float
        Papers finished per second, over the last half minute.
    eta_s : float or None
        Seconds until the slowest lane finishes at its present pace; None while unknown.
    waiting : dict
        By site, the count of papers that are queued or under way.
    later : int
        Papers that wait for a site that was unavailable.
    only_waits : bool
        True if all remaining papers wait for one slow site, or for sites that are unavailable.
    unread : int
        Texts that waited for a CPU core throughout the last seconds: reading is the bottleneck.
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

    Papers finish in bursts, so the expected finishing time is smoothed.

    Parameters
    ----------
    every : dict of str to float, optional
        By lane, the minimum seconds between two papers at its site: no estimate is faster.
    """

    def __init__(self, every: Mapping[str, float] | None = None) -> None:
        self._every = every or {}
        self._samples: deque[tuple[float, dict[str, int], int]] = deque(maxlen=120)
        self._through: float | None = None
        self._at = 0.0

    def add_sample(
        self,
        job: Job,
        done: dict[str, int],
        waiting: Mapping[str, int],
        later: tuple[int, float],
    ) -> Progress:
        """Add a sample, and return the progress measured since the oldest sample.

        Parameters
        ----------
        job : Job
        done, waiting : dict
            By lane, the count of finished papers, and of those queued or under way.
        later : tuple
            The count of postponed papers, and the seconds until the first is due.
        """
        ended = job.counts.requested - job.counts.pending
        now = time.monotonic()
        while self._samples and now - self._samples[0][0] > _RATE_WINDOW_S:
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
        eta = self._smooth_eta(now, max(times) if times and seconds > _MIN_MEASURED_S else None)
        return Progress(job, rate, eta, {n: size for n, size in waiting.items() if size}, later[0])

    def _smooth_eta(self, now: float, seconds: float | None) -> float | None:
        """Return the seconds left, smoothed between the earlier expectation and the new estimate.

        While nothing can be measured, the earlier expectation holds until its time has passed.
        """
        passed, self._at = now - self._at, now
        if seconds is not None and self._through is None:
            self._through = now + seconds
        elif seconds is not None and self._through is not None:
            weight = 1 - math.exp(-passed / _SMOOTHING_S)
            self._through += weight * (now + seconds - self._through)
        elif self._through is not None and self._through <= now:
            self._through = None
        return None if self._through is None else max(0.0, self._through - now)
