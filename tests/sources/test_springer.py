"""Springer Nature: open articles with one key, those of an agreement with another.

The envelope is that which PyPI: springernature-api-client 0.0.10 reads.
"""

import pytest

from tests.sources.reader import EVERY_KEY, article_of
from utils.errors import BadContent, NotAvailable, NotConfigured, NotEntitled
from utils.sources.springer import fetch_open_text, fetch_text_by_agreement

HEAD = (
    '<?xml version="1.0"?><!DOCTYPE response [ <!ENTITY % article SYSTEM "https://a.test/x.dtd"> '
    "%article; ]><response><result><total>1</total></result><records>"
)
JATS = "<article dtd-version='1.1'><front/><body><p>Moss.</p></body></article>"
TAIL = "</records></response>"
OPEN, AGREED = (f"https://api.springernature.com/{name}/jats" for name in ("openaccess", "xmldata"))
ROUTES = {
    OPEN: (fetch_open_text, "springer_api_key"),
    AGREED: (fetch_text_by_agreement, "springer_tdm_key"),
}


@pytest.mark.parametrize(("url", "via"), [(OPEN, "springer"), (AGREED, "springer_tdm")])
def test_the_article_is_taken_out_of_its_envelope_and_the_key_left_out(web, mocked, url, via):
    mocked.get(url, body=HEAD + JATS + TAIL)
    route, key = ROUTES[url]
    [fetched] = route(article_of("10.1038/a"), web)
    assert (fetched.body.decode(), fetched.media, fetched.via) == (JATS, "jats", via)
    assert EVERY_KEY[key] not in fetched.url
    assert mocked.calls[0].request.params["q"] == 'doi:"10.1038/a"'


@pytest.mark.parametrize(
    ("url", "answer", "error", "said"),
    [
        (OPEN, {"body": HEAD + TAIL}, NotAvailable, "no open text"),
        (AGREED, {"body": HEAD + TAIL}, NotEntitled, "agreement"),
        (OPEN, {"status": 404}, NotAvailable, "no open text"),
        (OPEN, {"body": "<html>busy</html>"}, BadContent, "no answer of its API"),
        (OPEN, {"status": 401}, NotConfigured, "SPRINGER_API_KEY"),
        (AGREED, {"status": 403}, NotConfigured, "SPRINGER_TDM_KEY"),
    ],
)
def test_a_refusal_says_why(web, mocked, url, answer, error, said):
    mocked.get(url, **answer)
    with pytest.raises(error, match=said):
        list(ROUTES[url][0](article_of("10.1038/a"), web))


def test_papers_of_others_are_not_asked_for(web, mocked):
    mocked.get("https://doi.org/10.1234/a", status=302, headers={"Location": "https://a.test/1"})
    with pytest.raises(NotAvailable, match="another publisher"):
        list(fetch_text_by_agreement(article_of("10.1234/a"), web))
    assert len(mocked.calls) == 1
