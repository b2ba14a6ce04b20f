"""A key for what is computed from a text on the shelf and kept in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.paper import StoredPaper
from ..system import safe_files

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
        stamp = safe_files.stamp(Path(stored.path))
        return cls(stored.path, stored.sha256, stored.saved_at, *stamp, stored, shelf)
