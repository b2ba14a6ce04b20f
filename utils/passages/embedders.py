"""Which embedder the settings ask for.

Nothing is loaded and nobody is asked before the first vector is wanted: a missing model does not
keep anybody from searching by words. `Embedder.available` says what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings import Settings
    from . import Embedder


def embedder_of(settings: Settings) -> Embedder | None:
    """Who makes vectors (``EMBEDDINGS_PROVIDER``); None where the settings want none.

    Never raises: what is missing is said by ``available()``, and raised where it is used.
    """
    provider = settings.embeddings_provider
    if provider == "local":
        from .minilm import MiniLM

        return MiniLM(settings.embeddings_model)
    if provider == "hf":
        from .onnx_folder import OnnxFolder

        return OnnxFolder(settings.embeddings_model)
    if provider == "openai":
        from .openai_api import OpenAI

        return OpenAI(settings)
    return None
