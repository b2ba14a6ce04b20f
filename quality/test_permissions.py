"""Permissions of recorded papers: nothing is permitted that a person did not read as permitted."""

import pytest

from quality.__main__ import SHARED
from quality.permissions import LABELS, find_disagreements, load


def test_each_paper_is_labelled_once() -> None:
    files = [label.file for label in load(SHARED)]
    assert len(files) == len(set(files)) == 200, LABELS


@pytest.mark.shared
@pytest.mark.slow
def test_the_program_permits_what_a_person_reads_and_nothing_else() -> None:
    found = {label.doi: list(find_disagreements(label)) for label in load(SHARED)}
    differing = {doi: rows for doi, rows in found.items() if rows}
    # The notice of the whole site, which reserves more than the page; "unless otherwise noted".
    assert set(differing) == {
        *("10.1029/2004gb002273", "10.1111/gcb.16011", "10.1111/gcb.16386", "10.1111/gcb.17141"),
        "10.1289/ehp959",
    }
    assert {answer for rows in differing.values() for _, answer, _ in rows} == {"unknown"}
