"""Compare titles: how alike two are, and what tells the papers behind them apart.

Titles travel badly. PubMed brackets translations and ends titles with a full stop, publishers print
subtitles apart and Greek as letters, PDFs break lines. A comparison of letters forgives all this,
and also what must not be forgiven: *Part II* for *Part I*, a protocol for its results, women for
men. So two titles are aligned word by word, and what is left over on either side is classed:

- **marks**: numbers (Arabic, Roman, spelled), names with a number (*BRCA1*), single letters, words
  such as *part*, *phase*, *protocol* or *version*, and notices (*Correction: …*). They are counted
  on both sides; titles whose marks differ are those of two papers.
- **swapped words**: each title has a telling word in place of the other's (*men*, *women*). The
  titles alone cannot decide.
- **added words**: only one title has them: a subtitle, or a title that changed between versions.

Example: *Bees and light. Part II* and *Bees and light: part 1* differ in the marks 2 and 1;
*IL-6 in tumours* and *IL6 in tumors* do not differ at all.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, NamedTuple

from ..outline.words import UNSPACED, fold_words, strip_markup
from .thresholds import (
    BYLINE_WORDS,
    PRINTED_TITLE_MIN_LETTERS,
    TYPO_MIN_LETTERS,
    TYPO_PREFIX_LETTERS,
)

_CORRECTION: Final = r"correction|corrigend(?:um|a)|errat(?:um|a)|addendum"
_RETRACTION: Final = r"retraction(?: note| notice)?|withdrawal"
_COMMENT: Final = r"comments?|commentary|letter|editorial|editor'?s? note|discussion|re|peer review"
_REPLY: Final = r"(?:author'?s? |in )?(?:reply|response)|rebuttal"
# A notice about a paper carries the paper's title behind one of these …
_NOTICE: Final = re.compile(
    r"\W*(?:(?:notice|statement) of )?(?:(?:author|publisher|editorial|invited)s?['\u2019]? )?"
    rf"(?:(?P<correction>{_CORRECTION})|(?P<retraction>{_RETRACTION}|expression of concern)"
    rf"|(?P<comment>{_COMMENT})|(?P<reply>{_REPLY}))\b"
    r"\s*(?::|\bto\b(?: the editor\W)?|\bon\b|\bfor\b[^,]{1,80}\bet al\b,?|\u2014|\u2013|$)",
    re.I,
)
# … or in front of one of these.
_NOTICE_BEHIND: Final = re.compile(
    r"\s*[:.(\[\u2014\u2013-]\s*(?:(?:the )?authors?['\u2019]?s?['\u2019]? )?"
    rf"(?:(?P<correction>{_CORRECTION})|(?P<retraction>{_RETRACTION}|expression of concern)"
    r"|(?P<comment>comments?|commentary)|(?P<reply>(?:in )?reply|response|rebuttal))\W*$",
    re.I,
)
# What a correction is headed by, in its first lines.
_AMENDS: Final = re.compile(
    rf"^\W*(?:(?:author|publisher) )?(?:{_CORRECTION}|{_RETRACTION}|expression of concern)"
    r"\W*(?:(?::|to\b).*)?$",
    re.I | re.M,
)
_RETRACTED: Final = re.compile(r"^\W*(?:retracted|withdrawn)(?: article| paper)?\W+", re.I)
_PEER_REVIEW: Final = re.compile(r"\[version \d{1,2}[;,][^\[\]]{0,200}\]", re.I)
_FOOTNOTE: Final = re.compile(
    r"(?:<sup>[\d\s,*\u2020\u2021\u00a7\u00b6]{1,8}</sup>|[*\u2020\u2021\u00a7\u00b6\u2606]|\\\*)\s*$"
)
_LONGEST: Final = 2000  # characters of a title; comparing takes the product of both lengths
_STOP: Final = frozenset(
    ("the", "a", "an", "of", "and", "in", "on", "for", "to", "with", "by", "from", "at")
)
_SMALL: Final = _STOP | {
    "or", "as", "its", "their", "is", "are", "be", "using", "via", "into", "s", "between",
    "among", "during", "versus", "that", "this", "under", "through", "than", "how", "what",
}  # fmt: skip
# Words that make another paper of the same people out of a title, as `_spell_numbers` spells them.
_KINDS: Final = frozenset((
    "part", "teil", "partie", "parte", "serie", "protocol", "phase", "version", "edition",
    "chapter", "volume", "comment", "reply", "correction", "erratum", "corrigendum", "addendum",
    "retraction", "supplement", "rationale", "interim", "pilot", "preliminary", "episode",
    "update", "updated", "revisited", "reappraisal", "substudy",
))  # fmt: skip
_COUNTS: Final = (
    ("one", "first", "erste", "premiere", "primera", "prima"),
    ("two", "second", "zweite", "deuxieme", "segunda", "seconda"),
    ("three", "third", "dritte", "troisieme", "tercera", "terza"),
    ("four", "fourth"), ("five", "fifth"), ("six", "sixth"), ("seven", "seventh"),
    ("eight", "eighth"), ("nine", "ninth"), ("ten", "tenth"), ("eleven", "eleventh"),
    ("twelve", "twelfth"),
)  # fmt: skip
_ROMANS: Final = (
    *("i", "ii", "iii", "iv", "", "vi", "vii", "viii", "ix", "", "xi", "xii", "xiii", "xiv", "xv"),
    *("xvi", "xvii", "xviii", "xix", "xx"),
)
_NUMBERS: Final = {
    **{roman: str(at) for at, roman in enumerate(_ROMANS, 1) if roman},
    **{word: str(at) for at, words in enumerate(_COUNTS, 1) for word in words},
}
_ROMAN_LETTER: Final = re.compile(r"(iii|ii|iv)([a-d])")
_ORDINAL: Final = re.compile(r"0*(\d+)(?:st|nd|rd|th)?")
_NUMBER: Final = re.compile(r"\d+(?:point\d+)*[a-d]?")
_GREEK: Final = frozenset(("alpha", "beta", "gamma", "delta", "epsilon", "kappa", "omega"))
# British and American, Latin and plain.
_SPELLINGS: Final = (
    (re.compile(r"[ao]e"), "e"),
    (re.compile(r"our(?=s?$|al|able|ed|ing|ite|less)"), "or"),
    (re.compile(r"(?<=[a-z])is(?=e$|ed$|es$|er$|ing$|ation)"), "iz"),
    (re.compile(r"ys(?=e$|ed$|es$|ing$)"), "yz"),
    (re.compile(r"(?<=[tb])re$"), "er"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"ll(?=ed|ing|er)"), "l"),
    (re.compile(r"(?<=[^siu])s$"), ""),
)
_BEFORE: Final = re.compile(
    r"related|similar|see also|recommended|companion|linked|original article|refers? to|previously"
    r"|more (?:from|like)|comment|reply|respon|correct|errat|corrigend|retract|concern",
    re.I,
)


class TitleDifference(NamedTuple):
    """The differences of two titles: marks, replaced words, words of one title only."""

    marks: str = ""
    swapped: str = ""
    added: tuple[str, ...] = ()


@lru_cache(4096)
def compare(ours: str, theirs: str) -> TitleDifference:
    """Return what two titles do not share; all is empty where they differ in spelling only.

    >>> compare("Bees and light. Part II", "Bees and light: part 1").marks
    '2 and 1'
    >>> compare("Colour vision in men", "Color vision in women").swapped
    'men and women'
    >>> compare("IL-6 in tumours", "IL6 in tumors: a review")
    TitleDifference(marks='', swapped='', added=('review',))
    """
    our_kind, their_kind = notice_kind(ours), notice_kind(theirs)
    if our_kind != their_kind:
        return TitleDifference(f"{our_kind or 'a paper'} and {their_kind or 'a paper'}")
    a, b = _tokens(_without_notice(ours)), _tokens(_without_notice(theirs))
    if "".join(a) == "".join(b):
        return TitleDifference()
    only_a, only_b = _find_unshared_words(a, b)
    if marks := _describe_marks(only_a, only_b, _find_subtitle(a, b)):
        return TitleDifference(marks)
    if only_a and only_b:
        return TitleDifference("", f"{' '.join(only_a[:5])} and {' '.join(only_b[:5])}")
    return TitleDifference("", "", tuple(only_a or only_b))


def find_replaced_words(ours: str, theirs: str) -> tuple[list[str], list[str]]:
    """Return the words that only *ours* has and those that only *theirs* has, in one spelling.

    >>> find_replaced_words("Colour vision in men", "Color vision in women")
    (['men'], ['women'])
    """
    return _find_unshared_words(_tokens(ours), _tokens(theirs))


def spell_words(text: str) -> list[str]:
    """Return the words of a text in the one spelling in which titles are compared.

    >>> spell_words("Two tumours")
    ['2', 'tumor']
    """
    return [_spell_numbers(word) for word in fold_words(text)]


def _find_unshared_words(a: list[str], b: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that only one title has, without small words and spelling variants."""
    only_a: list[str] = []
    only_b: list[str] = []
    for same, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if same != "equal" and "".join(a[i:j]) != "".join(b[k:m]):
            only_a += a[i:j]
            only_b += b[k:m]
    counted_a, counted_b = Counter(only_a), Counter(only_b)
    # *Paper A* and *Paper B*: beside another letter, "a" is no article.
    small = _SMALL - {"a"} if {"b", "c", "d"} & {*only_a, *only_b} else _SMALL
    only_a = [word for word in (counted_a - counted_b).elements() if word not in small]
    only_b = [word for word in (counted_b - counted_a).elements() if word not in small]
    for word in list(only_a):
        if twin := next((other for other in only_b if _is_typo(word, other)), ""):
            only_a.remove(word)
            only_b.remove(twin)
    return only_a, only_b


def _describe_marks(only_a: list[str], only_b: list[str], subtitle: list[str]) -> str:
    """Describe which marks differ; a number within an omitted subtitle does not count."""
    inner = subtitle[1:-1]
    kinds = [[word for word in side if word in _KINDS] for side in (only_a, only_b)]
    numbers = [
        [word for word in side if _NUMBER.fullmatch(word) and word not in inner]
        for side in (only_a, only_b)
    ]
    told = [[*kinds[at], *numbers[at]] for at in (0, 1)]
    for is_name in (_is_letter, _has_digit):
        names = [[word for word in side if is_name(word)] for side in (only_a, only_b)]
        if not any(told) and all(names):
            told = names
    if not any(told):
        return ""
    ours, theirs = (" ".join(side[:5]) or "none" for side in told)
    return f"{ours} and {theirs}"


def _is_letter(word: str) -> bool:
    """Return whether a word is a letter, Latin or Greek: *vitamin C*, *TGF-β*."""
    return len(word) == 1 or word in _GREEK


def _has_digit(word: str) -> bool:
    """Return whether a word contains a digit: *BRCA1*."""
    return any(char.isdigit() for char in word)


def _find_subtitle(a: list[str], b: list[str]) -> list[str]:
    """Return the words by which one title is longer, if it begins like the other."""
    short, long = sorted((a, b), key=len)
    return long[len(short) :] if len(short) >= 4 and long[: len(short)] == short else []


def _is_typo(one: str, other: str) -> bool:
    """Return whether two long words differ by one letter more, or by two exchanged letters."""
    short, long = sorted((one, other), key=len)
    if len(short) < TYPO_MIN_LETTERS or short[:TYPO_PREFIX_LETTERS] != long[:TYPO_PREFIX_LETTERS]:
        return False
    same = zip(short, long, strict=False)
    at = next((at for at, (x, y) in enumerate(same) if x != y), len(short))
    if len(long) - len(short) == 1:
        return short[at:] == long[at + 1 :]
    turned = short[:at] + short[at : at + 2][::-1] + short[at + 2 :]
    return len(short) == len(long) and turned == long


@lru_cache(4096)
def _tokens(title: str) -> list[str]:
    """A title's words in one spelling, numbers in digits, a name and its number in one."""
    plain = _FOOTNOTE.sub("", _PEER_REVIEW.sub("", title[:_LONGEST]).strip("[]. "))
    plain = strip_markup(_RETRACTED.sub("", plain)).replace("&", " and ")
    plain = re.sub(r"(?<=[^\W\d_])[-\u2010-\u2013](?=\d)", "", plain)
    plain = re.sub(r"(?<=\d)\.(?=\d)", "point", plain)
    return [_spell_numbers(word) for word in fold_words(plain)]


def _with_digits(words: list[str]) -> list[str]:
    """Return *words* with Roman and spelled numbers in digits: *I/II* is not *III*."""
    return [_NUMBERS.get(word, word) for word in words]


def _spell_numbers(word: str) -> str:
    if number := _NUMBERS.get(word):
        return number
    if match := _ORDINAL.fullmatch(word):
        return match[1]
    if match := _ROMAN_LETTER.fullmatch(word):
        return _NUMBERS[match[1]] + match[2]
    if len(word) <= 3 or not word.isalpha():
        return word
    for pattern, plain in _SPELLINGS:
        word = pattern.sub(plain, word)
    return word


def title_marks(title: str) -> frozenset[str]:
    """Return the numbers and kinds in a title.

    >>> sorted(title_marks("Study protocol of a phase II trial"))
    ['2', 'phase', 'protocol']
    """
    return frozenset(word for word in _tokens(title) if word in _KINDS or _NUMBER.fullmatch(word))


def title_likeness(ours: str, theirs: str) -> float:
    """Return how alike two titles are, 0 to 1; at most 0.5 where their marks differ.

    >>> title_likeness("[TGF-β in the liver].", "TGF-beta in the Liver")
    1.0
    >>> title_likeness("Cancer statistics, 2020", "Cancer statistics, 2021") < 0.6
    True
    """
    a, b = _with_digits(title_words(ours)), _with_digits(title_words(theirs))
    if not a or not b:
        return 0.0
    if "".join(a) == "".join(b):
        return 1.0
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    letters = SequenceMatcher(None, "".join(a)[:400], "".join(b)[:400], autojunk=False).ratio()
    likeness = max(ratio, letters * 0.95)
    short, long = sorted((a, b), key=len)
    # A subtitle left out: the shorter is how the longer begins.
    if len(short) >= 4 and long[: len(short)] == short:
        likeness = max(likeness, 0.9)
    difference = compare(ours, theirs)
    if difference == TitleDifference():
        return 1.0
    return min(likeness, 0.5) if difference.marks else likeness


def title_words(title: str) -> list[str]:
    """Return a title's words, ready to be compared: no brackets, no *RETRACTED:*."""
    return fold_words(_RETRACTED.sub("", strip_markup(title[:_LONGEST]).strip("[]. ")))


def telling_words(title: str) -> int:
    """Count the words of a title that could tell it from another.

    Two characters of a script without blanks make a word.

    >>> telling_words("Editorial"), telling_words("The memory of bees"), telling_words("色の記憶")
    (1, 2, 2)
    """
    words = {word for word in title_words(title) if word not in _STOP}
    characters = {word for word in words if UNSPACED.fullmatch(word)}
    return sum(len(word) > 1 for word in words - characters) + len(characters) // 2


def _find_notice_word(title: str) -> re.Match[str] | None:
    plain = strip_markup(title).replace("\u2019", "'").strip("[]. ")
    return _NOTICE.match(plain) or _NOTICE_BEHIND.search(plain)


def notice_kind(title: str) -> str:
    """Return which kind of notice about another paper a title is that of; else empty.

    >>> notice_kind("Erratum: Bees and light"), notice_kind("Bees and light - Authors' reply")
    ('correction', 'reply')
    """
    found = _find_notice_word(title)
    return found.lastgroup or "" if found else ""


def _without_notice(title: str) -> str:
    plain = strip_markup(title).strip("[]. ")
    found = _find_notice_word(title)
    return f"{plain[: found.start()]} {plain[found.end() :]}" if found else title


def is_notice(title: str) -> bool:
    """Return whether a title is that of a notice about another paper.

    >>> is_notice("Correction to: Bees and light"), is_notice("Correction of vision in bees")
    (True, False)
    >>> is_notice("Correction for Roe et al., Bees and light"), is_notice("RETRACTED: Bees")
    (True, False)
    """
    return _find_notice_word(title) is not None


def amends(opening: str) -> bool:
    r"""Return whether a text's first lines announce a correction or retraction of another paper.

    >>> amends("# Nature\n\n## Correction\n\nArticle title: …"), amends("Correction of vision")
    (True, False)
    """
    return _AMENDS.search(opening) is not None


def find_line_of_title(opening: str, title: str) -> str:
    r"""Return the first line that begins with the title, as far as the line goes; else empty.

    >>> find_line_of_title("Review\n\nBees and light. Part II\n\nA. Roe", "Bees and light")
    'Bees and light. Part II'
    """
    wanted = "".join(title_words(title))
    lines = opening.split("\n") if len(wanted) >= PRINTED_TITLE_MIN_LETTERS else []
    return next((line for line in lines if "".join(fold_words(line)).startswith(wanted)), "")


def prints_title(opening: str, title: str) -> bool:
    r"""Return whether a text's opening prints the title as one: from the beginning of a line.

    The title of a paper that is only mentioned stands inside of a sentence, in a list of links,
    behind *Correction to*, or is followed by a mark that the title asked for does not have.

    >>> prints_title("Review\n\nBees and light in\nwinter\n\nA. Roe", "Bees and light in winter")
    True
    >>> prints_title("# Bees and light in winter. Part II", "Bees and light in winter")
    False
    >>> prints_title("## Response to: Bees and light", "Reply to “Bees and light”")
    True
    """
    wanted, kind = "".join(_with_digits(title_words(title))), notice_kind(title)
    if len(wanted) < PRINTED_TITLE_MIN_LETTERS:
        return False
    bare = "".join(_with_digits(title_words(_without_notice(title))))
    lines = [line for line in opening.split("\n") if line.strip()]
    folded_lines = [_with_digits(fold_words(line)) for line in lines]
    for at, line in enumerate(lines):
        if re.match(r"\W*[-+*]\s|\W*\[", line):
            continue
        if at and _BEFORE.search(lines[at - 1]) and len(folded_lines[at - 1]) <= 8:
            continue
        starts = [(folded_lines[at], wanted)]
        if kind and (notice := _NOTICE.match(line)) and notice.lastgroup == kind:
            starts.append((_with_digits(fold_words(line[notice.end() :])), bare))
        for words, letters in starts:
            if not words or not letters.startswith(words[0]):
                continue
            row = [*words, *(word for more in folded_lines[at + 1 : at + 8] for word in more)]
            if _begins_with(row, letters):
                return True
    return False


def without_byline(theirs: str, ours: str, family: str) -> str:
    """Return our title for one that a reader ran together with the line of authors.

    >>> without_byline("Bees and light Ada Genç, Jan Poe, 2004", "Bees and light", "Genc")
    'Bees and light'
    >>> without_byline("Bees and light. Part II. Ada Genç", "Bees and light", "Genc")
    'Bees and light. Part II. Ada Genç'
    """
    row, wanted = _with_digits(fold_words(theirs)), _with_digits(title_words(ours))
    behind = row[len(wanted) :][:BYLINE_WORDS]
    is_byline = bool(name := fold_words(family)) and name[-1] in behind
    return ours if is_byline and _begins_with(row, "".join(wanted)) else theirs


def _begins_with(row: list[str], wanted: str) -> bool:
    """Return whether *row* begins with the words of *wanted*, and no mark follows them."""
    length = 0
    for at, word in enumerate(row):
        if not wanted.startswith(word, length):
            return False
        length += len(word)
        if length == len(wanted):
            return not _is_marked(row[at + 1 : at + 3])
    return False


def _is_marked(after: list[str]) -> bool:
    spelled = [_spell_numbers(word) for word in after]
    return any(word in _KINDS or _NUMBER.fullmatch(word) for word in spelled[:1]) or (
        len(spelled) > 1 and spelled[0] in _SMALL and spelled[1] in _KINDS
    )
