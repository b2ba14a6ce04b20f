"""Which sites are out: after a pause they are tried again with one paper at a time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import NamedTuple

from ..model.sites import SITES
from ..system.steady_clock import SteadyClock

BY_PUBLISHER = frozenset(route.via for site in SITES if site.many_hosts for route in site.routes)
"""Rungs that lead to many hosts, told apart by the DOI."""

_FAILURES = 3  # in a row: one may be the paper's, three are the site's
_PAUSE_S = 30.0
_LATER_S = (30.0, 120.0)  # after what time papers come back to a site that was out
_HOPES = 3
_PATIENCE_S = 3000.0  # in all; less than the hour for which sites like to ban


@dataclass(slots=True)
class _Site:
    failures: int = 0
    since: float = 0.0
    until: float = 0.0
    trials: int = 0
    said: str = ""


class Outage(NamedTuple):
    """A site that is out: times in seconds of `time.time`, and how many papers wait for it."""

    via: str
    tag: str
    since: float
    again: float
    said: str
    papers: int


class Outages:
    """The sites that do not answer a run, and the papers that wait for them.

    A service may lead to many hosts, each with a tag. It is out for a tag when that host is, or
    when the service itself is, which has the empty tag.
    """

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], _Site] = {}
        self._clock = SteadyClock()
        self._owed: dict[int, dict[str, str]] = {}  # by paper: the rungs it owes, with their tags
        self._in_vain: set[int] = set()  # papers that asked one of these themselves
        self._returns: dict[int, int] = {}  # how often papers came back
        self._lock = threading.Lock()

    def away_s(self, via: str, tag: str) -> float:
        """Seconds until this site may be asked again; 0 now."""
        with self._lock:
            now = self._clock.now()
            return max((max(0.0, site.until - now) for site in self._out(via, tag)), default=0.0)

    def may_recover(self, via: str, tag: str) -> bool:
        """Whether a site that is out may recover soon: few have tried it in vain so far."""
        with self._lock:
            return any(site.trials <= _HOPES for site in self._out(via, tag))

    def is_away_too_long(self, via: str, tag: str) -> bool:
        """Whether a site asked to be left alone for longer than a run waits."""
        with self._lock:
            return any(site.until - site.since >= _PATIENCE_S for site in self._out(via, tag))

    def may_ask(self, via: str, tag: str) -> bool:
        """Whether to ask this site now.

        After a pause the first paper is let through, and the others wait for what comes of it.
        """
        with self._lock:
            now, out = self._clock.now(), self._out(via, tag)
            if any(now < site.until for site in out):
                return False
            for site in out:
                site.until = now + _PAUSE_S
                site.trials += 1
            return True

    def record_answer(self, via: str, tag: str) -> None:
        """Take note that a site answered, and so did the service that leads to it."""
        with self._lock:
            for key in {(via, ""), (via, tag)}:
                self._sites.pop(key, None)

    def record_failure(
        self, via: str, tag: str, stay_away_s: float = 0.0, said: str = "", *, itself: bool = True
    ) -> None:
        """Take note that a site did not answer, or asked us to stay away for *stay_away_s*.

        Its message *said* replaces an earlier one only if it came from the site *itself*.
        """
        with self._lock:
            site, now = self._sites.setdefault((via, tag), _Site()), self._clock.now()
            if site.failures < _FAILURES:
                site.since = now
            site.failures = max(_FAILURES, site.failures) if stay_away_s else site.failures + 1
            site.until = max(site.until, now + max(_PAUSE_S, stay_away_s))
            site.said = said if said and (itself or not site.said) else site.said
            if tag:  # a host was found, so the service that leads there answered
                self._sites.pop((via, ""), None)

    def owe(self, number: int, via: str, tag: str, *, in_vain: bool = False) -> set[str]:
        """Remember that a site could not be asked for a paper, or *in_vain*; all such sites."""
        with self._lock:
            self._in_vain.update({number} if in_vain else ())
            owed = self._owed.setdefault(number, {})
            owed[via] = tag
            return set(owed)

    def owed(self, number: int) -> set[str]:
        """Which sites could not be asked for a paper."""
        with self._lock:
            return set(self._owed.get(number, ()))

    def forgive(self, number: int) -> None:
        """Forget what a paper owes: it has ended, or is about to ask all sites again."""
        with self._lock:
            self._owed.pop(number, None)
            self._in_vain.discard(number)

    def return_delay_s(self, number: int, away_s: float, hopeful: bool) -> float:
        """Seconds until a paper asks the sites that were out again; 0 after its last return.

        Waiting for what another paper finds there does not count, while they may recover.
        """
        pause_s = 1.0
        with self._lock:
            returned = self._returns.get(number, 0)
            if not hopeful or number in self._in_vain:
                if returned == len(_LATER_S):
                    return 0.0
                self._returns[number], pause_s = returned + 1, _LATER_S[returned]
        return max(pause_s, away_s)

    def now(self) -> list[Outage]:
        """The sites that are out, those first for which most papers wait."""
        with self._lock:
            lag = time.time() - self._clock.now()
            found = [
                Outage(via, tag, site.since + lag, site.until + lag, site.said, papers)
                for (via, tag), site in self._sites.items()
                if site.failures >= _FAILURES and (papers := self._waiting(via, tag))
            ]
        return sorted(found, key=lambda outage: -outage.papers)

    def _waiting(self, via: str, tag: str) -> int:
        """How many papers owe this site a question."""
        return sum(via in owed and tag in ("", owed[via]) for owed in self._owed.values())

    def _out(self, via: str, tag: str) -> list[_Site]:
        """What is out: the service, the host, both, or nothing."""
        sites = (self._sites.get(key) for key in {(via, ""), (via, tag)})
        return [site for site in sites if site and site.failures >= _FAILURES]
