"""Findings that somebody looked at and accepts, with the reason, so that CI goes on.

They stand beside the manuscript in ``paper.md.accepted``, one a line: the fingerprint that the
check shows behind a finding, and why it is accepted. A fingerprint is made of what is found where
(the sentence and the number, the entry and its differences), not of lines or the program's words:
it lasts while those stay, and no longer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ..errors import BadRequest
from ..lists.pasted import decode_lines

SUFFIX = ".accepted"
_LENGTH = 10
_MOST_BYTES = 1_000_000


def fingerprint(*words: str) -> str:
    """A short name of a finding, the same wherever it stands."""
    plain = "\n".join(" ".join(word.split()) for word in words)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:_LENGTH]


def accepted_beside(manuscript: Path) -> dict[str, str]:
    """The accepted findings of a manuscript, each with its reason; none without the file.

    Raises
    ------
    BadRequest
        A line has no reason, or the file cannot be read.
    """
    file = manuscript.with_name(manuscript.name + SUFFIX)
    if not file.is_file():
        return {}
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise BadRequest(f"{file.name} is too long.", "It has a line for each finding.")
        return dict(_read(decode_lines(file.read_bytes()), file.name))
    except OSError as error:
        msg = f"{file.name} cannot be read: {error.strerror}."
        raise BadRequest(msg, "Look at the file.") from None


def _read(lines: Iterable[str], name: str) -> Iterable[tuple[str, str]]:
    for at, line in enumerate(lines, 1):
        found, _, reason = line.strip().partition(" ")
        if found and found[0] != "#":
            if not reason.strip():
                msg = f"{name}, line {at}: {found[:_LENGTH]} has no reason."
                raise BadRequest(msg, "Write behind the fingerprint why it is accepted.")
            yield found.lower(), reason.strip()
