"""Which lines and blocks of a PDF are headings: by their words, number, font and size.

What is none: banners and authors above the text, names of compounds, labels of figures, notes in
the margin, titles of works in the list of references.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from ..outline.roles import roles_of
from ..outline.sections import part_of
from ..outline.words import folded
from .pdf_lines import Line, is_below, same_style

ABSTRACT = re.compile(r"(abstract|summary)\s*(?:[:.\u2014\u2013-]\s*|\s(?=[A-Z]))(?=\S)", re.I)
ENDS = (".", "!", "?", ":", ".\u201d", '."', ".)", ".]")
_HEADING_SIZE = 1.12  # of the body's: less is another font, not a heading
_HEADING_WORDS = 18
_FEW_WORDS = 7  # of titles that all papers have
_SPELLED = re.compile(r"[^\W\d_]{2}")
BY_FONT = 3  # the level of headings that only their font tells from text
_DISPLAY_SHARE = 0.06  # of the text's characters, that a font of headings has at most
_FEWEST_HEADINGS, _HEADING_RUNS = 3, 0.7  # in a font, that show it is one of headings
_TEXT_WORDS = 5  # of a line of text below a heading; labels of figures have fewer
_HEADING_LEAST = 0.85  # of the size of the text below; the boxes of fonts of one size differ
_CANONICAL = re.compile(
    r"(?:\d+\.?\d*\.?\s+|[IVX]+\.\s+)?(?:introduction|background|(?:materials?|patients?|subjects?)"
    r" and methods?|methods?(?: and materials?)?|methodology|experimental(?: section| procedures)?"
    r"|results?(?: and discussions?)?|discussions?(?: and conclusions?)?|conclusions?"
    r"|concluding remarks|case (?:report|presentation)|limitations|objectives?|aims?)\W*",
    re.I,
)
_LABEL = re.compile(r"(?:table|fig(?:ure)?|scheme|box|chart|plate)\b\.?\s?[A-Z]?\d", re.I)
_NUMBERED_TITLE = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?(?:\s?\|)?\s+[^\W\d_]")
_RUN_IN = re.compile(  # "R. carthamoides" ends no title
    r"(\d{1,2}(?:\.\d{1,2}){1,3}\.?\s[^\W\d_].{2,240}?(?:[^\W\d_]{3}|[)\d]))\.\s+(?=[\"\u201c(]?[A-Z])"
)
_SIDEBAR = re.compile(
    r"(?:key ?words?|correspondence|corresponding author|edited by|reviewed by|citation|received"
    r"|accepted|published|open access|how to cite|copyright)\b",
    re.I,
)
_SMALL_PRINT = re.compile(r"([A-Z][^.:]{5,60}):\s+(?=[A-Z])")
_OFTEN = 4
_AUTHORS = re.compile(r"[^\W\d_],?\d{1,2}\b.{3,80}[^\W\d_],?\d{1,2}\b")
_LOCANT = re.compile(r"(?:^|[(\[\-\u2013])\d{1,2}[a-zA-Z']?(?:,\d{1,2}[a-zA-Z']?)*-\S*[a-z]{3}")
_COMPOUND = re.compile(r"\(?\d{1,3}[a-z]?(?:[\u2013-]\d{0,3}[a-z]?)?\)?\W*$")  # 3a, (12a-c)
_RUN_ON = re.compile(
    r"[^\W\d_]{3}\. [^\W\d_a-z][^\W\d_]* "
)  # a sentence behind a title in its line
_LONG_TITLE = 30  # words
_PARAGRAPH_WORDS = 80  # a text that long is no banner
_PREFIX = re.compile(  # of a heading: 2.1., 3 |, 4), (a), ii), IV.
    r"(?:\d{1,2}(?:\.\d{1,2}){0,3}(?:[.)]|\s?\|)?|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])\)|[IVX]{1,4}\.)"
    r"\s+(?=[^\W\d_])"
)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (``level`` above 0), a paragraph or a table; or what is said of one not rebuilt.

    What stands *aside* interrupts the text and is no part of it: tables, remarks, margins.
    """

    text: str
    level: int = 0
    size: float = 0.0  # of its first line
    rows: tuple[tuple[str, ...], ...] = ()  # of a table, which has no text
    is_remark: bool = False
    is_aside: bool = False


def display_fonts(lines: list[Line]) -> set[str]:
    """The fonts that headings are set in: rare, and in short lines above running text.

    Their names seldom say that they are bold.
    """
    runs = [list(run) for _, run in groupby(lines, key=lambda line: line.font)]
    shares: Counter[str] = Counter()
    for run in runs:
        shares[run[0].font] += sum(len(line.text) for line in run)
    counts = Counter(run[0].font for run in runs)
    fits = Counter(run[0].font for run, (text, *_) in pairwise(runs) if _may_head(run, text))
    return {
        font
        for font, count in fits.items()
        if font
        and count >= max(_FEWEST_HEADINGS, _HEADING_RUNS * counts[font])
        and shares[font] <= _DISPLAY_SHARE * shares.total()
    }


def _may_head(run: list[Line], text: Line) -> bool:
    """Whether lines of one font may be a heading above *text*."""
    first = run[0]
    return (
        sum(len(line.text.split()) for line in run) <= _HEADING_WORDS
        and len(text.text.split()) >= _TEXT_WORDS
        and first.size > _HEADING_LEAST * text.size
        and not first.holes
        and begins_large(first.text)
        and not run[-1].text.endswith((".", ",", ";"))
    )


def level_of(line: Line, body: float, bold_body: bool, display: set[str]) -> int:
    """The level of heading a line looks like, 0 for text."""
    words = line.text.split()
    if (
        line.kind != "text"
        or line.holes
        or len(words) > _HEADING_WORDS
        or not _SPELLED.search(line.text)
    ):
        return 0
    is_display = (line.bold and not bold_body) or line.font in display
    if len(words) > _FEW_WORDS and not is_display and line.size < _HEADING_SIZE * body:
        return 0
    if is_canonical(line.text) or (
        len(words) <= 5 and part_of(line.text) in ("abstract", "references")
    ):
        return 2
    short = (
        len(words) <= 12
        and not line.text.endswith((".", ",", ";", ":"))
        and begins_large(line.text)
    )
    if line.text.endswith(":") or _SIDEBAR.match(line.text) or is_compound(line.text):
        return 0
    if _RUN_ON.search(line.text):
        return 0
    is_back = len(words) <= 6 and part_of(line.text) == "back" and not line.text.endswith(".")
    if is_back and (line.bold or line.size > body):
        return 2
    if line.size >= _HEADING_SIZE * body and len(line.text) > 3:
        return 2 if line.size >= 1.25 * body else 3
    numbered = _PREFIX.match(line.text) and begins_large(line.text) and not line.text.endswith(".")
    if _LABEL.match(line.text):
        return 0
    return BY_FONT if is_display and (short or numbered) else 0


def begins_large(text: str) -> bool:
    """Whether a text begins as titles do, a number before it aside."""
    number = _PREFIX.match(text)
    first = text[number.end() if number else 0]
    return first.isupper() or first.isdigit()


def is_compound(text: str) -> bool:
    """Whether a line is the name of a compound, as syntheses are headed, and no section's.

    >>> is_compound("2-(4-Chlorophenyl)-4H-chromen-4-one (3a)"), is_compound("3-Month outcomes")
    (True, False)
    """
    if "-" not in text:
        return False
    words = text.split()
    named = sum(bool(_LOCANT.search(word)) for word in words)
    return 2 * named > len(words) or (named > 0 and len(words) > 1 and bool(_COMPOUND.search(text)))


def is_canonical(text: str) -> bool:
    """Whether a line is a title that papers have; in small letters it is a sentence's last word."""
    return bool(_CANONICAL.fullmatch(text)) and not text[0].islower()


def without_banners(blocks: list[Block]) -> Iterator[Block]:
    """No headings before the text begins, nor such as come again and again.

    There stand names of journals, of types and authors; and pages and figures have their labels.
    """
    begins = next((at for at, block in enumerate(blocks) if _begins_text(block)), 0)
    above = blocks[begins - 1]
    if begins and not blocks[begins].level and above.level and not _AUTHORS.search(above.text):
        begins -= 1  # what stands right above the first paragraph is its title
    often = Counter(key for block in blocks if block.level and (key := _key(block)))
    for at, block in enumerate(blocks):
        is_banner = block.level and (at < begins or often[_key(block)] >= _OFTEN)
        yield replace(block, level=0) if is_banner else block


def without_column_heads(blocks: Iterable[Block]) -> Iterator[Block]:
    """No headings among the words of a table that was not rebuilt, which follow as text."""
    in_table = False
    for block in blocks:
        named = block.level and (_PREFIX.match(block.text) or roles_of(block.text))
        ends = named or (not block.level and len(block.text.split()) >= _PARAGRAPH_WORDS)
        in_table = block.is_remark or (in_table and not ends)
        yield replace(block, level=0) if in_table else block


def _key(block: Block) -> str:
    """What a heading says; nothing where several sections of a paper may be called that."""
    return "" if roles_of(block.text) else "".join(folded(block.text))


def _begins_text(block: Block) -> bool:
    if block.level:
        return is_canonical(block.text) or bool(roles_of(block.text))
    return bool(ABSTRACT.match(block.text)) or len(block.text.split()) >= _PARAGRAPH_WORDS


def with_small_print(blocks: list[Block]) -> Iterator[Block]:
    """*Conflict of interest: The authors …* below a heading of its own, behind the text."""
    for at, block in enumerate(blocks):
        may_be = not block.level and 2 * at > len(blocks) and not _SIDEBAR.match(block.text)
        match = _SMALL_PRINT.match(block.text) if may_be else None
        if match and part_of(match[1]) == "back":
            yield Block(match[1], BY_FONT, block.size)
            yield replace(block, text=block.text[match.end() :])
        else:
            yield block


def with_run_ins(blocks: list[Block]) -> Iterator[Block]:
    """Numbered headings by themselves in papers where the text follows them in the same line."""
    titles = [match[1] for block in blocks if (match := _RUN_IN.match(block.text))]
    usual = sum(len(title.split()) <= _HEADING_WORDS for title in titles) >= _FEWEST_HEADINGS
    at = 0
    while at < len(blocks):
        block = blocks[at]
        at += 1
        is_open = block.level and at < len(blocks) and not blocks[at].level
        numbered = is_open and _NUMBERED_TITLE.match(blocks[at].text)
        if usual and is_open and not numbered and not block.text.endswith(ENDS):
            both = _RUN_IN.match(f"{block.text} {blocks[at].text}")
            if both and len(both[1]) > len(block.text):
                block = replace(blocks[at], text=f"{block.text} {blocks[at].text}")
                at += 1
        match = _RUN_IN.match(block.text) if usual and not block.rows else None
        if match and len(match[1].split()) <= _LONG_TITLE:
            yield Block(match[1], 1 + match[1].split()[0].strip(".").count(".") + 1, block.size)
            yield replace(block, text=block.text[match.end() :], level=0)
        else:
            yield block


def with_numbered(blocks: Iterable[Block]) -> Iterator[Block]:
    """Make 2.1, 2.2, 2.2.1 headings, whatever they look like, where each follows the one before.

    Their numbers say how deep headings stand, better than fonts do.
    """
    last: tuple[int, ...] = ()
    for block in blocks:
        match = _NUMBERED_TITLE.match(block.text)
        number = tuple(map(int, match[1].split("."))) if match else ()
        deep = min(6, 1 + len(number))
        goes_on = bool(number) and (number == (1,) or _follows(number, last))
        if block.level and number:
            last = number
            yield replace(block, level=deep) if goes_on or len(number) > 1 else block
        elif len(number) > 1 and goes_on and _is_title(block.text):
            last = number
            yield replace(block, level=deep)
        else:
            yield block


def _follows(number: tuple[int, ...], last: tuple[int, ...]) -> bool:
    shorter = last[: len(number)]
    return number == (*last, 1) or (
        number[:-1] == shorter[:-1]
        and len(shorter) == len(number)
        and number[-1] == shorter[-1] + 1
    )


def _is_title(text: str) -> bool:
    return len(text.split()) <= _HEADING_WORDS and not text.endswith((".", ",", ";", ":"))


def continues(previous: Line, line: Line) -> bool:
    """Whether *line* is in the same font right below, so that both are heading, or none."""
    together = same_style(previous, line) and is_below(previous, line)
    alike = previous.font == line.font != "" or (previous.bold and line.bold)
    return together and alike and not is_next_title(previous, line)


def is_next_title(previous: Line, line: Line) -> bool:
    """Whether a heading right below a heading is another: *Methods*, *2.1 Animals*."""
    if _PREFIX.match(line.text) or is_canonical(line.text):
        return True
    return is_canonical(previous.text) and begins_large(line.text)
