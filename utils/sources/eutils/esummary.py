"""ESummary: who, where and when of many PubMed papers, without abstracts.

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
from ...plain_text import one_line
from ...web import Answer, Web
from ..pubmed import Hits
from . import ask, dicts, shown_url

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


def summaries(hits: Hits, first: int, web: Web) -> tuple[dict[str, Summary], str]:
    """The *first* few papers of a search, from the history server; by PMID, and the address.

    A search that NCBI has forgotten is asked for by its identifiers.

    Raises
    ------
    Unreachable
        PubMed did not answer.
    """
    pmids = hits.pmids[:first]
    if hits.web_env:
        try:
            return _asked(pmids, hits.slice(0, len(pmids)), web)
        except Unreachable as forgotten:
            if not forgotten.details.get("expired"):
                raise
    return _asked(pmids, {"id": ",".join(pmids)}, web)


def _asked(
    pmids: Sequence[str], which: Mapping[str, Any], web: Web
) -> tuple[dict[str, Summary], str]:
    params = {"db": "pubmed", "retmode": "json", "version": "2.0", **which}
    rows = document_summaries(params, web)
    found = {pmid: _summary(pmid, rows[pmid]) for pmid in pmids if pmid in rows}
    return found, shown_url(web, "esummary", params)


def document_summaries(params: Mapping[str, Any], web: Web) -> dict[str, dict[str, Any]]:
    """What ESummary says, by identifier, of any database; the unknown ones are left out."""
    reply = ask(web, "esummary", params, read=_complain).json()
    rows = reply["result"]
    known = {str(uid): rows.get(str(uid)) for uid in rows["uids"]}
    return {uid: row for uid, row in known.items() if isinstance(row, dict) and "error" not in row}


def _complain(answer: Answer) -> None:
    """Errors come with status 200, each in a form of its own."""
    reply = answer.json()
    result = reply.get("result") if isinstance(reply, dict) else None
    if isinstance(result, dict) and isinstance(result.get("uids"), list):
        return
    told = ""
    if isinstance(reply, dict):
        told = str(reply.get("error") or reply.get("esummaryresult") or "")
    if "Unable to obtain query" in told:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    msg = f"NCBI sent no summaries: {one_line(told)[:200] or 'an answer without a result'}"
    raise Unreachable(msg, "Try again in a minute.")


def _summary(pmid: str, row: Mapping[str, Any]) -> Summary:
    """Any field may be missing; titles are escaped, with their markup."""
    people = [_text(who.get("name")) for who in dicts(row.get("authors"))]
    ids = {str(one.get("idtype")): _text(one.get("value")) for one in dicts(row.get("articleids"))}
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
