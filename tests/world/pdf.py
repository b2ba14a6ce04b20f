"""A tiny PDF writer: Helvetica, one column, real text, or a page that is only a picture."""

import textwrap
import zlib
from functools import lru_cache

from utils.demo.prose import abstract, body, references
from utils.demo.records import Record, strip_markup

_LINES = 56


def pdf_of(record: Record) -> bytes:
    """The paper as its publisher prints it."""
    if stored := record.files.get("pdf"):
        return stored.read_bytes()
    return _printed(record)


@lru_cache(maxsize=512)
def _printed(record: Record) -> bytes:
    return write(_lines(record))


def scan_of(record: Record) -> bytes:
    """The same paper, photographed: pages without a single letter."""
    return write([], pages=4)


def _lines(record: Record) -> list[str]:
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    lines = [*textwrap.wrap(record.plain_title, 80), "", people, ""]
    lines += [f"{record.journal.title} {record.year};{record.volume}:{record.pages}"]
    lines += [f"https://doi.org/{record.doi}", ""] if record.doi else [""]
    parts = [("Abstract", tuple(text for _, text in abstract(record))), *body(record)]
    parts += [("References", tuple(_cited(record)))]
    for title, paragraphs in parts:
        lines += [title, ""] if title and paragraphs else []
        for text in paragraphs:
            lines += [*textwrap.wrap(strip_markup(text), 92), ""]
    return lines


def _cited(record: Record) -> list[str]:
    rows = enumerate(references(record), start=1)
    return [
        f"{at}. {who}. {title}. {journal}. {year}." for at, (who, title, journal, year, _) in rows
    ]


def write(lines: list[str], pages: int = 0) -> bytes:
    """A PDF of *lines*, or of *pages* grey pictures when there are none."""
    sheets = [lines[at : at + _LINES] for at in range(0, len(lines), _LINES)] or [[]] * pages
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        _stream(
            bytes([200]) * 10_000,
            b"/Type /XObject /Subtype /Image /Width 100 /Height 100 "
            b"/ColorSpace /DeviceGray /BitsPerComponent 8 ",
        ),
    ]
    kids = []
    for sheet in sheets:
        kids.append(b"%d 0 R" % (len(objects) + 1))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 "
            b"R >> /XObject << /Im1 4 0 R >> >> /Contents %d 0 R >>" % (len(objects) + 2)
        )
        objects.append(_stream(_sheet(sheet)))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return _file(objects)


def _sheet(lines: list[str]) -> bytes:
    if not lines:
        return b"q 500 0 0 740 47 50 cm /Im1 Do Q"
    rows = [b"BT /F1 10 Tf 50 790 Td 13 TL"]
    for line in lines:
        encoded = line.encode("cp1252", "replace")
        for special in (b"\\", b"(", b")"):
            encoded = encoded.replace(special, b"\\" + special)
        rows.append(b"(" + encoded + b") Tj T*")
    return b"\n".join([*rows, b"ET"])


def _stream(content: bytes, head: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return (
        b"<< "
        + head
        + b"/Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
        + packed
        + b"\nendstream"
    )


def _file(objects: list[bytes]) -> bytes:
    out, places = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", []
    for at, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % at + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    )
