"""OpenAlex's own files: for key holders, of open works, within the day's budget.

Answers: https://developers.openalex.org/api-reference/content.
"""

import pytest

from tests.sources.reader import article_of
from utils.errors import NotAvailable, NotConfigured, Unreachable
from utils.sources.openalex_content import SOURCE, fetch_full_text

PAPER = article_of("10.1000/a")
WORK = "https://api.openalex.org/works/doi:10.1000/a"
FILE = "https://content.openalex.org/works/W7.pdf"
LIMITS = "https://api.openalex.org/rate-limit"


def work(*, has_pdf=True, license_="cc-by"):
    return {
        "id": "https://openalex.org/W7",
        "has_content": {"pdf": has_pdf},
        "best_oa_location": {"license": license_, "version": "publishedVersion"},
    }


@pytest.fixture
def web(client):
    return client(openalex_api_key="openalex-1")


def test_a_file_comes_for_the_key_in_a_header_with_the_license_of_the_work(web, mocked):
    mocked.get(WORK, json=work())
    mocked.get(FILE, body=b"%PDF-1.7")
    [found] = fetch_full_text(PAPER, web)
    assert (found.body, found.license, found.version) == (b"%PDF-1.7", "CC BY", "published")
    assert found.via == "openalex_content"
    assert mocked.calls[1].request.headers["Authorization"] == "Bearer openalex-1"
    assert "openalex-1" not in mocked.calls[1].request.url


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (work(has_pdf=False), "keeps no file"),
        ({"id": "https://openalex.org/W7"}, "keeps no file"),
        (work(license_=None), "no free license"),
        (work(license_="publisher-specific-oa"), "no free license"),
    ],
)
def test_nothing_is_paid_for_where_there_is_nothing_to_be_had(web, mocked, told, said):
    mocked.get(WORK, json=told)
    with pytest.raises(NotAvailable, match=said):
        list(fetch_full_text(PAPER, web))
    assert len(mocked.calls) == 1


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ({"status": 401}, NotConfigured, "OPENALEX_API_KEY"),
        ({"status": 404}, NotAvailable, "lost the file"),
        ({"status": 403, "body": "budget is used up"}, Unreachable, "OpenAlex"),
        ({"status": 429, "headers": {"X-RateLimit-Remaining": "0"}}, Unreachable, "is spent"),
    ],
)
def test_a_refusal_says_why(web, mocked, answer, error, said):
    mocked.get(WORK, json=work())
    mocked.get(FILE, **answer)
    with pytest.raises(error, match=said):
        list(fetch_full_text(PAPER, web))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"daily_remaining_usd": 0.75, "daily_budget_usd": 1}, "USD 0.75 of 1.00"),
        ({"daily_remaining_usd": "much"}, ""),
    ],
)
def test_doctor_is_told_what_is_left(web, mocked, told, said):
    mocked.get(LIMITS, json=told)
    assert said in SOURCE.check_access(web)
    assert bool(SOURCE.check_access(web)) == bool(said)


def test_doctor_asks_for_no_budget_without_a_key(client, mocked):
    mocked.get("https://content.openalex.org/", status=404)
    assert SOURCE.check_access(client()) == ""
