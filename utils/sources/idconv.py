"""PMC ID Converter: from a PMCID to the paper's PMID and DOI.

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
from .eutils import BATCH, RATE
from .loose_json import mapping, mappings
from .source import Lookup, Source


def look_up(wanted: Sequence[Ids], web: Web) -> dict[Ids, Paper]:
    """The other identifiers of articles in PMC; no titles."""
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
        check=_rows,
        kept=True,
    )
    # A miss may come with or without an error field; what counts is whether there is a pmcid.
    known = {
        row["pmcid"]: Ids(
            pmcid=row["pmcid"],
            pmid=str(row.get("pmid") or ""),  # an integer since 2025
            doi=row.get("doi") or "",
        )
        for row in _rows(answer)
        if row.get("pmcid") and row.get("status") != "error"
    }
    return {ids: Paper(ids | known[ids.pmcid]) for ids in wanted if ids.pmcid in known}


def _rows(answer: Answer) -> list[dict[str, Any]]:
    """Return the records of an answer, or raise `Unreachable` where it has none."""
    records = mapping(answer.json()).get("records")
    if not isinstance(records, list):
        raise Unreachable("The PMC ID Converter sent no records.", "Try again later.")
    return mappings(records)


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
    lookup=Lookup(("pmcid",), BATCH, look_up),
)
