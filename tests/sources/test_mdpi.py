"""MDPI's file host. Addresses: https://github.com/drpwchen/paper-fetch/issues/3."""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources.mdpi import fetch_full_text

HOST = "https://mdpi-res.com/d_attachment"


def named(doi, volume, journal=""):
    return Paper(Ids(doi=doi), title="A title", volume=volume, journal=journal)


def address(name, file):
    return f"{HOST}/{name}/{file}/article_deploy/{file}.pdf"


@pytest.mark.parametrize(
    ("doi", "volume", "journal", "name", "file"),
    [
        ("10.3390/life15091404", "15", "Life (Basel)", "life", "life-15-01404"),
        ("10.3390/nu15091404", "15", "Nutrients", "nutrients", "nutrients-15-01404"),
        ("10.3390/s9020045", "9", "Sensors (Basel, Switzerland)", "sensors", "sensors-09-00045"),
        ("10.3390/app112311234", "11", "Applied Sciences", "applsci", "applsci-11-11234"),
        ("10.3390/jcm1010001", "1", "Journal of Clinical Medicine", "jcm", "jcm-01-00001"),
    ],
)
def test_a_file_is_named_after_journal_volume_and_number(
    web, mocked, doi, volume, journal, name, file
):
    code = doi.removeprefix("10.3390/").rstrip("0123456789")
    mocked.get(address(code, file.replace(name, code)), status=404)
    mocked.get(address(name, file), body=b"%PDF-1.7")
    mocked.replace("GET", address(name, file), body=b"%PDF-1.7")
    [fetched] = fetch_full_text(named(doi, volume, journal), web)
    assert (fetched.media, fetched.url, fetched.via) == ("pdf", address(name, file), "mdpi")


def test_the_name_that_worked_is_asked_for_first(web, mocked):
    mocked.get(address("nu", "nu-15-01404"), status=404)
    for file in ("nutrients-15-01404", "nutrients-15-01405"):
        mocked.get(address("nutrients", file), body=b"%PDF-1.7")
    for doi in ("10.3390/nu15091404", "10.3390/nu15091405"):
        list(fetch_full_text(named(doi, "15", "Nutrients"), web))
    assert len(mocked.calls) == 3


def test_a_record_without_a_volume_is_asked_of_crossref(web, mocked):
    doi = "10.3390/life15091404"
    work = {"DOI": doi, "volume": "15", "container-title": ["Life"]}
    mocked.get(
        f"https://api.crossref.org/v1/works/{doi.replace('/', '%2F')}", json={"message": work}
    )
    mocked.get(address("life", "life-15-01404"), body=b"%PDF-1.7")
    assert list(fetch_full_text(article_of(doi), web))


@pytest.mark.parametrize(
    ("doi", "volume", "said"),
    [
        ("10.1000/a", "1", "not an article of an MDPI"),
        ("10.3390/books978-3-0365-1", "1", "not an article of an MDPI"),
        ("10.3390/life15091404", "16", "volume"),
        ("10.3390/life15091404", "15", "no file"),
    ],
)
def test_an_absent_file_is_not_available(web, mocked, doi, volume, said):
    mocked.get(address("life", "life-15-01404"), status=404)
    with pytest.raises(NotAvailable, match=said):
        list(fetch_full_text(named(doi, volume), web))


def test_a_host_that_is_down_is_not_an_absent_file(web, mocked):
    mocked.get(address("life", "life-15-01404"), status=503)
    with pytest.raises(Unreachable):
        list(fetch_full_text(named("10.3390/life15091404", "15", "Nutrients"), web))
