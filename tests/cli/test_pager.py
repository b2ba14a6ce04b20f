"""Long lists on a terminal go through the pager; nothing else does."""

import subprocess
import sys

import pytest

from utils.cli import pager
from utils.system.progress_display import LINE

LONG = "".join(f"paper {number}\n" for number in range(200))


@pytest.fixture
def terminal(monkeypatch, tmp_path):
    """A terminal of 24 lines, and a pager that writes what it is given into a file."""
    shown = tmp_path / "shown.txt"
    program = tmp_path / "pager.py"
    program.write_text(
        "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read())", encoding="utf-8"
    )
    monkeypatch.setenv("PAGER", f"'{sys.executable}' '{program}' '{shown}'")
    monkeypatch.delenv("NO_PAGER", raising=False)
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(LINE, "quiet", False)
    monkeypatch.setattr(pager, "is_terminal", lambda: True)
    return shown


def print_list(name="list", text=LONG):
    with pager.page_output(name):
        sys.stdout.write(text)


def test_a_long_list_is_shown_by_the_pager(terminal, capsys):
    print_list()
    assert terminal.read_text(encoding="utf-8").splitlines() == LONG.splitlines()
    assert not capsys.readouterr().out


def test_a_short_list_is_not(terminal, capsys):
    print_list(text="paper 1\n")
    assert not terminal.exists()
    assert capsys.readouterr().out == "paper 1\n"


def test_long_lines_count_as_the_rows_that_they_fill(terminal):
    print_list(text="x" * 80 * 30 + "\n")
    assert terminal.exists()


@pytest.mark.parametrize("why", ["NO_PAGER", "cat", "missing", "piped", "quiet", "no list"])
def test_what_is_never_paged(terminal, monkeypatch, capsys, why):
    if why == "NO_PAGER":
        monkeypatch.setenv("NO_PAGER", "1")
    elif why == "piped":
        monkeypatch.setattr(pager, "is_terminal", lambda: False)
    elif why == "quiet":
        monkeypatch.setattr(LINE, "quiet", True)
    elif why != "no list":
        monkeypatch.setenv("PAGER", {"cat": "cat", "missing": "no-such-pager"}[why])
    print_list("download" if why == "no list" else "list")
    assert not terminal.exists()
    assert capsys.readouterr().out == LONG


def test_what_was_printed_before_an_error_is_shown(terminal):
    @pager.page_output("list")
    def fail():
        sys.stdout.write(LONG)
        raise ValueError("torn")

    with pytest.raises(ValueError, match="torn"):
        fail()
    assert "paper 199" in terminal.read_text(encoding="utf-8")


def test_a_person_may_leave_the_pager_early(terminal, monkeypatch):
    monkeypatch.setenv("PAGER", f"'{sys.executable}' -c pass")
    print_list(text=LONG * 1000)


def test_the_usual_pager_is_less(terminal, monkeypatch):
    begun = []

    def begin(command, **kwargs):
        begun.append(command)
        return real([sys.executable, "-c", "pass"], **kwargs)

    real = subprocess.Popen
    monkeypatch.delenv("PAGER")
    monkeypatch.setattr(pager.shutil, "which", lambda name: name)
    monkeypatch.setattr(pager.subprocess, "Popen", begin)
    print_list()
    assert begun == [["less", "-FRX"]]
