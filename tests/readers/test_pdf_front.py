"""What stands before a paper's text or is set like headings: contents, roles, a clipped *Th*."""

from io import BytesIO

import pytest
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
)

from tests.readers.test_pdf_headings import ABSTRACT, PROSE, SECTION, SMALL, TEXT, markdown_of
from utils.outline.sections import measure_text
from utils.readers.pdf.child import read_pages_here

NAMES = ("1. Introduction", "2. Methods", "2.1. The roosts", "3. Results", "4. Discussion")


def sections() -> list[Flowable]:
    told: list[Flowable] = []
    for name in NAMES:
        told += [Paragraph(name, SECTION), *(Paragraph(text, TEXT) for text in PROSE)]
    return [*told, Paragraph("References", SECTION), *entries()]


def entries() -> list[Flowable]:
    return [
        Paragraph(f"{number}. Doe J. Birds {number}. J Birds. 20{number};1:2-9.", SMALL)
        for number in range(11, 20)
    ]


def headings(markdown: str) -> list[str]:
    return [line.lstrip("# ") for line in markdown.split("\n") if line.startswith("#")]


@pytest.mark.parametrize(
    ("style", "entry"),
    [(SECTION, "{} ........ {}"), (TEXT, "{} . . . . . {}"), (TEXT, "{} {}"), (SECTION, "{}")],
)
def test_a_printed_table_of_contents_is_no_part_of_the_paper(
    style: ParagraphStyle, entry: str
) -> None:
    contents = [
        Paragraph(entry.format(name, page), style)
        for page, name in enumerate((*NAMES, "References"), 2)
    ]
    front = [Paragraph("Abstract", SECTION), Paragraph(ABSTRACT, TEXT)]
    table = [Paragraph("Contents", SECTION), *contents, PageBreak()]
    markdown = markdown_of(*front, *table, *sections())
    assert headings(markdown)[-7:] == ["Abstract", *NAMES, "References"]
    assert measure_text(markdown).references == 9
    assert "Contents" not in markdown


def test_headings_that_no_contents_repeat_stay() -> None:
    markdown = markdown_of(Paragraph("Abstract", SECTION), Paragraph(ABSTRACT, TEXT), *sections())
    assert headings(markdown)[-6:] == [*NAMES, "References"]


def test_a_sign_that_stands_for_the_ligature_th_is_spelled() -> None:
    clipped = " ".join(
        f"*e bird rests. *ese stay in group {number}. *is is so." for number in "123"
    )
    markdown = markdown_of(Paragraph("Results", SECTION), Paragraph(clipped, TEXT))
    assert "The bird rests. These stay in group 1. This is so." in markdown
    kept = f"{clipped} The tide, these birds and this roost. There they were. Then the ebb. Thus."
    assert "*e bird" in markdown_of(Paragraph("Results", SECTION), Paragraph(kept, TEXT))


def test_roles_of_contributors_are_no_headings() -> None:
    roles = ("Conceptualization", "Data curation", "Writing - original draft", "Methodology")
    story: list[Flowable] = [*sections()[:-10], Paragraph("Author contributions", SECTION)]
    for role in roles:
        story += [Paragraph(f"{role}:", SECTION), Paragraph("Jane Doe, Richard Roe.", TEXT)]
    markdown = markdown_of(*story, Paragraph("References", SECTION), *entries())
    assert headings(markdown)[-2:] == ["Author contributions", "References"]
    assert "Data curation: Jane Doe, Richard Roe." in markdown


@pytest.mark.parametrize("left", [True, False])
def test_a_box_in_the_margin_stays_out_of_the_abstract_beside_it(left: bool) -> None:
    width, height = letter
    narrow, wide = 120, width - 220
    box_at, text_at = (50, 180) if left else (50 + wide, 50)
    frames = [
        Frame(50, height - 150, width - 100, 100, id="title"),
        Frame(box_at, 50, narrow, height - 210, id="box"),
        Frame(text_at, 50, wide, height - 210, id="text"),
    ]
    page = Frame(60, 60, width - 120, height - 120, id="page")
    lines = ("Citation: Doe J. Birds 2021, 3, 45.", "Academic Editor: Ann Poe", "Received: 3 May")
    story = [
        *(NextPageTemplate("rest"), Paragraph("Birds that rest at dusk", SECTION), FrameBreak()),
        *(Paragraph(line, SMALL) for line in lines),
        *(FrameBreak(), Paragraph("Abstract", SECTION), Paragraph(f"{ABSTRACT} {ABSTRACT}", TEXT)),
        *(Paragraph("1. Introduction", SECTION), *(Paragraph(text, TEXT) for text in PROSE)),
        *(PageBreak(), *sections()[3:]),
    ]
    into = BytesIO()
    document = BaseDocTemplate(into, pagesize=letter)
    document.addPageTemplates([PageTemplate("first", frames), PageTemplate("rest", [page])])
    document.build(story)
    markdown = str(read_pages_here(into.getvalue())["markdown"])
    abstract = markdown.partition("## Abstract\n\n")[2].partition("\n\n#")[0]
    assert abstract == f"{ABSTRACT} {ABSTRACT}"
    assert "Academic Editor" in markdown
