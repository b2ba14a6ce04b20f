"""Every request leaves one line at level debug, and no key in it."""

import logging
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.http.conftest import Site
from tests.world.eutils import KEY
from utils import Library
from utils.errors import NotAvailable, Unreachable
from utils.http.messages import Request, to_loggable_url

LOGGER = "utils.http.messages"


def lines(caplog):
    return [one for one in caplog.records if one.name == LOGGER]


def test_a_request_says_method_address_status_and_time(site: Site, web, caplog):
    url = site.says("/x", b"1")
    lost = site.says("/lost", b"", 404)
    with caplog.at_level(logging.DEBUG, LOGGER):
        web.get(url, {"db": "pubmed", "api_key": "s3cret", "email": "me@lab.edu"})
        with pytest.raises(NotAvailable):
            web.get(lost)
    found, missed = lines(caplog)
    assert (found.method, found.url, found.status) == ("GET", f"{url}?db=pubmed", 200)
    assert found.ms >= 0
    assert found.getMessage() == f"GET {url}?db=pubmed: 200, {found.ms} ms"
    assert missed.status == 404


def test_redirects_and_tries_are_requests_of_their_own(site: Site, web, caplog):
    target = site.says("/there", b"1")
    url = site.says("/here", b"", 302, Location="/there")
    with caplog.at_level(logging.DEBUG, LOGGER):
        web.get(url)
    assert [(one.url, one.status) for one in lines(caplog)] == [(url, 302), (target, 200)]


def test_silence_is_logged_as_no_answer(site: Site, web_for, caplog):
    url = site.on("/x", lambda visit: visit.raw(b""))
    with caplog.at_level(logging.DEBUG, LOGGER), pytest.raises(Unreachable):
        web_for(site, ncbi_max_retries=1).get(url)
    assert len(lines(caplog)) == 4  # a reset connection is asked again at once
    assert all(line.status is None for line in lines(caplog))
    assert all("no answer" in line.getMessage() for line in lines(caplog))


def test_nothing_is_logged_at_info(site: Site, web, caplog):
    with caplog.at_level(logging.INFO, "utils"):
        web.get(site.says("/x", b"1"))
    assert not lines(caplog)


@pytest.mark.parametrize("key", ["", KEY])
def test_what_ncbi_is_asked_stands_in_the_log_also_where_it_is_posted(settings, key, caplog):
    """With a key E-utilities are asked by POST: the parameters are in the form."""
    library = Library(**settings, ncbi_api_key=key)
    with caplog.at_level(logging.DEBUG, LOGGER):
        library.search("biofilm[Title]", max_results=3)
    search, *_ = lines(caplog)
    assert search.method == ("POST" if key else "GET")
    assert "/esearch.fcgi?db=pubmed" in search.url
    assert "term=biofilm" in search.url
    assert all(KEY not in one.url and "tester" not in one.url for one in lines(caplog))


_SECRET = st.text("abcdefXYZ0123456789+/=", min_size=12, max_size=40)
_NAMES = st.sampled_from(
    [
        *("api_key", "apiKey", "key", "token", "access_token", "email", "mailto"),
        *("X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token", "Signature",
            "Key-Pair-Id"),
    ]
)  # fmt: skip


@given(_NAMES, _SECRET, st.sampled_from(["url", "params", "form"]))
def test_no_key_is_in_an_address_wherever_it_was_put(name, secret, place):
    url = "https://a.org/x?db=pmc"
    if place == "url":
        hop = Request("GET", f"{url}&{name}={quote(secret, safe='')}&last=1")
    else:
        hop = Request("POST", url, **{place: {name: secret, "last": 1}})
    shown = to_loggable_url(hop)
    assert "db=pmc" in shown
    assert "last=1" in shown
    assert not any(spelled in shown for spelled in (secret, quote(secret), quote_plus(secret)))
