"""Fetch PDFs of open works from OpenAlex, a cent each from the key's daily budget.

Asked for behind everybody who costs nothing, and only where OpenAlex says that it has the file and
that the work's license is free: it gives no rights of its own. A free key pays for a hundred a day.
https://developers.openalex.org/api-reference/content (TEI is not asked for: its PDF says more.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import NotAvailable, NotConfigured, SourceMiss
from ..http import Answer, Rate, Web
from ..model.licenses import find_cc_license
from ..model.paper import Fetched, Paper
from ..model.site import Address
from ..model.versions import get_locator_version
from .loose_json import to_dict, to_text
from .openalex import COPY_FIELDS, build_auth_headers, build_limit_error, fetch_work
from .source import Route, Source, one_by_one


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the PDF that OpenAlex keeps of an open work.

    Raises
    ------
    NotAvailable
        It knows no such work, has no file of it, or no free license is known.
    NotConfigured
        The key is refused.
    Unreachable
        It did not answer, or the day's budget is spent.
    """
    doi = paper.ids.doi
    work = fetch_work(f"doi:{doi}", COPY_FIELDS, web, kept=True)
    if to_dict(work.get("has_content")).get("pdf") is not True:
        raise NotAvailable(f"OpenAlex keeps no file of doi:{doi}.")
    place = to_dict(work.get("best_oa_location"))
    if not (license_ := _find_free_license(place)):
        raise NotAvailable(
            f"OpenAlex knows no free license of doi:{doi}: its file is not paid for."
        )
    number = to_text(work.get("id")).rpartition("/")[2]
    answer = web.get(
        f"{web.settings.address('openalex_content')}/works/{number}.pdf",
        headers=build_auth_headers(web),
        allow={401, 403, 404, 429},
        check=_check_answer,
        kept=True,
    )
    yield Fetched(
        answer.body,
        "pdf",
        answer.url,
        SOURCE.name,
        "openalex_content",
        license=license_,
        version=get_locator_version(place.get("version")),
    )


def _find_free_license(place: Mapping[str, Any]) -> str:
    """Return the free license of a copy; "" if it has none."""
    said = to_text(place.get("license"))
    return find_cc_license(said) or (said if said == "public-domain" else "")


def _check_answer(answer: Answer) -> None:
    """Raise the error for an answer without a file."""
    match answer.status:
        case 401:
            msg = "OpenAlex refuses the key in OPENALEX_API_KEY."
            raise NotConfigured(msg, "Correct it, or leave openalex_content out of PAPERS_SOURCES.")
        case 403 | 429:
            raise build_limit_error(answer)
        case 404:
            raise NotAvailable("OpenAlex has lost the file it named.", status=404)


def check_access(web: Web) -> str:
    """Return the rest of the day's budget, which is free to ask; empty without a key."""
    if not web.settings.key("openalex_api_key"):
        web.get(f"{web.settings.address('openalex_content')}/", allow=range(400, 500))
        return ""
    answer = web.get(
        f"{web.settings.address('openalex')}/rate-limit",
        headers=build_auth_headers(web),
        allow={401},
        check=_check_answer,
    )
    told = to_dict(answer.json())
    left, budget = (told.get(f"daily_{name}_usd") for name in ("remaining", "budget"))
    if not isinstance(left, int | float) or not isinstance(budget, int | float):
        return ""
    return f"USD {left:.2f} of {budget:.2f} are left until midnight UTC; a file costs 0.01"


SOURCE = Source(
    name="openalex_content",
    about="OpenAlex's own PDFs of open works, a cent each from your key's budget",
    addresses=(Address("openalex_content", "https://content.openalex.org", "OpenAlex's files"),),
    label="DOI",
    rates=(
        Rate(
            "openalex_content",
            ("openalex_content",),
            every=1.0,
            key="openalex_api_key",
            in_flight=1,
        ),
    ),
    routes=(
        Route(
            "openalex_content",
            ("doi",),
            one_by_one(fetch_full_text),
            key="openalex_api_key",
            share=0.05,
            has_pdfs=True,
            label="Open copy (OpenAlex’s own)",
            version="",
        ),
    ),
    check_access=check_access,
)
