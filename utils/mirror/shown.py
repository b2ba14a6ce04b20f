"""Store a passage and the facts of its paper in the index, so that answers need no Parquet file.

The index compresses what it stores in blocks of 16 KB; a checksum tells whether it is damaged.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..model.identifiers import Ids
from ..model.paper import Paper
from ..model.passage import Passage

_to_json = json.JSONEncoder(ensure_ascii=False).encode
_RETRACTED = "Retracted Publication"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage in the index: the place of its record, the passage and its paper."""

    place: int
    passage: Passage
    paper: Paper


def pack_shown(place: int, record: Mapping[str, Any], row: Mapping[str, Any]) -> bytes:
    """Return what is stored of a passage and its paper, from their rows: a checksum, and JSON."""
    names = {name: record[name] for name in ("pmid", "doi", "pmcid", "arxiv") if record[name]}
    columns = ("title", "year", "journal", "publication_types", "mesh", "retracted", "file")
    shown = {
        **{name: record[name] for name in columns if record.get(name)},
        **{name: row[name] for name in ("kind", "chunk_id", "section", "ordinal", "start", "end")},
        "text": row["text"],
        "ids": names,
        "place": place,
    }
    text = _to_json(shown).encode("utf-8", "surrogatepass")
    return zlib.crc32(text).to_bytes(4, "little") + text


def unpack_shown(stored: bytes) -> dict[str, Any]:
    """Return what is stored of a passage and its paper.

    Raises
    ------
    ValueError
        The stored bytes are damaged.
    """
    if zlib.crc32(stored[4:]).to_bytes(4, "little") != stored[:4]:
        msg = "a passage in it is damaged"
        raise ValueError(msg)
    return dict(json.loads(stored[4:]))


def to_found(row: Mapping[str, Any]) -> Found:
    """Return passage and paper from what is shown."""
    ids = Ids(**{name: str(value) for name, value in row["ids"].items()})
    types = tuple(row.get("publication_types", ()))
    if row.get("retracted") and _RETRACTED not in types:  # said by a notice alone
        types += (_RETRACTED,)
    year, journal = row.get("year"), row.get("journal", "")
    title = row.get("title", "")
    paper = Paper(
        ids,
        title=title,
        journal=journal,
        published=str(year or ""),
        publication_types=types,
        mesh=tuple(row.get("mesh", ())),
    )
    passage = Passage(
        paper=f"pmid:{ids.pmid}" if ids.pmid else ids.key,
        **{name: row[name] for name in ("chunk_id", "ordinal", "text", "start", "end", "kind")},
        section=row["section"] or "",
        file=row.get("file", ""),
        title=title,
        year=year,
        journal=journal,
        publication_types=types,
        retracted=bool(row.get("retracted")),
    )
    return Found(row["place"], passage, paper)
