"""The files of a model that runs on this machine: in a folder, or fetched from the Hub (`.hub`)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import EmbeddingsFailed

if TYPE_CHECKING:
    from ..settings import Settings
    from .hub import HubRepository

GRAPHS = (
    *("model.onnx", "onnx/model.onnx", "model_optimized.onnx"),
    *("onnx/model_quantized.onnx", "model_quantized.onnx", "onnx/model_int8.onnx"),
)
"""Where optimum, sentence-transformers, transformers.js and fastembed put ONNX files; the whole
model before one rounded to 8 bits."""
REQUIRED = ("tokenizer.json", "tokenizer_config.json", "config.json")
DESCRIBING = (
    *("special_tokens_map.json", "modules.json", "1_Pooling/config.json"),
    "config_sentence_transformers.json",
)
"""Files that say how a model is used, where it has them."""
DIGITS = 12
"""Of a digest or a commit, in a model's label."""
_NONE_SET = (
    "Set EMBEDDINGS_PROVIDER=hf (fetches all-MiniLM-L6-v2 from the Hub, 23 MB), or "
    "EMBEDDINGS_MODEL to a folder or to OWNER/NAME."
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of one model on this disk.

    ``label`` names model and version: vectors of two labels must not be compared. ``name`` is the
    repository's, or the folder's; ``graph`` is the ONNX file, relative to ``folder``.
    """

    name: str
    label: str
    folder: Path
    graph: str

    def read_json(self, path: str) -> Any:
        """Return the content of a JSON file; None where the model has no such file.

        Raises
        ------
        EmbeddingsFailed
            The file cannot be read, or is not JSON.
        """
        file = self.folder / path
        try:
            return json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or "it is not JSON"
            raise EmbeddingsFailed(f"The model's {file} cannot be read: {reason}.") from None


class ModelSource:
    """Where a model named in the settings comes from.

    Parameters
    ----------
    wanted : str
        A folder, or ``OWNER/NAME[@REVISION][:FILE.onnx]`` on the Hub. A folder comes first.
    settings : Settings
        The Hub's address and token, the cache folder, and whether we are offline.
    setting : str
        The setting that names the model, for error messages.
    """

    def __init__(self, wanted: str, settings: Settings, setting: str) -> None:
        from .hub import HubRepository, parse_model_name

        self._wanted, self._setting = wanted, setting
        self._path = Path(wanted).expanduser()
        named = None if self._path.is_dir() else parse_model_name(wanted)
        self._repository: HubRepository | None = (
            HubRepository(named, settings, setting) if named else None
        )

    def describe_missing(self) -> str:
        """Say why the files cannot be had, without asking anybody; empty when nothing is known."""
        try:
            if self._repository:
                self._repository.require_reachable()
            else:
                self._folder_files()
        except EmbeddingsFailed as error:
            return str(error)
        return ""

    @property
    def label(self) -> str:
        """The label of the model (see `ModelFiles`); of a new name, the Hub is asked for it.

        Raises
        ------
        EmbeddingsFailed
            The model is not there, or the Hub cannot be asked.
        """
        return self._repository.label if self._repository else self._folder_files().label

    def files(self) -> ModelFiles:
        """Return the files, fetched where they are missing.

        Raises
        ------
        EmbeddingsFailed
            They are not there and cannot be had.
        """
        return self._repository.files() if self._repository else self._folder_files()

    def _folder_files(self) -> ModelFiles:
        """Return the folder's files; the label has the digest of what decides about vectors."""
        folder = self._checked_path()
        graph = next((path for path in GRAPHS if (folder / path).is_file()), "")
        absent = [path for path in REQUIRED if not (folder / path).is_file()]
        if not graph or absent:
            lacking = ", ".join([*absent, *(() if graph else (" or ".join(GRAPHS[:2]),))])
            hint = f"Export one: optimum-cli export onnx -m OWNER/NAME {folder}"
            raise EmbeddingsFailed(f"The folder {folder} has no {lacking}.", hint)
        beside = sorted((folder / graph).parent.glob(f"{Path(graph).name}*"))
        deciding = [*beside, *(folder / name for name in (*REQUIRED, *DESCRIBING))]
        name = folder.resolve().name
        return ModelFiles(name, f"{name}@{_digest_of(deciding)}", folder, graph)

    def _checked_path(self) -> Path:
        if not self._wanted:
            msg = "No model is set that makes vectors on this machine."
            raise EmbeddingsFailed(msg, _NONE_SET)
        if self._path.is_dir():
            return self._path
        msg = f"{self._setting}={self._wanted} is not a folder, and not OWNER/NAME on the Hub."
        raise EmbeddingsFailed(msg, f"Set {self._setting} to a folder, or to OWNER/NAME.")


def _digest_of(paths: list[Path]) -> str:
    """Return the digest of names and contents of those files that exist."""
    whole = hashlib.sha256()
    for path in paths:
        try:
            if path.is_file():
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").digest()
                whole.update(path.name.encode() + b"\0" + digest)
        except OSError as error:
            msg = f"The model's {path} cannot be read: {error.strerror}."
            raise EmbeddingsFailed(msg) from None
    return whole.hexdigest()[:DIGITS]
