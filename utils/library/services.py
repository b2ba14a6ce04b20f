"""Methods of a library that query PubMed, arXiv and Semantic Scholar; nothing is saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from ..system.keyword_options import accept_former_options
from .namespace import Namespace

if TYPE_CHECKING:
    from ..download.records import Converted
    from ..entrez.article_text import ArticleText
    from ..model.paper import Paper, SearchResult
    from ..search.pubmed.citation_matching import CitationMatch
    from ..search.pubmed.details import DetailedRecords, Level
    from ..search.pubmed.relationships import RelatedPapers, Relationship
    from ..search.pubmed.search import ArticleSearch
    from ..search.pubmed.vocabulary import MeshHeading, QuerySpelling
    from ..sources import QueryOptions
    from ..sources.semantic_scholar import ScholarPage, ScholarPaper


class PubMed(Namespace):
    """PubMed's records, related papers and vocabulary; nothing is saved on the shelf."""

    def search_articles(
        self, query: str, *, summaries: int = 0, **options: Unpack[QueryOptions]
    ) -> ArticleSearch:
        """Return PMIDs that a query finds, and summaries of the first papers."""
        from ..search.pubmed.search import search_articles
        from ..sources import Query

        return search_articles(Query(query, **options), summaries, self._library.web)

    def search_ligand_receptor(
        self, ligand: str, receptor: str, **options: Unpack[QueryOptions]
    ) -> SearchResult:
        """Search PubMed for the interaction of a ligand and its receptor."""
        from ..search.pubmed.search import search_ligand_receptor
        from ..sources import SOURCES, Query

        return search_ligand_receptor(
            ligand, receptor, Query("", **options), self._library.web, SOURCES
        )

    def paper(self, pmid: str | int) -> Paper:
        """Return PubMed's record of a paper; see `..search.pubmed.details.fetch_paper`."""
        from ..search.pubmed.details import fetch_paper

        return fetch_paper(pmid, self._library.web)

    @accept_former_options(level="detail_level")
    def details(
        self, pmids: Iterable[str | int], detail_level: Level = "abstract_plus"
    ) -> DetailedRecords:
        """Return PubMed's records of many papers; see `..search.pubmed.details.fetch_details`."""
        from ..search.pubmed.details import fetch_details

        return fetch_details(list(pmids), detail_level, self._library.web)

    @accept_former_options(most="max_results")
    def related(
        self, pmid: str | int, kind: Relationship, max_results: int = 5, *, start: int = 0
    ) -> RelatedPapers:
        """Return similar, citing or cited papers."""
        from ..search.pubmed.details import parse_pmid
        from ..search.pubmed.relationships import find_related_papers

        return find_related_papers(
            parse_pmid(pmid), kind, max_results, self._library.web, start=start
        )

    def article_text(
        self, paper: str, *, section: str = "", start: int = 0, max_chars: int = 8000
    ) -> ArticleText:
        """Return part of an open article without saving it; see `..entrez.article_text`."""
        from ..entrez.article_text import read_article_text

        return read_article_text(
            paper, self._library.web, section=section, start=start, max_chars=max_chars
        )

    @accept_former_options(ids="papers")
    def convert_ids(self, papers: Iterable[str | int]) -> list[Converted]:
        """Return PMID, PMCID and DOI of papers; see `..download.records.convert_identifiers`."""
        from ..download.records import convert_identifiers
        from ..sources import SOURCES

        return convert_identifiers([str(one) for one in papers], self._library.web, SOURCES)

    def match_citations(self, citations: Iterable[Mapping[str, str]]) -> list[CitationMatch]:
        """Find the PMIDs of printed references; see `..search.pubmed.citation_matching`."""
        from ..search.pubmed.citation_matching import match_citations

        return match_citations(list(citations), self._library.web)

    def check_spelling(self, query: str) -> QuerySpelling:
        """Return PubMed's spelling of a query; see `..search.pubmed.vocabulary`."""
        from ..search.pubmed.vocabulary import check_spelling

        return check_spelling(query, self._library.web)

    @accept_former_options(text="query", most="max_results")
    def look_up_mesh(self, query: str, max_results: int = 5) -> tuple[int, list[MeshHeading]]:
        """Find MeSH headings with synonyms; see `..search.pubmed.vocabulary.look_up_mesh`."""
        from ..search.pubmed.vocabulary import look_up_mesh

        return look_up_mesh(query, max_results, self._library.web)


class ArXiv(Namespace):
    """arXiv's search and records."""

    @accept_former_options(start_year="min_date", end_year="max_date")
    def search(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        author: str = "",
        category: str = "",
        min_date: str = "",
        max_date: str = "",
        sort_by: str = "relevance",
        sort_order: str = "descending",
        max_results: int = 10,
        start: int = 0,
    ) -> SearchResult:
        """Search arXiv; see `..search.site_search.search_arxiv`."""
        from ..search.site_search import search_arxiv

        return search_arxiv(
            *(query, self._library.web),
            author=author,
            category=category,
            min_date=min_date,
            max_date=max_date,
            sort_by=sort_by,
            sort_order=sort_order,
            max_results=max_results,
            start=start,
        )

    def paper(self, arxiv_id: str) -> Paper:
        """Return arXiv's record of a preprint, in the version that the identifier names."""
        from ..search.site_search import fetch_arxiv_paper

        return fetch_arxiv_paper(arxiv_id, self._library.web)


class SemanticScholar(Namespace):
    """Semantic Scholar's search, records and citations."""

    @accept_former_options(start_year="min_date", end_year="max_date")
    def search(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        min_date: str = "",
        max_date: str = "",
        fields_of_study: Sequence[str] = (),
        bulk: bool = False,
        sort_by: str = "",
        token: str = "",
        max_results: int = 10,
        start: int = 0,
    ) -> ScholarPage:
        """Search Semantic Scholar; see `..search.site_search.search_semantic_scholar`."""
        from ..search.site_search import search_semantic_scholar

        return search_semantic_scholar(
            *(query, self._library.web),
            min_date=min_date,
            max_date=max_date,
            fields_of_study=fields_of_study,
            bulk=bulk,
            sort_by=sort_by,
            token=token,
            max_results=max_results,
            start=start,
        )

    def paper(self, paper: str) -> ScholarPaper:
        """Return Semantic Scholar's record of a paper, by any identifier."""
        from ..search.site_search import fetch_scholar_paper

        return fetch_scholar_paper(paper, self._library.web)

    def citing_papers(self, paper: str, *, max_results: int = 10, start: int = 0) -> ScholarPage:
        """Find the papers that cite a paper; see `..search.site_search.find_citing_papers`."""
        from ..search.site_search import find_citing_papers

        return find_citing_papers(paper, self._library.web, max_results=max_results, start=start)
