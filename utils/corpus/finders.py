"""Interfaces of finders and embedders, and the choice between them by the settings.

An `Embedder` makes vectors of passages; a `Finder` keeps passages and vectors, and finds them again
by the terms (`..outline.terms`) and by the vectors.

=====================  ==========================================  =====================
``VECTOR_STORE``       ``DATABASE_URL``                            finder
=====================  ==========================================  =====================
embedded (default)     none, or SQLite                             `.embedded`
embedded               PostgreSQL                                  `.pgvector`
weaviate               any                                         `.weaviate_finder`
=====================  ==========================================  =====================

All three behave alike (one suite of tests for them all): they hold the same terms, what is found by
words and what is found by meaning is made one order (`.ranking`), filters are applied before the
best are chosen, and retracted papers are found only where the filters include them.

Nothing is loaded or requested before the first vector is needed: without a model, searching by
words still works. `Embedder.explain_unavailable` says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlsplit

from ..http.address_policy import is_url_of_this_machine
from ..model.passage import Filters, Passage, PassageHit
from ..system.safe_files import PRIVATE_FOLDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Vectors = NDArray[np.float32]
    from sqlalchemy import Engine

    from ..settings import Settings

__all__ = [
    "Embedder",
    "Filters",
    "Finder",
    "FinderStatus",
    "Passage",
    "PassageHit",
    "SharedFacts",
]
_USUAL = "sentence-transformers/all-MiniLM-L6-v2:onnx/model_qint8_avx512_vnni.onnx"
"""In 8-bit integers: a quarter of the size, and half of the time, of the exact file."""


class SharedFacts(NamedTuple):
    """The facts about a passage's paper that a shared store returns with the passage.

    ``edat`` and ``lr`` are the times when the paper entered PubMed and was last revised, ISO 8601
    in UTC; empty if unknown. ``quality`` is the sum of its scores at the time of indexing.
    """

    edat: str
    lr: str
    quality: int


ShownOf = Callable[[Sequence[str]], Mapping[str, SharedFacts]]
"""Returns the shown facts of papers by key; papers without a record are left out."""


class Embedder(Protocol):
    """A model that embeds texts as vectors.

    Vectors of two models must not be compared. Threads may share one embedder.
    """

    @property
    def model(self) -> str:
        """The model's name, with its version or digest.

        Raises
        ------
        EmbeddingsFailed
            The model is missing; `dim` may raise it too.
        """
        ...

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        ...

    def explain_unavailable(self) -> str:
        """Return why no vectors can be made and what to do; empty if the model is usable.

        Looks at packages, files and settings only: sends no request and loads no model.
        """
        ...

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised row (float32, ``dim`` wide) for each text, in order.

        Raises
        ------
        EmbeddingsFailed
            The model is missing, or its service did not answer.
        """
        ...

    def embed_question(self, text: str) -> Vector:
        """Return the vector of a question; many models encode questions differently.

        Raises
        ------
        EmbeddingsFailed
            As `embed_texts`.
        """
        ...


@dataclass(frozen=True, slots=True)
class FinderStatus:
    """The counts and the model of a finder; ``model`` is empty without vectors."""

    passages: int
    vectors: int
    model: str = ""
    dim: int = 0


class PassageFinder(Protocol):
    """A searchable index of passages."""

    def search(
        self, query: str, vector: NDArray[np.float32] | None, limit: int, filters: Filters
    ) -> list[PassageHit]:
        """Return the best passages by words and, with a vector, by meaning."""
        ...

    def get_status(self) -> FinderStatus:
        """Return the counts of passages and vectors; raise an error if the index is unavailable."""
        ...


class Finder(PassageFinder, Protocol):
    """A finder that also stores passages and their vectors.

    Everything in it is derived: it can be emptied and filled again from the corpus.
    """

    @property
    def name(self) -> str:
        """The finder's name, as shown in results and warnings."""
        ...

    def prepare_for_model(self, model: str, dim: int) -> None:
        """Create the schema; delete the vectors of any model but *model* (empty: no model)."""
        ...

    def store_passages(self, passages: Sequence[Passage], vectors: Vectors | None) -> None:
        """Store passages, replacing passages with the same UUID; *vectors* has a row for each."""
        ...

    def delete_passages(self, uuids: Sequence[str]) -> None:
        """Delete passages; unknown UUIDs are ignored."""
        ...

    def find_absent_uuids(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs of passages that the index lacks."""
        ...

    def find_uuids_without_vectors(self, uuids: Sequence[str]) -> set[str]:
        """Return the UUIDs, out of *uuids*, of passages without a vector."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def make_finder(settings: Settings, engine: Engine, shelf_folder: Path, shown: ShownOf) -> Finder:
    """Return the finder of a shelf; disk and network are used only from its first call on.

    Parameters
    ----------
    settings : Settings
        ``vector_store`` and, for Weaviate, its address, key and class.
    engine : sqlalchemy.Engine
        The database of the corpus; where it is PostgreSQL, vectors and words live there too.
    shelf_folder : Path
        The shelf; the embedded finder keeps its files in ``.papershelf/corpus`` there.
    shown : callable
        Returns the facts that Weaviate shows of papers, called while passages are written. Other
        finders do not need them.
    """
    if settings.vector_store == "weaviate":
        from .weaviate_finder import WeaviateFinder

        return WeaviateFinder.from_settings(settings, shown)
    if engine.dialect.name == "postgresql":
        from .pgvector import PgvectorFinder

        return PgvectorFinder(engine)
    from .embedded import EmbeddedFinder

    return EmbeddedFinder(shelf_folder / PRIVATE_FOLDER / "corpus")


def list_remote_hosts(settings: Settings) -> list[str]:
    """Return the other machines that would receive the corpus's texts, by the settings."""
    services = [settings.key("database_url")]
    if settings.vector_store == "weaviate":
        services.append(settings.weaviate_url)
    if settings.embeddings_provider == "openai":
        services.append(settings.openai_base_url)
    others = [url for url in services if url and not is_url_of_this_machine(url)]
    return [urlsplit(url).hostname or "" for url in others]


def make_embedder(settings: Settings) -> Embedder | None:
    """Return the embedder of ``EMBEDDINGS_PROVIDER``; None if the setting is empty.

    Never raises: ``available()`` says what is missing, and using it raises.
    """
    provider = settings.embeddings_provider
    if provider == "openai":
        from .openai_api import OpenAIEmbedder

        return OpenAIEmbedder(settings)
    wanted = settings.embeddings_model or (_USUAL if provider == "hf" else "")
    if provider == "none":
        return None
    from .local_model import LocalModel

    return LocalModel(wanted, settings)
