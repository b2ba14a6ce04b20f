"""One line of progress on a terminal, none elsewhere, and none that is in the way of output."""

import pytest

from utils import cli
from utils.cli import output, progress
from utils.cli.progress import show_count, show_elapsed_time, show_steps
from utils.system.progress_display import LINE


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Returns what was shown on the terminal of a command, 40 columns wide."""
    monkeypatch.setattr(LINE, "is_visible", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    yield lambda: capsys.readouterr().err
    LINE.clear_line()


class Ended:
    """An event that is set when the list of its answers says so."""

    def __init__(self, answers):
        self.answers = answers

    def wait(self, seconds):
        assert seconds == 1.0
        return next(self.answers)

    def set(self):
        """The command has ended; the list knew."""


def test_a_remark_takes_the_place_of_the_line(terminal):
    show_count(1, 3)
    output.print_note("A remark.")
    assert terminal() == f"\r1 of 3 …\r{' ' * 8}\rA remark.\n"


def test_the_line_is_gone_when_all_is_done(terminal):
    show_count(1, 2)
    show_count(2, 2)
    assert terminal().endswith(f"\r{' ' * 8}\r")


def test_a_long_line_is_cut_to_the_terminal(terminal):
    LINE.show_text("x" * 100)
    assert terminal() == f"\r{'x' * 39}"


@pytest.mark.parametrize(("is_terminal", "quiet"), [(False, False), (True, True)])
def test_nothing_is_shown_in_a_file_or_with_quiet(capsys, monkeypatch, is_terminal, quiet):
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    monkeypatch.setattr(LINE, "quiet", quiet)
    show_count(1, 3)
    assert capsys.readouterr().err == ""
    output.print_warnings(["A warning."])
    assert capsys.readouterr().err == "warning: A warning.\n"


def test_a_command_that_says_nothing_shows_its_name_and_the_seconds(terminal, monkeypatch):
    waits = iter([False, True])  # the second time, the command has ended
    monkeypatch.setattr(progress, "_DELAY_S", 0.0)
    monkeypatch.setattr(progress, "Event", lambda: Ended(waits))
    with show_elapsed_time("download"):
        pass
    assert terminal() == f"\rdownload … 0 s\r{' ' * 14}\r"


def test_what_draws_itself_has_the_terminal_alone(terminal):
    with LINE.pause_display():
        LINE.show_text("a line")
    assert terminal() == ""


def test_steps_are_followed_to_the_last(terminal):
    assert show_steps(iter([1, 2, 3]), str, output.print_note) == 3
    assert show_steps(iter([]), str, output.print_note) is None


def test_quiet_leaves_out_remarks_and_keeps_answers_and_errors(library, monkeypatch, capsys):
    monkeypatch.setenv("PAPERS_DIR", str(library.shelf.folder))
    assert cli.main(["list"]) == 0
    assert "The shelf is empty. To fill it: uv run server.py download ID" in capsys.readouterr().err
    assert cli.main(["list", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert cli.main(["read", "7", "--quiet"]) == 1
    assert "is not on the shelf" in capsys.readouterr().err


def test_verbose_shows_what_is_done_on_the_way(library, monkeypatch, capsys):
    monkeypatch.setenv("PAPERS_DIR", str(library.shelf.folder))
    shown = []
    monkeypatch.setattr("utils.logs.show_all_logs", lambda: shown.append("all"))
    assert cli.main(["list", "--verbose"]) == 0
    assert shown == ["all"]
