"""Open copies at HAL. Answers: https://api.archives-ouvertes.fr/docs/search."""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, Unreachable
from utils.sources.hal import fetch_full_text

SEARCH = "https://api.archives-ouvertes.fr/search/"
PAGE, PDF = "https://hal.science/hal-1/document", "https://hal.science/hal-1/file/paper.PDF"


def found(*docs):
    return {"response": {"numFound": len(docs), "docs": docs}}


@pytest.mark.parametrize(
    ("deposit", "url", "version"),
    [
        ({"files_s": [PDF], "fileMain_s": PAGE, "docType_s": "ART"}, PDF, "accepted"),
        ({"files_s": PDF, "docType_s": ["UNDEFINED"]}, PDF, "preprint"),
        ({"files_s": ["https://hal.science/a.tex"], "fileMain_s": [PAGE]}, PAGE, "accepted"),
        ({"files_s": [None, 3], "fileMain_s": PAGE}, PAGE, "accepted"),
    ],
)
def test_the_file_comes_before_the_page_that_shows_it(web, mocked, deposit, url, version):
    other = {"doiId_s": "10.1000/other", "files_s": ["https://hal.science/other.pdf"]}
    mocked.get(SEARCH, json=found(other, {"doiId_s": ["10.1000/A"], **deposit}))
    mocked.get(url, body=b"%PDF-1.5")
    [fetched] = fetch_full_text(article_of("10.1000/a"), web)
    assert (fetched.media, fetched.url, fetched.version) == ("pdf", url, version)
    assert mocked.calls[0].request.params["q"] == 'doiId_s:"10.1000/a"'


@pytest.mark.parametrize(
    ("docs", "said"),
    [
        ([], "does not know"),
        ([{"doiId_s": None}], "not know"),
        ([{"doiId_s": "10.1000/a"}], "no open"),
    ],
)
def test_no_open_file_is_not_available(web, mocked, docs, said):
    mocked.get(SEARCH, json=found(*docs))
    with pytest.raises(NotAvailable, match=said):
        list(fetch_full_text(article_of("10.1000/a"), web))


def test_an_error_of_the_search_is_not_an_answer(web, mocked):
    mocked.get(SEARCH, json={"error": {"msg": "undefined field", "code": 400}})
    with pytest.raises(Unreachable):
        list(fetch_full_text(article_of("10.1000/a"), web))
