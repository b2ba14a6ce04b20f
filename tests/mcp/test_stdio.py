"""What hosts send over standard input that is no message, or not of the era that began."""

import json
import queue
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import Process
from utils.mcp.messages import describe_invalid_line

ROOT = Path(__file__).resolve().parents[2]
INITIALIZE = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test",
        "version": "1"}},
}  # fmt: skip
# https://modelcontextprotocol.io/specification/draft/server/discover
DISCOVER = {
    "method": "server/discover",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}},
}  # fmt: skip


class Host:
    """Raw lines in, raw lines out."""

    def __init__(self, process):
        self.process = process
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self.answers.put(message)

    def send(self, *lines):
        for line in lines:
            self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, number, request):
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, **request}))
        return self.answers.get(timeout=60)

    def answer_to(self, line):
        self.send(line)
        return self.answers.get(timeout=60)


@contextmanager
def hosted(world, tmp_path, **settings):
    names = {**world.environment(), "PAPERS_DIR": str(tmp_path), **settings}
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=names,
    )
    try:
        yield Host(process)
        process.stdin.close()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def test_a_line_that_is_no_message_is_answered_and_the_next_one_served(world, tmp_path):
    with hosted(world, tmp_path) as host:
        assert host.ask(0, INITIALIZE)["result"]["protocolVersion"] == "2025-03-26"
        fault = host.answer_to('{"jsonrpc":')
        assert (fault["id"], fault["error"]["code"]) == (None, -32700)
        fault = host.answer_to(r'{"jsonrpc": "2.0", "id": 9, "method": "ping\ud800"}')
        assert (fault["id"], fault["error"]["code"]) == (9, -32700)
        fault = host.answer_to('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]')
        assert (fault["id"], fault["error"]["code"]) == (None, -32600)
        assert "each message by itself" in fault["error"]["message"]
        fault = host.answer_to('{"jsonrpc": "1.0", "id": 5, "method": "ping"}')
        assert (fault["id"], fault["error"]["code"]) == (5, -32600)
        fault = host.answer_to('"a text"')
        assert (fault["id"], fault["error"]["code"]) == (None, -32600)
        fault = host.answer_to('{"id": "a", "speaks": "nothing"}')
        assert (fault["id"], fault["error"]["code"]) == ("a", -32600)
        for identifier in ("null", "1.5", "true"):
            fault = host.answer_to(f'{{"jsonrpc": "2.0", "id": {identifier}, "method": "ping"}}')
            assert (fault["id"], fault["error"]["code"]) == (None, -32600)
            assert "string or an integer" in fault["error"]["message"]
        host.send('{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}')
        host.send("", "\r")
        listing = {"method": "tools/list", "params": {"cursor": "nobody gave it"}}
        assert host.ask(3, listing)["error"]["code"] == -32602
        assert host.ask(4, {"method": "tools/list"})["result"]["tools"]


def test_who_discovers_first_may_still_initialize(world, tmp_path):
    with hosted(world, tmp_path) as host:
        assert host.ask(1, DISCOVER)["result"]["supportedVersions"]
        assert host.ask(2, DISCOVER)["result"]["supportedVersions"]
        assert host.ask(3, INITIALIZE)["result"]["protocolVersion"] == "2025-03-26"
        assert host.ask(4, {"method": "tools/list"})["result"]["tools"]


def test_who_discovers_first_may_go_on_in_the_new_era(world, tmp_path):
    with hosted(world, tmp_path) as host:
        host.ask(1, DISCOVER)
        listing = {"method": "tools/list", "params": DISCOVER["params"]}
        assert host.ask(2, listing)["result"]["tools"]


@pytest.mark.parametrize("line", ["[" * 100_000, "{}" * 3, "nul", '{"a": 1e999999999x}', "\x00"])
def test_any_line_is_described(line):
    identifier, code, message = describe_invalid_line(line)
    assert (identifier, code) == (None, -32700)
    assert len(message) < 300


def test_a_host_that_hangs_up_during_the_first_call_is_not_waited_for(world, tmp_path):
    """The process imported everything first, and ended with a crash in its log."""
    names = {**world.environment(), "PAPERS_DIR": str(tmp_path)}
    hold = "import time, utils.mcp.calls as f; f.import_packages = lambda: time.sleep(600)"
    program = (
        f"{hold}; import sys; from utils.__main__ import main; sys.argv = ['server.py']; main()"
    )
    pipe = subprocess.PIPE
    with Process(
        [sys.executable, "-c", program], cwd=ROOT, env=names, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        call = {"method": "tools/call", "params": {"name": "list_papers", "arguments": {}}}
        for number, request in enumerate((INITIALIZE, call, {"method": "ping"})):
            line = json.dumps({"jsonrpc": "2.0", "id": number, **request})
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            if request is not call:
                assert json.loads(process.stdout.readline())["id"] == number
        process.stdout.close()
        process.stdin.close()
        assert process.wait() == 0
        levels = [json.loads(line)["level"] for line in process.stderr if line.startswith(b"{")]
    assert not {"error", "critical"} & {*levels}
