"""What the shell prints: nothing from the web acts on a terminal, and no console makes it fail."""

import io
import json
import sys
from dataclasses import replace

import pytest

from tests.shelf.papers import document, fetched, paper
from utils import Library, cli, errors
from utils.model.identifiers import Ids
from utils.model.paper import SearchResult

pytestmark = pytest.mark.story

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\U000e0041\ud800"
FORBIDDEN = set("\x1b\x07\x9b\u202e\U000e0041\ud800\r\x7f")


@pytest.fixture
def hostile(library, settings, monkeypatch):
    """A shelf with a paper that tries everything; the shell works on it."""
    for name, value in settings.items():
        monkeypatch.setenv(name.upper(), str(value))
    about = replace(
        paper(pmid="7", doi="10.1000/a"),
        title=f"Cells{ESCAPES}\r\n● 999  a line of its own",
        abstract=f"An abstract{ESCAPES}.\nIts second line.",
        journal=f"Journal{ESCAPES}",
    )
    library.shelf.save_full_text(
        about,
        document(f"# Cells\n\n## A{ESCAPES}B\n\n" + "The text. " * 60),
        fetched(license=f"CC BY{ESCAPES}"),
        source="PMC",
        attempts=(),
    )
    # As somebody else's file: it is served as it is.
    foreign = f"Title: A\nPMID: 5\n\ntwo\nlines {ESCAPES.removesuffix(chr(0xD800))} " + "word " * 60
    (library.shelf.folder / "pmid_5.txt").write_text(foreign, encoding="utf-8")
    return about


def test_searches_show_no_control_sequences(hostile, monkeypatch, capsys):
    found = SearchResult(
        "cells", f"cells{ESCAPES}\nnone", 1, (hostile,), warnings=(f"odd{ESCAPES}",)
    )
    monkeypatch.setattr(Library, "search", lambda *_, **__: found)
    assert cli.main(["search", "cells", "--abstracts"]) == 0
    said = capsys.readouterr()
    assert not FORBIDDEN & set(said.out + said.err)
    # Title, journal, names, and the two lines of the abstract: nothing forges a line.
    assert len(said.out.splitlines()) == 5
    assert len(said.err.splitlines()) == 2


@pytest.mark.parametrize(
    "command", [["list"], ["read", "7"], ["read", "5"], ["read", "7", "--outline"]], ids=" ".join
)
def test_what_lies_on_the_shelf_shows_no_control_sequences(hostile, capsys, command):
    assert cli.main(command) == 0
    said = capsys.readouterr()
    assert not FORBIDDEN & set(said.out + said.err)


def test_lines_of_a_text_stay_lines(hostile, capsys):
    cli.main(["read", "5"])
    assert capsys.readouterr().out.startswith("Title: A\nPMID: 5\n\ntwo\nlines ")


def test_a_download_shows_no_control_sequences(hostile, capsys):
    assert cli.main(["download", "7"]) == 0
    said = capsys.readouterr()
    assert not FORBIDDEN & set(said.out + said.err)


def test_errors_show_no_control_sequences(hostile, capsys):
    assert cli.main(["read", "7", "--section", "\x1b[2Jnone"]) == 2
    assert not FORBIDDEN & set(capsys.readouterr().err)


@pytest.mark.parametrize("command", [["list", "--json"], ["read", "5", "--json"]], ids=" ".join)
def test_json_escapes_what_acts_and_loses_nothing(hostile, library, capsys, command):
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    assert not FORBIDDEN & set(said)
    rows = [json.loads(line) for line in said.splitlines()]
    if command[0] == "read":
        assert rows[0]["text"] == library.shelf.read_text(library.shelf.find_text(Ids(pmid="5")))


def standard_output(monkeypatch, encoding, *, console):
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(out, "isatty", lambda: console)
    monkeypatch.setattr(sys, "stdout", out)
    return out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_console_without_a_letter_shows_question_marks_and_says_so_once(
    hostile, monkeypatch, capsys, encoding
):
    out = standard_output(monkeypatch, encoding, console=True)
    assert cli.main(["list"]) == 0
    out.flush()
    assert out.buffer.getvalue().startswith(b"? doi:10.1000/a  Cells")
    assert capsys.readouterr().err.count("console cannot show some characters") == 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "gbk"])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_file_or_pipe_is_utf_8_and_loses_no_letter(
    library, hostile, monkeypatch, capsys, encoding, options
):
    library.shelf.save_abstract(replace(paper(pmid="8"), title="Taştekin δ"), ())
    out = standard_output(monkeypatch, encoding, console=False)
    assert cli.main(["list", "Taştekin", *options]) == 0
    out.flush()
    assert "Taştekin δ" in out.buffer.getvalue().decode("utf-8")
    assert "console" not in capsys.readouterr().err


def test_a_stream_that_cannot_be_told_how_to_encode_is_written_to(hostile, monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert cli.main(["list", "--json"]) == 0
    assert json.loads(out.getvalue().splitlines()[0])


def _every_error(kind: type[errors.PaperError] = errors.PaperError) -> list[type]:
    return [kind, *(one for below in kind.__subclasses__() for one in _every_error(below))]


@pytest.mark.parametrize("kind", _every_error())
def test_an_error_without_a_hint_of_its_own_says_what_to_do_next(kind, capsys):
    cli.output.print_error(kind("The site is down."), as_json=False)
    said = capsys.readouterr().err
    assert said.startswith("The site is down. ")
    assert said.rstrip().endswith(kind("").default_hint)


def test_an_error_with_hints_of_its_own_says_those_alone(capsys):
    cli.output.print_error(errors.Unreachable("The site is down.", "Wait a day."), as_json=False)
    assert capsys.readouterr().err == "The site is down. Wait a day.\n"


def test_a_paper_that_could_not_be_stored_decides_the_exit_status(settings, monkeypatch, capsys):
    """A script that sees 4 frees space; 1 would tell it that a paper has no full text."""
    outcomes = [
        (Ids(pmid="7"), errors.StoreFailed("The disk is full.")),
        (Ids(pmid="8"), errors.NotAvailable("It is nowhere.")),
    ]
    monkeypatch.setattr(Library, "download_many", lambda *_, **__: iter(outcomes))
    assert cli.main(["download", "7", "8"]) == 4
    assert "The disk is full." in capsys.readouterr().out
