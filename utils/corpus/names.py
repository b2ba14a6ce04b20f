"""What goes by several names in a corpus: its journals, and the terms of its texts.

Names are gathered when texts are cut (`names_in`) and kept with the number of texts that have them.
A journal is found by its name with or without article and place of publication, by NLM's
abbreviation, with or without points, and by its ISSN, as far as a record of the corpus says them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from sqlalchemy import select, text

from ..model.paper import Paper
from ..model.passage import Passage
from ..passages.abbreviations import abbreviations
from ..passages.ranking import plain
from ..readers.nlm_lists import Called
from .schema import Connections, names
from .widening import term_form

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
    if not (journal := plain(name).strip()):
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
                yield Name("term", one[:_LONGEST], plain(long)[:_LONGEST])
                yield Name("term", other[:_LONGEST], plain(short)[:_LONGEST])


def journal_form(name: str) -> str:
    """A journal's name, abbreviation or ISSN without case, signs and article.

    >>> [journal_form(one) for one in ("The Lancet. Oncology", "J. Biol. Chem.", "0140-673X")]
    ['lancet oncology', 'j biol chem', '0140 673x']
    """
    words = _SIGNS.sub(" ", plain(name).casefold().replace("&", " and ")).strip()
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

    def learn(self, called: Iterable[Called]) -> int:
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


def _learned(one: Called) -> Name | None:
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
