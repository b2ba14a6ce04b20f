"""Which sites are out for now: asked no more until there is hope, one paper at a time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

_FAILURES = 3  # in a row: one may be the paper's, three are the site's
_PAUSE_S = 30.0


@dataclass(slots=True)
class _Site:
    failures: int = 0
    until: float = 0.0


class Outages:
    """What a run has learnt of sites that do not answer. Times are those of `time.time`."""

    def __init__(self) -> None:
        self._sites: dict[tuple[str, str], _Site] = {}
        self._lock = threading.Lock()

    def until(self, via: str, tag: str) -> float:
        """When this site may be asked again; 0 now.

        Whoever asks first after a pause is let through, and the others wait for what he finds.
        """
        with self._lock:
            site = self._sites.get((via, tag))
            if site is None or site.failures < _FAILURES:
                return 0.0
            if time.time() >= site.until:
                site.until = time.time() + _PAUSE_S
                return 0.0
            return site.until

    def answered(self, via: str, tag: str) -> None:
        """The site is there."""
        with self._lock:
            self._sites.pop((via, tag), None)

    def failed(self, via: str, tag: str, told_s: float = 0.0) -> None:
        """The site did not answer, or *told* us how long to stay away."""
        with self._lock:
            site = self._sites.setdefault((via, tag), _Site())
            site.failures = _FAILURES if told_s else site.failures + 1
            site.until = max(site.until, time.time() + max(_PAUSE_S, told_s))
