"""The pictures of a page's figures, by the labels in their captions.

A picture belongs to the smallest element around it that begins with, or holds, a caption with a
label ("Fig. 2."): so publishers' own boxes, HTML's ``figure`` and LaTeXML's pages are read alike.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from bs4.element import Tag

from ...model.paper import Fetched
from ...outline import caption_label
from .claims import absolute
from .tree import ShallowSoup, tags

_IMAGES: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|tiff?)(?:[?#]|\Z)", re.I)
_MOST: Final = 500  # pictures of a page
_UP: Final = 6  # elements from a picture to its figure
_FIRST_WORDS: Final = 12  # pieces of text in which a caption begins
_LONGEST: Final = 2000  # characters of an address


def pictures_of(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    """By label as `..outline.floats_of` spells it ("Figure 2"), the addresses of its pictures."""
    from . import decode

    soup = ShallowSoup(decode(fetched), "lxml")
    base = _base(soup, fetched.url)
    found: dict[str, dict[str, None]] = {}
    labels: dict[int, str] = {}
    for image in tags(soup, {"img"})[:_MOST]:
        if (label := _label_around(image, labels)) and (url := _address(image, base)):
            found.setdefault(label, {})[url] = None
    return {label: tuple(urls) for label, urls in found.items()}


def _base(soup: Tag, url: str) -> str:
    """What relative addresses are relative to."""
    for tag in tags(soup, {"base"})[:1]:
        return absolute(url, str(tag.get("href") or "")) or url
    return url


def _label_around(image: Tag, known: dict[int, str]) -> str:
    for element in islice(image.parents, _UP):
        if element.name in {"body", "article", "main", "html", "p", "td", "section"}:
            return ""
        if id(element) not in known:
            known[id(element)] = _label_of(element)
        if label := known[id(element)]:
            return label
    return ""


def _label_of(element: Tag) -> str:
    """The label of the first caption in an element's first words."""
    words = list(islice((text for text in element.stripped_strings), _FIRST_WORDS))
    for at in range(len(words)):
        if label := caption_label("\n".join(words[at : at + 3])):
            return label
    return ""


def _address(image: Tag, base: str) -> str:
    """The picture in full size where a link leads to it, else as it is shown."""
    around = [parent for parent in islice(image.parents, 2) if parent.name == "a"]
    linked = [str(link.get("href") or "") for link in around]
    shown = [str(image.get(name) or "") for name in ("data-src", "src")]
    for address in (*filter(_IMAGES.search, linked), *shown):
        if address and len(address) <= _LONGEST and not address.startswith("data:"):
            return absolute(base, address)
    return ""
