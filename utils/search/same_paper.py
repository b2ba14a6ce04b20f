"""Judge whether two records are of the same paper, with a reason and a confidence.

Identifiers decide where both records have them: one shared and none that clash is the same paper,
a clash never is, but for two DOIs of one PMID, which are as often one paper's. Without, title,
authors, year and the place in a journal must speak for it and nothing against it; the less a title
tells (*Editorial*) or the more it differs, the more of them are needed. Merging two papers hides
one of them, showing one twice does not: in doubt records stay apart, and are linked. A preprint and
its published version are two papers, linked, unless one record carries the identifiers of both.

The confidences rank the rules by the evidence they ask for; 1 is kept for what a record itself
says. On the labelled set of ``quality/duplicates`` none of them joins two papers.

Records of one paper differ in everything a person would overlook: markup, LaTeX, Greek, case,
diacritics, initials, an abbreviated journal, a subtitle left out. They agree in what tells papers
apart: numbers in a title, a volume, a first page. So a comparison here says *same*, *differ* or
*unknown*, never a number: what nobody wrote down speaks neither for nor against.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal

from ..judges.titles import (
    compare,
    is_notice,
    telling_words,
    title_likeness,
    title_marks,
    title_words,
)
from ..model.identifiers import Ids
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
_JOURNAL_STOP = re.compile("the|of|and|in|for|on|to|an?|de|la|le|et|und|de[rs]|die|fur|d[ao]|e")
_NOTICE_TYPES = (
    *("erratum", "retraction of", "retraction notice", "expression of concern"),
    "meeting abstract",
)
_OPINION_TYPES = frozenset(("comment", "letter", "editorial", "reply"))
_UNDISTINCTIVE_TYPES = frozenset(("journal-article", "article"))  # of letters, too
Relation = Literal["same", "preprint_of", "has_preprint", "version_of", "may_be", "different"]
_INVERSE: dict[Relation, Relation] = {"preprint_of": "has_preprint", "has_preprint": "preprint_of"}
_DISTINCTIVE_WORDS = 4  # words; a title of fewer is shared by many papers
_PREPRINT_TITLE_RATIO = 0.75  # titles of a preprint and of what came of it
_REWORDED_TITLE_RATIO = (
    0.6  # those titles, where all authors are the same and no abstract says otherwise
)
_REVIEW_MAX_YEARS = 3  # years from a preprint to its publication
_PUBLICATION_MAX_YEARS = 8  # of one that stayed as it was
_BILINGUAL_TITLE = re.compile(r"(?P<one>.+?)\s*(?:\[(?P<other>[^\[\]]+)\]|\s=\s(?P<same>.+))\W*")
_TRANSLATED = re.compile(r"\s*\(author'?s transl(?:ation)?\.?\)", re.I)
_RUN, _TOLD = 3, 40  # words of an abstract in a row that are compared; an abstract has so many
_SAME_ABSTRACT, _OTHER_ABSTRACT = 0.4, 0.1  # of the runs of the shorter that the longer has
_VERSION_SUFFIX = re.compile(r"[./_-]?v?\d{1,2}$")


class ComparedRecord:
    """A record's values for comparison, each computed on first use.

    Most records are never compared with any other.
    """

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], ...]:
        """The title's words, and those of the title in the original language."""
        spelled = (*_split_languages(self.paper.title), self.paper.vernacular_title)
        return tuple(tuple(words) for one in spelled if (words := title_words(strip_latex(one))))

    @cached_property
    def title(self) -> str:
        """The title without anything but letters and digits."""
        return "".join(self.titles[0]) if self.titles else ""

    @cached_property
    def distinctive_words(self) -> int:
        """The number of title words that could distinguish the paper from another."""
        return telling_words(" ".join(self.titles[0])) if self.titles else 0

    @cached_property
    def is_notice(self) -> bool:
        """True if the title says that the record is a notice about another paper."""
        return is_notice(self.paper.title)

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
        return title_marks(self.paper.title)

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
        return frozenset(_fold_name(one.collective) for one in self.paper.authors if one.collective)

    @cached_property
    def year(self) -> int:
        """The year, or 0 if unknown."""
        year = self.paper.year
        return int(year) if re.fullmatch(r"\d{4}", year, re.A) else 0

    @cached_property
    def journals(self) -> tuple[tuple[str, ...], ...]:
        """The words of the journal's name and of its abbreviation."""
        names = (self.paper.journal, self.paper.journal_abbreviation)
        return tuple({_fold_journal(name): None for name in names if name})

    @cached_property
    def volume(self) -> str:
        """The volume without blanks, signs and leading zeros."""
        return _fold_name(self.paper.volume).lstrip("0")

    @cached_property
    def page(self) -> tuple[str, str, str]:
        """The letters and digits of the first page, the digits of the last."""
        page = _PAGE.match(self.paper.pages.strip())
        return (page[1].lower(), page[2], page[3] or "") if page else ("", "", "")

    @cached_property
    def is_in_supplement(self) -> bool:
        """True if the paper is in a supplement of its journal."""
        paper = self.paper
        return bool(_SUPPLEMENT.search(f"{paper.pages} {paper.issue} {paper.volume}"))

    @cached_property
    def is_preprint_record(self) -> bool:
        """True if the record is that of a preprint."""
        return is_preprint(self.paper)


def is_preprint(paper: Paper) -> bool:
    """Return whether a record is a preprint's, and names no journal.

    >>> from utils.model.identifiers import Ids
    >>> is_preprint(Paper(Ids(arxiv="2601.00001"), journal="arXiv"))
    True
    >>> is_preprint(Paper(Ids(doi="10.1101/gad.1234", arxiv="2601.00001"), journal="Genes Dev"))
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
    if not (("[" in title or " = " in title) and (parts := _BILINGUAL_TITLE.fullmatch(title))):
        return (title,)
    both = parts["one"], parts["other"] or parts["same"]
    told = all(telling_words(one) >= _DISTINCTIVE_WORDS - 1 and not is_notice(one) for one in both)
    return (title, *both) if told else (title,)


def compare_titles(ours: ComparedRecord, theirs: ComparedRecord) -> TitleLikeness:
    """Compare two records' titles, in the language in which they agree best.

    ``shortened`` is a title without its subtitle or cut short; ``near`` differs in spelling only.
    """
    if not ours.titles or not theirs.titles:
        return "unknown"
    if {"".join(words) for words in ours.titles} & {"".join(words) for words in theirs.titles}:
        return "exact"
    if ours.is_notice != theirs.is_notice:
        return "differ"
    short, long = sorted((ours, theirs), key=lambda one: len(one.title))
    if _is_shortened(short, long):
        return "shortened"
    return "near" if _is_near(ours.titles[0], theirs.titles[0]) else "differ"


def compare_authors(ours: ComparedRecord, theirs: ComparedRecord) -> Likeness:
    """Compare the authors of two records, as far as both name authors."""
    if not ours.first_and_last_authors or not theirs.first_and_last_authors:
        if ours.groups and theirs.groups:
            return "same" if ours.groups & theirs.groups else "unknown"
        return "unknown"
    short, long = sorted((ours.first_and_last_authors, theirs.first_and_last_authors), key=len)
    shared = sum(any(_is_same_person(one, other) for other in long) for one in short[:10])
    share = shared / min(len(short), 10)
    if share >= 0.6 and _is_same_person(short[0], long[0]):
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


def _is_shortened(short: ComparedRecord, long: ComparedRecord) -> bool:
    brief, whole = short.titles[0], long.titles[0]
    if short.is_truncated:
        # The last word may be cut too.
        return len(brief) >= 5 and "".join(whole).startswith("".join(brief))
    if len(brief) < 3 or whole[: len(brief)] != brief:
        return False
    title = strip_latex(long.paper.title)
    return any(tuple(title_words(title[: at.start()])) == brief for at in _SUBTITLE.finditer(title))


def _is_near(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether two titles have the same words, apart from a few spellings."""
    if abs(len(ours) - len(theirs)) > 2:
        return False
    if compare(" ".join(ours), " ".join(theirs)).marks:
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
    family = re.sub(r"([aou])e", r"\1", _fold_name(author.family))
    return family, _fold_name((author.given or author.initials)[:3])[:1]


def _fold_name(text: str) -> str:
    """Return the letters and digits of a name, without accents."""
    return _SIGNS.sub("", text.lower()) if text.isascii() else "".join(fold_words(text))


def _is_same_person(one: tuple[str, str], other: tuple[str, str]) -> bool:
    (ours, our_initial), (theirs, their_initial) = one, other
    short, long = sorted((ours, theirs), key=len)
    # A double name, or one with "van der", is often cut to its last or first part.
    alike = short == long or (len(short) >= 4 and (long.endswith(short) or long.startswith(short)))
    return alike and (not our_initial or not their_initial or our_initial == their_initial)


@lru_cache(2048)
def _fold_journal(name: str) -> tuple[str, ...]:
    """Return the words of a journal's name without place, subtitle and small words."""
    bare = re.split(r"\s:\s|\s=\s|: ", re.sub(r"\([^()]*\)", "", name))[0]
    words = tuple(word for word in fold_words(bare) if not _JOURNAL_STOP.fullmatch(word))
    return words or tuple(fold_words(name))


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


@dataclass(frozen=True, slots=True)
class Judgement:
    """The relation of one record to another, the reason, and the confidence (0 to 1).

    ``different`` with confidence 1 is a contradiction; with 0, nothing speaks for anything else.
    """

    relation: Relation
    reason: str
    confidence: float

    @property
    def inverse(self) -> Judgement:
        """The judgement seen from the other record."""
        return replace(self, relation=_INVERSE.get(self.relation, self.relation))


_UNRELATED = Judgement("different", "nothing says that they are the same", 0.0)


def judge_pair(ours: Paper, theirs: Paper) -> Judgement:
    """Judge the relation of *ours* to *theirs*.

    >>> one = Paper(Ids(doi="10.1000/a"), "Bees and light", published="2024")
    >>> judge_pair(one, Paper(Ids(doi="10.1000/a", pmid="1"), "Bees and Light."))
    Judgement(relation='same', reason='both have doi:10.1000/a', confidence=1.0)
    """
    return judge_compared(ComparedRecord(ours), ComparedRecord(theirs))


def judge_compared(ours: ComparedRecord, theirs: ComparedRecord) -> Judgement:
    """Judge the relation of two records that are prepared for comparison."""
    our_ids, their_ids = ours.paper.ids, theirs.paper.ids
    clash = our_ids.clash(their_ids)
    shared = set(our_ids.names()) & set(their_ids.names())
    if shared and not clash:
        return _judge_by_identifier(ours, theirs, min(shared))
    pmid = our_ids.pmid if our_ids.pmid == their_ids.pmid else ""
    if pmid and compare_titles(ours, theirs) != "differ":  # two DOIs of one paper
        return Judgement("same", f"both have pmid:{pmid}", 1.0)
    if noticed := _judge_by_notice(ours, theirs) or _judge_by_notice(theirs, ours, is_inverse=True):
        return noticed
    if ours.is_preprint_record != theirs.is_preprint_record:
        if ours.is_preprint_record:
            return _judge_published_version(ours, theirs)
        return _judge_published_version(theirs, ours).inverse
    if clash:
        return _judge_versions(ours, theirs, f"{clash} are two papers")
    if (ours.is_preprint_record and theirs.is_preprint_record) and (
        compare_journals(ours, theirs) == "differ" or _are_on_two_servers(our_ids, their_ids)
    ):
        return _judge_versions(ours, theirs, "two preprint servers")
    return _judge_by_title(ours, theirs)


def _judge_by_identifier(ours: ComparedRecord, theirs: ComparedRecord, name: str) -> Judgement:
    """Judge records that share an identifier: the same paper, unless all else contradicts it."""
    unlike = compare_titles(ours, theirs) == "differ" and compare_authors(ours, theirs)
    if unlike == "differ" and title_likeness(ours.paper.title, theirs.paper.title) < 0.5:
        return Judgement("different", "their titles and authors are others", 1.0)
    return Judgement("same", f"both have {name}", 1.0)


def _judge_by_notice(
    ours: ComparedRecord, theirs: ComparedRecord, *, is_inverse: bool = False
) -> Judgement | None:
    """Judge by what the record itself says: *Update in: …*."""
    for notice in ours.paper.notices:
        if notice.kind != "update":
            continue
        ids = theirs.paper.ids
        named = ids.doi and ids.doi in notice.reference.lower()
        if named or (notice.pmid and notice.pmid == ids.pmid):
            relation: Relation = "preprint_of" if ours.is_preprint_record else "version_of"
            judgement = Judgement(relation, "its record names the later version", 1.0)
            return judgement.inverse if is_inverse else judgement
    return None


def _judge_published_version(preprint: ComparedRecord, published: ComparedRecord) -> Judgement:
    """Judge whether *published* is the journal version of *preprint*."""
    apart = count_years_between(preprint, published)
    if apart is None or not 0 <= apart <= _PUBLICATION_MAX_YEARS or preprint.distinctive_words < 3:
        return _UNRELATED
    if preprint.is_notice != published.is_notice or _get_notice_types(
        preprint
    ) != _get_notice_types(published):
        return _UNRELATED
    authors = compare_authors(preprint, published)
    if preprint.distinctive_marks != published.distinctive_marks or authors == "differ":
        return _UNRELATED
    exact = compare_titles(preprint, published) == "exact"
    if authors == "same" and apart <= _REVIEW_MAX_YEARS:
        if exact:
            return Judgement(
                "preprint_of", f"same title and authors, {_describe_years(apart)}", 0.95
            )
        alike = title_likeness(preprint.paper.title, published.paper.title)
        if alike >= _PREPRINT_TITLE_RATIO:
            said = f"like titles, same authors, {_describe_years(apart)}"
            return Judgement("preprint_of", said, round(0.9 * alike, 2))
    return _judge_retitled_preprint(preprint, published, exact=exact, apart=apart)


def _judge_retitled_preprint(
    preprint: ComparedRecord, published: ComparedRecord, *, exact: bool, apart: int
) -> Judgement:
    """Judge a preprint with another title, no authors, or an early date by the abstracts."""
    abstracts = compare_abstracts(preprint, published)
    authors = compare_authors(preprint, published)
    if abstracts == "differ":
        return _UNRELATED
    if authors == "same" and exact and preprint.distinctive_words >= _DISTINCTIVE_WORDS:
        return Judgement("preprint_of", f"same title and authors, {_describe_years(apart)}", 0.8)
    if authors == "same" and abstracts == "same":
        return Judgement(
            "preprint_of", f"same authors, like abstracts, {_describe_years(apart)}", 0.85
        )
    nameless = not (preprint.first_and_last_authors or preprint.groups) or not (
        published.first_and_last_authors or published.groups
    )
    if nameless and exact and abstracts == "same":
        return Judgement(
            "preprint_of", f"same title, like abstracts, {_describe_years(apart)}", 0.9
        )
    if apart > _REVIEW_MAX_YEARS:
        return _UNRELATED
    if nameless and exact and preprint.distinctive_words > _DISTINCTIVE_WORDS:
        return Judgement(
            "preprint_of", f"same title, authors not named, {_describe_years(apart)}", 0.75
        )
    if authors == "same" and _is_reworded(preprint, published):
        return Judgement(
            "preprint_of", f"title retouched, same authors, {_describe_years(apart)}", 0.6
        )
    return _UNRELATED


def _is_reworded(preprint: ComparedRecord, published: ComparedRecord) -> bool:
    """Return whether two titles share most words, and all authors are the same."""
    if len(preprint.first_and_last_authors) < 3 or len(preprint.first_and_last_authors) != len(
        published.first_and_last_authors
    ):
        return False
    if not all(
        map(_is_same_person, preprint.first_and_last_authors, published.first_and_last_authors)
    ):
        return False
    ours, theirs = (
        {word for word in one.titles[0] if len(word) > 3} for one in (preprint, published)
    )
    return len(ours & theirs) >= max(
        _DISTINCTIVE_WORDS - 1, _REWORDED_TITLE_RATIO * min(len(ours), len(theirs))
    )


def _judge_versions(ours: ComparedRecord, theirs: ComparedRecord, clash: str) -> Judgement:
    """Judge two papers that are different for certain: one may be a version of the other."""
    if compare_titles(ours, theirs) != "exact" or compare_authors(ours, theirs) != "same":
        return Judgement("different", clash, 1.0)
    if any(
        one.is_notice or _get_notice_types(one) for one in (ours, theirs)
    ):  # each of several errata is counted, none a version
        return Judgement("different", clash, 1.0)
    if ours.is_preprint_record and ours.distinctive_words >= 3:
        return Judgement("version_of", "same title and authors, both preprints", 0.9)
    dois = {record.paper.ids.doi for record in (ours, theirs)}
    if len(dois) == 2 and all(dois) and len({_VERSION_SUFFIX.sub("", doi) for doi in dois}) == 1:
        return Judgement("version_of", "same title and authors, DOIs that count versions", 0.9)
    if ours.distinctive_words >= _DISTINCTIVE_WORDS and not _find_conflict(ours, theirs):
        return Judgement("may_be", f"same title, authors and year, but {clash}", 0.5)
    return Judgement("different", clash, 1.0)


def _judge_by_title(ours: ComparedRecord, theirs: ComparedRecord) -> Judgement:
    """Judge by title, authors, year and citation, where no identifier decides."""
    titles = compare_titles(ours, theirs)
    if titles in ("differ", "unknown"):
        return _UNRELATED
    if against := _find_conflict(ours, theirs):
        return Judgement("different", against, 1.0)
    if opinion := _find_comment_type(ours, theirs):
        said = f"{titles} title, but only one is of type {opinion}"
        if compare_pages(ours, theirs) != "same":
            return Judgement("different", said, 1.0)
        return Judgement("may_be", f"{said}, on the same page", 0.5)
    return _judge_by_citation(ours, theirs, titles)


def _judge_by_citation(ours: ComparedRecord, theirs: ComparedRecord, titles: str) -> Judgement:
    """Judge by the evidence for records whose titles are alike and do not conflict."""
    authors = compare_authors(ours, theirs)
    same_year = count_years_between(ours, theirs) == 0
    in_journal = compare_journals(ours, theirs) == "same"
    in_volume = compare_volumes(ours, theirs) == "same"
    on_page = compare_pages(ours, theirs) == "same"
    # Without a journal, volume 12 and page 3 are a place in thousands of them.
    placed = on_page and in_journal and (in_volume or same_year)
    if placed and authors != "differ" and (titles == "exact" or authors == "same"):
        sure = 0.99 if titles == "exact" else 0.95
        return Judgement("same", f"{titles} title, same place in the journal", sure)
    is_telling = (
        titles == "exact"
        and min(ours.distinctive_words, theirs.distinctive_words) >= _DISTINCTIVE_WORDS
    )
    if titles != "exact" and authors == "same" and same_year and in_journal:
        return Judgement("may_be", f"{titles} title, same authors, year and journal", 0.5)
    if (
        not is_telling
        or ours.is_notice
        or theirs.is_notice
        or ours.is_in_supplement != theirs.is_in_supplement
    ):
        return _UNRELATED
    if authors == "same" and (on_page or in_volume):
        return Judgement("same", f"same title, authors and {'page' if on_page else 'volume'}", 0.97)
    if in_journal and same_year and (authors == "same" or in_volume):
        agreeing = "authors" if authors == "same" else "volume"
        return Judgement("same", f"same title, journal, year and {agreeing}", 0.9)
    if authors == "same" and same_year and ours.is_preprint_record and theirs.is_preprint_record:
        return Judgement("same", "same title, authors and year, both preprints", 0.9)
    return Judgement("may_be", "same title, too little else to tell", 0.5)


def _find_conflict(ours: ComparedRecord, theirs: ComparedRecord) -> str:
    """Return what shows that records with the same title are different papers; else ""."""
    apart = count_years_between(ours, theirs)
    in_volume, on_page = compare_volumes(ours, theirs), compare_pages(ours, theirs)
    if apart is not None and abs(apart) > 1:
        return f"{abs(apart)} years apart"
    if in_volume == "differ":
        return f"volumes {ours.volume} and {theirs.volume}"
    if on_page == "differ":
        return "other pages"
    authors = compare_authors(ours, theirs)
    if authors == "differ":
        return "other authors"
    # An abbreviation that we cannot read is no other journal.
    if compare_journals(ours, theirs) == "differ" and not (
        authors == in_volume == on_page == "same"
    ):
        return "other journals"
    # Where both titles say so, a type that one record leaves out says nothing.
    unlike = _get_notice_types(ours) != _get_notice_types(theirs) and not (
        ours.is_notice and theirs.is_notice
    )
    return "the one is a notice about a paper" if unlike else ""


def _get_notice_types(record: ComparedRecord) -> frozenset[str]:
    """Return the types that make a record a notice, which may have the paper's own title."""
    return frozenset(word for word in _NOTICE_TYPES if any(word in kind for kind in record.types))


def _find_comment_type(ours: ComparedRecord, theirs: ComparedRecord) -> str:
    """Return the type of a comment on a paper if the other record is a paper; else "".

    A record without types, or with one that all articles have, says neither; where abstracts are
    the same, types are mistaken.
    """
    if bool(ours.opinions) == bool(theirs.opinions) or (ours.is_notice and theirs.is_notice):
        return ""
    if (
        not (ours.has_distinctive_type and theirs.has_distinctive_type)
        or compare_abstracts(ours, theirs) == "same"
    ):
        return ""
    return min(ours.opinions | theirs.opinions)


def _are_on_two_servers(ours: Ids, theirs: Ids) -> bool:
    """Return whether one record is on arXiv and the other has another server's DOI."""
    return bool(ours.arxiv and theirs.doi) or bool(theirs.arxiv and ours.doi)


def _describe_years(years: int) -> str:
    return ("in the same year", "a year later")[years] if years < 2 else f"{years} years later"
