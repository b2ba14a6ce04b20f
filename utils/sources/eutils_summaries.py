"""ESummary: the summaries of any database, and those of PubMed as authors, source and dates.

The JSON form holds at most 500 summaries. Version 1 of the XML is ``DocSum`` with typed ``Item``,
version 2 ``DocumentSummary`` with one tag for each field. An identifier without a record is there
with an ``error`` of its own. https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import BadContent, Unreachable
from ..http import Answer, Web
from ..readers.pubmed import iso_date
from ..readers.safe_xml import parse
from ..system.plain_text import one_line, shortened, unescaped
from .eutils import ask, shown_url
from .loose_json import LONGEST_NAME, mapping, mappings, text
from .pubmed import Hits

MOST = 500
_INLINE = re.compile(r"</?(?:i|b|u|em|strong|sub|sup)>", re.I)
SILENT = "NCBI sent no summary of it"
_DEEPEST = 40


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
    return " ".join(unescaped(str(value or "")).split())


@dataclass(frozen=True, slots=True)
class Summaries:
    """ESummary's answer: records by identifier, and why the others have none.

    ``uids`` are all of them in its order.
    """

    records: dict[str, dict[str, Any]]
    refused: dict[str, str]
    uids: tuple[str, ...] = ()
    form: Literal["docsum_json", "docsum_xml"] = "docsum_json"
    body: bytes = b""


def read_summaries(answer: Answer) -> Summaries:
    """The summaries in an answer, whichever form it has.

    Raises
    ------
    Unreachable
        NCBI answered with an error of its own, or has forgotten the search.
    BadContent
        It is no answer of ESummary.
    """
    if answer.body.lstrip()[:1] == b"<":
        return _read_xml(answer.body)
    reply = mapping(answer.json())
    result = reply.get("result")
    if isinstance(result, dict) and isinstance(result.get("uids"), list):
        uids = (text(uid) for uid in result["uids"])
        rows = {uid: result.get(uid) for uid in uids if uid}
        return _to_summaries(rows, "docsum_json", answer.body)
    error = _error_text(reply)
    if "Empty id list" in error:
        return Summaries({}, {}, body=answer.body)
    if "Unable to obtain query" in error:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    msg = f"NCBI sent no summaries: {shortened(error, 200) or 'an answer without a result'}"
    raise Unreachable(msg, "Try again in a minute.")


def _error_text(reply: dict[str, Any]) -> str:
    error = reply.get("esummaryresult") or reply.get("error")
    return one_line(" ".join(map(text, error if isinstance(error, list) else [error])))


def _to_summaries(
    rows: dict[str, Any], form: Literal["docsum_json", "docsum_xml"], body: bytes
) -> Summaries:
    records, refused = {}, {}
    for uid, row in rows.items():
        if not isinstance(row, dict):
            refused[uid] = SILENT
        elif "error" in row:
            refused[uid] = text(row["error"])[:LONGEST_NAME] or SILENT
        else:
            records[uid] = row
    return Summaries(records, refused, tuple(rows), form, body)


def _read_xml(body: bytes) -> Summaries:
    root = parse(body)
    if root.tag != "eSummaryResult":
        raise BadContent("What came is no answer of ESummary.", verdict="error_page")
    rows: dict[str, Any] = dict(_first_version(root))
    for node in root.iterfind(".//DocumentSummary"):
        if uid := (node.get("uid") or "").strip():
            rows[uid] = {"uid": uid, **mapping(_value(node, top=True))}
    return _to_summaries(rows, "docsum_xml", body)


def _first_version(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for node in root.iterchildren("DocSum"):
        if uid := (node.findtext("Id") or "").strip():
            yield uid, {"uid": uid, **mapping(_item(node, "Structure"))}


def _item(node: Any, kind: str, depth: int = 0) -> Any:
    """An ``Item`` of version 1 by its own type."""
    items = list(node.iterchildren("Item")) if depth < _DEEPEST else []
    if kind == "List":
        return [_item(one, one.get("Type", ""), depth + 1) for one in items]
    if kind == "Structure":
        return {
            one.get("Name", "").lower(): _item(one, one.get("Type", ""), depth + 1) for one in items
        }
    words = (node.text or "").strip()
    whole = kind == "Integer" and words.isascii() and words.isdecimal() and len(words) < 19
    return int(words) if whole else words


def _value(node: Any, depth: int = 0, *, top: bool = False) -> Any:
    """An element of version 2: text, a list where its children are alike, else an object."""
    children = list(node.iterchildren("*")) if depth < _DEEPEST else []
    attributes = {} if top else {name.lower(): values for name, values in node.attrib.items()}
    if not children:
        words = (node.text or "").strip()
        return {**attributes, "value": words} if attributes else words
    names = [child.tag.lower() for child in children]
    values = [_value(child, depth + 1) for child in children]
    alike = len(set(names)) == 1 and (len(names) > 1 or node.tag.lower().endswith(("list", "s")))
    if alike and not top and not attributes:
        return values
    found: dict[str, Any] = dict(attributes)
    for name, value in zip(names, values, strict=True):
        several = names.count(name) > 1
        found[name] = [*found.get(name, []), value] if several else value
    return found
