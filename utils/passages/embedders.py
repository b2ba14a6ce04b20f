"""The embedder that the settings choose.

Nothing is loaded or requested before the first vector is needed: without a model, searching by
words still works. `Embedder.available` says what is missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..settings import Settings
    from . import Embedder

_USUAL = "sentence-transformers/all-MiniLM-L6-v2"


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder of ``EMBEDDINGS_PROVIDER``; None where the settings want none.

    Never raises: ``available()`` says what is missing, and using it raises.
    """
    provider = settings.embeddings_provider
    if provider == "openai":
        from .openai_api import OpenAI

        return OpenAI(settings)
    if provider == "none":
        return None
    wanted = settings.embeddings_model or (_USUAL if provider == "hf" else "")
    return _on_this_machine(wanted, settings, packaged=provider == "local")


def _on_this_machine(wanted: str, settings: Settings, *, packaged: bool) -> Embedder:
    """The model of a folder, of a package, or of the Hub; a folder that is there comes first."""
    from .minilm import NAME, MiniLM

    folder = Path(wanted).expanduser()
    if wanted and folder.is_dir():
        from .onnx_folder import GRAPHS, OnnxFolder

        has_graph = any((folder / graph).is_file() for graph in GRAPHS)
        return OnnxFolder(wanted) if has_graph or not packaged else MiniLM(wanted)
    if packaged and wanted in ("", NAME, _USUAL):
        return MiniLM()
    from .hub_model import HubModel, named

    if name := named(wanted):
        return HubModel(*name, settings)
    from .onnx_folder import OnnxFolder

    return OnnxFolder(wanted)
