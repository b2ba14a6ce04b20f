"""Count and compare words of any alphabet and markup.

Readers and judges share this module, because thresholds are only valid if both count words in the
same way.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
# Scripts written without spaces; two characters make about one word.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_MARKUP = re.compile(
    # Bounded and without brackets inside, or a page of a million brackets would take hours.
    r"!\[[^\[\]]{0,500}\]\([^()]{0,2000}\)"  # images
    r"|\]\([^()\[\]\s]{0,2000}(?:\s\"[^\"\[]{0,300}\")?\)"  # the target of a link, not its text
    r"|<https?://[^>\s]{0,2000}>"
    r"|</?[a-zA-Z][^<>]{0,200}>"
)
# A record says "alpha" where the page shows the letter; both become the word.
GREEK = {
    ord(
        unicodedata.lookup(f"GREEK SMALL LETTER {name}")
    ): f" {name.replace('LAMDA', 'LAMBDA').lower()} "
    for name in (
        *("ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA", "ETA", "THETA", "IOTA", "KAPPA"),
        *("LAMDA", "MU", "NU", "XI", "PI", "RHO", "SIGMA", "TAU", "PHI", "CHI", "PSI", "OMEGA"),
    )
}
LIGATURES = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ß": "ss", "ł": "l", "đ": "d", "\u0131": "i"}
)
_SPELLED = GREEK | LIGATURES
_FOLDED_WORD = re.compile(r"[^\W_]+")


def strip_markup(text: str) -> str:
    """Return the visible text: without tags, link targets and entities.

    >>> strip_markup("[see](https://a.test/b) H<sub>2</sub>O &amp; more")
    '[see H2O & more'
    """
    has_markup = "<" in text or "](" in text  # which most blocks have not
    return html.unescape(_MARKUP.sub("", text) if has_markup else text)


def count_words(text: str) -> int:
    """Return the number of words of *text*, in any script.

    >>> count_words("The state-of-the-art p53 assay"), count_words("要旨を述べる")
    (4, 3)
    """
    plain = strip_markup(text)
    unspaced = 0 if plain.isascii() else len(UNSPACED.findall(plain))
    if unspaced:
        plain = UNSPACED.sub(" ", plain)
    return len(_WORD.findall(plain)) + unspaced // 2


def fold_words(text: str) -> list[str]:
    """Return the words of a text for comparison: without markup, case, accents and punctuation.

    In scripts without spaces, each character is a word.

    >>> fold_words("Naïve TGF-<i>β</i>&nbsp;signalling")
    ['naive', 'tgf', 'beta', 'signalling']
    """
    plain = strip_markup(text).replace("'", "").casefold()
    if plain.isascii():  # which most texts are, and all that follows is slow
        return _FOLDED_WORD.findall(plain)
    plain = unicodedata.normalize("NFKD", plain).casefold().replace("\u2019", "").replace("'", "")
    characters = set(plain)
    table = {ord(char): "" for char in characters if unicodedata.combining(char)}
    table |= {code: spelled for code, spelled in _SPELLED.items() if chr(code) in characters}
    plain = plain.translate(table) if table else plain  # most texts have only dashes and quotes
    return _FOLDED_WORD.findall(UNSPACED.sub(r" \g<0> ", plain))


def build_word_shingles(words: Iterable[str], size: int = 4) -> set[tuple[str, ...]]:
    """Return all distinct runs of *size* consecutive words.

    >>> sorted(build_word_shingles("a b c".split(), 2))
    [('a', 'b'), ('b', 'c')]
    """
    row = list(words)
    return {tuple(row[i : i + size]) for i in range(len(row) - size + 1)}


_BLANKS = re.compile(r"\s{1000,}")
_STEP = 100
_SAMPLED_BLANKS = re.compile(r"\s{9}")  # of every hundredth character of such a run


def collapse_long_whitespace(text: str) -> str:
    """Replace every run of at least a thousand whitespace characters by one line break.

    No real text has such a run, and patterns that match whitespace at the end of a line take
    quadratic time on it.
    """
    return _BLANKS.sub("\n", text) if _SAMPLED_BLANKS.search(text[::_STEP]) else text
