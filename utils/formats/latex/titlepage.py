"""Title and authors of a paper that sets its title page by hand, as PLOS' template does.

The title is what is set large before the first heading, or else a first line all in bold; the
authors stand in the next line that holds names.
"""

from __future__ import annotations

import re
from typing import Final

from ...judges.bylines import families_in
from ...outline.words import without_markup
from ..jats.text import tidy
from .signs import LARGE, LINE
from .walk import Walk

_LARGE: Final = re.compile(f"{LARGE[0]}([^{LARGE[0]}{LARGE[1]}]{{1,600}}){LARGE[1]}")
_BOLD: Final = re.compile(r"\*\*([^*]{10,400})\*\*")
_MARKS: Final = re.compile(f"[{LARGE[0]}{LARGE[1]}{LINE}]|\\*\\*")
_RAISED: Final = re.compile(r"<sup>.*?</sup>|\$[^$]*\$|[*\\]|\[[^\]]*\]")
_FIRST_BLOCKS: Final = 6
_LINES_BETWEEN: Final = 4  # title and authors
_TITLE_WORDS: Final = range(3, 60)
_MOST_WORDS: Final = 150  # on a title page


def read_title_page(walk: Walk) -> None:
    """Find title and authors where the paper names none, and take their page out of the text."""
    if walk.front.title:
        return
    for at, block in enumerate(walk.blocks[:_FIRST_BLOCKS]):
        if block.startswith("#"):
            return
        found = _LARGE.search(block) or (_BOLD.match(block) if not at else None)
        title = tidy(_MARKS.sub("", found[1])) if found else ""
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
            names = without_markup(_RAISED.sub("", _MARKS.sub("", line)))
            if families_in(names):
                walk.front.authors, last = [names, ""], place
                break
    page = " ".join([before, after, *walk.blocks[at + 1 : last + 1]])
    if len(page.split()) <= _MOST_WORDS:
        del walk.blocks[at : last + 1]
    else:
        walk.blocks[at] = tidy(f"{before} {after}")
