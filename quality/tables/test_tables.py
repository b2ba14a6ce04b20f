"""Tables of every drawn kind, and of real papers, come out of their PDFs row by row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from quality.jats_scores import tables_of
from quality.jats_truth import Truth
from quality.measures import Scores
from quality.pdf_scores import HALVES, pairs, score
from quality.tables.drawn import Printed
from quality.tables.kinds import (
    HELD_OUT,
    TUNING,
    caption_on_next_page,
    continued_without_caption,
    over_two_columns,
    two_pages,
)
from tests.examples import share
from utils.outline import build_outline, find_figures_and_tables
from utils.readers.pdf.child import read_pages_here

KINDS = (*TUNING, *HELD_OUT)


def markdown_of(body: bytes) -> str:
    return str(read_pages_here(body)["markdown"])


def numbers(said: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:\.\d+)?", said))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_rows_come_out_whole_and_in_order_whatever_the_table_looks_like(
    kind: Callable[[int], Printed],
) -> None:
    for seed in range(share(12)):
        printed = kind(seed)
        found = [
            [cell for cell in row if cell]
            for rows in tables_of(markdown_of(printed.body))
            for row in rows
        ]
        wanted = [["".join(cell.split()) for cell in row if cell] for row in printed.rows]
        missed = [row for row in wanted if row not in found]
        assert len(missed) <= 0.1 * len(wanted), (seed, missed[:3])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_number_of_a_table_is_lost_or_told_twice(kind: Callable[[int], Printed]) -> None:
    printed = kind(1)
    wanted = numbers(" ".join(" ".join(row) for row in printed.rows))
    found = numbers(markdown_of(printed.body))
    assert {number: found[number] for number in wanted} == dict(wanted)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_tables_are_objects_of_their_papers_by_their_captions(
    kind: Callable[[int], Printed],
) -> None:
    written = markdown_of(kind(2).body)
    floats = find_figures_and_tables(written, build_outline(written))
    assert any("Table" in one.label and "| --- |" in written[one.start : one.end] for one in floats)


@pytest.mark.parametrize(
    "kind",
    [two_pages, caption_on_next_page, over_two_columns, continued_without_caption],
    ids=lambda kind: kind.__name__,
)
def test_a_table_in_parts_is_one_below_its_caption_and_its_head_is_told_once(
    kind: Callable[[int], Printed],
) -> None:
    printed = kind(3)
    blocks = markdown_of(printed.body).split("\n\n")
    at = [number for number, block in enumerate(blocks) if block.startswith("| ")]
    assert len(at) == 1
    assert blocks[at[0] - 1].startswith("**Table 1**")
    assert blocks[at[0]].count("\n") == 1 + len(printed.rows)
    assert not any("ontinued" in block for block in blocks)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("half", HALVES)
def test_tables_headings_and_references_of_real_papers_are_found(half: str, shared: Path) -> None:
    scores = Scores()
    for pair in pairs(shared):
        if pair.half == half:
            found = markdown_of(pair.pdf.read_bytes())
            score(pair.name, Truth(pair.jats.read_bytes()), found, scores)
    assert scores["table rows"].value > 0.9, scores["table rows"].misses
    assert scores["table heads"].value > 0.9, scores["table heads"].misses
    assert scores["table numbers"].value > 0.96, scores["table numbers"].misses
    assert scores["4-word runs"].value > 0.955, scores["4-word runs"].misses
    assert scores["4-word runs within paragraphs"].value > 0.97
    assert scores["headings"].value > 0.85, scores["headings"].misses
    assert scores["references"].value > 0.95, scores["references"].misses
