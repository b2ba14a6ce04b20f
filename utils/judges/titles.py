"""Compare titles: measure how similar they are, and find what tells two papers apart.

The same title has many spellings. PubMed puts translations in brackets and ends titles with a full
stop, publishers print subtitles separately and Greek as letters, PDFs break lines. A comparison by
letters tolerates these differences, but also those that tell papers apart: *Part II* and *Part I*,
a protocol and its results, women and men. So two titles are aligned word by word, and the words
left over on either side are classified:

- **marks**: numbers (Arabic, Roman, spelled), names with a number (*BRCA1*), single letters, words
  such as *part*, *phase*, *protocol* or *version*, and notices (*Correction: …*). Titles whose
  marks differ belong to two papers.
- **swapped words**: each title has a distinctive word in place of the other's (*men*, *women*). The
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
# Words that make a title one of another paper, in the spelling of `_to_unified_spelling`.
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
    """The differences of two titles: marks, replaced words, and words in only one title."""

    marks: str = ""
    swapped: str = ""
    added: tuple[str, ...] = ()


@lru_cache(4096)
def find_title_difference(ours: str, theirs: str) -> TitleDifference:
    """Return the differences of two titles; all are empty if only the spelling differs.

    >>> find_title_difference("Bees and light. Part II", "Bees and light: part 1").marks
    '2 and 1'
    >>> find_title_difference("Colour vision in men", "Color vision in women").swapped
    'men and women'
    >>> find_title_difference("IL-6 in tumours", "IL6 in tumors: a review")
    TitleDifference(marks='', swapped='', added=('review',))
    """
    our_kind, their_kind = classify_notice_title(ours), classify_notice_title(theirs)
    if our_kind != their_kind:
        return TitleDifference(f"{our_kind or 'a paper'} and {their_kind or 'a paper'}")
    a, b = (
        _tokenize_title(_remove_notice_words(ours)),
        _tokenize_title(_remove_notice_words(theirs)),
    )
    if "".join(a) == "".join(b):
        return TitleDifference()
    only_a, only_b = _find_unshared_words(a, b)
    if marks := _describe_mark_difference(only_a, only_b, _find_subtitle_words(a, b)):
        return TitleDifference(marks)
    if only_a and only_b:
        return TitleDifference("", f"{' '.join(only_a[:5])} and {' '.join(only_b[:5])}")
    return TitleDifference("", "", tuple(only_a or only_b))


def find_unshared_title_words(ours: str, theirs: str) -> tuple[list[str], list[str]]:
    """Return the words that only *ours* has and the words that only *theirs* has, spelling unified.

    >>> find_unshared_title_words("Colour vision in men", "Color vision in women")
    (['men'], ['women'])
    """
    return _find_unshared_words(_tokenize_title(ours), _tokenize_title(theirs))


def split_into_unified_words(text: str) -> list[str]:
    """Return the words of a text in the uniform spelling in which titles are compared.

    >>> split_into_unified_words("Two tumours")
    ['2', 'tumor']
    """
    return [_to_unified_spelling(word) for word in fold_words(text)]


def _find_unshared_words(a: list[str], b: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that only one title has, without small words and spelling variants."""
    only_a: list[str] = []
    only_b: list[str] = []
    for same, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if same != "equal" and "".join(a[i:j]) != "".join(b[k:m]):
            only_a += a[i:j]
            only_b += b[k:m]
    counted_a, counted_b = Counter(only_a), Counter(only_b)
    # *Paper A* and *Paper B*: beside another letter, "a" is not an article.
    small = _SMALL - {"a"} if {"b", "c", "d"} & {*only_a, *only_b} else _SMALL
    only_a = [word for word in (counted_a - counted_b).elements() if word not in small]
    only_b = [word for word in (counted_b - counted_a).elements() if word not in small]
    for word in list(only_a):
        if twin := next((other for other in only_b if _are_typo_variants(word, other)), ""):
            only_a.remove(word)
            only_b.remove(twin)
    return only_a, only_b


def _describe_mark_difference(only_a: list[str], only_b: list[str], subtitle: list[str]) -> str:
    """Describe which marks differ; a number inside an omitted subtitle does not count."""
    inner = subtitle[1:-1]
    kinds = [[word for word in side if word in _KINDS] for side in (only_a, only_b)]
    numbers = [
        [word for word in side if _NUMBER.fullmatch(word) and word not in inner]
        for side in (only_a, only_b)
    ]
    marks = [[*kinds[at], *numbers[at]] for at in (0, 1)]
    for is_name in (_is_single_letter, _has_digit):
        names = [[word for word in side if is_name(word)] for side in (only_a, only_b)]
        if not any(marks) and all(names):
            marks = names
    if not any(marks):
        return ""
    ours, theirs = (" ".join(side[:5]) or "none" for side in marks)
    return f"{ours} and {theirs}"


def _is_single_letter(word: str) -> bool:
    """Return whether a word is a single Latin or Greek letter: *vitamin C*, *TGF-β*."""
    return len(word) == 1 or word in _GREEK


def _has_digit(word: str) -> bool:
    """Return whether a word contains a digit: *BRCA1*."""
    return any(char.isdigit() for char in word)


def _find_subtitle_words(a: list[str], b: list[str]) -> list[str]:
    """Return the extra words of the longer title, if it begins like the shorter one."""
    short, long = sorted((a, b), key=len)
    return long[len(short) :] if len(short) >= 4 and long[: len(short)] == short else []


def _are_typo_variants(word: str, other: str) -> bool:
    """Return whether two long words differ by one extra letter or two swapped letters."""
    short, long = sorted((word, other), key=len)
    if len(short) < TYPO_MIN_LETTERS or short[:TYPO_PREFIX_LETTERS] != long[:TYPO_PREFIX_LETTERS]:
        return False
    same = zip(short, long, strict=False)
    at = next((at for at, (x, y) in enumerate(same) if x != y), len(short))
    if len(long) - len(short) == 1:
        return short[at:] == long[at + 1 :]
    turned = short[:at] + short[at : at + 2][::-1] + short[at + 2 :]
    return len(short) == len(long) and turned == long


@lru_cache(4096)
def _tokenize_title(title: str) -> list[str]:
    """Return a title's words: spelling unified, numbers in digits, a name and its number joined."""
    plain = _FOOTNOTE.sub("", _PEER_REVIEW.sub("", title[:_LONGEST]).strip("[]. "))
    plain = strip_markup(_RETRACTED.sub("", plain)).replace("&", " and ")
    plain = re.sub(r"(?<=[^\W\d_])[-\u2010-\u2013](?=\d)", "", plain)
    plain = re.sub(r"(?<=\d)\.(?=\d)", "point", plain)
    return [_to_unified_spelling(word) for word in fold_words(plain)]


def _replace_number_words(words: list[str]) -> list[str]:
    """Return *words* with Roman and spelled-out numbers as digits."""
    return [_NUMBERS.get(word, word) for word in words]


def _to_unified_spelling(word: str) -> str:
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


def extract_title_marks(title: str) -> frozenset[str]:
    """Return the numbers and the words such as *part* or *protocol* in a title.

    >>> sorted(extract_title_marks("Study protocol of a phase II trial"))
    ['2', 'phase', 'protocol']
    """
    return frozenset(
        word for word in _tokenize_title(title) if word in _KINDS or _NUMBER.fullmatch(word)
    )


def measure_title_likeness(ours: str, theirs: str) -> float:
    """Return how similar two titles are, 0 to 1; at most 0.5 if their marks differ.

    >>> measure_title_likeness("[TGF-β in the liver].", "TGF-beta in the Liver")
    1.0
    >>> measure_title_likeness("Cancer statistics, 2020", "Cancer statistics, 2021") < 0.6
    True
    """
    a, b = (
        _replace_number_words(split_title_words(ours)),
        _replace_number_words(split_title_words(theirs)),
    )
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
    difference = find_title_difference(ours, theirs)
    if difference == TitleDifference():
        return 1.0
    return min(likeness, 0.5) if difference.marks else likeness


def split_title_words(title: str) -> list[str]:
    """Return a title's words for comparison, without brackets and *RETRACTED:*."""
    return fold_words(_RETRACTED.sub("", strip_markup(title[:_LONGEST]).strip("[]. ")))


def count_distinctive_words(title: str) -> int:
    """Return the number of words in a title that could distinguish it from another.

    Two characters of a script without spaces count as one word.

    >>> titles = ("Editorial", "The memory of bees", "色の記憶")
    >>> [count_distinctive_words(title) for title in titles]
    [1, 2, 2]
    """
    words = {word for word in split_title_words(title) if word not in _STOP}
    characters = {word for word in words if UNSPACED.fullmatch(word)}
    return sum(len(word) > 1 for word in words - characters) + len(characters) // 2


def _find_notice_words(title: str) -> re.Match[str] | None:
    plain = strip_markup(title).replace("\u2019", "'").strip("[]. ")
    return _NOTICE.match(plain) or _NOTICE_BEHIND.search(plain)


def classify_notice_title(title: str) -> str:
    """Return the kind of notice about another paper that a title announces; else empty.

    >>> classify_notice_title("Erratum: Bees and light")
    'correction'
    >>> classify_notice_title("Bees and light - Authors' reply")
    'reply'
    """
    found = _find_notice_words(title)
    return found.lastgroup or "" if found else ""


def _remove_notice_words(title: str) -> str:
    plain = strip_markup(title).strip("[]. ")
    found = _find_notice_words(title)
    return f"{plain[: found.start()]} {plain[found.end() :]}" if found else title


def is_notice_title(title: str) -> bool:
    """Return whether a title is the title of a notice about another paper.

    >>> titles = ["Correction to: Bees and light", "Correction for Roe et al., Bees and light"]
    >>> [is_notice_title(title) for title in titles]
    [True, True]
    >>> [is_notice_title(title) for title in ("Correction of vision in bees", "RETRACTED: Bees")]
    [False, False]
    """
    return _find_notice_words(title) is not None


def is_correction_announced(opening: str) -> bool:
    r"""Return whether a text's first lines announce a correction or retraction of another paper.

    >>> is_correction_announced("# Nature\n\n## Correction\n\nArticle title: …")
    True
    >>> is_correction_announced("Correction of vision")
    False
    """
    return _AMENDS.search(opening) is not None


def find_title_line(opening: str, title: str) -> str:
    r"""Return the first line that begins with the title, or an empty string.

    >>> find_title_line("Review\n\nBees and light. Part II\n\nA. Roe", "Bees and light")
    'Bees and light. Part II'
    """
    letters = "".join(split_title_words(title))
    lines = opening.split("\n") if len(letters) >= PRINTED_TITLE_MIN_LETTERS else []
    return next((line for line in lines if "".join(fold_words(line)).startswith(letters)), "")


def is_title_printed(opening: str, title: str) -> bool:
    r"""Return whether a text's opening prints the title as a title, at the beginning of a line.

    The title of a paper that is only mentioned is inside a sentence, in a list of links, after
    *Correction to*, or before a mark that the requested title does not have.

    >>> is_title_printed("Review\n\nBees and light\nin May\n\nA. Roe", "Bees and light in May")
    True
    >>> is_title_printed("# Bees and light in winter. Part II", "Bees and light in winter")
    False
    >>> is_title_printed("## Response to: Bees and light", "Reply to “Bees and light”")
    True
    """
    wanted, kind = (
        "".join(_replace_number_words(split_title_words(title))),
        classify_notice_title(title),
    )
    if len(wanted) < PRINTED_TITLE_MIN_LETTERS:
        return False
    bare = "".join(_replace_number_words(split_title_words(_remove_notice_words(title))))
    lines = [line for line in opening.split("\n") if line.strip()]
    folded_lines = [_replace_number_words(fold_words(line)) for line in lines]
    for at, line in enumerate(lines):
        if re.match(r"\W*[-+*]\s|\W*\[", line):
            continue
        if at and _BEFORE.search(lines[at - 1]) and len(folded_lines[at - 1]) <= 8:
            continue
        starts = [(folded_lines[at], wanted)]
        if kind and (notice := _NOTICE.match(line)) and notice.lastgroup == kind:
            starts.append((_replace_number_words(fold_words(line[notice.end() :])), bare))
        for words, letters in starts:
            if not words or not letters.startswith(words[0]):
                continue
            row = [*words, *(word for more in folded_lines[at + 1 : at + 8] for word in more)]
            if _is_line_starting_with_title(row, letters):
                return True
    return False


def strip_byline_from_title(theirs: str, ours: str, family: str) -> str:
    """Return *ours* if *theirs* is the same title followed by the authors; else *theirs*.

    >>> strip_byline_from_title("Bees and light Ada Genç, Jan Poe, 2004", "Bees and light", "Genc")
    'Bees and light'
    >>> strip_byline_from_title("Bees and light. Part II. Ada Genç", "Bees and light", "Genc")
    'Bees and light. Part II. Ada Genç'
    """
    row, wanted = (
        _replace_number_words(fold_words(theirs)),
        _replace_number_words(split_title_words(ours)),
    )
    behind = row[len(wanted) :][:BYLINE_WORDS]
    is_byline = bool(name := fold_words(family)) and name[-1] in behind
    return ours if is_byline and _is_line_starting_with_title(row, "".join(wanted)) else theirs


def _is_line_starting_with_title(row: list[str], wanted: str) -> bool:
    """Return whether *row* begins with the words of *wanted*, and no mark follows them."""
    length = 0
    for at, word in enumerate(row):
        if not wanted.startswith(word, length):
            return False
        length += len(word)
        if length == len(wanted):
            return not _is_part_label_first(row[at + 1 : at + 3])
    return False


def _is_part_label_first(after: list[str]) -> bool:
    spelled = [_to_unified_spelling(word) for word in after]
    return any(word in _KINDS or _NUMBER.fullmatch(word) for word in spelled[:1]) or (
        len(spelled) > 1 and spelled[0] in _SMALL and spelled[1] in _KINDS
    )
