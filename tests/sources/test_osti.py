"""Manuscripts at OSTI. Records: https://www.osti.gov/api/v1/docs."""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable
from utils.sources.osti import fetch_full_text

RECORDS, PDF = "https://www.osti.gov/api/v1/records", "https://www.osti.gov/servlets/purl/3021156"
PAGE = {"rel": "citation", "href": "https://www.osti.gov/biblio/3021156"}


def record(*links, doi="https://doi.org/10.1000/A", **more):
    return {"osti_id": "3021156", "doi": doi, "links": [PAGE, *links], **more}


@pytest.mark.parametrize(
    ("kind", "version"),
    [("Accepted Manuscript", "accepted"), ("Published Article", "published"), (None, "accepted")],
)
def test_the_file_comes_and_not_the_page(web, mocked, kind, version):
    link = {"rel": "fulltext", "href": PDF}
    mocked.get(RECORDS, json=[record(link, article_type=kind)])
    mocked.get(PDF, body=b"%PDF-1.5")
    [fetched] = fetch_full_text(article_of("10.1000/a"), web)
    assert (fetched.media, fetched.version) == ("pdf", version)
    assert mocked.calls[0].request.params["doi"] == "10.1000/a"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([], "does not know"),
        ([record(doi="10.1000/b"), {"doi": None}, None], "does not know"),
        ([record()], "embargo"),
        ([record({"rel": "fulltext", "href": None}, {"rel": None})], "embargo"),
    ],
)
def test_no_file_is_not_available(web, mocked, answer, said):
    mocked.get(RECORDS, json=answer)
    with pytest.raises(NotAvailable, match=said):
        list(fetch_full_text(article_of("10.1000/a"), web))
    assert len(mocked.calls) == 1
