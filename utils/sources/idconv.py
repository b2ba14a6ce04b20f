"""Convert PMCIDs to PMIDs and DOIs with the PMC ID Converter.

Knows only what is in PMC, so it is asked about PMCIDs and nothing else; PubMed's own records
connect PMIDs and DOIs. https://pmc.ncbi.nlm.nih.gov/tools/id-converter-api/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import Unreachable
from ..http import Answer, Web
from ..model.identifiers import Ids
from ..model.paper import Paper
from ..model.site import Address
from .eutils import MAX_IDS_PER_REQUEST, RATE
from .loose_json import to_dict, to_dicts
from .source import Lookup, Source


def look_up_papers(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """Return the other identifiers of articles in PMC, without titles."""
    settings = web.settings
    answer = web.get(
        f"{settings.address('idconv')}/",
        {
            "ids": ",".join(ids.pmcid for ids in wanted),
            # Left to guess, the converter takes bare or mixed lists for something else.
            "idtype": "pmcid",
            "format": "json",
            "tool": settings.ncbi_tool_identifier,
            "email": settings.require_email("NCBI"),
        },
        check=_read_records,
        kept=True,
    )
    # A miss may come with or without an error field; what counts is whether there is a pmcid.
    known = {
        row["pmcid"]: Ids(
            pmcid=row["pmcid"],
            pmid=str(row.get("pmid") or ""),  # an integer since 2025
            doi=row.get("doi") or "",
        )
        for row in _read_records(answer)
        if row.get("pmcid") and row.get("status") != "error"
    }
    return {ids: Paper(ids | known[ids.pmcid]) for ids in wanted if ids.pmcid in known}


def _read_records(answer: Answer) -> list[dict[str, Any]]:
    """Return the records of an answer; raise `Unreachable` if it has none."""
    records = to_dict(answer.json()).get("records")
    if not isinstance(records, list):
        raise Unreachable("The PMC ID Converter sent no records.", "Try again later.")
    return to_dicts(records)


SOURCE = Source(
    name="idconv",
    probe="/?ids=PMC3531190&idtype=pmcid&format=json",
    about="PMC ID Converter: PMCID to PMID and DOI",
    addresses=(
        Address(
            "idconv",
            "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles",
            "PMC ID Converter",
        ),
    ),
    rates=(RATE,),
    lookup=Lookup(("pmcid",), MAX_IDS_PER_REQUEST, look_up_papers),
)
