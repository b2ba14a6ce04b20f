"""The official validator from npm accepts the bundle for desktop hosts."""

import pytest

from quality.clients.npm_clients import packages
from tests.processes import run
from tests.test_packaging import builder, bundle  # noqa: F401 (fixtures)


def test_the_official_validator_takes_it(bundle, tmp_path):  # noqa: F811
    folder, why = packages()
    if folder is None:
        pytest.skip(why)
    mcpb = ["node", str(folder / "node_modules" / "@anthropic-ai" / "mcpb" / "dist/cli/cli.js")]
    unpacked = run([*mcpb, "unpack", str(bundle), str(tmp_path / "unpacked")])
    assert unpacked.returncode == 0, unpacked.stdout
    done = run([*mcpb, "validate", str(tmp_path / "unpacked" / "manifest.json")])
    assert done.returncode == 0, done.stdout
    assert "passes" in done.stdout
    assert "Icon validation passed" in done.stdout
