"""Years of a mirror with kills; those of a corpus run in ``tests/corpus/test_sync.py``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.examples import share
from tests.processes import run

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.lab
@pytest.mark.extras("pyarrow", "duckdb", "distributed", "tantivy")
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("seed", range(share(6)))
def test_what_is_live_is_what_a_model_of_dictionaries_says_whatever_happens(tmp_path, seed):
    """See `quality.histories.mirror`."""
    command = [sys.executable, "-m", "quality.histories.mirror", str(tmp_path), str(seed), "14"]
    done = run(command, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    met = json.loads(done.stdout)
    assert met["deaths"]
    assert met.keys() & {"a year", "a year, partly"}
    assert met.keys() & {"torn", "wrong_md5", "vanished", "down"}
    assert met.keys() & {"PMC torn", "PMC vanished"}
