"""What toolset ``pubmed`` answers: our dataclasses as the JSON of its contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..system.plain_text import shortened

if TYPE_CHECKING:
    from ..download.id_conversion import Converted
    from ..model.paper import Paper
    from ..search.pubmed.citation_matching import Match
    from ..search.pubmed.details import Details, Level
    from ..search.pubmed.relationships import Related, Relations
    from ..search.pubmed.search import Found
    from ..search.pubmed.vocabulary import Heading

LONGEST_ECHO = 2000
_LEAST_PAGE = 1000
_LONGEST_TITLE = 500
_GAP = "\n\n"
_LONGEST_WARNING = 500
_LONGEST_LINE = 200
_MOST_LINES = 20


def parameters_row(query_term: str, types: Iterable[str], **others: Any) -> dict[str, Any]:
    """The search's parameters; long texts are shortened."""
    return {
        "query_term": shortened(query_term, LONGEST_ECHO),
        "filter_by_publication_types": first_twenty(types),
        **others,
    }


def first_twenty(texts: Iterable[str], most: int = _LONGEST_WARNING) -> list[str]:
    """At most twenty texts, each of at most *most* characters; the rest is counted."""
    every = list(texts)
    shown = [shortened(text, most) for text in every[:_MOST_LINES]]
    if len(every) > _MOST_LINES:
        shown.append(f"… and {len(every) - _MOST_LINES:,} more")
    return shown


def search_rows(found: Found) -> dict[str, Any]:
    """What a search found."""
    return {
        "effective_search_term": shortened(found.term, LONGEST_ECHO),
        "query_translation": shortened(found.hits.effective_query, LONGEST_ECHO),
        "total_found": found.hits.total,
        "retrieved_pmid_count": len(found.hits.pmids),
        "pmids": list(found.hits.pmids),
        "brief_summaries": [
            {
                "pmid": one.pmid,
                "title": one.title,
                "authors": _few(one.authors),
                "source": one.source,
                "pub_date": one.published,
                "epub_date": one.online,
                "doi": one.doi,
                "pmcid": one.pmcid,
            }
            for one in found.summaries
        ],
        "warnings": first_twenty(found.warnings),
        "e_search_url": shortened(found.search_url, LONGEST_ECHO),
        "e_summary_url": shortened(found.summary_url, LONGEST_ECHO),
    }


def _few(authors: str) -> str:
    """Ten names at the most: some papers have thousands."""
    names = authors.split(", ")
    return ", ".join([*names[:10], "et al."]) if len(names) > 10 else authors


def fetch_rows(found: Details) -> dict[str, Any]:
    """The PMIDs requested, and why some have no record."""
    return {
        "requested_pmids": list(found.requested),
        "not_found_pmids": list(found.not_found),
        "failed": _failed_rows(found),
        "e_fetch_details": {
            "urls": [shortened(url, LONGEST_ECHO) for url in found.urls],
            "request_method": found.method or "cache",
        },
    }


_FRAME_OF_LATER_PAGES: dict[str, Any] = {
    "requested_pmids": [],
    "not_found_pmids": [],
    "failed": [],
    "e_fetch_details": {"urls": [], "request_method": ""},
}


def _failed_rows(found: Details) -> list[dict[str, str]]:
    """Why each of them is missing; a repeated reason refers to the first."""
    first: dict[str, str] = {}
    rows = []
    for pmid, error in found.failed.items():
        named = first.setdefault(str(error), pmid)
        message = str(error) if named == pmid else f"As for {named}."
        rows.append({"pmid": pmid, "code": error.code, "message": message})
    return rows


def details_page(
    found: Details, level: Level, start: int, most: int, *, mesh: bool, grants: bool
) -> dict[str, Any]:
    """One page of the answer, *most* characters in all.

    What concerns the answer as a whole stands on the first page only. No page before the end is
    empty: it has some hundred characters of text, or one article.
    """
    from ..search.pubmed.details import to_row

    def article(pmid: str) -> dict[str, Any]:
        return {"pmid": pmid, **to_row(found.records[pmid], level, mesh=mesh, grants=grants)}

    frame = _FRAME_OF_LATER_PAGES if start else fetch_rows(found)
    room = max(most - _size(frame), _LEAST_PAGE)
    as_text = level in ("full_xml", "medline_text")
    turn = _page_of_text if as_text else _page_of_articles
    page, reached, end = turn(found.records, article, start, room)
    beyond = start and start >= end
    unit = "character" if as_text else "article"
    ends = f"after {end:,} {unit}{'s' * (end != 1)}"
    warnings = [f"start is {start:,}, but the answer ends {ends}."] if beyond else []
    more = {"next_start": reached if reached < end else None, "warnings": warnings}
    return {**frame, **page, **more}


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _page_of_text(
    records: Mapping[str, str], article: Callable[[str], dict[str, Any]], start: int, room: int
) -> tuple[dict[str, Any], int, int]:
    """A stretch of all records' text; each article on it says where its own text begins."""
    shown: list[dict[str, Any]] = []
    text, end = "", 0
    for pmid, record in records.items():
        begin, end = end, end + len(record) + len(_GAP)
        if end <= start or room <= 0:
            continue
        here = article(pmid)
        here |= {"title": shortened(here["title"], _LONGEST_TITLE)}
        here |= {"start": begin, "chars": len(record)}
        room -= _size(here)
        if room > 0:
            stretch = f"{record}{_GAP}"[max(start - begin, 0) :][:room]
            shown.append(here)
            text += stretch
            room -= len(stretch)
    return {"articles": shown, "text": text}, start + len(text), end


def _page_of_articles(
    records: Mapping[str, str], article: Callable[[str], dict[str, Any]], start: int, room: int
) -> tuple[dict[str, Any], int, int]:
    """As many whole articles as fit, one at least."""
    shown: list[dict[str, Any]] = []
    for pmid in list(records)[start:]:
        here = article(pmid)
        room -= _size(here)
        if shown and room < 0:
            break
        shown.append(here)
    return {"articles": shown, "text": ""}, start + len(shown), len(records)


def relation_rows(found: Relations) -> dict[str, Any]:
    """A list of related papers, and its source."""
    return {
        "related_articles": [_related_row(article) for article in found.articles],
        "retrieved_count": len(found.articles),
        "total": found.total,
        "next_start": found.next_start,
        "source": found.source,
        "warnings": first_twenty(found.warnings),
        "e_link_url": found.url,
    }


def _related_row(article: Related) -> dict[str, Any]:
    """A related paper, with where to see it."""
    address = f"https://pubmed.ncbi.nlm.nih.gov/{article.pmid}/" if article.pmid else ""
    if not address and article.doi:
        address = f"https://doi.org/{article.doi}"
    return {
        "pmid": article.pmid,
        "title": article.title,
        "authors": article.authors,
        "journal": article.journal,
        "year": article.year,
        "doi": article.doi,
        "retracted": article.retracted,
        "score": article.score,
        "link_url": address,
    }


def paper_row(paper: Paper) -> dict[str, Any]:
    """A PubMed record in the words of the contract."""
    from ..search.pubmed.details import MOST_AUTHORS

    return {
        "pmid": paper.ids.pmid,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": [author.name for author in paper.authors[:MOST_AUTHORS]],
        "author_count": len(paper.authors),
        "journal": paper.journal,
        "year": paper.year,
        "doi": paper.ids.doi or None,
        "pmcid": paper.ids.pmcid,
        "url": f"https://pubmed.ncbi.nlm.nih.gov/{paper.ids.pmid}/",
        "publication_types": list(paper.publication_types),
        "mesh_terms": list(paper.mesh),
        "retracted": paper.retracted,
    }


def converted_row(one: Converted) -> dict[str, Any]:
    """The names of one paper."""
    return {
        "requested": one.requested,
        "status": one.status,
        "pmid": one.ids.pmid,
        "pmcid": one.ids.pmcid,
        "doi": one.ids.doi,
        "message": one.message,
    }


def match_row(one: Match) -> dict[str, Any]:
    """One reference, with its PMID or the candidates."""
    return {
        "key": one.key,
        "status": one.status,
        "pmid": one.pmid,
        "candidates": list(one.candidates),
        "detail": one.detail,
    }


def heading_row(heading: Heading) -> dict[str, Any]:
    """A MeSH record, with how to search for it."""
    term = heading.term
    return {
        "ui": term.ui,
        "heading": term.heading,
        "entry_terms": list(term.entry_terms),
        "scope_note": term.scope_note,
        "tree_numbers": list(term.tree_numbers),
        "broader": list(heading.broader),
        "narrower": list(heading.narrower),
        "record_type": term.kind,
        "year_introduced": term.year_introduced,
        "search_term": f'"{term.heading}"[MeSH Terms]',
    }
