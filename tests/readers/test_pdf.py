"""PDFs are read in order and without their furniture, and a hostile one harms nobody.

The PDFs are written here by hand: one font, one content stream a page, every line placed.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import wrap

import pytest

from tests import own_words
from tests.readers.reading_children import DIES, HANGS
from utils.errors import BadContent
from utils.judges.check import judge_document
from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched, Paper
from utils.readers.child_processes import ChildReadError
from utils.readers.pdf import child, native, reader
from utils.readers.pdf.headings import TextBlock
from utils.readers.pdf.layout import build_text_blocks, format_blocks_as_markdown
from utils.readers.pdf.lines import LinePiece, PageLines

Placed = tuple[float, float, float, str]  # x, y, size, text; "/F2 …" is set in that font
_FONTS = "".join(
    f"/{name} << /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >> "
    for name, font in (("F2", "AdvPSMP13"), ("F3", "AdvPTimes"), ("F4", "AdvPS44A44B"))
)

_ONSETS = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu")
WORDS = [f"{onset}{coda}" for onset in _ONSETS for coda in ("rn", "st", "ld", "nt", "mp")]


def pdf_of(pages: list[list[Placed]], title: str = "", trailer: str = "") -> bytes:
    """The bytes of a PDF with these lines on its pages."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    objects.append(
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    objects.append(f"<< /Title ({title}) >>")
    kids = []
    for lines in pages:
        drawn = "\n".join(
            f"BT /{text[1:3] if text.startswith('/F') else 'F1'} {size} Tf 1 0 0 1 {x} {y} Tm"
            f" ({text[4:] if text.startswith('/F') else text}) Tj ET"
            for x, y, size, text in lines
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            f" /Resources << /Font << /F1 3 0 R {_FONTS}>> >> /Contents {len(objects)} 0 R >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    start = len(out)
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return (
        out
        + (
            f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R {trailer} >>\n"
            f"startxref\n{start}\n%%EOF\n"
        ).encode()
    )


def fetched(body: bytes) -> Fetched:
    return Fetched(
        body=body,
        media="pdf",
        url="https://publisher.test/a.pdf",
        source="publisher",
        via="publisher",
    )


def read(pages: list[list[Placed]], title: str = "") -> Document:
    return reader.read_document(fetched(pdf_of(pages, title)))


def prose(start: int, count: int) -> str:
    """*count* words, never the same run twice."""
    return " ".join(f"{WORDS[i // 50 % 50]}{WORDS[i % 50]}" for i in range(start, start + count))


def column(x: float, top: float, lines: list[str], size: float = 10) -> list[Placed]:
    return [(x, top - 12 * number, size, line) for number, line in enumerate(lines)]


@pytest.fixture(autouse=True)
def _no_children_left() -> Iterator[None]:
    yield
    child.CHILDREN.stop_idle_children()


def article_page(number: int) -> list[Placed]:
    return [
        (72, 770, 8, f"Doe and Roe: Bees in winter, page {number}"),
        *column(72, 700, [prose(number * 40 + line * 8, 7) for line in range(30)]),
        (300, 20, 8, str(number)),
    ]


def test_title_headings_paragraphs_and_identifiers() -> None:
    document = read(
        [
            [
                (72, 740, 20, "Memory of colour in foraging"),
                (72, 716, 20, "honeybees of the south"),
                (72, 690, 9, "https://doi.org/10.1000/Bees.1  PMID: 31452104"),
                (72, 660, 10, "Abstract: Bees return to flowers whose colour they learned."),
                (72, 630, 14, "Introduction"),
                *column(72, 610, [f"{prose(0, 7)}", f"{prose(9, 7)}."]),
                (72, 570, 14, "References"),
                *column(72, 550, ["1. Doe J. Bees. 2001.", "2. Roe R. Wasps. 2002."]),
            ]
        ]
    )
    assert document.title == "Memory of colour in foraging honeybees of the south"
    assert document.ids == Ids(doi="10.1000/bees.1", pmid="31452104")
    assert document.abstract == "Bees return to flowers whose colour they learned."
    assert "## Introduction" in document.markdown
    assert f"{prose(0, 7)} {prose(9, 7)}." in document.markdown
    assert (document.body_words, document.references, document.pages) == (14, 2, 1)


@pytest.mark.slow
def test_a_title_in_the_metadata_counts_when_the_page_shows_it() -> None:
    lines = [[(72, 740, 9, "Memory of colour in honeybees"), (72, 700, 30, "JOURNAL OF ALL BEES")]]
    assert read(lines, "Memory of colour in honeybees").title == "Memory of colour in honeybees"
    assert read(lines, "Memory of colour in honey&#98;ees").title == "Memory of colour in honeybees"
    assert read(lines, "Microsoft Word - final2.doc").title == "JOURNAL OF ALL BEES"


@pytest.mark.parametrize("drawn", ["column by column", "row by row"])
def test_two_columns_are_read_one_after_the_other(drawn: str) -> None:
    left = [prose(line * 5, 4) for line in range(30)]
    right = [prose(200 + line * 5, 4) for line in range(30)]
    a, b = column(60, 700, left, 8), column(330, 700, right, 8)
    lines = (
        [*a, *b]
        if drawn == "column by column"
        else [x for pair in zip(a, b, strict=True) for x in pair]
    )
    text = " ".join(read([[(60, 740, 18, "Bees of the winter hive"), *lines]]).markdown.split())
    assert " ".join(left) in text
    assert " ".join(right) in text
    assert text.index(left[-1]) < text.index(right[0])


def test_running_heads_and_page_numbers_go() -> None:
    markdown = read([article_page(number) for number in range(1, 6)]).markdown
    assert "Doe and Roe" not in markdown
    assert not re.search(r"(?m)^\d+$", markdown)
    for line in range(30):
        assert prose(3 * 40 + line * 8, 7) in " ".join(markdown.split())


def test_line_numbers_of_a_manuscript_go() -> None:
    lines = [prose(line * 9, 8) for line in range(20)]
    numbered = [(x, y, s, f"{n} {t}") for n, (x, y, s, t) in enumerate(column(72, 700, lines), 1)]
    assert " ".join(lines) in " ".join(read([numbered]).markdown.split())


@pytest.mark.slow
def test_broken_words_are_joined_and_true_hyphens_kept() -> None:
    lines = [
        "The trial was double-blind and random",
        "ised patients were followed in a double-",
        "blind manner.",
    ]
    lines[0] += "-"
    text = " ".join(read([column(72, 700, lines)]).markdown.split())
    assert "randomised patients" in text
    assert "a double-blind manner" in text


def test_powers_are_raised_and_signs_of_a_font_of_signs_are_read_as_print_shows_them() -> None:
    powers: list[Placed] = [
        (72, 700, 10, "The count was 3 by 10"), (171.5, 704, 6, "4"),
        (177.5, 700, 10, "larks at 5 l"), (223.2, 704, 6, "-1"), (232, 700, 10, "and 105 finches"),
    ]  # fmt: skip
    signs: list[Placed] = [
        (72, 640, 10, "/F3 Eggs of 8"), (128, 640, 10, "/F2 9"), (137, 640, 10, "/F3 5 and 19"),
        (196, 640, 10, "/F2 l"), (202, 640, 10, "/F3 m"),
    ]  # fmt: skip
    text = read([[*powers, *signs]]).markdown
    assert "by 10⁴ larks at 5 l⁻¹ and 105 finches" in text
    assert "Eggs of 8 × 5 and 19 μ" in text


def test_signs_that_a_font_names_as_letters_are_signs_and_true_quarters_stay() -> None:
    signs: list[Placed] = [
        (72, 640, 10, "/F3 of nests n"), (120.5, 640, 10, "/F2 ¼"), (131, 640, 10, "/F3 12 in 973"),
        (172.3, 640, 10, "/F4 e"), (178, 640, 10, "/F3 1148 metres"),
        (72, 600, 10, "and ¼ of them empty"),
    ]  # fmt: skip
    text = read([[*article_page(1), *signs]]).markdown
    assert "of nests n= 12 in 973\u20131148 metres" in text.replace("n =", "n=")
    assert "and ¼ of them empty" in text


@pytest.mark.parametrize(("gap", "said"), [(1.1, "wings of 2 mm"), (0, "wings of 2mm")])
def test_a_thin_space_between_a_number_and_its_unit_is_a_space(gap: float, said: str) -> None:
    placed: list[Placed] = [(72, 640, 10, "wings of 2"), (117.02 + gap, 640, 10, "mm and more")]
    assert f"{said} and more" in read([placed]).markdown


def test_text_that_looks_like_markup_stays_text() -> None:
    line = LinePiece("# not <script>a heading</script> *here*", 72, 690, 400, 700, 10)
    blocks = build_text_blocks([PageLines((line,), 612, 792)], "")
    assert (
        format_blocks_as_markdown("", blocks) == r"\# not &lt;script>a heading&lt;/script> \*here\*"
    )
    assert format_blocks_as_markdown("", [TextBlock("#")]) == r"\#"


def test_a_run_in_abstract_gets_its_heading() -> None:
    line = LinePiece("Abstract: Bees return to flowers, as everybody knows.", 72, 690, 400, 700, 10)
    assert build_text_blocks([PageLines((line,), 612, 792)], "")[0] == TextBlock("Abstract", 2)


@pytest.mark.slow
def test_a_whole_pdf_passes_the_judge_and_pictures_do_not() -> None:
    paper = Paper(ids=Ids(doi="10.1000/bees"), title="Memory of colour in foraging honeybees")
    pages = [
        column(72, 700, wrap(own_words.prose(300, start=40 * number), 80)) for number in range(7)
    ]
    pages[0].insert(0, (72, 740, 20, paper.title))
    said = f"{own_words.CITING}\n{own_words.REFERENCES}".replace("## ", "").replace("\n\n", "\n")
    pages.append(column(72, 700, said.splitlines()))
    assert judge_document(read(pages), paper).verdict == "full_text"
    with pytest.raises(BadContent) as caught:
        judge_document(read([[] for _ in range(4)]), paper)
    assert caught.value.outcome == "scanned"


@pytest.mark.parametrize(
    ("body", "verdict", "said"),
    [
        (b"<html><head><title>Just a moment...</title></head><body>x</body></html>", "bot_check",
            "A web page"),
        (b"<html><body><form><input type=password></form></body></html>", "login", "A web page"),
        (b"<meta name='citation_doi' content='10.1000/a'><p class=buybox>Enable cookies.</p>",
            "paywall", "A web page"),
        (b"<html><body><p>Our PDF is elsewhere.</p></body></html>", "not_a_paper", "A web page"),
        (b"\x89PNG\r\n\x1a\n", "not_a_paper", "Something other"),
        (b"", "empty", "Something other"),
        (b"%PDF-1.4\nnothing follows", "not_a_paper", "damaged"),
        (b" " * 2000 + b"%PDF-1.4", "not_a_paper", "Something other"),
    ],
)  # fmt: skip
def test_what_is_no_pdf_is_refused_by_name(body: bytes, verdict: str, said: str) -> None:
    with pytest.raises(BadContent, match=said) as caught:
        reader.read_document(fetched(body))
    assert caught.value.outcome == verdict


def test_a_pdf_that_needs_a_password_is_refused() -> None:
    key = "00" * 32
    locked = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >> /ID [<00><00>]"
    )
    with pytest.raises(BadContent, match="password") as caught:
        reader.read_document(fetched(pdf_of([article_page(1)], trailer=locked)))
    assert caught.value.outcome == "login"


@pytest.mark.parametrize(
    ("script", "deadline", "said"), [(DIES, 60.0, "crashed"), (HANGS, 0.05, "no answer")]
)
def test_a_child_that_dies_or_hangs_is_replaced(
    monkeypatch: pytest.MonkeyPatch, script: str, deadline: float, said: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(child.CHILDREN, "start", script)
        with pytest.raises(ChildReadError, match=said):
            child.read_pages_in_child(pdf_of([article_page(1)]), deadline)
    assert child.CHILDREN.stop_idle_children() == 0
    assert read([article_page(1)]).body_words > 0


def test_a_failed_child_is_a_rejection_not_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child.CHILDREN, "start", DIES)
    with pytest.raises(BadContent, match="crashed") as caught:
        read([article_page(1)])
    assert caught.value.outcome == "not_a_paper"


def test_the_child_never_writes_to_our_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    read([article_page(1)])
    assert capfd.readouterr().out == ""


@pytest.mark.shared
def test_pdfium_is_called_as_its_own_binding_calls_it() -> None:
    """Else Python takes its functions for ones that raise errors, and finds some by chance."""
    raw = pytest.importorskip("pypdfium2.raw")
    found = native.load_pdfium_functions(Text_CountChars=(native.NUMBER, native.POINTER))
    assert found["Text_CountChars"]._flags_ == raw.FPDFText_CountChars._flags_


def test_recorded_pdfs_keep_the_words_of_their_jats(shared: Path) -> None:
    from utils.outline.words import build_word_shingles, fold_words
    from utils.readers import jats

    for path in sorted((shared / "articles").glob("*/paper.pdf")):
        source = fetched(path.read_bytes())
        found = reader.read_document(source)
        xml = replace(source, body=(path.parent / "jats.xml").read_bytes(), media="jats")
        truth = jats.read_document(xml)
        wanted = build_word_shingles(fold_words(truth.abstract or truth.markdown[:3000]), 3)
        got = build_word_shingles(fold_words(found.markdown), 3)
        assert len(wanted & got) >= 0.6 * len(wanted), path.parent.name
