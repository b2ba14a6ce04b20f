"""The finder that needs no service: a word index, a database and a file of vectors.

``words.db`` (`.embedded_schema`) stores terms and positions, ``vectors-….f32``
(`.embedded_vectors`) the vectors. Any number of processes read while one process writes. A killed
writer loses only uncommitted changes; `EmbeddedFinder.find_uuids_without_vectors` then lists the
affected passages.
A damaged file is renamed and reported as an error, and the next indexing rebuilds it.

The word index is kept by the search engine tantivy (`.word_index`) in a folder next to
``words.db``. It commits separately, before the database. If a process is killed between the two
commits, the word index contains passages that the database lacks. Searches ignore such passages,
because every number is looked up in the database, and a passage stored later under the same number
replaces them.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..errors import StoreFailed
from ..model.passage import Filters, Passage, PassageHit
from ..outline.terms import to_query_terms, to_term_groups
from ..system.safe_files import disk_errors, inherit_group_rights, make_folder
from .embedded_schema import (
    FORMAT,
    HINT,
    FilterFacts,
    IndexDatabase,
    PassageTerms,
    WordIndexEntry,
    convert_words_to_terms,
    get_index_fact,
    has_index_tables,
    increment_change_stamp,
    iterate_word_index_entries,
    set_index_facts,
    to_json_list,
)
from .embedded_vectors import EXACT, DamagedVectors, VectorFile
from .finders import FinderStatus
from .ranking import (
    WORD_SEARCH_DEPTH,
    Scored,
    compute_term_share,
    fuse_scores,
    get_candidate_limit,
    to_query_vector,
    to_vector_rows,
    weigh_term,
)
from .word_index import (
    TERMS,
    add_unscored_conditions,
    build_filter_queries,
    build_terms_query,
    build_word_index_schema,
    join_weighted_terms,
    open_word_index,
)

if TYPE_CHECKING:
    import numpy as np
    import tantivy
    from numpy.typing import NDArray

    from .finders import Vectors

log = logging.getLogger(__name__)
_Found = TypeVar("_Found")
PREFIX = "terms-"
"""The beginning of the names of such folders; older formats have the others."""
_OLDER_PREFIXES = ("words-", "tantivy-")
_HEAP = 15_000_000  # the least that tantivy accepts: enough for several batches


class EmbeddedFinder:
    """A finder in files of *folder*, without a server; see `.Finder`.

    Parameters
    ----------
    folder : Path
        Created at the first write.
    exact : int, optional
        With more vectors than this, only those with the most similar binary codes are compared.
    """

    name = "embedded"

    def __init__(self, folder: Path, exact: int = EXACT) -> None:
        self.folder = folder
        self._database = IndexDatabase(folder)
        self._vectors = VectorFile(folder, exact)
        self._words: WordIndex | None = None

    def prepare_for_model(self, model: str, dim: int) -> None:
        """Create or verify the files; delete the vectors of another model."""
        with self._open_writing() as db:
            known = (get_index_fact(db, "model"), get_index_fact(db, "dim"))
            if model and known != (model, dim):
                self._vectors.delete_all_vectors(db, increment_change_stamp(db))
                set_index_facts(db, model=model, dim=dim)
            self._vectors.verify_checksums(db)
            if get_index_fact(db, "format") < FORMAT:
                convert_words_to_terms(db)
            if not self._has_current_word_index(db) or not self._open_word_index(
                db
            ).has_enough_passages(get_index_fact(db, "passages")):
                self._rebuild_word_index(db)

    def store_passages(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Store passages; unchanged passages without a new vector keep their old one.

        Raises
        ------
        InvariantFailed
            The vectors are not those of the model this was prepared for.
        """
        with self._open_writing() as db:
            rows = (
                None
                if vectors is None
                else to_vector_rows(vectors, passages, get_index_fact(db, "dim"))
            )
            latest = {passage.uuid: at for at, passage in enumerate(passages)}
            if not latest:
                return
            stamp = increment_change_stamp(db)
            first = None
            if rows is not None:
                first = self._vectors.append_vectors(db, rows[list(latest.values())])
            kept = [passages[at] for at in latest.values()]
            self._write_passages(db, dict(zip(latest, kept, strict=True)), stamp, first)
            self._vectors.compact_if_sparse(db)

    def delete_passages(self, uuids: Sequence[str]) -> None:
        """Delete passages; unknown UUIDs are ignored."""
        with self._open_writing() as db:
            known = list(_find_stored_passages(db, uuids).values())
            if not known:
                return
            numbers = to_json_list([each.number for each in known])
            self._open_word_index(db).delete_passages([each.number for each in known])
            stamp = increment_change_stamp(db)
            dead = [(each.row, stamp) for each in known if each.row is not None]
            db.executemany("INSERT INTO dead VALUES (?, ?)", dead)
            set_index_facts(db, passages=get_index_fact(db, "passages") - len(known))
            for table in ("texts", "passages"):
                among = "id IN (SELECT value FROM json_each(?))"
                db.execute(f"DELETE FROM {table} WHERE {among}", (numbers,))  # noqa: S608
            self._vectors.compact_if_sparse(db)

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """Return the best passages by words and, with a vector, by meaning.

        Raises
        ------
        StoreFailed
            A file is damaged (and set aside).
        InvariantFailed
            The vector is of another width than those of the passages.
        """

        def search_in_transaction(db: sqlite3.Connection) -> list[PassageHit]:
            terms, depth = to_query_terms(query), get_candidate_limit(limit)
            words = (
                self._open_word_index(db).search(terms, max(WORD_SEARCH_DEPTH, limit), filters)
                if terms
                else []
            )
            first = [number for number, _ in words[:depth]]
            near: dict[int, float] = {}
            if vector is not None and get_index_fact(db, "rows"):
                query_vector = to_query_vector(vector, get_index_fact(db, "dim"))
                view = self._vectors.open_view(db)
                near = dict(
                    view.find_nearest_passages(
                        query_vector, depth, self._vectors.find_allowed_filter_facts(db, filters)
                    )
                )
                near |= view.compute_cosines(query_vector, _find_vector_rows(db, first))
            candidates = {*first, *near}
            by_words = [(number, score) for number, score in words if number in candidates]
            share = self._compute_share(db, query, first[0]) if first else 0.0
            names = _add_passage_keys(db, by_words), _add_passage_keys(db, list(near.items()))
            return fuse_scores(*names, share, limit)

        return self._read_consistently(search_in_transaction, [])

    def _compute_share(self, db: sqlite3.Connection, query: str, best: int) -> float:
        """Return the share of the query's terms, by their weights, that a passage has."""
        asked = to_term_groups(query)
        weights = self._open_word_index(db).weigh_terms(asked)
        return compute_term_share(asked, _read_terms(db, best), weights)

    def find_uuids_without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs without a vector, or, before a model was prepared, the unknown UUIDs."""

        def find_in_transaction(db: sqlite3.Connection) -> set[str]:
            wanted = bool(get_index_fact(db, "model"))
            held = {
                uuid
                for uuid, known in _find_stored_passages(db, uuids).items()
                if known.row is not None or not wanted
            }
            return set(uuids) - held

        return self._read_consistently(find_in_transaction, set(uuids))

    def get_status(self) -> FinderStatus:
        """Return the counts of passages and vectors; fast enough for every search."""

        def count_in_transaction(db: sqlite3.Connection) -> FinderStatus:
            (dead,) = db.execute("SELECT count(*) FROM dead").fetchone()
            passages, vectors = get_index_fact(db, "passages"), get_index_fact(db, "rows") - dead
            return FinderStatus(
                passages, vectors, get_index_fact(db, "model"), get_index_fact(db, "dim")
            )

        return self._read_consistently(count_in_transaction, FinderStatus(0, 0))

    def close(self) -> None:
        """Close the files."""
        self._database.close()
        self._vectors.close()
        self._words = None

    @contextmanager
    def _open_writing(self) -> Iterator[sqlite3.Connection]:
        files = (-1, "")
        try:
            with self._database.open_writing() as db:
                files = get_index_fact(db, "generation"), get_index_fact(db, "words")
                if not self._has_current_word_index(db):
                    self._rebuild_word_index(db)
                yield db
                last = get_index_fact(db, "generation"), get_index_fact(db, "words")
        except DamagedVectors as error:
            self._vectors.close()
            raise self._move_damaged_vectors_aside(files[0], error) from error
        except BaseException:
            self._vectors.close()  # it may know rows that were never committed
            raise
        if last != files:
            self._delete_outdated_files(*last)

    def _read_consistently(
        self, read: Callable[[sqlite3.Connection], _Found], absent: _Found
    ) -> _Found:
        """Return the result of *read* in one transaction; retry once if a file was replaced."""
        generation = -1
        while True:
            try:
                with self._database.open_reading() as db:
                    if db is None or not has_index_tables(db):
                        return absent
                    if self._has_current_word_index(db):
                        before, generation = generation, get_index_fact(db, "generation")
                        return read(db)
                with self._open_writing():  # an older version's index, which is made again here
                    pass
            except DamagedVectors as error:
                self._vectors.close()
                if before == generation:
                    raise self._move_damaged_vectors_aside(generation, error) from error

    def _move_damaged_vectors_aside(self, generation: int, error: DamagedVectors) -> StoreFailed:
        """Rename a damaged vector file; return the error that reports the damage."""
        with self._database.open_writing() as db:
            aside = ""
            if get_index_fact(db, "generation") == generation:  # else another process did
                self._vectors.delete_all_vectors(db, increment_change_stamp(db))
                aside = self._vectors.move_damaged_file_aside(generation).name
        msg = f"Damaged vectors ({error}) were renamed to {aside}; search by words still works."
        return StoreFailed(msg, HINT, file=str(self.folder / aside))

    def _delete_outdated_files(self, generation: int, words: str) -> None:
        self._vectors.delete_other_generations(generation)
        prefixes = (PREFIX, *_OLDER_PREFIXES)
        for folder in (one for name in prefixes for one in self.folder.glob(f"{name}*/")):
            if folder.name != words:
                shutil.rmtree(folder, ignore_errors=True)

    def _has_current_word_index(self, db: sqlite3.Connection) -> bool:
        """Return whether the word index has the current format."""
        return str(get_index_fact(db, "words")).startswith(PREFIX)

    def _open_word_index(self, db: sqlite3.Connection) -> WordIndex:
        name = get_index_fact(db, "words")
        if self._words is None or self._words.name != name:
            self._words = WordIndex(self.folder / name)
        return self._words

    def _write_passages(
        self, db: sqlite3.Connection, passages: dict[str, Passage], stamp: int, first: int | None
    ) -> None:
        """Write passages; their vectors are the rows from *first* on, in the same order."""
        known = _find_stored_passages(db, list(passages))
        texts = dict(
            _read_passage_terms(db, to_json_list([each.number for each in known.values()]))
        )
        abouts = {uuid: FilterFacts.from_passage(passage) for uuid, passage in passages.items()}
        numbers = {
            about: _get_or_create_filter_facts_id(db, about)
            for about in dict.fromkeys(abouts.values())
        }
        last = _get_highest_passage_number(db)
        rows, entries, dead = [], [], []
        for at, (uuid, passage) in enumerate(passages.items()):
            old = known.get(uuid)
            row = None if first is None else first + at
            if old and row is None and passage.digest and passage.digest == old.digest:
                row = old.row
            elif old and old.row is not None:
                dead.append((old.row, stamp))
            number = old.number if old else (last := last + 1)
            entry = WordIndexEntry(number, PassageTerms.from_passage(passage), abouts[uuid])
            about = numbers[entry.about]
            rows.append((number, uuid, passage.paper, passage.digest, about, stamp, row))
            # Words come before vectors, which need not have them indexed a second time.
            if not old or about != old.about or entry.words != texts[number]:
                entries.append(entry)
        db.executemany(_UPSERT, rows)
        db.executemany("INSERT INTO dead VALUES (?, ?)", dead)
        packed = [(entry.number, entry.words.compress()) for entry in entries]
        db.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", packed)
        set_index_facts(db, passages=get_index_fact(db, "passages") + len(passages) - len(known))
        if entries:
            self._open_word_index(db).add_passages(entries)

    def _rebuild_word_index(self, db: sqlite3.Connection) -> None:
        """Rebuild the word index from the terms in the database."""
        if get_index_fact(db, "passages"):
            log.warning("Rebuilding the word index in %s.", self.folder)
        name = f"{PREFIX}{get_index_fact(db, 'generation')}-{increment_change_stamp(db)}"
        self._words = WordIndex(self.folder / name)
        self._words.rebuild(iterate_word_index_entries(db))
        db.execute("DROP TABLE IF EXISTS words")  # older versions' FTS5
        set_index_facts(db, words=name)


_UPSERT = """INSERT INTO passages (id, uuid, paper, digest, about, stamp, row)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET paper = excluded.paper,
    digest = excluded.digest, about = excluded.about, stamp = excluded.stamp, row = excluded.row"""
_ABOUT = """SELECT id FROM abouts
    WHERE year = ? AND journal = ? AND types = ? AND kind = ? AND retracted = ?"""
_NEW_ABOUT = """INSERT INTO abouts (year, journal, types, kind, retracted)
    VALUES (?, ?, ?, ?, ?)"""


class _StoredPassage(NamedTuple):
    """A stored passage: its number, digest, number of its filter facts, and vector row."""

    number: int
    digest: str
    about: int
    row: int | None


def _find_stored_passages(
    db: sqlite3.Connection, uuids: Sequence[str]
) -> dict[str, _StoredPassage]:
    query = """SELECT uuid, id, digest, about, row FROM passages
        WHERE uuid IN (SELECT value FROM json_each(?))"""
    return {
        uuid: _StoredPassage(*rest) for uuid, *rest in db.execute(query, (to_json_list(uuids),))
    }


def _read_passage_terms(db: sqlite3.Connection, numbers: str) -> list[tuple[int, PassageTerms]]:
    query = "SELECT id, words FROM texts WHERE id IN (SELECT value FROM json_each(?))"
    return [
        (number, PassageTerms.decompress(words)) for number, words in db.execute(query, (numbers,))
    ]


def _read_terms(db: sqlite3.Connection, number: int) -> set[str]:
    """Return the terms of a passage; empty if a killed writer left only its number."""
    return {
        term for _, words in _read_passage_terms(db, to_json_list([number])) for term in words.terms
    }


def _find_vector_rows(db: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return the vector row of each passage that has a vector."""
    query = """SELECT id, row FROM passages
        WHERE row IS NOT NULL AND id IN (SELECT value FROM json_each(?))"""
    return dict(db.execute(query, (to_json_list(numbers),)).fetchall())


def _get_or_create_filter_facts_id(db: sqlite3.Connection, about: FilterFacts) -> int:
    found = db.execute(_ABOUT, about).fetchone()
    return int(found[0] if found else db.execute(_NEW_ABOUT, about).lastrowid or 0)


def _get_highest_passage_number(db: sqlite3.Connection) -> int:
    """Return the highest passage number ever used; numbers are not reused."""
    found = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
    return int(found[0]) if found else 0


def _add_passage_keys(db: sqlite3.Connection, found: Sequence[tuple[int, float]]) -> list[Scored]:
    """Return the UUID, paper and score of hits; hits missing in the database are left out."""
    query = "SELECT id, uuid, paper FROM passages WHERE id IN (SELECT value FROM json_each(?))"
    numbers = to_json_list([number for number, _ in found])
    names = {number: (uuid, paper) for number, uuid, paper in db.execute(query, (numbers,))}
    return [(*names[number], score) for number, score in found if number in names]


class WordIndex:
    """The word index in one folder; methods raise `StoreFailed` if its files are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._index: tantivy.Index | None = None

    def add_passages(self, entries: Sequence[WordIndexEntry]) -> None:
        """Add passages, replacing those with the same number."""
        self._replace_entries([entry.number for entry in entries], entries)

    def delete_passages(self, numbers: Sequence[int]) -> None:
        """Delete passages."""
        self._replace_entries(numbers, ())

    def search(self, terms: Sequence[str], limit: int, filters: Filters) -> list[tuple[int, float]]:
        """Return the numbers of passages with any of the terms, best first by BM25."""
        with self._convert_to_store_failed():
            index = self._open_index()
            index.reload()
            searcher = index.searcher()
            conditions = build_filter_queries(index.schema, filters)
            query = add_unscored_conditions(build_terms_query(index.schema, terms), conditions)
            found = searcher.search(query, limit).hits
            numbers = searcher.fast_field_values("number", [address for _, address in found])
            pairs = zip(numbers, found, strict=True)
            return [(int(number or 0), float(score)) for number, (score, _) in pairs]

    def weigh_terms(self, asked: Sequence[Sequence[str]]) -> list[float]:
        """Return how much each term tells, from the number of passages that have a spelling."""
        with self._convert_to_store_failed():
            searcher = self._open_index().searcher()
            every = searcher.num_docs
            return [
                weigh_term(sum(searcher.doc_freq(TERMS, one) for one in spellings), every)
                for spellings in asked
            ]

    def has_enough_passages(self, passages: int) -> bool:
        """Return whether the index is readable and contains at least that many passages."""
        with suppress(StoreFailed), self._convert_to_store_failed():
            self._open_index().reload()
            return bool(self._open_index().searcher().num_docs >= passages)
        return False

    def rebuild(self, entries: Iterable[WordIndexEntry]) -> None:
        """Rebuild the index from these passages only."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._index = None
        self._replace_entries((), entries)

    def _replace_entries(self, gone: Iterable[int], entries: Iterable[WordIndexEntry]) -> None:
        with self._convert_to_store_failed():
            # One thread: the writer is busy elsewhere, and one segment a batch is fewer to merge.
            writer = self._open_index().writer(_HEAP, 1)
            try:
                for number in gone:
                    writer.delete_documents_by_term("number", number)
                for entry in entries:
                    writer.add_document(_build_tantivy_document(entry))
                writer.commit()
            finally:
                writer.wait_merging_threads()
                for path in self.folder.iterdir():
                    inherit_group_rights(path)

    def _open_index(self) -> tantivy.Index:
        if self._index is None:
            make_folder(self.folder)
            names, numbers = ("journal", "types", "kind"), ("number", "year", "retracted")
            self._index = open_word_index(
                self.folder, build_word_index_schema(names, numbers).build()
            )
        return self._index

    @contextmanager
    def _convert_to_store_failed(self) -> Iterator[None]:
        try:
            with disk_errors(self.folder, "use"):
                yield
        except (ValueError, RuntimeError) as error:  # all that tantivy raises
            self._index = None
            raise StoreFailed(f"The index of words cannot be used: {error}.", HINT) from error


def _build_tantivy_document(entry: WordIndexEntry) -> tantivy.Document:
    import tantivy

    about = entry.about
    made: dict[str, Any] = {TERMS: join_weighted_terms(*entry.words), "number": entry.number}
    made |= {name: getattr(about, name) for name in ("year", "journal", "kind", "retracted")}
    return tantivy.Document(**made, types=about.types.split("\n")[1:-1])
