"""Fetch preprints of bioRxiv and medRxiv as JATS, at the address their API names.

The API says the licence and the newest version of a DOI. Text mining is allowed for all preprints
(https://www.biorxiv.org/tdm); passing a text on is a matter of its licence. The servers' own pages
reject bursts, so they are asked as rarely as the publisher's route asks them. Errors come with
status 200; in September 2026 some answers were empty (https://api.biorxiv.org).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from ..errors import NotAvailable, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address
from .loose_json import to_count, to_dict, to_dicts, to_text
from .publisher import OpenCopy, fetch_copies
from .source import Route, Source, one_by_one

_PREFIXES = ("10.1101/", "10.64898/")
# Six digits, or a date and a number: of six digits at bioRxiv, of eight at medRxiv.
_PREPRINT = re.compile(r"10\.(?:1101|64898)/(?:\d{4}\.\d\d\.\d\d\.)?(\d{6}|\d{8})", re.A)


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the JATS of the newest version.

    Raises
    ------
    NotAvailable
        The DOI is not a preprint's, or the server does not know it.
    Unreachable
        The server did not answer, or sent an answer without a list.
    """
    doi = paper.ids.doi
    if not (match := _PREPRINT.fullmatch(doi)):
        raise NotAvailable(f"doi:{doi} is not a preprint of bioRxiv or medRxiv.")
    server = "biorxiv" if len(match[1]) == 6 else "medrxiv"
    url = f"{web.settings.address('biorxiv')}/details/{server}/{quote(doi, safe='/')}/na/json"
    rows = [
        row for row in _list_versions(web.get(url, check=_list_versions, kept=True))
        if to_text(row.get("doi")).lower() == doi and to_text(row.get("jatsxml"))
    ]  # fmt: skip
    if not rows:
        raise NotAvailable(f"{server} knows no text of doi:{doi}.")
    newest = max(rows, key=lambda row: to_count(row.get("version")) or 0)
    copy = OpenCopy(to_text(newest["jatsxml"]), to_text(newest.get("license")), "preprint")
    yield from fetch_copies([copy], web, source=SOURCE.name, via="biorxiv")


def _list_versions(answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each version of the preprint; raise `Unreachable` without a list."""
    rows = to_dict(answer.json()).get("collection")
    if not isinstance(rows, list):
        raise Unreachable("bioRxiv's API sent an answer without a list.", "Try again later.")
    return to_dicts(rows)


SOURCE = Source(
    name="biorxiv",
    probe="/details/biorxiv/10.1101/339747/na/json",
    about="bioRxiv and medRxiv: their preprints as JATS",
    addresses=(Address("biorxiv", "https://api.biorxiv.org", "bioRxiv's API"),),
    label="DOI",
    rates=(
        Rate("biorxiv_api", ("biorxiv",), every=1.0, in_flight=1),
        # After a burst both answer 429 with a Retry-After of 100 s (November 2026; see
        # https://github.com/amirkiarafiei/open-scholar-peer/issues/5).
        Rate(
            "biorxiv",
            (),
            every=3.0,
            in_flight=1,
            backoff=100.0,
            hosts=("biorxiv.org", "medrxiv.org"),
        ),
    ),
    routes=(
        Route(
            "biorxiv",
            ("doi",),
            one_by_one(fetch_full_text),
            share=0.005,
            prefixes=_PREFIXES,
            label="bioRxiv and medRxiv",
            version="preprint",
        ),
    ),
)
