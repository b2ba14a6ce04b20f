"""Convert items of Zotero to papers, and papers to items.

An item is the ``data`` object of Zotero's web API, version 3; its local API and our reader of
``zotero.sqlite`` give the same form. Fields are those of zotero/zotero-schema. Identifiers are in
fields of their own, in lines of *Extra* (``PMID: 31452104``, as Zotero's importers write them), and
in the URL. All texts are untrusted: they are shortened, and markup is removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

from ..citations.items import strip_markup, to_csl_item
from ..lists.described import parsed_paper_to_entry
from ..lists.pasted import ListEntry, collect_field_ids
from ..model.identifiers import IdName
from ..model.paper import Author, Paper
from ..system.plain_text import one_line

Item = Mapping[str, Any]
"""The ``data`` object of an item, or of a collection."""

NOTE_HEADING = "<h1>Papershelf</h1>"
"""The beginning of a note with facts; the reader's own notes have none."""
CHILD_TYPES = frozenset({"attachment", "note", "annotation"})
"""Types of items that are not papers."""
_FIELD_MAX_CHARS = 2_000
_ABSTRACT_MAX_CHARS = 100_000
_MAX_CREATORS = 1_000
_EXTRA_LINE = re.compile(r"\s*(PMID|PMCID|DOI|arXiv)\s*:\s*(\S+)", re.I)
_CITATION_KEY = re.compile(r"^\s*Citation Key\s*:\s*(\S+)", re.I | re.M)
_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_YEAR = re.compile(r"\b[12]\d{3}\b")
_ID_NAMES: dict[str, IdName] = {"pmid": "pmid", "pmcid": "pmcid", "doi": "doi", "arxiv": "arxiv"}
_CONTAINERS = ("publicationTitle", "bookTitle", "proceedingsTitle", "repository", "university")
_KINDS = {"preprint": ("Preprint",), "thesis": ("Academic Dissertation",), "dataset": ("Dataset",)}


def item_to_paper(item: Item) -> Paper:
    """Return the paper that a Zotero item describes.

    >>> item_to_paper({"title": "On <i>moss</i>", "date": "May 2019", "extra": "PMID: 7"}).year
    '2019'
    """
    texts = {name: _get_field_text(item, name) for name in item}
    kind = texts.get("itemType", "")
    container = next(filter(None, (texts.get(name) for name in _CONTAINERS)), "")
    paper = Paper(
        collect_field_ids(_collect_item_ids(item), [texts.get("url", "")]),
        title=strip_markup(texts.get("title", "")),
        authors=tuple(_iterate_authors(item.get("creators"))),
        journal=container,
        journal_abbreviation=texts.get("journalAbbreviation", ""),
        volume=texts.get("volume", ""),
        issue=texts.get("issue", ""),
        pages=texts.get("pages", ""),
        issn=found[0] if (found := re.search(r"\d{4}-\d{3}[\dX]", texts.get("ISSN", ""))) else "",
        published=_extract_date(texts.get("date", "")),
        publication_types=_KINDS.get(kind, ()),
        abstract=strip_markup(str(item.get("abstractNote") or "")[:_ABSTRACT_MAX_CHARS]),
    )
    if paper.journal.casefold() == "arxiv" and not paper.publication_types:
        return replace(paper, publication_types=("Preprint",))
    return paper


def items_to_entries(items: Iterable[Item]) -> list[ListEntry]:
    """Return the papers among Zotero items as list entries."""
    return [_item_to_entry(item) for item in items if is_paper_item(item)]


def _item_to_entry(item: Item) -> ListEntry:
    paper = item_to_paper(item)
    entry = parsed_paper_to_entry(paper, f"Zotero item {_get_field_text(item, 'key')}")
    return entry._replace(record=paper, key=_get_citation_key(item))


def _get_citation_key(item: Item) -> str:
    """Return an item's citation key: Zotero's own field, or Better BibTeX's line in *Extra*."""
    extra = str(item.get("extra") or "")[:_ABSTRACT_MAX_CHARS]
    found = _CITATION_KEY.search(extra)
    return _get_field_text(item, "citationKey") or (found[1][:_FIELD_MAX_CHARS] if found else "")


def is_paper_item(item: Item) -> bool:
    """Return whether an item describes a paper and is not an attachment, a note or deleted."""
    return item.get("itemType") not in CHILD_TYPES and not item.get("deleted")


def _collect_item_ids(item: Item) -> dict[IdName, str]:
    """Return the identifiers in an item's own fields and in lines of *Extra*."""
    fields = {name.lower(): _get_field_text(item, name) for name in item}
    named = {kind: fields[name] for name, kind in _ID_NAMES.items() if fields.get(name)}
    archive = fields.get("archiveid", "")
    if archive.lower().startswith("arxiv:"):
        named.setdefault("arxiv", archive.partition(":")[2])
    for line in str(item.get("extra") or "")[:_ABSTRACT_MAX_CHARS].splitlines():
        if found := _EXTRA_LINE.match(line):
            named.setdefault(_ID_NAMES[found[1].lower()], found[2][:_FIELD_MAX_CHARS])
    return named


def _iterate_authors(creators: object) -> Iterable[Author]:
    """Yield the authors; editors count as authors if there are no others, as in citations."""
    rows = (
        [creator for creator in creators if isinstance(creator, dict)]
        if isinstance(creators, list)
        else []
    )
    authors = [row for row in rows if row.get("creatorType") in ("author", None)] or rows
    for author in authors[:_MAX_CREATORS]:
        family, given = _get_field_text(author, "lastName"), _get_field_text(author, "firstName")
        if family or given:
            yield Author(family or given, given if family else "")
        elif name := _get_field_text(author, "name"):
            yield Author(collective=name)


def _extract_date(text: str) -> str:
    """Return an ISO date unchanged, or else the first year in the text; empty without one."""
    if _DATE.fullmatch(text):
        return text
    year = _YEAR.search(text[:100])
    return year[0] if year else ""


def _get_field_text(item: Item, name: str) -> str:
    """Return a text field on one line, shortened; empty if it is not text."""
    value = item.get(name)
    return one_line(value[:_FIELD_MAX_CHARS]) if isinstance(value, str) else ""


_CSL_TYPES = {
    "article-journal": "journalArticle", "article": "preprint", "chapter": "bookSection",
    "article-newspaper": "newspaperArticle",
}  # fmt: skip
_FIELDS = {
    "publicationTitle": ("container-title", "journalArticle newspaperArticle"),
    "bookTitle": ("container-title", "bookSection"),
    "journalAbbreviation": ("container-title-short", "journalArticle"),
    "volume": ("volume", "journalArticle bookSection"),
    "issue": ("issue", "journalArticle"),
    "pages": ("page", "journalArticle bookSection newspaperArticle"),
    "ISSN": ("ISSN", "journalArticle newspaperArticle"),
    "DOI": ("DOI", "journalArticle preprint dataset"),
}
"""Fields of Zotero: the field in CSL, and the types of item that have it (zotero-schema)."""


def paper_to_item(paper: Paper) -> dict[str, Any]:
    """Return a new Zotero item for a paper; data without a field of their own go into *Extra*."""
    csl = to_csl_item(paper)
    kind = _CSL_TYPES.get(csl["type"], csl["type"])
    fields = {
        name: csl.get(source, "") for name, (source, types) in _FIELDS.items() if kind in types
    }
    if kind == "preprint":
        fields["repository"] = csl.get("archive") or csl.get("container-title", "")
    extra = {name: csl.get(name, "") for name in ("PMID", "PMCID")}
    extra["DOI"] = "" if "DOI" in fields else csl.get("DOI", "")
    if arxiv := csl.get("archive_location", ""):
        extra["arXiv"] = arxiv
    common = {
        "title": csl.get("title", ""),
        "abstractNote": csl.get("abstract", ""),
        "date": paper.published,
        "language": csl.get("language", ""),
        "url": csl.get("URL", ""),
        "extra": "\n".join(f"{name}: {value}" for name, value in extra.items() if value),
    }
    found = {name: value for name, value in (common | fields).items() if value}
    return {"itemType": kind, "creators": list(map(_to_zotero_creator, paper.authors)), **found}


def _to_zotero_creator(author: Author) -> dict[str, str]:
    if author.collective or not author.family:
        return {"creatorType": "author", "name": strip_markup(author.name)}
    given = author.given or " ".join(f"{letter}." for letter in author.initials)
    names = {"firstName": strip_markup(given), "lastName": strip_markup(author.family)}
    return {"creatorType": "author", **names}


def build_readers_note_html(text: str) -> str:
    r"""Return the reader's own note as Zotero's HTML, with a paragraph for each line.

    >>> build_readers_note_html("see <b>\n\nFig. 2")
    '<p>see &lt;b&gt;</p><p>Fig. 2</p>'
    """
    return "".join(f"<p>{escape(line.strip())}</p>" for line in text.splitlines() if line.strip())


def build_note_html(facts: Mapping[str, str]) -> str:
    """Return an HTML note that lists facts, with all values escaped.

    >>> build_note_html({"Text": "full & <b>whole</b>"})
    '<h1>Papershelf</h1><p>Text: full &amp; &lt;b&gt;whole&lt;/b&gt;</p>'
    """
    lines = (f"<p>{escape(name)}: {escape(one_line(text))}</p>" for name, text in facts.items())
    return NOTE_HEADING + "".join(lines)
