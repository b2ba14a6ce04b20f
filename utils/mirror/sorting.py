"""Edges in order, however many there are: what memory does not hold is sorted on disk.

An edge is one number here (see `edges`); its lowest bits, `FLAGS`, say who says so, and do not
count towards its order. Of numbers that differ there alone one comes out, with all of these bits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..system import safe_files

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

FLAGS = 0b11
_HELD = 1 << 24  # numbers in memory: 128 MiB
_PIECE = 1 << 18  # numbers that are merged, and come out, at once


class Sorter:
    """Takes numbers in any order, and gives them back sorted, each once.

    Parameters
    ----------
    folder : Path
        On whose disk numbers wait that are too many for memory, in files without a name: nothing
        is left of them, however this process ends.
    """

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self._folder = folder
        self._held: Numbers = np.empty(_HELD, np.int64)  # takes no memory before it is filled
        self._count = 0
        self._runs: list[IO[bytes]] = []

    def add(self, numbers: Numbers) -> None:
        """Take some more.

        Raises
        ------
        StoreFailed
            The disk refuses.
        """
        while len(numbers):
            if self._count == len(self._held):
                self._spill()
            some = numbers[: len(self._held) - self._count]
            self._held[self._count : self._count + len(some)] = some
            self._count += len(some)
            numbers = numbers[len(some) :]

    def pieces(self) -> Iterator[Numbers]:
        """All of them, some at a time; for once, and nothing can be added then."""
        if not self._runs:
            yield from self._sorted()
            return
        self._spill()
        del self._held
        with safe_files.disk(self._folder, "read"):
            yield from _merged(self._runs)
        for run in self._runs:
            run.close()

    def _sorted(self) -> Iterator[Numbers]:
        """Those in memory, sorted, each once."""
        held = self._held[: self._count]
        held.sort()
        at = 0
        while at < len(held):
            last = held[min(at + _PIECE, len(held)) - 1] | FLAGS
            end = at + int(held[at:].searchsorted(last, side="right"))
            yield _united(held[at:end])
            at = end

    def _spill(self) -> None:
        """Put those in memory on the disk."""
        with safe_files.disk(self._folder):
            run = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed once it is merged
            self._runs.append(run)
            for piece in self._sorted():
                run.write(piece.data)
            run.seek(0)
        self._count = 0


def _united(numbers: Numbers) -> Numbers:
    """Sorted numbers, of those that differ in their flags alone one."""
    import numpy as np

    if not len(numbers):
        return numbers
    begins = np.flatnonzero(np.diff(numbers | FLAGS, prepend=-1))
    united: Numbers = np.bitwise_or.reduceat(numbers, begins)
    return united


def _merged(runs: Iterable[IO[bytes]]) -> Iterator[Numbers]:
    """The numbers of sorted files, sorted, each once."""
    import numpy as np

    heads = [(_next_of(run), run) for run in runs]
    while heads := [(head, run) for head, run in heads if len(head)]:
        last = min(head[-1] for head, _ in heads) | FLAGS  # all up to here are in memory
        ends = [int(head.searchsorted(last, side="right")) for head, _ in heads]
        taken = np.concatenate([head[:end] for (head, _), end in zip(heads, ends, strict=True)])
        taken.sort()
        yield _united(taken)
        heads = [
            (head[end:] if end < len(head) else _next_of(run), run)
            for (head, run), end in zip(heads, ends, strict=True)
        ]


def _next_of(run: IO[bytes]) -> Numbers:
    import numpy as np

    return np.frombuffer(run.read(_PIECE * np.dtype(np.int64).itemsize), np.int64)


def evenly(pieces: Iterable[Numbers], size: int) -> Iterator[Numbers]:
    """The same numbers in pieces of one size; the last may be smaller."""
    import numpy as np

    held: list[Numbers] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= size:
            joined = np.concatenate(held)
            whole = len(joined) - len(joined) % size
            yield from (joined[at : at + size] for at in range(0, whole, size))
            held = [joined[whole:]]
    if held and len(joined := np.concatenate(held)):
        yield joined
