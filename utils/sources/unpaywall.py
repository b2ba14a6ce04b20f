"""Unpaywall: where a lawful open-access copy of a DOI lies.

https://unpaywall.org/products/api
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address
from ..model.versions import version_from_locator
from .loose_json import mapping, mappings, text
from .publisher import MOST, OpenCopy, distinct, fetch_copies
from .source import Route, Source, one_by_one


def fetch_open_copies(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the copy at each open-access location, the best first.

    Raises
    ------
    NotAvailable
        Unpaywall does not know the DOI, or knows no open copy.
    """
    doi = paper.ids.doi
    copies = _copies(_fetch_record(doi, web))
    if not copies:
        msg = f"Unpaywall knows no open copy of doi:{doi}."
        raise NotAvailable(msg, "Ask the authors or your library.")
    yield from fetch_copies(copies[:MOST], web, source=SOURCE.name, via="unpaywall")


def recall_copies(doi: str, web: Web) -> list[OpenCopy]:
    """The copies Unpaywall has named within a day; sends no request."""
    answer = web.recall(_address(doi, web))
    return _copies(mapping(answer.json())) if answer and answer.status == 200 else []


def _address(doi: str, web: Web) -> str:
    return f"{web.settings.address('unpaywall')}/{quote(doi, safe='/')}"


def _fetch_record(doi: str, web: Web) -> dict[str, Any]:
    answer = web.get(
        _address(doi, web),
        {"email": web.settings.require_email("Unpaywall")},
        allow={404, 422},
        check=_check,
        kept=True,
    )
    return {} if answer.status == 404 else mapping(answer.json())


def _check(answer: Answer) -> None:
    if answer.status == 422:
        msg = "Unpaywall refuses the e-mail address in PUBMED_EMAIL."
        raise NotAvailable(msg, "Set PUBMED_EMAIL to your own address.", status=422)
    if answer.status != 404 and not text(mapping(answer.json()).get("doi")):
        raise Unreachable("Unpaywall sent an answer that is not a record.", "Try again later.")


def _copies(record: Mapping[str, Any]) -> list[OpenCopy]:
    """The best first of each version (see `different`), a PDF before the page that leads to it."""
    best = mapping(record.get("best_oa_location"))
    return distinct(
        OpenCopy(link, text(place.get("license")), version_from_locator(place.get("version")))
        for place in [best, *mappings(record.get("oa_locations"))]
        for name in ("url_for_pdf", "url_for_landing_page", "url")
        if (link := text(place.get(name)))
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
