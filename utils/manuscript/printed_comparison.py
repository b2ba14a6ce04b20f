"""Compare a printed reference with a record, field by field.

A printed reference has no fields, and its style is unknown. The record's title is therefore looked
for in the words of the entry: the longest common run of words anchors it, and sentence marks bound
it. The names in front of it are the authors; the years outside it are the entry's year.

    Poe A, Row J. Moss and dark. J Moss. 2023;12:45-9.     record: Roe J, Poe A. Moss and light.
    └─ authors ┘  └── title ───┘          └ year

Two authors are the same person if the family names agree, or if given and family names are swapped.
A word of the title may be spelled in another way or contain a typing error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from ..judges.titles import count_distinctive_words, split_title_words
from ..lists.described import parse_author_name, split_author_names
from ..model.paper import Author, Paper
from ..model.versions import is_only_preprint
from ..outline.words import fold_words
from .printed_entries import split_off_names

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_YEAR = re.compile(r"(?<![\d.:/-])(?:18|19|20)\d\d(?=[a-z]?\b)(?![\d.]*[/:-]\d)")
_LINK = re.compile(r"https?://\S+|\bdoi:\s*\S+|10\.\d{4,9}/\S+|\barXiv:\s*\S+", re.I)
_PREPRINT = re.compile(r"\barxiv\b|\bbiorxiv\b|\bmedrxiv\b|\bpreprint\b|\bCoRR\b", re.I)
_TITLE_BEGINS = re.compile(r"[.?!:;,\"\u201c)\]]\s+[\"\u201c\u2018']?$|[\"\u201c]$|^$")
_TITLE_ENDS = re.compile(r"\s*[.,;:?!\"\u201d(\[]|\s+(?:In|arXiv)\b|\s*$")
_CONTAINER = re.compile(r"[.?!\"\u201d]\s+In:?\s")  # what follows is the book, not the chapter
_IN = re.compile(r"In:?\s")
_AND_OTHERS = re.compile(r"\bet\.? al\b|\band others\b|\.\.\.|\u2026", re.I)
_EDITORS = re.compile(r"\(?\beds?\b\.?\)?|\bedited by\b", re.I)
_SAME_TITLE_LIKENESS = 0.8
_WHOLE_TITLE_LIKENESS = 0.95
_MIN_TITLE_SHARE = 0.5
_MIN_DISTINCTIVE_WORDS = 4  # distinctive words of a title that identifies a paper
_TYPO_RATIO = 0.85  # likeness of two spellings of a word or name
_VOWELS = re.compile(r"(?<!^)[aeiouy]")
_MISSPELLED_NAME_LIKENESS = 0.8
_TYPO_MIN_LETTERS = 5
_MAX_LEFT_CHARS = 3  # characters between the names and the title
_MANY_AUTHORS = 8  # names from which a version with other authors is likely
_OTHER_VERSION_SHARE = 0.34  # share of names that a version may have changed
_PREPRINT_MAX_YEARS = 3  # years from a preprint to its article
_SMALL_WORDS = frozenset(
    {
        *("a", "an", "and", "as", "at", "by", "for", "from"),
        *("in", "of", "on", "the", "to", "via", "with"),
    }
)


class TitleSpan(NamedTuple):
    """The position of a title in an entry, in characters, and the share of its words there."""

    start: int
    end: int
    share: float


def find_title_in_entry(words: str, title: str) -> TitleSpan | None:
    """Return the position of a title in an entry; None if the entry has too few of its words."""
    wanted = split_title_words(title)
    found = list(_WORD.finditer(words))
    tokens = ["".join(split_title_words(one[0])) for one in found]
    matcher = SequenceMatcher(None, wanted, tokens, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    if not wanted or not blocks:
        return None
    anchor = max(blocks, key=lambda one: one.size)
    offset, slack = anchor.b - anchor.a, 2 + len(wanted) // 4
    near = [block for block in blocks if abs(block.b - block.a - offset) <= slack]
    first, last = near[0], near[-1]
    begin = _find_sentence_start(words, found, first.b, first.a + slack)
    end = _find_sentence_end(
        words, found, last.b + last.size, len(wanted) - last.a - last.size + slack
    )
    share = sum(one.size for one in near) / len(wanted)
    return TitleSpan(found[begin].start(), found[end - 1].end(), min(1.0, share))


def _find_sentence_start(words: str, found: Sequence[re.Match[str]], at: int, most: int) -> int:
    """Return the word at which the sentence begins, at most *most* words before *at*."""
    for begin in range(at, max(-1, at - most - 1), -1):
        if _TITLE_BEGINS.search(words[max(0, found[begin].start() - 4) : found[begin].start()]):
            return begin
    return max(0, at - most)


def _find_sentence_end(words: str, found: Sequence[re.Match[str]], at: int, most: int) -> int:
    """Return the word after the end of the sentence, at most *most* words after *at*."""
    for end in range(at, min(len(found), at + most) + 1):
        if _TITLE_ENDS.match(words, found[end - 1].end()):
            return end
    return min(len(found), at + most)


def is_entry_of_paper(words: str, paper: Paper) -> bool:
    """Return whether an entry means this paper, although one of its fields may be wrong.

    Its title has to be the record's or nearly so, and an author has to agree unless the title is
    the record's and distinctive.
    """
    span = find_title_in_entry(words, paper.title) if paper.title else None
    if span is None:
        return False
    ours, theirs = split_title_words(words[span.start : span.end]), split_title_words(paper.title)
    likeness = SequenceMatcher(None, ours, theirs, autojunk=False).ratio()
    if likeness < _SAME_TITLE_LIKENESS:
        return False
    is_container = _IN.match(words, span.start) and theirs[0] != "in"
    if is_container or _CONTAINER.search(words[: span.start]):
        return False
    said = parse_printed_authors(words[: span.start])
    if any(_find_author_in_record(one, paper.authors) != "none" for one in said):
        return True
    is_distinctive = not said or count_distinctive_words(paper.title) >= _MIN_DISTINCTIVE_WORDS
    return likeness >= _WHOLE_TITLE_LIKENESS and is_distinctive


def is_same_journal_place(words: str, paper: Paper) -> bool:
    """Return whether an entry without title has the record's first author, year and first page."""
    first = next((author.family for author in paper.authors if author.family), "")
    page = re.match(r"\w*\d+", paper.pages)
    wanted = [*fold_words(first), paper.year, *([page[0].casefold()] if page else [])]
    return bool(first and page) and set(wanted) <= set(fold_words(words))


def find_printed_differences(words: str, paper: Paper) -> Iterator[str]:
    """Yield the fields in which a printed entry and the record differ."""
    span = find_title_in_entry(words, paper.title) if paper.title else None
    if span and span.share < _MIN_TITLE_SHARE:
        span = None  # many entries in physics and chemistry have no title
    if span:
        printed = words[span.start : span.end]
        if _is_other_title(printed, paper.title):
            yield f"title: “{printed}”, the record has “{paper.title}”"
        yield from find_author_differences(words[: span.start], paper.authors)
    yield from _find_year_difference(words, span, paper)


def _is_other_title(printed: str, title: str) -> bool:
    """Return whether a word of the title was replaced, added or omitted."""
    ours, theirs = split_title_words(printed), split_title_words(title)
    if "".join(ours) == "".join(theirs):
        return False
    changes = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    for kind, i1, i2, j1, j2 in changes:
        one, other = ours[i1:i2], theirs[j1:j2]
        if kind == "equal" or _are_words_equal(one, other):
            continue
        at_end = i2 == len(ours) and not one and i1 > 2  # a subtitle that was left out
        if at_end or not ({*one, *other} - _SMALL_WORDS):
            continue
        if not (one and other) and _is_acronym_of_title([*one, *other], ours):
            continue
        return True
    return False


def _is_acronym_of_title(added: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a single added word consists of initials of the title's words."""
    return len(added) == 1 < len(added[0]) and added[0] in "".join(word[0] for word in words)


def _are_words_equal(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether words are the same apart from hyphens and a typing error."""
    one, other = "".join(ours), "".join(theirs)
    return one == other or _is_misspelling_of(one, other)


def _is_misspelling_of(one: str, other: str) -> bool:
    """Return whether one word is the other with a typing error."""
    if min(len(one), len(other)) < _TYPO_MIN_LETTERS or abs(len(one) - len(other)) > 1:
        return False
    if one.endswith(other) or other.endswith(one):  # "periodic" is not "aperiodic"
        return False
    digits = [re.sub(r"\D", "", text) for text in (one, other)]
    likeness = SequenceMatcher(None, one, other, autojunk=False).ratio()
    return digits[0] == digits[1] and likeness >= _TYPO_RATIO


def find_author_differences(before: str, authors: Sequence[Author]) -> Iterator[str]:
    """Yield the difference between the names before a title and the record's authors."""
    real = [author for author in authors if author.family or author.collective]
    said = parse_printed_authors(before)
    if not said or not real or any(one.collective for one in (*said, *real)):
        return
    matches = [_find_author_in_record(one, real) for one in said]
    strange = [one for one, match in zip(said, matches, strict=True) if match == "none"]
    for one in strange:
        if spelled := next((other for other in real if _is_name_misspelled(one, other)), None):
            yield f"authors: {one.name}, the record has {spelled.name}"
            return
    if len(strange) > len(said) * (_OTHER_VERSION_SHARE if len(said) >= _MANY_AUTHORS else 0):
        yield f"authors: {strange[0].name} is not an author of the record"
    elif "same" in matches and (matches[0] == "swapped" or matches.count("swapped") > 1):
        turned = said[matches.index("swapped")]
        yield f"authors: given and family name of {turned.name} are exchanged"


def parse_printed_authors(before: str) -> list[Author]:
    """Return the authors in the text before a title; empty if it names only an organisation."""
    text = _YEAR.sub("", _EDITORS.sub("", before)).strip(' .,:;()[]"\u201c')
    names, end = split_off_names(text)
    if not names or len(text) - end > _MAX_LEFT_CHARS:
        shortened = _AND_OTHERS.search(text)
        names = split_author_names(text[: shortened.start()] if shortened else text)
    said = [one for name in names if (one := parse_author_name(name)).family or one.collective]
    alone = len(said) == 1 and not (said[0].given or said[0].initials)
    return [] if alone and " " not in said[0].family else said


def _find_author_in_record(
    ours: Author, real: Sequence[Author]
) -> Literal["same", "swapped", "none"]:
    """Return whether an author is in the record, with given and family name swapped or not."""
    found = {_compare_names(ours, theirs) for theirs in real}
    return "same" if "same" in found else "swapped" if "swapped" in found else "none"


def _compare_names(ours: Author, theirs: Author) -> Literal["same", "swapped", "none"]:
    one, other = fold_words(ours.family), fold_words(theirs.family)
    mine, yours = (fold_words(who.given or " ".join(who.initials)) for who in (ours, theirs))
    if "".join(one) == "".join(other):
        return "same" if _are_given_names_alike(mine, yours) else "none"
    if "".join([*mine, *one]) == "".join([*yours, *other]):  # divided in another way
        return "same"
    whole, their_whole = [*mine, *one], [*yours, *other]
    if sorted(whole) == sorted(their_whole):
        return "same" if len(whole) > 2 and whole[-1] == their_whole[-1] else "swapped"
    if set(one) & set(other) and _are_given_names_alike(mine, yours):  # one of two family names
        return "same"
    parted = set(other) <= set(whole) and set(one) & set(their_whole)
    return "swapped" if parted and _are_initials_contained(whole, their_whole) else "none"


def _is_name_misspelled(ours: Author, theirs: Author) -> bool:
    """Return whether two different names are nearly the same, in either order."""
    spellings = (f"{ours.given} {ours.family}", f"{ours.family} {ours.given}")
    wanted = " ".join(fold_words(f"{theirs.given} {theirs.family}"))
    likeness = max(
        SequenceMatcher(None, " ".join(fold_words(spelling)), wanted, autojunk=False).ratio()
        for spelling in spellings
    )
    return bool(ours.given) and likeness >= _MISSPELLED_NAME_LIKENESS


def _are_given_names_alike(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether given names may belong to one person: equal, shortened, or initials."""
    if not ours or not theirs or "".join(ours) == "".join(theirs):
        return True
    return any(_is_short_form(name, other) for name in ours for other in theirs)


def _is_short_form(one: str, other: str) -> bool:
    """Return whether one given name is the beginning or a nickname of the other."""
    short, long = sorted((one, other), key=len)
    if long.startswith(short):
        return True
    if len(short) > _TYPO_MIN_LETTERS and _VOWELS.sub("", short) == _VOWELS.sub("", long):
        return True  # romanised in another way, as "Sungju" and "Seongju"
    return len(long) - len(short) > 1 and short[:3] == long[:3]  # "Gabe" is "Gabriel"


def _are_initials_contained(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether the other name has all initials of the shorter name."""
    short, long = sorted(([word[0] for word in name] for name in (ours, theirs)), key=len)
    return all(letter in long for letter in short)


def _find_year_difference(words: str, span: TitleSpan | None, paper: Paper) -> Iterator[str]:
    """Yield the difference in years; an article and its preprint may be years apart."""
    outside = f"{words[: span.start]} | {words[span.end :]}" if span else words
    years = _YEAR.findall(_LINK.sub(" ", outside))
    known = {paper.year, paper.entered[:4]} - {""}
    if not years or not paper.year or known & set(years):
        return
    is_preprint, says_preprint = is_only_preprint(paper), _PREPRINT.search(outside) is not None
    later = min(int(year) - int(paper.year) for year in years)
    behind = outside.rpartition("|")[2] if span else ""
    has_venue = len(fold_words(_YEAR.sub("", behind))) > 1
    if not is_preprint and abs(later) == 1:  # online in one year, printed in the next
        return
    if is_preprint and has_venue and not says_preprint and 0 < later <= _PREPRINT_MAX_YEARS:
        return
    if says_preprint and not is_preprint and -_PREPRINT_MAX_YEARS <= later < 0:
        return
    yield f"year: {years[-1]}, the record has {paper.year}"
