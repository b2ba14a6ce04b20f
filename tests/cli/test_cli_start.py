"""How a command starts: what it imports, on which streams it writes, what it says without words."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from tests.processes import Process, run
from tests.shelf.papers import document, fetched, paper
from utils import cli
from utils.cli import COMMANDS, build_parser

ROOT = Path(__file__).resolve().parents[2]
SERVER = str(ROOT / "server.py")
FEATURES = {f"utils.{name}" for name in ("sources", "corpus", "mirror", "manuscript", "review")}
HEAVY = {"fastmcp", "requests", "lxml", "asyncio", "sqlalchemy", "bs4", "pypdfium2", *FEATURES}
IMPORTED = """
import json, runpy, sys
sys.argv = ["server.py", *sys.argv[1:]]
try:
    runpy.run_path("server.py", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
    json.dump(sorted(sys.modules), sys.stderr)
"""


def modules_of(*words, **environment):
    """The modules that a command has imported when it ends."""
    done = run(
        [sys.executable, "-c", IMPORTED, *words], cwd=ROOT, env={**os.environ, **environment}
    )
    return set(json.loads(done.stderr[done.stderr.index("[") :]))


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_no_settings_and_no_feature(option):
    assert not modules_of(option) & {*HEAVY, "pydantic", "utils.library", "utils.cli.papers"}


@pytest.mark.parametrize("words", [["list"], ["read", "7"]], ids=" ".join)
def test_what_reads_the_shelf_imports_no_other_feature(library, words):
    library.shelf.save(
        paper(pmid="7"),
        document("# Cells\n\n## Methods\n\n" + "The text. " * 60),
        fetched(media="html"),
        source="PMC",
        attempts=(),
    )
    imported = modules_of(*words, PAPERS_DIR=str(library.shelf.folder))
    assert "utils.shelf.shelf" in imported
    assert not imported & HEAVY


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_registered_by_the_module_that_is_imported_for_it(name):
    parser = build_parser(name)
    assert COMMANDS[name].about in " ".join(parser.format_help().split())
    assert callable(import_module(COMMANDS[name].module, "utils").add)


def test_no_command_is_left_out_of_the_help():
    told = build_parser().format_help()
    for name in COMMANDS:
        registered = build_parser(name)._actions[-1].choices
        assert registered.keys() <= COMMANDS.keys()
        assert re.search(rf"^ +{name}\b", told, re.M)


def on_a_terminal(*words, **environment):
    """The exit status of a command that is typed, and what it shows."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, SERVER, *words]
    with Process(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, **environment}
    ) as process:
        os.close(theirs)
        parts = []
        with suppress(OSError):  # how Linux says that the other end is closed
            while part := os.read(ours, 1 << 16):
                parts.append(part)
        status = process.wait()
    os.close(ours)
    return status, b"".join(parts).decode("utf-8")


def test_without_words_a_person_is_told_what_to_type():
    status, shown = on_a_terminal()
    assert status == 0
    assert "server.py --help" in shown
    assert "server.py doctor --hosts" in shown


def test_without_words_a_server_that_is_set_to_http_is_served():
    status, shown = on_a_terminal(MCP_TRANSPORT_TYPE="http")
    assert status == 2
    assert "MCP_AUTH_SECRET_KEY" in shown


@pytest.mark.parametrize(
    ("folder", "why"),
    [("/".join(["d" * 100] * 6), "is longer than 400 bytes"), ("x" * 300, "File name too long")],
)
def test_a_path_that_is_too_long_is_said_to_be_so(tmp_path, monkeypatch, capsys, folder, why):
    monkeypatch.setenv("PAPERS_DIR", str(tmp_path / folder))
    assert cli.main(["rebuild"]) == 4
    said = capsys.readouterr().err
    assert why in said
    assert "Set PAPERS_DIR" in said
    assert "disk" not in said


@pytest.mark.parametrize("closed", ["0", "1", "2", "1 2"])
def test_a_closed_stream_is_no_crash(closed, library):
    library.shelf.save_abstract(paper(pmid="7"), ())
    closing = " ".join(f"{number}>&-" for number in closed.split())
    done = run(
        ["sh", "-c", f'"$@" {closing}', "sh", sys.executable, SERVER, "list"],
        env={**os.environ, "PAPERS_DIR": str(library.shelf.folder)},
    )
    assert done.returncode == ("1" in closed)
    assert "Traceback" not in done.stderr
    if closed == "1":
        assert "could not be written" in done.stderr
