"""Restore parts of a paper that its page loads later or shows only after a click.

Some pages contain such parts invisibly: Taylor & Francis stores tables as HTML in a script, and
many publishers list all references in the page's head for Google Scholar. These parts are moved to
their visible places. If the page only announces a table or reference list, a note states that the
part is missing, with its URL if the page links it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from bs4.element import NavigableString, Tag

from ...outline.sections import NO_REFERENCES_NOTE
from .article import REFERENCE_WORDS
from .claims import to_absolute_url
from .parts import HEADINGS, get_heading_name
from .tree import (
    find_named_elements,
    get_text_on_one_line,
    has_word_in_class_or_id,
    list_elements,
    remove_nodes,
)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_VIEWER_DATA = re.compile(r"\btfviewerdata\s*=\s*(?=\{)")
_MAX_SCRIPT_CHARS = 4_000_000  # characters of a script
_MAX_TABLES = 200
_SHOWS_TABLE = re.compile(
    r"(view|full|display|open|load|show|see|expand)( full| large)?[ -]*(size )?table( \d+)?", re.I
)
_TABLE = re.compile(r"\W*((supplementary|extended data) )?table\b\.?\s?[A-Z]?\d+", re.I)
_MAX_LEVELS_UP = 5  # elements from a link to the box of its table
_FEWEST, _MOST_REFERENCES = 3, 5000
_EMPTY_MAX_CHARS = 80  # under the heading of references: a note that they are loading
_FIELD = re.compile(r"(?:^|;)\s*citation_(\w+)\s*=\s*")


def insert_script_tables(soup: BeautifulSoup, tables_by_name: dict[str, object]) -> None:
    """Insert pop-up tables that a script stores, at the places where the page refers to them."""
    from bs4 import BeautifulSoup as Soup

    for box in [tag for tag in list_elements(soup) if tag.get("data-id")] if tables_by_name else []:
        content = tables_by_name.get(str(box["data-id"]))
        if not isinstance(content, str) or box.find_parent(["p", "li", "td"]) is not None:
            continue
        table = Soup(content, "lxml").find("table")
        if isinstance(table, Tag):
            box.replace_with(table.extract())
            del tables_by_name[str(box["data-id"])]


def find_script_tables(soup: BeautifulSoup) -> dict[str, object]:
    """Return the tables that scripts store as HTML, by the names that the page uses for them."""
    found: dict[str, object] = {}
    for script in soup.find_all("script"):
        source = script.get_text()
        start = _VIEWER_DATA.search(source) if len(source) <= _MAX_SCRIPT_CHARS else None
        if start is None:
            continue
        try:
            data, _ = json.JSONDecoder().raw_decode(source, start.end())
        except (ValueError, RecursionError):
            continue
        tables = data.get("tables")
        for table in tables[:_MAX_TABLES] if isinstance(tables, list) else []:
            if isinstance(table, dict):
                found[str(table.get("id"))] = table.get("content")
    return found


def mark_missing_tables(soup: BeautifulSoup, url: str) -> None:
    """Replace each link to a table that the page lacks by a note that the table is missing."""
    links = [
        link
        for link in find_named_elements(soup, ("a", "button"))
        if _SHOWS_TABLE.fullmatch(get_text_on_one_line(link))
    ]
    carried = (
        {_parse_table_label(table.get_text(" ")) for table in find_named_elements(soup, ("table",))}
        if links
        else set()
    )
    for link in links:
        box, label = _find_table_caption_box(link)
        if box is None or box.find("table") is not None or label in carried:
            continue
        note = Tag(name="p")
        target = to_absolute_url(url, str(link.get("href") or ""))
        where = f": {target}" if target and not str(link.get("href")).startswith("#") else ""
        note.append(NavigableString(f"[{label} is not part of this page{where}]"))
        link.replace_with(note)


def _find_table_caption_box(link: Tag) -> tuple[Tag | None, str]:
    """Return the smallest box around *link* that starts with a table caption, and the label."""
    for box, _ in zip(link.parents, range(_MAX_LEVELS_UP), strict=False):
        if label := _parse_table_label(box.get_text(" ")):
            return box, label
    return None, ""


def _parse_table_label(text: str) -> str:
    """Return the table label with which *text* starts; else empty."""
    found = _TABLE.match(" ".join(text[:200].split()))
    return found[0].strip() if found else ""


def insert_head_references(soup: BeautifulSoup) -> None:
    """List the references of the page's head if the page has none under their heading."""
    elements = list_elements(soup)
    headings = (tag for tag in elements if tag.name in HEADINGS)
    heading = next((tag for tag in headings if get_heading_name(tag) == "References"), None)
    if heading is None or any(
        has_word_in_class_or_id(box, REFERENCE_WORDS) and box.find("li") for box in elements
    ):
        return
    notes = _find_short_texts_below(heading)
    if notes is None:
        return
    stated = soup.find_all("meta", attrs={"name": "citation_reference"})[:_MOST_REFERENCES]
    entries = [
        entry
        for meta in stated
        if (entry := _format_head_reference(str(meta.get("content") or "")))
    ]
    remove_nodes(notes)
    heading.insert_after(
        _build_reference_list(entries)
        if len(entries) >= _FEWEST
        else _build_missing_references_note()
    )


def _find_short_texts_below(heading: Tag) -> list[NavigableString] | None:
    """Return the few words below *heading*; None if a list or longer text follows."""
    notes: list[NavigableString] = []
    size = 0
    for node in heading.next_elements:
        if (
            isinstance(node, Tag)
            and node.name in HEADINGS
            and get_heading_name(node) != "References"
        ):
            break
        if isinstance(node, Tag) and node.name == "li":
            return None
        if type(node) is NavigableString and heading not in node.parents:
            notes.append(node)
            size += len(node.strip())
        if size > _EMPTY_MAX_CHARS:
            return None
    return notes


def _build_reference_list(entries: list[str]) -> Tag:
    """Return an ordered list of *entries*."""
    listed = Tag(name="ol")
    for entry in entries:
        item = Tag(name="li")
        item.append(NavigableString(entry))
        listed.append(item)
    return listed


def _build_missing_references_note() -> Tag:
    """Return a note that the page does not contain the reference list."""
    note = Tag(name="p")
    note.append(NavigableString(NO_REFERENCES_NOTE))
    return note


def _format_head_reference(content: str) -> str:
    """Return a reference of the page's head in printed form.

    >>> fields = "citation_title=Bees; citation_author=Doe J; citation_publication_date=2019"
    >>> _format_head_reference(fields)
    'Doe J. Bees. 2019.'
    """
    pieces = _FIELD.split(content)
    if len(pieces) < 3:
        return " ".join(content.split())
    fields: dict[str, list[str]] = {}
    for name, value in zip(pieces[1::2], pieces[2::2], strict=False):
        fields.setdefault(name, []).append(" ".join(value.split()).strip(" ;"))

    def get_field(*names: str) -> str:
        return next((fields[name][0] for name in names if name in fields), "")

    pages = "–".join(filter(None, (get_field("firstpage", "pages"), get_field("lastpage"))))
    volume = ":".join(filter(None, (get_field("volume"), pages)))
    source = get_field("journal_title", "inbook_title", "conference_title", "publisher")
    doi = get_field("doi")
    parts = (
        ", ".join(fields.get("author", [])), get_field("title"), source,
        ";".join(filter(None, (get_field("publication_date", "year"), volume))),
        f"doi: {doi}" if doi else "",
    )  # fmt: skip
    return " ".join(f"{part.rstrip('.')}." for part in parts if part)
