"""Check what sentences say about the papers they cite: quotations, numbers and the rest.

A quotation is compared as everywhere else (`..corpus.differences`). A number is verified if a
passage about the same subject contains it. Otherwise the claim reports that another part of the
paper contains the number, or that the passage has another number, and shows the passage. If only
the abstract of a paper is on the shelf, a missing number is not a fault.

A sentence without a citation may rest on the citations of adjacent sentences, or be the author's
own finding. It is ``uncited`` unless those papers confirm it or clearly contradict it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..corpus.differences import compare_quotation
from ..corpus.wording import MIN_QUOTED_WORDS, parse_quotation
from ..errors import BadRequest
from .parts import Place, Sentence, find_quotations
from .passages import CitedText, Passage, content_words, find_best_passage
from .quantities import Quantity, compare_quantities, find_quantities, is_checkable
from .reading import fingerprint

Kind = Literal["quotation", "number", "support"]
Outcome = Literal["verified", "altered", "absent", "elsewhere", "no_full_text", "weak", "uncited"]
_CONFIDENCE_LEVEL = re.compile(r"\b9[0-9](?:\.\d)?\s?%\s?(?=CI\b|confidence|credible)", re.I)
_QUOTATION_MIN_CHARS = 8  # characters; a shorter quotation is a name or a word
_ALTERED_MIN_LIKENESS = 0.6
_RELEVANT_MIN_SHARE = 0.3  # share of a claim's words that a passage needs to confirm a number
_RELATIVE_TO_BEST = 0.6  # relative to the best passage's score
_CONTEXT_CHARS = 45  # characters on either side of a number that describe its subject
_SUPPORT_MIN_SHARE = 0.35
_MIN_CONTENT_WORDS = 3
_MAX_PASSAGE_CHARS = 600
_CONTRADICTION_MIN_SHARE = (
    0.75  # share of an uncited sentence's words in a passage that contradicts it
)
_OWN_WORK = re.compile(
    r"\b(?:we|our|ours|us|here|herein|(?:this|the (?:present|current)) (?:study|work|trial))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """The check of one quotation, number or statement against the cited papers.

    ``what`` is the quotation or number, ``said`` the result in words. ``passage`` is the nearest
    passage of the cited text, ``handle`` its address, and ``share`` the share of the sentence's
    words in it.
    """

    kind: Kind
    outcome: Outcome
    place: Place
    sentence: str
    keys: tuple[str, ...]
    what: str = ""
    said: str = ""
    passage: str = ""
    handle: str = ""
    share: float = 0.0

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the claim, for the file of accepted findings."""
        return fingerprint(self.kind, *self.keys, self.sentence, self.what)


def check_sentence(sentence: Sentence, texts: Sequence[CitedText]) -> Iterator[Claim]:
    """Check the quotations, numbers and subject of a sentence against the texts it cites."""
    claim = sentence.claim
    quoted = list(_find_checked_quotations(sentence))
    for start, end in quoted:
        made = _check_quotation(sentence, start, end, texts)
        if made:
            yield made
        claim = f"{claim[:start]}{' ' * (end - start)}{claim[end:]}" if made else claim
    claim = _CONFIDENCE_LEVEL.sub(lambda found: " " * len(found[0]), claim)
    asked = [one for one in find_quantities(claim) if is_checkable(one)]
    yield from _check_numbers(sentence, claim, asked, texts)
    if not asked and not quoted and len(content_words(claim)) >= MIN_QUOTED_WORDS:
        yield _check_support(sentence, claim, texts)


def check_uncited_sentence(
    sentence: Sentence, keys: tuple[str, ...], texts: Sequence[CitedText]
) -> Iterator[Claim]:
    """Check a sentence without citations against the texts that adjacent sentences cite."""
    for one in check_sentence(sentence, texts):
        made = replace(one, keys=keys)
        if one.kind == "support":
            continue
        if one.outcome == "verified":
            yield replace(made, said=f"{one.said}, by a citation beside it")
        elif one.outcome != "no_full_text" and _is_contradicted(one):
            yield replace(made, said=f"{one.said} The citation stands beside it.")
        else:
            lack = "are here as abstracts" if one.outcome == "no_full_text" else "have it not"
            said = f"The sentence cites nothing, and the papers cited beside it {lack}."
            yield replace(made, outcome="uncited", said=said)


def _is_contradicted(one: Claim) -> bool:
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


def _find_checked_quotations(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Yield start and end of each quotation; a block quotation counts as a whole."""
    if sentence.block.kind == "quote":
        yield 0, len(sentence.text.rstrip())
        return
    yield from (
        (start, end)
        for start, end in find_quotations(sentence.claim)
        if end - start >= _QUOTATION_MIN_CHARS
    )


def _check_quotation(
    sentence: Sentence, start: int, end: int, texts: Sequence[CitedText]
) -> Claim | None:
    """Compare a quotation with the cited texts; None if the quotation is too short."""
    words = " ".join(sentence.claim[start:end].split())
    try:
        quoted = parse_quotation(words)
    except BadRequest:  # too short to be identified
        return None
    place = sentence.block.place(sentence.start + start, sentence.start + end)
    found = [(compare_quotation(quoted, one.text), one) for one in texts]
    near, text = max(found, key=lambda pair: pair[0].likeness)
    printed = (
        " ".join(text.text[near.start : near.end].split())[:_MAX_PASSAGE_CHARS]
        if near.likeness
        else ""
    )
    passage = Passage(near.start, near.end, printed)
    made = (place, sentence.text, sentence.keys, words)
    handle = text.get_handle(passage) if printed else ""
    if near.is_verbatim:
        return Claim("quotation", "verified", *made, "word for word", printed, handle, 1.0)
    if not all(one.is_full for one in texts) and near.likeness < 1:
        said = "Only the abstract is here, which has it not."
        return Claim("quotation", "no_full_text", *made, said, printed, handle, near.likeness)
    if near.likeness >= _ALTERED_MIN_LIKENESS:
        said = "; ".join(map(str, near.differences)) or "other words"
        return Claim("quotation", "altered", *made, said, printed, handle, near.likeness)
    said = "Nowhere in the cited text; the nearest words are another sentence."
    return Claim("quotation", "absent", *made, said, printed, handle, near.likeness)


def _check_numbers(
    sentence: Sentence, claim: str, asked: Sequence[Quantity], texts: Sequence[CitedText]
) -> Iterator[Claim]:
    """Check each number against the passages about the same subject."""
    if not asked:
        return
    about = _blank_numbers(asked, claim)
    ranked = [(share, one, text) for text in texts for share, one in text.rank_passages(about)]
    ranked.sort(key=lambda found: -found[0])
    if not ranked:
        return
    least = max(_RELEVANT_MIN_SHARE, _RELATIVE_TO_BEST * ranked[0][0])
    near = [found for found in ranked if found[0] >= least]
    used: set[tuple[int, int]] = set()
    for one in asked:
        found = _find_number(one, claim, near, used)
        yield _to_number_claim(sentence, claim, one, found, ranked)


def _blank_numbers(asked: Sequence[Quantity], claim: str) -> str:
    """Return the claim without its numbers and units, unless too few words would remain."""
    bare = claim
    for one in asked:
        bare = f"{bare[: one.start]}{' ' * (one.end - one.start)}{bare[one.end :]}"
    return bare if len(content_words(bare)) >= _MIN_CONTENT_WORDS else claim


_Ranked = tuple[float, Passage, CitedText]
_Found = tuple[str, _Ranked]


def _find_number(
    one: Quantity, claim: str, near: Sequence[_Ranked], used: set[tuple[int, int]]
) -> _Found | None:
    """Return the best passage that contains a number, and how the numbers agree.

    A number of a passage can confirm only one number of the sentence.
    """
    local = _context_words(one, claim)
    unit: _Found | None = None
    rival = 0  # most shared words near any number of a passage that ranks at least as high
    for ranked in near:
        passage = ranked[1]
        agreeing = []
        besides = (len(local & _context_words(other, passage.words)) for other in passage.numbers)
        rival = max((rival, *besides))
        for other in passage.numbers:
            said = compare_quantities(one, other)
            if said in ("unit", "side"):
                unit = unit or (said, ranked)
            elif said and (id(passage), other.start) not in used:
                agreeing.append((len(local & _context_words(other, passage.words)), other, said))
        if not agreeing:
            continue
        shared, other, said = max(agreeing, key=lambda found: (found[0], found[2] == "same"))
        if rival > max(1, 2 * shared):
            unit = unit or ("of another", ranked)
            continue
        used.add((id(passage), other.start))
        return said, ranked
    return unit


def _context_words(one: Quantity, text: str) -> set[str]:
    """Return the words near a number."""
    return set(content_words(text[max(0, one.start - _CONTEXT_CHARS) : one.start])) | set(
        content_words(text[one.end : one.end + _CONTEXT_CHARS])
    )


_AGREEMENT_TEXTS = {
    "same": "there",
    "rounded": "there, rounded",
    "converted": "there, in other units or as percent",
    "approximate": "there, about",
    "bound": "a smaller value is there",
}


def _to_number_claim(
    sentence: Sentence, claim: str, one: Quantity, found: _Found | None, ranked: Sequence[_Ranked]
) -> Claim:
    """Build the claim for a number from the search result."""
    what = " ".join(claim[one.start : one.end].split())
    place = sentence.block.place(sentence.start + one.start, sentence.start + one.end)
    said, (share, passage, text) = found or ("", ranked[0])
    outcome: Outcome = "absent"
    if said in _AGREEMENT_TEXTS:
        outcome, told = "verified", _AGREEMENT_TEXTS[said]
    elif not all(where.is_full for *_, where in ranked):
        outcome, told = "no_full_text", "Only the abstract is here, which has it not."
    elif said == "unit":
        outcome, told = "altered", "The number is there with another unit."
    elif said == "side":
        outcome, told = "altered", "The number is there with < for > or > for <."
    elif said:
        outcome, told = "elsewhere", "The passage has it, but of something else."
    elif elsewhere := _find_anywhere(one, ranked):
        share, passage, text = elsewhere
        outcome, told = "elsewhere", "The paper has it, but in no passage about this."
    else:
        told = "Not in the cited text; the nearest passage is shown."
    words = " ".join(passage.words.split())[:_MAX_PASSAGE_CHARS]
    return Claim(
        *("number", outcome, place, sentence.text, sentence.keys, what, told, words),
        *(text.get_handle(passage), round(share, 2)),
    )


def _find_anywhere(one: Quantity, ranked: Sequence[_Ranked]) -> _Ranked | None:
    """Return the first passage, relevant or not, that contains a number."""
    for found in ranked:
        if any(
            compare_quantities(one, other) not in ("", "unit", "side") for other in found[1].numbers
        ):
            return found
    return None


def _check_support(sentence: Sentence, claim: str, texts: Sequence[CitedText]) -> Claim:
    """Find the passage nearest to a sentence; its truth is not judged."""
    found = find_best_passage(texts, claim)
    place, words, keys = sentence.place, sentence.text, sentence.keys
    if not found:
        return Claim("support", "no_full_text", place, words, keys, said="There is no text of it.")
    share, passage, text = found
    if share >= _SUPPORT_MIN_SHARE:
        outcome: Outcome = "verified"
        told = "A passage is about it."
    elif all(one.is_full for one in texts):
        outcome, told = "weak", "No passage has most of its words; the nearest is shown."
    else:
        outcome, told = "no_full_text", "Only the abstract is here, which says little of it."
    shown = " ".join(passage.words.split())[:_MAX_PASSAGE_CHARS]
    return Claim(
        *("support", outcome, place, words, keys, "", told, shown),
        *(text.get_handle(passage), round(share, 2)),
    )
