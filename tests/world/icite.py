"""NIH iCite: ``/pubs?pmids=1,2`` with each paper's lists as PMIDs; unknown ones are missing.

The form is that which clients record (rnabioco/nihexporter ``R/rcr.R``; dvklopfenstein/pmidcite
``pmidcite/icite/api.py``): ``meta``, ``links``, ``data``, at most 1,000 PMIDs. Scores are left out
here but for the count. What it says to no PMIDs is remembered only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.world import kinship
from utils.demo.wire import Call, Reply, as_json

if TYPE_CHECKING:
    from tests.world import World
    from utils.demo.records import Record


def icite(call: Call, world: World) -> Reply:
    """The papers with these PMIDs, as far as they are known."""
    asked = [one.strip() for one in call.params.get("pmids", "").split(",")]
    if call.path != "/pubs" or not all(one.isdecimal() for one in asked) or len(asked) > 1000:
        return as_json({"error": "Bad Request"}, 400)
    found = [record for pmid in asked if (record := world.record(pmid))]
    return as_json(
        {
            "meta": {"pmids": call.params["pmids"]},
            "links": {"self": f"{call.host}/icite/pubs"},
            "data": [_row(record, world) for record in found],
        }
    )


def _row(record: Record, world: World) -> dict[str, Any]:
    cited_by = [int(other.pmid) for other in kinship.citing(record, world)]
    return {
        "pmid": int(record.pmid), "year": int(record.year), "title": record.plain_title,
        "authors": ", ".join(f"{given} {family}" for family, given in record.authors),
        "journal": record.journal.short, "is_research_article": record.kind == "article",
        "citation_count": len(cited_by), "provisional": False, "cited_by_clin": [],
        "cited_by": cited_by,
        "references": [int(other.pmid) for other in kinship.cited(record, world)],
        "doi": record.doi,
    }  # fmt: skip
