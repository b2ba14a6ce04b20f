"""The finder that the settings choose.

=====================  ==========================================  =====================
``VECTOR_STORE``       ``DATABASE_URL``                            finder
=====================  ==========================================  =====================
embedded (default)     none, or SQLite                             `.embedded`
embedded               PostgreSQL                                  `.pgvector`
weaviate               any                                         `.weaviate_finder`
=====================  ==========================================  =====================

All three behave alike (one suite of tests for them all): what is found by words and what is found
by meaning is fused by rank (`.fusion`), filters are applied before the best are chosen, and
retracted papers are found only where the filters include them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..system.safe_files import PRIVATE

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ..settings import Settings
    from . import Finder


def finder_of(settings: Settings, engine: Engine, shelf_folder: Path) -> Finder:
    """The finder of a shelf. Neither disk nor network is touched before it is first used.

    Parameters
    ----------
    settings : Settings
        ``vector_store`` and, for Weaviate, its address, key and class.
    engine : sqlalchemy.Engine
        The database of the corpus; where it is PostgreSQL, vectors and words live there too.
    shelf_folder : Path
        The shelf; the embedded finder keeps its files in ``.papershelf/corpus`` there.
    """
    if settings.vector_store == "weaviate":
        from .weaviate_finder import WeaviateFinder

        return WeaviateFinder.of(settings)
    if engine.dialect.name == "postgresql":
        from .pgvector import PgvectorFinder

        return PgvectorFinder(engine)
    from .embedded import EmbeddedFinder

    return EmbeddedFinder(shelf_folder / PRIVATE / "corpus")
