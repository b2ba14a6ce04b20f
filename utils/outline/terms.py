"""Terms: words as every index keeps them and every question asks for them.

A text and a question about it are written by different hands: "TiO₂" and "TiO2", "β-catenin" and
"beta catenin", "IL-6", "IL6" and "IL 6", "Sjögren", "tumours". Both are folded here, and alike for
every finder, so that an index has nothing to do but to split at blanks. Only an index is given
folded text: passages keep their own letters, and places count in those.

Folded are compatible forms and case (Unicode's NFKC and case folding), accents, ligatures, dashes,
possessives and English endings (Snowball's English stemmer, Porter 2); Greek letters are spelled
out. Of a compound the parts are kept and each two neighbours as one: "COVID-19-related" is found
as "COVID", as "COVID19" and as "related".
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

from .words import GREEK, LIGATURES, UNSPACED

FTS5 = "tokenize = \"unicode61 remove_diacritics 0 tokenchars '.'\""
"""What SQLite's FTS5 is told, to split terms at blanks alone: "0.5" is one."""
_MARKUP = re.compile(r"</?(?:i|b|u|em|strong|sub|sup|sc|span|code)>", re.I)
# A name in capitals with its number behind a blank is a compound; "day 6" and "Table 2" are none.
# Blank and number come first in it, for there are fewer of them than capitals.
_NAMES = "|".join(rf"(?<=\b[A-Z]{{{letters}}} )" for letters in range(2, 7))
_NUMBERED = re.compile(rf" (?=\d{{1,3}}\b)(?:{_NAMES})")
_POSSESSIVE = re.compile(r"['’]s\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_DECIMAL = r"\d+(?:\.\d+)+(?![^\W_])"
_COMPOUND = re.compile(rf"{_DECIMAL}|[^\W_]+(?:[-'][^\W_]+)*")
_BREAK = re.compile("[-']")
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SPELLED = _DASHES | {letter: f"-{name.strip()}-" for letter, name in GREEK.items()}
_MOST_KEPT = 200_000
_MOST_PARTS = 12  # of a compound: the name of a chemical may have hundreds
_STEMMED = 4  # letters: shorter words have no ending
_TELLING = 3  # letters: of "IL-6" neither part says anything alone
_MOST_ASKED = 48
_LONGEST = 64
# They stand in almost every passage: they cost much and order nothing.
_STOP_WORDS = """
    a an and are as at be been between both but by can did do does for from had has have how if in
    into is it its may more no not of on or our over per such than that the their them there these
    they this those to was we were what when where which while who why will with would
"""
COMMON = frozenset(_STOP_WORDS.split())
"""Function words: no question is about them."""
_stemming = threading.Lock()  # a stemmer keeps the word it is at


def indexed(text: str) -> str:
    """The terms of *text* in their order, as an index takes them: separated by blanks.

    >>> indexed("IL-6 and TNFα in Sjögren’s: 0.5 mg")
    'il 6 il6 and tnf alpha tnfalpha in sjogren 0.5 mg'
    """
    return " ".join(filter(None, map(_terms.__getitem__, _words(text))))


def asked(question: str) -> list[str]:
    """The different terms to look for, in the order of the question, 48 at most.

    Function words are left out, and parts of compounds that say nothing alone, unless there is
    nothing else.

    Examples
    --------
    >>> asked('What does "GLP-1" do AND NOT in title:mice*?')
    ['glp', 'glp1', 'titl', 'mice']
    >>> asked("IL 6"), asked("IL6"), asked("who")
    (['il6'], ['il6'], ['who'])
    """
    found: dict[str, bool] = {}
    for compound in chain.from_iterable(map(_compounds, _words(question))):
        if len(compound) > _LONGEST:
            continue
        parts, joined = _parts(compound)
        for part in parts:
            alone = not joined or (len(part) >= _TELLING and not part[0].isdigit())
            found[part] = found.get(part, False) or (alone and part not in COMMON)
        found |= dict.fromkeys(joined, True)
    return [*([term for term, telling in found.items() if telling] or found)][:_MOST_ASKED]


def _words(text: str) -> list[str]:
    """What stands between blanks; a name in capitals and its number are one word."""
    return _NUMBERED.sub("-", _MARKUP.sub("", text) if "<" in text else text).split()


def _compounds(text: str) -> list[str]:
    """The words and compounds of words in what stands between blanks, folded but for endings."""
    if text.isascii():
        folded = text.lower()
    else:
        apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
        marks = {ord(char): None for char in set(apart) if unicodedata.combining(char)}
        folded = apart.translate(marks).translate(_SPELLED).translate(LIGATURES)
        folded = UNSPACED.sub(r" \g<0> ", folded).replace("--", "-")
    if "'" in folded or "’" in folded:
        folded = _POSSESSIVE.sub("", folded)
    return _COMPOUND.findall(_THOUSANDS.sub("", folded))


def _parts(compound: str) -> tuple[list[str], list[str]]:
    """The stems of a compound's parts, and of each two neighbours as one word."""
    parts = _BREAK.split(compound, _MOST_PARTS)[:_MOST_PARTS]
    pairs = [*pairwise(parts), *([tuple(parts)] if len(parts) == 3 else [])]  # "IL-1β"
    return [_stem(part) for part in parts], [_as_one(pair) for pair in pairs]


def _as_one(parts: Sequence[str]) -> str:
    """Parts as who writes no dash has them: a name with figures has no ending."""
    return "".join(map(_stem, parts) if all(map(str.isalpha, parts)) else parts)


@lru_cache(maxsize=_MOST_KEPT)
def _stem(word: str) -> str:
    if len(word) < _STEMMED or not word.isascii() or not word.isalpha() or word in COMMON:
        return word
    with _stemming:
        return str(_stemmer().stemWord(word))


@lru_cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


class _Terms(dict[str, str]):
    """The terms of what stands between blanks, made once: a corpus says the same words often."""

    def __missing__(self, word: str) -> str:
        found = (part for one in _compounds(word) for some in _parts(one) for part in some)
        made = " ".join(found)
        if len(word) <= _LONGEST:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[word] = made
        return made


_terms = _Terms()
