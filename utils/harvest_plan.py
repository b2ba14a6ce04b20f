"""What a harvest would take, said before anything is fetched.

A query is counted under PubMed's own filters; of a list, a sample is looked up. From there on it
is arithmetic with the sites' published limits, and with shares measured on 1,000 recorded papers:
an estimate, and worded as one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .identifier_lists import Entry
from .ladder import Ladder
from .paper import Paper
from .paper_lookup import look_up
from .pubmed_search import hit_counts
from .sources import Query

_SAMPLE = 200  # what NCBI takes in one request
_IN_PMC, _FREE, _ABSTRACT = "pubmed pmc[sb]", "free full text[sb]", "hasabstract"
# Shares of the papers that reach a rung, from the stand-in and the recorded articles.
_CLOUD_HAS = 0.7  # of what is in PMC: open access and author manuscripts (facts of August 2026)
_EFETCH_HAS = 0.5  # of what the cloud lacks
_HAS_DOI = 0.95
_OPEN_COPY_WORKS = 0.6  # of the copies said to be free, those a program may fetch
_SHELF_BYTES = {"full_text": 150_000, "abstract": 6_000}  # text, raw bytes and record
_TAKES_PART = 20  # articles in one request to db=pmc


@dataclass(frozen=True, slots=True)
class AtHost:
    """What one site would be asked, and for how many seconds at its polite rate."""

    host: str
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A harvest before it begins.

    ``full_text`` is the range of full texts to expect, ``held`` how many papers are on the shelf
    in full text already (of a query, nobody knows yet), ``seconds`` the time of the busiest site:
    the others are done meanwhile. ``size`` is in bytes.
    """

    papers: int
    held: int
    in_pmc: int
    free: int
    with_abstract: int
    full_text: tuple[int, int]
    hosts: tuple[AtHost, ...]
    seconds: float
    size: int
    notes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


def of_query(query: Query, ladder: Ladder, *, most: int = 0) -> Plan:
    """The plan for every hit of a question: four small requests."""
    counts = hit_counts(query, ("", _IN_PMC, _FREE, _ABSTRACT), ladder.web)
    total = counts[""]
    papers = min(total, most) if most else total
    part = papers / total if total else 0.0
    in_pmc, free, told = (round(part * counts[name]) for name in (_IN_PMC, _FREE, _ABSTRACT))
    notes = ["What is on the shelf already is not subtracted."]
    if papers < total:
        notes.append(f"{papers:,} of {total:,} hits, shares taken from all of them.")
    return _plan(ladder, papers, 0, in_pmc, max(free, in_pmc), told, notes)


def of_list(entries: Sequence[Entry], ladder: Ladder) -> Plan:
    """The plan for a list: what the shelf lacks, judged by a sample that is looked up."""
    missing = [entry for entry in entries if not _held(entry, ladder)]
    step = max(1, len(missing) // _SAMPLE)
    sample = [entry.ids for entry in missing[::step][:_SAMPLE] if entry.ids]
    found = look_up(sample, ladder.web, ladder.sources).values() if sample else ()
    known = [outcome for outcome in found if isinstance(outcome, Paper)]
    part = len(missing) / len(sample) if sample else 0.0
    in_pmc = round(part * sum(1 for paper in known if paper.ids.pmcid))
    told = round(part * sum(1 for paper in known if paper.abstract))
    notes = []
    if sample and len(sample) < len(missing):
        notes.append(f"Shares from a sample of {len(sample)} papers.")
    if lost := len(sample) - len(known):
        notes.append(f"{lost} of {len(sample)} papers looked up are not known, or nobody answered.")
    return _plan(ladder, len(missing), len(entries) - len(missing), in_pmc, in_pmc, told, notes)


def _held(entry: Entry, ladder: Ladder) -> bool:
    held = ladder.shelf.find(entry.ids) if entry.ids else None
    return held is not None and held.kind == "full_text"


def _plan(
    ladder: Ladder, papers: int, held: int, in_pmc: int, free: int, told: int, notes: list[str]
) -> Plan:
    from_pmc = in_pmc * (_CLOUD_HAS + (1 - _CLOUD_HAS) * _EFETCH_HAS)
    rest = (papers - from_pmc) * _HAS_DOI
    elsewhere = max(0, free - in_pmc) * _OPEN_COPY_WORKS
    asked = {
        "ncbi": math.ceil(papers / _SAMPLE) + in_pmc * (1 - _CLOUD_HAS) / _TAKES_PART,
        "pmc_cloud": in_pmc * (1 + 2 * _CLOUD_HAS),
        "europepmc": in_pmc * (1 - _CLOUD_HAS) * (1 - _EFETCH_HAS),
        "unpaywall": rest,
        "doi": rest - elsewhere,
        "jina": (rest - elsewhere) / 2,
    }
    hosts = [
        AtHost(rate.bucket, math.ceil(asked[rate.bucket]), asked[rate.bucket] * seconds)
        for rate, seconds in ladder.web.pace.spacing()
        if asked.get(rate.bucket) and rate.bucket in _used(ladder)
    ]
    least = round(from_pmc * 0.9)
    size = (
        papers * _SHELF_BYTES["abstract"] + round(from_pmc + elsewhere) * _SHELF_BYTES["full_text"]
    )
    return Plan(
        papers,
        held,
        in_pmc,
        free,
        told,
        (least, max(least, round(in_pmc + (free - in_pmc) + rest * 0.1))),
        tuple(sorted(hosts, key=lambda host: -host.seconds)),
        max((host.seconds for host in hosts), default=0.0),
        size,
        tuple(notes),
    )


def _used(ladder: Ladder) -> set[str]:
    """The buckets of the sites this ladder asks."""
    named = {rung.source.name for rung in ladder.rungs}
    lookups = {source.name for source in ladder.sources if source.lookup}
    return {
        rate.bucket
        for source in ladder.sources
        if source.name in named | lookups
        for rate in source.rates
    }
