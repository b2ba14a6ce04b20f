"""Which of two readings of the same bytes is the better text, by the evidence of the judges.

Both were accepted as the whole of the paper. The other one is preferred where it has nothing
markedly less and something markedly more of what the judges count: running text, sections with
text under them, references, citations of these, figures and tables with a caption, rows of tables.
And it must be a reading of the same bytes: most of its runs of words stand in the first one, too.
"""

from __future__ import annotations

import re

from ..model.paper import Document, Paper
from ..outline.words import folded, shingles
from .evidence import gather
from .likeness import contained

_MARKED = 0.1
"""Of the larger count: one that differs by less is the same."""
_FEW = 2
"""Counts that differ by no more are the same: a heading may be taken either way."""
SAME_TEXT = 0.5
"""Of the other reading's runs of four words; of another paper's text, hardly any are the same."""
_ROW = re.compile(r"^\|(?![\s:|-]+\|?$).*\|$", re.M)
_PROSE = "words of text"


def why_preferred(other: Document, first: Document, paper: Paper) -> str:
    """Why *other* is the better reading, in words; empty where it is not."""
    known = shingles(folded(first.markdown))
    if contained(other.markdown, known) < SAME_TEXT:
        return ""
    counts = [(what, _counts(other, paper)[what], n) for what, n in _counts(first, paper).items()]
    if any(_more(there, here, what) for what, here, there in counts):
        return ""
    gains = [
        f"{here} {what} to {there}" for what, here, there in counts if _more(here, there, what)
    ]
    return ", ".join(gains)


def _more(one: int, than: int, what: str) -> bool:
    """Whether a count is markedly more than another."""
    few = 0 if what == _PROSE else _FEW
    return one - than > max(few, _MARKED * one)


def _counts(document: Document, paper: Paper) -> dict[str, int]:
    found = gather(document, paper, paper.abstract or document.abstract)
    return {
        _PROSE: found.prose,
        "sections": found.filled,
        "references": found.listed,
        "references cited": len(found.cited),
        "figures and tables": len(found.captions),
        "rows of tables": len(_ROW.findall(document.markdown)),
    }
