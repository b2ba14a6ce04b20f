"""The public sets are counted as their authors count them."""

from dataclasses import replace

import pytest

from quality.public.duplicates import (
    LabelledRecord,
    count_copies,
    count_twins,
    read_labelled,
)
from utils.model.identifiers import Ids
from utils.model.paper import Paper

RECORDS = [
    LabelledRecord(Paper(Ids(), title=f"Paper {at}"), is_copy)
    for at, is_copy in enumerate([True, True, False, True])
]


@pytest.mark.parametrize(
    ("groups", "right", "wrong", "missed"),
    [
        ([(0, 1), (2,), (3,)], 2, 0, 1),
        ([(0, 1, 2), (3,)], 2, 1, 1),
        ([(0,), (1,), (2,), (3,)], 0, 0, 3),
        ([(0, 1, 3), (2,)], 3, 0, 0),
    ],
)
def test_each_marked_record_needs_a_twin(groups, right, wrong, missed):
    score, _ = count_twins(RECORDS, groups)
    assert (score.right, score.wrong, score.missed) == (right, wrong, missed)


@pytest.mark.parametrize(
    ("groups", "right", "wrong", "missed"),
    [
        ([(0, 1, 2, 3)], 3, 0, 0),
        ([(0, 1), (2, 3)], 2, 0, 1),
        ([(0, 2), (1,), (3,)], 1, 0, 2),
    ],
)
def test_of_the_copies_of_a_paper_one_is_kept(groups, right, wrong, missed):
    score, mistakes = count_copies(RECORDS, groups)
    assert (score.right, score.wrong, score.missed) == (right, wrong, missed)
    assert len(mistakes) == missed


def test_two_records_to_keep_in_one_group_are_an_error():
    kept = [replace(record, is_copy=False) for record in RECORDS[:2]]
    score, mistakes = count_copies(kept, [(0, 1)])
    assert (score.wrong, len(mistakes)) == (1, 1)


def test_endnote_files_are_read_with_their_marks(tmp_path):
    path = tmp_path / "set.xml"
    path.write_text(
        "<xml><records><record><titles><title><style>Bees</style></title></titles>"
        "<electronic-resource-num>10.1000/a</electronic-resource-num>"
        "<caption><style>Duplicate</style></caption></record>"
        "<record><titles><title>Moss</title></titles></record></records></xml>"
    )
    bees, moss = read_labelled(path)
    assert (bees.paper.ids.doi, bees.is_copy, moss.is_copy) == ("10.1000/a", True, False)
