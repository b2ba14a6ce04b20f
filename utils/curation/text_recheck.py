"""Find texts that appeared after a paper was saved, and fetch them.

For about a quarter of the papers of which only an abstract could be had, a full text appears later:
an embargo ends, a manuscript is deposited, a publisher opens an article. Climbing the whole ladder
again would cost about ten requests a paper, nearly all of them in vain. So three indexes are asked
about many papers at once, and only a paper for which one of them names something new is tried
again, on the routes that lead to it:

1. PubMed, 200 papers a request: a PMCID, and the day on which PMC releases the article.
2. Semantic Scholar, 200 papers a request: the address of an open copy.
3. OpenAlex, 50 papers a request, only with a key: the addresses of open copies.

An address is new if no answered attempt at the paper has it. An address that was tried under
another form, such as one that redirects, counts as tried for ``PAPERS_RETRY_ABSTRACT_DAYS``. So a
dead link is tried once, and a paper without news costs at most 1/200 + 1/200 + 1/50 = 0.03 requests
a run. PMC is asked once for each PMCID after the day of release. So are Unpaywall, Crossref and the
publisher after a day on which they said that a copy opens. A download of the paper itself still
asks all routes again when their answers are old.

Semantic Scholar has one record of a preprint and its article. The article is downloaded if it is
not on the shelf, and if its own record agrees with the preprint's.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from ..download.climb import DownloadRequest
from ..download.download import Download, download_many
from ..download.ladder import Ladder
from ..download.records import PUBMED_ANEW, look_up_records
from ..errors import BadRequest, NotConfigured, NotFound, PaperError, SourceMiss
from ..http import require_answers_since
from ..model.identifiers import Ids
from ..model.paper import INCONCLUSIVE, Attempt, Paper, StoredPaper, utc_now
from ..model.versions import (
    VERSION_NAMES,
    get_shelf_version,
    is_only_preprint,
    is_request_satisfied,
)
from ..search.same_paper import judge_pair
from ..sources import SOURCES, ask_and_isolate_failures
from ..sources.eutils import MAX_IDS_PER_REQUEST
from ..sources.openalex import MAX_DOIS_PER_LIST, list_open_copies
from ..sources.pmc import SOURCE as PMC
from ..sources.publisher import OpenCopy
from ..sources.semantic_scholar_copies import list_named_copies
from ..system.plain_text import one_line
from .recheck import Change, Outcome

_PAGE = 1000
_MAX_SILENT_BATCHES = 3
_MAX_COPIES = 3  # addresses remembered and tried of a paper in one run
_NAMED_ROUTES = (route.via for source in SOURCES for route in source.routes if route.only_named)
_COPY_ROUTES = frozenset({"unpaywall", "openalex", "semantic_scholar", *_NAMED_ROUTES})
_PMC_ROUTES = frozenset(route.via for route in PMC.routes)
_OPENED_ROUTES = {"unpaywall": _COPY_ROUTES, "crossref": frozenset({"crossref", "publisher"})}
_TRIED = "tried_copies"  # the kind of the cache's entries


class _News(NamedTuple):
    """New routes and addresses of a paper, or the identifiers of a preprint's article."""

    stored: StoredPaper
    routes: frozenset[str]
    places: tuple[str, ...]
    article: Ids = Ids()


def recheck_texts(ladder: Ladder, *, limit: int = 0) -> Iterator[Change]:
    """Ask whether better texts of the shelf's papers appeared, and fetch those.

    Parameters
    ----------
    ladder : Ladder
    limit : int, optional
        Try at most so many papers; 0 for all.

    Yields
    ------
    Change
        One for each paper without its published full text. New texts are fetched after each
        batch, so that an interrupted run keeps what it found.

    Raises
    ------
    NotConfigured
        No e-mail address is set.
    BadRequest
        The limit is negative.
    """
    ladder.web.settings.require_email("NCBI")
    if limit < 0:
        raise BadRequest(f"The limit is {limit}; it must be 0 (all) or more.")
    yield from recheck_files(list_lacking_files(ladder), ladder, limit=limit)


def recheck_files(files: Sequence[str], ladder: Ladder, *, limit: int = 0) -> Iterator[Change]:
    """Ask whether better texts of these files' papers appeared; see `recheck_texts`."""
    asker = _IndexClient(ladder)
    left = limit or len(files)
    for start in range(0, len(files), MAX_IDS_PER_REQUEST):
        found = map(ladder.shelf.find_paper_by_file, files[start : start + MAX_IDS_PER_REQUEST])
        news: list[_News] = []
        for item in asker.ask_about([stored for stored in found if stored]):
            if isinstance(item, Change):
                yield item
            else:
                news.append(item)
        yield from _fetch_new_texts(news[:left], ladder)
        for late in news[left:]:
            yield _to_change(late.stored, "postponed", "The limit of this run was reached.")
        left -= min(left, len(news))


def list_lacking_files(
    ladder: Ladder, is_wanted: Callable[[StoredPaper], bool] = lambda _: True
) -> list[str]:
    """Return the files of wanted papers without their published, undoubted full text."""
    files: dict[str, None] = {}
    for start in itertools.count(0, _PAGE):
        _, page = ladder.shelf.list_papers(start=start, max_results=_PAGE)
        files |= {
            stored.path.rpartition("/")[2]: None
            for stored in page
            if _is_lacking(stored)
            and is_wanted(stored)
            and not (stored.kind == "full_text" and _has_article(stored, ladder))
        }
        if not page:
            return list(files)
    raise AssertionError  # pragma: no cover


def _is_lacking(stored: StoredPaper) -> bool:
    is_published = is_request_satisfied("published", stored) and not stored.is_preprint
    return not is_published or stored.is_doubtful


def _has_article(stored: StoredPaper, ladder: Ladder) -> bool:
    """Return whether the published text lies on the shelf next to a text that stood in."""
    return not all(map(_is_lacking, ladder.shelf.find_texts(stored.paper.ids)))


@dataclass(slots=True)
class _IndexClient:
    """Asks the indexes about batches of papers; an index that fails repeatedly is skipped."""

    ladder: Ladder
    silent_batches: dict[str, int] = field(default_factory=dict)
    published: dict[Ids, str] = field(default_factory=dict)  # the DOIs of preprints' articles

    def ask_about(self, batch: Sequence[StoredPaper]) -> Iterator[Change | _News]:
        """Yield what the indexes name for each paper of a batch, or the reason for no news."""
        with require_answers_since(time.time()):
            records, unknown = self._ask_pubmed([one for one in batch if one.paper.ids.pmid])
            copies, silent = self._ask_for_copies(batch)
        for old in batch:
            stored = self._store_record(old, records.get(old.paper.ids.pmid))
            news = self._find_article(stored, self.published.pop(old.paper.ids, ""))
            if news := news or self._find_new_routes(stored, copies.get(stored.paper.ids.key, [])):
                yield news
            else:
                why = unknown.get(old.paper.ids.pmid, "") or silent.get(old.paper.ids.key, "")
                yield _explain_no_news(stored, why)

    def _ask_pubmed(self, batch: Sequence[StoredPaper]) -> tuple[dict[str, Paper], dict[str, str]]:
        """Return the records by PMID, and PubMed's error for each PMID without an answer."""
        wanted = [Ids(pmid=stored.paper.ids.pmid) for stored in batch]
        if not wanted or self._is_silent("PubMed"):
            return {}, {ids.pmid: "PubMed did not answer." for ids in wanted}
        answers = look_up_records(wanted, self.ladder.web, [PUBMED_ANEW])
        records = {ids.pmid: one for ids, one in answers.items() if isinstance(one, Paper)}
        unknown = {
            ids.pmid: one.text
            for ids, one in answers.items()
            if not isinstance(one, Paper | NotFound)
        }
        self._count_silence("PubMed", is_silent=len(unknown) == len(answers))
        return records, unknown

    def _ask_for_copies(
        self, batch: Sequence[StoredPaper]
    ) -> tuple[dict[str, list[OpenCopy]], dict[str, str]]:
        """Return the open copies of each paper by its key, and the errors of the indexes."""
        copies: dict[str, list[OpenCopy]] = {}
        silent: dict[str, str] = {}
        with_names = [one.paper.ids for one in batch if one.paper.ids]
        indexes: dict[str, tuple[_ListCopies, list[Ids], int]] = {
            "Semantic Scholar": (
                partial(list_named_copies, published=self.published),
                with_names,
                MAX_IDS_PER_REQUEST,
            )
        }
        if self.ladder.web.settings.key("openalex_api_key"):
            dois = [ids for ids in with_names if ids.doi]
            indexes["OpenAlex"] = (list_open_copies, dois, MAX_DOIS_PER_LIST)
        for name, (list_copies, wanted, size) in indexes.items():
            for start in range(0, len(wanted), size):
                part = wanted[start : start + size]
                for ids, answer in self._ask_index(name, list_copies, part):
                    if isinstance(answer, PaperError):
                        silent[ids.key] = answer.text
                    else:
                        copies.setdefault(ids.key, []).extend(answer)
        return copies, silent

    def _ask_index(
        self, name: str, list_copies: _ListCopies, part: Sequence[Ids]
    ) -> Iterator[tuple[Ids, list[OpenCopy] | PaperError]]:
        if self._is_silent(name):
            yield from ((ids, SourceMiss(f"{name} did not answer.")) for ids in part)
            return
        errors = 0
        for ids, answer, _ in ask_and_isolate_failures(
            part, lambda some: list_copies(some, self.ladder.web).items(), name
        ):
            errors += isinstance(answer, SourceMiss | NotConfigured)
            yield ids, answer
        self._count_silence(name, is_silent=errors >= len(part))

    def _is_silent(self, name: str) -> bool:
        return self.silent_batches.get(name, 0) >= _MAX_SILENT_BATCHES

    def _count_silence(self, name: str, *, is_silent: bool) -> None:
        self.silent_batches[name] = self.silent_batches.get(name, 0) + 1 if is_silent else 0

    def _store_record(self, stored: StoredPaper, record: Paper | None) -> StoredPaper:
        """Add a new record to the shelf; an identifier that contradicts the paper is left out."""
        if record is None:
            return stored
        with suppress(NotFound):
            try:
                return self.ladder.shelf.add_metadata(stored, record)
            except BadRequest:
                return self.ladder.shelf.add_metadata(stored, replace(record, ids=stored.paper.ids))
        return stored

    def _find_article(self, stored: StoredPaper, doi: str) -> _News | None:
        """Return the article of a preprint, unless it is on the shelf or was tried."""
        cache, own = self.ladder.web.cache, stored.paper.ids
        if not (stored.is_preprint and is_only_preprint(stored.paper)) or doi in ("", own.doi):
            return None
        article = Ids(doi=doi, arxiv="" if own.doi else own.arxiv)
        if str(article) in (cache.get(_TRIED, own.key) or ()):
            return None
        held = self.ladder.shelf.find_text(Ids(doi=doi))
        return None if held else _News(stored, frozenset(), (str(article),), article)

    def _find_new_routes(self, stored: StoredPaper, copies: Sequence[OpenCopy]) -> _News | None:
        """Return what is new for a paper; None if nothing is."""
        routes = _find_opened_routes(stored)
        tried = self.ladder.web.cache.get(_TRIED, stored.paper.ids.key)
        known = {*(tried or ()), *map(_get_place, stored.attempts)}
        if _is_released_in_pmc(stored.paper) and not self._was_asked_since_release(stored, known):
            routes |= _PMC_ROUTES
        places = [copy.place for copy in copies if copy.place not in known][:_MAX_COPIES]
        if places:
            routes |= _COPY_ROUTES
        return _News(stored, frozenset(routes), tuple(places)) if routes else None

    def _was_asked_since_release(self, stored: StoredPaper, known: set[str]) -> bool:
        """Return whether PMC answered about this PMCID after the day of release."""
        if stored.paper.ids.pmcid in known:
            return True
        released = stored.paper.released
        return any(
            one.source in _PMC_ROUTES and one.outcome != "skipped" and one.at[:10] >= released
            for one in stored.attempts
        )


def _get_place(attempt: Attempt) -> str:
    """Return the address of an attempt that was answered; else ""."""
    return "" if attempt.outcome in INCONCLUSIVE else OpenCopy(attempt.url).place


_ListCopies = Callable[[Sequence[Ids], Any], Mapping[Ids, list[OpenCopy]]]


def _find_opened_routes(stored: StoredPaper) -> set[str]:
    """Return the routes on which a copy should have opened since they were last asked."""
    latest = {attempt.source: attempt for attempt in stored.attempts}
    return {
        route
        for attempt in latest.values()
        if attempt.at[:10] < attempt.opens <= utc_now()[:10]
        for route in _OPENED_ROUTES.get(attempt.source, ())
    }


def _is_released_in_pmc(paper: Paper) -> bool:
    return bool(paper.ids.pmcid) and paper.released <= utc_now()[:10]


def find_opening_day(stored: StoredPaper, after: str) -> str:
    """Return the first day *after* a day on which a source expects an open copy; "" if unknown."""
    days = [stored.paper.released, *(attempt.opens for attempt in stored.attempts)]
    return min((day for day in days if day > after), default="")


def _explain_no_news(stored: StoredPaper, why: str) -> Change:
    """Return the outcome of a paper without news; *why* is an index's error."""
    if day := find_opening_day(stored, utc_now()[:10]):
        who = "PMC releases it" if stored.paper.released == day else "A copy opens"
        return _to_change(stored, "embargoed", f"{who} on {day}.")
    if not stored.paper.ids:
        return _to_change(stored, "not_asked", "The paper has no identifier.")
    return _to_change(stored, "could_not_tell" if why else "unchanged", why)


def _fetch_new_texts(news: Sequence[_News], ladder: Ladder) -> Iterator[Change]:
    """Try the new routes of each paper, and record which were tried."""
    by_ids = {one.article or one.stored.paper.ids: one for one in news}
    articles = [one.article for one in news if one.article]
    records = look_up_records(articles, ladder.web, ladder.sources) if articles else {}
    for article, record in records.items():
        if isinstance(record, Paper) and not _is_article_of(by_ids[article].stored.paper, record):
            one = by_ids.pop(article)
            _record_tried(one, ladder)
            detail = f"The record of doi:{article.doi} does not agree with the preprint's."
            yield _to_change(one.stored, "no_text", detail)
    requests = [DownloadRequest(ids, renewed=one.routes) for ids, one in by_ids.items()]
    for ids, outcome in download_many(requests, ladder):
        yield _report_outcome(by_ids[ids], outcome, ladder)


def _is_article_of(preprint: Paper, article: Paper) -> bool:
    return judge_pair(preprint, article).relation in {"preprint_of", "same"}


def _report_outcome(one: _News, outcome: Download | PaperError, ladder: Ladder) -> Change:
    """Return what the new routes of a paper brought, and record that they were tried."""
    if isinstance(outcome, PaperError):
        return _to_change(one.stored, "could_not_tell", outcome.text)
    now, before = outcome.stored, one.stored
    attempts = [a for a in now.attempts if one.article or a.source in one.routes]
    if now.kind == "full_text" and (now.path, now.sha256) != (before.path, before.sha256):
        _record_tried(one, ladder)
        version = VERSION_NAMES[get_shelf_version(now)]
        return _to_change(now, "gained", f"The {version}, from {now.source}.")
    if any(a.outcome in INCONCLUSIVE for a in attempts):
        return _to_change(now, "could_not_tell", attempts[-1].detail)
    _record_tried(one, ladder)
    detail = attempts[-1].detail if attempts else "No route could be asked."
    return _to_change(now, "no_text", detail)


def _record_tried(news: _News, ladder: Ladder) -> None:
    """Record the addresses and the PMCID that led to no text."""
    cache, key = ladder.web.cache, news.stored.paper.ids.key
    tried = {*(cache.get(_TRIED, key) or ()), *news.places}
    if news.routes & _PMC_ROUTES:
        tried.add(news.stored.paper.ids.pmcid)
    cache.put(_TRIED, key, sorted(tried), ladder.web.settings.papers_retry_abstract_days)


def _to_change(stored: StoredPaper, outcome: Outcome, detail: str) -> Change:
    title = one_line(stored.paper.title)
    return Change(stored.paper.ids, outcome, detail, title, stored.path)
