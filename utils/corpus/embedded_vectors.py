"""Store vectors in one append-only file that is mapped into memory and compared exactly.

``vectors-<generation>.f32`` holds rows of float32 (little-endian), nothing else; the database
says how many rows count, which passage each belongs to, and the CRC-32 of every stretch that was
appended. A writer appends and flushes rows first and commits their places afterwards: killed in
between, it leaves a tail that does not count and is overwritten by the next. Rows are never
changed; a passage with a new vector gets a new row, its old one is *dead*, and when too many are,
the living move into the file of the next generation.

Every vector is compared, at the speed of memory: 3 ms for 20,000 x 384 numbers. Of more than that,
those with the most similar binary codes: 4 ms for 100,000. These codes are the signs of vectors, a
thirty-second of their size. Comparing a million vectors of 384 numbers moves 1.5 GB through memory.
Two that point the same way agree in the signs of most of their numbers, so that of many rows those
whose signs differ least from the query's are compared exactly, and the others not at all. With a
hundred times as many as wanted, 998 of a thousand of the best fifty of 300,000 are the same and 991
of a million's, and all but a thousandth of the cosine is kept
(`quality/benchmarks/corpus_retrieval.py`).

``signs-<generation>.u64`` holds a row for each of the vectors' file, 64 signs a number, and is
made from that file alone: indexing checks it and makes it again where it is wrong; a reader that
finds it missing or short compares everything.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..model.passage import Filters
from ..system import sqlite
from ..system.safe_files import disk_errors, flush_folder, inherit_group_rights
from .embedded_schema import build_filter_condition, get_index_fact, set_index_facts

EXACT = 20_000
Rows = NDArray[np.float32]
_BLOCK = 65_536
_DEAD_SHARE = 4  # one of four
_DEAD_FEWEST = 1_000
_ALIKE = 100  # compared exactly, for one that is wanted
_LITTLE = np.dtype("<f4")
BinaryCodes = NDArray[np.uint64]
_SIGN_WORDS = np.dtype("<u8")
_SIGN_BLOCK = 32_768  # what the processor's own memory holds


class DamagedVectors(Exception):
    """Raised if the vector file is missing, too short, or has a wrong checksum."""


@dataclass(frozen=True)
class VectorView:
    """A consistent view of the rows: each row's passage and filter facts (0: deleted row).

    ``codes``, of shape (words, rows), exist if there are more than ``exact`` rows.
    """

    generation: int
    stamp: int
    matrix: Rows
    passages: NDArray[np.int64]
    abouts: NDArray[np.int32]
    codes: BinaryCodes | None
    exact: int

    def find_nearest_passages(
        self, vector: Rows, limit: int, allowed: NDArray[np.bool_]
    ) -> list[tuple[int, float]]:
        """Return the passages nearest by cosine, best first; ``allowed[0]`` is False."""
        rows = np.flatnonzero(allowed[self.abouts])
        if not len(rows):
            return []
        if self.codes is not None and len(rows) > self.exact:
            rows = find_most_similar_codes(self.codes, vector, rows, _ALIKE * limit)
        # einsum keeps to this thread. BLAS's others spin for a while after each product, on the
        # cores that words and other readers need: its answers came later, and cost twice the CPU.
        if len(rows) * 8 < len(self.abouts):
            scores = np.einsum("ij,j->i", self.matrix[rows], vector)
        else:
            scores = np.einsum("ij,j->i", self.matrix, vector)[rows]
        limit = min(limit, len(rows))
        best = np.argpartition(-scores, limit - 1)[:limit]
        best = best[np.lexsort((rows[best], -scores[best]))]
        return [(int(self.passages[rows[at]]), float(scores[at])) for at in best]

    def compute_cosines(self, vector: Rows, rows: Mapping[int, int]) -> dict[int, float]:
        """Return the cosine of each passage with a vector, from the row of each passage."""
        scores = np.einsum("ij,j->i", self.matrix[list(rows.values())], vector)
        return dict(zip(rows, map(float, scores), strict=True))


class VectorFile:
    """The vector file of one folder, and the last view that this process read."""

    def __init__(self, folder: Path, exact: int = EXACT) -> None:
        self.folder = folder
        self._exact = exact
        self._codes = BinaryCodesFile(folder)
        self._view: VectorView | None = None
        self._allowed: dict[Filters, NDArray[np.bool_]] = {}

    def close(self) -> None:
        """Close the mapped file."""
        self._view = None
        self._allowed.clear()

    def get_path(self, generation: int) -> Path:
        """Return the path of a generation's vector file."""
        return self.folder / f"vectors-{generation}.f32"

    def open_view(self, db: sqlite3.Connection) -> VectorView:
        """Return the rows that the transaction can see.

        Raises
        ------
        Damaged
            The file is not what the database says it is.
        """
        generation, stamp = int(get_index_fact(db, "generation")), int(get_index_fact(db, "stamp"))
        seen = self._view
        if seen is None or seen.generation != generation or seen.stamp > stamp:
            seen = None
        if seen is None or seen.stamp != stamp:
            self._view = self._refresh_view(db, generation, stamp, seen)
        assert self._view is not None
        return self._view

    def _refresh_view(
        self, db: sqlite3.Connection, generation: int, stamp: int, seen: VectorView | None
    ) -> VectorView:
        rows, dim = int(get_index_fact(db, "rows")), int(get_index_fact(db, "dim"))
        passages, abouts = np.zeros(rows, np.int64), np.zeros(rows, np.int32)
        since = -1
        if seen is not None:
            passages[: len(seen.passages)], abouts[: len(seen.abouts)] = seen.passages, seen.abouts
            since = seen.stamp
        changed = db.execute(
            "SELECT row, id, about FROM passages WHERE stamp > ? AND row IS NOT NULL", (since,)
        )
        while some := changed.fetchmany(_BLOCK):
            table = np.array(some, np.int64)
            passages[table[:, 0]], abouts[table[:, 0]] = table[:, 1], table[:, 2]
        dead = [row for (row,) in db.execute("SELECT row FROM dead WHERE stamp > ?", (since,))]
        passages[dead] = abouts[dead] = 0
        if seen is not None and len(seen.matrix) == rows:
            matrix = seen.matrix
        else:
            matrix = self._map_rows(db, generation, rows, dim)
        codes = self._codes.read_codes(generation, rows, dim) if rows > self._exact else None
        if codes is not None:
            codes = np.ascontiguousarray(codes.T)
        return VectorView(generation, stamp, matrix, passages, abouts, codes, self._exact)

    def _map_rows(self, db: sqlite3.Connection, generation: int, rows: int, dim: int) -> Rows:
        if not rows:
            return np.empty((0, dim), np.float32)
        path = self.get_path(generation)
        try:
            matrix: Rows = np.memmap(path, _LITTLE, "r", shape=(rows, dim))
        except (FileNotFoundError, ValueError) as error:  # absent; shorter than the rows
            raise DamagedVectors(str(error)) from error
        # What a power cut tears is the end; all of it is checked by writers (`verify_checksums`).
        last = db.execute("SELECT start, rows, crc FROM appended ORDER BY start DESC LIMIT 1")
        _verify_row_checksums(matrix, last.fetchall())
        return matrix.view(np.ndarray)

    def find_allowed_filter_facts(
        self, db: sqlite3.Connection, filters: Filters
    ) -> NDArray[np.bool_]:
        """Return, by number of the filter facts, whether the filters accept the facts."""
        (most,) = db.execute("SELECT ifnull(max(id), 0) FROM abouts").fetchone()
        known = self._allowed.get(filters)
        if known is not None and len(known) == most + 1:  # abouts are never changed, only added
            return known
        clause, values = build_filter_condition(filters)
        allowed = np.zeros(most + 1, np.bool_)
        found = db.execute(f"SELECT id FROM abouts WHERE {clause}", values)  # noqa: S608
        allowed[[number for (number,) in found]] = True
        if len(self._allowed) >= 64:
            self._allowed.clear()
        self._allowed[filters] = allowed
        return allowed

    def append_vectors(self, db: sqlite3.Connection, vectors: Rows) -> int:
        """Append rows after the last valid row; return the number of the first new row."""
        start, dim = int(get_index_fact(db, "rows")), vectors.shape[1]
        data = vectors.astype(_LITTLE, copy=False).tobytes()
        path = self.get_path(int(get_index_fact(db, "generation")))
        fresh = not path.exists()
        with disk_errors(path), path.open("ab") as file:
            inherit_group_rights(path)
            if file.tell() < start * dim * 4:
                msg = f"{path.name} is shorter than it was"
                raise DamagedVectors(msg)
            file.truncate(start * dim * 4)  # what a killed writer left
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if fresh:
            flush_folder(self.folder)
        self._codes.append_codes(int(get_index_fact(db, "generation")), start, vectors)
        db.execute("INSERT INTO appended VALUES (?, ?, ?)", (start, len(vectors), zlib.crc32(data)))
        set_index_facts(db, rows=start + len(vectors))
        return start

    def verify_checksums(self, db: sqlite3.Connection) -> None:
        """Verify the checksums of the whole file, and that the binary codes match the file.

        Raises
        ------
        Damaged
            The file is not what was written.
        """
        generation = int(get_index_fact(db, "generation"))
        matrix = self._map_rows(
            db, generation, int(get_index_fact(db, "rows")), _read_vector_width(db)
        )
        _verify_row_checksums(
            matrix, db.execute("SELECT start, rows, crc FROM appended").fetchall()
        )
        self._codes.rebuild_if_stale(generation, matrix)

    def delete_all_vectors(self, db: sqlite3.Connection, stamp: int) -> None:
        """Delete all vectors; later vectors go into the file of the next generation."""
        db.execute("UPDATE passages SET row = NULL, stamp = ? WHERE row IS NOT NULL", (stamp,))
        self._start_new_generation(db, rows=0)

    def compact_if_sparse(self, db: sqlite3.Connection) -> None:
        """Move the remaining rows into a new file if at least a quarter of the rows are deleted."""
        (dead,) = db.execute("SELECT count(*) FROM dead").fetchone()
        rows = int(get_index_fact(db, "rows"))
        if dead < _DEAD_FEWEST or dead * _DEAD_SHARE < rows:
            return
        view = self.open_view(db)
        living = np.flatnonzero(view.abouts)
        with disk_errors(target := self.get_path(view.generation + 1)), target.open("wb") as file:
            inherit_group_rights(target)
            stretches = []
            for block in _iterate_row_blocks(living):
                data = view.matrix[block].astype(_LITTLE, copy=False).tobytes()
                stretches.append((len(block), zlib.crc32(data)))
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        flush_folder(self.folder)
        self._start_new_generation(db, rows=len(living))
        self._codes.rebuild_if_stale(
            view.generation + 1,
            self._map_rows(db, view.generation + 1, len(living), _read_vector_width(db)),
        )
        moved = zip(range(len(living)), view.passages[living].tolist(), strict=True)
        db.executemany("UPDATE passages SET row = ? WHERE id = ?", moved)
        starts = range(0, len(living), _BLOCK)
        appended = [(start, *stretch) for start, stretch in zip(starts, stretches, strict=True)]
        db.executemany("INSERT INTO appended VALUES (?, ?, ?)", appended)

    def _start_new_generation(self, db: sqlite3.Connection, rows: int) -> None:
        db.execute("DELETE FROM dead")
        db.execute("DELETE FROM appended")
        set_index_facts(db, generation=int(get_index_fact(db, "generation")) + 1, rows=rows)

    def move_damaged_file_aside(self, generation: int) -> Path:
        """Rename a damaged file; return its new path."""
        aside = sqlite.build_damaged_path(self.get_path(generation))
        with disk_errors(self.get_path(generation), "set aside"), suppress(FileNotFoundError):
            self.get_path(generation).rename(aside)
        return aside

    def delete_other_generations(self, generation: int) -> None:
        """Delete the files of other generations (never during an open commit)."""
        kept = (self.get_path(generation), self._codes.get_path(generation))
        for found in (*self.folder.glob("vectors-*.f32"), *self.folder.glob("signs-*.u64")):
            if found not in kept:
                with suppress(OSError):  # Windows: somebody still reads it
                    found.unlink()


def _read_vector_width(db: sqlite3.Connection) -> int:
    return int(get_index_fact(db, "dim"))


def _verify_row_checksums(matrix: Rows, stretches: Sequence[tuple[int, int, int]]) -> None:
    for start, rows, crc in stretches:
        if zlib.crc32(matrix[start : start + rows].data) != crc:
            msg = f"rows {start} to {start + rows} are not those that were written"
            raise DamagedVectors(msg)


def _iterate_row_blocks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(rows), _BLOCK):
        yield rows[start : start + _BLOCK]


def to_binary_codes(vectors: NDArray[np.float32]) -> BinaryCodes:
    """Pack the signs of each vector as bits, 64 to a number; returns an array (rows, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_SIGN_WORDS)


def find_most_similar_codes(
    codes: BinaryCodes, vector: NDArray[np.float32], rows: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Return the *most* of *rows* that differ in the fewest signs, and ties with the last.

    ``codes`` are those of all vectors, of shape (words, vectors): what is compared then stands side
    by side in memory, which takes half as long.
    """
    (query_code,) = to_binary_codes(vector[None])
    apart = np.zeros(len(rows), np.uint16)
    whole = len(rows) == codes.shape[1]
    for start in range(0, len(rows), _SIGN_BLOCK):
        block = slice(start, start + _SIGN_BLOCK)
        of_block = block if whole else rows[block]
        for word, asked in zip(codes, query_code, strict=True):
            apart[block] += np.bitwise_count(word[of_block] ^ asked)
    within = np.cumsum(np.bincount(apart))
    return rows[apart <= np.searchsorted(within, most)]


class BinaryCodesFile:
    """The file of binary codes of one folder.

    Vectors are written first: it never has rows that their file does not have.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get_path(self, generation: int) -> Path:
        """Return the path of a generation's binary codes."""
        return self.folder / f"signs-{generation}.u64"

    def append_codes(self, generation: int, start: int, vectors: NDArray[np.float32]) -> None:
        """Write the codes of rows that follow the first *start* rows."""
        codes = to_binary_codes(vectors)
        path = self.get_path(generation)
        with disk_errors(path), path.open("ab") as file:
            inherit_group_rights(path)
            if file.tell() < start * codes.shape[1] * 8:
                return  # made before there were codes: `rebuild_if_stale` makes all of it
            file.truncate(start * codes.shape[1] * 8)
            file.write(codes.tobytes())
            file.flush()
            os.fsync(file.fileno())
        if not start:
            flush_folder(self.folder)

    def rebuild_if_stale(self, generation: int, vectors: NDArray[np.float32]) -> None:
        """Rebuild the file unless it has the codes of exactly these vectors."""
        known = self.read_codes(generation, *vectors.shape)
        blocks = range(0, len(vectors), _SIGN_BLOCK)
        if known is not None and all(
            np.array_equal(
                known[at : at + _SIGN_BLOCK], to_binary_codes(vectors[at : at + _SIGN_BLOCK])
            )
            for at in blocks
        ):
            return
        # A new file: a process that has the old one mapped is killed if it becomes shorter.
        with disk_errors(self.get_path(generation)):
            self.get_path(generation).unlink(missing_ok=True)
        for at in blocks:
            self.append_codes(generation, at, vectors[at : at + _SIGN_BLOCK])

    def read_codes(self, generation: int, rows: int, dim: int) -> BinaryCodes | None:
        """Return the codes of the first *rows*, or None if the file has fewer."""
        width = -(-dim // 64)
        with suppress(FileNotFoundError, ValueError):
            return np.memmap(self.get_path(generation), _SIGN_WORDS, "r", shape=(rows, width)).view(
                np.ndarray
            )
        return None
