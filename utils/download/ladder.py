"""The ladder: from what is known about a paper to its text on the shelf, rung by rung.

A rung is one route to full text. It is asked for one paper, or for a batch where its site takes
batches; the first text that two judges call the whole paper and this paper is kept, every attempt
is written down, and what was something else goes to the quarantine. After the last rung the
abstract is kept.

A text of another version than the one asked for (`..model.versions`) is kept too, and the climb
goes on: the rungs that only have such come last, and in the end it stands in for the text asked
for.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import inf
from operator import itemgetter

from .. import readers as formats
from ..errors import (
    BadContent,
    NotAvailable,
    NotConfigured,
    NotFound,
    PaperError,
    SourceMiss,
    Unreachable,
)
from ..http import Patience, Web, not_older_than
from ..model.identifiers import Ids
from ..model.paper import (
    INCONCLUSIVE,
    Attempt,
    Author,
    Document,
    Fetched,
    Paper,
    StoredPaper,
    Version,
    is_within,
    now,
    who_answered,
)
from ..model.versions import NAMES, OTHER_VERSION, fits, meant, only_a_preprint, serves, text_slot
from ..shelf import Shelf, is_foreign, judge_again, known_by_name_only
from ..sources import Route, Source, ask_in_halves
from ..sources.local import local_routes
from .records import with_registered_terms

log = logging.getLogger(__name__)
_DAY_S = 86400.0
_INCONCLUSIVE_S = 3600.0
"""Seconds until a site that could not tell is asked again: it may be there by then."""
_NO_ANSWER = INCONCLUSIVE | {"saved", "skipped"}
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
class Step:
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
class Climb:
    """One paper's way up the ladder: the version wanted, and everything that was tried.

    ``known`` and ``wants`` are as in `Step`. ``answers`` names the rungs that need not be asked
    again, with those of their attempts that are not in ``tried`` yet. ``force`` asks also for what
    is on the shelf in another version. ``patience_s`` are the seconds that all waits for turns may
    take while other rungs have not been asked.
    """

    paper: Paper
    known: bool
    wants: Version
    tried: list[Attempt] = field(default_factory=list)
    answers: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    force: bool = False
    patience_s: float = inf


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
    only_local : bool, optional
        Whether only routes are climbed that need no network.
    """

    web: Web
    shelf: Shelf
    sources: Sequence[Source]
    order: Sequence[str]
    read: Callable[[Fetched, Paper], Document] = formats.read
    only_local: bool = False

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """From the first to be asked to the last."""
        named = {source.name: source for source in self.sources}
        chosen = [named[name] for name in self.order]
        local = local_routes(self.web.settings)
        first = [Rung(route, named[name]) for name, route in local if named[name] in chosen]
        if self.only_local:
            return tuple(first)
        return tuple(first) + tuple(
            Rung(route, source) for source in chosen for route in source.routes
        )

    def find_local(self, wanted: Iterable[Ids]) -> dict[Ids, Fetched]:
        """Return the texts of papers that routes without a network have."""
        papers = [Paper(ids) for ids in wanted]
        return {
            paper.ids: found
            for _, route in local_routes(self.web.settings)
            for paper, found in route.fetch(papers, self.web)
            if isinstance(found, Fetched)
        }

    def rungs_for(self, *, prefer_pmc: bool = True) -> list[Rung]:
        """The rungs in order; False for *prefer_pmc* puts the publisher's side first."""
        return sorted(self.rungs, key=lambda rung: not prefer_pmc and rung.source.label != "DOI")

    def find_servable(self, ids: Ids, wants: Version = "") -> StoredPaper | None:
        """The copy on the shelf, if it may be served without asking anybody.

        *wants* is the version that *ids* mean unless said otherwise. What was rejected is never
        served.
        """
        wants = wants or meant(ids)
        stored = self.shelf.find(ids, wants)
        if stored is None or stored.kind == "rejected":
            return None
        lacking = stored.is_doubtful or not serves(wants, stored)
        if lacking and self._worth_trying_again(stored):
            return None
        return stored

    def learn(self, stored: StoredPaper, paper: Paper) -> StoredPaper:
        """Add what is now known of a stored paper.

        A foreign file that was known by its name only is now judged against the record, and may be
        rejected.
        """
        by_name = known_by_name_only(stored)
        known = self.shelf.learn(stored, paper)
        text = self.shelf.read_text(known) if by_name and not known_by_name_only(known) else ""
        if not text or not is_foreign(text):
            return known
        return self.shelf.verdicts.state(judge_again(known, text, self.read))

    def climb(self, climb: Climb, *, prefer_pmc: bool = True) -> StoredPaper:
        """Get one paper's text and keep it; False for *prefer_pmc* asks the publisher's side first.

        Raises
        ------
        NotFound
            No text, and nobody knows the paper.
        """
        before = None if climb.force else self.shelf.find(climb.paper.ids, climb.wants)
        climb.answers = self._standing_attempts(before) if before else {}
        with not_older_than(time.time() if climb.force else 0.0):
            for rung, step in self._ask_in_order(climb, self.rungs_for(prefer_pmc=prefer_pmc)):
                climb.tried += step.attempts
                if stored := self.take(rung, step, climb):
                    return stored
        if stored := self.settle(climb.paper, climb.tried, climb.wants, climb.known):
            return stored
        msg = f"No text of {climb.paper.ids} could be had in {len(climb.tried)} attempts."
        raise NotFound(msg, attempts=[asdict(attempt) for attempt in climb.tried])

    def _ask_in_order(self, climb: Climb, rungs: Sequence[Rung]) -> Iterator[tuple[Rung, Step]]:
        """Ask the rungs for a paper: those whose turn is far away after all others.

        Where another version of the text was found meanwhile, they are not waited for.
        """
        patience, stand_in = Patience(climb.patience_s), False
        postponed: list[tuple[float, Rung, Step]] = []  # with the time at which each may be asked
        for rung in self.rungs_ahead(climb, rungs):
            step = Step(climb.paper, climb.known, climb.wants)
            with patience.applied():
                self.ask(rung, [step])
            stand_in = stand_in or bool(step.document)
            if patience.needed_s and not step.document:
                postponed.append((time.time() + patience.needed_s, rung, step))
            else:
                yield rung, step
        for due, rung, step in sorted(postponed, key=itemgetter(0)):
            if stand_in:
                yield rung, step
                continue
            if (wait_s := due - time.time()) > 1:
                text = "%s: no full text so far. Waiting %.0f s for %s."
                log.warning(text, climb.paper.ids, wait_s, rung.source.title)
            yield rung, self.ask(rung, [Step(climb.paper, climb.known, climb.wants)])[0]

    # -- what one paper and thousands have in common -----------------------------------------

    def rungs_ahead(self, climb: Climb, rungs: Sequence[Rung]) -> Iterator[Rung]:
        """The rungs to ask for a paper, in order; notes the others in ``tried``, with reasons."""
        for rung in sort_for_version(climb.wants, climb.paper, rungs):
            if self._is_foreign(rung, climb.paper) or (climb.force and rung.route.local):
                continue  # who wants it anew does not want what is here
            if reason := self.why_closed(rung, climb.paper):
                climb.tried.append(Attempt(rung.via, "skipped", reason))
            elif rung.via in climb.answers:
                climb.tried += climb.answers[rung.via]
            elif reason := self.why_needless(rung, climb):
                climb.tried.append(Attempt(rung.via, OTHER_VERSION, reason))
            else:
                yield rung

    def take(self, rung: Rung, step: Step, climb: Climb) -> StoredPaper | None:
        """Keep what a rung brought; return the paper if that is the text asked for."""
        if step.served:
            return self.keep(rung, step, climb.tried)
        if step.document:
            self._keep_aside(rung, step, climb)
        return None

    def lease(self, paper: Paper) -> AbstractContextManager[None]:
        """Held while a paper is climbed for, so that nobody fetches it a second time meanwhile."""
        return self.web.leases.hold(lease_name(paper), str(paper.ids))

    def why_closed(self, rung: Rung, paper: Paper) -> str:
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

    def why_needless(self, rung: Rung, climb: Climb) -> str:
        """Why a rung could only bring a text that is here already, of another version than asked.

        Empty when it may bring more.
        """
        version = rung.route.version
        if climb.force:
            return ""
        if version and not fits(climb.wants, version, climb.paper):
            if self._is_shelved(climb.paper, version):
                return f"The {NAMES[version]} is on the shelf already."
        elif rung.source.label == "PMC" and fits(climb.wants, version, climb.paper):
            routes = {one.via for one in self.rungs if one.source.label == "PMC"}
            others = {a.source for a in climb.tried if a.outcome == OTHER_VERSION}
            if brought := sorted(routes & others):  # there is one article behind all of them
                return f"{brought[0]} brought what PMC has."
        return ""

    def _is_shelved(self, paper: Paper, version: Version) -> bool:
        """Whether this very version of a text is on the shelf."""
        find_servable = self.shelf.text_of(paper.ids, version)
        return find_servable is not None and text_slot(find_servable) == version

    def ask(self, rung: Rung, steps: Sequence[Step]) -> Sequence[Step]:
        """Ask one rung for papers (no more than its batch), and note what came of it in each."""
        wanted = {step.paper.ids: step for step in steps}
        left = dict(wanted)
        candidates = ask_in_halves(
            [step.paper for step in steps],
            lambda papers: rung.route.fetch(papers, self.web),
            rung.via,
            odd=BadContent,
        )
        for paper, candidate, down in candidates:
            step = wanted[paper.ids]
            step.service_down = down
            if step.document is None and self._read_candidate(rung, step, candidate):
                del left[paper.ids]
            if not left:
                break  # a route is a generator: what nobody asks for is not fetched
        for step in left.values():
            if not step.attempts:
                step.note(rung.via, NotAvailable.outcome, f"{rung.via} found nothing.")
        return steps

    def _read_candidate(
        self, rung: Rung, step: Step, candidate: Fetched | SourceMiss | NotConfigured
    ) -> bool:
        """Read and judge a candidate; whether it is the paper. Notes the attempt."""
        if isinstance(candidate, NotConfigured):
            candidate = NotAvailable(candidate.message, candidate.hint)
        if isinstance(candidate, SourceMiss):
            status = int(candidate.details.get("status", 0))
            if isinstance(candidate, Unreachable):
                step.stay_away_s = max(step.stay_away_s, candidate.retry_after)
            step.note(rung.via, candidate.outcome, str(candidate), status=status)
            return False
        if not candidate.version:
            candidate = replace(candidate, version=rung.route.version)
        try:
            document = self.read(candidate, step.paper)
            self._raise_if_rejected(step.paper.ids, document)
        except BadContent as bad:
            self.shelf.quarantine(step.paper.ids, candidate, bad.outcome, bad.message)
            step.note(rung.via, bad.outcome, str(bad), candidate.url, candidate.status)
            return False
        step.fetched, step.document = candidate, document
        outcome, detail = "saved", document.evidence
        if not step.served:
            outcome, detail = OTHER_VERSION, f"The {NAMES[document.version]}: {detail}"
        step.note(rung.via, outcome, detail, candidate.url, candidate.status)
        return True

    def _raise_if_rejected(self, ids: Ids, document: Document) -> None:
        if because := self.shelf.verdicts.rejection_reason(ids, document):
            msg = f"Somebody rejected this very text of {ids}: {because}"
            hint = f"To have it judged again: server.py keep '{ids.key}' --undo"
            raise BadContent(msg, hint, verdict="by_hand", evidence=because)

    def keep(self, rung: Rung, step: Step, attempts: Sequence[Attempt]) -> StoredPaper:
        """Put the text that was found on the shelf, with all *attempts* that led to it."""
        paper, fetched, document = step.paper, step.fetched, step.document
        assert fetched
        assert document
        if not step.known:
            paper = _paper_from_document(paper, document)
        if not document.license:
            paper = with_registered_terms(paper, self.web, self.sources)
            document = replace(document, license=formats.best_license(paper.license))
        label = rung.source.label
        return self.shelf.save(paper, document, fetched, source=label, attempts=attempts)

    def _keep_aside(self, rung: Rung, step: Step, climb: Climb) -> None:
        """Put a text of another version than was asked for on the shelf, unless one is there."""
        assert step.document
        if climb.force or not self._is_shelved(step.paper, step.document.version or "published"):
            self.keep(rung, step, climb.tried)

    def settle(
        self,
        paper: Paper,
        attempts: Sequence[Attempt],
        wants: Version = "published",
        known: bool = True,
    ) -> StoredPaper | None:
        """Keep the abstract, or the full text that is there, after all rungs were asked.

        None when there is nothing to keep: the paper is not *known*, and has no text.
        """
        if find_servable := self.shelf.text_of(paper.ids, wants):
            if serves(wants, find_servable):
                return replace(find_servable, attempts=tuple(attempts))
            return self.shelf.record_attempts(find_servable, attempts)
        if not known:
            return None
        return self.shelf.save_abstract(paper, attempts, via=paper.recorded_by or "pubmed")

    def _worth_trying_again(self, stored: StoredPaper) -> bool:
        """Whether a rung, or the paper's record, may have something new by now."""
        if self.web.settings.papers_offline:
            return False
        if not stored.attempts:
            return True  # a harvest or an older program put it there, and nobody was asked yet
        if not is_within(self._retry_s, max(attempt.at for attempt in stored.attempts)):
            return True
        is_settled = stored.kind == "full_text" and not stored.is_doubtful
        has_version = stored.version if is_settled else None
        asked_of_late = set(self._standing_attempts(stored))
        asked_of_late |= {
            attempt.source
            for attempt in stored.attempts
            if attempt.outcome != "skipped" and is_within(_INCONCLUSIVE_S, attempt.at)
        }
        return any(
            rung.via not in asked_of_late and not self.why_closed(rung, stored.paper)
            for rung in self.rungs
            if rung.route.version != has_version
        )

    def _standing_attempts(self, stored: StoredPaper) -> dict[str, list[Attempt]]:
        """The attempts that need no repetition, by rung: answered, and not long ago."""
        stands: dict[str, list[Attempt]] = {}
        answered = who_answered(stored.attempts, _NO_ANSWER)
        for attempt in stored.attempts:
            if attempt.source in answered and is_within(self._retry_s, attempt.at):
                stands.setdefault(attempt.source, []).append(attempt)
        return stands

    @property
    def _retry_s(self) -> float:
        return self.web.settings.papers_retry_abstract_days * _DAY_S


def lease_name(paper: Paper) -> str:
    """The name of the lease on a paper."""
    return f"paper {paper.ids.key}"


def sort_for_version(wants: Version, paper: Paper, rungs: Sequence[Rung]) -> list[Rung]:
    """The rungs, but those that only have preprints last, or first if a preprint is wanted.

    Of a paper that is a preprint and nothing else, all rungs have the same.
    """
    if only_a_preprint(paper):
        return list(rungs)
    return sorted(
        rungs, key=lambda rung: (rung.route.version == "preprint") == (wants != "preprint")
    )


def may_climb_unknown(ids: Ids, why: PaperError) -> bool:
    """Whether to climb without a record: texts with these identifiers in them are recognised.

    Where no e-mail address is set (`NotConfigured`), only identifiers of sites that need none.
    """
    if isinstance(why, NotConfigured):
        return bool(ids.pmcid or ids.arxiv)
    return isinstance(why, Unreachable) and bool(ids.pmcid or ids.doi or ids.arxiv)


def _paper_from_document(paper: Paper, document: Document) -> Paper:
    """*paper* with the metadata of its text, where no record of it could be had."""
    return replace(
        paper,
        ids=paper.ids | document.ids,
        title=document.title,
        abstract=document.abstract,
        authors=tuple(Author(family=name) for name in document.authors),
    )
