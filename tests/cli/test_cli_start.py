"""How a command starts: what it imports, on which streams it writes, what it says without words."""

import json
import os
import re
import shlex
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from tests.processes import Process, run
from tests.shelf.papers import document, fetched, paper
from utils import cli
from utils.cli import COMMANDS, command_list, parse_command
from utils.cli.commands import build_parser

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
    library.shelf.save_full_text(
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
    shown = " ".join(build_parser(name).format_help().split())
    assert COMMANDS[name].about[1:] in shown
    registered = {}
    import_module(COMMANDS[name].module, "utils").add(registered)
    assert registered.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_every_command_are_commands(name):
    examples = COMMANDS[name].examples
    assert len(examples) == 2
    for words in examples:
        assert parse_command([*name.split(), *shlex.split(words)]).verb


def test_help_lists_every_command_once_and_at_most_fifteen_at_the_top(capsys):
    assert len(command_list.list_top_level_names()) == 15
    assert cli.main(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name in COMMANDS:
        group, _, member = name.partition(" ")
        assert re.search(rf" {group} .*?\b{member}\b", shown)


def test_a_group_lists_its_commands(capsys):
    assert cli.main(["corpus"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in command_list.list_members("corpus"))
    assert cli.main(["help", "corpus"]) == 0
    assert capsys.readouterr().out == listed


@pytest.mark.parametrize("words", [["help", "shelf", "audit"], ["audit", "-h"]], ids=" ".join)
def test_help_of_a_command_is_had_both_ways(words, capsys):
    with suppress(SystemExit):
        cli.main(words)
    assert "shelf audit 31452104 --fix" in capsys.readouterr().out


FORMER = {
    "status JOB": "harvest status", "report JOB --draw png": "harvest report",
    "resolve a.csv --output b.ris": "harvest resolve", "inbox --watch": "harvest inbox",
    "snowball 1 --most 20": "review snowball", "related 1 -n 5": "review related",
    "audit --fix": "shelf audit", "keep 1 --undo": "shelf keep", "recheck": "shelf recheck",
    "rebuild": "shelf rebuild", "reextract --all": "shelf reextract",
    "media 1 --most-mb 20": "shelf media", "verify a.html --id 1": "shelf verify",
    "sync k term": "corpus sync", "index": "corpus index", "learn a": "corpus learn",
    "find moss --top-k 3 --year-from 2020 --year-to 2024": "corpus find",
    "quote words": "corpus quote", "stats": "corpus stats", "checkpoint k": "corpus checkpoint",
    "stage gene BRCA1 --max-records 9": "data stage", "datasets": "data datasets",
    "sql d statement --max-rows 5 --out a.csv": "data sql", "settings": "setup settings",
    "doctor --hosts": "setup doctor", "demo --open": "setup demo", "token bob": "setup token",
    "search moss --max-results 5 --min-date 2020/01/02 --max-date 2021": "search",
    "list --year-from 2020 --year-to 2024 --max-results 3": "list",
    "download 1 --output-path a.txt": "download", "check a.md --report a.html": "check",
    "harvest moss --max-papers 9 --min-date 2020 --max-date 2021-05 --most-mb 5": "harvest",
    "mirror pubmed --most 3": "mirror pubmed", "review snowball moss": "review snowball",
}  # fmt: skip


@pytest.mark.parametrize("typed", FORMER)
def test_former_names_of_commands_and_options_are_taken_and_not_shown(typed):
    words = typed.split()
    name, rest = command_list.split_command_name(words)
    assert name == FORMER[typed]
    parser = build_parser(name)
    assert parser.parse_args(rest).verb
    shown = parser.format_help()
    former = {"--most", "--top-k", "--year-from", "--min-date", "--max-results", "--out"}
    assert not {word for word in rest if word in former and f" {word} " in shown}


def test_options_may_stand_between_other_words():
    args = parse_command(["download", "1", "--force", "2", "--json", "3"])
    assert (args.paper, args.force, args.json) == (["1", "2", "3"], True, True)


def completed(line):
    """What Tab offers for a line."""
    done = run(
        ["sh", "-c", '"$@" 8>&1', "sh", sys.executable, SERVER],
        env={**os.environ, "_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_TYPE": "9",
             "COMP_LINE": line, "COMP_POINT": str(len(line))},
    )  # fmt: skip
    return done.stdout.split()


def test_tab_completes_commands_options_and_values():
    pytest.importorskip("argcomplete")
    assert set(command_list.list_top_level_names()) < set(completed("papershelf "))
    assert completed("papershelf sh") == ["shelf"]
    assert completed("papershelf help corpus q") == ["quote"]
    assert set(completed("papershelf harvest ")) >= {"status", "report"}
    assert completed("papershelf shelf audit --f") == ["--fix"]
    assert completed("papershelf audit --f") == ["--fix"]
    assert completed("papershelf cite --style va") == ["vancouver"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_code_for_each_shell_is_printed(shell, capsys):
    pytest.importorskip("argcomplete")
    assert cli.main(["setup", "completion", shell]) == 0
    assert "papershelf" in capsys.readouterr().out


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
    assert "server.py setup\r" in shown


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
    assert done.returncode == (4 if "1" in closed else 0)
    assert "Traceback" not in done.stderr
    if closed == "1":
        assert "could not be written" in done.stderr
