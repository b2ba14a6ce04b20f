"""Full text from PubMed Central by both of its interfaces.

The bucket's listing, metadata and files: https://pmc.ncbi.nlm.nih.gov/tools/pmcaws/; sets of
articles: https://www.ncbi.nlm.nih.gov/books/NBK25499/.
"""

import hashlib

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.sources.pmc import fetch_from_cloud, fetch_from_efetch

CLOUD = "https://pmc-oa-opendata.s3.amazonaws.com/"
EFETCH = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi"
XML = b"<article><body><p>Moss grows.</p></body></article>"
MD5 = hashlib.md5(XML).hexdigest()
PAPER = Paper(Ids(pmid="8", pmcid="PMC7"))


def listing(*versions):
    rows = "".join(f"<CommonPrefixes><Prefix>{v}/</Prefix></CommonPrefixes>" for v in versions)
    return f'<?xml version="1.0"?><ListBucketResult>{rows}</ListBucketResult>'


def metadata(version="PMC7.1", md5="", **more):
    url = f"s3://pmc-oa-opendata/{version}/{version}.xml" + (f"?md5={md5}" if md5 else "")
    return {"pmcid": "PMC7", "pmid": 8, "license_code": "CC BY", "xml_url": url, **more}


def offer(mocked, *bodies, md5=MD5, **more):
    mocked.get(CLOUD, body=listing("PMC7.1"))
    mocked.get(f"{CLOUD}metadata/PMC7.1.json", json=metadata(md5=md5, **more))
    for body in bodies:
        mocked.get(f"{CLOUD}PMC7.1/PMC7.1.xml", body=body)


def test_the_newest_version_by_number_and_not_by_letters(web, mocked):
    mocked.get(CLOUD, body=listing("PMC7.1", "PMC7.2", "PMC7.10", "PMC77.11"))
    mocked.get(f"{CLOUD}metadata/PMC7.10.json", json=metadata("PMC7.10"))
    mocked.get(f"{CLOUD}PMC7.10/PMC7.10.xml", body=XML)
    [fetched] = fetch_from_cloud(PAPER, web)
    assert fetched.url.endswith(".10.xml")
    assert not fetched.verified
    assert mocked.calls[0].request.params["prefix"] == "PMC7."


@pytest.mark.parametrize(("is_manuscript", "version"), [(True, "accepted"), (False, "")])
def test_license_and_identifiers_come_with_it(web, mocked, is_manuscript, version):
    offer(mocked, XML, is_manuscript=is_manuscript, doi="10.1000/a", is_retracted="yes")
    [fetched] = fetch_from_cloud(PAPER, web)
    assert (fetched.body, fetched.media, fetched.license) == (XML, "jats", "CC BY")
    assert fetched.ids == Ids(pmid="8", pmcid="PMC7", doi="10.1000/a")
    assert (fetched.version, fetched.verified, fetched.retracted) == (version, True, True)


def test_a_damaged_transfer_is_fetched_again(web, mocked):
    offer(mocked, XML[:-1], XML)
    [fetched] = fetch_from_cloud(PAPER, web)
    assert (fetched.body, fetched.verified) == (XML, True)


def test_damage_that_stays_is_reported_as_such(web, mocked):
    offer(mocked, XML, md5="a" * 32)
    with pytest.raises(Unreachable, match="checksum"):
        list(fetch_from_cloud(PAPER, web))


@pytest.mark.parametrize("what", [listing(), listing("PMC77.1")])
def test_absence_is_definite_and_remembered_for_a_day(web, mocked, what):
    mocked.get(CLOUD, body=what)
    for _ in range(2):
        with pytest.raises(NotAvailable, match="not in the PMC Cloud"):
            list(fetch_from_cloud(PAPER, web))
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("body", ["<html>busy</html>", ""])
def test_what_is_no_listing_says_nothing(web, mocked, body):
    mocked.get(CLOUD, body=body)
    with pytest.raises(Unreachable, match="did not list"):
        list(fetch_from_cloud(PAPER, web))


def test_an_article_that_is_there_but_not_as_xml(web, mocked):
    mocked.get(CLOUD, body=listing("PMC7.1"))
    mocked.get(f"{CLOUD}metadata/PMC7.1.json", json={"pmcid": "PMC7"})
    with pytest.raises(NotAvailable, match="not as XML"):
        list(fetch_from_cloud(PAPER, web))


# -- E-utilities -----------------------------------------------------------------------------------


def article(number, body="<body><p>Moss.</p></body>"):
    name = f'<article-id pub-id-type="pmcid">PMC{number}</article-id>'
    return f"<article><front>{name}</front>{body}</article>"


FORBIDDEN = "<!--The publisher does not allow downloading of the full text in XML form.-->"


def set_of(*articles):
    return f"<pmc-articleset>{''.join(articles)}</pmc-articleset>"


def test_several_articles_come_in_one_request_each_to_its_own(web, mocked):
    papers = [Paper(Ids(pmcid=f"PMC{number}")) for number in (1, 2, 3, 4)]
    unknown = '<Reply Id="4" error="not available"/>'
    mocked.get(EFETCH, body=set_of(article(3), unknown, article(2, FORBIDDEN), article(1)))
    for _ in range(2):  # what came is kept article by article
        found = list(fetch_from_efetch(papers, web))
        assert [paper for paper, _ in found] == papers
        first, second, third, fourth = (outcome for _, outcome in found)
        assert (first.body.decode(), third.body.decode()) == (article(1), article(3))
        assert first.ids == Ids(pmcid="PMC1")
        assert isinstance(second, NotAvailable)
        assert "does not allow" in second.message
        assert isinstance(fourth, NotAvailable)
        assert "does not provide PMC4" in fourth.message
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("body", ["<html>busy</html>", set_of(article(7))[:-10]])
def test_an_answer_that_is_no_whole_set_says_nothing_of_whom_it_lacks(web, mocked, body):
    mocked.get(EFETCH, body=body)
    with pytest.raises(Unreachable, match="not a complete set"):
        list(fetch_from_efetch([PAPER], web))
    assert len(mocked.calls) > 1  # it may still come whole
