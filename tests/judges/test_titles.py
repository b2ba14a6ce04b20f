"""Titles: what is spelling, what is a mark, what is a word in place of another."""

import pytest

from utils.judges.titles import (
    TitleDifference,
    find_title_difference,
    is_title_printed,
    measure_title_likeness,
)

BEES = "Memory of colour in foraging honeybees"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (f"{BEES}. Part II", f"{BEES}: part 2"),
        (f"{BEES}: a phase III trial", f"{BEES}: a phase 3 trial"),
        ("IL-6 and TGF-β in tumours", "IL6 and TGF-beta in tumors"),
        ("Two cases &amp; one review: anaemia", "2 cases and 1 review: anemia"),
        ("CO<sub>2</sub> uptake in sulphate lakes", "CO2 uptake in sulfate lakes"),
        (f"{BEES} [version 2; peer review: 2 approved]", BEES),
        (f"{BEES}<sup>1,2</sup>", BEES),
        (f"Correction to: {BEES}", f"Erratum: {BEES}"),
        (f"Reply to “{BEES}”", f"{BEES} - Authors' reply"),
        ("Healthcare for follow-up of emboliszation", "Health care for followup of embolization"),
    ],
)
def test_spellings_of_one_title_have_no_difference(ours, theirs):
    assert find_title_difference(ours, theirs) == TitleDifference()
    assert measure_title_likeness(ours, theirs) == 1.0


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (f"{BEES}. Part I", f"{BEES}. Part II"),
        (BEES, f"{BEES}. Part 2"),
        (BEES, f"{BEES} II"),
        (BEES, f"{BEES}: study protocol"),
        (f"Protocol for {BEES}", BEES),
        (BEES, f"Correction: {BEES}"),
        (BEES, f"{BEES}: erratum"),
        (f"Comment on: {BEES}", f"Reply to: {BEES}"),
        (f"{BEES}: a phase II trial", f"{BEES}: a phase III trial"),
        (f"{BEES}, 2019", f"{BEES}, 2020"),
        (f"{BEES} version 2.0", f"{BEES} version 2.1"),
        ("BRCA1 in bees", "BRCA2 in bees"),
        ("Nav1.7 in bees", "Nav1.8 in bees"),
        (f"{BEES}: stage IIIA", f"{BEES}: stage IIIB"),
        (f"Paper A: {BEES}", f"Paper B: {BEES}"),
        ("α-pinene in bees", "β-pinene in bees"),
    ],
)
def test_marks_that_differ_tell_two_papers_apart(ours, theirs):
    assert find_title_difference(ours, theirs).marks
    assert measure_title_likeness(ours, theirs) <= 0.5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("men", "women"), ("left", "right"), ("hypertension", "hypotension"),
        ("afferent", "efferent"), ("sulfate", "sulfite"), ("Kenya", "Uganda"),
    ],
)  # fmt: skip
def test_a_telling_word_in_place_of_another_is_seen(one, other):
    difference = find_title_difference(f"{BEES} and {one}", f"{BEES} and {other}")
    assert difference == TitleDifference("", f"{difference.swapped}")
    assert difference.swapped


def test_a_number_in_the_middle_of_a_subtitle_left_out_is_no_mark():
    assert find_title_difference(BEES, f"{BEES}: a field study of nine days").marks == ""
    assert measure_title_likeness(BEES, f"{BEES}: a field study of nine days") >= 0.88


@pytest.mark.parametrize(
    ("opening", "printed"),
    [
        (f"Journal of Bees\n\n{BEES}\n\nA. Roe", True),
        ("Memory of colour\nin foraging\nhoneybees\n\nA. Roe1", True),
        (f"# {BEES}. Part II", False),
        (f"# {BEES} (2)", False),
        (f"# {BEES}: a protocol", False),
        (f"## Correction to\n\n{BEES}", False),
        (f"Related articles\n\n{BEES}", False),
        (f"- {BEES}\n- Wolves in winter", False),
        (f"[{BEES}](https://a.test)", False),
        (f"We read with interest “{BEES}” in this journal.", False),
        ("# Memory of colour in foraging honeybeest", False),
    ],
)
def test_a_title_is_printed_where_a_line_begins_with_it_and_no_mark_follows(opening, printed):
    assert is_title_printed(opening, BEES) is printed


def test_one_and_two_in_roman_numbers_are_not_three():
    title = f"Phase I/II study of {BEES}"
    assert is_title_printed(f"# {title}\n", title)
    assert not is_title_printed(f"# Phase III study of {BEES}\n", title)
    assert measure_title_likeness(title, f"Phase III study of {BEES}") <= 0.5


@pytest.mark.parametrize("line", ["Response to: {}", "## Authors' reply to “{}”"])
def test_a_notice_is_printed_in_the_wording_of_its_kind(line):
    assert is_title_printed(f"Hive 2019\n\n{line.format(BEES)}\n\nA. Roe", f"Reply to: {BEES}")
    assert not is_title_printed(f"{line.format(BEES)}\n", f"Correction: {BEES}")
