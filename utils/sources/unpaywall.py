"""Unpaywall: where a lawful open-access copy of a DOI lies.

https://unpaywall.org/products/api
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ..errors import Miss, NotOffered
from ..paper import Fetched, Paper
from ..web import Rate, Web
from .publisher import pages_at
from .source import Route, Source, one_by_one

_REMEMBERED_DAYS = 1.0
_MOST_COPIES = 4


def open_copies(paper: Paper, web: Web) -> Iterator[Fetched | Miss]:
    """What lies at each open-access location, the best first.

    Raises
    ------
    NotOffered
        Unpaywall does not know the DOI, or knows no open copy.
    """
    doi = paper.ids.doi
    record = _record(doi, web)
    locations = [record.get("best_oa_location"), *(record.get("oa_locations") or ())]
    links = dict.fromkeys(link for location in locations for link in _links(location or {}))
    if not links:
        msg = f"Unpaywall knows no open copy of doi:{doi}."
        raise NotOffered(msg, "Ask the authors or your library.")
    licenses = {link: row.get("license") or "" for row in locations if row for link in _links(row)}
    for link in list(links)[:_MOST_COPIES]:
        yield from pages_at(
            link, web, source=SOURCE.name, via="unpaywall", license_=licenses.get(link, "")
        )


def _record(doi: str, web: Web) -> dict[str, Any]:
    if (remembered := web.memory.recall("unpaywall", doi)) is not None:
        return dict(remembered)
    answer = web.get(
        f"{web.settings.unpaywall_base_url}/{quote(doi, safe='/')}",
        {"email": web.settings.require_email("Unpaywall")},
        allow={404, 422},
        check=lambda got: got.status == 404 or got.json(),
    )
    if answer.status == 422:
        msg = "Unpaywall refuses the e-mail address in PUBMED_EMAIL."
        raise NotOffered(msg, "Set PUBMED_EMAIL to your own address.", status=422)
    record = {} if answer.status == 404 else dict(answer.json())
    web.memory.keep("unpaywall", doi, record, _REMEMBERED_DAYS)
    return record


def _links(location: dict[str, Any]) -> list[str]:
    """A PDF beats the page that leads to it."""
    found = (location.get("url_for_pdf"), location.get("url_for_landing_page"), location.get("url"))
    return [link for link in found if link]


SOURCE = Source(
    name="unpaywall",
    about="Unpaywall: open-access copies in repositories and at publishers",
    service="unpaywall",
    label="DOI",
    rates=(Rate("unpaywall", ("unpaywall",), every=0.1),),
    routes=(Route("unpaywall", ("doi",), one_by_one(open_copies)),),
)
