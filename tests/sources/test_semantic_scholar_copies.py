"""Open copies that Semantic Scholar has seen: hints, many papers in one request.

Rows: https://api.semanticscholar.org/api-docs/graph (``openAccessPdf``).
"""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, NotConfigured
from utils.model.paper import Fetched
from utils.sources.publisher import OpenCopy
from utils.sources.semantic_scholar_copies import fetch_open_copies, list_named_copies

BATCH = "https://api.semanticscholar.org/graph/v1/paper/batch"
COPY = "https://repository.test/1.pdf"
PAPERS = [article_of(f"10.1000/{name}") for name in "abcd"]


def row(doi, url, **more):
    return {
        "paperId": doi.encode().hex().ljust(40, "0"),
        "externalIds": {"DOI": doi},
        "title": "A title",
        "openAccessPdf": {"url": url, "license": "CCBY", **more},
    }


def test_one_request_tells_of_many_papers_and_is_not_repeated(web, mocked):
    rows = [row("10.1000/a", COPY), row("10.1000/b", ""), row("10.1000/c", None), None]
    mocked.post(BATCH, json=rows)
    mocked.get(COPY, body=b"%PDF-1.7")
    for papers in (PAPERS, PAPERS[::-1]):
        found = dict(fetch_open_copies(papers, web))
        copy = found[PAPERS[0]]
        assert isinstance(copy, Fetched)
        assert (copy.media, copy.via, copy.license) == ("pdf", "semantic_scholar", "CC BY")
        assert copy.version == "accepted"
        assert [type(found[paper]) for paper in PAPERS[1:]] == [NotAvailable] * 3
    assert [call.request.method for call in mocked.calls].count("POST") == 1
    mocked.post(BATCH, json=[row("10.1000/e", "")])
    list(fetch_open_copies([PAPERS[1], article_of("10.1000/e")], web))
    assert [call.request.method for call in mocked.calls].count("POST") == 2


def test_a_named_copy_has_its_licence_and_version_before_it_is_fetched(web, mocked):
    mocked.post(BATCH, json=[row("10.1000/a", COPY), None])
    published = {}
    named = list_named_copies([paper.ids for paper in PAPERS[:2]], web, published)
    assert named == {PAPERS[0].ids: [OpenCopy(COPY, "CC BY", "accepted")], PAPERS[1].ids: []}
    assert published == {PAPERS[0].ids: "10.1000/a"}


@pytest.mark.parametrize(
    "url",
    [
        *("https://doi.org/10.1000/a", "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC1"),
        *("https://www.semanticscholar.org/paper/1", "https://www.researchgate.net/1.pdf"),
        *("https://www.mdpi.com/1/pdf", "https://academia.edu/1", "https://[x", "x"),
    ],
)
def test_what_leads_back_to_an_identifier_or_to_a_wall_is_no_copy(web, mocked, url):
    mocked.post(BATCH, json=[row("10.1000/a", url)])
    [(_, miss)] = fetch_open_copies(PAPERS[:1], web)
    assert isinstance(miss, NotAvailable)
    assert len(mocked.calls) == 1


def test_a_wrong_key_is_named(client, mocked):
    mocked.post(BATCH, status=403, json={"message": "Forbidden"})
    with pytest.raises(NotConfigured, match="SEMANTIC_SCHOLAR_API_KEY"):
        list(fetch_open_copies(PAPERS, client(semantic_scholar_api_key="wrong")))
