"""Make the desktop bundle, and the entry for the MCP registry that points to it.

``uv run packaging/build_bundle.py`` writes ``dist/papershelf-<version>.mcpb``: a zip that Claude
Desktop and others install by double-click. It holds our files and no packages; the host's uv brings
those, for its own system, in the versions and with the hashes of ``requirements.lock``. That lock
names no package index. With ``--release URL`` (where the bundle will be downloaded from, a
release on GitHub) it also writes ``dist/server.json``, which holds the bundle's checksum and is
therefore made, not kept. What is asked of the user stands once, in ``manifest.json``; it names no
homepage, documentation or support, since the project has no address yet. What of Python is compiled
is what a start imports (``--no-compile-bytecode``): all of it took the first start twice as long.

Formats: MCPB manifest 0.4 (github.com/modelcontextprotocol/mcpb) and server.schema.json 2025-12-11
(github.com/modelcontextprotocol/registry).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_RELEASE = re.compile(r"https://github\.com/(?P<owner>[\w-]+)/[\w.-]+/releases/download/\S+\.mcpb")
LOCK = "requirements.lock"
_EXPORT = [
    "uv",
    "export",
    "--quiet",
    "--no-emit-project",
    "--no-dev",
    "--no-annotate",
    "--no-header",
]
_ALWAYS = ("server.py", "pyproject.toml", "README.md", "LICENSE")
# A zip made twice from the same files is the same zip.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def manifest() -> dict[str, Any]:
    """Return the hand-written manifest with the version and tools of this checkout.

    The tools are those of the toolsets that the bundle offers by default. ``tools_generated`` says
    that there may be more: the user can choose further toolsets.
    """
    from utils.system.process import get_version

    path = ROOT / "packaging" / "manifest.json"
    written: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    toolsets = written["user_config"]["toolsets"]["default"].split(",")
    tools = asyncio.run(_list_tools(toolsets))
    return {**written, "version": get_version(), "tools": tools, "tools_generated": True}


async def _list_tools(toolsets: list[str]) -> list[dict[str, str]]:
    from fastmcp import Client

    from utils import Library
    from utils.mcp import build
    from utils.settings import Settings

    # Not read from anywhere: what is on the shelf or in the environment of whoever builds is
    # no part of the bundle.
    settings = Settings.model_construct(mcp_toolsets=tuple(toolsets))
    async with Client(build(Library(settings))) as client:
        return [
            {"name": tool.name, "description": tool.description or ""}
            for tool in await client.list_tools()
        ]


def files() -> Iterator[Path]:
    """What the server needs to run, in a fixed order."""
    yield from (ROOT / name for name in _ALWAYS)
    for path in sorted((ROOT / "utils").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
            yield path


def export_lock() -> bytes:
    """Return the pinned requirements of all platforms, with hashes and without addresses.

    Resolved in a copy of ``pyproject.toml``, so that the checkout keeps no lock file.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pyproject.toml", "README.md"):
            shutil.copy(ROOT / name, folder)
        done = subprocess.run(  # noqa: S603 - a command of ours
            _EXPORT, cwd=folder, check=True, capture_output=True
        )
    return done.stdout


def bundle(folder: Path, lock: bytes) -> Path:
    """Write the bundle with its *lock* into *folder*; return its path."""
    about = manifest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{about['name']}-{about['version']}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _put(archive, "manifest.json", json.dumps(about, indent=2, ensure_ascii=False).encode())
        _put(archive, LOCK, lock)
        _put(archive, about["icon"], (ROOT / "packaging" / about["icon"]).read_bytes())
        for file in files():
            _put(archive, file.relative_to(ROOT).as_posix(), file.read_bytes())
    return path


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def registry_entry(path: Path, release: str) -> dict[str, Any]:
    """``server.json`` for the bundle at *path*, to be downloaded from *release*."""
    found = _RELEASE.fullmatch(release)
    if not found:
        msg = "The registry takes bundles from releases: https://github.com/…/releases/download/…"
        raise SystemExit(msg)
    about = manifest()
    asked = about["user_config"]
    variables = [
        {
            "name": variable,
            "description": asked[field]["description"],
            "isRequired": asked[field].get("required", False),
            "isSecret": asked[field].get("sensitive", False),
        }
        for variable, value in about["server"]["mcp_config"]["env"].items()
        for field in [value.removeprefix("${user_config.").removesuffix("}")]
    ]
    return {
        "$schema": SERVER_SCHEMA,
        "name": f"io.github.{found['owner']}/{about['name']}",
        "title": about["display_name"],
        "description": about["description"],
        "version": about["version"],
        "packages": [
            {
                "registryType": "mcpb",
                "identifier": release,
                "version": about["version"],
                "fileSha256": hashlib.sha256(path.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
                "environmentVariables": variables,
            }
        ],
    }


def main() -> int:
    """Write what was asked for, and say where."""
    parser = argparse.ArgumentParser(description="Make the desktop bundle (.mcpb).")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder (dist/)")
    parser.add_argument("--release", default="", help="where the bundle will be downloaded from")
    args = parser.parse_args()
    path = bundle(args.to, export_lock())
    sys.stdout.write(f"{path}\n")
    if args.release:
        entry = args.to / "server.json"
        entry.write_text(
            f"{json.dumps(registry_entry(path, args.release), indent=2)}\n", encoding="utf-8"
        )
        sys.stdout.write(f"{entry}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
