"""The clients from npm: two generations of the official TypeScript SDK, and the Inspector.

They live in a folder outside the checkout, where npm may install them: the one ``PAPERSHELF_NPM``
names, or with ``PAPERSHELF_NPM=1`` one beside other temporary files. Unless it is set nobody looks
for them: what somebody left there must not decide whether tests run. `typescript.mjs` is copied
there, because node looks for packages from where a script lies.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.clients.judge import ENVELOPE
from tests.clients.python_clients import ROOT, Place
from tests.clients.tour import Visit

HERE = Path(__file__).resolve().parent
# Which eras each of them speaks.
CLIENTS = {
    "TypeScript client": ("auto", "legacy"),
    "TypeScript SDK": ("legacy",),
    "Inspector CLI": ("auto", "legacy"),
}
LONGEST_S = 300


def packages() -> tuple[Path | None, str]:
    """The folder with the packages, or None and why there is none."""
    if not (shutil.which("node") and shutil.which("npm")):
        return None, "node and npm are not here"
    named = os.environ.get("PAPERSHELF_NPM", "")
    if not named:
        return None, "PAPERSHELF_NPM=1 would let npm install the clients"
    folder = Path(tempfile.gettempdir()) / "papershelf-npm" if named == "1" else Path(named)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w", encoding="utf-8") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # pytest's workers ask at the same time
        return _install(folder)


def _install(folder: Path) -> tuple[Path | None, str]:
    wanted = (HERE / "package.json").read_text(encoding="utf-8")
    kept = folder / "package.json"
    if kept.exists() and kept.read_text(encoding="utf-8") == wanted:
        return folder, ""
    kept.write_text(wanted, encoding="utf-8")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(
        npm, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8"
    )
    if done.returncode:
        kept.unlink()
        return None, f"npm: {done.stderr[-300:]}"
    return folder, ""


async def npm_visit(
    folder: Path, client: str, mode: str, place: Place, steps: list[dict[str, Any]]
) -> Visit:
    """Take the tour with a client from *folder*."""
    shutil.copy(HERE / "typescript.mjs", folder)
    where = {
        "url": place.url,
        "token": place.token,
        "command": place.command,
        "environment": {**place.environment, "PYTHONPATH": str(ROOT)},
        "cwd": str(ROOT),
    }
    told = {"client": client, "mode": mode, "place": where, "steps": steps, "envelope": ENVELOPE}
    process = await asyncio.create_subprocess_exec(
        *("node", "typescript.mjs"),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        sent = json.dumps(told).encode()
        out, err = await asyncio.wait_for(process.communicate(sent), LONGEST_S)
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        return Visit(client, place.transport, mode, faults=[err.decode()[-600:]])
    seen = json.loads(out)
    return Visit(client, place.transport, seen["era"], Counter(seen["seen"]), seen["faults"])
