"""Dead links of repositories: the Internet Archive is asked once, and its bytes are judged.

Answers: https://archive.org/help/wayback_api.php.
"""

import pytest

from tests.sources.reader import article_of
from utils.model.paper import Fetched
from utils.sources.archive import find_capture
from utils.sources.unpaywall import fetch_open_copies

URL = "https://repository.test/1.pdf"
AVAILABLE = "https://archive.org/wayback/available"
BYTES = f"https://web.archive.org/web/20240229101112id_/{URL}"


def captured(url, **more):
    closest = {"status": "200", "available": True, "url": url, "timestamp": "20240229101112"}
    return {"url": URL, "archived_snapshots": {"closest": closest | more}}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (captured(f"http://web.archive.org/web/20240229101112/{URL}"), BYTES),
        (captured(f"http://web.archive.org/web/20240229101112/{URL}", status="404"), ""),
        (captured(f"http://web.archive.org/web/20240229101112/{URL}", available=False), ""),
        ({"url": URL, "archived_snapshots": {}}, ""),
        (captured(f"http://evil.test/web/2024/{URL}"), ""),
        (captured("javascript:x"), ""),
        (captured("http://web.archive.org/web/2024/file:///etc"), ""),
    ],
)
def test_only_a_capture_of_the_archive_is_an_address_and_it_is_asked_once(
    web, mocked, answer, found
):
    mocked.get(AVAILABLE, json=answer)
    assert [find_capture(URL, web) for _ in range(2)] == [found] * 2
    assert len(mocked.calls) == 1


@pytest.mark.parametrize("status", [404, 410, 403])
def test_only_what_is_gone_is_had_from_the_archive(web, mocked, status):
    record = {"doi": "10.1000/a", "oa_locations": [{"url_for_pdf": URL}]}
    mocked.get("https://api.unpaywall.org/v2/10.1000/a", json=record)
    mocked.get(URL, status=status)
    mocked.get(AVAILABLE, json=captured(f"http://web.archive.org/web/20240229101112/{URL}"))
    mocked.get(BYTES, body=b"%PDF-1.7")
    [copy] = fetch_open_copies(article_of("10.1000/a"), web)
    is_gone = status != 403
    assert isinstance(copy, Fetched) == is_gone
    assert sum("archive.org" in call.request.url for call in mocked.calls) == 2 * is_gone
