"""Compare a text with other copies of its paper, and with other papers of its journal.

A truncated text reads well up to its end. Another copy shows what is missing: a page that was
rejected as partial, or the shelf's text from another route or version. Nothing is fetched for a
comparison: `..download.ladder` passes the copies of earlier routes and of the shelf; `verify`
passes none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from ..model.paper import Document, Version
from ..model.verdicts import DOUBT, WEAK, ComparisonData, Sign, TextCopy
from ..outline.sections import (
    is_conclusion_title,
    is_methods_title,
    is_results_title,
    iterate_headings_and_paragraphs,
    measure_text,
)
from . import thresholds as limits

_PARTS: Final = (
    ("methods", is_methods_title),
    ("results", is_results_title),
    ("a conclusion", is_conclusion_title),
)

# PubMed's publication types of papers that are short by their kind.
SHORT_KINDS: Final = frozenset((
    "Address", "Autobiography", "Bibliography", "Biography", "Comment", "Congress", "Editorial",
    "Festschrift", "Interview", "Introductory Journal Article", "Lecture", "Letter",
    "Meeting Abstract", "News", "Newspaper Article", "Patient Education Handout",
    "Personal Narrative", "Portrait",
))  # fmt: skip


def get_comparable_article_type(publication_types: Iterable[str]) -> str:
    """Return the article type within which a journal's papers are compared; ``short`` is not.

    >>> [get_comparable_article_type(types) for types in (["Systematic Review"], ["Letter"], [])]
    ['review', 'short', 'research']
    """
    if not SHORT_KINDS.isdisjoint(publication_types):
        return "short"
    return "review" if any("Review" in kind for kind in publication_types) else "research"


def measure_copy(markdown: str, via: str, version: Version) -> TextCopy:
    r"""Return the numbers of words and references, and the sections, of another copy of a text.

    >>> measure_copy("# Bees\n\n## Results\n\nThey flew.", "jina", "").sections
    ('Results',)
    """
    counted = measure_text(markdown)
    return TextCopy(
        via,
        version,
        counted.body_words,
        counted.references,
        _find_filled_section_headings(markdown),
    )


def find_comparison_signs(document: Document, comparison: ComparisonData) -> Iterator[Sign]:
    """Yield the signs that a text lacks parts of another copy, or is short for its journal."""
    for copy in comparison.copies:
        yield from _find_copy_signs(document, copy)
    yield from _find_journal_signs(document.body_words, comparison.journal_words)


def _find_copy_signs(document: Document, copy: TextCopy) -> Iterator[Sign]:
    """Yield the signs from one other copy; the counts of a preprint weigh less for its article."""
    is_same_version = (document.version or "published") == (copy.version or "published")
    theirs = f"the copy from {copy.via}"
    if document.body_words < limits.COPY_WORDS_SHARE * copy.words:
        words = f"{document.body_words} words; {theirs} has {copy.words}"
        yield Sign("shorter copy", DOUBT if is_same_version else WEAK, words)
    ours = _find_filled_section_headings(document.markdown)
    lost = [
        name for name, is_part in _PARTS if _is_missing_part_of_copy(ours, copy.sections, is_part)
    ]
    if lost:
        yield Sign("parts of a copy", DOUBT, f"{lost[0]} missing, which {theirs} contains")
    if (
        copy.references >= limits.LONG_LIST_REFERENCES
        and document.references < limits.RECORDED_REFERENCES_SHARE * copy.references
    ):
        words = f"lists {document.references} references; {theirs} lists {copy.references}"
        yield Sign("unrecorded", DOUBT if is_same_version else WEAK, words)


def _find_filled_section_headings(markdown: str) -> tuple[str, ...]:
    """Return the headings of the body's sections that contain text."""
    found = []
    heading = ""
    for part, level, text in iterate_headings_and_paragraphs(markdown):
        if heading and not level and part == "body":
            found.append(heading)
        heading = text if level and part == "body" else ""
    return tuple(found)


def _is_missing_part_of_copy(
    ours: Sequence[str], theirs: Sequence[str], is_part: Callable[[str], bool]
) -> bool:
    """Return whether a text with headings lacks a part that another copy has."""
    is_divided = len(ours) >= limits.COPY_MIN_SECTIONS
    return is_divided and any(map(is_part, theirs)) and not any(map(is_part, ours))


def _find_journal_signs(words: int, others: Sequence[int]) -> Iterator[Sign]:
    """Yield a sign if the text is short among the journal's other papers of the same type."""
    if len(others) < limits.JOURNAL_MIN_PAPERS:
        return
    shortest = min(others)
    if words < limits.JOURNAL_SHORTEST_SHARE * shortest:
        text = (
            f"{words} words; the shortest of {len(others)} other papers in this journal has "
            f"{shortest}"
        )
        yield Sign("short for the journal", WEAK, text)
