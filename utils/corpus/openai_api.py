"""Get vectors from OpenAI or a server with the same API (vLLM, Ollama, llama.cpp, TEI).

The key is sent in one header only, and never over plain HTTP to another machine. Error messages
repeat only the status and code of a response, because the server's own text quotes the key.
 https://platform.openai.com/docs/api-reference/embeddings
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..errors import EmbeddingsFailed, SourceMiss, Unreachable
from ..http import Answer, Rate, Web
from ..http.address_policy import is_url_of_this_machine
from ..http.retry import parse_retry_after
from ..system.plain_text import replace_surrogates

if TYPE_CHECKING:
    from ..settings import Settings
    from .finders import Vector, Vectors

RATE = Rate("openai", ("openai",), every=0.02, in_flight=8, key="openai_api_key")
"""Paying accounts may send 3,000 requests a minute (platform.openai.com/docs/guides/rate-limits);
``Retry-After`` enforces other limits."""

MODEL = "text-embedding-3-small"
_DIMS = {MODEL: 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
# A token is a byte at least, so that bytes are a bound that needs no tokenizer.
_MAX_TEXT_BYTES = 8_000  # of a text: 8,192 tokens are taken
_MAX_REQUEST_BYTES = 300_000  # of a request: as many tokens are taken
# 2,048 are taken, but a server without a graphics card makes few a second, and one that does not
# know base64 writes 70 kB for each.
_MAX_REQUEST_TEXTS = 256
_REFUSALS = {
    400: "did not accept the texts",
    401: "did not accept OPENAI_API_KEY",
    403: "does not let this account use the model",
    404: "has no such model, or no embeddings",
    413: "finds the texts too long",
    422: "did not accept the texts",
}
_HINTS = {
    401: "Set OPENAI_API_KEY to a key of that server.",
    404: "Look at EMBEDDINGS_MODEL and OPENAI_BASE_URL (it ends in /v1 as a rule).",
    429: "Look at the account's plan and budget.",
}
_QUOTA_CODE = "insufficient_quota"  # a 429 that no retry can cure


class OpenAIEmbedder:
    """The embedder for OpenAI's API (setting ``openai``). Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = settings.openai_base_url
        self._original = self._base == type(settings).model_fields["openai_base_url"].default
        self._name = settings.embeddings_model or MODEL
        self._dim = _DIMS.get(self._name, 0) if self._original else 0
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """The model's name and server: two servers may use one name for different models."""
        return f"{self._name}@{_parse_host(self._base)}"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector; reading it may request one vector."""
        if not self._dim:
            self.embed_texts(["dimension"])
        return self._dim

    def explain_unavailable(self) -> str:
        """Return why no vectors can be made; see `Embedder.explain_unavailable`."""
        if (
            self._key
            and not self._base.startswith("https:")
            and not is_url_of_this_machine(self._base)
        ):
            return (
                f"OPENAI_API_KEY would go to {_parse_host(self._base)} unencrypted. Use https, a "
                "tunnel to this machine, or no key."
            )
        if not (self._key.isascii() and self._key.isprintable()):
            return "OPENAI_API_KEY contains characters that no key has. Set it again."
        if self._original and not self._key:
            return f"{_parse_host(self._base)} needs a key. Set OPENAI_API_KEY."
        return ""

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """Return one normalised row for each text; see `Embedder.embed_texts`."""
        import numpy as np

        if missing := self.explain_unavailable():
            raise EmbeddingsFailed(missing)
        rows = [
            self._fetch_vectors(batch)
            for batch in _split_into_requests([_to_request_text(text) for text in texts])
        ]
        if not rows:
            return np.empty((0, self.dim), np.float32)
        return np.concatenate(rows)

    def embed_question(self, text: str) -> Vector:
        """Return the vector of a question, which is embedded like any other text."""
        row: Vector = self.embed_texts([text])[0]
        return row

    @property
    def _key(self) -> str:
        return self._settings.key("openai_api_key")

    @cached_property
    def _web(self) -> Web:
        return Web(self._settings, (RATE,))

    def _fetch_vectors(self, texts: list[str]) -> Vectors:
        request = {"model": self._name, "input": texts, "encoding_format": "base64"}
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            answer = self._web.post(
                f"{self._base}/embeddings",
                json=request,
                headers=key,
                allow=(*_REFUSALS, 429),
                check=_raise_if_rate_limited,
            )
            _require_success(answer)
            return self._parse_vectors(answer.json(), len(texts), answer.host)
        except SourceMiss as error:
            msg = f"No vectors were returned: {error.message}"
            raise EmbeddingsFailed(msg, error.hint or error.default_hint, **error.details) from None

    def _parse_vectors(self, response: Any, count: int, host: str) -> Vectors:
        """Return the vectors of a response in the order of the texts, each of length one."""
        import numpy as np

        try:
            places = {
                int(row["index"]): _parse_vector(row["embedding"]) for row in response["data"]
            }
            rows = np.stack([places[at] for at in range(count)])
            fits = len(response["data"]) == count
        except (KeyError, TypeError, ValueError, OverflowError):
            fits = False
        if not fits or rows.ndim != 2 or not self._has_expected_width(rows.shape[1]):
            msg = f"{host} returned other vectors than requested."
            raise EmbeddingsFailed(msg)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            msg = f"{host} returned vectors without a direction (zero, or no numbers)."
            raise EmbeddingsFailed(msg)
        normalised: Vectors = rows / lengths
        return normalised

    def _has_expected_width(self, width: int) -> bool:
        """Return whether earlier vectors had the same *width*; the first vector sets it."""
        with self._lock:
            self._dim = self._dim or width
            return 0 < width == self._dim


def _parse_vector(packed: Any) -> Any:
    """Parse a vector given as JSON numbers, or as base64 of little-endian float32."""
    import numpy as np

    if isinstance(packed, str):
        return np.frombuffer(base64.b64decode(packed, validate=True), "<f4").astype(np.float32)
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused as that
        return np.array(packed, dtype=np.float32)


def _raise_if_rate_limited(answer: Answer) -> None:
    """Raise an error that leads to a retry after a 429, unless the quota is used up."""
    if answer.status == 429 and _QUOTA_CODE not in answer.text():
        pause = parse_retry_after(answer.headers.get("Retry-After"), answer.headers.get("Date"))
        told: dict[str, Any] = {"retry_after": pause} if pause else {}
        raise Unreachable(f"{answer.host} answered 429.", status=429, **told)


def _require_success(answer: Answer) -> None:
    """Raise `EmbeddingsFailed` if the server rejected the request."""
    if answer.status >= 300:
        does = _REFUSALS.get(answer.status, "has no budget left for this account")
        msg = f"{answer.host} {does} (status {answer.status})."
        raise EmbeddingsFailed(msg, _HINTS.get(answer.status, ""), status=answer.status)


def _to_request_text(text: str) -> str:
    """Return *text* as the API accepts it: not empty, not too long, valid UTF-8."""
    cut = replace_surrogates(text).encode()[:_MAX_TEXT_BYTES].decode("utf-8", "ignore")
    return cut if cut.strip() else "-"


def _split_into_requests(texts: list[str]) -> Iterator[list[str]]:
    """Yield batches of texts that fit into one request each."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (size + length > _MAX_REQUEST_BYTES or len(batch) == _MAX_REQUEST_TEXTS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def _parse_host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
