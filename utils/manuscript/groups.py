"""Find the groups that a sentence compares, and the group to which a number belongs.

The problem: "12 % of the treated and 25 % of the control mice" has the words and the numbers of
"25 % of the treated and 12 % of the control mice".

1. A comparison has a word such as "than" or "versus" between its sides. If the words on the left of
   one sentence are those on the right of the other, and the other way round, the sides are
   exchanged. With the opposite direction an exchanged comparison says the same: "A was higher than
   B", "B was lower than A".
2. The group of a number is told by the nearest words of its clause. Two numbers belong to the same
   group if they share one of those words and no other number of the passage shares more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile

from ..outline.terms import STOP_WORDS
from .directions import NAMING_AXES, NEGATION, NUMBER, ComparedWord

_COMPARING = frozenset({"than", "=versus"})
_COMPARED = "amount quality rank strength age length speed time risk sensitivity frequency"
COMPARED_AXES = frozenset(_COMPARED.split())
"""Axes whose words compare the two sides of a comparison."""
_SIDE_WORDS = 8
_NEAREST_WORDS = 3
_GROUP_PREPOSITIONS = frozenset({"of", "in", "among", "for", "presence"})
_ALSO_NAMING = frozenset({"age", "presence", "sensitivity"})  # "older patients", "without pain"


def are_comparison_sides_reversed(
    ours: Sequence[ComparedWord], theirs: Sequence[ComparedWord]
) -> bool | None:
    """Return whether two comparisons name their sides in opposite order; None if unclear."""
    mine, other = _split_comparison_sides(ours), _split_comparison_sides(theirs)
    if not mine or not other:
        return False
    left, right = mine[0] - mine[1], mine[1] - mine[0]
    their_left, their_right = other[0] - other[1], other[1] - other[0]
    kept = bool(left & their_left) + bool(right & their_right)
    moved = bool(left & their_right) + bool(right & their_left)
    if moved > kept:
        return True
    return False if kept > moved or not moved else None


def find_comparison_clause(words: Sequence[ComparedWord]) -> int | None:
    """Return the clause of the first comparing word."""
    return next((word.clause for word in words if word.key in _COMPARING), None)


def _split_comparison_sides(words: Sequence[ComparedWord]) -> tuple[set[str], set[str]] | None:
    """Return the words on either side of the first comparing word."""
    at = next((at for at, word in enumerate(words) if word.key in _COMPARING), None)
    if at is None:
        return None
    return (
        {
            _join_key_and_value(word)
            for word in words[max(0, at - _SIDE_WORDS) : at]
            if can_name_group(word)
        },
        {
            _join_key_and_value(word)
            for word in words[at + 1 : at + 1 + _SIDE_WORDS]
            if can_name_group(word)
        },
    )


def can_name_group(word: ComparedWord) -> bool:
    """Return whether a word can name a group; numbers, negations and function words cannot."""
    if word.key in (NUMBER, NEGATION) or word.key in STOP_WORDS:
        return False
    return not word.has_opposite or word.key in NAMING_AXES or word.key in _ALSO_NAMING


def _join_key_and_value(word: ComparedWord) -> str:
    return f"{word.key} {word.value}".strip()


def find_group_words(words: Sequence[ComparedWord], at: int, *, narrow: bool) -> set[str]:
    """Return the nearest words on either side of a number, up to the next number.

    If *narrow*, only the words behind a number that is followed by "of" or "in" are returned.
    """
    behind = list(_iterate_group_words(words[at + 1 :], words[at].clause))
    if narrow and at + 1 < len(words) and words[at + 1].key in _GROUP_PREPOSITIONS:
        return set(behind)
    return {*behind, *_iterate_group_words(reversed(words[:at]), words[at].clause)}


def _iterate_group_words(words: Iterable[ComparedWord], clause: int) -> Iterator[str]:
    """Yield the first words of a clause that can name a group, up to the first number."""
    content = (
        _join_key_and_value(one)
        for one in takewhile(partial(_is_in_clause, clause), words)
        if can_name_group(one)
    )
    yield from islice(content, _NEAREST_WORDS)


def _is_in_clause(clause: int, word: ComparedWord) -> bool:
    return word.clause == clause and word.key != NUMBER


def is_same_group(
    ours: Sequence[ComparedWord], at: int, theirs: Sequence[ComparedWord], there: int
) -> bool:
    """Return whether two numbers belong to the same group, judged by their nearest words."""
    return any(_is_nearest_group(ours, at, theirs, there, narrow=one) for one in (True, False))


def _is_nearest_group(
    ours: Sequence[ComparedWord],
    at: int,
    theirs: Sequence[ComparedWord],
    there: int,
    *,
    narrow: bool,
) -> bool:
    """Return whether no other number of the passage shares as many words with this one."""
    group = find_group_words(ours, at, narrow=narrow)
    shared = {
        place: len(group & find_group_words(theirs, place, narrow=narrow))
        for place, word in enumerate(theirs)
        if word.quantity and (place == there or not are_numbers_in_one_list(theirs, place, there))
    }
    mine = shared.pop(there)
    return mine > max(shared.values(), default=0)


def are_numbers_in_one_list(words: Sequence[ComparedWord], one: int, other: int) -> bool:
    """Return whether two numbers belong to one list or range: "5 and 10 mg"."""
    return not any(can_name_group(word) for word in words[min(one, other) : max(one, other)])
