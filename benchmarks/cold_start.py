"""Cold start: from nothing to the answer of ``tools/list``, beside an empty FastMCP server.

``uv run python -m benchmarks.cold_start [--runs N]``

Whole processes over real pipes, interleaved, medians; the two servers are started in turn.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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


def main() -> None:
    """Start both servers in turn and compare."""
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


if __name__ == "__main__":
    main()
