"""Crossref: the last one asked what a DOI is.

Works: github.com/CrossRef/rest-api-doc, api_format.md; links and licenses for mining:
crossref.org/documentation/retrieve-metadata/rest-api/text-and-data-mining-for-researchers.
"""

import re
from urllib.parse import quote

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable
from utils.model.identifiers import Ids
from utils.model.paper import Author
from utils.sources.crossref import (
    fetch_mining_copies,
    find_works,
    look_up_papers,
    recall_cached_papers,
)

WORK = {
    "DOI": "10.1000/a", "type": "journal-article", "title": ["Moss", None],
    "subtitle": ["a field study"],
    "abstract": "<jats:p>Moss <jats:italic>grows</jats:italic>.</jats:p>",
    "author": [{"given": "Ada", "family": "Roe", "ORCID": "http://orcid.org/0-1"}, {"name": "Lab"}],
    "container-title": ["Journal of Tests"], "short-container-title": ["J Tests"],
    "ISSN": ["1234-5678"], "issued": {"date-parts": [[2025, 3]]}, "article-number": "e17",
    "reference-count": 12,
    "updated-by": [{"type": "retraction", "DOI": "10.1000/n"}, {"type": "new_version"}],
    "update-to": [{"type": "correction", "DOI": "10.1000/b"}],
}  # fmt: skip
SICI = "10.1002/(SICI)1097-4636(199823)39:2<266::AID-JBM14>3.0.CO;2-#"
ADDRESS = "https://api.crossref.org/v1/works"


def link(url, **more):
    usual = {"content-type": "text/xml", "content-version": "vor"}
    return {"URL": url, "intended-application": "text-mining", **usual, **more}


def license_(version, year=2020, url="https://journal.test/terms"):
    return {"content-version": version, "start": {"date-parts": [[year, 1, 1]]}, "URL": url}


def test_a_record_in_our_words_and_remembered(web, mocked):
    mocked.get(f"{ADDRESS}/10.1000%2Fa", json={"message": WORK})
    ids = Ids(doi="10.1000/a")
    [paper] = look_up_papers([ids], web).values()
    assert (paper.ids, paper.title, paper.abstract) == (ids, "Moss", "Moss grows.")
    assert paper.authors == (Author("Roe", "Ada", orcid="0-1"), Author(collective="Lab"))
    assert (paper.journal, paper.issn, paper.published) == (
        "Journal of Tests",
        "1234-5678",
        "2025-03",
    )
    assert paper.retracted
    assert [(one.kind, one.reference) for one in paper.notices] == [("retraction", "doi:10.1000/n")]
    assert recall_cached_papers([ids], web) == {ids: paper}
    assert mocked.calls[0].request.params["mailto"] == "tester@lab.edu"


def test_an_old_doi_travels_whole_and_an_unknown_one_has_no_record(web, mocked):
    address = re.compile(re.escape(f"{ADDRESS}/{quote(SICI, '')}?"), re.I)
    mocked.get(address, json={"message": {"DOI": SICI}})
    mocked.get(f"{ADDRESS}/10.1000%2Fnobody", status=404, body="Resource not found.")
    old, nobody = Ids(doi=SICI), Ids(doi="10.1000/nobody")
    found = look_up_papers([old, nobody], web)
    assert {ids: paper.ids for ids, paper in found.items()} == {old: old}


def test_works_are_found_by_the_words_of_a_reference(web, mocked):
    others = [{"type": "journal-article"}, {**WORK, "type": "journal-issue"}]
    preprint = {**WORK, "type": "posted-content", "page": "1-9", "subtitle": []}
    mocked.get(ADDRESS, json={"message": {"items": [WORK, *others, preprint]}})
    first, second = find_works("Roe, Moss, J Tests 2025", web)
    assert (first.title, first.journal_abbreviation, first.pages) == (
        *("Moss: a field study", "J Tests", "e17"),
    )
    assert "Published Erratum" in first.publication_types
    assert (second.title, second.pages) == ("Moss", "1-9")
    assert "Preprint" in second.publication_types
    asked = mocked.calls[0].request.params
    assert (asked["query.bibliographic"], asked["rows"]) == ("Roe, Moss, J Tests 2025", "5")


XML, PDF = "https://journal.test/1.xml", "https://journal.test/1.pdf"


@pytest.mark.parametrize(
    ("links", "licenses", "first"),
    [
        ([link(XML)], [license_("tdm")], XML),
        ([link(PDF, **{"content-type": "application/pdf"}), link(XML)], [license_("tdm")], XML),
        ([link(XML)], [license_("vor", url="https://creativecommons.org/licenses/by/4.0/")], XML),
        ([link(XML)], [license_("vor")], "license"),
        ([link(XML)], [license_("tdm", year=2999)], "license"),
        ([link(XML)], [], "license"),
        ([], [license_("tdm")], "address"),
        ([link(XML, **{"intended-application": "similarity-checking"})], [], "address"),
        ([link("https://api.elsevier.com/content/article/1")], [license_("tdm")], "address"),
    ],
)
def test_a_link_for_mining_is_followed_where_a_license_allows_it_today(
    web, mocked, links, licenses, first
):
    work = {**WORK, "link": links, "license": licenses}
    mocked.get(f"{ADDRESS}/10.1000%2Fa", json={"message": work})
    for url in (XML, PDF):
        mocked.get(url, body="<article dtd-version='1.1'><body/></article>")
    if first == XML:
        fetched, *_ = fetch_mining_copies(article_of("10.1000/a"), web)
        assert (fetched.url, fetched.media, fetched.via) == (XML, "jats", "crossref")
        assert fetched.version == "published"
    else:
        with pytest.raises(NotAvailable, match=first):
            list(fetch_mining_copies(article_of("10.1000/a"), web))
        assert len(mocked.calls) == 1
