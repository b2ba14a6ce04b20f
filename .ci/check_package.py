"""Build the package, and use it outside the checkout with every Python that is installed here.

``python .ci/check_package.py`` needs uv and nothing else. It builds the sdist, and the wheel from
the sdist; checks their metadata; and installs the wheel into an empty environment for each Python
from 3.11 on. There, in an empty home folder, it runs the command, the demo, ``setup doctor``, a
download from the demo's internet, and the MCP server with a client over stdio.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
TIMEOUT_S = 300
PASSED_ON = {
    "PATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "UV_CACHE_DIR",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
}
WITH_PACKAGE = """
import asyncio, os, subprocess, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from papershelf.demo.internet import Internet
from papershelf.demo.papers import BY_BRANCH

async def count_tools():
    async with Client(StdioTransport(command, [], env=dict(os.environ))) as client:
        return len(await client.list_tools())

command = sys.argv[1]
with Internet() as internet:
    for name, value in internet.settings().items():
        os.environ[name.upper()] = str(value)
    paper = BY_BRANCH["publisher_html"].doi
    subprocess.run([command, "download", paper], check=True)
    # Sites that the demo's internet lacks are faults to the doctor, which then ends with 1.
    assert subprocess.run([command, "setup", "doctor"]).returncode in {0, 1}
tools = asyncio.run(count_tools())
assert tools > 5, tools
print(tools, "tools")
"""


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Run a command; return what it wrote to standard output.

    Raises
    ------
    SystemExit
        The command failed; its output is shown.
    """
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT_S,
        check=False,
    )  # fmt: skip
    if done.returncode:
        shown = " ".join(str(part) for part in command)
        sys.exit(f"{shown[:200]}\n{done.stdout}\n{done.stderr}\nexit status {done.returncode}")
    return done.stdout


def find_pythons() -> dict[str, str]:
    """Return the newest installed Python of each minor version, pyenv's included."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    listed = json.loads(run("uv", "python", "list", "--only-installed", "--output-format", "json"))
    paths = {row["path"] for row in listed if row["implementation"] == "cpython"}
    paths |= {str(path) for path in pyenv.glob("versions/3.*/bin/python3")}
    show = "import sys; print(*sys.version_info[:3])"
    versions = {}
    for path in {path for path in paths if "shims" not in path} | {sys.executable}:
        versions[tuple(map(int, run(path, "-c", show).split()))] = path
    return {
        f"{major}.{minor}": path
        for (major, minor, _), path in sorted(versions.items())
        if (major, minor) >= OLDEST
    }


def check_install(version: str, python: str, wheel: Path, folder: Path) -> str:
    """Install the wheel into an empty environment and use it; return a line about it."""
    home, environment = folder / version / "home", folder / version / "environment"
    home.mkdir(parents=True)
    run("uv", "venv", "--quiet", "--python", python, environment)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    suffix = ".exe" if os.name == "nt" else ""
    own_python, command = programs / f"python{suffix}", programs / f"papershelf{suffix}"
    run("uv", "pip", "install", "--quiet", "--python", own_python, wheel)
    env = {name: value for name, value in os.environ.items() if name in PASSED_ON}
    env |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONUTF8": "1"}
    told = run(command, "--version", cwd=home, env=env).strip()
    demo = json.loads(run(command, "setup", "demo", "--json", cwd=home, env=env))
    if demo["counts"]["full_text"] == 0 or demo["counts"]["failed"]:
        sys.exit(f"The demo of Python {version} ended with {demo['counts']}")
    tools = run(own_python, "-c", WITH_PACKAGE, command, cwd=home, env=env).splitlines()[-1]
    return f"Python {version}: {told}; demo, doctor and download; {tools} over stdio"


def main() -> None:
    """Build, check and use the package."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("uv", "build", "--quiet", "--out-dir", folder / "built")
        built = sorted((folder / "built").glob("papershelf-*"))
        run("uvx", "twine", "check", "--strict", *built)
        wheel = next(file for file in built if file.suffix == ".whl")
        pythons = find_pythons()
        for minor in range(OLDEST[1], 15):
            if f"3.{minor}" not in pythons:
                print(f"Python 3.{minor}: skipped, it is not installed here")
        with ThreadPoolExecutor() as pool:
            checks = [
                pool.submit(check_install, version, python, wheel, folder)
                for version, python in pythons.items()
            ]
            for check in checks:
                print(check.result())


if __name__ == "__main__":
    main()
