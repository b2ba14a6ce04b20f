"""Align a sentence with a passage, and compare the words that correspond.

The problem: a passage with all the words of a sentence may still contradict it, by one opposite,
one "not", or two exchanged numbers. The answer must be given for each element, and "differs" only
where the words around the element correspond.

1. Both are read as words with keys and values (`.directions`).
2. `difflib.SequenceMatcher` aligns the keys. "rose" and "fell" correspond, as do any two numbers.
3. A pair is anchored if the nearest other words on both sides correspond, too.
4. Values of a pair are compared. An anchored pair with different values contradicts the sentence.
   A pair that is not anchored contradicts it only if neither sentence nor passage has the other
   value; otherwise the element was not compared.
5. The wording is the same if each word of the sentence corresponds and the passage has no other
   word, apart from articles, auxiliary verbs, "we found that" and text in brackets.

Example: of "Weight fell by 12 % in men" and "Weight rose by 12 % in men (p = 0.01)" all words
correspond; ``amount`` is anchored and has another value: the direction is turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from ..outline.terms import STOP_WORDS
from .directions import NAMING_AXES, NEGATION, NUMBER, ComparedWord
from .groups import (
    COMPARED_AXES,
    are_comparison_sides_reversed,
    find_comparison_clause,
    is_same_group,
)
from .passages import is_framing_word
from .quantities import Agreement, compare_quantities

Direction = Literal["same", "turned", "not_compared"]
AGREEMENTS = frozenset({"same", "rounded", "converted", "approximate", "bound"})
_IGNORED_KEYS = """
    a an the that of and is are was were be been being has have had did do does we our this these
    there it its their also =show =see =study author result report articl paper
"""
_IGNORED = frozenset(_IGNORED_KEYS.split())
_ANCHOR_REACH = 4  # words on either side that are searched for a corresponding word
_OPPOSITE_WEIGHT = 0.5  # of a corresponding word that is the opposite
_LIKE_MIN_COVERAGE = 0.6  # share of the sentence's words that correspond, to contradict it
_NEGATION_MIN_COVERAGE = 0.75
_CLOSE_TO_WORDING = 0.85


@dataclass(frozen=True)
class Alignment:
    """A sentence's words (``ours``) aligned with a passage's words (``theirs``)."""

    ours: Sequence[ComparedWord]
    theirs: Sequence[ComparedWord]

    @cached_property
    def pairs(self) -> dict[int, int]:
        """The position in the passage of each aligned word, by its position in the sentence."""
        matcher = SequenceMatcher(
            None,
            [word.key for word in self.ours],
            [word.key for word in self.theirs],
            autojunk=False,
        )
        return {
            block.a + step: block.b + step
            for block in matcher.get_matching_blocks()
            for step in range(block.size)
        }

    @cached_property
    def coverage(self) -> float:
        """The share of the sentence's content words that are aligned (0 to 1)."""
        weights = [
            _score_word_pair(one, self.theirs[self.pairs[at]]) if at in self.pairs else 0.0
            for at, one in enumerate(self.ours)
            if _is_comparable_word(one) and one.key != NUMBER
        ]
        return sum(weights) / max(1, len(weights))

    @cached_property
    def likeness(self) -> float:
        """The share of the sentence's content words in the passage, in any order (0 to 1)."""
        there = {(word.key, word.value) for word in self.theirs}
        keys = {key for key, _ in there}
        content = [word for word in self.ours if _is_comparable_word(word) and word.key != NUMBER]
        weights = [
            1.0 if (one.key, one.value) in there else _OPPOSITE_WEIGHT * (one.key in keys)
            for one in content
        ]
        return sum(weights) / max(1, len(weights))

    @cached_property
    def is_order_of_sides_reversed(self) -> bool | None:
        """True if the two texts name the compared sides in opposite order; None if unknown."""
        return are_comparison_sides_reversed(self.ours, self.theirs)

    def are_neighbours_aligned(self, at: int) -> bool:
        """Return whether the nearest words on both sides of a word are aligned."""
        there = self.pairs.get(at)
        if there is None:
            return False
        return all(self._is_neighbour_aligned(at, there, step) for step in (-1, 1))

    def _is_neighbour_aligned(self, at: int, there: int, step: int) -> bool:
        mine = _find_comparable_neighbour(self.ours, at, step)
        other = _find_comparable_neighbour(self.theirs, there, step)
        if mine is None or other is None:
            return mine is other
        return self.pairs.get(mine) == other

    def compare_number(self, at: int) -> Agreement | None:
        """Return how a number of the sentence agrees with the aligned number; None without one."""
        there = self.pairs.get(at)
        ours = self.ours[at].quantity
        theirs = self.theirs[there].quantity if there is not None else None
        if not ours or not theirs or not self.are_neighbours_aligned(at):
            return None
        return compare_quantities(ours, theirs)

    def has_number_of_same_group(self, at: int) -> bool:
        """Return whether the passage has the number for the same group."""
        ours = self.ours[at].quantity
        assert ours is not None
        return any(
            compare_quantities(ours, theirs.quantity) in AGREEMENTS
            and is_same_group(self.ours, at, self.theirs, there)
            for there, theirs in enumerate(self.theirs)
            if theirs.quantity
        )

    def compare_direction(self, at: int) -> Direction:
        """Return whether the passage has a word of the sentence, its opposite, or neither."""
        ours = self.ours[at]
        there = self.pairs.get(at)
        if ours.key in NAMING_AXES and any(
            word.key == ours.key and word.value == ours.value for word in self.theirs
        ):
            return "not_compared"  # both groups are named; `.groups` tells which is where
        if there is not None and self.are_neighbours_aligned(at):
            return self._compare_axis_words(ours, self.theirs[there])
        mine = {(word.value, word.negated) for word in self.ours if word.key == ours.key}
        other = [word for word in self.theirs if word.key == ours.key]
        values = {(one.value, one.negated) for one in other}
        if len(mine) > 1 or len(values) != 1:
            return "not_compared"
        said = self._compare_axis_words(ours, other[0])
        if said == "turned" and self.coverage < _LIKE_MIN_COVERAGE:
            return "not_compared"
        return said

    def _compare_axis_words(self, ours: ComparedWord, theirs: ComparedWord) -> Direction:
        """Compare two words on the same axis of opposites."""
        same = ours.value == theirs.value
        if ours.negated != theirs.negated:
            lone = not self._has_negation(theirs if ours.negated else ours, of_passage=ours.negated)
            return "turned" if same and lone else "not_compared"
        if not same and ours.negated:
            return "not_compared"
        if ours.key not in COMPARED_AXES or ours.clause != find_comparison_clause(self.ours):
            return "same" if same else "turned"
        if self.is_order_of_sides_reversed is None:
            return "not_compared"
        return "same" if same is not self.is_order_of_sides_reversed else "turned"

    def _has_negation(self, near: ComparedWord, *, of_passage: bool) -> bool:
        """Return whether a sentence has a negation; in similar wording, in the same clause."""
        words = self.theirs if of_passage else self.ours
        clause = near.clause if self.coverage >= _CLOSE_TO_WORDING else None
        return any(
            word.key == NEGATION or word.negated or word.value in ("without", "not", "alike")
            for word in words
            if clause is None or word.clause == clause
        )

    def iterate_one_sided_negations(self) -> Iterator[int]:
        """Yield the positions of words that are negated in only one of the two texts."""
        if self.coverage < _NEGATION_MIN_COVERAGE:
            return
        for at, there in self.pairs.items():
            mine, other = self.ours[at], self.theirs[there]
            if mine.has_opposite or mine.negated == other.negated or not _is_comparable_word(mine):
                continue
            words, place = (self.ours, at) if mine.negated else (self.theirs, there)
            if _is_first_negated_word(words, place) and not self._has_negation(
                other if mine.negated else mine, of_passage=mine.negated
            ):
                yield at

    @cached_property
    def unmatched_words(self) -> list[ComparedWord]:
        """The words of the sentence that the passage lacks, or has with another value."""
        framing = _find_framing_clauses(self.ours)
        return [
            one
            for at, one in enumerate(self.ours)
            if one.key not in _IGNORED
            and one.clause not in framing
            and (at not in self.pairs or not _are_values_equal(one, self.theirs[self.pairs[at]]))
        ]

    @cached_property
    def omitted_words(self) -> list[ComparedWord]:
        """The words of the passage that the sentence omits, except text in brackets."""
        used = set(self.pairs.values())
        return [
            one
            for there, one in enumerate(self.theirs)
            if there not in used and one.key not in _IGNORED and not one.depth
        ]

    @property
    def is_same_wording(self) -> bool:
        """True if sentence and passage have the same words with the same values."""
        return not self.unmatched_words and not self.omitted_words


def _are_values_equal(ours: ComparedWord, theirs: ComparedWord) -> bool:
    """Return whether two words with the same key have the same value."""
    if ours.key == NUMBER:
        assert ours.quantity
        assert theirs.quantity
        return compare_quantities(ours.quantity, theirs.quantity) in AGREEMENTS
    return ours.value == theirs.value and ours.negated == theirs.negated


def _find_framing_clauses(words: Sequence[ComparedWord]) -> set[int]:
    """Return the clauses that only introduce others: "according to this article"."""
    return {word.clause for word in words} - {
        word.clause for word in words if not is_framing_word(word.key)
    }


def _score_word_pair(ours: ComparedWord, theirs: ComparedWord) -> float:
    return 1.0 if ours.value == theirs.value else _OPPOSITE_WEIGHT


def _is_comparable_word(word: ComparedWord) -> bool:
    return word.key not in STOP_WORDS and word.key not in _IGNORED and word.key != NEGATION


def _find_comparable_neighbour(words: Sequence[ComparedWord], at: int, step: int) -> int | None:
    """Return the position of the nearest comparable word on one side."""
    stop = at + step * (_ANCHOR_REACH + 1)
    for place in range(at + step, stop, step):
        if not 0 <= place < len(words):
            return None
        if _is_comparable_word(words[place]):
            return place
    return None


def _is_first_negated_word(words: Sequence[ComparedWord], at: int) -> bool:
    """Return whether a word is the first content word after its negation."""
    for place in range(at - 1, -1, -1):
        if words[place].key == NEGATION:
            return True
        if _is_comparable_word(words[place]):
            return False
    return False
