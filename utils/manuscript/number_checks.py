"""Check the numbers of a sentence against the passages about the same subject.

1. If the words around a number correspond to those around a number of a passage (`.alignment`),
   the two numbers are compared: another number, unit or sign in that place is *altered*.
2. Otherwise the number is searched for in the passages about the subject. It is the *same* if its
   group is the same, too (`.groups`); else its group was *not compared*.
3. A number that is only in other passages is *elsewhere*; a number that is in no passage *absent*.

Example: of "12 % of the treated mice and 25 % of the controls died" the sentence "25 % of the
treated mice and 12 % of the controls died" has two altered numbers, though both are in the passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .alignment import AGREEMENTS, Alignment
from .parts import Sentence
from .passages import CitedPassage, CitedText, list_content_words, shorten_passage
from .quantities import Quantity, compare_quantities, is_distinctive_number
from .statements import CheckedClaim, Outcome

Ranked = tuple[float, CitedPassage, CitedText]
_CONTEXT_CHARS = 45  # characters on either side of a number that describe its subject
_ALTERED_MIN_COVERAGE = 0.6  # share of the words that correspond, to say that a number was altered
_AS_CLOSE = 0.8  # likeness relative to the best passage's, to confirm a number
_AGREEMENT_TEXTS = {
    "same": "there",
    "rounded": "there, rounded",
    "converted": "there, in other units or as percent",
    "approximate": "there, about",
    "bound": "a smaller value is there",
}


@dataclass(frozen=True, slots=True)
class AlignedPassage:
    """A passage with its rank for a sentence, and its alignment with the sentence."""

    ranked: Ranked
    alignment: Alignment


def iterate_number_claims(
    sentence: Sentence,
    claim: str,
    aligned: Sequence[AlignedPassage],
    near: Sequence[Ranked],
    ranked: Sequence[Ranked],
) -> Iterator[CheckedClaim]:
    """Yield the result for each number of a sentence; the passage lists are sorted best first."""
    used: set[tuple[int, int]] = set()
    for at, word in enumerate(aligned[0].alignment.ours) if aligned else ():
        one = word.quantity
        if one is None or not is_distinctive_number(one):
            continue
        found = _compare_with_aligned_number(one, at, aligned)
        if not found:
            found = _search_number_in_passages(one, at, claim, aligned, near, ranked, used)
        outcome, said, (share, passage, text) = found
        place = sentence.block.get_place(sentence.start + one.start, sentence.start + one.end)
        what = " ".join(claim[one.start : one.end].split())
        yield CheckedClaim(
            *("number", outcome, place, sentence.text, sentence.keys, what, said),
            *(shorten_passage(passage), text.build_passage_handle(passage), round(share, 2)),
        )


_Found = tuple[Outcome, str, Ranked]


def _compare_with_aligned_number(
    one: Quantity, at: int, aligned: Sequence[AlignedPassage]
) -> _Found | None:
    """Compare a number with the number between the same words; return None without one."""
    least = _AS_CLOSE * aligned[0].alignment.likeness
    compared = [
        (said, passage)
        for passage in aligned
        if passage.alignment.likeness >= least
        and (said := passage.alignment.compare_number(at)) is not None
    ]
    for said, passage in compared:
        if said in AGREEMENTS:
            return "same", _AGREEMENT_TEXTS[said], passage.ranked
    for said, passage in compared:
        if passage.alignment.coverage < _ALTERED_MIN_COVERAGE:
            continue
        there = passage.alignment.theirs[passage.alignment.pairs[at]].quantity
        assert there is not None
        printed = passage.ranked[1].words[there.start : there.end]
        if said == "unit":
            return "altered", f"The number is there with another unit: {printed}.", passage.ranked
        if said == "side":
            return "altered", "The number is there with another comparison sign.", passage.ranked
        return "altered", f"The passage has {printed} in this place.", passage.ranked
    return None


def _search_number_in_passages(
    one: Quantity,
    at: int,
    claim: str,
    aligned: Sequence[AlignedPassage],
    near: Sequence[Ranked],
    ranked: Sequence[Ranked],
    used: set[tuple[int, int]],
) -> _Found:
    """Search for a number in the passages about the subject, then in all others."""
    said, where = _find_best_passage_with_number(one, claim, near, used) or ("", ranked[0])
    if said in _AGREEMENT_TEXTS:
        if any(passage.alignment.has_number_of_same_group(at) for passage in aligned):
            return "same", _AGREEMENT_TEXTS[said], where
        told = f"{_AGREEMENT_TEXTS[said].capitalize()}; its group was not compared."
        return "not_compared", told, where
    if not all(text.is_full for *_, text in ranked):
        return "no_full_text", "Only the abstract is here, which has it not.", where
    if said == "unit":
        return "altered", "The number is there with another unit.", where
    if said == "side":
        return "altered", "The number is there with another comparison sign.", where
    if said:
        return "elsewhere", "The passage has it, but of something else.", where
    if elsewhere := _find_first_passage_with_number(one, ranked):
        return "elsewhere", "The paper has it, but in no passage about this.", elsewhere
    return "absent", "Not in the cited text; the nearest passage is shown.", where


def _find_best_passage_with_number(
    one: Quantity, claim: str, near: Sequence[Ranked], used: set[tuple[int, int]]
) -> tuple[str, Ranked] | None:
    """Return the best passage that contains a number, and how the numbers agree.

    A number of a passage can confirm only one number of the sentence.
    """
    local = _get_context_words(one, claim)
    unit: tuple[str, Ranked] | None = None
    rival = 0  # most shared words near any number of a passage that ranks at least as high
    for ranked in near:
        passage = ranked[1]
        agreeing = []
        besides = (
            len(local & _get_context_words(other, passage.words)) for other in passage.numbers
        )
        rival = max((rival, *besides))
        for other in passage.numbers:
            said = compare_quantities(one, other)
            if said in ("unit", "side"):
                unit = unit or (said, ranked)
            elif said and (id(passage), other.start) not in used:
                agreeing.append(
                    (len(local & _get_context_words(other, passage.words)), other, said)
                )
        if not agreeing:
            continue
        shared, other, said = max(agreeing, key=lambda found: (found[0], found[2] == "same"))
        if rival > max(1, 2 * shared):
            unit = unit or ("of another", ranked)
            continue
        used.add((id(passage), other.start))
        return said, ranked
    return unit


def _get_context_words(one: Quantity, text: str) -> set[str]:
    """Return the words near a number."""
    return set(list_content_words(text[max(0, one.start - _CONTEXT_CHARS) : one.start])) | set(
        list_content_words(text[one.end : one.end + _CONTEXT_CHARS])
    )


def _find_first_passage_with_number(one: Quantity, ranked: Sequence[Ranked]) -> Ranked | None:
    """Return the first passage, relevant or not, that contains a number."""
    for found in ranked:
        if any(compare_quantities(one, other) in AGREEMENTS for other in found[1].numbers):
            return found
    return None
