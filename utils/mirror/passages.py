"""Passages of a mirror: an index by words, and what is shown of each, in one place.

Like the index of papers (`.words`), a document for each passage instead. It keeps the passage and
the facts of its paper beside the words (`.shown`), so that an answer is read from it and not from
Parquet, where one passage costs the reading of two thousand records. The parts stay the truth: what
is quoted is compared with them.

A search works on a `Snapshot`: the index and the published generation as they were when it began,
whatever is indexed or published meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ..corpus.word_index import (
    TERMS,
    add_conditions,
    build_conditions,
    build_numbers_query,
    build_terms_query,
    get_year_range,
    join_weighted_terms,
)
from ..errors import StoreFailed
from ..model.paper import Kind, Paper
from ..model.passage import Filters, Passage
from ..outline import terms
from .columns import paper_of
from .generations import KEYS, Generation, Generations
from .manifest import SourceFile
from .reading import live_places, passages_at, rows_at
from .shown import Found, Packing, found_of, shown_of
from .words import WordIndex, filtered_by, place_of

if TYPE_CHECKING:
    import tantivy
    from tantivy import Document, Query

At = tuple[int, int]
"""A document of a snapshot: its segment, and its number there."""

KIND = "-passages"
FACTS = (
    *("journal", "journal_abbreviation", "issn", "year"),
    *("publication_types", "mesh", "retracted", "arxiv"),
)
"""What is said of a paper besides its title and its other names, by PubMed's columns."""
_COLUMNS = ("pmid", "doi", "pmcid", "position", "title", *FACTS)
_BLOCK = 2_000  # records whose passages are looked at together
_PLACE = 1_000_000
_ALL = Filters(retracted=True)
_YEARS, _RETRACTIONS = 10, 50  # times as many, and so many more, are looked at for those that pass
_UNSEEN = "The index is being made anew just now."


class PassageIndex(WordIndex):
    """The index of the passages of one mirror."""

    kind = KIND
    names = (*WordIndex.names, "kind")
    numbers = (*WordIndex.numbers, "key", "retracted")
    of: Kind = "abstract"
    """Which kind of text its passages are of."""

    def snapshot(self) -> Snapshot:
        """Index and generation as they are now.

        Raises
        ------
        EmptyStore
            There is no generation, or nothing of it is indexed yet.
        StoreFailed
            The index is damaged.
        """
        for _ in range(8):
            state, generation = self._read_state(), self.generations.require_current()
            if not state:
                raise self.not_indexed()
            with self.explained():
                self.index.reload()
                searcher, packing = self.index.searcher(), self._packing
            if state == self._read_state():
                return Snapshot(self, searcher, packing, generation, state)
        raise StoreFailed(_UNSEEN, "Ask again.")

    def _fields(self) -> tantivy.SchemaBuilder:
        builder = super()._fields()
        builder.add_bytes_field("shown", stored=True)
        return builder

    @property
    def _packing(self) -> Packing:
        """How passages are packed; none is kept longer than the index that it is of."""
        return Packing.of(self.folder / "index")

    def _documents(self, file: SourceFile, positions: Sequence[int]) -> Iterator[Document]:
        rows = partial(_rows, self.generations, file, positions, self._records)
        shown = (shown_of(_place(file, row), record, row) for record, row in rows())
        packing = Packing.learned(self.folder / "index", shown)
        for record, row in rows():
            kept = packing.packed(shown_of(_place(file, row), record, row))
            yield self._document(_place(file, row), kept, record, row)

    def _records(self, file: SourceFile, positions: Sequence[int]) -> Iterator[dict[str, Any]]:
        """What is known of the papers of some rows."""
        yield from rows_at(file.part(self.generations.mirror), positions, _COLUMNS)

    def _document(
        self, place: int, shown: bytes, record: dict[str, Any], row: Mapping[str, Any]
    ) -> Document:
        """What is indexed, and shown, of a passage and its paper."""
        import tantivy

        return tantivy.Document(place=place, shown=shown, **_fields(record, row))


@dataclass
class Snapshot:
    """Index and generation at one moment.

    ``rows`` are the passages that were read so far, by UUID.
    """

    words: PassageIndex
    searcher: tantivy.Searcher
    packing: Packing
    generation: Generation
    state: Mapping[str, Any]
    rows: dict[str, Found] = field(default_factory=dict)

    @property
    def generations(self) -> Generations:
        """Where the generation is from."""
        return self.words.generations

    @property
    def is_exact(self) -> bool:
        """Whether the index has what the generation counts, and nothing else."""
        return "target" not in self.state and self.state["generation"] == self.generation.name

    @property
    def size(self) -> int:
        """Passages in the index."""
        return int(self.searcher.num_docs)

    def by_words(
        self, asked: Sequence[str], limit: int, filters: Filters
    ) -> list[tuple[At, float]]:
        """Documents by BM25, best first."""
        if not asked:
            return []
        found = self.search(build_terms_query(self.words.index.schema, asked), limit, filters)
        return [(at, float(score)) for score, at in found]

    def by_key(self, keys: Iterable[int], filters: Filters) -> dict[int, list[At]]:
        """Documents by the key of their text, of those that pass the filters."""
        wanted = [int(key) for key in keys]
        if not wanted:
            return {}
        query = build_numbers_query(self.words.index.schema, "key", wanted)
        addresses = [at for _, at in self.search(query, 2 * len(wanted) + 100, filters)]
        found = dict[int, list[At]]()
        for key, at in zip(self.keys(addresses), addresses, strict=True):
            found.setdefault(key, []).append(at)
        return found

    def keys(self, addresses: Sequence[At]) -> list[int]:
        """The keys of the texts of documents."""
        return self.fast_values("key", addresses)

    def fast_values(self, name: str, addresses: Sequence[At]) -> list[int]:
        """The numbers that documents have in a field."""
        documents = [_address(at) for at in addresses]
        values = self.searcher.fast_field_values(name, documents) if documents else []
        return [int(value or 0) for value in values]

    def keys_that_pass(self, filters: Filters, most: int) -> list[int] | None:
        """The keys of all texts that pass some filters; None where there are more than *most*."""
        conditions = list(build_conditions(self.words.index.schema, filters))
        if not conditions:
            return None
        from tantivy import Occur, Query

        query = Query.boolean_query([(Occur.Must, one) for one in conditions])
        found: Any = self.searcher.search(query, most, count=True)
        if int(found.count or 0) > most:
            return None
        return self.keys([(at.segment_ord, at.doc) for _, at in found.hits])

    def read(self, addresses: Sequence[At]) -> dict[At, Found]:
        """What documents say; those that the generation does not count are left out."""
        with self.words.explained():
            kept = {at: bytes(self.searcher.doc(_address(at))["shown"][0]) for at in addresses}
            made = {at: found_of(self.packing.unpacked(one)) for at, one in kept.items()}
        if not self.is_exact:
            live = self._live(made.values())
            made = {at: one for at, one in made.items() if one.place in live}
        self.rows.update((one.passage.uuid, one) for one in made.values())
        return made

    def passages_of(self, paper: str) -> list[Passage]:
        """The passages, in their order, of a paper of which one was read."""
        from tantivy import Query

        place = next((one.place for one in self.rows.values() if one.passage.paper == paper), None)
        if place is None:
            return []
        schema = self.words.index.schema
        hits = self.search(Query.term_query(schema, "place", place), 10_000)
        read = self.read([at for _, at in hits])
        return sorted((one.passage for one in read.values()), key=lambda one: one.ordinal)

    def paper(self, key: str) -> Paper | None:
        """PubMed's record, as it is in the parts, of a paper of which a passage was read."""
        place = next((one.place for one in self.rows.values() if one.passage.paper == key), None)
        if place is None:
            return None
        order, position = divmod(place, _PLACE)
        part = next(file for file in self.files if file.order == order).part
        return next(map(paper_of, rows_at(part(self.generations.mirror), [position])), None)

    @property
    def files(self) -> list[SourceFile]:
        """The files of the generation."""
        return self.generations.files(self.generation)

    def warnings(self) -> Iterator[str]:
        """Why an answer may not be of all that is published."""
        yield from self.words.warnings(self.state, self.generation)

    def _live(self, found: Iterable[Found]) -> set[int]:
        key = KEYS[self.generations.source]
        names = {getattr(one.paper.ids, key).removeprefix("PMC") for one in found} - {""}
        places = live_places(map(int, names), self.generations, self.generation).values()
        return {place_of(order, position) for order, position in places}

    def search(self, query: Query, limit: int, filters: Filters = _ALL) -> list[tuple[float, At]]:
        """The best that pass the filters.

        Years and retractions are looked up of the best, and more of these are asked for: looked up
        in the index, all rows that pass would be gone through.
        """
        alone = not (filters.journal_names or filters.publication_types or filters.mesh)
        alone = alone and not filters.kind
        if alone and not (filters.retracted and _any_year(filters)):
            asked = limit + _RETRACTIONS if _any_year(filters) else limit * _YEARS
            hits = self._hits(query, asked)
            passing = [hits[at] for at in self._passing([at for _, at in hits], filters)]
            if len(passing) >= limit or len(hits) < asked:
                return [_placed(hit) for hit in passing[:limit]]
        narrow = add_conditions(query, build_conditions(self.words.index.schema, filters))
        return [_placed(hit) for hit in self._hits(narrow, limit)]

    def _hits(self, query: Query, limit: int) -> list[tuple[Any, Any]]:
        with self.words.explained():
            hits: list[Any] = self.searcher.search(query, limit, count=False).hits
        return hits

    def _passing(self, documents: list[Any], filters: Filters) -> list[int]:
        """Which of some documents are of the years, and not retracted unless that may be."""
        import numpy as np

        if not documents:
            return []
        passes = np.ones(len(documents), bool)
        if not _any_year(filters):
            first, last = get_year_range(filters)
            years = np.array(self.searcher.fast_field_values("year", documents), np.int64)
            passes &= (years >= first) & (years <= last)
        if not filters.retracted:
            gone = self.searcher.fast_field_values("retracted", documents)
            passes &= np.array(gone, np.int64) == 0
        return [int(at) for at in np.flatnonzero(passes)]


def _placed(hit: tuple[Any, Any]) -> tuple[float, At]:
    score, at = hit
    return float(score), (at.segment_ord, at.doc)


def _any_year(filters: Filters) -> bool:
    return filters.year_from is None and filters.year_to is None


def _address(at: At) -> Any:
    import tantivy

    return tantivy.DocAddress(*at)


def key_of(digest: bytes) -> int:
    """The first eight bytes of a text's SHA-256, as a number that indexes hold.

    Of fifty million texts two have the same with a probability of 0.00007.
    """
    return int.from_bytes(digest[:8], "little", signed=True)


def _fields(record: dict[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    parts = (record["title"] or "", row["section"] or "", row["text"])
    return {
        TERMS: join_weighted_terms(*map(terms.indexed, parts)),
        "key": key_of(row["digest"]),
        "retracted": int(bool(record["retracted"])),
        "kind": row["kind"],
        **filtered_by(record),
    }


def _place(file: SourceFile, row: Mapping[str, Any]) -> int:
    return place_of(file.order, row["position"])


def _rows(
    generations: Generations,
    file: SourceFile,
    positions: Sequence[int],
    records: Callable[[SourceFile, Sequence[int]], Iterator[dict[str, Any]]],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What *records* says of papers, and the passages of them, in pairs."""
    cut = file.part(generations.mirror, KIND)
    about = "abstract" if file.source == "pubmed" else "full_text"
    for at in range(0, len(positions), _BLOCK):
        some = positions[at : at + _BLOCK]
        known = {row["position"]: row for row in records(file, some)}
        for row in passages_at(cut, some):
            yield known[row["position"]], {"kind": about, **row}
