"""Fetch Wiley's articles as PDF from its text-mining service, with a token.

The token is personal; whether an article comes is decided by the network the request comes from.
https://onlinelibrary.wiley.com/library-info/resources/text-and-datamining. The publisher's own
client (PyPI: wiley-tdm) allows sixty requests in ten minutes. The service answers 500 from about
thirty-five on, so it is asked thirty times (computron/fulltext-article-downloader 0.2.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from ..errors import NotAvailable, NotConfigured, NotEntitled, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address, Key
from .publisher import is_doi_of_host
from .source import TEXT_MINING_TERMS, Route, Source, one_by_one

_HOSTS = ("wiley.com", "wiley-vch.de", "embopress.org", "agupubs.onlinelibrary.wiley.com")
_PREFIXES = ("10.1002/", "10.1111/")
_LIMIT_COOLDOWN_S = 120.0


def fetch_full_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch the article as PDF.

    Raises
    ------
    NotAvailable
        It is no article of Wiley's, or not in its service.
    NotEntitled
        It is one, and this network has no right to it.
    NotConfigured
        The token is refused.
    Unreachable
        It did not answer, or was asked too often.
    """
    doi = paper.ids.doi
    if not doi.startswith(_PREFIXES) and not is_doi_of_host(doi, web, _HOSTS):
        raise NotAvailable(f"doi:{doi} leads to another publisher than Wiley.")
    answer = web.get(
        f"{web.settings.address('wiley')}/articles/{quote(doi, safe='')}",
        headers={"Wiley-TDM-Client-Token": web.settings.key("wiley_tdm_token")},
        allow={400, 401, 403, 404, 500},
        check=_check_answer,
        kept=True,
    )
    yield Fetched(answer.body, "pdf", answer.url, SOURCE.name, "wiley")


def _check_answer(answer: Answer) -> None:
    """Raise the error for an answer without a PDF."""
    match answer.status:
        case 400 | 401:
            msg = "Wiley refuses the token in WILEY_TDM_TOKEN."
            raise NotConfigured(msg, "Correct it, or get one on its page for text mining.")
        case 403:  # the answer to a wrong token, too: nothing tells them apart
            msg = "Wiley does not open this article to this token and network."
            hint = "Ask from your institution's network, and check WILEY_TDM_TOKEN."
            raise NotEntitled(msg, hint, status=403)
        case 404:
            raise NotAvailable("Wiley's text-mining service has no such article.", status=404)
        case 500:
            msg = "Wiley answered 500, as it does to more than 30 requests in ten minutes."
            raise Unreachable(msg, status=500, retry_after=_LIMIT_COOLDOWN_S)


SOURCE = Source(
    name="wiley",
    about="Wiley's articles as PDF, with your own token for text mining",
    addresses=(Address("wiley", "https://api.wiley.com/onlinelibrary/tdm/v1", "Wiley"),),
    keys=(
        Key(
            "wiley_tdm_token",
            "Wiley's articles as PDF, in your institution's network",
            "https://onlinelibrary.wiley.com/library-info/resources/text-and-datamining",
        ),
    ),
    label="DOI",
    rates=(Rate("wiley", ("wiley",), every=20.0, in_flight=1),),
    routes=(
        Route(
            "wiley",
            ("doi",),
            one_by_one(fetch_full_text),
            key="wiley_tdm_token",
            share=0.05,
            prefixes=_PREFIXES,
            has_pdfs=True,
            label="Wiley (text mining)",
            terms=TEXT_MINING_TERMS,
        ),
    ),
)
