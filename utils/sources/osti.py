"""Fetch accepted manuscripts of work that the US Department of Energy paid for, from OSTI.

A manuscript is open about a year after publication. Locators of open copies mostly name OSTI's
page, and its API names the PDF. As no yield of OSTI is published, it is asked for its own reports
and for papers that a locator found there. https://www.osti.gov/api/v1/docs
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.identifiers import Ids
from ..model.paper import Fetched, Paper
from ..model.site import Address
from .loose_json import to_dicts, to_text
from .publisher import OpenCopy, deduplicate_copies, fetch_copies
from .source import Route, Source, one_by_one


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the files that OSTI lists for a DOI.

    Raises
    ------
    NotAvailable
        OSTI does not know the DOI, or lists no file of it.
    Unreachable
        OSTI did not answer, or sent an answer without records.
    """
    doi = paper.ids.doi
    answer = web.get(
        f"{web.settings.address('osti')}/records",
        {"doi": doi},
        headers={"Accept": "application/json"},
        check=_list_records,
        kept=True,
    )
    records = [
        one for one in _list_records(answer) if Ids.maybe(to_text(one.get("doi"))).doi == doi
    ]
    if not records:
        raise NotAvailable(f"OSTI does not know doi:{doi}.")
    if not (copies := deduplicate_copies(copy for one in records for copy in _list_copies(one))):
        raise NotAvailable(f"OSTI lists no file of doi:{doi}; it may be under embargo.")
    yield from fetch_copies(copies, web, source=SOURCE.name, via="osti")


def _list_records(answer: Answer) -> list[dict[str, Any]]:
    """Return the records of an answer; raise `Unreachable` if it is not a list."""
    if not isinstance(rows := answer.json(), list):
        raise Unreachable("OSTI sent an answer without records.", "Try again later.")
    return to_dicts(rows)


def _list_copies(record: Mapping[str, Any]) -> Iterator[OpenCopy]:
    """Yield the files of a record; OSTI keeps manuscripts, and says so of published articles."""
    published = to_text(record.get("article_type")).lower() == "published article"
    for link in to_dicts(record.get("links")):
        if to_text(link.get("rel")).lower() == "fulltext" and (url := to_text(link.get("href"))):
            yield OpenCopy(url, version="published" if published else "accepted")


SOURCE = Source(
    name="osti",
    probe="/records?rows=1",
    about="OSTI: accepted manuscripts of work that the US Department of Energy paid for",
    addresses=(Address("osti", "https://www.osti.gov/api/v1", "OSTI"),),
    label="DOI",
    # No published limit; its files are on the same host.
    rates=(Rate("osti", ("osti",), every=1.0, in_flight=1, hosts=("osti.gov",)),),
    routes=(
        Route(
            "osti",
            ("doi",),
            one_by_one(fetch_full_text),
            share=0.01,
            prefixes=("10.2172/",),
            only_named=True,
            has_pdfs=True,
            label="Open copy (OSTI)",
            version="accepted",
        ),
    ),
)
