"""How long a cached ``fetch_article_details`` takes over MCP, beside a tool that only answers.

``uv run quality/benchmarks/mcp_latency.py [--calls N]``

For stdio and HTTP, in both protocol eras: a server process of ours, asked again and again for a
record it has already fetched from the stand-in internet, and a bare FastMCP server whose one tool
returns a text of the same length. Calls of the two alternate, so that a busy machine slows both
alike; printed are the medians and their ratio. What is above 1 is ours: validation, the cache, the
row, the log line, over HTTP also the token.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from tests.endpoint import SECRET
from tests.world import World
from utils.mcp.auth import make_token
from utils.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAUSE_S = 0.11  # over HTTP a caller has ten requests a second
ERAS = {"2026-07-28": "auto", "2025-11-25": "legacy"}


def echo(transport: str, size: int, port: int) -> None:
    """Serve the tool that ours is measured by."""
    server: FastMCP[Any] = FastMCP("echo")

    @server.tool
    def tell(text: str) -> dict[str, str]:
        return {"text": text, "more": "x" * size}

    if transport == "stdio":
        server.run("stdio", show_banner=False)
    else:
        server.run("http", port=port, stateless_http=True, show_banner=False, log_level="error")


def free_port() -> int:
    """A port that nobody has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


async def ready(port: int) -> None:
    """Wait until somebody listens."""
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return
    raise SystemExit(f"nobody listens on port {port}")


async def beside(ours: Client[Any], bare: Client[Any], pmid: str, calls: int) -> list[float]:
    """The median seconds of a call to each."""
    took: list[list[float]] = [[], []]
    asked = ("fetch_article_details", {"pmids": [pmid]}), ("tell", {"text": pmid})
    for _ in range(calls):
        for client, (tool, arguments), times in zip((ours, bare), asked, took, strict=True):
            began = time.perf_counter()
            await client.call_tool(tool, arguments)
            times.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_S)
    return [statistics.median(times) for times in took]


async def measure(transport: str, environment: dict[str, str], pmid: str, calls: int) -> None:
    """Both servers over one transport, and a line for each era."""
    async with AsyncExitStack() as ends:
        here, size = str(Path(__file__).resolve()), "4000"
        ports = free_port(), free_port()
        commands = (
            [str(ROOT / "server.py"), "--transport", transport, "--port", str(ports[0])],
            [here, "--echo", transport, "--size", size, "--port", str(ports[1])],
        )
        if transport == "http":
            for command, port in zip(commands, ports, strict=True):
                process = await asyncio.create_subprocess_exec(
                    sys.executable, *command, env=environment, stderr=asyncio.subprocess.DEVNULL
                )
                ends.push_async_callback(process.wait)
                ends.callback(process.terminate)
                await ready(port)
        settings = load_settings(mcp_auth_secret_key=SECRET)
        token = make_token(settings, "bench", ["read", "download"], 1)
        for era, mode in ERAS.items():
            if transport == "http":
                urls = [f"http://127.0.0.1:{port}/mcp" for port in ports]
                clients = [Client(urls[0], auth=token, mode=mode), Client(urls[1], mode=mode)]
            else:
                pipes = [
                    StdioTransport(
                        *(sys.executable, command), env=environment, log_file=Path(os.devnull)
                    )
                    for command in commands
                ]
                clients = [Client(pipe, mode=mode) for pipe in pipes]
            async with clients[0] as ours, clients[1] as bare:
                await beside(ours, bare, pmid, 5)
                mine, other = await beside(ours, bare, pmid, calls)
            ratio = f"{mine / other:6.2f}"
            print(f"{transport:6} {era:11} {mine * 1000:8.2f} {other * 1000:8.2f} {ratio}")


def main() -> None:
    """Measure, or be the server beside."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--echo", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.echo:
        echo(chosen.echo, chosen.size, chosen.port)
        return
    print(f"{'over':6} {'era':11} {'ours ms':>8} {'bare ms':>8} {'ratio':>6}")
    with World() as world, tempfile.TemporaryDirectory() as folder:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        own = {"PAPERS_DIR": f"{folder}/papers", "PAPERS_PACE_DIR": f"{folder}/pace"}
        more = {"MCP_TOOLSETS": "all", "MCP_AUTH_SECRET_KEY": SECRET}
        environment = {**kept, **world.environment(), **own, **more}
        pmid = world.paper("pmc_cloud").pmid
        for transport in ("stdio", "http"):
            asyncio.run(measure(transport, environment, pmid, chosen.calls))


if __name__ == "__main__":
    main()
