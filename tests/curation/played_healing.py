"""Two years of a shelf whose papers open one after another, played with a process that is killed.

Of every 60 papers 16 open (26.7 %: the share of "abstract only" entries for which one project found
a text when it asked again), in all ways at once: PMC releases them or takes them in, Semantic
Scholar names a copy at a repository or at HAL, a day comes that Unpaywall or a licence had named,
the article of a preprint appears, a manuscript or a doubtful text is replaced. Eight more get a
link that leads to no text. The process looks every day, and is killed in the middle of a run, again
and again; the run of the next day goes on.

``python -m tests.curation.played_healing [KILL_SHARE]`` plays both years and prints the result.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from quality.benchmarks.harvest_verdict import WHOLE, share_of
from tests.processes import Process
from tests.repeats import questions
from tests.shelf.papers import document, fetched
from tests.world import Record, World
from tests.world.archives import keep
from tests.world.records import Corpus
from utils import Library
from utils.model.identifiers import Ids
from utils.model.paper import format_timestamp

DAYS, LATE_DAYS, DAY_S = 730, 30, 86_400
_ROOT = Path(__file__).resolve().parents[2]
_INDEXES = frozenset(("eutils", "semantic_scholar", "openalex", "idconv"))
_COPIES = frozenset(("copy", "unpaywall_day"))  # accepted manuscripts at repositories
_DATED = {"unpaywall_day": "unpaywall", "licence_day": "mined"}
# How many of 60 papers open in which way; each way's own changes are in `_Opening.changes`.
_WAYS = {
    "embargo": 2, "in_pmc": 2, "copy": 3, "at_hal": 1, "unpaywall_day": 2, "licence_day": 1,
    "article": 2, "manuscript": 2, "doubtful": 1, "dead_link": 8,
}  # fmt: skip


@dataclass
class Paper:
    """A paper of the play: what is on the shelf first, and the day and way in which it opens."""

    record: Record
    way: str = ""
    day: int = -1
    article: Record | None = None

    @property
    def opened(self) -> Record:
        """The record whose text is to be found."""
        return self.article or self.record


@dataclass
class Result:
    """What the two years brought."""

    papers: int
    days: int
    opened: int = 0
    gained: int = 0
    late: int = 0
    missed: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    requests: int = 0
    kills: int = 0
    asked_again: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """The part of the opened papers that was found within `LATE_DAYS`."""
        return (self.gained - self.late) / self.opened

    @property
    def requests_per_run(self) -> float:
        """The requests for a paper and a day's run."""
        return self.requests / (self.papers * self.days)


class Play:
    """The world, the shelf, and the process that looks for texts."""

    def __init__(
        self, world: World, folder: Path, *, days: int = DAYS, size: int = 60, seed: int = 41
    ) -> None:
        self.world, self.folder, self.chance = world, folder, random.Random(seed)
        self.days = days
        world.corpus = Corpus(world.corpus.records)
        addresses = {name.lower(): value for name, value in world.environment().items()}
        places = {"papers_dir": folder / "papers", "papers_pace_dir": folder / "pace"}
        self.settings = {**addresses, **places, "papers_recheck_per_day": 5000}
        self.start = time.time()
        self.papers = [self._make_paper(at) for at in range(size)]
        self._choose_ways()
        self._fill_shelf()
        self.before = len(world.requests)

    def _make_paper(self, at: int) -> Paper:
        title = f"Ripple coupling and memory consolidation in cohort {at}"
        names = {"pmid": f"4199{at:04}", "doi": f"10.9101/j.{at}", "title": title}
        return Paper(replace(self.world.paper("paywall"), **names))

    def _choose_ways(self) -> None:
        ways = [way for way, count in _WAYS.items() for _ in range(count * len(self.papers) // 60)]
        for paper, way in zip(self.chance.sample(self.papers, len(ways)), ways, strict=True):
            paper.way, paper.day = way, self.chance.randrange(1, self.days - LATE_DAYS)
            number = paper.record.pmid
            day = format_timestamp(self.start + paper.day * DAY_S)[:10]
            record = paper.record
            if way == "embargo":
                record = replace(record, pmcid=f"PMC{number}", efetch="front", released=day)
            elif way == "at_hal":
                record = keep(record, "hal", page="paywall", unpaywall="closed")
            elif way in _DATED:
                value = f"later {day}" if way == "unpaywall_day" else f"crossref_later {day}"
                record = replace(record, **{_DATED[way]: value})
            elif way == "manuscript":
                manuscript = self.world.paper("pmc_manuscript")
                record = replace(record, pmcid=f"PMC{number}", manuscript=True, license="TDM",
                    cloud=manuscript.cloud, efetch="body", europepmc=True)  # fmt: skip
            elif way == "article":
                server, paper.article = self.world.paper("preprint").journal, record
                record = replace(record, pmid="", doi=f"10.1101/2025.03.14.{number[-6:]}",
                    journal=server, types=("Preprint",), preprint=f"PPR{number}", europepmc=True,
                    page="captcha")  # fmt: skip
            paper.record = record

    def _fill_shelf(self) -> None:
        for paper in self.papers:
            self._publish(paper.record)
            if paper.article:
                self._publish(paper.article)
        library = Library(**self.settings)
        for paper in self.papers:
            stored = library.download(paper.record.pmid or paper.record.doi).stored
            stands_in = paper.way in {"article", "manuscript"}
            assert stored.kind == ("full_text" if stands_in else "abstract"), (paper, stored)
            if paper.way == "doubtful":
                doubtful = document(body_words=1200, verdict="doubtful", evidence="columns mixed")
                library.shelf.save_full_text(
                    stored.paper, doubtful, fetched(), source="DOI", attempts=()
                )
        library.close()

    def _publish(self, record: Record, **changes: Any) -> Record:
        """Change a paper of the world."""
        changed, corpus = replace(record, **changes), self.world.corpus
        if changed.pmid:
            corpus.by_pmid[changed.pmid] = changed
        if changed.pmcid:
            corpus.by_pmcid[changed.pmcid] = changed
        corpus.by_doi[changed.doi.lower()] = changed
        kept = [one for one in corpus.records if one.doi.lower() != changed.doi.lower()]
        corpus.records = [*kept, changed]
        return changed

    def _open(self, paper: Paper) -> None:
        number, record = paper.record.pmid, paper.record
        changes: dict[str, dict[str, Any]] = {
            "embargo": {"efetch": "body"},
            "in_pmc": {"pmcid": f"PMC{number}", "efetch": "body"},
            "copy": {"scholar": "copy"},
            "at_hal": {"scholar": "hal"},
            "unpaywall_day": {"unpaywall": "pdf", "scholar": "doi"},
            "licence_day": {},
            "manuscript": {"scholar": "publisher", "page": "pdf"},
            "doubtful": {"scholar": "publisher", "page": "pdf"},
            "dead_link": {"scholar": "copy", "unpaywall": "fake_pdf"},
        }
        if paper.article:
            self._publish(record, scholar=f"article {paper.article.doi}")
            paper.article = self._publish(paper.article, page="article")
        else:
            paper.record = self._publish(record, **changes[paper.way])

    def run(self, kill_share: float) -> Result:
        """Play all days; of the days with work, about this share ends with a kill."""
        result, process = Result(len(self.papers), self.days), None
        path = self.folder / "settings.json"
        path.write_text(json.dumps(self.settings, default=str), encoding="utf-8")
        for day in range(1, self.days + 1):
            for paper in self.papers:
                if paper.day == day:
                    self._open(paper)
            process = process or _start(path)
            at = self.chance.randrange(6) if self.chance.random() < kill_share else None
            if not self._look(process, day, at):
                result.kills += 1
                process.wait()
                process = None
        if process:
            process.end()
        self._measure(result)
        return result

    def _look(self, process: Process, day: int, kill_at: int | None) -> bool:
        """Let the process look on a day; False if it was killed after so many requests."""
        ended, killed = threading.Event(), threading.Event()
        pause = self.chance.random() * 0.03
        first = len(self.world.requests)

        def kill() -> None:
            while not ended.wait(0.001):
                if len(self.world.requests) - first > (kill_at or 0):
                    ended.wait(pause)
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    killed.set()
                    return

        watcher = threading.Thread(target=kill)
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{self.start + day * DAY_S}\n")
        process.stdin.flush()
        if kill_at is not None:
            watcher.start()
        is_done = any(line == "done\n" for line in iter(process.stdout.readline, ""))
        ended.set()
        if kill_at is not None:
            watcher.join()
        assert is_done or killed.is_set(), "the process ended by itself"
        return not killed.is_set()

    def _measure(self, result: Result) -> None:
        """Compare the shelf with what opened, and count the requests."""
        library = Library(**self.settings)
        for paper in self.papers:
            stored = library.shelf.find_text(Ids(doi=paper.opened.doi))
            version = "accepted" if paper.way in _COPIES else "published"
            new = stored and stored.kind == "full_text" and stored.version == version
            if paper.way in ("", "dead_link"):
                result.false += [paper.opened.doi] * bool(new)
                continue
            result.opened += 1
            if not (stored and new) or stored.is_doubtful:
                result.missed.append(f"{paper.way} {paper.opened.doi}")
                continue
            result.gained += 1
            saved = datetime.fromisoformat(stored.saved_at).timestamp()
            result.late += (saved - self.start) / DAY_S - paper.day > LATE_DAYS
            text = library.shelf.read_text(stored)
            result.false += [paper.opened.doi] * (share_of(paper.opened, text) < WHOLE)
        library.close()
        asked = self.world.requests[self.before :]
        result.requests = len(asked)
        for (host, *_), count in questions(asked).items():
            if host not in _INDEXES and count > 1:
                result.asked_again[host] += count - 1


def main() -> None:
    """Play both years, and print what they brought."""
    with World() as world, tempfile.TemporaryDirectory() as folder:
        result = Play(world, Path(folder)).run(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
    sys.stdout.write(f"{result}\n{result.share:.2f} found in time, ")
    sys.stdout.write(f"{result.requests_per_run:.3f} requests a paper and run\n")


def _start(path: Path) -> Process:
    command = [sys.executable, "-m", "tests.curation.healing_process", str(path)]
    pipe = subprocess.PIPE
    return Process(command, text=True, stdin=pipe, stdout=pipe, cwd=_ROOT)


if __name__ == "__main__":
    main()
