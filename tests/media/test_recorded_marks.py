"""What the texts of recorded articles call a figure or table, against what their XML holds."""

from pathlib import Path

import pytest

from tests.examples import ALL, some
from utils.model.paper import Fetched
from utils.outline import find_figure_and_table_labels
from utils.readers import jats
from utils.readers.jats.objects import find_paper_objects

pytestmark = pytest.mark.shared
# May be raised, never lowered. Some texts speak of another paper's Table 2.
NAMED, RESOLVED = (0.995, 0.96) if ALL else (0.99, 0.93)


def test_every_object_is_named_by_its_text_and_what_is_named_is_there(shared: Path) -> None:
    named: list[bool] = []
    resolved: list[bool] = []
    for path in some(sorted((shared / "articles").glob("*/jats.xml"))[:120]):
        fetched = Fetched(path.read_bytes(), "jats", "", "pmc", "")
        said = set(find_figure_and_table_labels(jats.read_document(fetched).markdown))
        objects = [
            (one, find_figure_and_table_labels(one.label))
            for one in find_paper_objects(fetched)
            if one.label
        ]
        there = {label for _, labels in objects for label in labels}
        named += [
            not said.isdisjoint(labels) for one, labels in objects if one.kind != "supplement"
        ]
        # Supplements are often called otherwise than the archive calls their files.
        resolved += [label in there for label in said if "S" not in label.split()[-1]]
    assert min(len(named), len(resolved)) > 100
    assert sum(named) / len(named) >= NAMED
    assert sum(resolved) / len(resolved) >= RESOLVED
