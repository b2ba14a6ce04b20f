"""Lists of identifiers as people keep them: pasted, piped, or saved by a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .errors import BadRequest
from .identifiers import EXAMPLES, Ids

_MOST_NAMED = 10
# A separator counts only where an identifier begins behind it: DOIs may hold commas themselves.
_SEPARATOR = re.compile(r"[,;\t](?=\s*(?:10\.\d{4,9}/|https?:|doi:|pmid|pmc|arxiv|\d+\b))", re.I)


class Entry(NamedTuple):
    """One paper somebody asks for: in their words, and the identifiers those hold (or none)."""

    asked: str
    ids: Ids


def lines_of(data: bytes) -> list[str]:
    r"""The lines of a file of identifiers; one that begins with ``#`` is a remark (and blank).

    >>> lines_of("\ufeff1\r\n# mine\n2".encode())
    ['1', '', '2']
    """
    encoding = "utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    lines = data.decode(encoding, "replace").splitlines()
    return ["" if line.lstrip().startswith("#") else line for line in lines]


def identifiers_in(lines: Sequence[str]) -> list[Ids]:
    """The identifiers in lines that hold none, one or several, in any mix of kinds.

    >>> [str(ids) for ids in identifiers_in(["10.1000/a,10.1000/b; PMC7", "1 2"])]
    ['doi:10.1000/a', 'doi:10.1000/b', 'PMC7', 'PMID 1', 'PMID 2']

    Raises
    ------
    BadRequest
        There is none at all, or some cannot be read: all of them named, with their lines.
    """
    wanted: list[Ids] = []
    unreadable: list[str] = []
    for number, line in enumerate(lines, 1):
        for text in _pieces(line):
            if ids := Ids.maybe(text):
                wanted.append(ids)
            else:
                unreadable.append(f"{text[:80]!r} (line {number})")
    if len(unreadable) == 1 == len(lines):
        Ids.parse(lines[0])  # says it in its own words
    if unreadable:
        more = f" and {len(unreadable) - _MOST_NAMED} more" * (len(unreadable) > _MOST_NAMED)
        named = ", ".join(unreadable[:_MOST_NAMED]) + more
        raise BadRequest(f"These are no identifiers: {named}.", EXAMPLES)
    if not wanted:
        raise BadRequest("No identifier was given.", EXAMPLES)
    return wanted


def _pieces(line: str) -> list[str]:
    pieces = filter(None, map(str.strip, _SEPARATOR.split(line)))
    return [part for piece in pieces for part in ([piece] if Ids.maybe(piece) else piece.split())]
