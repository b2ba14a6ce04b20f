"""CORE for readers with a key: copies, its own file, its words; tokens, and where the key goes.

Answers: https://api.core.ac.uk/docs/v3; that a download leads to ``core.ac.uk``, where a key is
answered 400, is the Rust crate's fastpaper-cli 0.3.0.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources.reader import ANY_JSON, article_of
from utils.errors import NotAvailable, NotConfigured, Unreachable
from utils.http.retry import MAX_WAIT_S
from utils.sources.core import SOURCE, _is_own_copy, _list_links, fetch_full_text, parse_cooldown

PAPER = article_of("10.1000/a")
SEARCH = "https://api.core.ac.uk/v3/search/works/"
DOWNLOAD = "https://api.core.ac.uk/v3/works/7/download"
FILE, COPY = "https://core.ac.uk/download/7.pdf", "https://repository.test/1.pdf"
WITHHELD = "Not available for public API users."
REFUSED = {"status": 401, "json": {"message": "Invalid API key."}}


@pytest.fixture
def web(client):
    return client(core_api_key="core-1")


def works(*found, **work):
    return {"results": [*found, {"id": 7, "doi": "10.1000/A", **work}]}


def test_copies_at_repositories_come_first_then_its_file_then_its_words(web, mocked):
    work = works(downloadUrl=FILE, sourceFulltextUrls=[COPY], fullText="Moss grows.")
    mocked.get(SEARCH, json=work)
    mocked.get(COPY, body=b"%PDF-1.4 copy")
    mocked.get(DOWNLOAD, status=302, headers={"Location": FILE})
    mocked.get(FILE, body=b"%PDF-1.4 file")
    copy, file, words = fetch_full_text(PAPER, web)
    assert [one.body for one in (copy, file, words)] == [
        *(b"%PDF-1.4 copy", b"%PDF-1.4 file", b"Moss grows."),
    ]
    assert [one.media for one in (copy, file, words)] == ["pdf", "pdf", "markdown"]
    assert {one.via for one in (copy, file, words)} == {"core"}
    keys = {call.request.url: call.request.headers.get("Authorization") for call in mocked.calls}
    assert {url.partition("?")[0]: key for url, key in keys.items()} == {
        SEARCH: "Bearer core-1",
        COPY: None,
        DOWNLOAD: "Bearer core-1",
        FILE: None,
    }
    assert mocked.calls[0].request.params["q"] == 'doi:"10.1000/a"'


@pytest.mark.parametrize(
    ("answer", "kinds"),
    [
        (works(fullText="Moss grows."), ["markdown"]),
        (works({"doi": "10.9101/b", "fullText": "x"}, fullText="Moss"), ["markdown"]),
        (works(sourceFulltextUrls=[COPY, "https://doi.org/10.1000/a"]), ["NotAvailable"]),
        (works(downloadUrl=FILE), ["html"]),
    ],
)
def test_what_else_it_may_have(web, mocked, answer, kinds):
    mocked.get(SEARCH, json=answer)
    mocked.get(COPY, status=400)
    mocked.get(DOWNLOAD, status=403, body="<html>Just a moment</html>")
    mocked.get(FILE, body="<html>busy</html>")
    mocked.replace("GET", DOWNLOAD, status=302, headers={"Location": FILE})
    found = [getattr(one, "media", type(one).__name__) for one in fetch_full_text(PAPER, web)]
    assert found == kinds


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ({"json": works(fullText=WITHHELD)}, NotAvailable, "has no text"),
        ({"json": works(fullText=" ")}, NotAvailable, "has no text"),
        ({"json": {"results": []}}, NotAvailable, "does not know"),
        ({"json": {"results": [{"doi": "10.9101/b"}, {"doi": None}]}}, NotAvailable, "not know"),
        (REFUSED, NotConfigured, "CORE_API_KEY"),
        ({"status": 403}, NotConfigured, "CORE_API_KEY"),
    ],
)
def test_a_plain_no_says_why_and_is_asked_once(web, mocked, answer, error, said):
    mocked.get(SEARCH, **answer)
    with pytest.raises(error, match=said):
        list(fetch_full_text(PAPER, web))
    assert len(mocked.calls) == 1


def test_a_key_that_is_refused_for_the_file_alone_is_named(web, mocked):
    mocked.get(SEARCH, json=works(downloadUrl=FILE))
    mocked.get(DOWNLOAD, **REFUSED)
    with pytest.raises(NotConfigured, match="CORE_API_KEY"):
        list(fetch_full_text(PAPER, web))


def test_a_miss_at_the_repository_does_not_end_it(web, mocked):
    mocked.get(SEARCH, json=works(sourceFulltextUrls=[COPY], fullText="Moss grows."))
    mocked.get(COPY, status=503)
    miss, words = fetch_full_text(PAPER, web)
    assert isinstance(miss, Unreachable)
    assert words.media == "markdown"


# -- tokens: ten a minute, a thousand a day ------------------------------------------------------


def told(left, again):
    return {"X-RateLimit-Remaining": left, "X-RateLimit-Retry-After": again}


def test_who_has_too_few_tokens_waits_as_long_as_it_says(web, mocked, clock):
    soon = "2026-10-21T07:28:50+0000"
    date = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    mocked.get(SEARCH, status=429, headers={**told("0", soon), **date})
    mocked.get(SEARCH, json=works(fullText="Moss grows."))
    assert list(fetch_full_text(PAPER, web))
    assert len(mocked.calls) == 2
    assert 50 <= sum(clock.naps) <= 60


def test_no_call_is_made_before_there_are_tokens_again(web, mocked, clock):
    date = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    left = {**told("4", "2026-10-21T07:28:50+0000"), **date}  # a download may cost five
    mocked.get(SEARCH, json=works(fullText="Moss grows."), headers=left)
    list(fetch_full_text(PAPER, web))
    assert not clock.naps
    with pytest.raises(NotAvailable, match="does not know"):
        list(fetch_full_text(article_of("10.1000/b"), web))
    assert 50 <= sum(clock.naps) <= 60


def test_a_spent_day_is_told_at_once_and_to_everybody(client, web, mocked):
    late = "2026-10-22T00:00:00+0000"
    date = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    mocked.get(SEARCH, status=429, headers={**told("0", late), **date})
    for reader in (web, client(core_api_key="core-2")):
        with pytest.raises(Unreachable) as caught:
            list(fetch_full_text(PAPER, reader))
        assert caught.value.code == "RATE_LIMIT"
        assert caught.value.retry_after > MAX_WAIT_S
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("said", ["soon", "", "-", "9999-99-99", "2026-10-21T07:27:00"])
def test_a_moment_nobody_can_read_or_that_is_over_is_no_wait(said):
    assert parse_cooldown(told("0", said)) == 0


# -- what it sends -------------------------------------------------------------------------------


@given(
    st.dictionaries(
        st.sampled_from(
            ["id", "fullText", "downloadUrl", "sourceFulltextUrls", "links", "title", "outputs"]
        ),
        ANY_JSON,
    )
)
def test_any_json_is_a_work_with_gaps(work):
    assert all(isinstance(link, str) and link for link in _list_links(work))
    assert not any(_is_own_copy(link) for link in _list_links(work))


def test_one_link_without_its_list_is_a_link():
    assert list(_list_links({"sourceFulltextUrls": "https://a.test/x"})) == ["https://a.test/x"]


def test_doctor_says_whether_the_key_is_right(client, web, mocked):
    mocked.get(SEARCH, json={"results": []}, headers={"X-RateLimit-Remaining": "9"})
    assert SOURCE.check_access(web) == "9 tokens are left for now"
    mocked.replace("GET", SEARCH, **REFUSED)
    with pytest.raises(NotConfigured):
        SOURCE.check_access(web)
    mocked.get("https://api.core.ac.uk/v3", status=404)
    assert SOURCE.check_access(client()) == ""
