"""Elsevier for readers with a key: texts as XML, and what each refusal is about.

Headers and codes: dev.elsevier.com/documentation/ArticleRetrievalAPI.wadl and
dev.elsevier.com/tecdoc_api_authentication.html; the bodies of refusals are remembered.
"""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, NotConfigured, NotEntitled, Unreachable
from utils.sources.elsevier import SOURCE, fetch_full_text

PREFIX = "https://api.elsevier.com/content/article/doi/"
PAPER = article_of("10.1016/j.a.2026.1")
URL = PREFIX + PAPER.ids.doi
ABSTRACT = (
    '<full-text-retrieval-response xmlns="http://www.elsevier.com/xml/svapi/article/dtd" '
    'xmlns:ja="http://www.elsevier.com/xml/ja/dtd" '
    'xmlns:ce="http://www.elsevier.com/xml/common/dtd">'
)
BODY = "<ja:article><ja:body><ce:para>Moss.</ce:para></ja:body></ja:article>"
TEXT = f"{ABSTRACT}{BODY}</full-text-retrieval-response>"
ABSTRACT += "</full-text-retrieval-response>"


def refusal(status, code, said, **headers):
    body = f"<statusCode>{code}</statusCode><statusText>{said}</statusText>"
    body = f"<service-error><status>{body}</status></service-error>"
    return {"status": status, "body": body, "headers": headers}


NOT_ENABLED = refusal(403, "AUTHENTICATION_ERROR", "Requestor configuration settings insufficient")
SUBSCRIBERS = refusal(401, "AUTHENTICATION_ERROR", "address does not resolve to an account")
TOKEN = refusal(401, "AUTHENTICATION_ERROR", "Institution Token is not associated with API Key")


def test_a_text_comes_for_key_and_token_in_headers(client, mocked):
    mocked.get(URL, body=TEXT)
    [fetched] = fetch_full_text(
        PAPER, client(elsevier_api_key="key-1", elsevier_insttoken="token-1")
    )
    assert (fetched.body.decode(), fetched.media, fetched.via) == (TEXT, "elsevier", "elsevier")
    sent = mocked.calls[0].request
    assert (sent.headers["X-ELS-APIKey"], sent.headers["X-ELS-Insttoken"]) == ("key-1", "token-1")
    assert sent.url == URL


@pytest.mark.parametrize(
    ("answer", "error", "said", "hint"),
    [
        ({"body": ABSTRACT}, NotEntitled, "abstract alone", "ELSEVIER_INSTTOKEN"),
        ({"status": 404}, NotAvailable, "no such article", ""),
        ({"status": 406}, NotAvailable, "no such article", ""),
        (NOT_ENABLED, NotEntitled, "does not open its articles", "elsevier.support"),
        (SUBSCRIBERS, NotEntitled, "does not know this network", "VPN"),
        (TOKEN, NotConfigured, "ELSEVIER_INSTTOKEN", "for this very key"),
        (refusal(401, "APIKEY_INVALID", "not valid"), NotConfigured, "ELSEVIER_API_KEY", "apikey"),
        (refusal(401, "AUTHORIZATION_ERROR", "x"), NotEntitled, "does not open its articles", ""),
        ({"status": 429}, Unreachable, "answered 429", ""),
    ],
)
def test_a_refusal_says_whom_it_is_about(web, mocked, answer, error, said, hint):
    mocked.get(URL, **answer)
    with pytest.raises(error, match=said) as refused:
        list(fetch_full_text(PAPER, web))
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize("moment", [lambda at: at, lambda at: at * 1000], ids=["s", "ms"])
def test_a_weeks_quota_that_is_used_up_is_waited_for(web, mocked, clock, moment):
    reset = str(int(moment(clock.time() + 80_000)))
    told = {"X-ELS-Status": "QUOTA_EXCEEDED - Quota Exceeded", "X-RateLimit-Reset": reset}
    mocked.get(URL, **refusal(429, "QUOTA_EXCEEDED", "Quota Exceeded", **told))
    with pytest.raises(Unreachable, match="quota of the week") as spent:
        list(fetch_full_text(PAPER, web))
    assert spent.value.details["lasting"]
    assert 79_000 < spent.value.retry_after <= 80_000


def test_a_refusal_of_us_holds_for_an_hour_and_for_this_key_alone(client, web, mocked, clock):
    mocked.get(URL, **NOT_ENABLED)
    mocked.get(URL, body=TEXT)
    for _ in range(2):
        with pytest.raises(NotEntitled, match="does not open its articles"):
            list(fetch_full_text(PAPER, web))
    assert len(mocked.calls) == 1
    assert list(fetch_full_text(PAPER, client(elsevier_api_key="another")))
    clock.sleep(3601)
    assert list(fetch_full_text(PAPER, web))


def test_a_right_that_came_later_is_asked_for_again(web, mocked):
    mocked.get(URL, body=ABSTRACT)
    mocked.get(URL, body=TEXT)
    with pytest.raises(NotEntitled):
        list(fetch_full_text(PAPER, web))
    assert list(fetch_full_text(PAPER, web))


@pytest.mark.parametrize(
    ("host", "is_asked"), [("linkinghub.elsevier.com", True), ("a.test", False)]
)
def test_a_societys_doi_is_known_by_where_it_leads(web, mocked, host, is_asked):
    lead = {"Location": f"https://{host}/x"}
    mocked.get("https://doi.org/10.1234/a", status=302, headers=lead)
    mocked.get(f"{PREFIX}10.1234/a", body=TEXT)
    if is_asked:
        assert list(fetch_full_text(article_of("10.1234/a"), web))
    else:
        with pytest.raises(NotAvailable, match="another publisher"):
            list(fetch_full_text(article_of("10.1234/a"), web))
    assert len(mocked.calls) == 1 + is_asked


@pytest.mark.parametrize(("left", "said"), [("49999", "49999 requests are left"), ("", "key")])
def test_doctor_says_what_is_left_of_the_week(web, mocked, left, said):
    mocked.get(
        f"{PREFIX}10.1016/j.softx.2015.10.001", body=TEXT, headers={"X-RateLimit-Remaining": left}
    )
    assert said in SOURCE.check_access(web)
