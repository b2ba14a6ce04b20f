"""Call the smaller E-utilities: summaries, links, citation matching, MeSH and spelling.

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
from ..readers.pubmed import parse_printed_date
from ..readers.safe_xml import parse_untrusted_xml
from ..system.plain_text import decode_references, one_line, shorten
from .eutils import build_public_url, call_utility, get_total
from .loose_json import MAX_NAME_CHARS, to_count, to_dict, to_dicts, to_short_text, to_text
from .pubmed import Hits, get_search_result

MAX_SUMMARIES = 500
_INLINE = re.compile(r"</?(?:i|b|u|em|strong|sub|sup)>", re.I)
MISSING_SUMMARY = "NCBI sent no summary of it"
_MAX_DEPTH = 40


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
    """Return the *first* papers of a search by PMID, and the address of the request.

    Where NCBI has forgotten the search, by their identifiers.

    Raises
    ------
    Unreachable
        PubMed did not answer.
    """
    pmids = hits.pmids[:first]
    if hits.web_env:
        try:
            return _fetch_paper_summaries(pmids, hits.build_slice_params(0, len(pmids)), web)
        except Unreachable as error:
            if not error.details.get("expired"):
                raise
    return _fetch_paper_summaries(pmids, {"id": ",".join(pmids)}, web)


def _fetch_paper_summaries(
    pmids: Sequence[str], which: Mapping[str, Any], web: Web
) -> tuple[dict[str, Summary], str]:
    """Return the summaries of papers, and the address of the request."""
    params = {"db": "pubmed", "retmode": "json", "version": "2.0", **which}
    rows = run_esummary(params, web).records
    found = {pmid: _to_summary(pmid, rows[pmid]) for pmid in pmids if pmid in rows}
    return found, build_public_url(web, "esummary", params)


def run_esummary(params: Mapping[str, Any], web: Web) -> Summaries:
    """Return the summaries of any database, and the identifiers without one.

    Raises
    ------
    Unreachable
        NCBI did not answer, or has forgotten the search.
    """
    return read_summaries(call_utility(web, "esummary", params, read=read_summaries))


def _to_summary(pmid: str, row: Mapping[str, Any]) -> Summary:
    """Return a paper's summary; any field may be missing, and titles are escaped."""
    people = [_to_plain_text(who.get("name")) for who in to_dicts(row.get("authors"))]
    ids = {
        str(one.get("idtype")): _to_plain_text(one.get("value"))
        for one in to_dicts(row.get("articleids"))
    }
    source = " ".join(
        filter(None, (_to_plain_text(row.get("source")) + ".", _to_plain_text(row.get("pubdate"))))
    )
    return Summary(
        pmid=pmid,
        title=_INLINE.sub("", _to_plain_text(row.get("title"))),
        authors=", ".join(filter(None, people)),
        source=source.lstrip(". "),
        published=parse_printed_date(_to_plain_text(row.get("pubdate"))),
        online=parse_printed_date(_to_plain_text(row.get("epubdate"))),
        doi=ids.get("doi", ""),
        pmcid=ids.get("pmc", ""),
    )


def _to_plain_text(value: object) -> str:
    """Return a value as one line without character references."""
    return " ".join(decode_references(str(value or "")).split())


@dataclass(frozen=True, slots=True)
class Summaries:
    """The answer of ESummary: records by identifier, and the errors of the others.

    ``uids`` are all of them in its order.
    """

    records: dict[str, dict[str, Any]]
    refused: dict[str, str]
    uids: tuple[str, ...] = ()
    form: Literal["docsum_json", "docsum_xml"] = "docsum_json"
    body: bytes = b""


def read_summaries(answer: Answer) -> Summaries:
    """Return the summaries in an answer of any form.

    Raises
    ------
    Unreachable
        NCBI answered with an error of its own, or has forgotten the search.
    BadContent
        It is no answer of ESummary.
    """
    if answer.body.lstrip()[:1] == b"<":
        return _read_xml(answer.body)
    reply = to_dict(answer.json())
    result = reply.get("result")
    if isinstance(result, dict) and isinstance(result.get("uids"), list):
        uids = (to_text(uid) for uid in result["uids"])
        rows = {uid: result.get(uid) for uid in uids if uid}
        return _to_summaries(rows, "docsum_json", answer.body)
    error = _get_error_text(reply)
    if "Empty id list" in error:
        return Summaries({}, {}, body=answer.body)
    if "Unable to obtain query" in error:
        msg = "NCBI has forgotten the search."
        raise Unreachable(msg, "Search again.", lasting=True, expired=True)
    msg = f"NCBI sent no summaries: {shorten(error, 200) or 'an answer without a result'}"
    raise Unreachable(msg, "Try again in a minute.")


def _get_error_text(reply: dict[str, Any]) -> str:
    """Return the error of an ESummary answer."""
    error = reply.get("esummaryresult") or reply.get("error")
    return one_line(" ".join(map(to_text, error if isinstance(error, list) else [error])))


def _to_summaries(
    rows: dict[str, Any], form: Literal["docsum_json", "docsum_xml"], body: bytes
) -> Summaries:
    """Split rows into records and errors."""
    records, refused = {}, {}
    for uid, row in rows.items():
        if not isinstance(row, dict):
            refused[uid] = MISSING_SUMMARY
        elif "error" in row:
            refused[uid] = to_text(row["error"])[:MAX_NAME_CHARS] or MISSING_SUMMARY
        else:
            records[uid] = row
    return Summaries(records, refused, tuple(rows), form, body)


def _read_xml(body: bytes) -> Summaries:
    """Return the summaries of an XML answer."""
    root = parse_untrusted_xml(body)
    if root.tag != "eSummaryResult":
        raise BadContent("The response is not an answer of ESummary.", verdict="error_page")
    rows: dict[str, Any] = dict(_read_version_1_records(root))
    for node in root.iterfind(".//DocumentSummary"):
        if uid := (node.get("uid") or "").strip():
            rows[uid] = {"uid": uid, **to_dict(_read_value(node, top=True))}
    return _to_summaries(rows, "docsum_xml", body)


def _read_version_1_records(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records of version 1 of the XML."""
    for node in root.iterchildren("DocSum"):
        if uid := (node.findtext("Id") or "").strip():
            yield uid, {"uid": uid, **to_dict(_read_item(node, "Structure"))}


def _read_item(node: Any, kind: str, depth: int = 0) -> Any:
    """Return an ``Item`` of version 1 by its declared type."""
    items = list(node.iterchildren("Item")) if depth < _MAX_DEPTH else []
    if kind == "List":
        return [_read_item(one, one.get("Type", ""), depth + 1) for one in items]
    if kind == "Structure":
        return {
            one.get("Name", "").lower(): _read_item(one, one.get("Type", ""), depth + 1)
            for one in items
        }
    words = (node.text or "").strip()
    whole = kind == "Integer" and words.isascii() and words.isdecimal() and len(words) < 19
    return int(words) if whole else words


def _read_value(node: Any, depth: int = 0, *, top: bool = False) -> Any:
    """Return an element of version 2: text, a list of like children, or an object."""
    children = list(node.iterchildren("*")) if depth < _MAX_DEPTH else []
    attributes = {} if top else {name.lower(): values for name, values in node.attrib.items()}
    if not children:
        words = (node.text or "").strip()
        return {**attributes, "value": words} if attributes else words
    names = [child.tag.lower() for child in children]
    values = [_read_value(child, depth + 1) for child in children]
    alike = len(set(names)) == 1 and (len(names) > 1 or node.tag.lower().endswith(("list", "s")))
    if alike and not top and not attributes:
        return values
    found: dict[str, Any] = dict(attributes)
    for name, value in zip(names, values, strict=True):
        several = names.count(name) > 1
        found[name] = [*found.get(name, []), value] if several else value
    return found


LinkName = Literal["pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs"]
MAX_CITATIONS_PER_REQUEST = 50
CITATION_FIELDS = ("journal", "year", "volume", "first_page", "author")


@dataclass(frozen=True, slots=True)
class LinkList:
    """The records that one kind of link leads to, with ``scores`` if requested.

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
    """Return the papers of a list in NCBI's order, without the paper itself, and the address.

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
    reply = call_utility(web, "elink", params, read=_check_link_sets).json()
    found = [
        link
        for group in to_dicts(reply["linksets"])
        for linked in to_dicts(group.get("linksetdbs"))
        if linked.get("linkname") == name and isinstance(linked.get("links"), list)
        for row in linked["links"]
        if (link := _to_link(row)).pmid != pmid and link.pmid.isdecimal()
    ]
    return list({link.pmid: link for link in reversed(found)}.values())[::-1], build_public_url(
        web, "elink", params
    )


def fetch_links(params: Mapping[str, Any], web: Web) -> list[LinkSet]:
    """Return the links that *params* (``dbfrom``, ``db``, ``id``, ``cmd``, ``linkname``) request.

    An ``id`` that is a list brings one set for each.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    reply = call_utility(web, "elink", {**params, "retmode": "json"}, read=_check_link_sets).json()
    return [_to_link_set(row) for row in to_dicts(reply["linksets"])]


def _to_link_set(row: Mapping[str, Any]) -> LinkSet:
    """Return the link set of a row."""
    uids = row.get("ids")
    rows = to_dicts(row.get("linksetdbs"))
    errors = [row.get("ERROR"), *(one.get("error") or one.get("ERROR") for one in rows)]
    return LinkSet(
        uids=tuple(filter(None, map(to_short_text, uids if isinstance(uids, list) else ()))),
        lists=tuple(_to_link_list(one) for one in rows if to_text(one.get("linkname"))),
        trouble=" ".join(filter(None, map(to_short_text, errors))),
    )


def _to_link_list(row: Mapping[str, Any]) -> LinkList:
    """Return the link list of a row."""
    rows = row.get("links")
    found = {
        to_text(one.pmid): one.score
        for one in map(_to_link, rows if isinstance(rows, list) else ())
    }
    kept = {uid: score for uid, score in found.items() if uid.isdecimal()}
    name, database = to_short_text(row.get("linkname")), to_short_text(row.get("dbto"))
    return LinkList(name, database, tuple(kept), tuple(kept.values()))


def fetch_link_names(params: Mapping[str, Any], web: Web) -> list[LinkSet]:
    """Return the kinds of links of each identifier, without the linked records.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    answer = call_utility(web, "elink", {**params, "cmd": "acheck"}, read=_parse_links)
    return [
        LinkSet(
            (_read_child_text(node, "Id"),), tuple(map(_to_link_kind, node.iterfind("LinkInfo")))
        )
        for node in _parse_links(answer).iterfind("LinkSet/IdCheckList/IdLinkSet")
    ]


def _parse_links(answer: Answer) -> Any:
    """Return the root of an ELink answer."""
    return _parse_root(answer, "eLinkResult", "ELink")


def _to_link_kind(node: Any) -> LinkList:
    """Return the kind of link in an element, without records."""
    name, database, menu = (_read_child_text(node, tag) for tag in ("LinkName", "DbTo", "MenuTag"))
    return LinkList(name, database, menu=menu or name)


def _read_child_text(node: Any, tag: str) -> str:
    """Return the text of a child element."""
    return to_short_text(one_line(node.findtext(tag) or ""))


def _to_link(row: Any) -> Link:
    """Return a link of a row, with its score if there is one."""
    if not isinstance(row, dict):
        return Link(str(row))
    return Link(str(row.get("id", "")), to_count(row.get("score")))


def _check_link_sets(answer: Answer) -> None:
    """Raise `Unreachable` for an answer without link sets."""
    reply = answer.json()
    sets = reply.get("linksets") if isinstance(reply, dict) else None
    if not isinstance(sets, list):
        error = str(reply.get("ERROR") or "") if isinstance(reply, dict) else ""
        msg = f"NCBI sent no links: {one_line(error)[:200] or 'an answer without any'}"
        raise Unreachable(msg, "Try again in a minute.")


def fetch_citation_matches(citations: Sequence[Mapping[str, str]], web: Web) -> dict[int, str]:
    """Return NCBI's answer to each of at most 50 citations, by position; skip unanswered ones.

    Raises
    ------
    Unreachable
        NCBI did not answer, or not in this form.
    """
    lines = [
        "|".join(
            [*(_remove_separators(citation.get(name, "")) for name in CITATION_FIELDS), str(at), ""]
        )
        for at, citation in enumerate(citations)
    ]
    # The handbook names rettype, its examples retmode; what a utility does not know it ignores.
    params = {"db": "pubmed", "retmode": "xml", "rettype": "xml", "bdata": "\r".join(lines)}

    def read(answer: Answer) -> None:
        if not _read_citation_matches(answer) and _remove_separators(
            citations[0].get("journal", "")
        ):
            raise BadContent("NCBI matched no citation, and refused none.", verdict="empty")

    answer = call_utility(web, "ecitmatch.cgi", params, read)
    return {at: word for at, word in _read_citation_matches(answer).items() if at < len(citations)}


def _read_citation_matches(answer: Answer) -> dict[int, str]:
    """Return the answers by position of the citation."""
    words: dict[int, str] = {}
    for line in re.split(r"[\r\n]+", answer.text()):
        parts = [part.strip() for part in line.split("|")]
        if len(parts) > 1 and parts[-1] and (at := to_count(parts[-2])) is not None:
            words[at] = parts[-1]
    return words


def _remove_separators(text: str) -> str:
    """Return a field's text without separators, which would shift the following fields."""
    return " ".join(re.sub(r"[|\r\n]", " ", text).split())


_MAX_TERMS_PER_REQUEST = 200
_CACHE_DAYS = 7.0


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


def find_mesh_terms(text: str, most: int, web: Web) -> tuple[int, list[MeshTerm]]:
    """Return how many MeSH records match *text*, and the first of them.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    params = {"db": "mesh", "retmode": "json", "term": text, "retmax": most}
    result = get_search_result(call_utility(web, "esearch", params, read=Answer.json).json())
    uids = [str(uid) for uid in result["idlist"]][:most]
    terms = fetch_mesh_terms(uids, web) if uids else {}
    return get_total(result), [terms[uid] for uid in uids if uid in terms]


def fetch_mesh_terms(uids: Sequence[str], web: Web) -> dict[str, MeshTerm]:
    """Return the MeSH records of identifiers, at most 200 in one request."""
    kept = web.cache.get_many("mesh", uids)
    known = {uid: row for uid, row in kept.items() if isinstance(row, dict)}
    wanted = [uid for uid in dict.fromkeys(uids) if uid not in known]
    for start in range(0, len(wanted), _MAX_TERMS_PER_REQUEST):
        batch = wanted[start : start + _MAX_TERMS_PER_REQUEST]
        params = {"db": "mesh", "retmode": "json", "id": ",".join(batch)}
        for uid, row in run_esummary(params, web).records.items():
            known[uid] = row
            web.cache.put("mesh", uid, row, _CACHE_DAYS)
    return {uid: _to_mesh_term(uid, known[uid]) for uid in uids if uid in known}


def _to_mesh_term(uid: str, row: dict[str, Any]) -> MeshTerm:
    """Return the MeSH term of a row; any field may be missing."""
    names = _to_texts(row.get("ds_meshterms"))
    places = to_dicts(row.get("ds_idxlinks"))
    numbers = [one_line(str(place.get("treenum") or "")) for place in places]
    return MeshTerm(
        ui=one_line(str(row.get("ds_meshui") or uid)),
        heading=names[0] if names else "",
        entry_terms=names[1:],
        scope_note=one_line(str(row.get("ds_scopenote") or "")),
        # Supplementary concepts have a number that is none: "@3065".
        tree_numbers=tuple(number for number in numbers if number and "@" not in number),
        qualifiers=_to_texts(row.get("ds_subheading")),
        kind=one_line(str(row.get("ds_recordtype") or "")),
        year_introduced=one_line(str(row.get("ds_yearintroduced") or "")),
        parents=_to_uids([place.get("parent") for place in places]),
        children=_to_uids([child for place in places for child in _to_list(place.get("children"))]),
    )


def _to_texts(value: object) -> tuple[str, ...]:
    """Return the non-empty texts of a list."""
    return tuple(filter(None, (one_line(str(row)) for row in _to_list(value))))


def _to_list(value: object) -> list[object]:
    """Return a list, or [] for any other value."""
    return value if isinstance(value, list) else []


def _to_uids(values: list[object]) -> tuple[str, ...]:
    """Return the distinct identifiers among values."""
    found = (str(value) for value in values if str(value).isdecimal() and str(value) != "0")
    return tuple(dict.fromkeys(found))


def fetch_spelling(query: str, web: Web, database: str = "pubmed") -> tuple[str, tuple[str, ...]]:
    """Return the suggested spelling of a query, and the replaced words; both empty without one.

    Raises
    ------
    Unreachable
        NCBI did not answer.
    """
    answer = call_utility(web, "espell", {"db": database, "term": query}, read=_parse_spelling)
    root = _parse_spelling(answer)
    replaced = tuple(one_line(node.text or "") for node in root.iterfind("SpelledQuery/Replaced"))
    return one_line(root.findtext("CorrectedQuery") or ""), tuple(filter(None, replaced))


def _parse_spelling(answer: Answer) -> Any:
    """Return the root of an ESpell answer."""
    return _parse_root(answer, "eSpellResult", "ESpell")


def _parse_root(answer: Answer, tag: str, service: str) -> Any:
    """Return the root of an answer; raise `BadContent` for another service's answer."""
    root = parse_untrusted_xml(answer.body)
    if root.tag != tag:
        raise BadContent(f"The response is not an answer of {service}.", verdict="error_page")
    return root
