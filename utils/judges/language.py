"""Find text that is not natural language: OCR garbage, broken fonts, misread letters.

Text of any language repeats its words. If letters were replaced at random, most long words occur
only once. If few letters were misread, rare words differ from frequent ones in a single letter. In
scripts without spaces, pairs of neighbouring characters serve as words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from ..model.paper import Verdict
from ..model.verdicts import DOUBT, REFUSE, Sign
from ..outline.words import UNSPACED
from . import thresholds as limits
from .signs import JudgedCase

_RUN: Final = re.compile(rf"{UNSPACED.pattern}{{2,}}")
_LONG: Final = re.compile(r"[^\W_]{5,}")
_SOFT_HYPHEN: Final = "\u00ad"
# The replacement character, and letters that only one font knows.
_UNKNOWN: Final = re.compile(r"[\ufffd\ue000-\uf8ff]")


def find_language_signs(case: JudgedCase) -> Iterator[Sign]:
    """Yield the signs that the text is not natural language, or has many misread letters."""
    text = case.evidence.text.replace(_SOFT_HYPHEN, "")
    verdict: Verdict = "scanned" if case.document.pages else "not_a_paper"
    unknown = len(_UNKNOWN.findall(text)) / max(1, sum(map(str.isalpha, text)))
    if unknown > limits.UNKNOWN_LETTERS_SHARES[0]:
        words = f"{unknown:.1%} of the characters are unreadable glyphs"
        weight = REFUSE if unknown > limits.UNKNOWN_LETTERS_SHARES[1] else DOUBT
        yield Sign("unknown letters", weight, words, verdict)
    sample = _sample_long_words(text)
    once = _measure_share_of_unrepeated_words(sample)
    if any(len(sample) >= least and once > share for least, share in limits.GARBAGE_ONCE_SHARES):
        words = f"{once:.0%} of {len(sample)} long words occur only once, unlike normal language"
        yield Sign("garbage", REFUSE, words, verdict)
    elif len(sample) >= limits.GARBAGE_ONCE_SHARES[-1][0] and not _RUN.search(text):
        misread = measure_share_of_misread_words(sample)
        if misread > limits.MISREAD_WORDS_SHARE:
            words = f"{misread:.1%} of the long words look misread by one letter"
            yield Sign("misread letters", DOUBT, words, only_doubts=True)


def _sample_long_words(text: str) -> list[str]:
    """Return the first long words of a text, or character pairs in scripts without spaces."""
    runs = _RUN.findall(text)
    if 2 * sum(map(len, runs)) > sum(map(str.isalpha, text)):
        pairs = ("".join(pair) for run in runs for pair in pairwise(run))
        return [pair for pair, _ in zip(pairs, range(limits.WORDS_SAMPLE), strict=False)]
    return [word.lower() for word in _LONG.findall(text)[: limits.WORDS_SAMPLE]]


def _measure_share_of_unrepeated_words(words: list[str]) -> float:
    """Return the share of the words that occur only once.

    >>> _measure_share_of_unrepeated_words("light sleep light bees".split())
    0.5
    """
    return sum(count == 1 for count in Counter(words).values()) / max(1, len(words))


def measure_share_of_misread_words(words: list[str]) -> float:
    """Return the share of rare words that differ from a frequent word in one inner letter.

    Endings are ignored, because many languages inflect words by them.

    >>> measure_share_of_misread_words(["sample"] * 9 + ["samqle"])
    0.1
    """
    uses = Counter(words)
    frequent = (word for word, count in uses.items() if count >= limits.MISREAD_MIN_USES)
    gaps = {gap for word in frequent if word.isalpha() for gap in _iterate_words_with_gap(word)}
    rare = (
        count
        for word, count in uses.items()
        if count < limits.MISREAD_MIN_USES and not gaps.isdisjoint(_iterate_words_with_gap(word))
    )
    return sum(rare) / max(1, len(words))


def _iterate_words_with_gap(word: str) -> Iterator[str]:
    """Yield the word with each of its inner letters in turn replaced by a space."""
    for at in range(1, len(word) - 1 if len(word) > 5 else 0):
        yield f"{word[:at]} {word[at + 1 :]}"
