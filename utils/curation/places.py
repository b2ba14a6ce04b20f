"""Locate the blocks of a text in the site's original: XPath, or page and box.

Text and bytes are compared when somebody asks (a tenth of a second for XML, one for a PDF), and
the answer is kept beside the text, in ``<name>.files/places.json``, until either changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..command_line import command_line
from ..errors import BadRequest, NotFound, StoreFailed
from ..model.paper import StoredPaper
from ..model.passage import Anchor, SourcePlace
from ..outline.blocks import build_anchors
from ..readers.source_words import SourcePassageFinder, extract_source_words
from ..shelf import Shelf
from ..shelf.record import RawAnswer
from ..system import safe_files
from ..system.plain_text import shorten, to_escaped_json
from .reading import find_stored_paper

FILE = "places.json"
_FORMAT_VERSION = 1  # counted up when places are found in another way


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """The blocks of a text with their places in the original; ``url`` is its address.

    ``media`` is empty where they were not kept; ``pdf`` is the PDF of the text.
    """

    stored: StoredPaper
    text: str
    anchors: tuple[Anchor, ...]
    media: str = ""
    url: str = ""
    pdf: Path | None = None

    def get_block(self, wanted: str) -> Anchor:
        """Return the block with a name, or the block at a range of characters (``1200:1350``).

        Raises
        ------
        BadRequest
            There is none.
        """
        start, _, end = wanted.partition(":")
        if start.isdigit():
            first, last = int(start), int(end) if end.isdigit() else int(start) + 1
            over = [one for one in self.anchors if one.start < last and one.end > first]
        else:
            over = [one for one in self.anchors if one.name == wanted.lower()]
        if over:
            return over[0]
        raise BadRequest(
            f"Nothing in {self.stored.paper.ids} is called {shorten(wanted, 60)!r}.",
            f"See the names: {command_line(f'read {self.stored.paper.ids.key} --source')}",
        )

    def build_link(self, anchor: Anchor) -> str:
        """Return the browser address of a block: PDF page or part of a web page; else empty."""
        place = next(iter(anchor.sources), SourcePlace())
        if place.page:
            pdf = self.pdf if self.pdf and self.pdf.is_file() else None
            return f"{pdf.as_uri() if pdf else self.url}#page={place.page}"
        if self.media == "html":
            return f"{self.url}#{place.id}" if place.id else self.url
        return ""


def locate_blocks(paper: str, shelf: Shelf) -> TextPlaces:
    """Return the blocks of a paper on the shelf, with their places in the original.

    Raises
    ------
    BadRequest, NotFound
        As in `.reading.find_stored_paper`; or the PDF of the text was moved or changed.
    """
    stored = find_stored_paper(paper, shelf)
    if problem := shelf.pdfs.find_pdf_problem(stored):
        raise NotFound(f"The PDF of {stored.paper.ids} cannot be read: {problem}")
    text, raw = shelf.read_text(stored), shelf.read_raw_answer(stored)
    anchors = build_anchors(text)
    if raw is None:
        return TextPlaces(stored, text, anchors)
    file = Path(stored.path).with_suffix(".files") / FILE
    kept = _load_places(file, stored)
    if kept is None:
        anchors = _add_places_to_anchors(text, anchors, raw)
        _store_places(file, stored, anchors)
    else:
        anchors = tuple(replace(one, sources=kept.get(one.name, ())) for one in anchors)
    pdf = shelf.pdfs.find_pdf(stored)
    path = pdf.path if pdf else None
    return TextPlaces(stored, text, anchors, raw.fetched.media, raw.fetched.url, path)


def _add_places_to_anchors(
    text: str, anchors: Iterable[Anchor], raw: RawAnswer
) -> tuple[Anchor, ...]:
    source = extract_source_words(raw.fetched)
    if source is None:
        return tuple(anchors)
    finder = SourcePassageFinder(source)
    return tuple(
        replace(one, sources=finder.find_places(text[one.start : one.end])) for one in anchors
    )


def _load_places(file: Path, stored: StoredPaper) -> dict[str, tuple[SourcePlace, ...]] | None:
    """Return the stored places by block name; None if missing or made for another text."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        known: dict[str, Any] = json.loads(file.read_bytes())
        if (known["rules"], known["sha256"]) == (_FORMAT_VERSION, stored.sha256):
            return {
                str(name): tuple(_parse_place(**place) for place in places)
                for name, places in known["places"].items()
            }
    return None


def _parse_place(path: str, id: str, page: int, box: list[float] | None) -> SourcePlace:  # noqa: A002
    left, bottom, right, top = map(float, box) if box else (0.0, 0.0, 0.0, 0.0)
    return SourcePlace(path, id, int(page), (left, bottom, right, top) if box else None)


def _store_places(file: Path, stored: StoredPaper, anchors: Iterable[Anchor]) -> None:
    places = {one.name: [asdict(place) for place in one.sources] for one in anchors}
    row = {"rules": _FORMAT_VERSION, "sha256": stored.sha256, "places": places}
    with suppress(StoreFailed):  # a shelf that may only be read is read all the same
        safe_files.make_folder(file.parent)
        safe_files.write_file(file, to_escaped_json(row).encode())
