"""The `Library`: one object through which notebooks, the shell and MCP use Papershelf.

A `Library` has the verbs that nearly everybody needs; the others stand in its namespaces, such as
``library.harvests``, each in a module of its own. Everything below them is imported when it is
first used: an MCP host waits for the list of tools, not for XML parsers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from ..errors import BadRequest, StoreFailed
from ..model.identifiers import Ids
from ..model.paper import OBJECT_KINDS, STORED_COLUMNS, ObjectKind, Paper, StoredPaper
from ..model.tabular import ResultList
from ..settings import Overrides, Settings, load_settings
from ..system import safe_files
from ..system.keyword_options import accept_former_options, reject_wrong_options
from ..system.nearest import find_nearest_name
from ..system.once import shared_property
from .finding import collect_names, find_or_take_from_mirror
from .harvests import Harvests
from .maintenance import Upkeep
from .namespace import OPTION_TYPES, build_unknown_member_error
from .references import References
from .reviews import Reviews
from .services import ArXiv, PubMed, SemanticScholar
from .texts import Texts
from .zotero import Zotero

if TYPE_CHECKING:
    from ..corpus import Corpus
    from ..curation.health_check import HealthCheck as HealthCheck
    from ..curation.reading import Reading
    from ..curation.verification import Verification
    from ..curation.watches import Watches
    from ..download.download import Download, Downloads
    from ..download.ladder import Ladder
    from ..entrez import Entrez
    from ..entrez.compounds import PubChem
    from ..entrez.datasets import Datasets
    from ..errors import PaperError
    from ..harvest.jobs import Harvest, RequestedPapers
    from ..http import Web
    from ..manuscript.checking import ManuscriptCheck
    from ..manuscript.parts import Manuscript
    from ..media import PaperObjects
    from ..mirror import Mirror
    from ..mirror.search import MirrorPassages
    from ..model.paper import SearchResult
    from ..search.search import MergedSearch
    from ..shelf import Shelf
    from ..shelf.listing import ListingOptions
    from ..sources import Query, QueryOptions

_SHELF_MAX_BYTES = 400
"""SQLite takes paths of at most 512 bytes, and its files lie in folders of the shelf."""
_FORMER = {
    **dict.fromkeys(("plan", "differences", "media_space"), "harvests"),
    **dict.fromkeys(("records", "records_to_cite", "citations", "resolve"), "references"),
    **dict.fromkeys(("excerpts", "sections", "places", "keep_original", "all_objects"), "texts"),
    **dict.fromkeys(("write_tables", "emptied_by"), "texts"),
    **dict.fromkeys(("take_in", "watch_inbox", "audit", "keep", "undo_keep"), "upkeep"),
    **dict.fromkeys(("recheck", "rebuild", "reextract", "write_references"), "upkeep"),
    **dict.fromkeys(("search_articles", "search_ligand_receptor", "paper", "details"), "pubmed"),
    **dict.fromkeys(("related", "article_text", "convert_ids", "match_citations"), "pubmed"),
    **dict.fromkeys(("check_spelling", "look_up_mesh"), "pubmed"),
    "harvest_lock": "harvests.from_lock",
    "harvest_mirror": "harvests.from_mirror",
    "new_review": "reviews.create",
    "review": "reviews.open",
    "snowball": "reviews",
    "search_arxiv": "arxiv.search",
    "arxiv_paper": "arxiv.paper",
    "search_semantic_scholar": "semantic_scholar.search",
    "scholar_paper": "semantic_scholar.paper",
    "citing_papers": "semantic_scholar",
}
"""Members of the version before, each with the namespace, or the whole name, it has now."""


@reject_wrong_options(OPTION_TYPES)
class Library:
    """A shelf of papers, with methods to search, download, read and cite papers.

    Safe to share between threads: they share its rate limits, catalogue and connections, and a
    paper that two of them ask for at once is fetched once. One thread at a time works on a harvest;
    a second one gets `..errors.InUse`. Several libraries and processes may share one folder.
    Constructing one touches neither disk nor network. A library may be used in a ``with`` block,
    which closes its files at the end.

    Parameters
    ----------
    settings : Settings, optional
        Read from the environment and the settings files when not given.
    **overrides
        Single settings by field name, such as ``papers_dir="corpus"``: see `..settings.Overrides`.

    Examples
    --------
    >>> library = Library(pubmed_email="me@lab.edu")                     # doctest: +SKIP
    >>> library.search("CXCL12 AND CXCR4", max_results=3).papers[0].title # doctest: +SKIP
    >>> print(library.download("31452104").file_path)                    # doctest: +SKIP
    """

    def __init__(self, settings: Settings | None = None, **overrides: Unpack[Overrides]) -> None:
        if settings is not None and not isinstance(settings, Settings):
            msg = f"{settings!r} is not a Settings object."
            raise BadRequest(msg, 'Give single settings by name: Library(papers_dir="corpus").')
        self.settings = settings or load_settings(**overrides)
        if self.settings.papers_shared:
            safe_files.request_group_sharing(self.settings.papers_dir)
        self.harvests = Harvests(self)
        self.reviews = Reviews(self)
        self.references = References(self)
        self.texts = Texts(self)
        self.upkeep = Upkeep(self)
        self.pubmed = PubMed(self)
        self.arxiv = ArXiv(self)
        self.semantic_scholar = SemanticScholar(self)
        self.zotero = Zotero(self)

    def __repr__(self) -> str:
        """Name the shelf."""
        return f"Library(papers_dir={str(self.settings.papers_dir)!r})"

    def __enter__(self) -> Self:
        """Return the library itself; `close` is called at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is open."""
        self.close()

    def close(self) -> None:
        """Close the files of the shelf; later calls open them again."""
        if "shelf" in vars(self):
            self.shelf.close()

    if not TYPE_CHECKING:  # a checker that saw it would believe in every name

        def __getattr__(self, name: str) -> Any:
            """Find a member under its former name, with a warning; suggest one for a slip."""
            if name == "mirrored":
                msg = 'library.mirrored is now library.passages_of("mirror")'
                warnings.warn(msg, DeprecationWarning, stacklevel=2)
                return self.passages_of("mirror")
            if name in _FORMER:
                place = _FORMER[name]
                place = place if "." in place else f"{place}.{name}"
                msg = f"library.{name} is now library.{place}"
                warnings.warn(msg, DeprecationWarning, stacklevel=2)
                part, _, member = place.partition(".")
                return getattr(getattr(self, part), member)
            near = find_nearest_name(name, [*dir(self), *_FORMER])
            raise build_unknown_member_error("A library", name, _FORMER.get(near, near))

    @shared_property
    def web(self) -> Web:
        """The HTTP client, which keeps the rate limits of all sources."""
        from ..http import Web
        from ..sources import SOURCES

        rates = dict.fromkeys(rate for source in SOURCES for rate in source.rates)
        return Web(self.settings, tuple(rates))

    @shared_property
    def shelf(self) -> Shelf:
        """The folder of papers."""
        from ..shelf import Shelf

        _check_shelf(self.settings.papers_dir)
        settings = self.settings
        return Shelf(
            settings.papers_dir,
            keep_pdfs=settings.papers_keep_pdf,
            form=settings.papers_form,
            keys=settings.papers_keys,
        )

    @shared_property
    def corpus(self) -> Corpus:
        """The stored PubMed records of whole queries, and passages that can be quoted."""
        from ..corpus import Corpus

        return Corpus(self.settings, self.web, self.shelf)

    @shared_property
    def mirror(self) -> Mirror:
        """The local copies of PubMed and PMC, updated from NLM's files."""
        from ..mirror import Mirror

        return Mirror(self.settings, self.web.rates)

    @shared_property
    def entrez(self) -> Entrez:
        """All databases of NCBI's Entrez: search, summaries, records, links."""
        from ..entrez import Entrez

        return Entrez(self.web)

    @shared_property
    def pubchem(self) -> PubChem:
        """Chemical compounds, by name or structure."""
        from ..entrez.compounds import PubChem

        return PubChem(self.web)

    @shared_property
    def datasets(self) -> Datasets:
        """Results of Entrez stored as tables that can be queried in SQL."""
        from ..entrez.datasets import Datasets

        folder = self.settings.papers_dir
        return Datasets(folder / ".papershelf" / "datasets", folder / "exports")

    @shared_property
    def watches(self) -> Watches:
        """Watched queries, authors, papers and reviews, and their news."""
        from ..curation.watches import Watches

        return Watches(self.ladder, self.reviews.list_names, self.reviews.update_for_news)

    @shared_property
    def ladder(self) -> Ladder:
        """The sources in the order in which a download tries them."""
        from ..download.ladder import Ladder
        from ..sources import SOURCES

        return Ladder(self.web, self.shelf, SOURCES, self.settings.papers_sources)

    def passages_of(self, source: Literal["corpus", "mirror"]) -> Corpus | MirrorPassages:
        """Return the passages of the corpus or of the mirror, to search in."""
        return self._mirror_passages if source == "mirror" else self.corpus

    @shared_property
    def _mirror_passages(self) -> MirrorPassages:
        from ..mirror.search import MirrorPassages

        return MirrorPassages(self.corpus, self.mirror)

    def search(self, query: str, **options: Unpack[QueryOptions]) -> SearchResult:
        """Search PubMed; options are the fields of `..sources.Query`, such as ``max_results``.

        See `..search.pubmed.search.search_pubmed`.
        """
        from ..search.pubmed.search import search_pubmed
        from ..sources import SOURCES, Query

        return search_pubmed(Query(query, **options), self.web, SOURCES)

    @accept_former_options(
        among="sources", longest_s="wait_s", start_year="min_date", end_year="max_date"
    )
    def search_papers(
        self,
        query: str,
        *,
        sources: Sequence[str] = (),
        max_results: int = 20,
        min_date: str = "",
        max_date: str = "",
        author: str = "",
        sort_by: str = "relevance",
        wait_s: float = 14.0,
    ) -> MergedSearch:
        """Search PubMed, Europe PMC, arXiv and Semantic Scholar side by side, each paper once.

        See `..search.search.search_papers`.
        """
        from ..search.search import search_papers
        from ..sources import SOURCES

        return search_papers(
            *(query, self.web, SOURCES),
            among=sources,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
            author=author,
            sort_by=sort_by,
            wait_s=wait_s,
        )

    def download(
        self,
        paper: str | int | Ids,
        *,
        prefer_pmc: bool = True,
        force: bool = False,
        output_path: str = "",
    ) -> Download:
        """Save one paper's text on the shelf; see `..download.download.download`.

        ``output_path`` is the place of an additional copy inside the shelf.
        """
        from ..download.climb import DownloadRequest
        from ..download.download import download

        offline = self.settings.papers_offline
        request = DownloadRequest(Ids.parse(paper), "", force, prefer_pmc, offline)
        if output_path:
            self.shelf.resolve_copy_path(output_path)  # refused before anything is asked for
        done = download(request, self.ladder)
        if output_path:
            copy = self.shelf.copy_text_to(done.stored, output_path)
            return replace(done, file_path=str(copy))
        return done

    def download_many(
        self, papers: Iterable[str | int | Ids], *, prefer_pmc: bool = True, force: bool = False
    ) -> Downloads:
        """Save many papers' texts on the shelf; see `..download.download.download_many`.

        What is not an identifier comes first, with the error that names it, under empty `Ids`.
        Iterating over the result does the work, and so does its ``to_dataframe()``.
        """
        from ..download.climb import DownloadRequest
        from ..download.download import Downloads, download_many

        def outcomes() -> Generator[tuple[Ids, Download | PaperError]]:
            read = [Ids.try_parse(paper) for paper in papers]
            yield from ((Ids(), wrong) for wrong in read if isinstance(wrong, BadRequest))
            how = force, prefer_pmc, self.settings.papers_offline
            requests = [DownloadRequest(ids, "", *how) for ids in read if isinstance(ids, Ids)]
            yield from download_many(requests, self.ladder)

        return Downloads(outcomes())

    def harvest(
        self,
        papers: RequestedPapers | Mapping[str, RequestedPapers] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        job_id: str = "",
        title: str = "",
        max_papers: int = 0,
        retry: str = "",
        prefer_pmc: bool = True,
    ) -> Harvest:
        """Return the harvest of queries, lists or an earlier job; iterating over it does the work.

        See `..harvest.jobs.open_harvest`.
        """
        from ..harvest.jobs import open_harvest

        return open_harvest(
            *(papers, query, job_id, self.ladder),
            sources=sources,
            title=title,
            max_papers=max_papers,
            retry=retry,
            prefer_pmc=prefer_pmc,
        )

    def read(
        self,
        paper: str | int | Ids,
        *,
        section: str = "",
        start: int = 0,
        max_chars: int = 8000,
        references: bool = True,
    ) -> Reading:
        """Read part of a paper on the shelf; see `..curation.reading.read_passage`."""
        from ..curation.reading import read_passage

        stretch = partial(read_passage, section=section, start=start, max_chars=max_chars)
        return find_or_take_from_mirror(self, paper, partial(stretch, references=references))

    def find(self, paper: str | int | Ids) -> StoredPaper:
        """Return the paper on the shelf with this identifier or file name. Sends no request.

        What only a mirror of PMC has is taken from there onto the shelf.
        """
        from ..curation.reading import find_stored_paper

        return find_or_take_from_mirror(self, paper, find_stored_paper)

    @accept_former_options(year_from="min_date", year_to="max_date")
    def list_papers(
        self,
        *,
        job_id: str = "",
        start: int = 0,
        max_results: int = 20,
        **filters: Unpack[ListingOptions],
    ) -> tuple[int, ResultList[StoredPaper]]:
        """Return the number of matching papers, and a page of them.

        ``job_id`` names a harvest: only its papers. The filters are those of
        `..shelf.listing.ListingOptions`: ``text``, ``kind``, ``min_date``, ``has_pdf`` and others.
        """
        among = collect_names(self, job_id) if job_id else None
        total, papers = self.shelf.list_papers(
            among=among, start=start, max_results=max_results, **filters
        )
        return total, ResultList(papers, STORED_COLUMNS, StoredPaper.row)

    @accept_former_options(most_bytes="max_bytes")
    def objects(
        self,
        paper: str | int | Ids,
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        only: str = "",
        fetch: bool = True,
        max_bytes: int = 500_000_000,
    ) -> PaperObjects:
        """Return a paper's figures, tables and files, and fetch the missing files."""
        from ..media import collect_objects

        stored = self.find(paper)
        found = (stored, self.shelf, self.web, kinds)
        return collect_objects(*found, only=only, fetch=fetch, most_bytes=max_bytes)

    @accept_former_options(lists="references")
    def check(
        self,
        manuscript: str | Path | Manuscript,
        *,
        references: Sequence[str | Path] = (),
        fetch: bool = False,
    ) -> ManuscriptCheck:
        """Check a manuscript's references and statements against the papers it cites.

        See `..manuscript.checking.check_manuscript`.

        Parameters
        ----------
        manuscript : path or Manuscript
            A file, or a manuscript that `..manuscript.reading.read_manuscript` has read.
        references : sequence of path, optional
            Files of references beside those that the manuscript names; also ``zotero:COLLECTION``.
        fetch : bool, optional
            Download the cited papers first; else what is on the shelf is read.
        """
        from ..manuscript.checking import check_manuscript, find_cited_papers
        from ..manuscript.reading import read_manuscript
        from ..plugins import find_list_reader
        from ..sources import SOURCES

        if isinstance(manuscript, str | Path):
            readers = {one: find_list_reader(str(one)) for one in references}
            files = [Path(one) for one, reader in readers.items() if reader is None]
            read = (reader(self.settings) for reader in readers.values() if reader)
            manuscript = read_manuscript(Path(manuscript), files, chain.from_iterable(read))
        if fetch:
            for _ in self.download_many(find_cited_papers(manuscript, self.corpus, SOURCES)):
                pass  # what could not be had is said of the sentences that need it
        return check_manuscript(manuscript, self.corpus, SOURCES)

    def cite(
        self, papers: Iterable[str | int | Ids], style: str = "apa", *, keys: str = ""
    ) -> ResultList[tuple[Ids, str | PaperError]]:
        """Return each paper's reference in one style, or its error, in order.

        See `..citations.STYLES` for the styles. A BibTeX entry or RIS record is a text of several
        lines, a CSL-JSON item one of JSON. ``keys`` is the pattern of BibTeX keys instead of
        ``PAPERS_KEYS``; see `..citations.keys`.

        Raises
        ------
        BadRequest
            There is no such style; no source was asked.
        """
        from ..citations import format_references
        from ..errors import PaperError

        keys = keys or self.settings.papers_keys
        format_references([], style, keys)  # refused before anything is asked for
        records = self.references.records_to_cite(papers)
        found = [one for _, one in records if not isinstance(one, PaperError)]
        cited = iter(format_references(found, style, keys))
        return ResultList(
            ((ids, one if isinstance(one, PaperError) else next(cited)) for ids, one in records),
            *(("paper", "reference", "error"), _reference_row),
        )

    def verify(
        self,
        files: Iterable[str | Path] = (),
        *,
        paper: str | int | Ids = "",
        record: str | Path | Mapping[str, Any] | None = None,
        pairs: str | Path = "",
    ) -> Iterator[Verification | PaperError]:
        """Judge files outside the shelf, offline; see `..curation.verification`.

        Parameters
        ----------
        files : iterable of path
            HTML, PDF, XML of JATS or Elsevier, markdown or text.
        paper : identifier, optional
            The paper that each file should be; its record is taken from the shelf if it is there.
        record : mapping or path, optional
            The record of that paper as an item of CSL-JSON, or the file that holds it.
        pairs : path, optional
            Instead of all these, a JSON list of ``{"file", "url", "record"}``.

        Yields
        ------
        Verification or PaperError
            One for each file, in their order; an error for a file that cannot be read.

        Raises
        ------
        BadRequest
            The identifier or record is invalid.
        """
        from ..curation.verification import FileAndRecord, read_verification_list, verify_files

        if pairs:
            return verify_files(read_verification_list(Path(pairs)))
        compared = _find_paper_to_compare(self.shelf, paper, record)
        return verify_files([FileAndRecord(str(file), Path(file), compared) for file in files])

    def doctor(self) -> list[HealthCheck]:
        """Check this installation; see `..curation.health_check.check_installation`."""
        from ..curation.health_check import check_installation
        from ..sources import SOURCES

        return check_installation(self.settings, self.web, SOURCES, self.shelf)


def _reference_row(cited: tuple[Ids, str | PaperError]) -> dict[str, str]:
    ids, reference = cited
    name = "reference" if isinstance(reference, str) else "error"
    return {"paper": str(ids), name: str(reference)}


def _check_shelf(folder: Path) -> None:
    """Raise `StoreFailed` where *folder* cannot be a shelf, whatever is on the disk."""
    if len(os.fsencode(folder)) > _SHELF_MAX_BYTES:
        msg = f"The path of the shelf is longer than {_SHELF_MAX_BYTES} bytes: {folder}"
        raise StoreFailed(msg, "Set PAPERS_DIR to a folder with a shorter path.")
    try:
        is_file = folder.exists() and not folder.is_dir()
    except OSError as error:
        msg = f"{folder} cannot be the shelf: {error.strerror}."
        raise StoreFailed(msg, "Set PAPERS_DIR to another folder.") from None
    if is_file:
        msg = f"{folder} is a file, not a folder."
        raise StoreFailed(msg, "Set PAPERS_DIR to a folder.")


def _find_paper_to_compare(
    shelf: Shelf, paper: str | int | Ids, record: str | Path | Mapping[str, Any] | None
) -> Paper | None:
    """Return the paper that files should be, by its record or by what the shelf knows."""
    from ..curation.verification import parse_csl_item, read_record

    known = None
    if isinstance(record, str | Path):
        known = read_record(Path(record))
    elif record is not None:
        known = parse_csl_item(record)
    if not paper:
        return known
    ids = Ids.parse(paper)
    if known is not None:
        return replace(known, ids=ids | known.ids)
    stored = shelf.find_text(ids)
    return stored.paper if stored else Paper(ids)
