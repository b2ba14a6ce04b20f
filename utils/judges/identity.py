"""Judge whether a text is the paper that was asked for.

Rules, in this order:

1. An identifier of the paper on the text decides, unless the titles or the body speak for another
   paper; one of these alone makes a doubt.
2. Marks of the titles that differ (*Part II*, *phase 3*, *protocol*, *Correction*) are two papers.
3. A body that is not about the abstract is another paper's.
4. A different DOI (of a preprint, a translation or another paper) needs the wording of the abstract
   on its side; authors do not excuse it.
5. A title with one telling word exchanged (*men*, *women*) needs the wording of the abstract, too.
6. Otherwise the same title suffices, unless both abstracts are there and differ; a title that
   changed needs authors and abstract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from ..model.paper import Document, Paper
from ..model.verdicts import DOUBT, REFUSE, Sign
from ..model.versions import PREPRINT_DOI
from ..outline.sections import blocks
from ..outline.words import count_words, folded, shingles
from .agreement import find_other_body, is_same_language
from .likeness import authors_shared, contained
from .titles import (
    TitleDifference,
    amends,
    compare,
    is_notice,
    prints_title,
    telling_words,
    title_likeness,
)

Answer = Literal["same", "other", "unknown"]
# Likeness of titles and texts, 0 to 1.
SAME_TITLE: Final = 0.88
NEAR_TITLE: Final = 0.6  # with authors and abstract agreeing: a title changed between versions
# Of the abstract's four-word runs; two papers of one group share a tenth.
SAME_ABSTRACT: Final = 0.5
SOME_ABSTRACT: Final = 0.25
OTHER_ABSTRACT: Final = 0.1
SOME_AUTHORS: Final = 0.5  # of the first six
OTHER_AUTHORS: Final = 0.3
TELLING: Final = 3  # words; "Editorial" and "In this issue" name no paper
TELLING_ALONE: Final = 4  # where neither authors nor abstract agree
# Words that a report derived from a paper has in its title, as `.titles` spells them.
DERIVED: Final = frozenset((
    "analysi", "evaluation", "secondary", "hoc", "economic", "process", "qualitative", "extension",
    "perspective", "lesson", "subgroup", "response", "summary", "follow",
))  # fmt: skip
OPENING: Final = 6000  # characters in which a text says what it is
ANNOUNCED: Final = 600  # characters in which a correction says that it is one
COMPARED: Final = 200  # characters of an abstract at least
ABSTRACT: Final = 40  # words of an abstract at least
_HEADING: Final = re.compile(r"^# (.+)$", re.M)
_VERSION_DOI: Final = re.compile(r"(10\.12688/.+(?=\.\d)|.+(?=[./]v\d))[./]v?\d{1,2}")


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
    likeness = _Likeness(document, paper)
    clash = "" if _counts_versions(document, paper) else document.ids.clash(paper.ids)
    is_amendment = bool(document.pages) and _is_about_another(document, paper)
    if document.ids.shares(paper.ids) and not is_amendment:
        return _by_identifier(likeness)
    if not (paper.title or paper.abstract):
        return Identity("other", clash or "no identifier in common and no title to compare")
    evidence = f"{likeness}; it names {clash}" if clash else str(likeness)
    if is_amendment:
        return Identity("other", f"{evidence}; it is a correction of another paper")
    if likeness.difference.marks or likeness.other_body:
        return Identity("other", evidence)
    if document.pages and _prints_doi(document, paper) and _is_plausible(likeness):
        return Identity("same", f"{likeness}; doi:{paper.ids.doi} is printed in it")
    is_same = _agrees_despite_clash(likeness) if clash else _is_same(likeness)
    is_open = not (is_same or clash or likeness.is_other_abstract) and likeness.title >= NEAR_TITLE
    return Identity("same" if is_same else "unknown" if is_open else "other", evidence)


class _Likeness:
    """What text and record have in common, each measured when it is first asked for."""

    def __init__(self, document: Document, paper: Paper) -> None:
        self.document = document
        self.paper = paper
        self.opening = document.markdown[:OPENING]
        self.titles = [title for title in (paper.title, paper.vernacular_title) if title]

    @cached_property
    def difference(self) -> TitleDifference:
        """What the titles do not share, in the language in which they differ least."""
        if not self.document.title or self.is_printed or self.is_announced:
            return TitleDifference()
        told = [compare(ours, self.document.title) for ours in self.titles]
        return min(told, key=lambda one: (bool(one.marks), bool(one.swapped)), default=_NOTHING)

    @cached_property
    def headed(self) -> float:
        """How like the text's own title is, 0 to 1."""
        return max((title_likeness(ours, self.document.title) for ours in self.titles), default=0.0)

    @cached_property
    def is_printed(self) -> bool:
        """Whether the title stands in the opening of a text that does not have another title."""
        theirs = self.document.title
        if is_notice(theirs) > any(map(is_notice, self.titles)) or self.has_other_title:
            return False
        return any(prints_title(self.opening, ours) for ours in self.titles)

    @property
    def is_announced(self) -> bool:
        """Whether a notice was asked for, and a print is headed as one."""
        announces = bool(self.document.pages) and amends(self.opening[:ANNOUNCED])
        return announces and is_notice(self.paper.title)

    @cached_property
    def has_other_title(self) -> bool:
        """Whether the text's own title tells of another paper."""
        return self.headed < SAME_TITLE and self._is_other(self.document.title)

    @cached_property
    def has_other_heading(self) -> bool:
        """Whether the first heading is another title, and this one is printed nowhere."""
        heading = _HEADING.search(self.opening)
        agrees = (self.abstract or 0.0) >= SOME_ABSTRACT
        if heading is None or agrees or self.is_printed or self.is_other_language:
            return False
        return self._is_other(heading[1])

    @cached_property
    def is_other_language(self) -> bool:
        """Whether the record is in another language than the text, as of translated titles."""
        told = f"{self.paper.title} {self.paper.abstract}"
        return not is_same_language(folded(told), folded(self.opening))

    def _is_other(self, theirs: str) -> bool:
        told = [compare(ours, theirs) for ours in self.titles]
        is_title = bool(told) and telling_words(theirs) > TELLING
        return is_title and all(one.marks or one.swapped for one in told)

    @property
    def title(self) -> float:
        """How like the title is, wherever the text prints it."""
        return 1.0 if self.is_printed else self.headed

    @property
    def is_telling(self) -> bool:
        """Whether the title tells the paper from others; if nothing else agrees, by more words."""
        agrees = (self.authors or 0.0) >= SOME_AUTHORS or (self.abstract or 0.0) >= SOME_ABSTRACT
        least = TELLING if agrees else TELLING_ALONE
        return any(telling_words(ours) >= least for ours in self.titles)

    @cached_property
    def authors(self) -> float | None:
        """The share of the authors that the text names; None where the record has none."""
        families = tuple(author.family or author.collective for author in self.paper.authors)
        if not families:
            return None
        return authors_shared(families, self.document.authors, self.opening)

    @cached_property
    def abstract(self) -> float | None:
        """The share of the abstract's wording at the text's beginning; None without an abstract."""
        text = shingles(folded(f"{self.document.abstract}\n{self.opening}"))
        abstracts = [self.paper.abstract, *(text for _, text in self.paper.other_abstracts)]
        return max((contained(one, text) for one in abstracts if len(one) > COMPARED), default=None)

    @cached_property
    def is_other_abstract(self) -> bool:
        """Whether the text has an abstract in the record's language that differs from it."""
        own = self.document.abstract
        if self.abstract is None or self.abstract >= OTHER_ABSTRACT or count_words(own) < ABSTRACT:
            return False
        if own.count(_BULLET) >= _HIGHLIGHTS:  # which publishers print in front of the abstract
            return False
        return is_same_language(folded(self.paper.abstract), folded(own))

    @cached_property
    def other_body(self) -> Sign | None:
        """The sign that the body is about neither the record nor the text's own abstract."""
        text, paper = self.document, self.paper
        if paper.abstract:
            return find_other_body(text.markdown, paper.abstract, paper.title)
        by_title = find_other_body(text.markdown, "", paper.title)
        return by_title or find_other_body(text.markdown, text.abstract, "")

    @property
    def is_preprint_pair(self) -> bool:
        """Whether one DOI is that of a preprint server, the other that of a publisher."""
        dois = (self.paper.ids.doi, self.document.ids.doi)
        return all(dois) and sum(PREPRINT_DOI.match(doi) is not None for doi in dois) == 1

    @property
    def is_by_others(self) -> bool:
        """Whether the text names its authors, and they are others."""
        if self.authors is None or self.authors > OTHER_AUTHORS:
            return False
        return bool(self.document.authors)

    def __str__(self) -> str:
        parts = [f"title {self.title:.0%} alike"]
        if self.difference.marks or self.difference.swapped:
            parts.append(f"titles differ: {self.difference.marks or self.difference.swapped}")
        if self.authors is not None:
            parts.append(f"{self.authors:.0%} of the authors")
        if self.abstract is not None:
            parts.append(f"{self.abstract:.0%} of the abstract")
        if self.other_body:
            parts.append(self.other_body.words)
        return ", ".join(parts)


_BULLET: Final = "\u2022"
_HIGHLIGHTS: Final = 2  # bullets in what a text calls its abstract
_NOTHING: Final = TitleDifference()


def _by_identifier(likeness: _Likeness) -> Identity:
    """Judge a text with an identifier of the paper on it."""
    ours, theirs = likeness.paper.ids.names(), likeness.document.ids.names()
    evidence = f"it names itself {next(name for name in theirs if name in ours)}"
    signs = list(_find_signs(likeness))
    # A notice prints the identifiers of the paper that it is about.
    title = likeness.paper.title  # empty where only identifiers are known
    is_notice_of_it = title and is_notice(likeness.document.title) and not is_notice(title)
    if is_notice_of_it or sum(sign.weight for sign in signs) >= REFUSE:
        return Identity("other", "; ".join([evidence, *(sign.words for sign in signs)]))
    return Identity("same", evidence, tuple(signs))


def _find_signs(likeness: _Likeness) -> Iterator[Sign]:
    """Yield what speaks for another paper; none of 326 recorded texts of the paper has a sign."""
    if likeness.other_body:
        yield likeness.other_body
    if likeness.difference.marks and telling_words(likeness.document.title) >= TELLING:
        words = f"titles differ: {likeness.difference.marks}"
        yield Sign("title marks", DOUBT, words, "wrong_paper")
    elif likeness.has_other_heading:
        yield Sign("other heading", DOUBT, "the text is headed by another title", "wrong_paper")
    if likeness.is_other_abstract:
        yield Sign("other abstract", DOUBT, "the text has another abstract", "wrong_paper")


def _is_about_another(document: Document, paper: Paper) -> bool:
    """Return whether a PDF is a correction, and the paper asked for is not.

    Identifiers in a PDF are read off its first page, and a correction prints those of the paper
    it corrects.
    """
    return amends(document.markdown[:ANNOUNCED]) and not is_notice(paper.title)


def _prints_doi(document: Document, paper: Paper) -> bool:
    """Return whether a PDF prints the DOI at its beginning or end, but not as a reference."""
    kept = [text for part, _, text in blocks(document.markdown) if part != "references"]
    text = "\n".join(kept)
    edges = text[:OPENING] + text[-OPENING:]
    return bool(paper.ids.doi) and paper.ids.doi in re.sub(r"\s+", "", edges).lower()


def _is_plausible(likeness: _Likeness) -> bool:
    """Return whether nothing speaks against a DOI that is printed somewhere in a PDF."""
    if likeness.is_announced:
        return True
    is_swapped = bool(likeness.difference.swapped) and not likeness.is_other_language
    if is_swapped or likeness.is_other_abstract:
        return False
    return likeness.title >= NEAR_TITLE or (likeness.authors or 0.0) >= SOME_AUTHORS


def _counts_versions(document: Document, paper: Paper) -> bool:
    """Return whether both DOIs count versions of one paper, as those of F1000 do."""
    ours, theirs = (_VERSION_DOI.fullmatch(one.ids.doi) for one in (paper, document))
    return ours is not None and theirs is not None and ours[1] == theirs[1]


def _agrees_despite_clash(likeness: _Likeness) -> bool:
    """Return whether a text with another DOI is a version of the paper.

    The wording of the abstract must agree. Where none is known, a preprint of the same title and
    authors is taken for the paper's.
    """
    abstract, authors = likeness.abstract or 0.0, likeness.authors or 0.0
    if likeness.abstract is None and likeness.is_preprint_pair:
        is_titled = likeness.title >= SAME_TITLE and not likeness.difference.swapped
        return is_titled and likeness.is_telling and authors >= SOME_AUTHORS
    if abstract >= SAME_ABSTRACT:
        return likeness.title >= NEAR_TITLE or authors >= SOME_AUTHORS
    return abstract >= SOME_ABSTRACT and likeness.title >= SAME_TITLE and likeness.is_telling


def _is_same(likeness: _Likeness) -> bool:
    """Weigh the likenesses where neither identifiers nor marks nor the body decide."""
    abstract, authors = likeness.abstract or 0.0, likeness.authors or 0.0
    if abstract >= SAME_ABSTRACT:
        is_titled = not likeness.has_other_title or likeness.title >= NEAR_TITLE
        return is_titled or authors >= SOME_AUTHORS
    if likeness.difference.swapped or likeness.is_other_abstract:
        return False
    if likeness.is_by_others and abstract < SOME_ABSTRACT:
        return False
    if likeness.title >= SAME_TITLE:
        added = likeness.difference.added
        if abstract >= SOME_ABSTRACT or (likeness.is_telling and not added):
            return True
        return authors >= SOME_AUTHORS and DERIVED.isdisjoint(added)
    return (
        likeness.title >= NEAR_TITLE
        and likeness.is_telling
        and authors >= SOME_AUTHORS
        and (likeness.abstract is None or abstract >= SOME_ABSTRACT)
    )
