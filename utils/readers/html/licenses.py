"""Find the licence that a page states for its article.

Only some pages claim it in their heads. Others say "This article is licensed under …", with a link
to Creative Commons, or reserve all rights in the line of the article's copyright. A page also names
licences of other things: a figure, a data set, the site. So a sentence has to be about the article,
all of these sentences have to name one licence, and footers, figures and references do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...model.licenses import find_cc_license
from .tree import get_text_on_one_line, has_word_in_class_or_id

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from bs4.element import Tag

_MAX_CHARS = 300  # of a licence that is kept
_MAX_SENTENCE_CHARS = 2000  # with the summary of the licence that some sites print after it
_BOXES = ("p", "div", "li", "section", "span", "td", "dd")
_CREATIVE_COMMONS = re.compile(r"creativecommons\.org/(?:licen[sc]es|publicdomain)/", re.I)
_OF_THE_ARTICLE = re.compile(
    r"(?:\b|(?<=[a-z])(?=T))(?:(?:this|all) (?:is an? )?(?:published |open[- ]access )*"
    r"(?:article|paper|work|publication)\b.{0,90}?"
    r"\b(?:licen[sc]ed|distributed|available|published|under|terms)"
    r"|published\b.{0,80}\bunder the terms of)",
    re.I,
)
_RESERVED = re.compile(
    r"\ball rights\b.{0,90}\breserved\b|\bexclusive licen[sc]ee?\b|\bDefault License\b", re.I
)
_COPYRIGHT_WORDS = frozenset(("copyright", "license", "licence", "rights"))
_OTHER_PLACES = ("figure", "figcaption", "table", "footer", "blockquote", "nav", "aside")
_OTHER_WORDS = frozenset(("footer", "figure", "references", "reference", "bibliography", "related"))


def find_stated_license(soup: BeautifulSoup) -> str:
    """Return the licence that sentences of the page state for the article; "" without one."""
    stated = {find_cc_license(url): url for url in _find_linked_licenses(soup)}
    stated.pop("", None)
    if len(stated) == 1:
        return next(iter(stated.values()))[:_MAX_CHARS]
    return "" if stated else _find_reservation(soup)


def _find_linked_licenses(soup: BeautifulSoup) -> Iterator[str]:
    """Yield the addresses of the licences that sentences about the article link."""
    for link in soup.find_all("a", href=True):
        url = str(link["href"]).strip()
        box = link.find_parent(_BOXES) if _CREATIVE_COMMONS.search(url) else None
        while box is not None and len(text := get_text_on_one_line(box)) <= _MAX_SENTENCE_CHARS:
            if _OF_THE_ARTICLE.search(text):
                if not _belongs_elsewhere(link):
                    yield url
                break
            box = box.find_parent(_BOXES)


def _find_reservation(soup: BeautifulSoup) -> str:
    """Return the line of copyright that reserves all rights of the article; "" without one."""
    for box in soup.find_all(("div", "p", "span", "section")):
        if not has_word_in_class_or_id(box, _COPYRIGHT_WORDS) or _belongs_elsewhere(box):
            continue
        text = get_text_on_one_line(box)
        if len(text) <= _MAX_SENTENCE_CHARS and _RESERVED.search(text):
            return text[:_MAX_CHARS]
    return ""


def _belongs_elsewhere(tag: Tag) -> bool:
    """Return whether an element is part of a figure, a reference or the site's frame."""
    parents = (tag, *tag.parents)
    return any(
        parent.name in _OTHER_PLACES or has_word_in_class_or_id(parent, _OTHER_WORDS)
        for parent in parents
        if parent.name not in {"body", "html", "[document]"}
    )
