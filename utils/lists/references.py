"""The papers somebody wants, in whatever file they keep them.

One function for every format: identifiers line by line, tables, RIS, BibTeX, MEDLINE, Web of
Science. A file is known by what it holds, and only where that leaves a doubt by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..errors import BadRequest
from ..model.identifiers import EXAMPLES, Ids
from .pasted import Entry, are_plain, entries_of, lines_in, lines_of
from .records import (
    BIBTEX_START,
    MEDLINE_START,
    RIS_START,
    WOS_START,
    bibtex_entries,
    medline_entries,
    ris_entries,
    wos_entries,
)
from .tables import (
    best_delimiter,
    header_of,
    headerless_entries,
    is_table,
    sample,
    table_entries,
)

MOST_BYTES = 1 << 30
_SAMPLE = 60
_FORMATS = (
    (RIS_START, ris_entries),
    (MEDLINE_START, medline_entries),
    (BIBTEX_START, bibtex_entries),
    (WOS_START, wos_entries),
)
_TABLES = (".csv", ".tsv", ".tab")
_NOT_TEXT = {
    b"PK\x03\x04": "an Excel or ZIP file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF-": "a PDF",
    b"\x1f\x8b": "a gzip file",
}
_EXPORT = "Save it as CSV, or export RIS, BibTeX or NBIB from the program it comes from."


def entries_in(data: bytes, name: str = "") -> Iterator[Entry]:
    """The papers a file asks for, one by one, in its order.

    Parameters
    ----------
    data : bytes
        The whole file, or what came on stdin.
    name : str
        Of the file; decides only whether rows without a header are a table.

    Yields
    ------
    Entry
        All identifiers of one paper are in one entry, asked for by the first of them. A record
        without any is asked for by its citation, and has no identifiers.

    Raises
    ------
    BadRequest
        The file holds no paper, or cannot be read: the line or row is named. With a table this
        may come after the papers in front of that row.
    """
    _require_text(data)
    found = False
    for entry in _entries(data, name):
        found = True
        yield entry
    if not found:
        raise BadRequest(f"{_called(name)} names no paper.", EXAMPLES)


def _entries(data: bytes, name: str) -> Iterator[Entry]:
    first = sample(lines_in(data), _SAMPLE)
    for start, read in _FORMATS:
        # What stands before the first record is no identifier: exports begin with remarks.
        if any(map(start.match, first)) and not (first and Ids.maybe(first[0])):
            yield from read(lines_in(data))
            return
    begins = next((at for at, line in enumerate(lines_in(data)) if line.strip()), 0)
    delimiter, meant = header_of(first[0]) if first else ("", [])
    if first and first[0].lower().startswith("sep=") and len(first) > 1:
        delimiter, meant = header_of(first[1])  # how Excel is told the separator
        begins += 1
    begins += bool(meant)
    lines = islice(lines_in(data), begins, None)
    if len(meant) > 1 or meant == ["title"]:
        yield from table_entries(lines, delimiter, meant, begins + 1)
    elif not meant and (
        name.lower().endswith(_TABLES) or (not are_plain(first) and is_table(first))
    ):
        yield from headerless_entries(lines, best_delimiter(first), begins + 1)
    else:
        yield from entries_of(lines_of(data)[begins:], begins + 1)


def _require_text(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        msg = f"The list has {len(data):,} bytes; {MOST_BYTES:,} is the most."
        raise BadRequest(msg, "Split it.")
    for start, kind in _NOT_TEXT.items():
        if data.startswith(start):
            raise BadRequest(f"The list is {kind}.", _EXPORT)
    start = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"<":
        raise BadRequest("The list is XML or HTML.", _EXPORT)
    if start[:2] in {b"{\n", b'{"', b"[{", b"[\n"} or start[:3] == b"{\r\n":
        raise BadRequest("The list is JSON.", _EXPORT)
    if b"\x00" in data[:1000] and data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        raise BadRequest("The list is no text.", _EXPORT)


def _called(name: str) -> str:
    return f"The file {name}" if name else "The list"
