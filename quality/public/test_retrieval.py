"""Orders of records are scored as information retrieval does."""

import json
from pathlib import Path

import pytest

from quality.public.retrieval import (
    Question,
    cut_records,
    read_snippets,
    score,
    search_with_papershelf,
)


def test_a_perfect_order_has_full_marks():
    assert score([1, 2, 3], {1: 8, 2: 3, 3: 1}) == pytest.approx((1, 1, 1))


def test_late_and_missing_records_cost():
    gained, recall, precision = score([9, 1], {1: 1, 2: 1})
    best = 1 + 1 / 1.5849625
    assert gained == pytest.approx((1 / 1.5849625) / best)
    assert (recall, precision) == (0.5, 0.25)


def test_snippets_of_all_batches_are_searched_for_the_questions_of_some(tmp_path: Path) -> None:
    for batch, (body, *texts) in enumerate(
        [("Why?", "Corals  bleach.", "Eels swim."), ("How?", "Corals bleach."), ("Who?",), ("X?",)],
        1,
    ):
        made = [{"body": body, "snippets": [{"text": text} for text in texts]}]
        path = tmp_path / f"12B{batch}_golden.json"
        path.write_text(json.dumps({"questions": made}), encoding="utf-8")
    records, questions = read_snippets(tmp_path, (2, 3))
    assert records == {0: ("", "Corals bleach."), 1: ("", "Eels swim.")}
    assert questions == [Question(0, "How?", {0: 1})]
    assert search_with_papershelf(cut_records(records), [Question(0, "eel", {1: 1})]) == [[1]]
