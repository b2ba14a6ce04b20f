"""Parsing a page without letting it nest as deep as it likes.

libxml2 stops reading a tree at some depth and loses the rest; BeautifulSoup does not, but every
walk over ten thousand nested boxes takes the square of that. So boxes without meaning are left
out of the tree beyond a depth no honest page reaches, and everything is, somewhat deeper or beyond
a number no honest page has; their text stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, PreformattedString, Tag

_BOXES = frozenset(
    ("div", "span", "center", "font", "section", "article", "b", "i", "em", "strong")
)
_BOX_DEPTH, _ANY_DEPTH = 100, 300
_MOST = 50_000  # elements; the longest articles have 20,000, and each costs 0.2 ms to the end


class ShallowSoup(BeautifulSoup):
    """A parsed page of bounded depth."""

    def reset(self) -> None:
        """Start over, as BeautifulSoup does for each encoding it tries."""
        super().reset()
        self._left_out: list[bool] = []
        self._elements = 0

    def handle_starttag(self, name: str, *args: Any, **kwargs: Any) -> Tag | None:
        """Open an element, unless it is too deep to matter."""
        depth = len(self.tagStack)
        skip = depth > (_BOX_DEPTH if name in _BOXES else _ANY_DEPTH) or self._elements >= _MOST
        self._elements += not skip
        self._left_out.append(skip)
        if skip:
            self.handle_data("\n")
            return None
        return super().handle_starttag(name, *args, **kwargs)

    def handle_endtag(self, name: str, nsprefix: str | None = None) -> None:
        """Close what was opened; the parser's events are balanced."""
        if not self._left_out or not self._left_out.pop():
            super().handle_endtag(name, nsprefix)


def every(root: Tag) -> list[Tag]:
    """All elements below *root*, in page order: ``find_all(True)`` at a quarter of its time."""
    return [node for node in root.descendants if isinstance(node, Tag)]


def tags(root: Tag, names: Container[str]) -> list[Tag]:
    """The elements below *root* with one of these *names*, in page order."""
    return [tag for tag in every(root) if tag.name in names]


Weights = Counter[int]  # a number for each element, by its id()


def summed(root: Tag, own: Weights) -> Weights:
    """Each element's own number plus those of all elements in it, in one walk, in place."""
    for tag in reversed(every(root)):
        own[id(tag.parent)] += own[id(tag)]
    return own


def weigh(root: Tag) -> Weights:
    """Characters of text in every element below *root*: script-neutral, unlike words."""
    own: Weights = Counter()
    for text in root.descendants:
        if isinstance(text, NavigableString) and not isinstance(text, PreformattedString):
            own[id(text.parent)] += len("".join(text.split()))
    return summed(root, own)


def remove(nodes: Iterable[PageElement]) -> None:
    """Take *nodes* out of the tree."""
    replace((node, "") for node in nodes)


def replace(pairs: Iterable[tuple[PageElement, str]]) -> None:
    """Put text, or nothing, in the place of nodes, those of one parent in one walk.

    BeautifulSoup looks for each anew among its siblings, the square of their number in all.
    """
    texts = {id(node): (node, text) for node, text in pairs}
    parents = {
        id(node.parent): node.parent for node, _ in texts.values() if node.parent is not None
    }
    for parent in parents.values():
        for at in range(len(parent.contents) - 1, -1, -1):
            if found := texts.get(id(parent.contents[at])):
                parent.contents[at].extract(_self_index=at)
                if found[1]:
                    parent.insert(at, NavigableString(found[1]))
