"""Find the pictures of a page's figures by the labels in their captions.

A picture belongs to the smallest element around it that begins with, or contains, a caption with a
label ("Fig. 2."). This rule holds for publishers' own boxes, HTML's ``figure`` and LaTeXML's pages.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from bs4.element import Tag

from ...model.paper import Fetched
from ...outline import parse_caption_label
from .claims import to_absolute_url
from .tree import find_named_elements

_IMAGE_URL: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|tiff?)(?:[?#]|\Z)", re.I)
# The part of a file name that states the picture's size: "g001-1024.png", "fig-1-2x.jpg".
_SIZE_SUFFIX: Final = re.compile(
    r"[-_.](?:\d{3,4}|[23]x|large|medium|small|full|lrg|thumb\w{0,5})\Z", re.I
)
_SMALL_SIZE: Final = re.compile(r"small|medium|thumb", re.I)
_NOT_FIGURE_CLASS: Final = re.compile(
    r"(?:fig(?:ure)?-?)?caption(?:-?text)?|.{0,40}(?:formula|equation|math).{0,40}", re.I
)
_MAX_PICTURES: Final = 500  # pictures of a page
# A picture directly in one of these, or in a caption, is a formula or belongs to the page.
_NON_FIGURE_ELEMENTS: Final = frozenset(
    ("body", "article", "main", "html", "p", "td", "section", "figcaption")
)
_MAX_LEVELS_UP: Final = 6  # elements from a picture to its figure
_CAPTION_MAX_PIECES: Final = 12  # pieces of text in which a caption begins
_MAX_URL_CHARS: Final = 2000  # characters of an address


def find_figure_urls(fetched: Fetched) -> dict[str, tuple[str, ...]]:
    """Return the URLs of a page's figure pictures by label ("Figure 2").

    Labels are spelled as in `...outline.find_figures_and_tables`.

    Raises
    ------
    BadContent
        The response is not a page.
    """
    from . import parse_page

    soup = parse_page(fetched)
    base = _find_base_url(soup, fetched.url)
    found: dict[str, dict[str, str]] = {}
    labels: dict[int, str] = {}
    for image in find_named_elements(soup, {"img"})[:_MAX_PICTURES]:
        if (label := _find_figure_label_around(image, labels)) and (
            url := _find_picture_url(image, base)
        ):
            sizes, one = found.setdefault(label, {}), _SIZE_SUFFIX.sub("", _get_file_stem(url))
            if one not in sizes or (_SMALL_SIZE.search(sizes[one]) and not _SMALL_SIZE.search(url)):
                sizes[one] = url
    return {label: tuple(urls.values()) for label, urls in found.items()}


def _get_file_stem(url: str) -> str:
    """Return the name of a file without folder and extension."""
    name = url.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _find_base_url(soup: Tag, url: str) -> str:
    """Return the base URL of the page's relative links."""
    for tag in find_named_elements(soup, {"base"})[:1]:
        return to_absolute_url(url, str(tag.get("href") or "")) or url
    return url


def _find_figure_label_around(image: Tag, known: dict[int, str]) -> str:
    """Return the label of the figure around a picture; empty if it is not in a figure."""
    if image.parent is not None and _has_own_text(image.parent):
        return ""  # a formula or a sign among words
    for element in islice(image.parents, _MAX_LEVELS_UP):
        if element.name in _NON_FIGURE_ELEMENTS or any(
            map(_NOT_FIGURE_CLASS.fullmatch, element.get_attribute_list("class"))
        ):
            return ""
        if id(element) not in known:
            known[id(element)] = _find_caption_label(element)
        if label := known[id(element)]:
            return label
    return ""


def _find_caption_label(element: Tag) -> str:
    """Return the label of the first caption in an element's first words."""
    words = list(islice((text for text in element.stripped_strings), _CAPTION_MAX_PIECES))
    for at in range(len(words)):
        if label := parse_caption_label("\n".join(words[at : at + 3])):
            return label
    return ""


def _has_own_text(element: Tag) -> bool:
    """Return whether an element directly contains words."""
    own = (
        str(piece)
        for piece in islice(element.children, _CAPTION_MAX_PIECES)
        if not _is_page_element(piece)
    )
    return any(map(str.strip, own))


def _is_page_element(piece: object) -> bool:
    """Return whether *piece* is an element."""
    return isinstance(piece, Tag)


def _find_picture_url(image: Tag, base: str) -> str:
    """Return the URL of the full-size picture if it is linked, or else of the shown picture."""
    around = [parent for parent in islice(image.parents, 2) if parent.name == "a"]
    linked = [str(link.get("href") or "") for link in around]
    shown = [str(image.get(name) or "") for name in ("data-src", "src")]
    for address in (*filter(_IMAGE_URL.search, linked), *shown):
        if address and len(address) <= _MAX_URL_CHARS and not address.startswith("data:"):
            return to_absolute_url(base, address)
    return ""
