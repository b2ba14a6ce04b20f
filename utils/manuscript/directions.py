"""Split a sentence into comparable words: words with opposites, negations, numbers, others.

The problem: "Mortality decreased" has nearly all the words of "Mortality increased". A comparison
of words must therefore know which words are opposites of each other, and which are negated.

1. A number with its unit becomes one word with the key ``#`` (`.quantities`).
2. A word that has an opposite gets the name of its axis as key, and its side of the axis as value:
   "rose" and "increased" are ``amount: more``, "fell" is ``amount: less`` (`OPPOSITES`).
3. A word within the scope of a negation is negated: up to six words after "not", "no", "failed to",
   until a comma, a bracket or a conjunction. On an axis whose two sides exclude each other the
   negation exchanges them: "not significant" is ``significance: not``, as "insignificant" is. "Not
   increased" is not "decreased", and stays negated.
4. Each other word is stemmed as in an index (`..outline.terms`).

Example: "Mortality did not rise (p > 0.05)" becomes ``mortal``, ``negation``, ``amount: more``
(negated), ``p``, ``#``. Two sentences are aligned by keys, and compared by values (`.alignment`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..outline.terms import to_index_terms
from .quantities import Quantity, find_quantities

# Each axis has two or more sides. "*" ends a stem; "_" is a blank within a phrase.
OPPOSITES: dict[str, dict[str, str]] = {
    "amount": {
        "more": """increas* rise rises rising risen rose raise* raising grow grows grew grown growth
            higher high highest greater greatest more larger largest bigger elevat* upregulat*
            enhanc* augment* above exceed* upward* overexpress* went_up gain gains gained doubl*
            tripl* heighten* expand* expansion""",
        "less": """decreas* declin* fall falls falling fallen fell drop* reduc* lower lowered
            lowering lowers low lowest less fewer fewest smaller smallest downregulat* attenuat*
            diminish* below downward* underexpress* went_down lose loses lost loss losses losing
            halv* lessen* shrink* shrank minimi*""",
    },
    "quality": {
        "better": """improv* better best benefi* favorabl* favourabl* effective* efficacious
            ameliorat*""",
        "worse": """worse* worst deteriorat* impair* ineffective* unfavorabl* unfavourabl* aggravat*
            exacerbat* inefficacious""",
    },
    "significance": {
        "significant": "significan*",
        "not": "nonsignifican* insignifican*",
    },
    "likeness": {
        "different": "differ differs differed difference* different* differing",
        "alike": "similar* same equal* identical* comparable equivalent* unchanged",
    },
    "presence": {
        "with": "with presence",
        "without": "without absence absent lack lacks lacked lacking devoid_of free_of",
    },
    "sign": {"positive": "positive*", "negative": "negative* inverse*"},
    "rank": {
        "superior": "superior*",
        "inferior": "inferior*",
        "noninferior": "noninferior*",
    },
    "risk": {
        "harm": "risk_factor* harm* detriment* deleterious hazardous",
        "protection": "protect* protective_factor*",
    },
    "activity": {
        "active": """activat* stimulat* induc* promot* agonis* facilitat* trigger* accelerat*
            provok*""",
        "inhibited": """inhibit* suppress* block* antagonis* prevent* inactivat* deactivat* repress*
            silenc* hinder* abolish* decelerat*""",
    },
    "sensitivity": {"sensitive": "sensitiv* suscept* vulnerab*", "resistant": "resist* toleran*"},
    "order": {
        "before": """before prior_to preced* prior pretreatment preoperative* pretest beforehand
            baseline""",
        "after": """after follow* subsequent* posttreatment postoperative* posttest afterwards
            followup""",
    },
    "time": {"early": "early earlier earliest", "late": "late later latest"},
    "speed": {"fast": "fast* quick* rapid*", "slow": "slow* delay*"},
    "strength": {"strong": "strong* robust*", "weak": "weak*"},
    "age": {"old": "old older oldest elder*", "young": "young younger youngest"},
    "length": {"long": "long longer longest prolong* lengthen*", "short": "short* brief*"},
    "frequency": {
        "often": "often frequent* common commonly always usual* mostly",
        "seldom": "rare rarely seldom infrequent* uncommon* unusual*",
    },
    "share": {"most": "most majority", "few": "few minority least"},
    "extreme": {"maximum": "maxim* at_most up_to", "minimum": "minimum minimal at_least"},
    "sex": {"male": "male* man men boy boys", "female": "female* woman women girl girls"},
    "side": {"left": "left", "right": "right"},
    "course": {"acute": "acute*", "chronic": "chronic*"},
    "nature": {"benign": "benign", "malignant": "malignan*"},
    "arm": {
        "treated": "treated treatment intervention exposed experimental",
        "control": "control controls placebo untreated unexposed sham",
    },
    "place": {"inner": "inner inside internal* within", "outer": "outer outside external*"},
    "number": {"single": "single alone", "combined": "combin* together"},
    "agreement": {
        "for": "confirm* support* consistent* agree* in_line_with concordant",
        "against": "contradict* refut* inconsistent* disagree* contrary discordant",
    },
    "outcome": {"success": "succe*", "failure": "failure* unsuccess*"},
    "survival": {"survived": "surviv* alive", "died": "died dead"},
}
_EXCLUSIVE = frozenset({"significance", "likeness", "presence"})
NAMING_AXES = frozenset({"sex", "arm", "side", "place", "number", "course", "nature", "share"})
"""Axes whose words name a group or a part; they have no direction of their own."""
_WEAK_WORDS = frozenset({"with"})  # too common to be an element, unlike its opposite
_EQUIVALENTS = """
    show demonstrate reveal display|suggest indicate imply|use employ utilise utilize|versus vs
    compared_with compared_to in_comparison_with in_comparison_to relative_to as_compared_with
    as_compared_to in_contrast_to|about approximately around roughly circa nearly almost
    approx|linked associated related correlated|association correlation relationship link
    |perform conduct carried_out|study investigate examine explore|detect identify|see observe find
    |because since|although though|several a_number_of|however nevertheless|obtain gain
"""
_NEGATIONS = """
    rather_than instead_of
    not no never neither nor none cannot hardly barely unable_to failed_to fails_to fail_to
    failing_to failure_to no_longer didn't doesn't don't wasn't weren't isn't aren't can't couldn't
    hasn't haven't hadn't won't wouldn't
"""
_SCOPE_WORDS = 6
_CONJUNCTIONS = "but whereas while although though however because which yet"
_CLAUSE_ENDS = frozenset(_CONJUNCTIONS.split())
_PREFIXES = ("hyper", "hypo", "up", "down", "over", "under", "post", "pre", "intra", "extra")
_PREFIX_PAIRS = {
    **dict(zip(_PREFIXES[::2], _PREFIXES[1::2], strict=True)),
    **dict(zip(_PREFIXES[1::2], _PREFIXES[::2], strict=True)),
}
_PREFIXED_MIN_LETTERS = 5
NUMBER, NEGATION = "#", "negation"


@dataclass(frozen=True, slots=True)
class ComparedWord:
    """A word to compare, ``text[start:end]``.

    Two words correspond if their ``key`` is equal. They then agree if ``value`` and ``negated`` are
    equal, and the numbers if `.quantities.compare_quantities` says so. A weak word is an element
    of the sentence only if the passage has its opposite. ``clause`` counts the clauses of the
    sentence; ``depth`` is 1 within brackets.
    """

    key: str
    start: int
    end: int
    value: str = ""
    negated: bool = False
    is_weak: bool = False
    clause: int = 0
    depth: int = 0
    quantity: Quantity | None = None

    @property
    def has_opposite(self) -> bool:
        """True if the word is on an axis of opposites."""
        return bool(self.value)


def _iterate_opposite_phrases(words: str) -> Iterator[str]:
    for word in words.split():
        yield word.replace("_", " ")


def _build_opposite_tables() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """Return the opposites by word and by stem."""
    whole: dict[str, tuple[str, str]] = {}
    stems: dict[str, tuple[str, str]] = {}
    for axis, sides in OPPOSITES.items():
        for side, words in sides.items():
            for phrase in _iterate_opposite_phrases(words):
                (stems if phrase.endswith("*") else whole)[phrase.rstrip("*")] = (axis, side)
    return whole, stems


_WHOLE, _STEMS = _build_opposite_tables()
_MAX_STEM, _MIN_STEM = max(map(len, _STEMS)), min(map(len, _STEMS))
_NEGATING = frozenset(_iterate_opposite_phrases(_NEGATIONS))
_EQUIVALENT = {
    to_index_terms(phrase): f"={group.split()[0]}"
    for group in _EQUIVALENTS.split("|")
    for phrase in _iterate_opposite_phrases(group)
}
_PHRASES = sorted(
    (
        re.escape(phrase.rstrip("*")) + (r"\w*" if phrase.endswith("*") else r"\b")
        for table in (_WHOLE, [f"{stem}*" for stem in _STEMS], _NEGATING)
        for phrase in table
        if " " in phrase
    ),
    key=len,
    reverse=True,
) + [
    re.escape(phrase) + r"\b"
    for phrase in _iterate_opposite_phrases(_EQUIVALENTS.replace("|", " "))
    if " " in phrase
]
_WORD = re.compile(
    rf"(?P<phrase>\b(?:{'|'.join(_PHRASES)}))|(?P<word>[^\W_]+(?:[-\u2010\u2011'’][^\W_]+)*)"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<stop>[,;:\u2014]|\s[-\u2013]\s|\.(?=\s))",
    re.I,
)


def parse_compared_words(text: str) -> list[ComparedWord]:
    """Return the words of a text in order, with their values and negations."""
    numbers = find_quantities(text)
    covered = {at for number in numbers for at in range(number.start, number.end)}
    pieces: list[tuple[int, re.Match[str] | Quantity]] = [
        (number.start, number) for number in numbers
    ]
    pieces += [
        (found.start(), found) for found in _WORD.finditer(text) if found.start() not in covered
    ]
    words: list[ComparedWord] = []
    clause = depth = scope = 0
    for _, piece in sorted(pieces, key=lambda pair: pair[0]):
        if isinstance(piece, Quantity):
            word = ComparedWord(NUMBER, piece.start, piece.end, quantity=piece)
        elif piece["phrase"] or piece["word"]:
            word = _parse_compared_word(piece)
        else:
            depth = max(0, depth + bool(piece["open"]) - bool(piece["close"]))
            clause, scope = clause + 1, 0
            continue
        if text[word.start : word.end].lower() in _CLAUSE_ENDS:
            clause, scope = clause + 1, 0
        word = replace(word, clause=clause, depth=depth)
        words.append(
            _negate_word(word) if scope > 0 and word.key not in (NEGATION, NUMBER) else word
        )
        scope = _SCOPE_WORDS if word.key == NEGATION else scope - 1
    return words


def _parse_compared_word(match: re.Match[str]) -> ComparedWord:
    """Return one word, without regard to negation."""
    text = " ".join(match[0].lower().replace("\u2019", "'").split())
    key, value = _find_direction_key_and_side(text)
    is_weak = text in _WEAK_WORDS or key in NAMING_AXES
    return ComparedWord(key, match.start(), match.end(), value, is_weak=is_weak)


def _find_direction_key_and_side(text: str) -> tuple[str, str]:
    """Return the word's comparison key and, if the word has an opposite, its side of the pair."""
    if text in _NEGATING:
        return NEGATION, ""
    joined = re.sub(r"[-\u2010\u2011]", "", text)
    if joined in _WHOLE:
        return _WHOLE[joined]
    for length in range(min(len(joined), _MAX_STEM), _MIN_STEM - 1, -1):
        if joined[:length] in _STEMS:
            return _STEMS[joined[:length]]
    for prefix, opposite in _PREFIX_PAIRS.items():
        if joined.startswith(prefix) and len(joined) - len(prefix) >= _PREFIXED_MIN_LETTERS:
            rest = to_index_terms(joined.removeprefix(prefix))
            return f"{'/'.join(sorted((prefix, opposite)))} {rest}", prefix
    terms = to_index_terms(text)
    return _EQUIVALENT.get(terms, terms or text), ""


def _negate_word(word: ComparedWord) -> ComparedWord:
    """Return a word as it counts in the scope of a negation."""
    if word.key in _EXCLUSIVE:
        sides = list(OPPOSITES[word.key])
        return replace(word, value=sides[1 - sides.index(word.value)])
    return replace(word, negated=True)
