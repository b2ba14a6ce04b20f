"""The PRISMA diagram: its numbers agree with each other, and its text stays in its boxes."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from tests.reports import invented
from utils.model.job import Counts, Job
from utils.reports import prisma as text_widths
from utils.reports import write_report
from utils.reports.figures import Figures
from utils.reports.prisma import NARROW, TO_FILL, WIDE, Flow, Layout, flow, numbers, svg, text_width

SVG = "{http://www.w3.org/2000/svg}"


def counted(n: int, pending: float = 0.0) -> Figures:
    figures = Figures()
    for row in invented.rows(n, pending=pending):
        figures.add(row)
    return figures


def made(**changes: object) -> Flow:
    return flow(invented.job(**changes), counted(1000))


def test_what_leaves_and_what_remains_add_up() -> None:
    boxes = {box.name: box for box in made(hits=2500).boxes()}
    n = {name: box.n or 0 for name, box in boxes.items()}
    assert n["database_results"] == 2500
    assert n["database_results"] - n["duplicates"] == n["dbr_sought_reports"] == 1000
    assert n["dbr_sought_reports"] - n["dbr_notretrieved_reports"] == n["reports_retrieved"]
    for box in boxes.values():
        assert not box.parts or sum(part for _, part in box.parts) == box.n


def test_papers_not_tried_are_not_called_unretrievable() -> None:
    boxes = {b.name: b for b in flow(invented.job(), counted(1000, pending=0.3)).boxes()}
    assert dict(boxes["dbr_notretrieved_reports"].parts)["Not tried yet"] > 200


def test_lists_are_not_called_pubmed() -> None:
    [(name, _)] = made(query="").boxes()[0].parts
    assert name == "Lists of identifiers"


def test_only_the_reviewers_boxes_are_empty() -> None:
    empty = [box.name for box in made().boxes() if box.n is None]
    asked = ["records_screened", "records_excluded", "dbr_assessed", "dbr_excluded", "new_studies"]
    assert empty == asked
    assert svg(made()).count('class="empty"') == 5
    assert svg(made()).count(TO_FILL) == 10  # in the boxes, and in the description


def test_the_table_has_the_same_numbers() -> None:
    rows = list(csv.DictReader(io.StringIO(numbers(made()))))
    whole = {row["data"]: row["n"] for row in rows if row["note"] != "part of the above"}
    assert whole == {box.name: "" if box.n is None else str(box.n) for box in made().boxes()}


@pytest.mark.parametrize("layout", [WIDE, NARROW])
@pytest.mark.parametrize("title", ["", "<a & b>\x00\ufffe\ud800", "研究" * 300])
def test_the_drawing_is_valid_xml_that_loads_nothing(layout: Layout, title: str) -> None:
    root = etree.fromstring(svg(made(), title, layout).encode())
    assert root.tag == f"{SVG}svg"
    assert {etree.QName(node).localname for node in root.iter()} <= {
        *("svg", "title", "desc", "rect", "text", "path"),
    }
    assert not root.xpath("//@href | //@style | //@src")


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_text_stays_in_its_box_and_boxes_in_the_drawing(layout: Layout) -> None:
    root = etree.fromstring(svg(made(hits=10**7, duplicates=10**6), "", layout).encode())
    boxes = [
        tuple(float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class") in ("known", "empty")
    ]
    texts = [text for text in root.iter(f"{SVG}text") if text.get("class") != "stage"]
    assert texts
    for text in texts:
        x, y = float(text.get("x", "0")), float(text.get("y", "0"))
        size, bold = float(text.get("font-size", "14")), text.get("font-weight") == "bold"
        [box] = [b for b in boxes if b[0] <= x <= b[0] + b[2] and b[1] <= y <= b[1] + b[3]]
        assert x + text_width(text.text or "", size, bold=bold) <= box[0] + box[2]
        assert y + 4 <= box[1] + box[3]
    width, height = (float(value) for value in root.get("viewBox", "").split()[2:])
    assert all(x + w < width and y + h < height for x, y, w, h in boxes)


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_boxes_do_not_touch_each_other(layout: Layout) -> None:
    root = etree.fromstring(svg(made(), "", layout).encode())
    boxes = [
        tuple(float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class") != "ground"
    ]
    for place, (x, y, w, h) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[place + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_an_empty_harvest_has_a_diagram_of_noughts() -> None:
    boxes = flow(Job("j", "t"), Figures()).boxes()
    assert {box.n for box in boxes} == {0, None}


def test_many_reasons_are_gathered() -> None:
    figures = Figures(states=Counter(failed=40))
    for number in range(20):
        figures.reasons[f"reason_{number}"]["failed"] += 2
    [box] = [b for b in flow(Job("j", "t"), figures).boxes() if b.name.startswith("dbr_not")]
    assert len(box.parts) == 8
    assert sum(n for _, n in box.parts) == 40


def test_a_duplicate_found_while_the_report_is_written_is_one(tmp_path: Path) -> None:
    job = invented.job(hits=20, duplicates=0, counts=Counts(requested=20))
    page = write_report(job, lambda: invented.rows(19), tmp_path)
    table = page.with_name("prisma.csv").read_text()
    assert "Duplicate records,1," in table
    assert "Beyond the limit" not in table


def test_a_word_is_measured_once_however_often_it_is_laid_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured: list[str] = []
    letter = text_widths._letter_width

    def measuring(one: str) -> int:
        measured.append(one)
        return letter(one)

    monkeypatch.setattr(text_widths, "_letter_width", measuring)
    text_widths._word_width.cache_clear()
    for room in (60, 140, 300, 140):
        text_widths.wrapped("records of records that were sought and sought again", room, 14)
    assert "".join(measured) == "recordsofthatweresoughtandagain"
    measured.clear()
    assert len(text_widths.wrapped("x" * 5_000, 140, 14)) > 1  # a hostile word grows linearly
    assert len(measured) < 4 * 5_000
