"""A client for Zotero: the program on this computer (local API), or zotero.org with a key.

Both speak version 3 of Zotero's web API: the local one is described in ``server_localAPI.js`` of
zotero/zotero, the other in zotero/dataserver. They differ in these points:

==================  =======================================  ================================
point               local API                                zotero.org
==================  =======================================  ================================
who may read        everyone, once it is switched on         holders of a key
who may write       Zotero 10, asked in a dialog             a key with write access
size of a page      any                                      100
rate                no limit                                 ``Backoff``, ``Retry-After``
versions            of this database (``Zotero-Server-ID``)  of the server
==================  =======================================  ================================

The project's own HTTP client is used, not pyzotero: it obeys ``Retry-After`` and ``Backoff`` across
processes, keeps keys out of logs, and is the only part of the program that opens connections. Its
rule against private addresses is relaxed here, and only here, for the address of the local API.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from ..command_line import command_line
from ..errors import BadRequest, NotAvailable, NotConfigured, NotEntitled, Unreachable
from ..http import Answer, Rate, RateLimiter, Web
from ..http.retry import parse_retry_after
from ..settings import Settings
from ..system.plain_text import one_line

_PAGE_SIZE = 100
_READ_ATTEMPTS = 3  # of a list that changes while its pages are read
_SETTINGS_HINT = (
    "In Zotero, open Settings > Advanced and switch on “Allow other applications on this computer "
    "to communicate with Zotero”."
)
_KEY_HINT = "Make a key at https://www.zotero.org/settings/keys and set ZOTERO_API_KEY."
_NO_CONTENT, _CHANGED = 204, 412
_REFUSALS = frozenset({304, 400, 403, 404, 405, 409, 412, 413, 428, 501})
"""Statuses whose meaning this module explains itself."""


def _parse_backoff_header(headers: Mapping[str, str]) -> float:
    """Return the pause in seconds that zotero.org requests in the ``Backoff`` header."""
    return parse_retry_after(headers.get("Backoff"))


_WEB_RATE = Rate(
    "zotero", ("zotero",), every=0.5, in_flight=1, backoff=10.0, asked=_parse_backoff_header
)
"""zotero.org publishes no number; its documentation asks for one request at a time."""


class KeyStore(Protocol):
    """Storage for the access keys that Zotero programs issued, by server identifier."""

    def find_access_key(self, server: str) -> str:
        """Return the access key for a server; empty if none is stored."""

    def store_access_key(self, server: str, key: str) -> None:
        """Store the access key for a server."""


class WriteOutcome(NamedTuple):
    """The result of writing one object: its new version, or the status and message of a refusal."""

    key: str
    version: int
    status: int = 0
    words: str = ""


class ZoteroApi:
    """A client for one Zotero library, through the local API or zotero.org.

    Parameters
    ----------
    web : Web
        The client for this interface.
    base : str
        The address of the library: ``http://localhost:23119/api/users/0``.
    headers : mapping
        Headers of every request: the version of the API, and the key.
    is_local : bool
        True for the Zotero on this computer, False for zotero.org.
    """

    def __init__(self, web: Web, base: str, headers: Mapping[str, str], *, is_local: bool) -> None:
        self._web = web
        self._base = base
        self._headers = {"Zotero-API-Version": "3", **headers}
        self.is_local = is_local
        self._authorize: Callable[[], str] = str  # replaced where a user can be asked

    def list_collections(self) -> list[dict[str, Any]]:
        """Return all collections that are not in the trash."""
        return [row for row in self._fetch_list("collections") if not row.get("deleted")]

    def list_top_items(self, collection: str = "") -> list[dict[str, Any]]:
        """Return the top-level items of the library, or of the collection with this key."""
        place = f"collections/{quote(collection, safe='')}/" if collection else ""
        return self._fetch_list(f"{place}items/top")

    def list_items(self) -> list[dict[str, Any]]:
        """Return all items that are not in the trash, with notes, files and annotations."""
        return self._fetch_list("items")

    def check_access(self) -> Answer:
        """Request one collection and return the response; raise the error of a refused request."""
        return self._send_read_request("collections", {"limit": 1})

    def write_objects(self, kind: str, objects: Sequence[Mapping[str, Any]]) -> list[WriteOutcome]:
        """Create or change up to 50 ``items`` or ``collections``; return each object's result.

        A new object has a key that this program chose, and version 0. Repeating the request after
        a lost response therefore creates nothing twice, and write tokens are not needed.
        """
        answer = self._send_write_request(kind, json=list(objects))
        results = answer.json()
        if not isinstance(results, dict):
            raise _build_not_zotero_error(answer)
        return [
            self._parse_write_outcome(kind, results, at, sent) for at, sent in enumerate(objects)
        ]

    def _parse_write_outcome(
        self, kind: str, found: Mapping[str, Any], at: int, sent: Mapping[str, Any]
    ) -> WriteOutcome:
        """Return the result for the object that was sent at position *at*."""
        key, place = str(sent["key"]), str(at)
        if row := found.get("successful", {}).get(place):
            return WriteOutcome(key, int(row.get("version", 0)))
        if place in found.get("unchanged", {}):
            return WriteOutcome(key, int(sent["version"]))
        failed = found.get("failed", {}).get(place, {})
        if failed.get("code") == _CHANGED and not sent["version"]:  # made by a lost answer
            return WriteOutcome(key, int(self.fetch_object(f"{kind}/{key}").get("version", 0)))
        words = one_line(str(failed.get("message", "no reason given")))[:200]
        return WriteOutcome(key, 0, int(failed.get("code", 0)), words)

    def upload_file(self, key: str, name: str, media: str, data: bytes) -> int:
        """Store a file in an attachment; return the attachment's new version.

        Raises
        ------
        NotEntitled
            The storage of zotero.org is full.
        """
        place, once = f"items/{key}/file", {"If-None-Match": "*"}
        about = {"md5": hashlib.md5(data, usedforsecurity=False).hexdigest(), "filename": name}
        about |= {"filesize": str(len(data)), "mtime": str(int(time.time() * 1000)), "params": "1"}
        answer = self._send_write_request(place, form={**about, "contentType": media}, headers=once)
        granted = answer.json()
        if not granted.get("exists"):
            self._post_file(str(granted["url"]), granted["params"], name, media, data)
            answer = self._send_write_request(
                place, form={"upload": str(granted["uploadKey"])}, headers=once
            )
        version = answer.headers.get("Last-Modified-Version", "")
        return (
            int(version)
            if version.isdecimal()
            else int(self.fetch_object(f"items/{key}")["version"])
        )

    def _post_file(
        self, url: str, fields: Mapping[str, Any], name: str, media: str, data: bytes
    ) -> None:
        """Send a file to the URL that Zotero named: its own, or its cloud storage."""
        boundary = secrets.token_hex(16)
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in fields.items()
        ]
        parts.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{quote(name)}"\r\nContent-Type: {media}\r\n\r\n'
        )
        body = "".join(parts).encode() + data + f"\r\n--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        if self.is_local:
            headers["Zotero-Server-ID"] = self._headers["Zotero-Server-ID"]
        self._web.post(url, content=body, headers=headers)

    def get_library_id(self) -> str:
        """Return the library's identifier, which includes its server: versions differ by server.

        Raises
        ------
        NotConfigured
            This Zotero cannot be written to.
        """
        place = "/".join(self._base.split("/")[-2:])
        if not self.is_local:
            return f"web/{place}"
        server = self.check_access().headers.get("Zotero-Server-ID", "")
        if not server:
            msg = "This version of Zotero does not allow other programs to write."
            pack = command_line("export pack JOB --for zotero")
            raise NotConfigured(
                msg, "Update to Zotero 10, or set ZOTERO_API_KEY.", f"Or write a pack: {pack}"
            )
        self._headers["Zotero-Server-ID"] = server
        return f"local/{server}/{place}"

    def obtain_write_access(self, keys: KeyStore) -> None:
        """Use the access key of an earlier consent, or make Zotero ask its user for consent.

        Raises
        ------
        NotConfigured
            The user did not choose *Always Allow*.
        """
        if self.is_local:
            server = self._headers["Zotero-Server-ID"]
            self._authorize = partial(self._request_consent, keys, server)
            self._headers["Zotero-API-Key"] = keys.find_access_key(server) or self._authorize()

    def _request_consent(self, keys: KeyStore, server: str) -> str:
        """Make Zotero ask its user to allow writing; store and return the access key."""
        root = self._base.rsplit("/", 2)[0]
        headers = {"Zotero-Server-ID": server}
        body = {"appName": "Papershelf"}
        answer = self._web.post(
            f"{root}/local/authorize", json=body, headers=headers, allow=_REFUSALS
        )
        if answer.status == 403:
            msg = "Zotero's user did not allow Papershelf to write."
            raise NotConfigured(msg, "Push again, and choose Always Allow in Zotero's dialog.")
        granted = answer.json()
        if not granted.get("remember"):
            msg = "Zotero allowed only one request, but a push needs several."
            raise NotConfigured(msg, "Push again, and choose Always Allow in Zotero's dialog.")
        keys.store_access_key(server, str(granted["key"]))
        return str(granted["key"])

    def _send_write_request(
        self, path: str, *, headers: Mapping[str, str] | None = None, **body: Any
    ) -> Answer:
        """Send a request that writes and return the response; renew a revoked consent once."""
        for attempt in range(2):
            try:
                sent = {**self._headers, **(headers or {})}
                url = f"{self._base}/{path}"
                answer = self._web.post(
                    url, headers=sent, allow=_REFUSALS | {401}, check=_require_valid_json, **body
                )
            except Unreachable as error:
                raise self._build_unreachable_error(error) from None
            if answer.status != 401 or not self.is_local or attempt:
                break
            self._headers["Zotero-API-Key"] = self._authorize()
        if answer.status >= 300:
            raise self._build_refusal_error(answer)
        return answer

    def fetch_object(self, path: str) -> dict[str, Any]:
        """Return the JSON object at a path of the library."""
        answer = self._send_read_request(path)
        fetched = answer.json()
        if not isinstance(fetched, dict):
            raise _build_not_zotero_error(answer)
        return fetched

    def _fetch_list(self, path: str) -> list[dict[str, Any]]:
        """Return the ``data`` of all objects in a list; retry if the library changes meanwhile."""
        for _ in range(_READ_ATTEMPTS):
            objects: list[dict[str, Any]] = []
            versions: set[str] = set()
            for answer in self._iterate_list_pages(path):
                objects += _parse_object_list(answer)
                versions.add(answer.headers.get("Last-Modified-Version", ""))
            if len(versions) == 1:
                return objects
        msg = f"The Zotero library changed during each of {_READ_ATTEMPTS} attempts to read it."
        raise Unreachable(msg, "Wait until Zotero has finished syncing, and try again.")

    def _iterate_list_pages(self, path: str) -> Iterator[Answer]:
        """Yield the responses for the pages of a list."""
        start, total = 0, 1
        while start < total:
            params = {"format": "json", "limit": _PAGE_SIZE, "start": start}
            answer = self._send_read_request(path, params)
            yield answer
            count = answer.headers.get("Total-Results", "")
            total = int(count) if count.isdecimal() else 0
            start += _PAGE_SIZE

    def _send_read_request(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Return the response to a read request for this library."""
        url = f"{self._base}/{path}"
        try:
            answer = self._web.get(
                url, params, headers=self._headers, allow=_REFUSALS, check=_require_valid_json
            )
        except Unreachable as error:
            raise self._build_unreachable_error(error) from None
        if answer.status >= 300:
            raise self._build_refusal_error(answer)
        return answer

    def _build_unreachable_error(self, error: Unreachable) -> Unreachable:
        """Return the error for a Zotero program that does not run, or the original error."""
        if not self.is_local or error.details.get("status"):
            return error
        pull = command_line("zotero pull --database PATH")
        return Unreachable(
            f"Zotero is not running on this computer at {self._base}.",
            "Start Zotero and try again.",
            f"To read its database without starting it: {pull}",
            lasting=True,
        )

    def _build_refusal_error(self, answer: Answer) -> NotAvailable | NotConfigured | BadRequest:
        """Return the error for a request that Zotero refused, by its status."""
        words = one_line(answer.text())[:200].rstrip(".")
        if self.is_local and answer.status == 403:
            msg = "Zotero does not allow other programs to use its library."
            return NotConfigured(msg, _SETTINGS_HINT)
        if answer.status == 403:
            msg = f"zotero.org does not give this key access to the library: {words}."
            return NotEntitled(msg, _KEY_HINT, status=403)
        if answer.status == 404:
            msg = "Zotero has no such library or collection."
            return BadRequest(msg, "Check ZOTERO_LIBRARY: leave it empty, or set it to groups/ID.")
        if answer.status == 413 and (quota := answer.headers.get("Zotero-Storage-Quota", "")):
            msg = f"This account's storage at zotero.org ({quota[:20]} MB) is full."
            return NotEntitled(msg, "Attach links instead of files: --attach linked.", status=413)
        msg = f"Zotero refused the request with status {answer.status}: {words}."
        return NotAvailable(msg, status=answer.status)


def _require_valid_json(answer: Answer) -> None:
    """Raise `Unreachable` for a response with truncated JSON, so that it is requested again."""
    if answer.status < 300 and answer.status != _NO_CONTENT:
        answer.json()


def _parse_object_list(answer: Answer) -> list[dict[str, Any]]:
    """Return the ``data`` of each object in a response."""
    rows = answer.json()
    if not isinstance(rows, list):
        raise _build_not_zotero_error(answer)
    objects = [row.get("data") if isinstance(row, dict) else None for row in rows]
    if not all(isinstance(data, dict) for data in objects):
        raise _build_not_zotero_error(answer)
    return [data for data in objects if data is not None]


def _build_not_zotero_error(answer: Answer) -> Unreachable:
    msg = f"The response from {answer.host} is not from Zotero's API."
    return Unreachable(msg, "Check ZOTERO_LOCAL_URL and ZOTERO_BASE_URL.", lasting=True)


def open_zotero_library(settings: Settings, *, writable: bool = False) -> ZoteroApi:
    """Return a client for the Zotero on this computer, or for zotero.org if only that is usable.

    With a key, the program on this computer is tried first: it needs no network, and has changes
    that are not synced yet. If *writable*, a version before Zotero 10 counts as not running.

    Raises
    ------
    BadRequest
        ``ZOTERO_LIBRARY`` is not ``groups/ID``.
    Unreachable
        Zotero is not running here, and there is no key.
    """
    place = get_zotero_setting(settings, "library")
    if place and not _is_group_library(place):
        msg = f"ZOTERO_LIBRARY is not a group library: {place!r}."
        raise BadRequest(msg, "Leave it empty for your own library, or set it to groups/ID.")
    local = _open_local_library(settings)
    if not settings.key("zotero_api_key"):
        return local
    try:
        if writable:
            local.get_library_id()
        else:
            local.check_access()
    except (Unreachable, NotConfigured):
        return _open_web_library(settings)
    return local


def get_zotero_setting(settings: Settings, name: str) -> str:
    """Return the setting ``zotero_<name>``; the settings are registered in `..plugins`."""
    return str(getattr(settings, f"zotero_{name}"))


def _is_group_library(library: str) -> bool:
    kind, _, number = library.partition("/")
    return kind == "groups" and number.isdecimal()


def _open_local_library(settings: Settings) -> ZoteroApi:
    """Return a client for the Zotero on this computer, without sending a request."""
    # Loopback also works offline, and repeating a request does not start a closed program.
    here = settings.model_copy(update={"papers_offline": False, "ncbi_max_retries": 1})
    root = get_zotero_setting(settings, "local_url").rstrip("/")
    web = Web(here, (), also_trusted=(root,))
    web.limiter = RateLimiter(settings.pace_folder, here, (), default=0.0)
    place = get_zotero_setting(settings, "library") or "users/0"
    return ZoteroApi(web, f"{root}/{place}", {}, is_local=True)


def _open_web_library(settings: Settings) -> ZoteroApi:
    """Return a client for the zotero.org library that the key gives access to."""
    web = Web(settings, (_WEB_RATE,))
    root = get_zotero_setting(settings, "base_url").rstrip("/")
    headers = {"Zotero-API-Key": settings.key("zotero_api_key")}
    place = get_zotero_setting(settings, "library")
    if not place:
        owner = ZoteroApi(web, root, headers, is_local=False).fetch_object("keys/current")
        place = f"users/{owner.get('userID')}"
    return ZoteroApi(web, f"{root}/{place}", headers, is_local=False)
