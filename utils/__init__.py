"""Search, download and read scientific papers.

>>> from utils import Library            # doctest: +SKIP
>>> Library().download("31452104").file_path  # doctest: +SKIP

Doors: ``cli`` (the shell), ``mcp`` (assistants), ``library`` (Python), ``desk`` (the browser).
From a name to a text: ``search``, ``download``, ``sources`` (one file per site), ``http``,
``readers`` (bytes to text), ``judges`` (whole? this paper?), ``shelf`` (files), ``curation``
(keeping the shelf right). Thousands of papers: ``lists``, ``harvest``, ``reports``, ``packs``.
Research: ``review``, ``manuscript``, ``corpus``, ``entrez``, ``mirror``, ``media``, ``zotero``,
``citations``. Below all: ``model`` (nouns), ``outline`` (sections), ``system`` (the machine).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import PaperError
    from .library import Library
    from .model.identifiers import Ids
    from .model.paper import Paper, StoredPaper
    from .settings import Settings

    __version__: str

__all__ = ["Ids", "Library", "Paper", "PaperError", "Settings", "StoredPaper", "__version__"]
_MODULE_BY_NAME = {
    "Ids": "model.identifiers",
    "Library": "library",
    "Paper": "model.paper",
    "PaperError": "errors",
    "Settings": "settings",
    "StoredPaper": "model.paper",
}


if not TYPE_CHECKING:  # a checker that saw it would believe that every name is here

    def __getattr__(name: str) -> Any:
        """Import a name when it is used: the command handles signals before these slow imports."""
        if name == "__version__":
            from .system.process import get_version

            return get_version()
        if name not in _MODULE_BY_NAME:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        return getattr(import_module(f".{_MODULE_BY_NAME[name]}", __name__), name)
