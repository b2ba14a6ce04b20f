"""Decompressing an answer, piece by piece, within a limit.

A gzip of 64 kB can unfold to 64 MB. zlib is therefore asked for bounded pieces, so that the reader
can stop after any of them; and the end is checked, because a compressed body that stops early
without a length header looks complete to everybody else.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_PIECE = 256 * 1024
_PLAIN = 31  # gzip header and checksum
_WRAPPED, _RAW = 15, -15  # the two things servers mean by "deflate"
_FOREIGN = frozenset({"br", "zstd", "compress", "x-compress"})


class Damaged(Exception):
    """The body is not what its Content-Encoding says, or stops too early."""


class Unpacker:
    """Undoes one Content-Encoding, piece by piece.

    Parameters
    ----------
    encoding : str
        The header's value. Words that are no compression (``identity``, ``utf-8``) mean none.

    Raises
    ------
    Damaged
        Compressed in a way we did not ask for, or more than once.
    """

    def __init__(self, encoding: str) -> None:
        codes = [code.strip().lower() for code in encoding.split(",")]
        packed = [c for c in codes if c in _FOREIGN or c in ("gzip", "x-gzip", "deflate")]
        if len(packed) > 1 or _FOREIGN.intersection(packed):
            raise Damaged(f"compressed as {', '.join(packed)[:60]}, which was not asked for")
        self._bits = (_WRAPPED if packed == ["deflate"] else _PLAIN) if packed else 0
        self._zip = zlib.decompressobj(self._bits) if packed else None
        self._begun = False

    def feed(self, block: bytes) -> Iterator[bytes]:
        """The pieces (each at most 256 kB) that *block* unfolds to."""
        if self._zip is None:
            yield block
            return
        while True:
            piece, block = self._step(block)
            if piece:
                yield piece
            if self._zip.eof:
                block = self._next_member()
            if not block and len(piece) < _PIECE:
                return

    def finish(self) -> None:
        """Check that the compressed stream came to its end."""
        if self._zip is not None and self._begun and not self._zip.eof:
            raise Damaged("cut off in the middle")

    def _step(self, block: bytes) -> tuple[bytes, bytes]:
        assert self._zip is not None
        try:
            piece = self._zip.decompress(block, _PIECE)
        except zlib.error:
            if self._begun or self._bits != _WRAPPED:
                raise Damaged("not compressed the way it says") from None
            self._bits, self._zip = _RAW, zlib.decompressobj(_RAW)
            return self._step(block)
        self._begun = self._begun or bool(block)
        return piece, self._zip.unconsumed_tail

    def _next_member(self) -> bytes:
        """Begin the next gzip of a chain of them; other bytes after the end mean nothing."""
        assert self._zip is not None
        rest = self._zip.unused_data
        if self._bits == _PLAIN and rest.startswith(b"\x1f\x8b"):
            self._zip = zlib.decompressobj(_PLAIN)
            return rest
        return b""
