"""What toolset ``literature`` answers: our dataclasses as the JSON of its contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..model.paper import Paper
    from ..sources.semantic_scholar import ScholarPage, ScholarPaper


def preprint_row(paper: Paper) -> dict[str, Any]:
    """A preprint as arXiv's own record has it; ``id`` carries the version where it is known."""
    name = f"{paper.ids.arxiv}v{paper.version}" if paper.version else paper.ids.arxiv
    return {
        "id": name,
        "title": paper.title,
        "authors": [author.name for author in paper.authors],
        "abstract": paper.abstract,
        "published": paper.published,
        "updated": paper.revised,
        "url": f"https://arxiv.org/abs/{name}",
        "pdf_url": f"https://arxiv.org/pdf/{name}",
        "categories": list(paper.categories),
        "primary_category": paper.categories[0] if paper.categories else "",
        "doi": paper.ids.doi,
        "retracted": paper.retracted,
    }


def scholar_row(found: ScholarPaper) -> dict[str, Any]:
    """A paper as Semantic Scholar knows it; null where it says nothing."""
    paper = found.paper
    return {
        "paper_id": paper.ids.s2,
        "title": paper.title,
        "abstract": paper.abstract or None,
        "year": int(paper.year) if paper.year.isdigit() else None,
        "authors": [
            {"author_id": number, "name": author.name}
            for author, number in zip(paper.authors, found.author_ids, strict=False)
        ],
        "citation_count": found.citation_count,
        "reference_count": found.reference_count,
        "influential_citation_count": found.influential_citation_count,
        "url": found.url,
        "venue": paper.journal or None,
        "publication_date": paper.published if len(paper.published) > len("2026") else None,
        "doi": paper.ids.doi,
        "pmid": paper.ids.pmid,
        "pmcid": paper.ids.pmcid,
        "arxiv_id": paper.ids.arxiv,
        "open_access_pdf": found.open_copy,
    }


def scholar_rows(page: ScholarPage) -> dict[str, Any]:
    """A page of papers."""
    return {
        "total": page.total,
        "papers": [scholar_row(found) for found in page.papers],
        "next_start": page.next_start,
        "token": page.token,
        "warnings": list(page.warnings),
    }
