"""Convert texts and queries into search terms, in the same way for every index.

A text and a question about it may spell the same term differently: "TiO₂" and "TiO2", "β-catenin"
and "beta catenin", "IL-6", "IL6" and "IL 6", "Sjögren", "tumours". Both are folded by this module,
in the same way for every index, so that an index only has to split at spaces. Only indexes get
folded text: passages keep their spelling, and offsets refer to the original text.

Folding removes differences in compatible forms and case (Unicode's NFKC and case folding), accents,
ligatures, dashes, possessives and English endings (Snowball's English stemmer, Porter 2), and
spells out Greek letters. For a compound, the parts and each pair of neighbouring parts are kept:
"COVID-19-related" is found as "COVID", "COVID19" and "related".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from .spelling import find_other_spellings
from .words import GREEK, LIGATURES, UNSPACED

FTS5 = "tokenize = \"unicode61 remove_diacritics 0 tokenchars '.'\""
"""The FTS5 option that makes SQLite split terms only at spaces, so that "0.5" is one term."""
_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|sc|span|code)>", re.I)
# An all-capitals name, a space and a number are a compound; "day 6" and "Table 2" are not.
# Blank and number come first in it, for there are fewer of them than capitals.
_NAMES = "|".join(rf"(?<=\b[A-Z]{{{letters}}} )" for letters in range(2, 7))
_NUMBERED = re.compile(rf" (?=\d{{1,3}}\b)(?:{_NAMES})")
_POSSESSIVE = re.compile(r"['’]s\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_COMPOUND = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:[-'](?!\d+\.\d)[^\W_]+)*")
_RAISED_POINT = re.compile(r"(?<=\d)·(?=\d)")  # "0·05", as some British journals print it
_DIGIT = re.compile(r"\d")
_BARE_DECIMAL = re.compile(r"(?<![\w.])\.(?=\d)")
_NUMBER_BEFORE_LETTERS = re.compile(r"(?<![^\W_])(?<![^\W_][.'-])(\d+)(?=[a-z])")
_COMPOUND_SEPARATOR = re.compile("[-']")
_EDGE_SIGNS = '.,;:()[]{}"?!%+*/=<>-'  # around a word they change none of its terms
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SPELLED_SIGNS = _DASHES | {letter: f"-{name.strip()}-" for letter, name in GREEK.items()}
_MAX_CACHED_WORDS = 200_000
_MAX_COMPOUND_PARTS = 12  # of a compound: the name of a chemical may have hundreds
_STEM_MIN_LETTERS = 4  # letters: shorter words have no ending
_TERM_MIN_LETTERS = 3  # letters: of "IL-6" neither part says anything alone
_MAX_QUERY_TERMS = 48
_MAX_TERM_CHARS = 64
# They stand in almost every passage: they cost much and order nothing.
_STOP_WORDS = """
    a an and are as at be been between both but by can did do does for from had has have how if in
    into is it its may more no not of on or our over per such than that the their them there these
    they this those to was we were what when where which while who why will with would
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Function words: no question is about them."""
_stemmer_lock = threading.Lock()  # a stemmer keeps the word it is at


def to_index_terms(text: str) -> str:
    """Return the index terms of *text* in order, separated by spaces.

    >>> to_index_terms("IL-6 and TNFα in Sjögren’s: 0.5 mg")
    'il 6 il6 and tnf alpha tnfalpha in sjogren 0.5 mg'
    """
    return " ".join(filter(None, map(_terms.__getitem__, _split_text_into_words(text))))


def to_query_terms(question: str, *, both_spellings: bool = True) -> list[str]:
    """Return the distinct search terms of a question in order, at most 48.

    Function words, and parts of compounds that mean nothing alone, are left out unless nothing else
    remains. With *both_spellings*, a word that British and American English spell differently gives
    the terms of both.

    Examples
    --------
    >>> to_query_terms('What does "GLP-1" do AND NOT in title:mice*?')
    ['glp', 'glp1', 'titl', 'mice']
    >>> to_query_terms("IL 6"), to_query_terms("IL6"), to_query_terms("who")
    (['il6'], ['il6'], ['who'])
    >>> to_query_terms("10mg"), to_query_terms("10–20 mg")
    (['10', '10mg'], ['10', '20', '1020', 'mg'])
    >>> to_query_terms("tumours in randomised trials")
    ['tumour', 'tumor', 'randomis', 'random', 'trial']
    """
    groups = to_term_groups(question, both_spellings=both_spellings)
    return [*dict.fromkeys(chain.from_iterable(groups))]


def to_term_groups(question: str, *, both_spellings: bool = True) -> list[tuple[str, ...]]:
    """Return the search terms of a question, each with its other spellings; see `to_query_terms`.

    >>> to_term_groups("tumours in mice")
    [('tumour', 'tumor'), ('mice',)]
    """
    found: dict[tuple[str, ...], bool] = {}
    for compound in chain.from_iterable(map(_split_compounds, _split_text_into_words(question))):
        if len(compound) > _MAX_TERM_CHARS:
            continue
        parts, joined = _stem_compound_parts(compound)
        spellings = find_other_spellings(compound) if both_spellings else ()
        others = dict.fromkeys(map(stem_word, spellings))
        for part in parts:
            telling = part not in STOP_WORDS and (not joined or _says_something(part, parts))
            group = (part, *(other for other in others if other != part))
            found[group] = found.get(group, False) or telling
        found |= dict.fromkeys(zip(joined), True)
    return [*([group for group, telling in found.items() if telling] or found)][:_MAX_QUERY_TERMS]


def _says_something(part: str, parts: Sequence[str]) -> bool:
    """Return whether one part of a compound is worth a search: a word, or a number of "10-20"."""
    if part[0].isdigit():
        return parts[0].isdigit() and part.isdigit()
    return len(part) >= _TERM_MIN_LETTERS


def _split_text_into_words(text: str) -> list[str]:
    """Split a text at whitespace; an all-capitals name and its number become one word."""
    return _NUMBERED.sub("-", _MARKUP.sub("", text) if "<" in text else text).split()


def _split_compounds(text: str) -> list[str]:
    """Return the words and compounds of a text without whitespace, folded but not stemmed."""
    if text.isascii():
        folded = text.lower()
    else:
        apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        marks = {ord(char): None for char in set(apart) if unicodedata.combining(char)}
        folded = apart.translate(marks).translate(_SPELLED_SIGNS).translate(LIGATURES)
        folded = UNSPACED.sub(r" \g<0> ", folded).replace("--", "-")
    if "'" in folded or "’" in folded:
        folded = _POSSESSIVE.sub("", folded)
    return _COMPOUND.findall(_fold_numbers(folded))


def _fold_numbers(word: str) -> str:
    """Return a word with its numbers in one form: "1000", "0.05", and "10-mg" for "10mg"."""
    if not _DIGIT.search(word):
        return word
    if "," in word:
        word = _THOUSANDS.sub("", word)
    if "." in word or "·" in word:
        word = _BARE_DECIMAL.sub("0.", _RAISED_POINT.sub(".", word))
    return _NUMBER_BEFORE_LETTERS.sub(r"\1-", word)


def _stem_compound_parts(compound: str) -> tuple[list[str], list[str]]:
    """Return the stems of a compound's parts, and each pair of neighbouring parts as one term."""
    parts = _COMPOUND_SEPARATOR.split(compound, _MAX_COMPOUND_PARTS)[:_MAX_COMPOUND_PARTS]
    pairs = [*pairwise(parts), *([tuple(parts)] if len(parts) == 3 else [])]  # "IL-1β"
    return [stem_word(part) for part in parts], [_join_compound_parts(pair) for pair in pairs]


def _join_compound_parts(parts: Sequence[str]) -> str:
    """Join parts as if written without a hyphen; a name with digits is not stemmed."""
    return "".join(map(stem_word, parts) if all(map(str.isalpha, parts)) else parts)


@lru_cache(maxsize=_MAX_CACHED_WORDS)
def stem_word(word: str) -> str:
    """Return the stem of an English word; other words and stop words are unchanged."""
    if (
        len(word) < _STEM_MIN_LETTERS
        or not word.isascii()
        or not word.isalpha()
        or word in STOP_WORDS
    ):
        return word
    with _stemmer_lock:
        return str(_load_stemmer().stemWord(word))


@lru_cache
def _load_stemmer() -> Any:
    """Load Snowball's English stemmer, without its own cache, which takes most of its time."""
    import snowballstemmer

    stemmer = snowballstemmer.stemmer("english")
    stemmer.maxCacheSize = 0
    return stemmer


class _TermCache(dict[str, str]):
    """A cache of the terms of each word."""

    def __missing__(self, word: str) -> str:
        bare = _strip_edge_signs(word).lower() if word.isascii() else word
        if bare.isalpha() and bare.isascii():  # as most words
            terms = stem_word(bare)
        else:
            terms = self[bare] if bare != word else _compute_terms(word)
        if len(word) <= _MAX_TERM_CHARS:
            if len(self) >= _MAX_CACHED_WORDS:
                self.clear()
            self[word] = terms
        return terms


def _strip_edge_signs(word: str) -> str:
    """Return a word without the signs around it, but with the point of ".05"."""
    bare = word.strip(_EDGE_SIGNS)
    if not bare[:1].isdigit():
        return bare
    before = word[: word.index(bare) + 1]
    return f".{bare}" if _BARE_DECIMAL.search(before) else bare


def _compute_terms(word: str) -> str:
    """Return the terms of a word, separated by spaces."""
    terms: list[str] = []
    for compound in _split_compounds(word):
        if compound.isalnum():
            terms.append(stem_word(compound))
        else:
            terms += chain.from_iterable(_stem_compound_parts(compound))
    return " ".join(terms)


_terms = _TermCache()
