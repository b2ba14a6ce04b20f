"""Reduce a page to its visible content: no hidden labels and menus, real lists and headings.

Pages have labels for screen readers, menus of links back to each citation, and pop-ups. These are
not part of the paper. Collapsed parts of the paper are, such as reference lists and second
abstracts, so long texts, items and tables are kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bs4.element import NavigableString, Tag

from .article import REFERENCE_WORDS
from .tree import (
    Weights,
    add_descendant_weights,
    get_classes,
    get_text_on_one_line,
    has_word_in_class_or_id,
    list_elements,
    measure_elements,
    remove_nodes,
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
_NOTE_MARK = re.compile(r"\W*(?:[A-Za-z]|\d{1,2}|[*\u2020\u2021\u00a7\u00b6#]{1,3})\W*")
_LINKED_NOTE_MARK = re.compile(r"[a-z]|[*\u2020\u2021\u00a7\u00b6#]{1,3}")
_MATHJAX_CLASSES = frozenset(
    ("MathJax", "MathJax_CHTML", "MathJax_SVG", "MathJax_Display", "mjx-chtml")
)
_MENU_ROLES = frozenset(("menu", "tooltip"))
_HIDDEN_MAX_CHARS = 600  # hidden text that is longer is a folded part of the paper
_NEVER_HIDDEN = frozenset(
    ("li", "tr", "td", "th", "table", "figure", "section", "article", "main", "body", "html")
)
_CONTENT_ELEMENTS = ("table", "figure", "math")
# A float or a citation that running text names with a button: "Figs. 1a and 2", "12-14".
_MENTION = re.compile(
    r"[\[(]?\s*(?:(?:(?:extended data|supplementary) )?"
    r"(?:fig(?:ure)?s?|tables?|schemes?|charts?|box(?:es)?|eqs?|equations?|videos?|movies?)"
    r"\b\.?\s?[A-Z]?)?\d{1,4}[a-z]?(?:[\s,;\u2013\u2212-]+(?:and )?[A-Z]?\d{0,4}[a-z]?)*\s*[\])]?",
    re.I,
)
_MENTION_MAX_CHARS = 60
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_HEADING_BUTTON_RATIO = 0.5  # a shorter button is not the heading itself
_TOGGLE_WORDS = re.compile(r"(?:show|hide|expand|collapse|view|open)(?: all)? (?=[A-Za-z])", re.I)
_HEADING_MAX_CHARS = 250
# Annual Reviews' classes of headings below those in its menu.
_HEADING_LEVELS = {"tl-main-part": "h2", "tl-lowest-section": "h3", "tl-third-level-section": "h4"}
_LIST_ELEMENTS = ("div", "section")
_MARK_ELEMENTS = ("a", "b", "span", "strong", "sup")


def reduce_page_to_visible(soup: BeautifulSoup) -> None:
    """Remove hidden elements from *soup*, and convert styled boxes to lists and headings."""
    elements = list_elements(soup)
    _drop_rendered_formulas(elements)
    _keep_button_texts(elements)
    _convert_aria_lists(elements)
    _move_note_marks(elements)
    elements, weights = measure_elements(soup)
    _convert_boxes_to_headings(elements, weights)
    remove_nodes(list(_iterate_hidden_elements(elements, weights)))


def _drop_rendered_formulas(elements: list[Tag]) -> None:
    """Keep the source of each formula and drop the glyphs that MathJax renders from it."""
    for tag in elements:
        is_set = tag.name == "mjx-container" or not _MATHJAX_CLASSES.isdisjoint(get_classes(tag))
        if tag.parent is None or not is_set:
            continue
        script = tag.find_next_sibling("script")
        has_tex = script is not None and str(script.get("type") or "").startswith("math/tex")
        if has_tex or tag.parent.find("math") not in (None, tag.find("math")):
            tag.extract()
        elif (source := tag.find("math")) is not None:
            tag.replace_with(source.extract())


def _keep_button_texts(elements: list[Tag]) -> None:
    """Keep the text of buttons that are headings or part of a sentence."""
    for button in [tag for tag in elements if tag.name == "button"]:
        text = get_text_on_one_line(button)
        heading = button.find_parent(_HEADINGS)
        if heading is not None and len(text) >= _HEADING_BUTTON_RATIO * len(heading.get_text()):
            heading.string = _TOGGLE_WORDS.sub("", text)
        elif (
            len(text) <= _MENTION_MAX_CHARS
            and _MENTION.fullmatch(text)
            and _is_in_running_text(button)
        ):
            button.name = "span"


def _is_in_running_text(tag: Tag) -> bool:
    """Return whether an element has running text around it."""
    around = tag.parent
    while around is not None and around.name in ("span", "sup", "em", "i", "b"):
        around = around.parent
    return around is not None and any(
        type(node) is NavigableString and node.strip(" \t\r\n[](),;") for node in around.children
    )


def _convert_aria_lists(elements: list[Tag]) -> None:
    """Convert boxes with the ARIA roles of lists and items to list elements."""
    for box in elements:
        if (
            box.name in _LIST_ELEMENTS
            and box.get("role") == "list"
            and (
                items := [
                    child
                    for child in box.find_all(_LIST_ELEMENTS, recursive=False)
                    if child.get("role") == "listitem"
                ]
            )
        ):
            box.name = "ul"
            for item in items:
                item.name = "li"


def _move_note_marks(elements: list[Tag]) -> None:
    """Make linked note marks in cells superscript, and move each mark into its note."""
    for link in [tag for tag in elements if tag.name == "a"]:
        if (
            str(link.get("href") or "").startswith("#")
            and _LINKED_NOTE_MARK.fullmatch(get_text_on_one_line(link))
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
            and mark.name in _MARK_ELEMENTS
            and _NOTE_MARK.fullmatch(get_text_on_one_line(mark))
            and mark.find_previous_sibling(True) is None
        ):
            note.insert(0, NavigableString(" "))
            note.insert(0, mark.extract())


def _convert_boxes_to_headings(elements: list[Tag], weights: Weights) -> None:
    """Convert boxes that look like headings to headings if a menu links to them."""
    named = {str(tag.get("id") or tag.get("name")): tag for tag in elements if tag.attrs}
    for link in [tag for tag in elements if tag.name == "a"]:
        target = named.get(str(link.get("href") or "#").removeprefix("#"))
        if target is None or not 0 < weights[id(link)] == weights[id(target)]:
            continue
        text = get_text_on_one_line(link)
        if len(text) > _HEADING_MAX_CHARS or get_text_on_one_line(target) != text:
            continue
        box = target
        while box.parent is not None and weights[id(box.parent)] == weights[id(link)]:
            box = box.parent
        if box.find_parent([*_HEADINGS, "li", "p"]) is None and box.find(_HEADINGS) is None:
            box.name = "h2" if box.name not in _HEADINGS else box.name
    for tag in elements:
        level = (
            next(filter(None, map(_HEADING_LEVELS.get, get_classes(tag))), "") if tag.attrs else ""
        )
        if (
            level
            and len(get_text_on_one_line(tag)) <= _HEADING_MAX_CHARS
            and tag.find_parent(_HEADINGS) is None
        ):
            tag.name = level
            label = tag.find_previous_sibling(True)
            if label is not None and "label" in get_classes(label):
                tag.insert(0, NavigableString(f"{get_text_on_one_line(label)} "))
                remove_nodes([label])


def _iterate_hidden_elements(elements: list[Tag], weights: Weights) -> Iterator[Tag]:
    """Yield the elements that are not visible on the page."""
    held = Counter(id(tag.parent) for tag in elements if tag.name in _CONTENT_ELEMENTS)
    add_descendant_weights(elements, held)
    references: set[int] = set()  # long lists of names are folded there
    for tag in elements:
        if id(tag.parent) in references or has_word_in_class_or_id(tag, REFERENCE_WORDS):
            references.add(id(tag))
        if not tag.attrs or tag.name in _NEVER_HIDDEN or id(tag) in held:
            continue
        if tag.attrs.get("role") in _MENU_ROLES:
            yield tag
        elif weights[id(tag)] <= _HIDDEN_MAX_CHARS:
            names = " ".join(get_classes(tag))
            is_folded = id(tag) not in references and _is_hidden_element(tag, names)
            if is_folded or _SPOKEN_CLASS.search(names):
                yield tag


def _is_hidden_element(tag: Tag, names: str) -> bool:
    """Return whether an element is hidden by attribute, style or class."""
    return (
        "hidden" in tag.attrs
        or _HIDDEN_STYLE.search(str(tag.attrs.get("style") or "")) is not None
        or _HIDDEN_CLASS.search(names) is not None
    )
