"""The papers listed in a file: identifiers by line, tables, and reference managers' formats.

RIS, BibTeX, MEDLINE and Web of Science are read here, CSL-JSON and EndNote XML by `.documents`.

`entries_in` reads all of them. The format is found by content, and by the file's name only where
that leaves a doubt.

Columns of a table are found by their header, however it is spelled; without one, by what the cells
hold. A row is one paper with all its identifiers, unless it holds several of one kind.

Records of reference managers are cut out here and parsed one by one: a malformed one spoils no
other, and a library of a hundred thousand records needs the memory of a few.

Where the facts come from: the tags of RIS from rispy, of MEDLINE from NLM's description of the
format, the rest from files that Zotero, EndNote, Mendeley, Ovid, Scopus and Web of Science write.
"""

from __future__ import annotations

import csv
import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from ..citations.latex import signs_again
from ..errors import BadRequest
from ..model.identifiers import EXAMPLES, IdName, Ids
from .described import LISTS, MEDLINE_SAID, RIS_SAID, WOS_SAID, Said, names_in, to_entry
from .documents import csl_entries, endnote_entries, is_json
from .pasted import (
    Entry,
    are_plain,
    citation,
    decode_lines,
    identifier_lines,
    ids_of_record,
    parse_entries,
)

MOST_BYTES = 1 << 30
_SAMPLE = 60
RIS_START = re.compile(r"\s*TY {1,2}-")
BIBTEX_START = re.compile(r"\s*@\w+\s*[{(]")
MEDLINE_START = re.compile(r"PMID ?- *\d|OWN {1,2}- *\w")
WOS_START = re.compile(r"(?:FN|PT) \w")


def ris_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a RIS file."""
    return (_ris_entry(fields, number) for number, fields in enumerate(ris_records(lines), 1))


def ris_records(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The records of a RIS file, values by tag; ``TY`` begins one, also where the last has no end.

    A tag that may be repeated has a list.
    """
    from rispy import RisParser

    # Not rispy's defaults: it cuts links at ";", which old DOIs hold.
    tags = {tag: tag for tag in RisParser.DEFAULT_MAPPING}
    reader = RisParser(mapping=tags, delimiter_tags_mapping={}, skip_unknown_tags=True)
    for record in _records(lines, RIS_START):
        record_lines = [
            f"{tag[1]}  - {tag[2].strip()}" if (tag := _RIS_LINE.match(line)) else line.strip()
            for line in _bounded(record, _RIS_LINE)
        ]
        end = record_lines.index("ER  - ") if "ER  - " in record_lines else len(record_lines)
        [fields] = reader.parse_lines(iter([*record_lines[:end], "ER  - "]))
        yield fields


def wos_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a Web of Science plain text file."""
    from rispy import WokParser

    tags = {tag: tag for tag in WokParser.DEFAULT_MAPPING} | {"DI": "DI", "PM": "PM"}
    reader = WokParser(mapping=tags, skip_unknown_tags=True)
    for number, record in enumerate(_records(lines, re.compile("PT ")), 1):
        record_lines = [line.rstrip("\n") for line in _bounded(record, _WOS_LINE)]
        end = next(
            (at for at, line in enumerate(record_lines) if line[:2] == "ER"), len(record_lines)
        )
        [fields] = reader.parse_lines(iter([*record_lines[:end], "ER"]))
        ids = ids_of_record({"pmid": _text(fields, "PM"), "doi": _text(fields, "DI")})
        yield to_entry(ids, {} if ids else _said(fields, WOS_SAID), f"record {number}")


def medline_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a MEDLINE file, as PubMed saves it (``.nbib``).

    A record begins with its PMID. One without, of ERIC or written by us, begins with its owner.
    """
    from Bio import Medline

    parse: Any = Medline.parse
    for number, record in enumerate(_records(_with_pmids(lines), _MEDLINE_RECORD), 1):
        # A blank line inside a record is its end to Biopython, and the next line a KeyError.
        [fields] = parse(line for line in record if line.strip())
        doi = _MEDLINE_DOI.search("  ".join(values_of(fields, "AID") + values_of(fields, "LID")))
        named: dict[IdName, str] = {
            "pmid": _text(fields, "PMID"),
            "pmcid": _text(fields, "PMC"),
            "doi": doi[1] if doi else "",
            "arxiv": next(filter(None, map(_arxiv_of, values_of(fields, "AID"))), ""),
        }
        ids = ids_of_record(named)
        yield to_entry(ids, {} if ids else _said(fields, MEDLINE_SAID), f"record {number}")


def _with_pmids(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with an empty PMID in front of a record that begins with its owner."""
    last, blank = "", True
    for line in lines:
        if blank and _OWNER.match(line) and not _MEDLINE_RECORD.match(last):
            yield "PMID-\n"
        yield line
        blank = not line.strip()
        last = last if blank else line


def _arxiv_of(name: str) -> str:
    """The number of a preprint, as PubMed has it among the publisher's names of an article."""
    found = re.fullmatch(r"arXiv:(\S{4,30}) \[pii\]", name)
    return re.sub(r"v\d+$", "", found[1]) if found else ""


def bibtex_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a BibTeX file; an entry that cannot be read is named with its line."""
    for record in bibtex_records(lines):
        if record.key:
            ids = bibtex_ids(record.fields)
            where = f"{record.key} (line {record.line})"
            yield to_entry(ids, {} if ids else bibtex_said(record.fields), where)
        else:
            told = f"{record.kind} (line {record.line}) cannot be read"
            yield Entry(citation(title=told), Ids())


class BibtexRecord(NamedTuple):
    """An entry of a BibTeX file; one that cannot be read has no key, and its beginning as kind."""

    key: str
    kind: str
    fields: Mapping[str, str]
    line: int


def bibtex_records(lines: Iterable[str]) -> Iterator[BibtexRecord]:
    """The entries of a BibTeX file, with the line that each begins in."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry as Read
    from bibtexparser.model import ParsingFailedBlock

    # It reports every malformed block to the log, in the words of the file.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    for first, text in _blocks(lines):
        for block in parse_string(text).blocks:
            readable = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
            line = first + (block.start_line or 0)
            if isinstance(readable, Read):
                fields = {field.key.lower(): str(field.value) for field in readable.fields[::-1]}
                yield BibtexRecord(readable.key, readable.entry_type.lower(), fields, line)
            elif isinstance(block, ParsingFailedBlock):
                yield BibtexRecord("", (block.raw or "").split("\n")[0][:80], {}, line)


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
    "author": "authors author au authornames firstauthor authorfullnames authorsfullnames",
    "year": "year publicationyear publishedyear py pubyear date publicationdate yearpublished",
    "title": "title articletitle ti documenttitle primarytitle papertitle",
    "journal": "journal journalbook journaltitle sourcetitle publicationtitle so source "
    "secondarytitle journalname publication",
    "vernacular_title": "originaltitle vernaculartitle",
    "abbreviation": "journalabbreviation journalabbr abbreviatedsourcetitle isoabbreviation",
    "volume": "volume vol vl",
    "issue": "issue is ip",
    "pages": "pages page pg pagination artno articlenumber",
    "first_page": "firstpage startpage pagestart beginningpage bp sp",
    "last_page": "lastpage endpage pageend endingpage ep",
    "issn": "issn sn",
    "kind": "publicationtype documenttype itemtype referencetype typeofreference dt",
}
_SAID = (
    *("year", "title", "vernacular_title", "journal", "abbreviation", "volume", "issue", "pages"),
    *("first_page", "last_page", "issn"),
)
_MEANING = {name.lower(): field for field, names in _COLUMNS.items() for name in names.split()}
_NAMED: tuple[IdName, ...] = ("pmid", "pmcid", "doi", "arxiv")
# In a table without header a short number is a year, a volume or a rank, not an early PMID.
_SHORT = re.compile(r"\d{1,4}")
_LONGEST_FIELD = 1 << 20
_SHOWN = 10_000  # characters of a line that tell what it is
_RIS_LINE = re.compile(r"\s*([A-Z][A-Z0-9]) {1,2}-(?:\s|$)(.*)", re.S)
_WOS_LINE = re.compile(r"\S")
_MEDLINE_RECORD = re.compile(r"PMID ?- *(?:\d|$)")
_OWNER = re.compile(r"OWN {1,2}- *\w")
_MEDLINE_DOI = re.compile(r"(10\.\S+) \[doi\]")
_RIS_HINTS = ("UR", "L1", "L2", "L4", "N1", *(f"C{number}" for number in range(1, 9)))
_BLOCKS = 200
_MOST_LINES = 20_000
_MOST_LOOSE = 500
_LONGEST_LINE = 10_000


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
    require_text(data)
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"<":
        entries = endnote_entries(data)
    else:
        entries = csl_entries(data) if is_json(start) else _entries(data, name)
    found = False
    for entry in entries:
        found = True
        yield entry
    if not found:
        raise BadRequest(f"{_describe_list(name)} names no paper.", EXAMPLES)


def _entries(data: bytes, name: str) -> Iterator[Entry]:
    first = sample(decode_lines(data), _SAMPLE)
    for start, read in _FORMATS:
        # What stands before the first record is no identifier: exports begin with remarks.
        if any(map(start.match, first)) and not (first and Ids.maybe(first[0])):
            yield from read(decode_lines(data))
            return
    begins = next((at for at, line in enumerate(decode_lines(data)) if line.strip()), 0)
    delimiter, fields = header_of(first[0]) if first else ("", [])
    if first and first[0].lower().startswith("sep=") and len(first) > 1:
        delimiter, fields = header_of(first[1])  # how Excel is told the separator
        begins += 1
    begins += bool(fields)
    lines = islice(decode_lines(data), begins, None)
    if len(fields) > 1 or fields == ["title"]:
        yield from table_entries(lines, delimiter, fields, begins + 1)
    elif not fields and (
        name.lower().endswith(_TABLES) or (not are_plain(first) and is_table(first))
    ):
        yield from headerless_entries(lines, best_delimiter(first), begins + 1)
    else:
        yield from parse_entries(identifier_lines(data)[begins:], begins + 1)


def require_text(data: bytes) -> None:
    """Refuse what is no text, or too long.

    Raises
    ------
    BadRequest
        It is a program's own file, or larger than `MOST_BYTES`.
    """
    if len(data) > MOST_BYTES:
        msg = f"The list has {len(data):,} bytes; {MOST_BYTES:,} is the most."
        raise BadRequest(msg, "Split it.")
    for start, kind in _NOT_TEXT.items():
        if data.startswith(start):
            raise BadRequest(f"The list is {kind}.", _EXPORT)
    if b"\x00" in data[:1000] and data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        raise BadRequest("The list is no text.", _EXPORT)


def _describe_list(name: str) -> str:
    return f"The file {name}" if name else "The list"


def header_of(line: str) -> tuple[str, list[str]]:
    """How a header separates its columns, and what each column means ("" where nobody knows).

    The list is empty when the line is no header.

    >>> header_of("PubMed ID;DOI;Remarks")
    (';', ['pmid', 'doi', ''])
    """
    readings = []
    for delimiter in DELIMITERS:
        cells = next(csv.reader([line[:_SHOWN]], delimiter=delimiter), [])
        fields = [_MEANING.get(re.sub(r"[^a-z]", "", cell.lower()), "") for cell in cells]
        recognised = sum(map(bool, fields))
        if recognised and not any(map(Ids.maybe, cells)):
            readings.append((recognised, delimiter, fields))
    _, delimiter, fields = max(readings, key=lambda reading: reading[0], default=(0, ",", []))
    return delimiter, fields


def table_entries(
    lines: Iterable[str], delimiter: str, fields: Sequence[str], first: int = 2
) -> Iterator[Entry]:
    """The papers of a table whose header was read by `header_of`; *first* numbers its first line.

    Raises
    ------
    BadRequest
        A quotation mark is never closed, or a cell is endless: the row is named.
    """
    columns = Columns(fields)
    for number, row in table_rows(lines, delimiter, first):
        ids = columns.ids(row)
        yield to_entry(ids, {} if ids else columns.said(row), f"row {number}")


class Columns:
    """The columns of a table by their meaning, as `header_of` reads it."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, field in enumerate(fields):
            self._places.setdefault(field, []).append(place)
        self._hints = self._places.get("hint", []) + self._places.get("any", [])
        self._kinds = [kind for kind in _NAMED if kind in self._places]

    def text(self, row: Sequence[str], field: str) -> str:
        """The first cell of that meaning that holds anything."""
        cells = (row[at].strip() for at in self._places.get(field, ()) if at < len(row))
        return next(filter(None, cells), "")

    def ids(self, row: Sequence[str]) -> Ids:
        """The identifiers of a row."""
        named: dict[IdName, str] = {kind: self.text(row, kind) for kind in self._kinds}
        if not named.get("pmid") and "accession" in self._places:
            named["pmid"] = pmid_of(self.text(row, "accession"), self.text(row, "provider"))
        if not named.get("pmid"):
            named["pmid"] = self.text(row, "any")
        return ids_of_record(named, (row[at] for at in self._hints if at < len(row)))

    def said(self, row: Sequence[str]) -> Said:
        """What a row says of its paper."""
        said: dict[str, str | Sequence[str]] = {name: self.text(row, name) for name in _SAID}
        said["authors"] = names_in(self.text(row, "author"))
        said["kinds"] = [self.text(row, "kind")]
        return said


def headerless_entries(lines: Iterable[str], delimiter: str, first: int = 1) -> Iterator[Entry]:
    """The papers of a table that does not say what its columns are; *first* as there.

    Raises
    ------
    BadRequest
        As `table_entries`.
    """
    for number, row in table_rows(lines, delimiter, first):
        alone = len(row) == 1
        cells = (cell for cell in row if alone or not _SHORT.fullmatch(cell.strip()))
        papers = list(filter(None, map(Ids.maybe, cells)))
        kinds = [name.partition(":")[0] for ids in papers for name in ids.names()]
        if len(kinds) > len(set(kinds)):
            yield from (Entry(str(ids), ids) for ids in papers)
            continue
        whole = Ids()
        for ids in papers:
            whole |= ids
        # A first row without any identifier is a header in words that nobody knows.
        if whole or number > first:
            words = citation(title=" ".join(cell.strip() for cell in row[:10]))
            yield Entry(str(whole) if whole else words, whole)


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


def table_rows(lines: Iterable[str], delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Rows that hold something, numbered by their line."""
    # csv takes an open quotation mark for the rest of the file without a word: the papers behind
    # it would be lost. The last line is ours, and tells whether it was read as a line of its own.
    csv.field_size_limit(_LONGEST_FIELD)  # the references of a paper, in one cell, pass its 131,072
    limited = (_checked_line(line, number) for number, line in enumerate(lines, first))
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


def _checked_line(line: str, number: int) -> str:
    if len(line) > _LONGEST_FIELD:
        msg = f"Line {number} of the table has {len(line):,} characters."
        raise BadRequest(msg, "Save it again as CSV (UTF-8), with the text in quotation marks.")
    return line.replace(_END, "")


def sample(lines: Iterable[str], size: int) -> list[str]:
    """The first lines that hold something."""
    return list(islice(filter(str.strip, lines), size))


def _records(lines: Iterable[str], start: re.Pattern[str]) -> Iterator[list[str]]:
    """The lines of each record; what stands before the first is none."""
    record: list[str] = []
    for line in lines:
        if start.match(line):
            if record:
                yield record
            record = [line]
        elif record and len(record) < _MOST_LINES:
            record.append(line)
    if record:
        yield record


def _bounded(record: Iterable[str], tag: re.Pattern[str]) -> Iterator[str]:
    """The lines with a tag, and as many without as a text has: rispy joins them one by one."""
    loose = 0
    for line in record:
        loose += not tag.match(line)
        if loose <= _MOST_LOOSE or tag.match(line):
            yield line[:_LONGEST_LINE]


def _blocks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Stretches of some hundred entries, each with the number of its first line."""
    numbered = enumerate(lines, 1)
    first, entries = 1, 0
    stretch: list[str] = []
    for number, line in numbered:
        if BIBTEX_START.match(line):
            entries += 1
            if entries > _BLOCKS:
                yield first, "".join(stretch)
                first, stretch, entries = number, [], 1
        stretch.append(line)
    yield first, "".join(stretch)


def _ris_entry(fields: Mapping[str, Any], number: int) -> Entry:
    ids = ris_ids(fields)
    return to_entry(ids, {} if ids else ris_said(fields), f"record {number}")


def ris_said(fields: Mapping[str, Any]) -> Said:
    """What a RIS record says of its paper."""
    return _said(fields, RIS_SAID)


def ris_ids(fields: Mapping[str, Any]) -> Ids:
    """The identifiers of a RIS record."""
    return ids_of_record(
        {
            "pmid": pmid_of(_text(fields, "AN"), f"{_text(fields, 'DB')} {_text(fields, 'DP')}"),
            "doi": _text(fields, "DO"),
        },
        (hint for tag in _RIS_HINTS for hint in values_of(fields, tag) if not hint.isdigit()),
    )


def _said(fields: Mapping[str, Any], tags: Mapping[str, Sequence[str]]) -> Said:
    """What a record says of its paper."""
    return {
        name: next(filter(None, (values_of(fields, tag) for tag in among)), [])
        if name in LISTS
        else _text(fields, *among)
        for name, among in tags.items()
    }


def bibtex_ids(fields: Mapping[str, str]) -> Ids:
    """The identifiers of a BibTeX entry."""

    def field_text(*names: str) -> str:
        return next((_unescaped(fields[name]) for name in names if fields.get(name)), "")

    preprint = field_text("archiveprefix", "eprinttype").lower()
    eprint = field_text("eprint")
    return ids_of_record(
        {
            "doi": field_text("doi"),
            "pmid": field_text("pmid") or (eprint if preprint == "pubmed" else ""),
            "pmcid": field_text("pmcid", "pmc"),
            "arxiv": field_text("arxivid", "arxiv") or (eprint if preprint == "arxiv" else ""),
        },
        [field_text("url"), field_text("howpublished"), field_text("note")],
    )


def bibtex_said(fields: Mapping[str, str]) -> Said:
    """What a BibTeX entry says of its paper."""

    def words(*names: str) -> str:
        return next((text for name in names if (text := readable(fields.get(name, "")))), "")

    return {
        "authors": re.split(r"\s+and\s+", words("author")),
        "year": words("year", "date"),
        "title": words("title"),
        "journal": words("journal", "journaltitle", "booktitle"),
        "abbreviation": words("shortjournal"),
        "volume": words("volume"),
        "issue": words("number", "issue"),
        "pages": words("pages", "eid", "article-number").replace("--", "-"),
        "issn": words("issn"),
        "kinds": [words("type")],
    }


def pmid_of(accession: str, provider: str) -> str:
    """An accession number where PubMed gave it; other databases number their own records."""
    ours = re.search(r"pubmed|medline|\bnlm\b", provider, re.I)
    return accession if ours or accession[:4].upper() == "PMID" else ""


def _text(fields: Mapping[str, Any], *tags: str) -> str:
    """The first value of the first of *tags* that has one."""
    return next((text for tag in tags for text in values_of(fields, tag) if text), "")


def values_of(fields: Mapping[str, Any], tag: str) -> list[str]:
    """All values of a tag."""
    value = fields.get(tag)
    return value if isinstance(value, list) else [value] if value else []


_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip
_ACCENTED = re.compile(r"\\([\"'`^~=.]|[uvHckr](?![A-Za-z]))\s?\{?\s?\\?([A-Za-z])\}?")
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "ı", "textless": "<", "textgreater": ">", "textunderscore": "_",
    "textasciitilde": "~", "textbackslash": "\\",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)(?:\{\}|[ \t]|(?=[^A-Za-z])|$)")


def _unescaped(text: str) -> str:
    r"""An identifier or link without what LaTeX makes of it.

    >>> _unescaped(r"\url{10.1000/a\_b{\_}c$<$1$>$}")
    '10.1000/a_b_c<1>'
    """
    bare = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), text[:2000])
    return re.sub(r"\\([_&%#$~{}])|[{}]|\$(?=[<>])|(?<=[<>])\$", r"\1", bare).strip()


def readable(text: str) -> str:
    r"""Words as they are printed: accents for LaTeX's commands, no braces.

    >>> readable(r"{M{\"u}ller} and {\O}stg\aa rd on {DNA} \& \emph{more}")
    'Müller and Østgård on DNA & more'
    """
    accented = _ACCENTED.sub(
        lambda found: unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]]),
        signs_again(text[:2000]),
    )
    lettered = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), accented)
    return " ".join(re.sub(r"\\([_&%#$~{}])|[{}]", r"\1", lettered).split())
