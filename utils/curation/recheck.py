"""Check the papers on the shelf for retractions, corrections and new copies.

A paper is retracted, corrected, or freed by the end of an embargo after it was saved. Everything on
the shelf is asked about again, 200 papers a request: PubMed knows retractions, expressions of
concern, corrections and new PMCIDs; for papers it does not have, Crossref knows what their
publishers registered. What is new is written into the shelf, and a retracted paper says so in its
first line.

A PMID that PubMed no longer has was merged into another or deleted; it is left out of the answer
without a word (facts on efetch), as is a record lost on the way. So what is missing is asked for
again, beside a paper that is known to be there.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ..download.records import CROSSREF_ANEW, PUBMED_ANEW, look_up_records
from ..errors import BadRequest, NotFound, PaperError, Unreachable
from ..http import Web, require_answers_since
from ..model.identifiers import Ids
from ..model.paper import Notice, NoticeKind, Paper, StoredPaper, utc_now
from ..shelf import Shelf, is_identified_by_name_only
from ..sources import Source
from ..sources.crossref import SOURCE as CROSSREF
from ..sources.eutils import MAX_IDS_PER_REQUEST
from ..sources.pmc import SOURCE as PMC
from ..sources.pubmed import SOURCE as PUBMED
from ..system.plain_text import one_line

_PAGE = 1000
_MAX_FAILED_BATCHES = (
    3  # batches without an answer: a site that is down is not asked five hundred times
)
_IN_PMC = {route.via for route in PMC.routes}

Outcome = Literal[
    "retracted",
    "concern",
    "corrected",
    "new_copy",
    "recorded",
    "gone",
    "gained",
    "no_text",
    "embargoed",
    "postponed",
    "could_not_tell",
    "not_asked",
    "unchanged",
]
_NOTICE_OUTCOMES: dict[NoticeKind, Outcome] = {
    "retraction": "retracted",
    "expression_of_concern": "concern",
    "erratum": "corrected",
    "republication": "corrected",
    "update": "corrected",
}
_WORDS = {
    "retracted": "The paper was retracted",
    "concern": "The paper has an expression of concern",
    "corrected": "The paper was corrected",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One piece of news about a paper; there may be several of one paper.

    Parameters
    ----------
    outcome : str
        ``retracted``, ``concern``, ``corrected``; ``new_copy`` (only its abstract or preprint is
        here, and PMC has a copy that was not asked for yet); ``recorded`` (the record of a file
        that somebody else saved, and that only its name identified; an audit can now check it);
        ``gone`` (PubMed no longer has this PMID); ``could_not_tell`` (no source answered);
        ``not_asked`` (it has no identifier to ask by); ``unchanged``. Of texts (`.text_recheck`):
        ``gained`` (a full text, or a better version, was fetched); ``no_text`` (a new copy was
        named, but it is not the text); ``embargoed`` (PMC releases it later); ``postponed`` (the
        limit of the run was reached).
    ids : Ids
        Its identifiers, new ones included, as a harvest takes them.
    """

    ids: Ids
    outcome: Outcome
    detail: str = ""
    title: str = ""
    file_path: str = ""

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return {
            "paper": str(self.ids),
            "outcome": self.outcome,
            "detail": self.detail,
            "title": self.title,
            "pmid": self.ids.pmid,
            "pmcid": self.ids.pmcid,
            "doi": self.ids.doi,
            "file_path": self.file_path,
        }


def recheck_papers(shelf: Shelf, web: Web, *, crossref: bool = True) -> Iterator[Change]:
    """Fetch the current records of all papers on the shelf.

    Parameters
    ----------
    shelf : Shelf
    web : Web
    crossref : bool, optional
        Also ask Crossref, one request a paper, about papers that have a DOI and no PMID.

    Yields
    ------
    Change
        At least one for each paper.

    Raises
    ------
    NotConfigured
        No e-mail address is set.
    StoreFailed
        The disk refuses.
    """
    web.settings.require_email("NCBI")
    yield from _fetch_missing_records(shelf, web, [PUBMED, CROSSREF] if crossref else [PUBMED])
    entries = _list_entries(shelf)
    by_pmid = [paper for paper in entries if paper.ids.pmid]
    yield from _Recheck(shelf, web, PUBMED_ANEW).ask_in_batches(by_pmid)
    others = [paper for paper in entries if not paper.ids.pmid]
    by_doi = [paper for paper in others if paper.ids.doi and crossref]
    yield from _Recheck(shelf, web, CROSSREF_ANEW).ask_one_by_one(by_doi)
    for paper in others:
        if not (paper.ids.doi and crossref):
            detail = "The paper has no PMID, and no other source was asked."
            yield Change(paper.ids, "not_asked", detail, file_path=str(shelf.folder / paper.file))


class _ShelfEntry(NamedTuple):
    """A paper of the shelf with few fields, as there may be a hundred thousand papers."""

    file: str
    ids: Ids
    by_name: bool = False


def _list_entries(shelf: Shelf) -> list[_ShelfEntry]:
    """Return the whole shelf, listed before an update can change its order."""
    entries: dict[str, _ShelfEntry] = {}
    for start in itertools.count(0, _PAGE):
        _, page = shelf.list_papers(start=start, max_results=_PAGE)
        for stored in page:
            file = stored.path.rpartition("/")[2]
            entries[file] = _ShelfEntry(file, stored.paper.ids, is_identified_by_name_only(stored))
        if not page:
            return list(entries.values())
    raise AssertionError  # pragma: no cover


def _fetch_missing_records(shelf: Shelf, web: Web, sources: Sequence[Source]) -> Iterator[Change]:
    """Fetch the records of adopted files that are known only by their file name.

    What no source answers here is asked for again with the notices.
    """
    unknown = [paper for paper in _list_entries(shelf) if paper.by_name]
    for batch in _split_into_batches(unknown, MAX_IDS_PER_REQUEST):
        with require_answers_since(time.time()):  # what is new is asked for
            found = look_up_records(list({paper.ids: None for paper in batch}), web, sources)
        for file, ids, _ in batch:
            record, stored = found[ids], shelf.find_paper_by_file(file)
            if stored is None or not isinstance(record, Paper):
                continue
            with suppress(BadRequest, NotFound):  # it names itself otherwise; deleted since
                updated = shelf.add_metadata(stored, record)
                title, path = one_line(updated.paper.title), updated.path
                detail = "Its record was found: run an audit to compare the text with it."
                yield Change(updated.paper.ids, "recorded", detail, title, path)


@dataclass(slots=True)
class _Recheck:
    """Asking one source about many papers, until it has failed often enough."""

    shelf: Shelf
    web: Web
    source: Source
    failed: int = 0
    why: str = ""
    known_ids: Ids | None = None
    missing: list[_ShelfEntry] = field(default_factory=list)

    def ask_in_batches(self, papers: Sequence[_ShelfEntry]) -> Iterator[Change]:
        """Ask about papers in batches of 200, then again about those missing from the answers."""
        for batch in _split_into_batches(papers, MAX_IDS_PER_REQUEST):
            for paper, outcome in self._ask_batch(batch):
                if isinstance(outcome, NotFound):
                    self.missing.append(paper)
                else:
                    yield from self._report_news(paper, outcome)
        for batch in _split_into_batches(self.missing, MAX_IDS_PER_REQUEST - 1):
            yield from self._ask_again(batch)

    def ask_one_by_one(self, papers: Sequence[_ShelfEntry]) -> Iterator[Change]:
        """Ask about each paper, for notices only; titles and authors are not better there.

        A paper the source does not know is registered elsewhere: it counts as unchanged.
        """
        for paper in papers:
            [(_, outcome)] = self._ask_batch([paper])
            if isinstance(outcome, Paper | NotFound):
                notices = outcome.notices if isinstance(outcome, Paper) else ()
                yield from self._report_news(paper, Paper(paper.ids, notices=notices))
            else:
                yield from self._report_news(paper, outcome)

    def _ask_again(self, batch: Sequence[_ShelfEntry]) -> Iterator[Change]:
        sure = False
        beside = [_ShelfEntry("", self.known_ids)] if self.known_ids else []
        found = self._ask_batch([*beside, *batch])
        if beside:
            sure = isinstance(found[0][1], Paper)
            found = found[1:]
        for paper, outcome in found:
            if not isinstance(outcome, NotFound):
                yield from self._report_news(paper, outcome)
            elif sure:
                detail = f"PubMed no longer has PMID {paper.ids.pmid}: it was merged or deleted."
                yield self._to_change(paper, "gone", detail)
            else:
                yield self._to_change(paper, "could_not_tell", "PubMed's answer was not complete.")

    def _ask_batch(
        self, batch: Sequence[_ShelfEntry]
    ) -> list[tuple[_ShelfEntry, Paper | PaperError]]:
        """Return one outcome for each paper; a source that failed repeatedly is skipped."""
        if self.failed >= _MAX_FAILED_BATCHES:
            silent = Unreachable(self.why)
            return [(paper, silent) for paper in batch]
        key = "pmid" if self.source is PUBMED_ANEW else "doi"
        ids_of = {paper.file: Ids(**{key: getattr(paper.ids, key)}) for paper in batch}
        with require_answers_since(time.time()):
            found = look_up_records(list(dict.fromkeys(ids_of.values())), self.web, [self.source])
        outcomes = [(paper, found[ids_of[paper.file]]) for paper in batch]
        troubles = [o for _, o in outcomes if not isinstance(o, Paper | NotFound)]
        self.failed = self.failed + 1 if len(troubles) == len(batch) else 0
        if self.failed:
            self.why = troubles[0].text
        self.known_ids = next((p.ids for p, o in outcomes if isinstance(o, Paper)), self.known_ids)
        return outcomes

    # -- what is new -------------------------------------------------------------------------

    def _report_news(self, paper: _ShelfEntry, outcome: Paper | PaperError) -> Iterator[Change]:
        if isinstance(outcome, PaperError):
            yield self._to_change(paper, "could_not_tell", outcome.text)
            return
        stored = self.shelf.find_paper_by_file(paper.file)
        if stored is None:  # deleted, or joined with another, since the list was made
            return
        news = list(_find_news(stored, outcome))
        try:
            updated = self._store_update(stored, outcome)
        except NotFound:
            return
        for kind, detail in news or [("unchanged", "")]:
            title = one_line(updated.paper.title)
            yield Change(updated.paper.ids, kind, detail, title, updated.path)

    def _store_update(self, stored: StoredPaper, paper: Paper) -> StoredPaper:
        try:
            return self.shelf.add_metadata(stored, paper)
        except BadRequest:
            # A changed identifier is not believed without proof; a retraction is.
            return self.shelf.add_metadata(stored, replace(paper, ids=stored.paper.ids))

    def _to_change(self, paper: _ShelfEntry, outcome: Outcome, detail: str) -> Change:
        return Change(paper.ids, outcome, detail, file_path=str(self.shelf.folder / paper.file))


def find_notice_news(old: Paper, paper: Paper) -> Iterator[tuple[Outcome, str]]:
    """Yield the retractions and corrections that a current record adds to an older one."""
    old_notices = {(notice.kind, notice.pmid or notice.reference) for notice in old.notices}
    news: dict[Outcome, Notice] = {}
    for notice in paper.notices:
        outcome = _NOTICE_OUTCOMES.get(notice.kind)
        if outcome and (notice.kind, notice.pmid or notice.reference) not in old_notices:
            news.setdefault(outcome, notice)
    if paper.retracted:
        news.setdefault("retracted", Notice("retraction"))
    if old.retracted:
        news.pop("retracted", None)
    for outcome, notice in news.items():
        pmid = f"PMID {notice.pmid}" * bool(notice.pmid)
        where = ", ".join(filter(None, (one_line(notice.reference), pmid)))
        yield outcome, f"{_WORDS[outcome]}{f' ({where})' * bool(where)}."


def _find_news(stored: StoredPaper, paper: Paper) -> Iterator[tuple[Outcome, str]]:
    """Yield what the current record adds to the stored record."""
    old = stored.paper
    yield from find_notice_news(old, paper)
    if _is_available_in_pmc(stored, paper):
        pmcid = paper.ids.pmcid or old.ids.pmcid
        here = "only the preprint is" if stored.is_preprint else "its full text is not"
        yield "new_copy", f"PMC has a copy, {pmcid}; {here} on the shelf."


def _is_available_in_pmc(stored: StoredPaper, paper: Paper) -> bool:
    """Return whether PMC may have a text that was not requested yet.

    True until somebody does: a change that was overlooked is reported again.
    """
    pmcid = paper.ids.pmcid or stored.paper.ids.pmcid
    lacking = stored.kind != "full_text" or stored.is_preprint or stored.is_doubtful
    if not lacking or not pmcid or paper.released > utc_now()[:10]:
        return False
    return not any(a.source in _IN_PMC and a.outcome != "skipped" for a in stored.attempts)


def _split_into_batches(
    papers: Sequence[_ShelfEntry], size: int
) -> Iterable[Sequence[_ShelfEntry]]:
    return (papers[start : start + size] for start in range(0, len(papers), size))
