"""What a harvest would take, said before anything is fetched.

A query is counted under PubMed's own filters; of a list, a sample is looked up. From there on it
is arithmetic with the sites' published limits and with shares that nobody knows beforehand: how
much of PMC the Cloud Service has, how many pages publishers show to programs. Each is a pair, of a
list where it goes well and of one where it goes badly, and so is everything that follows from it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import NotFound, Unreachable
from ..identifiers import Ids
from ..ladder import Ladder
from ..lists.pasted import Entry
from ..paper import Paper
from ..paper_lookup import look_up
from ..pubmed_search import hit_counts
from ..sources import Query
from ..versions import meant, serves

_SAMPLE = 200  # what NCBI takes in one request
_IN_PMC, _FREE, _ABSTRACT = "pubmed pmc[sb]", "free full text[sb]", "hasabstract"
_SHELF_BYTES = {"full_text": 150_000, "abstract": 6_000}  # text, raw bytes and record
_TAKES_PART = 20  # articles in one request to db=pmc
_CLOUD_ASKS = (1, 3)  # for a paper the Cloud Service lacks; for one it has: list, record, text
_PAGES = 1.3  # requests to a publisher for a paper: redirects, PDFs, once more with plain headers
_PUBLISHERS = "publishers"
_PUBLISHER_S = 1.0  # between two requests to one host, unless it asks for more


@dataclass(frozen=True, slots=True)
class _Shares:
    """Of the papers that reach a rung, the share that needs no other one.

    The pair around what the 218 recorded articles and the benchmark's field of 1,000 show.
    """

    cloud: float  # of what is in PMC: open access and author manuscripts (facts of August 2026)
    efetch: float  # of what the cloud lacks
    europepmc: float  # of what NCBI does not give
    doi: float  # of what PMC lacks: without a DOI nobody else can be asked
    open_copy: float  # of the copies said to be free
    unsaid: float  # of papers of a list outside PMC: a free copy that only Unpaywall knows of
    publisher: float  # of the pages behind DOIs
    reader: float  # of the pages that publishers do not show us
    largest: float  # of the publishers' papers, how many are at one host, when nobody knows
    arxiv: float  # requests to arXiv for a preprint: page, PDF


_WELL = _Shares(0.85, 0.6, 0.9, 0.8, 0.9, 0.35, 0.75, 0.25, 0.1, 1)
_BADLY = _Shares(0.6, 0.4, 0.3, 1.0, 0.4, 0.0, 0.1, 0.0, 0.35, 2)

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AtHost:
    """What one site would be asked, and for how many seconds at its polite rate: from, to."""

    host: str
    requests: Pair
    seconds: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Plan:
    """A harvest before it begins. Pairs are from, to.

    ``full_text`` are the full texts to expect, ``held`` how many papers are on the shelf in full
    text already (of a query, nobody knows yet), ``seconds`` the time of the busiest site: the
    others are done meanwhile. ``size`` is in bytes, at the most.
    """

    papers: int
    held: int
    in_pmc: int
    free: int
    with_abstract: int
    full_text: Pair
    hosts: tuple[AtHost, ...]
    seconds: tuple[float, float]
    size: int
    notes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Known:
    """What was learnt of the papers to get."""

    papers: int
    in_pmc: int
    free: int
    told: int
    listed: bool = False  # of a list, nobody said what is free outside PMC
    preprints: int = 0  # at arXiv; of a query, nobody knows
    doi: float = 0.0  # of the papers outside PMC, the share that has one; 0 when nobody knows
    largest: float = 0.0  # of those, the share of the largest publisher


def of_query(query: Query, ladder: Ladder, *, most: int = 0) -> Plan:
    """The plan for every hit of a question: four small requests.

    Raises
    ------
    NotFound
        There is no hit.
    BadRequest, NotConfigured, Unreachable
        As for a search.
    """
    ladder.web.settings.require_email("NCBI")
    counts = hit_counts(query, ("", _IN_PMC, _FREE, _ABSTRACT), ladder.web)
    total = counts[""]
    if not total:
        raise NotFound(f"PubMed finds nothing for {query.text!r}.", "Check the spelling.")
    papers = min(total, most) if most else total
    in_pmc, free, told = (
        round(papers / total * counts[name]) for name in (_IN_PMC, _FREE, _ABSTRACT)
    )
    notes = ["What is on the shelf already is not subtracted."]
    if papers < total:
        notes.append(f"{papers:,} of {total:,} hits, shares taken from all of them.")
    return _plan(ladder, _Known(papers, in_pmc, max(free, in_pmc), told), 0, notes)


def of_list(entries: Sequence[Entry], ladder: Ladder) -> Plan:
    """The plan for a list: what the shelf lacks, judged by a sample that is looked up.

    Raises
    ------
    NotConfigured, Unreachable
        Nobody could be asked about any paper of the sample.
    """
    ladder.web.settings.require_email("NCBI")
    nameless = sum(not entry.ids for entry in entries)
    missing = [entry for entry in entries if entry.ids and not _held(entry, ladder)]
    size = min(len(missing), _SAMPLE)  # spread over the list: lists are often sorted
    sample = [missing[number * len(missing) // size].ids for number in range(size)]
    found = list(look_up(sample, ladder.web, ladder.sources).values()) if sample else []
    papers = [outcome for outcome in found if isinstance(outcome, Paper)]
    silent = [outcome for outcome in found if isinstance(outcome, Unreachable)]
    if silent and len(silent) == len(found):
        raise silent[0]
    notes = []
    if len(sample) < len(missing):
        notes.append(f"Shares from a sample of {len(sample)} papers.")
    if lost := len(found) - len(papers) - len(silent):
        notes.append(f"Of {len(found)} papers looked up, {lost} are not known to PubMed.")
    if silent:
        notes.append(f"Of {len(found)} papers looked up, nobody answered about {len(silent)}.")
    if nameless:
        notes.append(f"Records without an identifier, which cannot be fetched: {nameless:,}.")
    part = len(missing) / len(found) if found else 0.0
    in_pmc, told, preprints = (
        round(part * sum(map(bool, values)))
        for values in (
            [paper.ids.pmcid for paper in papers],
            [paper.abstract for paper in papers],
            [paper.ids.arxiv for paper in papers],
        )
    )
    known = _Known(len(missing), in_pmc, in_pmc, told, True, preprints, *_dois(papers))
    return _plan(ladder, known, len(entries) - nameless - len(missing), notes)


def _held(entry: Entry, ladder: Ladder) -> bool:
    wants = meant(Ids.maybe(entry.asked))
    held = ladder.shelf.find(entry.ids, wants)
    return held is not None and serves(wants, held)


def _dois(papers: Sequence[Paper]) -> tuple[float, float]:
    """Of the papers outside PMC, the share with a DOI, and of those the largest publisher's."""
    dois = [paper.ids.doi for paper in papers if not paper.ids.pmcid]
    publishers = Counter(doi.partition("/")[0] for doi in dois if doi)
    if not publishers:
        return 0.0, 0.0
    named = publishers.total()
    return named / len(dois), max(publishers.values()) / named


def _plan(ladder: Ladder, known: _Known, held: int, notes: Sequence[str]) -> Plan:
    ways = [_way(known, shares, set(ladder.order)) for shares in (_WELL, _BADLY)]
    every = {rate.bucket: seconds for rate, seconds in ladder.web.pace.spacing()}
    hosts = []
    for site in ways[0].requests:
        asked = sorted(math.ceil(way.requests[site]) for way in ways)
        times = sorted(way.requests[site] * every.get(site, way.publisher_s) for way in ways)
        if asked[1]:
            hosts.append(AtHost(site, (asked[0], asked[1]), (times[0], times[1])))
    hosts.sort(key=lambda host: -host.seconds[1])
    texts = sorted(round(way.texts) for way in ways)
    counts = (known.papers, held, known.in_pmc, known.free, known.told)
    return Plan(
        *counts,
        full_text=(texts[0], texts[1]),
        hosts=tuple(hosts),
        seconds=(
            max((host.seconds[0] for host in hosts), default=0.0),
            max((host.seconds[1] for host in hosts), default=0.0),
        ),
        size=known.papers * _SHELF_BYTES["abstract"] + texts[1] * _SHELF_BYTES["full_text"],
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Way:
    """Requests by site, texts that come, and seconds that a request to a publisher takes."""

    requests: Mapping[str, float]
    texts: float
    publisher_s: float


def _way(known: _Known, shares: _Shares, order: set[str]) -> _Way:
    """All papers up the ladder: what each rung gives, the next one is not asked for."""

    def part(source: str, papers: float, share: float) -> float:
        return papers * share if source in order else 0.0

    cloud = part("pmc", known.in_pmc, shares.cloud)
    efetch = part("pmc", known.in_pmc - cloud, shares.efetch)
    europepmc = part("europepmc", known.in_pmc - cloud - efetch, shares.europepmc)
    preprints = part("arxiv", known.preprints, 1)
    in_pmc = cloud + efetch + europepmc
    rest = max(0.0, known.papers - in_pmc - preprints) * (known.doi or shares.doi)
    unsaid = shares.unsaid * rest if known.listed else 0.0
    copies = part("unpaywall", min(rest, known.free - known.in_pmc + unsaid), shares.open_copy)
    pages = part("publisher", rest - copies, 1)
    shown = pages * shares.publisher
    unread = part("jina", rest - copies - shown, 1)
    lacking, batches = known.in_pmc - cloud, math.ceil(known.papers / _SAMPLE)
    requests = {
        "ncbi": batches + bool(batches) + part("pmc", lacking / _TAKES_PART, 1),
        "pmc_cloud": part("pmc", cloud * _CLOUD_ASKS[1] + lacking * _CLOUD_ASKS[0], 1),
        "europepmc": part("europepmc", lacking - efetch, 1),
        "arxiv": preprints * shares.arxiv,
        "unpaywall": part("unpaywall", rest, 1),
        "openalex": part("openalex", rest - copies, 1),
        "doi": pages,
        _PUBLISHERS: copies + pages * _PAGES,
        "jina": unread,
    }
    texts = in_pmc + preprints + copies + shown + unread * shares.reader
    return _Way(requests, texts, _PUBLISHER_S * (known.largest or shares.largest))
