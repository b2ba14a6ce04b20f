"""The E-utilities beside search and fetch: summaries, links, citation matching, MeSH and spelling.

- ESummary: the JSON form holds at most 500 summaries. Version 1 of the XML is ``DocSum`` with typed
  ``Item``, version 2 ``DocumentSummary`` with one tag for each field. An identifier without a
  record is there with an ``error`` of its own.
- ELink: scores come with ``cmd=neighbor_score`` only, which takes no ``linkname``; a paper without
  links has no ``linksetdbs`` at all; the paper itself leads its own list of neighbours.
- ECitMatch: lines of ``journal|year|volume|page|author|key|`` come back with a PMID or a word
  behind them; a line without a match may lose fields on the way, so only its last two parts count.
  After a line without a journal that it cannot match, the service stops and answers no further
  line. The words (``NOT_FOUND``, ``NOT_FOUND;INVALID_JOURNAL``, ``AMBIGUOUS (783 citations)``,
  ``AMBIGUOUS 26315901,25768914``) are as clients of it have recorded them.
- MeSH: ``esearch`` and ``esummary`` with ``db=mesh``; ``efetch`` has no structured form for it. The
  first of ``ds_meshterms`` is the heading, the others are entry terms; ``ds_idxlinks`` holds one
  place in the tree each, with the identifiers of the terms above and below. Supplementary concepts
  have none. Field names are those of NCBI's answers.
- ESpell answers in XML only; no correction means that it has none.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import BadContent, Unreachable
from ..http import Answer, Web
from ..readers.pubmed import iso_date
from ..readers.safe_xml import parse_xml
from ..system.plain_text import one_line, shorten, unescape_text
from .eutils import ask, shown_url, total_of
from .loose_json import LONGEST_NAME, mapping, mappings, short_text, text, whole
from .pubmed import Hits, result_of

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
    return " ".join(unescape_text(str(value or "")).split())


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
    msg = f"NCBI sent no summaries: {shorten(error, 200) or 'an answer without a result'}"
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
    root = parse_xml(body)
    if root.tag != "eSummaryResult":
        raise BadContent("The response is not an answer of ESummary.", verdict="error_page")
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


LinkName = Literal["pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs"]
BATCH = 50
FIELDS = ("journal", "year", "volume", "first_page", "author")


@dataclass(frozen=True, slots=True)
class LinkList:
    """The records one kind of link leads to; ``scores`` beside them where they were asked for.

    A list of names alone (``acheck``) has ``menu``, NCBI's words for the kind, and no records.
    """

    name: str
    database: str
    uids: tuple[str, ...] = ()
    scores: tuple[int | None, ...] = ()
    menu: str = ""


@dataclass(frozen=True, slots=True)
class LinkSet:
    """The links of the identifiers ``uids``; ``trouble`` is an error of this part alone."""

    uids: tuple[str, ...]
    lists: tuple[LinkList, ...]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A linked paper; ``score`` is NCBI's own number, to be compared within one list only."""

    pmid: str
    score: int | None = None


def fetch_paper_links(pmid: str, name: LinkName, web: Web) -> tuple[list[Link], str]:
    """The papers of that list in NCBI's order, without the paper itself; and the address requested.

    An empty list means that NCBI knows no links, also when it does not know the paper.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    how = (
        {"cmd": "neighbor_score"}
        if name == "pubmed_pubmed"
        else {"cmd": "neighbor", "linkname": name}
    )
    params = {"dbfrom": "pubmed", "db": "pubmed", "id": pmid, "retmode": "json", **how}
    reply = ask(web, "elink", params, read=_complain).json()
    found = [
        link
        for group in mappings(reply["linksets"])
        for linked in mappings(group.get("linksetdbs"))
        if linked.get("linkname") == name and isinstance(linked.get("links"), list)
        for row in linked["links"]
        if (link := _link(row)).pmid != pmid and link.pmid.isdecimal()
    ]
    return list({link.pmid: link for link in reversed(found)}.values())[::-1], shown_url(
        web, "elink", params
    )


def fetch_links(params: Mapping[str, Any], web: Web) -> list[LinkSet]:
    """The links that *params* (``dbfrom``, ``db``, ``id``, ``cmd``, ``linkname``) ask for.

    An ``id`` that is a list brings one set for each.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    reply = ask(web, "elink", {**params, "retmode": "json"}, read=_complain).json()
    return [_set(row) for row in mappings(reply["linksets"])]


def _set(row: Mapping[str, Any]) -> LinkSet:
    uids = row.get("ids")
    rows = mappings(row.get("linksetdbs"))
    errors = [row.get("ERROR"), *(one.get("error") or one.get("ERROR") for one in rows)]
    return LinkSet(
        uids=tuple(filter(None, map(short_text, uids if isinstance(uids, list) else ()))),
        lists=tuple(_list(one) for one in rows if text(one.get("linkname"))),
        trouble=" ".join(filter(None, map(short_text, errors))),
    )


def _list(row: Mapping[str, Any]) -> LinkList:
    rows = row.get("links")
    found = {
        text(one.pmid): one.score for one in map(_link, rows if isinstance(rows, list) else ())
    }
    kept = {uid: score for uid, score in found.items() if uid.isdecimal()}
    name, database = short_text(row.get("linkname")), short_text(row.get("dbto"))
    return LinkList(name, database, tuple(kept), tuple(kept.values()))


def fetch_link_names(params: Mapping[str, Any], web: Web) -> list[LinkSet]:
    """Return the kinds of links of each identifier, without the linked records.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    answer = ask(web, "elink", {**params, "cmd": "acheck"}, read=_links_root)
    return [
        LinkSet((_text_of(node, "Id"),), tuple(map(_kind, node.iterfind("LinkInfo"))))
        for node in _links_root(answer).iterfind("LinkSet/IdCheckList/IdLinkSet")
    ]


def _links_root(answer: Answer) -> Any:
    return _root_of(answer, "eLinkResult", "ELink")


def _kind(node: Any) -> LinkList:
    name, database, menu = (_text_of(node, tag) for tag in ("LinkName", "DbTo", "MenuTag"))
    return LinkList(name, database, menu=menu or name)


def _text_of(node: Any, tag: str) -> str:
    return short_text(one_line(node.findtext(tag) or ""))


def _link(row: Any) -> Link:
    if not isinstance(row, dict):
        return Link(str(row))
    return Link(str(row.get("id", "")), whole(row.get("score")))


def _complain(answer: Answer) -> None:
    reply = answer.json()
    sets = reply.get("linksets") if isinstance(reply, dict) else None
    if not isinstance(sets, list):
        error = str(reply.get("ERROR") or "") if isinstance(reply, dict) else ""
        msg = f"NCBI sent no links: {one_line(error)[:200] or 'an answer without any'}"
        raise Unreachable(msg, "Try again in a minute.")


def fetch_matches(citations: Sequence[Mapping[str, str]], web: Web) -> dict[int, str]:
    """NCBI's answer to each of at most 50 citations, by its place; unanswered ones are left out.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not in this form.
    """
    lines = [
        "|".join([*(_bare(citation.get(name, "")) for name in FIELDS), str(at), ""])
        for at, citation in enumerate(citations)
    ]
    # The handbook names rettype, its examples retmode; what a utility does not know it ignores.
    params = {"db": "pubmed", "retmode": "xml", "rettype": "xml", "bdata": "\r".join(lines)}

    def read(answer: Answer) -> None:
        if not _matches(answer) and _bare(citations[0].get("journal", "")):
            raise BadContent("NCBI matched no citation, and refused none.", verdict="empty")

    answer = ask(web, "ecitmatch.cgi", params, read)
    return {at: word for at, word in _matches(answer).items() if at < len(citations)}


def _matches(answer: Answer) -> dict[int, str]:
    words: dict[int, str] = {}
    for line in re.split(r"[\r\n]+", answer.text()):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) > 1 and parts[-1] and (at := whole(parts[-2])) is not None:
            words[at] = parts[-1]
    return words


def _bare(text: str) -> str:
    """A field's text; separators in it would move all that follows."""
    return " ".join(re.sub(r"[|\r\n]", " ", text).split())


_SUMMARIES = 200
_REMEMBERED_DAYS = 7.0


@dataclass(frozen=True, slots=True)
class MeshTerm:
    """A MeSH record; ``parents`` and ``children`` are identifiers of NCBI, not of MeSH."""

    ui: str
    heading: str
    entry_terms: tuple[str, ...] = ()
    scope_note: str = ""
    tree_numbers: tuple[str, ...] = ()
    qualifiers: tuple[str, ...] = ()
    kind: str = ""
    year_introduced: str = ""
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()


def find_terms(text: str, most: int, web: Web) -> tuple[int, list[MeshTerm]]:
    """Return how many MeSH records fit *text*, and the first of them.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    params = {"db": "mesh", "retmode": "json", "term": text, "retmax": most}
    result = result_of(ask(web, "esearch", params, read=Answer.json).json())
    uids = [str(uid) for uid in result["idlist"]][:most]
    terms = fetch_terms(uids, web) if uids else {}
    return total_of(result), [terms[uid] for uid in uids if uid in terms]


def fetch_terms(uids: Sequence[str], web: Web) -> dict[str, MeshTerm]:
    """The records behind identifiers, by identifier; at most 200 in one request."""
    kept = web.cache.get_many("mesh", uids)
    known = {uid: row for uid, row in kept.items() if isinstance(row, dict)}
    wanted = [uid for uid in dict.fromkeys(uids) if uid not in known]
    for start in range(0, len(wanted), _SUMMARIES):
        batch = wanted[start : start + _SUMMARIES]
        params = {"db": "mesh", "retmode": "json", "id": ",".join(batch)}
        for uid, row in esummary(params, web).records.items():
            known[uid] = row
            web.cache.put("mesh", uid, row, _REMEMBERED_DAYS)
    return {uid: _term(uid, known[uid]) for uid in uids if uid in known}


def _term(uid: str, row: dict[str, Any]) -> MeshTerm:
    """Any field may be missing."""
    names = _texts(row.get("ds_meshterms"))
    places = mappings(row.get("ds_idxlinks"))
    numbers = [one_line(str(place.get("treenum") or "")) for place in places]
    return MeshTerm(
        ui=one_line(str(row.get("ds_meshui") or uid)),
        heading=names[0] if names else "",
        entry_terms=names[1:],
        scope_note=one_line(str(row.get("ds_scopenote") or "")),
        # Supplementary concepts have a number that is none: "@3065".
        tree_numbers=tuple(number for number in numbers if number and "@" not in number),
        qualifiers=_texts(row.get("ds_subheading")),
        kind=one_line(str(row.get("ds_recordtype") or "")),
        year_introduced=one_line(str(row.get("ds_yearintroduced") or "")),
        parents=_ids([place.get("parent") for place in places]),
        children=_ids([child for place in places for child in _values(place.get("children"))]),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(filter(None, (one_line(str(row)) for row in _values(value))))


def _values(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _ids(values: list[object]) -> tuple[str, ...]:
    found = (str(value) for value in values if str(value).isdecimal() and str(value) != "0")
    return tuple(dict.fromkeys(found))


def fetch_spelling(query: str, web: Web, database: str = "pubmed") -> tuple[str, tuple[str, ...]]:
    """The suggested spelling of a query, and the words put in; both empty for no suggestion.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    answer = ask(web, "espell", {"db": database, "term": query}, read=_spelling_root)
    root = _spelling_root(answer)
    replaced = tuple(one_line(node.text or "") for node in root.iterfind("SpelledQuery/Replaced"))
    return one_line(root.findtext("CorrectedQuery") or ""), tuple(filter(None, replaced))


def _spelling_root(answer: Answer) -> Any:
    return _root_of(answer, "eSpellResult", "ESpell")


def _root_of(answer: Answer, tag: str, service: str) -> Any:
    root = parse_xml(answer.body)
    if root.tag != tag:
        raise BadContent(f"The response is not an answer of {service}.", verdict="error_page")
    return root
