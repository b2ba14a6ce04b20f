"""Wiley for readers with a token: PDFs, rights by network, refusals by name.

The redirect and the statuses are those that the publisher's client reads (PyPI: wiley-tdm 1.2.0);
500 for too many requests is from computron/fulltext-article-downloader 0.2.4.
"""

import pytest

from tests.sources.reader import EVERY_KEY, article_of
from utils.errors import NotAvailable, NotConfigured, NotEntitled, Unreachable
from utils.sources.wiley import fetch_full_text

ARTICLE = "https://api.wiley.com/onlinelibrary/tdm/v1/articles/10.1002%2Fa.1"
PDF = "https://alm.wiley.com/a.1.pdf"


def test_the_pdf_comes_by_a_redirect_and_the_token_stays_with_the_service(web, mocked):
    mocked.get(ARTICLE, status=302, headers={"Location": PDF})
    mocked.get(PDF, body=b"%PDF-1.7 ...")
    [fetched] = fetch_full_text(article_of("10.1002/a.1"), web)
    assert (fetched.body, fetched.media, fetched.via) == (b"%PDF-1.7 ...", "pdf", "wiley")
    first, second = (call.request.headers for call in mocked.calls)
    assert first["Wiley-TDM-Client-Token"] == EVERY_KEY["wiley_tdm_token"]
    assert EVERY_KEY["wiley_tdm_token"] not in str(second)
    assert [call.request.url for call in mocked.calls] == [ARTICLE, PDF]


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (400, NotConfigured, "WILEY_TDM_TOKEN"),
        (401, NotConfigured, "WILEY_TDM_TOKEN"),
        (403, NotEntitled, "token and network"),
        (404, NotAvailable, "no such article"),
        (500, Unreachable, "more than 30 requests in ten minutes"),
    ],
)
def test_a_refusal_says_why_and_is_not_repeated(web, mocked, status, error, said):
    mocked.get(ARTICLE, status=status)
    with pytest.raises(error, match=said) as refused:
        list(fetch_full_text(article_of("10.1002/a.1"), web))
    assert len(mocked.calls) == 1
    assert refused.value.details.get("retry_after") == (120 if status == 500 else None)


def test_papers_of_others_are_not_asked_for(web, mocked):
    mocked.get("https://doi.org/10.1234/a", status=302, headers={"Location": "https://a.test/1"})
    with pytest.raises(NotAvailable, match="another publisher"):
        list(fetch_full_text(article_of("10.1234/a"), web))
    assert len(mocked.calls) == 1
