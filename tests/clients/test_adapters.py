"""What a model receives through the adapters that frameworks have for MCP, each by its own code.

They stand on releases of the protocol's package that cannot be installed beside ours, so that each
runs in an environment of its own, which uv fetches; therefore only where that is asked for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.python_clients import ROOT, environment
from tests.world import World

ADAPTERS = {
    "langchain": ["langchain-mcp-adapters==0.3.2"],
    "openai_agents": ["openai-agents==0.24.0"],
    "google_genai": ["google-genai==3.4.0", "mcp"],
    "anthropic_tools": ["anthropic==2.12.0", "mcp"],
}
_OWN = dict(os.environ)  # before the tests hide what uv needs to fetch packages
pytestmark = pytest.mark.skipif(
    not os.environ.get("PAPERSHELF_ADAPTERS") or not shutil.which("uv"),
    reason="PAPERSHELF_ADAPTERS=1 would let uv fetch the adapters",
)


def shown(adapter: str, world: World, folder: Path, calls: list[tuple[str, object]]) -> list[str]:
    """What the adapter gives a model for each call."""
    server = {"command": sys.executable, "args": [str(ROOT / "server.py")]}
    given = json.dumps([{**server, "env": environment(world, folder)}, calls])
    packages = [word for one in ADAPTERS[adapter] for word in ("--with", one)]
    script = str(Path(__file__).with_name("adapters") / f"{adapter}.py")
    run = ["uv", "run", "--isolated", "--no-project", *packages, "python", script]
    done = subprocess.run(run, input=given, capture_output=True, text=True, env=_OWN, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_model_reads_the_whole_answer_and_what_to_do_next(
    adapter: str, world: World, tmp_path: Path
) -> None:
    paper = world.paper("pmc_cloud")
    found, kept, read, refused, none = shown(
        adapter,
        world,
        tmp_path,
        [
            ("search_pubmed", {"query": f"{paper.pmid}[uid]"}),
            ("download_paper", {"pmid": paper.pmid}),
            ("read_paper", {"paper": paper.pmid, "section": "results"}),
            ("download_paper", {"pmid": "not a number"}),
            ("search_pubmed", {"query": "zzzqqq"}),
        ],
    )
    assert paper.pmid in found
    assert paper.doi in found
    assert "full_text" in kept
    told = world.record(paper.pmid)
    assert told is not None
    for sentence in ("<untrusted-", "## Results"):
        assert sentence in read
    assert read.count("## Results") == 1
    assert "VALIDATION" in refused
    assert "suggestions" in refused
    assert "total" in none
