"""Vectors of a mirror's passages, on disk: very many of them, within little memory.

A vector belongs to a text, by the key of its digest (`.passages.make_key`), not to a paper: what is
said again, in a revision or a new year, is not embedded again. Kept of each are its numbers in
eight bits and the signs of them. Rows lie in *segments*, each sorted into lists by the nearest of
its own centroids (k-means): of each segment a search looks at the signs in the nearest lists, and
compares the eight-bit numbers of those that differ least. All files are mapped, none is read whole.

What workers make lies in ``new/``, a file a piece of work, whole or not there;
`VectorStore.build_segments` makes segments of it and names them in ``state.json``, in one step. A
run that was killed is repeated.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..command_line import command_line
from ..corpus.embedded_vectors import to_binary_codes
from ..errors import StoreFailed
from ..system import safe_files

if TYPE_CHECKING:
    from ..corpus.finders import Vector, Vectors

Keys = NDArray[np.int64]
FULL = 4_000_000
"""Rows of a segment that is merged no more."""
_FEW = 50_000  # rows that are one list
_PER_LIST = 1_000
_PROBED = 16  # one list of so many is looked at: of one of 64, a seventh of the best ten was missed
_LEAST_PROBED = 32
_ALIKE, _FOR_EACH = 2_000, 4  # compared by their numbers: so many, and more for each wanted
_SMALL = 8  # segments that are not full
_SAMPLE = 48  # rows a list from which centroids are learned
_ROUNDS = 4
_BLOCK = 16_384
_REBUILT = f"Delete the folder and run: {command_line('mirror embed')}"


def make_row_type(dim: int) -> np.dtype[Any]:
    """Return the type of a row: key of the text, scale, and the numbers in eight bits."""
    return np.dtype([("key", "<i8"), ("scale", "<f4"), ("numbers", "i1", (dim,))])


def pack_vectors(keys: Keys, vectors: Vectors) -> NDArray[Any]:
    """Return rows of normalised vectors."""
    rows = np.empty(len(keys), make_row_type(vectors.shape[1]))
    most = np.maximum(np.abs(vectors).max(axis=1, initial=0.0), 1e-12)
    rows["key"], rows["scale"] = keys, most / 127
    rows["numbers"] = np.rint(vectors * (127 / most)[:, None])
    return rows


@dataclass(frozen=True)
class Segment:
    """Rows in the order of their lists; ``rank`` is each row's position in the sorted keys."""

    rows: NDArray[Any]
    codes: NDArray[np.uint64]
    keys: Keys
    rank: NDArray[np.int32]
    centroids: Vectors
    starts: NDArray[np.int64]

    @classmethod
    def map_files(cls, folder: Path) -> Segment:
        """Map the files of a segment."""
        names = ("rows", "codes", "keys", "rank", "centroids", "starts")
        maps = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in names)
        return cls(*map(np.asarray, maps))  # a slice of a plain array costs a third

    def find_lists(self, vector: Vector) -> NDArray[np.int64]:
        """Return the numbers of the lists to be searched."""
        lists = len(self.centroids)
        probed = min(lists, max(_LEAST_PROBED, lists // _PROBED))
        # einsum keeps to this thread; BLAS's others spin for a while, ten times what this takes.
        like = np.einsum("ij,j->i", self.centroids, vector)
        return np.sort(np.argpartition(-like, probed - 1)[:probed])

    def count_differences(
        self, code: NDArray[np.uint64], lists: NDArray[np.int64]
    ) -> NDArray[np.uint16]:
        """Return in how many signs each row of some lists differs."""
        starts, ends = self.starts[lists], self.starts[lists + 1]
        differ = np.empty((int((ends - starts).sum()), len(code)), np.uint64)
        # Two arrays of one shape are gone through without a break at each row.
        same = np.tile(code, (int((ends - starts).max()), 1))
        at = 0
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            there = differ[at : at + end - start]
            np.bitwise_xor(self.codes[start:end], same[: end - start], out=there)
            at += end - start
        counts = np.zeros((len(differ), len(code) + len(code) % 2), np.uint8)
        np.bitwise_count(differ, out=counts[:, : len(code)])
        # Two counts are added at once, as the bytes of one number: of three columns up to 192.
        pairs, apart = counts.view(np.uint16), np.zeros(len(differ), np.uint16)
        for at in range(0, pairs.shape[1], 3):
            sums = reduce(np.add, pairs.T[at : at + 3])
            apart += (sums & 255) + (sums >> 8)
        return apart

    def get_rows(self, lists: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows at some places, counted over some lists."""
        starts = self.starts[lists]
        ends = np.cumsum(self.starts[lists + 1] - starts)
        of_list = np.searchsorted(ends, places, side="right")
        rows: NDArray[np.int64] = self.starts[lists + 1][of_list] - ends[of_list] + places
        return rows

    def compute_cosines(self, vector: Vector, rows: NDArray[np.int64]) -> Vector:
        """Return cosines by the eight-bit numbers."""
        some = self.rows[np.asarray(rows)]
        scores = np.einsum("ij,j->i", some["numbers"].astype(np.float32), vector)
        cosines: Vector = scores * some["scale"]
        return cosines

    def find_rows(self, keys: Keys) -> NDArray[np.int64]:
        """Return the row of each key; -1 if missing."""
        at = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        return np.where(self.keys[at] == keys, self.rank[at], -1).astype(np.int64)


class VectorStore:
    """The vectors of one model; see the module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.new = folder / "new"
        self._state = folder / "state.json"

    @cached_property
    def state(self) -> dict[str, Any]:
        """Model, dimension, segments, and the last generation with all vectors."""
        try:
            return dict(json.loads(self._state.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StoreFailed(f"{self._state} cannot be read: {error}.", _REBUILT) from error

    @property
    def model(self) -> str:
        """The model of the vectors; empty without vectors."""
        return str(self.state.get("model", ""))

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self.state.get("dim", 0))

    @property
    def generation(self) -> str:
        """The last generation of which every passage had a vector."""
        return str(self.state.get("generation", ""))

    @property
    def size(self) -> int:
        """The number of texts with a vector."""
        return sum(len(segment.keys) for segment in self.segments)

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments that count, mapped."""
        try:
            return [
                Segment.map_files(self.folder / name) for name in self.state.get("segments", ())
            ]
        except (OSError, ValueError) as error:
            raise StoreFailed(f"{self.folder} cannot be read: {error}.", _REBUILT) from error

    def find_missing(self, keys: Keys) -> Keys:
        """Return those keys that have no vector yet, each once, in order."""
        _, first = np.unique(keys, return_index=True)
        left = keys[np.sort(first)]
        for segment in self.segments:
            left = left[segment.find_rows(left) < 0]
        for path in self._list_chunks():
            left = left[~np.isin(left, np.load(path, mmap_mode="r")["key"])]
        return left

    def find_nearest(self, vector: Vector, limit: int) -> list[tuple[int, float]]:
        """Return keys of the nearest vectors with cosines, best first."""
        (code,) = to_binary_codes(vector[None])
        lists = [segment.find_lists(vector) for segment in self.segments]
        found = [
            one.count_differences(code, near)
            for one, near in zip(self.segments, lists, strict=True)
        ]
        line = _find_distance(found, _ALIKE + _FOR_EACH * limit)
        scored = [(np.empty(0, np.int64), np.empty(0, np.float32))]
        for segment, near, apart in zip(self.segments, lists, found, strict=True):
            some = segment.get_rows(near, np.flatnonzero(apart <= line))
            scored.append((segment.rows["key"][some], segment.compute_cosines(vector, some)))
        keys, cosines = map(np.concatenate, zip(*scored, strict=True))
        best = np.lexsort((keys, -cosines))[:limit]
        return list(zip(keys[best].tolist(), cosines[best].tolist(), strict=True))

    def compute_cosines(self, vector: Vector, keys: Sequence[int]) -> dict[int, float]:
        """Return the cosines of texts that have a vector."""
        wanted = np.unique(np.asarray(keys, np.int64))
        found: dict[int, float] = {}
        for segment in self.segments:
            rows = segment.find_rows(wanted)
            here = rows >= 0
            scores = segment.compute_cosines(vector, rows[here])
            found.update(zip(map(int, wanted[here]), map(float, scores), strict=True))
        return found

    def write_chunk(self, name: str, rows: NDArray[Any]) -> None:
        """Write vectors that a worker made; the file appears once it is complete."""
        safe_files.make_folder(self.new)
        path = self.new / f"{name}.npy"
        with safe_files.replace_flushed(path) as part, part.open("xb") as file:
            np.save(file, rows)

    def build_segments(self, model: str, dim: int, generation: str = "") -> None:
        """Build segments from new vectors; a *generation* given has all its vectors then."""
        safe_files.make_folder(self.folder)
        names = list(self.state.get("segments", ()))
        for path in self.folder.glob("segment-*"):
            if path.name not in names:  # of a run that was killed
                shutil.rmtree(path, ignore_errors=True)
        made, left = self._list_chunks(), list[Path]()
        while made and not left:
            some = list(_take_until_full(made))
            names.append(
                self._build_segment([np.load(path, mmap_mode="r") for path in some], names)
            )
            self._commit_segments(names, model, dim, some)
            made = made[len(some) :]
        small = [name for name in names if len(self._read_segment(name).keys) < FULL]
        if len(small) > _SMALL:
            kept = [name for name in names if name not in small]
            rows = [self._read_segment(name).rows for name in small]
            self._commit_segments([*kept, self._build_segment(rows, names)], model, dim, [])
            for name in small:
                shutil.rmtree(self.folder / name, ignore_errors=True)
        if generation and generation != self.generation:
            self._write_state({**self.state, "generation": generation})

    def delete_absorbed_chunks(self) -> None:
        """Delete the files from which segments were built."""
        if names := self.state.get("absorbed"):
            for name in names:
                safe_files.delete_if_exists(self.new / name)
            self._write_state({**self.state, "absorbed": []})

    def reopen_if_changed(self) -> VectorStore:
        """Return the store, opened again if it has changed on the disk."""
        other = VectorStore(self.folder)
        return self if other.state == self.state else other

    def _read_segment(self, name: str) -> Segment:
        return Segment.map_files(self.folder / name)

    def _commit_segments(
        self, names: Sequence[str], model: str, dim: int, done: Sequence[Path]
    ) -> None:
        """Have segments count from now on, and forget what they were made of."""
        about = {"model": model, "dim": dim, "segments": list(names)}
        absorbed = [path.name for path in done]
        self._write_state({**self.state, **about, "absorbed": absorbed})
        self.delete_absorbed_chunks()

    def _write_state(self, state: dict[str, Any]) -> None:
        safe_files.write_file(self._state, json.dumps(state).encode())
        for name in ("state", "segments"):
            self.__dict__.pop(name, None)

    def _list_chunks(self) -> list[Path]:
        """Return the files of workers that are in no segment yet."""
        absorbed = set(self.state.get("absorbed", ()))
        return [path for path in sorted(self.new.glob("*.npy")) if path.name not in absorbed]

    def _build_segment(self, sources: Sequence[NDArray[Any]], names: Sequence[str]) -> str:
        """Write a segment of the rows of *sources*; its name."""
        last = max((int(name.partition("-")[2]) for name in names), default=0)
        name = f"segment-{last + 1:06}"
        making = self.folder / f".{name}"
        shutil.rmtree(making, ignore_errors=True)
        safe_files.make_folder(making)
        with safe_files.disk_errors(making):
            _write_segment(sources, making)
            with suppress(OSError):
                shutil.rmtree(self.folder / name)
            making.replace(self.folder / name)
            safe_files.flush_folder(self.folder)
        return name


def _find_distance(found: Sequence[NDArray[np.uint16]], most: int) -> int:
    """Return the distance within which so many rows are, or all."""
    counts = np.bincount(np.concatenate([np.empty(0, np.uint16), *found]))
    return int(np.searchsorted(np.cumsum(counts), most))


def _take_until_full(paths: Sequence[Path]) -> Iterator[Path]:
    count = 0
    for path in paths:
        yield path
        count += len(np.load(path, mmap_mode="r"))
        if count >= FULL:
            return


def _write_segment(sources: Sequence[NDArray[Any]], folder: Path) -> None:
    """Sort rows into lists, and write them block by block."""
    rows = _ConcatenatedRows(sources)
    lists = 1 if len(rows) <= _FEW else len(rows) // _PER_LIST
    centroids = _learn_centroids(rows, lists)
    of_list = np.empty(len(rows), np.int32)
    for at in range(0, len(rows), _BLOCK):
        block = np.arange(at, min(at + _BLOCK, len(rows)))
        of_list[block] = _find_nearest_list(_to_floats(rows.get_rows(block)), centroids)
    order = np.argsort(of_list, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(of_list, minlength=lists))])
    kept = _create_array(folder / "rows.npy", rows.dtype, (len(rows),))
    words = -(-centroids.shape[1] // 64)
    codes = _create_array(folder / "codes.npy", np.dtype("<u8"), (len(rows), words))
    for at in range(0, len(rows), _BLOCK):
        some = rows.get_rows(order[at : at + _BLOCK])
        kept[at : at + _BLOCK] = some
        codes[at : at + _BLOCK] = to_binary_codes(some["numbers"].astype(np.float32))
    keys = np.array(kept["key"])
    rank = np.argsort(keys, kind="stable").astype(np.int32)
    kept.flush()
    codes.flush()
    small = {"keys": keys[rank], "rank": rank, "centroids": centroids, "starts": starts}
    for name, values in small.items():
        np.save(folder / f"{name}.npy", values)


class _ConcatenatedRows:
    """Several arrays of rows as one, none of them read whole."""

    def __init__(self, sources: Sequence[NDArray[Any]]) -> None:
        self._sources = sources
        self._ends = np.cumsum([len(source) for source in sources])
        self.dtype = sources[0].dtype

    def __len__(self) -> int:
        return int(self._ends[-1])

    def get_rows(self, wanted: NDArray[np.int64]) -> NDArray[Any]:
        """Return rows by number."""
        found = np.empty(len(wanted), self.dtype)
        source_of = np.searchsorted(self._ends, wanted, side="right")
        for number in np.unique(source_of):
            mine = source_of == number
            first = self._ends[number] - len(self._sources[number])
            found[mine] = self._sources[number][wanted[mine] - first]
        return found


def _learn_centroids(rows: _ConcatenatedRows, lists: int) -> Vectors:
    """Return centroids by k-means over directions from a sample; deterministic."""
    chance = np.random.default_rng(0)
    most = min(len(rows), _SAMPLE * lists if lists > 1 else 1)
    sample = _to_floats(rows.get_rows(np.sort(chance.choice(len(rows), most, replace=False))))
    centroids = sample[np.sort(chance.choice(most, lists, replace=False))].copy()
    for _ in range(_ROUNDS if lists > 1 else 0):
        nearest = _find_nearest_list(sample, centroids)
        order = np.argsort(nearest, kind="stable")
        held, first = np.unique(nearest[order], return_index=True)
        sums = np.add.reduceat(sample[order], first, axis=0)
        centroids[held] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return centroids


def _find_nearest_list(vectors: Vectors, centroids: Vectors) -> NDArray[np.int64]:
    blocks = range(0, len(vectors), _BLOCK // 4)
    parts = [(vectors[at : at + _BLOCK // 4] @ centroids.T).argmax(axis=1) for at in blocks]
    return np.concatenate(parts)


def _to_floats(rows: NDArray[Any]) -> Vectors:
    floats: Vectors = rows["numbers"].astype(np.float32) * rows["scale"][:, None]
    return floats


def _create_array(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    return np.lib.format.open_memmap(path, "w+", dtype, shape)
