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
from .items import invert_name, to_csl_item
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


def iterate_endnote(papers: Iterable[tuple[Paper, str]], pattern: str = "") -> Iterator[str]:
    """Yield an EndNote XML file in pieces; each paper comes with the path of its PDF, or "".

    A path begins with `PDF_FOLDER`. With a *pattern* of keys (`.keys`), each record has its
    citation key as its label.
    """
    keys = UniqueKeys(pattern)
    yield '<?xml version="1.0" encoding="UTF-8" ?>\n<xml><records>\n'
    for number, (paper, file) in enumerate(papers, 1):
        yield to_endnote(paper, number, file, keys.assign(paper) if pattern else "")
    yield "</records></xml>\n"


def to_endnote(paper: Paper, number: int, file: str = "", citekey: str = "") -> str:
    """Return the record of one paper, on one line."""
    item = to_csl_item(paper)
    kind, code = _KINDS.get(item["type"], _OTHER_KIND)
    year, *rest = item["issued"]["date-parts"][0] if "issued" in item else [""]
    day = "-".join(f"{part:02}" for part in (year, *rest)) if rest else ""
    journal, short = item.get("container-title", ""), item.get("container-title-short", "")
    words = item.get("keyword", "").split("; ")
    authors = [_wrap("author", _to_name(name)) for name in item.get("author", ())]
    titles = [_wrap("title", item.get("title", "")), _wrap("secondary-title", journal)]
    link = f"internal-pdf://{file.removeprefix(f'{PDF_FOLDER}/')}" if file else ""
    parts = (
        '<source-app name="Papershelf">Papershelf</source-app>',
        _wrap("rec-number", str(number)),
        f"<ref-type name={quoteattr(kind)}>{code}</ref-type>",
        _nest("contributors/authors", authors),
        _nest("titles", titles),
        _nest("periodical", [_wrap("full-title", journal), _wrap("abbr-1", short)]),
        _wrap("pages", item.get("page", "")),
        _wrap("volume", item.get("volume", "")),
        _wrap("number", item.get("issue", "")),
        _nest("keywords", [_wrap("keyword", word) for word in words]),
        _nest("dates", [
            _wrap("year", f"{year:04}" if year else ""),
            _nest("pub-dates", [_wrap("date", day)]),
        ]),
        _wrap("isbn", item.get("ISSN", "")),
        _wrap("accession-num", item.get("PMID", "")),
        _wrap("abstract", item.get("abstract", "")),
        _wrap("label", citekey),
        _wrap("notes", item.get("note", "")),
        _nest("urls", [
            _nest("related-urls", [_wrap("url", item.get("URL", ""))]),
            _nest("pdf-urls", [_wrap("url", link)]),
        ]),
        _wrap("custom2", item.get("PMCID", "")),
        _wrap("electronic-resource-num", item.get("DOI", "")),
        _wrap("remote-database-name", "PubMed" if "PMID" in item else ""),
        _wrap("language", item.get("language", "")),
    )  # fmt: skip
    return f"<record>{''.join(parts)}</record>\n"


def _wrap(tag: str, text: str) -> str:
    """Return an element with a text; nothing without a text."""
    line = _UNFIT.sub("", one_line(text))
    return f"<{tag}>{escape(line)}</{tag}>" if line else ""


def _nest(path: str, elements: Iterable[str]) -> str:
    """Return elements within others; nothing if all are empty."""
    inner = "".join(elements)
    for tag in reversed(path.split("/")):
        inner = f"<{tag}>{inner}</{tag}>" if inner else ""
    return inner


def _to_name(name: dict[str, str]) -> str:
    """Return ``van der Berg, Jan``; the name of a group ends with a comma, as EndNote asks."""
    return f"{invert_name(name)}," if "literal" in name else invert_name(name)
