"""Toolset ``objects``: a paper's figures, tables and files, and the verification of files."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, cast

from mcp.types import Annotations, ImageContent
from pydantic import Field, with_config
from typing_extensions import TypedDict

from ..errors import BadRequest, PaperError
from ..library import Library
from ..system import safe_files
from ..system.plain_text import shorten
from .answers import attach_blocks
from .tool import (
    ADDS_FILES,
    READS_SHELF,
    AnyPaper,
    LongCallRunner,
    Start,
    TextOrNumber,
    Tool,
    make_tool,
)

if TYPE_CHECKING:
    from ..media import StoredObject
    from ..model.paper import TableGrid

_MAX_OBJECTS = 50  # objects of one answer
_LISTED_CAPTION_MAX_CHARS, _FULL_CAPTION_MAX_CHARS = 300, 4000  # characters of a caption
_LABEL_MAX_CHARS = 100
_MAX_NOTES = 50
_TABLE_MAX_CHARS = 20_000  # of a table in one answer
_IMAGE_MAX_BYTES = 700_000  # bytes, a megabyte as base64: hosts refuse more
_MAX_IMAGES = 4  # images of one figure
_MIME_TYPE_BY_FIRST_BYTES = {
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF8": "image/gif",
}
Row = dict[str, Any]


class Objects(TypedDict):
    """A page of a paper's objects, or one of them with its rows if it is a table."""

    total: int
    objects: list[Row]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[str]]]
    notes: NotRequired[list[str]]
    next_start: int | None
    warnings: NotRequired[list[str]]


@with_config(extra="allow")
class FileVerdict(TypedDict):
    """The judges' verdict on a file."""

    verdict: str
    outcome: str
    identity: Any
    evidence: Any
    counts: Any


def tools(library: Library) -> list[Tool]:
    """Return the tools, bound to *library*."""
    runner = LongCallRunner("PubMed Central")

    def paper_objects(
        paper: AnyPaper,
        which: Annotated[
            TextOrNumber, Field(description="Show this one: Table 2, or a number of the list.")
        ] = "",
        start: Start = 0,
    ) -> Objects:
        """List the figures, tables and files of a paper on the shelf, or show one."""
        found = library.objects(paper, only=which, fetch=False).objects
        if not which:
            return _list_objects(found, start)
        if grid := found[0].grid:
            return _build_table_page(found[0], grid, start)
        return _build_picture_blocks(runner.call_shared(library.objects, paper, only=which).objects)

    def verify_file(
        file: Annotated[
            TextOrNumber, Field(description="Judge this file: HTML, PDF, JATS, markdown or text.")
        ],
        paper: Annotated[
            TextOrNumber, Field(description="The paper it should be: PMID, DOI or PMCID.")
        ] = "",
        record: Annotated[str, Field(description="That paper as a CSL-JSON item.")] = "",
    ) -> FileVerdict:
        """Judge a file offline: whether it is a whole paper, and this paper."""
        path = _require_readable_path(library, file)
        item = _parse_csl_record(record) if record else None
        (result,) = library.verify([path], paper=paper, record=item)
        if isinstance(result, PaperError):
            raise result
        return cast("FileVerdict", result.row())

    return [
        make_tool(paper_objects, ADDS_FILES),
        make_tool(verify_file, READS_SHELF),
    ]


def _parse_csl_record(record: str) -> dict[str, Any]:
    # Text, not an object: some clients cannot read a schema with members of any name.
    try:
        item = json.loads(record)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict):
        raise BadRequest("record is not a JSON object.", 'Write {"DOI": "…", "title": "…"}.')
    return item


def _require_readable_path(library: Library, file: str) -> Path:
    """Return the path of a file that the caller may name: over HTTP, one on the shelf only."""
    folder = library.shelf.folder
    if "\0" in file:
        raise BadRequest("file is not a valid path.", "Check the path.")
    try:
        path = folder / Path(file).expanduser()
    except RuntimeError as error:  # ~somebody who is unknown here
        raise BadRequest(f"{file} names a home folder that is unknown here.") from error
    remote = library.settings.mcp_transport_type == "http"
    if remote and not path.resolve().is_relative_to(folder.resolve()):
        msg = "Over HTTP only files in the server's shelf can be verified."
        raise BadRequest(msg, "Put the file into its inbox/ and name it inbox/FILE.")
    return path


def _list_objects(found: Sequence[StoredObject], start: int) -> Objects:
    """Return a page of a paper's objects."""
    end = start + _MAX_OBJECTS
    page = [
        {"number": at, **_build_object_row(one, _LISTED_CAPTION_MAX_CHARS)}
        for at, one in enumerate(found, 1)
    ][start:end]
    more = end if end < len(found) else None
    return {"total": len(found), "objects": page, "next_start": more}


def _build_object_row(stored: StoredObject, caption_max_chars: int) -> dict[str, Any]:
    """Return an object as a row, with at most *caption_max_chars* characters of its caption."""
    caption = {"caption": shorten(stored.caption, caption_max_chars)} if stored.caption else {}
    return stored.row() | {"label": shorten(stored.label, _LABEL_MAX_CHARS)} | caption


def _build_table_page(stored: StoredObject, grid: TableGrid, start: int) -> Objects:
    """Return the rows of a table from *start*, as many as an answer can hold."""
    longest = _TABLE_MAX_CHARS // max(grid.width, 1) + 1
    page: list[list[str]] = []
    left = _TABLE_MAX_CHARS
    for cells in grid.rows[start:]:
        left -= sum(len(cell[:longest]) for cell in cells)
        if page and left < 0:
            break
        page.append([shorten(cell, longest) for cell in cells])
    end = start + len(page)
    return {
        "total": len(grid.rows),
        "objects": [_build_object_row(stored, _FULL_CAPTION_MAX_CHARS)],
        "columns": [shorten(name, longest) for name in grid.columns],
        "rows": page,
        "notes": [shorten(note, _FULL_CAPTION_MAX_CHARS) for note in grid.notes[:_MAX_NOTES]],
        "next_start": end if end < len(grid.rows) else None,
    }


def _build_picture_blocks(found: Sequence[StoredObject]) -> Objects:
    """Return the images of a figure that a host can show; for others, their place."""
    images = [image for one in found[:_MAX_IMAGES] if (image := _build_picture(one))]
    shown = [_build_object_row(one, _FULL_CAPTION_MAX_CHARS) for one in found[:_MAX_OBJECTS]]
    structure = Objects(total=len(found), objects=shown, next_start=None)
    if not images and any(one.file for one in found):
        structure["warnings"] = ["No picture that can be shown here: open the file."]
    return attach_blocks(structure, images)


def _build_picture(stored: StoredObject) -> ImageContent | None:
    """Return an image, typed by its first bytes; None for a large or unknown file."""
    if not stored.file or stored.kind != "figure" or stored.bytes > _IMAGE_MAX_BYTES:
        return None
    with safe_files.disk_errors(path := Path(stored.file), "read"):
        data = path.read_bytes()
    kind = next(
        (name for begin, name in _MIME_TYPE_BY_FIRST_BYTES.items() if data.startswith(begin)), ""
    )
    if not kind or len(data) > _IMAGE_MAX_BYTES:
        return None
    return ImageContent(
        type="image",
        data=base64.b64encode(data).decode("ascii"),
        mime_type=kind,
        annotations=Annotations(audience=["user", "assistant"], priority=0.8),
        _meta={"untrusted": True},
    )
