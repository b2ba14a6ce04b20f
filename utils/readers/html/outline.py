"""Compare a page's menu of sections with its text, to detect parts that the page lacks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ...model.verdicts import DOUBT, Sign
from ...outline.sections import classify_heading, is_introduction_title
from ...outline.words import fold_words
from .tree import get_text_on_one_line

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

PageMenus = list[dict[str, bool]]
"""The links of each menu, by name, and whether the page has what they lead to."""
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.M)
_MIN_MENU_SECTIONS: Final = 2  # links to sections of the text that make a list its menu


def find_section_menus(soup: BeautifulSoup) -> PageMenus:
    """Return the section menus of a page, which pruning the page removes."""
    menus: dict[int, dict[str, bool]] = defaultdict(dict)
    targets: set[object] = set()
    for link in soup.find_all("a"):
        target = str(link.get("href") or "")
        menu = link.find_parent(["ul", "ol", "nav"]) if target.startswith("#") else None
        if menu is None:
            continue
        if not targets:
            targets = {tag.attrs.get(key) for tag in soup.find_all(True) for key in ("id", "name")}
        menus[id(menu)][get_text_on_one_line(link)] = target[1:] in targets
    return list(menus.values())


def find_menu_signs(menus: PageMenus, markdown: str) -> Iterator[Sign]:
    """Yield a sign if a menu lists sections that the text does not have."""
    titles = {_fold_title_words(title) for title in _HEADING.findall(markdown)} if menus else set()
    for menu in menus:
        names = {name: there for name, there in menu.items() if classify_heading(name) == "body"}
        lost = [
            name
            for name, there in names.items()
            if not (there or is_introduction_title(name) or _fold_title_words(name) in titles)
        ]
        if lost and sum(_fold_title_words(name) in titles for name in names) >= _MIN_MENU_SECTIONS:
            words = f"the page's menu lists {len(names)} sections, but {lost[0][:60]!r} is missing"
            yield Sign("menu", DOUBT, words)
            return


def _fold_title_words(title: str) -> str:
    """Return the words of a title for comparison."""
    return " ".join(fold_words(title))
