"""Convert items of Zotero to papers, as all three doors to a library give them.

An item is the ``data`` object of Zotero's web API, version 3; its local API and our reader of
``zotero.sqlite`` give the same form. Fields are those of zotero/zotero-schema. Identifiers are in
fields of their own, in lines of *Extra* (``PMID: 31452104``, as Zotero's importers write them), and
in the URL. All texts come from strangers: they are cut, and cleaned of markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..citations.items import strip_markup
from ..lists.described import paper_to_entry
from ..lists.pasted import Entry, collect_ids
from ..model.identifiers import IdName
from ..model.paper import Author, Paper
from ..system.plain_text import one_line

Item = Mapping[str, Any]
"""The ``data`` object of an item, or of a collection."""

CHILD_TYPES = frozenset({"attachment", "note", "annotation"})
"""Types of items that are not papers."""
_FIELD_MAX_CHARS = 2_000
_ABSTRACT_MAX_CHARS = 100_000
_MAX_CREATORS = 1_000
_EXTRA_LINE = re.compile(r"\s*(PMID|PMCID|DOI|arXiv)\s*:\s*(\S+)", re.I)
_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_YEAR = re.compile(r"\b[12]\d{3}\b")
_ID_NAMES: dict[str, IdName] = {"pmid": "pmid", "pmcid": "pmcid", "doi": "doi", "arxiv": "arxiv"}
_CONTAINERS = ("publicationTitle", "bookTitle", "proceedingsTitle", "repository", "university")
_KINDS = {"preprint": ("Preprint",), "thesis": ("Academic Dissertation",), "dataset": ("Dataset",)}


def item_to_paper(item: Item) -> Paper:
    """Return the paper that an item describes.

    >>> item_to_paper({"title": "On <i>moss</i>", "date": "May 2019", "extra": "PMID: 7"}).year
    '2019'
    """
    texts = {name: _get_text(item, name) for name in item}
    kind = texts.get("itemType", "")
    container = next(filter(None, (texts.get(name) for name in _CONTAINERS)), "")
    paper = Paper(
        collect_ids(_read_ids(item), [texts.get("url", "")]),
        title=strip_markup(texts.get("title", "")),
        authors=tuple(_read_authors(item.get("creators"))),
        journal=container,
        journal_abbreviation=texts.get("journalAbbreviation", ""),
        volume=texts.get("volume", ""),
        issue=texts.get("issue", ""),
        pages=texts.get("pages", ""),
        issn=found[0] if (found := re.search(r"\d{4}-\d{3}[\dX]", texts.get("ISSN", ""))) else "",
        published=_read_date(texts.get("date", "")),
        publication_types=_KINDS.get(kind, ()),
        abstract=strip_markup(str(item.get("abstractNote") or "")[:_ABSTRACT_MAX_CHARS]),
    )
    if paper.journal.casefold() == "arxiv" and not paper.publication_types:
        return replace(paper, publication_types=("Preprint",))
    return paper


def items_to_entries(items: Iterable[Item]) -> list[Entry]:
    """Return the papers among items, as every list of papers gives them."""
    return [
        paper_to_entry(item_to_paper(item), f"Zotero item {_get_text(item, 'key')}")
        for item in items
        if is_paper(item)
    ]


def is_paper(item: Item) -> bool:
    """Return whether an item describes a paper: no attachment, note or deleted item."""
    return item.get("itemType") not in CHILD_TYPES and not item.get("deleted")


def _read_ids(item: Item) -> dict[IdName, str]:
    """Return the identifiers in fields of their own and in lines of *Extra*."""
    fields = {name.lower(): _get_text(item, name) for name in item}
    named = {kind: fields[name] for name, kind in _ID_NAMES.items() if fields.get(name)}
    archive = fields.get("archiveid", "")
    if archive.lower().startswith("arxiv:"):
        named.setdefault("arxiv", archive.partition(":")[2])
    for line in str(item.get("extra") or "")[:_ABSTRACT_MAX_CHARS].splitlines():
        if found := _EXTRA_LINE.match(line):
            named.setdefault(_ID_NAMES[found[1].lower()], found[2][:_FIELD_MAX_CHARS])
    return named


def _read_authors(creators: object) -> Iterable[Author]:
    """Yield the authors; a paper of editors only has these as its authors, as in citations."""
    rows = [one for one in creators if isinstance(one, dict)] if isinstance(creators, list) else []
    authors = [one for one in rows if one.get("creatorType") in ("author", None)] or rows
    for one in authors[:_MAX_CREATORS]:
        family, given = _get_text(one, "lastName"), _get_text(one, "firstName")
        if family or given:
            yield Author(family or given, given if family else "")
        elif name := _get_text(one, "name"):
            yield Author(collective=name)


def _read_date(text: str) -> str:
    if _DATE.fullmatch(text):
        return text
    year = _YEAR.search(text[:100])
    return year[0] if year else ""


def _get_text(item: Item, name: str) -> str:
    value = item.get(name)
    return one_line(value[:_FIELD_MAX_CHARS]) if isinstance(value, str) else ""
