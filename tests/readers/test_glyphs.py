"""Letters that a PDF's fonts misname come right where the record proves them, and only there."""

import pytest

from tests.readers.test_pdf import Placed, article_page, fetched, pdf_of
from utils.cli import main
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Paper
from utils.readers.pdf import child, reader
from utils.readers.pdf.glyphs import correct_misnamed_letters

_WIDTHS = {"i": 2.22, "l": 2.22, "w": 7.22, "y": 5, "s": 5, "k": 5, "z": 5, "r": 3.33, "m": 8.33}
RECORD = Paper(
    Ids(pmid="7"),
    title="Bees in winter near Kraków",
    authors=(Author("Skała", "Ewa"), Author("Wysokińska", "Halina")),
)


@pytest.fixture(autouse=True)
def _no_children_left():
    yield
    child.CHILDREN.stop_idle_children()


def set_in_two_fonts(x: float, y: float, text: str) -> list[Placed]:
    """Print a text with the letters behind an underscore in another font; 10 points high."""
    placed: list[Placed] = []
    for part in text.replace("_", "\0_").split("\0"):
        for other, piece in (
            ((True, part[1:2]), (False, part[2:])) if part[0] == "_" else ((False, part),)
        ):
            if piece:
                placed.append((x, y, 10, f"/F3 {piece}" if other else piece))
                x += sum(_WIDTHS.get(char, 6.67 if char.isupper() else 5.56) for char in piece)
    return placed


def read(*lines: str) -> Document:
    """The document of a page with these lines above an article's text."""
    opening = [
        one for at, line in enumerate(lines) for one in set_in_two_fonts(72, 745 - 14 * at, line)
    ]
    return reader.read_document(fetched(pdf_of([[*opening, *article_page(1)], article_page(2)])))


def test_a_name_in_the_record_proves_a_glyph_wherever_it_stands():
    found = read("Ska_Ba", "Przemys_Baw", "Wysoki_Nska", "BioRad")
    assert "SkaBa" in found.markdown
    text = correct_misnamed_letters(found, RECORD).markdown
    assert "Skała" in text
    assert "Przemysław" in text  # no name of the record: the glyph is the same
    assert "Wysokińska" in text
    assert "BioRad" in text


def test_another_record_proves_nothing():
    found = read("Ska_Ba", "Przemys_Baw")
    for names in ("Skaba", "Skuła", "Skałak", "SkaBa"):
        text = correct_misnamed_letters(
            found, Paper(Ids(pmid="7"), authors=(Author(names),))
        ).markdown
        assert "SkaBa" in text
        assert "PrzemysBaw" in text


def test_two_letters_for_one_glyph_prove_neither():
    found = read("Ska_Ba", "Wo_Bk")
    record = Paper(Ids(pmid="7"), authors=(Author("Skała"), Author("Woşk")))
    assert "SkaBa" in correct_misnamed_letters(found, record).markdown


def test_a_word_that_also_stands_in_one_font_is_left_alone():
    found = read("Ska_Ba", "and", "SkaBa")
    assert correct_misnamed_letters(found, RECORD).markdown.count("SkaBa") == 2


def test_what_nobody_can_prove_lowers_the_confidence_of_its_page():
    found = read("Ska_Ba", "Przemys_Baw", "Wysoki_Nska")
    sure, other = correct_misnamed_letters(found, RECORD).confidence
    doubted, same = correct_misnamed_letters(found, Paper(Ids(pmid="7"))).confidence
    assert sure == other == same == 1.0
    assert 0.97 < doubted < 1.0


def test_pages_in_doubt_are_named_by_both_doors(library, world, capsys):
    from tests.shelf.papers import document, paper
    from tests.shelf.papers import fetched as sent

    made = document("## Results\n\nWords.\n", confidence=(1.0, 0.42, 0.97))
    library.shelf.save_full_text(paper(pmid="8"), made, sent(), source="DOI", attempts=())
    assert library.shelf.find_text(Ids(pmid="8")).confidence == (1.0, 0.42, 0.97)
    assert library.read("8").doubtful_pages == {2: 0.42}
    assert main(["read", "8"]) == 0
    assert "2 (42%)" in capsys.readouterr().err
