"""A record prepared for comparison, and comparisons of two records value by value.

Records of one paper differ in everything a person would overlook: markup, LaTeX, Greek, case,
diacritics, initials, an abbreviated journal, a subtitle left out, what a database adds to a title.
They agree in what tells papers apart: numbers in a title, a volume, a first page. So a comparison
here says *same*, *differ* or *unknown*, never a number: what nobody wrote down speaks neither for
nor against.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal

from ..judges.titles import (
    TitleDifference,
    count_distinctive_words,
    extract_title_marks,
    find_title_difference,
    is_notice_title,
    split_title_words,
)
from ..model.paper import Author, Paper
from ..model.versions import PREPRINT_DOI
from ..outline.words import fold_words

Likeness = Literal["same", "differ", "unknown"]
TitleLikeness = Literal["exact", "shortened", "near", "differ", "unknown"]
_LATEX = re.compile(r"\\(?:text|math|emph|rm|it|bf|em|sc|mbox|ensuremath|operatorname)\w*\b|[${}]")
_SUBTITLE = re.compile(r"\s*(?::|[.?!](?=\s+[^a-z])|\s[-\u2013\u2014](?=\s)|\u2014|;)\s*")
_CUT_SHORT = re.compile(r"(?:\u2026|\.\.\.)\W*$")
_SERVER_NAMES = re.compile(
    r"arxiv|[a-z]*rxiv|.*\bpreprints?\b.*|research square|ssrn.*|authorea.*|corr|openrxiv", re.I
)
_PAGE = re.compile(r"([a-z]*)\s*0*(\d+)(?:\s*[-\u2013]\s*(\d+))?", re.I)
_SIGNS = re.compile(r"[^a-z0-9]+")
_MAX_COMPARED_AUTHORS = 11  # authors that are compared; papers have up to thousands
_SUPPLEMENT = re.compile(r"\bs\d|suppl", re.I)
_JOURNAL_STOP = re.compile("the|of|and|in|for|on|to|an?|de|la|le|et|und|de[rs]|die|fur|d[ao]?|e|y")
_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
# What databases add to a title: the language, the kind of text, a later erratum.
_DATABASE_NOTE = re.compile(
    r"(?:\[(?:(?:meeting |conference )?abstracts?|poster|letter|review|see comments?"
    r"|electronic resource|corrected)\b[^\[\]]{0,30}\]|\bLA: [A-Z][a-z]{2}"
    r"|\.?\[(?:Erratum|Retraction|Comment|Republished|Update) (?:appears )?in\b.*)\W*$",
    re.I,
)
_ORIGINAL_TITLE = re.compile(r"(?P<one>.+?)\s*(?:<ORIGINAL>|\bTO:)\s*(?P<other>.+)")
_OPINION_TYPES = frozenset(("comment", "letter", "editorial", "reply"))
_UNDISTINCTIVE_TYPES = frozenset(("journal-article", "article"))  # of letters, too
MIN_DISTINCTIVE_WORDS = 4
"""A title of fewer distinctive words is shared by many papers."""
_BILINGUAL_TITLE = re.compile(r"(?P<one>.+?)\s*(?:\[(?P<other>[^\[\]]+)\]|\s=\s(?P<same>.+))\W*")
_TRANSLATED = re.compile(r"\s*\(author'?s transl(?:ation)?\.?\)", re.I)
_RUN, _TOLD = 3, 40  # words of an abstract in a row that are compared; an abstract has so many
_SAME_ABSTRACT, _OTHER_ABSTRACT = 0.4, 0.1  # of the runs of the shorter that the longer has


class ComparedRecord:
    """A record's values for comparison, each computed on first use.

    Most records are never compared with any other.
    """

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], ...]:
        """The words of the title, and of the title in the original language."""
        spelled = (*_split_languages(self.unlabelled_title), self.paper.vernacular_title)
        return tuple(
            tuple(words) for one in spelled if (words := split_title_words(strip_latex(one)))
        )

    @cached_property
    def unlabelled_title(self) -> str:
        """The title without the labels that databases add."""
        return _DATABASE_NOTE.sub("", self.paper.title).strip("\"' ")

    @cached_property
    def folded_title(self) -> str:
        """The letters and digits of the title."""
        return "".join(self.titles[0]) if self.titles else ""

    @cached_property
    def distinctive_word_count(self) -> int:
        """The number of title words that could distinguish the paper from another."""
        return count_distinctive_words(" ".join(self.titles[0])) if self.titles else 0

    @cached_property
    def is_notice(self) -> bool:
        """True if the title shows that the record is a notice about another paper."""
        return is_notice_title(self.paper.title)

    @cached_property
    def types(self) -> frozenset[str]:
        """The publication types in lower case."""
        return frozenset(kind.casefold() for kind in self.paper.publication_types)

    @cached_property
    def opinions(self) -> frozenset[str]:
        """The publication types of opinions, which may have the title of the paper they discuss."""
        return self.types & _OPINION_TYPES

    @cached_property
    def has_distinctive_type(self) -> bool:
        """True if the publication types distinguish a letter from a paper."""
        return bool(self.types - _UNDISTINCTIVE_TYPES)

    @cached_property
    def abstract_runs(self) -> frozenset[tuple[str, ...]]:
        """All runs of three words in the abstract; empty if the abstract is short."""
        words = fold_words(self.paper.abstract)
        if len(words) < _TOLD:
            return frozenset()
        return frozenset(zip(*(words[at:] for at in range(_RUN)), strict=False))

    @cached_property
    def distinctive_marks(self) -> frozenset[str]:
        """Numbers and words of the title that differ in other papers of the same authors."""
        return extract_title_marks(self.paper.title)

    @cached_property
    def is_truncated(self) -> bool:
        """True if the title ends in an ellipsis."""
        return _CUT_SHORT.search(self.paper.title) is not None

    @cached_property
    def first_and_last_authors(self) -> tuple[tuple[str, str], ...]:
        """Family names and initials of the first authors, and of the last."""
        people = [author for author in self.paper.authors if author.family]
        return tuple(
            map(
                _fold_author,
                [*people[:_MAX_COMPARED_AUTHORS], *people[_MAX_COMPARED_AUTHORS:][-1:]],
            )
        )

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups among the authors."""
        return frozenset(
            _fold_to_letters_and_digits(one.collective)
            for one in self.paper.authors
            if one.collective
        )

    @cached_property
    def year(self) -> int:
        """The year, or 0 if unknown."""
        year = self.paper.year
        return int(year) if re.fullmatch(r"\d{4}", year, re.A) else 0

    @cached_property
    def journals(self) -> tuple[tuple[str, ...], ...]:
        """The words of the journal's names and of its abbreviation."""
        names = (self.paper.journal, self.paper.journal_abbreviation)
        return tuple(
            dict.fromkeys(
                words for name in names if name for words in _list_journal_name_words(name)
            )
        )

    @cached_property
    def volume(self) -> str:
        """The volume without blanks, signs and leading zeros."""
        return _fold_to_letters_and_digits(self.paper.volume).lstrip("0")

    @cached_property
    def page(self) -> tuple[str, str, str]:
        """Letters and digits of the first page, and digits of the last, 87 in *84-7*."""
        page = _PAGE.match(self.paper.pages.strip())
        if not page:
            return ("", "", "")
        first, last = page[2], page[3] or ""
        return (
            page[1].lower(),
            first,
            first[: max(0, len(first) - len(last))] + last if last else "",
        )

    @cached_property
    def is_in_supplement(self) -> bool:
        """True if the paper is in a supplement of its journal."""
        paper = self.paper
        return bool(_SUPPLEMENT.search(f"{paper.pages} {paper.issue} {paper.volume}"))

    @cached_property
    def is_preprint_record(self) -> bool:
        """True if the record describes a preprint."""
        return is_preprint_without_journal(self.paper)


def is_preprint_without_journal(paper: Paper) -> bool:
    """Return whether a record describes a preprint and names no journal.

    >>> from utils.model.identifiers import Ids
    >>> is_preprint_without_journal(Paper(Ids(arxiv="2601.00001"), journal="arXiv"))
    True
    >>> ids = Ids(doi="10.1101/gad.1234", arxiv="2601.00001")
    >>> is_preprint_without_journal(Paper(ids, journal="Genes Dev"))
    False
    """
    if any(kind.casefold() == "preprint" for kind in paper.publication_types):
        return not (paper.volume and paper.ids.arxiv and paper.ids.doi)
    if PREPRINT_DOI.match(paper.ids.doi) or _SERVER_NAMES.fullmatch(paper.journal.strip()):
        return True
    return bool(paper.ids.arxiv) and not (paper.ids.doi or paper.ids.pmid or paper.journal)


def strip_latex(title: str) -> str:
    r"""Return a title without LaTeX.

    >>> strip_latex(r"Decay of \textit{$\alpha$}-Fe$_{2}$O$_{3}$")
    'Decay of \\alpha-Fe_2O_3'
    """
    return _LATEX.sub("", title) if "\\" in title or "$" in title else title


def _split_languages(title: str) -> tuple[str, ...]:
    """Return a title and, of a bilingual title, both parts: *Titel [Title]*, *Titel = Title*.

    >>> _split_languages("Wirkung von Licht auf Bienen [Effect of light on bees].")[1:]
    ('Wirkung von Licht auf Bienen', 'Effect of light on bees')
    """
    if "transl" in title:
        return (title, _TRANSLATED.sub("", title))
    if ("TO:" in title or "<ORIG" in title) and (parts := _ORIGINAL_TITLE.fullmatch(title)):
        return (parts["one"], parts["other"])
    if not (("[" in title or " = " in title) and (parts := _BILINGUAL_TITLE.fullmatch(title))):
        return (title,)
    both = parts["one"], parts["other"] or parts["same"]
    told = all(
        count_distinctive_words(one) >= MIN_DISTINCTIVE_WORDS - 1 and not is_notice_title(one)
        for one in both
    )
    return (title, *both) if told else (title,)


def compare_titles(ours: ComparedRecord, theirs: ComparedRecord) -> TitleLikeness:
    """Compare two records' titles, in the language in which they agree best.

    ``exact`` forgives spelling (*tumour*, *tumor*); ``shortened`` is a title without its subtitle
    or cut short; ``near`` has a few words spelled otherwise.
    """
    if not ours.titles or not theirs.titles:
        return "unknown"
    if {"".join(words) for words in ours.titles} & {"".join(words) for words in theirs.titles}:
        return "exact"
    if ours.is_notice != theirs.is_notice:
        return "differ"
    if (
        find_title_difference(*(" ".join(one.titles[0]) for one in (ours, theirs)))
        == TitleDifference()
    ):
        return "exact"
    short, long = sorted((ours, theirs), key=lambda one: len(one.folded_title))
    if _is_title_shortened(short, long):
        return "shortened"
    return "near" if _are_titles_nearly_equal(ours.titles[0], theirs.titles[0]) else "differ"


def compare_authors(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare the authors of two records, as far as both records list authors."""
    if not ours.first_and_last_authors or not theirs.first_and_last_authors:
        if ours.groups and theirs.groups:
            return "same" if ours.groups & theirs.groups else "unknown"
        return "unknown"
    short, long = sorted((ours.first_and_last_authors, theirs.first_and_last_authors), key=len)
    shared = sum(any(is_same_person(one, other) for other in long) for one in short[:10])
    share = shared / min(len(short), 10)
    if share >= 0.6 and is_same_person(short[0], long[0]):
        return "same"
    # Nine authors of ten in another order are the same authors.
    if share >= 0.9 and len(short) >= 3 and len(long) - len(short) <= 2:
        return "same"
    return "differ" if share <= 0.34 else "unknown"


def compare_abstracts(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare two abstracts: most of the wording shared, almost none, or neither."""
    short, long = sorted((ours.abstract_runs, theirs.abstract_runs), key=len)
    if not short:
        return "unknown"
    share = len(short & long) / len(short)
    if share >= _SAME_ABSTRACT:
        return "same"
    return "differ" if share < _OTHER_ABSTRACT else "unknown"


def compare_journals(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare the journals of two records, abbreviated or not."""
    if ours.paper.issn and ours.paper.issn == theirs.paper.issn:
        return "same"
    if not ours.journals or not theirs.journals:
        return "unknown"
    alike = any(_is_same_journal(one, other) for one in ours.journals for other in theirs.journals)
    return "same" if alike else "differ"


def compare_volumes(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare the volumes of two records."""
    if not ours.volume or not theirs.volume:
        return "unknown"
    return "same" if ours.volume == theirs.volume else "differ"


def compare_pages(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare the first pages, or the article numbers, of two records."""
    (kind, page, last), (other_kind, other_page, other_last) = ours.page, theirs.page
    if not page or not other_page:
        return "unknown"
    if page == other_page and (page != "1" or last == other_last != ""):
        return "same"
    if kind != other_kind and (
        "s" in (kind, other_kind) or ours.is_in_supplement != theirs.is_in_supplement
    ):
        return "differ"  # a supplement counts its own pages
    # Page 1 of an article that has its own pages, beside its number in the volume, says nothing.
    return "unknown" if kind != other_kind or "1" in (page, other_page) else "differ"


def count_years_between(ours: ComparedRecord, theirs: ComparedRecord) -> int | None:
    """Return how many years *theirs* is later; None if a year is unknown."""
    return theirs.year - ours.year if ours.year and theirs.year else None


def _is_title_shortened(short: ComparedRecord, long: ComparedRecord) -> bool:
    brief, whole = short.titles[0], long.titles[0]
    if short.is_truncated:
        # The last word may be cut too.
        return len(brief) >= 5 and "".join(whole).startswith("".join(brief))
    if len(brief) < 3 or whole[: len(brief)] != brief:
        return False
    title = strip_latex(long.paper.title)
    return any(
        tuple(split_title_words(title[: at.start()])) == brief for at in _SUBTITLE.finditer(title)
    )


def _are_titles_nearly_equal(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two titles have the same words, apart from a few spellings."""
    if abs(len(ours) - len(theirs)) > 2:
        return False
    if find_title_difference(" ".join(ours), " ".join(theirs)).marks:
        return False
    changes = [
        ("".join(ours[a:b]), "".join(theirs[c:d]))
        for kind, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    if len(changes) > max(1, len(ours) // 6):
        return False
    return all(
        len(one) >= 4
        and len(other) >= 4
        and SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.8
        for one, other in changes
    )


def _fold_author(author: Author) -> tuple[str, str]:
    """Return family name and initial without accents; *Müller*, *Mueller*, *Muller* are equal."""
    family = re.sub(r"([aou])e", r"\1", _fold_to_letters_and_digits(author.family))
    return family, _fold_to_letters_and_digits((author.given or author.initials)[:3])[:1]


def _fold_to_letters_and_digits(text: str) -> str:
    """Return the letters and digits of a name, without accents."""
    return _SIGNS.sub("", text.lower()) if text.isascii() else "".join(fold_words(text))


def is_same_person(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two names, as `ComparedRecord` folds them, may be one person's."""
    (ours, our_initial), (theirs, their_initial) = one, other
    short, long = sorted((ours, theirs), key=len)
    # A double name, or one with "van der", is often cut to its last or first part.
    alike = short == long or (len(short) >= 4 and (long.endswith(short) or long.startswith(short)))
    return alike and (not our_initial or not their_initial or our_initial == their_initial)


@lru_cache(2048)
def _list_journal_name_words(journal: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each name a journal is given, without place and small words.

    The last is the name with its subtitle.

    >>> _list_journal_name_words("Gan to Kagaku Ryoho [Japanese Journal of Cancer]")
    (('gan', 'kagaku', 'ryoho'), ('japanese', 'journal', 'cancer'))
    >>> _list_journal_name_words("Insights: Heart, Lung")
    (('insights',), ('insights', 'heart', 'lung'))
    """
    bare = _BRACKETED.sub("", journal)
    bracketed = (name for name in _BRACKETED.findall(journal) if len(name.split()) > 1)
    names = (re.split(r"\s:\s|: ", bare)[0], *re.split(r"\s=\s|/", bare), *bracketed)
    kept = (
        tuple(word for word in fold_words(name) if not _JOURNAL_STOP.fullmatch(word))
        for name in names
    )
    return tuple(dict.fromkeys(filter(None, kept))) or (tuple(fold_words(journal)),)


@lru_cache(4096)
def _is_same_journal(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if "".join(one) == "".join(other):
        return True
    short, long = sorted((one, other), key=lambda words: len("".join(words)))
    if len(short) == len(long):
        return all(_is_abbreviation(part, word) for part, word in zip(short, long, strict=True))
    if len(short) == 1:
        return len(short[0]) >= 3 and short[0] == "".join(word[0] for word in long)
    # "… of the United States of America" is left out as often as not; "Nature" is not a part.
    return len(short) >= 4 and all(
        _is_abbreviation(part, word) for part, word in zip(short, long, strict=False)
    )


def _is_abbreviation(part: str, word: str) -> bool:
    """Return whether *part* abbreviates *word*: ``natl`` for ``national``."""
    if word.startswith(part) or part.startswith(word):
        return True
    letters = iter(word)
    return part[0] == word[0] and len(part) >= 3 and all(letter in letters for letter in part)
