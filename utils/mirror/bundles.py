"""Bundles: the objects of some article versions in one ZIP file, as PMC's Cloud Service sent them.

A bundle is the source of a part, as one of PubMed's files is. Its ``index.json`` says of every
object that was to be in it what became of that: ``text`` (its metadata and JATS are here), or
``gone``, ``other``, ``aside``, ``vanished``, with the reason. The MD5 of the index is the bundle's
identity, for it holds the MD5 of all that is in it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import BadContent
from ..http import Answer
from ..model.paper import Fetched
from ..sources.pmc import to_fetched as to_cloud_fetched
from ..sources.pmc_inventory import ObjectVersion
from ..system import safe_files

INDEX = "index.json"
_DAY = (1980, 1, 1, 0, 0, 0)  # of every file in it: the same objects give the same bytes


@dataclass(frozen=True, slots=True)
class Member:
    """An object of a bundle: what was listed, what became of it and why, and its bytes.

    ``had`` says that there was a text of it before.
    """

    listed: ObjectVersion
    state: str
    reason: str = ""
    had: bool = False
    metadata: bytes = b""
    xml: bytes = b""

    @property
    def has_row(self) -> bool:
        """True if the part has a row for the article: its text, or a note that it is gone."""
        return self.state in ("text", "gone") or (self.state == "other" and self.had)


def write_bundle(members: Sequence[Member], folder: Path, sequence: str) -> Path:
    """Write members to a bundle, which appears under its name once it is complete."""
    index = [
        {
            "object": list(one.listed),
            "state": one.state,
            "reason": one.reason,
            "had": one.had,
            "metadata": _compute_md5(one.metadata),
            "xml": _compute_md5(one.xml),
        }
        for one in members
    ]
    about = json.dumps(index, indent=0).encode()
    path = folder / f"{sequence}-{_compute_md5(about)}.zip"
    safe_files.make_folder(folder)
    with (
        safe_files.replace_flushed(path) as part,
        zipfile.ZipFile(part, "x", zipfile.ZIP_DEFLATED) as file,
    ):
        _add_file(file, INDEX, about)
        for one in members:
            if one.state == "text":
                _add_file(file, f"{one.listed.name}.json", one.metadata)
                _add_file(file, f"{one.listed.name}.xml", one.xml)
    return path


def _add_file(file: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _DAY)
    info.compress_type = zipfile.ZIP_DEFLATED
    file.writestr(info, data)


def _compute_md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def get_bundle_md5(path: Path) -> str:
    """Return the MD5 of a bundle's index, from the bundle's name."""
    return path.stem.rpartition("-")[2]


def read_members(path: Path, *, bytes_too: bool = True) -> list[Member]:
    """Return the members of a bundle, in order.

    Raises
    ------
    BadContent
        It is damaged.
    """
    try:
        with safe_files.disk_errors(path, "read"), closing(zipfile.ZipFile(path)) as file:
            index = file.read(INDEX)
            if _compute_md5(index) != get_bundle_md5(path):
                raise BadContent(f"{path.name} is damaged: it has another index.")
            return [_to_member(file, row, bytes_too=bytes_too) for row in json.loads(index)]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BadContent(f"{path.name} is damaged: {error}.") from error


def _to_member(file: zipfile.ZipFile, row: dict[str, Any], *, bytes_too: bool) -> Member:
    listed = ObjectVersion(*row["object"])
    made = Member(listed, row["state"], row["reason"], row["had"])
    if row["state"] != "text" or not bytes_too:
        return made
    metadata, xml = file.read(f"{listed.name}.json"), file.read(f"{listed.name}.xml")
    return replace(made, metadata=metadata, xml=xml)


def read_article(path: Path, name: str) -> Fetched:
    """Read one article version from a bundle, and check its CRC.

    Raises
    ------
    BadContent
        It is not there, or damaged.
    """
    try:
        with safe_files.disk_errors(path, "read"), closing(zipfile.ZipFile(path)) as file:
            return build_fetched_article(file.read(f"{name}.json"), file.read(f"{name}.xml"))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BadContent(f"{path.name} is damaged: {error}.", verdict="partial") from error


def build_fetched_article(metadata: bytes, xml: bytes) -> Fetched:
    """Return an article as if fetched from the Cloud Service."""
    return to_cloud_fetched(parse_metadata(metadata), xml)


def parse_metadata(metadata: bytes) -> dict[str, Any]:
    """Return the facts in an article's metadata, as clean texts."""
    record: dict[str, Any] = Answer(200, "", metadata).json()
    return record
