"""What sentences say of the papers they cite: quotations, numbers, and all the rest.

A quotation is judged as everywhere else (`..corpus.differences`). A number is ``there`` if a
passage about the same thing has it; if only another part of the paper has it, or another number
stands where the sentence's words stand, that is said, with the passage. Of a paper that is here as
an abstract only, nothing is said that it does not say: the full text may.

A sentence that cites nothing may still be about what the sentences beside it cite, or be the
author's own: it is ``uncited`` unless that text has what it says, or clearly says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..corpus.differences import compared
from ..corpus.wording import LEAST_WORDS, parse
from ..errors import BadRequest
from .parts import Place, Sentence, quoted
from .passages import CitedText, Passage, best, terms
from .quantities import Quantity, agreement, is_claimed, quantities
from .reading import fingerprint

Kind = Literal["quotation", "number", "support"]
Outcome = Literal["verified", "altered", "absent", "elsewhere", "no_full_text", "weak", "uncited"]
_CONFIDENCE = re.compile(r"\b9[0-9](?:\.\d)?\s?%\s?(?=CI\b|confidence|credible)", re.I)
_QUOTATION = 8  # characters; below that it is a name or a word
_NEAR = 0.6
_ABOUT = 0.3  # of a claim's words that a passage has at the least, to confirm a number
_OF_BEST = 0.6  # of what the best passage has
_LOCAL = 45  # characters on either side of a number that tell what it is of
_SUPPORTED = 0.35
_FEW = 3
_SHOWN = 600
_CLEAR = 0.75  # of an uncited sentence's words that a passage has which says otherwise
_OWN = re.compile(
    r"\b(?:we|our|ours|us|here|herein|(?:this|the (?:present|current)) (?:study|work|trial))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What became of one thing that a sentence says of the papers it cites.

    ``what`` is the quotation or number, ``said`` the result in words; ``passage`` the nearest of
    the cited text and ``handle`` where it stands; ``share`` how much of the sentence's words it
    has.
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
        """Its name for `.reading`."""
        return fingerprint(self.kind, *self.keys, self.sentence, self.what)


def check_sentence(sentence: Sentence, texts: Sequence[CitedText]) -> Iterator[Claim]:
    """What a sentence quotes, counts and says, held against the texts it cites."""
    claim = sentence.claim
    quoted = list(_quotations(sentence))
    for start, end in quoted:
        made = _check_quotation(sentence, start, end, texts)
        if made:
            yield made
        claim = f"{claim[:start]}{' ' * (end - start)}{claim[end:]}" if made else claim
    claim = _CONFIDENCE.sub(lambda found: " " * len(found[0]), claim)
    asked = [one for one in quantities(claim) if is_claimed(one)]
    yield from _check_numbers(sentence, claim, asked, texts)
    if not asked and not quoted and len(terms(claim)) >= LEAST_WORDS:
        yield _check_support(sentence, claim, texts)


def check_beside(
    sentence: Sentence, keys: tuple[str, ...], texts: Sequence[CitedText]
) -> Iterator[Claim]:
    """The same of a sentence that cites nothing, held against what those beside it cite."""
    for one in check_sentence(sentence, texts):
        made = replace(one, keys=keys)
        if one.kind == "support":
            continue
        if one.outcome == "verified":
            yield replace(made, said=f"{one.said}, by a citation beside it")
        elif one.outcome != "no_full_text" and _says_otherwise(one):
            yield replace(made, said=f"{one.said} The citation stands beside it.")
        else:
            lack = "are here as abstracts" if one.outcome == "no_full_text" else "have it not"
            said = f"The sentence cites nothing, and the papers cited beside it {lack}."
            yield replace(made, outcome="uncited", said=said)


def _says_otherwise(one: Claim) -> bool:
    """Whether a passage has nearly all words of the sentence, and another number in its place."""
    if one.share < _CLEAR or _OWN.search(one.sentence):
        return False
    if one.kind == "quotation" or one.outcome == "altered":
        return one.outcome == "altered"
    asked, ours = next(iter(quantities(one.what)), None), quantities(one.sentence)
    return asked is not None and any(
        other.unit == asked.unit and not any(agreement(mine, other) for mine in ours)
        for other in quantities(one.passage)
    )


def _quotations(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """Where quotations stand in the sentence, without their marks; a block that is one is whole."""
    if sentence.block.kind == "quote":
        yield 0, len(sentence.text.rstrip())
        return
    yield from ((start, end) for start, end in quoted(sentence.claim) if end - start >= _QUOTATION)


def _check_quotation(
    sentence: Sentence, start: int, end: int, texts: Sequence[CitedText]
) -> Claim | None:
    words = " ".join(sentence.claim[start:end].split())
    try:
        quoted = parse(words)
    except BadRequest:  # too short to be told from other words
        return None
    place = sentence.block.place(sentence.start + start, sentence.start + end)
    found = [(compared(quoted, one.text), one) for one in texts]
    near, text = max(found, key=lambda pair: pair[0].likeness)
    printed = " ".join(text.text[near.start : near.end].split())[:_SHOWN] if near.likeness else ""
    passage = Passage(near.start, near.end, printed)
    made = (place, sentence.text, sentence.keys, words)
    handle = text.handle(passage) if printed else ""
    if near.is_verbatim:
        return Claim("quotation", "verified", *made, "word for word", printed, handle, 1.0)
    if not all(one.is_full for one in texts) and near.likeness < 1:
        said = "Only the abstract is here, which has it not."
        return Claim("quotation", "no_full_text", *made, said, printed, handle, near.likeness)
    if near.likeness >= _NEAR:
        said = "; ".join(map(str, near.differences)) or "other words"
        return Claim("quotation", "altered", *made, said, printed, handle, near.likeness)
    said = "Nowhere in the cited text; the nearest words are another sentence."
    return Claim("quotation", "absent", *made, said, printed, handle, near.likeness)


def _check_numbers(
    sentence: Sentence, claim: str, asked: Sequence[Quantity], texts: Sequence[CitedText]
) -> Iterator[Claim]:
    """Each number, in the passages about the same thing."""
    if not asked:
        return
    about = _without(asked, claim)
    ranked = [(share, one, text) for text in texts for share, one in text.ranked(about)]
    ranked.sort(key=lambda found: -found[0])
    if not ranked:
        return
    least = max(_ABOUT, _OF_BEST * ranked[0][0])
    near = [found for found in ranked if found[0] >= least]
    used: set[tuple[int, int]] = set()
    for one in asked:
        found = _there(one, claim, near, used)
        yield _number_claim(sentence, claim, one, found, ranked)


def _without(asked: Sequence[Quantity], claim: str) -> str:
    """What the numbers are said of: a unit is no word of it, unless there are few others."""
    bare = claim
    for one in asked:
        bare = f"{bare[: one.start]}{' ' * (one.end - one.start)}{bare[one.end :]}"
    return bare if len(terms(bare)) >= _FEW else claim


_Ranked = tuple[float, Passage, CitedText]
_Found = tuple[str, _Ranked]


def _there(
    one: Quantity, claim: str, near: Sequence[_Ranked], used: set[tuple[int, int]]
) -> _Found | None:
    """Where a number stands in a passage about the claim, and how it agrees; the best such place.

    A number of a passage stands for one number of the sentence only.
    """
    local = _local(one, claim)
    unit: _Found | None = None
    rival = 0  # the most words beside a number, in a passage at least as much about the claim
    for ranked in near:
        passage = ranked[1]
        agreeing = []
        besides = (len(local & _local(other, passage.words)) for other in passage.numbers)
        rival = max((rival, *besides))
        for other in passage.numbers:
            said = agreement(one, other)
            if said in ("unit", "side"):
                unit = unit or (said, ranked)
            elif said and (id(passage), other.start) not in used:
                agreeing.append((len(local & _local(other, passage.words)), other, said))
        if not agreeing:
            continue
        shared, other, said = max(agreeing, key=lambda found: (found[0], found[2] == "same"))
        if rival > max(1, 2 * shared):
            unit = unit or ("of another", ranked)
            continue
        used.add((id(passage), other.start))
        return said, ranked
    return unit


def _local(one: Quantity, text: str) -> set[str]:
    """The words beside a number."""
    return set(terms(text[max(0, one.start - _LOCAL) : one.start])) | set(
        terms(text[one.end : one.end + _LOCAL])
    )


_AGREED = {
    "same": "there",
    "rounded": "there, rounded",
    "converted": "there, in other units or as percent",
    "approximate": "there, about",
    "bound": "a smaller value is there",
}


def _number_claim(
    sentence: Sentence, claim: str, one: Quantity, found: _Found | None, ranked: Sequence[_Ranked]
) -> Claim:
    what = " ".join(claim[one.start : one.end].split())
    place = sentence.block.place(sentence.start + one.start, sentence.start + one.end)
    said, (share, passage, text) = found or ("", ranked[0])
    outcome: Outcome = "absent"
    if said in _AGREED:
        outcome, told = "verified", _AGREED[said]
    elif not all(where.is_full for *_, where in ranked):
        outcome, told = "no_full_text", "Only the abstract is here, which has it not."
    elif said == "unit":
        outcome, told = "altered", "The number is there with another unit."
    elif said == "side":
        outcome, told = "altered", "The number is there with < for > or > for <."
    elif said:
        outcome, told = "elsewhere", "The passage has it, but of something else."
    elif elsewhere := _elsewhere(one, ranked):
        share, passage, text = elsewhere
        outcome, told = "elsewhere", "The paper has it, but in no passage about this."
    else:
        told = "Not in the cited text; the nearest passage is shown."
    words = " ".join(passage.words.split())[:_SHOWN]
    return Claim(
        *("number", outcome, place, sentence.text, sentence.keys, what, told, words),
        *(text.handle(passage), round(share, 2)),
    )


def _elsewhere(one: Quantity, ranked: Sequence[_Ranked]) -> _Ranked | None:
    for found in ranked:
        if any(agreement(one, other) not in ("", "unit", "side") for other in found[1].numbers):
            return found
    return None


def _check_support(sentence: Sentence, claim: str, texts: Sequence[CitedText]) -> Claim:
    """The passage most about a sentence; never a word on whether it is true."""
    found = best(texts, claim)
    place, words, keys = sentence.place, sentence.text, sentence.keys
    if not found:
        return Claim("support", "no_full_text", place, words, keys, said="There is no text of it.")
    share, passage, text = found
    if share >= _SUPPORTED:
        outcome: Outcome = "verified"
        told = "A passage is about it."
    elif all(one.is_full for one in texts):
        outcome, told = "weak", "No passage has most of its words; the nearest is shown."
    else:
        outcome, told = "no_full_text", "Only the abstract is here, which says little of it."
    shown = " ".join(passage.words.split())[:_SHOWN]
    return Claim(
        *("support", outcome, place, words, keys, "", told, shown),
        *(text.handle(passage), round(share, 2)),
    )
