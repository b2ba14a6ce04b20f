"""One walk over an article's tree, from which the markdown falls out block by block.

A `Walk` knows how to go down and where the text goes; what a tag *means* stands in two tables it is
given: ``inline`` (tag → markdown text) and ``block`` (tag → adds blocks to the walk). A tag in
neither is never dropped: it is a container if there are blocks in it, running text if not. Text and
tails are kept in order, so blocks never stick together and inline elements never gain blanks.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ..safe_xml import children_of
from .text import escape, guard_start, one_line, tidy, unbold

if TYPE_CHECKING:
    from lxml import etree

Element: TypeAlias = "etree._Element"  # noqa: SLF001  # it has no public name
Inline: TypeAlias = "Callable[[Element, Walk], str]"
Block: TypeAlias = "Callable[[Element, Walk], None]"

# Papers nest some 20 levels; below this the tags are given up and the text is kept, so that no
# hostile file exhausts the stack.
_DEEPEST = 80
_LOWEST_HEADING = 6
HREF = "{http://www.w3.org/1999/xlink}href"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def text_of(el: Element, between: str = "") -> str:
    """All text in the element, whatever the tags."""
    return between.join(map(str, el.itertext()))


def has_own_text(el: Element, children: list[Element]) -> bool:
    """Whether text stands before, between or behind the element's *children*."""
    if (text := el.text) and not text.isspace():
        return True
    return any((tail := child.tail) and not tail.isspace() for child in children)


class Walk:
    """Where the markdown of one article grows.

    Attributes
    ----------
    blocks : list of str
        Finished blocks, to be joined by blank lines.
    level : int
        Level of the next heading, 1 to 6.
    counting : bool
        Whether what is written now is main text; then ``words`` and ``headings`` grow.
    lead : str
        Markdown waiting to open the next paragraph (a label, a speaker, a list letter).
    in_cell : bool
        Whether what is written goes into a cell of a table, where markdown knows no lists.
    footnotes : list of str
        Footnotes met inside a line, written after the outermost block they stand in.
    """

    def __init__(
        self,
        root: Element,
        inline: Mapping[str, Inline],
        block: Mapping[str, Block],
        escaped: Callable[[str], str] = escape,
    ) -> None:
        self.root = root
        self.inline_of = inline
        self.block_of = block
        self.escape = escaped
        self.blocks: list[str] = []
        self.footnotes: list[str] = []
        self.footnote_count = 0
        self.level = 1
        self.lead = ""
        self.counting = False
        self.words = 0
        self.headings = 0
        self.references = 0
        self.declared: dict[str, str] = {}
        self.last_raised: Element | None = None
        self.in_cell = False
        self._depth = 0
        self._nested = 0

    @cached_property
    def targets(self) -> dict[str, Element]:
        """Elements by their id, for references that carry no text of their own."""
        return {name: el for el in self.root.iter("*") if (name := el.get("id"))}

    # --- going down ---------------------------------------------------------------------------

    @property
    def is_markdown(self) -> bool:
        """Whether marks of markdown are escaped, and so what is written is markdown."""
        return self.escape is escape

    def inline(self, el: Element, skip: Collection[str] = ()) -> str:
        """The element's content as running text; white space is not yet tidied."""
        text = el.text
        if not len(el):
            return self.escape(text) if text else ""
        if self._depth > _DEEPEST:
            return self.escape(text_of(el, " "))
        self._depth += 1
        clean, inline_of = self.escape, self.inline_of
        parts = [clean(text)] if text else []
        for child in children_of(el):
            tag = child.tag
            if tag not in skip:
                handler = inline_of.get(tag)
                parts.append(handler(child, self) if handler else self._unlisted(child))
            if tail := child.tail:
                parts.append(clean(tail))
        self._depth -= 1
        return "".join(parts)

    def inline_element(self, el: Element) -> str:
        """The element itself as running text."""
        if self._depth > _DEEPEST:
            return self.escape(text_of(el, " "))
        self._depth += 1
        handler = self.inline_of.get(el.tag)
        made = handler(el, self) if handler else self._unlisted(el)
        self._depth -= 1
        return made

    def element_line(self, el: Element) -> str:
        """The element itself on one tidy line."""
        return one_line(self.inline_element(el))

    def line(self, el: Element | None, skip: Collection[str] = ()) -> str:
        """The element's content on one tidy line; empty when there is no element."""
        if el is None:
            return ""
        if len(el):
            return one_line(self.inline(el, skip).replace("<br>", " "))
        text = el.text
        return (text or "") if not text or text.isalnum() else one_line(self.escape(text))

    def flow(self, el: Element, skip: Collection[str] = ()) -> None:
        """Write the element's content: running text as paragraphs, blocks as blocks."""
        if self._depth > _DEEPEST:
            self.paragraph(self.escape(text_of(el, " ")))
            return
        self._depth += 1
        clean, inline_of, block_of = self.escape, self.inline_of, self.block_of
        text = el.text
        parts = [clean(text)] if text else []
        for child in children_of(el):
            tag = child.tag
            block = block_of.get(tag)
            if tag in skip:
                pass
            elif not block and (handler := inline_of.get(tag)):
                parts.append(handler(child, self))
            elif block or (block := self._container(child)):
                if parts:
                    self.paragraph("".join(parts))
                    parts = []
                block(child, self)
            else:
                parts.append(self._unlisted(child))
            if tail := child.tail:
                parts.append(clean(tail))
        if parts:
            self.paragraph("".join(parts))
        self._depth -= 1

    def write(self, el: Element) -> None:
        """Write the element itself: as the block it is, else as a paragraph."""
        block = self.block_of.get(el.tag)
        if block is None:
            self.paragraph(self.inline_element(el))
        elif self._depth > _DEEPEST:
            self.paragraph(self.escape(text_of(el, " ")))
        else:
            self._depth += 1
            block(el, self)
            self._depth -= 1

    def collect(self, el: Element, skip: Collection[str] = (), itself: bool = False) -> list[str]:
        """The blocks of the element's content (or of the element *itself*), not yet written."""
        outer, self.blocks = self.blocks, []
        lead, self.lead = self.lead, ""
        self._nested += 1
        if itself:
            self.write(el)
        else:
            self.flow(el, skip)
        self.flush_lead()
        self._nested -= 1
        self.lead = lead
        found, self.blocks = self.blocks, outer
        return found

    def _container(self, el: Element) -> Block | None:
        """How to treat an unlisted element that holds blocks; None if it holds none."""
        if not len(el):
            return None
        if any(child.tag in self.block_of for child in el.iterdescendants()):
            return lambda inner, walk: walk.flow(inner)
        return None

    def _unlisted(self, el: Element) -> str:
        if not isinstance(el.tag, str):  # an entity nobody declared
            return self.escape(html.unescape(el.text or ""))
        if el.tag in self.block_of:
            blocks = " ".join(self.collect(el, itself=True)).replace("\n", " ")
            return f" {blocks.replace('$$', '$')} "
        return self.inline(el)

    # --- writing ------------------------------------------------------------------------------

    def paragraph(self, text: str) -> None:
        """Write running text as a paragraph; nothing when there is none."""
        text = one_line(text)
        if not text:
            return
        if self.counting:
            self.words += text.count(" ") + 1
        if self.lead:
            # The words of a lead (a label) are no words of the paper.
            text, self.lead = tidy(f"{self.lead}{text}"), ""
        self._put(guard_start(text) if self.is_markdown else text)

    def add(self, block: str) -> None:
        """Write a block that is markdown already."""
        self.flush_lead()
        if block:
            self._put(block)

    def heading(self, text: str) -> None:
        """Write a heading at the current level; nothing when there is no text."""
        if text:
            self.add(f"{'#' * min(self.level, _LOWEST_HEADING)} {unbold(text)}")

    def flush_lead(self) -> None:
        """Write a lead that found no paragraph to open."""
        lead, self.lead = tidy(self.lead), ""
        if lead:
            self._put(lead)

    def _put(self, block: str) -> None:
        self.blocks.append(block)
        if self.footnotes and not self._nested:
            self.blocks.extend(self.footnotes)
            self.footnotes = []
