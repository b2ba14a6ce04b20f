"""The ladder: from what is known about a paper to its text on the shelf, rung by rung.

A rung is one route to full text. It is asked for one paper, or for a batch where its site takes
batches; the first text that two judges call the whole paper and this paper is kept, every attempt
is written down, and what was something else goes to the quarantine. At the top there is the
abstract to settle for.

A text of another version than the one asked for (`..model.versions`) is kept too, and the way goes
on: the rungs that only have such come last, and at the top it stands in for the text that was
meant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

from .. import formats
from ..errors import BadContent, Miss, NotConfigured, NotFound, NotOffered, PaperError, Unreachable
from ..model.identifiers import Ids
from ..model.paper import (
    UNTOLD,
    Attempt,
    Author,
    Document,
    Fetched,
    Paper,
    StoredPaper,
    Version,
    now,
    who_answered,
    within,
)
from ..model.versions import NAMES, OTHER_VERSION, fits, meant, only_a_preprint, serves, text_slot
from ..sources import Route, Source
from ..store import Shelf, goes_by_name, is_foreign, judged_anew
from ..web import Web, not_older_than
from .lookup import ask_in_halves, with_registered_terms

_DAY_S = 86400.0
_UNTOLD_S = 3600.0
"""Seconds until a site that could not tell is asked again: it may be there by then."""
_NO_ANSWER = UNTOLD | {"saved", "skipped"}
"""``saved`` by somebody who did not live to shelve it, or it was taken away since."""


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
    it was the rung's own service that did not answer, not one of the hosts it leads to. ``wants``
    is the version asked for.
    """

    paper: Paper
    known: bool = True
    wants: Version = "published"
    attempts: list[Attempt] = field(default_factory=list)
    fetched: Fetched | None = None
    document: Document | None = None
    stay_away_s: float = 0.0
    service_down: bool = False
    _began: float = field(default_factory=time.monotonic)

    @property
    def served(self) -> bool:
        """Whether a text was found, and in the version asked for."""
        found = self.document
        return found is not None and fits(self.wants, found.version, self.paper)

    def note(self, via: str, outcome: str, detail: str, url: str = "", status: int = 0) -> None:
        """Write an attempt down, with the time since the last one."""
        instant = time.monotonic()
        seconds, self._began = round(instant - self._began, 3), instant
        self.attempts.append(Attempt(via, outcome, detail, url, status=status, seconds=seconds))


@dataclass(slots=True)
class Way:
    """One paper on its way up: what is wanted of it, and everything that was tried for it.

    ``known`` and ``wants`` are as in `Climb`. ``answers`` names the rungs that need not be asked
    again, with those of their words that are not in ``tried`` yet. ``force`` asks also for what is
    on the shelf in another version.
    """

    paper: Paper
    known: bool
    wants: Version
    tried: list[Attempt] = field(default_factory=list)
    answers: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    force: bool = False


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

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """From the first to be asked to the last."""
        named = {source.name: source for source in self.sources}
        chosen = [named[name] for name in self.order]
        return tuple(Rung(route, source) for source in chosen for route in source.routes)

    def rungs_for(self, *, prefer_pmc: bool = True) -> list[Rung]:
        """The rungs as one caller wants them: False puts the publisher's side first."""
        return sorted(self.rungs, key=lambda rung: not prefer_pmc and rung.source.label != "DOI")

    def held(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """The copy on the shelf, if it may be served without asking anybody.

        *wants* is the version that *ids* mean unless said otherwise. What was rejected is never
        served.
        """
        wants = wants or meant(ids)
        stored = self.shelf.find(ids, wants)
        if stored is None or stored.kind == "rejected":
            return None
        if not serves(wants, stored) and self._worth_trying_again(stored):
            return None
        return stored

    def learn(self, stored: StoredPaper, paper: Paper) -> StoredPaper:
        """Add what is now known of a stored paper.

        A foreign file of which only its name told which paper it is, is held against the record:
        it may be rejected afterwards.
        """
        by_name = goes_by_name(stored)
        known = self.shelf.learn(stored, paper)
        text = self.shelf.read_text(known) if by_name and not goes_by_name(known) else ""
        if not text or not is_foreign(text):
            return known
        return self.shelf.verdicts.state(judged_anew(known, text, self.read))

    def climb(self, way: Way, *, prefer_pmc: bool = True) -> StoredPaper:
        """Get one paper's text and keep it; False for *prefer_pmc* asks the publisher's side first.

        Raises
        ------
        NotFound
            No text, and nobody knows the paper.
        """
        before = None if way.force else self.shelf.find(way.paper.ids, way.wants)
        way.answers = self._told(before) if before else {}
        with not_older_than(time.time() if way.force else 0.0):
            for rung in self.ahead(way, self.rungs_for(prefer_pmc=prefer_pmc)):
                [climb] = self.ask(rung, [Climb(way.paper, way.known, way.wants)])
                way.tried += climb.attempts
                if stored := self.take(rung, climb, way):
                    return stored
        if stored := self.settle(way.paper, way.tried, way.wants, way.known):
            return stored
        msg = f"No text of {way.paper.ids} could be had in {len(way.tried)} attempts."
        raise NotFound(msg, attempts=[asdict(attempt) for attempt in way.tried])

    # -- what one paper and thousands have in common -----------------------------------------

    def ahead(self, way: Way, rungs: Sequence[Rung]) -> Iterator[Rung]:
        """The rungs to be asked for a paper, in order; why the others need not be is noted."""
        for rung in for_version(way.wants, way.paper, rungs):
            if self._is_foreign(rung, way.paper):
                continue
            if reason := self.closed(rung, way.paper):
                way.tried.append(Attempt(rung.via, "skipped", reason))
            elif rung.via in way.answers:
                way.tried += way.answers[rung.via]
            elif reason := self.needless(rung, way):
                way.tried.append(Attempt(rung.via, OTHER_VERSION, reason))
            else:
                yield rung

    def take(self, rung: Rung, climb: Climb, way: Way) -> StoredPaper | None:
        """Keep what a rung brought; the paper, if that is the text asked for."""
        if climb.served:
            return self.keep(rung, climb, way.tried)
        if climb.document:
            self._keep_aside(rung, climb, way)
        return None

    def lease(self, paper: Paper) -> AbstractContextManager[None]:
        """Held while a paper is climbed for, so that nobody fetches it a second time meanwhile."""
        return self.web.leases.held(lease_of(paper), str(paper.ids))

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

    def _is_foreign(self, rung: Rung, paper: Paper) -> bool:
        """Whether the key that is not set would open nothing: it is another publisher's."""
        route = rung.route
        mine = not route.prefixes or paper.ids.doi.startswith(route.prefixes)
        return not mine and not self.web.settings.key(route.key)

    def needless(self, rung: Rung, way: Way) -> str:
        """Why a rung could only bring a text that is here already, of another version than asked.

        Empty when it may bring more.
        """
        version = rung.route.version
        if way.force:
            return ""
        if version and not fits(way.wants, version, way.paper):
            if self._lies_there(way.paper, version):
                return f"The {NAMES[version]} is on the shelf already."
        elif rung.source.label == "PMC" and fits(way.wants, version, way.paper):
            routes = {one.via for one in self.rungs if one.source.label == "PMC"}
            others = {a.source for a in way.tried if a.outcome == OTHER_VERSION}
            if brought := sorted(routes & others):  # there is one article behind all of them
                return f"{brought[0]} brought what PMC has."
        return ""

    def _lies_there(self, paper: Paper, version: Version) -> bool:
        """Whether this very version of a text is on the shelf."""
        held = self.shelf.text_of(paper.ids, version)
        return held is not None and text_slot(held) == version

    def ask(self, rung: Rung, climbs: Sequence[Climb]) -> Sequence[Climb]:
        """Ask one rung for papers (no more than its batch), and note what came of it in each."""
        wanted = {climb.paper.ids: climb for climb in climbs}
        left = dict(wanted)
        candidates = ask_in_halves(
            [climb.paper for climb in climbs],
            lambda papers: rung.route.fetch(papers, self.web),
            rung.via,
            odd=BadContent,
        )
        for paper, candidate, down in candidates:
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

    def _judged(self, rung: Rung, climb: Climb, candidate: Fetched | Miss | NotConfigured) -> bool:
        """Whether a candidate is the paper; if not, why not is noted."""
        if isinstance(candidate, NotConfigured):
            candidate = NotOffered(candidate.message, candidate.hint)
        if isinstance(candidate, Miss):
            status = int(candidate.details.get("status", 0))
            if isinstance(candidate, Unreachable):
                climb.stay_away_s = max(climb.stay_away_s, candidate.retry_after)
            climb.note(rung.via, candidate.outcome, str(candidate), status=status)
            return False
        if not candidate.version:
            candidate = replace(candidate, version=rung.route.version)
        try:
            document = self.read(candidate, climb.paper)
            self._not_refused(climb.paper.ids, document)
        except BadContent as bad:
            self.shelf.quarantine(climb.paper.ids, candidate, bad.outcome, bad.message)
            climb.note(rung.via, bad.outcome, str(bad), candidate.url, candidate.status)
            return False
        climb.fetched, climb.document = candidate, document
        outcome, detail = "saved", document.evidence
        if not climb.served:
            outcome, detail = OTHER_VERSION, f"The {NAMES[document.version]}: {detail}"
        climb.note(rung.via, outcome, detail, candidate.url, candidate.status)
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

    def _keep_aside(self, rung: Rung, climb: Climb, way: Way) -> None:
        """Put a text of another version than was asked for on the shelf, unless one is there."""
        assert climb.document
        if way.force or not self._lies_there(climb.paper, climb.document.version or "published"):
            self.keep(rung, climb, way.tried)

    def settle(
        self,
        paper: Paper,
        attempts: Sequence[Attempt],
        wants: Version = "published",
        known: bool = True,
    ) -> StoredPaper | None:
        """No text as asked for to be had now: keep the abstract, or the full text that is there.

        None when there is nothing to keep: the paper is not *known*, and has no text.
        """
        if held := self.shelf.text_of(paper.ids, wants):
            if serves(wants, held):
                return replace(held, attempts=tuple(attempts))
            return self.shelf.tell(held, attempts)
        if not known:
            return None
        return self.shelf.save_abstract(paper, attempts, via=paper.recorded_by or "pubmed")

    def _worth_trying_again(self, stored: StoredPaper) -> bool:
        """Whether some rung may say something else by now, or the paper's record may."""
        if self.web.settings.papers_offline:
            return False
        if not stored.attempts:
            return True  # a harvest or an older program put it there, and nobody was asked yet
        if not within(self._retry_s, max(attempt.at for attempt in stored.attempts)):
            return True
        has_version = stored.version if stored.kind == "full_text" else None
        asked_of_late = set(self._told(stored))
        asked_of_late |= {
            attempt.source
            for attempt in stored.attempts
            if attempt.outcome != "skipped" and within(_UNTOLD_S, attempt.at)
        }
        return any(
            rung.via not in asked_of_late and not self.closed(rung, stored.paper)
            for rung in self.rungs
            if rung.route.version != has_version
        )

    def _told(self, stored: StoredPaper) -> dict[str, list[Attempt]]:
        """What stands of the attempts for a paper: by rung, of those that answered, and of late."""
        stands: dict[str, list[Attempt]] = {}
        answered = who_answered(stored.attempts, _NO_ANSWER)
        for attempt in stored.attempts:
            if attempt.source in answered and within(self._retry_s, attempt.at):
                stands.setdefault(attempt.source, []).append(attempt)
        return stands

    @property
    def _retry_s(self) -> float:
        return self.web.settings.papers_retry_abstract_days * _DAY_S


def lease_of(paper: Paper) -> str:
    """The name under which one of us works on a paper."""
    return f"paper {paper.ids.key}"


def for_version(wants: Version, paper: Paper, rungs: Sequence[Rung]) -> list[Rung]:
    """The rungs in their order, but those that only have preprints last, or first if one is wanted.

    Of a paper that is a preprint and nothing else, all rungs have the same.
    """
    if only_a_preprint(paper):
        return list(rungs)
    return sorted(
        rungs, key=lambda rung: (rung.route.version == "preprint") == (wants != "preprint")
    )


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
