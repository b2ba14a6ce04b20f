"""The ladder: from what is known about a paper to its text on the shelf, rung by rung.

A rung is one route to full text. It is asked for one paper, or for a batch where its site takes
batches; the first text that two judges call the whole paper and this paper is kept, every attempt
is written down, and what was something else goes to the quarantine. At the top there is the
abstract to settle for.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from . import formats
from .errors import BadContent, Miss, NotConfigured, NotFound, NotOffered, PaperError, Unreachable
from .identifiers import Ids
from .paper import Attempt, Author, Document, Fetched, Paper, StoredPaper, now
from .paper_lookup import with_registered_terms
from .sources import Route, Source
from .store import ADOPTED, Shelf
from .web import Web

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rung:
    """One route to full text, and the site it belongs to."""

    route: Route
    source: Source

    @property
    def via(self) -> str:
        """Its name."""
        return self.route.via


@dataclass(slots=True)
class Climb:
    """One paper on one rung: what was tried there, and the text if it was found.

    ``known`` says whether ``paper`` is a record, or only the identifiers somebody gave;
    ``stay_away_s`` how many seconds the site asked not to be asked again; ``service_down`` whether
    it was the rung's own service that did not answer, not one of the hosts it leads to.
    """

    paper: Paper
    known: bool = True
    attempts: list[Attempt] = field(default_factory=list)
    fetched: Fetched | None = None
    document: Document | None = None
    stay_away_s: float = 0.0
    service_down: bool = False
    _began: float = field(default_factory=time.monotonic)

    def note(self, via: str, outcome: str, detail: str, url: str = "", status: int = 0) -> None:
        """Write an attempt down, with the time since the last one."""
        instant = time.monotonic()
        seconds, self._began = round(instant - self._began, 3), instant
        self.attempts.append(Attempt(via, outcome, detail, url, status=status, seconds=seconds))


@dataclass(frozen=True)
class Ladder:
    """Who is asked for full text, in which order, and where it goes.

    Parameters
    ----------
    sources : Sequence[Source]
        All of them: lookups are tried in this order.
    order : Sequence[str]
        Names of the sources whose routes are climbed, from ``PAPERS_SOURCES``.
    read : callable, optional
        Makes text of what a site sent and judges it; a bulk run does so in other processes.
    """

    web: Web
    shelf: Shelf
    sources: Sequence[Source]
    order: Sequence[str]
    read: Callable[[Fetched, Paper], Document] = formats.read
    # Many more than threads: two papers that share one only wait for each other.
    _locks: Sequence[threading.Lock] = field(
        default_factory=lambda: [threading.Lock() for _ in range(1024)], repr=False
    )

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """From the first to be asked to the last."""
        named = {source.name: source for source in self.sources}
        chosen = [named[name] for name in self.order]
        return tuple(Rung(route, source) for source in chosen for route in source.routes)

    def rungs_for(self, *, prefer_pmc: bool = True) -> list[Rung]:
        """The rungs as one caller wants them: False puts the publisher's side first."""
        return sorted(self.rungs, key=lambda rung: not prefer_pmc and rung.source.label != "DOI")

    def held(self, ids: Ids) -> StoredPaper | None:
        """The copy on the shelf, if it may be served without asking anybody.

        What was rejected never is.
        """
        stored = self.shelf.find(ids)
        if stored is None or stored.kind == "rejected":
            return None
        if stored.kind != "full_text" and self._worth_trying_again(stored):
            return None
        return stored

    def climb(self, paper: Paper, known: bool, *, prefer_pmc: bool = True) -> StoredPaper:
        """Get one paper's text and keep it.

        Parameters
        ----------
        paper : Paper
        known : bool
            Whether *paper* is a record, or only the identifiers somebody gave.
        prefer_pmc : bool, optional
            False asks the publisher's side first.

        Raises
        ------
        NotFound
            No text, and nobody knows the paper.
        """
        attempts: list[Attempt] = []
        for rung in self.rungs_for(prefer_pmc=prefer_pmc):
            if reason := self.closed(rung, paper):
                attempts.append(Attempt(rung.via, "skipped", reason))
                continue
            [climb] = self.ask(rung, [Climb(paper, known)])
            attempts += climb.attempts
            if climb.document:
                return self.keep(rung, climb, attempts)
        if not known:
            msg = f"No text of {paper.ids} could be had in {len(attempts)} attempts."
            raise NotFound(msg, attempts=[asdict(attempt) for attempt in attempts])
        return self.settle(paper, attempts)

    def lock(self, paper: Paper) -> threading.Lock:
        """Held while a paper is climbed for, so that nobody here fetches it a second time."""
        return self._locks[hash(paper.ids.key) % len(self._locks)]

    def closed(self, rung: Rung, paper: Paper) -> str:
        """Why a rung need not be tried for this paper; empty when it should be."""
        route = rung.route
        if not any(getattr(paper.ids, name) for name in route.needs):
            return f"the paper has no {' or '.join(route.needs)}"
        if route.key and not self.web.settings.key(route.key):
            return f"needs {route.key.upper()}"
        if rung.source.label == "PMC" and paper.released > now()[:10]:
            return f"embargoed until {paper.released}"
        return ""

    def ask(self, rung: Rung, climbs: Sequence[Climb]) -> Sequence[Climb]:
        """Ask one rung for papers (no more than its batch), and note what came of it in each."""
        wanted = {climb.paper.ids: climb for climb in climbs}
        left = dict(wanted)
        asked = [climb.paper for climb in climbs]
        for paper, candidate, down in _candidates(rung.route, asked, self.web):
            climb = wanted[paper.ids]
            climb.service_down = down
            if climb.document is None and self._judged(rung, climb, candidate):
                del left[paper.ids]
            if not left:
                break  # a route is a generator: what nobody asks for is not fetched
        for climb in left.values():
            if not climb.attempts:
                climb.note(rung.via, NotOffered.outcome, f"{rung.via} found nothing.")
        return climbs

    def _judged(self, rung: Rung, climb: Climb, candidate: Fetched | Miss) -> bool:
        """Whether a candidate is the paper; if not, why not is noted."""
        if isinstance(candidate, Miss):
            status = int(candidate.details.get("status", 0))
            if isinstance(candidate, Unreachable):
                climb.stay_away_s = max(climb.stay_away_s, candidate.retry_after)
            climb.note(rung.via, candidate.outcome, str(candidate), status=status)
            return False
        try:
            document = self.read(candidate, climb.paper)
            self._not_refused(climb.paper.ids, document)
        except BadContent as bad:
            self.shelf.quarantine(climb.paper.ids, candidate, bad.outcome, bad.message)
            climb.note(rung.via, bad.outcome, str(bad), candidate.url, candidate.status)
            return False
        climb.note(rung.via, "saved", document.evidence, candidate.url, candidate.status)
        climb.fetched, climb.document = candidate, document
        return True

    def _not_refused(self, ids: Ids, document: Document) -> None:
        if because := self.shelf.verdicts.refused(ids, document):
            msg = f"Somebody rejected this very text of {ids}: {because}"
            hint = f"To have it judged again: server.py keep '{ids.key}' --undo"
            raise BadContent(msg, hint, verdict="by_hand", evidence=because)

    def keep(self, rung: Rung, climb: Climb, attempts: Sequence[Attempt]) -> StoredPaper:
        """Put the text that was found on the shelf, with all *attempts* that led to it."""
        paper, fetched, document = climb.paper, climb.fetched, climb.document
        assert fetched
        assert document
        if not climb.known:
            paper = _from_document(paper, document)
        if not document.license:
            paper = with_registered_terms(paper, self.web, self.sources)
            document = replace(document, license=formats.best_license(paper.license))
        label = rung.source.label
        return self.shelf.save(paper, document, fetched, source=label, attempts=attempts)

    def settle(self, paper: Paper, attempts: Sequence[Attempt]) -> StoredPaper:
        """No full text to be had now: keep the abstract, or the full text that was there before."""
        held = self.shelf.find(paper.ids)
        if held and held.kind == "full_text":
            return replace(held, attempts=tuple(attempts))
        return self.shelf.save_abstract(paper, attempts, via=paper.recorded_by or "pubmed")

    def _worth_trying_again(self, stored: StoredPaper) -> bool:
        if self.web.settings.papers_offline:
            return False
        if not stored.attempts and stored.via != ADOPTED:
            return True  # a harvest put it there first, and had not asked anybody for the text yet
        rungs = {rung.via: rung for rung in self.rungs}
        for attempt in stored.attempts:  # a rung opened since: a new PMCID, a key, an embargo over
            rung = rungs.get(attempt.source)
            if attempt.outcome == "skipped" and rung and not self.closed(rung, stored.paper):
                return True
        days = timedelta(days=self.web.settings.papers_retry_abstract_days)
        return datetime.fromisoformat(stored.saved_at) + days <= datetime.now(UTC)


def _candidates(
    route: Route, papers: Sequence[Paper], web: Web
) -> Iterator[tuple[Paper, Fetched | Miss, bool]]:
    """What a route has to offer, and whether that is the news that its service is down.

    A miss that is raised ends the route: it is its last word on all papers asked for.

    A batch that fails for what is in it is asked again in halves.
    """
    down = False
    try:
        yield from ((paper, candidate, False) for paper, candidate in route.fetch(papers, web))
        return
    except Miss as error:
        miss, down = error, isinstance(error, Unreachable)
        divisible = isinstance(error, BadContent) or error.details.get("status") == 400
    except NotConfigured as missing:
        miss, divisible = NotOffered(missing.message, missing.hint), False
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        log.exception("%s answered in a form we do not understand", route.via)
        msg = f"{route.via} answered in a form we do not understand ({type(error).__name__})."
        miss, divisible = Unreachable(msg, "Update Papershelf, or report this."), True
    if divisible and len(papers) > 1:
        middle = len(papers) // 2
        yield from _candidates(route, papers[:middle], web)
        yield from _candidates(route, papers[middle:], web)
    else:
        yield from ((paper, miss, down) for paper in papers)


def may_climb_unknown(ids: Ids, why: PaperError) -> bool:
    """Texts that carry these identifiers themselves can be recognised without a record.

    Without an address, only those are tried that nobody needs an address for.
    """
    if isinstance(why, NotConfigured):
        return bool(ids.pmcid or ids.arxiv)
    return isinstance(why, Unreachable) and bool(ids.pmcid or ids.doi or ids.arxiv)


def _from_document(paper: Paper, document: Document) -> Paper:
    """Where nobody could be asked what the paper is, the text itself says it."""
    return replace(
        paper,
        ids=paper.ids | document.ids,
        title=document.title,
        abstract=document.abstract,
        authors=tuple(Author(family=name) for name in document.authors),
    )
