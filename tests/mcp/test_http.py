"""MCP over HTTP: the same tools in both eras, bounds for callers, two processes on one shelf."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import anyio
import httpx2
import jsonschema
import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport

from tests import processes
from tests.endpoint import SECRET, Endpoint
from utils import Library
from utils.errors import BadRequest, NotConfigured
from utils.mcp import http, tool
from utils.mcp.auth import READ_SCOPE, make_token
from utils.settings import load_settings

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
SERVER = str(Path(__file__).resolve().parents[2] / "server.py")


@pytest.fixture
def endpoint(settings):
    with Endpoint(Library(**settings, mcp_auth_secret_key=SECRET)) as endpoint:
        yield endpoint


@pytest.mark.anyio
@ERAS
async def test_a_host_searches_downloads_and_reads(endpoint, world, mode):
    pmid = world.paper("pmc_cloud").pmid
    async with Client(endpoint.url, auth=endpoint.token(), mode=mode) as client:
        assert (client.protocol_version == "2026-07-28") == (mode == "auto")
        schemas = {tool.name: tool.output_schema for tool in await client.list_tools()}
        for name, arguments in (
            ("search_pubmed", {"query": "CXCL12"}),
            ("download_paper", {"pmid": pmid}),
            ("read_paper", {"paper": pmid, "section": "abstract"}),
            ("list_papers", {}),
        ):
            done = await client.call_tool(name, arguments)
            jsonschema.validate(done.structured_content, schemas[name])
        assert done.structured_content["total"] == 1


@pytest.mark.anyio
@ERAS
async def test_errors_are_the_envelope(endpoint, mode):
    async with Client(endpoint.url, auth=endpoint.token(), mode=mode) as client:
        done = await client.call_tool("search_pubmed", {"query": ""}, raise_on_error=False)
    assert done.is_error
    assert done.meta["error"]["code"] == "VALIDATION"


@pytest.mark.anyio
@ERAS
async def test_the_official_client_is_served_too(endpoint, world, mode):
    from mcp import Client as Official
    from mcp.client.streamable_http import streamable_http_client

    sent = {"authorization": f"Bearer {endpoint.token()}"}
    async with httpx2.AsyncClient(headers=sent, timeout=60) as wire:
        transport = streamable_http_client(endpoint.url, http_client=wire)
        async with Official(transport, mode=mode) as client:
            assert (client.protocol_version == "2026-07-28") == (mode == "auto")
            assert len((await client.list_tools()).tools) >= 8
            pmid = world.paper("pmc_cloud").pmid
            done = await client.call_tool("download_paper", {"pmid": pmid})
            assert done.structured_content["kind"] == "full_text"
            assert (await client.call_tool("search_pubmed", {"query": ""})).is_error


@pytest.mark.anyio
@ERAS
async def test_progress_comes_while_a_harvest_is_watched(endpoint, world, mode):
    told = []

    async def tell(done, total, message):
        told.append((done, total))

    world.mood("slow_headers")  # so that there is something to watch
    pmids = [record.pmid for record in world.papers if record.pmid][:2]
    async with Client(endpoint.url, auth=endpoint.token(), mode=mode) as client:
        begun = await client.call_tool("harvest_papers", {"ids": pmids})
        job = {"job_id": begun.structured_content["job_id"], "wait_s": 2}
        await client.call_tool("harvest_status", job, progress_handler=tell)
        # It would go on in the next test.
        world.calm()
        state = "running"
        while state == "running":
            state = (await client.call_tool("harvest_status", job)).structured_content["state"]
            await anyio.sleep(0.1)
    assert told
    assert {total for _, total in told} == {len(pmids)}


@pytest.mark.anyio
@ERAS
async def test_what_takes_too_long_is_answered_with_what_there_is_and_goes_on(
    settings, world, monkeypatch, mode
):
    assert tool.MAX_ANSWER_S <= 20
    monkeypatch.setattr(tool, "MAX_ANSWER_S", 0.2)
    monkeypatch.setattr(tool, "_PROGRESS_INTERVAL_S", 0.05)
    told = []

    async def tell(done, total, message):
        told.append((done, message))

    gate = threading.Event()
    for name in ("download", "search"):
        monkeypatch.setattr(Library, name, _after(gate, getattr(Library, name)))
    pmid = world.paper("pmc_cloud").pmid
    with Endpoint(Library(**settings, mcp_auth_secret_key=SECRET)) as endpoint:
        async with Client(endpoint.url, auth=endpoint.token(), mode=mode) as client:
            early = await client.call_tool("download_paper", {"pmid": pmid}, progress_handler=tell)
            assert told == [(n, "a source keeps us waiting") for n in (1, 2, 3, 4)]
            assert early.structured_content["success"] is False
            assert "same arguments" in early.structured_content["message"]
            none = await client.call_tool("search_pubmed", {"query": "a"}, raise_on_error=False)
            assert none.meta["error"]["code"] == "UPSTREAM"
            assert "same arguments" in none.meta["error"]["suggestions"][0]
            gate.set()
            done = early
            while not done.structured_content["success"]:
                done = await client.call_tool("download_paper", {"pmid": pmid})
            assert done.structured_content["kind"] == "full_text"


def _after(gate, verb):
    def held(*args, **options):
        assert gate.wait(60)
        return verb(*args, **options)

    return held


def test_a_call_is_answered_without_listing_all_tools_first(endpoint, monkeypatch):
    listed = []
    list_tools = FastMCP.list_tools

    async def counted(self, **options):
        listed.append(1)
        return await list_tools(self, **options)

    monkeypatch.setattr(FastMCP, "list_tools", counted)
    modern = "io.modelcontextprotocol/"
    meta = {f"{modern}protocolVersion": "2026-07-28", f"{modern}clientCapabilities": {}}
    call = {"name": "list_papers", "arguments": {"kind": "abstract"}, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    routed = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call"}
    answer = endpoint.post(endpoint.token(), body, mcp_name="list_papers", **routed)
    assert answer.json()["result"]["structuredContent"]["total"] == 0
    assert not listed


def test_no_request_needs_an_earlier_one(endpoint):
    call = {"name": "list_papers", "arguments": {}}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    answer = endpoint.post(endpoint.token(), body)
    assert answer.status_code == 200
    assert "mcp-session-id" not in answer.headers
    assert "total: 0" in answer.text


def test_the_health_page_is_open_and_says_nothing_else(endpoint):
    answer = endpoint.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}
    told = " ".join(f"{name}: {value}" for name, value in answer.headers.items()).lower()
    assert "uvicorn" not in told
    assert "papershelf" not in told


@pytest.mark.parametrize(
    ("sent", "echoed"),
    [("7", 7), ('"a7"', "a7"), ("NaN", None), ('"\\ud800"', None), ("[1]", None), ("true", None)],
)
def test_who_needs_another_scope_is_told_whatever_the_request_is_called(endpoint, sent, echoed):
    call = '{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "download_paper"}, "id": '
    refused = httpx2.post(
        endpoint.url,
        content=f"{call}{sent}}}",
        headers={
            "authorization": f"Bearer {endpoint.token(READ_SCOPE)}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        },
    )
    assert refused.status_code == 403
    assert refused.json()["id"] == echoed


def test_pages_of_other_origins_may_call_only_when_listed(settings):
    listed = "https://ui.lab.edu"
    library = Library(**settings, mcp_auth_secret_key=SECRET, mcp_allowed_origins=(listed,))
    asking = {"access-control-request-method": "POST", "access-control-request-headers": "mcp-name"}
    with Endpoint(library) as endpoint:
        preflight = httpx2.options(endpoint.url, headers={**asking, "origin": listed})
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == listed
        answer = endpoint.post(endpoint.token(), origin=listed)
        assert answer.headers["access-control-allow-origin"] == listed
        assert "access-control-allow-credentials" not in answer.headers
        refused = endpoint.post(endpoint.token(), origin="https://evil.example")
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


def test_nobody_is_listed_by_default(endpoint):
    answer = endpoint.post(endpoint.token(), origin="http://127.0.0.1:5173")
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origins", ["*", "https://*.lab.edu", "ui.lab.edu", "https://lab.edu/x"])
def test_origins_are_listed_whole(monkeypatch, origins):
    monkeypatch.setenv("MCP_ALLOWED_ORIGINS", origins)
    with pytest.raises(BadRequest, match="MCP_ALLOWED_ORIGINS"):
        load_settings()


def test_one_caller_is_slowed_down_and_the_others_are_not(endpoint, monkeypatch):
    monkeypatch.setattr(http, "BURST_REQUESTS", 3)
    monkeypatch.setattr(
        http, "REQUESTS_PER_S", 0.001
    )  # a turn is further away than `QUEUE_TIMEOUT_S`
    alice, bob = endpoint.token(subject="alice"), endpoint.token(subject="bob")
    statuses = [endpoint.post(alice).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]
    assert endpoint.post(endpoint.token(subject="alice", days=2)).status_code == 429
    assert int(endpoint.post(alice).headers["retry-after"]) > 0
    assert endpoint.post(bob).status_code == 200


def test_who_guesses_tokens_takes_no_turn_of_those_who_have_one(endpoint, monkeypatch):
    monkeypatch.setattr(http, "BURST_REQUESTS", 3)
    monkeypatch.setattr(http, "REQUESTS_PER_S", 0.001)
    guesses = [endpoint.post(f"guess{number}").status_code for number in range(5)]
    assert guesses == [401, 401, 401, 429, 429]
    assert endpoint.post(endpoint.token()).status_code == 200


class Held:
    """`CallerLimiter` before an application that answers nothing until `go_on` is set."""

    def __init__(self) -> None:
        self.go_on, self.served, self.refused = anyio.Event(), [], []
        self.shares = http.CallerLimiter(self._serve)

    async def _serve(self, scope, receive, send):
        self.served.append(scope["client"][0])
        await self.go_on.wait()

    async def ask(self, client, token=""):
        async def send(message):
            if message["type"] == "http.response.start":
                self.refused.append((message["status"], dict(message["headers"])))

        user = SimpleNamespace(access_token=SimpleNamespace(client_id=token, subject=token))
        scope = {"type": "http", "client": (client, 1), "headers": [], "method": "POST"}
        await self.shares(scope | ({"user": user} if token else {}), None, send)


@pytest.mark.anyio
async def test_fifty_calls_at_once_are_all_served_in_turn_and_take_not_every_worker():
    held = Held()
    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(held.ask, "a", "alice")
        await anyio.wait_all_tasks_blocked()
        assert held.served == ["a"] * http.MAX_CONCURRENT_REQUESTS
        group.start_soon(held.ask, "b", "bob")
        await anyio.wait_all_tasks_blocked()
        assert held.served[-1] == "b"
        held.go_on.set()
    assert (len(held.served), held.refused) == (51, [])


@pytest.mark.anyio
async def test_requests_without_a_token_do_not_wait_for_a_slot():
    held = Held()
    async with anyio.create_task_group() as group:
        for _ in range(http.MAX_CONCURRENT_REQUESTS):
            group.start_soon(held.ask, "a")
        await anyio.wait_all_tasks_blocked()
        await held.ask("a")
        [(status, headers)] = held.refused
        assert (status, headers[b"retry-after"]) == (429, b"2")
        held.go_on.set()


@pytest.mark.anyio
async def test_a_queue_has_an_end_in_length_and_in_time(monkeypatch):
    monkeypatch.setattr(http, "MAX_CONCURRENT_REQUESTS", 1)
    monkeypatch.setattr(http, "MAX_QUEUED_REQUESTS", 2)
    held = Held()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(held.ask, "a", "alice")
        await anyio.wait_all_tasks_blocked()
        await held.ask("a", "alice")
        assert [status for status, _ in held.refused] == [429]
        held.go_on.set()
    assert len(held.served) == 3
    held = Held()
    monkeypatch.setattr(http, "QUEUE_TIMEOUT_S", 0.01)
    async with anyio.create_task_group() as group:
        group.start_soon(held.ask, "a", "alice")
        await anyio.wait_all_tasks_blocked()
        await held.ask("a", "alice")
        assert [status for status, _ in held.refused] == [429]
        held.go_on.set()


def test_turns_come_back_with_time():
    shares = http.CallerLimiter(None)
    share = shares._get_limits("alice")
    share.tokens = 0
    wait = shares._reserve_turn(share)
    assert 0 < wait <= 1 / http.REQUESTS_PER_S
    share.updated_at -= 2
    assert shares._reserve_turn(share) == 0
    assert share.tokens == pytest.approx(2 * http.REQUESTS_PER_S - 1, abs=1)
    share.tokens = 0
    waits = [shares._reserve_turn(share, http.QUEUE_TIMEOUT_S) for _ in range(3)]
    assert waits == pytest.approx([n / http.REQUESTS_PER_S for n in (1, 2, 3)], abs=0.05)


def test_callers_are_not_remembered_without_end(monkeypatch):
    monkeypatch.setattr(http, "_MAX_REMEMBERED_CALLERS", 10)
    shares = http.CallerLimiter(None)
    for number in range(50):
        shares._get_limits(str(number))
    assert len(shares._limits_by_caller) == 10


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "papers.lab.edu"])
def test_a_door_open_to_the_network_must_know_its_name(host):
    settings = load_settings(mcp_http_host=host, mcp_auth_secret_key=SECRET)
    with pytest.raises(NotConfigured, match="MCP_AUTH_AUDIENCE"):
        http.serve_http(settings)


def test_a_port_that_is_taken_is_told_in_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = load_settings(mcp_http_port=port, mcp_auth_secret_key=SECRET)
        with pytest.raises(BadRequest, match=str(port)):
            http.serve_http(settings)


class Process:
    """``server.py --transport http`` as a user starts it."""

    def __init__(self, settings, **more):
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        known = {name.upper(): str(value) for name, value in {**settings, **more}.items()}
        self._process = processes.Process(
            [sys.executable, SERVER, "--transport", "http", "--port", "0"],
            env={**kept, **known},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""

    def __enter__(self):
        while line := self._process.stderr.readline():
            self.said += line
            if "address" in line:
                self.url = json.loads(line)["address"]
                break
        assert self.url, self.said
        return self

    def end(self, number=signal.SIGTERM):
        self._process.send_signal(number)
        out, err = self._process.communicate()
        self.said += err
        return self._process.returncode, out

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_good_order(settings, number):
    with Process(settings, mcp_auth_secret_key=SECRET) as process:
        assert httpx2.get(process.url.replace("/mcp", "/healthz")).status_code == 200
        assert process.end(number) == (0, "")
    assert "Traceback" not in process.said
    assert json.loads(process.said.splitlines()[-1])["message"] == "Ended"


def test_a_signal_ends_it_while_a_call_is_under_way(settings, world):
    world.mood("drip", "eutils")
    token = make_token(load_settings(mcp_auth_secret_key=SECRET), "alice", ["read"], 1)
    call = {"name": "search_pubmed", "arguments": {"query": "coral"}}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    with Process(settings, mcp_auth_secret_key=SECRET) as process:
        port = int(process.url.split(":")[2].split("/")[0])
        data = json.dumps(body)
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
                "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n{data}".encode()
            )
            assert processes.eventually(lambda: world.requests)
            assert process.end() == (0, "")
            # The call would have been answered after its twenty seconds.
            assert b'"result"' not in _all_of(line)


def _all_of(line):
    with contextlib.suppress(ConnectionError):
        return b"".join(iter(lambda: line.recv(65_536), b""))
    return b""


def test_without_a_key_it_does_not_start_and_says_what_to_set(settings):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    known = {name.upper(): str(value) for name, value in settings.items()}
    done = processes.run(
        [sys.executable, SERVER],
        env={**kept, **known, "MCP_TRANSPORT_TYPE": "http"},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "MCP_AUTH_SECRET_KEY" in done.stderr


@pytest.mark.anyio
async def test_two_processes_serve_one_shelf(settings, world):
    token = make_token(load_settings(mcp_auth_secret_key=SECRET), "alice", ["read", "download"], 1)
    pmids = [record.pmid for record in world.papers if record.pmid][:3]
    with (
        Process(settings, mcp_auth_secret_key=SECRET) as one,
        Process(settings, mcp_auth_secret_key=SECRET) as other,
    ):
        async with (
            Client(StreamableHttpTransport(one.url, auth=token)) as first,
            Client(StreamableHttpTransport(other.url, auth=token), mode="legacy") as second,
        ):
            begun = await first.call_tool("harvest_papers", {"ids": pmids})
            job = {"job_id": begun.structured_content["job_id"], "wait_s": 20}
            for _ in range(6):
                seen = await second.call_tool("harvest_status", job)
                if seen.structured_content["state"] != "running":
                    break
            assert seen.structured_content["state"] == "done"
            assert seen.structured_content["counts"]["requested"] == 3
            listed = [await client.call_tool("list_papers", {}) for client in (first, second)]
            totals = [done.structured_content["total"] for done in listed]
            assert totals[0] == totals[1] > 0
            uri = f"papers://report/{job['job_id']}"
            assert "<html" in (await second.read_resource(uri))[0].text


PING_ = b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}'


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("body", "identifier", "code"),
    [
        (b'{"jsonrpc":', None, -32700),
        (b"", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "ping\\ud800"}', 9, -32700),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "ping\xff"}', None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"7", None, -32600),
        (b'"ping"', None, -32600),
        (b'{"id": "a", "speaks": "nothing"}', "a", -32600),
        (b'{"jsonrpc": "1.0", "id": 5, "method": "ping"}', 5, -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', None, -32600),
        (b"[" + PING_ + b"," + PING_ + b"]", None, -32600),
        (b"[]", None, -32600),
    ],
)
def test_what_is_no_message_is_answered_as_on_stdio(endpoint, version, body, identifier, code):
    answer = endpoint.post(endpoint.token(), body, mcp_protocol_version=version)
    assert answer.status_code == 400
    said = answer.json()
    assert (said["jsonrpc"], said["id"], said["error"]["code"]) == ("2.0", identifier, code)
    assert len(said["error"]["message"]) < 300
    assert "pydantic" not in said["error"]["message"]


def test_who_has_no_token_learns_nothing_of_its_body(endpoint):
    assert endpoint.post(body=b'{"jsonrpc":').status_code == 401


def test_a_cursor_that_nobody_gave_is_refused(endpoint):
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "made up"}}
    answer = endpoint.post(endpoint.token(), listing, mcp_protocol_version="2025-11-25")
    assert '"code":-32602' in answer.text
