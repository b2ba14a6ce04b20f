"""PMC ID Converter: from a PMCID to the paper's PMID and DOI.

Knows only what is in PMC, so it is asked about PMCIDs and nothing else; PubMed's own records
connect PMIDs and DOIs. https://pmc.ncbi.nlm.nih.gov/tools/id-converter-api/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import NotFound, NotOffered, PaperError, Unreachable
from ..identifiers import Ids
from ..paper import Paper
from ..web import Web
from .eutils import BATCH, RATE
from .source import Lookup, Source


def look_up(wanted: Sequence[Ids], web: Web) -> Iterator[tuple[Ids, Paper | PaperError]]:
    """The other identifiers of articles in PMC, up to 200 a request; no titles."""
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        try:
            records = _convert([ids.pmcid for ids in batch], web)
        except (Unreachable, NotOffered) as miss:
            yield from ((ids, miss) for ids in batch)
            continue
        for ids in batch:
            found = records.get(ids.pmcid)
            unknown = NotFound(f"PMC has no article {ids.pmcid}.", "Check the identifier.")
            yield ids, Paper(ids | found) if found else unknown


def _convert(pmcids: Sequence[str], web: Web) -> dict[str, Ids]:
    settings = web.settings
    answer = web.get(
        f"{settings.idconv_base_url}/",
        {
            "ids": ",".join(pmcids),
            # Left to guess, the converter takes bare or mixed lists for something else.
            "idtype": "pmcid",
            "format": "json",
            "tool": settings.ncbi_tool_identifier,
            "email": settings.require_email("NCBI"),
        },
    )
    records: list[dict[str, Any]] = answer.json().get("records", [])
    # A miss may come with or without an error field; what counts is whether there is a pmcid.
    return {
        row["pmcid"]: Ids(
            pmcid=row["pmcid"],
            pmid=str(row.get("pmid") or ""),  # an integer since 2025
            doi=row.get("doi") or "",
        )
        for row in records
        if row.get("pmcid") and row.get("status") != "error"
    }


SOURCE = Source(
    name="idconv",
    about="PMC ID Converter: PMCID to PMID and DOI",
    service="idconv",
    rates=(RATE,),
    lookup=Lookup(("pmcid",), look_up),
)
