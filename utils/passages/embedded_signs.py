"""The signs of vectors: a thirty-second of their size, to look at all of a very large shelf.

Comparing a million vectors of 384 numbers moves 1.5 GB through memory. Two that point the same
way agree in the signs of most of their numbers, so that of many rows those whose signs differ
least from the question's are compared exactly, and the others not at all. With a hundred times
as many as wanted, 99 of a hundred of the best fifty of a million are the same, and all but a
thousandth of the cosine is kept (`benchmarks/corpus_retrieval.py`).

``signs-<generation>.u64`` holds a row for each of the vectors' file, 64 signs a number, and is
made from that file alone: who indexes checks it and makes it again where it is wrong; a reader
who finds it missing or short compares everything.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..system.safe_files import disk, sync_folder
from ..system.sharing import inherit_group

Signs = NDArray[np.uint64]
_LITTLE = np.dtype("<u8")
_BLOCK = 16_384  # what the processor's own memory holds


def signs_of(vectors: NDArray[np.float32]) -> Signs:
    """Which numbers of each vector are positive, 64 to a number; shape (rows, words)."""
    bits = np.packbits(vectors > 0, axis=1)
    missing = -bits.shape[1] % 8
    return np.ascontiguousarray(np.pad(bits, ((0, 0), (0, missing)))).view(_LITTLE)


def alike(
    signs: Signs, vector: NDArray[np.float32], rows: NDArray[np.int64], most: int
) -> NDArray[np.int64]:
    """Those of *rows* that differ in the fewest signs: *most*, and who is level with the last."""
    (asked,) = signs_of(vector[None])
    apart = np.empty(len(rows), np.uint16)
    whole = len(rows) == len(signs)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        differing = np.bitwise_count((signs[block] if whole else signs[rows[block]]) ^ asked)
        summed = apart[block]
        summed[:] = differing[:, 0]
        for column in range(1, differing.shape[1]):  # many times faster than sum(axis=1)
            summed += differing[:, column]
    within = np.cumsum(np.bincount(apart))
    return rows[apart <= np.searchsorted(within, most)]


class SignsFile:
    """The file of signs of one folder.

    Its writers write the vectors first: it never has rows that they do not have.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, generation: int) -> Path:
        """The file of a generation."""
        return self.folder / f"signs-{generation}.u64"

    def append(self, generation: int, start: int, vectors: NDArray[np.float32]) -> None:
        """Write the signs of rows behind those of the rows before *start*."""
        signs = signs_of(vectors)
        path = self.path(generation)
        with disk(path), path.open("ab") as file:
            inherit_group(path)
            if file.tell() < start * signs.shape[1] * 8:
                return  # made before there were signs: `mend` makes all of it
            file.truncate(start * signs.shape[1] * 8)
            file.write(signs.tobytes())
            file.flush()
            os.fsync(file.fileno())
        if not start:
            sync_folder(self.folder)

    def mend(self, generation: int, vectors: NDArray[np.float32]) -> None:
        """Have the signs of exactly these vectors."""
        held = self.read(generation, *vectors.shape)
        blocks = range(0, len(vectors), _BLOCK)
        if held is not None and all(
            np.array_equal(held[at : at + _BLOCK], signs_of(vectors[at : at + _BLOCK]))
            for at in blocks
        ):
            return
        # A new file: who has the old one mapped would be killed if it became shorter.
        with disk(self.path(generation)):
            self.path(generation).unlink(missing_ok=True)
        for at in blocks:
            self.append(generation, at, vectors[at : at + _BLOCK])

    def read(self, generation: int, rows: int, dim: int) -> Signs | None:
        """The signs of the first *rows*, or None where the file has fewer."""
        width = -(-dim // 64)
        with suppress(FileNotFoundError, ValueError):
            return np.memmap(self.path(generation), _LITTLE, "r", shape=(rows, width)).view(
                np.ndarray
            )
        return None
