"""Scans: what is recognised, in which order, within which bounds, and what is said without it."""

import io
import socket
from types import SimpleNamespace

import pypdfium2
import pytest

from tests.world.pdf import pdf_of, scan_of, write
from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Fetched, Paper
from utils.outline.words import fold_words
from utils.readers import read_and_judge
from utils.readers.pdf import ocr
from utils.readers.pdf.ocr import RecognisedLine

pytestmark = pytest.mark.slow

OCR = pytest.mark.extras("rapidocr", "onnxruntime")


def photographed(pdf: bytes, pages: int | None = None) -> bytes:
    """The same pages as pictures, without a letter of text."""
    source, made = pypdfium2.PdfDocument(pdf), pypdfium2.PdfDocument.new()
    for number in range(min(pages or len(source), len(source))):
        shown = source[number]
        width, height = shown.get_size()
        picture = pypdfium2.PdfImage.new(made)
        picture.set_bitmap(shown.render(scale=150 / 72, grayscale=True))
        picture.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = made.new_page(width, height)
        page.insert_obj(picture)
        page.gen_content()
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def fetched(pdf: bytes) -> Fetched:
    return Fetched(pdf, "pdf", "https://x.org/a.pdf", "x", "unpaywall")


def line(text: str, left: float, top: float, width: float = 200.0) -> RecognisedLine:
    return RecognisedLine(text, left, top, left + width, top + 10, 0.9)


def ordered(*lines: RecognisedLine) -> list[str]:
    return [one.text for one in ocr.sort_recognised_lines(lines, 500.0, 800.0, 10.0)]


@pytest.fixture
def paper(world):
    record = world.paper("publisher_pdf")
    return Paper(Ids(doi=record.doi, pmid=record.pmid), title=record.plain_title)


# --- order ----------------------------------------------------------------------------------------


def test_columns_are_read_one_after_the_other_below_a_title_across_both():
    left = [line(f"left column line number {at}", 20, 100 + 14 * at) for at in range(6)]
    right = [line(f"right column line number {at}", 270, 101 + 14 * at) for at in range(6)]
    title = line("a title that stands across both of the columns", 20, 60, 450)
    mixed = [one for pair in zip(left, right, strict=True) for one in pair]
    assert ordered(title, *mixed) == [one.text for one in (title, *left, *right)]


def test_the_cells_of_a_table_stay_in_their_rows():
    cells = [
        line(f"{at}.{to}", 20 + 120 * to, 100 + 14 * at, 40) for at in range(5) for to in range(3)
    ]
    assert ordered(*reversed(cells)) == [cell.text for cell in cells]


def test_a_page_that_lay_askew_is_straightened():
    boxes = [[(0.0, at), (400.0, at + 8), (400.0, at + 18), (0.0, at + 10)] for at in (0.0, 20.0)]
    straight = ocr._deskew_boxes(boxes)
    assert all(abs(box[0][1] - box[1][1]) < 0.1 for box in straight)


def test_a_page_on_its_side_is_left_as_it_is():
    boxes = [[(0.0, 0.0), (0.0, 400.0), (10.0, 400.0), (10.0, 0.0)]]
    assert ocr._deskew_boxes(boxes) == boxes


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [72, 842, 14_400])
def test_a_picture_has_a_bounded_number_of_pixels_whatever_the_page_says(side):
    pdf = write(["Words"]).replace(b"[0 0 595 842]", b"[0 0 %d %d]" % (side, side))
    seen = []

    def engine(picture):
        seen.append(picture.shape)
        return SimpleNamespace(txts=None, boxes=None, scores=None)

    ocr.recognise_page(ocr._HEADER.pack(0) + pdf, engine)
    [(high, wide, _)] = seen
    assert max(high, wide) <= ocr._LONGEST_SIDE + 1


def test_a_scan_of_a_whole_book_is_not_begun(monkeypatch, paper):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise_pages", lambda *_: pytest.fail("it was begun"))
    with pytest.raises(BadContent, match="scan of 101 pages") as refused:
        read_and_judge(fetched(write([], pages=101)), paper)
    assert refused.value.outcome == "scanned"


@OCR
@pytest.mark.real_time
def test_a_page_that_takes_too_long_costs_that_page(world):
    read_ = ocr.recognise_pages(scan_of(world.paper("scanned_pdf")), 2, deadline=0.001)
    assert read_["unread"] == [1, 2]


def test_a_text_that_lacks_pages_is_a_part(monkeypatch, paper, world):
    text = read_and_judge(fetched(pdf_of(world.paper("publisher_pdf"))), paper).markdown
    found = {"pages": 4, "title": paper.title, "opening": text, "numbered": (0, 0)}
    found |= {"markdown": text, "confidence": 0.9, "unread": [3], "engine": "rapidocr 3"}
    found |= {"doubts": {"pages": [], "foreign": {}}}
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise_pages", lambda *_: found)
    with pytest.raises(BadContent, match="failed on 1 of 4 pages") as refused:
        read_and_judge(fetched(scan_of(world.paper("scanned_pdf"))), paper)
    assert refused.value.outcome == "partial"


# --- with and without the extra -------------------------------------------------------------------


def test_without_the_extra_a_scan_is_refused_with_the_command_that_brings_it(
    monkeypatch, paper, world
):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: False)
    with pytest.raises(BadContent, match="uv sync --inexact --extra ocr") as refused:
        read_and_judge(fetched(scan_of(world.paper("scanned_pdf"))), paper)
    assert refused.value.outcome == "scanned"


def test_a_pdf_with_text_is_never_recognised(monkeypatch, paper, world):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise_pages", lambda *_: pytest.fail("it has a text"))
    assert read_and_judge(
        fetched(pdf_of(world.paper("publisher_pdf"))), paper
    ).extractor.startswith("pdf ")


def test_where_it_cannot_run_a_scan_stays_one(monkeypatch, paper, world):
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: True)
    monkeypatch.setattr(ocr, "recognise_pages", lambda *_: None)
    with pytest.raises(BadContent) as refused:
        read_and_judge(fetched(scan_of(world.paper("scanned_pdf"))), paper)
    assert refused.value.outcome == "scanned"


@OCR
def test_the_engine_fetches_nothing_and_reads_what_is_printed(monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_a, **_k: pytest.fail("it connects"))
    said = "The moss Sphagnum was kept at 4.5 degrees in the dark for twelve weeks"
    engine = ocr.make_ocr_engine()
    job = ocr._HEADER.pack(0) + photographed(write([said]))
    [found] = ocr.recognise_page(job, engine)["lines"]
    assert fold_words(found[0]) == fold_words(said)
    assert found[5] > 0.9


@OCR
@pytest.mark.lab
@pytest.mark.real_time
def test_a_photographed_paper_is_full_text_and_says_how_it_was_read(paper, world):
    record = world.paper("publisher_pdf")
    document = read_and_judge(fetched(photographed(pdf_of(record))), paper)
    ours = read_and_judge(fetched(pdf_of(record)), paper)
    assert document.verdict == "full_text"
    assert "rapidocr" in document.extractor
    assert "mean confidence 0.9" in document.extractor
    assert document.extractor in document.evidence
    wanted, seen = set(fold_words(ours.markdown)), set(fold_words(document.markdown))
    assert len(wanted & seen) > 0.97 * len(wanted)
