"""What goes by several names in a corpus: its journals, and what its texts abbreviate.

Names are gathered when texts are cut (`names_in`) and kept with the number of texts that have them.
A journal is found by its name with or without article and place of publication, by NLM's
abbreviation, with or without points, and by its ISSN, as far as a record of the corpus says them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from sqlalchemy import select, text

from ..model.paper import Paper
from ..model.passage import Passage
from ..passages.ranking import plain
from .schema import Connections, names

Kind = Literal["journal"]
_LONGEST = 300  # characters of a form or name: databases index no more than about 2,700 bytes
_PLACE = re.compile(r"\s*\([^()]*\)\s*$")
_SIGNS = re.compile(r"[\W_]+")


class Name(NamedTuple):
    """A name, and a form in which somebody may write it."""

    kind: Kind
    form: str
    name: str


def names_in(paper: Paper, passages: Sequence[Passage]) -> Iterator[Name]:
    """The names that a paper's record and text give, each once."""
    del passages
    if journal := plain(paper.journal).strip():
        written = (journal, _PLACE.sub("", journal), paper.journal_abbreviation, paper.issn)
        forms = dict.fromkeys(journal_form(one) for one in written)
        yield from (Name("journal", form, journal[:_LONGEST]) for form in forms if form)


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

    def journals(self, asked: str) -> tuple[str, ...]:
        """The names under which the corpus has a journal, the most frequent first."""
        return tuple(self.named("journal", [journal_form(asked)]).get(journal_form(asked), ()))

    def named(self, kind: Kind, forms: Sequence[str]) -> dict[str, list[str]]:
        """By form, the names it stands for, the most frequent first."""
        query = select(names.c.form, names.c.name).where(names.c.kind == kind)
        found: dict[str, list[str]] = {}
        with self.reading() as connection:
            some = query.where(names.c.form.in_(list(forms)))
            for row in connection.execute(some.order_by(names.c.papers.desc(), names.c.name)):
                found.setdefault(row.form, []).append(row.name)
        return found


_ADD = """INSERT INTO corpus_names (kind, form, name, papers) VALUES (:kind, :form, :name, :papers)
    ON CONFLICT (kind, form, name) DO UPDATE SET papers = corpus_names.papers + excluded.papers"""
