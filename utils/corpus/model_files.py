"""Find the files of a local model: in a folder, or fetched from the Hub.

Models of the Hugging Face Hub are fetched once, and pinned to a commit. Fetched are one ONNX file,
the tokenizer, and the JSON files that say how the model is used. Never pickles, never code, never
more than `_MAX_BYTES`. All requests go through `Web`: proxies, certificates, rate limits and the
address policy of the settings apply, and ``HF_TOKEN`` is sent to the Hub's own host only. The files
lie in the user's cache folder.

The commit that a name meant when it was first met is written down (a *pin*) and kept. The Hub is
not asked again, and the commit is part of the model's label, so an index never mixes the vectors of
two commits.
Listing and download: https://huggingface.co/docs/hub/api; errors by ``X-Error-Code``:
``huggingface_hub/utils/_http.py``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from ..errors import BadContent, EmbeddingsFailed, PaperError, SourceMiss, StoreFailed
from ..http import Answer, Rate, Web
from ..http.session import download_to_disk
from ..system.safe_files import make_folder, replace_file, write_file

if TYPE_CHECKING:
    from ..settings import Settings

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
log = logging.getLogger(__name__)
RATE = Rate("hub", ("hub",), every=0.1, in_flight=4)
"""Anonymous callers may ask 3,000 files and 500 listings in five minutes
(https://huggingface.co/docs/hub/rate-limits)."""

_NAMED = re.compile(
    r"([\w.-]{1,96}/[\w.-]{1,96})(?:@(\w[\w./-]{0,199}))?(?::(\w[\w./-]{0,199}\.onnx))?", re.A
)
_COMMIT = re.compile(r"[0-9a-f]{6,64}")
_MAX_BYTES = 3_000_000_000  # the largest models that a processor alone can serve


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
        """Return the content of a JSON file; None if the model has no such file.

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
    """The location of a model that is named in the settings.

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

        self._wanted, self._setting = wanted, setting
        self._path = Path(wanted).expanduser()
        named = None if self._path.is_dir() else parse_model_name(wanted)
        self._repository: HubRepository | None = (
            HubRepository(named, settings, setting) if named else None
        )

    def explain_missing_files(self) -> str:
        """Return why the model's files are unavailable, or "" if they are. Sends no request."""
        try:
            if self._repository:
                self._repository.require_available()
            else:
                self._read_folder_files()
        except EmbeddingsFailed as error:
            return error.text
        return ""

    @property
    def label(self) -> str:
        """The label of the model (see `ModelFiles`); a new name is looked up on the Hub.

        Raises
        ------
        EmbeddingsFailed
            The model is not there, or the Hub cannot be asked.
        """
        return self._repository.label if self._repository else self._read_folder_files().label

    def get_files(self) -> ModelFiles:
        """Return the files; fetch missing files.

        Raises
        ------
        EmbeddingsFailed
            They are not there and cannot be had.
        """
        return self._repository.get_files() if self._repository else self._read_folder_files()

    def _read_folder_files(self) -> ModelFiles:
        """Return the folder's files; the label has a digest of all that affects vectors."""
        folder = self._get_required_folder()
        graph = next((path for path in GRAPHS if (folder / path).is_file()), "")
        absent = [path for path in REQUIRED if not (folder / path).is_file()]
        if not graph or absent:
            lacking = ", ".join([*absent, *(() if graph else (" or ".join(GRAPHS[:2]),))])
            hint = f"Export one: optimum-cli export onnx -m OWNER/NAME {folder}"
            raise EmbeddingsFailed(f"The folder {folder} has no {lacking}.", hint)
        beside = sorted((folder / graph).parent.glob(f"{Path(graph).name}*"))
        deciding = [*beside, *(folder / name for name in (*REQUIRED, *DESCRIBING))]
        name = folder.resolve().name
        return ModelFiles(name, f"{name}@{_hash_files(deciding)}", folder, graph)

    def _get_required_folder(self) -> Path:
        if not self._wanted:
            msg = "No model is set that makes vectors on this machine."
            raise EmbeddingsFailed(msg, _NONE_SET)
        if self._path.is_dir():
            return self._path
        msg = f"{self._setting}={self._wanted} is not a folder, and not OWNER/NAME on the Hub."
        raise EmbeddingsFailed(msg, f"Set {self._setting} to a folder, or to OWNER/NAME.")


def _hash_files(paths: list[Path]) -> str:
    """Return a digest of the names and contents of the files that exist."""
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


class HubModelName(NamedTuple):
    """A model of the Hub; ``graph`` is its ONNX file, empty for the default file."""

    name: str
    revision: str
    graph: str


def parse_model_name(wanted: str) -> HubModelName | None:
    """Parse the name of a model on the Hub; None if *wanted* cannot be a name.

    >>> parse_model_name("lab/tiny@v2")
    HubModelName(name='lab/tiny', revision='v2', graph='')
    >>> parse_model_name("lab/tiny:onnx/model_int8.onnx")
    HubModelName(name='lab/tiny', revision='main', graph='onnx/model_int8.onnx')
    >>> parse_model_name("/models/tiny")
    """
    found = _NAMED.fullmatch(wanted)
    if not found or ".." in wanted:
        return None
    return HubModelName(found[1], found[2] or "main", found[3] or "")


@dataclass(frozen=True, slots=True)
class _ModelPin:
    """The commit, ONNX file and SHA-256 digests that were chosen when a model was first used."""

    commit: str
    graph: str
    digests: dict[str, str]


class HubRepository:
    """One model on the Hub; *setting* is the setting that names it. Thread-safe."""

    def __init__(self, named: HubModelName, settings: Settings, setting: str) -> None:
        self._name, self._revision, self._graph = named
        self._settings, self._setting = settings, setting
        self._lock = threading.Lock()

    def require_available(self) -> None:
        """Raise `EmbeddingsFailed` if offline and the files are not on this machine."""
        pin = self._read_pin()
        if not pin or not self._has_all_files(pin):
            self._require_online()

    @cached_property
    def label(self) -> str:
        """The label of the model (see `ModelFiles`); a new name is looked up on the Hub."""
        return f"{self._name}@{self._pin.commit[:DIGITS]}:{self._pin.graph}"

    def get_files(self) -> ModelFiles:
        """Return the files; fetch missing files, or raise `EmbeddingsFailed`."""
        pin = self._pin
        with self._lock:
            if not self._has_all_files(pin):
                self._fetch_pinned_files(pin)
        return ModelFiles(self._name, self.label, self._get_pin_folder(pin), pin.graph)

    @cached_property
    def _pin(self) -> _ModelPin:
        """The commit and the files that are used, chosen once and recorded on the disk."""
        return self._read_pin() or self._create_pin()

    def _read_pin(self) -> _ModelPin | None:
        with suppress(OSError, ValueError, TypeError, AttributeError):
            pin = _ModelPin(**json.loads(self._pin_path.read_bytes()))
            whole = pin.graph in self._allowed_graphs and set(REQUIRED) <= pin.digests.keys()
            return pin if whole and _COMMIT.fullmatch(pin.commit) else None
        return None

    def _create_pin(self) -> _ModelPin:
        """Request the current commit of the model from the Hub, and save the pin."""
        self._require_online()
        base, revision = self._settings.hub_base_url, quote(self._revision)
        answer = self._send_hub_request(
            f"{base}/api/models/{self._name}/revision/{revision}?blobs=true"
        )
        commit, sizes, digests = _parse_repository_listing(answer, self._host, self._name)
        graph, paths = self._choose_files(sizes)
        size = sum(sizes[path] for path in paths)
        if size > _MAX_BYTES:
            msg = f"{self._name} has {size / 1e9:.1f} GB; at most {_MAX_BYTES / 1e9:.0f} are taken."
            raise EmbeddingsFailed(msg, f"Set {self._setting} to a smaller model, or to a folder.")
        pin = _ModelPin(commit, graph, {path: digests.get(path, "") for path in paths})
        with suppress(StoreFailed):  # a pin that cannot be written is asked for again next time
            make_folder(self._cache)
            write_file(self._pin_path, json.dumps(asdict(pin)).encode())
        return pin

    def _choose_files(self, there: Collection[str]) -> tuple[str, list[str]]:
        """Return the ONNX file, and all files to fetch."""
        graph = next((path for path in self._allowed_graphs if path in there), "")
        absent = [path for path in REQUIRED if path not in there]
        if not graph or absent:
            lacking = ", ".join([*absent, *(() if graph else (self._graph or "ONNX file",))])
            hint = f"Make a folder: optimum-cli export onnx -m {self._name} FOLDER; then set "
            raise EmbeddingsFailed(
                f"The repository {self._name} has no {lacking}.", f"{hint}{self._setting}=FOLDER."
            )
        beside = re.compile(re.escape(graph) + r"[\w.-]+")  # weights too large for one file
        parts = sorted(path for path in there if beside.fullmatch(path))
        return graph, [*REQUIRED, *(one for one in DESCRIBING if one in there), graph, *parts]

    def _fetch_pinned_files(self, pin: _ModelPin) -> None:
        self._require_online()
        log.info("Fetching the model %s from %s.", self._name, self._host)
        folder = self._get_pin_folder(pin)
        for path, digest in pin.digests.items():
            if not (folder / path).is_file():
                self._fetch_file(pin.commit, path, digest, folder / path)

    def _fetch_file(self, commit: str, path: str, digest: str, file: Path) -> None:
        """Fetch one file to a temporary path, verify its digest, and move it into place."""
        url = f"{self._settings.hub_base_url}/{self._name}/resolve/{commit}/{quote(path)}"
        part = file.with_name(f"{file.name}.part")
        try:
            make_folder(file.parent)
            for _ in download_to_disk(self._web, url, part, _MAX_BYTES, self._headers):
                pass
        except PaperError as error:
            if isinstance(error, BadContent):
                part.unlink()
            raise self._to_model_error(error) from None
        with part.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest and found != digest:
            part.unlink()
            msg = f"{path} of {self._name} arrived damaged from {self._host}, and was not kept."
            raise EmbeddingsFailed(msg, "Run the same command again.")
        replace_file(part, file)

    def _send_hub_request(self, url: str) -> Answer:
        try:
            answer = self._web.get(url, headers=self._headers, allow=(401, 403, 404))
        except PaperError as error:
            raise self._to_model_error(error) from None
        if answer.status == 200:
            return answer
        hint = f"Check {self._setting} (OWNER/NAME, or a folder that exists) and HF_TOKEN."
        if answer.headers.get("X-Error-Code") == "RevisionNotFound":
            msg = f"{self._name} has no revision {self._revision} at {self._host}."
        else:
            msg = f"{self._host} has no model {self._name}, or shows it to its owners only."
        raise EmbeddingsFailed(msg, hint, status=answer.status)

    def _to_model_error(self, error: PaperError) -> EmbeddingsFailed:
        """Convert the error of a request to an error about the model."""
        status = error.details.get("status")
        if status in (401, 403):
            page = f"{self._settings.hub_base_url}/{self._name}"
            msg = f"{self._host} gives {self._name} only to accounts that accepted its terms."
            hint = f"Accept them at {page}, then set HF_TOKEN to a token of your account."
            return EmbeddingsFailed(msg, hint, status=status)
        msg = f"{self._name} could not be fetched: {error.message}"
        usual = error.default_hint if isinstance(error, SourceMiss) else ""
        return EmbeddingsFailed(msg, error.hint or usual or "Run the same command again.")

    def _require_online(self) -> None:
        if self._settings.papers_offline:
            msg = f"The model {self._name} is not on this machine, and PAPERS_OFFLINE is set."
            hint = f"Unset PAPERS_OFFLINE once, or set {self._setting} to a folder with the model."
            raise EmbeddingsFailed(msg, hint)

    def _get_pin_folder(self, pin: _ModelPin) -> Path:
        return self._cache / self._name.replace("/", "--") / pin.commit

    def _has_all_files(self, pin: _ModelPin) -> bool:
        return all((self._get_pin_folder(pin) / path).is_file() for path in pin.digests)

    @property
    def _cache(self) -> Path:
        return self._settings.cache_folder / "models"

    @property
    def _allowed_graphs(self) -> Sequence[str]:
        """The ONNX files that may be used, the best first."""
        return (self._graph,) if self._graph else GRAPHS

    @property
    def _pin_path(self) -> Path:
        name = f"{self._name}@{self._revision}{self._graph and f'+{self._graph}'}"
        return self._cache / f"{name}.json".replace("/", "--")

    @property
    def _host(self) -> str:
        return urlsplit(self._settings.hub_base_url).netloc

    @property
    def _headers(self) -> dict[str, str]:
        token = self._settings.key("hf_token")
        return {"Authorization": f"Bearer {token}"} if token else {}

    @cached_property
    def _web(self) -> Web:
        return Web(self._settings, (RATE,))


def _parse_repository_listing(
    answer: Answer, host: str, name: str
) -> tuple[str, Mapping[str, int], Mapping[str, str]]:
    """Return a repository's commit, its file sizes, and the digests of large files by path."""
    try:
        listed = answer.json()
        commit, files = str(listed["sha"]), listed["siblings"]
        sizes = {str(one["rfilename"]): int(one.get("size") or 0) for one in files}
        digests = {one["rfilename"]: str(one["lfs"]["sha256"]) for one in files if one.get("lfs")}
    except (PaperError, KeyError, TypeError, ValueError, AttributeError):
        commit, sizes, digests = "", {}, {}
    if not _COMMIT.fullmatch(commit):
        raise EmbeddingsFailed(f"{host} names no commit of {name}.", "Check HF_ENDPOINT.")
    return commit, sizes, digests
