"""NIH's Open Citation Collection at figshare: ``world.snapshots`` is what lies there.

The forms, and where they are written down:

* ``/collections/{id}/articles`` and ``/articles/{id}/files``: lists of objects with ``id``,
  ``title``, ``published_date``, and of files with ``name``, ``size``, ``download_url``,
  ``supplied_md5``, ``computed_md5`` (docs.figshare.com; as hugheylab/pmparser reads them,
  R/get_citation.R);
* ``download_url`` answers 302 to a pre-signed address at S3 that is good for ten seconds (users'
  notes of 2026); S3 answers ``Range`` with 206 and ``Content-Range``, beyond the end with 416
  (Amazon S3 API Reference, GetObject; RFC 9110, 14);
* a ZIP with one ``open_citation_collection.csv``, whose header is ``citing,referenced`` (the same
  reader; OpenCitations' POCI is made of it).

The bytes of figshare's errors are remembered only.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.world import kinship
from utils.demo.wire import Call, Reply, as_json, redirect

if TYPE_CHECKING:
    from tests.world import World

ZIP, CSV = "open_citation_collection.zip", "open_citation_collection.csv"


@dataclass
class Snapshot:
    """A month's article; ``breaks_after`` so many bytes of the file, once."""

    published: str
    data: bytes
    name: str = ZIP
    md5: str = ""
    breaks_after: int = 0


def zipped(
    pairs: Iterable[tuple[int, int]], head: str = "citing,referenced", name: str = CSV
) -> bytes:
    """A ZIP of such a table; the same pairs give the same bytes."""
    lines = "\n".join([head, *(f"{citing},{cited}" for citing, cited in pairs), ""])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), lines)
    return made.getvalue()


def small_snapshot(world: World) -> Snapshot:
    """What the world's papers cite of each other."""
    pairs = [
        (int(record.pmid), int(other.pmid))
        for record in world.corpus.by_pmid.values()
        for other in kinship.cited(record, world)
    ]
    return Snapshot("2026-10-05T14:03:11Z", zipped(pairs))


def citation_collection(call: Call, world: World) -> Reply:
    """``/collections/4586573/articles``, ``/articles/N/files``, and the files behind them."""
    if call.path == "/collections/4586573/articles":
        return as_json([_article(at, one) for at, one in enumerate(world.snapshots)])
    if found := re.fullmatch(r"/articles/(\d+)/files", call.path):
        number = int(found[1]) - 1000
        if number < len(world.snapshots):
            return as_json([_file(call, number, world.snapshots[number])])
    if found := re.fullmatch(r"/files/(\d+)", call.path):
        there = f"{call.host}/citation_collection/s3/{found[1]}?X-Amz-Expires=10"
        return redirect(there)
    if found := re.fullmatch(r"/s3/(\d+)", call.path):
        return _sent(call, world.snapshots[int(found[1])])
    return as_json({"message": "Entity not found", "code": "EntityNotFound"}, 404)


def _article(at: int, one: Snapshot) -> dict[str, Any]:
    title = f"iCite Database Snapshot {one.published[:7]}"
    return {"id": 1000 + at, "title": title, "published_date": one.published}


def _file(call: Call, at: int, one: Snapshot) -> dict[str, Any]:
    md5 = one.md5 or hashlib.md5(one.data, usedforsecurity=False).hexdigest()
    return {
        "id": at, "name": one.name, "size": len(one.data), "is_link_only": False,
        "download_url": f"{call.host}/citation_collection/files/{at}", "supplied_md5": md5,
        "computed_md5": md5,
    }  # fmt: skip


def _sent(call: Call, one: Snapshot) -> Reply:
    begin, status, headers = 0, 200, {}
    if found := re.fullmatch(r"bytes=(\d+)-", call.header("range")):
        begin, status = int(found[1]), 206
        if begin >= len(one.data):
            return Reply(416, b"", "application/xml")
        headers = {"Content-Range": f"bytes {begin}-{len(one.data) - 1}/{len(one.data)}"}
    if one.breaks_after:
        body, one.breaks_after = one.data[begin : begin + one.breaks_after], 0
        headers |= {"Content-Length": str(len(one.data) - begin)}
        return Reply(status, body, "application/zip", headers, stream=iter([body]))
    return Reply(status, one.data[begin:], "application/zip", headers)
