"""Write papers in NBIB, PubMed's tagged format, which reference managers read.

The tags are NLM's (https://pubmed.ncbi.nlm.nih.gov/help/#pubmed-format), in PubMed's order. The DOI
is in ``LID`` and ``AID``, because Zotero looks for it in ``AID`` only. A record ends with a blank
line, by which Zotero and Biopython separate records.

A paper without a PMID has no line ``PMID``: its record begins with its owner, as ERIC's records
do in this format (Zotero's translator *MEDLINE/nbib* reads them).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

from ..model.paper import Author, Paper
from .items import clean_title, strip_markup

_LINE_WIDTH = 88
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def format_nbib_record(paper: Paper) -> str:
    """Return one NBIB record with its final blank line."""
    ids = paper.ids
    doi = f"{strip_markup(ids.doi)} [doi]" if ids.doi else ""
    title = strip_markup(paper.title)
    lines = [
        ("PMID", ids.pmid),
        ("OWN", "NLM" if ids.pmid else "Papershelf"),
        ("IS", paper.issn),
        ("VI", paper.volume),
        ("IP", paper.issue),
        ("DP", _format_pubmed_date(paper.published)),
        ("TI", title if title.endswith((".", "?", "!", "]")) or not title else f"{title}."),
        ("PG", paper.pages),
        ("LID", doi),
        ("AB", paper.abstract),
        *(line for author in paper.authors for line in _iterate_author_fields(author)),
        *(("LA", language) for language in paper.languages),
        *(("PT", kind) for kind in paper.publication_types),
        ("TT", clean_title(paper.vernacular_title)),
        ("TA", paper.journal_abbreviation),
        ("JT", paper.journal),
        *(("MH", heading) for heading in paper.mesh),
        ("PMC", ids.pmcid),
        *(("OT", word) for word in paper.keywords),
        ("AID", doi),
        ("AID", f"arXiv:{ids.arxiv} [pii]" if ids.arxiv else ""),
    ]
    return (
        "".join(
            _format_nbib_field(tag, text) for tag, value in lines if (text := strip_markup(value))
        )
        + "\n"
    )


def iterate_nbib_records(papers: Iterable[tuple[Paper, str]]) -> Iterator[str]:
    """Yield the NBIB records of papers; the format has no field for their files."""
    return (format_nbib_record(paper) for paper, _ in papers)


def _format_nbib_field(tag: str, text: str) -> str:
    """Return one field wrapped into lines; an address in the text stays whole."""
    lines = textwrap.wrap(
        text,
        _LINE_WIDTH,
        initial_indent=f"{tag:<4}- ",
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(f"{line}\n" for line in lines)


def _iterate_author_fields(author: Author) -> Iterator[tuple[str, str]]:
    if author.collective:
        yield "CN", author.collective
        return
    family, suffix = strip_markup(author.family), strip_markup(author.suffix)
    given = strip_markup(author.given or author.initials)
    initials = author.initials or "".join(part[0] for part in re.split(r"[\s.-]+", given) if part)
    yield "FAU", f"{family}, {given} {suffix}".rstrip(", ") if given else family
    yield "AU", " ".join(filter(None, (family, initials, suffix)))
    if author.orcid:
        yield "AUID", f"ORCID: {author.orcid}"


def _format_pubmed_date(published: str) -> str:
    """Return an ISO date as PubMed writes it.

    >>> [_format_pubmed_date(date) for date in ("2019-05-03", "2019-05", "2019")]
    ['2019 May 3', '2019 May', '2019']
    """
    year, *rest = published.split("-")
    month = [_MONTHS[int(part) - 1] for part in rest[:1] if part.isdigit() and 1 <= int(part) <= 12]
    day = [str(int(part)) for part in rest[1:2] if part.isdigit() and month]
    return " ".join([year, *month, *day])
