"""Write papers in EndNote's XML, which EndNote, Zotero and Covidence read with their PDF files.

The elements and their order are those of files that EndNote 20 wrote (the test data of
IEBH/dedupe-sweep), without the font of each text. A PDF that EndNote itself keeps is a link
``internal-pdf://FOLDER/NAME.pdf``, where FOLDER lies in ``PDF`` of the library's ``.Data`` folder;
Zotero reads the same link as ``PDF/FOLDER/NAME.pdf`` beside the XML (its translator *Endnote XML*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..model.paper import Paper
from ..system.plain_text import one_line
from .items import format_inverted_name, to_csl_item
from .keys import CitationKeyAssigner

PDF_FOLDER = "PDF"
"""The folder of the PDF files, beside the XML and in EndNote's ``.Data`` folder."""
_KINDS = {
    "article-journal": ("Journal Article", 17), "article-newspaper": ("Newspaper Article", 23),
    "book": ("Book", 6), "chapter": ("Book Section", 5), "dataset": ("Dataset", 59),
    "thesis": ("Thesis", 32), "article": ("Unpublished Work", 34),
}  # fmt: skip
_OTHER_KIND = ("Generic", 13)
# Noncharacters: valid in Python's text, not in XML. Controls were removed before.
_UNFIT = re.compile("[\ufffe\uffff]")


def iterate_endnote_xml(papers: Iterable[tuple[Paper, str]], pattern: str = "") -> Iterator[str]:
    """Yield an EndNote XML file in pieces; each paper comes with the path of its PDF, or "".

    A path begins with `PDF_FOLDER`. With a *pattern* of keys (`.keys`), each record has its
    citation key as its label.
    """
    keys = CitationKeyAssigner(pattern)
    yield '<?xml version="1.0" encoding="UTF-8" ?>\n<xml><records>\n'
    for number, (paper, file) in enumerate(papers, 1):
        yield format_endnote_record(paper, number, file, keys.assign_key(paper) if pattern else "")
    yield "</records></xml>\n"


def format_endnote_record(paper: Paper, number: int, file: str = "", citekey: str = "") -> str:
    """Return the EndNote XML record of one paper, on one line."""
    item = to_csl_item(paper)
    kind, code = _KINDS.get(item["type"], _OTHER_KIND)
    words = item.get("keyword", "").split("; ")
    authors = [
        _format_element("author", _format_endnote_name(name)) for name in item.get("author", ())
    ]
    link = f"internal-pdf://{file.removeprefix(f'{PDF_FOLDER}/')}" if file else ""
    parts = (
        '<source-app name="Papershelf">Papershelf</source-app>',
        _format_element("rec-number", str(number)),
        f"<ref-type name={quoteattr(kind)}>{code}</ref-type>",
        _nest_elements("contributors/authors", authors),
        _format_titles(item),
        _format_element("pages", item.get("page", "")),
        _format_element("volume", item.get("volume", "")),
        _format_element("number", item.get("issue", "")),
        _nest_elements("keywords", [_format_element("keyword", word) for word in words]),
        _format_dates(item),
        _format_element("isbn", item.get("ISSN", "")),
        _format_element("accession-num", item.get("PMID", "")),
        _format_element("abstract", item.get("abstract", "")),
        _format_element("label", citekey),
        _format_element("notes", item.get("note", "")),
        _format_element("research-notes", item.get("annote", "")),
        _nest_elements("urls", [
            _nest_elements("related-urls", [_format_element("url", item.get("URL", ""))]),
            _nest_elements("pdf-urls", [_format_element("url", link)]),
        ]),
        _format_element("custom2", item.get("PMCID", "")),
        _format_element("electronic-resource-num", item.get("DOI", "")),
        _format_element("remote-database-name", "PubMed" if "PMID" in item else ""),
        _format_element("language", item.get("language", "")),
    )  # fmt: skip
    return f"<record>{''.join(parts)}</record>\n"


def _format_titles(item: Mapping[str, Any]) -> str:
    title, journal = item.get("title", ""), item.get("container-title", "")
    titles = (_format_element("title", title), _format_element("secondary-title", journal))
    short = _format_element("abbr-1", item.get("container-title-short", ""))
    periodical = (_format_element("full-title", journal), short)
    return _nest_elements("titles", titles) + _nest_elements("periodical", periodical)


def _format_dates(item: Mapping[str, Any]) -> str:
    year, *rest = item["issued"]["date-parts"][0] if "issued" in item else [""]
    day = "-".join(f"{part:02}" for part in (year, *rest)) if rest else ""
    dates = _nest_elements("pub-dates", [_format_element("date", day)])
    return _nest_elements("dates", [_format_element("year", f"{year:04}" if year else ""), dates])


def _format_element(tag: str, text: str) -> str:
    """Return an XML element that contains *text*; "" for an empty text."""
    line = _UNFIT.sub("", one_line(text))
    return f"<{tag}>{escape(line)}</{tag}>" if line else ""


def _nest_elements(path: str, elements: Iterable[str]) -> str:
    """Return elements nested in a path of tags such as ``urls/pdf-urls``; "" if all are empty."""
    inner = "".join(elements)
    for tag in reversed(path.split("/")):
        inner = f"<{tag}>{inner}</{tag}>" if inner else ""
    return inner


def _format_endnote_name(name: dict[str, str]) -> str:
    """Return ``van der Berg, Jan``; EndNote requires a comma after the name of a group."""
    return f"{format_inverted_name(name)}," if "literal" in name else format_inverted_name(name)
