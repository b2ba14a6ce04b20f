"""Every cell of recorded articles' tables, against their XML read by another hand."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.examples import ALL, some
from utils.model.paper import Fetched
from utils.readers.jats.objects import find_paper_objects

pytestmark = pytest.mark.shared
LEAST = 0.998 if ALL else 0.99  # one article has most of what is wrong
Cell = tuple[int, int, Any, int, int]


def placed(rows: list[Any]) -> Iterator[Cell]:
    """Row, column, element, height and width of each cell, by the table model of HTML."""
    taken: set[tuple[int, int]] = set()
    for y, row in enumerate(rows):
        x = 0
        for cell in row.iterchildren("td", "th"):
            while (y, x) in taken:
                x += 1
            high, wide = (int(cell.get(name) or 1) or 1 for name in ("rowspan", "colspan"))
            taken |= {(y + dy, x + dx) for dy in range(high) for dx in range(wide)}
            yield y, x, cell, high, wide
            x += wide


def letters(text: str) -> str:
    """What is printed, without blanks and marks of form: the same by either hand."""
    plain = unicodedata.normalize("NFKC", text).replace("^", "").replace(";", "").replace("•", "")
    return re.sub(r"[\s\u2212-]+", "", plain)


def shown(cell: Any) -> str:
    """The text of a cell, but for formulas and pictures."""
    return letters("".join(cell.itertext()))


def has_formula(cell: Any) -> bool:
    return any(
        True for _ in cell.iter("{*}math", "tex-math", "inline-formula", "disp-formula", "fn")
    )


def test_cells_stand_where_the_xml_has_them(shared: Path) -> None:
    right = wrong = 0
    lost: list[str] = []
    for path in some(sorted((shared / "articles").glob("*/jats.xml"))):
        body = path.read_bytes()
        tree = etree.fromstring(body, etree.XMLParser(recover=True, resolve_entities=False))
        frames = [
            table
            for table in tree.iter("table")
            if table.xpath("ancestor::table-wrap[not(ancestor::sub-article)]")
            and not table.xpath("ancestor::td|ancestor::th")
            and len(list(table.iter("td", "th"))) > 1
        ]
        grids = [
            one.grid for one in find_paper_objects(Fetched(body, "jats", "", "pmc", "")) if one.grid
        ]
        assert len(grids) == len(frames), path
        for frame, grid in zip(frames, grids, strict=True):
            for part in ("thead", "tbody"):
                rows = [row for el in frame.iterchildren(part) for row in el.iterchildren("tr")]
                ours = grid.head if part == "thead" else grid.rows
                rows = [row for row in rows if part == "thead" or shown(row)]
                if len(rows) > len(ours):  # its first row of th is the head
                    continue
                for y, x, cell, high, _ in placed(rows):
                    if has_formula(cell) or len(shown(cell)) > 500:
                        continue
                    for row in ours[y : y + high]:
                        same = x < len(row) and letters(row[x]) == shown(cell)
                        right, wrong = right + same, wrong + (not same)
                        if not same:
                            lost.append(f"{path.parent.name} {y},{x}: {shown(cell)[:40]}")
    assert right > 3000
    assert right / (right + wrong) >= LEAST, (right, wrong, lost[:20])
