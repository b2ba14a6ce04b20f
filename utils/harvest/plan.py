"""The plan of a harvest: requests, time and space, before anything is fetched.

A query is counted under PubMed's own filters; of a list, a sample is looked up. The rest is
arithmetic with the sites' published limits and with one expected share for each route and habit of
sites (`Route.share` and the constants below). The numbers are estimates: what a publisher shows to
programs, or how many copies are dead, is not known beforehand.

The space that figures, tables and files take (`media_space`) is judged by what earlier papers of
this shelf have; where these are few, by the sizes that PMC's Cloud Service lists for a sample of
the papers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..download.ladder import Ladder
from ..download.records import look_up
from ..errors import NotAvailable, NothingFound, PaperError, Unreachable
from ..lists.pasted import Entry
from ..media import is_image, pick_best_formats, read_stored_objects
from ..model.identifiers import Ids
from ..model.paper import ObjectKind, Paper
from ..model.versions import infer_version, satisfies_request
from ..search.pubmed.search import count_by_filter, search
from ..sources import Query, Source
from ..sources.pmc import sizes_of
from .searches import Wanted, collect

_SAMPLE = 200  # what NCBI takes in one request
_IN_PMC, _FREE, _ABSTRACT = "pubmed pmc[sb]", "free full text[sb]", "hasabstract"
_SHELF_BYTES = {"full_text": 150_000, "abstract": 6_000}  # text, raw bytes and record
_TAKES_PART = 20  # articles in one request to db=pmc
_CLOUD_ASKS = (1, 3)  # for a paper the Cloud Service lacks; for one it has: list, record, text
_DOIS, _NAMES = 50, 25  # in one search of PubMed, of Europe PMC
_HITS = 9_000  # in a slice of a long query; each takes about three requests
# Sources whose part is drawn below; any other is asked once for each paper that reaches it.
_DRAWN = {"pmc", "europepmc", "arxiv", "unpaywall", "publisher", "jina"}
_PUBLISHERS, _SEARCH, _COPIES = "publishers", "jina_search", "unpaywall"
_ARCHIVE = ("archive", "web_archive")  # whether it has a page, and the page
_PUBLISHER_S = 1.0  # between two requests to one host, unless it asks for more


# Expected shares, from 218 recorded articles and the benchmark's field of 1,000.
_MANUSCRIPTS = 0.05  # of PMC's texts: accepted manuscripts, and the published text is sought
_PREPRINTS = 0.03  # at arXiv, of what PMC lacks; of a query only
_WITH_DOI = 0.9  # of what PMC lacks: without a DOI no other source can be asked
_UNSAID_COPIES = 0.35  # of a list's papers outside PMC: a copy that only Unpaywall names
_PUBLISHED_COPIES = 0.5  # of the copies; with a manuscript, the published text is sought
_ASKS = 1.7  # requests for a page or a copy: redirects, PDFs, one more try
_UNLICENSED = 0.5  # of papers sought outside PMC: Crossref is asked for their licenses
_UNKNOWN = 0.05  # of a list: papers that PubMed does not have, when no paper was looked up
_LARGEST = 0.2  # of the publishers' papers: those at the busiest host
_DEAD = 0.05  # of papers sought outside PMC: a copy whose link is dead
_ARXIV_ASKS = 2  # requests for a preprint: page, PDF


@dataclass(frozen=True, slots=True)
class AtHost:
    """The requests expected at one site, and the seconds they take at its rate limit."""

    host: str
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A harvest before it begins.

    ``full_text`` is the expected number of full texts, ``held`` how many papers are on the shelf in
    full text already (0 for a query), ``seconds`` the time of the busiest site, and ``size`` the
    bytes on disk. The other sites are asked at the same time.
    """

    papers: int
    held: int
    in_pmc: int
    free: int
    with_abstract: int
    full_text: int
    hosts: tuple[AtHost, ...]
    seconds: float
    size: int
    notes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Known:
    """Known facts about the papers to get."""

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
    """Return notes on the basis of the numbers."""
    notes = []
    if asked < missing:
        notes.append(f"Shares from a sample of {asked} papers.")
    if lost := asked - known - silent:
        notes.append(f"Of {asked} papers looked up, {lost} are not known to PubMed.")
    if silent:
        notes.append(f"Of {asked} papers looked up, nobody answered about {silent}.")
    if nameless:
        notes.append(
            f"Records without an identifier: {nameless:,}. They are searched for first and are not "
            f"counted here. To see their matches: {command_line('harvest resolve LIST')}"
        )
    return notes


def _known(missing: Sequence[Entry], papers: Sequence[Paper], asked: int) -> _Known:
    """Extrapolate to all papers from the sample *asked*, of which *papers* are known."""
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
    wants = infer_version(Ids.maybe(entry.asked))
    held = ladder.shelf.find(entry.ids, wants)
    return held is not None and satisfies_request(wants, held)


def _dois(papers: Sequence[Paper]) -> tuple[float, float]:
    """Return the share of papers outside PMC with a DOI, and the largest publisher's share."""
    dois = [paper.ids.doi for paper in papers if not paper.ids.pmcid]
    publishers = Counter(doi.partition("/")[0] for doi in dois if doi)
    if not publishers:
        return 0.0, 0.0
    named = publishers.total()
    return named / len(dois), max(publishers.values()) / named


def _names(entries: Sequence[Entry]) -> dict[str, int]:
    """Return how many papers of a list are looked up by each kind of identifier."""
    ids = [entry.ids for entry in entries]
    return {
        "pmcid": sum(bool(one.pmcid) for one in ids),
        "doi": sum(bool(one.doi) and not (one.pmid or one.pmcid) for one in ids),
    }


def _plan(ladder: Ladder, known: _Known, held: int, notes: Sequence[str]) -> Plan:
    has_key = bool(ladder.web.settings.key("jina_api_key"))
    order = set(ladder.order) | ({_SEARCH} if has_key and "jina" in ladder.order else set())
    climbed = [_opened(source, ladder) for source in ladder.sources if source.name in order]
    requests, texts = _expected(known, order, climbed)
    every = {rate.bucket: seconds for rate, seconds in ladder.web.limiter.list_intervals()}
    publisher_s = _PUBLISHER_S * (known.largest or _LARGEST)
    hosts = [
        AtHost(site, math.ceil(number), math.ceil(number) * every.get(site, publisher_s))
        for site, number in requests.items()
        if number > 0
    ]
    hosts.sort(key=lambda host: -host.seconds)
    return Plan(
        *(known.papers, held, known.in_pmc, known.free, known.abstracts),
        full_text=round(texts),
        hosts=tuple(hosts),
        seconds=max((host.seconds for host in hosts), default=0.0),
        size=known.papers * _SHELF_BYTES["abstract"] + round(texts) * _SHELF_BYTES["full_text"],
        notes=tuple(notes),
    )


def _expected(
    known: _Known, order: set[str], climbed: Sequence[Source]
) -> tuple[dict[str, float], float]:
    """Return the expected requests by site, and the expected full texts.

    All papers go up the ladder: what one rung gives, the next one is not asked for.
    """
    shares = {route.via: route.share for source in climbed for route in source.routes}

    def part(source: str, papers: float, share: float = 1.0) -> float:
        return papers * share if source in order else 0.0

    cloud = known.in_pmc * shares.get("pmc_cloud", 0.0)
    lacking = known.in_pmc - cloud
    efetch = lacking * shares.get("efetch", 0.0)
    in_pmc = cloud + efetch + (lacking - efetch) * shares.get("europepmc", 0.0)
    unknown = 0 if known.listed else (known.papers - known.in_pmc) * _PREPRINTS
    preprints = part("arxiv", known.preprints + unknown)
    elsewhere = max(0.0, known.papers - in_pmc - preprints)
    rest = elsewhere * (known.doi or _WITH_DOI) + in_pmc * _MANUSCRIPTS
    unsaid = _UNSAID_COPIES * rest if known.listed else 0.0
    copies = min(rest, known.free - known.in_pmc + unsaid) * shares.get(_COPIES, 0.0)
    sought = rest - copies * _PUBLISHED_COPIES
    others, found = _others(climbed, sought)
    pages = part("publisher", sought - found)
    shown = pages * shares.get("publisher", 0.0)
    unread = part("jina", sought - found - shown)
    read = unread * shares.get("jina", 0.0)
    requests = _lookups(known)
    requests["ncbi"] += part("pmc", math.ceil(lacking / _TAKES_PART))
    requests["europepmc"] += part("europepmc", lacking - efetch)
    requests["arxiv"] += preprints * _ARXIV_ASKS
    requests["crossref"] += rest * _UNLICENSED * any(source.label == "DOI" for source in climbed)
    requests |= others | {
        "pmc_cloud": part("pmc", cloud * _CLOUD_ASKS[1] + lacking * _CLOUD_ASKS[0]),
        "unpaywall": part("unpaywall", rest),
        **dict.fromkeys(_ARCHIVE, part("unpaywall", rest, _DEAD)),
        "doi": pages,
        _PUBLISHERS: (copies + pages) * _ASKS,
        "jina": unread,
        _SEARCH: part(_SEARCH, known.papers - in_pmc - copies - found - shown - read),
    }
    new = (rest - copies) / sought if sought else 0.0  # of the pages: of papers without a copy
    texts = min(known.papers, in_pmc + preprints + copies + (found + shown + read) * new)
    return requests, texts


def _opened(source: Source, ladder: Ladder) -> Source:
    """The source with the routes for which there is a key, where they need one."""
    key = ladder.web.settings.key
    routes = tuple(route for route in source.routes if not route.key or key(route.key))
    return replace(source, routes=routes)


def _others(climbed: Sequence[Source], papers: float) -> tuple[dict[str, float], float]:
    """Requests to the sources that are not drawn, one after the other, and the texts they give."""
    requests: dict[str, float] = {}
    left = papers
    for source in climbed:
        for route in source.routes if source.name not in _DRAWN else ():
            bucket = source.rates[0].bucket
            requests[bucket] = requests.get(bucket, 0.0) + left / route.batch
            left -= left * route.share
    return requests, papers - left


def _lookups(known: _Known) -> dict[str, float]:
    """Requests that it takes to learn what the papers are."""
    if not known.listed:
        slices = 1 + 3 * (known.hits // _HITS)
        batches = math.ceil(known.papers / _SAMPLE)
        return {"ncbi": slices + batches, "europepmc": 0, "arxiv": 0, "crossref": 0}
    # What was looked up for the plan is remembered for a day.
    fresh = max(0, known.papers - known.looked_up)
    part = fresh / max(1, known.papers)
    unknown = fresh * (_UNKNOWN if known.unknown is None else known.unknown)
    names = math.ceil(part * known.named.get("pmcid", 0) / _SAMPLE)
    searches = math.ceil(part * known.named.get("doi", 0) / _DOIS)
    return {
        "ncbi": math.ceil(fresh / _SAMPLE) + names + searches,
        "europepmc": math.ceil(unknown / _NAMES),
        "arxiv": 0,
        "crossref": 0,
    }


_ENOUGH_PAPERS = 10  # papers
_MOST_READ = 1000  # folders of earlier papers
_TABLE_BYTES = 5_500  # bytes of a paper's tables as CSV and JSON: the mean of 259 recorded articles
_IN_PMC = "pubmed pmc[sb]"


@dataclass(frozen=True, slots=True)
class MediaSpace:
    """The space of the objects of *papers*: files, bytes, and the bytes of the largest paper seen.

    ``basis`` says in words what that is judged by.
    """

    papers: int
    files: int
    size: int
    largest: int
    basis: str

    def row(self) -> dict[str, Any]:
        """The fields, for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _PaperFiles:
    """The files of one paper, and their bytes."""

    files: int
    size: int


def media_space(
    papers: int,
    kinds: Sequence[ObjectKind],
    entries: Sequence[Entry],
    queries: Sequence[Query],
    ladder: Ladder,
) -> MediaSpace:
    """The room for the objects of *papers* in PMC, which are some of *entries* or of *queries*."""
    tables = _TABLE_BYTES if "table" in kinds else 0
    if not set(kinds) - {"table"}:
        return MediaSpace(papers, 0, papers * tables, tables, "what tables take on the average")
    known = list(islice(_files_on_shelf(ladder.shelf.folder, kinds), _MOST_READ))
    basis = f"{len(known)} papers of this shelf"
    if len(known) < _ENOUGH_PAPERS:
        known = list(_files_in_cloud(_sample_pmcids(entries, queries, ladder), kinds, ladder))
        basis = f"what PMC lists for {len(known)} of the papers"
    if not known:
        return MediaSpace(papers, 0, papers * tables, 0, "nothing: PMC could not be asked")
    share = papers / len(known)
    return MediaSpace(
        papers,
        round(share * sum(one.files for one in known)),
        round(share * sum(one.size for one in known)) + papers * tables,
        max(one.size for one in known) + tables,
        basis,
    )


def _files_on_shelf(folder: Path, kinds: Sequence[ObjectKind]) -> Iterator[_PaperFiles]:
    """Earlier papers whose files were fetched; tables are counted by themselves."""
    for each in folder.glob("*.files"):
        rows = (
            one for one in read_stored_objects(each) if one.kind in kinds and one.kind != "table"
        )
        fetched = [one.bytes for one in rows if one.file]
        if fetched:
            yield _PaperFiles(len(fetched), sum(fetched))


def _sample_pmcids(
    entries: Sequence[Entry], queries: Sequence[Query], ladder: Ladder
) -> Iterable[str]:
    """PMCIDs of some of the papers, spread over a list; the newest of a query."""
    named = [entry for entry in entries if entry.ids]
    size = min(len(named), 2 * _ENOUGH_PAPERS)
    chosen = [named[number * len(named) // size].ids for number in range(size)]
    found = look_up(chosen, ladder.web, ladder.sources).values() if chosen else ()
    papers = [one for one in found if isinstance(one, Paper)]
    for query in queries if not papers else ():
        asked = replace(query, text=f"({query.text}) AND {_IN_PMC}", max_results=_ENOUGH_PAPERS)
        papers += search(asked, ladder.web, ladder.sources).papers
    return islice((one.ids.pmcid for one in papers if one.ids.pmcid), _ENOUGH_PAPERS)


def _files_in_cloud(
    pmcids: Iterable[str], kinds: Sequence[ObjectKind], ladder: Ladder
) -> Iterator[_PaperFiles]:
    """Yield the files that the Cloud Service lists of each paper; none if it lacks the paper."""
    for pmcid in pmcids:
        try:
            sizes = sizes_of(pmcid, ladder.web)
        except NotAvailable:
            yield _PaperFiles(0, 0)
            continue
        except PaperError:
            continue
        names = pick_best_formats(sizes) if "figure" in kinds else []
        if "supplement" in kinds:
            names += [name for name in sizes if not is_image(name)]
        yield _PaperFiles(len(names), sum(sizes[name] for name in names))
