"""The ladder: fetch a paper's text, rung by rung, and save it on the shelf.

A rung is one route to full text. It is asked for one paper, or for a batch if its site accepts
batches. The first text that the judges accept as the complete text of this paper is saved. Every
attempt is recorded, and rejected content is quarantined. After the last rung the abstract is saved.

A text of another version than the requested one (`..model.versions`) is saved too, and the climb
continues. Rungs that have only other versions come last.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .. import readers as formats
from ..command_line import command_line
from ..errors import BadContent, NotAvailable, NotConfigured, SourceMiss, Unreachable
from ..http import Web
from ..judges.comparison import measure_copy
from ..model.identifiers import Ids
from ..model.paper import Attempt, Author, Document, Fetched, Paper, StoredPaper, Version
from ..model.verdicts import ComparisonData, TextCopy
from ..model.versions import OTHER_VERSION, VERSION_NAMES, is_accepted_version, is_request_satisfied
from ..shelf import Shelf, is_foreign_text, is_identified_by_name_only, rejudge_text, strip_header
from ..sources import Source, ask_and_isolate_failures
from ..sources.source import list_local_routes
from .climb import (
    Action,
    Climb,
    DownloadRequest,
    IsAway,
    Rung,
    choose_next_action,
    find_servable_text,
)
from .records import add_registered_terms


@dataclass(slots=True)
class Step:
    """The visit of one paper to one rung: the attempts, and the text if the rung supplied it.

    ``stay_away_s`` is the pause in seconds that the site asked for; ``service_down`` is True if the
    rung's own service did not answer, rather than a host that it leads to; ``wants`` is the
    requested version. The text is compared with ``copies``, and added to them unless it ends the
    climb.
    """

    paper: Paper
    wants: Version = "published"
    copies: list[TextCopy] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    fetched: Fetched | None = None
    document: Document | None = None
    stay_away_s: float = 0.0
    service_down: bool = False
    _began: float = field(default_factory=time.monotonic)

    @property
    def is_served(self) -> bool:
        """True if the requested version was found."""
        document = self.document
        return document is not None and is_accepted_version(
            self.wants, document.version, self.paper
        )

    def record_attempt(
        self, via: str, outcome: str, detail: str, url: str = "", status: int = 0
    ) -> None:
        """Record an attempt, with the seconds since the previous one."""
        instant = time.monotonic()
        seconds, self._began = round(instant - self._began, 3), instant
        self.attempts.append(Attempt(via, outcome, detail, url, status=status, seconds=seconds))


@dataclass(frozen=True)
class Ladder:
    """The sources of full text, their order, and the shelf.

    Parameters
    ----------
    sources : Sequence[Source]
        All sources, in the order in which records are looked up.
    order : Sequence[str]
        Names of the sources whose routes are climbed, from ``PAPERS_SOURCES``.
    read : callable, optional
        Converts a site's answer to text and judges it; a bulk run does so in other processes.
    only_local : bool, optional
        Ask only routes that need no network.
    """

    web: Web
    shelf: Shelf
    sources: Sequence[Source]
    order: Sequence[str]
    read: formats.Read = formats.read_and_judge
    only_local: bool = False

    @cached_property
    def rungs(self) -> tuple[Rung, ...]:
        """All rungs, in the order in which they are asked."""
        named = {source.name: source for source in self.sources}
        chosen = [named[name] for name in self.order]
        local = list_local_routes(self.web.settings)
        first = [Rung(route, named[name]) for name, route in local if named[name] in chosen]
        if self.only_local:
            return tuple(first)
        return tuple(first) + tuple(
            Rung(route, source) for source in chosen for route in source.routes
        )

    def find_local_texts(self, wanted: Iterable[Ids]) -> dict[Ids, Fetched]:
        """Return the texts that routes without a network supply."""
        papers = [Paper(ids) for ids in wanted]
        return {
            paper.ids: text
            for _, route in list_local_routes(self.web.settings)
            for paper, text in route.fetch(papers, self.web)
            if isinstance(text, Fetched)
        }

    def begin_step(self, climb: Climb) -> Step:
        """Return the step of a climb at its next rung."""
        if climb.copies is None:
            climb.copies = [*map(self._describe_copy, climb.list_full_texts())]
        return Step(climb.paper, climb.request.wants, climb.copies)

    def _describe_copy(self, stored: StoredPaper) -> TextCopy:
        return measure_copy(strip_header(self.shelf.read_text(stored)), stored.via, stored.version)

    def start_climb(self, request: DownloadRequest, **known: Any) -> Climb:
        """Return the climb for a request; *known* are fields of `Climb` that are known already."""
        return Climb(request, **{"find_texts": self.shelf.find_texts, **known})

    def choose_next_action(self, climb: Climb, is_away: IsAway = lambda _: False) -> Action:
        """Return what to do next for a paper; see `.climb`."""
        rungs: Sequence[Rung] = self.rungs
        if not climb.request.prefer_pmc:
            rungs = sorted(rungs, key=lambda rung: rung.source.label != "DOI")
        return choose_next_action(climb, rungs, self.web.settings, is_away)

    def merge_record_and_text(self, climb: Climb) -> None:
        """Add the record's metadata to the text on the shelf, and its identifiers to the climb.

        An adopted file that was identified only by its name is judged against the record, and may
        be rejected.
        """
        if (stored := climb.stored) is None:
            return
        by_name = is_identified_by_name_only(stored) and not climb.request.force
        if by_name or find_servable_text(climb, self.rungs, self.web.settings):
            stored = self.shelf.add_metadata(stored, climb.paper)
            text = (
                self.shelf.read_text(stored)
                if by_name and not is_identified_by_name_only(stored)
                else ""
            )
            if text and is_foreign_text(text):
                stored = self.shelf.verdicts.set_verdict(rejudge_text(stored, text, self.read))
            climb.add_stored_text(stored)
        climb.names = stored.paper.ids  # the present record may have fewer

    def store_result(self, rung: Rung, step: Step, climb: Climb) -> StoredPaper | None:
        """Record a step's attempts, save its text, and return it if it is the requested version."""
        climb.record_attempts(step.attempts)
        if step.is_served:
            return self.save_text(rung, step, climb.tried)
        if step.document:
            version = step.document.version or "published"
            if climb.request.force or not climb.has_text(version):
                climb.add_stored_text(self.save_text(rung, step, climb.tried))
        return None

    def ask_rung(self, rung: Rung, steps: Sequence[Step]) -> Sequence[Step]:
        """Ask a rung for papers (at most its batch), and record the results in their steps."""
        wanted = {step.paper.ids: step for step in steps}
        left = dict(wanted)
        candidates = ask_and_isolate_failures(
            [step.paper for step in steps],
            lambda papers: rung.route.fetch(papers, self.web),
            rung.via,
            odd=BadContent,
        )
        for paper, candidate, down in candidates:
            step = wanted[paper.ids]
            step.service_down = down
            if step.document is None and self._accept_candidate(rung, step, candidate):
                del left[paper.ids]
            if not left:
                break  # a route is a generator: unused candidates are not fetched
        for step in left.values():
            if not step.attempts:
                step.record_attempt(rung.via, NotAvailable.outcome, f"{rung.via} found nothing.")
        return steps

    def _accept_candidate(
        self, rung: Rung, step: Step, candidate: Fetched | SourceMiss | NotConfigured
    ) -> bool:
        """Read and judge a candidate, record the attempt, and return whether it is the paper."""
        if isinstance(candidate, NotConfigured):
            candidate = NotAvailable(candidate.message, candidate.hint)
        if isinstance(candidate, SourceMiss):
            status = int(candidate.details.get("status", 0))
            if isinstance(candidate, Unreachable):
                step.stay_away_s = max(step.stay_away_s, candidate.retry_after)
            url = str(candidate.details.get("url", ""))
            step.record_attempt(rung.via, candidate.outcome, str(candidate), url, status)
            return False
        if not candidate.version:
            candidate = replace(candidate, version=rung.route.version)
        try:
            words = self.shelf.list_journal_word_counts(step.paper)
            comparison = ComparisonData(tuple(step.copies), words)
            document = self.read(candidate, step.paper, comparison=comparison)
            self._raise_if_rejected(step.paper.ids, document)
        except BadContent as bad:
            self.shelf.quarantine_content(step.paper.ids, candidate, bad.outcome, bad.message)
            if part := bad.details.get("copy"):
                step.copies.append(TextCopy(**part))
            step.record_attempt(rung.via, bad.outcome, bad.text, candidate.url, candidate.status)
            return False
        step.fetched, step.document = candidate, document
        outcome, detail = "saved", document.evidence
        if not step.is_served:
            outcome, detail = OTHER_VERSION, f"The {VERSION_NAMES[document.version]}: {detail}"
            step.copies.append(measure_copy(document.markdown, rung.via, document.version))
        step.record_attempt(rung.via, outcome, detail, candidate.url, candidate.status)
        return True

    def _raise_if_rejected(self, ids: Ids, document: Document) -> None:
        if because := self.shelf.verdicts.find_rejection_reason(ids, document):
            msg = f"This text of {ids} was rejected by hand: {because}"
            undo = command_line(f"shelf keep '{ids.key}' --undo")
            hint = f"To judge it again: {undo}"
            raise BadContent(msg, hint, verdict="by_hand", evidence=because)

    def save_text(self, rung: Rung, step: Step, attempts: Sequence[Attempt]) -> StoredPaper:
        """Save a step's text on the shelf, with all *attempts* that led to it."""
        paper, fetched, document = step.paper, step.fetched, step.document
        assert fetched
        assert document
        if not paper.recorded_by:
            paper = _fill_from_document(paper, document)
        if not document.license:
            paper = add_registered_terms(paper, self.web, self.sources)
            document = replace(document, license=formats.choose_license(paper.license))
        label = rung.source.label
        return self.shelf.save_full_text(paper, document, fetched, source=label, attempts=attempts)

    def save_fallback(self, climb: Climb) -> StoredPaper | None:
        """Return the full text of another version or save the abstract, after all rungs were asked.

        Return None if there is neither a text nor a record.
        """
        stored = climb.stored
        if stored and stored.kind == "full_text":
            if is_request_satisfied(climb.request.wants, stored):
                return replace(stored, attempts=tuple(climb.tried))
            return self.shelf.record_attempts(stored, climb.tried)
        paper = climb.paper
        if not paper.recorded_by:
            return None
        return self.shelf.save_abstract(paper, climb.tried, via=paper.recorded_by)


def get_lease_name(paper: Paper) -> str:
    """Return the name of the lease on a paper."""
    return f"paper {paper.ids.key}"


def _fill_from_document(paper: Paper, document: Document) -> Paper:
    """Return *paper* with the metadata of its text, because no record could be fetched."""
    return replace(
        paper,
        ids=paper.ids | document.ids,
        title=document.title,
        abstract=document.abstract,
        authors=tuple(Author(family=name) for name in document.authors),
    )
