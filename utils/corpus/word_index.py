"""What all indexes of words in tantivy share: the field of terms, the question and the filters.

A text is one field of terms, in which those of its title stand three times and those of its section
(or keywords) twice: BM25 then weighs a text as a whole. Summed over three fields, it weighed each
field by the lengths of its like, and found much less (nDCG@10 0.77 in place of 0.90).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .ranking import key

if TYPE_CHECKING:
    import tantivy
    from tantivy import Query, Schema, SchemaBuilder

    from ..model.passage import Filters

TERMS = "terms"


def weighted(title: str, section: str, text: str) -> str:
    """Return the field of terms of a text, given the terms of its parts (`..outline.terms`)."""
    return " ".join((title, title, title, section, section, text))


def fields(
    names: Iterable[str], numbers: Iterable[str], kept: Literal["freq", "position"] = "freq"
) -> SchemaBuilder:
    """Return a schema with the field of terms, whole *names*, and *numbers*.

    *kept* is what is kept of terms: how often a text has each, which is all that BM25 asks, or also
    where.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(TERMS, tokenizer_name=TERMS, index_option=kept)
    for name in names:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in numbers:
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder


def open_index(folder: Path, schema: Schema) -> tantivy.Index:
    """Open or make the index in a folder; raise `ValueError` where its schema is another."""
    import tantivy

    index = tantivy.Index(schema, path=str(folder))
    blanks = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
    index.register_tokenizer(TERMS, blanks)
    return index


def any_term(schema: Schema, terms: Sequence[str]) -> Query:
    """Return the query for texts with any of the terms, scored by BM25."""
    from tantivy import Occur, Query

    each = (Query.term_query(schema, TERMS, term) for term in terms)
    return Query.boolean_query([(Occur.Should, one) for one in each])


def any_number(schema: Schema, name: str, numbers: Iterable[int]) -> Query:
    """Return the query for texts with any of the numbers.

    A set of terms takes fifteen times as long: it is looked for in the whole dictionary.
    """
    from tantivy import Occur, Query

    each = (Query.term_query(schema, name, number, "basic") for number in numbers)
    return Query.boolean_query([(Occur.Should, Query.const_score_query(one, 1)) for one in each])


def narrowed(query: Query, conditions: Iterable[Query]) -> Query:
    """Return the query for what also fulfils all conditions; these change no score."""
    from tantivy import Occur, Query

    silent = [(Occur.Must, Query.const_score_query(one, 0.0)) for one in conditions]
    return Query.boolean_query([(Occur.Must, query), *silent]) if silent else query


def conditions_of(schema: Schema, filters: Filters) -> Iterator[Query]:
    """Yield the conditions that filters set."""
    from tantivy import FieldType, Query

    if not filters.retracted:
        yield Query.term_query(schema, "retracted", 0)
    if filters.year_from is not None or filters.year_to is not None:
        yield Query.range_query(schema, "year", FieldType.Integer, *years_of(filters))
    whole = {
        "journal": filters.journal_names,
        "types": filters.publication_types,
        "mesh": filters.mesh,
        "kind": (filters.kind,) if filters.kind else (),
    }
    for name, values in whole.items():
        if values:
            yield Query.term_set_query(schema, name, [key(value) for value in values])


def years_of(filters: Filters) -> tuple[int, int]:
    """Return the first and last year that pass; a text without a year has 0."""
    last = 9999 if filters.year_to is None else max(0, filters.year_to)
    return max(1, filters.year_from or 1), last
