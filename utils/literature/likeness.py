"""What two records of papers have in common: title, authors, year, and the place in a journal.

Records of one paper differ in everything a person would overlook: markup, LaTeX, Greek, case,
diacritics, initials, an abbreviated journal, a subtitle left out. They agree in what tells papers
apart: numbers in a title, a volume, a first page. So a comparison here says *same*, *differ* or
*unknown*, never a number: what nobody wrote down speaks neither for nor against.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal

from ..judges.likeness import is_notice, telling_words, title_words
from ..model.paper import Author, Paper
from ..model.versions import PREPRINT_DOI
from ..outline.words import folded

Likeness = Literal["same", "differ", "unknown"]
TitleLikeness = Literal["exact", "shortened", "near", "differ", "unknown"]

_LATEX = re.compile(r"\\(?:text|math|emph|rm|it|bf|em|sc|mbox|ensuremath|operatorname)\w*\b|[${}]")
_SUBTITLE = re.compile(r"\s*(?::|[.?!](?=\s+[^a-z])|\s[-\u2013\u2014](?=\s)|\u2014|;)\s*")
_CUT_SHORT = re.compile(r"(?:\u2026|\.\.\.)\W*$")
_NUMBER = re.compile(r"\d\w*|i{1,3}|iv|vi{0,3}|ix|x|one|two|three|first|second|third|[a-d]")
# What makes another paper of the same people out of a title.
_KIND = re.compile(
    "part|protocol|updated?|reply|response|comment(?:ary)?|correction|erratum|corrigendum|addendum"
    "|retraction|discussion|editorial|supplement(?:ary)?|follow(?:up)?|pilot|abstract|rationale"
    "|design|extension|revisited|summary|interim|preliminary"
)
_SERVER_NAMES = re.compile(
    r"arxiv|[a-z]*rxiv|.*\bpreprints?\b.*|research square|ssrn.*|authorea.*|corr|openrxiv", re.I
)
_PAGE = re.compile(r"([a-z]*)\s*0*(\d+)(?:\s*[-\u2013]\s*(\d+))?", re.I)
_SIGNS = re.compile(r"[^a-z0-9]+")
_FIRST = 11  # authors that are compared; papers have up to thousands
_SUPPLEMENT = re.compile(r"\bs\d|suppl", re.I)
_JOURNAL_STOP = re.compile("the|of|and|in|for|on|to|an?|de|la|le|et|und|de[rs]|die|fur|d[ao]|e")


class Looks:
    """A record in the words comparisons are made of, each made when it is first asked for.

    Most records are never compared with any other.
    """

    def __init__(self, paper: Paper) -> None:
        self.paper = paper

    @cached_property
    def titles(self) -> tuple[tuple[str, ...], ...]:
        """The title's words, and those of the title in the original language."""
        spelled = (self.paper.title, self.paper.vernacular_title)
        return tuple(tuple(words) for one in spelled if (words := title_words(plain_title(one))))

    @cached_property
    def title(self) -> str:
        """The title without anything but letters and digits."""
        return "".join(self.titles[0]) if self.titles else ""

    @cached_property
    def telling(self) -> int:
        """How many of the title's words could tell it from another."""
        return telling_words(" ".join(self.titles[0])) if self.titles else 0

    @cached_property
    def notice(self) -> bool:
        """Whether it is a notice about another paper, by its title."""
        return is_notice(self.paper.title)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The words of the title that another paper of the same people would have otherwise."""
        words = self.titles[0] if self.titles else ()
        return frozenset(word for word in words if _KIND.fullmatch(word) or _NUMBER.fullmatch(word))

    @cached_property
    def cut_short(self) -> bool:
        """Whether the title ends in three points."""
        return _CUT_SHORT.search(self.paper.title) is not None

    @cached_property
    def people(self) -> tuple[tuple[str, str], ...]:
        """Family names and initials of the first authors, and of the last."""
        people = [author for author in self.paper.authors if author.family]
        return tuple(map(_person, [*people[:_FIRST], *people[_FIRST:][-1:]]))

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups among the authors."""
        return frozenset(_name(one.collective) for one in self.paper.authors if one.collective)

    @cached_property
    def year(self) -> int:
        """The year, 0 when unknown."""
        year = self.paper.year
        return int(year) if re.fullmatch(r"\d{4}", year, re.A) else 0

    @cached_property
    def journals(self) -> tuple[tuple[str, ...], ...]:
        """The words of the journal's name and of its abbreviation."""
        names = (self.paper.journal, self.paper.journal_abbreviation)
        return tuple({_journal(name): None for name in names if name})

    @cached_property
    def volume(self) -> str:
        """The volume without blanks, signs and leading zeros."""
        return _name(self.paper.volume).lstrip("0")

    @cached_property
    def page(self) -> tuple[str, str, str]:
        """The letters and digits of the first page, the digits of the last."""
        page = _PAGE.match(self.paper.pages.strip())
        return (page[1].lower(), page[2], page[3] or "") if page else ("", "", "")

    @cached_property
    def supplement(self) -> bool:
        """Whether it stands in a supplement."""
        paper = self.paper
        return bool(_SUPPLEMENT.search(f"{paper.pages} {paper.issue} {paper.volume}"))

    @cached_property
    def preprint(self) -> bool:
        """Whether it is a preprint."""
        return is_preprint(self.paper)


def is_preprint(paper: Paper) -> bool:
    """Whether a record is that of a preprint, and says nothing of a journal.

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


def plain_title(title: str) -> str:
    r"""A title without LaTeX.

    >>> plain_title(r"Decay of \textit{$\alpha$}-Fe$_{2}$O$_{3}$")
    'Decay of \\alpha-Fe_2O_3'
    """
    return _LATEX.sub("", title) if "\\" in title or "$" in title else title


def titles(ours: Looks, theirs: Looks) -> TitleLikeness:
    """How two records' titles compare, in whichever language they agree best.

    ``shortened`` is a title without its subtitle or cut short; ``near`` differs in spelling only.
    """
    if not ours.titles or not theirs.titles:
        return "unknown"
    if {"".join(words) for words in ours.titles} & {"".join(words) for words in theirs.titles}:
        return "exact"
    if ours.notice != theirs.notice:
        return "differ"
    short, long = sorted((ours, theirs), key=lambda one: len(one.title))
    if _shortened(short, long):
        return "shortened"
    return "near" if _near(ours.titles[0], theirs.titles[0]) else "differ"


def authors(ours: Looks, theirs: Looks) -> Likeness:
    """Whether two records name the same authors, as far as both name any."""
    if not ours.people or not theirs.people:
        if ours.groups and theirs.groups:
            return "same" if ours.groups & theirs.groups else "unknown"
        return "unknown"
    short, long = sorted((ours.people, theirs.people), key=len)
    shared = sum(any(_same_person(one, other) for other in long) for one in short[:10])
    share = shared / min(len(short), 10)
    if share >= 0.6 and _same_person(short[0], long[0]):
        return "same"
    # Nine authors of ten in another order are the same authors.
    if share >= 0.9 and len(short) >= 3 and len(long) - len(short) <= 2:
        return "same"
    return "differ" if share <= 0.34 else "unknown"


def journals(ours: Looks, theirs: Looks) -> Likeness:
    """Whether two records are from the same journal, abbreviated or not."""
    if ours.paper.issn and ours.paper.issn == theirs.paper.issn:
        return "same"
    if not ours.journals or not theirs.journals:
        return "unknown"
    alike = any(_same_journal(one, other) for one in ours.journals for other in theirs.journals)
    return "same" if alike else "differ"


def volumes(ours: Looks, theirs: Looks) -> Likeness:
    """Whether two records are from the same volume."""
    if not ours.volume or not theirs.volume:
        return "unknown"
    return "same" if ours.volume == theirs.volume else "differ"


def pages(ours: Looks, theirs: Looks) -> Likeness:
    """Whether two papers begin on the same page, or have the same number in their volume."""
    (kind, page, last), (other_kind, other_page, other_last) = ours.page, theirs.page
    if not page or not other_page:
        return "unknown"
    if page == other_page and (page != "1" or last == other_last != ""):
        return "same"
    if kind != other_kind and ("s" in (kind, other_kind) or ours.supplement != theirs.supplement):
        return "differ"  # a supplement counts its own pages
    # Page 1 of an article that has its own pages, beside its number in the volume, says nothing.
    return "unknown" if kind != other_kind or "1" in (page, other_page) else "differ"


def years_apart(ours: Looks, theirs: Looks) -> int | None:
    """How many years *theirs* is later; None when one is unknown."""
    return theirs.year - ours.year if ours.year and theirs.year else None


def _shortened(short: Looks, long: Looks) -> bool:
    brief, whole = short.titles[0], long.titles[0]
    if short.cut_short:
        # The last word may be cut too.
        return len(brief) >= 5 and "".join(whole).startswith("".join(brief))
    if len(brief) < 3 or whole[: len(brief)] != brief:
        return False
    title = plain_title(long.paper.title)
    return any(tuple(title_words(title[: at.start()])) == brief for at in _SUBTITLE.finditer(title))


def _near(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two titles have the same words, but for the spelling of few."""
    if abs(len(ours) - len(theirs)) > 2:
        return False
    if [w for w in ours if _NUMBER.fullmatch(w)] != [w for w in theirs if _NUMBER.fullmatch(w)]:
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


def _person(author: Author) -> tuple[str, str]:
    """Family name and initial, without accents; *Müller*, *Mueller* and *Muller* are one."""
    family = re.sub(r"([aou])e", r"\1", _name(author.family))
    return family, _name((author.given or author.initials)[:3])[:1]


def _name(text: str) -> str:
    """Letters and digits in one, without accents; short texts mostly are without."""
    return _SIGNS.sub("", text.lower()) if text.isascii() else "".join(folded(text))


def _same_person(one: tuple[str, str], other: tuple[str, str]) -> bool:
    (ours, our_initial), (theirs, their_initial) = one, other
    short, long = sorted((ours, theirs), key=len)
    # A double name, or one with "van der", is often cut to its last or first part.
    alike = short == long or (len(short) >= 4 and (long.endswith(short) or long.startswith(short)))
    return alike and (not our_initial or not their_initial or our_initial == their_initial)


@lru_cache(2048)
def _journal(name: str) -> tuple[str, ...]:
    """The words of a journal's name: no place of publication, no subtitle, no small words."""
    bare = re.split(r"\s:\s|\s=\s|: ", re.sub(r"\([^()]*\)", "", name))[0]
    words = tuple(word for word in folded(bare) if not _JOURNAL_STOP.fullmatch(word))
    return words or tuple(folded(name))


@lru_cache(4096)
def _same_journal(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if "".join(one) == "".join(other):
        return True
    short, long = sorted((one, other), key=lambda words: len("".join(words)))
    if len(short) == len(long):
        return all(_abbreviates(part, word) for part, word in zip(short, long, strict=True))
    if len(short) == 1:
        return len(short[0]) >= 3 and short[0] == "".join(word[0] for word in long)
    # "… of the United States of America" is left out as often as not; "Nature" is not a part.
    return len(short) >= 4 and all(
        _abbreviates(part, word) for part, word in zip(short, long, strict=False)
    )


def _abbreviates(part: str, word: str) -> bool:
    """Whether *part* stands for *word*: ``natl`` for ``national``, ``j`` for ``journal``."""
    if word.startswith(part) or part.startswith(word):
        return True
    letters = iter(word)
    return part[0] == word[0] and len(part) >= 3 and all(letter in letters for letter in part)
