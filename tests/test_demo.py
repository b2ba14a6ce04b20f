"""The demo works wherever it is called from, whatever the settings."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import Process
from utils import cli
from utils.cli import demo, harvests
from utils.demo.papers import BY_BRANCH, PAPERS, QUERY
from utils.model import sites

ROOT = Path(__file__).resolve().parents[1]
LARGEST = 1_500  # lines that the demo may add to the package


def test_the_package_needs_nothing_of_the_tests_for_its_demo():
    lines = 0
    for file in (ROOT / "utils" / "demo").glob("*.py"):
        source = file.read_text(encoding="utf-8")
        lines += len(source.splitlines())
        imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
        assert not [node.module for node in imports if (node.module or "").startswith("tests")]
    assert lines <= LARGEST


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """The folder that the demo writes to."""
    monkeypatch.setattr(demo.tempfile, "mkdtemp", lambda **_: str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_newcomer_sees_a_harvest_its_report_and_what_to_do_next(folder, capsys):
    assert cli.main(["setup", "demo"]) == 0
    said = capsys.readouterr()
    expected = [record.expected for record in PAPERS]
    assert f"{expected.count('full_text')} full text" in said.out
    for line in (
        "PubMed Central                   ███████████████ 3",
        "publisher's page                 █████ 1",
        "Jina Reader                      █████ 1",
        "no text: Behind a paywall        █████ 1",
        "no text: Different paper served  █████ 1",
        "no text: Closed to programs      █████ 1",
        "requested again: found on the shelf, 0 requests sent",
    ):
        assert line in said.out
    report = next(folder.glob("papers/reports/*/report.html"))
    assert f"report: {report}" in said.out
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "PUBMED_EMAIL" in said.err.splitlines()[-1]


@pytest.mark.slow
def test_no_page_of_a_wall_or_of_another_paper_is_taken_for_the_text(folder, capsys):
    assert cli.main(["setup", "demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["full_text"] == 5
    assert told["counts"]["abstract"] == 4
    assert told["reasons"] == dict.fromkeys(
        ("bot_check", "not_offered", "paywall", "wrong_paper"), 1
    )
    assert Path(told["report"]).is_file()


def test_what_is_set_for_real_papers_does_not_disturb_it(folder, monkeypatch):
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
    with demo.open_demo() as (library, _):
        assert library.search(QUERY).total == len(PAPERS)
        assert not library.settings.key("ncbi_api_key") + library.settings.key("jina_api_key")
        pmid = BY_BRANCH["efetch_only"].pmid
        assert library.download(pmid).stored.paper.ids.pmid == pmid
        assert library.settings.papers_dir == folder / "papers"


def test_every_service_is_asked_on_this_computer(folder):
    with demo.open_demo() as (library, _):
        addresses = [one.service for site in sites.SITES for one in site.addresses]
        assert addresses
        for service in addresses:
            assert library.settings.address(service).startswith("http://127.0.0.1:")


def test_a_chart_is_drawn_in_letters_that_the_terminal_has(monkeypatch):
    class Harvest:
        class ledger:  # noqa: N801
            @staticmethod
            def count_coverage():
                from utils.model.job import Coverage

                return Coverage(sources={"efetch": 2}, reasons={"bot_check": 1})

    monkeypatch.setattr(demo, "supports_unicode", lambda: False)
    assert demo.draw_outcome_bars(Harvest()) == [
        "  PubMed Central               ########## 2",
        "  no text: Closed to programs  ##### 1",
    ]


def test_interrupted_it_says_so(folder, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    def leave(status):
        raise SystemExit(status)

    monkeypatch.setattr(harvests, "watch_harvest", interrupted)
    monkeypatch.setattr(harvests, "exit_now", leave)
    with pytest.raises(SystemExit, match="130"):
        cli.main(["setup", "demo"])
    assert "Interrupted" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "when"),
    [(signal.SIGINT, "Serving"), (signal.SIGINT, "It takes"), (signal.SIGTERM, "Searching")],
)
def test_a_signal_ends_all_of_it(tmp_path, number, when):
    with Process(
        [sys.executable, ROOT / "server.py", "setup", "demo"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while when not in (line := process.stderr.readline()):
            assert line, "the demo ended by itself"
        process.send_signal(number)
        assert process.wait() == 130
        assert process.nothing_left()
        assert "Traceback" not in process.stderr.read()
