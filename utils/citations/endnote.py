"""Write papers in EndNote's XML, which EndNote, Zotero and Covidence read with their PDF files.

The elements and their order are those of files that EndNote 20 wrote (the test data of
IEBH/dedupe-sweep), without the font of each text. A PDF that EndNote itself keeps is a link
``internal-pdf://FOLDER/NAME.pdf``, where FOLDER lies in ``PDF`` of the library's ``.Data`` folder;
Zotero reads the same link as ``PDF/FOLDER/NAME.pdf`` beside the XML (its translator *Endnote XML*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from ..model.paper import Paper
from ..system.plain_text import one_line
from .items import format_inverted_name, to_csl_item
from .keys import UniqueKeys

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
    keys = UniqueKeys(pattern)
    yield '<?xml version="1.0" encoding="UTF-8" ?>\n<xml><records>\n'
    for number, (paper, file) in enumerate(papers, 1):
        yield format_endnote_record(paper, number, file, keys.assign_key(paper) if pattern else "")
    yield "</records></xml>\n"


def format_endnote_record(paper: Paper, number: int, file: str = "", citekey: str = "") -> str:
    """Return the record of one paper, on one line."""
    item = to_csl_item(paper)
    kind, code = _KINDS.get(item["type"], _OTHER_KIND)
    year, *rest = item["issued"]["date-parts"][0] if "issued" in item else [""]
    day = "-".join(f"{part:02}" for part in (year, *rest)) if rest else ""
    journal, short = item.get("container-title", ""), item.get("container-title-short", "")
    words = item.get("keyword", "").split("; ")
    authors = [
        _wrap_in_tag("author", _format_endnote_name(name)) for name in item.get("author", ())
    ]
    titles = [
        _wrap_in_tag("title", item.get("title", "")),
        _wrap_in_tag("secondary-title", journal),
    ]
    link = f"internal-pdf://{file.removeprefix(f'{PDF_FOLDER}/')}" if file else ""
    parts = (
        '<source-app name="Papershelf">Papershelf</source-app>',
        _wrap_in_tag("rec-number", str(number)),
        f"<ref-type name={quoteattr(kind)}>{code}</ref-type>",
        _wrap_in_path("contributors/authors", authors),
        _wrap_in_path("titles", titles),
        _wrap_in_path(
            "periodical", [_wrap_in_tag("full-title", journal), _wrap_in_tag("abbr-1", short)]
        ),
        _wrap_in_tag("pages", item.get("page", "")),
        _wrap_in_tag("volume", item.get("volume", "")),
        _wrap_in_tag("number", item.get("issue", "")),
        _wrap_in_path("keywords", [_wrap_in_tag("keyword", word) for word in words]),
        _wrap_in_path("dates", [
            _wrap_in_tag("year", f"{year:04}" if year else ""),
            _wrap_in_path("pub-dates", [_wrap_in_tag("date", day)]),
        ]),
        _wrap_in_tag("isbn", item.get("ISSN", "")),
        _wrap_in_tag("accession-num", item.get("PMID", "")),
        _wrap_in_tag("abstract", item.get("abstract", "")),
        _wrap_in_tag("label", citekey),
        _wrap_in_tag("notes", item.get("note", "")),
        _wrap_in_tag("research-notes", item.get("annote", "")),
        _wrap_in_path("urls", [
            _wrap_in_path("related-urls", [_wrap_in_tag("url", item.get("URL", ""))]),
            _wrap_in_path("pdf-urls", [_wrap_in_tag("url", link)]),
        ]),
        _wrap_in_tag("custom2", item.get("PMCID", "")),
        _wrap_in_tag("electronic-resource-num", item.get("DOI", "")),
        _wrap_in_tag("remote-database-name", "PubMed" if "PMID" in item else ""),
        _wrap_in_tag("language", item.get("language", "")),
    )  # fmt: skip
    return f"<record>{''.join(parts)}</record>\n"


def _wrap_in_tag(tag: str, text: str) -> str:
    """Return a text as an element; "" for an empty text."""
    line = _UNFIT.sub("", one_line(text))
    return f"<{tag}>{escape(line)}</{tag}>" if line else ""


def _wrap_in_path(path: str, elements: Iterable[str]) -> str:
    """Return elements nested in the elements of a path; "" if all are empty."""
    inner = "".join(elements)
    for tag in reversed(path.split("/")):
        inner = f"<{tag}>{inner}</{tag}>" if inner else ""
    return inner


def _format_endnote_name(name: dict[str, str]) -> str:
    """Return ``van der Berg, Jan``; EndNote requires a comma after the name of a group."""
    return f"{format_inverted_name(name)}," if "literal" in name else format_inverted_name(name)
