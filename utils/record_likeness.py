"""What two records of papers have in common: title, authors, year, and the place in a journal.

Records of one paper differ in everything a person would overlook: markup, LaTeX, Greek, case,
diacritics, initials, an abbreviated journal, a subtitle left out. They agree in what tells papers
apart: numbers in a title, a volume, a first page. So a comparison here says *same*, *differ* or
*unknown*, never a number: what nobody wrote down speaks neither for nor against.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from .formats.likeness import is_notice, telling_words, title_words
from .formats.words import folded
from .paper import Author, Paper

Likeness = Literal["same", "differ", "unknown"]
TitleLikeness = Literal["exact", "shortened", "near", "differ", "unknown"]

_LATEX = re.compile(r"\\(?:text|math|emph|rm|it|bf|em|sc|mbox|ensuremath|operatorname)\w*\b|[${}]")
_SUBTITLE = re.compile(r"\s*(?::|[.?!](?=\s)|\s[-\u2013\u2014](?=\s)|\u2014|;)\s*")
_CUT_SHORT = re.compile(r"(?:\u2026|\.\.\.)\W*$")
_NUMBER = re.compile(r"\d\w*|i{1,3}|iv|vi{0,3}|ix|x|one|two|three|first|second|third|[a-d]")
# What a subtitle may say that makes another paper of it.
_OTHER_PAPER = re.compile(
    "part|protocol|updated?|reply|response|comment(?:ary)?|correction|erratum|corrigendum|addendum"
    "|retraction|discussion|editorial|supplement(?:ary)?|follow(?:up)?|pilot|abstract|rationale"
    "|design|extension|revisited|summary|interim|preliminary"
)
_SERVERS = re.compile(
    r"10\.1101/(?:\d{6}|(?:19|20)\d\d\.)|10\.64898/|10\.21203/rs\.|10\.20944/preprints"
    r"|10\.31234/|10\.31219/|10\.26434/|10\.36227/|10\.2139/ssrn|10\.22541/au|10\.32388/"
)
_SERVER_NAMES = re.compile(
    r"arxiv|[a-z]*rxiv|.*\bpreprints?\b.*|research square|ssrn.*|authorea.*|corr|openrxiv", re.I
)
_PAGE = re.compile(r"([a-z]*)\s*0*(\d+)", re.I)
_JOURNAL_STOP = re.compile("the|of|and|in|for|on|to|an?|de|la|le|et|und|de[rs]|die|fur|d[ao]|e")


@dataclass(frozen=True, slots=True)
class Looks:
    """A record in the words comparisons are made of; see `looks_of`."""

    paper: Paper
    titles: tuple[tuple[str, ...], ...]
    telling: int
    notice: bool
    cut_short: bool
    people: tuple[tuple[str, str], ...]
    groups: frozenset[str]
    year: int
    journals: tuple[tuple[str, ...], ...]
    volume: str
    page: tuple[str, str]
    preprint: bool

    @property
    def title(self) -> str:
        """The title without anything but letters and digits."""
        return "".join(self.titles[0]) if self.titles else ""


def looks_of(paper: Paper) -> Looks:
    """Everything of a record that is worth comparing, made comparable."""
    spelled = [plain_title(title) for title in (paper.title, paper.vernacular_title) if title]
    page = _PAGE.match(paper.pages.strip())
    names = (paper.journal, paper.journal_abbreviation)
    return Looks(
        paper,
        titles=tuple(tuple(words) for title in spelled if (words := title_words(title))),
        telling=telling_words(spelled[0]) if spelled else 0,
        notice=bool(spelled) and is_notice(spelled[0]),
        cut_short=_CUT_SHORT.search(paper.title) is not None,
        people=tuple(_person(author) for author in paper.authors if author.family),
        groups=frozenset(
            "".join(folded(one.collective)) for one in paper.authors if one.collective
        ),
        year=int(paper.year) if re.fullmatch(r"\d{4}", paper.year, re.A) else 0,
        journals=tuple({_journal(name): None for name in names if name}),
        volume="".join(folded(paper.volume)).lstrip("0"),
        page=(page[1].lower(), page[2]) if page else ("", ""),
        preprint=is_preprint(paper),
    )


def is_preprint(paper: Paper) -> bool:
    """Whether a record is that of a preprint, and says nothing of a journal.

    >>> from .identifiers import Ids
    >>> is_preprint(Paper(Ids(arxiv="2601.00001"), journal="arXiv"))
    True
    >>> is_preprint(Paper(Ids(doi="10.1101/gad.1234", arxiv="2601.00001"), journal="Genes Dev"))
    False
    """
    if any(kind.casefold() == "preprint" for kind in paper.publication_types):
        return not (paper.volume and paper.ids.arxiv and paper.ids.doi)
    if _SERVERS.match(paper.ids.doi) or _SERVER_NAMES.fullmatch(paper.journal.strip()):
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
    if ours.notice != theirs.notice:
        return "differ"
    if {"".join(words) for words in ours.titles} & {"".join(words) for words in theirs.titles}:
        return "exact"
    short, long = sorted((ours, theirs), key=lambda one: len(one.title))
    if _shortened(short, long):
        return "shortened"
    return "near" if _near(ours.titles[0], theirs.titles[0]) else "differ"


def may_hide_another(ours: Looks, theirs: Looks) -> bool:
    """Whether what one title has more than the other could make another paper of it."""
    short, long = sorted((ours, theirs), key=lambda one: len(one.title))
    rest = long.titles[0][len(short.titles[0]) - short.cut_short :]
    return any(_OTHER_PAPER.fullmatch(word) or _NUMBER.fullmatch(word) for word in rest)


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
    (kind, page), (other_kind, other_page) = ours.page, theirs.page
    # Page 1 of an article that has its own pages, beside its number in the volume, says nothing.
    if not page or not other_page or (kind != other_kind and page != other_page):
        return "unknown"
    if page == other_page:
        return "unknown" if page == "1" else "same"
    return "unknown" if "1" in (page, other_page) else "differ"


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
    family = re.sub(r"([aou])e", r"\1", "".join(folded(author.family)))
    given = "".join(folded(author.given or author.initials))
    return family, given[:1]


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
