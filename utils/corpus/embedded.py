"""The finder that needs no service: a word index, a database and a file of vectors.

``words.db`` (`.embedded_schema`) numbers the passages, ``vectors-….f32`` (`.embedded_vectors`)
stores their vectors. Any number of processes read while one process writes. A killed writer loses
only uncommitted changes; `EmbeddedFinder.find_absent_uuids` and `find_uuids_without_vectors` then
list the affected passages. A damaged file is renamed and reported as an error, and the next
indexing rebuilds it.

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
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..errors import StoreFailed
from ..model.passage import Filters, Passage, PassageHit
from ..outline.terms import to_index_terms, to_query_terms, to_term_groups
from ..system.safe_files import disk_errors, inherit_group_rights, make_folder
from .embedded_schema import (
    FORMAT,
    HINT,
    FilterFacts,
    IndexDatabase,
    drop_stored_terms,
    get_index_fact,
    has_index_tables,
    increment_change_stamp,
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
_HEAP = 50_000_000  # a batch fits, so that it becomes one segment, with one list of its terms


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
            passages = get_index_fact(db, "passages")
            if not self._open_word_index(db).has_enough_passages(passages):
                self._start_word_index(db)

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
            numbers = [each.number for each in known]
            self._open_word_index(db).delete_passages(numbers)
            stamp = increment_change_stamp(db)
            dead = [(each.row, stamp) for each in known if each.row is not None]
            db.executemany("INSERT INTO dead VALUES (?, ?)", dead)
            _add_to_passage_count(db, -sum(each.has_words for each in known))
            among = "id IN (SELECT value FROM json_each(?))"
            db.execute(f"DELETE FROM passages WHERE {among}", (to_json_list(numbers),))  # noqa: S608
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
            return fuse_scores(*names, query, share, limit)

        return self._read_consistently(search_in_transaction, [])

    def _compute_share(self, db: sqlite3.Connection, query: str, best: int) -> float:
        """Return the share of the query's terms, by their weights, that a passage has."""
        asked = to_term_groups(query)
        index = self._open_word_index(db)
        held = index.select_terms(best, chain.from_iterable(asked))
        return compute_term_share(asked, held, index.weigh_terms(asked))

    def find_absent_uuids(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs of passages whose words are not indexed."""

        def find_in_transaction(db: sqlite3.Connection) -> set[str]:
            known = _find_stored_passages(db, uuids)
            return set(uuids) - {uuid for uuid, each in known.items() if each.has_words}

        return self._read_consistently(find_in_transaction, set(uuids))

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
                if get_index_fact(db, "format") < FORMAT:
                    drop_stored_terms(db)
                if not str(get_index_fact(db, "words")).startswith(PREFIX):
                    self._start_word_index(db)
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
                    if self._has_current_format(db):
                        before, generation = generation, get_index_fact(db, "generation")
                        return read(db)
                with self._open_writing():  # an older version's index is converted here
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

    def _has_current_format(self, db: sqlite3.Connection) -> bool:
        """Return whether database and word index have the current formats."""
        is_current = get_index_fact(db, "format") == FORMAT
        return is_current and str(get_index_fact(db, "words")).startswith(PREFIX)

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
        abouts = {uuid: FilterFacts.from_passage(passage) for uuid, passage in passages.items()}
        numbers = {
            about: _get_or_create_filter_facts_id(db, about)
            for about in dict.fromkeys(abouts.values())
        }
        last = _get_highest_passage_number(db)
        rows, dead = [], []
        entries: list[_WordIndexEntry] = []
        for at, (uuid, passage) in enumerate(passages.items()):
            old = known.get(uuid)
            row = None if first is None else first + at
            if old and row is None and passage.digest and passage.digest == old.digest:
                row = old.row
            elif old and old.row is not None:
                dead.append((old.row, stamp))
            number = old.number if old else (last := last + 1)
            about = numbers[abouts[uuid]]
            rows.append((number, uuid, passage.paper, passage.digest, about, stamp, row))
            # Words come before vectors, which need not have them indexed a second time.
            if not old or not old.has_same_words(passage.digest, about):
                entries.append(_WordIndexEntry(number, passage, abouts[uuid]))
        db.executemany(_UPSERT, rows)
        db.executemany("INSERT INTO dead VALUES (?, ?)", dead)
        _add_to_passage_count(db, len(passages) - sum(each.has_words for each in known.values()))
        if entries:
            self._open_word_index(db).add_passages(entries)

    def _start_word_index(self, db: sqlite3.Connection) -> None:
        """Start an empty word index; the next indexing stores the words of every passage again."""
        if get_index_fact(db, "passages"):
            log.warning("The word index in %s must be rebuilt. %s", self.folder, HINT)
        stamp = increment_change_stamp(db)
        name = f"{PREFIX}{get_index_fact(db, 'generation')}-{stamp}"
        self._words = WordIndex(self.folder / name)
        self._words.create()
        set_index_facts(db, words=name, words_since=stamp, passages=0)


_UPSERT = """INSERT INTO passages (id, uuid, paper, digest, about, stamp, row)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET paper = excluded.paper,
    digest = excluded.digest, about = excluded.about, stamp = excluded.stamp, row = excluded.row"""
_ABOUT = """SELECT id FROM abouts
    WHERE year = ? AND journal = ? AND types = ? AND kind = ? AND retracted = ?"""
_NEW_ABOUT = """INSERT INTO abouts (year, journal, types, kind, retracted)
    VALUES (?, ?, ?, ?, ?)"""


class _StoredPassage(NamedTuple):
    """A stored passage: its number, digest, number of its filter facts, and vector row.

    ``has_words`` is False if the word index was started again after the passage was stored.
    """

    number: int
    digest: str
    about: int
    row: int | None
    has_words: bool

    def has_same_words(self, digest: str, about: int) -> bool:
        """Return whether the word index has these words (by their digest) and filter facts."""
        return bool(self.has_words and digest and (digest, about) == (self.digest, self.about))


def _find_stored_passages(
    db: sqlite3.Connection, uuids: Sequence[str]
) -> dict[str, _StoredPassage]:
    query = """SELECT uuid, id, digest, about, row, stamp > ? FROM passages
        WHERE uuid IN (SELECT value FROM json_each(?))"""
    since = get_index_fact(db, "words_since")
    return {
        uuid: _StoredPassage(*rest)
        for uuid, *rest in db.execute(query, (since, to_json_list(uuids)))
    }


def _add_to_passage_count(db: sqlite3.Connection, more: int) -> None:
    set_index_facts(db, passages=get_index_fact(db, "passages") + more)


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


class _WordIndexEntry(NamedTuple):
    """A passage to write into a word index."""

    number: int
    passage: Passage
    about: FilterFacts


class WordIndex:
    """The word index in one folder; methods raise `StoreFailed` if its files are damaged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._index: tantivy.Index | None = None

    def add_passages(self, entries: Sequence[_WordIndexEntry]) -> None:
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

    def select_terms(self, number: int, terms: Iterable[str]) -> set[str]:
        """Return those of the terms that one passage has."""
        from tantivy import Occur, Query

        with self._convert_to_store_failed():
            index = self._open_index()
            searcher, passage = index.searcher(), Query.term_query(index.schema, "number", number)
            return {
                term
                for term in terms
                if searcher.search(
                    Query.boolean_query(
                        [
                            (Occur.Must, passage),
                            (Occur.Must, Query.term_query(index.schema, TERMS, term)),
                        ]
                    ),
                    1,
                ).hits
            }

    def create(self) -> None:
        """Create an empty index, in place of files that a killed writer left."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._index = None
        self._replace_entries((), ())

    def _replace_entries(self, gone: Iterable[int], entries: Iterable[_WordIndexEntry]) -> None:
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


_to_shared_terms = lru_cache(maxsize=1024)(to_index_terms)  # of titles and sections


def _build_tantivy_document(entry: _WordIndexEntry) -> tantivy.Document:
    import tantivy

    passage, about = entry.passage, entry.about
    terms = join_weighted_terms(
        _to_shared_terms(passage.title),
        _to_shared_terms(passage.section),
        to_index_terms(passage.text),
    )
    made: dict[str, Any] = {TERMS: terms, "number": entry.number}
    made |= {name: getattr(about, name) for name in ("year", "journal", "kind", "retracted")}
    return tantivy.Document(**made, types=about.types.split("\n")[1:-1])
