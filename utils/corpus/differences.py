"""What a quotation that is not verbatim says otherwise than the text it comes nearest to.

A slip in a figure, a unit, a "not" or a direction turns a finding round, while another article or
a synonym does not: each difference has its kind, so that whoever checks sees at once which it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import pairwise, product
from typing import Literal, NamedTuple

from ..outline.words import count_words
from .wording import LEAST_WORDS, NEGATION, FoldedText, Quoted, Span, find_verbatim, may_be_left_out

Kind = Literal[
    "number", "unit", "negation", "direction", "words", "left out", "added", "stitched",
    "capitals", "punctuation",
]  # fmt: skip
"""What differs; ``left out`` without a mark, ``stitched`` from stretches that stand apart.

``capitals`` and ``punctuation`` are named where nothing else differs.
"""
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|[%<>=\u2264\u2265\u00b1\u00b0~]|-(?=\d)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_UNIT_WORDS = """
    % ° s min h d day days week weeks month months year years hour hours minute minutes second
    seconds m cm mm nm km g kg mg ng pg l ml dl nl mol mmol nmol pmol m2 c f k kda da bp kb mb hz
    khz mhz w mw v mv a ma j kj kcal cal pa kpa mmhg bar iu u units fold percent μg μl μm μmol gy
    bq kbq mbq rpm
"""
_UNITS = frozenset(_UNIT_WORDS.split())
_UP = (
    "increas", "rais", "rise", "rose", "higher", "high", "more", "greater", "larger", "longer",
    "upregulat", "elevat", "enhanc", "promot", "induc", "activat", "stimulat", "improv", "gain",
    "positive", "faster", "stronger", "better", "above", "after", "agonist", "accelerat", "benefit",
    "older", "overexpress", "early", "earlier",
)  # fmt: skip
_DOWN = (
    "decreas", "lower", "declin", "fall", "fell", "drop", "low", "less", "fewer", "smaller",
    "shorter", "downregulat", "reduc", "impair", "suppress", "inhibit", "attenuat", "worsen",
    "loss", "lost", "negative", "slower", "weaker", "worse", "below", "before", "antagonist",
    "delay", "harm", "younger", "underexpress", "late", "later", "prevent", "block", "diminish",
)  # fmt: skip
_NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty
    hundred thousand million billion half third quarter first second fourth fifth once twice thrice
    double twofold threefold fourfold fivefold tenfold
"""
_NUMBERS = frozenset(_NUMBER_WORDS.split())
_DENIED = re.compile(
    rf"{NEGATION.pattern}|\b(?:non|lack\w*|absen\w*|hardly|barely|rarely|seldom)\b", re.I
)
_DENYING = ("un", "in", "im", "ir", "il", "non", "dis")
_OPPOSITE = (
    *(("hyper", "hypo"), ("up", "down"), ("over", "under"), ("post", "pre"), ("super", "infer")),
    *(("max", "min"), ("ex", "in"), ("pro", "anti"), ("homo", "hetero"), ("bi", "uni")),
)
_WIDER = 1.2  # than the quotation: the stretch it is compared with
_SLACK = 6
_STRETCHES, _AS_LIKE = 4, 0.8  # that are compared, if they share so much of what the best shares
_MOST = 12
_LONGEST = 120  # characters of a difference that are shown


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of the quotation and those that the text has in their place; either may be empty."""

    kind: Kind
    quoted: str
    printed: str

    def __str__(self) -> str:
        quoted, printed = _short(self.quoted), _short(self.printed)
        if self.kind == "stitched":
            return f"stitched: “{quoted}” stands elsewhere, {printed}"
        if not quoted:
            return f"{self.kind}: “{printed}” is missing in the quotation"
        if not printed:
            return f"{self.kind}: “{quoted}” is not in the text"
        return f"{self.kind}: “{quoted}”, the text has “{printed}”"


class Nearest(NamedTuple):
    """The stretch of a text most like a quotation: its place, its likeness (0 to 1), what differs.

    ``likeness`` is the share of the quotation's words that it has in their order; ``pieces`` are
    the places of what stands apart in the text (round a mark, or where it was stitched).
    """

    start: int
    end: int
    likeness: float
    differences: tuple[Difference, ...]
    pieces: tuple[Span, ...] = ()

    @property
    def is_verbatim(self) -> bool:
        """Whether the quotation stands there word for word."""
        return self.likeness == 1.0


class _Token(NamedTuple):
    """A word, figure or sign: how it is compared, and where it stands in the folded text."""

    key: str
    start: int
    end: int


def compared(quoted: Quoted, text: str) -> Nearest:
    """Find a quotation in a paper's *text*, word for word, else the stretch most like it.

    Every door judges by this.
    """
    wording = FoldedText.of_paper(text)
    return verbatim(quoted, text, wording) or nearest(quoted, text, wording)


def verbatim(quoted: Quoted, text: str, wording: FoldedText) -> Nearest | None:
    """Where *text* has a quotation word for word; None if it has not."""
    if not (spans := find_verbatim(quoted, text, wording)):
        return None
    return Nearest(spans[0][0], spans[-1][1], 1.0, (), tuple(spans))


def nearest(quoted: Quoted, text: str, wording: FoldedText | None = None) -> Nearest:
    """The stretch of *text* most like a quotation that it does not have word for word."""
    wording = wording or FoldedText.of_paper(text)
    there = _tokens(wording.words)
    if apart := stitched(quoted, text, wording):
        return apart
    parts = _folded_parts(quoted)
    found = [_compared(part, wording, there) for part in parts]
    total = sum(size for *_, size in found) or 1
    spans = [span for span, _, same, _ in found if same]
    start, end = _together(spans, wording) if spans else (0, 0)
    differences = [one for _, some, _, _ in found for one in some]
    likeness = sum(same for _, _, same, _ in found) / total
    pieces = ((start, end),)
    return Nearest(start, end, min(round(likeness, 3), 0.99), tuple(differences[:_MOST]), pieces)


def _tokens(folded: str) -> list[_Token]:
    return [_Token(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(folded)]


def _folded_parts(quoted: Quoted) -> list[str]:
    return [FoldedText.of(part).words.strip() for part in quoted.parts]


def stitched(quoted: Quoted, text: str, wording: FoldedText) -> Nearest | None:
    """Sentences that all stand in *text*, but not together as the quotation has them."""
    parts = _folded_parts(quoted)
    sentences = [one.rstrip(".") for part in parts for one in _SENTENCE.split(part) if one]
    if len(sentences) < 2:
        return None
    places = list(_places(sentences, wording))
    if len(places) < len(sentences):
        return None
    differences = []
    for number, ((_, end), (start, _)) in enumerate(pairwise(places), 1):
        between = wording.words[end:start].strip(" .")
        if start >= end and may_be_left_out(end, start, text, wording):
            if between:
                differences.append(Difference("left out", "", between))
            continue
        if start >= end and len(between) <= _LONGEST and NEGATION.search(between):
            differences.append(Difference("negation", "", between))
            continue
        where = f"{start - end} characters further on" if start >= end else "further up"
        differences.append(Difference("stitched", sentences[number], where))
    spans = tuple(wording.place(*place) for place in places)
    return Nearest(*spans[0], 0.99, tuple(differences[:_MOST]), spans) if differences else None


def sentences_of(quoted: Quoted) -> list[str]:
    """The sentences of a quotation, folded; one too short to be told goes with the one before."""
    made: list[str] = []
    for part in _folded_parts(quoted):
        for number, sentence in enumerate(_SENTENCE.split(part)):
            if number and made and count_words(sentence) < LEAST_WORDS:
                made[-1] += f" {sentence}"
            else:
                made.append(sentence)
    return [one.rstrip(".") for one in made if one]


def _places(sentences: Sequence[str], wording: FoldedText) -> Iterator[Span]:
    """Where each stands, behind the one before if it can; ends at the first that is nowhere."""
    end = 0
    for sentence in sentences:
        at = wording.find(sentence, end)
        at = at if at >= 0 else wording.find(sentence)
        if at < 0:
            return
        end = at + len(sentence)
        yield at, end


_Compared = tuple[Span, list[Difference], int, int]


def _compared(part: str, wording: FoldedText, there: Sequence[_Token]) -> _Compared:
    """Place in the folded text, differences, how many tokens are the same, and of how many."""
    ours = _tokens(part)
    near = _likest([token.key for token in ours], there)
    matcher = SequenceMatcher(
        None, [token.key for token in ours], [token.key for token in near], autojunk=False
    )
    same = _together_in_text([block for block in matcher.get_matching_blocks() if block.size])
    if not same:
        return (0, 0), [Difference("added", part, "")], 0, len(ours)
    first, last = same[0], same[-1]
    # What the quotation has before its first word that is there may stand for words before it.
    begin = max(0, first.b - first.a)
    end = min(len(near), last.b + last.size + len(ours) - last.a - last.size)
    matcher.set_seq2([token.key for token in near[begin:end]])
    differences = list(_differences(matcher, ours, near[begin:end], part, wording.words))
    span = near[begin].start, near[end - 1].end
    differences = differences or list(_in_signs(ours, near[begin:end], part, wording.words))
    return span, differences, sum(block.size for block in same), len(ours)


def _together_in_text(same: list[Match]) -> list[Match]:
    """Without a word or two, at either end, that stand far from the rest: they are chance."""
    while len(same) > 1 and _is_far(same[0], same[1], same[0].size):
        same = same[1:]
    while len(same) > 1 and _is_far(same[-2], same[-1], same[-1].size):
        same = same[:-1]
    return same


def _is_far(one: Match, other: Match, size: int) -> bool:
    left_out = (other.b - one.b) - (other.a - one.a)
    return left_out > 4 * size


def _likest(keys: Sequence[str], there: Sequence[_Token]) -> Sequence[_Token]:
    """The stretch of a text, a fifth longer than a quotation, that has most of it in its order."""
    matcher = SequenceMatcher(None, keys, (), autojunk=False)

    def in_order(stretch: Sequence[_Token]) -> int:
        matcher.set_seq2([token.key for token in stretch])
        return max(block.size for block in matcher.get_matching_blocks())

    return max(_stretches(keys, there), key=in_order)


def _stretches(keys: Sequence[str], there: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    """The few stretches that share most tokens with a quotation, whatever their order."""
    width = int(len(keys) * _WIDER) + 1
    shared = list(_shared(Counter(keys), there, width))
    most = max(shared, default=0)
    # The best window may begin a little after its first word, and words may be left out.
    slack = max(_SLACK, width // 4)
    taken: list[int] = []
    for end in sorted(range(len(there)), key=lambda number: -shared[number]):
        if len(taken) == _STRETCHES or shared[end] < _AS_LIKE * most:
            break
        if all(abs(end - other) >= width for other in taken):
            taken.append(end)
            at = max(0, end - width + 1)
            yield there[max(0, at - slack) : at + width + slack]
    if not taken:
        yield there


def _shared(needed: Counter[str], there: Sequence[_Token], width: int) -> Iterator[int]:
    """How many of the tokens are in the window that ends at each place of a text."""
    counts: Counter[str] = Counter()
    shared = 0
    for number, token in enumerate(there):
        counts[token.key] += 1
        shared += counts[token.key] <= needed[token.key]
        if number >= width:
            old = there[number - width].key
            shared -= counts[old] <= needed[old]
            counts[old] -= 1
        yield shared


def _differences(
    matcher: SequenceMatcher[str],
    ours: Sequence[_Token],
    near: Sequence[_Token],
    part: str,
    printed: str,
) -> Iterator[Difference]:
    for what, i1, i2, j1, j2 in matcher.get_opcodes():
        if what == "equal":
            continue
        quoted = part[ours[i1].start : ours[i2 - 1].end] if i2 > i1 else ""
        there = printed[near[j1].start : near[j2 - 1].end] if j2 > j1 else ""
        before = ours[i1 - 1].key if i1 else ""
        our_keys = [token.key for token in ours[i1:i2]]
        their_keys = [token.key for token in near[j1:j2]]
        yield Difference(_kind(our_keys, their_keys, before), quoted, there)


def _in_signs(
    ours: Sequence[_Token], near: Sequence[_Token], part: str, printed: str
) -> Iterator[Difference]:
    """What differs between the same words: their capitals, or the signs between them."""
    for at, (one, other) in enumerate(zip(ours, near, strict=False)):
        quoted, there = part[one.start : one.end], printed[other.start : other.end]
        if at and quoted != there:  # quoting may begin with a capital
            yield Difference("capitals", quoted, there)
    for (one, after), (other, behind) in zip(pairwise(ours), pairwise(near), strict=False):
        quoted, there = part[one.end : after.start], printed[other.end : behind.start]
        if quoted != there:
            quoted, there = part[one.start : after.end], printed[other.start : behind.end]
            yield Difference("punctuation", quoted, there)


def _kind(ours: Sequence[str], theirs: Sequence[str], before: str) -> Kind:
    """The gravest that differs between two stretches; *before* is the token before both."""
    if _negated(ours) != _negated(theirs) or _is_denied(ours, theirs):
        return "negation"
    if _figures(ours) != _figures(theirs):
        return "number"
    if _is_turned(ours, theirs):
        return "direction"
    units = [{key for key in keys if key in _UNITS} for keys in (ours, theirs)]
    behind = before[:1].isdigit() or before in _UNITS
    first = behind and not _UNITS.isdisjoint((*ours[:1], *theirs[:1]))
    if units[0] != units[1] and (first or _figures(ours)):
        return "unit"
    return "words" if ours and theirs else "added" if ours else "left out"


def _negated(keys: Sequence[str]) -> bool:
    return any(_DENIED.fullmatch(key) for key in keys)


def _is_denied(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether a word of the one is the other's with a *not* in front: unaffected, insufficient."""
    pairs = [*product(ours, theirs), *product(theirs, ours)]
    return any(one == before + other for one, other in pairs for before in _DENYING)


def _figures(keys: Sequence[str]) -> list[str]:
    signs = "-<>\u2264\u2265="
    return [key for key in keys if key[0].isdigit() or key in signs or key in _NUMBERS]


def _is_turned(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether they point in opposite directions, by whole words or by how words begin."""
    up = _directed(ours, _UP) != _directed(theirs, _UP)
    if up and _directed(ours, _DOWN) != _directed(theirs, _DOWN):
        return True
    pairs = [*product(ours, theirs), *product(theirs, ours)]
    return any(
        one.startswith(high) and low + one.removeprefix(high) == other
        for one, other in pairs
        for high, low in _OPPOSITE
    )


def _directed(keys: Sequence[str], stems: tuple[str, ...]) -> bool:
    return any(key.startswith(stems) for key in keys)


def _together(spans: Sequence[Span], wording: FoldedText) -> Span:
    """The place of all parts in the text; of the first where the others are before it."""
    first = spans[0]
    end = max((span[1] for span in spans if span[0] >= first[0]), default=first[1])
    return wording.place(first[0], end)


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 2].rstrip()} …"
