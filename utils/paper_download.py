"""From an identifier to a file on the shelf.

The ladder: ask each route in turn, keep the first text that two judges call the whole paper and
this paper, write down every attempt, quarantine what was something else, and settle for the
abstract at the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from . import formats
from .errors import BadContent, Miss, NotConfigured, NotFound, NotOffered, PaperError, Unreachable
from .identifiers import Ids
from .paper import Attempt, Author, Document, Fetched, Paper, StoredPaper, now
from .paper_lookup import look_up, with_registered_terms
from .sources import Route, Source
from .store import Shelf
from .web import Web

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Download:
    """What a download came to.

    ``cached`` says that the file was on the shelf already and nobody was asked; ``file_path`` is
    absolute.
    """

    stored: StoredPaper
    cached: bool
    file_path: str

    @property
    def source(self) -> str:
        """``Cache``, ``PMC``, ``DOI``, ``arXiv`` or ``PubMed_Abstract``."""
        return "Cache" if self.cached else self.stored.source

    @property
    def message(self) -> str:
        """One sentence for a person."""
        where = "already on the shelf" if self.cached else f"saved from {self.stored.via}"
        name = self.stored.paper.title or str(self.stored.paper.ids)
        if self.stored.kind == "full_text":
            return f"Full text of “{name}” {where}."
        tried = [a for a in self.stored.attempts if a.outcome != "skipped"]
        return f"Only the abstract of “{name}” ({where}): no full text in {len(tried)} attempts."

    def row(self) -> dict[str, Any]:
        """The fields of the ``download_paper`` contract."""
        stored = self.stored
        return {
            "success": True,
            "file_path": self.file_path,
            "source": self.source,
            "message": self.message,
            "kind": stored.kind,
            "via": stored.via,
            "verdict": stored.verdict,
            "license": stored.license,
            "retracted": stored.paper.retracted,
            "attempts": [
                {"source": a.source, "outcome": a.outcome, "detail": a.detail}
                for a in stored.attempts
            ],
        }


@dataclass(frozen=True, slots=True)
class Ladder:
    """Who is asked for full text, in which order, and where it goes.

    Parameters
    ----------
    sources : Sequence[Source]
        All of them: lookups are tried in this order.
    order : Sequence[str]
        Names of the sources whose routes are climbed, from ``PAPERS_SOURCES``.
    """

    web: Web
    shelf: Shelf
    sources: Sequence[Source]
    order: Sequence[str]
    # Many more than threads: two papers that share one only wait for each other.
    _locks: Sequence[threading.Lock] = field(
        default_factory=lambda: [threading.Lock() for _ in range(1024)], repr=False
    )

    def held(self, ids: Ids) -> StoredPaper | None:
        """The copy on the shelf, if it may be served without asking anybody."""
        stored = self.shelf.find(ids)
        if stored and stored.kind == "abstract" and self._worth_trying_again(stored):
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
        for route, source in self._routes(prefer_pmc):
            if reason := self._closed(route, source, paper):
                attempts.append(Attempt(route.via, "skipped", reason))
                continue
            found = self._try(route, paper, attempts)
            if found:
                fetched, document = found
                if not known:
                    paper = _from_document(paper, document)
                if not document.license:
                    paper = with_registered_terms(paper, self.web, self.sources)
                    document = replace(document, license=formats.best_license(paper.license))
                return self.shelf.save(
                    paper, document, fetched, source=source.label, attempts=attempts
                )
        if not known:
            msg = f"No text of {paper.ids} could be had in {len(attempts)} attempts."
            raise NotFound(msg, attempts=[asdict(attempt) for attempt in attempts])
        held = self.shelf.find(paper.ids)
        if held and held.kind == "full_text":
            return replace(held, attempts=tuple(attempts))
        return self.shelf.save_abstract(paper, attempts, via=paper.recorded_by or "pubmed")

    def lock(self, paper: Paper) -> threading.Lock:
        """Held while a paper is climbed for, so that nobody here fetches it a second time."""
        return self._locks[hash(paper.ids.key) % len(self._locks)]

    def _closed(self, route: Route, source: Source, paper: Paper) -> str:
        """Why a route need not be tried for this paper; empty when it should be."""
        if not any(getattr(paper.ids, name) for name in route.needs):
            return f"the paper has no {' or '.join(route.needs)}"
        if route.key and not self.web.settings.key(route.key):
            return f"needs {route.key.upper()}"
        if source.label == "PMC" and paper.released > now()[:10]:
            return f"embargoed until {paper.released}"
        return ""

    def _routes(self, prefer_pmc: bool) -> list[tuple[Route, Source]]:
        named = {source.name: source for source in self.sources}
        chosen = [named[name] for name in self.order]
        if not prefer_pmc:
            chosen.sort(key=lambda source: source.label != "DOI")
        return [(route, source) for source in chosen for route in source.routes]

    def _try(
        self, route: Route, paper: Paper, attempts: list[Attempt]
    ) -> tuple[Fetched, Document] | None:
        """The first candidate of a route that is the paper; every outcome is written down."""
        began = time.monotonic()

        def note(outcome: str, detail: str, url: str = "", status: int = 0) -> None:
            nonlocal began
            now = time.monotonic()
            seconds, began = round(now - began, 3), now
            attempts.append(
                Attempt(route.via, outcome, detail, url, status=status, seconds=seconds)
            )

        for candidate in _candidates(route, paper, self.web):
            if isinstance(candidate, Miss):
                status = int(candidate.details.get("status", 0))
                note(candidate.outcome, str(candidate), status=status)
                continue
            try:
                document = formats.read(candidate, paper)
            except BadContent as bad:
                self.shelf.quarantine(paper.ids, candidate, bad.outcome, bad.message)
                note(bad.outcome, str(bad), candidate.url, candidate.status)
                continue
            note("saved", document.evidence, candidate.url, candidate.status)
            return candidate, document
        return None

    def _worth_trying_again(self, stored: StoredPaper) -> bool:
        if self.web.settings.papers_offline:
            return False
        days = timedelta(days=self.web.settings.papers_retry_abstract_days)
        return datetime.fromisoformat(stored.saved_at) + days <= datetime.now(UTC)


def download(
    wanted: Ids, ladder: Ladder, *, prefer_pmc: bool = True, force: bool = False
) -> Download:
    """Put one paper on the shelf, or return the copy that is already there.

    Parameters
    ----------
    wanted : Ids
        At least one identifier of the paper.
    ladder : Ladder
    prefer_pmc : bool, optional
        False asks the publisher's side before PMC.
    force : bool, optional
        Fetch again what is there; it is only replaced by something as good.

    Raises
    ------
    BadRequest
        The identifiers belong to different papers.
    NotFound
        Everybody answered, and nobody knows the paper.
    Unreachable
        Nobody who could know the paper could be asked.
    """
    [(_, outcome)] = download_many([wanted], ladder, prefer_pmc=prefer_pmc, force=force)
    if isinstance(outcome, PaperError):
        raise outcome
    return outcome


def download_many(
    wanted: Sequence[Ids],
    ladder: Ladder,
    *,
    prefer_pmc: bool = True,
    force: bool = False,
    workers: int = 8,
) -> Iterator[tuple[Ids, Download | PaperError]]:
    """Put many papers on the shelf; outcomes come as they are ready.

    What is held comes first and asks nobody. The rest is looked up in batches and climbed side by
    side: the pace of each host is kept for all threads together.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed

    missing: list[Ids] = []
    for ids in dict.fromkeys(wanted):
        held = None if force else ladder.held(ids)
        if held:
            yield ids, Download(held, cached=True, file_path=held.path)
        else:
            missing.append(ids)
    if not missing:
        return
    if ladder.web.settings.papers_offline:
        yield from ((ids, _offline(ids)) for ids in missing)
        return
    records = look_up(missing, ladder.web, ladder.sources)
    aliases = _grouped(records)
    pool = ThreadPoolExecutor(min(workers, len(aliases)), "ladder")
    try:
        jobs = {
            pool.submit(_one, same[0], records[same[0]], ladder, prefer_pmc, force): same
            for same in aliases
        }
        for job in as_completed(jobs):
            yield from ((ids, job.result()) for ids in jobs[job])
    finally:
        # Whoever stops listening (Ctrl-C, a closed pipe) wants no further paper fetched.
        pool.shutdown(wait=False, cancel_futures=True)


def _grouped(records: dict[Ids, Paper | PaperError]) -> list[list[Ids]]:
    """Identifiers that turned out to be the same paper, together: it is fetched once."""
    groups: dict[str, list[Ids]] = {}
    for ids, record in records.items():
        key = record.ids.key if isinstance(record, Paper) else repr(ids)
        groups.setdefault(key, []).append(ids)
    return list(groups.values())


def _one(
    ids: Ids, record: Paper | PaperError, ladder: Ladder, prefer_pmc: bool, force: bool
) -> Download | PaperError:
    """Climb for one paper; errors are outcomes here, because others are on their way too."""
    if isinstance(record, Paper):
        paper = record
    elif _may_climb_unknown(ids, record):
        paper = Paper(ids)
    else:
        return record
    try:
        with ladder.lock(paper):
            held = ladder.held(paper.ids)
            if held and not force:
                held = ladder.shelf.learn(held, paper)
                return Download(held, cached=True, file_path=held.path)
            stored = ladder.climb(paper, known=paper is record, prefer_pmc=prefer_pmc)
    except NotFound as nothing:
        # No text and no record, because whoever keeps the records did not answer.
        return nothing if isinstance(record, Paper) else _could_not_tell(record, nothing)
    except PaperError as error:
        return error
    fresh = held is None or stored.saved_at != held.saved_at or stored.kind == "abstract"
    return Download(stored, cached=not fresh, file_path=stored.path)


def _could_not_tell(why: PaperError, nothing: NotFound) -> PaperError:
    """Could not tell, and here is everything that was tried."""
    return type(why)(why.message, why.hint, **{**nothing.details, **why.details})


def _may_climb_unknown(ids: Ids, why: PaperError) -> bool:
    """Texts that carry these identifiers themselves can be recognised without a record.

    Without an address, only those are tried that nobody needs an address for.
    """
    if isinstance(why, NotConfigured):
        return bool(ids.pmcid or ids.arxiv)
    return isinstance(why, Unreachable) and bool(ids.pmcid or ids.doi or ids.arxiv)


def _candidates(route: Route, paper: Paper, web: Web) -> Iterator[Fetched | Miss]:
    """What a route has to offer; the miss that ends it is its last word."""
    offered = False
    try:
        for candidate in route.fetch(paper, web):
            offered = True
            yield candidate
    except Miss as miss:
        yield miss
    except NotConfigured as missing:
        yield NotOffered(missing.message, missing.hint)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        log.exception("%s answered in a form we do not understand", route.via)
        msg = f"{route.via} answered in a form we do not understand ({type(error).__name__})."
        yield Unreachable(msg, "Update Papershelf, or report this.")
    else:
        if not offered:
            yield NotOffered(f"{route.via} found nothing.")


def _from_document(paper: Paper, document: Document) -> Paper:
    """Where nobody could be asked what the paper is, the text itself says it."""
    return replace(
        paper,
        ids=paper.ids | document.ids,
        title=document.title,
        abstract=document.abstract,
        authors=tuple(Author(family=name) for name in document.authors),
    )


def _offline(ids: Ids) -> NotFound:
    msg = f"{ids} is not on the shelf, and PAPERS_OFFLINE forbids to fetch it."
    return NotFound(msg, "Unset PAPERS_OFFLINE and ask again.")
