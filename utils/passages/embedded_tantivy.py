"""The index of words in tantivy, a search engine, in a folder beside ``words.db``.

It commits by itself, before the database does. A passage that the database lacks (the indexing
was killed in between) is not found, since every number is looked up in the database, and is
replaced when its number is put again.
"""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import StoreFailed
from ..model.passage import Filters
from ..system.plain_text import encodable
from ..system.safe_files import disk, make_folder
from ..system.sharing import inherit_group
from .embedded_schema import HINT, Entry, Words

if TYPE_CHECKING:
    import tantivy

_WEIGHTS = {"title": 3.0, "section": 1.5, "text": 1.0}
_HEAP = 64_000_000
_BATCH = 20_000


def installed() -> bool:
    """Whether tantivy can be used here."""
    return importlib.util.find_spec("tantivy") is not None


class Tantivy:
    """The index in one folder; see the module and `embedded_words.WordIndex`.

    Raises
    ------
    StoreFailed
        tantivy is not installed here, or its files are damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._index: tantivy.Index | None = None

    def put(self, db: sqlite3.Connection, entries: Sequence[Entry]) -> None:
        """Add passages."""
        self._write([entry.number for entry in entries], entries)

    def drop(self, db: sqlite3.Connection, entries: Sequence[tuple[int, Words]]) -> None:
        """Forget passages."""
        self._write([number for number, _ in entries], ())

    def search(
        self, db: sqlite3.Connection, terms: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[int, float]]:
        """Numbers of passages by BM25, best first."""
        with self._explain_errors():
            index = self._open()
            index.reload()
            searcher = index.searcher()
            # In quotation marks, a term is a term and nothing else.
            words = " ".join(f'"{term}"' for term in terms)
            query, _ = index.parse_query_lenient(words, list(_WEIGHTS), field_boosts=_WEIGHTS)
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
            self._index.register_tokenizer("terms", _analyzer())
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
        except ImportError as error:
            msg = "The index of words was made with tantivy, which is not installed here."
            raise StoreFailed(msg, 'Install the extra "scale", or index again here.') from error
        except (ValueError, RuntimeError) as error:  # all that tantivy raises
            self._index = None
            raise StoreFailed(f"The index of words cannot be used: {error}.", HINT) from error


def _document(entry: Entry) -> tantivy.Document:
    import tantivy

    about = entry.about
    fields: dict[str, Any] = {**entry.words._asdict(), "number": entry.number, "year": about.year}
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
    for name in _WEIGHTS:
        builder.add_text_field(name, tokenizer_name="terms")
    for name in ("journal", "types", "kind"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("number", "year", "retracted"):
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


def _analyzer() -> tantivy.TextAnalyzer:
    from tantivy import TextAnalyzerBuilder, Tokenizer

    return TextAnalyzerBuilder(Tokenizer.whitespace()).build()
