"""A text beside other copies of its paper, and beside other papers of its journal."""

from dataclasses import replace
from itertools import permutations

import pytest

from utils.errors import BadContent
from utils.judges.check import judge_document
from utils.judges.comparison import find_comparison_signs, measure_copy
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper
from utils.model.verdicts import DOUBT, WEAK, ComparisonData

WORDS = ("blue", "red", "old", "young", "slow", "quick", "warm", "cold", "early", "late", "wild")
SECTIONS = ("Introduction", "Methods", "Results", "Discussion")


def sentences(subject: str, number: int) -> str:
    pairs = list(permutations(WORDS, 2))[:number]
    of = subject.lower()
    return " ".join(
        f"In the {of} the {a} bees flew to the {b} flowers that we saw." for a, b in pairs
    )


def text(*sections: str, repeat: int = 30) -> str:
    body = "\n\n".join(f"## {name}\n\n{sentences(name, repeat)}" for name in sections)
    return f"# Colour memory of honeybees in bright winter light\n\n{body}"


def document(markdown: str) -> Document:
    copy = measure_copy(markdown, "jina", "")
    return Document(markdown, body_words=copy.words, references=copy.references)


def names(markdown: str, other: str, version: str = "") -> dict[str, int]:
    copy = measure_copy(other, "publisher", version)  # type: ignore[arg-type]
    comparison = ComparisonData((copy,))
    return {
        sign.name: sign.weight for sign in find_comparison_signs(document(markdown), comparison)
    }


def test_a_text_is_doubted_where_another_copy_is_longer() -> None:
    assert names(text(*SECTIONS, repeat=10), text(*SECTIONS)) == {"shorter copy": DOUBT}
    assert names(text(*SECTIONS, repeat=25), text(*SECTIONS)) == {}
    assert names(text(*SECTIONS), text(*SECTIONS, repeat=10)) == {}


def test_a_preprint_may_be_longer_than_its_article() -> None:
    assert names(text(*SECTIONS, repeat=10), text(*SECTIONS), "preprint") == {"shorter copy": WEAK}


def test_a_text_is_doubted_that_lacks_a_part_of_another_copy() -> None:
    cut = text("Introduction", "Methods", "Discussion", repeat=35)
    assert names(cut, text(*SECTIONS)) == {"parts of a copy": DOUBT}
    without_headings = text(repeat=0) + "\n\n" + "\n\n".join([sentences("meadow", 30)] * 4)
    assert names(without_headings, text(*SECTIONS)) == {}


def test_a_text_is_doubted_that_lists_half_of_the_references_of_another_copy() -> None:
    def listed(number: int) -> str:
        entries = "\n".join(
            f"{n}. Roe A. Bees {n}. J Bees. 2010;{n}:1-9." for n in range(1, number)
        )
        return f"{text(*SECTIONS)}\n\n## References\n\n{entries}"

    assert names(listed(12), listed(40)) == {"unrecorded": DOUBT}
    assert names(listed(30), listed(40)) == {}


def test_a_text_shorter_than_every_paper_of_its_journal_has_a_weak_sign() -> None:
    def weights(*words: int) -> list[int]:
        comparison = ComparisonData(journal_words=words)
        return [
            sign.weight for sign in find_comparison_signs(Document("", body_words=1000), comparison)
        ]

    assert weights(*range(2000, 2900, 100)) == [WEAK]
    assert weights(*range(1200, 2100, 100)) == []
    assert weights(2000, 3000, 4000) == []  # too few to say what is usual


def test_two_signs_from_another_copy_refuse_a_text() -> None:
    doi = Ids(doi="10.1000/bees.1")
    paper = Paper(doi)
    whole = measure_copy(text(*SECTIONS), "publisher", "")
    cut = replace(document(text("Introduction", "Methods", repeat=20)))
    cut = replace(cut, ids=doi, article_type="research-article")
    assert judge_document(cut, paper).verdict == "full_text"
    with pytest.raises(BadContent, match="the copy from publisher has"):
        judge_document(cut, paper, ComparisonData((whole,)))
