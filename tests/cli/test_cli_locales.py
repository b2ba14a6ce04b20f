"""Files are UTF-8, whatever the locale says: no command reads or writes one in another encoding."""

import os
import sys
from pathlib import Path

import pytest

from tests.processes import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "command", [["--version"], ["settings"], ["list"], ["datasets"]], ids=" ".join
)
def test_no_file_is_opened_in_the_encoding_of_the_locale(command, tmp_path):
    python = [sys.executable, "-X", "warn_default_encoding", "-W", "always::EncodingWarning"]
    places = {"PATH": os.defpath, "HOME": str(tmp_path), "PAPERS_DIR": str(tmp_path / "papers")}
    done = run([*python, str(ROOT / "server.py"), *command], env=places, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    ours = [line for line in done.stderr.splitlines() if "EncodingWarning" in line]
    assert [line for line in ours if str(ROOT / "utils") in line] == []
