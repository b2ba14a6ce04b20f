"""Find lawful open-access copies of a DOI with Unpaywall.

https://unpaywall.org/products/api
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper, describe_opening
from ..model.site import Address
from .loose_json import to_dict, to_dicts, to_text
from .publisher import (
    MAX_COPIES,
    OpenCopy,
    deduplicate_copies,
    fetch_copies,
    list_location_copies,
)
from .source import Route, Source, one_by_one

_LINKS = ("url_for_pdf", "url_for_landing_page", "url")


def fetch_open_copies(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the copy at each open-access location, the best first.

    Raises
    ------
    NotAvailable
        Unpaywall does not know the DOI, or lists no open copy.
    """
    doi = paper.ids.doi
    record = _fetch_record(doi, web)
    copies = _list_copies(record)
    if not copies:
        later = to_dicts(record.get("oa_locations_embargoed"))
        opening = describe_opening(to_text(place.get("oa_date")) for place in later)
        msg = f"Unpaywall lists no open copy of doi:{doi}.{opening}"
        raise NotAvailable(msg, "Ask the authors or your library.")
    yield from fetch_copies(copies[:MAX_COPIES], web, source=SOURCE.name, via="unpaywall")


def recall_copies(doi: str, web: Web) -> list[OpenCopy]:
    """Return the copies that Unpaywall named within a day; send no request."""
    answer = web.get_kept_answer(_build_url(doi, web))
    return _list_copies(to_dict(answer.json())) if answer and answer.status == 200 else []


def _build_url(doi: str, web: Web) -> str:
    """Return the address of a DOI's record."""
    return f"{web.settings.address('unpaywall')}/{quote(doi, safe='/')}"


def _fetch_record(doi: str, web: Web) -> dict[str, Any]:
    """Return Unpaywall's record of a DOI; {} if it is unknown."""
    answer = web.get(
        _build_url(doi, web),
        {"email": web.settings.require_email("Unpaywall")},
        allow={404, 422},
        check=_check_answer,
        kept=True,
    )
    return {} if answer.status == 404 else to_dict(answer.json())


def _check_answer(answer: Answer) -> None:
    """Raise for a rejected e-mail address, or an answer without a record."""
    if answer.status == 422:
        msg = "Unpaywall refuses the e-mail address in PUBMED_EMAIL."
        raise NotAvailable(msg, "Set PUBMED_EMAIL to your own address.", status=422)
    if answer.status != 404 and not to_text(to_dict(answer.json()).get("doi")):
        raise Unreachable("Unpaywall sent an answer that is not a record.", "Try again later.")


def _list_copies(record: Mapping[str, Any]) -> list[OpenCopy]:
    """Return the copies of a record, the best of each version first, PDFs before pages."""
    best = to_dict(record.get("best_oa_location"))
    return deduplicate_copies(
        copy
        for place in [best, *to_dicts(record.get("oa_locations"))]
        for copy in list_location_copies(place, _LINKS, to_text(place.get("pmh_id")))
    )


SOURCE = Source(
    name="unpaywall",
    probe="/10.1038/nature12373",
    about="Unpaywall: open-access copies in repositories and at publishers",
    addresses=(Address("unpaywall", "https://api.unpaywall.org/v2", "Unpaywall"),),
    many_hosts=True,
    label="DOI",
    rates=(Rate("unpaywall", ("unpaywall",), every=0.1, in_flight=4),),
    routes=(
        Route(
            "unpaywall",
            ("doi",),
            one_by_one(fetch_open_copies),
            share=0.65,
            has_pdfs=True,
            label="Open copy (Unpaywall)",
            version="",
        ),
    ),
)
