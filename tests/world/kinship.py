"""Which paper of a world cites which, and who knows: NCBI less than Europe PMC.

A paper cites about a third of those published before it, and is like those that share words with
it. NCBI knows the reference lists of what is in PMC only; Europe PMC knows all of them, with works
beside them that are in no database.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tests.world.index import words
from utils.demo.records import Record

if TYPE_CHECKING:
    from tests.world import World

_MOST = 60
_COMMON = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "not", "of", "on", "the", "to"]
)


def similar(record: Record, world: World) -> list[tuple[Record, int]]:
    """The papers most like it and how much, itself first, as NCBI lists them."""
    mine = _words(record)
    shared = [(other, len(mine & _words(other))) for other in _others(record, world)]
    kin = sorted((pair for pair in shared if pair[1]), key=lambda pair: (-pair[1], pair[0].pmid))
    return [(record, len(mine) + 1), *kin][:_MOST]


def cited(record: Record, world: World) -> list[Record]:
    """The papers it cites."""
    return [other for other in _others(record, world) if _cites(record, other)][:_MOST]


def citing(record: Record, world: World) -> list[Record]:
    """The papers that cite it, the newest first."""
    found = [other for other in _others(record, world) if _cites(other, record)]
    return sorted(found, key=lambda other: other.pmid, reverse=True)[:_MOST]


def _others(record: Record, world: World) -> list[Record]:
    every = [*world.corpus.by_pmid.values(), *world.taken_in()]
    return [other for other in every if other.pmid != record.pmid]


def _cites(one: Record, other: Record) -> bool:
    dice = zlib.crc32(f"{one.pmid} cites {other.pmid}".encode())
    return one.kind == "article" and one.published > other.published and dice % 3 == 0


def _words(record: Record) -> frozenset[str]:
    return frozenset(words(" ".join((record.plain_title, *record.mesh)))) - _COMMON
