"""Check the claims of a sentence about the papers that it cites, element by element.

A quotation is compared as everywhere else (`..corpus.differences`). Numbers, directions and wording
are compared with the passages about the same subject (`.number_checks`, `.alignment`).
`.statements` defines the elements and their summary. If only the abstract of a paper is on the
shelf, a missing number is not a fault.

A sentence without a citation may rest on the citations of adjacent sentences, or be the author's
own finding. It is ``uncited`` unless those papers confirm it or clearly contradict it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..corpus.differences import compare_quotation
from ..corpus.wording import parse_quotation
from ..errors import BadRequest
from .alignment import Alignment
from .directions import NEGATION, ComparedWord, parse_compared_words
from .number_checks import AlignedPassage, Ranked, iterate_number_claims
from .parts import Sentence, iterate_quotations
from .passages import CitedPassage, CitedText, is_framing_word, list_content_words, shorten_passage
from .quantities import compare_quantities, find_quantities
from .statements import CheckedClaim, Outcome, Statement

_CONFIDENCE_LEVEL = re.compile(r"\b9[0-9](?:\.\d)?\s?%\s?(?=CI\b|confidence|credible)", re.I)
_QUOTATION_MIN_CHARS = 8  # characters; a shorter quotation is a name or a word
_ALTERED_MIN_LIKENESS = 0.6
_RELEVANT_MIN_SHARE = 0.3  # share of a claim's words that a passage needs to be about it
_RELATIVE_TO_BEST = 0.6  # relative to the best passage's score
_SUPPORT_MIN_SHARE = 0.35
_MIN_CONTENT_WORDS = 3
_MAX_ALIGNED = 8  # passages that are aligned with a sentence
_MAX_NAMED_WORDS = 8
_AS_LIKE = 0.9  # of the best coverage: another passage that says the same excuses a turned word
_CONTRADICTION_MIN_SHARE = (
    0.75  # share of an uncited sentence's words in a passage that contradicts it
)
_OWN_WORK = re.compile(
    r"\b(?:we|our|ours|us|here|herein|(?:this|the (?:present|current)) (?:study|work|trial))\b",
    re.I,
)


def check_sentence(
    sentence: Sentence, texts: Sequence[CitedText], unread: tuple[str, ...] = ()
) -> Statement | None:
    """Check each element of a sentence against the cited texts; return None without elements."""
    claim = sentence.claim
    elements: list[CheckedClaim] = []
    for start, end in _find_quotations_to_check(sentence):
        made = _check_quotation(sentence, start, end, texts)
        if made:
            elements.append(made)
            claim = f"{claim[:start]}{' ' * (end - start)}{claim[end:]}"
    elements += _check_sentence_words(sentence, _CONFIDENCE_LEVEL.sub(_to_spaces, claim), texts)
    if not elements:
        return None
    return Statement(sentence.place, sentence.text, sentence.keys, tuple(elements), unread)


def _to_spaces(found: re.Match[str]) -> str:
    return " " * len(found[0])


def check_uncited_sentence(
    sentence: Sentence, keys: tuple[str, ...], texts: Sequence[CitedText]
) -> Statement | None:
    """Check a sentence without citations against the texts that adjacent sentences cite."""
    statement = check_sentence(sentence, texts)
    elements = statement.elements if statement else ()
    judged = [
        _limit_uncited_result(replace(one, keys=keys))
        for one in elements
        if one.kind in ("quotation", "number")
    ]
    return Statement(sentence.place, sentence.text, keys, tuple(judged)) if judged else None


def _limit_uncited_result(one: CheckedClaim) -> CheckedClaim:
    """Return the claim with the weaker result for a sentence without its own citation."""
    if one.outcome in ("same", "not_compared"):
        return replace(one, said=f"{one.said}, by a citation beside it")
    if one.outcome != "no_full_text" and _is_contradicted_by_passage(one):
        return replace(one, said=f"{one.said} The citation stands beside it.")
    lack = "are here as abstracts" if one.outcome == "no_full_text" else "have it not"
    said = f"The sentence cites nothing, and the papers cited beside it {lack}."
    return replace(one, outcome="uncited", said=said)


def _is_contradicted_by_passage(one: CheckedClaim) -> bool:
    """Return whether a passage has nearly all words of the sentence but another number."""
    if one.share < _CONTRADICTION_MIN_SHARE or _OWN_WORK.search(one.sentence):
        return False
    if one.kind == "quotation" or one.outcome == "altered":
        return one.outcome == "altered"
    asked, ours = next(iter(find_quantities(one.what)), None), find_quantities(one.sentence)
    return asked is not None and any(
        other.unit == asked.unit and not any(compare_quantities(mine, other) for mine in ours)
        for other in find_quantities(one.passage)
    )


def _find_quotations_to_check(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield start and end of each quotation; a block quotation counts as one."""
    if sentence.block.kind == "quote":
        yield 0, len(sentence.text.rstrip())
        return
    yield from (
        (start, end)
        for start, end in iterate_quotations(sentence.claim)
        if end - start >= _QUOTATION_MIN_CHARS
    )


def _check_quotation(
    sentence: Sentence, start: int, end: int, texts: Sequence[CitedText]
) -> CheckedClaim | None:
    """Compare a quotation with the cited texts; None if the quotation is too short."""
    words = " ".join(sentence.claim[start:end].split())
    try:
        quoted = parse_quotation(words)
    except BadRequest:  # too short to be identified
        return None
    place = sentence.block.get_place(sentence.start + start, sentence.start + end)
    found = [(compare_quotation(quoted, one.text), one) for one in texts]
    near, text = max(found, key=lambda pair: pair[0].likeness)
    printed = text.text[near.start : near.end] if near.likeness else ""
    passage = CitedPassage(near.start, near.end, printed)
    outcome: Outcome = "absent"
    said = "Nowhere in the cited text; the nearest words are another sentence."
    if near.is_verbatim:
        outcome, said = "same", "word for word"
    elif not all(one.is_full for one in texts) and near.likeness < 1:
        outcome, said = "no_full_text", "Only the abstract is here, which has it not."
    elif near.likeness >= _ALTERED_MIN_LIKENESS:
        outcome, said = "altered", "; ".join(map(str, near.differences)) or "other words"
    handle = text.build_passage_handle(passage) if printed else ""
    return CheckedClaim(
        *("quotation", outcome, place, sentence.text, sentence.keys, words, said),
        *(shorten_passage(passage), handle, near.likeness),
    )


def _check_sentence_words(
    sentence: Sentence, claim: str, texts: Sequence[CitedText]
) -> Iterator[CheckedClaim]:
    """Yield the results for a sentence's numbers, directions and wording outside quotations."""
    ours = parse_compared_words(claim)
    if not any(word.quantity or not is_framing_word(word.key) for word in ours):
        return
    about = _remove_numbers(ours, claim)
    ranked = [(share, one, text) for text in texts for share, one in text.rank_passages(about)]
    ranked.sort(key=lambda found: -found[0])
    if not ranked:
        said = "There is no text of it."
        yield CheckedClaim(
            "wording", "no_full_text", sentence.place, sentence.text, sentence.keys, "", said
        )
        return
    least = max(_RELEVANT_MIN_SHARE, _RELATIVE_TO_BEST * ranked[0][0])
    near = [found for found in ranked if found[0] >= least]
    aligned = _align_with_passages(ours, near or ranked[:1])
    yield from iterate_number_claims(sentence, claim, aligned, near, ranked)
    yield from _check_directions_and_negations(sentence, claim, aligned)
    yield _check_wording(sentence, aligned[0])


def _remove_numbers(ours: Sequence[ComparedWord], claim: str) -> str:
    """Return the claim without its numbers and units, unless too few words would remain."""
    bare = claim
    for one in ours:
        if one.quantity:
            bare = f"{bare[: one.start]}{' ' * (one.end - one.start)}{bare[one.end :]}"
    return bare if len(list_content_words(bare)) >= _MIN_CONTENT_WORDS else claim


def _align_with_passages(
    ours: Sequence[ComparedWord], near: Sequence[Ranked]
) -> list[AlignedPassage]:
    """Return the best passages aligned with a sentence, most similar first."""
    aligned = [AlignedPassage(one, Alignment(ours, one[1].compared_words)) for one in near]
    return sorted(
        aligned[:_MAX_ALIGNED],
        key=lambda one: (-one.alignment.is_same_wording, -one.alignment.likeness),
    )


def _check_directions_and_negations(
    sentence: Sentence, claim: str, aligned: Sequence[AlignedPassage]
) -> Iterator[CheckedClaim]:
    """Check the words that have an opposite, and the negations."""
    best = aligned[0].alignment
    negated = set(best.iterate_one_sided_negations())
    for at, word in enumerate(best.ours):
        if not word.has_opposite and at not in negated:
            continue
        outcome, said, (share, passage, text) = _compare_word_direction(at, aligned, at in negated)
        if word.is_weak and outcome != "turned":
            continue
        first = best.ours[at - 1] if at and best.ours[at - 1].key == NEGATION else word
        place = sentence.block.get_place(sentence.start + first.start, sentence.start + word.end)
        yield CheckedClaim(
            *("direction", outcome, place, sentence.text, sentence.keys),
            *(claim[first.start : word.end], said, shorten_passage(passage)),
            *(text.build_passage_handle(passage), round(share, 2)),
        )


def _compare_word_direction(
    at: int, aligned: Sequence[AlignedPassage], is_negation_turned: bool
) -> tuple[Outcome, str, Ranked]:
    """Return the result for one word, from the passage most similar to the sentence."""
    if is_negation_turned:
        return "turned", "Only one of sentence and passage negates it.", aligned[0].ranked
    least = _AS_LIKE * aligned[0].alignment.likeness
    compared = [
        (one.alignment.compare_direction(at), one)
        for one in aligned
        if one.alignment.likeness >= least
    ]
    outcomes = {said for said, _ in compared}
    said, where = next(
        ((said, one) for said, one in compared if said != "not_compared"),
        ("not_compared", aligned[0]),
    )
    if said == "turned" and "same" in outcomes:
        return "not_compared", "Passages about it say both.", where.ranked
    if said == "turned":
        return "turned", "The passage says the opposite.", where.ranked
    if said == "same":
        return "same", "The passage has the same direction.", where.ranked
    return "not_compared", "No corresponding word was found.", where.ranked


def _check_wording(sentence: Sentence, nearest: AlignedPassage) -> CheckedClaim:
    """Return the comparison of a sentence's wording with the nearest passage."""
    share, passage, text = nearest.ranked
    alignment = nearest.alignment
    outcome: Outcome = "not_compared"
    if alignment.is_same_wording:
        outcome, said = "same", "The passage has the same words."
    elif share < _SUPPORT_MIN_SHARE and not text.is_full:
        outcome, said = "no_full_text", "Only the abstract is here, which says little of it."
    elif share < _SUPPORT_MIN_SHARE:
        said = "No passage has most of its words; the nearest is shown."
    elif alignment.unmatched_words:
        words = _quote_first_words(alignment.unmatched_words, sentence.claim)
        said = f"Words without a counterpart: {words}."
    else:
        said = (
            f"The passage says more: {_quote_first_words(alignment.omitted_words, passage.words)}."
        )
    return CheckedClaim(
        *("wording", outcome, sentence.place, sentence.text, sentence.keys, "", said),
        *(shorten_passage(passage), text.build_passage_handle(passage), round(share, 2)),
    )


def _quote_first_words(words: Sequence[ComparedWord], text: str) -> str:
    """Return the first words of a list, as written in a text."""
    named = ", ".join(text[one.start : one.end] for one in words[:_MAX_NAMED_WORDS])
    return named + (", …" if len(words) > _MAX_NAMED_WORDS else "")
