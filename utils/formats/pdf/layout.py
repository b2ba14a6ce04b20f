"""From the lines of a PDF's pages to markdown: order, running heads, hyphens, headings.

A PDF knows no paragraph, heading or column; all of it is guessed from place, size and
repetition, in pure Python, so that it can be tested without a PDF.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ..sections import part_of
from ..words import folded
from .lines import Line

_MARGIN = 0.1  # of the page's height: where running heads and feet stand
_REPEATED = 0.4  # of the pages: heads alternate between left and right pages
_NUMBERED = 8  # lines a page: a manuscript's line numbers, not a table's column
_HEADING_SIZE = 1.12  # of the body's: less is another font, not a heading
_HEADING_WORDS = 18
_GUTTER = (0.3, 0.7)  # of the page's width: where the white between two columns may be
_CROSSING = 0.15  # of the text: titles, tables and wide figures cross the gutter
_MIXED = 0.3  # of the rows: with more pieces on both sides, PDFium read across the columns
_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?\d{1,5}(?:\s*(?:of|/)\s*\d{1,5})?\W*", re.I)
_PAGE_OF = re.compile(
    r"\bpage (\d{1,4}) ?(?:of|/) ?(\d{1,4})\b|^\W*(\d{1,4}) of (\d{1,4})\W*$", re.I
)
_CANONICAL = re.compile(
    r"(?:\d+\.?\d*\.?\s+|[IVX]+\.\s+)?(?:introduction|background|(?:materials?|patients?|subjects?)"
    r" and methods?|methods?(?: and materials?)?|methodology|experimental(?: section| procedures)?"
    r"|results?(?: and discussions?)?|discussions?(?: and conclusions?)?|conclusions?"
    r"|concluding remarks|case (?:report|presentation)|limitations|objectives?|aims?)\W*",
    re.I,
)
_TYPE = re.compile(
    r"^(?:(?:original |research |review |short |mini ?)*(?:article|review|communication|research)"
    r"|case report|open access|letter)\W+(?=[A-Z])",
    re.I,
)
_ABSTRACT = re.compile(r"(abstract|summary)\s*(?:[:.\u2014\u2013-]\s*|\s(?=[A-Z]))(?=\S)", re.I)
_ENTRY = re.compile(r"\[?\d{1,3}[\].)]\s+\S|\[\d{1,3}\]")
_ENDS = (".", "!", "?", ":", ".\u201d", '."', ".)", ".]")


@dataclass(frozen=True, slots=True)
class Page:
    """A page's lines, in stream order, and its size in points."""

    lines: tuple[Line, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (``level`` above 0) or a paragraph."""

    text: str
    level: int = 0


def to_blocks(pages: list[Page], title: str) -> list[Block]:
    """Headings and paragraphs of the whole text, in reading order, without the title."""
    ordered = [replace(page, lines=tuple(_in_order(page))) for page in pages]
    clean = _without_running_lines([_without_line_numbers(page) for page in ordered])
    lines = [line for page in clean for line in page.lines]
    if not lines:
        return []
    wanted = "".join(folded(title))
    body = _body_size(lines)
    found = (block for block in _blocks(lines, body) if "".join(folded(block.text)) != wanted)
    return list(_with_abstract(found))


def _with_abstract(blocks: Iterable[Block]) -> Iterator[Block]:
    """Give a run-in *Abstract:* the heading other papers give theirs."""
    seen = False
    for block in blocks:
        seen = seen or (block.level > 0 and part_of(block.text) != "body")
        match = None if seen or block.level else _ABSTRACT.match(block.text)
        if match:
            seen = True
            yield Block("Abstract", 2)
        yield Block(block.text[match.end() :]) if match else block


def markdown_of(title: str, blocks: Iterable[Block]) -> str:
    """Write the blocks down; text that would read as markup is escaped."""
    written = [f"# {_escaped(title)}"] if title else []
    for block in blocks:
        text = _escaped(block.text)
        written.append(f"{'#' * block.level} {text}" if block.level else text)
    return "\n\n".join(written)


def largest_title(page: Page) -> str:
    """The first page's title: its largest text of several words, if it stands out at all."""
    groups: list[list[Line]] = []
    for line in _in_order(page):
        if groups and _same_style(groups[-1][-1], line) and _is_below(groups[-1][-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    told = [
        (group[0].size, " ".join(line.text for line in group), group[0].bold) for group in groups
    ]
    usual = _body_size(list(page.lines)) if page.lines else 0.0
    worded = [
        (size, text)
        for size, text, bold in told
        if 3 <= len(text.split()) <= 45 and len(text) > 15 and (size > 1.05 * usual or bold)
    ]
    worded.sort(key=lambda pair: -pair[0])
    text = " ".join(folded(" ".join(line.text for line in page.lines)))
    for _, title in worded[:3]:
        # A journal's name is set large as well, but stands again in the running head or citation.
        if len(title.split()) > 7 or text.count(" ".join(folded(title))) < 2:
            return _TYPE.sub("", title)
    return _TYPE.sub("", worded[0][1]) if worded else ""


def _in_order(page: Page) -> list[Line]:
    """The page's rows in reading order: as they came, unless the columns got mixed."""
    upright = [line for line in page.lines if line.upright]
    lines = upright if 2 * len(upright) >= len(page.lines) else list(page.lines)
    gutter = _gutter(lines, page.width)
    if gutter and _is_mixed(lines, gutter):
        return _by_column(lines, gutter)
    return list(_rows(lines))


def _rows(lines: list[Line]) -> Iterator[Line]:
    """Put the pieces of each row together again."""
    row: list[Line] = []
    for line in lines:
        if row and line.row != row[0].row:
            yield _joined(row)
            row = []
        row.append(line)
    if row:
        yield _joined(row)


def _joined(row: list[Line]) -> Line:
    return replace(
        row[0],
        text=" ".join(line.text for line in row),
        left=min(line.left for line in row),
        right=max(line.right for line in row),
        bold=all(line.bold for line in row),
        holes=len(row) - 1,
    )


def _gutter(lines: list[Line], width: float) -> float:
    """Where hardly any text crosses from left to right; 0 when there is no such place."""
    total = sum(len(line.text) for line in lines)
    best, least = 0.0, _CROSSING * total
    for step in range(int(_GUTTER[0] * 100), int(_GUTTER[1] * 100)):
        x = width * step / 100
        left = sum(len(line.text) for line in lines if line.right <= x)
        right = sum(len(line.text) for line in lines if line.left >= x)
        crossing = total - left - right
        if min(left, right) > 0.2 * total and crossing < least:
            best, least = x, crossing
    return best


def _is_mixed(lines: list[Line], gutter: float) -> bool:
    """Whether rows run across both columns, or the order jumps between them line by line."""
    rows: dict[int, set[bool]] = {}
    sides = [line.left >= gutter for line in lines if not _crosses(line, gutter)]
    for line in lines:
        if not _crosses(line, gutter):
            rows.setdefault(line.row, set()).add(line.left >= gutter)
    across = sum(len(seen) == 2 for seen in rows.values())
    jumps = sum(a != b for a, b in pairwise(sides))
    return across > _MIXED * len(rows) or jumps > _MIXED * len(sides)


def _crosses(line: Line, x: float) -> bool:
    return line.left < x < line.right


def _by_column(lines: list[Line], gutter: float) -> list[Line]:
    """Top to bottom; between two lines across the page first the left column, then the right."""
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in sorted(lines, key=lambda line: (-round(line.top), line.left)):
        if _crosses(line, gutter):
            ordered += [*left, *right, line]
            left, right = [], []
        else:
            (right if line.left >= gutter else left).append(line)
    return [*ordered, *left, *right]


def _without_line_numbers(page: Page) -> Page:
    """Drop what manuscripts print in the margin: 1, 2, 3 … or 5, 10, 15 …."""
    alone = [line for line in page.lines if re.fullmatch(r"\d{1,4}", line.text)]
    if _counts_up([int(line.text) for line in alone]):
        named = {id(line) for line in alone}
        page = replace(page, lines=tuple(line for line in page.lines if id(line) not in named))
    leading = [re.match(r"(\d{1,4})\s+(?=\S)", line.text) for line in page.lines]
    numbers = [int(match[1]) for match in leading if match]
    if len(numbers) > 0.7 * len(page.lines) and _counts_up(numbers):
        lines = zip(page.lines, leading, strict=True)
        cut = (replace(line, text=line.text[m.end() :]) if m else line for line, m in lines)
        page = replace(page, lines=tuple(cut))
    return page


def _counts_up(numbers: list[int]) -> bool:
    steps = Counter(b - a for a, b in pairwise(numbers))
    return len(numbers) >= _NUMBERED and max(steps[1], steps[5]) > 0.8 * (len(numbers) - 1)


def pages_to_come(pages: list[Page]) -> tuple[int, int]:
    """The last page's number and the number of pages, as a margin says; zeros if none does.

    Of a whole file they are the same. Pages after the one that says so are counted on.
    """
    for after, page in enumerate(reversed(pages)):
        for line in _marginal(page):
            if said := _PAGE_OF.search(line.text):
                number, count = (int(text) for text in said.groups() if text)
                return number + after, count
    return 0, 0


def _without_running_lines(pages: list[Page]) -> list[Page]:
    """Drop page numbers, and what stands in the margin of most pages."""
    seen = Counter(key for page in pages for key in {_key(line) for line in _marginal(page)})
    often = max(3, _REPEATED * len(pages))
    cleaned = []
    for page in pages:
        marginal = {id(line) for line in _marginal(page)}
        kept = [
            line
            for line in page.lines
            if id(line) not in marginal
            or not (seen[_key(line)] >= often or _PAGE_NUMBER.fullmatch(line.text))
        ]
        cleaned.append(replace(page, lines=tuple(kept)))
    return cleaned


def _marginal(page: Page) -> list[Line]:
    low, high = _MARGIN * page.height, (1 - _MARGIN) * page.height
    return [line for line in page.lines if line.top < low or line.bottom > high]


def _key(line: Line) -> str:
    return re.sub(r"\d+", "#", " ".join(line.text.lower().split()))


def _body_size(lines: list[Line]) -> float:
    """The size most characters are set in."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0]


def _blocks(lines: list[Line], body: float) -> Iterator[Block]:
    """Gather lines into headings and paragraphs."""
    leading = _leading(lines)
    bold_body = sum(len(line.text) for line in lines if line.bold) * 2 > sum(
        len(line.text) for line in lines
    )
    gathered: list[Line] = []
    level = 0
    part = "lead"
    spoken = {word for line in lines for word in re.findall(r"[\w-]+", line.text.lower())}
    for line in lines:
        this = _level(line, body, bold_body)
        previous = gathered[-1] if gathered else None
        if previous and (this != level or _starts_anew(previous, line, leading, this, part)):
            yield Block(_text(gathered, spoken), level)
            named = part_of(_text(gathered, spoken)) if level else "body"
            # The title and a banner are headings, too; the text begins under a name of its own.
            if named != "body" or (
                level and (part != "lead" or _CANONICAL.fullmatch(gathered[0].text))
            ):
                part = named
            gathered = []
        gathered.append(line)
        level = this
    yield Block(_text(gathered, spoken), level)


def _level(line: Line, body: float, bold_body: bool) -> int:
    """The level of heading a line looks like, 0 for text."""
    words = line.text.split()
    if line.holes or not re.search(r"[^\W\d_]{2}", line.text) or len(words) > _HEADING_WORDS:
        return 0
    if _CANONICAL.fullmatch(line.text) or (
        len(words) <= 5 and part_of(line.text) in ("abstract", "references")
    ):
        return 2
    short = len(words) <= 12 and not line.text.endswith((".", ",", ";")) and line.text[0].isupper()
    if len(words) <= 6 and part_of(line.text) == "back" and (line.bold or line.size > body):
        return 2
    if line.size >= _HEADING_SIZE * body and len(line.text) > 3:
        return 2 if line.size >= 1.25 * body else 3
    numbered = re.match(r"\d+(\.\d+)*\.?\s+[A-Z]", line.text) and not line.text.endswith(".")
    return 3 if line.bold and not bold_body and (short or numbered) else 0


def _leading(lines: list[Line]) -> float:
    """The usual distance between the tops of two lines."""
    steps = [a.top - b.top for a, b in pairwise(lines)]
    close = [step for a, step in zip(lines, steps, strict=False) if 0 < step < 3 * a.size]
    return median(close) if close else 12.0


def _same_style(a: Line, b: Line) -> bool:
    return abs(a.size - b.size) < 0.06 * max(a.size, b.size)


def _is_below(a: Line, b: Line) -> bool:
    return 0 < a.top - b.top < 2.2 * a.size


def _starts_anew(previous: Line, line: Line, leading: float, level: int, part: str) -> bool:
    """Whether a line begins another block than the line before it, both of one level."""
    if level:
        return not (_same_style(previous, line) and _is_below(previous, line)) or bool(
            _CANONICAL.fullmatch(line.text)
        )
    if part == "lead" and (_ABSTRACT.match(line.text) or not _same_style(previous, line)):
        return True
    step = previous.top - line.top
    ended = previous.text.endswith(_ENDS)
    if part == "references":
        if _ENTRY.match(line.text):
            return True
        return 0.4 * line.size < previous.left - line.left < 4 * line.size
    if step < 0 or step > 4 * leading:  # another column or page
        return ended and line.text[:1].isupper() and _is_indented(previous, line)
    if step > 1.45 * leading:
        return True
    return ended and line.left > previous.left + 0.6 * line.size and line.text[:1].isupper()


def _is_indented(previous: Line, line: Line) -> bool:
    """Whether the last line before a jump was short, as the end of a paragraph is."""
    return (previous.right - previous.left) < 0.9 * (line.right - line.left)


def _text(lines: list[Line], spoken: set[str]) -> str:
    """Lines as one text; a word broken at a line's end is joined.

    The hyphen stays where the paper writes the word with one elsewhere (*double-blind*).
    """
    text = ""
    for line in lines:
        head = re.search(r"([^\W\d_]+)-$", text[-60:])
        tail = re.match(r"[^\W\d_]+", line.text)
        if head and tail and tail[0][0].islower():
            whole = f"{head[1]}-{tail[0]}".lower()
            text = (text if whole in spoken else text[:-1]) + line.text
        else:
            text = f"{text} {line.text}" if text else line.text
    return text.strip()


def _escaped(text: str) -> str:
    text = re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text.replace("*", r"\*"))
    return re.sub(r"^(#{1,6}\s|[-+>]\s|```)", r"\\\1", text)
