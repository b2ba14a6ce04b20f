"""The demo works wherever it is called from, whatever the settings, and leaves nothing running."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harvests import ids_of
from tests.processes import Process
from tests.world.field import Field
from utils import cli
from utils.cli import demo, harvests
from utils.errors import NotFound, StoreFailed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def worlds(monkeypatch, tmp_path):
    """A small stage below the test's folder; the processes that were started for it."""
    started = []
    begin = subprocess.Popen

    class Started(begin):
        def __init__(self, command, *args, **kwargs):
            super().__init__(command, *args, **kwargs)
            if "tests.world" in command:
                started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Started)
    monkeypatch.setattr(demo, "_PAPERS", 6)
    monkeypatch.setattr(demo.tempfile, "mkdtemp", lambda **_: str(tmp_path))
    return started


def test_a_newcomer_sees_a_harvest_its_report_and_what_to_do_next(worlds, capsys):
    assert cli.main(["demo", "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    expected = [record.expected for record in Field(6)]
    assert told["counts"]["full_text"] == expected.count("full_text")
    assert told["counts"]["requested"] == 6
    assert Path(told["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "PUBMED_EMAIL" in said.err.splitlines()[-1]
    assert [world.poll() is not None for world in worlds] == [True]


def test_no_command_is_advised_for_a_shelf_that_is_not_the_readers(worlds, monkeypatch, capsys):
    def watch(harvest, **_):
        for row in harvest.ledger.rows():
            harvest.ledger.fail(row.number, "could_not_tell", "Nobody answered.")
        harvest.ledger.record_end()
        harvest.report()

    monkeypatch.setattr(harvests, "watch", watch)
    assert cli.main(["demo"]) == 0
    said = capsys.readouterr().out
    assert "6  could not tell" in said
    assert "--job" not in said


def test_what_is_set_for_real_papers_does_not_disturb_it(worlds, monkeypatch):
    """Nor is a real key sent anywhere, or the shelf of somebody touched."""
    for name, value in {
        "PAPERS_OFFLINE": "true",
        "PAPERS_SOURCES": "jina",
        "NCBI_API_KEY": "secret",
        "JINA_API_KEY": "secret",
        "NCBI_REQUEST_DELAY_MS": "60000",
        "PAPERS_DIR": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    with demo.stage() as (library, query):
        assert library.search(query).total == 6
        assert not library.settings.key("ncbi_api_key") + library.settings.key("jina_api_key")
        paper = ids_of(Field(6)[0])
        assert library.download(paper).stored.paper.ids.pmid == paper.pmid
        assert library.settings.papers_dir != Path("/nowhere")


def test_interrupted_it_takes_its_world_along(worlds, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    def leave(status):
        raise SystemExit(status)

    monkeypatch.setattr(harvests, "watch", interrupted)
    monkeypatch.setattr(harvests, "leave", leave)
    with pytest.raises(SystemExit, match="130"):
        cli.main(["demo"])
    assert [world.poll() is not None for world in worlds] == [True]
    assert "Interrupted" in capsys.readouterr().err


def test_an_installed_package_says_where_the_stage_is(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "_ROOT", tmp_path)
    with pytest.raises(NotFound, match="stand-in"), demo.stage():
        pass
    assert cli.main(["demo"]) == 1
    assert "checkout" in capsys.readouterr().err


def test_a_world_that_does_not_start_is_no_mystery(worlds, monkeypatch, tmp_path):
    monkeypatch.setattr(demo, "_PAPERS", "none")  # its command refuses that, and says why
    with pytest.raises(StoreFailed, match="did not start"), demo.stage():
        pass
    assert [world.poll() is not None for world in worlds] == [True]


@pytest.mark.parametrize(
    ("number", "when"),
    [
        (signal.SIGINT, "Setting up"),
        (signal.SIGINT, "It takes"),
        (signal.SIGTERM, "Harvesting"),
        (signal.SIGKILL, "It takes"),
    ],
)
def test_a_signal_ends_all_of_it(tmp_path, number, when):
    """Also while the stand-in is not up yet, and though nothing can be done about ``kill -9``."""
    with Process(
        [sys.executable, ROOT / "server.py", "demo"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while when not in (line := process.stderr.readline()):
            assert line, "the demo ended by itself"
        process.send_signal(number)
        assert process.wait() == (-number if number == signal.SIGKILL else 130)
        assert process.nothing_left()
        assert "Traceback" not in process.stderr.read()
