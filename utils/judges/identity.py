"""Judge whether a text is the paper that was asked for.

Identifiers decide where both sides have them; otherwise titles, authors and abstracts are compared,
and none of them convinces alone if another speaks against it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..model.paper import Document, Paper
from ..model.verdicts import Sign
from ..outline.words import folded, shingles
from .likeness import (
    amends,
    authors_shared,
    contained,
    is_notice,
    opens_with,
    telling_words,
    title_likeness,
)

Answer = Literal["same", "other", "unknown"]
# Likeness of titles and texts, 0 to 1.
SAME_TITLE = 0.88
NEAR_TITLE = 0.6  # with authors or abstract agreeing: a title changed between versions
SAME_ABSTRACT = 0.5  # of the abstract's four-word runs; two papers of one group share a tenth
SOME_ABSTRACT = 0.25
TELLING = 3  # words; "Editorial" and "In this issue" name no paper
SOME_AUTHORS = 0.5  # of the first six
OPENING = 6000  # characters in which a text says what it is
ANNOUNCED = 600  # characters in which a correction says that it is one


@dataclass(frozen=True, slots=True)
class Identity:
    """Whether a text is the paper asked for, and the evidence in one line.

    ``signs`` are doubts about a text that is the same paper; `.check.judge` weighs them.
    """

    answer: Answer
    evidence: str
    signs: tuple[Sign, ...] = ()


def identify(document: Document, paper: Paper) -> Identity:
    """Judge whether *document* is a text of *paper*."""
    another = bool(document.pages) and _is_about_another(document, paper)
    if document.ids.shares(paper.ids) and not another:
        shared = next(name for name in document.ids.names() if name in paper.ids.names())
        return Identity("same", f"it names itself {shared}")
    clash = document.ids.clash(paper.ids)
    if not (paper.title or paper.abstract):
        return Identity("other", clash or "no identifier in common and no title to compare")
    likeness = _compare(document, paper)
    evidence = f"{likeness}; it names {clash}" if clash else str(likeness)
    if another:
        return Identity("other", f"{evidence}; it is a correction of another paper")
    if document.pages and _prints_doi(document, paper) and _plausible(likeness, document, paper):
        return Identity("same", f"{likeness}; doi:{paper.ids.doi} is printed in it")
    return Identity("same" if _is_same(likeness, bool(clash)) else "other", evidence)


def _is_about_another(document: Document, paper: Paper) -> bool:
    """Whether a PDF is a correction, and the paper asked for is none.

    Identifiers in a PDF are read off its first page, and a correction prints those of the paper
    it corrects.
    """
    return amends(document.markdown[:ANNOUNCED]) and not is_notice(paper.title)


def _prints_doi(document: Document, paper: Paper) -> bool:
    edges = document.markdown[:OPENING] + document.markdown[-OPENING:]
    return bool(paper.ids.doi) and paper.ids.doi in re.sub(r"\s+", "", edges).lower()


def _plausible(likeness: _Likeness, document: Document, paper: Paper) -> bool:
    if is_notice(paper.title) and amends(document.markdown[:ANNOUNCED]):
        return True
    return likeness.title >= NEAR_TITLE or (likeness.authors or 0.0) >= SOME_AUTHORS


@dataclass(frozen=True, slots=True)
class _Likeness:
    """What text and record have in common, 0 to 1; None where either says nothing."""

    title: float
    telling: bool
    authors: float | None
    abstract: float | None

    def __str__(self) -> str:
        parts = [f"title {self.title:.0%} alike"]
        if self.authors is not None:
            parts.append(f"{self.authors:.0%} of the authors")
        if self.abstract is not None:
            parts.append(f"{self.abstract:.0%} of the abstract")
        return ", ".join(parts)


def _compare(document: Document, paper: Paper) -> _Likeness:
    opening = document.markdown[:OPENING]
    titles = [title for title in (paper.title, paper.vernacular_title) if title]
    title = max((title_likeness(ours, document.title) for ours in titles), default=0.0)
    notice = is_notice(document.title) and not any(is_notice(ours) for ours in titles)
    if not notice and any(opens_with(opening, ours) for ours in titles):
        title = 1.0
    families = tuple(author.family or author.collective for author in paper.authors)
    authors = authors_shared(families, document.authors, opening) if families else None
    text = shingles(folded(f"{document.abstract}\n{opening}"))
    abstracts = [paper.abstract, *(text for _, text in paper.other_abstracts)]
    alike = [contained(ours, text) for ours in abstracts if len(ours) > 200]
    telling = any(telling_words(ours) >= TELLING for ours in titles)
    return _Likeness(title, telling, authors, max(alike) if alike else None)


def _is_same(likeness: _Likeness, clash: bool) -> bool:
    """Weigh the likenesses; a title alone convinces only when it tells and nothing speaks against.

    With another DOI on the text (a preprint, a translation, or another paper of the same name)
    authors or abstract must agree as well.
    """
    abstract, authors = likeness.abstract or 0.0, likeness.authors or 0.0
    if abstract >= SAME_ABSTRACT and (
        likeness.title >= NEAR_TITLE or authors >= SOME_AUTHORS or not clash
    ):
        return True
    if likeness.title >= SAME_TITLE:
        if not likeness.telling or clash:
            return authors >= SOME_AUTHORS or abstract >= SOME_ABSTRACT
        return True
    return (
        likeness.title >= NEAR_TITLE
        and likeness.telling
        and authors >= SOME_AUTHORS
        and (abstract >= SOME_ABSTRACT or (likeness.abstract is None and not clash))
    )
