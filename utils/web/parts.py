"""Large bodies that broke off: the part is kept, and the rest is requested (RFC 9110, 14).

Only where the site says how long the body is, which one it is (a strong ETag, or a date of change
that is safely in the past), and sends it as it is: a compressed stream cannot be cut. The request
for the rest names that body (``If-Range``), so that a new one comes whole; an answer that begins
elsewhere is refused, and the whole is asked for.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO

from ..errors import Unreachable
from ..system.sharing import inherit_group, make_folder
from .memory import Memory

LARGE = 1024 * 1024
"""Bytes from which a body is worth the trouble."""
KEPT_DAYS = 1.0

_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)", re.A)
_STRONG_S = 60.0  # a date of change this far before the answer names one body and no other


class Part:
    """What has come of one large body.

    Parameters
    ----------
    folder : Path
        Where parts lie; made (0700) with the first.
    name : str
        Of the request.
    index : Memory
        Knows which body a part is of.
    """

    def __init__(self, folder: Path, name: str, index: Memory) -> None:
        self._path = folder / f"{name}.part"
        self._name = name
        self._index = index
        self._file: IO[bytes] | None = None
        self._hop = ""
        self._asked_from = 0
        self._length = 0

    def headers(self, hop: str) -> dict[str, str]:
        """What to send to the *hop* of this name for the rest; empty when it must be the whole."""
        body = self._index.recall("part", self._name)
        self._hop, self._asked_from = hop, 0
        if not body or body["hop"] != hop or not 0 < (size := self._size()) < body["length"]:
            return {}
        self._asked_from, self._length = size, body["length"]
        # Not compressed: a range of the compressed body would be another one.
        return {
            "Range": f"bytes={size}-",
            "If-Range": body["validator"],
            "Accept-Encoding": "identity",
        }

    def begin(self, status: int, headers: Mapping[str, str]) -> bytes:
        """Begin to keep a body; what was here of it already.

        Raises
        ------
        Unreachable
            The site sends another piece than was asked for; the part is deleted.
        """
        if status == 206:
            return self._resume(headers)
        if status == 200:
            self._begin_whole(headers)
        return b""

    def add(self, block: bytes) -> None:
        """Keep a block. Where the disk refuses, the part is deleted and nothing more is kept."""
        if self._file:
            try:
                self._file.write(block)
            except OSError:
                self.forget()

    def close(self) -> None:
        """Stop writing; the part can be resumed later."""
        if self._file:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def forget(self) -> None:
        """Delete the part: the body is complete, or cannot be resumed."""
        self.close()
        if self._path.exists():
            self._index.forget("part", self._name)
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _begin_whole(self, headers: Mapping[str, str]) -> None:
        self.forget()
        length = headers.get("Content-Length", "")
        if not (length.isdigit() and int(length) >= LARGE and _can_be_cut(headers)):
            return
        body = {"hop": self._hop, "length": int(length), "validator": validator(headers)}
        if body["validator"]:
            self._index.keep("part", self._name, body, KEPT_DAYS)
            self._open("wb")

    def _resume(self, headers: Mapping[str, str]) -> bytes:
        range_ = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
        expected = (self._asked_from, self._length - 1, self._length)
        if not range_ or tuple(map(int, range_.groups())) != expected or not _can_be_cut(headers):
            self.forget()
            msg = "The site sent another piece of the file than was asked for."
            raise Unreachable(msg, "It is asked for the whole.")
        try:
            here = self._path.read_bytes()[: self._asked_from]
        except OSError:
            here = b""
        if len(here) != self._asked_from:
            self.forget()
            raise Unreachable("The first piece of the file is gone.", "The whole is asked for.")
        self._open("ab")
        return here

    def _open(self, mode: str) -> None:
        try:
            make_folder(self._path.parent, 0o700)
            how = os.O_TRUNC if mode == "wb" else os.O_APPEND
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600)
            inherit_group(self._path)
            # Not buffered: what came before a kill is to be there after it.
            self._file = os.fdopen(descriptor, mode, buffering=0)
        except OSError:
            self._file = None

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return 0


def sweep(folder: Path) -> None:
    """Delete the parts nobody resumed within `KEPT_DAYS`."""
    with contextlib.suppress(OSError):
        for path in folder.glob("*.part"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                    path.unlink()


def validator(headers: Mapping[str, str]) -> str:
    """The header value that names a body to the byte; empty where the site gives none.

    >>> validator({"ETag": '"1"'}), validator({"ETag": 'W/"1"'})
    ('"1"', '')
    """
    if (tag := headers.get("ETag", "")).startswith('"'):
        return tag
    changed = headers.get("Last-Modified", "")
    try:
        before = parsedate_to_datetime(headers.get("Date", "")) - parsedate_to_datetime(changed)
    except (TypeError, ValueError):
        return ""
    return changed if before.total_seconds() >= _STRONG_S and "ETag" not in headers else ""


def _can_be_cut(headers: Mapping[str, str]) -> bool:
    plain = headers.get("Content-Encoding", "identity").strip().lower() in ("", "identity")
    return plain and headers.get("Accept-Ranges", "bytes").strip().lower() != "none"
