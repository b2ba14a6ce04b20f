"""PDFs of papers with one table each, set in the ways journals set tables, and what it says.

Written by hand: Helvetica, every word and rule placed. The numbers and words of a table come from
a seed, so that no two are alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random

Rows = list[list[str]]
SIZE, LEADING = 8.0, 9.6
NARROW = frozenset("fijlrt.,:;()[]|'!/- I")
SYLLABLES = ("ba", "ce", "din", "for", "gu", "hal", "je", "kin", "lo", "mur", "nes", "pro", "tas")


@dataclass(slots=True)
class Sheet:
    """A page that is drawn: operators of its content stream.

    ``turned`` says that text runs up the page, ``rotated`` that the page is shown turned, too;
    ``moved`` that all of it is drawn in a form that is put up higher.
    """

    drawn: list[str] = field(default_factory=list)
    turned: bool = False
    rotated: bool = False
    moved: bool = False

    def say(self, x: float, y: float, text: str, size: float = SIZE) -> None:
        """Write *text*; on a turned page, upwards."""
        for sign in "\\()":
            text = text.replace(sign, "\\" + sign)
        place = f"0 1 -1 0 {600 - y:.1f} {x:.1f}" if self.turned else f"1 0 0 1 {x:.1f} {y:.1f}"
        self.drawn.append(f"BT /F1 {size} Tf {place} Tm ({text}) Tj ET")

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draw a rule."""
        if self.turned:
            x0, y0, x1, y1 = 600 - y0, x0, 600 - y1, x1
        self.drawn.append(f"0.5 w {x0:.1f} {y0:.1f} m {x1:.1f} {y1:.1f} l S")

    def shade(self, x: float, y: float, wide: float, high: float) -> None:
        """Fill a field with grey."""
        self.drawn.append(f"0.9 g {x:.1f} {y:.1f} {wide:.1f} {high:.1f} re f 0 g")


@dataclass(frozen=True, slots=True)
class Printed:
    """A PDF with what its table says: the body's rows, their cells as one line each."""

    body: bytes
    rows: Rows


def width_of(text: str, size: float = SIZE) -> float:
    """About as wide as Helvetica sets it."""
    return (
        sum(0.28 if char in NARROW else 0.84 if char in "mwMW%" else 0.56 for char in text) * size
    )


def table(seed: int, height: int = 9, width: int = 5) -> Rows:
    """A head and rows: names, then numbers as papers print them."""
    random = Random(seed)
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{random.uniform(0, 90):.1f} \xb1 {random.uniform(0, 9):.2f}",
        lambda: (
            f"{random.uniform(0, 9):.2f} ({random.uniform(0, 2):.2f}-{random.uniform(2, 9):.2f})"
        ),
        lambda: f"<0.{random.randint(1, 99):03}",
        lambda: f"{random.randint(1, 400)} ({random.randint(1, 99)}%)",
        lambda: f"{random.randint(1, 9999)}",
    )
    kinds = [random.choice(forms) for _ in range(width - 1)]
    head = [_words(random, 1), *(_words(random, random.randint(1, 2)) for _ in kinds)]
    body = [
        [_words(random, random.randint(1, 3)), *(form() for form in kinds)] for _ in range(height)
    ]
    return [head, *body]


def _words(random: Random, count: int) -> str:
    return " ".join(
        "".join(random.choices(SYLLABLES, k=random.randint(2, 3))) for _ in range(count)
    ).capitalize()


def places(rows: Rows, left: float, gap: float = 14.0) -> list[float]:
    """Where columns begin that are as wide as their widest cell."""
    widths = [
        max(width_of(part) for row in rows for part in row[at].split("\n")) + gap
        for at in range(len(rows[0]))
    ]
    return list(accumulate(widths, initial=left))


def text(sheet: Sheet, x: float, top: float, lines: int, seed: int, wide: float) -> float:
    """Running text from *top* downwards; says where it ends."""
    random = Random(seed)
    for number in range(lines):
        said = _words(random, 2)
        while width_of(said, 10) < wide - 45:
            said += f" {_words(random, 1).lower()}"
        sheet.say(x, top - 12 * number, said + ("." if number == lines - 1 else ""), 10)
    return top - 12 * lines


def cells(sheet: Sheet, row: list[str], xs: list[float], y: float, align: str = "left") -> float:
    """One row, cells of several lines from the same height; says how high it is."""
    most = max(cell.count("\n") + 1 for cell in row)
    for at, cell in enumerate(row):
        parts = cell.split("\n")
        drop = (most - len(parts)) * LEADING / 2 if align == "middle" else 0.0
        for number, part in enumerate(parts):
            room = xs[at + 1] - xs[at] - 12 - width_of(part)
            x = xs[at] + (room / 2 if align in ("center", "middle") and at else 0)
            sheet.say(x, y - drop - number * LEADING, part)
    return most * LEADING


def pdf_of(sheets: list[Sheet]) -> bytes:
    """The file."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for sheet in sheets:
        drawn = "\n".join(sheet.drawn).encode("cp1252")
        uses = b"/Font << /F1 3 0 R >>"
        if sheet.moved:
            drawn = b"q 1 0 0 1 0 -40 cm " + drawn + b" Q"
            objects.append(
                b"<< /Type /XObject /Subtype /Form /BBox [0 -100 600 800] /Matrix [1 0 0 1 0 40]"
                b" /Resources << %s >> /Length %d >>\nstream\n%s\nendstream"
                % (uses, len(drawn), drawn)
            )
            uses += b" /XObject << /X1 %d 0 R >>" % len(objects)
            drawn = b"/X1 Do"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate %d /Resources"
            b" << %s >> /Contents %d 0 R >>" % (90 * sheet.rotated, uses, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(sheets))
    out, starts = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        starts.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table_ = b"".join(b"%010d 00000 n \n" % start for start in starts)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table_
    size, at = len(objects) + 1, out.rindex(b"xref\n0")
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, at)
