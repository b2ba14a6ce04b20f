"""The one object a notebook, a shell or an assistant needs."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from .errors import BadRequest, StoreFailed
from .model.objects import OBJECT_KINDS, ObjectKind
from .settings import Overrides, Settings, load_settings
from .system import sharing

# The verbs and everything below them are imported when first used: an MCP host waits for the list
# of tools, not for XML parsers.
if TYPE_CHECKING:
    from pathlib import Path

    from .corpus import Corpus
    from .curation.audit import Audit, Decision
    from .curation.excerpts import Excerpt
    from .curation.inbox import InboxResult
    from .curation.listing import ListFilters
    from .curation.places import Places
    from .curation.reading import Reading
    from .curation.recheck import Change
    from .curation.text_renewal import Renewal
    from .datasets import Datasets
    from .download.download import Download
    from .download.ladder import Ladder
    from .download.lookup import Converted
    from .entrez import Entrez
    from .entrez.article_text import ArticleText
    from .entrez.compounds import PubChem
    from .errors import PaperError
    from .harvest.corpus_lock import Rebuilt
    from .harvest.jobs import Asked, Harvest
    from .harvest.media_space import MediaSpace
    from .harvest.plan import Plan
    from .harvest.yields import Yields
    from .lists.pasted import Entry
    from .literature.resolve import Resolution
    from .literature.search import Gathered
    from .mirror import Mirror
    from .model.identifiers import Ids
    from .model.job import Job
    from .model.paper import Paper, SearchResult, Section, StoredPaper
    from .objects import PaperObjects
    from .pubmed.citation_matching import Match
    from .pubmed.details import Details, Level
    from .pubmed.relationships import Relations, Relationship
    from .pubmed.search import Found
    from .pubmed.vocabulary import Heading, Spelling
    from .reports import Lock
    from .review import Review
    from .review.snowball import Direction, Snowball
    from .sources import Query, QueryOptions
    from .sources.semantic_scholar import ScholarPage, ScholarPaper
    from .store import RebuildReport, Shelf
    from .web import Web
    from .web.network_check import Check


class Library:
    """A shelf of papers, the web it is filled from, and the verbs to do so.

    Safe to share between threads; several libraries and processes may share one folder.
    Constructing one touches neither disk nor network.

    Parameters
    ----------
    settings : Settings, optional
        Read from the environment and ``.env`` when not given.
    **overrides
        Single settings by field name, such as ``papers_dir="corpus"``: see `.settings.Overrides`.

    Examples
    --------
    >>> library = Library(pubmed_email="me@lab.edu")                     # doctest: +SKIP
    >>> library.search("CXCL12 AND CXCR4", max_results=3).papers[0].title # doctest: +SKIP
    >>> print(library.download("31452104").file_path)                    # doctest: +SKIP
    """

    def __init__(self, settings: Settings | None = None, **overrides: Unpack[Overrides]) -> None:
        if settings is not None and not isinstance(settings, Settings):
            msg = f"{settings!r} is no Settings object."
            raise BadRequest(msg, 'Give single settings by name: Library(papers_dir="corpus").')
        self.settings = settings or load_settings(**overrides)
        if self.settings.papers_shared:
            sharing.request_sharing(self.settings.papers_dir)

    @cached_property
    def web(self) -> Web:
        """Polite HTTP, under the rate limits of all sources."""
        from .sources import SOURCES
        from .web import Web

        rates = dict.fromkeys(rate for source in SOURCES for rate in source.rates)
        return Web(self.settings, tuple(rates))

    @cached_property
    def shelf(self) -> Shelf:
        """The papers folder."""
        from .store import Shelf

        folder = self.settings.papers_dir
        if folder.exists() and not folder.is_dir():
            msg = f"{folder} is a file, not a folder."
            raise StoreFailed(msg, "Set PAPERS_DIR to a folder.")
        return Shelf(folder)

    @cached_property
    def corpus(self) -> Corpus:
        """PubMed's records of whole fields, kept up to date, and passages that can be quoted."""
        from .corpus import Corpus

        return Corpus(self.settings, self.web, self.shelf)

    @cached_property
    def mirror(self) -> Mirror:
        """All of PubMed on your own disk, kept up to date from NLM's files."""
        from .mirror import Mirror

        return Mirror(self.settings, self.web.rates)

    @cached_property
    def entrez(self) -> Entrez:
        """Every database of NCBI's Entrez: search, summaries, records, links."""
        from .entrez import Entrez

        return Entrez(self.web)

    @cached_property
    def pubchem(self) -> PubChem:
        """Chemical compounds, by name or structure."""
        from .entrez.compounds import PubChem

        return PubChem(self.web)

    @cached_property
    def datasets(self) -> Datasets:
        """Results of Entrez as tables that can be queried in SQL."""
        from .datasets import Datasets

        folder = self.settings.papers_dir
        return Datasets(folder / ".papershelf" / "datasets", folder / "exports")

    @cached_property
    def _ladder(self) -> Ladder:
        from .download.ladder import Ladder
        from .sources import SOURCES

        return Ladder(self.web, self.shelf, SOURCES, self.settings.papers_sources)

    def search(self, query: str, **options: Unpack[QueryOptions]) -> SearchResult:
        """Search PubMed; options are the fields of `.sources.Query`, such as ``max_results``.

        See `.pubmed.search.search`.
        """
        from .pubmed.search import search
        from .sources import SOURCES, Query

        return search(Query(query, **options), self.web, SOURCES)

    def search_ligand_receptor(
        self, ligand: str, receptor: str, **options: Unpack[QueryOptions]
    ) -> SearchResult:
        """Search PubMed for the interaction of a ligand and its receptor."""
        from .pubmed.search import search_ligand_receptor
        from .sources import SOURCES, Query

        return search_ligand_receptor(ligand, receptor, Query("", **options), self.web, SOURCES)

    def download(
        self,
        paper: str | int | Ids,
        *,
        prefer_pmc: bool = True,
        force: bool = False,
        output_path: str = "",
    ) -> Download:
        """Put one paper on the shelf; see `.download.download.download`.

        ``output_path`` is the place of an additional copy inside the shelf.
        """
        from dataclasses import replace

        from .download.download import download

        ids = _ids_of(paper)
        if output_path:
            self.shelf.confined(output_path)  # refused before anything is asked for
        done = download(ids, self._ladder, prefer_pmc=prefer_pmc, force=force)
        if output_path:
            copy = self.shelf.copy_to(done.stored, output_path)
            return replace(done, file_path=str(copy))
        return done

    def download_many(
        self, papers: Iterable[str | int | Ids], *, prefer_pmc: bool = True, force: bool = False
    ) -> Iterator[tuple[Ids, Download | PaperError]]:
        """Put many papers on the shelf; see `.download.download.download_many`.

        What is no identifier comes first, with the error that names it, under empty `Ids`.
        """
        from .download.download import download_many
        from .model.identifiers import Ids

        read = [_read(paper) for paper in papers]
        yield from ((Ids(), wrong) for wrong in read if isinstance(wrong, BadRequest))
        wanted = [ids for ids in read if not isinstance(ids, BadRequest)]
        yield from download_many(wanted, self._ladder, prefer_pmc=prefer_pmc, force=force)

    def harvest(
        self,
        papers: Asked | Mapping[str, Asked] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        job_id: str = "",
        title: str = "",
        max_papers: int = 0,
        retry: str = "",
        prefer_pmc: bool = True,
    ) -> Harvest:
        """The harvest of queries, lists or an earlier job; iterating over it does the work.

        See `.harvest.jobs.harvest`.
        """
        from .harvest.jobs import harvest

        return harvest(
            *(papers, query, job_id, self._ladder),
            sources=sources,
            title=title,
            max_papers=max_papers,
            retry=retry,
            prefer_pmc=prefer_pmc,
        )

    def harvest_lock(self, lock: Lock) -> Harvest:
        """The harvest that brings the papers of a lock; compare them with `differences`."""
        from .harvest.corpus_lock import of_lock
        from .harvest.jobs import Harvest

        return Harvest(of_lock(lock, self._ladder), self._ladder)

    def differences(self, lock: Lock, harvest: Harvest) -> Rebuilt:
        """What differs from the lock; see `.harvest.corpus_lock.differences`."""
        from .harvest.corpus_lock import differences

        return differences(lock, harvest)

    def plan(
        self,
        papers: Iterable[Entry] | Mapping[str, Sequence[Entry]] = (),
        *,
        query: str | Query | Sequence[str | Query] = "",
        sources: Sequence[str] = (),
        max_papers: int = 0,
    ) -> Plan:
        """What a harvest would take, before anything is fetched; see `.harvest.plan`."""
        from .harvest import plan as harvest_plan
        from .harvest.searches import wanted_searches
        from .lists.pasted import merged

        wanted = wanted_searches(query, sources, self._ladder.sources)
        lists = papers if isinstance(papers, Mapping) else {"Identifiers": tuple(papers)}
        entries = [entry for asked in lists.values() for entry in asked]
        if not wanted:
            once = merged(entries).papers
            return harvest_plan.of_list(once[: max_papers or len(once)], self._ladder)
        if [one.source.name for one in wanted] == ["pubmed"] and not entries:
            return harvest_plan.of_query(wanted[0].query, self._ladder, most=max_papers)
        lists = {name: asked for name, asked in lists.items() if asked}
        return harvest_plan.of_searches(wanted, lists, self._ladder, most=max_papers)

    def media_space(
        self,
        plan: Plan,
        kinds: Sequence[ObjectKind],
        papers: Iterable[Entry] = (),
        *,
        query: Sequence[Query] = (),
    ) -> MediaSpace:
        """What the objects of a plan's papers would take; see `.harvest.media_space`."""
        from .harvest.media_space import media_space

        return media_space(plan.in_pmc, kinds, list(papers), query, self._ladder)

    def yields(
        self,
        papers: Iterable[str | int | Ids | Entry] = (),
        *,
        job_id: str = "",
        ask_all: bool = False,
        title: str = "",
    ) -> Yields:
        """Which route brought how many papers of a list first, alone, and at what cost.

        See `.harvest.yields.yields`.
        """
        from .harvest.yields import yields

        return yields(papers, job_id, self._ladder, ask_all=ask_all, title=title)

    def harvests(self) -> list[Job]:
        """All harvests of this shelf, the newest first."""
        from .harvest.jobs import every_job

        return every_job(self._ladder)

    def new_review(self, name: str) -> Review:
        """A new systematic review: a folder with a protocol to fill in; see `.review`."""
        from .review import new_review

        return new_review(name, self._ladder)

    def review(self, name: str) -> Review:
        """The review of this name; see `.review.Review`."""
        from .review import open_review

        return open_review(name, self._ladder)

    def snowball(
        self,
        papers: Iterable[Paper],
        *,
        known: Sequence[Paper] = (),
        directions: Sequence[Direction] = ("backward", "forward"),
        rounds: int = 1,
        most: int = 50,
    ) -> Snowball:
        """What papers cite, and who cites them, each once; see `.review.snowball`."""
        from .review.snowball import snowball
        from .sources import SOURCES

        return snowball(
            *(list(papers), self.shelf, self.web, SOURCES),
            known=known,
            directions=directions,
            rounds=rounds,
            most=most,
        )

    def reviews(self) -> list[Review]:
        """All reviews of this shelf, by name."""
        from .review import every_review

        return every_review(self._ladder)

    def search_articles(
        self, query: str, *, summaries: int = 0, **options: Unpack[QueryOptions]
    ) -> Found:
        """PMIDs by the hundred, and the first papers in brief; see `.pubmed.search`."""
        from .pubmed.search import search_articles
        from .sources import Query

        return search_articles(Query(query, **options), summaries, self.web)

    def paper(self, pmid: str | int) -> Paper:
        """One paper as PubMed knows it; see `.pubmed.details.fetch_paper`."""
        from .pubmed.details import fetch_paper

        return fetch_paper(pmid, self.web)

    def records(self, papers: Iterable[str | int | Ids]) -> list[tuple[Ids, Paper | PaperError]]:
        """The record of each paper, or why there is none; see `.download.lookup.records`.

        What is no identifier stands in its place, with the error that names it.
        """
        from .download.lookup import records
        from .model.identifiers import Ids
        from .sources import SOURCES

        read = [_read(paper) for paper in papers]
        wanted = (ids for ids in read if isinstance(ids, Ids))
        known = iter(records(wanted, self.shelf, self.web, SOURCES))
        return [next(known) if isinstance(ids, Ids) else (Ids(), ids) for ids in read]

    def records_to_cite(
        self, papers: Iterable[str | int | Ids]
    ) -> list[tuple[Ids, Paper | PaperError]]:
        """The same, but where a version of an arXiv paper is named, the record of that version."""
        asked = list(papers)
        known = zip(asked, self.records(asked), strict=True)
        return [(ids, self._in_version_asked(paper, record)) for paper, (ids, record) in known]

    def _in_version_asked(
        self, paper: str | int | Ids, record: Paper | PaperError
    ) -> Paper | PaperError:
        from .citations import in_version
        from .errors import PaperError
        from .model.identifiers import arxiv_version

        version = arxiv_version(paper) if isinstance(paper, str) else ""
        if not version or isinstance(record, PaperError):
            return record
        try:
            return in_version(self.arxiv_paper(str(paper)), version)
        except PaperError as absent:
            return absent

    def resolve(self, papers: Asked, *, anew: bool = False) -> Iterator[Resolution]:
        """What the papers of a list are that name no identifier; see `.literature.resolve`.

        ``entries_in`` of `.lists.references` reads the list.
        """
        from .harvest.jobs import entry_of
        from .literature.resolve import resolve
        from .sources import SOURCES

        return resolve(map(entry_of, papers), self.web, SOURCES, anew=anew)

    def citations(self, papers: Iterable[Paper], styles: Iterable[str]) -> list[dict[str, Any]]:
        """Each paper's reference in each of *styles*; see `.citations.citations`."""
        from .citations import citations

        return citations(list(papers), list(styles))

    def cite(
        self, papers: Iterable[str | int | Ids], style: str = "apa"
    ) -> list[tuple[Ids, str | PaperError]]:
        """Each paper's reference in one style, or why there is none, in the order of *papers*.

        See `.citations.STYLES` for the styles. A BibTeX entry or RIS record is a text of several
        lines, a CSL-JSON item one of JSON.

        Raises
        ------
        BadRequest
            There is no such style; no source was asked.
        """
        from .citations import cite
        from .errors import PaperError

        cite([], style)  # refused before anything is asked for
        records = self.records_to_cite(papers)
        cited = iter(cite([one for _, one in records if not isinstance(one, PaperError)], style))
        return [(ids, one if isinstance(one, PaperError) else next(cited)) for ids, one in records]

    def details(self, pmids: Iterable[str | int], level: Level = "abstract_plus") -> Details:
        """PubMed's records of many papers; see `.pubmed.details.details`."""
        from .pubmed.details import details

        return details(list(pmids), level, self.web)

    def related(
        self, pmid: str | int, kind: Relationship, most: int = 5, *, start: int = 0
    ) -> Relations:
        """Similar papers, citing and cited ones; see `.pubmed.relationships.find_related`."""
        from .pubmed.details import pmid_of
        from .pubmed.relationships import find_related

        return find_related(pmid_of(pmid), kind, most, self.web, start=start)

    def search_papers(
        self,
        query: str,
        *,
        among: Sequence[str] = (),
        max_results: int = 20,
        start_year: int = 0,
        end_year: int = 0,
        author: str = "",
        sort_by: str = "relevance",
        longest_s: float = 14.0,
    ) -> Gathered:
        """PubMed, Europe PMC, arXiv and Semantic Scholar side by side, each paper once.

        See `.literature.search.search_papers`.
        """
        from .literature.search import search_papers
        from .sources import SOURCES

        return search_papers(
            *(query, self.web, SOURCES),
            among=among,
            max_results=max_results,
            start_year=start_year,
            end_year=end_year,
            author=author,
            sort_by=sort_by,
            longest_s=longest_s,
        )

    def search_arxiv(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        author: str = "",
        category: str = "",
        start_year: int = 0,
        end_year: int = 0,
        sort_by: str = "relevance",
        sort_order: str = "descending",
        max_results: int = 10,
        start: int = 0,
    ) -> SearchResult:
        """Search arXiv; see `.literature.preprint_search.search_arxiv`."""
        from .literature.preprint_search import search_arxiv

        return search_arxiv(
            *(query, self.web),
            author=author,
            category=category,
            start_year=start_year,
            end_year=end_year,
            sort_by=sort_by,
            sort_order=sort_order,
            max_results=max_results,
            start=start,
        )

    def arxiv_paper(self, arxiv_id: str) -> Paper:
        """One preprint, in the version named; see `.literature.preprint_search.arxiv_paper`."""
        from .literature.preprint_search import arxiv_paper

        return arxiv_paper(arxiv_id, self.web)

    def search_semantic_scholar(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        start_year: int = 0,
        end_year: int = 0,
        fields_of_study: Sequence[str] = (),
        bulk: bool = False,
        sort_by: str = "",
        token: str = "",
        max_results: int = 10,
        start: int = 0,
    ) -> ScholarPage:
        """Search Semantic Scholar; see `.literature.scholar_search.search_semantic_scholar`."""
        from .literature.scholar_search import search_semantic_scholar

        return search_semantic_scholar(
            *(query, self.web),
            start_year=start_year,
            end_year=end_year,
            fields_of_study=fields_of_study,
            bulk=bulk,
            sort_by=sort_by,
            token=token,
            max_results=max_results,
            start=start,
        )

    def scholar_paper(self, paper: str) -> ScholarPaper:
        """One paper as Semantic Scholar knows it, by any identifier."""
        from .literature.scholar_search import scholar_paper

        return scholar_paper(paper, self.web)

    def citing_papers(self, paper: str, *, max_results: int = 10, start: int = 0) -> ScholarPage:
        """Who cites a paper; see `.literature.scholar_search.citing_papers`."""
        from .literature.scholar_search import citing_papers

        return citing_papers(paper, self.web, max_results=max_results, start=start)

    def article_text(
        self, paper: str, *, section: str = "", start: int = 0, max_chars: int = 8000
    ) -> ArticleText:
        """A stretch of an open article, not downloaded; see `.entrez.article_text.article_text`."""
        from .entrez.article_text import article_text

        return article_text(paper, self.web, section=section, start=start, max_chars=max_chars)

    def convert_ids(self, ids: Iterable[str | int]) -> list[Converted]:
        """The other names of many papers; see `.download.lookup.convert`."""
        from .download.lookup import convert
        from .sources import SOURCES

        return convert([str(one) for one in ids], self.web, SOURCES)

    def match_citations(self, citations: Iterable[Mapping[str, str]]) -> list[Match]:
        """PMIDs of printed references; see `.pubmed.citation_matching.match_citations`."""
        from .pubmed.citation_matching import match_citations

        return match_citations(list(citations), self.web)

    def check_spelling(self, query: str) -> Spelling:
        """How PubMed would spell a query; see `.pubmed.vocabulary.check_spelling`."""
        from .pubmed.vocabulary import check_spelling

        return check_spelling(query, self.web)

    def look_up_mesh(self, text: str, most: int = 5) -> tuple[int, list[Heading]]:
        """MeSH headings, their synonyms and neighbours; see `.pubmed.vocabulary.look_up_mesh`."""
        from .pubmed.vocabulary import look_up_mesh

        return look_up_mesh(text, most, self.web)

    def read(
        self,
        paper: str,
        *,
        section: str = "",
        start: int = 0,
        max_chars: int = 8000,
        references: bool = True,
    ) -> Reading:
        """A stretch of a paper on the shelf; see `.curation.reading.read`."""
        from .curation.reading import read

        return read(
            *(paper, self.shelf),
            section=section,
            start=start,
            max_chars=max_chars,
            references=references,
        )

    def excerpts(
        self,
        papers: Iterable[str],
        *,
        sections: Sequence[str] = (),
        question: str = "",
        budget: int = 60_000,
    ) -> list[Excerpt]:
        """What is worth reading of papers on the shelf; see `.curation.excerpts.excerpts`."""
        from .curation.excerpts import excerpts
        from .curation.reading import find

        stored = [find(paper, self.shelf) for paper in papers]
        return excerpts(stored, self.shelf, sections=sections, question=question, budget=budget)

    def sections(self, paper: str) -> list[Section]:
        """What a paper on the shelf consists of, by role; see `.curation.reading.sections`."""
        from .curation.reading import sections

        return sections(paper, self.shelf)

    def places(self, paper: str) -> Places:
        """Where each paragraph stands in what the site sent; see `.curation.places.places_of`."""
        from .curation.places import places_of

        return places_of(paper, self.shelf)

    def keep_original(self, paper: str) -> Path | None:
        """Write a text's own PDF beside it; see `.curation.places.keep_original`."""
        from .curation.places import keep_original

        return keep_original(paper, self.shelf)

    def find(self, paper: str) -> StoredPaper:
        """The paper on the shelf with this identifier or file name; no source is asked."""
        from .curation.reading import find

        return find(paper, self.shelf)

    def objects(
        self,
        paper: str,
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        only: str = "",
        fetch: bool = True,
        most_bytes: int = 500_000_000,
    ) -> PaperObjects:
        """A paper's figures, tables and supplementary files; see `.objects.gather`."""
        from .curation.reading import find
        from .objects import gather

        stored = find(paper, self.shelf)
        found = (stored, self.shelf, self.web, kinds)
        return gather(*found, only=only, fetch=fetch, most_bytes=most_bytes)

    def all_objects(
        self,
        job_id: str = "",
        *,
        kinds: Sequence[ObjectKind] = OBJECT_KINDS,
        fetch: bool = True,
        most_bytes: int = 500_000_000,
    ) -> Iterator[PaperObjects | tuple[StoredPaper, PaperError]]:
        """The objects of every full text of a harvest, or of the shelf; see `.objects`."""
        from .objects import gather_many

        return gather_many(
            *(self._texts(job_id), self.shelf, self.web, kinds),
            fetch=fetch,
            most_bytes=most_bytes,
        )

    def write_tables(self, job_id: str = "", path: Path | None = None) -> tuple[Path, int, int]:
        """Write every cell of all tables of a harvest, or of the shelf, as one long table.

        Parameters
        ----------
        path : Path, optional
            A ``.csv`` or ``.parquet``; else ``tables.csv`` beside the report or on the shelf.

        Returns
        -------
        tuple
            The file, its tables and its cells.
        """
        from .objects import write_long_table

        folder = self.harvest(job_id=job_id).folder if job_id else self.shelf.folder
        path = path or folder / "tables.csv"
        return path, *write_long_table(self._texts(job_id), self.shelf, path)

    def _texts(self, job_id: str) -> Iterator[StoredPaper]:
        """The full texts of a harvest, or of the shelf."""
        from .harvest.jobs import of_shelf

        rows = self.harvest(job_id=job_id).ledger.rows() if job_id else None
        files = (
            (row.file for row in rows if row.state == "full_text")
            if rows
            else (file for _, file in of_shelf(self.shelf))
        )
        found = (self.shelf.find_by_file(file) for file in files if file)
        return (stored for stored in found if stored and stored.kind == "full_text")

    def list_papers(
        self,
        *,
        text: str = "",
        kind: str = "",
        year_from: str = "",
        year_to: str = "",
        journal: str = "",
        job_id: str = "",
        start: int = 0,
        max_results: int = 20,
    ) -> tuple[int, list[StoredPaper]]:
        """How many papers fit, and a page of them; see `.store.Shelf.list`.

        ``job_id`` names a harvest: only its papers.
        """
        return self.shelf.list(
            among=self._names_in(job_id) if job_id else None,
            text=text,
            kind=kind,
            year_from=year_from,
            year_to=year_to,
            journal=journal,
            start=start,
            max_results=max_results,
        )

    def emptied_by(self, *, job_id: str = "", **filters: Unpack[ListFilters]) -> list[str]:
        """Which filters of `list_papers` leave nothing; see `.curation.listing.emptied_by`."""
        from .curation.listing import emptied_by

        among = self._names_in(job_id) if job_id else None
        chosen = {name: str(value) for name, value in filters.items()}
        return emptied_by(self.shelf, chosen, among, job_id)

    def _names_in(self, job_id: str) -> frozenset[str]:
        """Every name of the papers of a harvest."""
        harvest = self.harvest(job_id=job_id)
        with closing(harvest.ledger):
            return harvest.ledger.names()

    def take_in(self, *, accept: str = "", folder: str | Path = "") -> Iterator[InboxResult]:
        """File what was dropped into ``inbox/``; see `.curation.inbox.take_in`.

        Papers that are asked for are copied from *folder*; see `.curation.inbox_watch`.
        """
        from .curation.inbox import take_in
        from .curation.inbox_watch import take_in_from

        yield from take_in(self._ladder, accept=accept)
        if folder:
            yield from take_in_from(self._ladder, folder)

    def watch_inbox(
        self, *, accept: str = "", folder: str | Path = ""
    ) -> Generator[InboxResult, None, None]:
        """File what arrives, for ever; see `.curation.inbox_watch.watch`."""
        from .curation.inbox_watch import watch

        return watch(self._ladder, accept=accept, folder=folder)

    def audit(self, papers: Iterable[str | int | Ids] = (), *, fix: bool = False) -> Audit:
        """Judge the shelf again; iterating over it does the work. See `.curation.audit`."""
        from .curation.audit import audit

        return audit(self._ladder, list(papers), fix=fix)

    def keep(self, paper: str | int | Ids, decided: Decision, because: str) -> StoredPaper:
        """Overrule the judges about one text, reversibly; see `.curation.audit.keep`."""
        from .curation.audit import keep

        return keep(self._ladder, paper, decided, because)

    def undo_keep(self, paper: str | int | Ids) -> StoredPaper:
        """Let the judges decide about a text again; see `.curation.audit.undo`."""
        from .curation.audit import undo

        return undo(self._ladder, paper)

    def recheck(self, *, crossref: bool = True) -> Iterator[Change]:
        """Ask again about every paper of the shelf; see `.curation.recheck.recheck`."""
        from .curation.recheck import recheck

        return recheck(self.shelf, self.web, crossref=crossref)

    def write_references(self) -> list[Path]:
        """Write ``references.ris`` and ``references.bib`` of everything on the shelf."""
        from .harvest.jobs import of_shelf, write_references

        return write_references(lambda: of_shelf(self.shelf), self.shelf.folder)

    def rebuild(self) -> RebuildReport:
        """Make the catalogue and the index files again from the files alone."""
        return self.shelf.rebuild()

    def reextract(self, *, everything: bool = False) -> Iterator[Renewal]:
        """Read the kept bytes again with today's readers; see `.curation.text_renewal.renew`."""
        from .curation.text_renewal import renew

        return renew(self.shelf, everything=everything)

    def doctor(self) -> list[Check]:
        """What works here and what does not; see `.curation.health_check.examine`."""
        from .curation.health_check import examine
        from .sources import SOURCES

        return examine(self.settings, self.web, SOURCES, self.shelf)


def _ids_of(paper: str | int | Ids) -> Ids:
    from .model.identifiers import Ids

    return paper if isinstance(paper, Ids) else Ids.parse(str(paper))


def _read(paper: str | int | Ids) -> Ids | BadRequest:
    """The identifiers of one of many, or what is wrong with them: the others go on."""
    try:
        return _ids_of(paper)
    except BadRequest as wrong:
        return wrong
