"""What a page's markdown holds twice or for nothing, taken out section by section.

Pages say things again for their own layout: tabs repeat the abstract, a lightbox the caption, a
box its heading; and boxes that a script fills leave an empty heading. In the tree each publisher
does it in its own way, in markdown they look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..sections import part_of
from ..words import count_words, folded

_HEADING = re.compile(r"(#{1,6}) (.*)")
_CAPTION = re.compile(r"\W*(table|fig(ure)?|scheme|box|video|movie|chart)\b", re.I)
_SIGNS = re.compile(r"[\s,;:|.\[\]()*]*")  # left of a row of links
_EDGES = re.compile(r"^\*\*\s*[:.]\s*\*\*\s*|( \|)+$")  # of a bold label, of a row of links
# Headings of the page, not of the paper: what the reader can do with it, or reads next.
_SITE = re.compile(
    r"(article )?metrics|download( links| citations?)?s?|share( this.*)?|cited by.*"
    r"|categories( and tags)?|tags|comments( \(\d+\))?|related (articles?|content|links|papers)"
    r"|similar (articles|papers)|recommended.*|people also read|users also read|of interest",
    re.I,
)
_LAYOUT = re.compile(r"(main )?(article )?(text|article|full text)|main article text", re.I)
_SITE_WORDS = 150  # a section of more is no furniture, whatever it is called
_REPEATED = 3  # blocks: how far a caption may stand from its copy


class _Section(NamedTuple):
    level: int
    name: str
    blocks: tuple[str, ...]


def without_leftovers(markdown: str) -> str:
    """*markdown* without repeated parts, empty headings and the page's own sections."""
    sections = list(_without_site(_sections(markdown)))
    kept: list[str] = []
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for at, section in enumerate(sections):
        if section.blocks:
            if section.name and (section.name, section.blocks) in seen:
                continue
            seen.add((section.name, section.blocks))
        elif at + 1 < len(sections) and _is_void(section, sections[at + 1]):
            continue
        kept += [f"{'#' * section.level} {section.name}"] if section.level else []
        kept += section.blocks
    return "\n\n".join(kept)


def _sections(markdown: str) -> Iterator[_Section]:
    level, name, blocks = 0, "", list[str]()
    for block in markdown.split("\n\n"):
        if heading := _HEADING.fullmatch(block):
            yield _Section(level, name, tuple(_without_repeats(blocks)))
            level, name, blocks = len(heading[1]), heading[2], []
        elif not _SIGNS.fullmatch(block):
            blocks.append(block if block.startswith("|") else _EDGES.sub("", block))
    yield _Section(level, name, tuple(_without_repeats(blocks)))


def _without_repeats(blocks: list[str]) -> Iterator[str]:
    """Leave out a caption that was there a moment ago."""
    lately: list[list[str]] = []
    for block in blocks:
        said = folded(block) if _CAPTION.match(block) else []
        if not said or said not in lately:
            yield block
        lately = [*lately[1 - _REPEATED :], said]


def _without_site(sections: Iterator[_Section]) -> Iterator[_Section]:
    above = 0  # the level of the section of the site that is being left out
    for section in sections:
        if above and section.level > above:
            continue
        words = sum(count_words(block) for block in section.blocks)
        is_site = section.level > 1 and _SITE.fullmatch(section.name.strip(" :"))
        above = section.level if is_site and words < _SITE_WORDS else 0
        if not above:
            yield section


def _is_void(section: _Section, following: _Section) -> bool:
    """Whether an empty section's heading says nothing, the next one saying it or anything else."""
    if section.level <= 1:
        return False
    if section.name == following.name or _LAYOUT.fullmatch(section.name):
        return True
    return section.level >= following.level and part_of(section.name) != "body"
