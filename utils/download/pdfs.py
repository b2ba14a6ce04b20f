"""Fetch the PDF files of papers whose text is on the shelf already.

A text often comes as XML or as a page, which read better than a PDF. Screening tools and reference
managers want the PDF. `fetch_pdfs` asks, for one paper after the other, the routes that have PDF
files: PubMed Central and arXiv first, then the open copies and the publisher. The judges decide
about each file, as about a text: it must be this paper, and the whole of it. A PDF of another
version than the text is only taken if no route has one of the same version.

The attempts are kept with the PDF (`..shelf.pdf_files`). A route that gave a definite answer is
asked again after ``PAPERS_RETRY_ABSTRACT_DAYS`` only, so an interrupted run can be started again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import SourceMiss, Unreachable
from ..http import Web
from ..judges.comparison import measure_copy
from ..model.paper import (
    INCONCLUSIVE,
    Attempt,
    Fetched,
    Paper,
    StoredPaper,
    find_answered_routes,
    is_within_seconds,
)
from ..shelf import strip_header
from ..shelf.pdf_files import PdfFile
from ..sources import Route
from .climb import Rung, is_foreign
from .ladder import Ladder, Step, get_lease_name

_DAY_S = 86400.0
_Candidates = Iterator[tuple[Paper, Fetched | SourceMiss]]


@dataclass(frozen=True, slots=True)
class PdfOutcome:
    """The result of the search for one PDF.

    ``pdf`` is None if no route has one; ``attempts`` explain why. ``is_new`` is True if the PDF was
    put on the shelf now.
    """

    stored: StoredPaper
    pdf: PdfFile | None
    attempts: Sequence[Attempt] = ()
    is_new: bool = False


def fetch_pdfs(papers: Iterable[StoredPaper], ladder: Ladder) -> Iterator[PdfOutcome]:
    """Yield the PDF of each paper, or why it is missing; fetch PDFs that the shelf lacks.

    Papers without a full text on the shelf are skipped.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    for stored in papers:
        if stored.kind != "full_text":
            continue
        if pdf := _find_shelf_pdf(stored, ladder):
            yield PdfOutcome(stored, pdf)
        elif ladder.web.settings.papers_offline:
            yield PdfOutcome(stored, None, ladder.shelf.pdfs.read_attempts(stored))
        else:
            yield _fetch_under_lease(stored, ladder)


def _find_shelf_pdf(stored: StoredPaper, ladder: Ladder) -> PdfFile | None:
    return ladder.shelf.pdfs.find_pdf(stored) or ladder.shelf.store_source_pdf(stored)


def _fetch_under_lease(stored: StoredPaper, ladder: Ladder) -> PdfOutcome:
    """Fetch a PDF, unless another thread or process fetched it while this one waited."""
    ids = stored.paper.ids
    try:
        with ladder.web.leases.hold_lease(get_lease_name(stored.paper), str(ids)):
            if pdf := _find_shelf_pdf(stored, ladder):
                return PdfOutcome(stored, pdf)
            return _fetch_pdf(stored, ladder)
    except Unreachable as busy:
        return PdfOutcome(stored, None, (Attempt("lease", busy.outcome, busy.message),))


def _fetch_pdf(stored: StoredPaper, ladder: Ladder) -> PdfOutcome:
    settings, pdfs = ladder.web.settings, ladder.shelf.pdfs
    attempts = _select_recent_answers(
        pdfs.read_attempts(stored), settings.papers_retry_abstract_days * _DAY_S
    )
    answered = {attempt.source for attempt in attempts}
    text = measure_copy(strip_header(ladder.shelf.read_text(stored)), stored.via, stored.version)
    other_version: Fetched | None = None
    for rung in _list_pdf_rungs(stored, ladder):
        named = [*stored.attempts, *attempts]
        if rung.via in answered or is_foreign(rung, stored.paper, named, settings):
            continue
        [step] = ladder.ask_rung(rung, [Step(stored.paper, stored.version or "published", [text])])
        attempts += step.attempts
        if step.fetched and step.document:
            pdf = replace(step.fetched, version=step.document.version)
            if step.is_served:
                saved = ladder.shelf.store_pdf(stored, pdf, attempts=attempts)
                return PdfOutcome(stored, saved, attempts, is_new=True)
            other_version = other_version or pdf
    if other_version:
        saved = ladder.shelf.store_pdf(stored, other_version, attempts=attempts)
        return PdfOutcome(stored, saved, attempts, is_new=True)
    pdfs.record_attempts(stored, attempts)
    return PdfOutcome(stored, None, attempts)


def _select_recent_answers(attempts: Sequence[Attempt], valid_s: float) -> list[Attempt]:
    """Return the definite answers of routes that need not be asked again yet."""
    answered = find_answered_routes(attempts, INCONCLUSIVE | {"saved", "skipped"})
    return [
        attempt
        for attempt in attempts
        if attempt.source in answered and is_within_seconds(valid_s, attempt.at)
    ]


def _list_pdf_rungs(stored: StoredPaper, ladder: Ladder) -> Iterator[Rung]:
    """Yield the routes that may have the paper's PDF, in the order of the ladder."""
    named = {source.name: source for source in ladder.sources}
    ids, settings = stored.paper.ids, ladder.web.settings
    for source in (named[name] for name in ladder.order):
        for route in (
            *source.pdf_routes,
            *(pdf_route for pdf_route in source.routes if pdf_route.has_pdfs),
        ):
            has_key = not route.key or settings.key(route.key)
            if has_key and any(getattr(ids, name) for name in route.needs):
                yield Rung(replace(route, fetch=_keep_only_pdfs(route)), source)


def _keep_only_pdfs(route: Route) -> Callable[[Sequence[Paper], Web], _Candidates]:
    """Return the ``fetch`` of a route, without the web pages that it yields."""

    def fetch_pdf_candidates(papers: Sequence[Paper], web: Web) -> _Candidates:
        for paper, candidate in route.fetch(papers, web):
            if isinstance(candidate, SourceMiss) or candidate.media == "pdf":
                yield paper, candidate

    return fetch_pdf_candidates
