"""One process at a time on each piece of a mirror's work; who comes second is told who is at it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mirror.small_mirror import mirror_of, updated, year
from tests.processes import Process
from utils import cli
from utils.errors import StoreBusy
from utils.mirror.locks import exclusive_lock

pytestmark = pytest.mark.extras("pyarrow", "duckdb", "tantivy")
ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import sys
from pathlib import Path
from utils.mirror.locks import exclusive_lock
with exclusive_lock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def mirror(world, tmp_path):
    world.bulk = year()
    made = mirror_of(world, tmp_path)
    updated(made)
    return made


@pytest.mark.parametrize(
    ("lock", "work"),
    [
        ("pmc.lock", lambda mirror: mirror.update_pmc()),
        ("citations.lock", lambda mirror: mirror.update_citations()),
        ("words/pubmed/index.lock", lambda mirror: mirror.index()),
        ("words/pubmed-passages/index.lock", lambda mirror: mirror.index()),
        ("embed.lock", lambda mirror: mirror.embed()),
    ],
)
def test_who_comes_second_is_told_and_may_come_again(mirror, embedder, lock, work):
    vectors = mirror.vectors(embedder.model).folder
    path = (vectors if lock == "embed.lock" else mirror.folder) / lock
    path.parent.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(path, "it"), pytest.raises(StoreBusy, match="Another process") as raised:
        list(work(mirror))
    assert raised.value.details["holder"].startswith(f"Process {os.getpid()} on ")
    assert list(work(mirror))


def test_the_shell_names_who_is_at_work_and_ends_with_four(mirror, settings, monkeypatch, capsys):
    """A lock of another process is its own, and free when that one ends, however it does."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    command = [sys.executable, "-c", HOLD, str(mirror.folder / "update.lock")]
    asked = ["mirror", "pubmed", "--engine", "here", "--folder", str(mirror.folder), "--json"]
    with Process(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        assert cli.main(asked) == 4
        error = json.loads(capsys.readouterr().out)["error"]
        assert (error["code"], error["details"]["retryable"]) == ("STORE", True)
        assert f"Process {holder.pid} on " in error["details"]["holder"]
        holder.kill()
        holder.wait()
    assert cli.main(asked) == 0
