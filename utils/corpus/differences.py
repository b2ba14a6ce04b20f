"""Find the differences between a quotation and the most similar stretch of a text.

An error in a number, a unit, a "not" or a direction reverses a finding; another article or a
synonym does not. So each difference has a kind that shows a reader at once how serious it is.
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
from .wording import (
    MIN_QUOTED_WORDS,
    NEGATION,
    FoldedQuotation,
    FoldedText,
    Span,
    can_be_omitted,
    find_verbatim_spans,
)

Kind = Literal[
    "number", "unit", "negation", "direction", "words", "left out", "added", "stitched",
    "capitals", "punctuation",
]  # fmt: skip
"""The kind of a difference; ``left out`` without an ellipsis, ``stitched`` from separate places.

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
_INCREASE_STEMS = (
    "increas", "rais", "rise", "rose", "higher", "high", "more", "greater", "larger", "longer",
    "upregulat", "elevat", "enhanc", "promot", "induc", "activat", "stimulat", "improv", "gain",
    "positive", "faster", "stronger", "better", "above", "after", "agonist", "accelerat", "benefit",
    "older", "overexpress", "early", "earlier",
)  # fmt: skip
_DECREASE_STEMS = (
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
_NEGATED_WORD = re.compile(
    rf"{NEGATION.pattern}|\b(?:non|lack\w*|absen\w*|hardly|barely|rarely|seldom)\b", re.I
)
_NEGATING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")
_OPPOSITE_PREFIXES = (
    *(("hyper", "hypo"), ("up", "down"), ("over", "under"), ("post", "pre"), ("super", "infer")),
    *(("max", "min"), ("ex", "in"), ("pro", "anti"), ("homo", "hetero"), ("bi", "uni")),
)
_WINDOW_RATIO = 1.2  # than the quotation: the stretch it is compared with
_MIN_SLACK_TOKENS = 6
_STRETCHES, _AS_LIKE = 4, 0.8  # that are compared, if they share so much of what the best shares
_MAX_DIFFERENCES = 12
_MAX_SHOWN_CHARS = 120  # characters of a difference that are shown


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of a quotation that differ from the text, and the text's words; either may be empty."""

    kind: Kind
    quoted: str
    printed: str

    def __str__(self) -> str:
        quoted, printed = (
            _shorten_words_for_display(self.quoted),
            _shorten_words_for_display(self.printed),
        )
        if self.kind == "stitched":
            return f"stitched: “{quoted}” stands elsewhere, {printed}"
        if not quoted:
            return f"{self.kind}: “{printed}” is missing in the quotation"
        if not printed:
            return f"{self.kind}: “{quoted}” is not in the text"
        return f"{self.kind}: “{quoted}”, the text has “{printed}”"


class NearestStretch(NamedTuple):
    """The stretch of a text most similar to a quotation; ``likeness`` is from 0 to 1.

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
        """True if the text contains the quotation word for word."""
        return self.likeness == 1.0


class _Token(NamedTuple):
    """A word, number or sign: its form for comparison, and its position in the folded text."""

    key: str
    start: int
    end: int


def compare_quotation(quoted: FoldedQuotation, text: str) -> NearestStretch:
    """Find a quotation in *text* word for word, or else the most similar stretch.

    Library, shell and MCP all judge quotations by this function.
    """
    wording = FoldedText.fold_paper_text(text)
    return find_verbatim_stretch(quoted, text, wording) or find_nearest_stretch(
        quoted, text, wording
    )


def find_verbatim_stretch(
    quoted: FoldedQuotation, text: str, wording: FoldedText
) -> NearestStretch | None:
    """Return the stretch where *text* has a quotation word for word, or None."""
    if not (spans := find_verbatim_spans(quoted, text, wording)):
        return None
    return NearestStretch(spans[0][0], spans[-1][1], 1.0, (), tuple(spans))


def find_nearest_stretch(
    quoted: FoldedQuotation, text: str, wording: FoldedText | None = None
) -> NearestStretch:
    """Return the stretch of *text* most similar to a quotation that is not verbatim."""
    wording = wording or FoldedText.fold_paper_text(text)
    there = _split_tokens(wording.words)
    if apart := find_stitched_quotation(quoted, text, wording):
        return apart
    parts = _fold_quotation_parts(quoted)
    found = [_compare_quotation_part(part, wording, there) for part in parts]
    total = sum(size for *_, size in found) or 1
    spans = [span for span, _, same, _ in found if same]
    start, end = _get_enclosing_span(spans, wording) if spans else (0, 0)
    differences = [one for _, some, _, _ in found for one in some]
    likeness = sum(same for _, _, same, _ in found) / total
    pieces = ((start, end),)
    return NearestStretch(
        start, end, min(round(likeness, 3), 0.99), tuple(differences[:_MAX_DIFFERENCES]), pieces
    )


def _split_tokens(folded: str) -> list[_Token]:
    return [_Token(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(folded)]


def _fold_quotation_parts(quoted: FoldedQuotation) -> list[str]:
    return [FoldedText.fold(part).words.strip() for part in quoted.parts]


def find_stitched_quotation(
    quoted: FoldedQuotation, text: str, wording: FoldedText
) -> NearestStretch | None:
    """Return a match if *text* has every sentence, though not in sequence; else None."""
    parts = _fold_quotation_parts(quoted)
    sentences = [one.rstrip(".") for part in parts for one in _SENTENCE.split(part) if one]
    if len(sentences) < 2:
        return None
    places = list(_find_sentence_positions(sentences, wording))
    if len(places) < len(sentences):
        return None
    differences = []
    for number, ((_, end), (start, _)) in enumerate(pairwise(places), 1):
        between = wording.words[end:start].strip(" .")
        if start >= end and can_be_omitted(end, start, text, wording):
            if between:
                differences.append(Difference("left out", "", between))
            continue
        if start >= end and len(between) <= _MAX_SHOWN_CHARS and NEGATION.search(between):
            differences.append(Difference("negation", "", between))
            continue
        where = f"{start - end} characters further on" if start >= end else "further up"
        differences.append(Difference("stitched", sentences[number], where))
    spans = tuple(wording.map_to_text(*place) for place in places)
    return (
        NearestStretch(*spans[0], 0.99, tuple(differences[:_MAX_DIFFERENCES]), spans)
        if differences
        else None
    )


def split_quoted_sentences(quoted: FoldedQuotation) -> list[str]:
    """Return the folded sentences of a quotation; a short sentence is joined to the one before."""
    made: list[str] = []
    for part in _fold_quotation_parts(quoted):
        for number, sentence in enumerate(_SENTENCE.split(part)):
            if number and made and count_words(sentence) < MIN_QUOTED_WORDS:
                made[-1] += f" {sentence}"
            else:
                made.append(sentence)
    return [one.rstrip(".") for one in made if one]


def _find_sentence_positions(sentences: Sequence[str], wording: FoldedText) -> Iterator[Span]:
    """Yield the position of each sentence; stop at the first sentence that is not found."""
    end = 0
    for sentence in sentences:
        at = wording.find_at_word_borders(sentence, end)
        at = at if at >= 0 else wording.find_at_word_borders(sentence)
        if at < 0:
            return
        end = at + len(sentence)
        yield at, end


_Compared = tuple[Span, list[Difference], int, int]


def _compare_quotation_part(part: str, wording: FoldedText, there: Sequence[_Token]) -> _Compared:
    """Compare one part of a quotation with the text; return its position and its differences."""
    ours = _split_tokens(part)
    near = _find_most_similar_stretch([token.key for token in ours], there)
    matcher = SequenceMatcher(
        None, [token.key for token in ours], [token.key for token in near], autojunk=False
    )
    same = _drop_outlying_matches([block for block in matcher.get_matching_blocks() if block.size])
    if not same:
        return (0, 0), [Difference("added", part, "")], 0, len(ours)
    first, last = same[0], same[-1]
    # Words of the quotation before its first match may replace words of the text before the match.
    begin = max(0, first.b - first.a)
    end = min(len(near), last.b + last.size + len(ours) - last.a - last.size)
    matcher.set_seq2([token.key for token in near[begin:end]])
    differences = list(_iterate_differences(matcher, ours, near[begin:end], part, wording.words))
    span = near[begin].start, near[end - 1].end
    differences = differences or list(
        _find_sign_differences(ours, near[begin:end], part, wording.words)
    )
    return span, differences, sum(block.size for block in same), len(ours)


def _drop_outlying_matches(same: list[Match]) -> list[Match]:
    """Drop short matches at either end that are far from the rest: they match by chance."""
    while len(same) > 1 and _are_matches_far_apart(same[0], same[1], same[0].size):
        same = same[1:]
    while len(same) > 1 and _are_matches_far_apart(same[-2], same[-1], same[-1].size):
        same = same[:-1]
    return same


def _are_matches_far_apart(one: Match, other: Match, size: int) -> bool:
    left_out = (other.b - one.b) - (other.a - one.a)
    return left_out > 4 * size


def _find_most_similar_stretch(keys: Sequence[str], there: Sequence[_Token]) -> Sequence[_Token]:
    """Return the stretch, a fifth longer than the quotation, with most tokens in order."""
    matcher = SequenceMatcher(None, keys, (), autojunk=False)

    def in_order(stretch: Sequence[_Token]) -> int:
        matcher.set_seq2([token.key for token in stretch])
        return max(block.size for block in matcher.get_matching_blocks())

    return max(_find_candidate_stretches(keys, there), key=in_order)


def _find_candidate_stretches(
    keys: Sequence[str], there: Sequence[_Token]
) -> Iterator[Sequence[_Token]]:
    """Yield the few stretches that share most tokens with a quotation, in any order."""
    width = int(len(keys) * _WINDOW_RATIO) + 1
    shared = list(_count_shared_tokens(Counter(keys), there, width))
    most = max(shared, default=0)
    # The best window may begin a little after its first word, and words may be left out.
    slack = max(_MIN_SLACK_TOKENS, width // 4)
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


def _count_shared_tokens(
    needed: Counter[str], there: Sequence[_Token], width: int
) -> Iterator[int]:
    """Yield the count of shared tokens for the window that ends at each place of a text."""
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


def _iterate_differences(
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
        yield Difference(_classify_difference(our_keys, their_keys, before), quoted, there)


def _find_sign_differences(
    ours: Sequence[_Token], near: Sequence[_Token], part: str, printed: str
) -> Iterator[Difference]:
    """Yield differences in capitals, or in the signs between equal words."""
    for at, (one, other) in enumerate(zip(ours, near, strict=False)):
        quoted, there = part[one.start : one.end], printed[other.start : other.end]
        if at and quoted != there:  # quoting may begin with a capital
            yield Difference("capitals", quoted, there)
    for (one, after), (other, behind) in zip(pairwise(ours), pairwise(near), strict=False):
        quoted, there = part[one.end : after.start], printed[other.end : behind.start]
        if quoted != there:
            quoted, there = part[one.start : after.end], printed[other.start : behind.end]
            yield Difference("punctuation", quoted, there)


def _classify_difference(ours: Sequence[str], theirs: Sequence[str], before: str) -> Kind:
    """Return the most serious kind of difference; *before* is the token before both stretches."""
    if _has_negated_word(ours) != _has_negated_word(theirs) or _has_negating_prefix(ours, theirs):
        return "negation"
    if _select_numbers(ours) != _select_numbers(theirs):
        return "number"
    if _is_direction_reversed(ours, theirs):
        return "direction"
    units = [{key for key in keys if key in _UNITS} for keys in (ours, theirs)]
    behind = before[:1].isdigit() or before in _UNITS
    first = behind and not _UNITS.isdisjoint((*ours[:1], *theirs[:1]))
    if units[0] != units[1] and (first or _select_numbers(ours)):
        return "unit"
    return "words" if ours and theirs else "added" if ours else "left out"


def _has_negated_word(keys: Sequence[str]) -> bool:
    return any(_NEGATED_WORD.fullmatch(key) for key in keys)


def _has_negating_prefix(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether a word equals the other with a negating prefix: unaffected, insufficient."""
    pairs = [*product(ours, theirs), *product(theirs, ours)]
    return any(one == before + other for one, other in pairs for before in _NEGATING_PREFIXES)


def _select_numbers(keys: Sequence[str]) -> list[str]:
    signs = "-<>\u2264\u2265="
    return [key for key in keys if key[0].isdigit() or key in signs or key in _NUMBERS]


def _is_direction_reversed(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether the words point in opposite directions, by stems or by prefixes."""
    up = _has_word_with_stem(ours, _INCREASE_STEMS) != _has_word_with_stem(theirs, _INCREASE_STEMS)
    if up and _has_word_with_stem(ours, _DECREASE_STEMS) != _has_word_with_stem(
        theirs, _DECREASE_STEMS
    ):
        return True
    pairs = [*product(ours, theirs), *product(theirs, ours)]
    return any(
        one.startswith(high) and low + one.removeprefix(high) == other
        for one, other in pairs
        for high, low in _OPPOSITE_PREFIXES
    )


def _has_word_with_stem(keys: Sequence[str], stems: tuple[str, ...]) -> bool:
    return any(key.startswith(stems) for key in keys)


def _get_enclosing_span(spans: Sequence[Span], wording: FoldedText) -> Span:
    """Return the span of all parts; only the first part's span if others precede the first part."""
    first = spans[0]
    end = max((span[1] for span in spans if span[0] >= first[0]), default=first[1])
    return wording.map_to_text(first[0], end)


def _shorten_words_for_display(words: str) -> str:
    return (
        words if len(words) <= _MAX_SHOWN_CHARS else f"{words[: _MAX_SHOWN_CHARS - 2].rstrip()} …"
    )
