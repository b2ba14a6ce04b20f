"""NLM's lists of names, as NLM publishes them: of journals, of MeSH's headings, of genes.

- ``J_Medline.txt`` (https://ftp.ncbi.nlm.nih.gov/pubmed/J_Medline.txt): entries between lines of
  dashes, ``JournalTitle:``, ``MedAbbr:``, ``ISSN (Print):``, ``ISSN (Online):``, ``IsoAbbr:``.
- ``desc2026.xml`` and its like (https://www.nlm.nih.gov/mesh/xml_data_elements.html): a
  ``DescriptorRecord`` each, its ``DescriptorName``, and in its concepts a ``Term`` for every entry
  term; those with ``IsPermutedTermYN="Y"`` only have their words in another order.
- ``Homo_sapiens.gene_info`` (https://ftp.ncbi.nlm.nih.gov/gene/README): columns between tabs, named
  in the first line; ``-`` is none, ``|`` parts several synonyms.

Each may be compressed by gzip. They are read as they come, a piece at a time.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lxml import etree

from ..errors import BadRequest
from ..system.plain_text import one_line
from ..system.safe_files import disk_errors
from .safe_xml import SAFE_OPTIONS

_HEAD = 4096
_LONGEST_LINE = 1_000_000
_OTHERS = 6  # entry terms by which a heading is also asked for
_SHORTEST = 3  # letters of a gene's synonym: shorter ones are of many genes
_HINT = "Give J_Medline.txt, a desc*.xml of MeSH, or a *.gene_info, as NLM publishes them."


class NamePair(NamedTuple):
    """A name, and another name for the same thing; ``kind`` is a journal or a term."""

    kind: str
    written: str
    name: str


def read_names(path: Path) -> Iterator[NamePair]:
    """Yield pairs of names from one of NLM's lists.

    Raises
    ------
    BadRequest
        It is none of them, or damaged.
    StoreFailed
        The file cannot be read.
    """
    with disk_errors(path, "read"), path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        try:
            head = stream.peek(_HEAD)[:_HEAD]
            for one in _read_list(head, stream, path):
                yield NamePair(one.kind, one_line(one.written), one_line(one.name))
        except (EOFError, zlib.error, gzip.BadGzipFile, etree.XMLSyntaxError) as error:
            msg = f"{one_line(path.name)} is damaged: {one_line(str(error))[:100]}."
            raise BadRequest(
                msg, "Fetch the file again. Everything before that place was learned."
            ) from None


def _read_list(head: bytes, stream: BinaryIO, path: Path) -> Iterator[NamePair]:
    if b"<DescriptorRecordSet" in head:
        return _read_headings(stream)
    lines = _read_lines(stream)
    if head.startswith(b"#tax_id\t"):
        return _read_genes(lines)
    if b"JournalTitle:" in head:
        return _read_journals(lines)
    raise BadRequest(f"{one_line(path.name)} is not one of NLM's lists.", _HINT)


def _read_lines(stream: BinaryIO) -> Iterator[str]:
    while line := stream.readline(_LONGEST_LINE):
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _read_journals(lines: Iterator[str]) -> Iterator[NamePair]:
    """Yield every name and number of a journal, for its whole title."""
    entry: dict[str, str] = {}
    for line in chain(lines, ["--"]):
        if not line.startswith("--"):
            name, _, value = line.partition(":")
            entry[name.strip()] = value.strip()
            continue
        if title := entry.get("JournalTitle", ""):
            names = ("JournalTitle", "MedAbbr", "IsoAbbr", "ISSN (Print)", "ISSN (Online)")
            yield from (NamePair("journal", entry[one], title) for one in names if entry.get(one))
        entry = {}


def _read_headings(stream: BinaryIO) -> Iterator[NamePair]:
    """Yield the heading for every entry term, and some entry terms for the heading."""
    for _, record in etree.iterparse(stream, tag="DescriptorRecord", **SAFE_OPTIONS):
        heading = record.findtext("DescriptorName/String", "").strip()
        terms = [
            (term.findtext("String") or "").strip()
            for term in record.iterfind("ConceptList/Concept/TermList/Term")
            if term.get("IsPermutedTermYN") != "Y"
        ]
        others = [term for term in dict.fromkeys(terms) if term and term != heading]
        if heading:
            yield from (NamePair("term", term, heading) for term in others)
            yield from (NamePair("term", heading, term) for term in others[:_OTHERS])
        record.clear()
        while record.getprevious() is not None:
            del record.getparent()[0]


def _read_genes(lines: Iterator[str]) -> Iterator[NamePair]:
    """Yield the symbol for every synonym and full name, and these for the symbol."""
    columns = next(lines).lstrip("#").split("\t")
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=False))
        symbol, full = row.get("Symbol", "-"), row.get("Full_name_from_nomenclature_authority", "-")
        others = [one for one in row.get("Synonyms", "-").split("|") if len(one) >= _SHORTEST]
        others += [full] if full != "-" else []
        if len(symbol) >= _SHORTEST and symbol != "NEWENTRY":
            yield from (NamePair("term", other, symbol) for other in others)
            yield from (NamePair("term", symbol, other) for other in others[:_OTHERS])
