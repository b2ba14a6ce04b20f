"""Other names: what goes by several names in a corpus, and how a question finds them all.

Names are gathered when texts are cut (`names_in`) and kept with the number of texts that have them.
A journal is found by its name with or without article and place of publication, by NLM's
abbreviation, with or without points, and by its ISSN, as far as a record of the corpus says them.
A term is an abbreviation as texts of the corpus introduce it (`abbreviations`), a heading or entry
term of MeSH, or the name of a gene, the latter two as far as they were learned
(`..readers.nlm_lists`).

A question for *TNF* means papers that write *tumor necrosis factor*, too. So a question is asked
again with each such term exchanged (`wordings`), three times at most, and a passage counts by the
wording that it answers best: a wording other than the question's own by nine tenths
(`quality.benchmarks.corpus_retrieval`). Every other wording stands in the answer.

An abbreviation's letters, read from its end, must stand in the long form in their order, and the
first of them at the beginning of its first word (Schwartz and Hearst, *A simple algorithm for
identifying abbreviation definitions in biomedical text*, Pac Symp Biocomput 2003:451-62).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from sqlalchemy import select, text

from ..model.paper import Paper
from ..model.passage import Hit, Passage
from ..outline.terms import COMMON, asked
from ..readers.nlm_lists import NamePair
from .ranking import to_storable_text
from .schema import Connections, names

_BRACKETS = re.compile(r"\(([^()\[\]]{2,120}?)(?:[,;][^()]*)?\)")
_SHORT_FORM = re.compile(r"(?=.*[^\W\d_])[^\W_][\w./+-]{0,8}[\w+]")
_SHORT_BEFORE = re.compile(r"(?:^|[\s(\[])([^\W_][\w./+-]{0,8}[\w+])\s*$")
_WORD = re.compile(r"\S+")
_EDGE_MARKS = " \t\n.,;:!?\"'“”‘’*_"
_SPARE = 5  # words of a long form beyond the letters of the short one, and twice as many at most
MOST = 3
WEIGHT = 0.9
_WORDS, _SPAN = 40, 8  # words of a question that are looked at, and of one term
_SHORT = 4  # letters: written small such a word is rarely an abbreviation (all, can, map)
_MARKS = ".,;:?!()[]\"'“”‘’"
Named = Callable[[Sequence[str]], Mapping[str, Sequence[tuple[str, int]]]]
"""By form (`term_form`): what else it is called, and by how many texts; the most frequent first."""
Kind = Literal["journal", "term"]
_LONGEST = 300  # characters of a form or name: databases index no more than about 2,700 bytes
_PAGE = 5_000  # names in one transaction
_PLACE = re.compile(r"\s*\([^()]*\)\s*$")
_SIGNS = re.compile(r"[\W_]+")


class Name(NamedTuple):
    """A name, and a form in which somebody may write it."""

    kind: Kind
    form: str
    name: str


def names_in(paper: Paper, passages: Sequence[Passage]) -> Iterator[Name]:
    """The names that a paper's record and text give, each once."""
    yield from dict.fromkeys(_terms_in(paper.title, passages))
    yield from _journal(paper.journal, paper.journal_abbreviation, paper.issn)


@lru_cache(4096)  # most papers are from few journals
def _journal(name: str, abbreviation: str, issn: str) -> tuple[Name, ...]:
    if not (journal := to_storable_text(name).strip()):
        return ()
    written = (journal, _PLACE.sub("", journal), abbreviation, issn)
    forms = dict.fromkeys(journal_form(one) for one in written)
    return tuple(Name("journal", form, journal[:_LONGEST]) for form in forms if form)


def _terms_in(title: str, passages: Sequence[Passage]) -> Iterator[Name]:
    """The long form by the short one, and the reverse, of every abbreviation introduced."""
    for part in (title, *(one.text for one in passages)):
        for short, long in abbreviations(part) if "(" in part else ():
            one, other = term_form(short), term_form(long)
            if one and other and one != other:
                yield Name("term", one[:_LONGEST], to_storable_text(long)[:_LONGEST])
                yield Name("term", other[:_LONGEST], to_storable_text(short)[:_LONGEST])


def journal_form(name: str) -> str:
    """A journal's name, abbreviation or ISSN without case, signs and article.

    >>> [journal_form(one) for one in ("The Lancet. Oncology", "J. Biol. Chem.", "0140-673X")]
    ['lancet oncology', 'j biol chem', '0140 673x']
    """
    words = _SIGNS.sub(" ", to_storable_text(name).casefold().replace("&", " and ")).strip()
    return words.removeprefix("the ")[:_LONGEST]


class NameTables(Connections):
    """The names of a corpus, in SQL."""

    def note_names(self, found: Mapping[Name, int]) -> None:
        """Add so many texts to each name's count."""
        if not found:
            return
        rows = [{**one._asdict(), "papers": papers} for one, papers in sorted(found.items())]
        with self.writing() as connection:
            connection.execute(text(_ADD), rows)

    def learn(self, called: Iterable[NamePair]) -> int:
        """Keep what NLM's lists call by several names; how many were new or known.

        Names of the corpus itself come before them.
        """
        total = 0
        for some in _pages(filter(None, map(_learned, called))):
            self.note_names(dict.fromkeys(some, 0))
            total += len(some)
        return total

    def journals(self, asked: str) -> tuple[str, ...]:
        """The names under which the corpus has a journal, the most frequent first."""
        form = journal_form(asked)
        return tuple(name for name, _ in self.named("journal", [form]).get(form, ()))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
        """By form, its names and how many texts have them, the most frequent first."""
        query = select(names.c.form, names.c.name, names.c.papers).where(names.c.kind == kind)
        found: dict[str, list[tuple[str, int]]] = {}
        with self.reading() as connection:
            some = query.where(names.c.form.in_(list(forms)))
            for row in connection.execute(some.order_by(names.c.papers.desc(), names.c.name)):
                found.setdefault(row.form, []).append((row.name, row.papers))
        return found


def _learned(one: NamePair) -> Name | None:
    name = one.name[:_LONGEST]
    if one.kind == "journal":
        made = Name("journal", journal_form(one.written), name)
    else:
        made = Name("term", term_form(one.written)[:_LONGEST], name)
    return made if made.form and name else None


def _pages(every: Iterator[Name]) -> Iterator[list[Name]]:
    while some := list(islice(every, _PAGE)):
        yield some


_ADD = """INSERT INTO corpus_names (kind, form, name, papers) VALUES (:kind, :form, :name, :papers)
    ON CONFLICT (kind, form, name) DO UPDATE SET papers = corpus_names.papers + excluded.papers"""


def abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Short and long forms, in the order of the text; each as often as it is introduced.

    >>> list(abbreviations("We gave interleukin-6 (IL-6), GH (growth hormone) and water (cold)."))
    [('IL-6', 'interleukin-6'), ('GH', 'growth hormone')]
    """
    for found in _BRACKETS.finditer(text):
        inner = found[1].strip(_EDGE_MARKS)
        before = text[max(0, found.start() - 200) : found.start()]
        if _is_short(inner):
            if long := _long_form(inner, before):
                yield inner, long
        elif (outer := _SHORT_BEFORE.search(before)) and _is_short(outer[1]):
            yield from [(outer[1], inner)] * (_long_form(outer[1], inner) == inner)


def _is_short(form: str) -> bool:
    """Whether it may be an abbreviation: short, with a capital or a figure."""
    return _SHORT_FORM.fullmatch(form) is not None and any(
        sign.isupper() or sign.isdigit() for sign in form
    )


def _long_form(short: str, before: str) -> str:
    """The words at the end of *before* that a short form stands for; empty where none do."""
    letters = [sign.lower() for sign in short if sign.isalnum()]
    words = list(_WORD.finditer(before))[-min(len(letters) + _SPARE, 2 * len(letters)) :]
    if not words:
        return ""
    text = before[words[0].start() :].rstrip(_EDGE_MARKS)
    at = len(text)
    for number, letter in enumerate(reversed(letters)):
        first = number == len(letters) - 1
        at -= 1
        while at >= 0 and (text[at].lower() != letter or (first and at and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = text[at:].strip(_EDGE_MARKS)
    told = [word.strip(_EDGE_MARKS).lower() for word in long.split()]
    is_longer = len(long) > len(short) + 1 and short.lower() not in told
    return long if is_longer and "(" not in long else ""


class Wording(NamedTuple):
    """A question in other words: what was exchanged, for what, and the whole."""

    term: str
    other: str
    question: str


def term_form(text: str) -> str:
    """A term as names are kept by: folded; empty where it says nothing.

    >>> term_form("Tumour necrosis factors"), term_form("in")
    ('tumour necrosi factor', '')
    """
    terms = asked(text)
    return " ".join(terms) if any(term not in COMMON for term in terms) else ""


def wordings(question: str, named: Named) -> list[Wording]:
    """The question with each of its terms exchanged for what it is also called, the likeliest."""
    words = question.split()[:_WORDS]
    spans = {
        (start, start + size): form
        for size in range(min(_SPAN, len(words)), 0, -1)
        for start in range(len(words) - size + 1)
        if (form := _form_of(words[start : start + size]))
    }
    known = named(list(dict.fromkeys(spans.values())))
    found = [
        (place, -papers, span, other)
        for span in _longest(span for span, form in spans.items() if known.get(form))
        for place, (other, papers) in enumerate(_unlike(spans[span], known[spans[span]]))
    ]
    return [
        Wording(
            " ".join(words[slice(*span)]).strip(_MARKS),
            other,
            " ".join([*words[: span[0]], other, *words[span[1] :]]),
        )
        for _, _, span, other in sorted(found)[:MOST]
    ]


def _form_of(words: Sequence[str]) -> str:
    """The form of some words; empty where they begin or end with a word that says nothing."""
    if not (term_form(words[0]) and term_form(words[-1])):
        return ""
    text = " ".join(words).strip(_MARKS)
    is_plain = len(words) == 1 and len(text) <= _SHORT and text.isalpha() and text[1:].islower()
    return "" if is_plain else term_form(text)


def _longest(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of spans, the long ones first, those that overlap none before."""
    taken: set[int] = set()
    for start, end in spans:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            yield start, end


def _unlike(form: str, names: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The first of each names that fold alike, none that folds as the term itself."""
    seen = {form}
    for name, papers in names:
        if (other := term_form(name)) and other not in seen:
            seen.add(other)
            yield name, papers


def combined(found: Sequence[Sequence[Hit]], limit: int) -> list[Hit]:
    """One list of the hits of a question and of its other wordings, the best *limit*."""
    best: dict[str, Hit] = {}
    for number, hits in enumerate(found):
        for hit in hits:
            score = hit.score * (WEIGHT if number else 1.0)
            known = best.get(hit.uuid)
            if known is None or score > known.score:
                best[hit.uuid] = Hit(hit.uuid, hit.paper, score, hit.sim, hit.bm25)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.uuid))[:limit]
