"""The one object a notebook, a shell or an assistant needs.

`rooms` is what it stands on; its verbs are in `searching`, `collecting`, `reading` and `upkeep`.
Everything below them is imported when first used: an MCP host waits for the list of tools, not for
XML parsers.
"""

from __future__ import annotations

from typing import Unpack

from ..errors import BadRequest
from ..settings import Overrides, Settings, load_settings
from ..system import safe_files
from .reading import ReadVerbs
from .searching import SearchVerbs
from .upkeep import UpkeepVerbs


class Library(SearchVerbs, ReadVerbs, UpkeepVerbs):
    """A shelf of papers, the web it is filled from, and the verbs to do so.

    Safe to share between threads; several libraries and processes may share one folder.
    Constructing one touches neither disk nor network.

    Parameters
    ----------
    settings : Settings, optional
        Read from the environment and ``.env`` when not given.
    **overrides
        Single settings by field name, such as ``papers_dir="corpus"``: see `..settings.Overrides`.

    Examples
    --------
    >>> library = Library(pubmed_email="me@lab.edu")                     # doctest: +SKIP
    >>> library.search("CXCL12 AND CXCR4", max_results=3).papers[0].title # doctest: +SKIP
    >>> print(library.download("31452104").file_path)                    # doctest: +SKIP
    """

    def __init__(self, settings: Settings | None = None, **overrides: Unpack[Overrides]) -> None:
        if settings is not None and not isinstance(settings, Settings):
            msg = f"{settings!r} is no Settings object."
            raise BadRequest(msg, 'Give single settings by name: Library(papers_dir="corpus").')
        self.settings = settings or load_settings(**overrides)
        if self.settings.papers_shared:
            safe_files.request_sharing(self.settings.papers_dir)
