"""Unpaywall: open copies, and who may not be asked for them.

Fields: https://unpaywall.org/data-format; unknown DOIs are 404, e-mail addresses it refuses 422.
"""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, NotConfigured
from utils.sources.publisher import list_location_copies
from utils.sources.unpaywall import fetch_open_copies

PAPER = article_of("10.1000/a")
URL = "https://api.unpaywall.org/v2/10.1000/a"
PDF = "https://repository.test/1.pdf"


def record(**place):
    place = {"license": "cc-by", "version": "acceptedVersion", **place}
    return {"doi": "10.1000/a", "is_oa": True, "best_oa_location": place, "oa_locations": [place]}


def test_a_copy_comes_with_its_license_and_its_record_is_asked_for_once_a_day(web, mocked, clock):
    mocked.get(URL, json=record(url_for_pdf=PDF, url=PDF))
    mocked.get(PDF, body=b"%PDF-1.7")
    for _ in range(2):
        [copy] = fetch_open_copies(PAPER, web)
        assert (copy.media, copy.license, copy.version, copy.via) == (
            *("pdf", "cc-by", "accepted", "unpaywall"),
        )
    assert mocked.assert_call_count(f"{URL}?email=tester%40lab.edu", 1)
    clock.sleep(25 * 3600)
    list(fetch_open_copies(PAPER, web))
    assert mocked.assert_call_count(f"{URL}?email=tester%40lab.edu", 2)


def test_pages_of_pmc_are_never_asked_for(web, mocked):
    page = "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1"
    mocked.get(URL, json=record(url_for_pdf=f"{page}/pdf/main.pdf", url_for_landing_page=page))
    misses = list(fetch_open_copies(PAPER, web))
    assert [type(miss) for miss in misses] == [NotAvailable] * 2
    assert len(mocked.calls) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"json": {"doi": "10.1000/a", "is_oa": False, "oa_locations": []}}, "no open copy"),
        ({"status": 404, "json": {"error": True, "message": "isn't in Unpaywall"}}, "no open copy"),
        ({"status": 422, "json": {"error": True}}, "PUBMED_EMAIL"),
    ],
)
def test_a_plain_no_is_remembered(web, mocked, answer, said):
    mocked.get(URL, **answer)
    for _ in range(2):
        with pytest.raises(NotAvailable, match=said):
            list(fetch_open_copies(PAPER, web))
    assert len(mocked.calls) == 1 + (said == "PUBMED_EMAIL")


def test_it_needs_an_address(client, mocked):
    with pytest.raises(NotConfigured):
        list(fetch_open_copies(PAPER, client(pubmed_email="")))
    assert not mocked.calls


@pytest.mark.parametrize(
    ("link", "record_id", "urls"),
    [
        ("https://doi.org/10.1000/a", "oai:HAL:hal-01v1", ["https://hal.science/hal-01v1"]),
        ("https://doi.org/10.1000/a", "pmh:oai:osti.gov:12", ["https://www.osti.gov/biblio/12"]),
        ("https://hal.inria.fr/hal-01", "oai:HAL:hal-01v1", []),
        ("https://doi.org/10.1000/a", "oai:example.org:12", []),
    ],
)
def test_a_location_that_only_names_the_doi_may_tell_the_archive(link, record_id, urls):
    copies = list_location_copies({"url": link}, ("url",), record_id)
    assert [copy.url for copy in copies] == [link, *urls]
