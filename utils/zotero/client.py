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

from collections.abc import Iterator, Mapping
from typing import Any
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
_REFUSALS = frozenset({304, 400, 403, 404, 405, 409, 412, 413, 428, 501})
"""Statuses whose meaning this module explains itself."""


def _get_backoff(headers: Mapping[str, str]) -> float:
    """Return the pause that zotero.org asks for in an answer that it gave."""
    return parse_retry_after(headers.get("Backoff"))


_WEB_RATE = Rate("zotero", ("zotero",), every=0.5, in_flight=1, backoff=10.0, asked=_get_backoff)
"""zotero.org publishes no number; its documentation asks for one request at a time."""


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

    def list_collections(self) -> list[dict[str, Any]]:
        """Return all collections that are not in the trash."""
        return [row for row in self._read_list("collections") if not row.get("deleted")]

    def list_papers(self, collection: str = "") -> list[dict[str, Any]]:
        """Return the papers of the library, or of the collection with this key."""
        place = f"collections/{quote(collection, safe='')}/" if collection else ""
        return self._read_list(f"{place}items/top")

    def check(self) -> None:
        """Raise the error that a request would raise."""
        self._get("collections", {"limit": 1})

    def read_object(self, path: str) -> dict[str, Any]:
        """Return a JSON object."""
        answer = self._get(path)
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
            answer = self._get(path, params)
            yield answer
            count = answer.headers.get("Total-Results", "")
            total = int(count) if count.isdecimal() else 0
            start += _PAGE_SIZE

    def _get(self, path: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Return the answer to a request of this library."""
        url = f"{self._base}/{path}"
        try:
            answer = self._web.get(
                url, params, headers=self._headers, allow=_REFUSALS, check=_check_json
            )
        except Unreachable as error:
            raise self._explain_silence(error) from None
        if answer.status >= 300:
            raise self._explain_refusal(answer)
        return answer

    def _explain_silence(self, error: Unreachable) -> Unreachable:
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

    def _explain_refusal(self, answer: Answer) -> NotAvailable | NotConfigured | BadRequest:
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
        msg = f"Zotero refused the request with status {answer.status}: {words}."
        return NotAvailable(msg, status=answer.status)


def _check_json(answer: Answer) -> None:
    """Raise `Unreachable` for an answer that was cut in the middle, so that it is asked again."""
    if answer.status < 300:
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


def open_library(settings: Settings) -> ZoteroApi:
    """Return the library of the Zotero on this computer, or with a key, the one of zotero.org.

    With a key, the program on this computer is asked first: it needs no network, and has what is
    not synced yet.

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
