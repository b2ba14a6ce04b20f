"""Convert an article's tree in one pass to markdown, block by block.

A `MarkdownWalk` descends the tree and collects the text. Two tables define the meaning of tags:
``inline`` (tag → function that returns markdown) and ``block`` (tag → function that adds blocks to
the walk). A tag in neither table is not dropped: it is a container if it contains blocks, or else
running text. Text and tails are kept in order, so that blocks are always separated and inline
elements get no extra spaces.

Papers often contain ``*``, ``<`` and ``_``. Only those that markdown would interpret are escaped,
so that the text can still be searched. Rules: CommonMark 0.31 and GitHub's tables.

Markdown reads ``*`` as emphasis only between certain characters (CommonMark 0.31, 6.2). The
neighbours of an element are known only when the line is complete; until then control characters,
which XML cannot contain, represent the marks. Then marks are moved away from spaces and punctuation
(``*Ptdsr-*null`` becomes ``*Ptdsr*-null``), and left out inside words, which could not be found by
a search otherwise.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote

from ..safe_xml import list_children

if TYPE_CHECKING:
    from lxml import etree

Element: TypeAlias = "etree._Element"  # noqa: SLF001  # it has no public name
Inline: TypeAlias = "Callable[[Element, MarkdownWalk], str]"
Block: TypeAlias = "Callable[[Element, MarkdownWalk], None]"

# Papers nest some 20 levels; below this the tags are given up and the text is kept, so that no
# hostile file exhausts the stack.
_DEEPEST = 80
_LOWEST_HEADING = 6
HREF = "{http://www.w3.org/1999/xlink}href"
LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_SPECIAL = re.compile(
    r"""
    [\\`*_<$&\]~]                     # first the sign, which is found fast; then whether it counts
    (?: (?<=\\)(?=[!-/:-@\[-`{-~]|$)  # a backslash that would escape what follows
      | (?<=[`$])                     # dollars enclose mathematics here
      | (?<=\*)(?!(?<=\s\*)\s)        # a star, unless blanks stand on both sides
      | (?<=_)(?:(?<![^\W_]_)|(?![^\W_]))  # an underscore at the edge of a word
      | (?<=<)(?=[A-Za-z/!?]|$)       # the beginning of a tag
      | (?<=&)(?=\#?\w+;)             # what looks like an entity was meant literally
      | (?<=\])(?=\()                 # [1](2) is no link
      | (?<=~)(?=~)
    )
    """,
    re.X,
)
_BLOCK_START = re.compile(
    r"(?:\#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|-{3,}$|={3,}$|\||\[(?=[^\]]*\]:)|(\d{1,9})([.)])(?=\s|$))"
)
_BLOCK_STARTERS = frozenset("#>-+*=|[0123456789")
_SAFE_LINK = re.compile(r"(?:https?://|ftp://|mailto:)[^\s<>]+", re.I)
# A line break next to these only lays out the XML.
_LAYOUT = re.compile(r"(?<=[(\[“‘])\n|\n(?=[)\],;:”’]|\.(?![\d.]))")
# Some raise each number of ``[1, 2]`` and each bracket by itself.
_RAISED_LIST = re.compile(
    r"<sup>\[</sup>\n?((?:<sup>[^<>]{1,20}</sup>[\n ,–-]{0,3}){1,50})<sup>\]</sup>"
)
_BREAK = re.compile(r" ?<br> ?")
_HUNDREDS = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"))
_ROMAN = (*_HUNDREDS, (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_BARE_DOI = re.compile(r"10\.\d{4,9}/\S+")
ITALIC: Final = ("\x01", "\x02")
BOLD: Final = ("\x03", "\x04")
MARKS: Final = "".join(ITALIC + BOLD)
_WRITTEN: Final = {"\x01": "*", "\x02": "*", "\x03": "**", "\x04": "**"}
_BEGINS: Final = {"\x02": "\x01", "\x04": "\x03"}
_MARK: Final = re.compile(f"([{MARKS}])")
_WORD: Final = re.compile(r"[^\W_]")
_MOVABLE: Final = r".,;:!?'\"’‘“”–—‐‑…/=+\-"
# Round brackets may be a link's.
_LEADING: Final = (re.compile(rf"\s+|[{_MOVABLE}()]+"), re.compile(rf"\s+|[{_MOVABLE}]+"))
_TRAILING: Final = (
    re.compile(rf"(?:\s+|(?:[{_MOVABLE}()]|\\_)+)\Z"),
    re.compile(rf"(?:\s+|(?:[{_MOVABLE}]|\\_)+)\Z"),
)
_EDGE: Final = 40  # characters of a text's end that may be moved
_TIMES: Final = 4  # blanks, signs, blanks again: then it is not emphasis


def escape_markdown(text: str) -> str:
    r"""Escape the characters that markdown would interpret.

    >>> escape_markdown("P*<a> but p < 0.05 and q * r, id_no, US$5")
    'P\\*\\<a> but p < 0.05 and q * r, id_no, US\\$5'
    """
    # Most texts have no sign at all, and looking for each is faster than one pattern for all.
    if (
        "<" in text
        or "*" in text
        or "_" in text
        or "](" in text
        or "&" in text
        or "$" in text
        or "~~" in text
        or "\\" in text
        or "`" in text
    ):
        return _SPECIAL.sub(r"\\\g<0>", text)
    return text


class MarkdownWalk:
    """One pass over an article's tree, with the markdown written so far.

    Attributes
    ----------
    blocks : list of str
        Finished blocks, to be joined by blank lines.
    level : int
        Level of the next heading, 1 to 6.
    counting : bool
        Whether the text written now belongs to the body; then ``words`` and ``headings`` increase.
    lead : str
        Markdown waiting to open the next paragraph (a label, a speaker, a list letter).
    in_cell : bool
        Whether the text belongs to a table cell, in which markdown allows no lists.
    footnotes : list of str
        Footnotes found inside a line, which are written after the outermost block around them.
    """

    def __init__(
        self,
        root: Element,
        inline: Mapping[str, Inline],
        block: Mapping[str, Block],
        escaped: Callable[[str], str] = escape_markdown,
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
    def elements_by_id(self) -> dict[str, Element]:
        """The elements by their id, for references without text of their own."""
        return {name: el for el in self.root.iter("*") if (name := el.get("id"))}

    # --- going down ---------------------------------------------------------------------------

    @property
    def is_markdown(self) -> bool:
        """True if markdown characters are escaped, so that the result is markdown."""
        return self.escape is escape_markdown

    def format_content(self, el: Element, skip: Collection[str] = ()) -> str:
        """Return the element's content as running text, with whitespace unchanged."""
        text = el.text
        if not len(el):
            return self.escape(text) if text else ""
        if self._depth > _DEEPEST:
            return self.escape(get_all_text(el, " "))
        self._depth += 1
        clean, inline_of = self.escape, self.inline_of
        parts = [clean(text)] if text else []
        for child in list_children(el):
            tag = child.tag
            if tag not in skip:
                handler = inline_of.get(tag)
                parts.append(
                    handler(child, self) if handler else self._format_unknown_element(child)
                )
            if tail := child.tail:
                parts.append(clean(tail))
        self._depth -= 1
        return "".join(parts)

    def format_element(self, el: Element) -> str:
        """Return the element itself as running text."""
        if self._depth > _DEEPEST:
            return self.escape(get_all_text(el, " "))
        self._depth += 1
        handler = self.inline_of.get(el.tag)
        text = handler(el, self) if handler else self._format_unknown_element(el)
        self._depth -= 1
        return text

    def format_element_line(self, el: Element) -> str:
        """Return the element itself on one tidy line."""
        return tidy_markdown_line(self.format_element(el))

    def format_line(self, el: Element | None, skip: Collection[str] = ()) -> str:
        """Return the element's content on one tidy line; empty without an element."""
        if el is None:
            return ""
        if len(el):
            return tidy_markdown_line(self.format_content(el, skip).replace("<br>", " "))
        text = el.text
        return (text or "") if not text or text.isalnum() else tidy_markdown_line(self.escape(text))

    def write_content(self, el: Element, skip: Collection[str] = ()) -> None:
        """Write the element's content: text as paragraphs, block elements as blocks."""
        if self._depth > _DEEPEST:
            self.write_paragraph(self.escape(get_all_text(el, " ")))
            return
        self._depth += 1
        clean, inline_of, block_of = self.escape, self.inline_of, self.block_of
        text = el.text
        parts = [clean(text)] if text else []
        for child in list_children(el):
            tag = child.tag
            block = block_of.get(tag)
            if tag in skip:
                pass
            elif not block and (handler := inline_of.get(tag)):
                parts.append(handler(child, self))
            elif block or (block := self._choose_container_writer(child)):
                if parts:
                    self.write_paragraph("".join(parts))
                    parts = []
                block(child, self)
            else:
                parts.append(self._format_unknown_element(child))
            if tail := child.tail:
                parts.append(clean(tail))
        if parts:
            self.write_paragraph("".join(parts))
        self._depth -= 1

    def write_element(self, el: Element) -> None:
        """Write the element itself: by its block writer, or else as a paragraph."""
        block = self.block_of.get(el.tag)
        if block is None:
            self.write_paragraph(self.format_element(el))
        elif self._depth > _DEEPEST:
            self.write_paragraph(self.escape(get_all_text(el, " ")))
        else:
            self._depth += 1
            block(el, self)
            self._depth -= 1

    def collect_blocks(
        self, el: Element, skip: Collection[str] = (), itself: bool = False
    ) -> list[str]:
        """Return the blocks of the element's content (or of the element *itself*), unwritten."""
        outer, self.blocks = self.blocks, []
        lead, self.lead = self.lead, ""
        self._nested += 1
        if itself:
            self.write_element(el)
        else:
            self.write_content(el, skip)
        self.write_unused_lead()
        self._nested -= 1
        self.lead = lead
        found, self.blocks = self.blocks, outer
        return found

    def _choose_container_writer(self, el: Element) -> Block | None:
        """Return a writer for an unknown element that contains blocks; else None."""
        if not len(el):
            return None
        if any(child.tag in self.block_of for child in el.iterdescendants()):
            return lambda inner, walk: walk.write_content(inner)
        return None

    def _format_unknown_element(self, el: Element) -> str:
        if not isinstance(el.tag, str):  # an undeclared entity
            return self.escape(html.unescape(el.text or ""))
        if el.tag in self.block_of:
            blocks = " ".join(self.collect_blocks(el, itself=True)).replace("\n", " ")
            return f" {blocks.replace('$$', '$')} "
        return self.format_content(el)

    # --- writing ------------------------------------------------------------------------------

    def write_paragraph(self, text: str) -> None:
        """Write running text as a paragraph; an empty text is skipped."""
        text = tidy_markdown_line(text)
        if not text:
            return
        if self.counting:
            self.words += text.count(" ") + 1
        if self.lead:
            # The words of a lead (a label) are not counted as words of the paper.
            text, self.lead = collapse_whitespace(f"{self.lead}{text}"), ""
        self._append_block(escape_block_start(text) if self.is_markdown else text)

    def add_block(self, block: str) -> None:
        """Append a block of finished markdown."""
        self.write_unused_lead()
        if block:
            self._append_block(block)

    def write_heading(self, text: str) -> None:
        """Write a heading at the current level; an empty text is skipped."""
        if text:
            self.add_block(f"{'#' * min(self.level, _LOWEST_HEADING)} {strip_bold(text)}")

    def write_unused_lead(self) -> None:
        """Write the pending lead text if no paragraph has used it."""
        lead, self.lead = collapse_whitespace(self.lead), ""
        if lead:
            self._append_block(lead)

    def _append_block(self, block: str) -> None:
        self.blocks.append(block)
        if self.footnotes and not self._nested:
            self.blocks.extend(self.footnotes)
            self.footnotes = []


def get_all_text(el: Element, between: str = "") -> str:
    """Return all text in the element, regardless of tags."""
    return between.join(map(str, el.itertext()))


def has_own_text(el: Element, children: list[Element]) -> bool:
    """Return whether text comes before, between or after the element's *children*."""
    if (text := el.text) and not text.isspace():
        return True
    return any((tail := child.tail) and not tail.isspace() for child in children)


def keep_unescaped(text: str) -> str:
    """Return the text unchanged; used for output other than markdown."""
    return text


def collapse_whitespace(text: str) -> str:
    """Return text on one line, with single spaces and none at the ends."""
    # Only the plain blank is printable. Most texts are seen to be tidy faster than they are made.
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    return " ".join(text.split())


def tidy_markdown_line(text: str) -> str:
    r"""Return markdown on one tidy line, with punctuation spaced as in print.

    Line breaks of the XML layout leave no space inside brackets or before a comma, and emphasis
    marks are converted, since their neighbours are known.

    >>> tidy_markdown_line("a (\n*b*\n) x<sup>[</sup>\n<sup>1</sup>\n,\n<sup>2</sup><sup>]</sup>")
    'a (*b*) x<sup>[1, 2]</sup>'
    """
    text = convert_emphasis_marks(text)
    if "\n" in text:
        lines = [" ".join(words) for line in text.split("\n") if (words := line.split())]
        text = _LAYOUT.sub("", "\n".join(lines))
        text = _RAISED_LIST.sub(_join_superscripts, text).replace("\n", " ")
    text = collapse_whitespace(text)
    return _BREAK.sub("<br>", text) if "<br>" in text else text


def _join_superscripts(match: re.Match[str]) -> str:
    return f"<sup>[{re.sub('</?sup>', '', match[1]).rstrip()}]</sup>"


def escape_block_start(text: str) -> str:
    r"""Escape the beginning of a paragraph that looks like a heading, list, quote or table.

    >>> escape_block_start("1. This is a sentence"), escape_block_start("# 5")
    ('1\\. This is a sentence', '\\# 5')
    """
    if text[:1] not in _BLOCK_STARTERS or not (match := _BLOCK_START.match(text)):
        return text
    if match[1]:
        return f"{match[1]}\\{match[2]}{text[match.end() :]}"
    return "\\" + text


def strip_bold(text: str) -> str:
    """Return text without bold marks around all of it.

    >>> strip_bold("**Ethics**"), strip_bold("**a** and **b**")
    ('Ethics', '**a** and **b**')
    """
    inner = text[2:-2]
    whole = text.startswith("**") and text.endswith("**") and "**" not in inner
    return inner if whole and inner[:1] != "*" and inner[-1:] not in {"*", "\\"} else text


def escape_cell(text: str) -> str:
    r"""Return text that can be put in a cell of a pipe table.

    >>> escape_cell("a|b")
    'a\\|b'
    """
    return text.replace("|", "\\|").replace("\n", "<br>")


def format_link(text: str, href: str, kind: str = "") -> str:
    """Return a link with a safe scheme, or the bare URL if it equals the text.

    *text* is markdown. With a scheme other than http, https, ftp and mailto, only the text is
    returned.

    >>> format_link("site", "https://example.org/a b(c)"), format_link("x", "javascript:alert(1)")
    ('[site](https://example.org/a%20b%28c%29)', 'x')
    """
    href = href.strip()
    if _BARE_DOI.fullmatch(href) and kind == "doi":
        href = f"https://doi.org/{href}"
    href = quote(href, safe="!#$%&'*+,/:;=?@[]~")
    if not _SAFE_LINK.fullmatch(href):
        return text
    bare = text.replace("\\", "").strip()
    if not bare or _strip_url_prefix(bare) == _strip_url_prefix(href):
        return bare or href
    return f"[{text}]({href})"


def _strip_url_prefix(url: str) -> str:
    return re.sub(r"^(?:https?://(?:dx\.|www\.)?(?:doi\.org/)?|mailto:|www\.)", "", url).rstrip("/")


def format_quote(blocks: list[str]) -> str:
    """Return blocks as one block quote; empty without any text."""
    text = "\n\n".join(blocks)
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else ""


def is_nested_list(blocks: list[str]) -> bool:
    """Return whether the blocks of a list item are a line followed by a list."""
    return len(blocks) == 2 and blocks[1].lstrip().startswith(("- ", "1. "))


def to_roman(number: int) -> str:
    """Return a number in lower-case Roman numerals.

    >>> to_roman(1994)
    'mcmxciv'
    """
    numeral = ""
    for value, letters in _ROMAN:
        numeral += letters * (number // value)
        number %= value
    return numeral


def format_code_block(text: str, language: str = "") -> str:
    """Return a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def convert_emphasis_marks(text: str) -> str:
    r"""Return a line with its internal emphasis marks converted to markdown.

    >>> convert_emphasis_marks("\x01Ptdsr-\x02null \x03n\x04th, sp\x01. nov\x02")
    '*Ptdsr*-null nth, sp. *nov*'
    """
    if "\x01" in text or "\x03" in text:
        return _EmphasisLine(text).to_markdown()
    return text


class _EmphasisLine:
    """A line split at its emphasis marks: texts at even indices, marks at odd ones."""

    def __init__(self, text: str) -> None:
        # Marks of a kind that meet are one.
        text = text.replace("\x02\x01", "").replace("\x04\x03", "")
        self._parts = _MARK.split(text)
        self._with_links = "](" in text

    def to_markdown(self) -> str:
        """Return the line with each mark converted, moved or dropped, inner marks first."""
        parts = self._parts
        begun: list[int] = []
        for at in range(1, len(parts), 2):
            mark = parts[at]
            if mark not in _BEGINS:
                begun.append(at)
            elif begun and parts[begun[-1]] == _BEGINS[mark]:
                start = begun.pop()
                within_its_kind = any(parts[place] == _BEGINS[mark] for place in begun)
                if within_its_kind or not self._is_emphasis(start, at):
                    parts[start] = parts[at] = ""
            else:
                parts[at] = ""
        return "".join([_WRITTEN.get(part, part) for part in parts])

    def _is_emphasis(self, start: int, end: int) -> bool:
        """Return whether the marks at *start* and *end* form emphasis, moved inwards if needed."""
        if not any(map(_WORD.search, self._parts[start + 1 : end : 2])):
            return False
        return self._can_open_emphasis(start) and self._can_close_emphasis(end)

    def _can_open_emphasis(self, at: int) -> bool:
        for _ in range(_TIMES):
            before, after = self._get_char_before(at), self._get_char_after(at)
            if after.isalnum():
                return not before.isalnum()
            # Between two signs a mark could as well end what began before.
            if after and not after.isspace() and (not before or before.isspace()):
                return True
            inner = self._parts[at + 1]
            moved = _LEADING[self._with_links].match(inner)
            if moved is None:
                return False
            self._parts[at - 1] += moved[0]
            self._parts[at + 1] = inner[moved.end() :]
        return False

    def _can_close_emphasis(self, at: int) -> bool:
        for _ in range(_TIMES):
            before, after = self._get_char_before(at), self._get_char_after(at)
            if before.isalnum():
                return not after.isalnum()
            if before and not before.isspace() and (not after or after.isspace()):
                return True
            inner = self._parts[at - 1]
            edge = max(0, len(inner) - _EDGE)
            moved = _TRAILING[self._with_links].search(inner, edge)
            if moved is None:
                return False
            self._parts[at + 1] = moved[0] + self._parts[at + 1]
            self._parts[at - 1] = inner[: moved.start()]
        return False

    def _get_char_before(self, at: int) -> str:
        """Return the character before a mark, skipping other marks."""
        while (at := at - 1) >= 0:
            part = self._parts[at]
            if part and part not in _WRITTEN:
                return part[-1]
        return ""

    def _get_char_after(self, at: int) -> str:
        """Return the character after a mark, skipping other marks."""
        while (at := at + 1) < len(self._parts):
            part = self._parts[at]
            if part and part not in _WRITTEN:
                return part[0]
        return ""
