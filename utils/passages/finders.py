"""The finder that the settings choose.

=====================  ==========================================  =====================
``VECTOR_STORE``       ``DATABASE_URL``                            finder
=====================  ==========================================  =====================
embedded (default)     none, or SQLite                             `.embedded`
embedded               PostgreSQL                                  `.pgvector`
weaviate               any                                         `.weaviate_finder`
=====================  ==========================================  =====================

All three behave alike (one suite of tests for them all): they hold the same terms (`.terms`), what
is found by words and what is found by meaning is made one order (`.ranking`), filters are applied
before the best are chosen, and retracted papers are found only where the filters include them.

The embedder that the settings choose.

Nothing is loaded or requested before the first vector is needed: without a model, searching by
words still works. `Embedder.available` says what is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..http.address_policy import leads_here
from ..system.safe_files import PRIVATE

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from ..settings import Settings
    from . import Embedder, Finder, ShownOf

_USUAL = "sentence-transformers/all-MiniLM-L6-v2:onnx/model_qint8_avx512_vnni.onnx"
"""In 8-bit integers: a quarter of the size, and half of the time, of the exact file."""


def finder_of(settings: Settings, engine: Engine, shelf_folder: Path, shown: ShownOf) -> Finder:
    """The finder of a shelf. Neither disk nor network is touched before it is first used.

    Parameters
    ----------
    settings : Settings
        ``vector_store`` and, for Weaviate, its address, key and class.
    engine : sqlalchemy.Engine
        The database of the corpus; where it is PostgreSQL, vectors and words live there too.
    shelf_folder : Path
        The shelf; the embedded finder keeps its files in ``.papershelf/corpus`` there.
    shown : callable
        What Weaviate shows of papers, asked while passages are written; the others are read by
        nobody but us, who have the records.
    """
    if settings.vector_store == "weaviate":
        from .weaviate_finder import WeaviateFinder

        return WeaviateFinder.of(settings, shown)
    if engine.dialect.name == "postgresql":
        from .pgvector import PgvectorFinder

        return PgvectorFinder(engine)
    from .embedded import EmbeddedFinder

    return EmbeddedFinder(shelf_folder / PRIVATE / "corpus")


def hosts_of(settings: Settings) -> list[str]:
    """The other machines that texts of the corpus would be sent to, by the settings."""
    services = [settings.key("database_url")]
    if settings.vector_store == "weaviate":
        services.append(settings.weaviate_url)
    if settings.embeddings_provider == "openai":
        services.append(settings.openai_base_url)
    others = [url for url in services if url and not leads_here(url)]
    return [urlsplit(url).hostname or "" for url in others]


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder of ``EMBEDDINGS_PROVIDER``; None where the settings want none.

    Never raises: ``available()`` says what is missing, and using it raises.
    """
    provider = settings.embeddings_provider
    if provider == "openai":
        from .openai_api import OpenAI

        return OpenAI(settings)
    wanted = settings.embeddings_model or (_USUAL if provider == "hf" else "")
    if provider == "none":
        return None
    from .local_model import LocalModel

    return LocalModel(wanted, settings)
