"""``letters/``: to each author whose paper could not be had, a letter that asks for a copy.

Text files, one a paper, to be read, changed and sent by a person; nothing is sent by us. An address
is one that the paper's own record prints with an author's affiliation (PubMed: *Electronic address:
…*); without one the letter has no ``To:``. A letter that lies there already stays as it is: its
reader may have changed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..citations import citation_key, cite
from ..model.job import Harvested
from ..model.paper import Author, Paper
from ..outline.words import folded
from ..system.plain_text import clean_text, one_line
from ..system.safe_files import make_folder, write_new
from .worklist import to_fetch

LETTERS = "letters"
_ADDRESS = re.compile(
    r"(?<![\w.+%'@-])[a-z0-9][\w.+%'-]{0,63}@(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}[a-z]{2,24}(?![\w@-])",
    re.I | re.A,
)
_LONGEST = 4000  # characters of an affiliation
_TITLE, _CITATION = 150, 1200  # characters
_PAPERS = 200  # whose citations are made at a time
_LETTER = """\
{to}Subject: Request for a copy of "{title}"

Dear {author},

I would like to read this paper of yours, and found no copy that is open to me:

    {citation}

Could you send me one? The published PDF or your accepted manuscript would both help, as would a
link to a repository. It is for my own reading.

Many thanks, and kind regards

[your name]
[your institution]
{sender}
"""


@dataclass(frozen=True, slots=True)
class Letters:
    """What was written: the folder, and how many letters are new, had an address, lay there."""

    folder: Path
    written: int = 0
    addressed: int = 0
    kept: int = 0


def write_letters(rows: Iterable[Harvested], folder: Path, sender: str = "") -> Letters:
    """Write a letter for every paper a person has to fetch of which authors and title are known.

    Parameters
    ----------
    rows : iterable of Harvested
        The papers of a harvest.
    folder : Path
        That of its report.
    sender : str, optional
        The address that stands below the letter.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    papers = [row.paper for row in rows if to_fetch(row) and row.paper.title and row.paper.authors]
    make_folder(folder / LETTERS)
    written = addressed = 0
    for start in range(0, len(papers), _PAPERS):
        some = papers[start : start + _PAPERS]
        for paper, citation in zip(some, cite(some, "vancouver"), strict=True):
            text = letter(paper, citation, sender)
            if write_new(folder / LETTERS / file_name(paper), text.encode("utf-8", "replace")):
                written += 1
                addressed += text.startswith("To: ")
    return Letters(folder / LETTERS, written, addressed, len(papers) - written)


def file_name(paper: Paper) -> str:
    """Author, year, first word, and an identifier: as people look for a letter.

    >>> from ..model.identifiers import Ids
    >>> file_name(Paper(Ids(doi="10.1/a"), "Moss", authors=(Author("Łoś"),), published="2019"))
    'los2019moss_10.1_a.txt'
    """
    name = paper.ids.pmid or paper.ids.key.partition(":")[2]
    return f"{citation_key(paper)}_{re.sub(r'[^A-Za-z0-9.-]', '_', name)[:80]}.txt"


def letter(paper: Paper, citation: str, sender: str) -> str:
    """The letter; whatever comes from outside is one line, and cannot add a head of its own."""
    author, address = correspondent(paper)
    return _LETTER.format(
        to=f"To: {address}\n" if address else "",
        title=_brief(paper.title.rstrip(". "), _TITLE),
        author=_brief(author.name, _TITLE) if author else "colleagues",
        citation=_brief(citation, _CITATION),
        sender=sender or "[your address]",
    )


def correspondent(paper: Paper) -> tuple[Author | None, str]:
    """The author with a known address, and it; of several, the first whose address names them."""
    found = [
        (author, address[0])
        for author in paper.authors
        for place in author.affiliations
        for address in _ADDRESS.finditer(place[:_LONGEST])
    ]
    named = (pair for pair in found if _names(*pair))
    return next(named, found[0] if found else (None, ""))


def _names(author: Author, address: str) -> bool:
    """Whether an address has the family name before its @."""
    family = "".join(folded(author.family))
    return bool(family) and family in "".join(folded(address.partition("@")[0]))


def _brief(text: str, most: int) -> str:
    line = one_line(clean_text(text))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
