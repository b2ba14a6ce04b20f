r"""Read which file belongs to which paper, from the library file of a reference manager.

BibTeX has a field ``file``: ``description:path:type`` in JabRef, Zotero and Mendeley (which leaves
out the first slash), several of them separated by ``;``, with ``\\`` before a sign that belongs to
a path; Better BibTeX may write paths only. RIS has ``L1``, EndNote XML ``pdf-urls`` (both with
``internal-pdf://``), and Zotero RDF attachments with ``rdf:resource``:
https://github.com/zotero/translators ("Zotero RDF.js", "BibTeX.js"),
https://docs.jabref.org/finding-sorting-and-cleaning-entries/filelinks.

Paths were written on another machine, or in another folder. `match_papers_to_files` compares the
ends of paths, and takes a file only if no other file has the same end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

from ..errors import BadRequest
from ..model.paper import Paper
from ..readers.safe_xml import SAFE_OPTIONS
from ..system.plain_text import one_line
from .described import fields_to_paper
from .documents import get_endnote_fields, get_endnote_ids
from .pasted import collect_field_ids, open_decoded_lines
from .references import (
    RIS_START,
    get_bibtex_fields,
    get_bibtex_ids,
    get_ris_fields,
    get_ris_ids,
    get_tag_values,
    latex_to_text,
    read_bibtex_records,
    read_ris_records,
    require_text_file,
)

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_BIB, _Z = "{http://purl.org/net/biblio#}", "{http://www.zotero.org/namespaces/export#}"
_DC, _LINK = "{http://purl.org/dc/elements/1.1/}", "{http://purl.org/rss/1.0/modules/link/}"
_FOAF = "{http://xmlns.com/foaf/0.1/}"
_SCHEME = re.compile(r"^(?:internal-pdf|file|attachments|storage):/{0,3}(?:localhost/)?", re.I)
_SIGNS = re.compile(r"\\([\\:;])")
_BACKSLASH = re.compile(r"\{?\$\\backslash\$\}?|\\textbackslash\{?\}?")
_MAX_PARTS = 4  # of the end of a path that are compared


class AttachedPaper(NamedTuple):
    """A paper of a reference file, and the paths of its PDF files as they are written there."""

    paper: Paper
    paths: tuple[str, ...]


def read_attached_papers(data: bytes, name: str = "") -> list[AttachedPaper]:
    """Return the papers in a reference file that have PDF files attached.

    Raises
    ------
    BadRequest
        The file is not BibTeX, RIS, EndNote XML or Zotero RDF, or is damaged.
    """
    require_text_file(data)
    start = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] == b"<":
        found = _read_xml_papers(data, name)
    elif any(map(RIS_START.match, open_decoded_lines(data[:5000]))):
        found = _read_ris_papers(data)
    else:
        found = _read_bibtex_papers(data)
    return [one for one in found if one.paths]


def _read_bibtex_papers(data: bytes) -> Iterator[AttachedPaper]:
    for record in read_bibtex_records(open_decoded_lines(data)):
        paths = find_pdf_paths_in_field(record.fields.get("file", ""))
        fields = get_bibtex_fields(record.fields)
        yield AttachedPaper(
            replace(fields_to_paper(fields), ids=get_bibtex_ids(record.fields)), paths
        )


def find_pdf_paths_in_field(field: str) -> tuple[str, ...]:
    r"""Return the paths of PDF files in a BibTeX ``file`` field.

    >>> find_pdf_paths_in_field(r"Full Text:files/12/a\; b.pdf:application/pdf;x.html:text/html")
    ('files/12/a; b.pdf',)
    >>> find_pdf_paths_in_field(r":C$\backslash$:/Users/roe/b\_c.pdf:pdf;D\:\\d.pdf")
    ('/Users/roe/b_c.pdf', 'D:\\d.pdf')
    """
    plain = re.sub(r"\\([_&%#{}])|\{\\([_&%#])\}", r"\1\2", _BACKSLASH.sub(r"\\\\", field[:20_000]))
    parts = [
        part for one in _split_at_unescaped(plain, ";") for part in _split_at_unescaped(one, ":")
    ]
    paths = (_SIGNS.sub(r"\1", part).strip() for part in parts)
    return tuple(path for path in paths if path.lower().endswith(".pdf"))


def _split_at_unescaped(text: str, sign: str) -> list[str]:
    r"""Split at a sign without a backslash before it; ``\\`` is a literal backslash."""
    return re.findall(rf"(?:\\.|[^\\{sign}])+", text)


def _read_ris_papers(data: bytes) -> Iterator[AttachedPaper]:
    for fields in read_ris_records(open_decoded_lines(data)):
        paper = replace(fields_to_paper(get_ris_fields(fields)), ids=get_ris_ids(fields))
        links = [part for link in get_tag_values(fields, "L1") for part in link.split(";")]
        yield AttachedPaper(paper, tuple(link.strip() for link in links if _is_pdf_link(link)))


def _is_pdf_link(link: str) -> bool:
    return link.strip().lower().endswith(".pdf") and not link.lower().startswith(("http", "ftp"))


def _read_xml_papers(data: bytes, name: str) -> Iterator[AttachedPaper]:
    try:
        root = etree.parse(BytesIO(data), etree.XMLParser(**SAFE_OPTIONS)).getroot()
    except etree.XMLSyntaxError as error:
        msg = f"{name or 'The file'} is XML that cannot be read: {one_line(str(error))[:120]}."
        raise BadRequest(msg, "Export it again.") from None
    if root.tag == f"{_RDF}RDF":
        return _read_zotero_rdf_papers(root)
    return _read_endnote_papers(root)


def _read_endnote_papers(root: Any) -> Iterator[AttachedPaper]:
    for record in root.iter("record"):
        links = ["".join(url.itertext()) for url in record.iterfind("urls/pdf-urls/url")]
        paper = replace(fields_to_paper(get_endnote_fields(record)), ids=get_endnote_ids(record))
        yield AttachedPaper(paper, tuple(link.strip() for link in links if _is_pdf_link(link)))


def _read_zotero_rdf_papers(root: Any) -> Iterator[AttachedPaper]:
    paths: dict[str, str] = {}
    for attachment in root.iter(f"{_Z}Attachment"):
        target = attachment.find(f"{_RDF}resource")
        path = "" if target is None else unquote(target.get(f"{_RDF}resource", ""))
        paths[attachment.get(f"{_RDF}about", "")] = path
    for item in root:
        links = [link.get(f"{_RDF}resource", "") for link in item.iterfind(f"{_LINK}link")]
        found = (paths.get(link, "") for link in links)
        yield AttachedPaper(_rdf_item_to_paper(item), tuple(filter(_is_pdf_link, found)))


def _rdf_item_to_paper(item: Any) -> Paper:
    names = [one.text or "" for one in item.iter(f"{_DC}identifier")]
    dois = [name[4:].strip() for name in names if name[:4].upper() == "DOI "]
    people = item.iterfind(f"{_BIB}authors//{_FOAF}Person")
    fields = {
        "title": item.findtext(f"{_DC}title") or "",
        "year": item.findtext(f"{_DC}date") or "",
        "authors": [
            f"{one.findtext(f'{_FOAF}surname') or ''}, {one.findtext(f'{_FOAF}givenname') or ''}"
            for one in people
        ],
    }
    hints = [
        *(item.findtext(f"{_DC}description") or "").splitlines(),
        *_list_identifier_values(item),
    ]
    ids = collect_field_ids({"doi": dois[0] if dois else ""}, hints)
    return replace(fields_to_paper(fields), ids=ids)


def _list_identifier_values(item: Any) -> list[str]:
    return [value.text or "" for value in item.iterfind(f"{_DC}identifier//{_RDF}value")]


def match_papers_to_files(
    papers: Iterable[AttachedPaper], files: Sequence[Path]
) -> dict[Path, tuple[Paper, ...]]:
    """Return, by file, the papers to which reference files attach it."""
    ends: dict[tuple[str, ...], list[Path]] = {}
    for file in files:
        for end in _list_path_ends(file.parts):
            ends.setdefault(end, []).append(file)
    found: dict[Path, tuple[Paper, ...]] = {}
    for paper, paths in papers:
        for path in paths:
            if target := _find_unique_file(path, ends):
                found[target] = (*found.get(target, ()), paper)
    return found


def _find_unique_file(path: str, ends: Mapping[tuple[str, ...], Sequence[Path]]) -> Path | None:
    """Return the only file with the longest matching end of a path."""
    plain = _SCHEME.sub("", path)
    for spelled in (plain, unquote(plain), latex_to_text(plain)):
        parts = [part for part in re.split(r"[\\/:]", spelled) if part not in ("", ".", "..")]
        for end in _list_path_ends(parts):
            if end in ends:
                return ends[end][0] if len(ends[end]) == 1 else None
    return None


def _list_path_ends(parts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the ends of a path, longest first; letter case is ignored."""
    folded = [part.casefold() for part in parts]
    return [tuple(folded[-count:]) for count in range(min(_MAX_PARTS, len(folded)), 0, -1)]
