"""A key for what is computed from a text on the shelf and kept in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.paper import StoredPaper

if TYPE_CHECKING:
    from .shelf import Shelf


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text by the facts of which one at least changes when its file or its raw bytes do.

    Two keys are equal if path, size, times and checksum are; the paper and its shelf are only
    carried along, to read the text with.
    """

    path: str
    sha256: str
    saved_at: str
    size: int
    mtime_ns: int
    stored: StoredPaper = field(compare=False)
    shelf: Shelf = field(compare=False)

    @classmethod
    def of(cls, stored: StoredPaper, shelf: Shelf) -> TextFile:
        """Return the key of a text as it is now; a missing file has the size -1."""
        try:
            status = Path(stored.path).stat()
            size, mtime_ns = status.st_size, status.st_mtime_ns
        except OSError:
            size = mtime_ns = -1
        return cls(stored.path, stored.sha256, stored.saved_at, size, mtime_ns, stored, shelf)
