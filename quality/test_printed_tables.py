"""Tables copied by eye are written as tables are, and score what is read from their papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.measures import Scores, words
from quality.printed_tables import Paper, Table, found, papers, score
from utils.readers.pdf.child import read_pages_here


def written(table: Table) -> str:
    """The table as a reader should give it."""
    width = max(map(len, [*table.head, *table.rows]))
    rows = [[*row, *[""] * (width - len(row))] for row in (*table.head, *table.rows)]
    lines = ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join([f"Table {table.label}", "", lines[0], "| --- " * width + "|", *lines[1:]])


def scored(paper: Paper, markdown: str) -> Scores:
    scores = Scores()
    score(paper, markdown, scores)
    return scores


def test_some_thirty_tables_of_different_looks_are_there() -> None:
    known = papers()
    assert len({paper.sha256 for paper in known}) == len({paper.look for paper in known}) >= 10
    assert sum(len(paper.tables) for paper in known) >= 30
    for paper in known:
        assert len(paper.sha256) == 64
        assert len(paper.commit) == 40
        assert paper.repository.count("/") == 1
        assert paper.path.endswith(".pdf")


def test_every_row_of_a_copied_table_is_as_wide_as_the_table() -> None:
    for paper in papers():
        labels = [table.label for table in paper.tables]
        assert len(labels) == len(set(labels))
        for table in paper.tables:
            assert {len(row) for row in table.rows} == {max(map(len, table.rows))}, paper.name
            assert all(len(row) <= len(table.rows[0]) for row in table.head), paper.name
            cells = [cell for row in (*table.head, *table.rows) for cell in row]
            assert cells == [cell.strip() for cell in cells]
            assert all(any(row) for row in table.rows)


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_the_tables_themselves_score_one_and_less_without_a_cell(paper: Paper) -> None:
    whole = "\n\n".join(map(written, paper.tables))
    assert scored(paper, whole)["table rows"].value == 1
    table = next(table for table in paper.tables if table.rows)
    at = next(at for at, row in enumerate(table.rows) if words(row[-1]))
    broken = [*table.rows[:at], table.rows[at][:-1], *table.rows[at + 1 :]]
    others = [one for one in paper.tables if one is not table]
    lacking = [Table(table.label, table.page, table.head, broken), *others]
    assert scored(paper, "\n\n".join(map(written, lacking)))["table rows"].value < 1


@pytest.mark.shared
def test_three_rows_of_four_are_read_whole_and_in_place(shared: Path) -> None:
    scores = Scores()
    for paper, body in found(shared):
        score(paper, read_pages_here(body)["markdown"], scores)
    if not scores:
        pytest.skip("none of the printed papers is among the recorded ones")
    assert scores["table rows"].value >= 0.75, scores["table rows"].misses
