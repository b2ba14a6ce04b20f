"""PDFs printed from texts: marked on each page, with every word of the text."""

import csv
import io
import re
import sys
from dataclasses import replace

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import often
from tests.packs.shelves import about, file_pdf, file_xml
from tests.shelf.papers import BODY
from utils.errors import NotConfigured
from utils.model.paper import StoredPaper
from utils.packs import pack_references, rendering
from utils.packs.rendering import MARK, render_text_as_pdf

pytestmark = pytest.mark.extras("reportlab", "fontpkg_arimo")

RICH = """# On cells

## 1. Methods

We gave **CXCL12** (10⁵ cells/mL, p ≤ 0.05; α-synuclein → β) to *E. coli* & a<sub>1</sub>.
Ελληνικά Привет Łódź ∈ 中文字符 日本語のテキスト 한국어

- first item
- second item

**Table 1.** Numbers

| group | mean |
|---|---|
| treated | 1.5 ± 0.2 |
| x\\|y | 日本 |

```
print(code)
```

要旨を述べる。要旨を述べる。要旨を述べる。要旨を述べる。要旨を述べる。要旨を述べる。要旨を述べる。要旨を述べる。

## References

1. Doe J. Moss. 2019.
"""
STORED = StoredPaper(about(1), "full_text", "/x.txt", "PMC", "pmc_cloud", "0" * 64, "CC BY 4.0")


def read_pages(pdf: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(pdf)
    return [page.get_textpage().get_text_range() for page in document]


def find_words(text: str) -> set[str]:
    return set(re.findall(r"\w{2,}", text.replace("\ufffe", "")))


def test_every_word_is_there_in_every_script():
    text = " ".join(read_pages(render_text_as_pdf(STORED, RICH)))
    plain = re.sub(r"<[^>]+>|[*`#]", "", RICH)
    flat = text.replace("\r\n", "").replace("\ufffe", "")
    assert {word for word in find_words(plain) if word not in flat} == set()
    assert "□" not in text
    assert "**" not in text
    assert "print(code)" in text


def test_each_page_says_what_it_is_and_under_which_licence():
    pages = read_pages(render_text_as_pdf(STORED, "A sentence about cells. " * 2000))
    assert len(pages) > 3
    for number, page in enumerate(pages, 1):
        assert MARK in page
        assert f"{number} · Licence: CC BY 4.0 · Source: PubMed Central" in page
        assert "10.1000/1" in page


def test_a_retraction_and_the_terms_of_a_key_are_on_the_first_page():
    paper = replace(about(1), publication_types=("Retracted Publication",))
    bound = replace(STORED, paper=paper, via="springer_tdm", license="")
    [page] = read_pages(render_text_as_pdf(bound, "Text."))
    assert "RETRACTED: this paper was retracted" in page
    assert "not to be passed on" in page.replace("\r\n", " ")


def test_the_same_text_makes_the_same_bytes():
    assert render_text_as_pdf(STORED, RICH) == render_text_as_pdf(STORED, RICH)


_LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.text("|- abα中<&*_`\\", max_size=60),
        st.sampled_from(["# ", "| a | b |", "```", "- item", "$$x$$", "|", "<b>", "W" * 400]),
    ),
    max_size=12,
)


@often(60)
@given(_LINES)
def test_any_text_can_be_printed(lines):
    for page in read_pages(render_text_as_pdf(STORED, "\n".join(lines))):
        assert MARK in page


@pytest.mark.parametrize("columns", [2, 8, 9, 60])
def test_a_table_with_tall_rows_and_many_columns_fits(columns):
    row = f"| {' | '.join(['word ' * (3000 // columns)] * columns)} |"
    pages = read_pages(render_text_as_pdf(STORED, f"**Table 1.** T\n\n{row}\n{row}\n"))
    assert "".join(pages).count("word") >= columns


def test_what_has_no_pdf_is_printed_and_named_so(shelf, tmp_path, monkeypatch):
    rows = [file_pdf(shelf, 1), file_xml(shelf, 2)]
    plan = pack_references(rows, "zotero", tmp_path / "p", shelf, render=True, dry_run=True)
    assert (len(plan.attached), len(plan.rendered)) == (2, 1)
    assert not (shelf.folder / ".papershelf" / "renderings").exists()
    pack = pack_references(rows, "zotero", tmp_path / "p", shelf, render=True)
    [printed] = pack.rendered
    assert printed.file == "PDF/Roe2 2013 On cell 2 (rendering).pdf"
    pages = read_pages((tmp_path / "p" / printed.file).read_bytes())
    assert BODY.split("\n")[0].strip("# ") in pages[0]
    table = (tmp_path / "p/contents.csv").read_text(encoding="utf-8")
    assert [row["rendering"] for row in csv.DictReader(io.StringIO(table))] == ["", "yes"]
    assert "printed from the text" in (tmp_path / "p/pack.html").read_text(encoding="utf-8")
    monkeypatch.setattr(rendering, "render_text_as_pdf", None)  # made once, and kept
    assert not pack_references(rows, "zotero", tmp_path / "p", shelf, render=True).is_new


def test_a_text_that_a_key_reserves_is_not_printed_for_others(shelf, tmp_path):
    row = file_xml(shelf, 1, via="elsevier", license_="")
    pack = pack_references([row], "zotero", tmp_path / "p", shelf, render=True)
    assert pack.reasons == {"not_shareable": 1}
    mine = pack_references([row], "zotero", tmp_path / "m", shelf, render=True, own_use=True)
    assert len(mine.rendered) == 1


def test_without_the_extra_the_error_names_it(shelf, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fontpkg_arimo", None)
    rendering._register_fonts.cache_clear()
    with pytest.raises(NotConfigured, match="fontpkg_arimo") as refused:
        pack_references([file_xml(shelf, 1)], "zotero", tmp_path / "p", shelf, render=True)
    assert "papershelf[render]" in refused.value.hint
    rendering._register_fonts.cache_clear()
