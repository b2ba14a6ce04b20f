"""The stand-in internet: every service of the ladder on loopback, with its limits and bad moods.

>>> with World() as world:
...     sorted(world.environment())[0]
'ARCHIVE_BASE_URL'

It answers as the real services do in late 2026, error forms included, over a small corpus of
invented papers, or over recorded articles (``World(corpus=folder)``). Also run by hand:
``python -m tests.world``.
"""

import ssl
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.world import eutils as _eutils
from tests.world import jats_extras as jats_extras
from tests.world.citation_collection import Snapshot, small_snapshot
from tests.world.corpus import small_corpus
from tests.world.crowd import crowd as crowd_of
from tests.world.crowd import crowd_entry
from tests.world.field import Field, FieldEntry
from tests.world.hub import Repository
from tests.world.index import Entry, entry_of
from tests.world.limits import Gate, refusal
from tests.world.manners import Listener, dawdle
from tests.world.moods import MOODS, Mood
from tests.world.openalex import DAILY
from tests.world.pmc import Cloud
from tests.world.pubchem import Bench
from tests.world.pubmed_files import Bulk, small_bulk
from tests.world.records import Corpus
from tests.world.requests_seen import Request
from tests.world.services import SERVICES, SITES
from utils.demo.records import Record
from utils.demo.wire import TEXT, Call, Reply, text
from utils.model import sites

__all__ = ["Record", "Request", "World"]


class World:
    """All services of the ladder, each with its limits; started by ``with`` or `start`.

    Parameters
    ----------
    corpus
        A folder with ``articles.jsonl``; without one the small invented corpus is served.
    port
        Of the services; publishers get ports of their own. 0 takes any.
    crowd
        So many short PubMed records more (``crowd[ti]`` finds them): above 9,999 a search must be
        sliced.
    field
        So many whole papers more, to be had in every way there is (``field[ti]`` finds them).
    latency
        Real seconds every answer takes. In a world that takes its time, the clock is taken for
        real, and every limit is enforced; see `limits`.
    per_day
        So many of the *crowd* came in each day.
    tls
        With what every site is encrypted; plain without it.
    """

    def __init__(
        self,
        corpus: Path | None = None,
        port: int = 0,
        crowd: int = 0,
        field: int = 0,
        latency: float = 0,
        per_day: int = 100,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        if corpus:
            from tests.world.recorded import recorded_corpus

            self.corpus = recorded_corpus(corpus)
        else:
            self.corpus = small_corpus()
        self.field = Field(field)
        if crowd or field:
            self.corpus = Corpus([*self.corpus.records, *crowd_of(crowd, per_day)], self.field)
        self.latency = latency
        self.lock = threading.Lock()
        self.gate = Gate(strict=latency > 0)
        self.desk = _eutils.Desk(self.gate.window(1))
        self.pubchem = Bench()
        self.models: dict[str, Repository] = {}
        self._bulk: Bulk | None = None
        self.cloud = Cloud()
        self._snapshots: list[Snapshot] | None = None
        self.openalex_credits = DAILY
        self.subscribed: set[str] = set()
        self._requests: list[Request] = []
        self._moods: list[Mood] = []
        self._entries: list[Entry | FieldEntry] | None = None
        self._edited: dict[str, Record | None] = {}
        self._main = Listener(port, partial(self._answer, ""), tls)
        self._sites = {site: Listener(0, partial(self._answer, site), tls) for site in SITES}

    @property
    def papers(self) -> Sequence[Record]:
        """Every paper of this world."""
        return self.corpus.records

    def paper(self, branch: str) -> Record:
        """The first paper that exercises *branch*."""
        return self.corpus.branch(branch)

    @property
    def deserted(self) -> int:
        """How many answers nobody stayed to read to their end."""
        return sum(one.deserted for one in (self._main, *self._sites.values()))

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in the order in which they were answered."""
        with self.lock:
            return list(self._requests)

    @property
    def refused(self) -> Counter[str]:
        """How many requests were too many for a limit, by host."""
        return Counter(request.host for request in self.requests if request.refused)

    @property
    def peaks(self) -> dict[str, int]:
        """The most requests that were under way at once, by host."""
        peaks: Counter[str] = Counter()
        for request in self.requests:
            peaks[request.host] = max(peaks[request.host], request.under_way)
        return dict(peaks)

    def environment(self) -> dict[str, str]:
        """The settings that point Papershelf at this world, which has not all services."""
        of_sites = {place.service for site in sites.SITES for place in site.addresses}
        names = sorted(of_sites | {*SERVICES})
        urls = {f"{name.upper()}_BASE_URL": self.url(name) for name in names}
        return {**urls, "PAPERS_ALLOW_PRIVATE_NETWORK": "true", "PUBMED_EMAIL": "tester@lab.edu"}

    def url(self, name: str) -> str:
        """Base URL of a service or of a publisher's site."""
        return self._sites[name].url if name in self._sites else f"{self._main.url}/{name}"

    def mood(
        self,
        name: str,
        service: str = "",
        times: int | None = None,
        *,
        path: str = "",
        seconds: float = 2,
        to: str = "",
    ) -> None:
        """Misbehave: at *service* (all when empty), on URLs holding *path*, *times* times.

        ``seconds`` is what a storm asks to wait (0: it does not say), ``to`` where ``ssrf`` leads.
        """
        if name not in MOODS:
            raise ValueError(f"unknown mood {name!r}; known: {', '.join(MOODS)}")
        with self.lock:
            self._moods.append(Mood(name, service, path, times, seconds, to))

    def calm(self) -> None:
        """Behave again."""
        with self.lock:
            self._moods.clear()

    def reset(self) -> None:
        """Forget requests, moods, rates and histories, and what was done to PubMed."""
        self.calm()
        with self.lock:
            self._requests.clear()
            self._edited.clear()
            self.models.clear()
            self._bulk = self._snapshots = None
            self.cloud = Cloud()
            self.gate = Gate(strict=self.latency > 0)
            self.desk = _eutils.Desk(self.gate.window(1))
            self.pubchem = Bench()
            self.openalex_credits = DAILY
            self.subscribed.clear()

    @property
    def bulk(self) -> Bulk:
        """What lies in NLM's folder of PubMed's files; made of the papers when first asked for."""
        if self._bulk is None:
            self._bulk = small_bulk(self.corpus.by_pmid.values())
        return self._bulk

    @bulk.setter
    def bulk(self, bulk: Bulk) -> None:
        self._bulk = bulk

    @property
    def snapshots(self) -> list[Snapshot]:
        """NIH's collections of citations; made of the papers when first asked for."""
        if self._snapshots is None:
            self._snapshots = [small_snapshot(self)]
        return self._snapshots

    @snapshots.setter
    def snapshots(self, snapshots: list[Snapshot]) -> None:
        self._snapshots = snapshots

    def put(self, record: Record) -> None:
        """Have PubMed take in a record, or revise the one it has; until `reset`."""
        with self.lock:
            self._edited[record.pmid] = record

    def delete(self, pmid: str) -> None:
        """Have PubMed delete a record; until `reset`."""
        with self.lock:
            self._edited[pmid] = None

    def taken_in(self) -> list[Record]:
        """Records that PubMed took in since the world began, and that were no paper of it."""
        with self.lock:
            known = self.corpus.by_pmid
            return [r for pmid, r in self._edited.items() if r and known.get(pmid) is None]

    def entries(self) -> list[Entry | FieldEntry]:
        """The search index of PubMed, made when first asked for."""
        with self.lock:
            if self._entries is None:
                self._entries = [
                    crowd_entry(record) if record.branch == "crowd" else entry_of(record)
                    for record in self.corpus.by_pmid.values()
                ]
                self._entries += self.field.entries()
            if not self._edited:
                return self._entries
            edited = [entry_of(record) for record in self._edited.values() if record]
            return edited + [e for e in self._entries if e.pmid not in self._edited]

    def record(self, pmid: str) -> Record | None:
        """A PubMed record; leading zeros do not count."""
        pmid = pmid.lstrip("0")
        return self._edited[pmid] if pmid in self._edited else self.corpus.by_pmid.get(pmid)

    def start(self) -> Self:
        """Open all doors."""
        for listener in (self._main, *self._sites.values()):
            listener.open()
        return self

    def stop(self) -> None:
        """Close all doors."""
        for listener in (self._main, *self._sites.values()):
            listener.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _answer(self, site: str, call: Call) -> Reply:
        """Find the service, keep its limit, and write the request down."""
        if site:
            service = "repository" if site == "repository" else "publisher"
            call, handler = replace(call, service=service), SITES[site]
        else:
            service = call.path.split("/")[1] if "/" in call.path else ""
            call = replace(call, service=service, path=call.path.removeprefix(f"/{service}"))
            handler = SERVICES.get(service, _nowhere)
        host = site or service
        reply, under_way = self._in_turn(host, call, partial(handler, call, self))
        with self.lock:
            self._requests.append(
                Request(
                    call.at,
                    service,
                    call.method,
                    call.path,
                    call.params,
                    call.headers,
                    reply.status,
                    host,
                    reply.refused,
                    under_way,
                )
            )
        return reply

    def _in_turn(self, host: str, call: Call, answer: Callable[[], Reply]) -> tuple[Reply, int]:
        """Refuse what is too much, take the time an answer takes, let a mood have its way.

        Beside the answer, how many were under way at the host when it was asked.
        """
        gate = self.gate
        with self.lock:
            gate.under_way[host] += 1
            under_way = gate.under_way[host]
            wait = gate.enter(host, call)
        try:
            dawdle(self.latency)
            return (refusal(call, wait) if wait else self._in_mood(call, answer)), under_way
        finally:
            with self.lock:
                gate.under_way[host] -= 1

    def _in_mood(self, call: Call, answer: Callable[[], Reply]) -> Reply:
        with self.lock:
            moods = [mood for mood in self._moods if mood.meets(call) and mood.times != 0]
        for mood in moods:
            reply = MOODS[mood.name](mood, call, answer)
            if reply is not None:
                with self.lock:
                    mood.times = mood.times and mood.times - 1
                return reply
        return answer()


def _nowhere(call: Call, world: World) -> Reply:
    return text("No such service in this world.", TEXT, 404)
