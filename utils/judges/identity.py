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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from ..model.identifiers import Ids
from ..model.paper import Document, Paper
from ..model.verdicts import DOUBT, REFUSE, Sign
from ..model.versions import PREPRINT_DOI
from ..outline.sections import split_parts
from ..outline.words import build_shingles, count_words, fold_words
from . import thresholds as limits
from .agreement import find_other_body, is_other_language, is_same_language
from .titles import (
    TitleDifference,
    amends,
    compare,
    find_line_of_title,
    is_notice,
    prints_title,
    telling_words,
    title_likeness,
    without_byline,
)

Answer = Literal["same", "other", "unknown"]
# Words that a report derived from a paper has in its title, as `.titles` spells them.
DERIVED: Final = frozenset((
    "analysi", "evaluation", "secondary", "hoc", "economic", "process", "qualitative", "extension",
    "perspective", "lesson", "subgroup", "response", "summary", "follow",
))  # fmt: skip
_HEADING: Final = re.compile(r"^# (.+)$", re.M)
_DOI: Final = re.compile(r"\b10\.\d{4,9}/[^\s\"<>()\[\]]+")
# Of the line that says where a text appeared: 2019;12:34, (c) 2019, Published: 5 May 2019.
_PRINTED_YEAR: Final = re.compile(
    r"\b((?:19|20)\d\d)\s?;\s?[(eS]?\d{1,3}\b"
    r"|(?:\u00a9|copyright|published(?: online)?:)[^\n]{0,25}?\b((?:19|20)\d\d)\b",
    re.I,
)
_PART_OF_DOI: Final = re.compile(r"\.(?:[a-z]\d{3}|\d{3})")
_VERSION_DOI: Final = re.compile(r"(10\.12688/.+(?=\.\d)|.+(?=[./]v\d))[./]v?\d{1,2}")


@dataclass(frozen=True, slots=True)
class Identity:
    """The verdict whether a text is the paper asked for, and the evidence in one line.

    ``signs`` are doubts about a text that is the same paper; `.check.judge` weighs them.
    """

    answer: Answer
    evidence: str
    signs: tuple[Sign, ...] = ()


def judge_identity(document: Document, paper: Paper) -> Identity:
    """Judge whether *document* is a text of *paper*."""
    likeness = Likeness(document, paper)
    clash = _find_clash(document, paper)
    is_amendment = bool(document.pages) and _is_about_another(document, paper)
    if document.ids.shares(paper.ids) and not is_amendment:
        return _judge_by_identifier(likeness)
    if not (paper.title or paper.abstract):
        return Identity("other", clash or "no shared identifier and no title to compare")
    evidence = f"{likeness}; it names {clash}" if clash else str(likeness)
    if is_amendment:
        return Identity("other", f"{evidence}; it is a correction of another paper")
    if likeness.title_difference.marks or likeness.other_body:
        return Identity("other", evidence)
    if document.pages and _is_doi_printed(document, paper.ids.doi) and _is_plausible(likeness):
        return Identity("same", f"{likeness}; doi:{paper.ids.doi} is printed in it")
    is_same = _is_version_despite_clash(likeness) if clash else _is_same(likeness)
    is_open = (
        not (is_same or clash or likeness.is_other_abstract)
        and likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
    )
    return Identity("same" if is_same else "unknown" if is_open else "other", evidence)


class Likeness:
    """The likenesses of a text and a record, each measured when first asked for."""

    def __init__(self, document: Document, paper: Paper) -> None:
        self.document = document
        self.paper = paper
        self.opening = document.markdown[: limits.OPENING_CHARS]
        self.head = self.opening[: limits.HEAD_CHARS]
        self.titles = [title for title in (paper.title, paper.vernacular_title) if title]
        self.families = tuple(author.family or author.collective for author in paper.authors)
        self.theirs = self._find_title()

    def _find_title(self) -> str:
        """Return the text's title, or else the line of its opening that begins with ours."""
        theirs = self.document.title
        for ours in self.titles:
            theirs = theirs or find_line_of_title(self.opening, ours)
            theirs = without_byline(theirs, ours, next(iter(self.families), ""))
        return theirs

    @cached_property
    def title_difference(self) -> TitleDifference:
        """The difference of the titles, in the language in which they differ least."""
        if not self.theirs or self.is_printed or self.is_announced:
            return TitleDifference()
        told = [compare(ours, self.theirs) for ours in self.titles]
        return min(told, key=lambda one: (bool(one.marks), bool(one.swapped)), default=_NOTHING)

    @cached_property
    def heading_likeness(self) -> float:
        """The likeness of the text's own title, 0 to 1."""
        return max((title_likeness(ours, self.theirs) for ours in self.titles), default=0.0)

    @cached_property
    def is_printed(self) -> bool:
        """True if the title is in the opening of a text that has no other title."""
        if is_notice(self.theirs) > any(map(is_notice, self.titles)) or self.has_other_title:
            return False
        return any(prints_title(self.opening, ours) for ours in self.titles)

    @property
    def is_announced(self) -> bool:
        """True if a notice was asked for, and the print is headed as a notice."""
        announces = bool(self.document.pages) and amends(
            self.opening[: limits.NOTICE_OPENING_CHARS]
        )
        return announces and is_notice(self.paper.title)

    @cached_property
    def has_other_title(self) -> bool:
        """True if the text's own title is that of another paper."""
        if self.heading_likeness >= limits.SAME_TITLE_LIKENESS or self.is_other_language:
            return False
        return self._is_other(self.theirs)

    @cached_property
    def has_other_heading(self) -> bool:
        """True if the first heading is another title, and this title is printed nowhere."""
        heading = _HEADING.search(self.opening)
        printed = build_shingles(
            fold_words(self.opening)
        )  # an abstract in a page's tags is not printed
        agrees = measure_containment(self.paper.abstract, printed) >= limits.SOME_ABSTRACT_SHARE
        if heading is None or agrees or self.is_printed or self.is_other_language:
            return False
        return self._is_other(heading[1])

    @cached_property
    def is_other_language(self) -> bool:
        """True if record and text differ in language; PubMed brackets such titles."""
        if self.paper.title.startswith("["):
            return True
        told = self.paper.abstract or self.paper.title
        # Behind menus and an abstract that may be translated.
        text = self.document.markdown[limits.OPENING_CHARS // 2 : 2 * limits.OPENING_CHARS]
        return is_other_language(fold_words(told), fold_words(text or self.opening))

    def _is_other(self, theirs: str) -> bool:
        told = [compare(ours, theirs) for ours in self.titles]
        is_title = bool(told) and telling_words(theirs) > limits.TITLE_MIN_WORDS
        return is_title and all(one.marks or one.swapped for one in told)

    @property
    def title_likeness(self) -> float:
        """The highest likeness of the title to any place where the text prints a title."""
        return 1.0 if self.is_printed else self.heading_likeness

    @property
    def is_distinctive(self) -> bool:
        """True if the title distinguishes the paper; it needs more words if nothing else agrees."""
        authors, abstract = self.authors or 0.0, self.abstract or 0.0
        agrees = authors >= limits.SOME_AUTHORS_SHARE or abstract >= limits.SOME_ABSTRACT_SHARE
        least = limits.TITLE_MIN_WORDS if agrees else limits.LONE_TITLE_MIN_WORDS
        return any(telling_words(ours) >= least for ours in self.titles)

    @cached_property
    def authors(self) -> float | None:
        """The share of the authors that the text names; None where the record has none."""
        if not self.families:
            return None
        return measure_shared_authors(self.families, self.document.authors, self.opening)

    @property
    def is_printed_with_names(self) -> bool:
        """True if the text prints an author and the DOI, which tags only claim."""
        known = tuple({self.paper.ids.doi, self.document.ids.doi} - {""})
        is_named = any(doi.lower().startswith(known) for doi in _DOI.findall(self.head))
        is_by_them = (
            not self.families or measure_shared_authors(self.families, (), self.opening) > 0
        )
        return is_named and is_by_them

    @cached_property
    def other_year(self) -> str:
        """The year in the text's head if it is far from the record's; else empty."""
        printed = ["".join(years) for years in _PRINTED_YEAR.findall(self.head)]
        ours = self.paper.year
        apart = [abs(int(year) - int(ours)) for year in printed] if ours.isdigit() else []
        return printed[0] if apart and min(apart) >= limits.YEARS_APART else ""

    @cached_property
    def abstract(self) -> float | None:
        """The share of the abstract's wording at the text's beginning; None without an abstract."""
        text = build_shingles(fold_words(f"{self.document.abstract}\n{self.opening}"))
        told = [self.paper.abstract, *(other for _, other in self.paper.other_abstracts)]
        shares = [
            measure_containment(one, text) for one in told if len(one) > limits.ABSTRACT_MIN_CHARS
        ]
        return max(shares, default=None)

    @cached_property
    def is_other_abstract(self) -> bool:
        """True if the text has a different abstract, in the language of the record's."""
        own = self.document.abstract
        if self.abstract is None or self.abstract >= limits.OTHER_ABSTRACT_SHARE:
            return False
        is_highlights = own.count("\u2022") >= limits.HIGHLIGHTS_MIN_BULLETS
        is_at_end = self.document.markdown.find(own) > limits.OPENING_CHARS
        if is_highlights or is_at_end or count_words(own) < limits.ABSTRACT_MIN_WORDS:
            return False
        return is_same_language(fold_words(self.paper.abstract), fold_words(own))

    @cached_property
    def other_body(self) -> Sign | None:
        """The sign that the body is about neither the record nor the text's own abstract."""
        text, paper = self.document, self.paper
        if paper.abstract:
            abstract = paper.abstract
            if (
                measure_containment(text.abstract, build_shingles(fold_words(abstract)))
                >= limits.SCRAPED_ABSTRACT_SHARE
            ):
                abstract = text.abstract
            return find_other_body(text.markdown, abstract, paper.title)
        if is_notice(paper.title):  # which speaks of tables and names
            return None
        by_title = find_other_body(text.markdown, "", paper.title)
        return by_title or find_other_body(text.markdown, text.abstract, "")

    @property
    def is_preprint_pair(self) -> bool:
        """True if one DOI is a preprint server's and the other a publisher's."""
        dois = (self.paper.ids.doi, self.document.ids.doi)
        return all(dois) and sum(PREPRINT_DOI.match(doi) is not None for doi in dois) == 1

    @property
    def is_by_others(self) -> bool:
        """True if the text names authors, and they are others; each PDF names its own."""
        if self.authors is None or self.authors > limits.OTHER_AUTHORS_SHARE:
            return False
        return bool(self.document.authors) or (bool(self.document.pages) and not self.authors)

    def __str__(self) -> str:
        parts = [f"title {self.title_likeness:.0%} similar"]
        if self.title_difference.marks or self.title_difference.swapped:
            parts.append(
                f"titles differ: {self.title_difference.marks or self.title_difference.swapped}"
            )
        if self.authors is not None:
            parts.append(f"{self.authors:.0%} of the authors named")
        if self.abstract is not None:
            parts.append(f"{self.abstract:.0%} of the abstract's words")
        if self.other_body:
            parts.append(self.other_body.words)
        return ", ".join(parts)


def measure_containment(part: str, whole: set[tuple[str, ...]]) -> float:
    """Return the share of *part*'s runs of four words that are also in *whole*, 0 to 1."""
    runs = build_shingles(fold_words(part))
    return len(runs & whole) / len(runs) if runs else 0.0


def measure_shared_authors(ours: tuple[str, ...], theirs: tuple[str, ...], opening: str) -> float:
    """Return the share of the first six authors that *theirs*, or the text's opening, names."""
    wanted = [name for author in ours[:6] if len(name := " ".join(fold_words(author))) > 1]
    named = {name for author in theirs if (name := " ".join(fold_words(author)))}
    # Of a double name, or of names in full, often only the last part is printed.
    named |= {name.rpartition(" ")[2] for name in named}
    # A PDF's "Doe1,2" is Doe.
    text = f" {' '.join(word.rstrip('0123456789') for word in fold_words(opening))} "
    hits = 0
    for name in wanted:
        last = name.rpartition(" ")[2]
        hits += name in named or last in named or f" {last} " in text
    return hits / len(wanted) if wanted else 0.0


_NOTHING: Final = TitleDifference()


def _judge_by_identifier(likeness: Likeness) -> Identity:
    """Judge a text with an identifier of the paper on it."""
    ours, theirs = likeness.paper.ids.names(), likeness.document.ids.names()
    evidence = f"it gives {next(name for name in theirs if name in ours)} as its own identifier"
    signs = list(_find_signs(likeness))
    # A notice prints the identifiers of the paper that it is about.
    title = likeness.paper.title  # empty where only identifiers are known
    is_notice_of_it = title and is_notice(likeness.document.title) and not is_notice(title)
    if is_notice_of_it or sum(sign.weight for sign in signs) >= REFUSE:
        return Identity("other", "; ".join([evidence, *(sign.words for sign in signs)]))
    return Identity("same", evidence, tuple(signs))


def _find_signs(likeness: Likeness) -> Iterator[Sign]:
    """Yield what speaks for another paper; none of 326 recorded texts of the paper has a sign."""
    if likeness.other_body:
        yield likeness.other_body
    if (
        likeness.title_difference.marks
        and telling_words(likeness.document.title) >= limits.TITLE_MIN_WORDS
    ):
        words = f"titles differ: {likeness.title_difference.marks}"
        yield Sign("title marks", DOUBT, words, "wrong_paper")
    elif likeness.has_other_heading:
        weight = DOUBT if likeness.is_printed_with_names else REFUSE
        yield Sign("other heading", weight, "the text is under a different title", "wrong_paper")
    if likeness.other_year:
        words = f"the text is dated {likeness.other_year}, the paper {likeness.paper.year}"
        yield Sign("other year", DOUBT, words, "wrong_paper")
    if likeness.is_other_abstract:
        yield Sign("other abstract", DOUBT, "the text has a different abstract", "wrong_paper")


def _is_about_another(document: Document, paper: Paper) -> bool:
    """Return whether a PDF is a correction, and the paper asked for is not.

    Identifiers in a PDF are read off its first page, and a correction prints those of the paper
    it corrects.
    """
    return amends(document.markdown[: limits.NOTICE_OPENING_CHARS]) and not is_notice(paper.title)


def _find_clash(document: Document, paper: Paper) -> str:
    """Return the identifiers that differ; none where a PDF only cites the work that has the DOI."""
    clash = document.ids.clash(paper.ids)
    if not clash or _are_versions(document, paper):
        return ""
    doi = document.ids.doi
    is_cited = (
        document.pages
        and _is_doi_printed(document, doi, True)
        and not _is_doi_printed(document, doi, False)
    )
    return Ids.clash(replace(document.ids, doi=""), paper.ids) if is_cited else clash


def _is_doi_printed(document: Document, doi: str, in_references: bool = False) -> bool:
    """Return whether the DOI is printed at the text's beginning or end, or among its references."""
    told = split_parts(document.markdown)
    text = "\n".join(text for part, _, text in told if (part == "references") is in_references)
    edges = text if in_references else text[: limits.OPENING_CHARS] + text[-limits.OPENING_CHARS :]
    return bool(doi) and doi in re.sub(r"\s+", "", edges).lower()


def _is_plausible(likeness: Likeness) -> bool:
    """Return whether nothing speaks against a DOI that is printed somewhere in a PDF."""
    if likeness.is_announced:
        return True
    is_swapped = bool(likeness.title_difference.swapped) and not likeness.is_other_language
    if is_swapped or likeness.is_other_abstract:
        return False
    return (
        likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        or (likeness.authors or 0.0) >= limits.SOME_AUTHORS_SHARE
    )


def _are_versions(document: Document, paper: Paper) -> bool:
    """Return whether both DOIs count versions of one paper, or one is that of a part of it.

    F1000 counts versions; eLife and PLOS give abstracts and figures DOIs of their own.
    """
    if _PART_OF_DOI.fullmatch(document.ids.doi.removeprefix(paper.ids.doi)):
        return True
    ours, theirs = (_VERSION_DOI.fullmatch(one.ids.doi) for one in (paper, document))
    return ours is not None and theirs is not None and ours[1] == theirs[1]


def _is_version_despite_clash(likeness: Likeness) -> bool:
    """Return whether a text with another DOI is a version of the paper.

    The wording of the abstract must agree. Where none is known, a preprint of the same title and
    authors is taken for the paper's.
    """
    abstract, authors = likeness.abstract or 0.0, likeness.authors or 0.0
    if likeness.abstract is None and likeness.is_preprint_pair:
        is_titled = (
            likeness.title_likeness >= limits.SAME_TITLE_LIKENESS
            and not likeness.title_difference.swapped
        )
        is_by_them = likeness.authors is None or authors >= limits.SOME_AUTHORS_SHARE
        return is_titled and likeness.is_distinctive and is_by_them
    if abstract >= limits.SAME_ABSTRACT_SHARE:
        return (
            likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
            or authors >= limits.SOME_AUTHORS_SHARE
        )
    return (
        abstract >= limits.SOME_ABSTRACT_SHARE
        and likeness.title_likeness >= limits.SAME_TITLE_LIKENESS
        and likeness.is_distinctive
    )


def _is_same(likeness: Likeness) -> bool:
    """Weigh the likenesses if neither identifiers nor the body decide."""
    abstract, authors = likeness.abstract or 0.0, likeness.authors or 0.0
    if abstract >= limits.SAME_ABSTRACT_SHARE:
        is_titled = (
            not likeness.has_other_title or likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        )
        return is_titled or authors >= limits.SOME_AUTHORS_SHARE
    if likeness.title_difference.swapped or likeness.is_other_abstract:
        return False
    if likeness.is_by_others and abstract < limits.SOME_ABSTRACT_SHARE:
        return False
    if likeness.title_likeness >= limits.SAME_TITLE_LIKENESS:
        added = likeness.title_difference.added
        if abstract >= limits.SOME_ABSTRACT_SHARE or (likeness.is_distinctive and not added):
            return True
        return authors >= limits.SOME_AUTHORS_SHARE and DERIVED.isdisjoint(added)
    return (
        likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        and likeness.is_distinctive
        and authors >= limits.SOME_AUTHORS_SHARE
        and (likeness.abstract is None or abstract >= limits.SOME_ABSTRACT_SHARE)
    )
