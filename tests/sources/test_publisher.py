"""Publishers' pages: where a DOI leads, what it names, and what is left alone."""

import pytest

from tests.sources.reader import article_of
from utils.errors import BadContent, NotAvailable, Unreachable
from utils.sources.publisher import OpenCopy, fetch_copies, fetch_full_text, find_landing_page

PAGE = "https://journal.test/1"
PAPER = article_of("10.1000/a")
HTML = "<html><head>{}</head><body><p>Moss grows.</p></body></html>"
REFRESH = HTML.format('<meta http-equiv="refresh" content="0; url=/2">')


@pytest.fixture
def doi(mocked):
    """A DOI that leads to the page."""
    return mocked.get("https://doi.org/10.1000/a", status=302, headers={"Location": PAGE})


def test_the_page_comes_first_and_the_pdfs_it_names_next(web, mocked, doi):
    names = "".join(f'<meta name="citation_pdf_url" content="/{at}.pdf">' for at in (1, 2, 3))
    mocked.get(PAGE, body=HTML.format(names))
    mocked.get(f"{PAGE}.pdf", body=b"%PDF-1.7")
    mocked.get("https://journal.test/2.pdf", status=404)
    page, pdf, miss = fetch_full_text(PAPER, web)
    assert (page.media, pdf.media, pdf.url) == ("html", "pdf", f"{PAGE}.pdf")
    assert isinstance(miss, NotAvailable)


def test_a_meta_refresh_is_followed_once(web, mocked, doi):
    mocked.get(PAGE, body=REFRESH)
    mocked.get("https://journal.test/2", body=REFRESH)
    [page] = fetch_full_text(PAPER, web)
    assert page.url == "https://journal.test/2"
    assert len(mocked.calls) == 3


@pytest.mark.parametrize(
    ("answers", "status"), [([403, 200], 200), ([401, 401], 401), ([405, 200], 200)]
)
def test_a_closed_door_is_tried_once_more_with_plain_headers(web, mocked, doi, answers, status):
    for one in answers:
        mocked.get(PAGE, status=one, body=HTML)
    [page] = fetch_full_text(PAPER, web)
    assert page.status == status
    assert len(mocked.calls) == 3
    assert set(mocked.calls[2].request.headers) <= {"User-Agent", "Accept", "Accept-Encoding"}


def test_a_door_that_stays_closed_and_shows_nothing_is_refused(web, mocked, doi):
    mocked.get(PAGE, status=403)
    [miss] = fetch_full_text(PAPER, web)
    assert isinstance(miss, BadContent)
    assert miss.details["verdict"] == "refused"


@pytest.mark.parametrize("answer", [{"status": 404}, {"status": 200}])
def test_an_unregistered_doi_leads_nowhere(web, mocked, answer):
    mocked.get("https://doi.org/10.1000/a", **answer)
    with pytest.raises(NotAvailable):
        list(fetch_full_text(PAPER, web))


def test_the_landing_page_is_found_in_one_request_and_remembered(web, mocked):
    sici = "10.1002/(SICI)1097-4636(199823)39:2<266::AID-JBM14>3.0.CO;2-#"
    mocked.get(
        "https://doi.org/10.1002/(SICI)1097-4636(199823)39:2%3C266::AID-JBM14%3E3.0.CO;2-%23",
        status=302,
        headers={"Location": "/1"},
    )
    assert [find_landing_page(sici, web) for _ in range(2)] == ["https://doi.org/1"] * 2
    assert len(mocked.calls) == 1


def test_a_copy_at_arxiv_is_asked_of_the_host_for_programs(web, mocked):
    mocked.get("https://export.arxiv.org/pdf/2511.04014", body=b"%PDF-1.7")
    copy = OpenCopy("https://arxiv.org/pdf/2511.04014v1")
    [fetched] = fetch_copies([copy], web, source="openalex", via="openalex")
    assert fetched.media == "pdf"


def test_preprint_servers_are_asked_slowly_and_left_alone_when_they_refuse(web):
    limiter = web.limiter
    pages = "https://www.biorxiv.org/content/10.1101/1v1", "https://www.medrxiv.org/content/2v1"
    assert {limiter.find_bucket(page) for page in pages} == {"biorxiv"}
    assert {rate.bucket: every for rate, every in limiter.list_intervals()}["biorxiv"] == 3.0
    assert limiter.record_rejection(pages[0]) == 100
    with pytest.raises(Unreachable, match="next turn at biorxiv"), limiter.wait_for_turn(pages[1]):
        pass
