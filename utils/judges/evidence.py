"""Gather the evidence that a text is a paper: prose of its own, citations, figures, references.

The evidence is gathered once, from the markdown of any reader and from the record, and is weighed
by `.check` and `.wholeness`. This module makes no decisions.

A landing page has as many words as a paper (references, names, links, teasers, the abstract again),
but no prose of its own. So the words of a text are classified in pieces, by features that are
common to all languages. Prose has sentences with the short words of its language and few capitals.
A reference has years, initials and page numbers. Names and addresses have capitals and commas. The
words of a link are in brackets before a URL. Measured on 259 recorded articles, 95 % of the words
of abstracts and 4 % of those of references are classified as prose. Numeric citations are read in
all printed forms: ``[3-7, 9]``, ``(3)``, superscript or bare.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from ..model.paper import Document, Paper
from ..outline.sections import Part, iterate_headings_and_paragraphs
from ..outline.words import strip_markup

_REPEATED: Final = 0.5  # of a stretch's four-word runs; prose of its own shares a run or two
_FILLED: Final = 25  # words of prose under a heading; a line or two is what is left of a section
_TELLING: Final = 24  # words of title and abstract that say most what the paper is about
_LONG: Final = 6  # letters of a telling word
_IN_A_ROW: Final = 3  # stretches of prose; no reference is so long
_OPENING: Final = 12  # words by which a stretch is known again
# Words; a longer declaration is the body, under a heading mistaken for one.
_SMALL_PRINT: Final = 250
_LABEL: Final = 40  # characters in which a caption says what it belongs to
_LIST: Final = 60  # words of references: their list has been
_TERSE: Final = 6  # words of the shortest references
_ENTRY: Final = 40  # words of a long reference, where a PDF runs them together
_SKIPPED: Final = 2  # numbers of a list that may have been misread
_LINKED: Final = re.compile(r"\]\([^()\[\]\s]{0,2000}(?:\s\"[^\"\[]{0,300}\")?\)")
# Numbers that are a link each, or some of them: [3]-[7], [3],[9], [2, [3], and raised 2,[3].
_APART: Final = re.compile(r"(?<=\d)\]?(\s?[,;\u2013\u2212-]\s?)\[(?=\d)")
_RAISED_LINKS: Final = re.compile(r"<sup>([^<>]{1,400})</sup>")
# (Doe et al., 2006; Roe 2010a), Doe (2006): a name and a year.
NAMED: Final = re.compile(
    r"[^\W\d_]\.?(?:,|[\u2019']s)?\s?[(\[]?\b(?:19|20)\d\d[a-z]?\b(?=\s?[^\w\s]{0,2}\s?[);,\]])"
)
_ORDINAL: Final = re.compile(r"(?:^|(?<=\s))\W{0,3}(\d{1,3})\\?[.)\]](?=\s|[^\W\d])", re.M)
_ORDINAL_ALONE: Final = re.compile(r"^\W{0,3}(\d{1,3})\W{0,3}$", re.M)  # on its own line
_MENTION: Final = re.compile(
    r"(?P<apart>(?:extended data|supplement\w{0,7}|suppl?\.?|appendix)\s)?"
    r"\b(fig|abb|tab)(?:s|ur[ae]?s?|ildung(?:en)?|l(?:es?|as?|eaux?)|el(?:le|len|las?))?"
    r"\.?\s{0,2}(\d{1,2})(?!\d)",
    re.I,
)
_YEAR: Final = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_MOST: Final = 0.8  # of the lines of a list
_PARAGRAPH: Final = 20  # words of prose in a paragraph that has an end
# In a letter, a comma, a dash or three dots; digits may be citations behind the full stop.
_UNENDED: Final = re.compile(r"(?:[^\W\d_]\s*|[,\u2010-\u2015-]\s*|(?:\.\.\.|\u2026)\W{0,3})$")
Kind = Literal["prose", "label", "reference", "name", "link", "float"]
_STRETCH: Final = 90  # words; longer paragraphs are classed in pieces
_CAPTION_PARTS: Final = 2  # what is longer has run into the text after it
_SENTENCE: Final = 8  # words; with fewer it is a label, a button, a line of a list
_SHORTEST_ENTRY: Final = 8  # words of a reference at least
_MOSTLY_LINKS: Final = 0.6  # of the words: a menu, a list of related papers
# Shares of a stretch's words.
_SMALL: Final = 0.16  # small words of a language; prose has a quarter to a half
_CAPITALS: Final = 0.5  # in names and addresses three quarters, in prose an eighth
_INITIALS: Final = 0.1
_EACH: Final = 60  # words; in so many a list of references has a year, and pages
_PART: Final = re.compile(rf"\S+(?:\s+\S+){{0,{_STRETCH - 1}}}")
_LINK: Final = re.compile(r"\[([^\[\]]{1,500})\]\([^()\s]{0,2000}(?:\s\"[^\"\[]{0,300}\")?\)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_REFERENCE_YEAR: Final = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_PAGES: Final = re.compile(
    r"\b\d{1,4}\s?(?:\(\w{1,12}\))?\s?[:;,]\s?(?:pp?\.? )?[A-Za-z]?\d{1,6}"
    r"|\b[A-Za-z]?\d{1,6}\s?[\u2010-\u2015-]\s?[A-Za-z]?\d{1,6}\b|\bdoi\b|\b10\.\d{4,9}/"
    r"|\bpp?\.\s?\d",
    re.I,
)
_INITIAL: Final = re.compile(
    r"(?<![^\s.(\-\u2010])[^\W\d_a-z](?:[.\-\u2010]?[^\W\d_a-z]){0,2}[.,;:]"
)
# Scripts without capitals, and mostly without blanks.
_UNICAMERAL: Final = re.compile(
    r"[\u0590-\u08ff\u0900-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_OTHER: Final = re.compile(
    r"[\u0370-\u058f\u10a0-\u10ff]{3}[^\u0041-\u024f]{9}"
)  # Greek, Cyrillic …
_STOP: Final = re.compile(r"[.!?\u061f\u06d4\u0964\u3002\uff01\uff1f]")
_CAPTION: Final = re.compile(
    r"\W{0,6}(?:(?:supplement\w{0,9}|extended data|appendix|online)\W{1,3})?"
    r"(?:fig(?:ure|ura|\.)?s?|abb(?:ildung|\.)?|tab(?:le|elle|la|leau|\.)?s?|scheme|chart|box|plate"
    r"|video|рис\w{0,5}|табл\w{0,5}|图|表|図|그림|표)\W{0,4}(?:[A-Z]?\d{1,3}|[IVX]{1,5})\b",
    re.I,
)
# The commonest short words of the languages papers are written in: they hold sentences together.
_LANGUAGES: Final = """
the of and in to a was were with for that is by as on from at are this we be an not or which it
these have has been our between than after their may using also can had but both all no such when
other more during into most only its two there
der die das und den von zu mit für auf ist im des dem nicht ein eine einer als auch wurde wurden
bei nach aus sich werden sind oder durch zur zum
le la les et en de du un une que dans est par pour sur au aux avec ont été ce cette qui ou
el los las y del se con por para como más su sus fue entre al lo
o os e do da dos das em um uma no na nos nas com foi são não ao à mais
il gli i della dei delle di che non per sono è nel nella alla ai ha
het een van op te dat met voor zijn niet aan door werd bij ook
w z się nie że jest oraz od przez po dla są za
и в не на с по что для из к от у о при как это был были или а но до также
ve bir bu ile için olarak olan daha çok ise
och att det som av på för är med den till inte om var har ett
dan yang dengan pada ini dari untuk dalam
"""
_SMALL_WORDS: Final = frozenset(_LANGUAGES.split())
_RANGE: Final = 50  # references at most in one "3-7"
_ROW: Final = 12  # where "(51-75)" may be residues or patients as well
_NUMBERS = r"\s*\d{1,3}(?:\s?[,;\u2013\u2212-]\s?\d{1,3}){0,40}\s*"
# 33a, 40-42a: a letter names one of the works under a number.
_LETTERED = r"\s*\d{1,3}[a-z]?(?:\s?[,;\u2013\u2212-]\s?(?:\d{1,3}[a-z]?|[a-z])){0,40}\s*"
# How papers number citations, a group each: [1], (1), raised, raised as a PDF tells it, and bare.
_MARKS: Final = re.compile(
    rf"\[({_LETTERED})\]|\(({_NUMBERS})\)|<sup>({_LETTERED})</sup>"
    r"|(?<=[a-z)]{2}[.,;])(\d{1,3}(?:[,\u2013-]\d{1,3}){0,40})(?=\s)"
    r"|(?<=[a-z)]{2} )(\d{1,3}(?:, ?\d{1,3}){0,40})(?=[.,;](?:\s|$))"
)
_IN_WORDS: Final = re.compile(rf"\brefs?\.? ({_NUMBERS})(?!\w)", re.I)  # (e.g., refs. 4-11)
_EQUATION: Final = re.compile(r"^\(\d{1,3}\)$", re.M)  # a number alone on its line
_WAYS: Final = 5
_BARE_WAYS: Final = 3  # the first without a mark
_DOUBTFUL: Final = (1, 4)  # of these ways: with no list to compare, they may number anything
_BRACKETS: Final = re.compile(rf"[\[(]({_NUMBERS})[\])]")
_COLUMN: Final = re.compile(r"\W*(?:ref(?:s|erences?)?|citations?|sources?|stud(?:y|ies))\W*", re.I)
_NUMBERS_ALONE: Final = re.compile(_NUMBERS)
_NUMBER: Final = re.compile(r"(\d{1,3})(?:\s?[\u2013\u2212-]\s?(\d{1,3}))?")


@dataclass(slots=True)
class MeasuredSection:
    """A section: its heading and level, and its number of words: of ``prose`` and in ``total``."""

    name: str
    part: Part
    level: int = 2
    prose: int = 0
    total: int = 0


@dataclass(slots=True)
class Evidence:
    """The counts and marks by which a text is judged; counts are words unless stated otherwise.

    Attributes
    ----------
    prose : int
        Running text of the body that repeats neither the abstract nor itself.
    paragraphs, unended : int
        Paragraphs of the body, and how many of them end in mid-sentence.
    repeated : int
        Prose that repeats the abstract.
    kinds : Counter
        The number of words of each kind.
    sections : list
        Every heading in order.
    abstract : bool
        Whether the paper has an abstract.
    on_topic : float
        Share of the longest words of title and abstract that the prose uses.
    cited : set
        Numbers of references that the text cites; ``named`` counts those by name and year.
    by_marks : bool
        Whether these numbers are in brackets or superscript; ``otherwise`` has the numbers in
        another style.
    listed : int
        The number of references; ``numbered`` is the last printed number, ``references`` the text
        of the list.
    mentioned, captions : set
        Figures and tables that the text mentions, and those that have a caption.
    ends_in : str
        The part in which the text ends; ``last`` is the last paragraph of the body.
    """

    prose: int = 0
    paragraphs: int = 0
    unended: int = 0
    repeated: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)
    sections: list[MeasuredSection] = field(default_factory=list)
    abstract: bool = False
    on_topic: float = 0.0
    cited: set[int] = field(default_factory=set)
    named: int = 0
    listed: int = 0
    numbered: int = 0
    by_marks: bool = False
    otherwise: set[int] = field(default_factory=set)
    references: str = ""
    mentioned: set[tuple[str, int]] = field(default_factory=set)
    captions: set[tuple[str, int]] = field(default_factory=set)
    ends_in: Part = "lead"
    last: str = ""
    text: str = ""

    @property
    def body(self) -> list[MeasuredSection]:
        """The sections of the body."""
        return [section for section in self.sections if section.part == "body"]

    @property
    def filled_sections(self) -> int:
        """The number of sections that have text."""
        return sum(section.prose >= _FILLED for section in self.body)


def gather_evidence(document: Document, paper: Paper, abstract: str) -> Evidence:
    """Return the evidence in a text that was fetched as *paper* with this *abstract*."""
    reading = _EvidenceCollector(abstract, paper if abstract else None)
    for part, level, text in iterate_headings_and_paragraphs(document.markdown):
        if level:
            reading.add_heading(part, text, level)
        else:
            reading.add_paragraph(part, text)
    found = reading.finish_evidence(document.references)
    found.on_topic = _measure_share_of_topic_words_used(
        reading.used, f"{paper.title or document.title} {abstract}"
    )
    return found


class _EvidenceCollector:
    """Collects the evidence in one pass over the headings and blocks of a text."""

    def __init__(self, abstract: str, paper: Paper | None) -> None:
        self.found = Evidence(abstract=bool(abstract))
        self.used: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()
        self._texts: list[str] = []
        self._captions: list[str] = []
        self._references: list[str] = []
        self._loose = self._counted = 0
        self._waiting: list[ClassifiedPiece] = []
        self._words_of_list = 0
        self._small_print = 0  # of the section we are in
        self._abstract_runs: set[tuple[str, ...]] = set()
        others = [text for _, text in paper.other_abstracts] if paper else []
        for text in (abstract, paper.abstract if paper else "", *others):
            words = (word for part in split_into_classified_pieces(text) for word in part.words)
            self._abstract_runs |= _collect_four_word_runs(tuple(words))

    def add_heading(self, part: Part, text: str, level: int) -> None:
        """Begin a new section; *part* is the part of the paper that the heading opens."""
        # Text after the list (comments, teasers) belongs to the site, not to the paper.
        part = "back" if part == "body" and self._words_of_list >= _LIST else part
        self.found.ends_in = part
        self.found.sections.append(MeasuredSection(text, part, level))
        self._small_print = 0

    def add_paragraph(self, part: Part, text: str) -> None:
        """Count the words of a paragraph by their kind."""
        entries = _count_numbered_references(text)
        self._counted += entries
        part = "references" if entries else part
        behind = part in ("lead", "body") and self._words_of_list >= _LIST
        self.found.ends_in = "back" if behind else part
        if part == "references":
            self._references.append(text)
        else:
            self._waiting.clear()
        before = self.found.prose
        if text.startswith("|"):
            self._texts.extend(f"[{numbers}]" for numbers in iterate_reference_cells(text))
        for stretch in split_into_classified_pieces(text):
            self.found.kinds[stretch.kind] += stretch.length
            if self.found.sections:
                self.found.sections[-1].total += stretch.length
            self._count_piece_by_kind(part, stretch, is_list=bool(entries))
            if stretch.kind != "prose":
                self._waiting.clear()
        if part == "body" and not behind and self.found.prose - before >= _PARAGRAPH:
            self.found.last = text
            self.found.paragraphs += 1
            self.found.unended += _UNENDED.search(text[-200:]) is not None

    def _count_piece_by_kind(self, part: Part, stretch: ClassifiedPiece, is_list: bool) -> None:
        if part == "references" and stretch.kind != "link":
            self._words_of_list += stretch.length
        if stretch.kind == "float":
            self._add_caption(stretch)
        elif stretch.kind == "reference" and part != "references":
            self._loose += 1
            self._references.append(stretch.text)
        elif stretch.kind == "prose" and not is_list:
            self._add_prose(part, stretch)
        elif stretch.kind in ("name", "label") and part != "references":
            self._texts.append(stretch.text)

    def _add_caption(self, stretch: ClassifiedPiece) -> None:
        self.found.captions |= _find_mentioned_floats(stretch.text[:_LABEL])
        self._captions.append(stretch.text)

    def _add_prose(self, part: Part, stretch: ClassifiedPiece) -> None:
        found, opening = self.found, stretch.words[:_OPENING]
        if opening in self._seen or self._is_repetition_of_abstract(stretch):
            found.repeated += stretch.length
            self._texts.append(stretch.text)  # the works that it cites are cited
            return
        if part == "references":
            self._add_prose_in_references(stretch)
            return
        self._seen.add(opening)
        self._texts.append(stretch.text)
        if part == "back" and self._small_print < _SMALL_PRINT:
            self._small_print += stretch.length
            return
        self._count_own_prose(stretch)

    def _add_prose_in_references(self, stretch: ClassifiedPiece) -> None:
        """Add prose in the reference list: a wordy reference, or text misplaced by a PDF reader."""
        self._waiting.append(stretch)
        if len(self._waiting) < _IN_A_ROW:
            return
        for waiting in self._waiting if len(self._waiting) == _IN_A_ROW else [stretch]:
            self._seen.add(waiting.words[:_OPENING])
            self._texts.append(waiting.text)
            self._count_own_prose(waiting)

    def _count_own_prose(self, stretch: ClassifiedPiece) -> None:
        found = self.found
        found.prose += stretch.length
        self.used.update(stretch.words)
        if found.sections:
            found.sections[-1].prose += stretch.length

    def _is_repetition_of_abstract(self, stretch: ClassifiedPiece) -> bool:
        if not self._abstract_runs:
            return False
        runs = _collect_four_word_runs(stretch.words)
        return len(runs & self._abstract_runs) > _REPEATED * len(runs)

    def finish_evidence(self, listed: int) -> Evidence:
        """Return all evidence; *listed* is the number of references that the reader counted."""
        found = self.found
        found.references = "\n".join(self._references)
        found.numbered = _find_last_reference_number(found.references)
        # Links may follow the list.
        listed = min(listed, max(self._words_of_list // _TERSE, found.numbered))
        found.listed = max(listed, self._loose, self._counted, found.kinds["reference"] // _ENTRY)
        prose = _remove_link_brackets("\n".join(self._texts))
        captions = _remove_link_brackets("\n".join(self._captions))
        found.text = text = f"{prose}\n{captions}" if captions else prose
        found.cited, found.by_marks, found.otherwise = find_cited_numbers(
            text, listed=bool(found.listed)
        )
        found.named = len(NAMED.findall(text))
        found.mentioned = _find_mentioned_floats(prose)
        return found


def _remove_link_brackets(text: str) -> str:
    text = text.replace("\\", "").replace("*", "")
    text = _LINKED.sub("]", text).replace("[[", "[").replace("]]", "]")
    text = _APART.sub(r"\1", text)
    return _RAISED_LINKS.sub(lambda mark: re.sub(r"[\[\]]", "", mark[0]), text)


def _find_mentioned_floats(text: str) -> set[tuple[str, int]]:
    """Return the figures and tables that *text* mentions, except those numbered separately.

    >>> _find_mentioned_floats("Fig. 2 and Extended Data Fig. 8")
    {('fig', 2)}
    """
    found = (match for match in _MENTION.finditer(text) if not match["apart"])
    return {(match[2].lower(), int(match[3])) for match in found}


def _count_numbered_references(block: str) -> int:
    """Return the number of references in a block whose lines are numbered entries with years."""
    lines = block.split("\n")
    entries = [line for line in lines if _YEAR.search(line)] if len(lines) >= _IN_A_ROW else []
    numbers = [int(match[1]) for line in entries if (match := _ORDINAL.match(line))]
    rising = all(number < next_number for number, next_number in pairwise(numbers))
    return len(numbers) if rising and len(numbers) >= max(_IN_A_ROW, _MOST * len(lines)) else 0


def _collect_four_word_runs(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    return set(zip(words, words[1:], words[2:], words[3:], strict=False))


def _find_last_reference_number(references: str) -> int:
    r"""Return the last number of a reference list that counts up from 1; else 0.

    >>> _find_last_reference_number("1. Doe. 2010. 2. Roe. 12. 3. Poe.")
    3
    >>> _find_last_reference_number("1\nDoe.\n2\nRoe.")
    2
    """
    return max(
        _find_last_consecutive_number(form.findall(references))
        for form in (_ORDINAL, _ORDINAL_ALONE)
    )


def _find_last_consecutive_number(ordinals: list[str]) -> int:
    last = 0
    for number in map(int, ordinals):
        if last < number <= last + _SKIPPED:
            last = number
    return last


def _measure_share_of_topic_words_used(used: set[str], about: str) -> float:
    words = {
        word
        for part in split_into_classified_pieces(about)
        for word in part.words
        if len(word) >= _LONG
    }
    telling = sorted(words, key=lambda word: (-len(word), word))[:_TELLING]
    return sum(word in used for word in telling) / len(telling) if len(telling) > 2 else 1.0


class ClassifiedPiece(NamedTuple):
    """A piece of text with its lower-case words and its kind.

    ``length`` is the number of words, counted as in `..outline.words.count_words`: two characters
    of a script without spaces are one word.
    """

    kind: Kind
    text: str
    words: tuple[str, ...]
    length: int


def split_into_classified_pieces(block: str) -> Iterator[ClassifiedPiece]:
    """Split a block of markdown into classified pieces of at most `_STRETCH` words."""
    if block.lstrip().startswith("|"):
        for row in block.split("\n"):
            stretch = _classify_piece(row)  # a list of references may be laid out as a table
            is_reference = stretch.kind == "reference" and stretch.length >= _SHORTEST_ENTRY
            yield stretch if is_reference else stretch._replace(kind="float")
        return
    for line in block.split("\n"):
        is_caption = _CAPTION.match(line) is not None
        for at, part in enumerate(_PART.findall(line)):
            yield _classify_piece(part, "float" if is_caption and at < _CAPTION_PARTS else None)


def _classify_piece(text: str, known: Kind | None = None) -> ClassifiedPiece:
    """Return a piece of text with its kind: the *known* one, or the one that its words suggest.

    >>> _classify_piece("We measured the growth of the mice after two weeks and found none.").kind
    'prose'
    >>> _classify_piece("Doe J, Roe RA. Growth of mice. J Mouse 2010;12:34-45.").kind
    'reference'
    >>> _classify_piece("Department of Medicine, University of Kiel, Kiel, Germany").kind
    'name'
    """
    plain = strip_markup(text)
    found = _WORD.findall(plain)
    words = tuple(word.lower() for word in found)
    unspaced = len(_UNICAMERAL.findall(plain))
    if 3 * unspaced > len(plain):
        length = unspaced // 2
        words = tuple("".join(found))  # a character is as good as a word
        kind = known or _classify_uncased_text(plain, length)
        return ClassifiedPiece(kind, text, words, length)
    length = len(words)
    if known is None and "](" in text and length > 1:
        linked = sum(len(_WORD.findall(match[1])) for match in _LINK.finditer(text))
        known = "link" if linked >= _MOSTLY_LINKS * length else None
    capitals = sum(word[0].isupper() for word in found)
    return ClassifiedPiece(
        known or _classify_cased_text(plain, words, capitals), text, words, length
    )


def _classify_cased_text(plain: str, words: tuple[str, ...], capitals: int) -> Kind:
    total = len(words)
    if total < 3:
        return "label"
    small = sum(word in _SMALL_WORDS for word in words)
    initials = len(_INITIAL.findall(plain))
    if small <= total / 3 or initials >= _INITIALS * total:
        marks = (
            initials >= _INITIALS * total,
            len(_REFERENCE_YEAR.findall(plain)) * _EACH >= total,
            len(_PAGES.findall(plain)) * _EACH >= total,
        )
        if sum(marks) >= 2 and (capitals > total / 4 or small < total / 5):
            return "reference"
    if capitals >= _CAPITALS * total and small < 0.3 * total:
        return "name"
    if total < _SENTENCE:
        return "label"
    # Of other alphabets we know the small words of one language; their sentences look the same.
    is_sentence = small >= _SMALL * total or (_OTHER.search(plain) and _STOP.search(plain))
    return "prose" if is_sentence else "label"


def _classify_uncased_text(plain: str, length: int) -> Kind:
    """Return the kind of a text in a script without capitals, such as Chinese or Arabic."""
    digits = sum(char.isdigit() for char in plain) / len(plain)
    if _REFERENCE_YEAR.search(plain) and (digits > 0.12 or _PAGES.search(plain)):
        return "reference"
    return "prose" if length >= _SENTENCE and _STOP.search(plain) else "label"


class CitedNumbers(NamedTuple):
    """The numbers that a text cites, and whether the text prints them in brackets or superscript.

    Numbers in another style (``otherwise``) may be citations, too, or number equations and
    compounds.

    >>> find_cited_numbers("As seen [1, 3-5] and again [2], where (7) holds.", listed=True)
    CitedNumbers(numbers={1, 2, 3, 4, 5}, by_marks=True, otherwise={7})
    >>> find_cited_numbers("As seen (1, 2) and elsewhere (see refs. 3-5).", listed=True).numbers
    {1, 2, 3, 4, 5}
    """

    numbers: set[int]
    by_marks: bool
    otherwise: set[int]


def find_cited_numbers(text: str, *, listed: bool) -> CitedNumbers:
    """Return the numbers cited in the text's main style; *listed* if the text has a list."""
    ways: tuple[set[int], ...] = tuple(set() for _ in range(_WAYS))
    for mark in _MARKS.finditer(_EQUATION.sub("", text)):
        way = (mark.lastindex or 1) - 1
        ways[way].update(_expand_number_ranges(mark[0], _ROW if way in _DOUBTFUL else _RANGE))
    in_words = {n for mark in _IN_WORDS.finditer(text) for n in _expand_number_ranges(mark[1])}
    for used in filter(None, ways):
        used.update(in_words)
    if not listed:
        for number in _DOUBTFUL:
            ways[number].clear()
    cited = [_drop_outlier_numbers(numbers) for numbers in ways]
    most = max(range(_WAYS), key=lambda number: len(cited[number]))
    return CitedNumbers(cited[most], most < _BARE_WAYS, set().union(*ways) - cited[most])


def iterate_bracketed_numbers(text: str) -> Iterator[int]:
    """Yield the numbers in brackets of any kind, with ranges expanded."""
    for mark in _BRACKETS.finditer(text):
        yield from _expand_number_ranges(mark[1])


def iterate_reference_cells(table: str) -> Iterator[str]:
    r"""Yield the cells of a table's *References* column, whose numbers have no citation marks.

    >>> list(iterate_reference_cells("| Gene | Refs |\n|---|---|\n| miR-21 | 14,15 |"))
    ['14,15']
    """
    head, *rows = table.split("\n")
    names = head.strip().strip("|").split("|")
    at = next((at for at, name in enumerate(names) if _COLUMN.fullmatch(name)), len(names))
    for row in rows if at < len(names) else []:
        cells = row.strip().strip("|").split("|")
        cited = cells[at].strip() if at < len(cells) else ""
        if _NUMBERS_ALONE.fullmatch(cited):
            yield cited


def _expand_number_ranges(mark: str, most: int = _RANGE) -> Iterator[int]:
    for first, last in _NUMBER.findall(mark):
        begin, end = int(first), int(last or first)
        yield from range(begin, min(end, begin + most) + 1)


def _drop_outlier_numbers(numbers: set[int]) -> set[int]:
    """Return the numbers without those far above the others, such as years and patient counts."""
    row = sorted(numbers - {0})
    while row[2:] and (row[-3] < row[-1] - 4 or 2 * len(row) < row[-1]):
        row.pop()
    return set(row)
