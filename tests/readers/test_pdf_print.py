"""What print shows is read as print means it: footnotes, powers, signs, accents, headings."""

from dataclasses import replace

import pytest

from utils.readers.pdf.characters import FontFace
from utils.readers.pdf.headings import TextBlock
from utils.readers.pdf.layout import build_text_blocks
from utils.readers.pdf.lines import LinePiece, PageLines, combine_accents

SENTENCES = (
    "Larks sing longest on mornings without any wind at all,",
    "and shorter on the days when gusts come from the north",
    "over the heath, where we sat with a recorder from dawn",
    "until noon and counted every song of every male we knew.",
)


def lines_of(
    texts: tuple[str, ...], top: float = 700, size: float = 10, font: str = "Text", left: float = 72
) -> list[LinePiece]:
    return [
        LinePiece(
            text=text,
            left=left,
            bottom=top - 12 * at - size,
            right=left + 4.5 * len(text),
            top=top - 12 * at,
            size=size,
            row=round(top) - 12 * at,
            font=font,
        )
        for at, text in enumerate(texts)
    ]


def blocks_of(*pages: list[LinePiece]) -> list[TextBlock]:
    return build_text_blocks([PageLines(tuple(lines), 612, 792) for lines in pages], "")


def told(*pages: list[LinePiece]) -> list[tuple[str, int]]:
    return [(block.text, block.level) for block in blocks_of(*pages)]


def test_a_footnote_in_the_middle_of_a_sentence_stands_after_its_paragraph() -> None:
    note = lines_of(("E. Dahl, Institute of the Heath, Norby, e-mail: dahl@heath.test",), 150, 8)
    first = [*lines_of(SENTENCES[:2]), *note]
    second = lines_of(SENTENCES[2:])
    assert told(first, second) == [(" ".join(SENTENCES), 0), (note[0].text, 0)]


def test_small_print_between_whole_sentences_stays_where_it_is() -> None:
    caption = lines_of(("Fig. 1 Songs by wind.",), 300, 8)
    first = [*lines_of(SENTENCES), *caption]
    second = lines_of(("Females heard all of it.",))
    assert [text for text, _ in told(first, second)] == [
        " ".join(SENTENCES),
        "Fig. 1 Songs by wind.",
        "Females heard all of it.",
    ]


def test_headings_known_by_their_font_alone_are_headings_and_labels_of_a_figure_are_not() -> None:
    page: list[LinePiece] = []
    for at, title in enumerate(("Birds and heaths", "How songs were timed", "Wind and rain")):
        page += lines_of((title,), 760 - 120 * at, 9, "Display")
        page += lines_of(SENTENCES * 2, 744 - 120 * at)
    for at, label in enumerate(("Dawn", "Noon", "Dusk", "Night")):
        page += lines_of((label,), 300 - 40 * at, 9, "Label")
        page += lines_of((f"{at} to {at + 6}",), 280 - 40 * at)
    found = dict(told(page))
    assert [found[title] for title in ("Birds and heaths", "Wind and rain")] == [3, 3]
    assert not [text for text, level in told(page) if level and ("Dawn" in text or "Dusk" in text)]


def test_a_heading_on_two_lines_is_one_even_if_the_second_is_a_title_of_papers() -> None:
    page: list[LinePiece] = []
    for at, title in enumerate(("Timing by ear and", "Timing by recorder", "Wind and rain")):
        page += lines_of((title,), 760 - 130 * at, 9, "Display")
        page += lines_of(("method",) if not at else (), 748, 9, "Display")
        page += lines_of(SENTENCES * 2, 732 - 130 * at)
    assert ("Timing by ear and method", 3) in told(page)


def test_numbered_titles_are_headings_where_each_follows_the_one_before() -> None:
    titles = (
        "1 Introduction", "2 Methods", "2.1 Birds", "2.2 Songs timed by ear", "2.3 mm of rain",
    )  # fmt: skip
    page: list[LinePiece] = []
    for at, title in enumerate(titles):
        page += lines_of((title,), 760 - 90 * at)
        page += lines_of(SENTENCES, 736 - 90 * at)
    page += lines_of(("9.9 Larks a hectare",), 300)
    levels = dict(told(page))
    assert [levels[title] for title in titles[:4]] == [2, 2, 3, 3]
    assert levels["9.9 Larks a hectare"] == 0


def test_numbers_say_how_deep_headings_stand_whatever_their_size() -> None:
    page: list[LinePiece] = []
    for at, (title, size) in enumerate(
        (("1 Heaths", 14), ("2 Songs", 11.5), ("2.1 Songs by wind", 14), ("3 Larks in 2019", 11.5))
    ):
        page += lines_of((title,), 760 - 90 * at, size)
        page += lines_of(SENTENCES, 736 - 90 * at)
    assert [level for _, level in told(page) if level] == [2, 2, 3, 2]


def test_a_title_with_the_sentence_behind_it_in_its_line_is_no_heading() -> None:
    page = [*lines_of(SENTENCES), *lines_of(("Funding. We thank the heath",), 500, 13)]
    assert [level for _, level in told([*page, *lines_of(SENTENCES, 400)])] == [0, 0, 0]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("the school of Abomey-", "Calavi", "the school of Abomey-Calavi"),
        ("both short-", "and long-term", "both short- and long-term"),
        ("for 2\N{EN DASH}", "3 days", "for 2\N{EN DASH}3 days"),
        ("see https://heath.test/", "larks/2019.html", "see https://heath.test/larks/2019.html"),
        ("by PCR-", "amplified strands", "by PCR-amplified strands"),
        ("by plasma-", "assisted cutting", "by plasma-assisted cutting"),
        ("larks of the MED-", "LINE and Medline", "larks of the MEDLINE and Medline"),
        ("in winter inde-", "pendent of sex", "in winter independent of sex"),
        ("the larks in-", "dependent of it", "the larks independent of it"),
        ("see https://heath.test/", "for more", "see https://heath.test/ for more"),
    ],
)
def test_lines_are_joined_as_they_were_broken(first: str, second: str, joined: str) -> None:
    assert told(lines_of((first.strip(), second))) == [(joined, 0)]


def test_a_running_head_goes_wherever_its_page_number_stands() -> None:
    pages = []
    for number in range(1, 5):
        head = f"Songs of larks {number}" if number % 2 else f"{number} Songs of larks"
        own = tuple(f"{word} {number}" for word in SENTENCES)
        pages.append([*lines_of((head,), 780, 8), *lines_of(own)])
    assert not [text for text, _ in told(*pages) if "Songs of larks" in text]


def test_a_sign_in_the_same_place_on_two_pages_goes() -> None:
    sign = lines_of(("HEATHS",), 780, 14, left=500)
    pages = [lines_of(tuple(f"{word} {number}" for word in SENTENCES)) for number in range(5)]
    said = [text for text, _ in told([*sign, *pages[0]], *pages[1:4], [*sign, *pages[4]])]
    assert not [text for text in said if "HEATHS" in text]


def test_a_heading_torn_at_a_lowered_letter_is_one() -> None:
    page: list[LinePiece] = []
    for at, title in enumerate(("Birds and heaths", "How songs were timed", "Wind and rain")):
        page += lines_of((title,), 760 - 120 * at, 9, "Display")
        page += lines_of(SENTENCES * 2, 744 - 120 * at)
    [torn] = lines_of(("G 2",), 396, 7, "Display")
    [rest] = lines_of(("in songs of larks",), 400, 9, "Display", left=torn.right)
    page += [torn, rest, *lines_of(SENTENCES * 2, 384)]
    assert ("G 2 in songs of larks", 3) in told(page)


def test_letters_of_a_font_with_tall_boxes_are_placed_as_others_are() -> None:
    formulas, text = FontFace("Math", 400, 3.0, -2.0), FontFace("Text", 400, 0.9, -0.3)
    assert (formulas.has_tall_box, text.has_tall_box) == (True, False)
    assert formulas.normalize_box((72, 80, 77, 130)) == pytest.approx((72, 97, 77, 109))
    assert text.normalize_box((72, 97, 77, 109)) == pytest.approx((72, 97, 77, 109))


def test_a_masthead_in_the_middle_of_a_sentence_stands_after_its_paragraph() -> None:
    masthead = lines_of(("Heath Publishing, Volume 12, Article 8505",), 770)
    first = [*lines_of(SENTENCES[:2]), *masthead]
    others = [lines_of(("Females heard all of it.",)) for _ in range(2)]
    paragraph, behind = told(first, lines_of(SENTENCES[2:]), *others)
    assert paragraph[0].startswith(" ".join(SENTENCES))
    assert behind == (masthead[0].text, 0)


def test_a_line_right_above_the_text_of_other_pages_is_text() -> None:
    first = [*lines_of(SENTENCES[:1], 712), *lines_of(SENTENCES[1:2])]
    others = [lines_of(("Females heard all of it.",)) for _ in range(2)]
    assert told(first, lines_of(SENTENCES[2:]), *others)[0][0].startswith(" ".join(SENTENCES))


REFERENCES = (
    "Dahl, E. (1998). Songs of larks on heaths", "    near Norby. Birds 12, 3-9. doi: 10.9103/b.12",
    "Ek, S., Moen, L., and Lund, P. (2003). Wind",
    "    and song. Journal of Larks 3, 14-22. doi: 10.9103/w.3",
    "Falk, B. (2011). Hearing of females. Birds 25,", "    33-41. doi: 10.9103/b.25",
)  # fmt: skip


def hanging(texts: tuple[str, ...], top: float, left: float) -> list[LinePiece]:
    return [
        replace(line, text=line.text.strip(), left=left + 12 * line.text.startswith(" "))
        for line in lines_of(texts, top, left=left)
    ]


@pytest.mark.parametrize("split", range(1, 6))
def test_each_reference_is_a_line_also_where_the_column_ends(split: int) -> None:
    texts = lines_of(("References",), 300, 12)
    first = [*texts, *hanging(REFERENCES[:split], 280, 72)]
    second = hanging(REFERENCES[split:], 700, 320)
    entries = [" ".join(pair).replace("    ", "") for pair in batched(REFERENCES)]
    assert told([*lines_of(SENTENCES), *first, *second])[2:] == [(entry, 0) for entry in entries]


NUMBERED = tuple(
    line
    for number, name in enumerate(("Dahl E", "Ek S", "de Wit L", "Falk B", "Gran T", "Holm K"), 1)
    for line in (f"{number} {name}, Lund P. Songs of larks on the heaths of", "Norby. 3-9, 2003.")
)


def test_numbers_say_where_references_begin_though_they_hang_nowhere_and_a_page_ends() -> None:
    """Nothing but the numbers tells these entries apart; one begins with a small letter."""
    first = [*lines_of(("References",), 300, 12), *lines_of(NUMBERED[:5], 280)]
    second = lines_of(NUMBERED[5:], 700)
    found = [text for text, _ in told([*lines_of(SENTENCES), *first], second)]
    assert found[2:] == [" ".join(pair) for pair in batched(NUMBERED)]


def test_what_stands_after_the_last_reference_is_no_part_of_it() -> None:
    after = lines_of(("We thank the wardens of the heath for their patience.",), 100)
    list_ = [*lines_of(("References",), 300, 12), *lines_of(NUMBERED, 280)]
    assert told([*lines_of(SENTENCES), *list_, *after])[-1][0] == after[0].text


def batched(texts: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [texts[at : at + 2] for at in range(0, len(texts), 2)]


def test_accents_beside_their_letters_come_upon_them() -> None:
    assert combine_accents(["Rene´ De`gnon of Be´nin, Peˆche"]) == ["René Dègnon of Bénin, Pêche"]
    assert combine_accents(["Schr¨odinger, Poincar´e and No¨el, na¨ıve"]) == [
        "Schrödinger, Poincaré and Noël, naïve"
    ]
    for kept in ("the patient´s nest", "a disease´s end", "code `x` and ¨", "2´ of arc"):
        assert combine_accents([kept]) == [kept]


def test_the_accents_of_a_page_are_read_before_its_words_are_compared() -> None:
    page = lines_of(("Gale´oides and Bessie`re",))
    assert blocks_of(page) == [replace(blocks_of(page)[0], text="Galéoides and Bessière")]


def test_a_title_with_a_name_in_another_font_is_a_heading_and_a_line_of_text_is_none() -> None:
    page: list[LinePiece] = []
    for at, title in enumerate(("Birds and heaths", "How songs were timed", "Wind and rain")):
        page += lines_of((title,), 760 - 120 * at, 9, "Display")
        page += lines_of(SENTENCES * 2, 744 - 120 * at)
    [mixed] = lines_of(("Songs of Alauda arvensis",), 400, 9)
    mixed = replace(mixed, font="", lead="Songs of", lead_font="Display", end_font="Italic")
    text = lines_of(SENTENCES * 2, 384)
    within = replace(text[3], font="", lead="until", lead_font="Display", end_font="Text")
    headings = [text for text, level in told([*page, mixed, *text[:3], within, *text[4:]]) if level]
    assert headings[3:] == ["Songs of Alauda arvensis"]


def test_a_light_title_of_the_family_of_the_chief_titles_is_a_heading_though_it_stands_alone() -> (
    None
):
    page: list[LinePiece] = []
    for at, title in enumerate(("Introduction", "Methods", "Results")):
        page += lines_of((title,), 760 - 120 * at, 10, "ABCDEF+Chief-Bold")
        page += lines_of(SENTENCES * 2, 744 - 120 * at)
    page += [*lines_of(("Larks by ear",), 400, 10, "ABCDEF+Chief-Light"), *lines_of(SENTENCES, 384)]
    assert told(page)[-2] == ("Larks by ear", 3)


def test_labels_of_a_figure_are_one_line_that_tears_no_sentence() -> None:
    page = [*lines_of(SENTENCES[:2]), *scattered("0 20", "Dawn", "Noon", "40"), *second_half()]
    assert told(page) == [(" ".join(SENTENCES), 0), ("0 20 Dawn Noon 40", 0)]


def test_the_pieces_of_a_formula_stay_in_their_place_as_one_line() -> None:
    page = [*lines_of(SENTENCES[:2]), *scattered("n =", "a b", "2 (x+y+z)"), *second_half()]
    assert [text for text, _ in told(page)][1:] == [
        "n = a b 2 (x+y+z)",
        " ".join(SENTENCES[2:]),
    ]


def scattered(*labels: str) -> list[LinePiece]:
    return [
        line
        for at, label in enumerate(labels)
        for line in lines_of((label,), 600 - 40 * at, 14, "Label")
    ]


def second_half() -> list[LinePiece]:
    return lines_of(SENTENCES[2:], 400)
