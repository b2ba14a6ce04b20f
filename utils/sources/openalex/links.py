"""OpenAlex: the works that a work cites, and those that cite it; needs a key.

The longest lists there are, across all fields; asked where NCBI and Europe PMC have none. Finding
the work is free, the list is paid from the key's daily budget.
https://developers.openalex.org/api-reference/works
"""

from __future__ import annotations

from ...errors import NotConfigured, NotOffered
from ...model.identifiers import Ids
from ...web import Web
from ..europepmc.links import Kind, Linked
from . import RECORD, paper_of
from .service import fetch_work, list_works

_FILTERS: dict[Kind, str] = {"citations": "cites", "references": "cited_by"}
_PAGE = 200


def fetch_linked(ids: Ids, kind: Kind, most: int, web: Web) -> tuple[int, list[Linked], str]:
    """How many works are on the list, the first *most* of them (at most 200), and the address.

    Raises
    ------
    NotConfigured
        There is no key, or it is refused.
    NotOffered
        OpenAlex does not know the paper, or it has neither DOI nor PMID.
    Unreachable
        It did not answer, or the day's budget is spent.
    """
    if not web.settings.key("openalex_api_key"):
        msg = "OpenAlex lists citations only for a key, and OPENALEX_API_KEY is not set."
        raise NotConfigured(msg, "Get a free one at openalex.org.")
    name = f"doi:{ids.doi}" if ids.doi else f"pmid:{ids.pmid}"
    work = fetch_work(name, "id", web) if ids.doi or ids.pmid else {}
    number = str(work.get("id") or "").rpartition("/")[2]
    if not number:
        raise NotOffered(f"OpenAlex does not know {ids}.", "Ask PubMed or Europe PMC.")
    works_filter = f"{_FILTERS[kind]}:{number}"
    size = max(1, min(most, _PAGE))
    params = {
        "filter": works_filter,
        "sort": "publication_date:desc",
        "per-page": size,
        "select": RECORD,
    }
    total, works, _ = list_works(params, web)
    url = f"{web.settings.address('openalex')}/works?filter={works_filter}"
    return total, [Linked.of(paper_of(work)) for work in works[:size]], url
