"""Ask Zotero: the program on this computer through its local API, or zotero.org with a key.

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

Our own HTTP client is used, not pyzotero: it obeys ``Retry-After`` and ``Backoff`` across
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


def _get_backoff(headers: Mapping[str, str]) -> float:
    """Return the pause that zotero.org asks for in an answer that it gave."""
    return parse_retry_after(headers.get("Backoff"))


_WEB_RATE = Rate("zotero", ("zotero",), every=0.5, in_flight=1, backoff=10.0, asked=_get_backoff)
"""zotero.org publishes no number; its documentation asks for one request at a time."""


class KeyStore(Protocol):
    """A place for the keys that Zotero programs gave us, by their servers' identifiers."""

    def find_key(self, server: str) -> str:
        """Return the key for a server, or an empty string."""

    def keep_key(self, server: str, key: str) -> None:
        """Keep the key for a server."""


class WriteOutcome(NamedTuple):
    """An object after a request: its new version, or the status and words of a refusal."""

    key: str
    version: int
    status: int = 0
    words: str = ""


class ZoteroApi:
    """One library of Zotero, through one of the two interfaces.

    Parameters
    ----------
    web : Web
        The client for this interface.
    base : str
        The address of the library: ``http://localhost:23119/api/users/0``.
    headers : mapping
        Headers of every request: the version of the API, and the key.
    is_local : bool
        True for the program on this computer.
    """

    def __init__(self, web: Web, base: str, headers: Mapping[str, str], *, is_local: bool) -> None:
        self._web = web
        self._base = base
        self._headers = {"Zotero-API-Version": "3", **headers}
        self.is_local = is_local
        self._authorize: Callable[[], str] = str  # replaced where a user can be asked

    def list_collections(self) -> list[dict[str, Any]]:
        """Return all collections that are not in the trash."""
        return [row for row in self._read_list("collections") if not row.get("deleted")]

    def list_papers(self, collection: str = "") -> list[dict[str, Any]]:
        """Return the papers of the library, or of the collection with this key."""
        place = f"collections/{quote(collection, safe='')}/" if collection else ""
        return self._read_list(f"{place}items/top")

    def list_items(self) -> list[dict[str, Any]]:
        """Return all items that are not in the trash, with notes, files and annotations."""
        return self._read_list("items")

    def check(self) -> Answer:
        """Return an answer, or raise the error that a request would raise."""
        return self._send_read("collections", {"limit": 1})

    def write(self, kind: str, objects: Sequence[Mapping[str, Any]]) -> list[WriteOutcome]:
        """Create or change up to 50 ``items`` or ``collections``; return what became of each.

        A new object has a key that we chose, and version 0: repeated after an answer was lost, the
        same request creates nothing again. Write tokens are therefore not needed.
        """
        answer = self._send_write(kind, json=list(objects))
        found = answer.json()
        if not isinstance(found, dict):
            raise _build_unrecognised_error(answer)
        return [self._read_outcome(kind, found, at, one) for at, one in enumerate(objects)]

    def _read_outcome(
        self, kind: str, found: Mapping[str, Any], at: int, sent: Mapping[str, Any]
    ) -> WriteOutcome:
        key, place = str(sent["key"]), str(at)
        if row := found.get("successful", {}).get(place):
            return WriteOutcome(key, int(row.get("version", 0)))
        if place in found.get("unchanged", {}):
            return WriteOutcome(key, int(sent["version"]))
        failed = found.get("failed", {}).get(place, {})
        if failed.get("code") == _CHANGED and not sent["version"]:  # made by a lost answer
            return WriteOutcome(key, int(self.read_object(f"{kind}/{key}").get("version", 0)))
        words = one_line(str(failed.get("message", "no reason given")))[:200]
        return WriteOutcome(key, 0, int(failed.get("code", 0)), words)

    def upload(self, key: str, name: str, media: str, data: bytes) -> int:
        """Store a file in an attachment; return the attachment's new version.

        Raises
        ------
        NotEntitled
            The storage of zotero.org is full.
        """
        place, once = f"items/{key}/file", {"If-None-Match": "*"}
        about = {"md5": hashlib.md5(data, usedforsecurity=False).hexdigest(), "filename": name}
        about |= {"filesize": str(len(data)), "mtime": str(int(time.time() * 1000)), "params": "1"}
        answer = self._send_write(place, form={**about, "contentType": media}, headers=once)
        granted = answer.json()
        if not granted.get("exists"):
            self._send_file(str(granted["url"]), granted["params"], name, media, data)
            answer = self._send_write(
                place, form={"upload": str(granted["uploadKey"])}, headers=once
            )
        version = answer.headers.get("Last-Modified-Version", "")
        return (
            int(version)
            if version.isdecimal()
            else int(self.read_object(f"items/{key}")["version"])
        )

    def _send_file(
        self, url: str, fields: Mapping[str, Any], name: str, media: str, data: bytes
    ) -> None:
        """Send a file to the place that Zotero named: to itself, or to its store in the cloud."""
        boundary = secrets.token_hex(16)
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{one}"\r\n\r\n{value}\r\n'
            for one, value in fields.items()
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

    def identify(self) -> str:
        """Return the name of the library with its server, whose versions are its own.

        Raises
        ------
        NotConfigured
            This Zotero cannot be written to.
        """
        place = "/".join(self._base.split("/")[-2:])
        if not self.is_local:
            return f"web/{place}"
        server = self.check().headers.get("Zotero-Server-ID", "")
        if not server:
            msg = "This Zotero lets other programs read, but not write."
            pack = command_line("export pack JOB --for zotero")
            raise NotConfigured(msg, "Update to Zotero 10, or set ZOTERO_API_KEY.", f"Or: {pack}")
        self._headers["Zotero-Server-ID"] = server
        return f"local/{server}/{place}"

    def allow_writing(self, keys: KeyStore) -> None:
        """Take the key of an earlier consent, or have Zotero ask its user in a dialog.

        Raises
        ------
        NotConfigured
            The user did not choose *Always Allow*.
        """
        if self.is_local:
            server = self._headers["Zotero-Server-ID"]
            self._authorize = partial(self._ask_consent, keys, server)
            self._headers["Zotero-API-Key"] = keys.find_key(server) or self._authorize()

    def _ask_consent(self, keys: KeyStore, server: str) -> str:
        """Have Zotero ask its user whether we may write; return the key."""
        root = self._base.rsplit("/", 2)[0]
        headers = {"Zotero-Server-ID": server}
        body = {"appName": "Papershelf"}
        answer = self._web.post(
            f"{root}/local/authorize", json=body, headers=headers, allow=_REFUSALS
        )
        if answer.status == 403:
            msg = "The user of Zotero did not let Papershelf write."
            raise NotConfigured(msg, "Push again and choose Always Allow in Zotero's dialog.")
        granted = answer.json()
        if not granted.get("remember"):
            msg = "Zotero allowed one single request, and a push needs several."
            raise NotConfigured(msg, "Push again and choose Always Allow in Zotero's dialog.")
        keys.keep_key(server, str(granted["key"]))
        return str(granted["key"])

    def _send_write(
        self, path: str, *, headers: Mapping[str, str] | None = None, **body: Any
    ) -> Answer:
        """Return the answer to a request that writes; ask for consent again if it was revoked."""
        for attempt in range(2):
            try:
                sent = {**self._headers, **(headers or {})}
                url = f"{self._base}/{path}"
                answer = self._web.post(
                    url, headers=sent, allow=_REFUSALS | {401}, check=_check_json, **body
                )
            except Unreachable as error:
                raise self._build_unreachable_error(error) from None
            if answer.status != 401 or not self.is_local or attempt:
                break
            self._headers["Zotero-API-Key"] = self._authorize()
        if answer.status >= 300:
            raise self._build_refusal_error(answer)
        return answer

    def read_object(self, path: str) -> dict[str, Any]:
        """Return a JSON object."""
        answer = self._send_read(path)
        found = answer.json()
        if not isinstance(found, dict):
            raise _build_unrecognised_error(answer)
        return found

    def _read_list(self, path: str) -> list[dict[str, Any]]:
        """Return the ``data`` of all objects of a list, which does not change on the way."""
        for _ in range(_READ_ATTEMPTS):
            rows: list[dict[str, Any]] = []
            versions: set[str] = set()
            for answer in self._read_pages(path):
                rows += _read_rows(answer)
                versions.add(answer.headers.get("Last-Modified-Version", ""))
            if len(versions) == 1:
                return rows
        msg = f"The library changed while it was read, {_READ_ATTEMPTS} times in a row."
        raise Unreachable(msg, "Wait until Zotero has finished its sync, and call again.")

    def _read_pages(self, path: str) -> Iterator[Answer]:
        """Yield the pages of a list."""
        start, total = 0, 1
        while start < total:
            params = {"format": "json", "limit": _PAGE_SIZE, "start": start}
            answer = self._send_read(path, params)
            yield answer
            count = answer.headers.get("Total-Results", "")
            total = int(count) if count.isdecimal() else 0
            start += _PAGE_SIZE

    def _send_read(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer to a request of this library."""
        url = f"{self._base}/{path}"
        try:
            answer = self._web.get(
                url, params, headers=self._headers, allow=_REFUSALS, check=_check_json
            )
        except Unreachable as error:
            raise self._build_unreachable_error(error) from None
        if answer.status >= 300:
            raise self._build_refusal_error(answer)
        return answer

    def _build_unreachable_error(self, error: Unreachable) -> Unreachable:
        """Return the error for a Zotero that did not answer."""
        if not self.is_local or error.details.get("status"):
            return error
        pull = command_line("zotero pull --database PATH")
        return Unreachable(
            f"Zotero does not run on this computer, or not as {self._base}.",
            "Start Zotero and call again.",
            f"To read the database of a closed Zotero: {pull}",
            lasting=True,
        )

    def _build_refusal_error(self, answer: Answer) -> NotAvailable | NotConfigured | BadRequest:
        """Return the error for a request that Zotero refused."""
        words = one_line(answer.text())[:200].rstrip(".")
        if self.is_local and answer.status == 403:
            msg = "Zotero does not let other programs use its library."
            return NotConfigured(msg, _SETTINGS_HINT)
        if answer.status == 403:
            msg = f"zotero.org does not let this key use the library: {words}."
            return NotEntitled(msg, _KEY_HINT, status=403)
        if answer.status == 404:
            msg = "Zotero has no such library or collection."
            return BadRequest(msg, "Check ZOTERO_LIBRARY: empty, or groups/ID.")
        if answer.status == 413 and (quota := answer.headers.get("Zotero-Storage-Quota", "")):
            msg = f"The storage of this account at zotero.org ({quota[:20]} MB) is full."
            return NotEntitled(msg, "Attach links instead: --attach linked.", status=413)
        msg = f"Zotero refused the request with status {answer.status}: {words}."
        return NotAvailable(msg, status=answer.status)


def _check_json(answer: Answer) -> None:
    """Raise `Unreachable` for an answer that was cut in the middle, so that it is asked again."""
    if answer.status < 300 and answer.status != _NO_CONTENT:
        answer.json()


def _read_rows(answer: Answer) -> list[dict[str, Any]]:
    """Return the ``data`` of each object in an answer."""
    rows = answer.json()
    if not isinstance(rows, list):
        raise _build_unrecognised_error(answer)
    found = [row.get("data") if isinstance(row, dict) else None for row in rows]
    if not all(isinstance(data, dict) for data in found):
        raise _build_unrecognised_error(answer)
    return [data for data in found if data is not None]


def _build_unrecognised_error(answer: Answer) -> Unreachable:
    msg = f"{answer.host} answered something that is not Zotero's API."
    return Unreachable(msg, "Check ZOTERO_LOCAL_URL and ZOTERO_BASE_URL.", lasting=True)


def open_library(settings: Settings, *, writable: bool = False) -> ZoteroApi:
    """Return the library of the Zotero on this computer, or with a key, the one of zotero.org.

    With a key, the program on this computer is asked first: it needs no network, and has what is
    not synced yet. If *writable*, a program before Zotero 10 counts as one that does not run.

    Raises
    ------
    BadRequest
        ``ZOTERO_LIBRARY`` is not ``groups/ID``.
    Unreachable
        Zotero does not run here, and there is no key.
    """
    place = get_setting(settings, "library")
    if place and not _is_group(place):
        msg = f"ZOTERO_LIBRARY is {place!r}."
        raise BadRequest(msg, "Leave it empty for your own library, or set it to groups/ID.")
    local = _open_local(settings)
    if not settings.key("zotero_api_key"):
        return local
    try:
        if writable:
            local.identify()
        else:
            local.check()
    except (Unreachable, NotConfigured):
        return _open_web(settings)
    return local


def get_setting(settings: Settings, name: str) -> str:
    """Return a setting of this package; its fields are those of `..plugins`."""
    return str(getattr(settings, f"zotero_{name}"))


def _is_group(library: str) -> bool:
    kind, _, number = library.partition("/")
    return kind == "groups" and number.isdecimal()


def _open_local(settings: Settings) -> ZoteroApi:
    """Return the library of the Zotero on this computer; ask nothing yet."""
    # Loopback works offline, too; and to repeat a request does not start a closed program.
    here = settings.model_copy(update={"papers_offline": False, "ncbi_max_retries": 1})
    root = get_setting(settings, "local_url").rstrip("/")
    web = Web(here, (), also_trusted=(root,))
    web.limiter = RateLimiter(settings.pace_folder, here, (), default=0.0)
    place = get_setting(settings, "library") or "users/0"
    return ZoteroApi(web, f"{root}/{place}", {}, is_local=True)


def _open_web(settings: Settings) -> ZoteroApi:
    """Return the library of zotero.org that the key opens."""
    web = Web(settings, (_WEB_RATE,))
    root = get_setting(settings, "base_url").rstrip("/")
    headers = {"Zotero-API-Key": settings.key("zotero_api_key")}
    place = get_setting(settings, "library")
    if not place:
        owner = ZoteroApi(web, root, headers, is_local=False).read_object("keys/current")
        place = f"users/{owner.get('userID')}"
    return ZoteroApi(web, f"{root}/{place}", headers, is_local=False)
