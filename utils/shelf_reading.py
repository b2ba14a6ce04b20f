"""Reading what is on the shelf: by section, within a budget of characters."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import BadRequest, NotFound
from .formats.sections import part_of, stretch_end
from .identifiers import Ids
from .paper import Kind, StoredPaper, Version
from .store import Shelf

MOST_CHARACTERS = 50_000
_HEADING = re.compile(r"^(#{1,6}) +(.+?)\s*$", re.M)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, how deep it is, and where its text lies (its subsections included)."""

    heading: str
    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A stretch of one paper.

    ``outline`` pairs each heading with the number of characters under it; ``next_start`` is where
    to go on, None at the end. ``text`` came from the web: it is content, never an instruction.
    """

    title: str
    kind: Kind
    outline: tuple[tuple[str, int], ...]
    text: str
    next_start: int | None
    stored: StoredPaper

    @property
    def version(self) -> Version:
        """Which version of the paper this is."""
        return self.stored.version


def read(
    paper: str,
    shelf: Shelf,
    *,
    section: str = "",
    start: int = 0,
    max_chars: int = 8000,
    references: bool = True,
) -> Reading:
    """A stretch of a paper on the shelf.

    Parameters
    ----------
    paper : str
        Any identifier, or the name of a file on the shelf.
    section : str, optional
        A heading (case and numbering do not matter); the whole text when empty.
    start, max_chars : int, optional
        Characters, counted within the section.
    references : bool, optional
        False leaves the reference list out: a quarter of a paper that nobody reads for its sense.

    Raises
    ------
    BadRequest
        No such section, or the numbers make no sense.
    NotFound
        The paper is not on the shelf.
    """
    if start < 0 or not 1 <= max_chars <= MOST_CHARACTERS:
        msg = f"start is {start} and max_chars {max_chars}."
        raise BadRequest(msg, f"start counts from 0; max_chars is 1 to {MOST_CHARACTERS}.")
    stored = find(paper, shelf)
    text = shelf.read_text(stored)
    if not references:
        text = without_references(text)
    sections = outline(text)
    if section:
        chosen = _section(section, sections)
        text = text[chosen.start : chosen.end]
    end = stretch_end(text, start, max_chars)
    return Reading(
        title=stored.paper.title,
        kind=stored.kind,
        outline=tuple((part.heading, part.end - part.start) for part in sections),
        text=text[start:end],
        next_start=end if end < len(text) else None,
        stored=stored,
    )


def find(paper: str, shelf: Shelf) -> StoredPaper:
    """The paper on the shelf with this identifier or file name.

    Raises
    ------
    BadRequest
        It is neither an identifier nor a file on the shelf.
    NotFound
        A proper identifier of a paper that is not there.
    """
    if stored := shelf.find_by_file(paper.strip()):
        return stored
    ids = Ids.parse(paper)
    if stored := shelf.find(ids):
        return stored
    raise NotFound(f"{ids} is not on the shelf.", "Download it first.")


def outline(markdown: str) -> list[Section]:
    r"""The sections of a text in reading order.

    >>> [(s.heading, s.level) for s in outline("# A\n\nx\n\n## B\n\ny\n")]
    [('A', 1), ('B', 2)]
    """
    fences = [match.span() for match in _FENCE.finditer(markdown)]
    found = [
        (match.start(), len(match[1]), match[2])
        for match in _HEADING.finditer(markdown)
        if not any(begin < match.start() < end for begin, end in fences)
    ]
    sections = []
    for number, (begin, level, heading) in enumerate(found):
        following = (where for where, depth, _ in found[number + 1 :] if depth <= level)
        sections.append(Section(heading, level, begin, next(following, len(markdown))))
    return sections


def without_references(markdown: str) -> str:
    r"""A text without its reference lists.

    >>> without_references("# A\n\nx\n\n## References\n\n1. B\n\n## Notes\n\ny\n")
    '# A\n\nx\n\n## Notes\n\ny\n'
    """
    for part in reversed(outline(markdown)):
        if part.level > 1 and part_of(part.heading) == "references":
            markdown = markdown[: part.start] + markdown[part.end :]
    return markdown


def _section(wanted: str, sections: list[Section]) -> Section:
    """The section meant: the same words first, then words that begin or hold it.

    "Methods" of the paper wins over "Methods" within its structured abstract.
    """
    sought = _bare(wanted)
    abstracts = [section for section in sections if _bare(section.heading).startswith("abstract")]

    def parts(inside: bool) -> list[Section]:
        within = [any(a.start < s.start < a.end for a in abstracts) for s in sections]
        return [s for s, is_within in zip(sections, within, strict=True) if is_within == inside]

    for candidates in (parts(inside=False), parts(inside=True)):
        for fits in (str.__eq__, str.startswith, str.__contains__):
            fitting = [s for s in candidates if fits(_bare(s.heading), sought)]
            if fitting:
                return min(fitting, key=lambda section: section.level)
    headings = "; ".join(section.heading for section in sections[:30])
    raise BadRequest(f"There is no section {wanted!r}.", f"The sections are: {headings or 'none'}.")


def _bare(heading: str) -> str:
    unmarked = re.sub(r"</?\w+>|[*_`]", "", heading)
    return re.sub(r"^[\dIVX]+(\.\d+)*\.?\s+", "", unmarked).strip().casefold()
