"""Long lines are broken between words on a terminal, and nowhere else."""

import json

import pytest

from utils.cli import output, pager, wrapping
from utils.cli.wrapping import wrap_lines
from utils.command_line import command_line
from utils.system.progress_display import LINE

LONG = "○ doi:10.9103/x  Shedding of one receptor limits clustering of another on cells."
COMMAND = command_line("setup --email you@your-university.edu --folder ~/papers --host all")


def show_on_terminal(monkeypatch):
    """Make standard output a terminal of 50 columns."""
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)


def test_a_long_line_continues_below_its_own_beginning():
    assert wrap_lines(LONG, 50).splitlines() == [
        "○ doi:10.9103/x  Shedding of one receptor limits",
        "  clustering of another on cells.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "  /home/you/My Papers/10.9103_signals.2025.0001, a folder with a blank.txt",
        "C:\\Users\\You\\My Papers\\10.9103_signals.2025.0001, a folder with a blank.txt",
        "  \\\\server\\share\\My Papers\\10.9103_signals.2025.0001, a folder.txt",
        "| one cell of a table of Markdown | another cell of the same table |",
        "  semantic_scholar              120          9 s   and some more words",
        "pmid\tthe title of a paper in a row of tabs\tand its journal, which is long",
        f"  {COMMAND}",
    ],
)
def test_what_a_person_copies_and_rows_of_tables_stay_whole(line):
    assert wrap_lines(line, 50) == line


def test_a_command_in_a_sentence_is_put_on_a_line_of_its_own():
    lines = wrap_lines(f"No option says what to set up. For example: {COMMAND}", 50).splitlines()
    assert lines[-1] == COMMAND
    assert max(map(len, lines[:-1])) <= 50


def test_output_on_a_terminal_is_broken(monkeypatch, capsys):
    show_on_terminal(monkeypatch)
    output.print_answer(LONG)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_json_and_references_are_not_broken_on_a_terminal(monkeypatch, capsys):
    show_on_terminal(monkeypatch)
    output.print_answer({"title": LONG}, as_json=True)
    output.print_answer(LONG, unwrapped_lines=True)
    first, second = capsys.readouterr().out.splitlines()
    assert json.loads(first) == {"title": LONG}
    assert second == LONG


def test_output_in_a_file_is_not_broken(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "50")
    output.print_answer(LONG)
    assert capsys.readouterr().out == f"{LONG}\n"


def test_a_paged_list_is_broken_like_any_other(monkeypatch, capsys):
    show_on_terminal(monkeypatch)
    monkeypatch.setattr(LINE, "quiet", False)
    monkeypatch.setattr(pager, "_find_pager", lambda: ["less"])
    with pager.page_output("list"):
        output.print_answer(LONG)
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_terminal_that_is_too_narrow_is_left_alone():
    assert wrap_lines(LONG, wrapping.MIN_COLUMNS - 1) == LONG
