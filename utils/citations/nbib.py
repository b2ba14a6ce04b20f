"""NBIB: papers in the tagged format that PubMed saves, which reference managers read.

The tags are NLM's (https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format), in PubMed's order. The DOI
stands in ``LID`` and ``AID``, because Zotero looks for it in ``AID`` only. A record ends with a
blank line, which is how Zotero and Biopython tell records apart.

A paper without PMID has no line ``PMID``: its record begins with its owner, as ERIC's do in this
format (Zotero's translator *MEDLINE/nbib* knows them so).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from ..model.paper import Author, Paper
from .items import plain, plain_title

_WIDTH = 88
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def to_nbib(paper: Paper) -> str:
    """One record, with its blank line."""
    ids = paper.ids
    doi = f"{plain(ids.doi)} [doi]" if ids.doi else ""
    title = plain(paper.title)
    lines = [
        ("PMID", ids.pmid),
        ("OWN", "NLM" if ids.pmid else "Papershelf"),
        ("IS", paper.issn),
        ("VI", paper.volume),
        ("IP", paper.issue),
        ("DP", _date(paper.published)),
        ("TI", title if title.endswith((".", "?", "!", "]")) or not title else f"{title}."),
        ("PG", paper.pages),
        ("LID", doi),
        ("AB", paper.abstract),
        *(line for author in paper.authors for line in _author(author)),
        *(("LA", language) for language in paper.languages),
        *(("PT", kind) for kind in paper.publication_types),
        ("TT", plain_title(paper.vernacular_title)),
        ("TA", paper.journal_abbreviation),
        ("JT", paper.journal),
        *(("MH", heading) for heading in paper.mesh),
        ("PMC", ids.pmcid),
        *(("OT", word) for word in paper.keywords),
        ("AID", doi),
        ("AID", f"arXiv:{ids.arxiv} [pii]" if ids.arxiv else ""),
    ]
    return "".join(_line(tag, text) for tag, value in lines if (text := plain(value))) + "\n"


def each_nbib(papers: Iterable[tuple[Paper, str]]) -> Iterator[str]:
    """The records of many papers, one by one; the format has no place for their files."""
    return (to_nbib(paper) for paper, _ in papers)


def _line(tag: str, text: str) -> str:
    """A field, its text cut into lines; an address in it stays whole."""
    lines = textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=f"{tag:<4}- ",
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(f"{line}\n" for line in lines)


def _author(author: Author) -> Iterator[tuple[str, str]]:
    if author.collective:
        yield "CN", author.collective
        return
    family, suffix = plain(author.family), plain(author.suffix)
    given = plain(author.given or author.initials)
    initials = author.initials or "".join(part[0] for part in re.split(r"[\s.-]+", given) if part)
    yield "FAU", f"{family}, {given} {suffix}".rstrip(", ") if given else family
    yield "AU", " ".join(filter(None, (family, initials, suffix)))
    if author.orcid:
        yield "AUID", f"ORCID: {author.orcid}"


def _date(published: str) -> str:
    """An ISO date as PubMed writes it.

    >>> _date("2019-05-03"), _date("2019-05"), _date("2019")
    ('2019 May 3', '2019 May', '2019')
    """
    year, *rest = published.split("-")
    month = [_MONTHS[int(part) - 1] for part in rest[:1] if part.isdigit() and 1 <= int(part) <= 12]
    day = [str(int(part)) for part in rest[1:2] if part.isdigit() and month]
    return " ".join([year, *month, *day])
