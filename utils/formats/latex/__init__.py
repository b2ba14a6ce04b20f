"""LaTeX sources, as arXiv keeps them, as markdown.

A paper's LaTeX source as markdown, with what it says about itself.

What comes is hostile until shown otherwise: it is unpacked in memory within bounds (`.submission`),
read without running anything (`.macros` says what is followed), and written with the conventions of
the other readers: ``$…$`` and ``$$…$$`` for formulas, numbers as print has them, references last.

Title and authors of a paper that sets its title page by hand, as PLOS' template does.

The title is what is set large before the first heading, or else a first line all in bold; the
authors stand in the next line that holds names.
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import BadContent
from ...judges.likeness import families_in
from ...model.identifiers import Ids
from ...model.paper import Document, Fetched
from ...outline.sections import measure
from ...outline.words import without_long_blanks, without_markup
from ..jats.text import tidy
from .commands import COMMANDS
from .environments import ENVIRONMENTS, THEOREMS
from .references import complete_list, filled
from .signs import LARGE, LINE
from .submission import unpack
from .walk import Walk

__all__ = ["read"]

_MARKS: Final = re.compile(r"<su[pb]>.*?</su[pb]>|\$[^$]*\$|[*\\]|\[[^\]]*\]")
_NOTE: Final = re.compile(r"\n*^\[\^\d+\]: .*|\[\^\d+\]", re.M)
_MOST_AUTHORS: Final = 5000
_LARGE: Final = re.compile(f"{LARGE[0]}([^{LARGE[0]}{LARGE[1]}]{{1,600}}){LARGE[1]}")
_BOLD: Final = re.compile(r"\*\*([^*]{10,400})\*\*")
_TITLE_MARKS: Final = re.compile(f"[{LARGE[0]}{LARGE[1]}{LINE}]|\\*\\*")
_RAISED: Final = re.compile(r"<sup>.*?</sup>|\$[^$]*\$|[*\\]|\[[^\]]*\]")
_FIRST_BLOCKS: Final = 6
_LINES_BETWEEN: Final = 4  # title and authors
_TITLE_WORDS: Final = range(3, 60)
_MOST_WORDS: Final = 150  # on a title page


def read(fetched: Fetched) -> Document:
    """Read a submission's source.

    One that ends in the middle, or is longer than is read, has the verdict ``partial``.

    Raises
    ------
    BadContent
        There is no TeX in it (``not_a_paper``), or no text (``empty``).
    """
    submission = unpack(fetched.body)
    walk = Walk(submission, COMMANDS, ENVIRONMENTS, THEOREMS)
    walk.run()
    walk.end_document()
    complete_list(walk)
    read_title_page(walk)
    markdown = without_long_blanks(filled(walk, "\n\n".join(_parts(walk)))).strip()
    if not markdown:
        msg = f"The source from {fetched.source} has no text."
        raise BadContent(msg, verdict="empty")
    title = without_markup(filled(walk, walk.front.title)).replace("*", "")
    found = measure(markdown)
    lost = "the source ends in the middle" if submission.cut_off else ""
    if walk.missing_file:
        lost = f"the text reads in {walk.missing_file!r}, which is not among the source's files"
    if walk.incomplete or walk.stream.left <= 0:
        lost = "its files or macros call each other without end"
    return Document(
        markdown=f"{markdown}\n",
        title=title,
        abstract=_without_notes(filled(walk, "\n\n".join(walk.front.abstract))) or found.abstract,
        authors=_families(filled(walk, "\x00".join(walk.front.authors))),
        ids=Ids.maybe(walk.front.doi),
        license=fetched.license,
        retracted=bool(re.match(r"\W*(?:retracted|withdrawn)\b", title, re.I)),
        body_words=found.body_words,
        headings=found.headings,
        references=len(walk.bibliography.entries),
        verdict="partial" if lost else "full_text",
        evidence=lost,
    )


def _without_notes(text: str) -> str:
    return _NOTE.sub("", text).strip()


def _parts(walk: Walk) -> list[str]:
    """The blocks of the paper in the house's order."""
    front = walk.front
    parts = [f"# {front.title}"] if front.title else []
    if front.abstract:
        parts += ["## Abstract", *front.abstract]
    parts += [f"**Keywords:** {front.keywords}"] if front.keywords else []
    opens = next(iter(walk.blocks), "#")
    if front.abstract and not opens.startswith("#"):
        parts.append("## Main text")  # or it would read as the end of the abstract
    parts += walk.blocks
    if entries := walk.bibliography.entries.values():
        parts.append("## References")
        parts.append("\n".join(f"{number}. {text}" for number, text in enumerate(entries, 1)))
    return parts


def _families(authors: str) -> tuple[str, ...]:
    r"""Family names out of what authors wrote into ``\author``."""
    families: list[str] = []
    addresses = False  # after a line break within one author's entry
    for piece in authors.split("\x00"):
        if not piece:
            addresses = False
        elif piece == "\n":
            addresses = bool(families)
        elif not addresses:
            families += families_in(_MARKS.sub("", without_markup(piece)))
    return tuple(families[:_MOST_AUTHORS])


def read_title_page(walk: Walk) -> None:
    """Find title and authors where the paper names none, and take their page out of the text."""
    if walk.front.title:
        return
    for at, block in enumerate(walk.blocks[:_FIRST_BLOCKS]):
        if block.startswith("#"):
            return
        found = _LARGE.search(block) or (_BOLD.match(block) if not at else None)
        title = tidy(_TITLE_MARKS.sub("", found[1])) if found else ""
        if found and len(title.split()) in _TITLE_WORDS:
            walk.front.title = title
            _remove_title_page(walk, at, block[: found.start()], block[found.end() :])
            return


def _remove_title_page(walk: Walk, at: int, before: str, after: str) -> None:
    """Find the authors after the title, and drop the blocks up to theirs."""
    lines = [(at, line) for line in after.split(LINE)]
    for place in range(at + 1, min(at + _LINES_BETWEEN, len(walk.blocks))):
        if walk.blocks[place].startswith("#"):
            break
        lines += [(place, line) for line in walk.blocks[place].split(LINE)]
    lines = [(place, line) for place, line in lines if line.strip(" *")]
    last = at
    if not walk.front.authors:
        for place, line in lines[:_LINES_BETWEEN]:
            names = without_markup(_RAISED.sub("", _TITLE_MARKS.sub("", line)))
            if families_in(names):
                walk.front.authors, last = [names, ""], place
                break
    page = " ".join([before, after, *walk.blocks[at + 1 : last + 1]])
    if len(page.split()) <= _MOST_WORDS:
        del walk.blocks[at : last + 1]
    else:
        walk.blocks[at] = tidy(f"{before} {after}")
