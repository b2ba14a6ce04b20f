"""What a harvest would ask and take, before anything is fetched.

A query is counted under PubMed's own filters; of a list, a sample is looked up. From there on it
is arithmetic with the sites' published limits and with shares that nobody knows beforehand: how
much of PMC the Cloud Service has, how many pages publishers show to programs, through how many
redirects. Each is a pair, of a list where it goes well and of one where it goes badly, and so is
everything that follows from it. Where enough papers of this shelf's harvests reached a route, the
interval in which its share lies by what became of them takes the place of the pair.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from ..download.ladder import Ladder
from ..download.lookup import look_up
from ..errors import NothingFound, Unreachable
from ..lists.pasted import Entry
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..model.versions import meant, serves
from ..pubmed.search import count_by_filter
from ..sources import Query, Route, Source
from .history import Share, learned_shares
from .searches import Wanted, collect

_SAMPLE = 200  # what NCBI takes in one request
_IN_PMC, _FREE, _ABSTRACT = "pubmed pmc[sb]", "free full text[sb]", "hasabstract"
_SHELF_BYTES = {"full_text": 150_000, "abstract": 6_000}  # text, raw bytes and record
_TAKES_PART = 20  # articles in one request to db=pmc
_LINGER_S = 10.0  # a smaller request does not wait longer for others
_CLOUD_S = 1 / 16  # between two requests to it
_CLOUD_ASKS = (1, 3)  # for a paper the Cloud Service lacks; for one it has: list, record, text
_DOIS, _NAMES = 50, 25  # in one search of PubMed, of Europe PMC
_HITS = 9_000  # in a slice of a long query; each takes about three requests
_SEARCH_TOKENS = 10_000  # at the least, what Jina takes for one search
# Sources whose part is drawn below; any other is asked once for each paper that reaches it.
_DRAWN = {"pmc", "europepmc", "arxiv", "unpaywall", "publisher", "jina"}
# Routes whose papers are counted beforehand, or not at all: no share of theirs is used.
_COUNTED = {"arxiv", "europepmc_preprint", "jina_search"}
_PUBLISHERS, _SEARCH, _COPIES = "publishers", "jina_search", "unpaywall"
_ARCHIVE = ("archive", "web_archive")  # whether it has a page, and the page
_PUBLISHER_S = 1.0  # between two requests to one host, unless it asks for more


@dataclass(frozen=True, slots=True)
class _Shares:
    """Of the papers that reach a rung, the share that needs no other one.

    The pair around what the 218 recorded articles and the benchmark's field of 1,000 show.
    """

    by_route: Mapping[str, float]  # of the papers that reach it, those that end there
    manuscript: float  # of what PMC gives: accepted manuscripts, and the published text is sought
    preprints: float  # of what PMC lacks, at arXiv: of a query, nobody knows
    doi: float  # of what PMC lacks: without a DOI nobody else can be asked
    unsaid: float  # of papers of a list outside PMC: a free copy that only Unpaywall knows of
    published: float  # of the copies: with an accepted manuscript, the published text is sought
    asks: float  # requests for a page or a copy: redirects, PDFs, once more with plain headers
    unlicensed: float  # of papers sought outside PMC: Crossref is asked for their texts' terms
    unknown: float  # of a list, papers that PubMed does not know, when nobody was looked up
    largest: float  # of the publishers' papers, how many are at one host, when nobody knows
    dead: float  # of papers sought outside PMC: a copy whose link is dead, asked for elsewhere
    arxiv: float  # requests to arXiv for a preprint: page, PDF
    full: bool  # whether requests for many papers are full ones, and none is asked for twice
    learned: bool = False  # whether the share of copies is this shelf's: of all that were sought


# Each share where it goes well, and where it goes badly. What is good for one site is work for
# another: PMC, the copies and pages behind DOIs, and the manners of sites go well or badly each for
# itself, and a site is planned for the range over all.
_SIDES: tuple[dict[str, tuple[Any, Any]], ...] = (
    {
        "manuscript": (0.0, 0.15),
    },
    {
        "preprints": (0.0, 0.08),
        "doi": (0.8, 1.0),
        "unsaid": (0.7, 0.0),
        "published": (0.9, 0.0),
    },
    {
        "asks": (1.0, 2.5),
        "unlicensed": (0.0, 1.0),
        "unknown": (0.0, 0.1),
        "dead": (0.0, 0.1),
        "largest": (0.1, 0.35),
        "arxiv": (1, 2),
        "full": (True, False),
    },
)


def _cases(sources: Sequence[Source], learned: Mapping[str, Share]) -> Iterator[_Shares]:
    """The shares of every combination; those of routes are *learned*, or their sources'."""
    for sides in product((0, 1), repeat=len(_SIDES)):
        by_route = {
            route.via: _pair(route, learned)[sides[0] if source.label == "PMC" else sides[1]]
            for source in sources
            for route in source.routes
        }
        chosen = {
            name: pair[bad]
            for bad, side in zip(sides, _SIDES, strict=True)
            for name, pair in side.items()
        }
        if copies := _COPIES in learned:  # those that end there, whatever version others had
            chosen["published"] = 1.0
        yield _Shares(by_route, **chosen, learned=copies)


def _pair(route: Route, learned: Mapping[str, Share]) -> tuple[float, float]:
    """The share of a route where it goes well, and where it goes badly."""
    if (own := learned.get(route.via)) and route.via not in _COUNTED:
        return own.most, own.least
    return route.shares


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
    """What is known of the papers to get."""

    papers: int
    in_pmc: int
    free: int
    abstracts: int
    listed: bool = False  # of a list, nobody said what is free outside PMC
    preprints: int = 0  # at arXiv; of a query, nobody knows
    doi: float = 0.0  # of the papers outside PMC, the share that has one; 0 when nobody knows
    largest: float = 0.0  # of those, the share of the largest publisher
    hits: int = 0  # of a query
    named: Mapping[str, int] = field(default_factory=dict)  # of a list, papers by kind of name
    looked_up: int = 0  # of a list, for this plan: their records are remembered for a day
    unknown: float | None = None  # of these, the share that PubMed does not know


def of_query(query: Query, ladder: Ladder, *, most: int = 0) -> Plan:
    """The plan for every hit of a question: four small requests.

    Raises
    ------
    NothingFound
        There is no hit.
    BadRequest, NotConfigured, Unreachable
        As for a search.
    """
    ladder.web.settings.require_email("NCBI")
    counts = count_by_filter(query, ("", _IN_PMC, _FREE, _ABSTRACT), ladder.web)
    total = counts[""]
    if not total:
        msg = f"PubMed finds nothing for {query.text!r}."
        raise NothingFound(msg, "Check the spelling, or ask with fewer words.")
    papers = min(total, most) if most else total
    in_pmc, free, abstracts = (
        round(papers / total * counts[name]) for name in (_IN_PMC, _FREE, _ABSTRACT)
    )
    notes = ["What is on the shelf already is not subtracted."]
    if papers < total:
        notes.append(f"{papers:,} of {total:,} hits, shares taken from all of them.")
    known = _Known(papers, in_pmc, max(free, in_pmc), abstracts, hits=total)
    return _plan(ladder, known, 0, notes)


def of_searches(
    wanted: Sequence[Wanted], lists: Mapping[str, Sequence[Entry]], ladder: Ladder, *, most: int = 0
) -> Plan:
    """The plan for what several searches and lists hold, all of which are read for it.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        As for a search, or for a list.
    """
    ladder.web.settings.require_email("NCBI")
    found = collect(wanted, lists, ladder)
    plan = of_list(found.papers[: most or None], ladder)
    brought = [f"{search.name} {search.taken:,}" for search in found.searches]
    merged = f"{', '.join(brought)}; {found.duplicates:,} named a paper a second time."
    return replace(plan, notes=(merged, *found.notes, *plan.notes))


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
    known = _known(missing, papers, len(found))
    notes = _notes(len(missing), len(found), len(papers), len(silent), nameless)
    return _plan(ladder, known, len(entries) - nameless - len(missing), notes)


def _notes(missing: int, asked: int, known: int, silent: int, nameless: int) -> list[str]:
    """What the numbers rest on."""
    notes = []
    if asked < missing:
        notes.append(f"Shares from a sample of {asked} papers.")
    if lost := asked - known - silent:
        notes.append(f"Of {asked} papers looked up, {lost} are not known to PubMed.")
    if silent:
        notes.append(f"Of {asked} papers looked up, nobody answered about {silent}.")
    if nameless:
        notes.append(
            f"Records without an identifier, which are looked for first: {nameless:,}. What they "
            "bring is not counted here (server.py resolve LIST tells)."
        )
    return notes


def _known(missing: Sequence[Entry], papers: Sequence[Paper], asked: int) -> _Known:
    """What the sample that was *asked* about, of which *papers* are known, tells of all."""
    part = len(missing) / asked if asked else 0.0
    in_pmc, abstracts, preprints = (
        round(part * sum(map(bool, values)))
        for values in (
            [paper.ids.pmcid for paper in papers],
            [paper.abstract for paper in papers],
            [paper.ids.arxiv for paper in papers],
        )
    )
    return _Known(
        len(missing),
        in_pmc,
        in_pmc,
        abstracts,
        True,
        preprints,
        *_dois(papers),
        named=_names(missing),
        looked_up=asked,
        unknown=sum(paper.recorded_by != "pubmed" for paper in papers) / max(1, len(papers)),
    )


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


def _names(entries: Sequence[Entry]) -> dict[str, int]:
    """How many papers of a list are asked about by each kind of name."""
    ids = [entry.ids for entry in entries]
    return {
        "pmcid": sum(bool(one.pmcid) for one in ids),
        "doi": sum(bool(one.doi) and not (one.pmid or one.pmcid) for one in ids),
        "arxiv": sum(bool(one.arxiv) for one in ids),
    }


def _plan(ladder: Ladder, known: _Known, held: int, notes: Sequence[str]) -> Plan:
    has_key = bool(ladder.web.settings.key("jina_api_key"))
    order = set(ladder.order) | ({_SEARCH} if has_key and "jina" in ladder.order else set())
    climbed = [_opened(source, ladder) for source in ladder.sources if source.name in order]
    learned = learned_shares(ladder.shelf.folder)
    cases = _cases(climbed, learned)
    forecasts = [_forecast(known, shares, order, climbed) for shares in cases]
    every = {rate.bucket: seconds for rate, seconds in ladder.web.limiter.intervals()}
    hosts = []
    for site in forecasts[0].requests:
        asked = [forecast.requests[site] for forecast in forecasts]
        times = [
            forecast.requests[site] * every.get(site, forecast.publisher_s)
            for forecast in forecasts
        ]
        if max(asked):
            pair = (math.floor(min(asked)), math.ceil(max(asked)))
            hosts.append(AtHost(site, pair, (min(times), max(times))))
    hosts.sort(key=lambda host: -host.seconds[1])
    texts = [round(forecast.texts) for forecast in forecasts]
    most = max(texts)
    return Plan(
        *(known.papers, held, known.in_pmc, known.free, known.abstracts),
        full_text=(min(texts), most),
        hosts=tuple(hosts),
        seconds=(
            max((host.seconds[0] for host in hosts), default=0.0),
            max((host.seconds[1] for host in hosts), default=0.0),
        ),
        size=known.papers * _SHELF_BYTES["abstract"] + most * _SHELF_BYTES["full_text"],
        notes=(
            *notes,
            *_learned_notes(climbed, learned),
            *map(_cost_note, (host for host in hosts if host.host == _SEARCH)),
        ),
    )


def _learned_notes(climbed: Sequence[Source], learned: Mapping[str, Share]) -> list[str]:
    """Which shares are not the published ones, if any."""
    own = [
        f"{route.via} {share.least:.0%} to {share.most:.0%} of {share.papers:,} papers"
        for source in climbed
        for route in source.routes
        if (share := learned.get(route.via)) and route.via not in _COUNTED
    ]
    return [f"Shares of this shelf's own harvests: {', '.join(own)}."] if own else []


def _cost_note(searches: AtHost) -> str:
    least, most = (number * _SEARCH_TOKENS for number in searches.requests)
    return f"Jina's searches take {least:,} to {most:,} tokens of your key, besides what it reads."


@dataclass(frozen=True, slots=True)
class _Forecast:
    """Requests by site, texts that come, and seconds that a request to a publisher takes."""

    requests: Mapping[str, float]
    texts: float
    publisher_s: float


def _forecast(
    known: _Known, shares: _Shares, order: set[str], climbed: Sequence[Source]
) -> _Forecast:
    """All papers up the ladder: what each rung gives, the next one is not asked for."""

    def part(source: str, papers: float, share: float) -> float:
        return papers * share if source in order else 0.0

    ends = shares.by_route.get
    cloud = known.in_pmc * ends("pmc_cloud", 0.0)
    lacking = known.in_pmc - cloud
    efetch = lacking * ends("efetch", 0.0)
    europepmc = (lacking - efetch) * ends("europepmc", 0.0)
    in_pmc = cloud + efetch + europepmc
    unknown = 0 if known.listed else (known.papers - known.in_pmc) * shares.preprints
    preprints = part("arxiv", known.preprints + unknown, 1)
    elsewhere = max(0.0, known.papers - in_pmc - preprints)
    rest = elsewhere * (known.doi or shares.doi) + in_pmc * shares.manuscript
    unsaid = shares.unsaid * rest if known.listed else 0.0
    free = rest if shares.learned else min(rest, known.free - known.in_pmc + unsaid)
    copies = free * ends(_COPIES, 0.0)
    sought = rest - copies * shares.published
    others, found = _others(climbed, sought, shares)
    pages = part("publisher", sought - found, 1)
    shown = pages * ends("publisher", 0.0)
    unread = part("jina", sought - found - shown, 1)
    read = unread * ends("jina", 0.0)
    cloud_asks = part("pmc", cloud * _CLOUD_ASKS[1] + lacking * _CLOUD_ASKS[0], 1)
    requests = _lookups(known, shares)
    requests["ncbi"] += part("pmc", _in_parts(lacking, cloud_asks * _CLOUD_S, shares), 1)
    requests["europepmc"] += part("europepmc", lacking - efetch, 1)
    requests["arxiv"] += preprints * shares.arxiv
    requests["crossref"] += (
        rest * shares.unlicensed * any(source.label == "DOI" for source in climbed)
    )
    requests |= others | {
        "pmc_cloud": cloud_asks,
        "unpaywall": part("unpaywall", rest, 1),
        **dict.fromkeys(_ARCHIVE, part("unpaywall", rest, shares.dead)),
        "doi": pages,
        _PUBLISHERS: (copies + pages) * shares.asks,
        "jina": unread,
        _SEARCH: part(_SEARCH, known.papers - in_pmc - copies - found - shown - read, 1),
    }
    new = (rest - copies) / sought if sought else 0.0  # of the pages: of papers without a copy
    texts = min(known.papers, in_pmc + preprints + copies + (found + shown + read) * new)
    return _Forecast(requests, texts, _PUBLISHER_S * (known.largest or shares.largest))


def _opened(source: Source, ladder: Ladder) -> Source:
    """The source with the routes for which there is a key, where they need one."""
    key = ladder.web.settings.key
    routes = tuple(route for route in source.routes if not route.key or key(route.key))
    return replace(source, routes=routes)


def _others(
    climbed: Sequence[Source], papers: float, shares: _Shares
) -> tuple[dict[str, float], float]:
    """Requests to the sources that are not drawn, one after the other, and the texts they give."""
    requests: dict[str, float] = {}
    left = papers
    for source in climbed:
        for route in source.routes if source.name not in _DRAWN else ():
            bucket = source.rates[0].bucket
            # Papers reach a late rung one by one, or, where all is well, by the batch.
            asked = left / route.batch if shares.full else left
            requests[bucket] = requests.get(bucket, 0.0) + asked
            left -= left * shares.by_route[route.via]
    return requests, papers - left


def _lookups(known: _Known, shares: _Shares) -> dict[str, float]:
    """Requests that it takes to learn what the papers are."""
    if not known.listed:
        slices = 1 + 3 * (known.hits // _HITS)
        batches = math.ceil(known.papers / _SAMPLE)
        return {"ncbi": slices + batches, "europepmc": 0, "arxiv": 0, "crossref": 0}
    named = known.named
    # What was looked up for the plan is remembered, by the same shelf and for a day.
    fresh = max(0, known.papers - known.looked_up) if shares.full else known.papers
    part = fresh / max(1, known.papers)
    unknown = fresh * (shares.unknown if known.unknown is None else known.unknown)
    searches = math.ceil(part * named.get("doi", 0) / _DOIS)
    batches = math.ceil(fresh / _SAMPLE)
    asked = batches + math.ceil(part * named.get("pmcid", 0) / _SAMPLE) + searches
    return {
        # Kinds of names do not share a request; what a search finds is fetched besides.
        "ncbi": asked if shares.full else asked + searches + batches,
        "europepmc": math.ceil(unknown / _NAMES),
        "arxiv": 0 if shares.full else min(batches, named.get("arxiv", 0)),
        "crossref": 0 if shares.full else unknown,
    }


def _in_parts(papers: float, seconds: float, shares: _Shares) -> float:
    """Requests for articles from db=pmc, which come over *seconds*: full ones, or as they come."""
    full = papers / _TAKES_PART
    return full if shares.full else min(papers, full + seconds / _LINGER_S + 2)
