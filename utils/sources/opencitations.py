"""Fetch citations by DOI or PMID from OpenCitations' Index.

Made of what publishers deposit and NIH gathers, without titles: a row is two lists of identifiers
with blanks between (``omid:br/06101 doi:10.1000/a pmid:1``). Identifiers are asked for with their
prefix. A list comes whole, however long; one of nothing says that nobody is known, of works it
does not know, too. https://api.opencitations.net/index/v2 (its specification ``index_v2.hf`` is in
https://github.com/opencitations/api). No limit is published; one request a second is our manners.
"""

from __future__ import annotations

from typing import Any

from ..errors import NotAvailable, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.site import Address
from .europepmc import Kind, LinkedPaper
from .loose_json import to_dicts, to_text
from .publisher import quote_doi
from .source import Source

_MAX_BYTES = 32 * 1024 * 1024
_OTHER_END: dict[Kind, str] = {"citations": "citing", "references": "cited"}


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[LinkedPaper], str]:
    """Return the length of the list, its first *most* works, and the requested address.

    Raises
    ------
    NotAvailable
        The paper has neither DOI nor PMID.
    Unreachable
        OpenCitations did not answer, or with no list.
    """
    if not (ids.doi or ids.pmid):
        msg = f"OpenCitations takes a DOI or a PMID, and {ids} is none."
        raise NotAvailable(msg, "Ask Europe PMC.")

    def read(answer: Answer) -> list[dict[str, Any]]:
        reply = answer.json()
        rows = to_dicts(reply)
        if not isinstance(reply, list) or not all(_OTHER_END[kind] in row for row in rows):
            raise Unreachable(f"OpenCitations sent no {kind}.", "Try again later.")
        return rows

    name = f"doi:{quote_doi(ids.doi)}" if ids.doi else f"pmid:{ids.pmid}"
    url = f"{web.settings.address('opencitations')}/{kind}/{name}"
    answer = web.get(url, check=read, limit=_MAX_BYTES)
    found = dict.fromkeys(_to_linked_paper(to_text(row[_OTHER_END[kind]])) for row in read(answer))
    found.pop(LinkedPaper(), None)  # known by a number of theirs alone
    return len(found), list(found)[:most], answer.url


def _to_linked_paper(names: str) -> LinkedPaper:
    """Return the work at one end of a row, by its identifiers."""
    known: dict[str, str] = {}
    for name in names.split():
        kind, _, value = name.partition(":")
        known.setdefault(kind, value)
    pmid = Ids.maybe(known.get("pmid", "")).pmid
    return LinkedPaper(pmid=pmid, doi=Ids.maybe(known.get("doi", "")).doi)


SOURCE = Source(
    name="opencitations",
    probe="/references/doi:10.1038/nature12373",
    about="OpenCitations: who cites whom, from publishers' deposits",
    addresses=(
        Address("opencitations", "https://api.opencitations.net/index/v2", "OpenCitations Index"),
    ),
    rates=(Rate("opencitations", ("opencitations",), every=1.0, in_flight=1),),
)
