"""What an index of a mirror's passages shows of each: the passage and the facts of its paper.

It is kept packed, by a dictionary that all of an index share: what every abstract says is said
there once, and a passage can still be read alone. The dictionary lies in the index's folder and is
made of what is taken in first.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from ..model.identifiers import Ids
from ..model.paper import Paper
from ..model.passage import Passage
from ..system import safe_files

_NAME = "shown.dictionary"
_DICTIONARY = 16_384  # bytes: of twice as many, packing takes half as long again
_SAMPLE = 50  # passages that it is made of
_LEVEL = 4
_to_text = json.JSONEncoder(ensure_ascii=False).encode
_RETRACTED = "Retracted Publication"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage in the index: the place of its record, the passage and its paper."""

    place: int
    passage: Passage
    paper: Paper


@dataclass(frozen=True)
class Packing:
    """The packing of an index's values: by its dictionary, if it has one."""

    dictionary: bytes | None

    @classmethod
    def read(cls, folder: Path) -> Packing:
        """Return the packing of an index, as it is now."""
        path = folder / _NAME
        with safe_files.disk_errors(path, "read"):
            return cls(path.read_bytes() if path.exists() else None)

    @classmethod
    def read_or_learn(cls, folder: Path, shown: Iterable[Mapping[str, Any]]) -> Packing:
        """Return the packing of an index; learn a dictionary from some values if it has none."""
        if not (folder / _NAME).exists() and (some := [*map(_to_json, islice(shown, _SAMPLE))]):
            safe_files.write_file(folder / _NAME, b"".join(some)[-_DICTIONARY:])
        return cls.read(folder)

    def pack(self, shown: Mapping[str, Any]) -> bytes:
        """Return a value to be kept."""
        packer = self._packer.copy()
        return bytes(packer.compress(_to_json(shown)) + packer.flush())

    def unpack(self, kept: bytes) -> dict[str, Any]:
        """Return what a kept value shows.

        Raises
        ------
        ValueError
            It is damaged, or was packed by another dictionary.
        """
        unpacker = zlib.decompressobj(zdict=self.dictionary or b"")
        try:
            found = unpacker.decompress(kept)
        except zlib.error as error:
            msg = f"a passage in it cannot be unpacked ({error})"
            raise ValueError(msg) from error
        if not unpacker.eof:
            msg = "a passage in it is torn"
            raise ValueError(msg)
        return dict(json.loads(found))

    @cached_property
    def _packer(self) -> Any:
        """A compressor with the dictionary."""
        return zlib.compressobj(_LEVEL, zdict=self.dictionary or b"")


def make_shown(place: int, record: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a passage and its paper, from their rows."""
    names = {name: record[name] for name in ("pmid", "doi", "pmcid", "arxiv") if record[name]}
    columns = ("title", "year", "journal", "publication_types", "mesh", "retracted", "file")
    return {
        **{name: record[name] for name in columns if record.get(name)},
        **{name: row[name] for name in ("kind", "chunk_id", "section", "ordinal", "start", "end")},
        "text": row["text"],
        "ids": names,
        "place": place,
    }


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


def _to_json(shown: Mapping[str, Any]) -> bytes:
    return _to_text(shown).encode("utf-8", "surrogatepass")
