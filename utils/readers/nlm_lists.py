"""Read NLM's published name lists: journals, MeSH headings and genes.

- ``J_Medline.txt`` (https://ftp.ncbi.nlm.nih.gov/pubmed/J_Medline.txt): entries between lines of
  dashes, ``JournalTitle:``, ``MedAbbr:``, ``ISSN (Print):``, ``ISSN (Online):``, ``IsoAbbr:``.
- ``desc2026.xml`` and its like (https://www.nlm.nih.gov/mesh/xml_data_elements.html): a
  ``DescriptorRecord`` each, its ``DescriptorName``, and in its concepts a ``Term`` for every entry
  term; those with ``IsPermutedTermYN="Y"`` only have their words in another order.
- ``Homo_sapiens.gene_info`` (https://ftp.ncbi.nlm.nih.gov/gene/README): columns between tabs, named
  in the first line; ``-`` is an empty field, ``|`` separates synonyms.

Each file may be compressed with gzip. Files are read as a stream.
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


class SynonymPair(NamedTuple):
    """A name and another name for the same thing; ``kind`` is a journal or a term."""

    kind: str
    written: str
    name: str


def iterate_synonym_pairs(path: Path) -> Iterator[SynonymPair]:
    """Yield pairs of names from one of NLM's lists.

    Raises
    ------
    BadRequest
        The file is not one of these lists, or is damaged.
    StoreFailed
        The file cannot be read.
    """
    with disk_errors(path, "read"), path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        try:
            head = stream.peek(_HEAD)[:_HEAD]
            for pair in _iterate_pairs_by_format(head, stream, path):
                yield SynonymPair(pair.kind, one_line(pair.written), one_line(pair.name))
        except (EOFError, zlib.error, gzip.BadGzipFile, etree.XMLSyntaxError) as error:
            msg = f"{one_line(path.name)} is damaged: {one_line(str(error))[:100]}."
            raise BadRequest(
                msg, "Fetch the file again. Everything before that place was learned."
            ) from None


def _iterate_pairs_by_format(head: bytes, stream: BinaryIO, path: Path) -> Iterator[SynonymPair]:
    if b"<DescriptorRecordSet" in head:
        return _iterate_mesh_names(stream)
    lines = _iterate_decoded_lines(stream)
    if head.startswith(b"#tax_id\t"):
        return _iterate_gene_names(lines)
    if b"JournalTitle:" in head:
        return _iterate_journal_names(lines)
    raise BadRequest(f"{one_line(path.name)} is not one of NLM's lists.", _HINT)


def _iterate_decoded_lines(stream: BinaryIO) -> Iterator[str]:
    while line := stream.readline(_LONGEST_LINE):
        yield line.decode("utf-8", "replace").rstrip("\r\n")


def _iterate_journal_names(lines: Iterator[str]) -> Iterator[SynonymPair]:
    """Yield each name and number of a journal, paired with its full title."""
    entry: dict[str, str] = {}
    for line in chain(lines, ["--"]):
        if not line.startswith("--"):
            name, _, value = line.partition(":")
            entry[name.strip()] = value.strip()
            continue
        if title := entry.get("JournalTitle", ""):
            names = ("JournalTitle", "MedAbbr", "IsoAbbr", "ISSN (Print)", "ISSN (Online)")
            yield from (
                SynonymPair("journal", entry[one], title) for one in names if entry.get(one)
            )
        entry = {}


def _iterate_mesh_names(stream: BinaryIO) -> Iterator[SynonymPair]:
    """Yield each entry term paired with its heading, and some headings with entry terms."""
    for _, record in etree.iterparse(stream, tag="DescriptorRecord", **SAFE_OPTIONS):
        heading = record.findtext("DescriptorName/String", "").strip()
        terms = [
            (term.findtext("String") or "").strip()
            for term in record.iterfind("ConceptList/Concept/TermList/Term")
            if term.get("IsPermutedTermYN") != "Y"
        ]
        others = [term for term in dict.fromkeys(terms) if term and term != heading]
        if heading:
            yield from (SynonymPair("term", term, heading) for term in others)
            yield from (SynonymPair("term", heading, term) for term in others[:_OTHERS])
        record.clear()
        while record.getprevious() is not None:
            del record.getparent()[0]


def _iterate_gene_names(lines: Iterator[str]) -> Iterator[SynonymPair]:
    """Yield each synonym and full name of a gene paired with its symbol, and vice versa."""
    columns = next(lines).lstrip("#").split("\t")
    for line in lines:
        row = dict(zip(columns, line.split("\t"), strict=False))
        symbol, full = row.get("Symbol", "-"), row.get("Full_name_from_nomenclature_authority", "-")
        others = [one for one in row.get("Synonyms", "-").split("|") if len(one) >= _SHORTEST]
        others += [full] if full != "-" else []
        if len(symbol) >= _SHORTEST and symbol != "NEWENTRY":
            yield from (SynonymPair("term", other, symbol) for other in others)
            yield from (SynonymPair("term", symbol, other) for other in others[:_OTHERS])
