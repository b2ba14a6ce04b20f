"""Parse a page into a tree of bounded depth and size.

libxml2 stops at a certain depth and loses the rest of the tree. BeautifulSoup does not, but needs
quadratic time for ten thousand nested boxes. So boxes without meaning are left out of the tree
below a depth that no real page reaches. All other elements are left out at a greater depth, or
beyond a number that no real page has. Their text is kept.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from bs4 import BeautifulSoup
from bs4.builder import HTMLTreeBuilder
from bs4.builder._lxml import LXMLTreeBuilder
from bs4.element import (
    AttributeValueList,
    NavigableString,
    PageElement,
    Tag,
)
from bs4.filter import SoupStrainer

_BOX_ELEMENTS = frozenset(
    ("div", "span", "center", "font", "section", "article", "b", "i", "em", "strong")
)
_BOX_DEPTH, _ANY_DEPTH = 100, 300
_LIST_ATTRIBUTES = frozenset(("class", "rel"))  # attributes that are lists of words
_STRING_CLASSES = HTMLTreeBuilder.DEFAULT_STRING_CONTAINERS  # of scripts and the like
_PRESERVE_WHITESPACE = HTMLTreeBuilder.DEFAULT_PRESERVE_WHITESPACE_TAGS
_VOID_ELEMENTS = frozenset(HTMLTreeBuilder.DEFAULT_EMPTY_ELEMENT_TAGS or ())
_BLANKS = "".join(BeautifulSoup.ASCII_SPACES)
_MAX_NAMES_CHARS = 500  # characters of an element's names
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NON_LETTERS = re.compile(r"[^a-z]+")
_MAX_ELEMENTS = (
    50_000  # elements; the longest articles have 20,000, and each costs 0.2 ms to the end
)


if TYPE_CHECKING:
    _Searched = Tag
else:
    _Searched = object


class _FastSearch(_Searched):
    """Search methods for elements by name, ten times faster than BeautifulSoup's.

    In searches for attributes, BeautifulSoup checks only the elements with the right name.
    """

    def find(
        self,
        name: Any = None,
        attrs: Any = None,
        recursive: bool = True,
        string: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Return the first match, as BeautifulSoup does."""
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
        """Return all matches, as BeautifulSoup does."""
        if string is True and recursive and not (name or attrs or kwargs):
            return list(islice(iterate_texts(self), limit))
        names = _get_names_to_search(name)
        if names is None or string is not None:
            return super().find_all(name, attrs or {}, recursive, string, limit, **kwargs)
        found = (
            self.find_elements(names)
            if recursive
            else _iterate_named_elements(self.contents, names)
        )
        if attrs or kwargs:
            strainer = SoupStrainer(name, attrs or {}, **kwargs)
            found = filter(strainer.match, found)
        return list(islice(found, limit))

    def find_elements(self, names: Collection[str]) -> Iterable[Tag]:
        """Return the descendants with one of *names*, or all, in page order."""
        return _iterate_named_elements(_iterate_nodes(self), names)

    def find_parent(self, name: Any = None, attrs: Any = None, **kwargs: Any) -> Any:
        """Return the nearest ancestor that matches, as BeautifulSoup does."""
        names = _get_names_to_search(name)
        if names is None or attrs or kwargs:
            return super().find_parent(name, attrs, **kwargs)
        tag = self.parent
        while tag is not None and name is not True and tag.name not in names:
            tag = tag.parent
        return tag

    def find_previous_sibling(self, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the nearest previous sibling that matches, as BeautifulSoup does."""
        if name is not True or args or kwargs:
            return super().find_previous_sibling(name, *args, **kwargs)
        node = self.previous_sibling
        while isinstance(node, NavigableString):
            node = node.previous_sibling
        return node

    def get_text(self, separator: str = "", strip: bool = False, types: Any = ()) -> str:
        """Return the text of the element, as BeautifulSoup does."""
        if strip or types or self.name in _STRING_CLASSES:
            return super().get_text(separator, strip, types or self.default)
        return separator.join(
            [node for node in _iterate_nodes(self) if type(node) is NavigableString]
        )


def _get_names_to_search(asked: Any) -> Collection[str] | None:
    """Return the names to search for: empty for any name, None if BeautifulSoup must search."""
    if isinstance(asked, str):
        return (asked,)
    if asked is True:
        return ()
    is_list = isinstance(asked, list | tuple) and all(isinstance(name, str) for name in asked)
    return asked if is_list else None


class PageTag(_FastSearch, Tag):
    """An element of a page without BeautifulSoup's data for output."""

    parser_class = BeautifulSoup
    namespace = prefix = sourceline = sourcepos = None
    next_element = previous_element = next_sibling = previous_sibling = None
    known_xml = hidden = can_be_empty_element = False
    cdata_list_attributes = None
    preserve_whitespace_tags = HTMLTreeBuilder.DEFAULT_PRESERVE_WHITESPACE_TAGS
    interesting_string_types = Tag.MAIN_CONTENT_STRING_TYPES
    attribute_value_list_class = AttributeValueList
    _namespaces: Any = MappingProxyType({})
    words: frozenset[str] | None = None  # of its class, id and role; see `has_word_in_class_or_id`


class _TreeBuilder(LXMLTreeBuilder):
    """Builds the tree from libxml2's events, three times faster than BeautifulSoup.

    Comments are left out, because they are not visible.
    """

    def initialize_soup(self, soup: Any) -> None:
        """Connect the parser's events directly to the tree of *soup*."""
        super().initialize_soup(soup)
        handlers = {"start": soup.open_element, "end": soup.close_element}
        vars(self).update(handlers, data=soup.current_data.append)

    def comment(self, text: Any) -> None:
        """Ignore a comment."""

    def pi(self, target: Any, data: Any) -> None:
        """Ignore a processing instruction."""

    def doctype(self, name: Any, pubid: Any, system: Any) -> None:
        """Ignore the document type."""


class ShallowSoup(_FastSearch, BeautifulSoup):
    """A parsed page of limited depth."""

    def __init__(self, markup: str) -> None:
        super().__init__(markup, builder=_TreeBuilder, element_classes={Tag: PageTag})

    def reset(self) -> None:
        """Discard the tree, as BeautifulSoup does before it tries another encoding."""
        super().reset()
        self._left_out: list[bool] = []
        self._parsed: list[Tag] = []
        self._by_name: dict[str, list[Tag]] = defaultdict(list)
        self._is_as_parsed = True
        self._last: Any = self

    def open_element(self, name: str, attrs: Mapping[str, str]) -> None:
        """Open an element; elements that are nested too deeply are ignored."""
        depth = len(self.tagStack)
        deepest = _BOX_DEPTH if name in _BOX_ELEMENTS else _ANY_DEPTH
        skip = depth > deepest or len(self._parsed) >= _MAX_ELEMENTS
        self._left_out.append(skip)
        if skip:
            self.current_data.append("\n")
            return
        self.endData()
        tag: Any = PageTag.__new__(PageTag)
        tag.name, tag.attrs, tag.contents = name, dict(attrs), []
        for key in _LIST_ATTRIBUTES.intersection(attrs):
            tag.attrs[key] = attrs[key].split()
        if name in _STRING_CLASSES:
            tag.interesting_string_types = {_STRING_CLASSES[name]}
            self.string_container_stack.append(tag)
        elif name in _PRESERVE_WHITESPACE:
            self.preserve_whitespace_tag_stack.append(tag)
        elif name in _VOID_ELEMENTS:
            tag.can_be_empty_element = True
        self._append_node(tag)
        self._parsed.append(tag)
        self._by_name[name].append(tag)
        self.tagStack.append(tag)

    def close_element(self, _name: str) -> None:
        """Close the most recently opened element."""
        if not self._left_out or self._left_out.pop():
            return
        self.endData()
        tag = self.tagStack.pop()
        for stack in (self.string_container_stack, self.preserve_whitespace_tag_stack):
            if stack and stack[-1] is tag:
                stack.pop()

    def endData(self, containerClass: Any = None) -> None:  # noqa: N802, N803 - BeautifulSoup's names
        """Add the text collected since the last element to the tree."""
        if not self.current_data:
            return
        data = "".join(self.current_data)
        self.current_data.clear()
        if not (self.preserve_whitespace_tag_stack or data.strip(_BLANKS)):
            data = "\n" if "\n" in data else " "
        stack = self.string_container_stack
        text = str.__new__(_STRING_CLASSES[stack[-1].name] if stack else NavigableString, data)
        text.next_element = text.next_sibling = text.previous_sibling = None
        self._append_node(text)

    def _append_node(self, node: Any) -> None:
        """Append *node* to the open element."""
        self._last.next_element = node
        node.previous_element, self._last = self._last, node
        node.parent = parent = self.tagStack[-1]
        siblings = parent.contents
        if siblings:
            siblings[-1].next_sibling = node
            node.previous_sibling = siblings[-1]
        siblings.append(node)

    def find_elements(self, names: Collection[str]) -> Iterable[Tag]:
        """Return the elements of the page with one of *names*, or all."""
        if not self._is_as_parsed:
            return super().find_elements(names)
        if len(names) == 1:
            return self._by_name[next(iter(names))]
        return [tag for tag in self._parsed if tag.name in names] if names else self._parsed

    def discard_element_list(self) -> None:
        """Discard the list of parsed elements; required before the tree changes."""
        self._is_as_parsed = False
        self._parsed, self._by_name = [], {}


def _iterate_nodes(root: Tag) -> Iterator[Any]:
    """Yield elements and texts below *root*, in page order."""
    last: Any = root
    while isinstance(last, Tag) and last.contents:
        last = last.contents[-1]
    node: Any = root.next_element
    end = last.next_element
    while node is not end:
        yield node
        node = node.next_element


def _iterate_named_elements(nodes: Iterable[Any], names: Collection[str]) -> Iterator[Tag]:
    """Yield the elements among *nodes* with one of *names*, or all."""
    found = (node for node in nodes if not isinstance(node, NavigableString))
    return (tag for tag in found if tag.name in names) if names else found


def list_elements(root: Tag) -> list[Tag]:
    """Return all elements below *root*, in page order."""
    return [node for node in _iterate_nodes(root) if not isinstance(node, NavigableString)]


def iterate_texts(root: Tag) -> Iterator[NavigableString]:
    """Yield the texts below *root*, in page order."""
    return (node for node in _iterate_nodes(root) if isinstance(node, NavigableString))


def find_named_elements(root: Tag, names: Container[str]) -> list[Tag]:
    """Return the elements below *root* with one of these *names*, in page order."""
    return [
        node
        for node in _iterate_nodes(root)
        if not isinstance(node, NavigableString) and node.name in names
    ]


def get_text_on_one_line(tag: Tag) -> str:
    """Return the text of *tag* on one line."""
    return " ".join(tag.get_text(" ").split())


def get_classes(tag: Tag) -> list[str]:
    """Return the classes of an element."""
    names = tag.attrs.get("class")
    return names if isinstance(names, list) else [str(names)] if names else []


def has_word_in_class_or_id(tag: Tag, words: frozenset[str]) -> bool:
    """Return whether a word of the element's class, id or role is among *words*.

    ``articleNavigation-bar`` has the words article, navigation and bar.
    """
    if not tag.attrs:
        return False
    own = getattr(tag, "words", None)
    if own is None:
        names = [
            *get_classes(tag),
            str(tag.attrs.get("id") or ""),
            str(tag.attrs.get("role") or ""),
        ]
        own = _split_names_into_words(" ".join(names)[:_MAX_NAMES_CHARS])
        setattr(tag, "words", own)  # noqa: B010 - BeautifulSoup's elements declare none
    return not words.isdisjoint(own)


@lru_cache(maxsize=4000)  # the same few names all over a page
def _split_names_into_words(names: str) -> frozenset[str]:
    """Return the words of class names, ids and roles."""
    return frozenset(_NON_LETTERS.split(_CAMEL_CASE.sub("-", names).lower()))


Weights = Counter[int]  # a number for each element, by its id()


def add_descendant_weights(elements: list[Tag], weights: Weights) -> None:
    """Add the weights of all descendants to each element's weight."""
    for tag in reversed(elements):
        if weight := weights.get(id(tag)):
            above = id(tag.parent)
            weights[above] = weights.get(above, 0) + weight


class ElementLengths(NamedTuple):
    """The elements below a root in page order, and the number of characters in each.

    Characters, unlike words, are comparable between scripts. Whitespace does not count.
    """

    elements: list[Tag]
    weights: Weights


def measure_elements(root: Tag) -> ElementLengths:
    """Return all elements below *root* with the number of characters of text in each."""
    weights: Weights = Counter()
    elements: list[Tag] = []
    for node in _iterate_nodes(root):
        if not isinstance(node, NavigableString):
            elements.append(node)
            weights[id(node)] = 0
        elif size := len("".join(node.split())):
            around = id(node.parent)
            weights[around] = weights.get(around, 0) + size
    add_descendant_weights(elements, weights)
    return ElementLengths(elements, weights)


def remove_nodes(nodes: Iterable[PageElement]) -> None:
    """Remove *nodes* from the tree."""
    replace_nodes_by_text((node, "") for node in nodes)


def replace_nodes_by_text(pairs: Iterable[tuple[PageElement, str]]) -> None:
    """Replace nodes by text, or remove them, in one pass for each parent.

    BeautifulSoup searches the siblings for each node, which takes quadratic time.
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
