"""Cold start: from nothing to the answer of ``tools/list``, and the CPU time of short commands.

``uv run python -m quality.benchmarks.cold_start [--runs N]``

The server is started in turn with an empty FastMCP server, over real pipes. Commands on a shelf of
12 papers are run in turn with a program that has an empty `argparse` parser; their CPU time counts,
which other processes disturb less than the wall clock. Medians.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.shelf.papers import document, fetched, paper
from utils import Library

ROOT = Path(__file__).resolve().parents[2]
EMPTY = """
from fastmcp import FastMCP
server = FastMCP("empty")
@server.tool
def nothing() -> str:
    return ""
server.run(show_banner=False)
"""
HELLO = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "benchmark", "version": "0"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
]


def started(script: Path) -> float:
    """Seconds until the server has listed its tools."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as server:
        for message in HELLO:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != 2:
            pass
        seconds = time.perf_counter() - began
        server.stdin.close()
        server.kill()
    return seconds


def cpu_time(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the seconds of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, env=environment, check=True, **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fill(folder: Path) -> None:
    """Put 12 papers on a shelf."""
    library = Library(papers_dir=folder)
    for number in range(12):
        library.shelf.save_full_text(
            paper(pmid=str(number + 1), doi=f"10.1000/a{number}"),
            document("# Cells\n\n## Methods\n\n" + "The text. " * 600),
            fetched(media="html"),
            source="PMC",
            attempts=(),
        )
    library.shelf.close()


def compare_commands(runs: int, folder: Path) -> None:
    """Run each short command in turn with an empty program and print both."""
    fill(folder / "papers")
    environment = {**os.environ, "PAPERS_DIR": str(folder / "papers")}
    empty = [sys.executable, "-c", "import argparse; argparse.ArgumentParser().parse_args()"]
    for words in (["--version"], ["--help"], ["list"], ["read", "3"]):
        command = [sys.executable, str(ROOT / "server.py"), *words]
        pairs = [
            (cpu_time(command, environment), cpu_time(empty, environment)) for _ in range(runs + 1)
        ][1:]  # the first pair compiles
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(
            f"{' '.join(words):10} {ours * 1000:.0f} ms of CPU, {ours / theirs:.1f} × an empty "
            f"argparse program ({theirs * 1000:.0f} ms)"
        )


def main() -> None:
    """Start both servers in turn and compare; then the commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY, encoding="utf-8")
        pairs = []
        for run in range(options.runs + 1):
            pair = started(ROOT / "server.py"), started(empty)
            if run:  # the first pair warms the disk cache
                pairs.append(pair)
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"papershelf {ours * 1000:.0f} ms, empty FastMCP server {theirs * 1000:.0f} ms")
    print(f"ratio {ratio:.2f} (median of {len(pairs)} pairs)")
    with tempfile.TemporaryDirectory() as folder:
        compare_commands(options.runs, Path(folder))


if __name__ == "__main__":
    main()
