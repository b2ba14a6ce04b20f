"""Fetch open copies from HAL, the archive of French research.

``files_s`` are the files themselves; ``fileMain_s`` may be a page that shows one. Values come as a
list or as a single text, and files under embargo are not listed. Deposits of the type
``UNDEFINED`` are preprints. As no yield of HAL is published, it is asked for papers that a locator
found there. https://api.archives-ouvertes.fr/docs/search
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper, Version
from ..model.site import Address
from .loose_json import to_dict, to_dicts, to_text
from .publisher import MAX_COPIES, OpenCopy, deduplicate_copies, fetch_copies
from .source import Route, Source, one_by_one

_FIELDS = "halId_s,doiId_s,files_s,fileMain_s,docType_s,licence_s"
_MAX_DEPOSITS = 3


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the files that were deposited in HAL for a DOI.

    Raises
    ------
    NotAvailable
        HAL does not know the DOI, or has no open file of it.
    Unreachable
        HAL did not answer, or sent an answer without deposits.
    """
    doi = paper.ids.doi
    answer = web.get(
        f"{web.settings.address('hal')}/search/",
        {"q": f'doiId_s:"{doi}"', "wt": "json", "fl": _FIELDS, "rows": _MAX_DEPOSITS},
        check=_list_deposits,
        kept=True,
    )
    deposits = [
        row for row in _list_deposits(answer) if doi in map(str.lower, _list(row, "doiId_s"))
    ]
    if not deposits:
        raise NotAvailable(f"HAL does not know doi:{doi}.")
    copies = deduplicate_copies(copy for row in deposits for copy in _list_copies(row))
    if not copies:
        raise NotAvailable(f"HAL has no open file of doi:{doi}.")
    yield from fetch_copies(copies[:MAX_COPIES], web, source=SOURCE.name, via="hal")


def _list_deposits(answer: Answer) -> list[dict[str, Any]]:
    """Return the deposits of an answer; raise `Unreachable` without a list of them."""
    rows = to_dict(to_dict(answer.json()).get("response")).get("docs")
    if not isinstance(rows, list):
        raise Unreachable("HAL sent an answer without deposits.", "Try again later.")
    return to_dicts(rows)


def _list_copies(row: Mapping[str, Any]) -> Iterator[OpenCopy]:
    """Yield the PDFs of a deposit, or else the page that shows its main file."""
    license_ = " ".join(_list(row, "licence_s"))
    version: Version = "preprint" if "UNDEFINED" in _list(row, "docType_s") else "accepted"
    pdfs = [url for url in _list(row, "files_s") if url.lower().endswith(".pdf")]
    for url in pdfs or _list(row, "fileMain_s"):
        yield OpenCopy(url, license_, version)


def _list(row: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a field, which is a list or a single text."""
    value = row.get(name)
    return list(filter(None, map(to_text, value if isinstance(value, list) else [value])))


SOURCE = Source(
    name="hal",
    probe="/search/?q=docid:1&wt=json",
    about="HAL: open copies in the archive of French research",
    addresses=(Address("hal", "https://api.archives-ouvertes.fr", "HAL"),),
    label="DOI",
    # No published limit; 429 was seen.
    rates=(
        Rate(
            "hal",
            ("hal",),
            every=1.0,
            in_flight=1,
            hosts=("hal.science", "archives-ouvertes.fr", "hal.inria.fr", "hal.inrae.fr"),
        ),
    ),
    routes=(
        Route(
            "hal",
            ("doi",),
            one_by_one(fetch_full_text),
            share=0.01,
            only_named=True,
            has_pdfs=True,
            label="Open copy (HAL)",
            version="",
        ),
    ),
)
