from __future__ import annotations

import gzip
import zlib

import pytest

from utils.http.connections import DamagedBody, Unpacker

TEXT = b"The paper. " * 30_000


def unpack(encoding: str, packed: bytes, step: int = 1000) -> bytes:
    unpacker = Unpacker(encoding)
    pieces = []
    for at in range(0, len(packed), step):
        pieces += unpacker.unpack(packed[at : at + step])
    unpacker.finish()
    assert all(len(piece) <= 256 * 1024 for piece in pieces)
    return b"".join(pieces)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize("step", [1, 7, 1000, 200_000])
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("gzip", gzip.compress(TEXT[:77]) + gzip.compress(TEXT[77:])),
        ("gzip", gzip.compress(TEXT) + b"\0\0garbage"),
        ("deflate", zlib.compress(TEXT)),
        ("", TEXT),
        ("identity", TEXT),
        ("utf-8", TEXT),
    ],
)
def test_every_usual_packing_is_undone(encoding: str, packed: bytes, step: int) -> None:
    assert unpack(encoding, packed, step) == TEXT


def test_deflate_without_its_wrapper_is_undone() -> None:
    assert unpack("deflate", raw_deflate(TEXT)) == TEXT


@pytest.mark.parametrize("packed", [gzip.compress(TEXT), zlib.compress(TEXT)])
def test_a_packed_body_that_stops_early_is_noticed(packed: bytes) -> None:
    encoding = "gzip" if packed.startswith(b"\x1f\x8b") else "deflate"
    for cut in (1, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DamagedBody, match="cut off"):
            unpack(encoding, packed[:cut])


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_a_packing_nobody_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(DamagedBody):
        Unpacker(encoding)


def test_a_body_that_is_not_packed_as_it_says_is_refused() -> None:
    with pytest.raises(DamagedBody, match="not compressed"):
        unpack("gzip", TEXT)


def test_a_changed_byte_is_noticed_by_the_checksum() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[-6] ^= 1
    with pytest.raises(DamagedBody):
        unpack("gzip", bytes(packed))


def test_an_empty_body_may_claim_any_packing() -> None:
    assert unpack("gzip", b"") == b""
