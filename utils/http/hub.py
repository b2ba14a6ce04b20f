"""Models of the Hugging Face Hub by name: its own client, and our way to the network.

`huggingface_hub` knows the Hub's forms and keeps files where every program looks for them
(``HF_HOME``). Every byte it asks for goes through `Transport`: our proxies, certificates, deadlines
and refusals hold. Nothing is fetched through Xet, whose own client knows none of these, and what
was fetched is held against the digest that the listing gave.
Forms: https://huggingface.co/docs/hub/api, ``huggingface_hub/utils/_http.py`` (errors by
``X-Error-Code``) and ``file_download.py`` (``X-Repo-Commit``, ``X-Linked-Etag``).
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from ..errors import EmbeddingsFailed, SourceMiss, Unreachable
from .address_policy import Request
from .answer import MAX_BYTES
from .rate_limiter import Rate
from .session import Web

if TYPE_CHECKING:
    import huggingface_hub

    from ..settings import Settings

RATE = Rate("hub", ("hub",), every=0.1, in_flight=4)
"""Anonymous callers may ask 3,000 files and 500 listings in five minutes
(https://huggingface.co/docs/hub/rate-limits)."""

_LONGEST_S = 3600.0  # a file; one that stands still is given up much sooner
_COMMIT = re.compile(r"[0-9a-f]{6,64}")
_TURN = threading.Lock()  # the client's connections are the process's


@dataclass(frozen=True, slots=True)
class Listing:
    """What a model's repository holds at one commit: sizes in bytes by path, digests where told."""

    commit: str
    sizes: dict[str, int]
    digests: dict[str, str]


class Hub:
    """Asks the Hub, and keeps what it sends in its cache on this machine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = settings.hub_base_url
        self._token: Any = settings.key("hf_token") or False  # False: not what else may lie about
        self._web = Web(settings, (RATE,))

    def listing(self, name: str, revision: str) -> Listing:
        """The commit that *revision* is now, and its files.

        Raises
        ------
        EmbeddingsFailed
            The Hub has no such model for us, or was not reached.
        """
        with self._asking(name, revision, MAX_BYTES):
            told = self._api.model_info(name, revision=revision, files_metadata=True)
        if not _COMMIT.fullmatch(told.sha or ""):
            raise EmbeddingsFailed(
                f"{self._host} names no commit of {name}.", "Look at HF_ENDPOINT."
            )
        files = told.siblings or []
        return Listing(
            commit=str(told.sha),
            sizes={file.rfilename: file.size or 0 for file in files},
            digests={file.rfilename: file.lfs.sha256 for file in files if file.lfs},
        )

    def fetch(self, name: str, commit: str, digests: dict[str, str], most: int) -> Path:
        """The folder with the files of *digests* (empty where unknown), fetched where missing.

        No file may have more than *most* bytes, whatever the listing said.

        Raises
        ------
        EmbeddingsFailed
            They cannot be had, or one of them is not what the listing said.
        """
        with self._asking(name, commit, most):
            for path, digest in digests.items():
                self._fetch(name, commit, path, digest)
        return self.snapshot(name, commit)

    def snapshot(self, name: str, commit: str) -> Path:
        """Where the files of a commit are kept, if they are."""
        return self._folder(name) / "snapshots" / commit

    def known_commit(self, name: str, revision: str) -> str:
        """The commit that *revision* was when somebody last fetched it; empty if nobody did."""
        if (self._folder(name) / "snapshots" / revision).is_dir():
            return revision
        head = self._folder(name) / "refs" / revision
        commit = head.read_text(encoding="utf-8").strip() if head.is_file() else ""
        return commit if _COMMIT.fullmatch(commit) else ""

    def _fetch(self, name: str, commit: str, path: str, digest: str) -> None:
        import huggingface_hub

        there = (self.snapshot(name, commit) / path).is_file()
        kept = huggingface_hub.hf_hub_download(
            name,
            path,
            revision=commit,
            cache_dir=self._cache,
            endpoint=self._base,
            token=self._token,
            tqdm_class=_no_bar(),
        )
        if digest and not there:
            file = Path(kept)
            with file.open("rb") as opened:
                if hashlib.file_digest(opened, "sha256").hexdigest() == digest:
                    return
            file.resolve().unlink()
            file.unlink(missing_ok=True)
            msg = f"{path} of {name} came from {self._host} damaged; it was not kept."
            raise EmbeddingsFailed(msg, "Try again; if it stays so, ask its authors.")

    @property
    def _cache(self) -> Path:
        return self._settings.hf_home / "hub"

    def _folder(self, name: str) -> Path:
        return self._cache / f"models--{name.replace('/', '--')}"

    @property
    def _host(self) -> str:
        return urlsplit(self._base).netloc

    @property
    def _api(self) -> huggingface_hub.HfApi:
        import huggingface_hub

        return huggingface_hub.HfApi(endpoint=self._base, token=self._token)

    @contextmanager
    def _asking(self, name: str, revision: str, most: int) -> Iterator[None]:
        """The client goes our way; its errors say which setting to look at."""
        from huggingface_hub import errors

        if self._settings.papers_offline or self._settings.hf_hub_offline:
            which = "PAPERS_OFFLINE" if self._settings.papers_offline else "HF_HUB_OFFLINE"
            msg = f"{name} is not whole on this machine, and {which} is set."
            raise EmbeddingsFailed(msg, f"Unset {which} once, or set EMBEDDINGS_MODEL to a folder.")
        try:
            with _TURN, _our_way(self._web, most):
                yield
        except errors.GatedRepoError:
            msg = f"{name} is only for those who accept its terms."
            hint = f"Accept them at {self._base}/{name}, then set HF_TOKEN to a token of yours."
            raise EmbeddingsFailed(msg, hint) from None
        except errors.RevisionNotFoundError:
            msg = f"{name} has no revision {revision} at {self._host}."
            raise EmbeddingsFailed(msg, "Look at what follows @ in EMBEDDINGS_MODEL.") from None
        except (errors.RepositoryNotFoundError, errors.HFValidationError):
            msg = f"{self._host} has no model {name}, or shows it to its owners only."
            hint = "Look at EMBEDDINGS_MODEL (OWNER/NAME, or a folder that exists) and HF_TOKEN."
            raise EmbeddingsFailed(msg, hint) from None
        except errors.HfHubHTTPError as error:
            status = error.response.status_code
            hint = "Look at HF_TOKEN." if status in (401, 403) else "Try again later."
            msg = f"{self._host} answered {status} when asked for {name}."
            raise EmbeddingsFailed(msg, hint, status=status) from None
        except (httpx2.HTTPError, OSError, ValueError, RuntimeError) as error:
            msg = f"{name} could not be had from {self._host}: {_first_line(error)}."
            raise EmbeddingsFailed(msg, "Try again; what came so far is kept.") from None
        except SourceMiss as error:
            msg = f"{name} could not be had: {error.message}"
            raise EmbeddingsFailed(msg, error.hint or error.usual_hint, **error.details) from None


@cache
def _no_bar() -> Any:
    """The class of its progress bar, without the bar: stderr is for the log."""
    from huggingface_hub.utils import tqdm  # type: ignore[attr-defined, unused-ignore]

    class NoBar(tqdm):  # type: ignore[misc, type-arg, unused-ignore]
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **{**options, "disable": True})  # type: ignore[no-untyped-call, unused-ignore]

    return NoBar


@contextmanager
def _our_way(web: Web, most: int) -> Iterator[None]:
    """Lend the client our connections; it keeps its own for whoever else uses it here."""
    import huggingface_hub
    from huggingface_hub import constants
    from huggingface_hub.utils import _http  # type: ignore[attr-defined, unused-ignore]

    named = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY")
    usual = {name: getattr(constants, name) for name in named}
    usual_factory = _http._GLOBAL_CLIENT_FACTORY  # noqa: SLF001 - it can be set, but not asked for
    hooks = {"request": [_http.hf_request_event_hook]}
    huggingface_hub.set_client_factory(
        lambda: httpx2.Client(
            transport=_OurWay(web, most), event_hooks=hooks, follow_redirects=True
        )
    )
    for name in named:
        setattr(constants, name, True)
    try:
        yield
    finally:
        huggingface_hub.set_client_factory(usual_factory)
        for name, value in usual.items():
            setattr(constants, name, value)


class _OurWay(httpx2.BaseTransport):
    """What httpx sends, sent by our `Transport`."""

    def __init__(self, web: Web, most: int) -> None:
        self._web, self._most = web, most

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """One hop; the client itself follows redirects, without its token to strangers."""
        headers = {name.title(): value for name, value in request.headers.items()}
        ours = {"User-Agent": self._web.settings.user_agent, "Accept-Encoding": "identity"}
        headers = {**headers, **ours}
        hop = Request(request.method, str(request.url), None, headers)
        self._web.address_policy.require_open_to_programs(hop.url)
        flow = self._web.transport.flow(hop, _LONGEST_S)
        with self._web.limiter.turn(hop.url):
            status, told = next(flow)
        if told.get("Content-Encoding", "identity") != "identity":  # nobody asked for it
            raise httpx2.DecodingError("the answer is packed")
        return httpx2.Response(status, headers=list(told.items()), stream=_Body(flow, self._most))


class _Body(httpx2.SyncByteStream):
    """The blocks as they come; one that breaks off is asked for again from there."""

    def __init__(self, blocks: Iterator[Any], most: int) -> None:
        self._blocks, self._left = blocks, most

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self._blocks:
                self._left -= len(block)
                if self._left < 0:
                    raise httpx2.DecodingError("the answer is larger than it may be")
                yield block
        except Unreachable as error:
            raise httpx2.RemoteProtocolError(error.message) from None

    def close(self) -> None:
        self._blocks.close()  # type: ignore[attr-defined]


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200].rstrip(".")
