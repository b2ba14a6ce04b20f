"""Outline a text: its sections by role, and the figures and tables that each mentions first.

The shelf stores the outline with every text. Roles come from the words of the title (`.roles`), the
publisher's ``sec-type`` and the position: a subsection has the role of its parent, "Summary" is the
abstract or the conclusion, a main text before the methods is the introduction. The text is read
line by line, so that the time grows linearly with its length.

Publishers print figures and tables where there is room, and archives at the end, so each is
assigned to the section that mentions it first. Labels are recognised in the ten languages of
`.roles` and in the forms of `..readers`: ``**Figure 2.** caption``, ``**Table 1.** caption`` and
rows with pipes, or bare labels of web pages.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..model.paper import Role, Section
from .roles import (
    HINTS,
    MAIN_TEXT,
    SUMMARIES,
    find_hinted_roles,
    find_roles,
    parse_role,
    parse_sec_type_roles,
    strip_title_numbering,
    to_title_key,
)

__all__ = [
    "build_outline",
    "find_figure_and_table_labels",
    "find_figures_and_tables",
    "find_outermost_sections",
    "find_roles",
    "parse_caption_label",
    "parse_role",
    "strip_title_numbering",
    "to_title_key",
]

MAX_HEADINGS = 2000
"""No paper has more; any later text belongs to the last section."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)|(```|~~~)")
_MAX_HEADING_CHARS = 500  # characters; more is a paragraph that begins with a sign
_MIN_TOPIC_SECTIONS: Final = 2  # sections
_HEADING_NUMBER = re.compile(r"[\W_]{0,4}(\d{1,2}(?:\.\s?\d{1,2}){0,4})[.):]?\s+\S")
# Subsections of these keep the role whatever their title, like the Methods of an abstract.
_CLOSED_ROLES: Final[frozenset[Role]] = frozenset(
    ["abstract", "highlights", "references", "peer review"]
)
# In one of these only methods and the like are not the paper's own.
_APPENDED_ROLES: Final[frozenset[Role]] = frozenset(["supplementary", "appendix"])
_CORE_ROLES: Final[frozenset[Role]] = frozenset(
    ["introduction", "methods", "results", "discussion", "conclusion", "case report"]
)
_BODY_ROLES: Final[frozenset[Role]] = _CORE_ROLES - {"introduction"}


@dataclass(slots=True)
class _OutlineHeading:
    start: int
    level: int
    title: str
    number: tuple[int, ...]
    title_roles: tuple[Role, ...]
    end: int = 0


def build_outline(text: str, words: Mapping[str, str] | None = None) -> list[Section]:
    r"""Return the sections of *text* in order; *words* maps titles to publishers' section types.

    >>> [(s.title, s.roles) for s in build_outline("# T\n\n## 2. Methodik\n\nx\n\n### Mice\n\ny\n")]
    [('T', ()), ('2. Methodik', ('methods',)), ('Mice', ('methods',))]
    """
    found = list(itertools.islice(_iterate_headings(text), MAX_HEADINGS))
    _align_heading_levels(found)
    _raise_sections_out_of_introduction(found)
    _set_section_ends(found, len(text))
    publishers = words or {}
    kinds = [publishers.get(to_title_key(heading.title), "") for heading in found]
    roles = _assign_section_roles(found, kinds, frozenset())
    missing = HINTS - {role for several in roles for role in several}
    if missing:
        roles = _assign_section_roles(found, kinds, missing)
    sections = [
        Section(heading.title, heading.level, heading.start, heading.end, several, (), kind)
        for heading, several, kind in zip(found, roles, kinds, strict=True)
    ]
    return _assign_figures_and_tables(sections, find_figures_and_tables(text, sections))


def collect_declared_section_types(sections: Iterable[Section]) -> dict[str, str]:
    """Return the publisher's ``sec-type`` of each section, keyed by the folded title."""
    return {
        to_title_key(section.title): section.declared for section in sections if section.declared
    }


def iterate_sections_with_own_roles(sections: Sequence[Section]) -> Iterator[tuple[Section, str]]:
    """Yield each section with the roles that its parent section does not have."""
    above: list[Section] = []
    for section in sections:
        while above and above[-1].end <= section.start:
            above.pop()
        outer = above[-1].roles if above else ()
        yield section, ", ".join(role for role in section.roles if role not in outer)
        above.append(section)


def find_outermost_sections(sections: Iterable[Section], role: Role) -> list[Section]:
    """Return the outermost sections with a role; of these, only the ones at the highest level."""
    found: list[Section] = []
    end = -1
    for section in sections:
        if role in section.roles and section.start >= end:
            found.append(section)
            end = section.end
    highest = min((section.level for section in found), default=0)
    return [section for section in found if section.level == highest]


def _iterate_headings(text: str) -> Iterator[_OutlineHeading]:
    """Yield the headings outside code fences; a fence that is never closed is ignored."""
    lines = [
        match for at in _find_heading_and_fence_lines(text) if (match := _HEADING.match(text, at))
    ]
    last = {match[3]: match.start() for match in lines if match[3]}
    fence = ""
    for match in lines:
        marker = match[3]
        if fence:
            fence = "" if marker == fence else fence
        elif marker:
            fence = marker if last[marker] > match.start() else ""
        elif len(title := match[2].rstrip().rstrip("#").rstrip()) <= _MAX_HEADING_CHARS and title:
            number = _HEADING_NUMBER.match(title)
            parts = tuple(map(int, number[1].split("."))) if number else ()
            yield _OutlineHeading(match.start(), len(match[1]), title, parts, find_roles(title))


def _find_heading_and_fence_lines(text: str) -> list[int]:
    """Return the offsets of all lines that begin with ``#`` or a code fence."""
    found = [0]
    for sign in ("\n#", "\n```", "\n~~~"):
        at = text.find(sign)
        while at >= 0:
            found.append(at + 1)
            at = text.find(sign, at + 1)
    return sorted(found)


def _align_heading_levels(headings: Sequence[_OutlineHeading]) -> None:
    """Correct heading levels, which PDF readers may misjudge, by the printed section numbers."""
    run = [heading for heading in headings if len(heading.number) == 1]
    if [heading.number[0] for heading in run] != list(range(1, len(run) + 1)) or len(run) < 3:
        return
    level = min(heading.level for heading in run)
    for heading in headings:
        if len(heading.number) == 1:
            heading.level = level
        elif heading.number:
            heading.level = max(heading.level, level + 1)


def _raise_sections_out_of_introduction(headings: Sequence[_OutlineHeading]) -> None:
    """Move body sections nested in the introduction up to the introduction's level."""
    level = 0
    for heading in headings[_count_paper_title_headings(headings) :]:
        if level and heading.level <= level:
            level = 0
        if level and len(heading.number) < 2 and _BODY_ROLES & set(heading.title_roles):
            heading.level = level
        if heading.title_roles == ("introduction",) and not level and len(heading.number) < 2:
            level = heading.level


def _set_section_ends(headings: Sequence[_OutlineHeading], length: int) -> None:
    """Set where each section ends: at the next heading of the same or a higher level."""
    is_open: list[_OutlineHeading] = []
    for heading in headings:
        while is_open and is_open[-1].level >= heading.level:
            is_open.pop().end = heading.start
        is_open.append(heading)
    for heading in is_open:
        heading.end = length


def _assign_section_roles(
    headings: Sequence[_OutlineHeading], kinds: Sequence[str], missing: frozenset[Role]
) -> list[tuple[Role, ...]]:
    """Return each section's roles; titles that only suggest a role count for *missing* roles."""
    found: list[tuple[Role, ...]] = []
    above: list[tuple[int, tuple[Role, ...]]] = []
    seen: set[Role] = set()
    titles = _count_paper_title_headings(headings)
    opened = False  # a section of the text itself has begun
    for number, (heading, kind) in enumerate(zip(headings, kinds, strict=True)):
        while above and above[-1][0] >= heading.level:
            above.pop()
        outer = above[-1][1] if above else ()
        roles = outer
        if number >= titles and not _CLOSED_ROLES & set(outer):
            own_roles = _find_section_roles(headings, number, kind, seen, opened=opened)
            opened = opened or not {"abstract", "highlights"} & set(own_roles + outer)
            if _APPENDED_ROLES & set(outer):
                own_roles = tuple(role for role in own_roles if role not in _CORE_ROLES)
            if not own_roles and not outer:
                own_roles = tuple(
                    role for role in find_hinted_roles(heading.title) if role in missing
                )
            is_core = bool(_CORE_ROLES & set(own_roles))
            roles = (own_roles if is_core else tuple(dict.fromkeys(own_roles + outer))) or outer
        seen.update(roles)
        above.append((heading.level, roles))
        found.append(roles)
    return found


def _find_section_roles(
    headings: Sequence[_OutlineHeading], number: int, kind: str, seen: set[Role], *, opened: bool
) -> tuple[Role, ...]:
    """Return a section's roles by its title and position, or by the publisher's ``sec-type``."""
    heading = headings[number]
    name = to_title_key(strip_title_numbering(heading.title))
    if name in SUMMARIES:
        return (
            ("conclusion",)
            if _BODY_ROLES & seen or ("abstract" in seen and opened)
            else ("abstract",)
        )
    if name in MAIN_TEXT:
        return (
            ("introduction",)
            if not _CORE_ROLES & seen and _is_untitled_introduction(headings, number)
            else ()
        )
    return heading.title_roles or (parse_sec_type_roles(kind) if kind else ())


def _is_untitled_introduction(headings: Sequence[_OutlineHeading], number: int) -> bool:
    """Return whether the heading opens an introduction that has no title of its own.

    These sections are results or a discussion, or, in a review, several topics that are longer
    together.
    """
    heading = headings[number]
    if any("introduction" in later.title_roles for later in headings[number + 1 :]):
        return False
    beside = [h for h in headings[number + 1 :] if h.level == heading.level and not h.title_roles]
    together = sum(later.end - later.start for later in beside)
    several = len(beside) >= _MIN_TOPIC_SECTIONS and together > 2 * (heading.end - heading.start)
    return several or number < _find_last_body_heading(headings)


def _count_paper_title_headings(headings: Sequence[_OutlineHeading]) -> int:
    """Return 1 if the first heading is the paper's title, the only one at its level; else 0."""
    return int(bool(headings) and all(h.level > headings[0].level for h in headings[1:]))


def _find_last_body_heading(headings: Sequence[_OutlineHeading]) -> int:
    """Return the index of the last heading that names results or a discussion; -1 without one.

    Methods do not count: some journals print them after a main text that contains everything else.
    """
    wanted: set[Role] = {"results", "discussion"}
    numbers = (n for n, heading in enumerate(headings) if wanted & set(heading.title_roles))
    return max(numbers, default=-1)


def _assign_figures_and_tables(
    sections: list[Section], floats: Sequence[FigureOrTable]
) -> list[Section]:
    """Assign each figure and table to the innermost section that mentions it first."""
    starts = [section.start for section in sections]
    labels: dict[int, list[str]] = {}
    for float_ in sorted(floats, key=lambda float_: float_.mentioned):
        # The last that begins before a place is the innermost there: sections follow each other.
        at = bisect_right(starts, float_.mentioned) - 1
        if float_.mentioned >= 0 <= at:
            labels.setdefault(at, []).append(float_.label)
    return [
        replace(section, floats=tuple(dict.fromkeys(labels[n]))) if n in labels else section
        for n, section in enumerate(sections)
    ]


_FIGURE_WORDS = (
    r"fig(?:ures?|uras?|s)?|abb(?:ildung(?:en)?)?|рис(?:унок|унка|унке|унки)?|ryc(?:ina|iny)?"
    r"|rysunek|şekil|afbeelding|그림|图|圖|図"
)
_TABLE_WORDS = (
    r"tab(?:les?|ellen|elle|elas?|eli|el|leaux?|las?|ellae?|o)?|tablo|табл(?:ица|ице|ицы)?|표|表"
)
_LABEL = (
    rf"(?:(?P<figure>{_FIGURE_WORDS})|(?P<scheme>schemes?)|(?:{_TABLE_WORDS}))\.?[\s*_-]{{0,3}}"
)
_NUMBER = r"(?P<number>S?\d{1,3}|[IVX]{1,4}(?![A-Za-z]))"
# How a label begins: sought one by one, thirty times as fast as a pattern that knows them all.
_LABEL_STARTS: Final = [
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
_LABEL_START = re.compile("|".join(_LABEL_STARTS))
_MENTION = re.compile(
    rf"{_LABEL}\[?{_NUMBER}(?!\d)"
    r"(?P<more>(?:[A-Za-z]{0,2}[)\]]?\s?(?:,|and|&|und|et|y|e|и|[-\u2013])\s?S?\d{1,3}(?!\d)){0,9})",
    re.I,
)
_CAPTION = re.compile(
    rf"{_LABEL}{_NUMBER}[A-Za-z]?(?:[*_]{{0,3}}\s{{0,2}}(?:[.:|)\]]|\Z|(?=\n)|\s\s)|[*_]{{2}})",
    re.I,
)
_SUPPLEMENT_WORDS = r"(?:(extended data)|supplement\w{0,6}|supporting|additional|online|appendix)\s"
_OPENING = re.compile(rf"[>\s]{{0,4}}(?:#{{1,6}}\s)?[\[*_(<]{{0,6}}(?:{_SUPPLEMENT_WORDS})?", re.I)
_SUPPLEMENT_END = re.compile(rf"{_SUPPLEMENT_WORDS}\Z", re.I)
_FURTHER_NUMBER = re.compile(r"([-\u2013]?)\s?(S?)(\d{1,3})", re.I)
_FIGURE_CONTINUES = re.compile(r"\[(?:Image|File|Table)|\W{0,4}\(\W{0,3}[A-Za-z]\W{0,3}\)")
_TABLE_NOTE = re.compile(
    r"<sup>|[*\u2020\u2021§¶]|\\\*|\W{0,4}(?:notes?|abbreviations?|sources?)\b.{0,20}[:.]", re.I
)
_BARE_CAPTION_MAX_CHARS = 20  # characters of a caption that says nothing but its number
_MAX_RANGE = 20
_MAX_ROWS_DISTANCE = 3  # blocks from a caption to the rows of its table
_MAX_GATHERED_BLOCKS = 40  # blocks of one figure or table where they stand by themselves
# A figure mentioned there is not mentioned in the text.
_NON_TEXT_ROLES: Final[frozenset[Role]] = frozenset(
    ["abstract", "highlights", "references", "figures"]
)


class FigureOrTable(NamedTuple):
    """A figure or table, ``text[start:end]``, and the offset of its first mention (or -1)."""

    label: str
    start: int
    end: int
    mentioned: int


class _CaptionOrParagraph(NamedTuple):
    """A paragraph, with the figure's or table's label if the paragraph is a caption."""

    start: int
    end: int
    label: str


def find_figures_and_tables(text: str, sections: Sequence[Section]) -> list[FigureOrTable]:
    """Return the figures and tables of *text* in reading order, without duplicates.

    *sections* is the outline of the text. An archive's text may end with a section of figures, in
    which everything between two captions belongs to the first.
    """
    blocks = list(_iterate_paragraphs(text))
    captions = {(block.start, block.end): block.label for block in blocks if block.label}
    if not captions:
        return []
    mentions = _find_first_mentions(text, list(captions), sections)
    gathering = _find_role_spans(sections, frozenset(["figures"]))
    found: dict[str, FigureOrTable] = {}
    for number, block in enumerate(blocks):
        if block.label and block.label not in found:
            end = _find_enclosing_span_end(gathering, block.start)
            last = (
                _find_last_block_before_caption(text, blocks, number, end)
                if end
                else _find_last_block_of_float(text, blocks, number)
            )
            at = mentions.get(block.label, -1)
            found[block.label] = FigureOrTable(block.label, block.start, blocks[last].end, at)
    return list(found.values())


def find_figure_and_table_labels(text: str) -> list[str]:
    """Return the labels of the figures and tables that *text* mentions or shows, in order.

    >>> find_figure_and_table_labels("As in Figs. 1-3 and Tabelle 2; stable 4.")
    ['Figure 1', 'Figure 2', 'Figure 3', 'Table 2']
    """
    found: dict[str, None] = {}
    for at in _find_label_starts(text):
        if match := _MENTION.match(text, at):
            extra = _find_supplement_prefix(text, at)
            found |= dict.fromkeys(
                _normalize_label(match, number, extra) for number in _expand_label_numbers(match)
            )
    return list(filter(None, found))


def parse_caption_label(text: str) -> str:
    """Return the label of the figure or table that a caption describes; empty if not a caption.

    >>> parse_caption_label("Fig. 2: Growth"), parse_caption_label("Figure 2 shows growth")
    ('Figure 2', '')
    """
    return _parse_label_at(text, 0, len(text))


def _iterate_paragraphs(text: str) -> Iterator[_CaptionOrParagraph]:
    """Yield the paragraphs of a text."""
    start = 0
    for gap in re.finditer(r"\n[ \t]*\n\s*", text):
        if start < gap.start():
            yield _CaptionOrParagraph(start, gap.start(), _parse_label_at(text, start, gap.start()))
        start = gap.end()
    if start < (end := len(text.rstrip())):
        yield _CaptionOrParagraph(start, end, _parse_label_at(text, start, end))


def _parse_label_at(text: str, start: int, end: int) -> str:
    """Return the label of the figure or table whose caption is ``text[start:end]``; else empty."""
    begins = _LABEL_START.search(text, start, min(end, start + 40))
    if not begins or not _OPENING.fullmatch(text, start, begins.start()):
        return ""
    match = _CAPTION.match(text, begins.start(), end)
    return (
        _normalize_label(match, match["number"], _find_supplement_prefix(text, begins.start()))
        if match
        else ""
    )


def _find_first_mentions(
    text: str, captions: Sequence[tuple[int, int]], sections: Sequence[Section]
) -> dict[str, int]:
    """Return the offset at which running text first mentions each label."""
    outside = _find_role_spans(sections, _NON_TEXT_ROLES)
    found: dict[str, int] = {}
    for at in _find_label_starts(text):
        if _find_enclosing_span_end(captions, at) or _find_enclosing_span_end(outside, at):
            continue
        if (match := _MENTION.match(text, at)) is None:
            continue
        extra = _find_supplement_prefix(text, at)
        for number in _expand_label_numbers(match):
            if label := _normalize_label(match, number, extra):
                found.setdefault(label, at)
    return found


def _find_label_starts(text: str) -> list[int]:
    """Return the offsets at which labels may begin, in order; never inside a word ("stable")."""
    found: list[int] = []
    for letters in _LABEL_STARTS:
        at = text.find(letters)
        while at >= 0:
            before = text[at - 1 : at]
            if not (before.isalpha() and (before.isascii() or before.islower())):
                found.append(at)
            at = text.find(letters, at + 1)
    return sorted(found)


def _expand_label_numbers(match: re.Match[str]) -> Iterator[str]:
    """Yield the numbers of "Figs 1, 3 and S2-S4", with ranges expanded."""
    yield match["number"]
    last = match["number"]
    for dash, letter, digits in _FURTHER_NUMBER.findall(match["more"]):
        before = re.sub(r"\D", "", last)
        if dash and before and 0 < int(digits) - int(before) <= _MAX_RANGE:
            mark = letter or ("S" if last[0] in "Ss" else "")
            yield from (f"{mark}{n}" for n in range(int(before) + 1, int(digits)))
        last = f"{letter}{digits}"
        yield last


def _find_supplement_prefix(text: str, at: int) -> str:
    """Return a supplementary figure's label prefix (``S``, ``Extended Data``); else empty."""
    match = _SUPPLEMENT_END.search(text, max(0, at - 20), at)
    return "" if not match else "Extended Data " if match[1] else "S"


def _normalize_label(match: re.Match[str], number: str, extra: str) -> str:
    """Return the standard form of a figure's or table's label; empty if *match* is not a label."""
    if not number[-1].isdigit() and not number.isupper():  # "in" of "tab in" is not a Roman number
        return ""
    kind = "Figure" if match["figure"] else "Scheme" if match["scheme"] else "Table"
    number = number.upper()
    if extra == "S":
        return f"{kind} {number if number[0] == 'S' else extra + number}"
    return f"{extra}{kind} {number}"


def _find_last_block_of_float(text: str, blocks: Sequence[_CaptionOrParagraph], number: int) -> int:
    """Return the index of the last block that belongs to a figure or table."""
    near = range(number, min(number + _MAX_ROWS_DISTANCE + 1, len(blocks)))
    last = number
    if blocks[number].label.rpartition(" ")[0].endswith("Table"):
        rows = (
            n for n in near if "\n|" in text[slice(*blocks[n][:2])] or text[blocks[n].start] == "|"
        )
        last = next(rows, number)
        goes_on = _TABLE_NOTE
    else:
        is_bare = blocks[number].end - blocks[number].start <= _BARE_CAPTION_MAX_CHARS
        if is_bare and number + 1 < len(blocks) and text[blocks[number + 1].start] != "#":
            last = number + 1
        goes_on = _FIGURE_CONTINUES
    while last + 1 < len(blocks) and last < number + 2 * _MAX_ROWS_DISTANCE:
        following = blocks[last + 1]
        if following.label or not goes_on.match(text, following.start, following.end):
            break
        last += 1
    return last


def _find_last_block_before_caption(
    text: str, blocks: Sequence[_CaptionOrParagraph], number: int, end: int
) -> int:
    """Return the index of the last block before the next caption or before *end*."""
    last = number
    while last + 1 < len(blocks) and last < number + _MAX_GATHERED_BLOCKS:
        following = blocks[last + 1]
        if following.label or following.start >= end or text[following.start] == "#":
            break
        last += 1
    return last


def _find_role_spans(sections: Sequence[Section], roles: frozenset[Role]) -> list[tuple[int, int]]:
    """Return the start and end of each outermost section that has one of the roles."""
    found: list[tuple[int, int]] = []
    for section in sections:
        if roles & set(section.roles) and (not found or section.start >= found[-1][1]):
            found.append((section.start, section.end))
    return found


def _find_enclosing_span_end(spans: Sequence[tuple[int, int]], at: int) -> int:
    """Return the end of the span that contains the offset *at*; 0 if no span does."""
    number = bisect_right(spans, (at, 1 << 62)) - 1
    return spans[number][1] if number >= 0 and at < spans[number][1] else 0
