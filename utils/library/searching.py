"""What a library finds: papers, records, references; nothing is put on the shelf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from .rooms import Rooms

if TYPE_CHECKING:
    from ..download.records import Converted
    from ..entrez.article_text import ArticleText
    from ..errors import PaperError
    from ..harvest.jobs import Asked
    from ..model.identifiers import Ids
    from ..model.paper import Paper, SearchResult
    from ..search.pubmed.citation_matching import Match
    from ..search.pubmed.details import Details, Level
    from ..search.pubmed.relationships import Relations, Relationship
    from ..search.pubmed.search import Found
    from ..search.pubmed.vocabulary import Heading, Spelling
    from ..search.resolve import Resolution
    from ..search.search import Gathered
    from ..sources import QueryOptions
    from ..sources.semantic_scholar import ScholarPage, ScholarPaper


class SearchVerbs(Rooms):
    """The verbs of looking for papers, and of naming them.

    Dates are ``YYYY[-MM[-DD]]`` (`..model.dates`); start_year and end_year are whole years.
    """

    def search(self, query: str, **options: Unpack[QueryOptions]) -> SearchResult:
        """Search PubMed; options are the fields of `..sources.Query`, such as ``max_results``.

        See `..search.pubmed.search.search`.
        """
        from ..search.pubmed.search import search
        from ..sources import SOURCES, Query

        return search(Query(query, **options), self.web, SOURCES)

    def search_ligand_receptor(
        self, ligand: str, receptor: str, **options: Unpack[QueryOptions]
    ) -> SearchResult:
        """Search PubMed for the interaction of a ligand and its receptor."""
        from ..search.pubmed.search import search_ligand_receptor
        from ..sources import SOURCES, Query

        return search_ligand_receptor(ligand, receptor, Query("", **options), self.web, SOURCES)

    def search_articles(
        self, query: str, *, summaries: int = 0, **options: Unpack[QueryOptions]
    ) -> Found:
        """PMIDs by the hundred, and the first papers in brief; see `..search.pubmed.search`."""
        from ..search.pubmed.search import search_articles
        from ..sources import Query

        return search_articles(Query(query, **options), summaries, self.web)

    def search_papers(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        among: Sequence[str] = (),
        max_results: int = 20,
        min_date: str = "",
        max_date: str = "",
        start_year: int = 0,
        end_year: int = 0,
        author: str = "",
        sort_by: str = "relevance",
        longest_s: float = 14.0,
    ) -> Gathered:
        """PubMed, Europe PMC, arXiv and Semantic Scholar side by side, each paper once.

        See `..search.search.search_papers`.
        """
        from ..search.search import search_papers
        from ..sources import SOURCES

        return search_papers(
            *(query, self.web, SOURCES),
            among=among,
            max_results=max_results,
            min_date=min_date,
            max_date=max_date,
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
        min_date: str = "",
        max_date: str = "",
        start_year: int = 0,
        end_year: int = 0,
        sort_by: str = "relevance",
        sort_order: str = "descending",
        max_results: int = 10,
        start: int = 0,
    ) -> SearchResult:
        """Search arXiv; see `..search.site_search.search_arxiv`."""
        from ..search.site_search import search_arxiv

        return search_arxiv(
            *(query, self.web),
            author=author,
            category=category,
            min_date=min_date,
            max_date=max_date,
            start_year=start_year,
            end_year=end_year,
            sort_by=sort_by,
            sort_order=sort_order,
            max_results=max_results,
            start=start,
        )

    def arxiv_paper(self, arxiv_id: str) -> Paper:
        """One preprint, in the version named; see `..search.site_search.arxiv_paper`."""
        from ..search.site_search import arxiv_paper

        return arxiv_paper(arxiv_id, self.web)

    def search_semantic_scholar(  # noqa: PLR0913  # its filters
        self,
        query: str,
        *,
        min_date: str = "",
        max_date: str = "",
        start_year: int = 0,
        end_year: int = 0,
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
            *(query, self.web),
            min_date=min_date,
            max_date=max_date,
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
        from ..search.site_search import scholar_paper

        return scholar_paper(paper, self.web)

    def citing_papers(self, paper: str, *, max_results: int = 10, start: int = 0) -> ScholarPage:
        """Who cites a paper; see `..search.site_search.citing_papers`."""
        from ..search.site_search import citing_papers

        return citing_papers(paper, self.web, max_results=max_results, start=start)

    def paper(self, pmid: str | int) -> Paper:
        """One paper as PubMed knows it; see `..search.pubmed.details.fetch_paper`."""
        from ..search.pubmed.details import fetch_paper

        return fetch_paper(pmid, self.web)

    def records(self, papers: Iterable[str | int | Ids]) -> list[tuple[Ids, Paper | PaperError]]:
        """The record of each paper, or why there is none; see `..download.records.fetch_records`.

        What is no identifier stands in its place, with the error that names it.
        """
        from ..download.records import fetch_records
        from ..model.identifiers import Ids
        from ..sources import SOURCES

        read = [Ids.try_parse(paper) for paper in papers]
        wanted = (ids for ids in read if isinstance(ids, Ids))
        known = iter(fetch_records(wanted, self.shelf, self.web, SOURCES))
        return [next(known) if isinstance(ids, Ids) else (Ids(), ids) for ids in read]

    def details(self, pmids: Iterable[str | int], level: Level = "abstract_plus") -> Details:
        """PubMed's records of many papers; see `..search.pubmed.details.details`."""
        from ..search.pubmed.details import details

        return details(list(pmids), level, self.web)

    def related(
        self, pmid: str | int, kind: Relationship, most: int = 5, *, start: int = 0
    ) -> Relations:
        """Similar, citing and cited papers; see `..search.pubmed.relationships.find_related`."""
        from ..search.pubmed.details import pmid_of
        from ..search.pubmed.relationships import find_related

        return find_related(pmid_of(pmid), kind, most, self.web, start=start)

    def article_text(
        self, paper: str, *, section: str = "", start: int = 0, max_chars: int = 8000
    ) -> ArticleText:
        """A stretch of an open article, not stored; see `..entrez.article_text.article_text`."""
        from ..entrez.article_text import article_text

        return article_text(paper, self.web, section=section, start=start, max_chars=max_chars)

    def convert_ids(self, ids: Iterable[str | int]) -> list[Converted]:
        """The other names of many papers; see `..download.records.convert`."""
        from ..download.records import convert
        from ..sources import SOURCES

        return convert([str(one) for one in ids], self.web, SOURCES)

    def match_citations(self, citations: Iterable[Mapping[str, str]]) -> list[Match]:
        """PMIDs of printed references; see `..search.pubmed.citation_matching.match_citations`."""
        from ..search.pubmed.citation_matching import match_citations

        return match_citations(list(citations), self.web)

    def check_spelling(self, query: str) -> Spelling:
        """How PubMed would spell a query; see `..search.pubmed.vocabulary.check_spelling`."""
        from ..search.pubmed.vocabulary import check_spelling

        return check_spelling(query, self.web)

    def look_up_mesh(self, text: str, most: int = 5) -> tuple[int, list[Heading]]:
        """MeSH headings with synonyms; see `..search.pubmed.vocabulary.look_up_mesh`."""
        from ..search.pubmed.vocabulary import look_up_mesh

        return look_up_mesh(text, most, self.web)

    def resolve(self, papers: Asked, *, anew: bool = False) -> Iterator[Resolution]:
        """What the papers of a list are that name no identifier; see `..search.resolve`.

        ``entries_in`` of `..lists.references` reads the list.
        """
        from ..harvest.jobs import entry_of
        from ..search.resolve import resolve
        from ..sources import SOURCES

        return resolve(map(entry_of, papers), self.web, SOURCES, anew=anew)

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
        from ..citations import in_version
        from ..errors import PaperError
        from ..model.identifiers import arxiv_version

        version = arxiv_version(paper) if isinstance(paper, str) else ""
        if not version or isinstance(record, PaperError):
            return record
        try:
            return in_version(self.arxiv_paper(str(paper)), version)
        except PaperError as absent:
            return absent

    def citations(self, papers: Iterable[Paper], styles: Iterable[str]) -> list[dict[str, Any]]:
        """Each paper's reference in each of *styles*; see `..citations.citations`."""
        from ..citations import citations

        return citations(list(papers), list(styles))

    def cite(
        self, papers: Iterable[str | int | Ids], style: str = "apa"
    ) -> list[tuple[Ids, str | PaperError]]:
        """Each paper's reference in one style, or why there is none, in the order of *papers*.

        See `..citations.STYLES` for the styles. A BibTeX entry or RIS record is a text of several
        lines, a CSL-JSON item one of JSON.

        Raises
        ------
        BadRequest
            There is no such style; no source was asked.
        """
        from ..citations import cite
        from ..errors import PaperError

        cite([], style)  # refused before anything is asked for
        records = self.records_to_cite(papers)
        cited = iter(cite([one for _, one in records if not isinstance(one, PaperError)], style))
        return [(ids, one if isinstance(one, PaperError) else next(cited)) for ids, one in records]
