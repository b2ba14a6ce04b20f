"""Rows of a mirror in the tables of a shared generation: copied in, taken out, counted.

``corpus_rows`` says of each row which place in the mirror's files it is from, whose it is (a PMID,
or a PMCID), and which passages are its own: so many, numbered from ``first`` on.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from ..errors import PaperError, StoreFailed
from ..mirror.bundles import objects_in
from ..mirror.columns import paper_of
from ..mirror.passages import key_of
from ..mirror.reading import rows_at
from ..mirror.words import headings
from ..model.paper import now, paper_from
from ..passages import LoadedPassage, pgvector_compact
from ..passages.ranking import plain
from ..passages.weaviate_finder import WeaviateFinder
from .database import passage_row
from .load_source import LoadSource
from .mirrored_texts import COLUMNS
from .names import forget_names, names_in, note_names
from .stored_records import paper_row

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ..mirror.manifest import SourceFile
    from ..mirror.shown import Found
    from ..model.paper import Paper
    from ..passages import Finder
    from .names import Name
    from .shared_mirror import SharedGeneration

TABLES = """
CREATE TABLE corpus_parts (
    source text NOT NULL, sequence integer NOT NULL, digest text NOT NULL,
    PRIMARY KEY (source, sequence)
);
CREATE TABLE corpus_rows (
    sequence integer NOT NULL, position integer NOT NULL, beside bigint NOT NULL,
    key integer NOT NULL, first integer NOT NULL, passages integer NOT NULL,
    PRIMARY KEY (sequence, position)
);
CREATE TABLE corpus_texts (
    pmcid integer PRIMARY KEY, pmid integer, doi text, version integer NOT NULL, title text,
    journal text, year integer, license text, text_version text, retracted boolean, verdict text,
    evidence text, text text NOT NULL, metadata bytea, jats bytea
);
ALTER TABLE corpus_texts ALTER jats SET STORAGE EXTERNAL;
CREATE INDEX corpus_texts_pmid ON corpus_texts (pmid);
CREATE INDEX corpus_texts_doi ON corpus_texts (doi)
"""
_ROW = ("sequence", "position", "beside", "key", "first", "passages")
_BLOCK = 2_000  # rows that are copied, or taken out, together
_PLACE = 1_000_000
_OUT = """DELETE FROM corpus_rows WHERE sequence = :order AND position = ANY(:positions)
    RETURNING key, first, passages"""
_PART = "INSERT INTO corpus_parts VALUES (:source, :sequence, :digest)"


class MirrorRows:
    """The rows of one source, in the tables that a connection looks into.

    *finder* is Weaviate's, where its passages lie there.
    """

    def __init__(self, source: LoadSource, finder: Finder | None = None) -> None:
        self.source = source
        self._weaviate = finder if isinstance(finder, WeaviateFinder) else None
        self._is_texts = source.name == "pmc"

    def put(
        self,
        db: Connection,
        file: SourceFile,
        positions: Sequence[int],
        loading: pgvector_compact.Loading | None,
    ) -> array[int]:
        """Copy in the rows of a file at some positions; whose they are."""
        keys = array("i")
        beside = self.source.beside(file.order)
        for some in _blocks(positions):
            found = list(self.source.index.passages(file, some))
            first = loading.number if loading else 0
            mine = (self._texts if self._is_texts else self._records)(db, file, some)
            self._passages(db, found, loading)
            held = Counter(one.place % _PLACE for one, _ in found)
            rows = list[tuple[int, ...]]()
            for position, key in zip(some, mine, strict=True):
                place = (file.order, position, beside.get(position, 0))
                rows.append((*place, key, first, held[position]))
                first += held[position]
            pgvector_compact.copy(db, "corpus_rows", _ROW, rows)
            keys.extend(mine)
        return keys

    def _records(self, db: Connection, file: SourceFile, positions: Sequence[int]) -> list[int]:
        part = file.part(self.source.mirror)
        papers = [paper_of(row) for row in rows_at(part, positions)]
        about = {"version": 1, "gone": False, "synced_at": now()}
        made = [{**paper_row(paper), **about} for paper in papers]
        if made:
            rows = (list(row.values()) for row in made)
            pgvector_compact.copy(db, "corpus_records", list(made[0]), rows)
        note_names(db, _journals(papers))
        return [row["pmid"] for row in made]

    def _texts(self, db: Connection, file: SourceFile, positions: Sequence[int]) -> list[int]:
        """The texts themselves, and what the Cloud Service sent, as far as that is still here."""
        columns = (*COLUMNS, "text")
        found = list(rows_at(file.part(self.source.mirror), positions, columns))
        rows = (
            [plain(row[one]) if isinstance(row[one], str) else row[one] for one in columns]
            + self._objects(file, row)
            for row in found
        )
        pgvector_compact.copy(db, "corpus_texts", (*columns, "metadata", "jats"), rows)
        return [int(row["pmcid"]) for row in found]

    def _objects(self, file: SourceFile, row: Mapping[str, Any]) -> list[bytes | None]:
        """The metadata and the packed JATS of a text; None where its bundle was deleted."""
        bundle = self.source.mirror / "source" / "pmc" / file.name
        try:
            metadata, jats = objects_in(bundle, f"PMC{row['pmcid']}.{row['version']}")
        except PaperError:
            return [None, None]
        return [metadata, zlib.compress(jats)]

    def _passages(
        self,
        db: Connection,
        found: Sequence[tuple[Found, bytes]],
        loading: pgvector_compact.Loading | None,
    ) -> None:
        whole = [replace(one.passage, digest=digest.hex()) for one, digest in found]
        rows = [passage_row(passage) for passage in whole]
        if not rows:
            return
        copied = (list(row.values()) for row in rows)
        pgvector_compact.copy(db, "corpus_passages", list(rows[0]), copied)
        mesh = [headings({"mesh": one.paper.mesh}) for one, _ in found]
        vectors = self.vectors_of([key_of(digest) for _, digest in found])
        loaded = [LoadedPassage(*one) for one in zip(whole, mesh, vectors, strict=True)]
        if self._weaviate:
            self._weaviate.load(loaded)
        elif loading:
            loading.add(loaded)

    def vectors_of(self, keys: Sequence[int]) -> Iterable[Any]:
        """The vector of each text; None where it has none."""
        if not self.source.vectors:
            return [None] * len(keys)
        import numpy as np

        held, rows = self.source.vectors.take(np.array(keys, np.int64))
        taken = iter(rows)
        return [next(taken) if here else None for here in held]

    def take_out(self, db: Connection, order: int, positions: Sequence[int]) -> array[int]:
        """Delete rows of a file with all that is theirs; whose they were."""
        keys = array("i")
        for some in _blocks(positions):
            rows = db.execute(text(_OUT), {"order": order, "positions": some}).all()
            numbers = [number for row in rows for number in _numbers(row)]
            uuids = pgvector_compact.remove(db, numbers)
            gone = "DELETE FROM corpus_passages WHERE uuid = ANY(:uuids)"
            db.execute(text(gone), {"uuids": uuids})
            mine = [row.key for row in rows]
            if self._is_texts:
                gone = "DELETE FROM corpus_texts WHERE pmcid = ANY(:keys)"
                db.execute(text(gone), {"keys": mine})
            else:
                gone = "DELETE FROM corpus_records WHERE pmid = ANY(:keys) RETURNING paper"
                papers = db.execute(text(gone), {"keys": mine}).scalars()
                forget_names(db, _journals(map(paper_from, map(json.loads, papers))))
            keys.extend(mine)
        return keys

    def add_vectors(self, db: Connection) -> None:
        """Give their vectors to passages that had none when they came."""
        for rows in pgvector_compact.without_vectors(db):
            vectors = self.vectors_of([key_of(bytes.fromhex(row.digest)) for row in rows])
            both = zip(rows, vectors, strict=True)
            pgvector_compact.set_vectors(
                db, {row.number: vector for row, vector in both if vector is not None}
            )

    def note_part(self, db: Connection, file: SourceFile) -> None:
        """Write down that the rows of a file are here."""
        db.execute(text(_PART), _part(self.source.name, file))

    def note_parts(self, db: Connection) -> None:
        """Write down which parts all is made of."""
        db.execute(text("DELETE FROM corpus_parts"))
        db.execute(text(_PART), [_part(source, file) for source, file in self.source.parts()])

    def compared(self, db: Connection, made: SharedGeneration, found: int) -> SharedGeneration:
        """*made*, counted anew and held against the mirror's own files.

        ``found`` is how many passages the finder has.

        Raises
        ------
        StoreFailed
            Something is not there, or there twice.
        """
        table = "corpus_texts" if self._is_texts else "corpus_records"
        papers = int(db.execute(text(f"SELECT count(*) FROM {table}")).scalar() or 0)  # noqa: S608
        cut = int(db.execute(text("SELECT count(*) FROM corpus_passages")).scalar() or 0)
        if cut != found:
            raise _differ(made, f"{cut:,} passages in the tables", f"{found:,} to find")
        mine, counted = self.source.counts()
        query = "SELECT sequence, sum(passages) FROM corpus_rows GROUP BY sequence"
        there: dict[int, int] = dict(map(tuple, db.execute(text(query))))
        names = {file.order: file.sequence for file in self.source.files}
        for order in sorted(mine.keys() | there.keys()):
            here, loaded = mine.get(order, 0), int(there.get(order, 0))
            if here != loaded:
                name = names.get(order, order)
                raise _differ(made, f"{loaded:,} passages of {name}", f"{here:,}")
        if (papers, cut) != (counted, sum(mine.values())):
            said = f"{counted:,} papers, {sum(mine.values()):,} passages"
            raise _differ(made, f"{papers:,} papers, {cut:,} passages", said)
        return replace(made, state="published", papers=papers, passages=cut)


def _journals(papers: Iterable[Paper]) -> Mapping[Name, int]:
    """The names of journals, and how many papers are of each."""
    every = (name for paper in papers for name in names_in(paper, ()))
    return Counter(name for name in every if name.kind == "journal")


def _blocks(positions: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(positions), _BLOCK):
        yield positions[at : at + _BLOCK]


def _numbers(row: Any) -> Iterator[int]:
    yield from range(row.first, row.first + row.passages)


def _part(source: str, file: SourceFile) -> dict[str, Any]:
    return {"source": source, "sequence": file.order, "digest": file.holds}


def _differ(made: SharedGeneration, there: str, here: str) -> StoreFailed:
    msg = f"Not published: the stores hold {there}, the mirror {here}."
    hint = f'Remove it, and load again: DROP SCHEMA "{made.schema}" CASCADE'
    return StoreFailed(msg, hint)
