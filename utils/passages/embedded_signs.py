"""Binary codes, the signs of vectors: a thirty-second of their size, to compare very many.

Comparing a million vectors of 384 numbers moves 1.5 GB through memory. Two that point the same
way agree in the signs of most of their numbers, so that of many rows those whose signs differ
least from the query's are compared exactly, and the others not at all. With a hundred times
as many as wanted, 99 of a hundred of the best fifty of a million are the same, and all but a
thousandth of the cosine is kept (`benchmarks/corpus_retrieval.py`).

``signs-<generation>.u64`` holds a row for each of the vectors' file, 64 signs a number, and is
made from that file alone: indexing checks it and makes it again where it is wrong; a reader that
finds it missing or short compares everything.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..system.safe_files import disk, sync_folder
from ..system.sharing import inherit_group

BinaryCodes = NDArray[np.uint64]
_LITTLE = np.dtype("<u8")
_BLOCK = 16_384  # what the processor's own memory holds


def binary_codes(vectors: NDArray[np.float32]) -> BinaryCodes:
    """Which numbers of each vector are positive, 64 to a number; shape (rows, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_LITTLE)


def most_alike(
    codes: BinaryCodes, vector: NDArray[np.float32], rows: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """The *most* of *rows* that differ in the fewest signs, and those level with the last."""
    (query_code,) = binary_codes(vector[None])
    apart = np.empty(len(rows), np.uint16)
    whole = len(rows) == len(codes)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        differing = np.bitwise_count((codes[block] if whole else codes[rows[block]]) ^ query_code)
        summed = apart[block]
        summed[:] = differing[:, 0]
        for column in range(1, differing.shape[1]):  # many times faster than sum(axis=1)
            summed += differing[:, column]
    within = np.cumsum(np.bincount(apart))
    return rows[apart <= np.searchsorted(within, most)]


class BinaryCodesFile:
    """The file of binary codes of one folder.

    Vectors are written first: it never has rows that their file does not have.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, generation: int) -> Path:
        """The file of a generation."""
        return self.folder / f"signs-{generation}.u64"

    def append(self, generation: int, start: int, vectors: NDArray[np.float32]) -> None:
        """Write the codes of rows behind those of the rows before *start*."""
        codes = binary_codes(vectors)
        path = self.path(generation)
        with disk(path), path.open("ab") as file:
            inherit_group(path)
            if file.tell() < start * codes.shape[1] * 8:
                return  # made before there were codes: `repair` makes all of it
            file.truncate(start * codes.shape[1] * 8)
            file.write(codes.tobytes())
            file.flush()
            os.fsync(file.fileno())
        if not start:
            sync_folder(self.folder)

    def repair(self, generation: int, vectors: NDArray[np.float32]) -> None:
        """Make the file again unless it has the codes of exactly these vectors."""
        known = self.read(generation, *vectors.shape)
        blocks = range(0, len(vectors), _BLOCK)
        if known is not None and all(
            np.array_equal(known[at : at + _BLOCK], binary_codes(vectors[at : at + _BLOCK]))
            for at in blocks
        ):
            return
        # A new file: a process that has the old one mapped is killed if it becomes shorter.
        with disk(self.path(generation)):
            self.path(generation).unlink(missing_ok=True)
        for at in blocks:
            self.append(generation, at, vectors[at : at + _BLOCK])

    def read(self, generation: int, rows: int, dim: int) -> BinaryCodes | None:
        """The codes of the first *rows*, or None where the file has fewer."""
        width = -(-dim // 64)
        with suppress(FileNotFoundError, ValueError):
            return np.memmap(self.path(generation), _LITTLE, "r", shape=(rows, width)).view(
                np.ndarray
            )
        return None
