"""What toolset ``pubmed`` answers, in the words of the contract: from our nouns to plain JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..article_details import Details, Level
    from ..article_search import Found
    from ..citation_matching import Match
    from ..identifier_crosswalk import Converted
    from ..paper import Paper
    from ..relationships import Related
    from ..vocabulary import Heading


def search_rows(found: Found) -> dict[str, Any]:
    """What a search found."""
    return {
        "effective_search_term": found.term,
        "query_translation": found.hits.effective_query,
        "total_found": found.hits.total,
        "retrieved_pmid_count": len(found.hits.pmids),
        "pmids": list(found.hits.pmids),
        "brief_summaries": [
            {
                "pmid": one.pmid,
                "title": one.title,
                "authors": one.authors,
                "source": one.source,
                "pub_date": one.published,
                "epub_date": one.online,
                "doi": one.doi,
                "pmcid": one.pmcid,
            }
            for one in found.summaries
        ],
        "warnings": list(found.warnings),
        "e_search_url": found.search_url,
        "e_summary_url": found.summary_url,
    }


def fetch_rows(found: Details) -> dict[str, Any]:
    """What was asked for, and what became of the papers that are not there."""
    return {
        "requested_pmids": list(found.requested),
        "not_found_pmids": list(found.not_found),
        "failed": [
            {"pmid": pmid, "code": miss.code, "message": miss.message}
            for pmid, miss in found.failed.items()
        ],
        "e_fetch_details": {"urls": list(found.urls), "request_method": found.method or "cache"},
    }


def article_rows(found: Details, level: Level, *, mesh: bool, grants: bool) -> list[dict[str, Any]]:
    """The records in the words of the contract; text levels give the title only."""
    from ..article_details import row

    return [
        {"pmid": pmid, **row(record, level, mesh=mesh, grants=grants)}
        for pmid, record in found.records.items()
    ]


def page_of_text(
    found: Details, articles: Sequence[dict[str, Any]], start: int, most: int
) -> dict[str, Any]:
    """A stretch of all records' text; each article says where its own begins."""
    text, listed = "", []
    for article, record in zip(articles, found.records.values(), strict=True):
        listed.append({**article, "start": len(text), "chars": len(record)})
        text += record + "\n\n"
    end = start + most
    return {
        "articles": listed,
        "text": text[start:end],
        "next_start": end if end < len(text) else None,
    }


def page_of_articles(articles: Sequence[dict[str, Any]], start: int, most: int) -> dict[str, Any]:
    """As many whole articles as fit, one at least."""
    page: list[dict[str, Any]] = []
    size = 0
    for article in articles[start:]:
        size += len(json.dumps(article, ensure_ascii=False))
        if page and size > most:
            break
        page.append(article)
    end = start + len(page)
    return {"articles": page, "text": "", "next_start": end if end < len(articles) else None}


def details_in_short(found: Details, page: dict[str, Any]) -> str:
    """Titles, and what is missing."""
    lines = [f"{len(found.records)} of {len(found.requested)} records."]
    lines += [f"PMID {one['pmid']}: {one['title']}" for one in page["articles"][:20]]
    if found.not_found:
        lines.append(f"Not in PubMed: {', '.join(found.not_found)}.")
    if found.failed:
        first = next(iter(found.failed.values()))
        lines.append(f"Could not be asked: {', '.join(found.failed)}. {first.message}")
    if page["next_start"] is not None:
        lines.append(f"More from start={page['next_start']}.")
    return "\n".join(lines)


def related_row(article: Related) -> dict[str, Any]:
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
    return {
        "pmid": paper.ids.pmid,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": [author.name for author in paper.authors],
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
    """What became of one reference."""
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
