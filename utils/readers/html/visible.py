"""What a reader of the page sees: no hidden labels and menus, lists that only roles declare.

Pages carry words for screen readers, menus of links back to each citation, and boxes that a click
opens. These are no text of the paper. A collapsed part of the paper is: publishers fold reference
lists and second abstracts away, so whatever is long, or an item or a table, stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bs4.element import NavigableString, Tag

from .article import REFERENCES
from .tree import (
    Weights,
    add_descendants,
    get_classes,
    get_line,
    has_name,
    list_elements,
    remove,
    survey_tree,
)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_HIDDEN_STYLE = re.compile(r"(?:^|;|\s)(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_SPOKEN_CLASS = re.compile(  # of words for screen readers
    r"(?<!\S)(?:u-)?(?:sr-only|visually-?hidden|off-?screen(?:-hidden)?"
    r"|screen-?reader(?:-text|-only)?|element-invisible)(?!\S)",
    re.I,
)
_HIDDEN_CLASS = re.compile(
    r"(?<!\S)(?:(?:u-)?(?:display-none|d-none|hide|hidden)|hidden-?js-?div"
    r"|print-hide|no-?print|hidden-print|d-print-none)(?!\S)",
    re.I,
)
_MARK = re.compile(r"\W*(?:[A-Za-z]|\d{1,2}|[*\u2020\u2021\u00a7\u00b6#]{1,3})\W*")
_LINKED_MARK = re.compile(r"[a-z]|[*\u2020\u2021\u00a7\u00b6#]{1,3}")
_SET_MATH = frozenset(("MathJax", "MathJax_CHTML", "MathJax_SVG", "MathJax_Display", "mjx-chtml"))
_MENU_ROLES = frozenset(("menu", "tooltip"))
_FOLDED_CHARS = 600  # hidden text that is longer is a folded part of the paper
_PARTS = frozenset(
    ("li", "tr", "td", "th", "table", "figure", "section", "article", "main", "body", "html")
)
_HOLDS = ("table", "figure", "math")
# A float or a citation that running text names with a button: "Figs. 1a and 2", "12-14".
_MENTION = re.compile(
    r"[\[(]?\s*(?:(?:(?:extended data|supplementary) )?"
    r"(?:fig(?:ure)?s?|tables?|schemes?|charts?|box(?:es)?|eqs?|equations?|videos?|movies?)"
    r"\b\.?\s?[A-Z]?)?\d{1,4}[a-z]?(?:[\s,;\u2013\u2212-]+(?:and )?[A-Z]?\d{0,4}[a-z]?)*\s*[\])]?",
    re.I,
)
_MENTION_CHARS = 60
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_MOST_OF_HEADING = 0.5  # a shorter button stands beside the heading's words
_SHOWS = re.compile(r"(?:show|hide|expand|collapse|view|open)(?: all)? (?=[A-Za-z])", re.I)
_HEADING_CHARS = 250
# Annual Reviews' classes of headings below those in its menu.
_LEVELS = {"tl-main-part": "h2", "tl-lowest-section": "h3", "tl-third-level-section": "h4"}
_LIST_BOXES = ("div", "section")
_INLINE = ("a", "b", "span", "strong", "sup")


def drop_hidden(soup: BeautifulSoup) -> None:
    """Reduce *soup* to what its readers see."""
    elements = list_elements(soup)
    _show_formulas_once(elements)
    _keep_words_of_buttons(elements)
    _make_lists_of_roles(elements)
    _place_marks(elements)
    elements, weights = survey_tree(soup)
    _make_headings(elements, weights)
    remove(list(_find_hidden(elements, weights)))


def _show_formulas_once(elements: list[Tag]) -> None:
    """Keep a formula's source, not the glyphs that MathJax sets from it."""
    for tag in elements:
        is_set = tag.name == "mjx-container" or not _SET_MATH.isdisjoint(get_classes(tag))
        if tag.parent is None or not is_set:
            continue
        script = tag.find_next_sibling("script")
        has_tex = script is not None and str(script.get("type") or "").startswith("math/tex")
        if has_tex or tag.parent.find("math") not in (None, tag.find("math")):
            tag.extract()
        elif (source := tag.find("math")) is not None:
            tag.replace_with(source.extract())


def _keep_words_of_buttons(elements: list[Tag]) -> None:
    """Keep the words of buttons that are a heading or stand in running text."""
    for button in [tag for tag in elements if tag.name == "button"]:
        text = get_line(button)
        heading = button.find_parent(_HEADINGS)
        if heading is not None and len(text) >= _MOST_OF_HEADING * len(heading.get_text()):
            heading.string = _SHOWS.sub("", text)
        elif len(text) <= _MENTION_CHARS and _MENTION.fullmatch(text) and _is_in_text(button):
            button.name = "span"


def _is_in_text(tag: Tag) -> bool:
    around = tag.parent
    while around is not None and around.name in ("span", "sup", "em", "i", "b"):
        around = around.parent
    return around is not None and any(
        type(node) is NavigableString and node.strip(" \t\r\n[](),;") for node in around.children
    )


def _make_lists_of_roles(elements: list[Tag]) -> None:
    """Give boxes with the roles of a list and its items the elements of one."""
    for box in elements:
        if (
            box.name in _LIST_BOXES
            and box.get("role") == "list"
            and (
                items := [
                    child
                    for child in box.find_all(_LIST_BOXES, recursive=False)
                    if child.get("role") == "listitem"
                ]
            )
        ):
            box.name = "ul"
            for item in items:
                item.name = "li"


def _place_marks(elements: list[Tag]) -> None:
    """Raise the marks of notes that links make, and put each note's mark into its paragraph."""
    for link in [tag for tag in elements if tag.name == "a"]:
        if (
            str(link.get("href") or "").startswith("#")
            and _LINKED_MARK.fullmatch(get_line(link))
            and link.find_parent(["td", "th"]) is not None
            and link.find("sup") is None
            and link.find_parent("sup") is None
        ):
            link.name = "sup"
    for note in [tag for tag in elements if tag.name == "p"]:
        mark = note.previous_sibling
        while type(mark) is NavigableString and not mark.strip():
            mark = mark.previous_sibling
        if (
            isinstance(mark, Tag)
            and mark.name in _INLINE
            and _MARK.fullmatch(get_line(mark))
            and mark.find_previous_sibling(True) is None
        ):
            note.insert(0, NavigableString(" "))
            note.insert(0, mark.extract())


def _make_headings(elements: list[Tag], weights: Weights) -> None:
    """Make headings of boxes that only look like them: the page's own menu names their text."""
    named = {str(tag.get("id") or tag.get("name")): tag for tag in elements if tag.attrs}
    for link in [tag for tag in elements if tag.name == "a"]:
        target = named.get(str(link.get("href") or "#").removeprefix("#"))
        if target is None or not 0 < weights[id(link)] == weights[id(target)]:
            continue
        text = get_line(link)
        if len(text) > _HEADING_CHARS or get_line(target) != text:
            continue
        box = target
        while box.parent is not None and weights[id(box.parent)] == weights[id(link)]:
            box = box.parent
        if box.find_parent([*_HEADINGS, "li", "p"]) is None and box.find(_HEADINGS) is None:
            box.name = "h2" if box.name not in _HEADINGS else box.name
    for tag in elements:
        level = next(filter(None, map(_LEVELS.get, get_classes(tag))), "") if tag.attrs else ""
        if level and len(get_line(tag)) <= _HEADING_CHARS and tag.find_parent(_HEADINGS) is None:
            tag.name = level
            label = tag.find_previous_sibling(True)
            if label is not None and "label" in get_classes(label):
                tag.insert(0, NavigableString(f"{get_line(label)} "))
                remove([label])


def _find_hidden(elements: list[Tag], weights: Weights) -> Iterator[Tag]:
    held = Counter(id(tag.parent) for tag in elements if tag.name in _HOLDS)
    add_descendants(elements, held)
    references: set[int] = set()  # long lists of names are folded there
    for tag in elements:
        if id(tag.parent) in references or has_name(tag, REFERENCES):
            references.add(id(tag))
        if not tag.attrs or tag.name in _PARTS or id(tag) in held:
            continue
        if tag.attrs.get("role") in _MENU_ROLES:
            yield tag
        elif weights[id(tag)] <= _FOLDED_CHARS:
            names = " ".join(get_classes(tag))
            is_folded = id(tag) not in references and _is_folded(tag, names)
            if is_folded or _SPOKEN_CLASS.search(names):
                yield tag


def _is_folded(tag: Tag, names: str) -> bool:
    return (
        "hidden" in tag.attrs
        or _HIDDEN_STYLE.search(str(tag.attrs.get("style") or "")) is not None
        or _HIDDEN_CLASS.search(names) is not None
    )
