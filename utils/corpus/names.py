"""Store alternative names of journals and terms, and search for all of them.

Names are collected when texts are cut (`extract_alternative_names`) and stored with the number of
texts that use them. A journal is found by its name with or without article and place of
publication, by NLM's abbreviation, with or without points, and by its ISSN, as far as a record of
the corpus says them. A term is an abbreviation as texts of the corpus introduce it
(`find_abbreviations`), a heading or entry term of MeSH, or the name of a gene, the latter two as
far as they were learned (`..readers.nlm_lists`).

A question for *TNF* should also find papers that write *tumor necrosis factor*. So the question is
searched again with a term replaced (`build_alternative_questions`), three times at most. A passage
counts by its best wording; scores of replaced wordings are multiplied by 0.9
(`quality.benchmarks.corpus_retrieval`). The answer lists the wordings.

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

from sqlalchemy import Connection, select

from ..model.paper import Paper
from ..model.passage import Passage, PassageHit
from ..outline.terms import STOP_WORDS, to_query_terms
from ..readers.nlm_lists import SynonymPair
from .bulk_writes import insert_rows
from .ranking import to_storable_text
from .schema import DatabaseConnections, names

_BRACKETS = re.compile(r"\(([^()\[\]]{2,120}?)(?:[,;][^()]*)?\)")
_SHORT_FORM = re.compile(r"(?=.*[^\W\d_])[^\W_][\w./+-]{0,8}[\w+]")
_SHORT_FORM_MAX_CHARS = 10
_LAST_WORD = re.compile(r"(?:^|[\s(\[])([^\W_][\w./+-]{0,8}[\w+])$")
_EDGE_MARKS = " \t\n.,;:!?\"'“”‘’*_"
_MAX_EXTRA_WORDS = (
    5  # words of a long form beyond the letters of the short one, and twice as many at most
)
MAX_WORDINGS = 3
REWORDED_WEIGHT = 0.9
_WORDS, _SPAN = 40, 8  # words of a question that are looked at, and of one term
_MAX_PLAIN_LETTERS = (
    4  # letters: written small such a word is rarely an abbreviation (all, can, map)
)
_MARKS = ".,;:?!()[]\"'“”‘’"
FindNames = Callable[[Sequence[str]], Mapping[str, Sequence[tuple[str, int]]]]
"""By form (`fold_term`): alternative names with their count of texts, the most frequent first."""
Kind = Literal["journal", "term"]
_MAX_NAME_CHARS = (
    300  # characters of a form or name: databases index no more than about 2,700 bytes
)
_PAGE = 5_000  # names in one transaction
_PLACE = re.compile(r"\s*\([^()]*\)\s*$")
_SIGNS = re.compile(r"[\W_]+")


class AlternativeName(NamedTuple):
    """A name, and one of the forms in which it may be written."""

    kind: Kind
    form: str
    name: str


def extract_alternative_names(
    paper: Paper, passages: Sequence[Passage]
) -> Iterator[AlternativeName]:
    """Yield each alternative name in a paper's record and text once."""
    yield from dict.fromkeys(_extract_term_names(paper.title, passages))
    yield from _list_journal_names(paper.journal, paper.journal_abbreviation, paper.issn)


@lru_cache(4096)  # most papers are from few journals
def _list_journal_names(name: str, abbreviation: str, issn: str) -> tuple[AlternativeName, ...]:
    if not (journal := to_storable_text(name).strip()):
        return ()
    written = (journal, _PLACE.sub("", journal), abbreviation, issn)
    forms = dict.fromkeys(fold_journal_name(one) for one in written)
    return tuple(
        AlternativeName("journal", form, journal[:_MAX_NAME_CHARS]) for form in forms if form
    )


def _extract_term_names(title: str, passages: Sequence[Passage]) -> Iterator[AlternativeName]:
    """Yield every abbreviation in the text as a name of its long form, and the reverse."""
    for part in (title, *(one.text for one in passages)):
        for short, long in find_abbreviations(part) if "(" in part else ():
            one, other = fold_term(short), fold_term(long)
            if one and other and one != other:
                yield AlternativeName(
                    "term", one[:_MAX_NAME_CHARS], to_storable_text(long)[:_MAX_NAME_CHARS]
                )
                yield AlternativeName(
                    "term", other[:_MAX_NAME_CHARS], to_storable_text(short)[:_MAX_NAME_CHARS]
                )


def fold_journal_name(name: str) -> str:
    """Fold a journal's name, abbreviation or ISSN: drop case, signs and article.

    >>> [fold_journal_name(one) for one in ("The Lancet. Oncology", "J. Biol. Chem.", "0140-673X")]
    ['lancet oncology', 'j biol chem', '0140 673x']
    """
    words = _SIGNS.sub(" ", to_storable_text(name).casefold().replace("&", " and ")).strip()
    return words.removeprefix("the ")[:_MAX_NAME_CHARS]


class NameTables(DatabaseConnections):
    """Tables of alternative names (synonyms, abbreviations) for journals and terms."""

    def increase_name_counts(self, found: Mapping[AlternativeName, int]) -> None:
        """Add to the stored number of texts that use each name."""
        with self.open_writing() as connection:
            increase_name_counts(connection, found)

    def import_names(self, called: Iterable[SynonymPair]) -> int:
        """Store the alternative names from NLM's lists; return their number.

        Names of the corpus itself come before them.
        """
        total = 0
        for some in _iterate_pages_of_names(filter(None, map(_to_storable_name, called))):
            self.increase_name_counts(dict.fromkeys(some, 0))
            total += len(some)
        return total

    def find_journal_names(self, asked: str) -> tuple[str, ...]:
        """Return the names that the corpus uses for a journal, most frequent first."""
        form = fold_journal_name(asked)
        return tuple(
            name for name, _ in self.find_alternative_names("journal", [form]).get(form, ())
        )

    def find_alternative_names(
        self, kind: Kind, forms: Sequence[str]
    ) -> dict[str, list[tuple[str, int]]]:
        """Return, by form, the names and their numbers of texts, most frequent first."""
        query = select(names.c.form, names.c.name, names.c.papers).where(names.c.kind == kind)
        found: dict[str, list[tuple[str, int]]] = {}
        with self.open_reading() as connection:
            some = query.where(names.c.form.in_(list(forms)))
            for row in connection.execute(some.order_by(names.c.papers.desc(), names.c.name)):
                found.setdefault(row.form, []).append((row.name, row.papers))
        return found


def _to_storable_name(one: SynonymPair) -> AlternativeName | None:
    name = one.name[:_MAX_NAME_CHARS]
    if one.kind == "journal":
        made = AlternativeName("journal", fold_journal_name(one.written), name)
    else:
        made = AlternativeName("term", fold_term(one.written)[:_MAX_NAME_CHARS], name)
    return made if made.form and name else None


def _iterate_pages_of_names(every: Iterator[AlternativeName]) -> Iterator[list[AlternativeName]]:
    while some := list(islice(every, _PAGE)):
        yield some


def increase_name_counts(connection: Connection, found: Mapping[AlternativeName, int]) -> None:
    """Add to the stored number of texts that use each name; see `NameTables`."""
    rows = [(*one, papers) for one, papers in sorted(found.items())]
    columns = (*AlternativeName._fields, "papers")
    insert_rows(connection, names.name, columns, rows, _ADD_PAPERS)


_ADD_PAPERS = (
    " ON CONFLICT (kind, form, name) DO UPDATE SET papers = corpus_names.papers + excluded.papers"
)


def find_abbreviations(text: str) -> Iterator[tuple[str, str]]:
    """Yield (short form, long form) for each introduction of an abbreviation, in text order.

    >>> list(find_abbreviations("We gave interleukin-6 (IL-6), GH (growth hormone), water (cold)."))
    [('IL-6', 'interleukin-6'), ('GH', 'growth hormone')]
    """
    for found in _BRACKETS.finditer(text):
        inner = found[1].strip(_EDGE_MARKS)
        before = text[max(0, found.start() - 200) : found.start()]
        if _can_be_abbreviation(inner):
            if long := _find_long_form(inner, before):
                yield inner, long
        elif (outer := _find_last_word(before)) and _can_be_abbreviation(outer):
            yield from [(outer, inner)] * (_find_long_form(outer, inner) == inner)


def _find_last_word(before: str) -> str:
    """Return the word at the end of a text, "" if the word is too long for an abbreviation."""
    text = before.rstrip()
    found = _LAST_WORD.search(text, max(0, len(text) - _SHORT_FORM_MAX_CHARS - 1))
    return found[1] if found else ""


def _can_be_abbreviation(form: str) -> bool:
    """Return whether a text can be an abbreviation: short, with a capital or a digit."""
    if len(form) > _SHORT_FORM_MAX_CHARS or not _SHORT_FORM.fullmatch(form):
        return False
    return any(sign.isupper() or sign.isdigit() for sign in form)


def _find_long_form(short: str, before: str) -> str:
    """Return the words at the end of *before* that the short form abbreviates, or ""."""
    letters = list(filter(str.isalnum, _lower_letters(short)))
    most_words = min(len(letters) + _MAX_EXTRA_WORDS, 2 * len(letters))
    apart = before.rsplit(None, most_words)
    text = before[len(apart[0]) if len(apart) > most_words else 0 :].strip().rstrip(_EDGE_MARKS)
    lowered, at = _lower_letters(text), len(text)
    for letter in reversed(letters[1:]):
        at = lowered.rfind(letter, 0, max(0, at))
    while (at := lowered.rfind(letters[0], 0, max(0, at))) > 0 and text[at - 1].isalnum():
        pass
    if at < 0:
        return ""
    long = text[at:].strip(_EDGE_MARKS)
    told = [word.strip(_EDGE_MARKS).lower() for word in long.split()]
    is_longer = len(long) > len(short) + 1 and short.lower() not in told
    return long if is_longer and "(" not in long else ""


def _lower_letters(text: str) -> str:
    """Return a text in lower case, character by character, so that positions stay correct."""
    return text.lower() if text.isascii() else "".join(one.lower()[0] for one in text)


class AlternativeQuestion(NamedTuple):
    """A question with one term replaced: the term, its replacement, and the whole question."""

    term: str
    other: str
    question: str


@lru_cache(16_384)  # texts of one field introduce the same abbreviations
def fold_term(text: str) -> str:
    """Fold a term for comparison with stored names; "" if it has only common words.

    >>> fold_term("Tumour necrosis factors"), fold_term("in")
    ('tumour necrosi factor', '')
    """
    terms = to_query_terms(text, both_spellings=False)  # as stored names were folded
    return " ".join(terms) if any(term not in STOP_WORDS for term in terms) else ""


def build_alternative_questions(question: str, named: FindNames) -> list[AlternativeQuestion]:
    """Return the question with one term replaced at a time, likeliest replacement first."""
    words = question.split()[:_WORDS]
    spans = {
        (start, start + size): form
        for size in range(min(_SPAN, len(words)), 0, -1)
        for start in range(len(words) - size + 1)
        if (form := _fold_word_span(words[start : start + size]))
    }
    known = named(list(dict.fromkeys(spans.values())))
    found = [
        (place, -papers, span, other)
        for span in _select_longest_spans(span for span, form in spans.items() if known.get(form))
        for place, (other, papers) in enumerate(
            _drop_equivalent_names(spans[span], known[spans[span]])
        )
    ]
    return [
        AlternativeQuestion(
            " ".join(words[slice(*span)]).strip(_MARKS),
            other,
            " ".join([*words[: span[0]], other, *words[span[1] :]]),
        )
        for _, _, span, other in sorted(found)[:MAX_WORDINGS]
    ]


def _fold_word_span(words: Sequence[str]) -> str:
    """Return the folded form of words; "" if the first or the last is a common word."""
    if not (fold_term(words[0]) and fold_term(words[-1])):
        return ""
    text = " ".join(words).strip(_MARKS)
    is_plain = (
        len(words) == 1
        and len(text) <= _MAX_PLAIN_LETTERS
        and text.isalpha()
        and text[1:].islower()
    )
    return "" if is_plain else fold_term(text)


def _select_longest_spans(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the longest spans that do not overlap."""
    taken: set[int] = set()
    for start, end in spans:
        if taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            yield start, end


def _drop_equivalent_names(
    form: str, names: Sequence[tuple[str, int]]
) -> Iterator[tuple[str, int]]:
    """Yield one name per form, without names that fold to the term itself."""
    seen = {form}
    for name, papers in names:
        if (other := fold_term(name)) and other not in seen:
            seen.add(other)
            yield name, papers


def merge_hits(found: Sequence[Sequence[PassageHit]], limit: int) -> list[PassageHit]:
    """Merge the hits of a question and of its alternatives; return the best *limit* hits."""
    best: dict[str, PassageHit] = {}
    for number, hits in enumerate(found):
        for hit in hits:
            score = hit.score * (REWORDED_WEIGHT if number else 1.0)
            known = best.get(hit.uuid)
            if known is None or score > known.score:
                best[hit.uuid] = PassageHit(hit.uuid, hit.paper, score, hit.sim, hit.bm25)
    return sorted(best.values(), key=lambda hit: (-hit.score, hit.uuid))[:limit]
