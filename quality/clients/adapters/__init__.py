"""Adapters that frameworks have for MCP, each by its own code.

They stand on releases of the protocol's package that cannot be installed beside ours, so that each
runs in an environment of its own, which uv fetches; therefore only where that is asked for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.clients.python_clients import ROOT, environment
from tests.world import World

ADAPTERS = {
    "langchain": ["langchain-mcp-adapters==0.3.2"],
    "openai_agents": ["openai-agents==0.24.0"],
    "google_genai": ["google-genai==3.4.0", "mcp"],
    "anthropic_tools": ["anthropic==2.12.0", "mcp"],
}
WHY_NOT = "" if os.environ.get("PAPERSHELF_ADAPTERS") else "PAPERSHELF_ADAPTERS=1 would fetch them"
WHY_NOT = WHY_NOT if shutil.which("uv") else "there is no uv to fetch them"
_OWN = dict(os.environ)  # before the tests hide what uv needs to fetch packages


class Shown(NamedTuple):
    """What an adapter gives a model for each call, and the protocol it agreed on."""

    protocol: str
    answers: list[str]


def shown(
    adapter: str, world: World, folder: Path, calls: Sequence[tuple[str, object]], **settings: str
) -> Shown:
    """Have an adapter call a server of its own, with *settings*, on a shelf in *folder*."""
    server = {"command": sys.executable, "args": [str(ROOT / "server.py")]}
    told = environment(world, folder) | settings
    given = json.dumps([{**server, "env": told}, calls])
    packages = [word for one in ADAPTERS[adapter] for word in ("--with", one)]
    script = str(Path(__file__).with_name(f"{adapter}.py"))
    run = ["uv", "run", "--isolated", "--no-project", *packages, "python", script]
    done = subprocess.run(
        run, input=given, capture_output=True, text=True, env=_OWN, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return Shown(*json.loads(done.stdout.splitlines()[-1]))
