"""Lists as lists: references in boxes become items, printed numbers the items' own.

A reference list is counted by its items, so that one a publisher sets as a row of boxes, each with
three more for title, authors and journal, must not count as so many paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from bs4.element import NavigableString, Tag

from .article import REFERENCES, named
from .tree import Weights, remove, weigh

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_FEWEST = 3  # boxes in a row that are a list
_MOST_OF = 0.8  # of a reference list's characters are in its entries
BLOCKS = ["div", "p", "section", "article", "cite", "ul", "ol", "li", "h3", "h4", "h5", "h6"]
_NUMBER = re.compile(r"\s*\[?(\d{1,4})[\].)]*\s*")


def make_lists(soup: BeautifulSoup) -> None:
    """Make the boxes of each reference list items, and drop numbers that the list counts itself."""
    weights = weigh(soup)
    within: set[int] = set()
    for box in soup.find_all(["div", "section", "ol", "ul"]):
        if id(box.parent) in within:
            within.add(id(box))
        elif named(box, REFERENCES):
            within.add(id(box))
            if box.find("li") is None:
                itemize(box, weights)
    for listed in soup.find_all(["ol", "ul"]):
        _drop_numbers(listed)


def itemize(box: Tag, weights: Weights) -> None:
    """Make a row of like boxes that holds nearly all of *box* a list."""
    for parent in [box, *box.find_all(["div", "section"])]:
        children = parent.find_all(True, recursive=False)
        kind, count = Counter(map(_kind, children)).most_common(1)[0] if children else ("", 0)
        entries = [child for child in children if _kind(child) == kind]
        held = sum(weights[id(entry)] for entry in entries)
        if count >= _FEWEST and held >= _MOST_OF * weights[id(box)]:
            parent.name = "ul"
            for entry in entries:
                entry.name = "li"
                for block in entry.find_all(BLOCKS):
                    block.name = "span"
                    block.insert(0, " ")
            return


def _kind(tag: Tag) -> str:
    """What entries of one list have in common: the element's name and first class."""
    return " ".join([tag.name, *map(str, tag.get("class") or [])][:2])


def _drop_numbers(listed: Tag) -> None:
    """Let a list count by itself when every item begins with its place in it."""
    items = listed.find_all("li", recursive=False)
    printed = [_printed_number(item, place) for place, item in enumerate(items, 1)]
    numbers = [number for number in printed if number is not None]
    if len(items) >= _FEWEST and len(numbers) == len(items):
        listed.name = "ol"
        remove(numbers)


def _printed_number(item: Tag, place: int) -> NavigableString | None:
    """The text that is nothing but the item's place, if the item begins with it."""
    first = next((text for text in item.find_all(string=True) if text.strip()), None)
    number = _NUMBER.fullmatch(first) if first is not None else None
    return first if number is not None and int(number[1]) == place else None
