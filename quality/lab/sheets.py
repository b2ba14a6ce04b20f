"""PDFs of blocks: pages with wrapped lines, one or two columns, running heads, numbered lines."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from quality.lab.dress import Style, cited, sorted_references
from quality.lab.manuscript import Block, Manuscript

WIDTH, HEIGHT, GAP = 595, 842, 22
_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma
    sigma tau upsilon phi chi psi omega
"""
_GREEK = dict(zip("αβγδεζηθικλμνξοπρσςτυφχψω", _NAMES.split(), strict=True))
_RAISED = re.compile("\ue010([^\ue011]*)\ue011")
_MARKS = str.maketrans({"≥": ">=", "≤": "<=", "−": "-", "≈": "~", "→": "->", "′": "'", "∗": "*"})


@dataclass(frozen=True)
class _Line:
    text: str
    font: str
    size: float
    indent: float = 0
    before: float = 0
    raised: tuple[tuple[float, str], ...] = ()


def printed(blocks: list[Block], paper: Manuscript, style: Style, dice: random.Random) -> bytes:
    """The blocks on paper."""
    return _Press(paper, style, dice).run(blocks)


@lru_cache(maxsize=100_000)
def _width(word: str, font: str, size: float) -> float:
    return float(stringWidth(word, font, size))


def _plain(text: str) -> str:
    text = "".join(_GREEK.get(letter, letter) for letter in text.translate(_MARKS))
    text = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return text.encode("cp1252", "ignore").decode("cp1252")


class _Press:
    def __init__(self, paper: Manuscript, style: Style, dice: random.Random) -> None:
        self.paper, self.style, self.dice = paper, style, dice
        self.font = dice.choice(("Times-Roman", "Times-Roman", "Helvetica"))
        self.bold = "Times-Bold" if self.font == "Times-Roman" else "Helvetica-Bold"
        self.size = (
            dice.choice((9.0, 9.5, 10.0)) if style.columns == 2 else dice.choice((10.0, 11.0))
        )
        self.leading = self.size * (2.0 if style.line_numbers else 1.2)
        self.margin = 62 if style.line_numbers else 48
        room = WIDTH - 2 * self.margin
        self.column = (room - GAP * (style.columns - 1)) / style.columns
        self.out = BytesIO()
        self.canvas = Canvas(self.out, pagesize=(WIDTH, HEIGHT), pageCompression=1, invariant=1)
        self.page, self.counted = int(dice.randrange(1, 900)), 0

    def run(self, blocks: list[Block]) -> bytes:
        lines = [line for block in blocks for line in self.lines(block)]
        self.pour(lines)
        self.canvas.save()
        return self.out.getvalue()

    def pour(self, lines: list[_Line]) -> None:
        top, bottom = HEIGHT - 60, 60
        column, y = 0, float(top)
        self.furniture()
        for line in lines:
            y -= line.before
            if y < bottom + self.leading:
                column, y = column + 1, float(top)
                if column == self.style.columns:
                    self.canvas.showPage()
                    self.page += 1
                    column = 0
                    self.furniture()
            self.put(line, self.margin + column * (self.column + GAP), y)
            y -= self.leading
        self.canvas.showPage()

    def put(self, line: _Line, x: float, y: float) -> None:
        canvas = self.canvas
        if line.text:
            canvas.setFont(line.font, line.size)
            canvas.drawString(x + line.indent, y, line.text)
        for at, mark in line.raised:
            canvas.setFont(line.font, line.size * 0.65)
            canvas.drawString(x + line.indent + at, y + line.size * 0.35, mark)
        if self.style.line_numbers:
            self.counted += 1
            canvas.setFont(self.font, 8)
            canvas.drawRightString(x - 14, y, str(self.counted))

    def furniture(self) -> None:
        if not self.style.running_heads:
            return
        self.canvas.setFont(self.font, 8)
        title, journal = _plain(self.paper.title)[:60], _plain(self.paper.journal)
        told = title if self.page % 2 else f"{journal} {self.paper.year}"
        self.canvas.drawString(self.margin, HEIGHT - 38, told)
        self.canvas.drawRightString(WIDTH - self.margin, 32, str(self.page))
        if self.page % 3 == 0:
            self.canvas.drawString(self.margin, 32, f"© {self.paper.year} {journal}")

    def lines(self, block: Block) -> Iterator[_Line]:
        made: Iterator[_Line] = getattr(self, f"_{block.kind}")(block)
        return made

    def wrapped(
        self, text: str, *, font: str = "", size: float = 0, indent: float = 0, before: float = 0
    ) -> Iterator[_Line]:
        """Lines that fill the column; a raised mark keeps to its word."""
        font, size = font or self.font, size or self.size
        told = cited(_plain_with_marks(text), self.paper, self.style, ("\ue010", "\ue011"))
        for row in self.rows(self.misread(told).split(), font, size, self.column - indent):
            raised = self.raised(row, font, size)
            bare = " ".join(_RAISED.sub("", word) for word in row)
            yield _Line(bare, font, size, indent, before, tuple(raised))
            before = 0

    def rows(self, words: list[str], font: str, size: float, room: float) -> Iterator[list[str]]:
        """Words by line; a long word may be broken where a line ends."""
        left, row, at = words[::-1], [], 0.0
        blank = _width(" ", font, size)
        while left:
            word = left.pop()
            long = self.length(word, font, size)
            half = f"{word[: len(word) // 2]}-"
            splits = at + long > room and (long > room or self.breaks(word))
            if splits and (at + self.length(half, font, size) <= room or not row):
                row.append(half)
                left.append(word[len(word) // 2 :])
                word = ""
            if row and (not word or at + long > room):
                yield row
                row, at = [], 0.0
            if word:
                row.append(word)
                at += long + blank
        if row:
            yield row

    def breaks(self, word: str) -> bool:
        """Whether it may be broken where a line ends."""
        return self.style.hyphens and word.isalpha() and len(word) > 7

    def length(self, word: str, font: str, size: float) -> float:
        """How wide it prints."""
        marks = sum(_width(mark, font, size * 0.65) for mark in _RAISED.findall(word))
        return _width(_RAISED.sub("", word), font, size) + marks

    def raised(self, row: list[str], font: str, size: float) -> Iterator[tuple[float, str]]:
        """Where in a line marks are raised."""
        at = 0.0
        for word in row:
            for mark in _RAISED.finditer(word):
                before = _RAISED.sub("", word[: mark.start()])
                yield at + _width(before, font, size), mark.group(1)
            at += _width(_RAISED.sub("", word), font, size) + _width(" ", font, size)

    def misread(self, text: str) -> str:
        """What a scanner makes of the letters."""
        if not self.style.noise:
            return text
        swaps = {"l": "1", "rn": "m", "e": "c", "o": "0", "h": "b", "i": "l", "S": "5", "a": "o"}
        letters = []
        for letter in text:
            swap = swaps.get(letter) if self.dice.random() < self.style.noise else None
            letters.append(swap or letter)
        return "".join(letters)

    def _heading(self, block: Block) -> Iterator[_Line]:
        size = self.size + {1: 6, 2: 2}.get(block.level, 0.5)
        yield from self.wrapped(block.text, font=self.bold, size=size, before=self.leading * 0.8)

    def _para(self, block: Block) -> Iterator[_Line]:
        yield from self.wrapped(block.text, before=self.leading * 0.3)

    def _list(self, block: Block) -> Iterator[_Line]:
        for item in block.items:
            yield from self.wrapped(f"• {item}", indent=8)

    def _links(self, block: Block) -> Iterator[_Line]:
        if block.text:
            yield from self._heading(Block("heading", block.text, 3))
        for item in block.items:
            yield from self.wrapped(item)

    def _refs(self, block: Block) -> Iterator[_Line]:
        items = list(block.items)
        known = {reference.text for reference in self.paper.references}
        named = self.style.cites == "author_year"
        if named and set(items) <= known:
            kept = set(items)
            items = [r.text for r in sorted_references(self.paper.references) if r.text in kept]
        bracket = self.style.cites == "brackets" and self.page % 2
        for n, item in enumerate(items, start=1):
            number = "" if named else f"[{n}] " if bracket else f"{n}. "
            yield from self.wrapped(number + item, size=self.size - 1, before=1)

    def _figure(self, block: Block) -> Iterator[_Line]:
        yield _Line("", self.font, self.size, before=80)
        yield from self.wrapped(block.text, size=self.size - 1)

    def _table(self, block: Block) -> Iterator[_Line]:
        yield from self.wrapped(block.text, font=self.bold, size=self.size - 1, before=self.leading)
        for row in block.rows:
            cells = [_plain(cell)[: max(4, 90 // max(1, len(row)))] for cell in row]
            yield from self.wrapped("   ".join(cell for cell in cells if cell), size=self.size - 2)

    def _formula(self, block: Block) -> Iterator[_Line]:
        yield from self.wrapped(block.text, indent=40, before=4)

    def _button(self, block: Block) -> Iterator[_Line]:
        yield from self.wrapped(block.text, before=6)

    def _form(self, block: Block) -> Iterator[_Line]:
        yield from self.wrapped(block.text)
        for item in block.items:
            yield from self.wrapped(f"{item}: ____________________")


def _plain_with_marks(text: str) -> str:
    """Letters a plain font has; the marks of citations stay."""
    parts = re.split("(\ue000[0-9,]+\ue001)", text)
    return "".join(part if part.startswith("\ue000") else _plain(part) for part in parts)


def pages_of(pdf: bytes, places: Iterable[int]) -> bytes:
    """A PDF of some pages of another."""
    import pypdfium2

    whole, some, out = pypdfium2.PdfDocument(pdf), pypdfium2.PdfDocument.new(), BytesIO()
    some.import_pages(whole, list(places))
    some.save(out)
    some.close()
    whole.close()
    return out.getvalue()


def page_count(pdf: bytes) -> int:
    """How many pages there are."""
    import pypdfium2

    whole = pypdfium2.PdfDocument(pdf)
    number = len(whole)
    whole.close()
    return number
