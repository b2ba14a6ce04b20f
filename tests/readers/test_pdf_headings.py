"""What is a heading of a PDF and what only looks like one, in papers set by ReportLab."""

from html import escape
from io import BytesIO

import pytest
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A5, letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer

from utils.readers.pdf.child import read_pages_here
from utils.readers.pdf.headings import TextBlock, demote_column_headings

TITLE = ParagraphStyle("title", fontName="Times-Bold", fontSize=17, leading=20, alignment=TA_CENTER)
AUTHORS = ParagraphStyle("authors", fontName="Times-Roman", fontSize=13, leading=16)
SECTION = ParagraphStyle(
    "section", fontName="Helvetica-Bold", fontSize=12, leading=15, spaceBefore=9
)
TEXT = ParagraphStyle("text", fontName="Times-Roman", fontSize=10, leading=12)
SMALL = ParagraphStyle("small", fontName="Times-Roman", fontSize=8, leading=9.6)
LABEL = ParagraphStyle("label", fontName="Helvetica-Bold", fontSize=10, leading=13)
ITALIC = ParagraphStyle("italic", fontName="Times-Italic", fontSize=10, leading=12)

STRANGE = ParagraphStyle("strange", fontName="Courier-Bold", fontSize=10, leading=13)
LARGE = ParagraphStyle("large", parent=SECTION, fontSize=14, leading=17)

NAME = "Tides and the rest of wading birds on northern shores"
ABSTRACT = (
    "Wading birds rest when the tide covers their feeding grounds. We watched three roosts from"
    " the dunes for two winters and noted who came first, who stood at the edge and who left"
    " when the water fell again, and we compared it with the height of the tide."
)
PROSE = (
    ("The birds came in small flocks before the water reached the outer bank, and the first of"
        " them were always dunlins. They stood close together in the wind, with their heads low,"
        " and moved only when a harrier passed over the marsh."),
    (
        "On quiet days the roost was wider and the older birds kept to its middle. We counted"
        " them all from the dune with a telescope at intervals of ten minutes until the ebb began."
    ),
    ("When the ebb began, the curlews left first and walked down the slope to the water. Oyster"
        "catchers followed after some minutes, and the small ones flew out last of all."),
)  # fmt: skip

TOWNS = ("Norby", "Sunde", "Vik", "Holm", "Lund", "Ask", "Berg", "Dal")


def markdown_of(*story: Flowable, size: tuple[float, float] = letter) -> str:
    """What is read from a PDF of these paragraphs."""
    into = BytesIO()
    SimpleDocTemplate(into, pagesize=size).build([Paragraph(NAME, TITLE), Spacer(1, 9), *story])
    return str(read_pages_here(into.getvalue())["markdown"])


def headings_of(markdown: str) -> list[str]:
    return [line.lstrip("# ") for line in markdown.split("\n") if line.startswith("##")]


def section(title: str, *paragraphs: str) -> list[Flowable]:
    return [Paragraph(title, SECTION), *(Paragraph(text, TEXT) for text in paragraphs)]


OPENING = (Paragraph("Abstract", SECTION), Paragraph(ABSTRACT, TEXT))


@pytest.mark.parametrize("size", [letter, A5])
@pytest.mark.parametrize("ended", ["{}.", "{}:", "{}.\u2014"])
def test_titles_in_bold_before_their_text_are_headings_of_their_own(
    ended: str, size: tuple[float, float]
) -> None:
    titles = ("Roosts of the shore", "Counts by telescope and by eye", "Tides and their heights")
    told = (
        f"<font name='Times-Bold'>{ended.format(title)}</font> {text}"
        for title, text in zip(titles, PROSE, strict=True)
    )
    markdown = markdown_of(
        *OPENING,
        *section("Introduction", *PROSE),
        *section("Methods", *told),
        *section("Results", *PROSE),
        size=size,
    )
    expected = ["Abstract", "Introduction", "Methods", *titles, "Results"]
    assert headings_of(markdown) == expected
    assert f"\n\n{PROSE[0]}\n\n" in markdown


def test_a_title_on_two_lines_before_its_text_is_one_heading() -> None:
    long = "Counts of birds that stood at the edge of the roost, and in its middle, by telescope"
    told = (
        f"<font name='Helvetica-BoldOblique'>{title}.</font> {text}"
        for title, text in zip((long, "Wind", "Tides and moon"), PROSE, strict=True)
    )
    markdown = markdown_of(*section("Introduction", PROSE[1]), *section("Methods", *told), size=A5)
    assert headings_of(markdown) == ["Introduction", "Methods", long, "Wind", "Tides and moon"]


def test_bold_words_of_an_abstract_and_of_contributions_stay_where_they_are() -> None:
    parts = ("Aims", "Methods", "Main findings")
    abstract = (f"<b>{part}:</b> {text}" for part, text in zip(parts, PROSE, strict=True))
    shares = ("<b>Planning:</b> A. Mer.", "<b>Counting:</b> B. Oie.", "<b>Writing:</b> C. Ile.")
    markdown = markdown_of(
        Paragraph("Abstract", SECTION),
        *(Paragraph(text, TEXT) for text in abstract),
        *section("Introduction", *PROSE),
        *section("Author contributions", *shares),
    )
    assert headings_of(markdown) == ["Abstract", "Introduction", "Author contributions"]


def test_italic_names_that_begin_paragraphs_are_no_titles() -> None:
    birds = (
        f"<i>Calidris alpina</i> {PROSE[0]}",
        f"<i>N. arquata</i> {PROSE[1]}",
        f"<i>H. ostralegus.</i> {PROSE[2]}",
    )
    markdown = markdown_of(*section("Introduction", *PROSE), *section("Results", *birds))
    assert headings_of(markdown) == ["Introduction", "Results"]


def test_authors_and_the_kind_of_the_article_are_no_headings() -> None:
    markdown = markdown_of(
        *OPENING,
        Paragraph(
            "Ana Mer<super>1</super>, Bo Oie<super>2</super> and Cy Ile<super>1,2</super>", AUTHORS
        ),
        Paragraph("Original Research", SECTION),
        *section("Introduction", *PROSE),
        Paragraph("Open Access", SECTION),
        *section("Results", *PROSE),
    )
    assert headings_of(markdown) == ["Abstract", "Introduction", "Results"]


def test_words_of_a_figure_and_cells_in_bold_are_no_headings() -> None:
    lettering = ("Dunlin", "12 14 16 18", "Curlew", "a b", "Oyster", "Knot", "0 20 40 60")
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        *section("Results", *PROSE),
        *(Paragraph(word, LABEL) for word in lettering),
        Paragraph("Figure 1. Birds at the roost by hour, both winters.", SMALL),
        *section("Discussion", *PROSE),
    )
    assert headings_of(markdown) == ["Introduction", "Results", "Discussion"]


def test_a_heading_right_below_a_heading_is_another() -> None:
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        Paragraph("METHODS AND SITES", LABEL),
        Paragraph("Roosts on the outer bank and how they were chosen", LABEL),
        *(Paragraph(text, TEXT) for text in PROSE),
        Paragraph("Counting", LABEL),
        Paragraph("Roosts by day and by night, both winters", LABEL),
        *(Paragraph(text, TEXT) for text in PROSE),
    )
    assert headings_of(markdown) == [
        "Introduction",
        "METHODS AND SITES",
        "Roosts on the outer bank and how they were chosen",
        "Counting",
        "Roosts by day and by night, both winters",
    ]


def test_bold_lines_in_the_middle_of_a_sentence_are_none() -> None:
    broken = (
        "All of the counts were made by the same two people of the society and then<br/>"
        "<b>Roost watchers of the north</b><br/>went through them once more in the spring."
    )
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        *section("Methods", broken, *PROSE),
        *section("Results", *PROSE),
    )
    assert headings_of(markdown) == ["Introduction", "Methods", "Results"]


def test_text_that_is_shorter_than_its_references_is_no_heading() -> None:
    entries = (
        f"{at}. Mer A, Oie B. {text} Shore Birds {1990 + at};{at}:1-9."
        for at, text in enumerate(PROSE * 5, 1)
    )
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        *section("Results", *PROSE),
        PageBreak(),
        Paragraph("References", SECTION),
        *(Paragraph(entry, SMALL) for entry in entries),
    )
    assert headings_of(markdown) == ["Introduction", "Results", "References"]


def test_titles_in_italics_are_headings_though_references_have_italics_too() -> None:
    titles = ("Roosts of the shore", "Counts by eye", "Tides and moon")
    methods = [
        piece
        for title, text in zip(titles, PROSE, strict=True)
        for piece in (Paragraph(title, ITALIC), Paragraph(text, TEXT))
    ]
    entries = [
        piece
        for at in range(1, 9)
        for piece in (
            Paragraph(f"{at}. Mer A, Oie B. Birds of shore number {at}, in a volume of the", TEXT),
            Paragraph("Journal of Shores and Tides", ITALIC),
            Paragraph(f"{1990 + at};{at}:1-9.", TEXT),
        )
    ]
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        Paragraph("Methods", SECTION),
        *methods,
        Paragraph("References", SECTION),
        *entries,
    )
    assert headings_of(markdown) == ["Introduction", "Methods", *titles, "References"]


def test_what_stands_above_the_title_is_no_heading() -> None:
    into = BytesIO()
    SimpleDocTemplate(into, pagesize=letter).build(
        [
            Paragraph("ShoreScience", SECTION), Paragraph(NAME, TITLE), Spacer(1, 9), *OPENING,
            *section("Introduction", *PROSE),
        ]
    )  # fmt: skip
    assert headings_of(read_pages_here(into.getvalue())["markdown"]) == ["Abstract", "Introduction"]


def test_an_abstract_in_bold_is_a_paragraph_whatever_its_lines_look_like() -> None:
    bold = ParagraphStyle("bold", parent=SECTION, fontSize=11, leading=13)
    markdown = markdown_of(Paragraph(ABSTRACT, bold), *section("Introduction", *PROSE))
    assert headings_of(markdown) == ["Introduction"]
    assert f"\n\n{ABSTRACT}\n\n" in markdown


def test_behind_the_references_only_titles_of_papers_are_headings() -> None:
    entries = (f"{at}. Mer A, Oie B. Shore Birds {1990 + at};{at}:1-9." for at in range(1, 9))
    behind = ("Appendix", "Methods", "Roosts and how they were found")
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        Paragraph("References", SECTION),
        *(Paragraph(entry, SMALL) for entry in entries),
        *(
            Paragraph(text, style)
            for title in ("Put your next paper on our shore", *behind)
            for text, style in ((title, LARGE), (PROSE[0], TEXT))
        ),
    )
    assert headings_of(markdown) == ["Introduction", "References", *behind]


def test_a_title_above_a_list_of_names_is_a_heading() -> None:
    names = " ".join(f"{town} Shore Station, {town} Museum of Birds," for town in TOWNS)
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        *section("Stations that took part", f"These took part: {names} and Oster Bank."),
        *section("Results", *PROSE),
    )
    assert headings_of(markdown) == ["Introduction", "Stations that took part", "Results"]


@pytest.mark.parametrize(
    "label",
    [
        "Access this article online",
        "Address for correspondence",
        "Conflict of interest: none",
        "S2 Text. Tides of both winters",
        "Additional file 3: Tides of both winters",
        "ORCID iDs",
    ],
)
def test_labels_of_small_print_are_no_headings(label: str) -> None:
    markdown = markdown_of(
        *section("Introduction", *PROSE), *section(label, PROSE[0]), *section("Results", *PROSE)
    )
    assert headings_of(markdown) == ["Introduction", "Results"]


def test_the_title_of_the_text_behind_a_lost_table_is_a_heading() -> None:
    prose = " ".join(PROSE)
    blocks = [
        TextBlock("[The rows of Table 1 could not be told apart]", is_remark=True, is_aside=True),
        TextBlock("Birds by tide", 3), TextBlock("12 14 dunlin 16 18 curlew"),
        TextBlock("Where they rest", 3),
        TextBlock(prose),
    ]  # fmt: skip
    assert [block.level for block in demote_column_headings(blocks)] == [0, 0, 0, 3, 0]


def numbers_of_glyphs(text: str) -> str:
    """Letters as a font without any writes them: by their place in the order of the Macintosh."""
    return "".join(chr(ord(char) - 29) for char in text)


def test_labels_whose_font_has_no_letters_are_read_where_other_words_prove_them() -> None:
    labels = ("Control", "Roosts", "Telescope", "flocks")
    strange = [Paragraph(escape(numbers_of_glyphs(label)), STRANGE) for label in labels]
    caption = Paragraph("Figure 1. Roosts and flocks by telescope; control below.", SMALL)
    markdown = markdown_of(
        *section("Introduction", *PROSE), *strange, caption, *section("Results", *PROSE)
    )
    assert " ".join(labels) in " ".join(markdown.split())
    assert headings_of(markdown) == ["Introduction", "Results"]


def test_names_in_capitals_are_no_numbers_of_glyphs() -> None:
    names = ("WKHRA", "DQGL", "KRXUV")
    markdown = markdown_of(
        *section("Introduction", *PROSE), *(Paragraph(name, STRANGE) for name in names)
    )
    assert all(name in markdown for name in names)


def test_a_number_and_its_unit_are_no_heading_however_large() -> None:
    markdown = markdown_of(
        *section("Introduction", *PROSE),
        Paragraph("24 hours", LARGE),
        *section("Results", *PROSE),
    )
    assert headings_of(markdown) == ["Introduction", "Results"]
