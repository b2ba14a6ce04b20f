"""Format citations of papers in every supported format, all from one CSL item per paper.

`format_citations` returns any of them for many papers. `.styles` makes references for people
(APA, MLA, Vancouver); this module and `.nbib` make those for reference managers (RIS, BibTeX).

RIS uses the tags as Zotero, EndNote and rispy do: PMID in ``AN`` with ``DB  - PubMed``,
PMCID in ``C2``. BibTeX suits any engine: UTF-8, LaTeX's special characters escaped unless a field
is taken literally (``doi``, ``url``, ``file``), and protected capitals in braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..errors import BadRequest
from ..model.paper import Paper
from ..system.plain_text import one_line
from .items import (
    build_citation_key,
    format_inverted_name,
    join_given_names_and_particle,
    to_csl_item,
)
from .keys import CitationKeyAssigner, parse_key_pattern
from .latex import escape_latex, escape_verbatim_field, protect_capitals
from .nbib import format_nbib_record, iterate_nbib_records
from .styles import STYLES as PRINTED
from .styles import iterate_styled_references

__all__ = [
    "FORMATS",
    "PRINTED",
    "STYLES",
    "add_version_to_arxiv_id",
    "build_citation_key",
    "format_bibtex_entry",
    "format_citations",
    "format_nbib_record",
    "format_references",
    "format_ris_record",
    "iterate_bibtex_entries",
    "iterate_nbib_records",
    "iterate_ris_records",
    "resolve_style_name",
    "to_csl_item",
]  # fmt: skip

_BY_NAME = {style.name: style for style in PRINTED.values()}
FORMATS = ("ris", "bibtex", "nbib", *_BY_NAME, "csl_json")
"""Names of the formats in tools."""
STYLES = {
    **{typed: style.name for typed, style in PRINTED.items()},
    "ris": "ris",
    "bibtex": "bibtex",
    "nbib": "nbib",
    "csl-json": "csl_json",
}
"""Spellings that people type, with their names in `FORMATS`."""
_ALIASES = {
    "apa7": "apa", "apa7th": "apa", "apa7thedition": "apa",
    "americanpsychologicalassociation": "apa", "mla9": "mla", "mla9th": "mla",
    "mla9thedition": "mla", "modernlanguageassociation": "mla", "nlm": "vancouver",
    "icmje": "vancouver", "bib": "bibtex", "biblatex": "bibtex", "medline": "nbib",
    "csl": "csl-json", "json": "csl-json",
}  # fmt: skip
CslItem = dict[str, Any]
_RIS_TYPES = {
    "article-journal": "JOUR", "article": "UNPB", "article-newspaper": "NEWS", "book": "BOOK",
    "chapter": "CHAP", "dataset": "DATA", "thesis": "THES",
}  # fmt: skip
_BIBTEX_TYPES = {
    "article-journal": "article", "article-newspaper": "article", "book": "book",
    "chapter": "incollection", "thesis": "phdthesis",
}  # fmt: skip
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PAGE_RANGE = re.compile(r"[^\s,;-]+-[^\s,;-]+")
_AND = re.compile(r"\band\b", re.I)


def format_citations(
    papers: Sequence[Paper], formats: Sequence[str], keys: str = ""
) -> list[dict[str, Any]]:
    """Return each paper's citation in each requested format, in the order of both lists.

    Parameters
    ----------
    papers : sequence of Paper
        Any number; a style is loaded once, so pass many papers at a time.
    formats : sequence of str
        Some of `FORMATS`, or styles that `resolve_style_name` knows.
    keys : str, optional
        The pattern of BibTeX keys (`.keys`).

    Returns
    -------
    list of dict
        One per paper: format to text (``csl_json``: to the CSL-JSON item). BibTeX keys, and the
        ids of the items, are unique within the list.

    Raises
    ------
    BadRequest
        A format is unknown.
    """
    names = dict.fromkeys(STYLES[resolve_style_name(style)] for style in formats)
    references = {name: list(_iterate_citations_in_format(papers, name, keys)) for name in names}
    return [{name: references[name][index] for name in references} for index in range(len(papers))]


def format_references(papers: Sequence[Paper], style: str, keys: str = "") -> list[str]:
    """Return each paper's reference in one style as text; a CSL-JSON item is on one line.

    *keys* is the pattern of BibTeX keys (`.keys`).

    Raises
    ------
    BadRequest
        The style or the pattern is unknown.
    """
    parse_key_pattern(keys)
    references = _iterate_citations_in_format(papers, STYLES[resolve_style_name(style)], keys)
    return [
        item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        for item in references
    ]


def add_version_to_arxiv_id(paper: Paper, version: str) -> Paper:
    """Return an arXiv paper with the version in its identifier: for citations, not for look-ups.

    >>> from ..model.identifiers import Ids
    >>> to_csl_item(add_version_to_arxiv_id(Paper(Ids(arxiv="2601.00001")), "2"))["URL"]
    'https://arxiv.org/abs/2601.00001v2'
    """
    return replace(paper, ids=replace(paper.ids, arxiv=f"{paper.ids.arxiv}v{version}"))


def resolve_style_name(name: str) -> str:
    """Return the name in `STYLES` for a spelling; case and punctuation are ignored.

    >>> [resolve_style_name(name) for name in ("Vancouver", "apa_string", "CSL JSON")]
    ['vancouver', 'apa', 'csl-json']

    Raises
    ------
    BadRequest
        The style is unknown.
    """
    folded = re.sub(r"[\W_]+", "", name).lower().removesuffix("style").removesuffix("string")
    known = {re.sub(r"\W", "", style): style for style in STYLES} | _ALIASES
    if folded not in known:
        msg = f"{one_line(name)[:40]!r} is not a citation style."
        raise BadRequest(msg, f"Use one of these styles: {', '.join(STYLES)}.")
    return known[folded]


def _iterate_citations_in_format(
    papers: Sequence[Paper], name: str, pattern: str = ""
) -> Iterator[Any]:
    unfiled = ((paper, "") for paper in papers)
    if name == "ris":
        return iterate_ris_records(unfiled)
    if name == "bibtex":
        return iterate_bibtex_entries(unfiled, pattern)
    if name == "nbib":
        return iterate_nbib_records(unfiled)
    if name == "csl_json":
        keys = CitationKeyAssigner(pattern)
        return (to_csl_item(paper, keys.assign_key(paper)) for paper in papers)
    return iterate_styled_references(papers, _BY_NAME[name])


def format_ris_record(paper: Paper, file: str = "", citekey: str = "") -> str:
    """Return one RIS record with its final blank line; *file* is a link to the text (``L1``)."""
    item = to_csl_item(paper)
    lines = [("TY", _RIS_TYPES.get(item["type"], "GEN")), ("ID", citekey)]
    lines += [("AU", format_inverted_name(name)) for name in item.get("author", ())]
    year, *rest = item["issued"]["date-parts"][0] if "issued" in item else [""]
    pages = item.get("page", "")
    first, _, last = pages.partition("-") if _PAGE_RANGE.fullmatch(pages) else (pages, "", "")
    lines += [
        ("PY", f"{year:04}" if year else ""),
        ("DA", "/".join([f"{year:04}", *(f"{part:02}" for part in rest)]) if rest else ""),
        ("TI", item.get("title", "")),
        ("T2", item.get("container-title", "")),
        ("J2", item.get("container-title-short", "")),
        ("VL", item.get("volume", "")),
        ("IS", item.get("issue", "")),
        ("SP", first),
        ("EP", last),
        ("SN", item.get("ISSN", "")),
        ("DO", item.get("DOI", "")),
        ("AN", item.get("PMID", "")),
        ("DB", "PubMed" if "PMID" in item else ""),
        ("C2", item.get("PMCID", "")),
        ("LA", item.get("language", "")),
        *(("KW", word) for word in item.get("keyword", "").split("; ")),
        ("AB", item.get("abstract", "")),
        ("N1", item.get("note", "")),
        ("N1", one_line(item.get("annote", ""))),
        ("N1", f"Original title: {item['original-title']}" if "original-title" in item else ""),
        ("UR", item.get("URL", "")),
        ("UR", _build_arxiv_url(item) if "DOI" in item else ""),
        ("L1", one_line(file)),
    ]
    texts = (f"{tag}  - {value}" for tag, value in lines if value)
    return "\n".join([*texts, "ER  - ", "", ""])


def format_bibtex_entry(paper: Paper, key: str = "", file: str = "", version: str = "") -> str:
    """Return one BibTeX entry with its final blank line.

    *file* is the path of the text, *version* the number of the arXiv version to cite.
    """
    item = to_csl_item(paper, key, version)
    kind = _BIBTEX_TYPES.get(item["type"], "misc")
    category = paper.categories[0] if paper.ids.arxiv and paper.categories else ""
    fields = _build_bibtex_fields(item, kind, file, category)
    lines = [f"  {name} = {value}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{item['id']},", *lines, "}", "", ""])


def iterate_ris_records(papers: Iterable[tuple[Paper, str]], pattern: str = "") -> Iterator[str]:
    """Yield the RIS records of papers, each given with its file or "".

    With a *pattern* of keys (`.keys`), each record has its citation key (``ID``).
    """
    keys = CitationKeyAssigner(pattern)
    return (
        format_ris_record(paper, file, keys.assign_key(paper) if pattern else "")
        for paper, file in papers
    )


def iterate_bibtex_entries(papers: Iterable[tuple[Paper, str]], pattern: str = "") -> Iterator[str]:
    """Yield the BibTeX entries of papers, each given with its file or "", under unique keys.

    The second paper with the same key gets its identifier appended: a growing list keeps its keys.
    With a *pattern* of keys (`.keys`), the letters a, b, … are appended.
    """
    keys = CitationKeyAssigner(pattern)
    return (format_bibtex_entry(paper, keys.assign_key(paper), file) for paper, file in papers)


def _build_bibtex_fields(item: CslItem, kind: str, file: str, category: str) -> dict[str, str]:
    """Return the fields of a BibTeX entry with their escaped values."""
    container = "booktitle" if kind == "incollection" else "journal"
    if kind == "misc":
        container = "howpublished"
    issued = item["issued"]["date-parts"][0] if "issued" in item else []
    year, month, day = [*issued, 0, 0, 0][:3]
    escaped = {
        "author": " and ".join(map(_to_bibtex_name, item.get("author", ()))),
        "title": protect_capitals(item.get("title", "")),
        "origtitle": protect_capitals(item.get("original-title", "")),
        container: escape_latex(item.get("container-title", "")),
        "shortjournal": escape_latex(item.get("container-title-short", "")),
        "year": f"{year:04}" if year else "",
        "day": f"{day}" if day else "",
        "volume": escape_latex(item.get("volume", "")),
        "number": escape_latex(item.get("issue", "")),
        "pages": escape_latex(item.get("page", "")).replace("-", "--"),
        "issn": escape_latex(item.get("ISSN", "")),
        "doi": escape_verbatim_field(item.get("DOI", "")),
        "pmid": escape_verbatim_field(item.get("PMID", "")),
        "pmcid": escape_verbatim_field(item.get("PMCID", "")),
        "eprint": escape_verbatim_field(item.get("archive_location", "")),
        "archivePrefix": item.get("archive", ""),
        "primaryClass": escape_verbatim_field(category),
        "url": escape_verbatim_field(item.get("URL", "")),
        "language": escape_latex(item.get("language", "")),
        "keywords": escape_latex(item.get("keyword", "")),
        "abstract": escape_latex(item.get("abstract", "")),
        "note": escape_latex(item.get("note", "")),
        "annote": escape_latex(one_line(item.get("annote", ""))),
        "file": escape_verbatim_field(one_line(file)),
    }
    fields = {name: f"{{{value}}}" for name, value in escaped.items() if value}
    if 1 <= month <= 12:
        fields["month"] = _MONTHS[month - 1]  # a macro that each style defines in its language
    return fields


def _to_bibtex_name(name: dict[str, str]) -> str:
    """Return ``van der Berg, Jr, Jan``; parts that BibTeX would split are put in braces."""
    if "literal" in name:
        return f"{{{escape_latex(name['literal'])}}}"
    parts = name.get("family", ""), join_given_names_and_particle(name), name.get("suffix", "")
    family, given, suffix = map(_escape_name_part, parts)
    if not given and " " in family and not family.startswith("{"):
        family = f"{{{family}}}"
    particle = _escape_name_part(name.get("non-dropping-particle", ""))
    full_family = " ".join(filter(None, (particle, family)))
    return ", ".join(filter(None, (full_family, suffix, given)))


def _escape_name_part(part: str) -> str:
    """Escape a name part, in braces if BibTeX would split it."""
    return f"{{{escape_latex(part)}}}" if "," in part or _AND.search(part) else escape_latex(part)


def _build_arxiv_url(item: CslItem) -> str:
    return f"https://arxiv.org/abs/{item['archive_location']}" if "archive" in item else ""
