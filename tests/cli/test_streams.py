"""What every command writes to standard output and error: with --quiet, in a pipe, in colour."""

import io
import secrets
import shlex
import sys

import pytest

from tests.shelf.papers import document, fetched, paper
from utils import Library, cli
from utils.cli import COMMANDS
from utils.cli.output import make_console
from utils.system.progress_display import LINE

OFFLINE = {
    "read": "7", "list": "", "cite": "7", "export": "", "harvest status": "JOB",
    "harvest report": "JOB", "shelf audit": "7 --json", "shelf keep": "7 --as rejected --because x",
    "shelf rebuild": "", "shelf verify": "a.md", "setup settings": "", "setup update": "",
    "setup token": "bob", "review new": "moss", "review status": "moss", "check": "a.md",
    "corpus stats": "", "corpus checkpoint": "moss", "harvest inbox": "", "data datasets": "",
}  # fmt: skip
"""Commands that need no network and no extra, with the words to try them with."""
_WITHOUT_OUTPUT = {"harvest inbox", "data datasets"}
"""Those of them that have nothing to say here."""


@pytest.fixture
def typed(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command on a shelf with one paper: its two streams."""
    monkeypatch.setenv("PUBMED_EMAIL", "tester@lab.edu")
    monkeypatch.setenv("MCP_AUTH_SECRET_KEY", secrets.token_hex(32))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    library = Library()
    library.shelf.save_full_text(paper(pmid="7"), document(), fetched(), source="PMC", attempts=())
    harvest = library.harvest(["7"])
    library.reviews.create("moss")
    (tmp_path / "a.md").write_text("# A\n\nCells move.\n", encoding="utf-8")

    def run(command, *options):
        words = shlex.split(OFFLINE[command].replace("JOB", harvest.job_id))
        cli.main([*command.split(), *words, *options])
        return capsys.readouterr()

    yield run
    LINE.quiet = False
    library.close()


def test_the_commands_that_are_tried_exist():
    assert OFFLINE.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("command", OFFLINE)
def test_quiet_leaves_the_answer_and_no_remark(typed, command):
    shown = typed(command, "--quiet")
    assert bool(shown.out) is (command not in _WITHOUT_OUTPUT)
    assert all(line.startswith("warning: ") for line in shown.err.splitlines())
    assert "\x1b" not in shown.out + shown.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_quiet_and_verbose(name, capsys):
    with pytest.raises(SystemExit):
        cli.main([*name.split(), "--quiet", "--verbose", "--help"])
    assert "--quiet" in capsys.readouterr().out


@pytest.mark.parametrize("variable", ["NO_COLOR=1", "TERM=dumb", ""])
def test_colours_are_a_matter_of_the_terminal(monkeypatch, capsys, variable):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable:
        monkeypatch.setenv(*variable.split("="))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    make_console().print("[bold yellow]moss")
    assert ("\x1b" in capsys.readouterr().out) is (not variable)


def test_a_dumb_terminal_has_no_progress_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for term, shown in (("dumb", ""), ("xterm", "\r1 of 2")):
        monkeypatch.setenv("TERM", term)
        LINE.show_text("1 of 2")
        assert capsys.readouterr().err == shown
    LINE.clear_line()
