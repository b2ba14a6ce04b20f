"""Jina Reader: what it reads for us, what it refuses, and where it is never sent.

Statuses and header lines: https://github.com/jina-ai/reader.
"""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable
from utils.sources.jina import fetch_found_pages, fetch_page

PAGE = "https://journal.test/1"
READER = f"https://r.jina.ai/{PAGE}"
PAPER = article_of("10.1000/a")
MARKDOWN = "Title: Moss\n\nURL Source: https://journal.test/1\n\nMarkdown Content:\nMoss grows."


@pytest.fixture
def doi(mocked):
    """A DOI that leads to the page."""
    return mocked.get("https://doi.org/10.1000/a", status=302, headers={"Location": PAGE})


def test_it_reads_the_page_and_the_key_goes_to_it_alone(client, mocked, doi):
    mocked.get(READER, body=MARKDOWN)
    [fetched] = fetch_page(PAPER, client(jina_api_key="jina_SECRET"))
    assert (fetched.body.decode(), fetched.url, fetched.via) == (MARKDOWN, PAGE, "jina")
    keys = [call.request.headers.get("Authorization") for call in mocked.calls]
    assert keys == [None, "Bearer jina_SECRET"]


@pytest.mark.parametrize(
    ("status", "said", "hint", "is_about_us"),
    [
        (401, "asks for a key", "Set JINA_API_KEY", True),
        (402, "no tokens left", "Set JINA_API_KEY", True),
        (403, "refuses this address", "Set JINA_API_KEY", False),
        (409, "larger than the budget", "", False),
        (413, "too large", "", False),
        (422, "no content", "", False),
        (451, "not allowed to read that site", "Set JINA_API_KEY", False),
    ],
)
def test_a_refusal_is_a_plain_no_and_one_of_us_is_not_provoked_again(
    web, mocked, doi, status, said, hint, is_about_us
):
    mocked.get(READER, status=status)
    mocked.get("https://doi.org/10.1000/b", status=302, headers={"Location": f"{PAGE}2"})
    mocked.get(f"{READER}2", body=MARKDOWN)
    with pytest.raises(NotAvailable, match=said) as refused:
        list(fetch_page(PAPER, web))
    assert hint in (refused.value.hint or "")
    if is_about_us:
        with pytest.raises(NotAvailable, match=said):
            list(fetch_page(article_of("10.1000/b"), web))
    else:
        assert list(fetch_page(article_of("10.1000/b"), web))
    assert sum("r.jina.ai" in call.request.url for call in mocked.calls) == 2 - is_about_us


def test_it_is_never_sent_to_sites_that_are_closed_to_programs(web, mocked):
    target = "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"
    mocked.get("https://doi.org/10.1000/a", status=302, headers={"Location": target})
    with pytest.raises(NotAvailable, match="does not let programs"):
        list(fetch_page(PAPER, web))
    assert len(mocked.calls) == 1


def test_its_search_gives_pages_with_text_that_are_open_to_programs(client, mocked):
    pages = [
        {"url": "https://a.test/1", "content": "Moss"},
        {"url": "https://b.test/2", "content": ""},
        {"url": "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/", "content": "Moss"},
    ]
    mocked.get("https://s.jina.ai/", json={"data": pages})
    [fetched] = fetch_found_pages(PAPER, client(jina_api_key="jina_SECRET"))
    assert (fetched.url, fetched.via) == ("https://a.test/1", "jina_search")
