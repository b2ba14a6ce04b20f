"""ELink and ECitMatch: records linked with a record, and the PMID of a printed reference.

ELink: scores come with ``cmd=neighbor_score`` only, which takes no ``linkname``; a paper without
links has no ``linksetdbs`` at all; the paper itself leads its own list of neighbours.

ECitMatch: lines of ``journal|year|volume|page|author|key|`` come back with a PMID or a word behind
them; a line without a match may lose fields on the way, so only its last two parts count. After a
line without a journal that it cannot match, the service stops and answers no further line. The
words (``NOT_FOUND``, ``NOT_FOUND;INVALID_JOURNAL``, ``AMBIGUOUS (783 citations)``,
``AMBIGUOUS 26315901,25768914``) are as clients of it have recorded them.

https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import BadContent, Unreachable
from ..http import Answer, Web
from ..readers.safe_xml import parse
from ..system.plain_text import one_line
from .eutils import ask, shown_url
from .loose_json import mappings, short_text, text, whole

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
    """What is linked to the identifiers ``uids``; ``trouble`` is an error of this part alone."""

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
    """Which kinds of links each identifier has, without the records they lead to.

    Raises
    ------
    Unreachable
        NCBI did not answer, or with an error of its own.
    """
    answer = ask(web, "elink", {**params, "cmd": "acheck"}, read=_root)
    return [
        LinkSet((_text_of(node, "Id"),), tuple(map(_kind, node.iterfind("LinkInfo"))))
        for node in _root(answer).iterfind("LinkSet/IdCheckList/IdLinkSet")
    ]


def _root(answer: Answer) -> Any:
    root = parse(answer.body)
    if root.tag != "eLinkResult":
        raise BadContent("What came is no answer of ELink.", verdict="error_page")
    return root


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
