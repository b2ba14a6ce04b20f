"""A desk on the network: only whoever signs in with a valid token is let in."""

import base64
import json
import logging
import re
import time

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from starlette.testclient import TestClient

from tests.shelf.papers import document, fetched, paper
from utils import Library
from utils.cli import main
from utils.desk import access as access_module
from utils.desk import server
from utils.desk.access import Access, read_public_host
from utils.desk.application import ACTIONS, PAGES, build_application
from utils.errors import BadRequest
from utils.mcp.auth import build_token_gate, make_token

ADDRESS = "https://papers.lab.edu"
SECRET = base64.b64encode(bytes(range(48))).decode()


class RemoteBrowser:
    """A browser on another computer; several may look at one desk."""

    def __init__(self, library, other=None):
        self.library = library
        gate = build_token_gate(library.settings, ADDRESS)
        self.access = other.access if other else Access(3011, ADDRESS, gate.verify_token)
        app = other.client.app if other else build_application(library, self.access)
        self.client = TestClient(app, base_url=ADDRESS, follow_redirects=True)

    def make_token(self, scopes=("read", "download"), days=1):
        return make_token(self.library.settings, "ann", scopes, days)

    def sign_in(self, token=None, **headers):
        token = self.make_token() if token is None else token
        headers = {"origin": ADDRESS} | headers
        return self.client.post("/sign-in", data={"token": token}, headers=headers)

    def read_csrf(self):
        return re.search(r'"X-CSRF-Token": "([^"]+)"', self.client.get("/").text)[1]

    def post(self, path, csrf=None, **form):
        data = {"csrf": csrf or self.read_csrf(), **form}
        return self.client.post(path, data=data, headers={"origin": ADDRESS})


@pytest.fixture
def library(tmp_path):
    settings = {"papers_dir": tmp_path / "papers", "papers_offline": True}
    with Library(**settings, mcp_auth_secret_key=SECRET) as made:
        record, text = paper(doi="10.1000/moss"), document("# Moss\n\n" + "Moss grew. " * 300)
        made.shelf.save_full_text(record, text, fetched(media="html"), source="PMC", attempts=())
        yield made


@pytest.fixture
def stranger(library):
    return RemoteBrowser(library)


@pytest.fixture
def ann(stranger):
    assert stranger.sign_in().status_code == 200
    return stranger


def sign(secret=SECRET, alg="HS256", **changes):
    now = int(time.time())
    claims = {"iss": "papershelf", "aud": "papershelf", "sub": "eve", "scope": "read download"}
    claims |= {"iat": now, "nbf": now, "exp": now + 60, **changes}
    claims = {name: value for name, value in claims.items() if value is not None}
    if alg == "none":
        parts = [json.dumps(one).encode() for one in ({"alg": "none"}, claims)]
        return ".".join(
            [*(base64.urlsafe_b64encode(one).decode().rstrip("=") for one in parts), ""]
        )
    return jwt.encode({"alg": alg}, claims, OctKey.import_key(secret), algorithms=[alg])


WRONG = {
    "empty": "",
    "words": "let me in",
    "letters": "é\x00",
    "another secret": lambda: sign("x" * 20 + SECRET),
    "no signature": lambda: sign(alg="none"),
    "another algorithm": lambda: sign(alg="HS512"),
    "expired": lambda: sign(exp=int(time.time()) - 5),
    "without an end": lambda: sign(exp=None),
    "not yet valid": lambda: sign(nbf=int(time.time()) + 3600),
    "of another server": lambda: sign(aud="another"),
    "of another issuer": lambda: sign(iss="another"),
    "without a scope": lambda: sign(scope=""),
    "of another scope": lambda: sign(scope="download"),
}


@pytest.mark.parametrize("path", [*PAGES, "/nothing", "/sign-in", "/static/../access.py"])
def test_no_page_is_shown_to_a_stranger(stranger, path):
    page = stranger.client.get(path)
    assert page.status_code in (403, 404)
    assert "moss" not in page.text
    assert "set-cookie" not in page.headers


@pytest.mark.parametrize("path", [*ACTIONS, "/sign-out"])
def test_no_action_is_done_for_a_stranger(stranger, path):
    data = {"csrf": stranger.access.token}
    answer = stranger.client.post(path, data=data, headers={"origin": ADDRESS})
    assert answer.status_code == 403


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_token_opens_nothing(stranger, name):
    token = WRONG[name]() if callable(WRONG[name]) else WRONG[name]
    answer = stranger.sign_in(token)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert stranger.access.sessions == []


def test_no_token_in_an_address_opens_a_remote_desk(stranger):
    for token in (stranger.access.token, stranger.make_token()):
        answer = stranger.client.get("/", params={"token": token})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_a_token_is_exchanged_once_for_a_strict_cookie(stranger):
    token = stranger.make_token()
    stranger.client.follow_redirects = False
    answer = stranger.sign_in(token)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-papershelf_desk=")
    for wanted in ("httponly", "samesite=strict", "secure", "path=/", "max-age="):
        assert wanted in cookie
    assert token not in str(answer.headers) + stranger.client.get("/").text


def test_a_token_is_in_no_log(stranger, caplog):
    caplog.set_level(logging.DEBUG)
    tokens = [stranger.make_token(), "Bearer-guess", sign("x" * 20 + SECRET)]
    for token in tokens:
        stranger.sign_in(token)
    assert [one for one in tokens if one in caplog.text] == []


@pytest.mark.parametrize(
    "host", ["evil.example", "papers.lab.edu.evil.example", "127.0.0.1:3011", "localhost:3011", ""]
)
def test_another_host_is_not_answered(ann, host):
    for method, path in (("GET", "/"), ("POST", "/sign-in"), ("POST", "/paper/note")):
        headers = {"host": host, "origin": ADDRESS}
        assert ann.client.request(method, path, headers=headers).status_code == 421


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://papers.lab.edu", "https://papers.lab.edu:8443", "https://evil.example"],
)
def test_another_origin_changes_nothing_and_signs_nobody_in(ann, library, origin):
    headers = {"origin": origin} if origin else {}
    data = {"csrf": ann.read_csrf(), "id": "10.1000_moss.txt", "note": "mine"}
    assert ann.client.post("/paper/note", data=data, headers=headers).status_code == 403
    other = RemoteBrowser(library, ann)
    data = {"token": other.make_token()}
    assert other.client.post("/sign-in", data=data, headers=headers).status_code == 403
    assert len(ann.access.sessions) == 1


def test_the_form_token_of_somebody_else_is_refused(ann, library):
    bob = RemoteBrowser(library, ann)
    bob.sign_in()
    assert ann.read_csrf() != bob.read_csrf()
    form = {"id": "10.1000_moss.txt", "note": "mine"}
    assert bob.post("/paper/note", csrf=ann.read_csrf(), **form).status_code == 403
    assert bob.post("/paper/note", **form).status_code == 200


@pytest.mark.parametrize("cookie", ["", "x", "é", "A" * 43, "a" * 100_000])
def test_an_invented_cookie_opens_nothing(stranger, ann, library, cookie):
    other = RemoteBrowser(library, ann)
    name = ann.access.cookie_name
    headers = {"cookie": f"{name}={cookie}; papershelf_desk_3011={ann.access.token}".encode()}
    assert other.client.get("/", headers=headers).status_code == 403


def test_a_cookie_is_of_no_use_after_signing_out(ann, library):
    cookie = ann.access.sessions[0].cookie
    bob = RemoteBrowser(library, ann)
    bob.sign_in()
    assert "You are signed out" in ann.post("/sign-out").text
    thief = RemoteBrowser(library, ann)
    headers = {"cookie": f"{ann.access.cookie_name}={cookie}"}
    assert thief.client.get("/", headers=headers).status_code == 403
    assert bob.client.get("/").status_code == 200


@pytest.mark.parametrize(("days", "hours"), [(0.1, 3), (30, 13)])
def test_a_session_ends_with_its_token_and_after_half_a_day(stranger, monkeypatch, days, hours):
    stranger.sign_in(stranger.make_token(days=days))
    assert stranger.client.get("/").status_code == 200
    later = time.time() + hours * 3600
    monkeypatch.setattr(access_module.time, "time", lambda: later)
    headers = {"cookie": f"{stranger.access.cookie_name}={stranger.access.sessions[0].cookie}"}
    assert stranger.client.get("/", headers=headers).status_code == 403


def test_a_token_that_allows_reading_changes_nothing(stranger, library):
    stranger.sign_in(stranger.make_token(["read"]))
    assert stranger.client.get("/paper", params={"id": "10.1000_moss.txt"}).status_code == 200
    for path in ACTIONS:
        answer = stranger.post(path, id="10.1000_moss.txt", note="mine")
        assert (answer.status_code, "reading only" in answer.text) == (403, True)
    assert library.find("10.1000/moss").paper.note == ""
    assert stranger.post("/sign-out").status_code == 200


def test_guesses_are_throttled_and_lock_nobody_out(ann, library, monkeypatch):
    eve = RemoteBrowser(library, ann)
    answers = [eve.sign_in(f"guess {number}").status_code for number in range(25)]
    assert answers == [403] * 20 + [429] * 5
    assert ann.client.get("/").status_code == 200
    assert RemoteBrowser(library, ann).sign_in().status_code == 200
    later = time.time() + 61
    monkeypatch.setattr(access_module.time, "time", lambda: later)
    assert eve.sign_in("guess 26").status_code == 403


def test_what_is_too_long_for_a_token_is_not_read(stranger):
    assert stranger.sign_in("x" * 30_000).status_code == 413
    headers = {"origin": ADDRESS, "content-type": "application/x-www-form-urlencoded"}
    body = iter([b"token=x"])
    answer = stranger.client.post("/sign-in", content=body, headers=headers)
    assert answer.status_code == 411


def test_the_settings_of_the_server_are_not_shown(ann):
    assert ann.client.get("/setup").status_code == 404
    assert 'href="/setup"' not in ann.client.get("/").text
    assert ann.post("/setup/save", PUBMED_EMAIL="a@lab.edu").status_code in (404, 405)


def test_every_response_has_the_headers_that_protect_it(stranger):
    for path in ("/", "/static/desk.css"):
        headers = stranger.client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_a_desk_of_this_computer_has_no_sign_in(library):
    local = TestClient(build_application(library, Access(8765)), base_url="http://127.0.0.1:8765")
    headers = {"origin": "http://127.0.0.1:8765"}
    token = make_token(library.settings, "ann", ["read"], 1)
    assert local.post("/sign-in", data={"token": token}, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "address",
    ["", "papers.lab.edu", "http://papers.lab.edu", "https://papers.lab.edu/desk", "https://",
     "https://a:b@papers.lab.edu", "https://papers.lab.edu?x", "https://*", "javascript:alert(1)"],
)  # fmt: skip
def test_an_address_that_is_not_one_of_https_is_refused(address, library):
    with pytest.raises(BadRequest, match="without a path"):
        read_public_host(address)
    gate = build_token_gate(library.settings, ADDRESS)
    with pytest.raises(BadRequest):
        server.build_server(library, 0, print, address, gate.verify_token)


@pytest.mark.parametrize(
    ("secret", "words"),
    [("", "Set MCP_AUTH_SECRET_KEY to 32 random bytes"), ("x" * 40, "Make one: openssl rand")],
)
def test_without_a_key_a_remote_desk_does_not_start(tmp_path, monkeypatch, capsys, secret, words):
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path))
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", secret)
    assert main(["setup", "desk", "--remote", ADDRESS]) != 0
    assert words in capsys.readouterr().err


def test_a_remote_desk_listens_where_the_setting_says(tmp_path):
    settings = {"papers_dir": tmp_path, "mcp_auth_secret_key": SECRET}
    library, found = Library(**settings, mcp_http_host="127.0.0.1"), []
    verify = build_token_gate(library.settings, ADDRESS).verify_token
    made = server.build_server(library, 0, found.append, f"{ADDRESS}:443/", verify)
    assert found == [ADDRESS]
    assert made._listening.getsockname()[0] == "127.0.0.1"
    made._listening.close()
