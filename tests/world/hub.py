"""The Hugging Face Hub, as far as models are fetched from it: ``world.models`` is what it holds.

The forms, and where they are written down:

* listing with ``?blobs=true``, ``sha`` and ``siblings`` (https://huggingface.co/docs/hub/api);
* a small file: 307 to ``/api/resolve-cache/…`` on the same host, there 200 with ``ETag`` and
  ``X-Repo-Commit``; a large one: 302 to another host, with ``X-Linked-Etag`` (its SHA-256),
  ``X-Linked-Size`` and ``X-Xet-Hash`` (``huggingface_hub/file_download.py``, constants.py);
* refusals by ``X-Error-Code``: a repository that is not there, or not for anonymous eyes, is 401
  without a token and 404 with one; a gated one 401 and 403; a revision or a file that is not there
  404 (``huggingface_hub/utils/_http.py``, ``hf_raise_for_status``).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from utils.demo.wire import Call, Reply, as_json, redirect, text

if TYPE_CHECKING:
    from tests.world import World

TOKEN = "hf_ofTheLab"
_LARGE = (".onnx", ".onnx_data", ".safetensors", ".bin")
_LISTED = re.compile(r"/api/models/([^/]+/[^/]+)/revision/(.+)")
_WANTED = re.compile(
    r"(?:/api/resolve-cache/models|/cdn)?/([^/]+/[^/]+?)(?:/resolve)?/([^/]+)/(.+)"
)


@dataclass
class Repository:
    """A model: its files by path; ``spoilt`` files lose their last byte on the way."""

    files: dict[str, bytes]
    commit: str = "c0ffee00" * 5
    gated: bool = False
    tags: dict[str, str] = field(default_factory=dict)
    spoilt: set[str] = field(default_factory=set)

    def knows(self, revision: str) -> bool:
        """Whether *revision* is this commit."""
        return revision in ("main", self.commit, *self.tags)


def hub(call: Call, world: World) -> Reply:
    """``/api/models/…`` and ``/OWNER/NAME/resolve/…``."""
    if listed := _LISTED.fullmatch(call.path):
        name, revision = listed.groups()
        return _refusal(call, world, name, revision) or _listing(world.models[name], name)
    wanted = _WANTED.fullmatch(call.path)
    if not wanted:
        return text("Not Found", status=404)
    name, revision, path = wanted.groups()
    if call.path.startswith("/cdn/"):
        return _bytes(world.models[name], path, call)
    return _refusal(call, world, name, revision) or _file(world.models[name], name, path, call)


def _listing(repository: Repository, name: str) -> Reply:
    siblings = []
    for path, data in repository.files.items():
        about = {"rfilename": path, "size": len(data), "blobId": _git(data)}
        if path.endswith(_LARGE):
            digest = hashlib.sha256(data).hexdigest()
            about["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 134}
        siblings.append(about)
    gated = "manual" if repository.gated else False
    told = {"_id": "64", "id": name, "modelId": name, "private": False, "gated": gated}
    more = {"sha": repository.commit, "tags": ["onnx"], "downloads": 7, "likes": 1}
    return as_json({**told, **more, "siblings": siblings})


def _file(repository: Repository, name: str, path: str, call: Call) -> Reply:
    if repository.gated and TOKEN not in call.header("authorization"):
        return _refused(401, "GatedRepo", f"Access to model {name} is restricted.")
    commit = {"X-Repo-Commit": repository.commit}
    if path not in repository.files:
        refused = _refused(404, "EntryNotFound", "Entry not found")
        return Reply(404, refused.body, refused.media, refused.headers | commit)
    data = repository.files[path]
    if path.endswith(_LARGE):
        digest = hashlib.sha256(data).hexdigest()
        names = (
            ("127.0.0.1", "localhost") if "127.0.0.1" in call.host else ("localhost", "127.0.0.1")
        )
        elsewhere = call.host.replace(*names)
        linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data))}
        xet = {"X-Xet-Hash": digest, "Link": f'<{call.host}/xet>; rel="xet-auth"'}
        answer = redirect(f"{elsewhere}/hub/cdn/{name}/{repository.commit}/{path}")
        answer.headers |= commit | linked | xet
        return answer
    if not call.path.startswith("/api/resolve-cache/"):
        there = f"{call.host}/hub/api/resolve-cache/models/{name}/{repository.commit}/{quote(path)}"
        answer = redirect(there, 307)
        answer.headers |= commit
        return answer
    answer = _bytes(repository, path, call)
    answer.headers |= commit | {"ETag": f'"{_git(data)}"'}
    return answer


def _bytes(repository: Repository, path: str, call: Call) -> Reply:
    data = repository.files[path]
    if path in repository.spoilt:
        data = data[:-1] + bytes([data[-1] ^ 1])
    begun = re.fullmatch(r"bytes=(\d+)-", call.header("range"))
    if begun:
        first = int(begun[1])
        span = {"Content-Range": f"bytes {first}-{len(data) - 1}/{len(data)}"}
        return Reply(206, data[first:], "application/octet-stream", span)
    return Reply(200, data, "application/octet-stream", {"Accept-Ranges": "bytes"})


def _refusal(call: Call, world: World, name: str, revision: str) -> Reply | None:
    told = call.header("authorization")
    if told and TOKEN not in told:
        return _refused(401, "", "Invalid credentials in Authorization header")
    if name not in world.models:
        return _refused(404 if told else 401, "RepoNotFound", "Repository not found")
    if not world.models[name].knows(revision):
        return _refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
    return None


def _refused(status: int, code: str, message: str) -> Reply:
    headers = {"X-Error-Code": code} if code else {}
    reply = as_json({"error": message}, status)
    return Reply(status, reply.body, reply.media, headers | {"X-Error-Message": message})


def _git(data: bytes) -> str:
    """The digest of a blob as git has it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
