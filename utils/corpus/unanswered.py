"""Warn when the passages found probably do not answer the question.

Some passage is always the nearest, even to a question that no paper in the corpus is about. A
warning is given when no passage has more than half of the question's words (more than three words
of a long question), and no passage is near in meaning. `quality/benchmarks/corpus_unanswered.py`
measures both thresholds and their error rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..outline.terms import to_index_terms, to_query_terms

if TYPE_CHECKING:
    from .search import ScoredPassage

MIN_ANSWER_COSINE = {"all-MiniLM-L6-v2": 0.4}
"""Minimum cosine of an answer, by model. For a model without an entry, words alone decide."""
_ENOUGH_SHARED_WORDS = 3  # shared words that suffice for a long question
_MAX_LISTED_WORDS = 8  # missing words that a warning lists
SYNC_ADVICE = f"sync records about it ({command_line('corpus sync')})"
"""The advice for adding papers to a corpus."""


def build_no_hits_message(more: str = SYNC_ADVICE) -> str:
    """Return the message for a search without filters that found no passage."""
    return f"No passage has any of these words. {_suggest_next_step(more)}"


def _suggest_next_step(more: str) -> str:
    return f"Ask in other words, or {more}."


def build_doubt_warning(
    question: str, found: Sequence[ScoredPassage], model: str = "", more: str = SYNC_ADVICE
) -> str:
    """Return a warning if the passages probably do not answer the question; "" if they may.

    Parameters
    ----------
    question : str
        What was asked.
    found : sequence
        All passages that are shown.
    model : str, optional
        The model whose vectors ``sim`` compares.
    more : str, optional
        The advice for adding more to search.
    """
    words = to_query_terms(question)
    if not (words and found):
        return ""
    nearest = max((one.sim for one in found if one.sim is not None), default=None)
    near = next((line for name, line in MIN_ANSWER_COSINE.items() if name in model), None)
    if nearest is not None and near is not None and nearest >= near:
        return ""
    enough, most, seen = min(len(words) / 2, _ENOUGH_SHARED_WORDS), 0, set[str]()
    for one in found:
        held = set(to_index_terms(one.passage.embedding_text).split()).intersection(words)
        if len(held) > enough:
            return ""
        seen |= held
        most = max(most, len(held))
    part = f"more than {most} of the {len(words)} words" if most else "any word"
    warning = f"Perhaps nothing here answers this: no passage has {part} asked for"
    warning += _list_missing_words(question, seen)
    if nearest is not None and near is not None:
        warning += (
            f", and the nearest in meaning has a similarity of {nearest:.2f} (answers: {near:g}"
        )
        warning += " and more)"
    return f"{warning}. {_suggest_next_step(more)}"


def _list_missing_words(question: str, seen: set[str]) -> str:
    """Return the words of the question that no passage contains, as the user wrote them."""
    words = dict.fromkeys(word.strip("?!.,;:\"'()") for word in question.split())
    absent = [
        word for word in words if (terms := to_query_terms(word)) and not seen.intersection(terms)
    ]
    telling = [
        word for word in absent if set(to_query_terms(word)) & set(to_query_terms(question))
    ][:_MAX_LISTED_WORDS]
    return f" (none has {', '.join(telling)})" if telling else ""
