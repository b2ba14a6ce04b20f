"""ELink: which PubMed papers are linked to a paper, and how closely.

Scores come with ``cmd=neighbor_score`` only, which takes no ``linkname``; a paper without links has
no ``linksetdbs`` at all; the paper itself leads its own list of neighbours.
https://www.ncbi.nlm.nih.gov/books/NBK25499/
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...errors import Unreachable
from ...plain_text import one_line
from ...web import Answer, Web
from ..loose_json import whole
from . import ask, dicts, shown_url

LinkName = Literal["pubmed_pubmed", "pubmed_pubmed_citedin", "pubmed_pubmed_refs"]


@dataclass(frozen=True, slots=True)
class Link:
    """A linked paper; ``score`` is NCBI's own number, to be compared within one list only."""

    pmid: str
    score: int | None = None


def links(pmid: str, name: LinkName, web: Web) -> tuple[list[Link], str]:
    """The papers of that list in NCBI's order, without the paper itself; and the address asked.

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
        for group in dicts(reply["linksets"])
        for linked in dicts(group.get("linksetdbs"))
        if linked.get("linkname") == name and isinstance(linked.get("links"), list)
        for row in linked["links"]
        if (link := _link(row)).pmid != pmid and link.pmid.isdecimal()
    ]
    return list({link.pmid: link for link in reversed(found)}.values())[::-1], shown_url(
        web, "elink", params
    )


def _link(row: Any) -> Link:
    if not isinstance(row, dict):
        return Link(str(row))
    return Link(str(row.get("id", "")), whole(row.get("score")))


def _complain(answer: Answer) -> None:
    reply = answer.json()
    sets = reply.get("linksets") if isinstance(reply, dict) else None
    if not isinstance(sets, list):
        told = str(reply.get("ERROR") or "") if isinstance(reply, dict) else ""
        msg = f"NCBI sent no links: {one_line(told)[:200] or 'an answer without any'}"
        raise Unreachable(msg, "Try again in a minute.")
