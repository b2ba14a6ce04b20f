"""Which requests the desk answers."""

import pytest

from tests.desk.conftest import ORIGIN, PORT, Browser
from utils.desk.application import ACTIONS, PAGES


@pytest.fixture
def locked(shelf_library):
    return Browser(shelf_library)


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_shown_without_the_token(locked, path):
    page = locked.get(path)
    assert (page.status_code, "This desk is locked" in page.text) == (403, True)


@pytest.mark.parametrize("token", ["", "wrong", "é", "\x00"])
def test_a_wrong_token_opens_nothing(locked, token):
    page = locked.get("/", token=token)
    assert page.status_code == 403
    assert "set-cookie" not in page.headers


def test_the_token_is_exchanged_for_a_strict_cookie(locked):
    first = locked.client.get(locked.access.first_address)
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert locked.access.token not in first.text
    assert locked.get("/").status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", "[::1]:8765"],
)
def test_another_name_of_this_computer_is_not_answered(browser, host):
    assert browser.client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("path", ACTIONS)
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", None]
)
def test_no_action_is_done_for_another_site(browser, path, origin):
    headers = {"origin": origin} if origin else {}
    answer = browser.client.post(path, data={"csrf": browser.csrf}, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("path", ACTIONS)
@pytest.mark.parametrize("csrf", ["", "wrong"])
def test_no_action_is_done_without_the_token_of_the_form(browser, path, csrf):
    assert browser.post(path, csrf=csrf).status_code == 403


@pytest.mark.parametrize("path", ACTIONS)
def test_no_action_is_done_by_opening_an_address(browser, path):
    assert browser.get(path, csrf=browser.csrf).status_code == 405


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(browser, method):
    answer = browser.client.request(method, "/", headers={"origin": ORIGIN})
    assert answer.status_code == 405


def test_every_response_has_the_headers_that_protect_it(browser):
    for path in ("/", "/nothing-here", "/static/desk.css", "/paper?id=10.1000/missing"):
        headers = browser.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../access.py",
        "/static/%2e%2e/access.py",
        "/static/..%2faccess.py",
        "/static//etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_static_files(browser, path):
    answer = browser.client.get(path)
    assert answer.status_code == 404
    assert "token_urlsafe" not in answer.text


def test_an_upload_that_does_not_state_its_length_is_refused(browser):
    headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    answer = browser.client.post("/paper/keep", content=iter([b"id=1"]), headers=headers)
    assert answer.status_code == 411
