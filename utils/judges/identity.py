"""Judge whether a text is the requested paper.

Rules, in this order:

1. An identifier of the paper in the text decides, unless the signs against it (title, heading,
   body, year, abstract) together refuse the text; fewer of them are a doubt.
2. Titles whose marks differ (*Part II*, *phase 3*, *protocol*, *Correction*) belong to two papers.
3. A body that does not match the abstract belongs to another paper.
4. A text with a different DOI (of a preprint, a translation or another paper) is accepted only if
   the wording of the abstract agrees; the same authors are not enough.
5. A title in which one distinctive word is replaced (*men*, *women*) is accepted only if the
   wording of the abstract agrees.
6. Otherwise the same title is enough, unless both abstracts are known and differ. A changed title
   is accepted only if authors and abstract agree.
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
from ..outline.sections import iterate_headings_and_paragraphs
from ..outline.words import build_word_shingles, count_words, fold_words
from . import thresholds as limits
from .agreement import find_body_mismatch, is_in_other_language, is_in_same_language
from .titles import (
    TitleDifference,
    count_distinctive_words,
    find_title_difference,
    find_title_line,
    is_correction_announced,
    is_notice_title,
    is_title_printed,
    measure_title_likeness,
    strip_byline_from_title,
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
    """The verdict on whether a text is the requested paper, with one line of evidence.

    ``signs`` are doubts about a text that is the same paper; `.check.judge_document` weighs them.
    """

    answer: Answer
    evidence: str
    signs: tuple[Sign, ...] = ()


def judge_identity(document: Document, paper: Paper) -> Identity:
    """Judge whether *document* is a text of *paper*."""
    likeness = SimilarityMeasures(document, paper)
    clash = _find_conflicting_identifiers(document, paper)
    is_amendment = bool(document.pages) and _is_correction_instead_of_paper(document, paper)
    if document.ids.shares(paper.ids) and not is_amendment:
        return _judge_text_with_identifier(likeness)
    if not (paper.title or paper.abstract):
        return Identity("other", clash or "no shared identifier and no title to compare")
    evidence = f"{likeness}; it names {clash}" if clash else str(likeness)
    if is_amendment:
        return Identity("other", f"{evidence}; it is a correction of another paper")
    if likeness.title_difference.marks or likeness.body_mismatch_sign:
        return Identity("other", evidence)
    if (
        document.pages
        and _is_doi_printed(document, paper.ids.doi)
        and _is_printed_doi_plausible(likeness)
    ):
        return Identity("same", f"{likeness}; doi:{paper.ids.doi} is printed in it")
    is_same = _is_version_with_other_doi(likeness) if clash else _is_same_by_similarity(likeness)
    is_open = (
        not (is_same or clash or likeness.has_other_abstract)
        and likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
    )
    return Identity("same" if is_same else "unknown" if is_open else "other", evidence)


class SimilarityMeasures:
    """Measures of the similarity between a text and a record, each computed on first use."""

    def __init__(self, document: Document, paper: Paper) -> None:
        self.document = document
        self.paper = paper
        self.opening = document.markdown[: limits.OPENING_CHARS]
        self.head = self.opening[: limits.HEAD_CHARS]
        self.titles = [title for title in (paper.title, paper.vernacular_title) if title]
        self.families = tuple(author.family or author.collective for author in paper.authors)
        self.theirs = self._choose_text_title()

    def _choose_text_title(self) -> str:
        """Return the text's title, or else the line that begins with the record's title."""
        theirs = self.document.title
        for ours in self.titles:
            theirs = theirs or find_title_line(self.opening, ours)
            theirs = strip_byline_from_title(theirs, ours, next(iter(self.families), ""))
        return theirs

    @cached_property
    def title_difference(self) -> TitleDifference:
        """The difference of the titles, in the language in which they differ least."""
        if not self.theirs or self.is_title_printed or self.is_announced_as_notice:
            return TitleDifference()
        differences = [find_title_difference(ours, self.theirs) for ours in self.titles]
        return min(
            differences,
            key=lambda difference: (bool(difference.marks), bool(difference.swapped)),
            default=_NOTHING,
        )

    @cached_property
    def heading_likeness(self) -> float:
        """The similarity of the text's own title to the record's, 0 to 1."""
        return max((measure_title_likeness(ours, self.theirs) for ours in self.titles), default=0.0)

    @cached_property
    def is_title_printed(self) -> bool:
        """True if the title is in the opening of a text that has no other title."""
        if (
            is_notice_title(self.theirs) > any(map(is_notice_title, self.titles))
            or self.has_other_title
        ):
            return False
        return any(is_title_printed(self.opening, ours) for ours in self.titles)

    @property
    def is_announced_as_notice(self) -> bool:
        """True if a notice was requested and the text begins like a notice."""
        announces = bool(self.document.pages) and is_correction_announced(
            self.opening[: limits.NOTICE_OPENING_CHARS]
        )
        return announces and is_notice_title(self.paper.title)

    @cached_property
    def has_other_title(self) -> bool:
        """True if the text's own title is the title of another paper."""
        if self.heading_likeness >= limits.SAME_TITLE_LIKENESS or self.has_other_language:
            return False
        return self._is_other_title(self.theirs)

    @cached_property
    def has_other_title_in_heading(self) -> bool:
        """True if the first heading is another title, and the record's is printed nowhere."""
        heading = _HEADING.search(self.opening)
        printed = build_word_shingles(
            fold_words(self.opening)
        )  # an abstract in a page's tags is not printed
        agrees = measure_containment(self.paper.abstract, printed) >= limits.SOME_ABSTRACT_SHARE
        if heading is None or agrees or self.is_title_printed or self.has_other_language:
            return False
        return self._is_other_title(heading[1])

    @cached_property
    def has_other_language(self) -> bool:
        """True if record and text differ in language; PubMed puts translated titles in brackets."""
        if self.paper.title.startswith("["):
            return True
        record_text = self.paper.abstract or self.paper.title
        # Behind menus and an abstract that may be translated.
        text = self.document.markdown[limits.OPENING_CHARS // 2 : 2 * limits.OPENING_CHARS]
        return is_in_other_language(fold_words(record_text), fold_words(text or self.opening))

    def _is_other_title(self, theirs: str) -> bool:
        differences = [find_title_difference(ours, theirs) for ours in self.titles]
        is_title = bool(differences) and count_distinctive_words(theirs) > limits.TITLE_MIN_WORDS
        return is_title and all(
            difference.marks or difference.swapped for difference in differences
        )

    @property
    def title_likeness(self) -> float:
        """The highest similarity of the record's title to a title in the text, 0 to 1."""
        return 1.0 if self.is_title_printed else self.heading_likeness

    @property
    def has_distinctive_title(self) -> bool:
        """True if the title is distinctive; it needs more words if nothing else agrees."""
        authors, abstract = self.author_share or 0.0, self.abstract_share or 0.0
        agrees = authors >= limits.SOME_AUTHORS_SHARE or abstract >= limits.SOME_ABSTRACT_SHARE
        least = limits.TITLE_MIN_WORDS if agrees else limits.LONE_TITLE_MIN_WORDS
        return any(count_distinctive_words(ours) >= least for ours in self.titles)

    @cached_property
    def author_share(self) -> float | None:
        """The share of the record's authors that the text names; None without authors."""
        if not self.families:
            return None
        return measure_shared_author_share(self.families, self.document.authors, self.opening)

    @property
    def has_printed_doi_and_author(self) -> bool:
        """True if the text itself prints the DOI and an author, which page metadata only claims."""
        dois = tuple({self.paper.ids.doi, self.document.ids.doi} - {""})
        is_named = any(doi.lower().startswith(dois) for doi in _DOI.findall(self.head))
        is_by_them = (
            not self.families or measure_shared_author_share(self.families, (), self.opening) > 0
        )
        return is_named and is_by_them

    @cached_property
    def conflicting_year(self) -> str:
        """The year at the beginning of the text if it is far from the record's; else empty."""
        printed = ["".join(years) for years in _PRINTED_YEAR.findall(self.head)]
        ours = self.paper.year
        apart = [abs(int(year) - int(ours)) for year in printed] if ours.isdigit() else []
        return printed[0] if apart and min(apart) >= limits.YEARS_APART else ""

    @cached_property
    def abstract_share(self) -> float | None:
        """The share of the abstract's wording in the text's opening; None without abstract."""
        text = build_word_shingles(fold_words(f"{self.document.abstract}\n{self.opening}"))
        abstracts = [self.paper.abstract, *(other for _, other in self.paper.other_abstracts)]
        shares = [
            measure_containment(abstract, text)
            for abstract in abstracts
            if len(abstract) > limits.ABSTRACT_MIN_CHARS
        ]
        return max(shares, default=None)

    @cached_property
    def has_other_abstract(self) -> bool:
        """True if the text has a different abstract in the same language as the record's."""
        own_abstract = self.document.abstract
        if self.abstract_share is None or self.abstract_share >= limits.OTHER_ABSTRACT_SHARE:
            return False
        is_highlights = own_abstract.count("\u2022") >= limits.HIGHLIGHTS_MIN_BULLETS
        is_at_end = self.document.markdown.find(own_abstract) > limits.OPENING_CHARS
        if is_highlights or is_at_end or count_words(own_abstract) < limits.ABSTRACT_MIN_WORDS:
            return False
        return is_in_same_language(fold_words(self.paper.abstract), fold_words(own_abstract))

    @cached_property
    def body_mismatch_sign(self) -> Sign | None:
        """The sign that the body matches neither the record nor its own abstract; or None."""
        text, paper = self.document, self.paper
        if paper.abstract:
            abstract = paper.abstract
            if (
                measure_containment(text.abstract, build_word_shingles(fold_words(abstract)))
                >= limits.SCRAPED_ABSTRACT_SHARE
            ):
                abstract = text.abstract
            return find_body_mismatch(text.markdown, abstract, paper.title)
        if is_notice_title(paper.title):  # which speaks of tables and names
            return None
        by_title = find_body_mismatch(text.markdown, "", paper.title)
        return by_title or find_body_mismatch(text.markdown, text.abstract, "")

    @property
    def is_preprint_and_article(self) -> bool:
        """True if one DOI belongs to a preprint server and the other to a publisher."""
        dois = (self.paper.ids.doi, self.document.ids.doi)
        return all(dois) and sum(PREPRINT_DOI.match(doi) is not None for doi in dois) == 1

    @property
    def has_other_authors(self) -> bool:
        """True if the text names authors, and they differ from the record's."""
        if self.author_share is None or self.author_share > limits.OTHER_AUTHORS_SHARE:
            return False
        return bool(self.document.authors) or (bool(self.document.pages) and not self.author_share)

    def __str__(self) -> str:
        parts = [f"title {self.title_likeness:.0%} similar"]
        if self.title_difference.marks or self.title_difference.swapped:
            parts.append(
                f"titles differ: {self.title_difference.marks or self.title_difference.swapped}"
            )
        if self.author_share is not None:
            parts.append(f"{self.author_share:.0%} of the authors named")
        if self.abstract_share is not None:
            parts.append(f"{self.abstract_share:.0%} of the abstract's words")
        if self.body_mismatch_sign:
            parts.append(self.body_mismatch_sign.words)
        return ", ".join(parts)


def measure_containment(part: str, whole: set[tuple[str, ...]]) -> float:
    """Return the share of the four-word runs of *part* that are also in *whole*, 0 to 1."""
    runs = build_word_shingles(fold_words(part))
    return len(runs & whole) / len(runs) if runs else 0.0


def measure_shared_author_share(
    ours: tuple[str, ...], theirs: tuple[str, ...], opening: str
) -> float:
    """Return the share of the first six authors whom *theirs* or the text's opening names."""
    names = [name for author in ours[:6] if len(name := " ".join(fold_words(author))) > 1]
    named = {name for author in theirs if (name := " ".join(fold_words(author)))}
    # Of a double name, or of names in full, often only the last part is printed.
    named |= {name.rpartition(" ")[2] for name in named}
    # A PDF's "Doe1,2" is Doe.
    text = f" {' '.join(word.rstrip('0123456789') for word in fold_words(opening))} "
    hits = 0
    for name in names:
        last = name.rpartition(" ")[2]
        hits += name in named or last in named or f" {last} " in text
    return hits / len(names) if names else 0.0


_NOTHING: Final = TitleDifference()


def _judge_text_with_identifier(likeness: SimilarityMeasures) -> Identity:
    """Return the verdict on a text that has an identifier of the paper."""
    ours, theirs = likeness.paper.ids.names(), likeness.document.ids.names()
    evidence = f"it gives {next(name for name in theirs if name in ours)} as its own identifier"
    signs = list(_find_other_paper_signs(likeness))
    # A notice prints the identifiers of the paper that it is about.
    title = likeness.paper.title  # empty where only identifiers are known
    is_notice_of_it = (
        title and is_notice_title(likeness.document.title) and not is_notice_title(title)
    )
    if is_notice_of_it or sum(sign.weight for sign in signs) >= REFUSE:
        return Identity("other", "; ".join([evidence, *(sign.words for sign in signs)]))
    return Identity("same", evidence, tuple(signs))


def _find_other_paper_signs(likeness: SimilarityMeasures) -> Iterator[Sign]:
    """Yield the signs of another paper; none of 326 recorded texts of the right paper has one."""
    if likeness.body_mismatch_sign:
        yield likeness.body_mismatch_sign
    if (
        likeness.title_difference.marks
        and count_distinctive_words(likeness.document.title) >= limits.TITLE_MIN_WORDS
    ):
        words = f"titles differ: {likeness.title_difference.marks}"
        yield Sign("title marks", DOUBT, words, "wrong_paper")
    elif likeness.has_other_title_in_heading:
        weight = DOUBT if likeness.has_printed_doi_and_author else REFUSE
        yield Sign("other heading", weight, "the text is under a different title", "wrong_paper")
    if likeness.conflicting_year:
        words = f"the text is dated {likeness.conflicting_year}, the paper {likeness.paper.year}"
        yield Sign("other year", DOUBT, words, "wrong_paper")
    if likeness.has_other_abstract:
        yield Sign("other abstract", DOUBT, "the text has a different abstract", "wrong_paper")


def _is_correction_instead_of_paper(document: Document, paper: Paper) -> bool:
    """Return whether a PDF is a correction and the requested paper is not.

    The identifiers of a PDF come from its first page, and a correction prints the identifiers of
    the corrected paper.
    """
    return is_correction_announced(
        document.markdown[: limits.NOTICE_OPENING_CHARS]
    ) and not is_notice_title(paper.title)


def _find_conflicting_identifiers(document: Document, paper: Paper) -> str:
    """Return the identifiers that differ; empty if a PDF only cites the work with that DOI."""
    clash = document.ids.clash(paper.ids)
    if not clash or _are_dois_related(document, paper):
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
    parts = iterate_headings_and_paragraphs(document.markdown)
    text = "\n".join(text for part, _, text in parts if (part == "references") is in_references)
    edges = text if in_references else text[: limits.OPENING_CHARS] + text[-limits.OPENING_CHARS :]
    return bool(doi) and doi in re.sub(r"\s+", "", edges).lower()


def _is_printed_doi_plausible(likeness: SimilarityMeasures) -> bool:
    """Return whether nothing contradicts a DOI that is printed somewhere in a PDF."""
    if likeness.is_announced_as_notice:
        return True
    is_swapped = bool(likeness.title_difference.swapped) and not likeness.has_other_language
    if is_swapped or likeness.has_other_abstract:
        return False
    return (
        likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        or (likeness.author_share or 0.0) >= limits.SOME_AUTHORS_SHARE
    )


def _are_dois_related(document: Document, paper: Paper) -> bool:
    """Return whether both DOIs are versions of one paper, or one is the DOI of a part of the other.

    F1000's DOIs have version numbers; eLife and PLOS assign DOIs to abstracts and figures.
    """
    if _PART_OF_DOI.fullmatch(document.ids.doi.removeprefix(paper.ids.doi)):
        return True
    ours, theirs = (_VERSION_DOI.fullmatch(source.ids.doi) for source in (paper, document))
    return ours is not None and theirs is not None and ours[1] == theirs[1]


def _is_version_with_other_doi(likeness: SimilarityMeasures) -> bool:
    """Return whether a text with another DOI is a version of the paper.

    The wording of the abstract must agree. Without an abstract, a preprint with the same title and
    authors is accepted.
    """
    abstract, authors = likeness.abstract_share or 0.0, likeness.author_share or 0.0
    if likeness.abstract_share is None and likeness.is_preprint_and_article:
        is_titled = (
            likeness.title_likeness >= limits.SAME_TITLE_LIKENESS
            and not likeness.title_difference.swapped
        )
        is_by_them = likeness.author_share is None or authors >= limits.SOME_AUTHORS_SHARE
        return is_titled and likeness.has_distinctive_title and is_by_them
    if abstract >= limits.SAME_ABSTRACT_SHARE:
        return (
            likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
            or authors >= limits.SOME_AUTHORS_SHARE
        )
    return (
        abstract >= limits.SOME_ABSTRACT_SHARE
        and likeness.title_likeness >= limits.SAME_TITLE_LIKENESS
        and likeness.has_distinctive_title
    )


def _is_same_by_similarity(likeness: SimilarityMeasures) -> bool:
    """Return whether the similarities identify the paper without its identifiers."""
    abstract, authors = likeness.abstract_share or 0.0, likeness.author_share or 0.0
    if abstract >= limits.SAME_ABSTRACT_SHARE:
        is_titled = (
            not likeness.has_other_title or likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        )
        return is_titled or authors >= limits.SOME_AUTHORS_SHARE
    if likeness.title_difference.swapped or likeness.has_other_abstract:
        return False
    if likeness.has_other_authors and abstract < limits.SOME_ABSTRACT_SHARE:
        return False
    if likeness.title_likeness >= limits.SAME_TITLE_LIKENESS:
        added = likeness.title_difference.added
        if abstract >= limits.SOME_ABSTRACT_SHARE or (likeness.has_distinctive_title and not added):
            return True
        return authors >= limits.SOME_AUTHORS_SHARE and DERIVED.isdisjoint(added)
    return (
        likeness.title_likeness >= limits.NEAR_TITLE_LIKENESS
        and likeness.has_distinctive_title
        and authors >= limits.SOME_AUTHORS_SHARE
        and (likeness.abstract_share is None or abstract >= limits.SOME_ABSTRACT_SHARE)
    )
