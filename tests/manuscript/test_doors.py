"""`check` at the doors: shell with its exit status, page, MCP."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.manuscript.test_check import _bibtex, _markdown
from tests.mcp.calling import call
from tests.world import World
from utils import Library
from utils.cli import main
from utils.manuscript.page import render_check_page

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def library(settings: dict[str, Any]) -> Iterator[Library]:
    library = Library(**settings, mcp_toolsets=("core", "review"))
    yield library
    library.shelf.close()


@pytest.fixture
def in_world(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    for name, value in world.environment().items():
        monkeypatch.setenv(name, value)
    return world


def test_exit_status_and_files(in_world: World, tmp_path: Path, capsys: Any) -> None:
    record = in_world.paper("pmc_cloud")
    fine = _markdown(tmp_path, "Cells move.\n\nSee [@one].", _bibtex("one", record))
    assert main(["check", str(fine), "--fetch"]) == 0
    assert "1 verified" in capsys.readouterr().out

    wrong = _markdown(tmp_path, "See [@one; @gone].", _bibtex("one", record, year="1987"))
    page = tmp_path / "check.html"
    assert main(["check", str(wrong), "--report", str(page)]) == 1
    told = capsys.readouterr().out
    assert "year: 1987" in told
    assert "paper.md, line 5" in told
    assert "year: 1987" in page.read_text("utf-8")

    assert main(["check", str(wrong), "--json"]) == 1
    row = json.loads(capsys.readouterr().out)
    assert row["unlisted"][0]["key"] == "gone"

    in_world.mood("down")
    other = in_world.paper("pmc_cloud_versions")
    unclear = _markdown(tmp_path, "See [@two].", _bibtex("two", other))
    assert main(["check", str(unclear)]) == 3
    assert main(["check", str(tmp_path / "none.md")]) == 2


def test_findings_that_are_accepted(in_world: World, tmp_path: Path, capsys: Any) -> None:
    in_world.calm()
    record = in_world.paper("pmc_cloud")
    bib = _bibtex("one", record, year="1987")
    wrong = _markdown(tmp_path, "See [@one; @gone].", bib)
    assert main(["check", str(wrong)]) == 1
    marks = re.findall(r"^!.* \[([0-9a-f]{10})\]$", capsys.readouterr().out, re.M)
    assert len(set(marks)) == 2
    accepted = tmp_path / "paper.md.accepted"
    accepted.write_text(f"# why\n\n{marks[0]}  printed so\n{marks[1]} of a talk\n", "utf-8")
    moved = _markdown(tmp_path, "A line more.\n\nSee [@one; @gone].", f"\n\n{bib}")
    page = tmp_path / "check.html"
    assert main(["check", str(moved), "--report", str(page)]) == 0
    told = capsys.readouterr()
    assert "2 accepted" in told.out
    assert "year: 1987" not in told.out
    assert "printed so" in page.read_text("utf-8")
    assert main(["check", str(moved), "--all"]) == 0
    assert "ACCEPTED: printed so" in capsys.readouterr().out

    other = _markdown(tmp_path, "See [@one].", _bibtex("one", record, year="1988"))
    assert main(["check", str(other)]) == 1  # another difference is another finding
    told = capsys.readouterr()
    assert "year: 1988" in told.out
    assert all(mark in told.err for mark in marks)
    accepted.write_text(f"{marks[0]}\n", "utf-8")
    assert main(["check", str(other)]) == 2
    assert "has no reason" in capsys.readouterr().err


def test_the_page_shows_hostile_words_as_words(library: Library, tmp_path: Path) -> None:
    bib = f"@article{{one, title={{{HOSTILE} in a title of some length}}, author={{Roe, J.}}}}"
    path = _markdown(tmp_path, f"See {HOSTILE} [@one; @{{{HOSTILE}}}].", bib)
    page = render_check_page(library.check(path).row())
    assert HOSTILE not in page
    assert "alert(1)" in page


@pytest.mark.anyio
async def test_over_mcp(library: Library, world: World) -> None:
    bib = _bibtex("one", world.paper("retracted"))
    asked = {"text": "So it is [@one].", "references": bib}
    result = await call(library, "check_manuscript", asked)
    assert not result.is_error
    row = result.structured_content
    assert row["status"] == 1
    assert row["references"][0]["warnings"][0]["kind"] == "retracted"
    assert row["references"][0]["place"]["line"] == 1
