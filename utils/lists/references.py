"""Read the papers listed in a file: identifier lines, tables, and reference managers' formats.

RIS, BibTeX, MEDLINE and Web of Science are read here, CSL-JSON and EndNote XML by `.documents`.

`read_file_entries` reads all of them. The format is found by content, and by the file's name only
where the content leaves a doubt.

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

from ..citations.latex import unescape_latex
from ..errors import BadRequest
from ..model.identifiers import IdName, Ids
from ..model.other_identifiers import EXAMPLES
from .described import (
    LIST_FIELDS,
    MEDLINE_TAGS,
    RIS_TAGS,
    WOS_TAGS,
    RecordFields,
    build_list_entry,
    split_author_names,
)
from .documents import is_json, read_csl_entries, read_endnote_entries
from .pasted import (
    ListEntry,
    collect_field_ids,
    format_citation,
    has_only_identifiers,
    open_decoded_lines,
    parse_required_identifiers,
    read_identifier_lines,
)

MAX_LIST_BYTES = 1 << 30
_SAMPLE_LINES = 60
RIS_START = re.compile(r"\s*TY {1,2}-")
BIBTEX_START = re.compile(r"\s*@\w+\s*[{(]")
MEDLINE_START = re.compile(r"PMID ?- *\d|OWN {1,2}- *\w")
WOS_START = re.compile(r"(?:FN|PT) \w")


def read_ris_entries(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the papers of a RIS file."""
    return (
        _ris_record_to_entry(fields, number)
        for number, fields in enumerate(read_ris_records(lines), 1)
    )


def read_ris_records(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a RIS file as values by tag; ``TY`` begins a record.

    A tag that may be repeated has a list.
    """
    from rispy import RisParser

    # Not rispy's defaults: it cuts links at ";", which old DOIs hold.
    tags = {tag: tag for tag in RisParser.DEFAULT_MAPPING}
    reader = RisParser(mapping=tags, delimiter_tags_mapping={}, skip_unknown_tags=True)
    for record in _iterate_tagged_records(lines, RIS_START):
        record_lines = [
            f"{tag[1]}  - {tag[2].strip()}" if (tag := _RIS_LINE.match(line)) else line.strip()
            for line in _limit_untagged_lines(record, _RIS_LINE)
        ]
        end = record_lines.index("ER  - ") if "ER  - " in record_lines else len(record_lines)
        [fields] = reader.parse_lines(iter([*record_lines[:end], "ER  - "]))
        yield fields


def read_wos_entries(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the papers of a Web of Science plain text file."""
    from rispy import WokParser

    tags = {tag: tag for tag in WokParser.DEFAULT_MAPPING} | {"DI": "DI", "PM": "PM"}
    reader = WokParser(mapping=tags, skip_unknown_tags=True)
    for number, record in enumerate(_iterate_tagged_records(lines, re.compile("PT ")), 1):
        record_lines = [line.rstrip("\n") for line in _limit_untagged_lines(record, _WOS_LINE)]
        end = next(
            (at for at, line in enumerate(record_lines) if line[:2] == "ER"), len(record_lines)
        )
        [fields] = reader.parse_lines(iter([*record_lines[:end], "ER"]))
        ids = collect_field_ids(
            {"pmid": _get_first_tag_value(fields, "PM"), "doi": _get_first_tag_value(fields, "DI")}
        )
        yield build_list_entry(
            ids, {} if ids else _get_tagged_fields(fields, WOS_TAGS), f"record {number}"
        )


def read_medline_entries(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the papers of a MEDLINE file (``.nbib``).

    A record begins with its PMID. One without, of ERIC or written by us, begins with its owner.
    """
    from Bio import Medline

    parse: Any = Medline.parse
    for number, record in enumerate(
        _iterate_tagged_records(_add_record_separators(lines), _MEDLINE_RECORD), 1
    ):
        # A blank line inside a record is its end to Biopython, and the next line a KeyError.
        [fields] = parse(line for line in record if line.strip())
        doi = _MEDLINE_DOI.search(
            "  ".join(get_tag_values(fields, "AID") + get_tag_values(fields, "LID"))
        )
        named: dict[IdName, str] = {
            "pmid": _get_first_tag_value(fields, "PMID"),
            "pmcid": _get_first_tag_value(fields, "PMC"),
            "doi": doi[1] if doi else "",
            "arxiv": next(filter(None, map(_find_arxiv_number, get_tag_values(fields, "AID"))), ""),
        }
        ids = collect_field_ids(named)
        yield build_list_entry(
            ids, {} if ids else _get_tagged_fields(fields, MEDLINE_TAGS), f"record {number}"
        )


def _add_record_separators(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file, with an empty PMID line before each record that has none."""
    last, blank = "", True
    for line in lines:
        if blank and _OWNER_LINE.match(line) and not _MEDLINE_RECORD.match(last):
            yield "PMID-\n"
        yield line
        blank = not line.strip()
        last = last if blank else line


def _find_arxiv_number(name: str) -> str:
    """Return the arXiv number in a publisher's name of an article, as PubMed has it."""
    found = re.fullmatch(r"arXiv:(\S{4,30}) \[pii\]", name)
    return re.sub(r"v\d+$", "", found[1]) if found else ""


def read_bibtex_entries(lines: Iterable[str]) -> Iterator[ListEntry]:
    """Yield the papers of a BibTeX file; an unreadable entry is reported with its line number."""
    for record in read_bibtex_records(lines):
        if record.key:
            ids = get_bibtex_ids(record.fields)
            where = f"{record.key} (line {record.line})"
            yield build_list_entry(ids, {} if ids else get_bibtex_fields(record.fields), where)
        else:
            told = f"{record.kind} (line {record.line}) cannot be read"
            yield ListEntry(format_citation(title=told), Ids())


class BibtexRecord(NamedTuple):
    """A BibTeX entry; an unreadable entry has no key, and its first line as ``kind``."""

    key: str
    kind: str
    fields: Mapping[str, str]
    line: int


def read_bibtex_records(lines: Iterable[str]) -> Iterator[BibtexRecord]:
    """Yield the entries of a BibTeX file, each with the number of its first line."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry as Read
    from bibtexparser.model import ParsingFailedBlock

    # It reports every malformed block to the log, in the words of the file.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    for first, text in _iterate_bibtex_blocks(lines):
        for block in parse_string(text).blocks:
            readable = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
            line = first + (block.start_line or 0)
            if isinstance(readable, Read):
                fields = {field.key.lower(): str(field.value) for field in readable.fields[::-1]}
                yield BibtexRecord(readable.key, readable.entry_type.lower(), fields, line)
            elif isinstance(block, ParsingFailedBlock):
                yield BibtexRecord("", (block.raw or "").split("\n")[0][:80], {}, line)


_FORMATS = (
    (RIS_START, read_ris_entries),
    (MEDLINE_START, read_medline_entries),
    (BIBTEX_START, read_bibtex_entries),
    (WOS_START, read_wos_entries),
)
_TABLE_EXTENSIONS = (".csv", ".tsv", ".tab")
_BINARY_FORMATS = {
    b"PK\x03\x04": "an Excel or ZIP file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF-": "a PDF",
    b"\x1f\x8b": "a gzip file",
}
_EXPORT_HINT = "Save it as CSV, or export RIS, BibTeX or NBIB from the program it comes from."
DELIMITERS = ",\t;|"
_END_MARK = "\x00"  # no line of a file is this: it was decoded, and a table of it is refused below
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
_FIELD_COLUMNS = (
    *("year", "title", "vernacular_title", "journal", "abbreviation", "volume", "issue", "pages"),
    *("first_page", "last_page", "issn"),
)
_FIELD_BY_HEADER = {
    name.lower(): field for field, names in _COLUMNS.items() for name in names.split()
}
_ID_COLUMNS: tuple[IdName, ...] = ("pmid", "pmcid", "doi", "arxiv")
# In a table without header a short number is a year, a volume or a rank, not an early PMID.
_SHORT_NUMBER = re.compile(r"\d{1,4}")
_FIELD_MAX_CHARS = 1 << 20
_SNIFFED_CHARS = 10_000  # characters of a line that tell what it is
_RIS_LINE = re.compile(r"\s*([A-Z][A-Z0-9]) {1,2}-(?:\s|$)(.*)", re.S)
_WOS_LINE = re.compile(r"\S")
_MEDLINE_RECORD = re.compile(r"PMID ?- *(?:\d|$)")
_OWNER_LINE = re.compile(r"OWN {1,2}- *\w")
_MEDLINE_DOI = re.compile(r"(10\.\S+) \[doi\]")
_RIS_HINTS = ("UR", "L1", "L2", "L4", "N1", *(f"C{number}" for number in range(1, 9)))
_ENTRIES_PER_BLOCK = 200
_MAX_RECORD_LINES = 20_000
_MAX_UNTAGGED_LINES = 500
_LINE_MAX_CHARS = 10_000


def read_file_entries(data: bytes, name: str = "") -> Iterator[ListEntry]:
    """Yield the papers of a file, in order.

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
    require_text_file(data)
    start = data[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"<":
        entries = read_endnote_entries(data)
    else:
        entries = (
            read_csl_entries(data) if is_json(start) else _read_entries_of_any_format(data, name)
        )
    found = False
    for entry in entries:
        found = True
        yield entry
    if not found:
        raise BadRequest(f"{_describe_file_formats(name)} names no paper.", EXAMPLES)


def _read_entries_of_any_format(data: bytes, name: str) -> Iterator[ListEntry]:
    first = get_first_nonempty_lines(open_decoded_lines(data), _SAMPLE_LINES)
    for start, read in _FORMATS:
        # What stands before the first record is no identifier: exports begin with remarks.
        if any(map(start.match, first)) and not (first and Ids.maybe(first[0])):
            yield from read(open_decoded_lines(data))
            return
    begins = next((at for at, line in enumerate(open_decoded_lines(data)) if line.strip()), 0)
    delimiter, fields = parse_table_header(first[0]) if first else ("", [])
    if first and first[0].lower().startswith("sep=") and len(first) > 1:
        delimiter, fields = parse_table_header(first[1])  # how Excel is told the separator
        begins += 1
    begins += bool(fields)
    lines = islice(open_decoded_lines(data), begins, None)
    if len(fields) > 1 or fields == ["title"]:
        yield from read_table_entries(lines, delimiter, fields, begins + 1)
    elif not fields and (
        name.lower().endswith(_TABLE_EXTENSIONS)
        or (not has_only_identifiers(first) and is_table(first))
    ):
        yield from read_headerless_entries(lines, guess_delimiter(first), begins + 1)
    else:
        yield from parse_required_identifiers(read_identifier_lines(data)[begins:], begins + 1)


def require_text_file(data: bytes) -> None:
    """Raise an error for a file that is not text, or too long.

    Raises
    ------
    BadRequest
        It is a program's own file, or larger than `MAX_LIST_BYTES`.
    """
    if len(data) > MAX_LIST_BYTES:
        msg = f"The list has {len(data):,} bytes; {MAX_LIST_BYTES:,} is the most."
        raise BadRequest(msg, "Split it.")
    for start, kind in _BINARY_FORMATS.items():
        if data.startswith(start):
            raise BadRequest(f"The list is {kind}.", _EXPORT_HINT)
    if b"\x00" in data[:1000] and data[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
        raise BadRequest("The list is not a text file.", _EXPORT_HINT)


def _describe_file_formats(name: str) -> str:
    return f"The file {name}" if name else "The list"


def parse_table_header(line: str) -> tuple[str, list[str]]:
    """Return the column separator of a header, and the meaning of each column ("" if unknown).

    The list is empty when the line is no header.

    >>> parse_table_header("PubMed ID;DOI;Remarks")
    (';', ['pmid', 'doi', ''])
    """
    readings = []
    for delimiter in DELIMITERS:
        cells = next(csv.reader([line[:_SNIFFED_CHARS]], delimiter=delimiter), [])
        fields = [_FIELD_BY_HEADER.get(re.sub(r"[^a-z]", "", cell.lower()), "") for cell in cells]
        recognised = sum(map(bool, fields))
        if recognised and not any(map(Ids.maybe, cells)):
            readings.append((recognised, delimiter, fields))
    _, delimiter, fields = max(readings, key=lambda reading: reading[0], default=(0, ",", []))
    return delimiter, fields


def read_table_entries(
    lines: Iterable[str], delimiter: str, fields: Sequence[str], first: int = 2
) -> Iterator[ListEntry]:
    """Yield the papers of a table with a header; *first* is the number of its first line.

    Raises
    ------
    BadRequest
        A quotation mark is never closed, or a cell is endless: the row is named.
    """
    columns = TableColumns(fields)
    for number, row in iterate_table_rows(lines, delimiter, first):
        ids = columns.get_row_ids(row)
        yield build_list_entry(ids, {} if ids else columns.get_row_fields(row), f"row {number}")


class TableColumns:
    """The columns of a table by meaning, as `parse_table_header` returns them."""

    def __init__(self, fields: Sequence[str]) -> None:
        self._places: dict[str, list[int]] = {}
        for place, field in enumerate(fields):
            self._places.setdefault(field, []).append(place)
        self._hints = self._places.get("hint", []) + self._places.get("any", [])
        self._kinds = [kind for kind in _ID_COLUMNS if kind in self._places]

    def get_first_cell(self, row: Sequence[str], field: str) -> str:
        """Return the first non-empty cell of the columns with a meaning."""
        cells = (row[at].strip() for at in self._places.get(field, ()) if at < len(row))
        return next(filter(None, cells), "")

    def get_row_ids(self, row: Sequence[str]) -> Ids:
        """Return the identifiers of a row."""
        named: dict[IdName, str] = {kind: self.get_first_cell(row, kind) for kind in self._kinds}
        if not named.get("pmid") and "accession" in self._places:
            named["pmid"] = get_pmid_from_accession(
                self.get_first_cell(row, "accession"), self.get_first_cell(row, "provider")
            )
        if not named.get("pmid"):
            named["pmid"] = self.get_first_cell(row, "any")
        return collect_field_ids(named, (row[at] for at in self._hints if at < len(row)))

    def get_row_fields(self, row: Sequence[str]) -> RecordFields:
        """Return the bibliographic fields of a row."""
        said: dict[str, str | Sequence[str]] = {
            name: self.get_first_cell(row, name) for name in _FIELD_COLUMNS
        }
        said["authors"] = split_author_names(self.get_first_cell(row, "author"))
        said["kinds"] = [self.get_first_cell(row, "kind")]
        return said


def read_headerless_entries(
    lines: Iterable[str], delimiter: str, first: int = 1
) -> Iterator[ListEntry]:
    """Yield the papers of a table without a header; *first* is the number of its first line.

    Raises
    ------
    BadRequest
        As `read_table_entries`.
    """
    for number, row in iterate_table_rows(lines, delimiter, first):
        alone = len(row) == 1
        cells = (cell for cell in row if alone or not _SHORT_NUMBER.fullmatch(cell.strip()))
        papers = list(filter(None, map(Ids.maybe, cells)))
        kinds = [name.partition(":")[0] for ids in papers for name in ids.names()]
        if len(kinds) > len(set(kinds)):
            yield from (ListEntry(str(ids), ids) for ids in papers)
            continue
        whole = Ids()
        for ids in papers:
            whole |= ids
        # A first row without any identifier is a header in words that nobody knows.
        if whole or number > first:
            words = format_citation(title=" ".join(cell.strip() for cell in row[:10]))
            yield ListEntry(str(whole) if whole else words, whole)


def is_table(lines: Sequence[str]) -> bool:
    """Return whether lines form a table: equally many cells each, most with an identifier."""
    cut = (line[:_SNIFFED_CHARS] for line in lines)
    try:
        rows = [row for row in csv.reader(cut, delimiter=guess_delimiter(lines)) if row]
    except csv.Error:  # an endless cell
        return False
    rows = rows[: max(1, len(rows) - 1)]  # the last may go on in the next line
    named = [row for row in rows if any(map(_is_identifier_cell, row))]
    return len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 and 2 * len(named) > len(rows)


def _is_identifier_cell(cell: str) -> bool:
    return not _SHORT_NUMBER.fullmatch(cell.strip()) and bool(Ids.maybe(cell))


def guess_delimiter(lines: Sequence[str]) -> str:
    """Return the separator that occurs in most lines."""
    return max(DELIMITERS, key=lambda sign: sum(sign in line for line in lines))


def iterate_table_rows(
    lines: Iterable[str], delimiter: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows of a table with their line numbers."""
    # csv takes an open quotation mark for the rest of the file without a word: the papers behind
    # it would be lost. The last line is ours, and tells whether it was read as a line of its own.
    csv.field_size_limit(
        _FIELD_MAX_CHARS
    )  # the references of a paper, in one cell, pass its 131,072
    limited = (_require_short_line(line, number) for number, line in enumerate(lines, first))
    rows = csv.reader(chain(limited, [_END_MARK]), delimiter=delimiter)
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
    if row != [_END_MARK]:
        msg = f"A quotation mark in line {begins} of the table is never closed."
        raise BadRequest(msg, "Close or remove it, or save the table again as CSV (UTF-8).")


def _require_short_line(line: str, number: int) -> str:
    if len(line) > _FIELD_MAX_CHARS:
        msg = f"Line {number} of the table has {len(line):,} characters."
        raise BadRequest(msg, "Save it again as CSV (UTF-8), with the text in quotation marks.")
    return line.replace(_END_MARK, "")


def get_first_nonempty_lines(lines: Iterable[str], size: int) -> list[str]:
    """Return the first non-empty lines."""
    return list(islice(filter(str.strip, lines), size))


def _iterate_tagged_records(lines: Iterable[str], start: re.Pattern[str]) -> Iterator[list[str]]:
    """Yield the lines of each record; lines before the first record are skipped."""
    record: list[str] = []
    for line in lines:
        if start.match(line):
            if record:
                yield record
            record = [line]
        elif record and len(record) < _MAX_RECORD_LINES:
            record.append(line)
    if record:
        yield record


def _limit_untagged_lines(record: Iterable[str], tag: re.Pattern[str]) -> Iterator[str]:
    """Yield tagged lines, and a limited number of untagged lines, which rispy joins slowly."""
    loose = 0
    for line in record:
        loose += not tag.match(line)
        if loose <= _MAX_UNTAGGED_LINES or tag.match(line):
            yield line[:_LINE_MAX_CHARS]


def _iterate_bibtex_blocks(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield stretches of some hundred entries, each with the number of its first line."""
    numbered = enumerate(lines, 1)
    first, entries = 1, 0
    stretch: list[str] = []
    for number, line in numbered:
        if BIBTEX_START.match(line):
            entries += 1
            if entries > _ENTRIES_PER_BLOCK:
                yield first, "".join(stretch)
                first, stretch, entries = number, [], 1
        stretch.append(line)
    yield first, "".join(stretch)


def _ris_record_to_entry(fields: Mapping[str, Any], number: int) -> ListEntry:
    ids = get_ris_ids(fields)
    return build_list_entry(ids, {} if ids else get_ris_fields(fields), f"record {number}")


def get_ris_fields(fields: Mapping[str, Any]) -> RecordFields:
    """Return the bibliographic fields of a RIS record."""
    return _get_tagged_fields(fields, RIS_TAGS)


def get_ris_ids(fields: Mapping[str, Any]) -> Ids:
    """Return the identifiers of a RIS record."""
    return collect_field_ids(
        {
            "pmid": get_pmid_from_accession(
                _get_first_tag_value(fields, "AN"),
                f"{_get_first_tag_value(fields, 'DB')} {_get_first_tag_value(fields, 'DP')}",
            ),
            "doi": _get_first_tag_value(fields, "DO"),
        },
        (hint for tag in _RIS_HINTS for hint in get_tag_values(fields, tag) if not hint.isdigit()),
    )


def _get_tagged_fields(
    fields: Mapping[str, Any], tags: Mapping[str, Sequence[str]]
) -> RecordFields:
    """Return the bibliographic fields of a record."""
    return {
        name: next(filter(None, (get_tag_values(fields, tag) for tag in among)), [])
        if name in LIST_FIELDS
        else _get_first_tag_value(fields, *among)
        for name, among in tags.items()
    }


def get_bibtex_ids(fields: Mapping[str, str]) -> Ids:
    """Return the identifiers of a BibTeX entry."""

    def get_first_identifier(*names: str) -> str:
        return next(
            (_unescape_latex_identifier(fields[name]) for name in names if fields.get(name)), ""
        )

    preprint = get_first_identifier("archiveprefix", "eprinttype").lower()
    eprint = get_first_identifier("eprint")
    return collect_field_ids(
        {
            "doi": get_first_identifier("doi"),
            "pmid": get_first_identifier("pmid") or (eprint if preprint == "pubmed" else ""),
            "pmcid": get_first_identifier("pmcid", "pmc"),
            "arxiv": get_first_identifier("arxivid", "arxiv")
            or (eprint if preprint == "arxiv" else ""),
        },
        [
            get_first_identifier("url"),
            get_first_identifier("howpublished"),
            get_first_identifier("note"),
        ],
    )


def get_bibtex_fields(fields: Mapping[str, str]) -> RecordFields:
    """Return the bibliographic fields of a BibTeX entry."""

    def get_first_text(*names: str) -> str:
        return next((text for name in names if (text := latex_to_text(fields.get(name, "")))), "")

    return {
        "authors": re.split(r"\s+and\s+", get_first_text("author")),
        "year": get_first_text("year", "date"),
        "title": get_first_text("title"),
        "journal": get_first_text("journal", "journaltitle", "booktitle"),
        "abbreviation": get_first_text("shortjournal"),
        "volume": get_first_text("volume"),
        "issue": get_first_text("number", "issue"),
        "pages": get_first_text("pages", "eid", "article-number").replace("--", "-"),
        "issn": get_first_text("issn"),
        "kinds": [get_first_text("type")],
    }


def get_pmid_from_accession(accession: str, provider: str) -> str:
    """Return the accession number if PubMed assigned it, or ""."""
    ours = re.search(r"pubmed|medline|\bnlm\b", provider, re.I)
    return accession if ours or accession[:4].upper() == "PMID" else ""


def _get_first_tag_value(fields: Mapping[str, Any], *tags: str) -> str:
    """Return the first value of the first tag that has one."""
    return next((text for tag in tags for text in get_tag_values(fields, tag) if text), "")


def get_tag_values(fields: Mapping[str, Any], tag: str) -> list[str]:
    """Return all values of a tag."""
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


def _unescape_latex_identifier(text: str) -> str:
    r"""Return an identifier or link without LaTeX escapes.

    >>> _unescape_latex_identifier(r"\url{10.1000/a\_b{\_}c$<$1$>$}")
    '10.1000/a_b_c<1>'
    """
    bare = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), text[:2000])
    return re.sub(r"\\([_&%#$~{}])|[{}]|\$(?=[<>])|(?<=[<>])\$", r"\1", bare).strip()


def latex_to_text(text: str) -> str:
    r"""Return LaTeX as displayed text: accents in place of commands, without braces.

    >>> latex_to_text(r"{M{\"u}ller} and {\O}stg\aa rd on {DNA} \& \emph{more}")
    'Müller and Østgård on DNA & more'
    """
    accented = _ACCENTED.sub(
        lambda found: unicodedata.normalize("NFC", found[2] + _ACCENTS[found[1]]),
        unescape_latex(text[:2000]),
    )
    lettered = _COMMAND.sub(lambda found: _LETTERS.get(found[1], ""), accented)
    return " ".join(re.sub(r"\\([_&%#$~{}])|[{}]", r"\1", lettered).split())
