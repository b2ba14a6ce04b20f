"""Estimate the requests, time and disk space of a harvest before anything is fetched.

A query is counted under PubMed's own filters; of a list, a sample is looked up. The rest is
arithmetic with the sites' published rate limits and with an expected share of papers for each route
(`Route.share` and the constants below). The numbers are estimates: the pages that a publisher shows
to programs, and the share of dead links, are unknown beforehand.

The space of figures, tables and files (`estimate_media_space`) is estimated from earlier papers of
this shelf; if these are few, from the sizes that PMC's Cloud Service lists for a sample of the
papers.
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
from ..download.records import look_up_records
from ..errors import NotAvailable, NothingFound, PaperError, Unreachable
from ..lists.pasted import ListEntry
from ..media import is_image_name, pick_best_formats, read_stored_objects
from ..model.identifiers import Ids
from ..model.paper import ObjectKind, Paper
from ..model.versions import infer_requested_version, is_request_satisfied
from ..search.pubmed.search import count_by_filter, search_pubmed
from ..sources import Query, Source
from ..sources.pmc import list_media_sizes
from .searches import SiteQuery, collect_papers

_SAMPLE_SIZE = 200  # the maximum that NCBI accepts in one request
_IN_PMC, _FREE, _ABSTRACT = "pubmed pmc[sb]", "free full text[sb]", "hasabstract"
_SHELF_BYTES = {"full_text": 150_000, "abstract": 6_000}  # text, raw bytes and record
_PMC_BATCH = 20  # articles in one request to db=pmc
# Requests for a paper that the Cloud Service lacks; for one that it has: list, record, text.
_CLOUD_REQUESTS = (1, 3)
_DOIS, _NAMES = 50, 25  # identifiers in one search of PubMed, of Europe PMC
_HITS_PER_SLICE = 9_000  # in a slice of a long query; each takes about three requests
# Sources that `_estimate_requests` models. Others get one request for each paper that reaches them.
_MODELLED_SOURCES = {"pmc", "europepmc", "arxiv", "unpaywall", "publisher", "jina"}
_PUBLISHERS, _SEARCH, _COPIES = "publishers", "jina_search", "unpaywall"
_ARCHIVE = ("archive", "web_archive")  # a lookup of the page, and the page
_PUBLISHER_S = 1.0  # between two requests to one host, unless it asks for more


# Expected shares, from 218 recorded articles and the benchmark's field of 1,000.
_MANUSCRIPT_SHARE = 0.05  # of PMC's texts: manuscripts, whose published text is looked for
_PREPRINT_SHARE = 0.03  # of a query's papers outside PMC: papers at arXiv
_DOI_SHARE = 0.9  # of the papers outside PMC: those with a DOI, which other sources need
_UNLISTED_COPY_SHARE = 0.35  # of a list's papers outside PMC: a copy that only Unpaywall lists
_PUBLISHED_COPY_SHARE = 0.5  # of the copies; for a manuscript, the search goes on
_REQUESTS_PER_PAGE = 1.7  # requests for a page or a copy: redirects, PDFs, one more try
_UNLICENSED_SHARE = 0.5  # of papers fetched outside PMC: Crossref is asked for the license
_UNKNOWN_SHARE = 0.05  # of a list: papers missing from PubMed, if no paper was looked up
_LARGEST_PUBLISHER_SHARE = 0.2  # of the publishers' papers: those at the busiest host
_DEAD_LINK_SHARE = 0.05  # of papers fetched outside PMC: a copy whose link is dead
_ARXIV_REQUESTS = 2  # requests for a preprint: page, PDF


@dataclass(frozen=True, slots=True)
class SiteLoad:
    """The requests expected at one site, and the seconds they take at its rate limit."""

    host: str
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The estimated requests, texts, time and space of a harvest.

    ``full_text`` is the expected number of full texts, ``held`` the number of papers already on the
    shelf in full text (0 for a query), ``seconds`` the time of the busiest site, and ``size`` the
    bytes on disk. The other sites are asked at the same time.
    """

    papers: int
    held: int
    in_pmc: int
    free: int
    with_abstract: int
    full_text: int
    hosts: tuple[SiteLoad, ...]
    seconds: float
    size: int
    notes: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _PaperCounts:
    """Counts and shares of the papers to fetch."""

    papers: int
    in_pmc: int
    free: int
    abstracts: int
    listed: bool = False  # for a list, free papers outside PMC are unknown
    preprints: int = 0  # at arXiv; unknown for a query
    doi: float = 0.0  # share of the papers outside PMC with a DOI; 0 when unknown
    largest: float = 0.0  # share of the largest publisher among these
    hits: int = 0  # of a query
    named: Mapping[str, int] = field(
        default_factory=dict
    )  # of a list, papers by kind of identifier
    looked_up: int = 0  # of a list, for this plan: records are cached for a day
    unknown: float | None = None  # share of the looked-up papers that PubMed lacks


def plan_query(query: Query, ladder: Ladder, *, most: int = 0) -> Plan:
    """Return the plan for every hit of a query; this takes four small requests.

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
    notes = ["Papers that are on the shelf already are counted, too."]
    if papers < total:
        notes.append(f"{papers:,} of {total:,} hits; the shares are those of all hits.")
    known = _PaperCounts(papers, in_pmc, max(free, in_pmc), abstracts, hits=total)
    return _build_plan(ladder, known, 0, notes)


def plan_searches(
    wanted: Sequence[SiteQuery],
    lists: Mapping[str, Sequence[ListEntry]],
    ladder: Ladder,
    *,
    most: int = 0,
) -> Plan:
    """Return the plan for several searches and lists, all of which are read for the plan.

    Raises
    ------
    BadRequest, NotConfigured, Unreachable
        As for a search, or for a list.
    """
    ladder.web.settings.require_email("NCBI")
    found = collect_papers(wanted, lists, ladder)
    plan = plan_list(found.papers[: most or None], ladder)
    brought = [f"{search.name} {search.taken:,}" for search in found.searches]
    merged = f"{', '.join(brought)}; {found.duplicates:,} repeated an earlier paper."
    return replace(plan, notes=(merged, *found.notes, *plan.notes))


def plan_list(entries: Sequence[ListEntry], ladder: Ladder) -> Plan:
    """Return the plan for a list: the papers missing from the shelf, estimated from a sample.

    Raises
    ------
    NotConfigured, Unreachable
        No paper of the sample could be looked up.
    """
    ladder.web.settings.require_email("NCBI")
    nameless = sum(not entry.ids for entry in entries)
    missing = [entry for entry in entries if entry.ids and not _is_on_shelf(entry, ladder)]
    size = min(len(missing), _SAMPLE_SIZE)  # spread over the list: lists are often sorted
    sample = [missing[number * len(missing) // size].ids for number in range(size)]
    found = list(look_up_records(sample, ladder.web, ladder.sources).values()) if sample else []
    papers = [outcome for outcome in found if isinstance(outcome, Paper)]
    silent = [outcome for outcome in found if isinstance(outcome, Unreachable)]
    if silent and len(silent) == len(found):
        raise silent[0]
    known = _extrapolate_from_sample(missing, papers, len(found))
    notes = _describe_sample(len(missing), len(found), len(papers), len(silent), nameless)
    return _build_plan(ladder, known, len(entries) - nameless - len(missing), notes)


def _describe_sample(missing: int, asked: int, known: int, silent: int, nameless: int) -> list[str]:
    """Return notes on the sample that the numbers are based on."""
    notes = []
    if asked < missing:
        notes.append(f"The shares are estimated from a sample of {asked} papers.")
    if lost := asked - known - silent:
        notes.append(f"PubMed has no record of {lost} of the {asked} papers looked up.")
    if silent:
        notes.append(
            f"Of {asked} papers looked up, {silent} could not be checked because no source "
            "answered."
        )
    if nameless:
        notes.append(
            f"Records without an identifier: {nameless:,}. They are searched for first and are not "
            f"counted here. To see their matches: {command_line('harvest resolve LIST')}"
        )
    return notes


def _extrapolate_from_sample(
    missing: Sequence[ListEntry], papers: Sequence[Paper], asked: int
) -> _PaperCounts:
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
    return _PaperCounts(
        len(missing),
        in_pmc,
        in_pmc,
        abstracts,
        True,
        preprints,
        *_measure_doi_shares(papers),
        named=_count_identifier_kinds(missing),
        looked_up=asked,
        unknown=sum(paper.recorded_by != "pubmed" for paper in papers) / max(1, len(papers)),
    )


def _is_on_shelf(entry: ListEntry, ladder: Ladder) -> bool:
    """Return whether the requested version of a paper is on the shelf."""
    wants = infer_requested_version(Ids.maybe(entry.asked))
    held = ladder.shelf.find_text(entry.ids, wants)
    return held is not None and is_request_satisfied(wants, held)


def _measure_doi_shares(papers: Sequence[Paper]) -> tuple[float, float]:
    """Return the share of papers outside PMC with a DOI, and the largest publisher's share."""
    dois = [paper.ids.doi for paper in papers if not paper.ids.pmcid]
    publishers = Counter(doi.partition("/")[0] for doi in dois if doi)
    if not publishers:
        return 0.0, 0.0
    named = publishers.total()
    return named / len(dois), max(publishers.values()) / named


def _count_identifier_kinds(entries: Sequence[ListEntry]) -> dict[str, int]:
    """Return how many papers of a list are looked up by each kind of identifier."""
    ids = [entry.ids for entry in entries]
    return {
        "pmcid": sum(bool(paper_ids.pmcid) for paper_ids in ids),
        "doi": sum(
            bool(paper_ids.doi) and not (paper_ids.pmid or paper_ids.pmcid) for paper_ids in ids
        ),
    }


def _build_plan(ladder: Ladder, known: _PaperCounts, held: int, notes: Sequence[str]) -> Plan:
    """Return the plan that follows from the counts and the sources' rate limits."""
    has_key = bool(ladder.web.settings.key("jina_api_key"))
    order = set(ladder.order) | ({_SEARCH} if has_key and "jina" in ladder.order else set())
    climbed = [
        _drop_keyless_routes(source, ladder) for source in ladder.sources if source.name in order
    ]
    requests, texts = _estimate_requests(known, order, climbed)
    every = {rate.bucket: seconds for rate, seconds in ladder.web.limiter.list_intervals()}
    publisher_s = _PUBLISHER_S * (known.largest or _LARGEST_PUBLISHER_SHARE)
    hosts = [
        SiteLoad(site, math.ceil(number), math.ceil(number) * every.get(site, publisher_s))
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


def _estimate_requests(
    known: _PaperCounts, order: set[str], climbed: Sequence[Source]
) -> tuple[dict[str, float], float]:
    """Return the expected requests by site, and the expected full texts.

    All papers climb the ladder: a paper whose text one rung supplies does not reach the next rung.
    """
    shares = {route.via: route.share for source in climbed for route in source.routes}

    def part(source: str, papers: float, share: float = 1.0) -> float:
        return papers * share if source in order else 0.0

    cloud = known.in_pmc * shares.get("pmc_cloud", 0.0)
    lacking = known.in_pmc - cloud
    efetch = lacking * shares.get("efetch", 0.0)
    in_pmc = cloud + efetch + (lacking - efetch) * shares.get("europepmc", 0.0)
    unknown = 0 if known.listed else (known.papers - known.in_pmc) * _PREPRINT_SHARE
    preprints = part("arxiv", known.preprints + unknown)
    elsewhere = max(0.0, known.papers - in_pmc - preprints)
    rest = elsewhere * (known.doi or _DOI_SHARE) + in_pmc * _MANUSCRIPT_SHARE
    unsaid = _UNLISTED_COPY_SHARE * rest if known.listed else 0.0
    copies = min(rest, known.free - known.in_pmc + unsaid) * shares.get(_COPIES, 0.0)
    sought = rest - copies * _PUBLISHED_COPY_SHARE
    others, found = _estimate_unmodelled_sources(climbed, sought)
    pages = part("publisher", sought - found)
    shown = pages * shares.get("publisher", 0.0)
    unread = part("jina", sought - found - shown)
    read = unread * shares.get("jina", 0.0)
    requests = _count_lookup_requests(known)
    requests["ncbi"] += part("pmc", math.ceil(lacking / _PMC_BATCH))
    requests["europepmc"] += part("europepmc", lacking - efetch)
    requests["arxiv"] += preprints * _ARXIV_REQUESTS
    requests["crossref"] += (
        rest * _UNLICENSED_SHARE * any(source.label == "DOI" for source in climbed)
    )
    requests |= others | {
        "pmc_cloud": part("pmc", cloud * _CLOUD_REQUESTS[1] + lacking * _CLOUD_REQUESTS[0]),
        "unpaywall": part("unpaywall", rest),
        **dict.fromkeys(_ARCHIVE, part("unpaywall", rest, _DEAD_LINK_SHARE)),
        "doi": pages,
        _PUBLISHERS: (copies + pages) * _REQUESTS_PER_PAGE,
        "jina": unread,
        _SEARCH: part(_SEARCH, known.papers - in_pmc - copies - found - shown - read),
    }
    new = (rest - copies) / sought if sought else 0.0  # of the pages: of papers without a copy
    texts = min(known.papers, in_pmc + preprints + copies + (found + shown + read) * new)
    return requests, texts


def _drop_keyless_routes(source: Source, ladder: Ladder) -> Source:
    """Return the source without the routes whose key is missing."""
    key = ladder.web.settings.key
    routes = tuple(route for route in source.routes if not route.key or key(route.key))
    return replace(source, routes=routes)


def _estimate_unmodelled_sources(
    climbed: Sequence[Source], papers: float
) -> tuple[dict[str, float], float]:
    """Estimate the requests to, and texts from, all sources outside `_MODELLED_SOURCES`."""
    requests: dict[str, float] = {}
    left = papers
    for source in climbed:
        for route in source.routes if source.name not in _MODELLED_SOURCES else ():
            bucket = source.rates[0].bucket
            asked = left * route.share if route.prefixes or route.only_named else left
            requests[bucket] = requests.get(bucket, 0.0) + asked / route.batch
            left -= left * route.share
    return requests, papers - left


def _count_lookup_requests(known: _PaperCounts) -> dict[str, float]:
    """Return the expected requests for looking up the papers' records, by site."""
    if not known.listed:
        slices = 1 + 3 * (known.hits // _HITS_PER_SLICE)
        batches = math.ceil(known.papers / _SAMPLE_SIZE)
        return {"ncbi": slices + batches, "europepmc": 0, "arxiv": 0, "crossref": 0}
    # Records that were looked up for the plan are cached for a day.
    fresh = max(0, known.papers - known.looked_up)
    part = fresh / max(1, known.papers)
    unknown = fresh * (_UNKNOWN_SHARE if known.unknown is None else known.unknown)
    names = math.ceil(part * known.named.get("pmcid", 0) / _SAMPLE_SIZE)
    searches = math.ceil(part * known.named.get("doi", 0) / _DOIS)
    return {
        "ncbi": math.ceil(fresh / _SAMPLE_SIZE) + names + searches,
        "europepmc": math.ceil(unknown / _NAMES),
        "arxiv": 0,
        "crossref": 0,
    }


_ENOUGH_PAPERS = 10
_MAX_READ_FOLDERS = 1000
_TABLE_BYTES = 5_500  # bytes of a paper's tables as CSV and JSON: the mean of 259 recorded articles
_IN_PMC = "pubmed pmc[sb]"
_PDF_BYTES = 1_500_000  # assumed bytes of a PDF
_PMC_PDF_REQUESTS = 2  # the list of a paper's files, and the PDF


@dataclass(frozen=True, slots=True)
class MediaSpace:
    """The space of the papers' objects: files, bytes, and the bytes of the largest paper seen.

    ``basis`` describes the data that the estimate is based on.
    """

    papers: int
    files: int
    size: int
    largest: int
    basis: str

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PdfLoad:
    """The papers whose PDF is looked for, and the expected requests and bytes."""

    papers: int
    requests: int
    size: int

    def row(self) -> dict[str, Any]:
        """Return the fields as a JSON-serialisable dict."""
        return asdict(self)


def estimate_pdfs(plan: Plan) -> PdfLoad:
    """Estimate the requests and the space of the PDFs of a plan's full texts, held ones included.

    A paper in PMC takes two requests, any other as many as a publisher's page. The size of a PDF is
    an assumption.
    """
    papers = plan.full_text + plan.held
    in_pmc = min(plan.in_pmc, papers)
    requests = in_pmc * _PMC_PDF_REQUESTS + (papers - in_pmc) * _REQUESTS_PER_PAGE
    return PdfLoad(papers, math.ceil(requests), papers * _PDF_BYTES)


@dataclass(frozen=True, slots=True)
class _PaperFiles:
    """The files of one paper, and their bytes."""

    files: int
    size: int


def estimate_media_space(
    papers: int,
    kinds: Sequence[ObjectKind],
    entries: Sequence[ListEntry],
    queries: Sequence[Query],
    ladder: Ladder,
) -> MediaSpace:
    """Estimate the disk space of the objects of *papers* in PMC, some of *entries* or *queries*."""
    tables = _TABLE_BYTES if "table" in kinds else 0
    if not set(kinds) - {"table"}:
        return MediaSpace(papers, 0, papers * tables, tables, "the average size of tables")
    known = list(islice(_iterate_shelf_files(ladder.shelf.folder, kinds), _MAX_READ_FOLDERS))
    basis = f"{len(known)} papers of this shelf"
    if len(known) < _ENOUGH_PAPERS:
        known = list(_iterate_cloud_files(_sample_pmcids(entries, queries, ladder), kinds, ladder))
        basis = f"what PMC lists for {len(known)} of the papers"
    if not known:
        return MediaSpace(papers, 0, papers * tables, 0, "no data, because PMC did not answer")
    share = papers / len(known)
    return MediaSpace(
        papers,
        round(share * sum(files_of_paper.files for files_of_paper in known)),
        round(share * sum(files_of_paper.size for files_of_paper in known)) + papers * tables,
        max(files_of_paper.size for files_of_paper in known) + tables,
        basis,
    )


def _iterate_shelf_files(folder: Path, kinds: Sequence[ObjectKind]) -> Iterator[_PaperFiles]:
    """Yield the fetched files of earlier papers; tables are estimated separately."""
    for paper_folder in folder.glob("*.files"):
        rows = (
            stored_object
            for stored_object in read_stored_objects(paper_folder)
            if stored_object.kind in kinds and stored_object.kind != "table"
        )
        fetched = [stored_object.bytes for stored_object in rows if stored_object.file]
        if fetched:
            yield _PaperFiles(len(fetched), sum(fetched))


def _sample_pmcids(
    entries: Sequence[ListEntry], queries: Sequence[Query], ladder: Ladder
) -> Iterable[str]:
    """Return PMCIDs of a sample of the papers: spread over a list, or the newest of a query."""
    named = [entry for entry in entries if entry.ids]
    size = min(len(named), 2 * _ENOUGH_PAPERS)
    chosen = [named[number * len(named) // size].ids for number in range(size)]
    found = look_up_records(chosen, ladder.web, ladder.sources).values() if chosen else ()
    papers = [paper for paper in found if isinstance(paper, Paper)]
    for query in queries if not papers else ():
        asked = replace(query, text=f"({query.text}) AND {_IN_PMC}", max_results=_ENOUGH_PAPERS)
        papers += search_pubmed(asked, ladder.web, ladder.sources).papers
    return islice((paper.ids.pmcid for paper in papers if paper.ids.pmcid), _ENOUGH_PAPERS)


def _iterate_cloud_files(
    pmcids: Iterable[str], kinds: Sequence[ObjectKind], ladder: Ladder
) -> Iterator[_PaperFiles]:
    """Yield the files that the Cloud Service lists for each paper; none if it lacks the paper."""
    for pmcid in pmcids:
        try:
            sizes = list_media_sizes(pmcid, ladder.web)
        except NotAvailable:
            yield _PaperFiles(0, 0)
            continue
        except PaperError:
            continue
        names = pick_best_formats(sizes) if "figure" in kinds else []
        if "supplement" in kinds:
            names += [name for name in sizes if not is_image_name(name)]
        yield _PaperFiles(len(names), sum(sizes[name] for name in names))
