"""Search PubMed: validate a query, fetch one page of papers, or find every PMID.

PubMed hands out the first 9,999 hits of a search only. A longer search is cut into ranges of the
Entrez date until each fits. Not of the publication date: records that carry only a year count as
the first of January, and such days hold hundreds of thousands. A day that does not fit is cut by
yes-or-no questions, which divide any set exactly. The counts are reconciled all the way: what one
half does not hold, the other must, and the whole range must hold what the search found (measured
August 2026). The first papers are read from NCBI's history server, which keeps the result.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta

from ...errors import BadRequest, Unreachable
from ...http import Web
from ...model.paper import NO_HITS, SearchResult
from ...sources import Query, Source
from ...sources.eutils_services import Summary, fetch_summaries
from ...sources.pubmed import (
    LAST_HIT,
    Hits,
    add_date_range,
    build_search_url,
    build_term,
    count_hits,
    fetch_first_hits,
    search_pmids,
)
from ...sources.source import require_valid_dates, require_valid_page
from ...system.plain_text import prepare_query_text, shorten

SORTS = ("pub_date", "relevance", "author", "journal")
DATE_TYPES = ("pdat", "edat", "mdat")
MAX_RESULTS = 1000
QUERY_MAX_CHARS = 20_000
MAX_TYPES = 100  # PubMed has some eighty
_NAME_MAX_CHARS = 200
MAX_SUMMARIES = 100
_EARLIEST, _LATEST = "1800", "3000"
_BEGINNING, _END = date(1900, 1, 1), date(2100, 12, 31)
_DAY = timedelta(days=1)
# PubMed grows by about 4.5 % a year: a guess at where the hits lie that saves requests, no more.
_GROWTH = 0.045 / 365.25
# Slices meant to be this full still fit when the guess is a tenth off.
_FULL_SLICE = 0.9 * LAST_HIT
_GENE_TAG = "[Gene Symbol]"
_QUESTIONS = ("hasabstract", "english[la]", "humans[mh]", '"journal article"[pt]', "medline[sb]")


def search_pubmed(query: Query, web: Web, sources: Sequence[Source]) -> SearchResult:
    """Search PubMed in its own query language.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    NotConfigured
        No e-mail address is set.
    Unreachable
        PubMed did not answer, or reported an error of its own: never shown as "0 results".
    """
    pubmed = next(source for source in sources if source.name == "pubmed")
    assert pubmed.search is not None
    found = pubmed.search(normalize_query(query), web)
    return found if found.total else replace(found, warnings=(NO_HITS, *found.warnings))


def search_ligand_receptor(
    ligand: str, receptor: str, query: Query, web: Web, sources: Sequence[Source]
) -> SearchResult:
    """Search PubMed for the interaction of a ligand and its receptor, with the options of *query*.

    PubMed does not know the tag that the question has, and looks for the names in all fields, as is
    meant: its warning about that tag is for questions that others wrote.
    """
    text = build_ligand_receptor_query(ligand, receptor)
    found = search_pubmed(replace(query, text=text), web, sources)
    return replace(found, warnings=tuple(one for one in found.warnings if _GENE_TAG not in one))


def find_every_pmid(query: Query, web: Web) -> AllHits:
    """Find every hit of a query, however many there are.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer, or reported an error of its own.
    """
    return search_every_pmid(normalize_query(query), web)


def count_by_filter(query: Query, filters: Sequence[str], web: Web) -> dict[str, int]:
    """Return the number of hits of a query under each filter, such as ``hasabstract``.

    One small request each, without PMIDs; the filter ``""`` counts them all.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer, or reported an error of its own.
    """
    query = normalize_query(query)
    return {
        words: count_hits(query, web, f"AND ({words})" if words else "")
        for words in dict.fromkeys(filters)
    }


def build_ligand_receptor_query(ligand: str, receptor: str) -> str:
    """Build the query for papers on the interaction of a ligand and its receptor.

    >>> build_ligand_receptor_query("CXCL12", "CXCR4")[:53]
    '(CXCL12[Gene Symbol] OR CXCL12[MeSH Terms]) AND (CXCR'
    """
    left, right = _clean_gene_name(ligand, "ligand"), _clean_gene_name(receptor, "receptor")
    return (
        f"({left}{_GENE_TAG} OR {left}[MeSH Terms]) AND "
        f"({right}{_GENE_TAG} OR {right}[MeSH Terms]) AND "
        "(interaction OR signaling OR binding OR pathway)"
    )


def normalize_query(query: Query) -> Query:
    """Return the query on one line, with dates and types as PubMed takes them.

    Raises
    ------
    BadRequest
        One sentence about what is wrong with it.
    """
    text = prepare_query_text(query.text, "query", QUERY_MAX_CHARS)
    if not text.strip():
        raise BadRequest("The query is empty.", 'For example: CRISPR[Title] AND "2026"[PDAT]')
    _require_closed_brackets(text)
    _require_one_of("sort_by", query.sort_by, SORTS)
    _require_one_of("date_type", query.date_type, DATE_TYPES)
    require_valid_page(query.max_results, query.start, MAX_RESULTS)
    require_valid_dates(query)
    first, last = query.min_date, query.max_date
    if first or last:  # PubMed ignores one that comes alone
        first, last = first or _EARLIEST, last or _LATEST
    kinds = _require_publication_types(query.publication_types)
    return replace(query, text=text, min_date=first, max_date=last, publication_types=kinds)


def _require_publication_types(types: Sequence[str]) -> tuple[str, ...]:
    """Return the publication types; raise for an empty name, which would match nothing."""
    if len(types) > MAX_TYPES:
        msg = f"{len(types):,} publication types are given; {MAX_TYPES} is the most."
        raise BadRequest(msg, "Leave them out to search all types.")
    kinds = []
    for number, kind in enumerate(types, start=1):
        name = (
            prepare_query_text(kind, f"publication type {number}", _NAME_MAX_CHARS)
            .replace('"', "")
            .strip()
        )
        if not name:
            msg = f"Publication type {number} is empty."
            raise BadRequest(msg, "Name one, such as Review, or leave it out.")
        kinds.append(name)
    return tuple(kinds)


def _clean_gene_name(name: str, role: str) -> str:
    cleaned = re.sub(r'[\[\]()"]', " ", prepare_query_text(name, role, _NAME_MAX_CHARS)).strip()
    if not cleaned:
        raise BadRequest(f"The {role} is empty.", "Give a gene symbol or a name, such as CXCL12.")
    return re.sub(r"\s+", " ", cleaned)


def _require_closed_brackets(text: str) -> None:
    bare = re.sub(r'"[^"]*"', "", text)
    if '"' in bare:
        raise BadRequest("A quotation mark in the query is not closed.", "Close or remove it.")
    for left, right in ("()", "[]"):
        depth = 0
        for character in bare:
            depth += (character == left) - (character == right)
            if depth < 0:
                break
        if depth:
            msg = f"The brackets {left}{right} in the query do not match."
            raise BadRequest(msg, "Count them, or remove them.")


def _require_one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        shown = shorten(value, 40)
        raise BadRequest(f"{name} is {shown!r}.", f"It must be one of {', '.join(allowed)}.")


@dataclass(frozen=True, slots=True)
class ArticleSearch:
    """The result of a search: ``term`` was sent, ``search_url`` is its address without keys."""

    query: Query
    term: str
    hits: Hits
    summaries: tuple[Summary, ...]
    warnings: tuple[str, ...]
    search_url: str
    summary_url: str = ""


def search_articles(query: Query, first: int, web: Web) -> ArticleSearch:
    """Return the PMIDs that a query finds, and summaries of the *first* papers.

    Raises
    ------
    BadRequest
        The query cannot be sent as it is.
    Unreachable
        PubMed did not answer.
    """
    if len(query.text.strip()) < 3:
        raise BadRequest("The query has fewer than 3 characters.", "Give at least one word.")
    if not 0 <= first <= MAX_SUMMARIES:
        msg = f"fetch_brief_summaries is {first}; it must lie between 0 and {MAX_SUMMARIES}."
        raise BadRequest(msg, "Get the details of other papers by PMID.")
    query = normalize_query(query)
    hits = search_pmids(query, web, kept=first > 0)
    url = build_search_url(query, web, kept=first > 0)
    warnings = hits.warnings if hits.total else (NO_HITS, *hits.warnings)
    found = ArticleSearch(query, add_date_range(build_term(query), query), hits, (), warnings, url)
    if not (first and hits.pmids):
        return found
    try:
        known, summary_url = fetch_summaries(hits, first, web)
    except Unreachable as miss:
        # The PMIDs are an answer already; the summaries can be requested again.
        return replace(found, warnings=(*hits.warnings, f"No summaries: {miss.message}"))
    missing = [pmid for pmid in hits.pmids[:first] if pmid not in known]
    warnings = (f"PubMed sent no summary of PMID {', '.join(missing)}.",) if missing else ()
    return replace(
        found,
        summaries=tuple(known[pmid] for pmid in hits.pmids[:first] if pmid in known),
        warnings=(*hits.warnings, *warnings),
        summary_url=summary_url,
    )


@dataclass(frozen=True, slots=True)
class AllHits:
    """All hits of a search, in pages of at most 9,999 PMIDs.

    Parameters
    ----------
    total : int
        What PubMed counted for the whole search.
    effective_query : str
        What PubMed understood.
    warnings : list of str
        Grows while ``pages`` are read: figures that do not agree.
    pages : iterator of tuple of str
        No PMID comes twice. Raises `Unreachable` in the middle when PubMed does not answer, or
        contradicts itself: then nothing is known about the rest. Another call starts anew.
    """

    total: int
    effective_query: str
    warnings: list[str]
    pages: Iterator[tuple[str, ...]]


def search_every_pmid(query: Query, web: Web) -> AllHits:
    """Find every hit of *query*; its ``start``, ``max_results`` and order are ignored.

    Raises
    ------
    Unreachable
        PubMed did not answer the search at all.
    """
    whole = fetch_first_hits(query, web)
    warnings = list(whole.warnings)
    if whole.total <= LAST_HIT:
        pages = iter([whole.pmids] if whole.pmids else [])
    else:
        pages = _DateSlicer(query, web, whole.total, warnings).iterate_pmid_pages()
    return AllHits(whole.total, whole.effective_query, warnings, pages)


@dataclass(frozen=True, slots=True)
class _DateSlice:
    """A range of Entrez dates, and answers to yes-or-no questions."""

    first: date = _BEGINNING
    last: date = _END
    answers: tuple[str, ...] = ()

    def __str__(self) -> str:
        days = f'"{self.first:%Y/%m/%d}"[edat] : "{self.last:%Y/%m/%d}"[edat]'
        return " ".join([f"AND ({days})", *self.answers])

    def split_by_weight(self, share: float) -> tuple[_DateSlice, _DateSlice] | None:
        """Return two slices with the hits of this slice; None if it cannot be divided further.

        The earlier one is meant to hold *share* of the hits.
        """
        if self.first < self.last:
            cut = _find_split_day(self.first, self.last, share)
            return replace(self, last=cut), replace(self, first=cut + _DAY)
        if len(self.answers) == len(_QUESTIONS):
            return None
        question = _QUESTIONS[len(self.answers)]
        yes, no = (*self.answers, f"AND {question}"), (*self.answers, f"NOT {question}")
        return replace(self, answers=yes), replace(self, answers=no)

    @property
    def weight(self) -> float:
        """The estimated number of hits in the slice, in arbitrary units."""
        days = (_cap_at_today(self.first, self.last) - self.first).days + 1
        return math.exp(_GROWTH * (self.first - _BEGINNING).days) * math.expm1(_GROWTH * days)


def _cap_at_today(first: date, last: date) -> date:
    """Return *last*, or today if *last* is later; a clock that is set too early is ignored."""
    tomorrow = datetime.fromtimestamp(time.time(), UTC).date() + _DAY
    return min(last, tomorrow) if first < tomorrow else last


def _find_split_day(first: date, last: date, share: float) -> date:
    """Return the last day of an earlier part that holds *share* of the weight."""
    days = (_cap_at_today(first, last) - first).days
    reach = math.log1p(share * math.expm1(_GROWTH * days)) / _GROWTH
    return first + max(0, min(int(reach), days - 1)) * _DAY


@dataclass(slots=True)
class _DateSlicer:
    """Splits a search by Entrez date until each slice fits into one answer."""

    query: Query
    web: Web
    total: int
    warnings: list[str]
    seen: set[int] = field(default_factory=set)
    density: float = 0.0

    def iterate_pmid_pages(self) -> Iterator[tuple[str, ...]]:
        whole = _DateSlice()
        count = self._count_all_hits(whole)
        waiting = [(whole, count)]
        self.density = count / whole.weight
        while waiting:
            part, expected = waiting.pop()
            parts = (
                part.split_by_weight(self._compute_slice_share(part))
                if expected > LAST_HIT
                else None
            )
            chosen = parts[0] if parts else part
            hits = fetch_first_hits(self.query, self.web, str(chosen))
            _require_plausible_count(expected, hits.total, part, whole=parts is None)
            # Neighbouring dates are alike; where there was nothing, the next step is longer.
            self.density = hits.total / chosen.weight or self.density / 4
            if parts and hits.total < expected:
                waiting.append((parts[1], expected - hits.total))
            if hits.total > LAST_HIT and chosen.split_by_weight(0.5):
                waiting.append((chosen, hits.total))
            elif new := self._select_new_pmids(hits, chosen):
                yield new
        if len(self.seen) != count:
            warning = f"PubMed counted {count:,} hits, and its slices by Entrez date held"
            self.warnings.append(f"{warning} {len(self.seen):,}.")

    def _compute_slice_share(self, part: _DateSlice) -> float:
        """Return the share of *part* that fills one slice; at most half, so every search ends."""
        return min(0.5, _FULL_SLICE / (self.density * part.weight))

    def _count_all_hits(self, whole: _DateSlice) -> int:
        count = count_hits(self.query, self.web, str(whole))
        if not count:
            _require_plausible_count(self.total, count, whole, whole=True)
        if count != self.total:
            warning = f"PubMed counts {self.total:,} hits, {count:,} of them by Entrez date"
            self.warnings.append(f"{warning}: {abs(self.total - count):,} may be missing.")
        return count

    def _select_new_pmids(self, hits: Hits, part: _DateSlice) -> tuple[str, ...]:
        if (lost := hits.total - len(hits.pmids)) > 0:
            warning = f"{hits.total:,} hits share the Entrez date {part.first:%Y/%m/%d}"
            self.warnings.append(f"{warning}; PubMed does not return {lost:,} of them.")
        new = tuple(pmid for pmid in hits.pmids if int(pmid) not in self.seen)
        self.seen.update(map(int, new))
        return new


def _require_plausible_count(expected: int, counted: int, part: _DateSlice, *, whole: bool) -> None:
    """Check counts: a part may hold fewer hits than *expected*, the *whole* may not.

    Small differences are records that came in meanwhile; others mean that we cannot tell.
    """
    slack = max(10, expected // 100)
    least = expected - slack if whole else 0
    if least <= counted <= expected + slack:
        return
    days = f"{part.first:%Y/%m/%d} to {part.last:%Y/%m/%d}"
    msg = f"PubMed contradicts itself: {expected:,} and {counted:,} hits for Entrez dates {days}."
    raise Unreachable(msg, "Run the search again in a few minutes.")
