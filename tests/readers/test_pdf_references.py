"""Each entry of a numbered list of references is a line, however its numbers and lines are set."""

import pytest
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Paragraph

from tests.readers.test_pdf_headings import LABEL, PROSE, SMALL, TEXT, markdown_of, section

ENTRIES = """
Mer, A.; Oie, B. Roosts of wading birds on the outer banks. Shore Birds 1991, 4, 11-19
Ile, C. On the counting of dunlins by eye from dunes, with notes on wind. Tides 2004, 12, 1-9
Oie, B. Curlews. Shore Birds 2006, 19, 40-48
de Mer, A.; van Ile, C. The harrier over the marsh: who turns last. Tides 2011, 19, 100-112
Ebb, D. Telescopes. Tides 2012, 20, 3-4
Mer, A. The oystercatchers that left last and were seen again. Shore Birds 2013, 26, 8-21
""".strip().split("\n")
FIRST_LINE_OUT = ParagraphStyle("out", parent=TEXT, firstLineIndent=0, leftIndent=14)
FIRST_LINE_IN = ParagraphStyle("in", parent=TEXT, firstLineIndent=14)


def lines_of(markdown: str) -> list[str]:
    return markdown.split("\n\n")


@pytest.mark.parametrize("number", ["({})", "[{}]", "{}.", "{}"])
@pytest.mark.parametrize("style", [TEXT, FIRST_LINE_OUT, FIRST_LINE_IN])
def test_numbers_say_where_entries_begin_whatever_their_indents(
    number: str, style: ParagraphStyle
) -> None:
    told = [f"{number.format(at)} {entry}." for at, entry in enumerate(ENTRIES, 1)]
    story: list[Flowable] = [*section("Introduction", *PROSE), *section("References")]
    markdown = markdown_of(*story, *(Paragraph(text, style) for text in told))
    assert set(told) <= set(lines_of(markdown))


def test_an_advertisement_between_two_entries_is_in_neither() -> None:
    told = [f"{at}. {entry}." for at, entry in enumerate(ENTRIES, 1)]
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        *section("References"),
        *(Paragraph(text, SMALL) for text in told[:3]),
        Paragraph("Publish with the society", LABEL),
        Paragraph("It prints what its members see on northern shores.", TEXT),
        *(Paragraph(text, SMALL) for text in told[3:]),
    )
    assert set(told[:2]) | set(told[3:]) <= set(lines_of(markdown))


def test_numbers_that_break_off_leave_the_rest_to_its_indents() -> None:
    """After the sixth entry the numbers are of a font that names no digits."""
    hanging = ParagraphStyle("hanging", parent=TEXT, firstLineIndent=-14, leftIndent=14)
    told = [f"{at}. {entry}." for at, entry in enumerate(ENTRIES, 1)]
    told += [f"x. {PROSE[at % 3]} Seen in {2000 + at}." for at in range(9)]
    story: list[Flowable] = [*section("Introduction", *PROSE), *section("References")]
    markdown = markdown_of(*story, *(Paragraph(text, hanging) for text in told))
    assert set(told[7:]) <= set(lines_of(markdown))
