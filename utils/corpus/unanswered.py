"""Whether passages that were found may answer the question at all.

Some passage is always the nearest, also to a question that nothing in the corpus is about. So it is
said where the best have little to do with it: none has more than half of its words (of a long one,
more than three), and none is near in meaning. Where both lines lie, and how often they err:
`quality/benchmarks/corpus_unanswered.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..outline.terms import asked, indexed

if TYPE_CHECKING:
    from .search import ScoredPassage

NEAR = {"all-MiniLM-L6-v2": 0.4}
"""Cosines are no common scale: by models whose own is not known here, words alone decide."""
_FEW = 3  # words of a long question: papers are named by more
_NAMED = 8  # words that are nowhere
SYNC = f"sync records about it ({command_line('corpus sync')})"
"""How a corpus comes to have more."""


def nothing_found(more: str = SYNC) -> str:
    """What to do where no passage was found, and no filter is the reason (`.search`)."""
    return f"No passage has any of these words. {_next(more)}"


def _next(more: str) -> str:
    return f"Ask in other words, or {more}."


def doubt(question: str, found: Sequence[ScoredPassage], model: str = "", more: str = SYNC) -> str:
    """What speaks against an answer in *found*, as a sentence; empty where it may well be there.

    Parameters
    ----------
    question : str
        What was asked.
    found : sequence
        All that is shown of what was found.
    model : str, optional
        Whose vectors ``sim`` compares.
    more : str, optional
        How there would be more to search.
    """
    words = asked(question)
    if not (words and found):
        return ""
    nearest = max((one.sim for one in found if one.sim is not None), default=None)
    near = next((line for name, line in NEAR.items() if name in model), None)
    if nearest is not None and near is not None and nearest >= near:
        return ""
    enough, most, seen = min(len(words) / 2, _FEW), 0, set[str]()
    for one in found:
        held = set(indexed(one.passage.embedding_text).split()).intersection(words)
        if len(held) > enough:
            return ""
        seen |= held
        most = max(most, len(held))
    part = f"more than {most} of the {len(words)} words" if most else "any word"
    told = f"Perhaps nothing here answers this: no passage has {part} asked for"
    told += _nowhere(question, seen)
    if nearest is not None and near is not None:
        told += f", and the nearest in meaning has a similarity of {nearest:.2f} (answers: {near:g}"
        told += " and more)"
    return f"{told}. {_next(more)}"


def _nowhere(question: str, seen: set[str]) -> str:
    """The words of the question that no passage has, as they were written."""
    words = dict.fromkeys(word.strip("?!.,;:\"'()") for word in question.split())
    absent = [word for word in words if (terms := asked(word)) and not seen.intersection(terms)]
    telling = [word for word in absent if set(asked(word)) & set(asked(question))][:_NAMED]
    return f" (none has {', '.join(telling)})" if telling else ""
