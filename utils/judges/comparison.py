"""Compare a text with other copies of its paper, and with other papers of its journal.

A text that was cut reads well as far as it goes. Another copy shows what is missing: a page that
was refused as a part, the text that the shelf has of another route or version. Nothing is fetched
to compare: `..download.ladder` passes what it has seen and what the shelf has; `verify` passes
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from ..model.paper import Document, Version
from ..model.verdicts import DOUBT, WEAK, Comparison, Copy, Sign
from ..outline.sections import is_conclusion, is_methods, is_results, measure_text, split_parts
from . import thresholds as limits

_PARTS: Final = (("methods", is_methods), ("results", is_results), ("a conclusion", is_conclusion))

# PubMed's publication types of papers that are short by their kind.
SHORT_KINDS: Final = frozenset((
    "Address", "Autobiography", "Bibliography", "Biography", "Comment", "Congress", "Editorial",
    "Festschrift", "Interview", "Introductory Journal Article", "Lecture", "Letter",
    "Meeting Abstract", "News", "Newspaper Article", "Patient Education Handout",
    "Personal Narrative", "Portrait",
))  # fmt: skip


def get_article_kind(publication_types: Iterable[str]) -> str:
    """Return which papers of a journal a paper is compared with; ``short`` ones with none.

    >>> get_article_kind(["Systematic Review"]), get_article_kind(["Letter"]), get_article_kind([])
    ('review', 'short', 'research')
    """
    if not SHORT_KINDS.isdisjoint(publication_types):
        return "short"
    return "review" if any("Review" in kind for kind in publication_types) else "research"


def describe_copy(markdown: str, via: str, version: Version) -> Copy:
    r"""Count words, references and sections of a copy.

    >>> describe_copy("# Bees\n\n## Results\n\nThey flew.", "jina", "").sections
    ('Results',)
    """
    counted = measure_text(markdown)
    return Copy(
        via, version, counted.body_words, counted.references, _find_section_headings(markdown)
    )


def find_signs(document: Document, comparison: Comparison) -> Iterator[Sign]:
    """Yield the signs that a text lacks what another copy has, or is short for its journal."""
    for copy in comparison.copies:
        yield from _compare_with_copy(document, copy)
    yield from _compare_with_journal(document.body_words, comparison.journal_words)


def _compare_with_copy(document: Document, copy: Copy) -> Iterator[Sign]:
    """Compare with one copy; a preprint and its article may differ, so that counts weigh less."""
    is_same_version = (document.version or "published") == (copy.version or "published")
    theirs = f"the copy from {copy.via}"
    if document.body_words < limits.COPY_WORDS_SHARE * copy.words:
        words = f"{document.body_words} words; {theirs} has {copy.words}"
        yield Sign("shorter copy", DOUBT if is_same_version else WEAK, words)
    ours = _find_section_headings(document.markdown)
    lost = [name for name, is_part in _PARTS if _lacks_part(ours, copy.sections, is_part)]
    if lost:
        yield Sign("parts of a copy", DOUBT, f"{lost[0]} missing, which {theirs} contains")
    if (
        copy.references >= limits.LONG_LIST_REFERENCES
        and document.references < limits.RECORDED_REFERENCES_SHARE * copy.references
    ):
        words = f"lists {document.references} references; {theirs} lists {copy.references}"
        yield Sign("unrecorded", DOUBT if is_same_version else WEAK, words)


def _find_section_headings(markdown: str) -> tuple[str, ...]:
    """Return the headings of the body that have text under them."""
    found = []
    heading = ""
    for part, level, text in split_parts(markdown):
        if heading and not level and part == "body":
            found.append(heading)
        heading = text if level and part == "body" else ""
    return tuple(found)


def _lacks_part(ours: Sequence[str], theirs: Sequence[str], is_part: Callable[[str], bool]) -> bool:
    """Return whether a text that is divided by headings lacks a part that a copy has."""
    is_divided = len(ours) >= limits.COPY_MIN_SECTIONS
    return is_divided and any(map(is_part, theirs)) and not any(map(is_part, ours))


def _compare_with_journal(words: int, others: Sequence[int]) -> Iterator[Sign]:
    """Compare the length with the journal's other papers of the same kind."""
    if len(others) < limits.JOURNAL_MIN_PAPERS:
        return
    shortest = min(others)
    if words < limits.JOURNAL_SHORTEST_SHARE * shortest:
        text = (
            f"{words} words; the shortest of {len(others)} other papers in this journal has "
            f"{shortest}"
        )
        yield Sign("short for the journal", WEAK, text)
