"""The stand-in internet as a process of its own, and what it says of a visitor afterwards.

A process of its own, so that neither its memory nor its threads are taken for the visitor's.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.repeats import repeats
from tests.world.requests_seen import Request

ROOT = Path(__file__).resolve().parents[2]
LATENCY = 0.15
# The longest way of one paper: search, record, checksum list, JATS, Unpaywall, DOI, page, PDF.
CHAIN = 8
# Seconds between two requests that the published limits leave, by host; `tests/world/limits.py`.
# The ID Converter counts to NCBI. S3 answers sixteen at once, doi.org names no limit.
INTERVALS = {
    "ncbi": 1 / 3,
    "pmc_cloud": LATENCY / 16,
    "europepmc": 1 / 5,
    "unpaywall": 1 / 10,
    "crossref": 1 / 10,
    "arxiv": 3.0,
    "jina_reader": 60 / 20,
    "semantic_scholar": 1.0,
    "openalex": 1 / 100,
    "openalex_content": 1 / 10,
    "core": 60 / 10,
    "elsevier": 1 / 10,
    "springer": 60 / 100,
    "wiley": 600 / 60,
    **dict.fromkeys(("meadow", "harbour", "summit", "repository", "core_files"), 1.0),
}
_NCBI = {"eutils": "ncbi", "idconv": "ncbi"}


@dataclass(frozen=True)
class Traffic:
    """What a visitor asked: requests by host, how many too many, how many under way at once.

    ``repeats`` are questions asked before; of a batch each identifier is a question.
    """

    hosts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    peaks: Counter[str] = field(default_factory=Counter)
    repeats: Counter[str] = field(default_factory=Counter)

    @property
    def ncbi(self) -> int:
        """Requests that NCBI counts."""
        return self.hosts["eutils"] + self.hosts["idconv"]

    def bounds(self) -> dict[str, float]:
        """Seconds in which each host could have answered that much, the slowest first."""
        counted: Counter[str] = Counter()
        for host, requests in self.hosts.items():
            counted[_NCBI.get(host, host)] += requests
        seconds = {
            host: (requests - 1) * INTERVALS.get(host, 0.0) for host, requests in counted.items()
        }
        return dict(sorted(seconds.items(), key=lambda pair: -pair[1]))

    def bound(self) -> float:
        """Seconds below which nobody can come who asks that much: the busiest host, one way."""
        return max(self.bounds().values(), default=0.0) + CHAIN * LATENCY


class WorldProcess:
    """``python -m tests.world`` with a field, real latency and every limit enforced."""

    latency = LATENCY
    starts: tuple[str, ...] = (sys.executable, "-m", "tests.world")

    def __init__(self, papers: int, folder: Path, subscribed: str = "") -> None:
        self.papers = papers
        self.subscribed = subscribed
        self.folder = folder
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        names = self.folder / "world.env"
        command = [*self.starts, "--field", str(self.papers)]
        command += [
            "--latency",
            str(self.latency),
            "--env",
            str(names),
            "--record",
            str(self._record),
            "--subscribed",
            self.subscribed,
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        while not (names.exists() and names.read_text(encoding="utf-8").endswith("\n")):
            if self.process.poll() is not None:
                raise RuntimeError("the stand-in internet did not start")
            time.sleep(0.1)
        self.environment = dict(
            line.split("=", 1) for line in names.read_text(encoding="utf-8").splitlines()
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()

    @property
    def settings(self) -> dict[str, Any]:
        """The same for ``Library(**settings)``."""
        return {name.lower(): value for name, value in self.environment.items()}

    @property
    def _record(self) -> Path:
        return self.folder / "requests.jsonl"

    def traffic(self) -> Traffic:
        """What was asked; known when the world has ended."""
        traffic = Traffic()
        with self._record.open() as lines:
            asked = [Request(**row) for row in map(json.loads, lines)]
        for request in asked:
            host = request.host
            traffic.hosts[host] += 1
            traffic.peaks[host] = max(traffic.peaks[host], request.under_way)
            if request.refused:
                traffic.refused[host] += 1
        traffic.repeats.update(repeats(asked))
        return traffic
