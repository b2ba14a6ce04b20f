"""Citations of papers, in every format, all made from one CSL item.

`citations` gives any of them for many papers. References for people (APA, MLA, Vancouver) are made
by `.styles`, those for reference managers here (RIS, BibTeX) and by `.nbib`.

RIS as its tags are used by Zotero, EndNote and rispy: PMID in ``AN`` beside ``DB  - PubMed``,
PMCID in ``C2``. BibTeX for any engine: UTF-8, LaTeX's own characters escaped except where a field
is taken literally (``doi``, ``url``, ``file``), capitals that must stay in braces.
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
from .items import citation_key, csl_item
from .latex import latex, literal, with_capitals
from .nbib import each_nbib, to_nbib
from .styles import STYLES as PRINTED
from .styles import styled

__all__ = [
    "FORMATS", "PRINTED", "STYLES", "citation_key", "citations", "cite", "csl_item", "each_bibtex",
    "each_nbib", "each_ris", "find_style", "in_version", "to_bibtex", "to_nbib", "to_ris",
]  # fmt: skip

_BY_NAME = {style.name: style for style in PRINTED.values()}
FORMATS = ("ris", "bibtex", "nbib", *_BY_NAME, "csl_json")
"""The names tools use."""
STYLES = {
    **{typed: style.name for typed, style in PRINTED.items()},
    "ris": "ris",
    "bibtex": "bibtex",
    "nbib": "nbib",
    "csl-json": "csl_json",
}
"""What people type, with its name in `FORMATS`."""
_ALIASES = {
    "apa7": "apa", "apa7th": "apa", "apa7thedition": "apa",
    "americanpsychologicalassociation": "apa", "mla9": "mla", "mla9th": "mla",
    "mla9thedition": "mla", "modernlanguageassociation": "mla", "nlm": "vancouver",
    "icmje": "vancouver", "bib": "bibtex", "biblatex": "bibtex", "medline": "nbib",
    "csl": "csl-json", "json": "csl-json",
}  # fmt: skip
Item = dict[str, Any]
_RIS_TYPES = {
    "article-journal": "JOUR", "article": "UNPB", "article-newspaper": "NEWS", "book": "BOOK",
    "chapter": "CHAP", "dataset": "DATA", "thesis": "THES",
}  # fmt: skip
_BIBTEX_TYPES = {
    "article-journal": "article", "article-newspaper": "article", "book": "book",
    "chapter": "incollection", "thesis": "phdthesis",
}  # fmt: skip
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ONE_RANGE = re.compile(r"[^\s,;-]+-[^\s,;-]+")
_AND = re.compile(r"\band\b", re.I)


def citations(papers: Sequence[Paper], formats: Sequence[str]) -> list[dict[str, Any]]:
    """Each paper's citation in each of the formats, in the order of both.

    Parameters
    ----------
    papers : sequence of Paper
        Any number; a style is read once, so ask for many papers at a time.
    formats : sequence of str
        Some of `FORMATS`, or styles that `find_style` knows.

    Returns
    -------
    list of dict
        One a paper: format to text, or to the CSL-JSON item for ``csl_json``. BibTeX keys, and the
        ids of the items, are unique within the list.

    Raises
    ------
    BadRequest
        A format is none of these.
    """
    names = dict.fromkeys(STYLES[find_style(one)] for one in formats)
    references = {name: list(_references(papers, name)) for name in names}
    return [{name: references[name][at] for name in references} for at in range(len(papers))]


def cite(papers: Sequence[Paper], style: str) -> list[str]:
    """Each paper's reference in one style (`find_style`), as text; a CSL-JSON item is one line.

    Raises
    ------
    BadRequest
        There is no such style.
    """
    references = _references(papers, STYLES[find_style(style)])
    return [
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in references
    ]


def in_version(paper: Paper, version: str) -> Paper:
    """An arXiv paper under the name of one of its versions, to be cited; no name to look it up by.

    >>> from ..model.identifiers import Ids
    >>> csl_item(in_version(Paper(Ids(arxiv="2601.00001")), "2"))["URL"]
    'https://arxiv.org/abs/2601.00001v2'
    """
    return replace(paper, ids=replace(paper.ids, arxiv=f"{paper.ids.arxiv}v{version}"))


def find_style(name: str) -> str:
    """Return the style of `STYLES` that is meant, whatever its capitals, or one of `FORMATS`.

    >>> find_style("Vancouver"), find_style("apa_string"), find_style("CSL JSON")
    ('vancouver', 'apa', 'csl-json')

    Raises
    ------
    BadRequest
        There is no such style.
    """
    folded = re.sub(r"[\W_]+", "", name).lower().removesuffix("style").removesuffix("string")
    known = {re.sub(r"\W", "", style): style for style in STYLES} | _ALIASES
    if folded not in known:
        msg = f"{one_line(name)[:40]!r} is not a citation style."
        raise BadRequest(msg, f"Styles: {', '.join(STYLES)}.")
    return known[folded]


def _references(papers: Sequence[Paper], name: str) -> Iterator[Any]:
    unfiled = ((paper, "") for paper in papers)
    if name == "ris":
        return each_ris(unfiled)
    if name == "bibtex":
        return each_bibtex(unfiled)
    if name == "nbib":
        return each_nbib(unfiled)
    if name == "csl_json":
        keys = _Keys()
        return (csl_item(paper, keys.of(paper)) for paper in papers)
    return styled(papers, _BY_NAME[name])


def to_ris(paper: Paper, file: str = "") -> str:
    """One RIS record, with its blank line; *file* is a link to the text (``L1``)."""
    item = csl_item(paper)
    lines = [("TY", _RIS_TYPES.get(item["type"], "GEN"))]
    lines += [("AU", _ris_name(name)) for name in item.get("author", ())]
    year, *rest = item["issued"]["date-parts"][0] if "issued" in item else [""]
    pages = item.get("page", "")
    first, _, last = pages.partition("-") if _ONE_RANGE.fullmatch(pages) else (pages, "", "")
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
        ("N1", f"Original title: {item['original-title']}" if "original-title" in item else ""),
        ("UR", item.get("URL", "")),
        ("UR", _arxiv_url(item) if "DOI" in item else ""),
        ("L1", one_line(file)),
    ]
    texts = (f"{tag}  - {value}" for tag, value in lines if value)
    return "\n".join([*texts, "ER  - ", "", ""])


def to_bibtex(paper: Paper, key: str = "", file: str = "", version: str = "") -> str:
    """One BibTeX entry, with its blank line.

    *file* is the path of the text, *version* the number of the arXiv version that is meant.
    """
    item = csl_item(paper, key, version)
    kind = _BIBTEX_TYPES.get(item["type"], "misc")
    category = paper.categories[0] if paper.ids.arxiv and paper.categories else ""
    fields = _bibtex_fields(item, kind, file, category)
    lines = [f"  {name} = {value}," for name, value in fields.items()]
    return "\n".join([f"@{kind}{{{item['id']},", *lines, "}", "", ""])


def each_ris(papers: Iterable[tuple[Paper, str]]) -> Iterator[str]:
    """The records of many papers (each with its file or ""), one by one: what a RIS file holds."""
    return (to_ris(paper, file) for paper, file in papers)


def each_bibtex(papers: Iterable[tuple[Paper, str]]) -> Iterator[str]:
    """The entries of many papers (each with its file or ""), under keys that no two share.

    The second paper with the same key gets its identifier appended: a growing list keeps its keys.
    """
    keys = _Keys()
    return (to_bibtex(paper, keys.of(paper), file) for paper, file in papers)


class _Keys:
    """Citation keys of one list."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def of(self, paper: Paper) -> str:
        """The next paper's key, which no other has."""
        key = plain_key = citation_key(paper)
        if key in self._taken:
            name = re.sub(r"[^a-z0-9]", "", paper.ids.pmid or paper.ids.key)
            key = f"{plain_key}_{name}" if name else plain_key
        while key in self._taken:
            self._taken[plain_key] += 1
            key = f"{plain_key}_{self._taken[plain_key]}"
        self._taken[key] = 1
        return key


def _bibtex_fields(item: Item, kind: str, file: str, category: str) -> dict[str, str]:
    """The fields of an entry, with their values as they are written."""
    container = "booktitle" if kind == "incollection" else "journal"
    if kind == "misc":
        container = "howpublished"
    issued = item["issued"]["date-parts"][0] if "issued" in item else []
    year, month, day = [*issued, 0, 0, 0][:3]
    escaped = {
        "author": " and ".join(map(_bibtex_name, item.get("author", ()))),
        "title": with_capitals(item.get("title", "")),
        "origtitle": with_capitals(item.get("original-title", "")),
        container: latex(item.get("container-title", "")),
        "shortjournal": latex(item.get("container-title-short", "")),
        "year": f"{year:04}" if year else "",
        "day": f"{day}" if day else "",
        "volume": latex(item.get("volume", "")),
        "number": latex(item.get("issue", "")),
        "pages": latex(item.get("page", "")).replace("-", "--"),
        "issn": latex(item.get("ISSN", "")),
        "doi": literal(item.get("DOI", "")),
        "pmid": literal(item.get("PMID", "")),
        "pmcid": literal(item.get("PMCID", "")),
        "eprint": literal(item.get("archive_location", "")),
        "archivePrefix": item.get("archive", ""),
        "primaryClass": literal(category),
        "url": literal(item.get("URL", "")),
        "language": latex(item.get("language", "")),
        "keywords": latex(item.get("keyword", "")),
        "abstract": latex(item.get("abstract", "")),
        "note": latex(item.get("note", "")),
        "file": literal(one_line(file)),
    }
    fields = {name: f"{{{value}}}" for name, value in escaped.items() if value}
    if 1 <= month <= 12:
        fields["month"] = _MONTHS[month - 1]  # a macro of every style, in its own language
    return fields


def _ris_name(name: dict[str, str]) -> str:
    """``van der Berg, Jan, Jr``: commas have a meaning here, so no part may hold one."""
    if "literal" in name:
        return name["literal"].replace(",", "")
    family = " ".join(filter(None, (name.get("non-dropping-particle"), name.get("family"))))
    parts = [family, _given_names(name), name.get("suffix", "")]
    return ", ".join(part.replace(",", "") for part in parts).rstrip(", ")


def _bibtex_name(name: dict[str, str]) -> str:
    """``van der Berg, Jr, Jan``; parts that BibTeX would split are in braces."""
    if "literal" in name:
        return f"{{{latex(name['literal'])}}}"
    parts = name.get("family", ""), _given_names(name), name.get("suffix", "")
    family, given, suffix = map(_braced, parts)
    if not given and " " in family and not family.startswith("{"):
        family = f"{{{family}}}"
    particle = _braced(name.get("non-dropping-particle", ""))
    full_family = " ".join(filter(None, (particle, family)))
    return ", ".join(filter(None, (full_family, suffix, given)))


def _given_names(name: dict[str, str]) -> str:
    return " ".join(filter(None, (name.get("given"), name.get("dropping-particle"))))


def _braced(part: str) -> str:
    return f"{{{latex(part)}}}" if "," in part or _AND.search(part) else latex(part)


def _arxiv_url(item: Item) -> str:
    return f"https://arxiv.org/abs/{item['archive_location']}" if "archive" in item else ""
