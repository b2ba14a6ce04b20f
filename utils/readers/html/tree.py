"""Parsing a page without letting it nest as deep as it likes.

libxml2 stops reading a tree at some depth and loses the rest; BeautifulSoup does not, but every
walk over ten thousand nested boxes takes the square of that. So boxes without meaning are left
out of the tree beyond a depth no honest page reaches, and everything is, somewhat deeper or beyond
a number no honest page has; their text stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bs4 import BeautifulSoup
from bs4.builder._lxml import LXMLTreeBuilder
from bs4.element import NavigableString, PageElement, PreformattedString, Tag
from bs4.filter import SoupStrainer

_BOXES = frozenset(
    ("div", "span", "center", "font", "section", "article", "b", "i", "em", "strong")
)
_BOX_DEPTH, _ANY_DEPTH = 100, 300
_MOST = 50_000  # elements; the longest articles have 20,000, and each costs 0.2 ms to the end


if TYPE_CHECKING:
    _Searched = Tag
else:
    _Searched = object


class _QuickSearch(_Searched):
    """Searches by name in a tenth of BeautifulSoup's time, which matches each element by rules.

    Searches for attributes ask BeautifulSoup only about the elements of the right name.
    """

    def find(
        self,
        name: Any = None,
        attrs: Any = None,
        recursive: bool = True,
        string: Any = None,
        **kwargs: Any,
    ) -> Any:
        return next(iter(self.find_all(name, attrs, recursive, string, 1, **kwargs)), None)

    def find_all(
        self,
        name: Any = None,
        attrs: Any = None,
        recursive: bool = True,
        string: Any = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> Any:
        if string is True and recursive and not (name or attrs or kwargs):
            return list(islice(texts(self), limit))
        names = _names(name)
        if names is None or string is not None:
            return super().find_all(name, attrs or {}, recursive, string, limit, **kwargs)
        found: Any = self.elements() if recursive else _elements_of(self.contents)
        found = found if name is True else (tag for tag in found if tag.name in names)
        if attrs or kwargs:
            strainer = SoupStrainer(name, attrs or {}, **kwargs)
            found = filter(strainer.match, found)
        return list(islice(found, limit))

    def elements(self) -> list[Tag]:
        """Return the elements below this one, in page order."""
        return every(self)

    def find_parent(self, name: Any = None, attrs: Any = None, **kwargs: Any) -> Any:
        names = _names(name)
        if names is None or attrs or kwargs:
            return super().find_parent(name, attrs, **kwargs)
        return next((tag for tag in self.parents if name is True or tag.name in names), None)


def _names(asked: Any) -> Container[str] | None:
    """The element names that a search asks for; None where BeautifulSoup has to find out."""
    if isinstance(asked, str):
        return (asked,)
    if asked is True:
        return ()
    is_list = isinstance(asked, list | tuple) and all(isinstance(name, str) for name in asked)
    return asked if is_list else None


class PageTag(_QuickSearch, Tag):
    """An element of a page."""


class _Builder(LXMLTreeBuilder):
    """BeautifulSoup's builder without its bookkeeping of namespaces, which HTML does not have."""

    soup: Any

    def start(self, tag: Any, attrib: Any, nsmap: Any = MappingProxyType({})) -> None:
        self.soup.handle_starttag(tag, None, None, self.attribute_dict_class(attrib))

    def end(self, tag: Any) -> None:
        self.soup.handle_endtag(tag, None)


class ShallowSoup(_QuickSearch, BeautifulSoup):
    """A parsed page of bounded depth."""

    def __init__(self, markup: str) -> None:
        super().__init__(markup, builder=_Builder, element_classes={Tag: PageTag})

    def reset(self) -> None:
        """Start over, as BeautifulSoup does for each encoding it tries."""
        super().reset()
        self._left_out: list[bool] = []
        self._parsed: list[Tag] = []
        self._is_as_parsed = True

    def handle_starttag(self, name: str, *args: Any, **kwargs: Any) -> Tag | None:
        """Open an element, unless it is too deep to matter."""
        depth = len(self.tagStack)
        deepest = _BOX_DEPTH if name in _BOXES else _ANY_DEPTH
        skip = depth > deepest or len(self._parsed) >= _MOST
        self._left_out.append(skip)
        if skip:
            self.handle_data("\n")
            return None
        tag = super().handle_starttag(name, *args, **kwargs)
        if tag is not None:
            self._parsed.append(tag)
        return tag

    def handle_endtag(self, name: str, nsprefix: str | None = None) -> None:
        """Close what was opened; the parser's events are balanced."""
        if not self._left_out or not self._left_out.pop():
            super().handle_endtag(name, nsprefix)

    def elements(self) -> list[Tag]:
        """Return the elements of the page, in page order."""
        return self._parsed if self._is_as_parsed else super().elements()

    def allow_changes(self) -> None:
        """Give up the list of elements as parsed; to be called before the tree is changed."""
        self._is_as_parsed = False
        self._parsed = []


def _nodes(root: Tag) -> list[Any]:
    """Elements and texts below *root*, in page order."""
    last: Any = root
    while isinstance(last, Tag) and last.contents:
        last = last.contents[-1]
    end, node = last.next_element, root.contents[0] if root.contents else None
    found: list[Any] = []
    add = found.append
    while node is not end and node is not None:
        add(node)
        node = node.next_element
    return found


def _elements_of(nodes: list[Any]) -> list[Tag]:
    return [node for node in nodes if isinstance(node, Tag)]


def every(root: Tag) -> list[Tag]:
    """All elements below *root*, in page order."""
    return _elements_of(_nodes(root))


def texts(root: Tag) -> Iterator[NavigableString]:
    """The texts below *root*, comments among them, in page order."""
    return (node for node in _nodes(root) if not isinstance(node, Tag))


def tags(root: Tag, names: Container[str]) -> list[Tag]:
    """The elements below *root* with one of these *names*, in page order."""
    return [tag for tag in every(root) if tag.name in names]


def classes(tag: Tag) -> list[str]:
    """The classes of an element."""
    names = tag.attrs.get("class")
    return names if isinstance(names, list) else [str(names)] if names else []


Weights = Counter[int]  # a number for each element, by its id()


def sum_up(elements: list[Tag], weights: Weights) -> None:
    """Add to each element's number those of all elements in it; *elements* are in page order."""
    for tag in reversed(elements):
        if weight := weights.get(id(tag)):
            weights[id(tag.parent)] += weight


def weigh(root: Tag) -> Weights:
    """Characters of text in every element below *root*: script-neutral, unlike words."""
    weights: Weights = Counter()
    elements: list[Tag] = []
    for node in _nodes(root):
        if isinstance(node, Tag):
            elements.append(node)
        elif not isinstance(node, PreformattedString):
            weights[id(node.parent)] += len("".join(node.split()))
    sum_up(elements, weights)
    return weights


def remove(nodes: Iterable[PageElement]) -> None:
    """Take *nodes* out of the tree."""
    replace((node, "") for node in nodes)


def replace(pairs: Iterable[tuple[PageElement, str]]) -> None:
    """Put text, or nothing, in the place of nodes, those of one parent in one walk.

    BeautifulSoup looks for each anew among its siblings, the square of their number in all.
    """
    placed = {id(node): (node, text) for node, text in pairs}
    parents = {
        id(node.parent): node.parent for node, _ in placed.values() if node.parent is not None
    }
    for parent in parents.values():
        for at in range(len(parent.contents) - 1, -1, -1):
            if found := placed.get(id(parent.contents[at])):
                parent.contents[at].extract(_self_index=at)
                if found[1]:
                    parent.insert(at, NavigableString(found[1]))
