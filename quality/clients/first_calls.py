"""Every pair of tools as the first calls of a fresh process: stdio and HTTP, both protocol eras.

A process has first calls only once, so several tools are called at once in each, such that every
two meet in one. ``python -m quality.clients.first_calls`` sends all of these groups in every way;
``--at-once 2`` takes a process for each pair alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import queue
import random
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2

from tests.clients.judge import fault_of_result
from tests.clients.python_clients import ROOT, PatientWorld, Place, environment, fastmcp_client
from tests.clients.tour import DATASET, JOB, left_by, steps, with_left
from tests.endpoint import SECRET
from tests.processes import LAST_RESORT_S, Process
from tests.world import World
from utils.mcp.auth import DOWNLOAD_SCOPE, READ_SCOPE, make_token
from utils.settings import load_settings

LEGACY, MODERN = "2025-06-18", "2026-07-28"
ERAS = (LEGACY, MODERN)
WAYS = ("stdio", "http")
AT_ONCE = 16
"""Calls of one caller that the HTTP door serves at once; stdio takes as many."""
Call = tuple[str, dict[str, Any]]
_LONGEST_S = 60  # for any answer; a call takes 20 s at most
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # made once: that takes longer than a request
_CLIENT = {"name": "first_calls", "version": "1"}
# Papers that the prepared shelf has not: so that these tools do all of their work.
_ELSEWHERE = {
    "download_paper": ("pmid", "unpaywall_pdf"),
    "harvest_papers": ("ids", "europepmc_only"),
}


def groups(names: Sequence[str], size: int) -> list[list[str]]:
    """Groups of at most *size* of the *names* in which every two of them meet.

    >>> groups(["a", "b", "c"], 2)
    [['a', 'b'], ['c', 'a'], ['b', 'c']]
    """
    ties = random.Random(0)
    order = {name: ties.random() for name in names} if size > 2 else dict.fromkeys(names, 0.0)
    apart = {name: dict.fromkeys(each for each in names if each != name) for name in names}
    met: list[list[str]] = []
    while any(apart.values()):
        group: list[str] = []
        while len(group) < size:
            new = {
                name: len([one for one in group if one in apart[name]]) or not group
                for name in names
                if name not in group
            }
            best = max(new, key=lambda name: (new[name], len(apart[name]), order[name]), default="")
            if not best or not new[best]:
                break
            group.append(best)
        for one, other in itertools.permutations(group, 2):
            apart[one].pop(other, None)
        met.append(group)
    return met


@dataclass
class Prepared:
    """A shelf with something on it, and calls of every tool that succeed there."""

    folder: Path
    calls: dict[str, list[dict[str, Any]]]
    schemas: dict[str, dict[str, Any]]

    def of(self, group: Sequence[str], turn: int) -> list[Call]:
        """A call of each tool of a group; those with several operations take turns."""
        return [(name, self.calls[name][turn % len(self.calls[name])]) for name in group]

    def faults(self, calls: Sequence[Call], answers: Sequence[dict[str, Any]]) -> list[str]:
        """What is wrong with the answers: each call succeeds when it is made alone."""
        found = []
        for (tool, arguments), answer in zip(calls, answers, strict=True):
            result = answer.get("result")
            if result is None or result.get("isError"):
                found.append(f"{tool} {json.dumps(arguments)}: {json.dumps(answer):.600}")
            elif fault := fault_of_result(result, self.schemas[tool]):
                found.append(f"{tool} {json.dumps(arguments)}: {fault}")
        return found


async def prepare(world: World, folder: Path) -> Prepared:
    """Make what the calls are about, by the calls themselves, one after the other."""
    place = Place(environment(world, folder))
    left = {JOB: "", DATASET: ""}
    calls: dict[str, list[dict[str, Any]]] = {}
    async with fastmcp_client(place, "auto") as session:
        listed = await session.listing()
        for step in steps(listed, world):
            if step["kind"] != "tool":
                continue
            taken = with_left(step, left)
            answer = await session.take(taken)
            assert not answer.get("isError"), (taken, answer)
            left |= left_by(step, answer["structuredContent"])
            calls.setdefault(step["name"], []).append(taken["arguments"])
    for name, (argument, branch) in _ELSEWHERE.items():
        pmid = world.paper(branch).pmid
        calls[name] = [{argument: [pmid] if argument == "ids" else pmid}]
    schemas = {tool["name"]: tool["outputSchema"] for tool in listed["tools"]}
    return Prepared(folder, calls, schemas)


class Fresh:
    """A new process on a copy of the prepared shelf, ready for its first calls."""

    def __init__(self, world: World, prepared: Prepared, way: str, era: str) -> None:
        self._world, self._prepared, self._way, self._era = world, prepared, way, era
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._logged: queue.Queue[str] = queue.Queue()
        self._address = ""

    def __enter__(self) -> Fresh:
        self._folder = tempfile.TemporaryDirectory()
        shutil.copytree(self._prepared.folder, self._folder.name, dirs_exist_ok=True)
        told = {**environment(self._world, Path(self._folder.name)), "MCP_AUTH_SECRET_KEY": SECRET}
        port = ["--transport", "http", "--port", "0"] if self._way == "http" else []
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "tests.clients.hasty_server", *port]
        self._process = Process(command, cwd=ROOT, env=told, stdin=pipe, stdout=pipe, stderr=pipe)
        threading.Thread(target=self._read_log, daemon=True).start()
        if self._way == "http":
            while not self._address:
                line = self._logged.get(timeout=LAST_RESORT_S)
                self._address = json.loads(line).get("address", "")
        else:
            threading.Thread(target=self._read_answers, daemon=True).start()
            self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()
        self._folder.cleanup()

    def send(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """The answers to calls that are made at once."""
        if self._way == "http":  # each on a connection of its own
            with ThreadPoolExecutor(len(calls)) as hosts:
                return list(hosts.map(self._post, range(len(calls)), calls))
        self._write(*(_request(at, call, self._era) for at, call in enumerate(calls)))
        came: dict[int, dict[str, Any]] = {}
        with suppress(queue.Empty):
            for _ in calls:
                answer = self._answers.get(timeout=_LONGEST_S)
                came[answer["id"]] = answer
        return [came.get(at, {"error": "no answer"}) for at in range(len(calls))]

    def trouble(self) -> str:
        """The errors in its log."""
        lines = [self._logged.get() for _ in range(self._logged.qsize())]
        return "".join(line for line in lines if '"level": "error"' in line)

    def _open(self) -> None:
        if self._era == LEGACY:
            began = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
            self._write({"jsonrpc": "2.0", "id": -1, "method": "initialize", "params": began})
            self._answers.get(timeout=LAST_RESORT_S)
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _write(self, *messages: dict[str, Any]) -> None:
        pipe = self._process.stdin
        assert pipe
        pipe.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
        pipe.flush()

    def _read_answers(self) -> None:
        for line in self._process.stdout or ():
            if "method" not in (message := json.loads(line)):
                self._answers.put(message)

    def _read_log(self) -> None:
        for line in self._process.stderr or ():
            self._logged.put(line.decode())

    def _post(self, number: int, call: Call) -> dict[str, Any]:
        token = make_token(
            load_settings(mcp_auth_secret_key=SECRET), "alice", [READ_SCOPE, DOWNLOAD_SCOPE], 1
        )
        headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": self._era,
        }
        if self._era == MODERN:
            headers |= {"mcp-method": "tools/call", "mcp-name": call[0]}
        body = _request(number, call, self._era)
        try:
            came = httpx2.post(
                self._address, json=body, headers=headers, timeout=_LONGEST_S, verify=_NO_TLS
            )
        except httpx2.HTTPError as error:
            return {"error": repr(error)}
        events = re.findall(r"^data: ?(\{.*)$", came.text, re.MULTILINE) or [came.text]
        answer: dict[str, Any] = json.loads(events[-1])
        return answer


def _request(number: int, call: Call, era: str) -> dict[str, Any]:
    name, arguments = call
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    if era == MODERN:
        known = "io.modelcontextprotocol/"
        params["_meta"] = {
            f"{known}protocolVersion": era,
            f"{known}clientInfo": _CLIENT,
            f"{known}clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def faults_of(
    world: World, prepared: Prepared, group: Sequence[str], turn: int, way: str, era: str
) -> list[str]:
    """What goes wrong when a group of tools is called first and at once."""
    with Fresh(world, prepared, way, era) as process:
        calls = prepared.of(group, turn)
        faults = prepared.faults(calls, process.send(calls))
        return [*faults, process.trouble()] if faults else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--at-once", type=int, default=AT_ONCE, help="calls in one process")
    parser.add_argument("--way", choices=WAYS, action="append")
    parser.add_argument("--era", choices=ERAS, action="append")
    chosen = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, PatientWorld() as world:
        prepared = anyio.run(prepare, world, Path(folder))
        planned = groups(list(prepared.calls), chosen.at_once)
        for way, era in itertools.product(chosen.way or WAYS, chosen.era or ERAS):
            began, bad = time.monotonic(), 0
            for turn, group in enumerate(planned):
                faults = faults_of(world, prepared, group, turn, way, era)
                bad += bool(faults)
                sys.stdout.writelines(f"{way} {era}: {fault}\n" for fault in faults)
            took = time.monotonic() - began
            sys.stdout.write(f"{way} {era}: {len(planned)} processes, {bad} wrong, {took:.0f} s\n")
            sys.stdout.flush()
            wrong += bad
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
