"""Any call gets a valid result or the envelope: as many as one likes, beside the suite.

``python -m quality.clients.any_calls 10000 [--seed N] [--way stdio|memory]`` makes half of them
over stdio, to a process of its own, byte by byte, and half in memory; then prints what came of
each tool's calls, and every defect with the call that showed it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from fastmcp import Client

from quality.clients.any_arguments import Call, Caller, Calls, Tally, make_calls
from tests.clients.python_clients import PatientWorld
from tests.clock import Clock
from tests.processes import Process
from tests.world import World
from tests.world.eutils import KEY
from utils import Library
from utils.mcp import build

ROOT = Path(__file__).resolve().parents[2]
LONGEST_S = 90  # a call answers within 20 s; this is for a busy machine
AN_HOUR_S = 3600  # between two moods, so that no site stays held
CLIENT = {"name": "any_calls", "version": "1"}


class InMemory:
    """A server in this process; the clock is the caller's."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._said = io.StringIO()
        self._trouble: list[str] = []

    def __enter__(self) -> InMemory:
        with contextlib.ExitStack() as ends:
            self._portal = ends.enter_context(start_blocking_portal())
            client = Client(build(self._library))
            self._client = ends.enter_context(self._portal.wrap_async_context_manager(client))
            ends.enter_context(contextlib.redirect_stdout(self._said))
            ends.enter_context(self._listening())
            listed = self._portal.call(self._client.list_tools)
            self.tools = [tool.model_dump(by_alias=True, mode="json") for tool in listed]
            self._ends = ends.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()
        for thread in threading.enumerate():
            if thread.name.startswith("harvest "):
                thread.join(LONGEST_S)
        self._library.shelf.close()

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Hear every traceback that goes to the log."""
        hear = logging.Handler(logging.ERROR)
        formatter = logging.Formatter()
        hear.emit = lambda record: self._trouble.append(formatter.format(record))  # type: ignore[method-assign]
        logging.getLogger().addHandler(hear)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(hear)

    def call(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        results: list[Any] = [None] * len(calls)

        async def make(at: int) -> None:
            results[at] = await self._client.call_tool_mcp(*calls[at])

        async def make_all() -> None:
            async with anyio.create_task_group() as group:
                for at in range(len(calls)):
                    group.start_soon(make, at)

        self._portal.call(make_all)
        return [one.model_dump(by_alias=True, mode="json", exclude_none=True) for one in results]

    def heard(self) -> str:
        stray = self._said.getvalue()
        self._said.seek(0)
        self._said.truncate()
        trouble, self._trouble[:] = "\n".join(self._trouble), []
        return (f"on standard output: {stray[:200]!r} " if stray else "") + trouble[-1500:]

    @staticmethod
    def settle() -> None:
        time.sleep(AN_HOUR_S)


class OverStdio:
    """``server.py`` in a process of its own, spoken to by hand; every byte it says is looked at."""

    def __init__(self, settings: dict[str, str], log: Path) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._environment = {**kept, **settings}
        self._path = log
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._stray: list[str] = []
        self._number = 0

    def __enter__(self) -> OverStdio:
        self._log = self._path.open("w+b")
        self._process = Process(
            [sys.executable, "-m", "tests.clients.hasty_server"],
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        threading.Thread(target=self._read, daemon=True).start()
        began = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
        self._ask(("initialize", began))
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self._ask(("tools/list", {}))[0]["tools"]
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        try:
            self._process.wait(30)
        finally:
            self._process.kill()
            self._process.wait()
            self._log.close()

    def call(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        asked = [("tools/call", {"name": name, "arguments": given}) for name, given in calls]
        return self._ask(*asked)

    def heard(self) -> str:
        with self._path.open("rb") as log:
            log.seek(getattr(self, "_read_to", 0))
            new = log.read().decode(errors="replace")
            self._read_to = log.tell()
        wrong = [line for line in new.splitlines() if not _harmless(line)]
        stray, self._stray[:] = "".join(self._stray), []
        said = f"on standard output: {stray[:200]!r} " if stray else ""
        return said + "\n".join(line[-1500:] for line in wrong)

    def settle(self) -> None:
        self._process.send_signal(signal.SIGUSR1)

    def _ask(self, *questions: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        """Ask all at once; the answers in the order of the questions, whichever comes first."""
        numbers = range(self._number, self._number + len(questions))
        self._number += len(questions)
        for number, (method, params) in zip(numbers, questions, strict=True):
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        came: dict[int, dict[str, Any]] = {}
        why = ""
        while len(came) < len(questions) and not why:
            why = self._take(numbers, came)
        return [came.get(number, _no_result(why)) for number in numbers]

    def _take(self, numbers: range, came: dict[int, dict[str, Any]]) -> str:
        """Read one line; why no more will come, else nothing."""
        try:
            line = self._lines.get(timeout=LONGEST_S)
        except queue.Empty:
            return f"no answer in {LONGEST_S} s"
        try:
            message = json.loads(line)
            known = message["jsonrpc"] == "2.0" and ("id" in message or "method" in message)
        except (ValueError, TypeError, LookupError):
            known = False
        if not known or not line.endswith(b"}\n"):
            self._stray.append(line.decode(errors="replace"))
            return "" if line else "the server hung up"
        if message.get("id") in numbers:
            came[message["id"]] = message.get("result") or _no_result(json.dumps(message))
        return ""

    def _send(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def _read(self) -> None:
        for line in self._process.stdout:  # type: ignore[union-attr]
            self._lines.put(line)
        self._lines.put(b"")


def _no_result(why: str) -> dict[str, Any]:
    return {"isError": True, "content": [{"type": "text", "text": why}]}


def _harmless(line: str) -> bool:
    """Whether a log line is a JSON object about nothing worse than a warning."""
    try:
        entry = json.loads(line)
        return entry["level"] in {"debug", "info", "warning"} and "error" not in entry
    except (ValueError, TypeError, LookupError):
        return False


Way = Callable[[World, Path], AbstractContextManager[Any]]


def in_memory(world: World, folder: Path) -> InMemory:
    settings = {name.lower(): value for name, value in _settings(world, folder).items()}
    return InMemory(Library(**settings))


def over_stdio(world: World, folder: Path) -> OverStdio:
    return OverStdio(_settings(world, folder), folder / "stderr")


WAYS: dict[str, Way] = {"stdio": over_stdio, "memory": in_memory}


def _settings(world: World, folder: Path) -> dict[str, str]:
    own = {"PAPERS_DIR": str(folder / "papers"), "PAPERS_PACE_DIR": str(folder / "pace")}
    more = {"MCP_TOOLSETS": "all", "NCBI_API_KEY": KEY}
    return {**world.environment(), **own, **more}


def run(way: str, number: int, begin: int) -> Tally:
    """*number* calls in one way."""
    with tempfile.TemporaryDirectory() as folder, PatientWorld(crowd=300) as world:
        with WAYS[way](world, Path(folder)) as server:
            caller = Caller(server.tools, server.call, server.heard)
            calls = Calls(server.tools, world, begin)
            make_calls(caller, calls, number, world, server.settle)
        return caller.tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", choices=WAYS, action="append")
    chosen = parser.parse_args()
    ways = chosen.way or list(WAYS)
    clock = Clock(time.time)
    time.sleep, time.time = clock.sleep, clock.time  # for the server in memory
    defects = 0
    for turn, way in enumerate(ways):
        began = time.monotonic()
        tally = run(way, chosen.calls // len(ways), chosen.seed + turn)
        sys.stdout.write(f"== {way}, {time.monotonic() - began:.0f} s\n{tally.table()}\n\n")
        sys.stdout.write(f"{tally.reproductions()}\n")
        defects += len(tally.defects)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
