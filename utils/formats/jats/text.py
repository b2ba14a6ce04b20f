"""Plain text into markdown text: what must be escaped, and what must not.

Papers are full of ``*``, ``<`` and ``_``. Only the ones a markdown reader would take for markup get
a backslash, so that the text stays searchable. Rules: CommonMark 0.31 and GitHub's tables.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from .emphasis import with_emphasis

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


def escape(text: str) -> str:
    r"""Mark what markdown would misread.

    >>> escape("P*<a> but p < 0.05 and q * r, id_no, US$5")
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


def unchanged(text: str) -> str:
    """The text as it is, where no markdown is written."""
    return text


def tidy(text: str) -> str:
    """One line, single blanks, none at the ends."""
    # Only the plain blank is printable. Most texts are seen to be tidy faster than they are made.
    if text.isprintable() and "  " not in text:
        return text.strip(" ")
    return " ".join(text.split())


def one_line(text: str) -> str:
    r"""Markdown on one tidy line, as print would set it.

    Line breaks that only lay out the XML leave no blank inside brackets or before a comma, and
    emphasis is written where its neighbours are known.

    >>> one_line("a (\n*b*\n) x<sup>[</sup>\n<sup>1</sup>\n,\n<sup>2</sup><sup>]</sup>")
    'a (*b*) x<sup>[1, 2]</sup>'
    """
    text = with_emphasis(text)
    if "\n" in text:
        lines = [" ".join(words) for line in text.split("\n") if (words := line.split())]
        text = _LAYOUT.sub("", "\n".join(lines))
        text = _RAISED_LIST.sub(_raised_once, text).replace("\n", " ")
    text = tidy(text)
    return _BREAK.sub("<br>", text) if "<br>" in text else text


def _raised_once(match: re.Match[str]) -> str:
    return f"<sup>[{re.sub('</?sup>', '', match[1]).rstrip()}]</sup>"


def guard_start(text: str) -> str:
    r"""Keep a paragraph from beginning like a heading, list, quote or table.

    >>> guard_start("1. This is a sentence"), guard_start("# 5")
    ('1\\. This is a sentence', '\\# 5')
    """
    if text[:1] not in _BLOCK_STARTERS or not (match := _BLOCK_START.match(text)):
        return text
    if match[1]:
        return f"{match[1]}\\{match[2]}{text[match.end() :]}"
    return "\\" + text


def unbold(text: str) -> str:
    """Text without the bold marks around all of it, where bold goes without saying.

    >>> unbold("**Ethics**"), unbold("**a** and **b**")
    ('Ethics', '**a** and **b**')
    """
    inner = text[2:-2]
    whole = text.startswith("**") and text.endswith("**") and "**" not in inner
    return inner if whole and inner[:1] != "*" and inner[-1:] not in {"*", "\\"} else text


def in_cell(text: str) -> str:
    r"""Text that may stand in a cell of a pipe table.

    >>> in_cell("a|b")
    'a\\|b'
    """
    return text.replace("|", "\\|").replace("\n", "<br>")


def link(text: str, href: str, kind: str = "") -> str:
    """A link with a harmless scheme; the bare address where text and address are the same.

    *text* is markdown already. Anything but http, https, ftp and mailto leaves the text alone.

    >>> link("site", "https://example.org/a b(c)"), link("x", "javascript:alert(1)")
    ('[site](https://example.org/a%20b%28c%29)', 'x')
    """
    href = href.strip()
    if _BARE_DOI.fullmatch(href) and kind == "doi":
        href = f"https://doi.org/{href}"
    href = quote(href, safe="!#$%&'*+,/:;=?@[]~")
    if not _SAFE_LINK.fullmatch(href):
        return text
    bare = text.replace("\\", "").strip()
    if not bare or _address(bare) == _address(href):
        return bare or href
    return f"[{text}]({href})"


def _address(url: str) -> str:
    return re.sub(r"^(?:https?://(?:dx\.|www\.)?(?:doi\.org/)?|mailto:|www\.)", "", url).rstrip("/")


def block_quote(blocks: list[str]) -> str:
    """Blocks as one block quote; empty without any text."""
    text = "\n\n".join(blocks)
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else ""


def is_nested_list(blocks: list[str]) -> bool:
    """Whether the blocks of a list item are a line with a list under it."""
    return len(blocks) == 2 and blocks[1].lstrip().startswith(("- ", "1. "))


def roman(number: int) -> str:
    """A number in small Roman numerals.

    >>> roman(1994)
    'mcmxciv'
    """
    made = ""
    for value, letters in _ROMAN:
        made += letters * (number // value)
        number %= value
    return made


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
