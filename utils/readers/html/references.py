"""Convert reference lists to plain lists: no buttons, no boxes, no copies next to citations.

Buttons are recognised without a list of services: as link texts that recur at the end of many
entries, and the punctuation between them.

References are counted by list items. So a row of boxes, each with inner boxes for title, authors
and journal, becomes a list, and printed numbers become the numbers of the items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from bs4.element import NavigableString, PageElement, Tag

from ...outline.words import fold_words
from .article import NOISE_LINKS, REFERENCE_WORDS
from .parts import HEADINGS, get_heading_name
from .tree import (
    Weights,
    find_named_elements,
    has_word_in_class_or_id,
    iterate_texts,
    list_elements,
    measure_elements,
    remove_nodes,
)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_MIN_ENTRIES = 3  # entries that are a list, and that share a button's text
_BUTTON_MIN_RATIO = 0.1  # of the entries that must have a button's text for it to be one
_BUTTON_WORDS, _KEY_WORDS, _KEY_TEXTS = 6, 8, 60
_ENTRY_MAX_MEAN_CHARS = 1500  # a list with longer entries is not a reference list
_COPY_CHARS_RANGE = (40, 3000)  # of an entry repeated beside its citation
_NUMBERED_LIST_WORDS = frozenset(
    ("numeric", "numbered", "decimal")
)  # of a list that its style counts
_REPEATED_LIST_RATIO = 0.8  # of a list's entries that stand in another list
_COPY_ELEMENTS = ("span", "div", "aside", "small")
_MIN_UNHEADED_ENTRIES = 8  # entries that a list without a name or heading must have
_COPY_OF_TEXT = re.compile(r"[\w ]{1,30} full text( pdf)?\W*", re.I)  # a link's text
_URL_OR_DOI = re.compile(r"\b10\.\d{4,9}/|https?://[^\s/]+/\S{3}")
_SIGNS = re.compile(r"[\s,;|·•\[\]()/:\u2013\u2014-]*")
_JOINING_ENDS = (" ", "(", "[", "\xa0", "\u2013", "-", "/", "\u201c")  # at the end of a text
_TRAILING_SIGNS = " \t\r\n\xa0,;|·•[("
_LEADING_NUMBER = re.compile(r"\s*\[?(\d{1,4})[\].)]+\s+(?=\S)")
_YEAR = re.compile(r"\b(1[5-9]|20)\d\d[a-z]?\b")  # a year
_ABBREVIATED = re.compile(r"\b[A-Z]\.|\b[A-Z]{1,3}\b|\bet al\b|(?<!\d)\d{1,6}\s?[:(,]\s?[a-z]?\d")
_ENTRIES_MIN_RATIO = 0.8  # of a reference list's characters are in its entries
BLOCK_ELEMENTS = [
    "div",
    "p",
    "section",
    "article",
    "cite",
    "ul",
    "ol",
    "li",
    "h3",
    "h4",
    "h5",
    "h6",
]
_BOX_ELEMENTS = ("div", "section", "ol", "ul")
_ONLY_NUMBER = re.compile(r"\s*\[?(\d{1,4})[\].)]*\s*")


def simplify_reference_lists(soup: BeautifulSoup) -> None:
    """Reduce all reference lists of *soup* to their entries, and add missing headings."""
    elements, weights = measure_elements(soup)
    _convert_boxes_to_lists(elements, weights)
    _convert_boxes_below_heading(elements, weights)
    elements = list_elements(soup)
    lists = _drop_repeated_lists(list(_iterate_reference_lists(elements)))
    for listed in lists:
        items = listed.find_all("li", recursive=False)
        for item in items:
            _put_entry_on_one_line(item)
        _drop_entry_buttons(items)
        _drop_entry_numbers(listed, items)
        if has_word_in_class_or_id(listed, _NUMBERED_LIST_WORDS):
            listed.name = "ol"
    headings = find_named_elements(soup, HEADINGS) if lists else []
    if lists and not any(get_heading_name(tag) == "References" for tag in headings):
        _insert_references_heading(max(lists, key=lambda listed: weights[id(listed)]), headings)
    remove_nodes(_iterate_entry_copies(elements, lists, weights))


def _convert_boxes_below_heading(elements: list[Tag], weights: Weights) -> None:
    """Convert a row of boxes under the references' heading to a list."""
    for heading in [tag for tag in elements if tag.name in HEADINGS]:
        if get_heading_name(heading) != "References":
            continue
        place = heading
        while place.parent is not None and not any(_iterate_boxes_after(place)):
            if place.name in ("article", "main", "body") or place.find_previous_sibling(True):
                break
            place = place.parent
        row = list(_iterate_boxes_after(place))
        if any(tag.name == "li" for tag in row):  # the heading is inside the list
            continue
        if len(row) == 1 and row[0].find("li") is None:
            convert_boxes_to_list(row[0], weights)
        elif len(row) >= _MIN_ENTRIES and all(tag.find("li") is None for tag in row):
            listed = Tag(name="div")
            row[0].insert_before(listed)
            for tag in row:
                listed.append(tag.extract())
            weights[id(listed)] = sum(weights[id(tag)] for tag in row)
            convert_boxes_to_list(listed, weights)


def _iterate_boxes_after(heading: Tag) -> Iterator[Tag]:
    """Yield the boxes after a heading, up to the next heading."""
    for tag in heading.find_next_siblings(True):
        if tag.name in HEADINGS or tag.find(HEADINGS) is not None:
            return
        yield tag


def _iterate_reference_lists(elements: list[Tag]) -> Iterator[Tag]:
    """Yield the reference lists, recognised by name, heading or the form of their entries."""
    within: set[int] = set()
    seen: set[int] = set()
    plain: list[Tag] = []
    found = False
    headed = False  # by the references' heading
    for tag in elements:
        if tag.name in HEADINGS:
            headed = get_heading_name(tag) == "References"
        if id(tag.parent) in within or has_word_in_class_or_id(tag, REFERENCE_WORDS):
            within.add(id(tag))
        if id(tag.parent) in seen:
            seen.add(id(tag))
        elif tag.name in ("ol", "ul"):
            if headed or id(tag) in within:
                seen.add(id(tag))
                if _is_plausible_reference_list(tag, _MIN_ENTRIES):
                    found = True
                    yield tag
            elif not found:
                plain.append(tag)
    if not found:
        candidates = [
            tag
            for tag in plain
            if _is_plausible_reference_list(tag, _MIN_UNHEADED_ENTRIES)
            and _has_reference_entries(tag)
        ]
        yield from candidates[-1:]


def _drop_repeated_lists(lists: list[Tag]) -> list[Tag]:
    """Remove lists whose entries are in another list, with the headings above them."""
    keys = [
        {key for item in listed.find_all("li", recursive=False) if (key := _to_entry_key(item))}
        for listed in lists
    ]
    kept: list[Tag] = []
    for at, listed in enumerate(lists):
        others = [
            other
            for number, other in enumerate(keys)
            if number != at
            and (len(other) > len(keys[at]) or (number < at and len(other) >= len(keys[at])))
        ]
        if any(len(keys[at] & other) > _REPEATED_LIST_RATIO * len(keys[at]) for other in others):
            _remove_list_with_heading(listed)
        else:
            kept.append(listed)
    return kept


def _remove_list_with_heading(listed: Tag) -> None:
    """Remove a list and the references' heading above it."""
    box = listed
    while box.parent is not None and box.find_previous_sibling(True) is None:
        box = box.parent
    heading = box.find_previous_sibling(True)
    if (
        heading is not None
        and heading.name in HEADINGS
        and get_heading_name(heading) == "References"
    ):
        remove_nodes([heading])
    remove_nodes([listed])


def _is_plausible_reference_list(listed: Tag, fewest: int) -> bool:
    """Return whether a list has enough entries, none of them too long."""
    items = listed.find_all("li", recursive=False)
    size = len(listed.get_text())
    return len(items) >= fewest and size <= _ENTRY_MAX_MEAN_CHARS * len(items)


def _has_reference_entries(listed: Tag) -> bool:
    """Return whether most entries of a list have a year and abbreviations."""
    texts = [item.get_text(" ") for item in listed.find_all("li", recursive=False)]
    signs = [bool(_YEAR.search(text) and _ABBREVIATED.search(text)) for text in texts]
    return 4 * sum(signs) >= 3 * len(signs)


def _put_entry_on_one_line(item: Tag) -> None:
    """Put an entry on one line, without boxes for names and titles."""
    if item.find(["table", "figure"]) is None:
        _convert_boxes_to_inline(find_named_elements(item, BLOCK_ELEMENTS))


def _convert_boxes_to_inline(boxes: list[Tag]) -> None:
    """Convert *boxes* to inline elements, separated from the words before them."""
    for box in boxes:
        texts = (node for node in box.previous_elements if isinstance(node, NavigableString))
        before = next(filter(str.strip, texts), "")
        box.name = "span"
        if not before.endswith(_JOINING_ENDS):
            box.insert(0, " ")


def _drop_entry_buttons(items: list[Tag]) -> None:
    """Remove link texts that recur in many entries, and the punctuation between them."""
    shared = Counter(
        name
        for item in items
        for name in {_get_button_text(link) for link in find_named_elements(item, ("a",))}
        if name
    )
    least = max(_MIN_ENTRIES, _BUTTON_MIN_RATIO * len(items))
    buttons = {name for name, count in shared.items() if count >= least}
    doomed: list[PageElement] = []
    for item in items:
        doomed += _find_button_texts(item, buttons)
        doomed += [
            link
            for link in find_named_elements(item, ("a",))
            if str(link.get("href")) == "#" and _get_button_text(link) in buttons
        ]
    remove_nodes(doomed)


def _get_button_text(link: Tag) -> str:
    """Return the words of *link* without numbers; empty for a URL or a long text."""
    shown = link.get_text(" ")
    if _URL_OR_DOI.search(shown):
        return ""
    words = [word for word in fold_words(shown) if not word.isdecimal()]
    return " ".join(words) if len(words) <= _BUTTON_WORDS else ""


def _find_button_texts(item: Tag, buttons: set[str]) -> list[NavigableString]:
    """Return the texts at the end of *item* that are buttons or punctuation between them."""
    doomed: list[NavigableString] = []
    for text in reversed(item.find_all(string=True)):
        link = next((tag for tag in text.parents if tag.name in ("a", "li")), None)
        anchor = link if link is not None and link.name == "a" else None
        is_button = anchor is not None and bool(
            _get_button_text(anchor) in buttons or _COPY_OF_TEXT.fullmatch(" ".join(text.split()))
        )
        if is_button or _SIGNS.fullmatch(text) or NOISE_LINKS.fullmatch(" ".join(text.split())):
            doomed.append(text)
        else:
            if doomed and (kept := text.rstrip(_TRAILING_SIGNS)) != text:
                text.replace_with(NavigableString(kept))
            return doomed
    return []


def _drop_entry_numbers(listed: Tag, items: list[Tag]) -> None:
    """Remove the numbers at the start of entries if they are the entries' positions."""
    firsts: list[tuple[NavigableString, str]] = []
    for place, item in enumerate(items, 1):
        text = next((node for node in item.find_all(string=True) if node.strip()), None)
        number = _LEADING_NUMBER.match(text) if text is not None else None
        if text is None or number is None or int(number[1]) != place:
            return
        firsts.append((text, text[number.end() :]))
    for text, rest in firsts:
        text.replace_with(NavigableString(rest))
    listed.name = "ol"


def _insert_references_heading(listed: Tag, headings: list[Tag]) -> None:
    """Insert the heading "References" above a list."""
    levels = [int(tag.name[1]) for tag in headings if tag.name != "h1"]
    heading = Tag(name=f"h{min(levels, default=2)}")
    heading.string = "References"
    listed.insert_before(heading)


def _iterate_entry_copies(elements: list[Tag], lists: list[Tag], weights: Weights) -> Iterator[Tag]:
    """Yield boxes next to citations that repeat a whole entry."""
    keys = {
        key for listed in lists for item in listed.find_all("li") if (key := _to_entry_key(item))
    }
    own = {id(tag) for listed in lists for tag in (*list_elements(listed), *listed.parents)}
    taken: set[int] = set()
    least, most = _COPY_CHARS_RANGE
    for tag in [tag for tag in elements if tag.name in _COPY_ELEMENTS] if keys else []:
        if id(tag.parent) in taken:
            taken.add(id(tag))
        elif id(tag) not in own and least <= weights[id(tag)] <= most:
            key = _to_entry_key(tag)
            if key in keys and not _is_citation_number_first(tag, key):
                taken.add(id(tag))
                yield tag


def _is_citation_number_first(box: Tag, key: str) -> bool:
    """Return whether *box* has the citation's number before the copied entry."""
    first = next((text for text in box.find_all(string=True) if text.strip()), box)
    for node in (first, *first.parents):
        if node is box:
            return False
        if any(_to_entry_key(other) == key for other in node.find_next_siblings(_COPY_ELEMENTS)):
            return True
    return False


def _to_entry_key(tag: Tag) -> str:
    """Return the first words of an entry without its number, for comparison."""
    words = fold_words(" ".join(islice(iterate_texts(tag), _KEY_TEXTS))[:400])
    while words and words[0].isdecimal():
        words = words[1:]
    return " ".join(words[:_KEY_WORDS]) if len(words) >= _KEY_WORDS else ""


def _convert_boxes_to_lists(elements: list[Tag], weights: Weights) -> None:
    """Convert the boxes of reference lists to list items, without their printed numbers."""
    within: set[int] = set()
    for box in [tag for tag in elements if tag.name in _BOX_ELEMENTS]:
        if id(box.parent) in within:
            within.add(id(box))
        elif has_word_in_class_or_id(box, REFERENCE_WORDS):
            within.add(id(box))
            if box.find("li") is None:
                convert_boxes_to_list(box, weights)
    for listed in [tag for tag in elements if tag.name in ("ol", "ul")]:
        _drop_printed_numbers(listed)


def convert_boxes_to_list(box: Tag, weights: Weights) -> None:
    """Convert similar boxes in a row to a list if they hold nearly all of *box*."""
    for parent in [box, *box.find_all(["div", "section"])]:
        children = parent.find_all(True, recursive=False)
        kind, count = (
            Counter(map(_get_name_and_class, children)).most_common(1)[0] if children else ("", 0)
        )
        entries = [child for child in children if _get_name_and_class(child) == kind]
        size = sum(weights[id(entry)] for entry in entries)
        if count >= _MIN_ENTRIES and size >= _ENTRIES_MIN_RATIO * weights[id(box)]:
            parent.name = "ul"
            for entry in entries:
                entry.name = "li"
                _convert_boxes_to_inline(entry.find_all([*BLOCK_ELEMENTS, "td", "th"]))
            return


def _get_name_and_class(tag: Tag) -> str:
    """Return an entry's element name and first class, which all entries of a list share."""
    return " ".join([tag.name, *map(str, tag.get("class") or [])][:2])


def _drop_printed_numbers(listed: Tag) -> None:
    """Remove printed numbers if every item begins with its position in the list."""
    items = listed.find_all("li", recursive=False)
    printed = [_find_printed_number(item, place) for place, item in enumerate(items, 1)]
    numbers = [number for number in printed if number is not None]
    if len(items) >= _MIN_ENTRIES and len(numbers) == len(items):
        listed.name = "ol"
        remove_nodes(numbers)


def _find_printed_number(item: Tag, place: int) -> NavigableString | None:
    """Return the text that consists of the item's position, if the item begins with it."""
    first = next((text for text in item.find_all(string=True) if text.strip()), None)
    number = _ONLY_NUMBER.fullmatch(first) if first is not None else None
    return first if number is not None and int(number[1]) == place else None
