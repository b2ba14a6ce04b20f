"""Zotero's two interfaces: the program's local API, and zotero.org's, each with one library.

Written from the public sources. Local API: ``server_localAPI.js`` and ``server.js`` in
``chrome/content/zotero/xpcom/server`` of zotero/zotero at f2a42be (August 2026, Zotero 10).
zotero.org: zotero/dataserver at 5cf550f (August 2026). Uploads as a client sees them:
``src/pyzotero/_upload.py`` of urschrei/pyzotero at f331564. Each answer names the
function that gives it there.

Differences to the real ones: no sorting, no searches, annotations are rows like others, and of the
schema only the types of item that are written here.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from tests.world.manners import Listener
from utils.demo.wire import JSON, TEXT, Call, Reply, as_json, text

KEY = re.compile(r"[23456789ABCDEFGHIJKLMNPQRSTUVWXYZ]{8}")  # Zotero.Utilities.isValidObjectKey
API_KEY, USER, SERVER_ID = "P9NiFoyLeZu2bZNvvuQPDWsd", 475425, "qBx3LmTz8KvW"
_PLACES = re.compile(r"/(users|groups)/(\d+)/(.*)")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """key version itemType title creators abstractNote date shortTitle language url accessDate
        rights extra tags collections relations deleted dateAdded dateModified archive
        archiveLocation libraryCatalog callNumber""",
    )
)
# Fields by type in schema.json of zotero/zotero-schema, as far as types are used here.
_FIELDS = {
    "journalArticle": "publicationTitle volume issue pages series seriesTitle seriesText"
    " journalAbbreviation DOI ISSN",
    "preprint": "genre repository archiveID place series seriesNumber DOI citationKey",
    "book": "series seriesNumber volume numberOfVolumes edition place publisher numPages ISBN",
    "bookSection": "bookTitle series seriesNumber volume edition place publisher pages ISBN",
    "thesis": "thesisType university place numPages",
    "document": "publisher",
    "dataset": "identifier type versionNumber repository DOI",
    "newspaperArticle": "publicationTitle place edition section pages ISSN",
    "attachment": "linkMode parentItem note contentType charset filename md5 mtime path",
    "note": "note parentItem",
    "annotation": "parentItem annotationType annotationText annotationComment",
}


class RefusedWrite(Exception):
    """An object or a request that is refused, with a status and words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass
class Shelf:
    """One library: objects by key, and a version that grows with each write."""

    name: str
    version: int = 1
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    collections: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, kind: str, **data: Any) -> str:
        """A person adds an object; return its key."""
        key = data.get("key") or "".join(
            secrets.choice("23456789ABCDEFGHIJKLMNPQRSTUVWXYZ") for _ in range(8)
        )
        self.save(kind, {**data, "key": key})
        return str(key)

    def save(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        """Save an object as the next version; return its row."""
        self.version += 1
        made = {**data, "version": self.version}
        getattr(self, kind)[made["key"]] = made
        return self.row(made)

    def row(self, data: dict[str, Any]) -> dict[str, Any]:
        """An object as answers give it: Zotero.DataObject.toResponseJSON."""
        place = {
            "type": self.name.split("/")[0].removesuffix("s"),
            "id": int(self.name.split("/")[1]),
        }
        return {
            "key": data["key"], "version": data["version"], "library": place,
            "links": {}, "meta": {}, "data": data,
        }  # fmt: skip

    def find_live(self, **wanted: Any) -> list[dict[str, Any]]:
        """Items that are not in the trash and have these values."""
        return [
            item
            for item in self.items.values()
            if not item.get("deleted") and all(item.get(k) == v for k, v in wanted.items())
        ]


@dataclass
class Fault:
    """A misbehaviour: of requests whose method and path hold *where*, so many times."""

    name: str
    where: str
    times: int


class Zotero:
    """Both interfaces on loopback; started by ``with``.

    Attributes
    ----------
    local, web : Shelf
        The library of the program, and the one of zotero.org.
    is_enabled : bool
        Whether the local API is switched on.
    writes_locally : bool
        True for Zotero 10; before it, the local API only reads.
    consent : str
        What the person clicks in the dialog: ``always``, ``once`` or ``deny``.
    quota_mb : int
        The storage of zotero.org in MB.
    """

    def __init__(self) -> None:
        self.local, self.web = Shelf("users/0"), Shelf(f"users/{USER}")
        self.is_enabled = self.writes_locally = True
        self.consent = "always"
        self.quota_mb = 300
        self.local_keys: dict[str, bool] = {}
        self.prompts = 0
        self.requests: list[tuple[str, str, int]] = []
        self.bodies: list[Any] = []
        self._faults: list[Fault] = []
        self._listener = Listener(0, self._answer, None)

    def __enter__(self) -> Self:
        self._listener.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._listener.close()

    @property
    def settings(self) -> dict[str, str]:
        """The settings that point at both."""
        return {"zotero_local_url": f"{self._listener.url}/api"} | {
            "zotero_base_url": f"{self._listener.url}/web"
        }

    def fail(self, name: str, where: str = "", times: int = 1) -> None:
        """Misbehave: ``storm``, ``backoff``, ``down``, ``cut`` or a status.

        ``cut``: the request is carried out, and the answer is cut in the middle.
        """
        self._faults.append(Fault(name, where, times))

    def _answer(self, call: Call) -> Reply:
        reply = self._misbehave(call)
        self.requests.append((call.method, call.raw, reply.status))
        return reply

    def _misbehave(self, call: Call) -> Reply:
        for fault in self._faults:
            if fault.times and fault.where in f"{call.method} {call.raw}":
                fault.times -= 1
                return _FAULTS.get(fault.name, _fail_with_status(fault.name))(
                    lambda: self._serve(call)
                )
        return self._serve(call)

    def _serve(self, call: Call) -> Reply:
        try:
            if call.path.startswith("/api/"):
                return self._serve_local(call, call.path.removeprefix("/api"))
            return self._serve_web(call, call.path.removeprefix("/web"))
        except RefusedWrite as refusal:
            return text(str(refusal), TEXT, refusal.status, **self._local_headers(call))

    def _local_headers(self, call: Call) -> dict[str, str]:
        """LocalAPIEndpoint.makeResponse."""
        local = {"Zotero_API_Version": "3", "Zotero_Schema_Version": "38"}
        if call.path.startswith("/api/") and self.writes_locally:
            local["Zotero_Server_ID"] = SERVER_ID
        return local

    def _serve_local(self, call: Call, path: str) -> Reply:
        """LocalAPIEndpoint.init, and the endpoints' run."""
        if not self.is_enabled:
            return text("Local API is not enabled", TEXT, 403)
        if call.method == "POST" and not self.writes_locally:  # Server._processEndpoint
            return text("Endpoint does not support method\n", TEXT, 400)
        given = call.header("zotero-server-id")
        if call.method == "POST" and not given and not path.startswith("/local/uploads/"):
            raise RefusedWrite(428, "Zotero-Server-ID not provided")
        if given and given != SERVER_ID:
            raise RefusedWrite(412, "Zotero-Server-ID does not match this server")
        if path == "/":
            return text("Nothing to see here.", TEXT, **self._local_headers(call))
        if path == "/local/authorize":
            return self._authorize(call)
        if path.startswith("/local/uploads/"):
            return _receive(self.local, call)
        if call.method == "POST":
            self._consume_key(call.header("zotero-api-key"))
        return self._serve_library(self.local, call, path, page=10**9)

    def _authorize(self, call: Call) -> Reply:
        """LocalAPI.AuthorizeLocal."""
        body = json.loads(call.body)
        if not body.get("appName"):
            return text("appName is required", TEXT, 400)
        self.prompts += 1
        if self.prompts > 5:  # AUTHORIZE_RATE_LIMIT_MAX
            return text("Too many authorization requests", TEXT, 429, Retry_After="60")
        if self.consent == "deny":
            return as_json({"denied": True}, 403)
        key, remember = secrets.token_hex(16), self.consent == "always"
        self.local_keys[key] = remember
        return as_json({"key": key, "remember": remember})

    def _consume_key(self, key: str) -> None:
        """LocalAPIEndpoint._authenticateWriteRequest and consumeLocalAPIKey."""
        if not key:
            raise RefusedWrite(401, "API key required -- POST /api/local/authorize to obtain one")
        if key not in self.local_keys:
            raise RefusedWrite(401, "Invalid or expired API key")
        if not self.local_keys[key]:
            del self.local_keys[key]

    def _serve_web(self, call: Call, path: str) -> Reply:
        """ApiController.init: the key, and what it may."""
        if path.startswith("/storage/"):
            return _receive(self.web, call)
        if call.header("zotero-api-key") != API_KEY:
            return text("Forbidden", TEXT, 403)
        if path == "/keys/current":  # KeysController.keys
            user = {"library": True, "files": True, "notes": True, "write": True}
            return as_json(
                {"key": API_KEY, "userID": USER, "username": "moss", "access": {"user": user}}
            )
        return self._serve_library(self.web, call, path, page=100)

    def _serve_library(self, shelf: Shelf, call: Call, path: str, page: int) -> Reply:
        found = _PLACES.fullmatch(path)
        if not found or f"{found[1]}/{found[2]}" != shelf.name:
            return text("Not found", TEXT, 404)
        place = found[3]
        if call.method == "POST" and place.endswith("/file"):
            return self._write_file(shelf, call, place.split("/")[1])
        if call.method == "POST":
            return self._write(shelf, call, place)
        return self._read(shelf, call, place, page)

    def _read(self, shelf: Shelf, call: Call, place: str, page: int) -> Reply:
        """LocalAPIEndpoint._initInternal, and ItemsController.items."""
        kind, _, key = place.partition("/")
        if KEY.fullmatch(key):
            one = getattr(shelf, kind).get(key)
            return as_json(shelf.row(one)) if one else text("Not found", TEXT, 404)
        rows = list(_select(shelf, place, call.params))
        version = {"Last_Modified_Version": str(shelf.version)}
        since = call.header("if-modified-since-version")
        if since and shelf.version <= int(since):
            return text("", TEXT, 304, **version)
        start = int(call.params.get("start", 0))
        limit = min(page, int(call.params.get("limit", 25 if page == 100 else 10**9)))
        shown = [shelf.row(row) for row in rows[start : start + limit]]
        headers = {"Total_Results": str(len(rows)), **version, **self._local_headers(call)}
        return as_json(shown, **headers)

    def _write(self, shelf: Shelf, call: Call, place: str) -> Reply:
        """writeMultipleObjects; Zotero_DataObjects::updateMultipleFromJSON."""
        if place not in ("items", "collections"):
            return text("Method not allowed for this path", TEXT, 405)
        body = json.loads(call.body)
        self.bodies.append(body)
        if len(body) > 50:
            return text(f"Cannot add more than 50 {place} at a time", TEXT, 413)
        result: dict[str, dict[str, Any]] = {
            name: {} for name in ("successful", "success", "unchanged", "failed")
        }
        for at, entry in enumerate(body):
            try:
                row = self._write_one(shelf, place, entry, strict=shelf is self.web)
            except RefusedWrite as refusal:
                failure = {"key": entry.get("key", ""), "code": refusal.status}
                result["failed"][str(at)] = {**failure, "message": str(refusal)}
                continue
            if row is None:
                result["unchanged"][str(at)] = entry["key"]
                continue
            result["successful"][str(at)] = row
            result["success"][str(at)] = row["key"]
        version = {"Last_Modified_Version": str(shelf.version)}
        return as_json(result, **version, **self._local_headers(call))

    def _write_one(
        self, shelf: Shelf, kind: str, entry: dict[str, Any], strict: bool
    ) -> dict[str, Any] | None:
        key = entry.get("key", "")
        if key and not KEY.fullmatch(key):
            raise RefusedWrite(400, f"Invalid key: '{key}'")
        if key and entry.get("version") is None:
            raise RefusedWrite(428, "Either If-Unmodified-Since-Version or 'version' property ...")
        there = getattr(shelf, kind).get(key)
        if there and there["version"] != entry["version"]:
            raise RefusedWrite(412, f"{kind[:-1]} has been modified since specified version")
        if not there and entry.get("version"):
            raise RefusedWrite(404, f"{kind[:-1]} doesn't exist (use version 0)")
        new = {**(there or {}), **entry}
        _validate(shelf, kind, new, strict)
        if there and all(there.get(name) == value for name, value in entry.items()):
            return None
        if not key:
            return shelf.row(getattr(shelf, kind)[shelf.add(kind, **new)])
        return shelf.save(kind, new)

    def _write_file(self, shelf: Shelf, call: Call, key: str) -> Reply:
        """handleFileWrite; ItemsController._handleFileRequest."""
        item = shelf.items.get(key)
        if not item or item["itemType"] != "attachment":
            return text("Not found", TEXT, 404)
        if not item["linkMode"].startswith("imported_"):
            return text("Cannot upload files for non-imported attachments", TEXT, 400)
        if call.header("if-none-match") != "*":
            return text("If-Match/If-None-Match header not provided", TEXT, 428)
        asked = call.params
        if "upload" in asked:
            return _register(shelf, item, asked["upload"])
        if item.get("md5") and item["md5"] != asked["md5"]:
            return text("If-None-Match: * set but file exists", TEXT, 412)
        if item.get("md5"):
            return as_json({"exists": 1})
        if re.search(r"[/\\]", asked["filename"]) or int(asked["mtime"]) < 10_000_000_000:
            return text("Invalid file name, or mtime in seconds", TEXT, 400)
        used = sum(map(len, shelf.files.values())) + int(asked["filesize"])
        if shelf is self.web and used > self.quota_mb * 1_000_000:
            words = f"File would exceed quota ({used} > {self.quota_mb})"
            return text(words, TEXT, 413, Zotero_Storage_Quota=str(self.quota_mb))
        upload = secrets.token_hex(16)
        shelf.uploads[upload] = {"key": key, "md5": asked["md5"], "mtime": asked["mtime"]}
        place = "api/local/uploads" if shelf is self.local else "web/storage"
        url = f"{self._listener.url}/{place}/{upload}"
        return as_json({"url": url, "uploadKey": upload, "params": {"key": asked["md5"]}})


def _select(shelf: Shelf, place: str, params: dict[str, str]) -> Iterator[dict[str, Any]]:
    """LocalAPI.Items._runGet and LocalAPI.Collections.run."""
    words = place.split("/")
    if words == ["collections"]:
        yield from shelf.collections.values()
        return
    if words[0] == "collections" and words[1] not in shelf.collections:
        raise RefusedWrite(404, "Not found")
    for item in shelf.items.values():
        if item.get("deleted") and params.get("includeTrashed") != "1":
            continue
        if words[-1] == "top" and item.get("parentItem"):
            continue
        if words[0] == "collections" and words[1] not in item.get("collections", ()):
            continue
        yield item


def _validate(shelf: Shelf, kind: str, new: dict[str, Any], strict: bool) -> None:
    """Zotero_Items::validateJSONItem, Zotero.Item.fromJSON."""
    if kind == "collections":
        if not new.get("name"):
            raise RefusedWrite(400, "'name' property not provided for collection")
        return
    fields = _FIELDS.get(new.get("itemType", ""))
    if fields is None:
        raise RefusedWrite(400, f"Unknown itemType '{new.get('itemType')}'")
    if strict and (strange := new.keys() - _COMMON - set(fields.split())):
        name, kind = min(strange), new["itemType"]
        raise RefusedWrite(400, f"'{name}' is not a valid field for type '{kind}'")
    parent = new.get("parentItem")
    if parent and parent not in shelf.items:
        raise RefusedWrite(409, f"Parent item {parent} not found")
    if unknown := set(new.get("collections", ())) - shelf.collections.keys():
        raise RefusedWrite(409, f"Collection {min(unknown)} not found")
    if "deleted" in new and new["deleted"] not in (True, False):
        raise RefusedWrite(400, "'deleted' must be a boolean")


def _receive(shelf: Shelf, call: Call) -> Reply:
    """LocalAPI.UploadReceiver; for zotero.org a bucket of Amazon S3."""
    upload = shelf.uploads.get(call.path.rpartition("/")[2])
    if upload is None:
        return text("Unknown or expired upload key", TEXT, 404)
    boundary = call.header("content-type").partition("boundary=")[2].encode()
    parts = call.body.split(b"--" + boundary)
    data = next(part for part in parts if b'name="file"' in part)
    body = data.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
    if hashlib.md5(body).hexdigest() != upload["md5"]:
        return text("File MD5 does not match expected", TEXT, 400)
    shelf.files[upload["key"]] = body
    upload["uploaded"] = "1"
    return text("", TEXT, 201)


def _register(shelf: Shelf, item: dict[str, Any], name: str) -> Reply:
    """registerUpload."""
    upload = shelf.uploads.pop(name, None)
    if upload is None or upload["key"] != item["key"] or "uploaded" not in upload:
        return text("Invalid or expired upload key", TEXT, 400)
    shelf.save("items", {**item, "md5": upload["md5"], "mtime": int(upload["mtime"])})
    return text("", TEXT, 204, Last_Modified_Version=str(shelf.version))


def _cut(reply: Reply) -> Reply:
    """Half of an answer without Content-Length, as the local server's HTTP/1.0 has none."""
    return Reply(
        reply.status, b"", JSON, reply.headers, stream=iter([reply.body[: len(reply.body) // 2]])
    )


def _storm(_: Callable[[], Reply]) -> Reply:
    """ApiController.initRequestLimiter."""
    return text("Request rate limit exceeded", TEXT, 429, Retry_After="7")


def _backoff(serve: Callable[[], Reply]) -> Reply:
    """ApiController.init: a header of an answer that is given all the same."""
    reply = serve()
    reply.headers["Backoff"] = "11"
    return reply


def _fail_with_status(status: str) -> Callable[[Callable[[], Reply]], Reply]:
    return lambda _: text("An error occurred", TEXT, int(status))


_FAULTS: dict[str, Callable[[Callable[[], Reply]], Reply]] = {
    "storm": _storm,
    "backoff": _backoff,
    "down": _fail_with_status("503"),
    "cut": lambda serve: _cut(serve()),
}
