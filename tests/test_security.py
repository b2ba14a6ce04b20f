"""What an attacker tries: forged tokens, foreign pages, huge and endless bodies, paths out of the
shelf. (What keys leave behind is searched in test_key_leaks.py.)
"""

import json
import socket
import time

import pytest
from fastmcp import Client
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.endpoint import SECRET, Endpoint
from tests.mcp.test_auth import claims, hand_signed, part, signed
from tests.processes import LAST_RESORT_S
from utils import Library
from utils.mcp import build, http


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Where the shelf behind the door lies."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def endpoint(_running_world, home):
    """One door for all who are turned away at it."""
    addresses = {name.lower(): value for name, value in _running_world.environment().items()}
    folders = {"papers_dir": home / "papers", "papers_pace_dir": home / "pace"}
    library = Library(
        **addresses, **folders, mcp_auth_secret_key=SECRET, mcp_toolsets=("all",)
    )  # fmt: skip
    with Endpoint(library) as endpoint:
        yield endpoint


# Tokens


def test_a_token_made_by_hand_with_the_secret_comes_in(endpoint):
    """Else the refusals below would prove nothing."""
    assert endpoint.post(hand_signed({"alg": "HS256"}, SECRET)).status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"exp": "4102444800"},
        {"exp": float("inf")},
        {"exp": float("nan")},
        {"nbf": 4_102_444_800},
        {"nbf": "soon"},
        {"aud": "somebody-else"},
        {"aud": None},
        {"aud": ["a", "b"]},
        {"iss": "somebody-else"},
        {"iss": None},
    ],
    ids=str,
)
def test_claims_that_are_not_for_us_or_not_for_now(endpoint, changes):
    answer = endpoint.post(hand_signed({"alg": "HS256"}, SECRET, **changes))
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def forged():
    good = signed()
    head, body, mac = good.split(".")
    more = part(claims(sub="root"))
    yield "another secret", signed("another secret, as long as the first one")
    yield "none", f"{part({'alg': 'none', 'typ': 'JWT'})}.{body}."
    yield "None", f"{part({'alg': 'None'})}.{body}.{mac}"
    yield "no algorithm", f"{part({})}.{body}.{mac}"
    yield "algorithm list", f"{part({'alg': ['HS256']})}.{body}.{mac}"
    yield "HS512", signed(alg="HS512")
    yield "claims changed", f"{head}.{more}.{mac}"
    yield "signature cut", f"{head}.{body}.{mac[:20]}"
    yield "signature gone", f"{head}.{body}."
    yield "two parts", f"{head}.{body}"
    yield "critical header", hand_signed({"alg": "HS256", "crit": ["x"], "x": 1}, SECRET)
    rsa = RSAKey.generate_key(2048)
    yield "RS256", jwt.encode({"alg": "RS256"}, claims(), rsa, algorithms=["RS256"])
    own = {"alg": "HS256", "jwk": {"kty": "oct", "k": part({})}}
    yield "its own key", hand_signed(own, "brought along, and long enough to be one")
    yield "nested", f"{part(json.loads('[' * 500 + ']' * 500))}.{body}.{mac}"
    yield "not base64", "~.b.c"
    yield "nothing", "..."
    yield "the secret itself", SECRET.replace(" ", "-")


@pytest.mark.parametrize("token", [pytest.param(token, id=name) for name, token in forged()])
def test_forged_tokens(endpoint, token):
    assert endpoint.post(token).status_code == 401


@pytest.mark.parametrize("where", ["?access_token=", "?token="])
def test_a_token_in_the_address_is_no_token(endpoint, where):
    import httpx2

    answer = httpx2.post(f"{endpoint.url}{where}{endpoint.token()}", json={})
    assert answer.status_code == 401


def test_a_valid_token_of_another_scheme_is_no_token(endpoint):
    assert endpoint.post(authorization=f"Basic {endpoint.token()}").status_code == 401


# Pages and names


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:3010", "127.0.0.1.evil.example", "169.254.169.254", ""]
)
@pytest.mark.parametrize("path", ["/mcp", "/healthz", "/.well-known/oauth-protected-resource/mcp"])
def test_a_name_that_was_rebound_to_us_is_not_ours(endpoint, path, host):
    assert endpoint.get(path, host=host).status_code == 421
    assert endpoint.post(endpoint.token(), host=host).status_code == 421


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "file://", "http://127.0.0.1.evil.example"]
)
@pytest.mark.parametrize("path", ["/mcp", "/healthz"])
def test_foreign_pages(endpoint, path, origin):
    assert endpoint.get(path, origin=origin).status_code == 403
    assert endpoint.post(endpoint.token(), origin=origin).status_code == 403


# Bodies


def raw(endpoint, head, *chunks, pause=0.0):
    """What comes back for bytes sent by hand."""
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=LAST_RESORT_S) as line:
        line.sendall(head.encode())
        try:
            for chunk in chunks:
                line.sendall(chunk)
                time.sleep(pause)
            answer = line.recv(65_536)
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
    return answer


def head(endpoint, *more, token=None):
    token = endpoint.token() if token is None else token
    fixed = "POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"
    return "\r\n".join([*fixed, f"Authorization: Bearer {token}", *more, "", ""])


@pytest.mark.parametrize("size", [http.BODY_MAX_BYTES + 1, 20_000_000])
def test_a_huge_body_is_refused(endpoint, size):
    assert endpoint.post(endpoint.token(), b" " * size).status_code == 413
    assert endpoint.post(endpoint.token()).status_code == 200


def test_a_body_of_unknown_length_is_counted(endpoint):
    chunk = b"%x\r\n" % 65_536 + b" " * 65_536 + b"\r\n"
    asked = head(endpoint, "Transfer-Encoding: chunked")
    answer = raw(endpoint, asked, *[chunk] * 40)
    assert b" 413 " in answer or answer == b""
    assert endpoint.get("/healthz").status_code == 200


def test_without_a_token_no_body_is_read(endpoint):
    answer = raw(endpoint, head(endpoint, "Content-Length: 900000", token="guess"), b"{")
    assert b" 401 " in answer


@pytest.mark.real_time
def test_a_body_that_never_ends_is_given_up(endpoint, monkeypatch):
    monkeypatch.setattr(http, "BODY_TIMEOUT_S", 0.5)
    answer = raw(endpoint, head(endpoint, "Content-Length: 1000"), b"{")
    assert b" 408 " in answer
    assert b"connection: close" in answer.lower()


def test_a_request_that_is_not_json_is_an_answer_not_a_crash(endpoint):
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc": "2.0"}', b"null"):
        assert 400 <= endpoint.post(endpoint.token(), body).status_code < 500


# Paths


def ways_out():
    for step in ("..", "%2e%2e", "..%2f..", "%2e%2e%2f", "..\\", "....//"):
        yield f"papers://report/{step}"
        yield f"papers://report/{step}/{step}/etc/passwd"
        yield f"papers://{step}/secret"
    yield "papers://report//etc/passwd"
    yield "papers://report/%2fetc%2fpasswd"
    yield "papers://report/x%00"
    yield "papers://report/.papershelf"
    for place in ("secret", "secret.txt", "../secret", "..%2fsecret", "reports/report.html"):
        yield f"papers://{place}"
    yield "resource://pubmed/paper/../../secret"
    yield "resource://pubmed/paper/%2e%2e%2fsecret"
    yield "file:///etc/passwd"


@pytest.fixture
def outside(tmp_path, home):
    """What lies around the shelves, under every name a report could be looked for."""
    for around in (tmp_path, home):
        for place in (around, around / "papers", around / "papers" / "reports"):
            place.mkdir(exist_ok=True)
            for name in ("report.html", "secret", "secret.txt"):
                (place / name).write_text("OUTSIDE", encoding="utf-8")


@pytest.mark.parametrize("uri", list(ways_out()))
def test_resource_addresses_do_not_lead_out_of_the_shelf(endpoint, outside, uri):
    """Sent by hand, since a client's library would tidy the address first."""
    body = {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": uri}}
    answer = endpoint.post(endpoint.token(), body)
    assert "OUTSIDE" not in answer.text
    assert "root:" not in answer.text
    assert '"error"' in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_paper", {"paper": "../secret.txt"}),
        ("read_paper", {"paper": "/etc/passwd"}),
        ("download_paper", {"pmid": "31452104", "output_path": "../out.txt"}),
        ("download_paper", {"pmid": "31452104", "output_path": "/tmp/out.txt"}),
        ("harvest_status", {"job_id": "../../secret"}),
        ("harvest_papers", {"job_id": "../.papershelf"}),
    ],
)
async def test_arguments_do_not_lead_out_of_the_shelf(library, outside, tool, arguments, tmp_path):
    async with Client(build(library)) as client:
        done = await client.call_tool(tool, arguments, raise_on_error=False)
    assert done.is_error
    assert "OUTSIDE" not in str(done.structured_content)
    assert not (tmp_path / "out.txt").exists()
