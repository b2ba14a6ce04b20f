"""A small sample of the planted faults of `quality/benchmarks/check.py`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from quality.manuscripts.planted import SEEN, citable, faults_of, manuscripts, passed
from tests.harvests import library_of
from tests.world import World


@pytest.mark.slow
@pytest.mark.shared
def test_no_planted_fault_passes(shared: Path, tmp_path: Path) -> None:
    told: Counter[tuple[bool, str]] = Counter()
    with World(corpus=shared) as world:
        library = library_of(world, tmp_path)
        papers = citable(world, library, 14, 3, retracted=0)
        for one in manuscripts(papers, faults_of(SEEN, 10, 3), tmp_path, 2, 3):
            checked = library.check(one.path)
            for statement in one.statements:
                told[bool(statement.kind), passed(statement, checked)] += 1
        library.shelf.close()
    assert told[True, "questioned"] == 10, told
    assert not told[True, "verified"]
    assert told[False, "verified"] > 15
    assert told[False, "questioned"] <= 1
