"""The index of words: tantivy, a search engine, in a folder beside ``words.db``.

A passage is one field of terms, in which those of its title stand three times and those of its
section twice: BM25 then weighs a passage as a whole. Summed over three fields, it weighed each
field by the lengths of its like, and found much less (nDCG@10 0.77 in place of 0.90).

It commits by itself, before the database does. A passage that the database lacks (the indexing
was killed in between) is not found, since every number is looked up in the database, and is
replaced when its number is put again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreFailed
from ..model.passage import Filters
from ..system.plain_text import encodable
from ..system.safe_files import disk, inherit_group, make_folder
from .embedded_schema import HINT, Entry

if TYPE_CHECKING:
    import tantivy

PREFIX = "words-"
"""How names of such folders begin; older versions had others, whose content was another."""
_TERMS = "terms"
_HEAP = 64_000_000


class WordIndex:
    """The index in one folder; its methods raise `StoreFailed` where files are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._index: tantivy.Index | None = None

    def put(self, entries: Sequence[Entry]) -> None:
        """Add passages, in place of those of the same number."""
        self._write([entry.number for entry in entries], entries)

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget passages."""
        self._write(numbers, ())

    def search(self, terms: Sequence[str], limit: int, filters: Filters) -> list[tuple[int, float]]:
        """Return numbers of passages with any of the terms, by BM25, best first."""
        from tantivy import Occur, Query

        with self._explain_errors():
            index = self._open()
            index.reload()
            searcher = index.searcher()
            each = (Query.term_query(index.schema, _TERMS, term) for term in terms)
            query = Query.boolean_query([(Occur.Should, one) for one in each])
            found = searcher.search(self._filtered(query, filters), limit).hits
            numbers = searcher.fast_field_values("number", [address for _, address in found])
            pairs = zip(numbers, found, strict=True)
            return [(int(number or 0), float(score)) for number, (score, _) in pairs]

    def has(self, passages: int) -> bool:
        """Whether it can be read, and has at least so many passages."""
        with suppress(StoreFailed), self._explain_errors():
            self._open().reload()
            return bool(self._open().searcher().num_docs >= passages)
        return False

    def fill(self, entries: Iterable[Entry]) -> None:
        """Make it anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._index = None
        self._write((), entries)

    def _write(self, gone: Iterable[int], entries: Iterable[Entry]) -> None:
        with self._explain_errors():
            # One thread: the writer is busy elsewhere, and one segment a batch is fewer to merge.
            writer = self._open().writer(_HEAP, 1)
            try:
                for number in gone:
                    writer.delete_documents_by_term("number", number)
                for entry in entries:
                    writer.add_document(_document(entry))
                writer.commit()
            finally:
                writer.wait_merging_threads()
                for path in self.folder.iterdir():
                    inherit_group(path)

    def _open(self) -> tantivy.Index:
        if self._index is None:
            import tantivy

            make_folder(self.folder)
            self._index = tantivy.Index(_schema(), path=str(self.folder))
            self._index.register_tokenizer(_TERMS, _analyzer())
        return self._index

    def _filtered(self, query: tantivy.Query, filters: Filters) -> tantivy.Query:
        import tantivy

        must = list(_conditions(self._open().schema, filters))
        if not must:
            return query
        parts = [(tantivy.Occur.Must, query)]
        parts += [(tantivy.Occur.Must, tantivy.Query.const_score_query(part, 0.0)) for part in must]
        return tantivy.Query.boolean_query(parts)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            with disk(self.folder, "use"):
                yield
        except (ValueError, RuntimeError) as error:  # all that tantivy raises
            self._index = None
            raise StoreFailed(f"The index of words cannot be used: {error}.", HINT) from error


def _document(entry: Entry) -> tantivy.Document:
    import tantivy

    about = entry.about
    title, section, text = entry.words
    terms = " ".join((title, title, title, section, section, text))
    fields: dict[str, Any] = {_TERMS: terms, "number": entry.number, "year": about.year}
    fields |= {"journal": about.journal, "kind": about.kind, "retracted": about.retracted}
    fields["types"] = about.types.split("\n")[1:-1]
    return tantivy.Document(**fields)


def _conditions(schema: tantivy.Schema, filters: Filters) -> Iterator[tantivy.Query]:
    from tantivy import FieldType, Query

    if not filters.retracted:
        yield Query.term_query(schema, "retracted", 0)
    if filters.year_from is not None or filters.year_to is not None:
        first, last = max(1, filters.year_from or 1), filters.year_to
        last = 9999 if last is None else max(0, last)
        yield Query.range_query(schema, "year", FieldType.Integer, first, last)
    if names := filters.journal_names:
        journals = [encodable(name).casefold().strip() for name in names]
        yield Query.term_set_query(schema, "journal", journals)
    if filters.publication_types:
        types = [encodable(name).casefold() for name in filters.publication_types]
        yield Query.term_set_query(schema, "types", types)
    if filters.kind:
        yield Query.term_query(schema, "kind", filters.kind)


def _schema() -> tantivy.Schema:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field(_TERMS, tokenizer_name=_TERMS)
    for name in ("journal", "types", "kind"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("number", "year", "retracted"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()
