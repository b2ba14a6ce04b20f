"""Orders of records are scored as information retrieval does."""

import pytest

from quality.public.retrieval import score


def test_a_perfect_order_has_full_marks():
    assert score([1, 2, 3], {1: 8, 2: 3, 3: 1}) == pytest.approx((1, 1, 1))


def test_late_and_missing_records_cost():
    gained, recall, precision = score([9, 1], {1: 1, 2: 1})
    best = 1 + 1 / 1.5849625
    assert gained == pytest.approx((1 / 1.5849625) / best)
    assert (recall, precision) == (0.5, 0.25)
