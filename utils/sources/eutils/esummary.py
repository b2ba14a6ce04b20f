"""ESummary: the summaries of any database; those of PubMed as authors, source and dates.

The JSON form holds at most 500 summaries. A PMID that PubMed does not know is there with an
``error`` of its own. https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import Unreachable
from ...formats.pubmed.fields import iso_date
from ...system.plain_text import one_line
from ...web import Web
from ..loose_json import mappings
from ..pubmed import Hits
from . import ask, shown_url
from .docsums import Summaries, read_summaries

MOST = 500
_INLINE = re.compile(r"</?(?:i|b|u|em|strong|sub|sup)>", re.I)


@dataclass(frozen=True, slots=True)
class Summary:
    """A paper in brief; dates are ISO 8601, as precise as PubMed prints them."""

    pmid: str
    title: str = ""
    authors: str = ""
    source: str = ""
    published: str = ""
    online: str = ""
    doi: str = ""
    pmcid: str = ""


def fetch_summaries(hits: Hits, first: int, web: Web) -> tuple[dict[str, Summary], str]:
    """The *first* papers of a search, from the history server, by PMID; and the address.

    Where NCBI has forgotten the search, by their identifiers.

    Raises
    ------
    Unreachable
        PubMed did not answer.
    """
    pmids = hits.pmids[:first]
    if hits.web_env:
        try:
            return _fetch(pmids, hits.slice(0, len(pmids)), web)
        except Unreachable as error:
            if not error.details.get("expired"):
                raise
    return _fetch(pmids, {"id": ",".join(pmids)}, web)


def _fetch(
    pmids: Sequence[str], which: Mapping[str, Any], web: Web
) -> tuple[dict[str, Summary], str]:
    params = {"db": "pubmed", "retmode": "json", "version": "2.0", **which}
    rows = esummary(params, web).records
    found = {pmid: _summary(pmid, rows[pmid]) for pmid in pmids if pmid in rows}
    return found, shown_url(web, "esummary", params)


def esummary(params: Mapping[str, Any], web: Web) -> Summaries:
    """Summaries of any database, and which identifiers have none.

    Raises
    ------
    Unreachable
        NCBI did not answer, or has forgotten the search.
    """
    return read_summaries(ask(web, "esummary", params, read=read_summaries))


def _summary(pmid: str, row: Mapping[str, Any]) -> Summary:
    """Any field may be missing; titles are escaped, with their markup."""
    people = [_text(who.get("name")) for who in mappings(row.get("authors"))]
    ids = {
        str(one.get("idtype")): _text(one.get("value")) for one in mappings(row.get("articleids"))
    }
    source = " ".join(filter(None, (_text(row.get("source")) + ".", _text(row.get("pubdate")))))
    return Summary(
        pmid=pmid,
        title=_INLINE.sub("", _text(row.get("title"))),
        authors=", ".join(filter(None, people)),
        source=source.lstrip(". "),
        published=iso_date(_text(row.get("pubdate"))),
        online=iso_date(_text(row.get("epubdate"))),
        doi=ids.get("doi", ""),
        pmcid=ids.get("pmc", ""),
    )


def _text(value: object) -> str:
    return one_line(html.unescape(str(value or "")))
