"""The figures and tables of a text: where each stands, and where the text first speaks of it.

A publisher prints them where there is room, an archive at the end; readers of a section want those
it mentions. Labels are known in the ten languages of `.roles`, as readers of `..readers` write
them: ``**Figure 2.** caption``, ``**Table 1.** caption`` and rows with pipes, or bare labels of
pages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ..model.paper import Role, Section

_FIGURE = (
    r"fig(?:ures?|uras?|s)?|abb(?:ildung(?:en)?)?|рис(?:унок|унка|унке|унки)?|ryc(?:ina|iny)?"
    r"|rysunek|şekil|afbeelding|그림|图|圖|図"
)
_TABLE = (
    r"tab(?:les?|ellen|elle|elas?|eli|el|leaux?|las?|ellae?|o)?|tablo|табл(?:ица|ице|ицы)?|표|表"
)
_LABEL = rf"(?:(?P<figure>{_FIGURE})|(?P<scheme>schemes?)|(?:{_TABLE}))\.?[\s*_-]{{0,3}}"
_NUMBER = r"(?P<number>S?\d{1,3}|[IVX]{1,4}(?![A-Za-z]))"
# How a label begins: sought one by one, thirty times as fast as a pattern that knows them all.
_BEGINNINGS: Final = [
    "Fig",
    "fig",
    "FIG",
    "Tab",
    "tab",
    "TAB",
    "Scheme",
    "scheme",
    "SCHEME",
    "Abb",
    "ABB",
    "Afb",
    "Рис",
    "рис",
    "Табл",
    "табл",
    "Ryc",
    "ryc",
    "Rys",
    "rys",
    "Şek",
    "şek",
    "图",
    "圖",
    "図",
    "表",
    "그림",
    "표",
]
_BEGINS = re.compile("|".join(_BEGINNINGS))
_MENTION = re.compile(
    rf"{_LABEL}\[?{_NUMBER}(?!\d)"
    r"(?P<more>(?:[A-Za-z]{0,2}[)\]]?\s?(?:,|and|&|und|et|y|e|и|[-\u2013])\s?S?\d{1,3}(?!\d)){0,9})",
    re.I,
)
_CAPTION = re.compile(
    rf"{_LABEL}{_NUMBER}[A-Za-z]?(?:[*_]{{0,3}}\s{{0,2}}(?:[.:|)\]]|\Z|(?=\n)|\s\s)|[*_]{{2}})",
    re.I,
)
_WORDS = r"(?:(extended data)|supplement\w{0,6}|supporting|additional|online|appendix)\s"
_OPENING = re.compile(rf"[>\s]{{0,4}}(?:#{{1,6}}\s)?[\[*_(<]{{0,6}}(?:{_WORDS})?", re.I)
_EXTRA = re.compile(rf"{_WORDS}\Z", re.I)
_MORE = re.compile(r"([-\u2013]?)\s?(S?)(\d{1,3})", re.I)
_GOES_ON = re.compile(r"\[(?:Image|File|Table)|\W{0,4}\(\W{0,3}[A-Za-z]\W{0,3}\)")
_NOTE = re.compile(
    r"<sup>|[*\u2020\u2021§¶]|\\\*|\W{0,4}(?:notes?|abbreviations?|sources?)\b.{0,20}[:.]", re.I
)
_SHORT = 20  # characters of a caption that says nothing but its number
_LONGEST_RANGE = 20
_NEAR = 3  # blocks from a caption to the rows of its table
_MOST_GATHERED = 40  # blocks of one figure or table where they stand by themselves
# A figure mentioned there is not mentioned in the text.
_NOT_TEXT: Final[frozenset[Role]] = frozenset(["abstract", "highlights", "references", "figures"])


class Float(NamedTuple):
    """A figure or table: ``text[start:end]``, and where the text first mentions it (-1: never)."""

    label: str
    start: int
    end: int
    mentioned: int


class _Block(NamedTuple):
    """A paragraph, and the label of the figure or table whose caption it is."""

    start: int
    end: int
    label: str


def floats_of(text: str, sections: Sequence[Section]) -> list[Float]:
    """The figures and tables of *text* in reading order, each once.

    *sections* are its outline: at the end of an archive's text stands a section of nothing else,
    where everything between two captions belongs to the first.
    """
    blocks = list(_blocks(text))
    captions = {(block.start, block.end): block.label for block in blocks if block.label}
    if not captions:
        return []
    mentions = _mentions(text, list(captions), sections)
    gathering = _spans(sections, frozenset(["figures"]))
    found: dict[str, Float] = {}
    for number, block in enumerate(blocks):
        if block.label and block.label not in found:
            end = _end_of_span(gathering, block.start)
            last = (
                _last_before(text, blocks, number, end)
                if end
                else _last_in_text(text, blocks, number)
            )
            at = mentions.get(block.label, -1)
            found[block.label] = Float(block.label, block.start, blocks[last].end, at)
    return list(found.values())


def labels_in(text: str) -> list[str]:
    """The figures and tables that a stretch of text speaks of or shows, each once, in its order.

    >>> labels_in("As in Figs. 1-3 and Tabelle 2; stable 4.")
    ['Figure 1', 'Figure 2', 'Figure 3', 'Table 2']
    """
    found: dict[str, None] = {}
    for at in _beginnings(text):
        if match := _MENTION.match(text, at):
            extra = _supplement_prefix(text, at)
            found |= dict.fromkeys(_label(match, number, extra) for number in _numbers(match))
    return list(filter(None, found))


def caption_label(text: str) -> str:
    """The label of the figure or table whose caption a paragraph is; empty for any other.

    >>> caption_label("Fig. 2: Growth"), caption_label("Figure 2 shows growth")
    ('Figure 2', '')
    """
    return _caption(text, 0, len(text))


def _blocks(text: str) -> Iterator[_Block]:
    """The paragraphs of a text."""
    start = 0
    for gap in re.finditer(r"\n[ \t]*\n\s*", text):
        if start < gap.start():
            yield _Block(start, gap.start(), _caption(text, start, gap.start()))
        start = gap.end()
    if start < (end := len(text.rstrip())):
        yield _Block(start, end, _caption(text, start, end))


def _caption(text: str, start: int, end: int) -> str:
    """The label of the figure or table that a paragraph describes; empty if it describes none."""
    begins = _BEGINS.search(text, start, min(end, start + 40))
    if not begins or not _OPENING.fullmatch(text, start, begins.start()):
        return ""
    match = _CAPTION.match(text, begins.start(), end)
    return _label(match, match["number"], _supplement_prefix(text, begins.start())) if match else ""


def _mentions(
    text: str, captions: Sequence[tuple[int, int]], sections: Sequence[Section]
) -> dict[str, int]:
    """Where each label first stands in running text."""
    outside = _spans(sections, _NOT_TEXT)
    found: dict[str, int] = {}
    for at in _beginnings(text):
        if _end_of_span(captions, at) or _end_of_span(outside, at):
            continue
        if (match := _MENTION.match(text, at)) is None:
            continue
        extra = _supplement_prefix(text, at)
        for number in _numbers(match):
            if label := _label(match, number, extra):
                found.setdefault(label, at)
    return found


def _beginnings(text: str) -> list[int]:
    """Where labels may begin, in order; not in the middle of a word ("stable")."""
    found: list[int] = []
    for letters in _BEGINNINGS:
        at = text.find(letters)
        while at >= 0:
            before = text[at - 1 : at]
            if not (before.isalpha() and (before.isascii() or before.islower())):
                found.append(at)
            at = text.find(letters, at + 1)
    return sorted(found)


def _numbers(match: re.Match[str]) -> Iterator[str]:
    """The numbers of "Figs 1, 3 and S2-S4", ranges filled."""
    yield match["number"]
    last = match["number"]
    for dash, letter, digits in _MORE.findall(match["more"]):
        before = re.sub(r"\D", "", last)
        if dash and before and 0 < int(digits) - int(before) <= _LONGEST_RANGE:
            mark = letter or ("S" if last[0] in "Ss" else "")
            yield from (f"{mark}{n}" for n in range(int(before) + 1, int(digits)))
        last = f"{letter}{digits}"
        yield last


def _supplement_prefix(text: str, at: int) -> str:
    """``S`` before the label of a supplementary figure, however it is called."""
    match = _EXTRA.search(text, max(0, at - 20), at)
    return "" if not match else "Extended Data " if match[1] else "S"


def _label(match: re.Match[str], number: str, extra: str) -> str:
    """The name of a figure or table, alike wherever it stands; empty for what is none."""
    if not number[-1].isdigit() and not number.isupper():  # "tab in" is no Roman number
        return ""
    kind = "Figure" if match["figure"] else "Scheme" if match["scheme"] else "Table"
    number = number.upper()
    if extra == "S":
        return f"{kind} {number if number[0] == 'S' else extra + number}"
    return f"{extra}{kind} {number}"


def _last_in_text(text: str, blocks: Sequence[_Block], number: int) -> int:
    """The last block of a figure or table that stands in running text."""
    near = range(number, min(number + _NEAR + 1, len(blocks)))
    last = number
    if blocks[number].label.rpartition(" ")[0].endswith("Table"):
        rows = (
            n for n in near if "\n|" in text[slice(*blocks[n][:2])] or text[blocks[n].start] == "|"
        )
        last = next(rows, number)
        goes_on = _NOTE
    else:
        is_bare = blocks[number].end - blocks[number].start <= _SHORT
        if is_bare and number + 1 < len(blocks) and text[blocks[number + 1].start] != "#":
            last = number + 1
        goes_on = _GOES_ON
    while last + 1 < len(blocks) and last < number + 2 * _NEAR:
        following = blocks[last + 1]
        if following.label or not goes_on.match(text, following.start, following.end):
            break
        last += 1
    return last


def _last_before(text: str, blocks: Sequence[_Block], number: int, end: int) -> int:
    """The last block before the next caption or *end*."""
    last = number
    while last + 1 < len(blocks) and last < number + _MOST_GATHERED:
        following = blocks[last + 1]
        if following.label or following.start >= end or text[following.start] == "#":
            break
        last += 1
    return last


def _spans(sections: Sequence[Section], roles: frozenset[Role]) -> list[tuple[int, int]]:
    """Where sections of these roles stand, the outermost of them."""
    found: list[tuple[int, int]] = []
    for section in sections:
        if roles & set(section.roles) and (not found or section.start >= found[-1][1]):
            found.append((section.start, section.end))
    return found


def _end_of_span(spans: Sequence[tuple[int, int]], at: int) -> int:
    """The end of the span that holds a place; 0 where none does."""
    number = bisect_right(spans, (at, 1 << 62)) - 1
    return spans[number][1] if number >= 0 and at < spans[number][1] else 0
