"""Progress in a notebook, on a terminal, and where nobody looks."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from utils.system.progress_display import ProgressDisplay


@pytest.fixture
def shown(monkeypatch):
    """Stand in for a Jupyter kernel: what its cell shows."""
    texts = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.HTML = lambda text: text  # type: ignore[attr-defined]
    display.display = lambda text, display_id: (  # type: ignore[attr-defined]
        texts.append(text) or SimpleNamespace(update=texts.append)
    )
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return texts


def test_a_notebook_shows_a_bar_that_ends_full(shown):
    with ProgressDisplay() as display:
        display.show_progress(1, 4, "<b>papers</b>")
        display.show_progress(4, 4, "papers")
    assert 'value="1" max="4"' in shown[0]
    assert "&lt;b&gt;" in shown[0]
    assert 'value="4" max="4"' in shown[-1]


def test_a_file_gets_no_progress(capsys):
    with ProgressDisplay() as display:
        display.show_progress(1, 4)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_one_line_and_clears_it(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressDisplay() as display:
        display.show_progress(1, 4, "papers")
    assert "1 of 4  papers" in capsys.readouterr().err


def test_progress_can_be_turned_off(shown, capsys):
    with ProgressDisplay(is_shown=False) as display:
        display.show_progress(1, 4)
    assert (shown, capsys.readouterr().err) == ([], "")
