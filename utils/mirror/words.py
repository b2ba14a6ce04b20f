"""Words of a mirror: papers of a published generation, found by BM25 over title and abstract.

The index is made by tantivy and lies next to the parts (that of passages: `.passages`). An update
adds the rows that differ from those of the indexed generation, and deletes those that no longer
count; `.splits` says how workers share this. Each hit is compared with the published generation, so
that a search never shows a row that does not count. Words are folded as in every index here
(`..outline.terms`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..corpus.ranking import fold_filter_value
from ..corpus.word_index import (
    TERMS,
    add_unscored_conditions,
    build_filter_queries,
    build_terms_query,
    build_word_index_schema,
    join_weighted_terms,
    open_word_index,
)
from ..errors import BadRequest, EmptyStore, StoreFailed
from ..model.paper import SearchResult
from ..model.passage import Filters
from ..outline import terms
from ..system import safe_files
from .columns import build_paper
from .generations import Generation, Generations, open_duckdb
from .manifest import SourceFile
from .reading import find_live_places, read_rows_at
from .splits import HEAP, install_splits, uninstall_splits

if TYPE_CHECKING:
    import tantivy
    from tantivy import Document

FORMAT = 4
"""The format of an index; an index of another format is made again."""
_PLACE = 1_000_000
_COLUMNS = (
    *("pmid", "position", "title", "vernacular_title", "abstract", "keywords", "year", "retracted"),
    *("journal", "journal_abbreviation", "issn", "publication_types", "mesh"),
)
_REBUILT = f"To make it again, delete the folder and run: {command_line('mirror index')}"
_MOST = 10_000  # hits that are ordered


@dataclass(frozen=True)
class Changes:
    """The difference between an index and a generation.

    ``new_rows`` are positions by the order of their file, ``splits`` the names of their splits,
    ``gone`` the places of rows that no longer count, and ``replaced`` the places of rows that are
    indexed again. ``counted`` is the table of the rows that count.
    """

    generation: Generation
    counted: Path
    files: dict[int, SourceFile]
    new_rows: dict[int, Any]
    splits: dict[int, str]
    gone: list[int]
    replaced: list[int]

    def count_new_rows(self) -> int:
        """Return the number of rows that are added."""
        return sum(map(len, self.new_rows.values()))


class WordIndex:
    """The index of one mirror.

    ``kind`` is the kind of the parts that it is made of, ``columns`` are the columns of their rows
    that it needs, ``names`` and ``numbers`` the fields by which hits are filtered and found.
    """

    kind = ""
    names: tuple[str, ...] = ("journal", "types", "mesh")
    numbers: tuple[str, ...] = ("place", "year")
    columns: tuple[str, ...] = _COLUMNS
    identifying_columns: Sequence[str] = ("sequence", "position")
    """Columns of the rows that count: a row is indexed again if one of them differs."""

    def __init__(self, generations: Generations) -> None:
        self.generations = generations
        self.folder = generations.mirror / "words" / f"{generations.source}{self.kind}"
        self.new = self.folder / "new"
        self._state = self.folder / "generation.json"

    def find_changes(self) -> Changes:
        """Return what the index lacks of the published generation; delete splits of another one.

        Raises
        ------
        EmptyStore
            There is no generation yet.
        StoreFailed
            A part or the index is damaged, or the disk refuses.
        """
        generation = self.generations.require_current()
        state = self._read_state()
        if not state or state.get("target") not in (None, generation.name):
            self._delete_index()  # of an older format, or half of another generation
        counted = self.write_counted_table(generation)
        changes = self._find_differences(generation, counted)
        self.prepare_documents(changes)
        safe_files.make_folder(self.new)
        for path in self.new.iterdir():
            if path.name not in changes.splits.values():
                shutil.rmtree(path, ignore_errors=True)
        return changes

    def apply_changes(self, changes: Changes) -> None:
        """Delete rows that no longer count, and add the splits, in one step for searches.

        Raises
        ------
        StoreFailed
            The index is damaged, or the disk refuses.
        """
        splits = [self.new / name for name in changes.splits.values()]
        is_changed = bool(splits or changes.gone)
        if is_changed:  # who reads must know before anything changes
            self._write_state({**self._read_state(), "target": changes.generation.name})
            with self.explain_errors():
                self._reopen()
                uninstall_splits(self.folder / "index", splits)
                self._delete_rows([*changes.gone, *changes.replaced])
                install_splits(self.folder / "index", splits)
        safe_files.write_file(self.folder / "live.parquet", changes.counted.read_bytes())
        digests = self.list_digests(changes.files.values())
        safe_files.write_file(self._parts, json.dumps(digests).encode())
        self._write_state({"generation": changes.generation.name, **self.get_facts()})
        shutil.rmtree(self.new, ignore_errors=True)
        if is_changed:
            with self.explain_errors():
                self._delete_rows([])  # merges small segments, and deletes their files

    def _delete_rows(self, places: Sequence[int]) -> None:
        """Delete rows, and merge segments of about the same size."""
        self._reopen()
        writer = self.index.writer(HEAP, 1)
        try:
            for place in places:
                writer.delete_documents_by_term("place", place)
            writer.commit()
        finally:
            writer.wait_merging_threads()
        self._reopen()

    def _reopen(self) -> None:
        """Open the index again, because its files changed."""
        self.__dict__.pop("index", None)
        self.index  # noqa: B018 - made if it is not there

    def write_counted_table(self, generation: Generation) -> Path:
        """Return the path of the table of rows that count."""
        return self.generations.folder / generation.name / "live.parquet"

    def prepare_documents(self, changes: Changes) -> None:
        """Prepare what the documents of new rows need besides their parts."""

    def get_facts(self) -> dict[str, str]:
        """Return metadata that is stored with the index, and makes it outdated when it changes."""
        return {}

    def _find_differences(self, generation: Generation, counted: Path) -> Changes:
        """Return the rows that differ from the indexed ones.

        Rows of a file that another version of a reader has read again are new. If most indexed rows
        no longer count, as in a new year, the whole index is made again.
        """
        files = {file.order: file for file in self.generations.list_files(generation)}
        old = self.folder / "live.parquet"
        gone, again = dict[int, Any](), dict[int, Any]()
        if old.exists():
            gone = group_by_file(old, counted, self.identifying_columns)
            again = self._find_changed_rows(counted, files.values())
            if sum(map(len, (*gone.values(), *again.values()))) > _count_rows(old) // 2:
                self._delete_index()
                gone, again = {}, {}
        since = old if old.exists() else None
        new_rows = {**group_by_file(counted, since, self.identifying_columns), **again}
        splits = {
            order: self._name_split(files[order], new_rows[order]) for order in sorted(new_rows)
        }
        return Changes(
            generation,
            counted,
            files,
            new_rows,
            splits,
            _encode_places(gone),
            _encode_places(again),
        )

    def _name_split(self, file: SourceFile, positions: Any) -> str:
        """Return the name of a split, which identifies the part and the rows."""
        facts = json.dumps([file.content_digest, self.get_facts(), FORMAT]).encode()
        rows = positions.astype("<i4").tobytes()
        return f"{file.sequence}-{hashlib.sha256(facts + rows).hexdigest()[:16]}"

    @property
    def _parts(self) -> Path:
        """The file that lists the indexed parts."""
        return self.folder / "parts.json"

    def list_digests(self, files: Iterable[SourceFile]) -> dict[str, str]:
        """Return the digests of the parts that the index is made of, by file."""
        return {str(file.order): file.content_digest for file in files}

    def _find_changed_rows(self, counted: Path, files: Iterable[SourceFile]) -> dict[int, Any]:
        """Return the positions, by file, of rows that may have changed since they were indexed."""
        if not self._parts.exists():  # of a version that did not write it down
            return {}
        with self.explain_errors():
            before, now = json.loads(self._parts.read_bytes()), self.list_digests(files)
        renewed = {name for name in before.keys() & now.keys() if before[name] != now[name]}
        return self._find_rows_of_parts(renewed, counted) if renewed else {}

    def _find_rows_of_parts(self, renewed: set[str], counted: Path) -> dict[int, Any]:
        """Return the positions, by file, of rows that were made from some parts."""
        every = group_by_file(counted, None)
        return {order: some for order, some in every.items() if str(order) in renewed}

    def make_documents(
        self, file: SourceFile, rows: Sequence[dict[str, Any]]
    ) -> Iterator[Document]:
        """Yield the documents of some rows of a file."""
        for row in rows:
            yield _make_document(encode_place(file.order, row["position"]), row)

    def find(
        self,
        query: str,
        *,
        max_results: int = 20,
        start: int = 0,
        start_year: int = 0,
        end_year: int = 0,
        journal: str = "",
        publication_types: Sequence[str] = (),
        mesh: Sequence[str] = (),
    ) -> SearchResult:
        """Find papers by words, best first; retracted ones are included and marked.

        Parameters
        ----------
        query : str
            Words; any of them may occur, and the rarer ones count for more.
        max_results, start : int
            Which of the hits, counted from 0; the first 10,000 can be had.
        start_year, end_year : int
            Of publication; 0 for any.
        journal : str
            Its name, NLM's abbreviation or its ISSN.
        publication_types, mesh : sequence of str
            One of these; a heading without its qualifiers.

        Raises
        ------
        BadRequest
            There is no word in the query, or too far a page is wanted.
        EmptyStore
            Nothing is indexed yet.
        """
        wanted = terms.to_query_terms(query)
        if not wanted:
            raise BadRequest(f"{query!r} has no word to search for.", "Give some words.")
        if not (0 <= start < _MOST and 0 < max_results <= _MOST - start):
            raise BadRequest(f"Only the first {_MOST:,} hits can be shown.", "Narrow the search.")
        state = self._read_state()
        if not state:
            raise self.to_not_indexed_error()
        filters = Filters(
            start_year or None, end_year or None, journal, tuple(publication_types),
            retracted=True, mesh=tuple(mesh),
        )  # fmt: skip
        with self.explain_errors():
            total, places = self._search_index(wanted, start + max_results, filters)
        generation = self.generations.require_current()
        papers = self._read_papers(places[start:], generation)
        more = start + max_results
        return SearchResult(
            query=query,
            effective_query=" ".join(wanted),
            total=total,
            papers=tuple(papers),
            warnings=tuple(self.describe_gaps(state, generation)),
            next_start=more if more < min(total, _MOST) else None,
        )

    def _search_index(
        self, wanted: Sequence[str], limit: int, filters: Filters
    ) -> tuple[int, list[int]]:
        """Return how many papers fit, and the places of the first."""
        index = self.index
        index.reload()
        query = add_unscored_conditions(
            build_terms_query(index.schema, wanted), build_filter_queries(index.schema, filters)
        )
        searcher = index.searcher()
        found: Any = searcher.search(query, limit, count=True)
        addresses = [address for _, address in found.hits]
        places = searcher.fast_field_values("place", addresses) if addresses else []
        return int(found.count or 0), [int(place or 0) for place in places]

    def _read_papers(self, places: Sequence[int], generation: Generation) -> list[Any]:
        """Return the records at places, in order, without those that no longer count."""
        files = {file.order: file for file in self.generations.list_files(generation)}
        by_file: dict[int, list[int]] = {}
        for place in places:
            if place // _PLACE in files:
                by_file.setdefault(place // _PLACE, []).append(place % _PLACE)
        found = {
            (row["pmid"], order, row["position"]): build_paper(row)
            for order, positions in by_file.items()
            for row in read_rows_at(
                files[order].get_part_path(self.generations.mirror), sorted(positions)
            )
        }
        live = find_live_places({pmid for pmid, *_ in found}, self.generations, generation)
        counted = {
            encode_place(order, position): paper
            for (pmid, order, position), paper in found.items()
            if live.get(pmid) == (order, position)
        }
        return [counted[place] for place in places if place in counted]

    def describe_gaps(self, state: Mapping[str, Any], generation: Generation) -> Iterator[str]:
        """Yield a warning if the index does not cover this generation."""
        if "target" in state:
            yield f"The index is being made, or was interrupted: {command_line('mirror index')}"
        elif state["generation"] != generation.name:
            yield (
                f"The index is of generation {state['generation']}, published is "
                f"{generation.name}: {command_line('mirror index')}"
            )

    @property
    def schema(self) -> tantivy.Schema:
        """The fields; ``place`` is the position of the record."""
        return self._make_fields().build()

    def _make_fields(self) -> tantivy.SchemaBuilder:
        return build_word_index_schema(self.names, self.numbers)

    @cached_property
    def index(self) -> tantivy.Index:
        """The index in tantivy."""
        safe_files.make_folder(self.folder / "index")
        return open_word_index(self.folder / "index", self.schema)

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Convert errors of tantivy and of the disk into our own."""
        try:
            with safe_files.disk_errors(self.folder, "use"):
                yield
        except (ValueError, RuntimeError) as error:  # all that tantivy raises
            self.__dict__.pop("index", None)
            # Its threads do not always say why; what it could not write, it has deleted again.
            is_full = shutil.disk_usage(self.generations.mirror).free < HEAP
            hint = "The disk is full: free some space and try again." if is_full else _REBUILT
            raise StoreFailed(f"{self.folder} cannot be used: {error}.", hint) from error

    def _delete_index(self) -> None:
        """Delete the index, so that it is made again."""
        self.__dict__.pop("index", None)
        shutil.rmtree(self.folder / "index", ignore_errors=True)
        for name in ("live.parquet", self._parts.name, self._state.name):
            safe_files.delete_if_exists(self.folder / name)

    def to_not_indexed_error(self) -> EmptyStore:
        """Return the error of a search where nothing is indexed, or by an older version alone."""
        older = "The index of the mirror was made by an older version."
        msg = older if self._state.exists() else "The mirror is not indexed yet."
        return EmptyStore(msg, f"Run: {command_line('mirror index')}")

    def _read_state(self) -> dict[str, Any]:
        """Return what the index was made of; else empty of today's format."""
        with suppress(OSError, ValueError):
            state = dict(json.loads(self._state.read_text(encoding="utf-8")))
            return state if state.get("format") == FORMAT else {}
        return {}

    def _write_state(self, state: dict[str, Any]) -> None:
        safe_files.write_file(self._state, json.dumps({**state, "format": FORMAT}).encode())


def _encode_places(by_file: Mapping[int, Any]) -> list[int]:
    return [encode_place(order, int(at)) for order, some in by_file.items() for at in some]


def encode_place(order: int, position: int) -> int:
    """Return a row's file and position as one number."""
    return order * _PLACE + position


def _make_document(place: int, row: dict[str, Any]) -> Document:
    import tantivy

    keywords = [*(row["keywords"] or ()), *get_headings(row)]
    titles = filter(None, (row["title"], row["vernacular_title"]))
    parts = (" ".join(titles), " ".join(keywords), row["abstract"] or "")
    said: dict[str, Any] = {
        TERMS: join_weighted_terms(*map(fold_text, parts)),
        **get_filter_fields(row),
    }
    return tantivy.Document(place=place, **said)


def get_filter_fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record's row by which hits are filtered."""
    names = filter(None, (row["journal"], row["journal_abbreviation"], row["issn"]))
    return {
        "year": row["year"] or 0,
        "journal": list(dict.fromkeys(map(_fold_name, names))),
        "types": [*map(_fold_name, row["publication_types"] or ())],
        "mesh": [*map(_fold_name, get_headings(row))],
    }


@lru_cache(maxsize=65_536)
def _fold_name(name: str) -> str:
    """Return a journal, heading or type as it is indexed; they are few, and repeated."""
    return fold_filter_value(name)


@lru_cache(maxsize=8_192)
def fold_text(text: str) -> str:
    """Return the terms of a text; kept, because a title and most abstracts are indexed twice."""
    return terms.to_index_terms(text)


def get_headings(row: Mapping[str, Any]) -> list[str]:
    """Return MeSH headings without their qualifiers."""
    return sorted({heading.split("/")[0].lstrip("*") for heading in row["mesh"] or ()})


def group_by_file(
    path: Path, other: Path | None, columns: Sequence[str] = WordIndex.identifying_columns
) -> dict[int, Any]:
    """Return the positions, by file, of rows of a `live.parquet` that are not in another.

    A row is one of another by these *columns*.
    """
    import numpy as np

    paths = [str(one) for one in (path, other) if one]
    same = ", ".join(columns)
    but = f"ANTI JOIN read_parquet(?) AS other USING ({same})" if other else ""
    query = f"""
        SELECT sequence, position FROM read_parquet(?) AS one {but} ORDER BY sequence, position
    """  # noqa: S608 - of constants
    with open_duckdb(path.parent) as db:
        found = db.sql(query, params=paths).to_arrow_table()
    orders, positions = (found[name].to_numpy() for name in ("sequence", "position"))
    named, starts = np.unique(orders, return_index=True)
    pieces = np.split(positions, starts[1:]) if len(named) else []
    return {int(order): piece for order, piece in zip(named, pieces, strict=True)}


def _count_rows(path: Path) -> int:
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)
