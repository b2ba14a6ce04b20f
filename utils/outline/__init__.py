"""The outline of a text: its sections by role, and the figures and tables each mentions first.

The shelf keeps it with every text. Roles come from the words of the title (`.roles`), the
publisher's own (``sec-type``), and place: a subsection is what it stands in, "Summary" ends a paper
or opens it, a main text before the methods introduces them. Line by line, so that the time grows
linearly with the text.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..model.paper import Role, Section
from .floats import Float, caption_label, floats_of, labels_in
from .roles import HINTS, MAIN_TEXT, SUMMARIES, bare, declared, hinted, key, role_named, roles_of

__all__ = [
    "bare",
    "caption_label",
    "floats_of",
    "key",
    "labels_in",
    "outermost",
    "outline",
    "role_named",
    "roles_of",
]

MOST_HEADINGS = 2000
"""More is no paper; what stands behind them belongs to the last."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)|(```|~~~)")
_LONGEST = 500  # characters; more is a paragraph that begins with a sign
_SEVERAL: Final = 2  # sections
_NUMBERED = re.compile(r"[\W_]{0,4}(\d{1,2}(?:\.\s?\d{1,2}){0,4})[.):]?\s+\S")
# What stands in one of these is a part of it, whatever its title: the Methods of an abstract.
_CLOSED: Final[frozenset[Role]] = frozenset(["abstract", "highlights", "references", "peer review"])
# In one of these only methods and the like are not the paper's own.
_BEHIND: Final[frozenset[Role]] = frozenset(["supplementary", "appendix"])
_CORE: Final[frozenset[Role]] = frozenset(
    ["introduction", "methods", "results", "discussion", "conclusion", "case report"]
)
_BODY: Final[frozenset[Role]] = _CORE - {"introduction"}


@dataclass(slots=True)
class _Heading:
    start: int
    level: int
    title: str
    number: tuple[int, ...]
    title_roles: tuple[Role, ...]
    end: int = 0


def outline(text: str, words: Mapping[str, str] | None = None) -> list[Section]:
    r"""The sections of a text in reading order; *words* are the publisher's (`section_words`).

    >>> [(s.title, s.roles) for s in outline("# T\n\n## 2. Methodik\n\nx\n\n### Mice\n\ny\n")]
    [('T', ()), ('2. Methodik', ('methods',)), ('Mice', ('methods',))]
    """
    found = list(itertools.islice(_headings(text), MOST_HEADINGS))
    _level_by_number(found)
    _raise_from_introductions(found)
    _set_ends(found, len(text))
    publishers = words or {}
    kinds = [publishers.get(key(heading.title), "") for heading in found]
    roles = _roles(found, kinds, frozenset())
    missing = HINTS - {role for several in roles for role in several}
    if missing:
        roles = _roles(found, kinds, missing)
    sections = [
        Section(heading.title, heading.level, heading.start, heading.end, several, (), kind)
        for heading, several, kind in zip(found, roles, kinds, strict=True)
    ]
    return _with_floats(sections, floats_of(text, sections))


def section_words(sections: Iterable[Section]) -> dict[str, str]:
    """The publisher's words for sections, by the key of their titles."""
    return {key(section.title): section.declared for section in sections if section.declared}


def with_own_roles(sections: Sequence[Section]) -> Iterator[tuple[Section, str]]:
    """Each section with the roles that it does not have from the one it stands in."""
    above: list[Section] = []
    for section in sections:
        while above and above[-1].end <= section.start:
            above.pop()
        outer = above[-1].roles if above else ()
        yield section, ", ".join(role for role in section.roles if role not in outer)
        above.append(section)


def outermost(sections: Iterable[Section], role: Role) -> list[Section]:
    """The sections of a role that stand in no other of it, those of the highest level only."""
    found: list[Section] = []
    end = -1
    for section in sections:
        if role in section.roles and section.start >= end:
            found.append(section)
            end = section.end
    highest = min((section.level for section in found), default=0)
    return [section for section in found if section.level == highest]


def _headings(text: str) -> Iterator[_Heading]:
    """The headings, those in a fence of code left out; a fence that nothing closes is none."""
    lines = [match for at in _line_starts(text) if (match := _HEADING.match(text, at))]
    last = {match[3]: match.start() for match in lines if match[3]}
    fence = ""
    for match in lines:
        marker = match[3]
        if fence:
            fence = "" if marker == fence else fence
        elif marker:
            fence = marker if last[marker] > match.start() else ""
        elif len(title := match[2].rstrip().rstrip("#").rstrip()) <= _LONGEST and title:
            number = _NUMBERED.match(title)
            parts = tuple(map(int, number[1].split("."))) if number else ()
            yield _Heading(match.start(), len(match[1]), title, parts, roles_of(title))


def _line_starts(text: str) -> list[int]:
    """Where lines begin with the sign of a heading or a fence; most lines need no pattern."""
    found = [0]
    for sign in ("\n#", "\n```", "\n~~~"):
        at = text.find(sign)
        while at >= 0:
            found.append(at + 1)
            at = text.find(sign, at + 1)
    return sorted(found)


def _level_by_number(headings: Sequence[_Heading]) -> None:
    """Bring the levels in line with numbers: what reads a page may not see that 2 follows 1."""
    run = [heading for heading in headings if len(heading.number) == 1]
    if [heading.number[0] for heading in run] != list(range(1, len(run) + 1)) or len(run) < 3:
        return
    level = min(heading.level for heading in run)
    for heading in headings:
        if len(heading.number) == 1:
            heading.level = level
        elif heading.number:
            heading.level = max(heading.level, level + 1)


def _raise_from_introductions(headings: Sequence[_Heading]) -> None:
    """Raise what follows an introduction to its level: no introduction holds the discussion."""
    level = 0
    for heading in headings[_count_titles(headings) :]:
        if level and heading.level <= level:
            level = 0
        if level and len(heading.number) < 2 and _BODY & set(heading.title_roles):
            heading.level = level
        if heading.title_roles == ("introduction",) and not level and len(heading.number) < 2:
            level = heading.level


def _set_ends(headings: Sequence[_Heading], length: int) -> None:
    """Find where each section ends: at the next heading that is not below it."""
    is_open: list[_Heading] = []
    for heading in headings:
        while is_open and is_open[-1].level >= heading.level:
            is_open.pop().end = heading.start
        is_open.append(heading)
    for heading in is_open:
        heading.end = length


def _roles(
    headings: Sequence[_Heading], kinds: Sequence[str], missing: frozenset[Role]
) -> list[tuple[Role, ...]]:
    """The roles of each section; titles that only hint at one count for those *missing*."""
    found: list[tuple[Role, ...]] = []
    above: list[tuple[int, tuple[Role, ...]]] = []
    seen: set[Role] = set()
    titles = _count_titles(headings)
    opened = False  # a section of the text itself has begun
    for number, (heading, kind) in enumerate(zip(headings, kinds, strict=True)):
        while above and above[-1][0] >= heading.level:
            above.pop()
        outer = above[-1][1] if above else ()
        roles = outer
        if number >= titles and not _CLOSED & set(outer):
            own = _own(headings, number, kind, seen, opened=opened)
            opened = opened or not {"abstract", "highlights"} & set(own + outer)
            if _BEHIND & set(outer):
                own = tuple(role for role in own if role not in _CORE)
            if not own and not outer:
                own = tuple(role for role in hinted(heading.title) if role in missing)
            is_core = bool(_CORE & set(own))
            roles = (own if is_core else tuple(dict.fromkeys(own + outer))) or outer
        seen.update(roles)
        above.append((heading.level, roles))
        found.append(roles)
    return found


def _own(
    headings: Sequence[_Heading], number: int, kind: str, seen: set[Role], *, opened: bool
) -> tuple[Role, ...]:
    """What a section is by its title and place, or by the publisher's word for it."""
    heading = headings[number]
    name = key(bare(heading.title))
    if name in SUMMARIES:
        return ("conclusion",) if _BODY & seen or ("abstract" in seen and opened) else ("abstract",)
    if name in MAIN_TEXT:
        return ("introduction",) if not _CORE & seen and _introduces(headings, number) else ()
    return heading.title_roles or (declared(kind) if kind else ())


def _introduces(headings: Sequence[_Heading], number: int) -> bool:
    """Whether what stands under no title of its own comes before the paper's own sections.

    Those of results or discussion, or, as in a review, several of its subject, longer together.
    """
    heading = headings[number]
    if any("introduction" in later.title_roles for later in headings[number + 1 :]):
        return False
    beside = [h for h in headings[number + 1 :] if h.level == heading.level and not h.title_roles]
    together = sum(later.end - later.start for later in beside)
    several = len(beside) >= _SEVERAL and together > 2 * (heading.end - heading.start)
    return several or number < _last_of_body(headings)


def _count_titles(headings: Sequence[_Heading]) -> int:
    """1 where the first heading is the paper's title, the only one of its level; else 0."""
    return int(bool(headings) and all(h.level > headings[0].level for h in headings[1:]))


def _last_of_body(headings: Sequence[_Heading]) -> int:
    """The number of the last heading that names results or a discussion.

    Methods do not count: some journals print them behind a main text that holds everything else.
    """
    wanted: set[Role] = {"results", "discussion"}
    numbers = (n for n, heading in enumerate(headings) if wanted & set(heading.title_roles))
    return max(numbers, default=-1)


def _with_floats(sections: list[Section], floats: Sequence[Float]) -> list[Section]:
    """Each figure and table with the innermost section that mentions it first."""
    starts = [section.start for section in sections]
    labels: dict[int, list[str]] = {}
    for one in sorted(floats, key=lambda one: one.mentioned):
        # The last that begins before a place is the innermost there: sections follow each other.
        at = bisect_right(starts, one.mentioned) - 1
        if one.mentioned >= 0 <= at:
            labels.setdefault(at, []).append(one.label)
    return [
        replace(section, floats=tuple(dict.fromkeys(labels[n]))) if n in labels else section
        for n, section in enumerate(sections)
    ]
