"""Garbage is refused in any script; a text with few misread letters is kept with doubts."""

import random

import pytest

from tests.own_words import sentences
from utils.judges.language import find_language_signs
from utils.judges.signs import JudgedCase, weigh_signs
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper

LATIN = "abcdefghijklmnopqrstuvwxyz"
HAN = "".join(chr(0x4E00 + 31 * number) for number in range(300))


def outcome(text: str) -> str:
    return weigh_signs(
        find_language_signs(JudgedCase(Document(f"# T\n\n{text}"), Paper(Ids()), "")), ""
    ).verdict


def replaced(text: str, share: float, letters: str) -> str:
    dice = random.Random(7)
    return "".join(
        dice.choice(letters) if char.isalpha() and dice.random() < share else char for char in text
    )


def english() -> str:
    return "\n\n".join(sentences(160)) + "\n\n" + "\n\n".join(sentences(160))


def chinese() -> str:
    dice = random.Random(3)
    words = ["".join(dice.choices(HAN, k=2)) for _ in range(120)]
    return "\n\n".join("".join(dice.choices(words, k=20)) + "。" for _ in range(60))


def test_texts_of_both_scripts_are_language() -> None:
    assert [outcome(english()), outcome(chinese())] == ["full_text", "full_text"]


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_replaced_letters_are_garbage_in_any_script(share: float) -> None:
    assert outcome(replaced(english(), share, LATIN)) == "not_a_paper"
    assert outcome(replaced(chinese(), share + 0.2, HAN)) == "not_a_paper"


def test_a_letter_in_seventy_makes_a_doubt() -> None:
    assert outcome(replaced(english(), 0.014, LATIN)) == "doubtful"


def test_letters_of_a_font_that_nobody_has_are_refused() -> None:
    assert outcome(replaced(english(), 0.1, "\ufffd")) == "not_a_paper"
