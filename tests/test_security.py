"""What an attacker tries: forged tokens, foreign pages, huge and endless bodies, paths out of the
shelf, and the search for keys in every log, error and file of a run.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.endpoint import SECRET, Endpoint
from tests.tools.test_auth import claims, hand_signed, part, signed
from tests.tools.test_http import Process
from tests.world.eutils import KEY
from utils import Library
from utils.settings import load_settings
from utils.tools import build, http
from utils.tools.auth import make_token

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def endpoint(settings):
    library = Library(**settings, mcp_auth_secret_key=SECRET, mcp_toolsets=("all",))
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
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=20) as line:
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


@pytest.mark.parametrize("size", [http.LARGEST_BODY + 1, 20_000_000])
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
    monkeypatch.setattr(http, "LONGEST_BODY_S", 0.5)
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
def outside(tmp_path):
    """What lies around the shelf, under every name a report could be looked for."""
    for place in (tmp_path, tmp_path / "papers", tmp_path / "papers" / "reports"):
        place.mkdir(exist_ok=True)
        for name in ("report.html", "secret", "secret.txt"):
            (place / name).write_text("OUTSIDE")


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


# Keys

PLANTED = {
    "pubmed_email": "pl4nted.person@lab.edu",
    "ncbi_api_key": "pl4nted-ncbi-0001",
    "jina_api_key": "pl4nted-jina+0002/=",
    "mcp_auth_secret_key": "pl4nted secret of the HTTP door, 0003!",
}


def traces():
    """Every spelling a planted secret could have."""
    for secret in PLANTED.values():
        yield secret
        yield quote(secret)
        yield quote(secret, safe="")
        yield json.dumps(secret)[1:-1]


def leaks(text):
    return sorted({trace for trace in traces() if trace.lower() in text.lower()})


async def scripted(client, world):
    """A run that meets what a user meets, and everything that can go wrong on the way."""
    answers = []

    async def call(name, **arguments):
        done = await client.call_tool(name, arguments, raise_on_error=False)
        answers.append(str(done.structured_content) + str(done.content) + str(done.meta))

    await call("search_pubmed", query="CXCL12")
    await call("search_pubmed", query="((")
    for name in ("pmc_cloud", "publisher_pdf", "paywall"):
        await call("download_paper", pmid=world.paper(name).pmid)
    await call("download_paper", pmid="99999999")
    await call("harvest_papers", ids=[world.paper("pmc_cloud").pmid])
    pmid = world.paper("pmc_cloud").pmid
    await call("search_pubmed_articles", query_term="CXCL12", fetch_brief_summaries=5)
    await call("fetch_article_details", pmids=[pmid, "99999999"])
    await call("convert_ids", ids=[pmid])
    # Else there was nothing to leak.
    sent = {value for request in world.requests for value in request.params.values()}
    assert {PLANTED["ncbi_api_key"], PLANTED["pubmed_email"]} <= sent
    for mood in ("down", "storm", "garbage", "reset"):
        world.mood(mood, seconds=0)
        await call("search_pubmed", query=f"coral {mood}")
        await call("download_paper", pmid=world.paper("arxiv").pmid, force=True)
        world.reset()
    await call("no_such_tool")
    return "".join(answers)


@pytest.fixture
def planted(settings, tmp_path):
    """NCBI refuses the planted key, and repeats it in its answer."""
    more = {"logs_dir": tmp_path / "logs", "mcp_log_level": "debug", "ncbi_max_retries": 1}
    more["mcp_toolsets"] = "all"
    return {**settings, **PLANTED, **more}


def environment(settings):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, **{name.upper(): str(value) for name, value in settings.items()}}


def kept(*folders):
    """Every byte a run has left, names included."""
    found = {
        path: path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert found
    return "".join(f"{path}\n{data.decode('latin-1')}\n" for path, data in found.items())


def test_the_search_for_leaks_finds_one(tmp_path):
    (tmp_path / "x").write_text(f"GET /?api_key={quote(PLANTED['jina_api_key'], safe='')}")
    assert leaks(kept(tmp_path))


@pytest.mark.real_time
@pytest.mark.anyio
async def test_no_key_leaves_over_http(planted, world, tmp_path, monkeypatch):
    # A key that NCBI takes, so that searches and downloads go all the way.
    monkeypatch.setitem(PLANTED, "ncbi_api_key", KEY)
    planted |= PLANTED
    token = make_token(load_settings(**planted), "alice", ["read", "download"], 1)
    with Process(planted) as process:
        async with Client(process.url, auth=token) as client:
            answers = await scripted(client, world)
        process.end(signal.SIGTERM)
    logs = (tmp_path / "logs" / "papershelf.log").read_text()
    assert '"tool": "download_paper"' in logs
    everything = (
        answers + process.said + kept(*(tmp_path / name for name in ("papers", "pace", "logs")))
    )
    assert leaks(everything) == []
    assert token not in everything


@pytest.mark.real_time
@pytest.mark.anyio
async def test_no_key_leaves_over_stdio(planted, world, tmp_path):
    errors = tmp_path / "stderr"
    server = [str(ROOT / "server.py")]
    transport = StdioTransport(
        sys.executable, server, env=environment(planted), log_file=errors, keep_alive=False
    )
    async with Client(transport, mode="legacy") as client:
        answers = await scripted(client, world)
    said = errors.read_text()
    assert '"tool": "download_paper"' in said
    folders = (tmp_path / name for name in ("papers", "pace", "logs"))
    assert leaks(answers + said + kept(*folders)) == []


@pytest.mark.real_time
def test_no_key_leaves_through_the_shell(planted, world, tmp_path):
    def run(*arguments):
        done = subprocess.run(
            [sys.executable, str(ROOT / "server.py"), *arguments],
            env=environment(planted),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.stdout + done.stderr

    pmid = world.paper("pmc_cloud").pmid
    said = run("search", "CXCL12", "--json") + run("harvest", pmid, world.paper("paywall").pmid)
    world.mood("garbage")
    said += run("search", "coral") + run("download", "99999999", "--json")
    world.reset()
    # The address is shown to whoever asks for the settings; keys are not.
    shown = run("settings", "--json") + run("doctor")
    keys = [trace for trace in leaks(shown) if "person" not in trace]
    folders = (tmp_path / name for name in ("papers", "pace", "logs"))
    assert leaks(said + kept(*folders)) == []
    assert keys == []
