"""Europe PMC: the papers that a paper cites, and those that cite it.

Asked where NCBI's own links are few: those hold only what PMC or the publisher supplied. Errors
come with status 200. https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...errors import Unreachable
from ...model.identifiers import Ids
from ...model.paper import Paper
from ...system.plain_text import one_line
from ...web import Answer, Web
from ..loose_json import line, mapping, mappings, short_line, short_text, text, whole
from .records import without_html

Kind = Literal["citations", "references"]
_LISTS: dict[Kind, tuple[str, str]] = {
    "citations": ("citationList", "citation"),
    "references": ("referenceList", "reference"),
}


@dataclass(frozen=True, slots=True)
class Linked:
    """A paper on such a list; ``pmid`` is empty where Europe PMC did not find it in PubMed."""

    pmid: str = ""
    title: str = ""
    authors: str = ""
    journal: str = ""
    year: str = ""
    doi: str = ""

    @classmethod
    def of(cls, paper: Paper) -> Linked:
        """A paper as a list shows it."""
        journal = paper.journal_abbreviation or paper.journal
        ids = paper.ids
        return cls(ids.pmid, paper.title, paper.author_names, journal, paper.year, ids.doi)


def fetch_linked(pmid: str, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """How many papers are on the list, the first *most* of them, and the address requested.

    Raises
    ------
    NotOffered
        Europe PMC does not know the paper.
    Unreachable
        It did not answer, with an error of its own, or without a number of papers.
    """
    outer, inner = _LISTS[kind]

    def read(answer: Answer) -> tuple[int, list[dict[str, Any]]]:
        reply = answer.json()
        rows = mapping(reply).get(outer)
        if not isinstance(rows, dict):
            error = str(reply.get("errMsg") or "") if isinstance(reply, dict) else ""
            msg = (
                f"Europe PMC sent no {kind}: {one_line(error)[:200] or 'an answer without a list'}"
            )
            raise Unreachable(msg, "Try again later.")
        total = whole(reply.get("hitCount"))
        if total is None:
            raise Unreachable(f"Europe PMC did not say how many {kind} there are.")
        return total, mappings(rows.get(inner))

    url = f"{web.settings.address('europepmc')}/MED/{pmid}/{kind}"
    params = {"format": "json", "page": 1, "pageSize": most, "email": web.settings.pubmed_email}
    answer = web.get(url, params, check=read)
    total, rows = read(answer)
    found = [_to_linked(row) for row in rows]
    return max(total, len(found)), found[:most], answer.url


def _to_linked(row: dict[str, Any]) -> Linked:
    return Linked(
        pmid=Ids.maybe(text(row.get("id"))).pmid if row.get("source") == "MED" else "",
        title=one_line(without_html(short_text(row.get("title")))),
        authors=line(row.get("authorString")).rstrip("."),
        journal=short_line(row.get("journalAbbreviation")),
        year=line(row.get("pubYear")),
        doi=line(row.get("doi")).lower(),
    )
