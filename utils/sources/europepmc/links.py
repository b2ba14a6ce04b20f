"""Europe PMC: what a paper cites, and who cites it.

Asked where NCBI's own links are thin: those know only what PMC or the publisher supplied. Errors
come with status 200. https://europepmc.org/RestfulWebService
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...errors import Unreachable
from ...plain_text import one_line
from ...web import Answer, Web
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


def linked(pmid: str, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """How many papers are on the list, the first *most* of them, and the address asked.

    Raises
    ------
    NotOffered
        Europe PMC does not know the paper.
    Unreachable
        It did not answer, or with an error of its own.
    """
    outer, inner = _LISTS[kind]

    def read(answer: Answer) -> tuple[int, list[dict[str, Any]]]:
        reply = answer.json()
        rows = reply.get(outer) if isinstance(reply, dict) else None
        if not isinstance(rows, dict):
            told = str(reply.get("errMsg") or "") if isinstance(reply, dict) else ""
            msg = f"Europe PMC sent no {kind}: {one_line(told)[:200] or 'an answer without a list'}"
            raise Unreachable(msg, "Try again later.")
        count = str(reply.get("hitCount") or 0)
        listed = rows.get(inner)
        papers = (
            [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        )
        return int(count) if count.isdecimal() else 0, papers

    url = f"{web.settings.europepmc_base_url}/MED/{pmid}/{kind}"
    params = {"format": "json", "page": 1, "pageSize": most, "email": web.settings.pubmed_email}
    answer = web.get(url, params, check=read)
    total, rows = read(answer)
    found = [_linked(row) for row in rows]
    return max(total, len(found)), found[:most], answer.url


def _linked(row: dict[str, Any]) -> Linked:
    pmid = str(row.get("id") or "") if row.get("source") == "MED" else ""
    return Linked(
        pmid=pmid if pmid.isdecimal() else "",
        title=one_line(without_html(row.get("title"))),
        authors=one_line(str(row.get("authorString") or "")).rstrip("."),
        journal=one_line(str(row.get("journalAbbreviation") or "")),
        year=one_line(str(row.get("pubYear") or "")),
        doi=one_line(str(row.get("doi") or "")).lower(),
    )
