"""Which of two readings is preferred: nothing markedly less, something markedly more."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from utils.judges.preference import why_preferred
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper
from utils.outline.sections import measure

PAPER = Paper(Ids(doi="10.1/x"), title="Moss and drought in the boreal north")
WORDS = ["moss", "rain", "fen", "plant", "water", "light", "carbon", "stem", "leaf", "cell"]
WORDS += ["peat", "drought", "bog", "lichen", "heat", "frost", "shade", "root", "sugar", "protein"]
SMALL = ["the", "of", "and", "in", "was", "were", "with", "that", "after"]


def prose(number: int) -> str:
    """A sentence like no other."""
    pick = random.Random(number)
    said = [pick.choice(SMALL if at % 2 else WORDS) for at in range(18)]
    return " ".join(said).capitalize()


def document(heads: tuple[str, ...] = (), references: int = 0, rows: int = 0, parts=8) -> Document:
    """A text of a fixed number of paragraphs under some headings."""
    blocks = [f"# {PAPER.title}"]
    for number in range(parts):
        if number < len(heads):
            blocks.append(f"## {heads[number]}")
        blocks.append(". ".join(prose(4 * number + k) for k in range(4)) + ".")
    if rows:
        blocks += [
            "**Table 1.** Rates.",
            "\n".join(["| a | b |", "| --- | --- |"] + ["| 1 | 2 |"] * rows),
        ]
    if references:
        cited = (
            f"{at}. Roe J. Moss number {at}. J Test 2020;1:{at}." for at in range(1, references + 1)
        )
        blocks += ["## References", "\n".join(cited)]
    markdown = "\n\n".join(blocks)
    return Document(markdown, references=measure(markdown).references)


PLAIN = document()
RICH = document(("Introduction", "Methods", "Results", "Discussion", "Limits"), 30, 12)


def test_more_structure_of_the_same_words_is_preferred_and_said():
    why = why_preferred(RICH, PLAIN, PAPER)
    assert "rows of tables" in why
    assert "references" in why


def test_less_is_not():
    assert why_preferred(PLAIN, RICH, PAPER) == ""


def test_the_same_again_is_no_reason_to_change():
    assert why_preferred(RICH, RICH, PAPER) == ""


@pytest.mark.parametrize("parts", [4, 6])
def test_a_gain_does_not_pay_for_lost_words(parts):
    shorter = document(("Introduction", "Methods", "Results"), 30, 12, parts=parts)
    assert why_preferred(shorter, PLAIN, PAPER) == ""


def test_one_heading_more_is_not_enough():
    assert why_preferred(document(("Methods",)), document(), PAPER) == ""


def test_other_words_are_another_text_however_rich():
    other = replace(RICH, markdown=RICH.markdown.translate(str.maketrans("aeiou", "eioua")))
    assert why_preferred(other, PLAIN, PAPER) == ""
