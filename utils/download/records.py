"""Look up the records of papers by any of their identifiers.

`look_up_records` asks a mirror of PubMed and then the sites, each about the papers still unknown; a
paper that does not exist is told apart from one that could not be looked up. `fetch_records` asks
the shelf first. `convert_identifiers` returns the other identifiers only: NCBI's converter has
PMCIDs, PubMed's own records connect the rest, and Europe PMC adds what PubMed lacks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from ..command_line import command_line
from ..errors import BadRequest, NotConfigured, NotFound, PaperError, SourceMiss, Unreachable
from ..http import Answer, Web, require_answers_since
from ..model.identifiers import Ids
from ..model.paper import Paper, paper_from_row, to_row
from ..shelf import Shelf
from ..sources import Lookup, Source, ask_and_isolate_failures
from ..sources.crossref import SOURCE as CROSSREF
from ..sources.crossref import look_up_papers as ask_crossref
from ..sources.eutils import MAX_IDS_PER_REQUEST
from ..sources.pubmed import SOURCE as PUBMED
from ..sources.pubmed import fetch_papers
from ..sources.source import find_records
from ..system.plain_text import replace_surrogates, shorten

_ENOUGH = 3  # consecutive batches without an answer, each of which was retried
_MINUTE = 1 / 1440  # days
_HOUR = 1 / 24  # days; a source may soon have a new paper
Outcome = Paper | SourceMiss | NotConfigured | None


def look_up_records(
    wanted: Sequence[Ids],
    web: Web,
    sources: Sequence[Source],
    silent: dict[Ids, PaperError] | None = None,
) -> dict[Ids, Paper | PaperError]:
    """Look up the records of many papers, from the first source that has each.

    Records on this machine (a mirror of PubMed) come first. Every source is asked once, in batches,
    about the papers still unknown to those before it.

    Parameters
    ----------
    silent : dict, optional
        Receives the error of a source that did not answer about a paper that another one has.

    Returns
    -------
    dict
        One outcome for each of *wanted*: the paper; `NotFound` if all sources answered that they
        lack it; `Unreachable` if a source that may have it did not answer.
    """
    inquiries = {ids: _Inquiry(ids, Paper(ids)) for ids in wanted}
    if any(source.name == PUBMED.name for source in sources):
        _take_local_records(inquiries, find_records(wanted, web.settings))
    for source in sources:
        if source.lookup is None:
            continue
        pending: dict[Ids, list[_Inquiry]] = {}
        for inquiry in inquiries.values():
            if inquiry.is_answerable_by(source.lookup):
                pending.setdefault(inquiry.paper.ids, []).append(inquiry)
        if not pending:
            continue
        for asked, outcome in _ask_source(source, source.lookup, list(pending), web):
            for inquiry in pending[asked]:
                inquiry.take_outcome(source.name, outcome)
    outcomes = {ids: inquiry.to_outcome() for ids, inquiry in inquiries.items()}
    if silent is not None:
        errors = {ids: inquiry.trouble for ids, inquiry in inquiries.items()}
        silent |= {
            ids: error
            for ids, error in errors.items()
            if error and isinstance(outcomes[ids], Paper)
        }
    return outcomes


def _take_local_records(inquiries: Mapping[Ids, _Inquiry], held: Mapping[Ids, Paper]) -> None:
    for inquiry in inquiries.values():
        if paper := held.get(inquiry.wanted):
            inquiry.take_outcome(PUBMED.name, paper)


def add_registered_terms(paper: Paper, web: Web, sources: Sequence[Source]) -> Paper:
    """Return the paper with the licence and notices that its publisher registered.

    Call it only for texts without a license. It never fails, and skips a registry that does not
    answer for a minute, because a text waits for the result.
    """
    registry = next((source for source in sources if source.name == "crossref"), None)
    if not paper.ids.doi or registry is None or registry.lookup is None:
        return paper
    if web.cache.get("silent", registry.name):
        return paper
    for _, record in _ask_source(registry, registry.lookup, [Ids(doi=paper.ids.doi)], web):
        if isinstance(record, Paper):
            license_ = paper.license or record.license
            return replace(paper, license=license_, notices=paper.notices or record.notices)
        if isinstance(record, Unreachable):
            web.cache.put("silent", registry.name, value=True, days=_MINUTE)
    return paper


@dataclass(slots=True)
class _Inquiry:
    """The lookup of one paper, passed from source to source."""

    wanted: Ids
    paper: Paper
    trouble: PaperError | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def _has_record(self) -> bool:
        # Identifiers alone do not make a record; a few records of PubMed have no title.
        return bool(self.paper.title or self.paper.journal or self.paper.published)

    def is_answerable_by(self, lookup: Lookup) -> bool:
        settled = self._has_record or isinstance(self.trouble, BadRequest | NotConfigured)
        return not settled and any(getattr(self.paper.ids, name) for name in lookup.by)

    def take_outcome(self, name: str, outcome: Outcome) -> None:
        self.asked.append(name)
        if isinstance(outcome, SourceMiss | NotConfigured):
            self.trouble = outcome
        elif outcome and (clash := self.wanted.clash(outcome.ids)):
            msg = f"The identifiers belong to different papers: {clash}."
            self.trouble = BadRequest(msg, "Give one identifier, or several of the same paper.")
        elif outcome:
            # The record, with the identifiers known before.
            self.paper = replace(outcome, ids=outcome.ids | self.paper.ids, recorded_by=name)

    def to_outcome(self) -> Paper | PaperError:
        if isinstance(self.trouble, BadRequest | NotConfigured):
            return self.trouble
        if self._has_record:
            return self.paper
        if self.trouble:
            msg = f"{self.wanted} could not be looked up. {self.trouble.message}"
            answers = {**self.trouble.details, "said": self.trouble.message}
            return Unreachable(msg, self.trouble.hint, **answers)
        msg = f"{self.wanted} does not exist in {' or '.join(self.asked) or 'any database'}."
        return NotFound(
            msg, f"Check the identifier, or search for the title: {command_line('search TITLE')}"
        )


def _ask_source(
    source: Source, lookup: Lookup, pending: Sequence[Ids], web: Web
) -> Iterator[tuple[Ids, Outcome]]:
    """Yield an outcome for each of *pending*: the paper, or None if the source has no record.

    A request that the source rejects, or whose answer cannot be parsed, is repeated in halves, so
    that one paper cannot fail the others. A source that stops answering is not asked about the
    rest.
    """
    # Outside the batches, where a failed request would lose them.
    recalled = _find_recent_answers(source, lookup, pending, web)
    yield from recalled.items()
    unknown = [ids for ids in pending if ids not in recalled]
    silent, outcome = 0, None
    for start in range(0, len(unknown), lookup.batch):
        batch = unknown[start : start + lookup.batch]
        if silent >= _ENOUGH:
            yield from ((ids, outcome) for ids in batch)  # the outcome of the last request
            continue
        answered = False
        for ids, outcome in _ask_under_leases(source, lookup, batch, web):
            answered |= not isinstance(outcome, Unreachable)
            yield ids, outcome
        silent = 0 if answered else silent + 1


def _ask_under_leases(
    source: Source, lookup: Lookup, batch: Sequence[Ids], web: Web
) -> Iterator[tuple[Ids, Outcome]]:
    """Ask about the papers that no other thread is asking about, and read what the others stored.

    The source's answer about each paper is stored separately, because batches differ.
    """
    left = {_build_record_name(source, ids): ids for ids in batch}
    while left:
        about = f"the records of {len(left)} papers at {source.name}"
        with web.leases.hold_free_leases(left, about) as names:
            mine = [ids for name, ids in left.items() if name in names]
            recalled = _find_recent_answers(source, lookup, mine, web)
            yield from recalled.items()
            unknown = [ids for ids in mine if ids not in recalled]
            with require_answers_since(time.time() - _HOUR * 86400):
                answers = ask_and_isolate_failures(
                    unknown, partial(_fetch_records, lookup, web), source.name
                )
                outcomes = {ids: outcome for ids, outcome, _ in answers} if unknown else {}
            _store_answers(source, lookup, outcomes, web)
            yield from outcomes.items()
        left = {name: ids for name, ids in left.items() if name not in names}


def _fetch_records(
    lookup: Lookup, web: Web, batch: Sequence[Ids]
) -> Iterator[tuple[Ids, Paper | None]]:
    known = lookup.ask(batch, web)
    yield from ((ids, known.get(ids)) for ids in batch)


def _find_recent_answers(
    source: Source, lookup: Lookup, wanted: Sequence[Ids], web: Web
) -> dict[Ids, Outcome]:
    """Return recent answers of the source, which are not requested again."""
    known_before = lookup.recall(wanted, web)
    known: dict[Ids, Outcome] = {ids: known_before[ids] for ids in wanted if ids in known_before}
    for ids in wanted:
        if (
            ids in known
            or (answer := web.journal.find_usable_answer(_build_record_name(source, ids), _HOUR))
            is None
        ):
            continue
        with suppress(LookupError, TypeError, AttributeError):  # written by another version
            known[ids] = paper_from_row(answer.json()) if answer.status == 200 else None
    return known


def _store_answers(
    source: Source, lookup: Lookup, outcomes: Mapping[Ids, Outcome], web: Web
) -> None:
    known = lookup.recall([*outcomes], web)  # stored by the source itself
    for ids, outcome in outcomes.items():
        if ids in known or isinstance(outcome, SourceMiss | NotConfigured):
            continue
        body = json.dumps(to_row(outcome)).encode() if outcome else b""
        web.journal.store_answer(
            _build_record_name(source, ids), Answer(200 if outcome else 404, "", body)
        )


def _build_record_name(source: Source, ids: Ids) -> str:
    return f"record {source.name} {' '.join(ids.names())}"


def fetch_records(
    wanted: Iterable[Ids], shelf: Shelf, web: Web, sources: Sequence[Source]
) -> list[tuple[Ids, Paper | PaperError]]:
    """Return the record of each paper, in the order of *wanted*; the shelf's record if it has one.

    A record without a title (of an older program) is looked up again.

    Returns
    -------
    list of tuple
        The identifiers with the paper, or with the error; see `look_up_records`.
    """
    identifiers = list(wanted)
    on_shelf = {ids: stored.paper for ids in identifiers if (stored := shelf.find_text(ids))}
    known = {ids: paper for ids, paper in on_shelf.items() if paper.title}
    looked_up = look_up_records(
        [ids for ids in dict.fromkeys(identifiers) if ids not in known], web, sources
    )
    return [(ids, known.get(ids) or looked_up[ids]) for ids in identifiers]


def _refetch_records(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    found = fetch_papers([ids.pmid for ids in wanted], web, anew=True)
    return {ids: found[ids.pmid] for ids in wanted if ids.pmid in found}


PUBMED_ANEW = replace(PUBMED, lookup=Lookup(("pmid",), MAX_IDS_PER_REQUEST, _refetch_records))
"""PubMed, also for records that were fetched within the last day."""
CROSSREF_ANEW = replace(CROSSREF, lookup=Lookup(("doi",), 1, ask_crossref))
"""Crossref, likewise."""


Status = Literal["found", "not_found", "invalid", "failed"]


@dataclass(frozen=True, slots=True)
class Converted:
    """The identifiers of one paper; ``message`` explains a failure."""

    requested: str
    status: Status
    ids: Ids = field(default_factory=Ids)
    message: str = ""


def convert_identifiers(
    texts: Sequence[str], web: Web, sources: Sequence[Source]
) -> list[Converted]:
    """Return an outcome for each identifier of *texts*, in order, in any mix and spelling.

    A repeated identifier is answered twice and looked up once.

    Raises
    ------
    BadRequest
        *texts* is empty, or all identifiers are malformed.
    Unreachable, NotConfigured
        No identifier could be looked up.
    """
    if not texts:
        raise BadRequest("No identifier was given.", "Give PMIDs, PMCIDs or DOIs.")
    parsed = [_parse_identifier(text) for text in texts]
    wanted = list(dict.fromkeys(ids for ids in parsed if isinstance(ids, Ids)))
    known = look_up_records(wanted, web, list(filter(_has_other_identifiers, sources)))
    outcomes = [known[ids] if isinstance(ids, Ids) else ids for ids in parsed]
    answered = [outcome for outcome in outcomes if isinstance(outcome, Paper | NotFound)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, PaperError)]
    if not answered:
        # A failed lookup is more informative than a malformed identifier.
        raise min(errors, key=lambda outcome: isinstance(outcome, BadRequest))
    return list(map(_to_conversion, texts, outcomes))


def _has_other_identifiers(source: Source) -> bool:
    """Return whether a source's records connect PMIDs or PMCIDs with other identifiers."""
    return source.lookup is not None and not {"pmid", "pmcid"}.isdisjoint(source.lookup.by)


def _parse_identifier(text: str) -> Ids | BadRequest:
    """Parse a PMID, PMCID or DOI; return an error for any other text."""
    ids = Ids.try_parse(text)
    if isinstance(ids, Ids) and not (ids.pmid or ids.pmcid or ids.doi):
        msg = f"{shorten(text, 80)!r} is not a PMID, PMCID or DOI."
        return BadRequest(msg, "Give PMIDs, PMCIDs or DOIs.")
    return ids


def _to_conversion(text: str, outcome: Paper | PaperError) -> Converted:
    shown = shorten(replace_surrogates(text), 80)
    if isinstance(outcome, Paper):
        return Converted(shown, "found", outcome.ids)
    if isinstance(outcome, NotFound):
        return Converted(shown, "not_found", message=outcome.message)
    status: Status = "invalid" if isinstance(outcome, BadRequest) else "failed"
    return Converted(shown, status, message=outcome.message)
