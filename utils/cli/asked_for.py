"""The arguments of a command: files and identifiers, or else a query for PubMed.

What looks like a file or an identifier is one or is refused: a slip never becomes a query.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import BadRequest
from ..lists.pasted import Entry
from ..lists.references import MOST_BYTES, entries_in
from ..model.identifiers import Ids

_FILE = re.compile(
    r"(?:\.{0,2}|~[^/\s]*|[a-z]:)[/\\].*|.*[/\\]|\.\.?"
    r"|.*\.(?:txt|csv|tsv|tab|ris|bib|bibtex|nbib|medline|enw|ciw|xml|jsonl?|xlsx?|docx?|ods|pdf"
    r"|html?|zip|gz|lst|list|ids|md|dat)",
    re.I | re.S,
)
_IDENTIFIER = re.compile(r"(?:https?://|doi:|pmid:|pmcid:|arxiv:|10\.\d+/)\S+", re.I)


class QueryOrList(NamedTuple):
    """A query, or else the papers of a list; *title* names the files they came from."""

    query: str
    entries: list[Entry]
    title: str = ""


def read_arguments(words: Sequence[str]) -> QueryOrList:
    """Read files and identifiers; words that are neither make up one query.

    Without words, or for ``-``, what is piped in is read.

    Raises
    ------
    BadRequest
        A file is not there or holds no papers, or words of both kinds are mixed.
    """
    entries: list[Entry] = []
    names: list[str] = []
    others: list[str] = []
    for word in words or ("-",):
        if word == "-" or (_exists(word) and not Path(word).is_dir()):
            name = "standard input" if word == "-" else Path(word).name
            entries += _entries_of(word, name)
            names.append(name)
        elif ids := Ids.maybe(word):
            entries.append(Entry(word, ids))
        elif _IDENTIFIER.fullmatch(word):
            entries.append(Entry(word, Ids.parse(word)))  # which says what is wrong with it
        elif _FILE.fullmatch(word):
            raise _missing_file_error(word)
        else:
            others.append(word)
    if others and entries:
        msg = f"{others[0]!r} is neither a file nor an identifier, and others here are."
        raise BadRequest(msg, "Put a question into quotes, so that it is one word.")
    query = " ".join(others).strip()
    if not (query or entries):
        raise BadRequest("The question is empty.", "Give a query, identifiers or a file of them.")
    return QueryOrList(query, entries, ", ".join(names))


def _exists(word: str) -> bool:
    return os.path.exists(word)  # noqa: PTH110 - for which a question too long for a path is none


def _entries_of(word: str, name: str) -> list[Entry]:
    try:
        if word != "-":
            with Path(word).open("rb") as file:
                return list(entries_in(_read_bounded(file), name))
        if sys.stdin is None or sys.stdin.isatty():
            msg = "Nothing was asked for."
            raise BadRequest(msg, "Give a query, identifiers, or a file of them; or pipe them in.")
        return list(entries_in(_read_bounded(sys.stdin.buffer)))
    except BadRequest as error:
        message = error.message if name in error.message else f"{name}: {error.message}"
        raise BadRequest(message, error.hint, **error.details) from None
    except OSError as error:
        raise BadRequest(f"{name} cannot be read: {error.strerror}.") from None


def _read_bounded(file: IO[bytes]) -> bytes:
    return file.read(MOST_BYTES + 1)  # one more than is taken: a device has no end


def _missing_file_error(word: str) -> BadRequest:
    if _exists(word):
        return BadRequest(f"{word} is a folder.", "Give the files in it.")
    msg = f"There is no file {word}."
    return BadRequest(msg, f"Look at its name; the current folder is {Path.cwd()}.")
