"""Fetch Springer Nature's articles as JATS: open ones with a free key, others by agreement.

Both answer with an envelope of records around JATS; an article that is not in it is not open (or
not in the agreement), and the answer is 200 all the same. Keys travel in the address, because
there is no other way; addresses are never shown or kept with them.
https://dev.springernature.com/docs/api-endpoints/open-access/ (client: springernature-api-client)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from ..errors import BadContent, NotAvailable, NotConfigured, NotEntitled, SourceMiss
from ..http import Answer, Rate, Web
from ..model.paper import Fetched, Paper
from ..model.site import Address, Key
from .publisher import is_doi_of_host
from .source import TEXT_MINING_TERMS, Route, Source, one_by_one

_HOSTS = (
    "springer.com",
    "nature.com",
    "biomedcentral.com",
    "springeropen.com",
    "springernature.com",
)
_PREFIXES = ("10.1007/", "10.1038/", "10.1186/", "10.1140/", "10.1057/")
# The envelope's DOCTYPE names a DTD by parameter entities, and only the article is wanted.
_ARTICLE = re.compile(rb"<article[\s>].*</article\s*>", re.S)


def fetch_open_text(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch an open article.

    Raises
    ------
    NotAvailable
        It is not Springer Nature's, or not open.
    NotConfigured
        The key is refused.
    """
    yield _fetch_article(paper, web, "openaccess/jats", "springer_api_key", "springer")


def fetch_text_by_agreement(paper: Paper, web: Web) -> Iterator[Fetched | SourceMiss]:
    """Fetch an article of the agreement of the second key; see `fetch_open_text`.

    Raises
    ------
    NotEntitled
        It is not in the agreement.
    """
    yield _fetch_article(paper, web, "xmldata/jats", "springer_tdm_key", "springer_tdm")


def _fetch_article(paper: Paper, web: Web, where: str, key: str, via: str) -> Fetched:
    """Return the article in the answer of one of the services."""
    doi = paper.ids.doi
    if not doi.startswith(_PREFIXES) and not is_doi_of_host(doi, web, _HOSTS):
        raise NotAvailable(f"doi:{doi} leads to another publisher than Springer Nature.")
    answer = web.get(
        f"{web.settings.address('springer')}/{where}",
        {"q": f'doi:"{doi}"', "s": 1, "p": 1, "api_key": web.settings.key(key)},
        allow={401, 403, 404},
        check=partial(_check_answer, key=key, via=via),
        kept=True,
    )
    found = _ARTICLE.search(answer.body)
    assert found  # or it was no answer
    return Fetched(found[0], "jats", answer.url, SOURCE.name, via, charset="utf-8")


def _check_answer(answer: Answer, *, key: str, via: str) -> None:
    """Raise the error for an answer without an article."""
    if answer.status in {401, 403}:
        msg = f"Springer Nature refuses the key in {key.upper()} for this service."
        raise NotConfigured(
            msg, "Each of its services has a key of its own: dev.springernature.com"
        )
    if answer.status == 404 or not _ARTICLE.search(answer.body):
        if b"<response" not in answer.body and answer.status != 404:
            raise BadContent("Springer Nature sent no answer of its API.", verdict="not_a_paper")
        if via == "springer_tdm":
            raise NotEntitled("The article is not in your agreement with Springer Nature.")
        raise NotAvailable("Springer Nature has no open text of this article.")


SOURCE = Source(
    name="springer",
    about="Springer Nature's open articles as JATS with a free key; all others by agreement",
    addresses=(Address("springer", "https://api.springernature.com", "Springer Nature"),),
    keys=(
        Key(
            "springer_api_key",
            "Springer Nature's open articles as JATS",
            "https://dev.springernature.com/",
        ),
        Key(
            "springer_tdm_key",
            "the full texts that your text-mining agreement covers",
            "https://dev.springernature.com/",
        ),
    ),
    label="DOI",
    rates=(Rate("springer", ("springer",), every=0.7, in_flight=2),),
    routes=(
        Route(
            "springer",
            ("doi",),
            one_by_one(fetch_open_text),
            key="springer_api_key",
            share=0.025,
            prefixes=_PREFIXES,
            label="Springer Nature (open)",
        ),
        Route(
            "springer_tdm",
            ("doi",),
            one_by_one(fetch_text_by_agreement),
            key="springer_tdm_key",
            share=0.05,
            prefixes=_PREFIXES,
            label="Springer Nature (text mining)",
            terms=TEXT_MINING_TERMS,
        ),
    ),
)
