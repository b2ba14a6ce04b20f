"""The embedder that the settings choose.

Nothing is loaded or requested before the first vector is needed: without a model, searching by
words still works. `Embedder.available` says what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings import Settings
    from . import Embedder


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder of ``EMBEDDINGS_PROVIDER``; None where the settings want none.

    Never raises: ``available()`` says what is missing, and using it raises.
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
