"""Who comes in over HTTP, and how the others are told where to get a token."""

import base64
import hashlib
import hmac
import json
import time

import httpx2
import pytest
from fastmcp import Client
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey, RSAKey
from mcp import MCPError

from tests.endpoint import SECRET, Endpoint
from utils import Library
from utils.__main__ import main
from utils.demo.wire import JSON, Listener, Reply
from utils.errors import BadRequest, NotConfigured
from utils.mcp.auth import build_token_gate
from utils.settings import load_settings

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
OWN = "http://127.0.0.1:3010/mcp"
WRITING = {
    "download_paper": {"pmid": "31452104"}, "download_papers": {"papers": ["31452104"]},
    "read_papers": {"papers": ["31452104"]}, "harvest_papers": {"query": "coral"},
    "pubmed_sync_delta": {"query_key": "reef", "term": "coral"},
    "corpus_checkpoint_set": {"query_key": "reef", "last_edat": "2025-01-01"},
    "entrez_data": {"operation": "fetch_and_stage", "term": "coral"},
    "paper_objects": {"paper": "31452104"}, "update_review": {"review": "reef"},
    "watch_literature": {"watch": "coral"},
    "zotero_push": {"job_id": "reef"},
}  # fmt: skip


@pytest.fixture
def endpoint(settings):
    library = Library(**settings, mcp_auth_secret_key=SECRET, mcp_toolsets=("all",))
    with Endpoint(library) as endpoint:
        yield endpoint


def claims(**changes):
    now = int(time.time())
    usual = {"iss": "papershelf", "aud": "papershelf", "sub": "alice", "scope": "read download"}
    whole = {**usual, "iat": now, "nbf": now, "exp": now + 600, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def signed(secret=SECRET, alg="HS256", **changes):
    return jwt.encode({"alg": alg}, claims(**changes), OctKey.import_key(secret), algorithms=[alg])


def test_a_token_of_ours_comes_in(endpoint):
    assert endpoint.post(endpoint.token()).status_code == 200
    assert endpoint.post(signed()).status_code == 200


def test_without_a_token_the_answer_says_where_to_get_one(endpoint):
    answer = endpoint.post()
    assert answer.status_code == 401
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer ")
    assert "error=" not in challenge
    assert 'scope="read download"' in challenge
    where = challenge.split('resource_metadata="')[1].split('"')[0]
    metadata = httpx2.get(where).json()
    assert metadata["resource"] == endpoint.url
    assert metadata["scopes_supported"] == ["read", "download"]
    assert metadata["bearer_methods_supported"] == ["header"]


def test_a_token_that_only_reads_does_not_come_in_without_the_scope_to_read(endpoint):
    answer = endpoint.post(signed(scope="download"))
    assert answer.status_code == 403
    assert "insufficient_scope" in answer.headers["www-authenticate"]


@pytest.mark.anyio
@ERAS
async def test_scopes_say_which_tools_there_are(endpoint, mode, world):
    async with Client(endpoint.url, auth=endpoint.token(), mode=mode) as client:
        listed = await client.list_tools()
        everything = {tool.name for tool in listed}
        assert {tool.name for tool in listed if not tool.annotations.read_only_hint} == set(WRITING)
    async with Client(endpoint.url, auth=endpoint.token("read"), mode=mode) as client:
        assert {tool.name for tool in await client.list_tools()} == everything - set(WRITING)
        for name, arguments in WRITING.items():
            with pytest.raises(MCPError, match="needs a token with the scope download") as refused:
                await client.call_tool(name, arguments)
            assert refused.value.data["error"]["code"] == "VALIDATION"
        assert (await client.call_tool("list_papers", {})).structured_content["total"] == 0
    assert not world.requests


def calling(tool, **more):
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, **more}}


def test_a_call_beyond_its_scope_is_told_which_one_to_get(endpoint):
    answer = endpoint.post(endpoint.token("read"), calling("download_paper", arguments={}))
    assert answer.status_code == 403
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith('Bearer error="insufficient_scope"')
    assert 'scope="read download"' in challenge
    assert f'resource_metadata="{endpoint.base}/.well-known' in challenge
    told = answer.json()
    assert told["id"] == 7
    assert told["error"]["data"]["error"]["suggestions"]


@pytest.mark.parametrize(
    "body",
    [
        calling("list_papers", arguments={}),
        calling("nonsense", arguments={}),
        calling(["download_paper"]),
        {**calling("download_paper"), "method": "tools/list"},
        {**calling("download_paper"), "params": "download_paper"},
        [calling("download_paper")],
        b"[" * 50_000,
        b"not json",
    ],
    ids=range(8),
)
def test_whatever_is_no_such_call_is_judged_by_others(endpoint, body):
    assert endpoint.post(endpoint.token("read"), body).status_code in {200, 400}


def test_the_scope_is_asked_only_of_who_has_a_token(endpoint):
    call = calling("download_paper", arguments={})
    assert endpoint.post("", call).status_code == 401
    assert endpoint.post(signed(exp=1), call).status_code == 401
    assert endpoint.post(endpoint.token(), call).status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MCP_AUTH_SECRET_KEY", "", "MCP_AUTH_SECRET_KEY"),
        ("MCP_AUTH_SECRET_KEY", "${user_config.key}", "MCP_AUTH_SECRET_KEY"),
        ("MCP_AUTH_SECRET_KEY", "a" * 31, "32"),
        ("MCP_AUTH_SECRET_KEY", "a" * 64, "guessed"),
        ("MCP_AUTH_JWKS_URI", "https://id.lab.edu/keys", "MCP_AUTH_ISSUER"),
    ],
)
def test_a_gate_that_cannot_be_guarded_is_not_opened(monkeypatch, name, value, says):
    monkeypatch.setenv(name, value)
    with pytest.raises((NotConfigured, BadRequest), match=says) as refused:
        build_token_gate(load_settings(), OWN)
    assert refused.value.exit_code == 2
    assert refused.value.hint


def test_there_is_one_way_in_not_two():
    both = load_settings(mcp_auth_secret_key=SECRET, mcp_auth_jwks_uri="https://id.lab.edu/keys")
    with pytest.raises(BadRequest, match="both"):
        build_token_gate(both, OWN)


def test_public_keys_come_over_https(monkeypatch):
    monkeypatch.setenv("MCP_AUTH_JWKS_URI", "http://id.lab.edu/keys")
    with pytest.raises(BadRequest, match="MCP_AUTH_JWKS_URI"):
        load_settings()


class Provider:
    """An identity provider: some keys, published on loopback."""

    issuer = "https://id.lab.edu"

    def __init__(self):
        self.keys = {
            "RS256": RSAKey.generate_key(2048, {"kid": "r"}),
            "ES256": ECKey.generate_key("P-256", {"kid": "e"}),
        }
        published = KeySet(list(self.keys.values())).as_dict(private=False)
        self.document = json.dumps(published).encode()

    def token(self, alg="RS256", **changes):
        key = self.keys[alg]
        whole = claims(**{"iss": self.issuer, "aud": "https://papers.lab.edu/mcp", **changes})
        return jwt.encode({"alg": alg, "kid": key.kid}, whole, key, algorithms=[alg])  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def provider():
    provider = Provider()
    listener = Listener(0, lambda _: Reply(200, provider.document, JSON))
    listener.open()
    provider.uri = f"{listener.url}/keys"  # type: ignore[attr-defined]
    yield provider
    listener.close()


@pytest.fixture
def gate(provider):
    settings = load_settings(
        mcp_auth_jwks_uri=provider.uri,
        mcp_auth_issuer=provider.issuer,
        mcp_auth_audience="https://papers.lab.edu/mcp",
    )
    return build_token_gate(settings, OWN)


@pytest.mark.anyio
@pytest.mark.parametrize("alg", ["RS256", "ES256"])
async def test_tokens_of_an_identity_provider_come_in(gate, provider, alg):
    access = await gate.verify_token(provider.token(alg))
    assert access.subject == "alice"
    assert access.scopes == ["read", "download"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://id.evil.example"},
        {"aud": "https://other.lab.edu/mcp"},
        {"aud": None},
        {"exp": None},
        {"exp": 1},
        {"nbf": 4_102_444_800},
    ],
)
async def test_tokens_for_others_or_other_times_do_not(gate, provider, changes):
    assert await gate.verify_token(provider.token(**changes)) is None


@pytest.mark.anyio
async def test_a_public_key_is_no_shared_secret(gate, provider):
    """The classic: sign with HS256, and the published key as the secret."""
    public = provider.keys["RS256"].as_pem(private=False).decode()
    assert await gate.verify_token(hand_signed({"alg": "HS256", "kid": "r"}, public)) is None


def test_metadata_names_the_public_address_and_who_issues_tokens(provider, settings):
    known = {
        "mcp_auth_jwks_uri": provider.uri,
        "mcp_auth_issuer": provider.issuer,
        "mcp_auth_audience": "https://papers.lab.edu/mcp",
    }
    with Endpoint(Library(**settings, **known)) as endpoint:
        behind = {"host": "papers.lab.edu"}
        path = "/.well-known/oauth-protected-resource/mcp"
        metadata = endpoint.get(path, **behind).json()
        challenge = endpoint.post(host="papers.lab.edu").headers["www-authenticate"]
        assert endpoint.post(provider.token(), host="papers.lab.edu").status_code == 200
    assert metadata["resource"] == "https://papers.lab.edu/mcp"
    assert metadata["authorization_servers"] == [provider.issuer]
    assert f"https://papers.lab.edu{path}" in challenge


def hand_signed(header, secret, **changes):
    """A token as somebody makes it who keeps to no library's rules."""
    parts = [part(header), part(claims(**changes))]
    mac = hmac.new(secret.encode(), ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, base64.urlsafe_b64encode(mac).decode().rstrip("=")])


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def test_the_command_makes_a_token(monkeypatch, capsys, endpoint):
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    monkeypatch.setattr(
        "sys.argv", ["server.py", "token", "bob", "--scopes", "read", "--days", "1"]
    )
    assert main() == 0
    token = capsys.readouterr().out.strip()
    made = jwt.decode(token, OctKey.import_key(SECRET), algorithms=["HS256"]).claims
    assert made["sub"] == "bob"
    assert made["scope"] == "read"
    assert made["exp"] - made["iat"] == 86_400
    assert endpoint.post(token).status_code == 200


@pytest.mark.parametrize("extra", [["--scopes", "admin"], ["--days", "0"], ["--days", "9999"]])
def test_the_command_makes_no_token_that_is_of_no_use(monkeypatch, capsys, extra):
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", SECRET)
    monkeypatch.setattr("sys.argv", ["server.py", "token", "bob", *extra])
    assert main() == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert SECRET not in shown.err


def test_the_command_needs_the_secret(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["server.py", "token", "bob"])
    assert main() == 2
    assert "MCP_AUTH_SECRET_KEY" in capsys.readouterr().err
