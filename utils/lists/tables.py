"""Papers in tables: what PubMed, Scopus, Web of Science, Zotero, Covidence, Rayyan and people save.

Columns are known by their header, however it is spelled; a table without one by what its cells
hold. A row is one paper with all its identifiers, unless it holds several of one kind.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from ..errors import BadRequest
from ..model.identifiers import IdName, Ids
from .pasted import Entry, citation, entry_of, names_of
from .records import pmid_of

DELIMITERS = ",\t;|"
_END = "\x00"  # no line of a file is this: it was decoded, and a table of it is refused below
_COLUMNS = {
    "pmid": "pmid pubmedid pubmed pm pubmedpmid pubmedidentifier pmids",
    "pmcid": "pmcid pmc pmcids pubmedcentralid pmcidentifier",
    "doi": "doi dois di doilink doiurl articledoi digitalobjectidentifier",
    "arxiv": "arxiv arxivid arxividentifier",
    "accession": "accessionnumber accession an",
    "provider": "database databaseprovider nameofdatabase databasename librarycatalog",
    "hint": "url link urls links ur fulltexturl extra notes note libraryurl id reference",
    "any": "identifier identifiers ids paper papers paperid articleid",
    "author": "authors author au firstauthor authorfullnames authorsfullnames",
    "year": "year publicationyear publishedyear py pubyear date publicationdate yearpublished",
    "title": "title articletitle ti documenttitle primarytitle papertitle",
    "journal": "journal journalbook journaltitle sourcetitle publicationtitle so source "
    "secondarytitle journalname publication",
}
_MEANING = {name.lower(): field for field, names in _COLUMNS.items() for name in names.split()}
_NAMED: tuple[IdName, ...] = ("pmid", "pmcid", "doi", "arxiv")
# In a table without header a short number is a year, a volume or a rank, not an early PMID.
_SHORT = re.compile(r"\d{1,4}")
_LONGEST_FIELD = 1 << 20
_SHOWN = 10_000  # characters of a line that tell what it is


def header_of(line: str) -> tuple[str, list[str]]:
    """How a header separates its columns, and what each column means ("" where nobody knows).

    The list is empty when the line is no header.

    >>> header_of("PubMed ID;DOI;Remarks")
    (';', ['pmid', 'doi', ''])
    """
    readings = []
    for delimiter in DELIMITERS:
        cells = next(csv.reader([line[:_SHOWN]], delimiter=delimiter), [])
        meant = [_MEANING.get(re.sub(r"[^a-z]", "", cell.lower()), "") for cell in cells]
        known = sum(map(bool, meant))
        if known and not any(map(Ids.maybe, cells)):
            readings.append((known, delimiter, meant))
    _, delimiter, meant = max(readings, key=lambda reading: reading[0], default=(0, ",", []))
    return delimiter, meant


def table_entries(
    lines: Iterable[str], delimiter: str, meant: Sequence[str], first: int = 2
) -> Iterator[Entry]:
    """The papers of a table whose header was read by `header_of`; *first* numbers its first line.

    Raises
    ------
    BadRequest
        A quotation mark is never closed, or a cell is endless: the row is named.
    """
    columns: dict[str, list[int]] = {}
    for place, field in enumerate(meant):
        columns.setdefault(field, []).append(place)
    hints = columns.get("hint", []) + columns.get("any", [])
    kinds = [(kind, columns[kind]) for kind in _NAMED if kind in columns]

    def cell(row: Sequence[str], places: Iterable[int]) -> str:
        return next((row[at].strip() for at in places if at < len(row) and row[at].strip()), "")

    def told(row: Sequence[str], field: str) -> str:
        return cell(row, columns.get(field, ()))

    for number, row in _rows(lines, delimiter, first):
        named: dict[IdName, str] = {kind: cell(row, places) for kind, places in kinds}
        if not named.get("pmid") and "accession" in columns:
            named["pmid"] = pmid_of(told(row, "accession"), told(row, "provider"))
        if not named.get("pmid"):
            named["pmid"] = told(row, "any")
        ids = names_of(named, (row[at] for at in hints if at < len(row)))
        author = "" if ids else told(row, "author").split(";")[0]
        words = () if ids else (author, *(told(row, name) for name in ("year", "title", "journal")))
        yield entry_of(ids, words, f"row {number}")


def headerless_entries(lines: Iterable[str], delimiter: str, first: int = 1) -> Iterator[Entry]:
    """The papers of a table that does not say what its columns are; *first* as there.

    Raises
    ------
    BadRequest
        As `table_entries`.
    """
    for number, row in _rows(lines, delimiter, first):
        alone = len(row) == 1
        written = (cell for cell in row if alone or not _SHORT.fullmatch(cell.strip()))
        papers = list(filter(None, map(Ids.maybe, written)))
        kinds = [name.partition(":")[0] for ids in papers for name in ids.names()]
        if len(kinds) > len(set(kinds)):
            yield from (Entry(str(ids), ids) for ids in papers)
            continue
        whole = Ids()
        for ids in papers:
            whole |= ids
        # A first row without any identifier is a header in words that nobody knows.
        if whole or number > first:
            said = citation(title=" ".join(cell.strip() for cell in row[:10]))
            yield Entry(str(whole) if whole else said, whole)


def is_table(lines: Sequence[str]) -> bool:
    """Whether lines without header are rows: as many cells in each, an identifier in most."""
    cut = (line[:_SHOWN] for line in lines)
    try:
        rows = [row for row in csv.reader(cut, delimiter=best_delimiter(lines)) if row]
    except csv.Error:  # an endless cell
        return False
    rows = rows[: max(1, len(rows) - 1)]  # the last may go on in the next line
    named = [row for row in rows if any(map(_is_identifier, row))]
    return len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 and 2 * len(named) > len(rows)


def _is_identifier(cell: str) -> bool:
    return not _SHORT.fullmatch(cell.strip()) and bool(Ids.maybe(cell))


def best_delimiter(lines: Sequence[str]) -> str:
    """What separates the columns of these lines: the sign that most of them hold."""
    return max(DELIMITERS, key=lambda sign: sum(sign in line for line in lines))


def _rows(lines: Iterable[str], delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, numbered by their line."""
    # csv takes an open quotation mark for the rest of the file without a word: the papers behind
    # it would be lost. The last line is ours, and tells whether it was read as a line of its own.
    csv.field_size_limit(_LONGEST_FIELD)  # the references of a paper, in one cell, pass its 131,072
    limited = (_measured(line, number) for number, line in enumerate(lines, first))
    rows = csv.reader(chain(limited, [_END]), delimiter=delimiter)
    row: list[str] = []
    begins = ends = first
    try:
        for following in rows:
            if any(map(str.strip, row)):
                yield begins, row
            row, begins, ends = following, ends, first + rows.line_num
    except csv.Error as error:
        msg = f"The table cannot be read at line {ends}: {error}."
        raise BadRequest(msg, "Save it again as CSV (UTF-8).") from None
    if row != [_END]:
        msg = f"A quotation mark in line {begins} of the table is never closed."
        raise BadRequest(msg, "Close or remove it, or save the table again as CSV (UTF-8).")


def _measured(line: str, number: int) -> str:
    if len(line) > _LONGEST_FIELD:
        msg = f"Line {number} of the table has {len(line):,} characters."
        raise BadRequest(msg, "Save it again as CSV (UTF-8), with the text in quotation marks.")
    return line.replace(_END, "")


def sample(lines: Iterable[str], size: int) -> list[str]:
    """The first lines that hold something."""
    return list(islice(filter(str.strip, lines), size))
