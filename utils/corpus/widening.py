"""Other words for a question: what its terms are also called, in the corpus or NLM's lists.

Who asks for *TNF* means papers that write *tumor necrosis factor*, too. So a question is asked
again with each such term exchanged, three times at most, and a passage counts by the wording that
it answers best: what was not in the question itself by nine tenths
(`quality.benchmarks.corpus_retrieval`). Every other wording stands in the answer.

The terms: abbreviations as texts of the corpus introduce them, MeSH's headings and entry terms, and
the names of genes, the latter two as far as somebody had them learned (`..readers.nlm_lists`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model.passage import Hit
from ..passages.terms import COMMON, asked

MOST = 3
WEIGHT = 0.9
_WORDS, _SPAN = 40, 8  # words of a question that are looked at, and of one term
_SHORT = 4  # letters: written small such a word is rarely an abbreviation (all, can, map)
_MARKS = ".,;:?!()[]\"'“”‘’"
Named = Callable[[Sequence[str]], Mapping[str, Sequence[tuple[str, int]]]]
"""By form (`term_form`): what else it is called, and by how many texts; the most frequent first."""


class Wording(NamedTuple):
    """A question in other words: what was exchanged, for what, and the whole."""

    term: str
    other: str
    question: str


def term_form(text: str) -> str:
    """A term as names are kept by: folded; empty where it says nothing.

    >>> term_form("Tumour necrosis factors"), term_form("in")
    ('tumour necrosi factor', '')
    """
    terms = asked(text)
    return " ".join(terms) if any(term not in COMMON for term in terms) else ""


def wordings(question: str, named: Named) -> list[Wording]:
    """The question with each of its terms exchanged for what it is also called, the likeliest."""
    words = question.split()[:_WORDS]
    spans = {
        (start, start + size): form
        for size in range(min(_SPAN, len(words)), 0, -1)
        for start in range(len(words) - size + 1)
        if (form := _form_of(words[start : start + size]))
    }
    known = named(list(dict.fromkeys(spans.values())))
    found = [
        (place, -papers, span, other)
        for span in _longest(span for span, form in spans.items() if known.get(form))
        for place, (other, papers) in enumerate(_unlike(spans[span], known[spans[span]]))
    ]
    return [
        Wording(
            " ".join(words[slice(*span)]).strip(_MARKS),
            other,
            " ".join([*words[: span[0]], other, *words[span[1] :]]),
        )
        for _, _, span, other in sorted(found)[:MOST]
    ]


def _form_of(words: Sequence[str]) -> str:
    """The form of some words; empty where they begin or end with a word that says nothing."""
    if not (term_form(words[0]) and term_form(words[-1])):
        return ""
    text = " ".join(words).strip(_MARKS)
    is_plain = len(words) == 1 and len(text) <= _SHORT and text.isalpha() and text[1:].islower()
    return "" if is_plain else term_form(text)


def _longest(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of spans, the long ones first, those that overlap none before."""
    taken: set[int] = set()
    for start, end in spans:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            yield start, end


def _unlike(form: str, names: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The first of each names that fold alike, none that folds as the term itself."""
    seen = {form}
    for name, papers in names:
        if (other := term_form(name)) and other not in seen:
            seen.add(other)
            yield name, papers


def combined(found: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """One list of the hits of a question and of its other wordings, the best *limit*."""
    best: dict[str, Hit] = {}
    for number, hits in enumerate(found):
        for hit in hits:
            score = hit.score * (WEIGHT if number else 1.0)
            known = best.get(hit.uuid)
            if known is None or score > known.score:
                best[hit.uuid] = Hit(hit.uuid, hit.paper, score, hit.sim, hit.bm25)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.uuid))[:limit]
