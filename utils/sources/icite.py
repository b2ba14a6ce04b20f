"""Fetch citations among PubMed papers from NIH iCite.

One request brings both lists of a paper, as PMIDs. A paper it does not know is missing from the
answer; a list may be empty beside a count that is not, so the count is believed.
https://icite.od.nih.gov/api; its fields as https://github.com/dvklopfenstein/pmidcite reads them.
No limit is published; one request a second is our manners.
"""

from __future__ import annotations

from typing import Any

from ..errors import NotAvailable, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.site import Address
from .europepmc import Kind, LinkedPaper
from .loose_json import to_count, to_dict, to_dicts, to_text
from .source import Source

_MAX_BYTES = 32 * 1024 * 1024
_LISTS: dict[Kind, str] = {"citations": "cited_by", "references": "references"}


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[LinkedPaper], str]:
    """Return the length of the list, its first *most* papers, and the requested address.

    Raises
    ------
    NotAvailable
        The paper has no PMID, or iCite does not know it.
    Unreachable
        It did not answer, or with no list.
    """
    if not ids.pmid:
        raise NotAvailable(f"iCite takes PMIDs only, and {ids} has none.", "Ask OpenCitations.")

    def read(answer: Answer) -> list[dict[str, Any]]:
        rows = to_dict(answer.json()).get("data")
        if not isinstance(rows, list):
            raise Unreachable("iCite sent no papers.", "Try again later.")
        return to_dicts(rows)

    answer = web.get(
        f"{web.settings.address('icite')}/pubs",
        {"pmids": ids.pmid},
        check=read,
        limit=_MAX_BYTES,
    )
    row = next((row for row in read(answer) if to_text(row.get("pmid")) == ids.pmid), None)
    if row is None:
        raise NotAvailable(f"iCite does not know PMID {ids.pmid}.", "Ask OpenCitations.")
    listed = row.get(_LISTS[kind])
    if not isinstance(listed, list):
        raise Unreachable(f"iCite sent no {kind} of PMID {ids.pmid}.", "Try again later.")
    pmids = dict.fromkeys(pmid for one in listed if (pmid := Ids.maybe(to_text(one)).pmid))
    counted = to_count(row.get("citation_count")) if kind == "citations" else None
    return (
        max(counted or 0, len(pmids)),
        [LinkedPaper(pmid=pmid) for pmid in pmids][:most],
        answer.url,
    )


SOURCE = Source(
    name="icite",
    probe="/pubs?pmids=23193287&fl=pmid",
    about="NIH iCite: who cites whom in PubMed",
    addresses=(Address("icite", "https://icite.od.nih.gov/api", "NIH iCite"),),
    rates=(Rate("icite", ("icite",), every=1.0, in_flight=1),),
)
