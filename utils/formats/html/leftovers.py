"""What a page's markdown holds twice or for nothing, taken out section by section.

Pages say things again for their own layout: tabs repeat the abstract, a lightbox the caption, a
box its heading; and boxes that a script fills leave an empty heading. In the tree each publisher
does it in its own way, in markdown they look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...outline.sections import part_of
from ...outline.words import count_words, folded
from .openings import MAIN_TEXT

_HEADING = re.compile(r"(#{1,6}) (.*)")
_CAPTION = re.compile(r"\W*(table|fig(ure)?|scheme|box|video|movie|chart)\b", re.I)
_SIGNS = re.compile(r"[\s,;:|.\[\]()*]*")  # left of a row of links
_EDGES = re.compile(r"^\*\*\s*[:.]\s*\*\*\s*|( \|)+$")  # of a bold label, of a row of links
# Headings of the page, not of the paper: what the reader can do with it, or reads next.
_SITE = re.compile(
    r"(article )?(level )?metrics( (and|&) citations)?|download( links| citations?)?s?"
    r"|share( this.*)?|cited by.*|cit(ing|ed) (literature|articles?|by).*|citations?"
    r"|categories( and tags)?|tags|subject areas?|(related|similar|associated|recommended|more)"
    r" (articles?|content|links?|papers|research|reading|information|in this journal)( in.*)?"
    r"|similar content being viewed.*|recommend(ed|ations).*|(people|users|readers) also .*"
    r"|(you )?may (also )?(like|be interested).*|of interest"
    r"|(most )?(read|viewed|cited)( articles)?"
    r"|publication (dates?|history)|how to cite.*|cite (this|as).*|(email |content )?alerts?"
    r"|sign up.*|stay up to date|advertisement|view options|access options|author biograph.*"
    r"|(notes on|about the) (contributors?|authors?)|more on this topic|article tools|quick links",
    re.I,
)
# What others wrote about the paper. A journal's letter of decision belongs to the article's record.
_TALK = re.compile(
    r"(open )?peer[- ]review( reports?| status| history| file)?|(current )?(referee|reviewer)s?"
    r"['\u2019]?s? (report|response|status|comment).*|discuss this.*|add (a |your )?comments?"
    r"|(user |reader )?comments?( on this.*| \(\d+\))?|(e-?|rapid )(letters?|responses?).*",
    re.I,
)
# After the references, only what is known to be the paper's follows something of the site.
_OWN = re.compile(
    r"append(ix|ices).*|supplement.*|supporting.*|acknowledg.*|funding.*|author.? contrib.*"
    r"|(competing|conflicts?|declarations?).*|data avail.*|abbreviations?|(foot)?notes?"
    r"|figures?( .*)?|tables?( .*)?|(online )?methods.*|extended data.*"
    r"|decision letter|author resp.*"
    r"|ethic.*|references.*|additional (files?|information)|(electronic )?suppl.*",
    re.I,
)
_LAYOUT = re.compile(r"(main )?(article )?(text|article|full text)|main article text", re.I)
_SITE_WORDS = 150  # a section of more is no furniture, whatever it is called, but of links
_REPEATED = 3  # blocks: how far a caption may stand from its copy
_COPIED_WORDS = 25  # of a paragraph that, said again, is a copy
_ABSTRACT_CHARS = 20_000
_LINKED = re.compile(r"\[[^\[\]]{0,500}\]\([^()\s]{0,2000}\)")
_LINKS_SHARE = 0.4  # of a section's words, that are linked


class _Section(NamedTuple):
    level: int
    name: str
    blocks: tuple[str, ...]


def without_leftovers(markdown: str) -> str:
    """*markdown* without repeated parts, empty headings and the page's own sections."""
    sections = list(_without_copies(_without_site(_sections(markdown))))
    kept: list[str] = []
    for at, section in enumerate(sections):
        if not section.blocks and at + 1 < len(sections) and _is_void(section, sections[at + 1]):
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
    """Leave out the site's sections, those in them, and those after them at the paper's end."""
    above = 0  # the level of the section of the site that is being left out
    ended = False  # whether the references were there
    for section in sections:
        name = section.name.strip(" :*")
        if above and section.level > above:
            continue
        is_site = section.level > 1 and _is_site(section, name)
        follows = bool(above) and ended and not (_OWN.fullmatch(name) or section.level <= 1)
        above = section.level if is_site or follows else 0
        ended = ended or part_of(name) == "references"
        if not above:
            yield section


def _is_site(section: _Section, name: str) -> bool:
    if _TALK.fullmatch(name):
        return True
    if not _SITE.fullmatch(name):
        return False
    text = "\n\n".join(section.blocks)
    words = count_words(text)
    linked = sum(count_words(link[0]) for link in _LINKED.finditer(text))
    return words < _SITE_WORDS or linked > _LINKS_SHARE * words


def _without_copies(sections: Iterator[_Section]) -> Iterator[_Section]:
    """Leave out sections that were there before, and the abstract said again before the text."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    abstract, within = "", 0  # its words; the level of its heading while it goes on
    for section in sections:
        if section.blocks and section.name and (section.name, section.blocks) in seen:
            continue
        seen.add((section.name, section.blocks))
        within = 0 if section.level <= within else within
        is_abstract = part_of(section.name) == "abstract"
        if is_abstract and not abstract:
            within = within or section.level
        if within and len(abstract) < _ABSTRACT_CHARS:
            abstract += " ".join([" ", *folded(" ".join(section.blocks))])
        elif is_abstract or section.name in ("", MAIN_TEXT):
            kept = tuple(block for block in section.blocks if not _says(block, abstract))
            if kept or not section.blocks:
                yield section._replace(blocks=kept)
            continue
        yield section


def _says(block: str, abstract: str) -> bool:
    words = folded(block)
    return len(words) >= _COPIED_WORDS and " ".join(words) in abstract


def _is_void(section: _Section, following: _Section) -> bool:
    """Whether an empty section's heading says nothing, the next one saying it or anything else."""
    if section.level <= 1:
        return False
    if section.name == following.name or _LAYOUT.fullmatch(section.name):
        return True
    return section.level >= following.level and part_of(section.name) != "body"
