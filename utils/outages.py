"""Which sites are out for now: asked no more until there is hope, one paper at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from .steady_clock import SteadyClock

_FAILURES = 3  # in a row: one may be the paper's, three are the site's
_PAUSE_S = 30.0
_HOPES = 3


@dataclass(slots=True)
class _Site:
    failures: int = 0
    until: float = 0.0
    tried: bool = False  # somebody was let through, and has not said what he found
    trials: int = 0


class Outages:
    """What a run has learnt of sites that do not answer.

    A service may lead to many hosts, told apart by a tag. It is out for a tag when that host is, or
    when the service itself is, which has the empty tag.
    """

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], _Site] = {}
        self._clock = SteadyClock()
        self._lock = threading.Lock()

    def away_s(self, via: str, tag: str) -> float:
        """Seconds until this site may be asked again; 0 now."""
        with self._lock:
            now = self._clock.now()
            return max((max(0.0, site.until - now) for site in self._out(via, tag)), default=0.0)

    def hopeful(self, via: str, tag: str) -> bool:
        """Whether somebody is trying just now if a site that was out is there again.

        After a few trials in vain nobody waits for the next one any more.
        """
        with self._lock:
            return any(site.tried and site.trials <= _HOPES for site in self._out(via, tag))

    def may_ask(self, via: str, tag: str) -> bool:
        """Whether to ask this site now.

        Whoever asks first after a pause is let through, and the others wait for what he finds.
        """
        with self._lock:
            now, out = self._clock.now(), self._out(via, tag)
            if any(now < site.until for site in out):
                return False
            for site in out:
                site.until, site.tried = now + _PAUSE_S, True
                site.trials += 1
            return True

    def answered(self, via: str, tag: str) -> None:
        """The site is there, and so is the service that leads to it."""
        with self._lock:
            for key in {(via, ""), (via, tag)}:
                self._sites.pop(key, None)

    def failed(self, via: str, tag: str, told_s: float = 0.0) -> None:
        """The site did not answer, or *told* us how long to stay away."""
        with self._lock:
            site = self._sites.setdefault((via, tag), _Site())
            site.failures = _FAILURES if told_s else site.failures + 1
            site.until = max(site.until, self._clock.now() + max(_PAUSE_S, told_s))
            site.tried = False
            if tag:  # a host was found, so the service that leads there answered
                self._sites.pop((via, ""), None)

    def _out(self, via: str, tag: str) -> list[_Site]:
        """What is out: the service, the host, both, or nothing."""
        sites = (self._sites.get(key) for key in {(via, ""), (via, tag)})
        return [site for site in sites if site and site.failures >= _FAILURES]
