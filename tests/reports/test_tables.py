"""``papers.csv`` and ``not_retrieved.csv``: complete, linked, and harmless in a spreadsheet."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reports import invented
from utils.errors import StoreFailed
from utils.model.identifiers import Ids
from utils.model.job import Harvested, Job
from utils.model.paper import Paper
from utils.reports import write_report
from utils.system.plain_text import to_spreadsheet_cell


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_paper_has_its_row(tmp_path: Path) -> None:
    write_report(invented.job(), lambda: invented.rows(300, pending=0.1), tmp_path)
    rows = table(tmp_path / "papers.csv")
    told = [(row["number"], row["state"], row["doi"], row["sha256"]) for row in rows]
    assert told == [
        (str(r.number), r.state, r.paper.ids.doi, r.sha256) for r in invented.rows(300, pending=0.1)
    ]


def test_what_is_missing_has_a_reason_and_a_link(tmp_path: Path) -> None:
    write_report(invented.job(), lambda: invented.rows(300, pending=0.1), tmp_path)
    rows = table(tmp_path / "not_retrieved.csv")
    missing = [r for r in invented.rows(300, pending=0.1) if r.state in ("abstract", "failed")]
    assert [row["number"] for row in rows] == [str(r.number) for r in missing]
    assert all(row["reason"] and row["sentence"] for row in rows)
    assert all(row["link"] == row["doi_link"] == f"https://doi.org/{row['doi']}" for row in rows)


def test_without_a_sentence_the_reason_is_explained(tmp_path: Path) -> None:
    row = Harvested(1, "7", "abstract", Paper(Ids(pmid="7", pmcid="PMC8")), reason="paywall")
    write_report(Job("j", "t"), lambda: iter([row]), tmp_path)
    [told] = table(tmp_path / "not_retrieved.csv")
    assert told["sentence"] == "The publisher sells this paper, and no free copy was found."
    assert told["link"] == told["pmc_link"] == "https://pmc.ncbi.nlm.nih.gov/articles/PMC8/"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t=", "\r\n=", " =", "＝", "＋", "－", "＠"])
def test_no_cell_begins_a_formula(sign: str, tmp_path: Path) -> None:
    text = f"{sign}cmd|' /C calc'!A0"
    row = next(invented.rows(1))
    row = replace(row, asked=text, license=text, detail=text, state="abstract", reason=text)
    row = replace(row, paper=replace(row.paper, title=text, journal=text, published=text))
    write_report(Job("j", "t"), lambda: iter([row]), tmp_path)
    for name in ("papers.csv", "not_retrieved.csv"):
        [told] = table(tmp_path / name)
        assert told["title"].startswith("'")
        assert not [c for c in told.values() if c.startswith(("=", "+", "-", "@", "＝", "\t"))]


def test_a_cell_is_one_line_without_hidden_characters() -> None:
    assert (
        to_spreadsheet_cell("A\u202etitle\x1b[2J\nof  two\u2028lines ") == "Atitle[2J of two lines"
    )
    assert to_spreadsheet_cell("  ") == ""


def test_a_failure_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    def broken() -> Iterator[Harvested]:
        yield from invented.rows(50)
        raise StoreFailed("the ledger is gone")

    write_report(invented.job(), lambda: invented.rows(20), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(StoreFailed, match="ledger"):
        write_report(invented.job(), broken, tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreFailed, match="file"):
        write_report(invented.job(), lambda: invented.rows(1), tmp_path / "file" / "job")


def test_the_folder_holds_the_promised_files_and_nothing_else(tmp_path: Path) -> None:
    page = write_report(invented.job(), lambda: invented.rows(5), tmp_path / "reports" / "j")
    assert page == tmp_path / "reports" / "j" / "report.html"
    assert {file.name for file in page.parent.iterdir()} == {
        *("report.html", "prisma.svg", "prisma.csv", "papers.csv", "not_retrieved.csv"),
        *("papers.lock.json", "worklist.html", "not_retrieved.ris", "searches.csv", "prisma.yaml"),
    }


def test_papers_are_gone_through_once_and_not_kept(tmp_path: Path) -> None:
    """What is held must not grow with the papers: their abstracts alone would fill the memory."""
    import gc
    import weakref

    class Marked(Paper):
        __slots__ = ("__weakref__",)

    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    most, calls = 0, 0

    def rows() -> Iterator[Harvested]:
        nonlocal most, calls
        calls += 1
        for row in invented.rows(3000):
            fields = {name: getattr(row.paper, name) for name in Paper.__slots__}
            paper = Marked(**fields)
            alive.add(paper)
            yield replace(row, paper=paper)
            if row.number % 500 == 0:
                gc.collect()
                most = max(most, len(alive))

    write_report(invented.job(), rows, tmp_path)
    assert calls == 1
    assert most <= 4 * 200 + 2


def test_what_did_not_change_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(invented.rows(300))
    write_report(invented.job(), lambda: iter(rows), tmp_path)

    def seen() -> dict[str, tuple[int, int]]:
        stats = {path.name: path.stat() for path in tmp_path.iterdir()}
        return {name: (one.st_ino, one.st_mtime_ns) for name, one in stats.items()}

    before = seen()
    monkeypatch.setattr("utils.reports.utc_now", lambda: "2031-01-01T00:00:00+00:00")
    write_report(invented.job(), lambda: iter(rows), tmp_path)
    assert seen() == before
    other = [replace(row, reason="captcha") if row.reason == "paywall" else row for row in rows]
    write_report(invented.job(), lambda: iter(other), tmp_path)
    renewed = {name for name, one in seen().items() if one != before[name]}
    assert renewed == {
        *("papers.csv", "not_retrieved.csv", "report.html", "worklist.html"),
    }
    assert "1 January 2031" in (tmp_path / "report.html").read_text(encoding="utf-8")
