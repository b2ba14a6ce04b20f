"""Papers in the files of reference managers: RIS, BibTeX, MEDLINE (``.nbib``), Web of Science.

Each record is cut out here and given to its reader alone: one that is malformed then spoils no
other, and a library of a hundred thousand records needs the memory of a few.

Where the facts come from: the tags of RIS from rispy, of MEDLINE from NLM's description of the
format, the rest from files that Zotero, EndNote, Mendeley, Ovid, Scopus and Web of Science write.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..citations.latex import signs_again
from ..model.identifiers import IdName, Ids
from .pasted import Entry, citation, entry_of, names_of

RIS_START = re.compile(r"\s*TY {1,2}-")
BIBTEX_START = re.compile(r"\s*@\w+\s*[{(]")
MEDLINE_START = re.compile(r"PMID ?- *\d")
WOS_START = re.compile(r"(?:FN|PT) \w")

_RIS_LINE = re.compile(r"\s*([A-Z][A-Z0-9]) {1,2}-(?:\s|$)(.*)", re.S)
_WOS_LINE = re.compile(r"\S")
_MEDLINE_DOI = re.compile(r"(10\.\S+) \[doi\]")
_RIS_HINTS = ("UR", "L1", "L2", "L4", "N1", *(f"C{number}" for number in range(1, 9)))
_RIS_WORDS = (("AU", "A1"), ("PY", "Y1", "DA"), ("TI", "T1"), ("T2", "JF", "JO", "JA", "J2"))
_BLOCKS = 200
_MOST_LINES = 20_000
_MOST_LOOSE = 500
_LONGEST_LINE = 10_000


def ris_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a RIS file; ``TY`` begins a record, also where the last one has no end."""
    from rispy import RisParser

    # Not rispy's defaults: it cuts links at ";", which old DOIs hold.
    tags = {tag: tag for tag in RisParser.DEFAULT_MAPPING}
    reader = RisParser(mapping=tags, delimiter_tags_mapping={}, skip_unknown_tags=True)
    for number, record in enumerate(_records(lines, RIS_START), 1):
        written = [
            f"{tag[1]}  - {tag[2].strip()}" if (tag := _RIS_LINE.match(line)) else line.strip()
            for line in _bounded(record, _RIS_LINE)
        ]
        end = written.index("ER  - ") if "ER  - " in written else len(written)
        [fields] = reader.parse_lines(iter([*written[:end], "ER  - "]))
        yield _ris_entry(fields, number)


def wos_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a Web of Science plain text file."""
    from rispy import WokParser

    tags = {tag: tag for tag in WokParser.DEFAULT_MAPPING} | {"DI": "DI", "PM": "PM"}
    reader = WokParser(mapping=tags, skip_unknown_tags=True)
    for number, record in enumerate(_records(lines, re.compile("PT ")), 1):
        written = [line.rstrip("\n") for line in _bounded(record, _WOS_LINE)]
        end = next((at for at, line in enumerate(written) if line[:2] == "ER"), len(written))
        [fields] = reader.parse_lines(iter([*written[:end], "ER"]))
        ids = names_of({"pmid": _text(fields, "PM"), "doi": _text(fields, "DI")})
        words = [_text(fields, tag) for tag in ("AU", "PY", "TI", "SO")]
        yield entry_of(ids, words, f"record {number}")


def medline_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a MEDLINE file, as PubMed saves it (``.nbib``)."""
    from Bio import Medline

    parse: Any = Medline.parse
    for number, record in enumerate(_records(lines, MEDLINE_START), 1):
        # A blank line inside a record is its end to Biopython, and the next line a KeyError.
        [fields] = parse(line for line in record if line.strip())
        doi = _MEDLINE_DOI.search("  ".join(_each(fields, "AID") + _each(fields, "LID")))
        named: dict[IdName, str] = {
            "pmid": _text(fields, "PMID"),
            "pmcid": _text(fields, "PMC"),
            "doi": doi[1] if doi else "",
        }
        words = [_text(fields, tag) for tag in ("AU", "DP", "TI", "JT")]
        yield entry_of(names_of(named), words, f"record {number}")


def bibtex_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The papers of a BibTeX file; an entry that cannot be read is named with its line."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry as Read
    from bibtexparser.model import ParsingFailedBlock

    # It reports every malformed block to the log, in the words of the file.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    for first, text in _blocks(lines):
        for block in parse_string(text).blocks:
            readable = block.ignore_error_block if isinstance(block, ParsingFailedBlock) else block
            where = f"line {first + (block.start_line or 0)}"
            if isinstance(readable, Read):
                fields = {field.key.lower(): str(field.value) for field in readable.fields[::-1]}
                yield _bibtex_entry(fields, f"{readable.key} ({where})")
            elif isinstance(block, ParsingFailedBlock):
                start = (block.raw or "").split("\n")[0][:80]
                yield Entry(citation(title=f"{start} ({where}) cannot be read"), Ids())


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
    ids = names_of(
        {
            "pmid": pmid_of(_text(fields, "AN"), f"{_text(fields, 'DB')} {_text(fields, 'DP')}"),
            "doi": _text(fields, "DO"),
        },
        (hint for tag in _RIS_HINTS for hint in _each(fields, tag) if not hint.isdigit()),
    )
    words = [] if ids else [_text(fields, *tags) for tags in _RIS_WORDS]
    return entry_of(ids, words, f"record {number}")


def _bibtex_entry(fields: Mapping[str, str], where: str) -> Entry:
    def named(*names: str) -> str:
        return next((_unescaped(fields[name]) for name in names if fields.get(name)), "")

    preprint = named("archiveprefix", "eprinttype").lower()
    eprint = named("eprint")
    ids = names_of(
        {
            "doi": named("doi"),
            "pmid": named("pmid") or (eprint if preprint == "pubmed" else ""),
            "pmcid": named("pmcid", "pmc"),
            "arxiv": named("arxivid", "arxiv") or (eprint if preprint == "arxiv" else ""),
        },
        [named("url"), named("howpublished"), named("note")],
    )
    author = re.split(r"\s+and\s+", readable(fields.get("author", "")[:2000]))[0]
    words = [author, named("year", "date"), readable(fields.get("title", ""))]
    return entry_of(ids, [*words, readable(fields.get("journal", ""))], where)


def pmid_of(accession: str, provider: str) -> str:
    """An accession number where PubMed gave it; other databases number their own records."""
    ours = re.search(r"pubmed|medline|\bnlm\b", provider, re.I)
    return accession if ours or accession[:4].upper() == "PMID" else ""


def _text(fields: Mapping[str, Any], *tags: str) -> str:
    """What the first of *tags* says that says something; the first of several authors."""
    return next((text for tag in tags for text in _each(fields, tag) if text), "")


def _each(fields: Mapping[str, Any], tag: str) -> list[str]:
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
