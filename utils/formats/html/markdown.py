"""An article's HTML as markdown: markdownify with its known holes closed.

markdownify 1.2 leaves ``|`` in cells unescaped, ignores ``rowspan``, lets ``javascript:`` links
through, drops sub- and superscripts and runs out of stack at some 400 nested boxes (measured).
Text that looks like a tag is escaped, so that nothing a page wrote can act in a viewer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bs4.element import NavigableString, Tag
from markdownify import ATX, MarkdownConverter

from ..displayed import plain_tex, without_bars
from .claims import absolute
from .tables import reunite, square

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 90  # levels; each costs markdownify three of Python's thousand stack frames
_SEARCHES = re.compile(
    r"https?://scholar\.google\.[a-z.]+/"
)  # for a name or a title, not the thing
_LINKS = ("http", "https", "mailto", "ftp")
_BLOCKS = re.compile(r"^(p|div|section|li|h[1-6]|tr|table|ul|ol|dl|figure|article)$")


class _Converter(MarkdownConverter):
    """Markdown as the shelf keeps it."""

    def __init__(self, url: str) -> None:
        super().__init__(
            heading_style=ATX,
            bullets="-",
            sub_symbol="<sub>",
            sup_symbol="<sup>",
            escape_underscores=False,
            autolinks=False,
            wrap=True,  # at no width: where the page's source breaks lines says nothing
            wrap_width=None,
        )
        self.url = url
        self.said_above = ""  # the caption of the table that is being converted

    def escape(self, text: str, parent_tags: set[str]) -> str:
        """Keep text text: no emphasis, tag or cell border that the page did not mean."""
        escaped = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.replace("*", r"\*"))
        return escaped.replace("|", r"\|") if {"td", "th"} & parent_tags else escaped

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Keep links that lead out to the web; one into the page itself is only its text."""
        target = safe_link(self.url, str(el.get("href") or ""))
        shown = text.strip()
        if not target or not shown or "_noformat" in parent_tags:
            return text
        before, _, after = text.partition(shown)
        return f"{before}[{shown}]({target}){after}"

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """Pictures are not text, except those of formulas."""
        names = " ".join(
            [*(el.get("class") or []), str(el.parent.get("class") or "") if el.parent else ""]
        )
        alt = " ".join(str(el.get("alt") or "").split())
        wanted = re.search(r"math|equation|formula|\btex\b", names, re.I)
        return self.escape(alt, parent_tags) if wanted else ""

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """An item with its number, which markdownify would count anew for each."""
        bullet = f"{el['data-number']}. " if "data-number" in el.attrs else "- "
        shown = re.sub(r"^(?=.)", " " * len(bullet), text.strip(), flags=re.M)
        return f"{bullet}{shown.lstrip()}\n" if shown else "\n"

    def convert_math(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """TeX where the page carries it beside the MathML."""
        tex = el.find("annotation", attrs={"encoding": re.compile("tex", re.I)})
        source = plain_tex(tex.get_text() if tex is not None else str(el.get("alttext") or ""))
        if not source:
            return " ".join(text.split())
        if {"td", "th"} & parent_tags:
            return f"${without_bars(source)}$"
        return f"\n\n$${source}$$\n\n" if el.get("display") == "block" else f"${source}$"

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        said, self.said_above = self.said_above, ""
        above = f"\n\n{said}\n\n" if said else "\n\n"
        return above + text.strip() + "\n\n"

    def convert_caption(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A caption stands above its table; see `convert_table`, and `square` for its place."""
        said = " ".join(text.split())
        if el.parent is None or el.parent.name != "table":
            return f"\n\n{said}\n\n"
        self.said_above = said
        return ""


def to_markdown(root: Tag, url: str) -> str:
    """Convert *root* to markdown; links become absolute against *url*. Changes the tree."""
    reunite(root)
    for table in root.find_all("table"):
        square(table)
    for numbered in root.find_all("ol"):
        _number(numbered)
    _flatten(root)
    try:
        text = str(_Converter(url).convert_soup(root))
    except RecursionError:
        text = _plain(root)
    return tidy(text)


def safe_link(base: str, href: str) -> str:
    r"""*href* as an address a reader may follow, or empty.

    >>> safe_link("https://a.test/x", "#ref1"), safe_link("https://a.test/x", "Java\tscript:y()")
    ('', '')
    """
    bare = re.sub(r"[\x00-\x20<>]+", "", href)
    if not bare or bare.startswith("#"):
        return ""
    try:
        scheme = urlsplit(bare).scheme.lower()
    except ValueError:
        return ""
    if scheme in ("mailto", "ftp"):
        target = bare
    elif scheme and scheme not in _LINKS:
        return ""
    else:
        target = absolute(base, bare)
    if target.partition("#")[0] == base.partition("#")[0] or _SEARCHES.match(target):
        return ""
    return target.replace("(", "%28").replace(")", "%29")


def tidy(text: str) -> str:
    """Markdown without trailing blanks, runs of empty lines and control characters."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff\xad]", "", text.replace("\r\n", "\n"))
    text = "\n".join(line.rstrip() for line in text.replace("\xa0", " ").split("\n"))
    text = re.sub(r"^(#{1,6} [^\n]*)\n(?!\n)", r"\1\n\n", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _number(listed: Tag) -> None:
    start = str(listed.get("start") or "1")
    first = int(start) if start.isdecimal() and len(start) < 9 else 1
    for number, item in enumerate(listed.find_all("li", recursive=False), first):
        item["data-number"] = str(number)


def _flatten(root: Tag) -> None:
    """Turn whatever is nested deeper than any honest page into plain paragraphs."""
    deep = [tag for depth, tag in _levels(root) if depth == _DEEPEST]
    for tag in deep:
        text = _plain(tag)
        tag.clear()
        tag.append(NavigableString(text))


def _levels(root: Tag) -> Iterator[tuple[int, Tag]]:
    level = [root]
    depth = 0
    while level:
        yield from ((depth, tag) for tag in level)
        level = [child for tag in level for child in tag.find_all(True, recursive=False)]
        depth += 1


def _plain(tag: Tag) -> str:
    """The text of *tag*, a paragraph for each block."""
    pieces: list[str] = []
    for node in tag.descendants:
        if isinstance(node, Tag):
            pieces.append("\n\n" if _BLOCKS.match(node.name) else "")
        else:
            pieces.append(re.sub(r"<(?=[A-Za-z/!?])", "&lt;", str(node)))
    paragraphs = ("".join(pieces)).split("\n\n")
    return "\n\n".join(shown for text in paragraphs if (shown := " ".join(text.split())))
