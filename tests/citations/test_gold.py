"""Citations checked by hand: `citations/gold.json` has records and what each format makes of them.

The strings were read against the rules of APA 7, MLA 9 and Citing Medicine 2 and compared with what
citeproc-js, the reference processor, makes of the same items and styles. Some records are facts
about well-known papers, the others are invented.
"""

import json
from pathlib import Path

import pytest

from tests.citations.round_trips import read_bibtex, read_ris, told_by_bibtex, told_by_ris
from utils.citations import format_citations
from utils.model.paper import paper_from_row

GOLD = json.loads((Path(__file__).parent / "gold.json").read_text("utf-8"))
PAPERS = [paper_from_row(case["paper"]) for case in GOLD]
FORMATS = ["ris", "bibtex", "apa_string", "mla_string", "vancouver", "csl_json"]
each_case = pytest.mark.parametrize("case", GOLD, ids=[case["case"] for case in GOLD])


@pytest.fixture(scope="module")
def made():
    """Each case on its own, so that keys do not depend on its neighbours."""
    return {
        case["case"]: format_citations([paper], FORMATS)[0]
        for case, paper in zip(GOLD, PAPERS, strict=True)
    }


@each_case
@pytest.mark.parametrize("name", FORMATS)
def test_gold(case, name, made):
    expected = case[name]
    written = made[case["case"]][name]
    assert written == ("\n".join([*expected, ""]) if isinstance(expected, list) else expected)


def test_styles_keep_nothing_of_the_paper_before(made):
    """One processor serves them all: the order of the papers must not show."""
    backwards = format_citations(PAPERS[::-1], ["apa_string", "mla_string", "vancouver"])[::-1]
    for case, alone in zip(GOLD, backwards, strict=True):
        for name, text in alone.items():
            assert text == made[case["case"]][name]


@each_case
def test_ris_comes_back_whole(case, made):
    assert read_ris(made[case["case"]]["ris"]) == told_by_ris(case["csl_json"])


@each_case
def test_bibtex_comes_back_whole(case, made):
    assert read_bibtex(made[case["case"]]["bibtex"]) == told_by_bibtex(case["csl_json"])


def test_the_gold_is_of_every_kind():
    kinds = {case["csl_json"]["type"] for case in GOLD}
    assert {"article-journal", "article", "book", "chapter", "thesis", "dataset"} <= kinds
    assert len(GOLD) >= 60
