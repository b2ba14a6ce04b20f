"""What the parts of a library have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import Library


class Namespace:
    """Verbs of a library that belong together, such as ``library.harvests``."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def __repr__(self) -> str:
        """Name the shelf, and what can be done."""
        verbs = ", ".join(name for name in dir(self) if not name.startswith("_"))
        return f"<{type(self).__name__} of {self._library.settings.papers_dir}: {verbs}>"
