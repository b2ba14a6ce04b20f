"""Tables of PDFs come out row by row below their captions, and nothing of a table is lost."""

import re
from collections import Counter

import pytest

from quality.tables.drawn import Sheet, cells, pdf_of, places, table, text
from tests.growth import grows_linearly
from utils.readers.pdf.child import read_pages_here
from utils.readers.pdf.headings import TextBlock
from utils.readers.pdf.layout import format_blocks_as_markdown


def markdown_of(body: bytes) -> str:
    return str(read_pages_here(body)["markdown"])


def numbers(said: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:\.\d+)?", said))


def test_a_table_whose_columns_touch_says_that_its_cells_may_be_run_together() -> None:
    sheet = Sheet()
    sheet.say(60, 700, "Table 4. Columns as near to each other as words are")
    for at, row in enumerate(
        [["Group", "One", "Two", "All"]]
        + [[f"Of {name}", "12.5", "3.4", "15.9"] for name in "abcdefgh"]
    ):
        if at < 2:
            sheet.line(60, 694 - 12 * at, 300, 694 - 12 * at)
        cells(sheet, row, [60, 140, 159, 240, 300], 685 - 12 * at)
    sheet.line(60, 586, 300, 586)
    found = read_pages_here(pdf_of([sheet]))
    assert "| 12.5 3.4 |" in found["markdown"]
    blocks = found["markdown"].split("\n\n")
    remark = blocks.index("[Cells of Table 4 may be run together: some hold two numbers.]")
    assert blocks[remark + 1].startswith("| Group")
    assert found["doubts"]["pages"][0]["unplaced"] > 50


def test_cells_that_no_caption_names_say_so_where_text_runs_beside_them() -> None:
    sheet = Sheet()
    text(sheet, 60, 740, 30, 1, 240)
    for at in range(12):
        cells(
            sheet,
            [f"T{at}", f"{at}.5", f"{at * 7}.2", f"<0.{at}1"],
            [330, 380, 430, 480, 530],
            740 - 12 * at,
        )
    body = pdf_of([sheet])
    assert "[Lines in columns without a caption could not be told apart" in markdown_of(body)
    assert numbers(markdown_of(body))["77.2"] == 1
    assert read_pages_here(body)["doubts"]["pages"][0]["unplaced"] > 100


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("TABLE 2 | Primers that were used", "**TABLE 2** | Primers that were used"),
        ("Table-2: Primers that were used", "**Table-2**: Primers that were used"),
        ("Fig. 1 Cases by day", "**Fig. 1** Cases by day"),
        ("Table 2 shows the primers that were used", "Table 2 shows the primers that were used"),
        ("Figures were drawn by hand", "Figures were drawn by hand"),
    ],
)
def test_the_label_of_a_caption_is_bold_and_a_sentence_is_not(said: str, label: str) -> None:
    assert format_blocks_as_markdown("", [TextBlock(said)]) == label


def test_a_table_stands_right_below_its_caption_and_before_the_text_that_follows() -> None:
    sheet, rows = Sheet(), table(5)
    y = text(sheet, 60, 740, 5, 1, 480) - 20
    sheet.say(60, y, "Table 1. What was measured")
    xs, top = places(rows, 60), y - 6
    for at, row in enumerate(rows):
        if at < 2:
            sheet.line(60, top, xs[-1], top)
        cells(sheet, row, xs, top - 9)
        top -= 12
    sheet.line(60, top, xs[-1], top)
    sheet.say(60, top - 30, "Afterwards everybody went home and wrote it down.", 10)
    blocks = markdown_of(pdf_of([sheet])).split("\n\n")
    at = blocks.index("**Table 1**. What was measured")
    assert blocks[at + 1].startswith("| " + rows[0][0])
    assert blocks[at + 2] == "Afterwards everybody went home and wrote it down."


def test_what_two_columns_share_is_said_in_the_head_of_each() -> None:
    sheet = Sheet()
    xs = [60.0, 140.0, 200.0, 260.0]
    sheet.say(60, 700, "Table 2. Doses")
    for y in (694, 664, 628):
        sheet.line(60, y, 260, y)
    sheet.say(178, 685, "Dose")
    sheet.line(138, 680, 258, 680)
    for row, y in (
        (["Group", "5 mg", "10 mg"], 671),
        (["One", "1.2", "3.4"], 655),
        (["Two", "5.6", "7.8"], 640),
    ):
        cells(sheet, row, xs, y)
    markdown = markdown_of(pdf_of([sheet]))
    assert "| Group | Dose / 5 mg | Dose / 10 mg |" in markdown
    assert "| Two | 5.6 | 7.8 |" in markdown


def test_a_title_centred_above_two_names_is_said_in_both_and_one_beside_them_in_its_own() -> None:
    sheet = Sheet()
    xs = [60.0, 150.0, 220.0, 290.0, 360.0, 430.0, 460.0]
    sheet.say(60, 700, "Table 2. Doses by season")
    for y in (694, 664, 628):
        sheet.line(60, y, 450, y)
    sheet.say(178, 685, "Winter")
    sheet.say(319, 685, "Summer")
    for row, y in (
        (["Group", "5 mg", "9 mg", "5 mg", "9 mg", "p"], 671),
        (["One", "1.2", "3.4", "2.3", "4.5", "0.1"], 655),
        (["Two", "5.6", "7.8", "6.7", "8.9", "0.2"], 640),
    ):
        cells(sheet, row, xs, y)
    head = "| Group | Winter / 5 mg | Winter / 9 mg | Summer / 5 mg | Summer / 9 mg | p |"
    assert head in markdown_of(pdf_of([sheet]))


def test_a_sentence_about_a_table_is_no_caption() -> None:
    sheet = Sheet()
    sheet.say(60, 740, "Everything that we have measured in the years before is given in", 10)
    sheet.say(60, 728, "Table 1. In addition we asked all of the patients what they thought", 10)
    sheet.say(60, 716, "Table 2 shows what they said to us, and it was not much at all then.", 10)
    markdown = markdown_of(pdf_of([sheet]))
    assert "is given in Table 1. In addition we asked" in markdown
    assert "[" not in markdown


def test_a_table_whose_rows_cannot_be_told_apart_stays_as_text_and_says_so() -> None:
    sheet = Sheet()
    sheet.say(60, 740, "Table 3. A picture of a table")
    sheet.say(60, 700, "Smoke 12 or 13")
    for at in range(9):
        sheet.say(60 + 31 * at, 690 - 11 * at, f"{at} of them,")
        sheet.say(300 - 17 * at, 690 - 11 * at, f"{3 * at} of the others")
    found = read_pages_here(pdf_of([sheet]))
    markdown = found["markdown"]
    assert found["doubts"]["pages"][0]["unplaced"] > 100
    assert "[The rows of Table 3 could not be told apart" in markdown
    assert "Smoke 12 or 13" in markdown


def test_what_runs_up_the_margin_beside_a_table_is_no_text() -> None:
    sheet = Sheet()
    sheet.say(60, 740, "Table 2. Doses by season")
    for y in (734, 718, 690):
        sheet.line(60, y, 300, y)
    for row, y in ((["Group", "5 mg"], 723), (["One", "1.2"], 709), (["Two", "5.6"], 695)):
        cells(sheet, row, [60.0, 200.0, 290.0], y)
    text(sheet, 60, 660, 6, 3, 400)
    sheet.drawn.append("BT /F1 7 Tf 0 1 -1 0 590 300 Tm (shores.example.org Shore Sci. 2) Tj ET")
    markdown = markdown_of(pdf_of([sheet]))
    assert "| One | 1.2 |" in markdown
    assert "shores.example.org" not in markdown


def test_a_page_full_of_rules_and_captions_is_read_in_the_time_of_its_size() -> None:
    def hostile(times: int) -> bytes:
        sheet = Sheet()
        for number in range(10 * times):
            sheet.say(60, 790 - number * 70 / times, f"Table {number % 90}. Words of a caption", 2)
        for number in range(400 * times):
            y = 780 * (number + 1) / (400 * times)
            sheet.line(60, y, 500, y)
            sheet.say(60 + number % 7 * 60, y, f"{number} or so", 1)
        return pdf_of([sheet])

    pages = {times: hostile(times) for times in (2, 8)}
    assert grows_linearly(lambda times: read_pages_here(pages[times]), small=2, times=4, slack=3)
