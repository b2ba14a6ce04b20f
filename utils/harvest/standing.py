"""The status of a running harvest: counts, time to go, and the sites that papers wait for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from ..download.ladder import Rung
from ..model.job import Wait
from ..model.paper import moment
from ..store.ledger import Ledger
from ..web import Web
from .lanes import Lanes
from .outages import BY_PUBLISHER, Outage, Outages
from .progress import Progress, ProgressMeter

_SOON_S = 20.0  # what is through so soon is worth no word


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
        self._every = {rate.bucket: seconds for rate, seconds in web.pace.intervals()}
        self._meter = ProgressMeter()
        self._published: tuple[Wait, ...] = ()
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

    def _slow_site(self, progress: Progress) -> list[Wait]:
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
        return [Wait(self._site_name(via), papers, moment(self._done_at))]

    def _wait_for(self, outage: Outage, due_s: float) -> Wait:
        """The wait for a site that is out: until a paper comes back to it."""
        now = time.time()
        again = outage.again if outage.again > now else now + due_s
        site = self._site_name(outage.via, outage.tag)
        return Wait(site, outage.papers, moment(again), moment(outage.since), outage.said)

    def _site_name(self, via: str, tag: str = "") -> str:
        """Where a rung asks."""
        if tag:
            return f"the site behind DOIs of {tag}"
        if via in BY_PUBLISHER and self._services[via] == "doi":
            return "the publishers' sites"
        service = self._services.get(via, "eutils")
        return urlsplit(str(getattr(self._settings, f"{service}_base_url"))).netloc
