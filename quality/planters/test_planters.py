"""No planted fault is shown as agreeing, and hardly a true statement is questioned."""

from collections import Counter
from pathlib import Path

import pytest

from quality.planters.__main__ import WRITTEN, score

pytestmark = pytest.mark.lab


@pytest.mark.parametrize("name", ["C", "D"])
def test_statements_of_another_engineer_are_judged_within_the_goals(name: str) -> None:
    totals = {True: Counter[str](), False: Counter[str]()}
    for (truth, _), counts in score(WRITTEN[name], Path()).items():
        totals[truth] += counts
    assert totals[False]["agrees"] == 0
    assert totals[True]["differs"] <= 0.03 * totals[True].total()
    assert totals[False]["differs"] > totals[False].total() / 2
