"""What `Web` promises, told against recorded-style answers (no socket)."""

import logging
import time
import traceback
from email.utils import formatdate

import pytest

from utils.errors import NotAvailable, Unreachable
from utils.http import Answer, Rate, Web
from utils.settings import Settings

URL = "https://doi.org/x"
KEY = "0123456789abcdef"


@pytest.fixture
def web() -> Web:
    return Web(Settings(pubmed_email="a@b.de"), [Rate("doi", ("doi",), 0.01)])


def test_an_answer_says_all_a_source_needs(web: Web, mocked) -> None:
    mocked.get(URL, body="é", content_type="Text/XML; charset=ISO-8859-1", headers={"ETag": "1"})
    answer = web.get(URL, {"id": [1, 2], "api_key": KEY})
    assert (answer.status, answer.media, answer.charset) == (200, "text/xml", "iso-8859-1")
    assert answer.url == URL + "?id=1&id=2"
    assert answer.headers["etag"] == "1"


def test_we_say_who_we_are(web: Web, mocked) -> None:
    mocked.get(URL)
    web.get(URL, headers={"X-Mine": "1"})
    sent = mocked.calls[0].request.headers
    assert "mailto:a@b.de" in sent["User-Agent"]
    assert sent["Accept-Encoding"] == "gzip, deflate"
    assert sent["X-Mine"] == "1"


def test_a_header_of_the_caller_replaces_ours_whatever_its_spelling(web: Web, mocked) -> None:
    mocked.get(URL)
    web.get(URL, headers={"accept": "application/pdf"})
    assert mocked.calls[0].request.headers["Accept"] == "application/pdf"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 520, 522, 524])
def test_a_passing_trouble_is_asked_again(web: Web, mocked, clock, status: int) -> None:
    mocked.get(URL, status=status)
    mocked.get(URL, body="here")
    assert web.get(URL).body == b"here"
    assert any(1.0 <= nap <= 1.2 for nap in clock.naps)


def test_a_site_that_stays_down_is_asked_as_often_as_the_settings_say(mocked, clock) -> None:
    mocked.get(URL, status=503)
    with pytest.raises(Unreachable, match=r"^doi\.org answered 503\.$") as caught:
        Web(Settings(ncbi_max_retries=3), []).get(URL)
    assert len(mocked.calls) == 3
    assert caught.value.details == {"status": 503}


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 410, 451, 501])
def test_a_refusal_is_not_asked_again(web: Web, mocked, status: int) -> None:
    mocked.get(URL, status=status)
    with pytest.raises(NotAvailable) as caught:
        web.get(URL)
    assert caught.value.details["status"] == status
    assert len(mocked.calls) == 1


def test_an_allowed_status_is_an_answer_with_its_body(web: Web, mocked) -> None:
    mocked.get(URL, status=404, body="why")
    assert web.get(URL, allow={404}).body == b"why"


def test_a_redirect_can_be_the_answer(web: Web, mocked) -> None:
    mocked.get(URL, status=302, headers={"Location": "https://publisher.org/1"})
    answer = web.get(URL, follow=False)
    assert (answer.status, answer.headers["Location"]) == (302, "https://publisher.org/1")


def test_a_check_may_find_the_error_in_a_good_status_and_is_asked_again(web: Web, mocked) -> None:
    mocked.get(URL, body="Search Backend failed")
    mocked.get(URL, body="fine")

    def check(answer: Answer) -> None:
        if b"failed" in answer.body:
            raise Unreachable("backend")

    assert web.get(URL, check=check).body == b"fine"


def test_each_try_that_is_repeated_is_told_when_it_failed(web: Web, mocked, clock) -> None:
    heard: list[tuple[int, float]] = []
    mocked.get(URL, status=503)
    mocked.get(URL, status=429, headers={"Retry-After": "30"})
    mocked.get(URL, body="fine")
    answer = web.get(URL, on_retry=lambda e: heard.append((e.details["status"], sum(clock.naps))))
    assert answer.body == b"fine"
    assert [status for status, _ in heard] == [503, 429]
    assert heard[1][1] < 5  # not after the wait the site asked for


def test_a_form_is_no_different_and_the_last_try_is_raised(mocked) -> None:
    heard: list[Unreachable] = []
    mocked.post(URL, status=503)
    web = Web(Settings(ncbi_max_retries=3), [Rate("doi", ("doi",), 0.01)])
    with pytest.raises(Unreachable):
        web.post(URL, {"id": "1"}, on_retry=heard.append)
    assert len(heard) == 2


@pytest.mark.parametrize("spell", [str, lambda s: formatdate(time.time() + s, usegmt=True)])
def test_retry_after_is_obeyed_by_everybody_else_too(web: Web, mocked, clock, spell) -> None:
    mocked.get(URL, status=429, headers={"Retry-After": spell(30)})
    mocked.get(URL, body="ours")
    begun = time.time()
    with pytest.raises(Unreachable) as caught:
        Web(Settings(ncbi_max_retries=1), [Rate("doi", ("doi",), 0.01)]).get(URL)
    assert caught.value.code == "RATE_LIMIT"
    assert web.get(URL).body == b"ours"
    assert 28.5 <= time.time() - begun <= 32


def test_a_long_retry_after_makes_the_site_unreachable_at_once_for_all(web: Web, mocked, clock):
    mocked.get(URL, status=503, headers={"Retry-After": "600"})
    for who in (web, web, Web(web.settings, [Rate("doi", ("doi",), 0.01)])):
        with pytest.raises(Unreachable) as caught:
            who.get(URL)
        assert 590 < caught.value.retry_after <= 600
    assert len(mocked.calls) == 1
    assert sum(clock.naps) < 1


def test_a_retry_after_of_hours_means_closed_for_today(web: Web, mocked, clock) -> None:
    mocked.get(URL, status=429, headers={"Retry-After": "54000"})
    for _ in range(2):
        with pytest.raises(Unreachable, match=r"closed for today: .* of 15 hours") as caught:
            web.get(URL)
        assert "UTC" in caught.value.hint
        assert caught.value.code == "RATE_LIMIT"
    assert len(mocked.calls) == 1
    assert sum(clock.naps) < 1


def test_a_wait_asked_for_inside_a_good_status_holds_everybody(web: Web, mocked, clock) -> None:
    mocked.get(URL, body="limit")

    def check(answer: Answer) -> None:
        raise Unreachable("limit", retry_after=90)

    with pytest.raises(Unreachable):
        web.get(URL, check=check)
    with pytest.raises(Unreachable, match="next turn at doi"):
        web.get(URL)
    assert len(mocked.calls) == 1


def lights(headers) -> float:
    return float(headers.get("X-Leave-Us-For") or 0)


@pytest.fixture
def heedful() -> Web:
    """Of two sites the first says in good time when it has had enough."""
    rates = [Rate("doi", ("doi",), 0.01, asked=lights), Rate("crossref", ("crossref",), 0.01)]
    return Web(Settings(), rates)


@pytest.mark.parametrize(
    "answer",
    [
        {"body": "good"},
        {"status": 404},
        {"status": 302, "headers": {"Location": "https://api.crossref.org/v1/x"}},
        {"status": 302, "headers": {"Location": URL + "/../y"}},
    ],
    ids=["good", "refusal", "redirect", "redirect to itself"],
)
def test_what_any_answer_asks_for_in_good_time_is_heeded(
    heedful: Web, mocked, clock, answer
) -> None:
    headers = {**answer.pop("headers", {}), "X-Leave-Us-For": "20"}
    mocked.get(URL, headers=headers, **answer)
    mocked.get("https://doi.org/y")
    mocked.get("https://api.crossref.org/v1/x", headers={"X-Leave-Us-For": "20"})
    begun = time.time()
    heedful.get(URL, allow=(404,), follow="Location" in headers)
    if headers.get("Location") != URL + "/../y":
        assert time.time() - begun < 2  # it is for the next request to wait, and only there
        heedful.get("https://api.crossref.org/v1/x")
        heedful.get("https://api.crossref.org/v1/x")
        assert time.time() - begun < 2
        heedful.get("https://doi.org/y")
    assert 19 <= time.time() - begun <= 22


def test_a_refusal_is_repeated_when_what_it_asks_for_is_over(heedful: Web, mocked, clock) -> None:
    mocked.get(URL, status=503, headers={"X-Leave-Us-For": "20", "Retry-After": "5"})
    mocked.get(URL, body="here")
    assert heedful.get(URL).body == b"here"
    assert 20 <= sum(clock.naps) <= 26


def test_whoever_asks_for_more_than_we_wait_is_left_alone_at_once(heedful: Web, mocked) -> None:
    mocked.get(URL, status=503, headers={"X-Leave-Us-For": "300"})
    for _ in range(2):
        with pytest.raises(Unreachable) as caught:
            heedful.get(URL)
        assert 295 < caught.value.retry_after <= 300
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("status", [403, 429])
def test_a_site_that_never_names_a_time_gets_a_doubling_pause(mocked, clock, status) -> None:
    web = Web(Settings(), [Rate("arxiv", ("arxiv",), 3.0, in_flight=1, backoff=60.0)])
    mocked.get("https://export.arxiv.org/pdf/1", status=status, body="Rate exceeded.")
    with pytest.raises(Unreachable) as caught:
        web.get("https://export.arxiv.org/pdf/1")
    assert len(mocked.calls) == 2  # the second refusal asks for two minutes, too long to wait
    assert caught.value.retry_after == 120
    assert 60 <= sum(clock.naps) < 70


def test_offline_asks_nobody(mocked) -> None:
    mocked.get(URL)
    web = Web(Settings(papers_offline=True), [])
    for ask in (web.get, web.post):
        with pytest.raises(Unreachable, match="offline"):
            ask(URL)
    assert len(mocked.calls) == 0


def test_no_message_log_or_traceback_shows_a_key(mocked, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    web = Web(Settings(ncbi_max_retries=2), [])
    with pytest.raises(Unreachable) as caught:
        web.get(f"http://127.0.0.1:9/{'x'}", {"api_key": KEY}, headers={"Authorization": KEY})
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert KEY not in shown + str(caught.value.details)


def test_making_one_writes_nothing(tmp_path) -> None:
    Web(Settings(), [Rate("doi", ("doi",), 0.01)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("status", "held_s"), [(429, 1.0), (503, 1.0), (502, 0.0)])
def test_after_a_refusal_that_names_no_time_nobody_follows_at_once(
    mocked, monkeypatch, status, held_s
) -> None:
    web = Web(Settings(ncbi_max_retries=1), [Rate("doi", ("doi",), 0.01)])
    mocked.get("https://doi.org/10.1/x", status=status)
    with pytest.raises(Unreachable) as caught:
        web.get("https://doi.org/10.1/x")
    assert not caught.value.retry_after  # our guess, no word of the site
    began = time.time()
    with web.limiter.wait_for_turn("https://doi.org/10.1/y"):
        assert time.time() - began == pytest.approx(held_s, abs=0.1)
    assert bool(web.limiter.list_slowdowns()) == (status == 429)
