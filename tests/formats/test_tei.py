"""GROBID's TEI as markdown: parts, depth, tables, formulas, references, and hostile files.

The forms are those of GROBID's "TEI encoding of results" and of its answers of 0.6 to 0.8 in
kermitt2/grobid_client_python (``resources/test_out``).
"""

from __future__ import annotations

import pytest

from tests.world.pdf_service import tei_of
from utils.errors import BadContent
from utils.formats import tei
from utils.model.paper import Document, Fetched

NS = 'xmlns="http://www.tei-c.org/ns/1.0"'


def read(body: str) -> Document:
    return tei.read(Fetched(body.encode(), "jats", "", "GROBID", "grobid"))


def whole(text: str = "", header: str = "", back: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<TEI xml:space="preserve" {NS}>'
        f"<teiHeader>{header}</teiHeader><text><body>{text}</body><back>{back}</back></text></TEI>"
    )


def test_the_header_s_claims_become_the_document_s(world):
    paper = world.paper("publisher_pdf")
    document = read(tei_of(paper))
    assert document.title == paper.plain_title
    assert document.ids.doi == paper.doi
    assert list(document.authors) == [family for family, _ in paper.authors]
    assert document.abstract
    assert document.article_type == ""  # it is judged as the PDF it was read from


def test_the_number_of_a_heading_says_how_deep_it_stands():
    parts = [("1.", "Methods"), ("1.1", "Animals"), ("1.1.1", "Mice"), ("2", "Results")]
    body = "".join(f'<div><head n="{n}">{head}</head><p>Said.</p></div>' for n, head in parts)
    lines = read(whole(body + "<div><head>Funding</head><p>None.</p></div>")).markdown.split("\n")
    heads = [line for line in lines if line.startswith("##")]
    assert heads[-5:] == [
        "## 1. Methods",
        "### 1.1 Animals",
        "#### 1.1.1 Mice",
        "## 2 Results",
        "## Funding",
    ]


def test_references_in_the_text_stay_as_printed():
    said = (
        "Seen before <ref type='bibr' target='#b1'>[2,</ref><ref type='bibr'>3]</ref> and in "
        "<ref type='figure' target='#fig_0'>Fig. 1</ref>. <s>So it is.</s><s> Yes.</s>"
    )
    text = read(whole(f"<div><p>{said}</p></div>")).markdown
    assert "Seen before [2,3] and in Fig. 1. So it is. Yes." in text


def test_a_table_has_its_caption_rows_and_notes():
    table = (
        '<figure type="table" xml:id="tab_0" coords="3,56,636,229,112"><head>Table 1 .</head>'
        "<label>1</label><figDesc><div><p><s>Doses by group.</s></p></div></figDesc>"
        '<table><row><cell>Group</cell><cell cols="2">Dose | day</cell></row>'
        "<row><cell>A</cell><cell>3 ± 1</cell><cell>7</cell></row></table>"
        "<note>Means.</note></figure>"
    )
    text = read(whole(f"<div><p>Said.</p></div>{table}")).markdown
    assert "**Table 1.** Doses by group." in text
    assert "| Group | Dose \\| day |" in text
    assert "| A | 3 ± 1 | 7 |" in text
    assert "Means." in text


@pytest.mark.parametrize(
    ("head", "label", "said", "caption"),
    [
        ("Figure 2 :", "2", "Rates over time.", "**Figure 2.** Rates over time."),
        ("Fig. 2 M", "2", "-waves of one subject.", "**Fig. 2.** M-waves of one subject."),
        ("Rates over time", "3", "", "**Figure 3.** Rates over time"),
        ("Extended Data Fig. 4 |", "4", "Rates.", "**Extended Data Fig. 4.** Rates."),
    ],
)
def test_captions_are_put_together_however_grobid_parts_them(head, label, said, caption):
    figure = f"<figure><head>{head}</head><label>{label}</label><figDesc>{said}</figDesc></figure>"
    assert caption in read(whole(f"<div><p>Said.</p></div>{figure}")).markdown


def test_a_formula_is_a_line_with_its_number():
    formula = '<formula xml:id="formula_0">E = m c 2<label>(1)</label></formula>'
    text = read(whole(f"<div><p>Thus</p>{formula}<p>holds.</p></div>")).markdown
    assert "Thus\n\nE = m c 2 (1)\n\nholds." in text


def test_references_stand_one_a_line_as_printed_or_composed():
    printed = (
        '<biblStruct xml:id="b0"><analytic><title level="a">Wrong guess</title></analytic>'
        '<note type="raw_reference">[1] Roe J. Right. J Test 2020;1:2-3.</note></biblStruct>'
    )
    parsed = (
        '<biblStruct xml:id="b1"><analytic><title level="a" type="main">Moss</title><author>'
        "<persName><forename>Ann</forename><surname>Poe</surname></persName></author>"
        '<idno type="DOI">10.1/x</idno></analytic><monogr><title level="j">Bryo</title><imprint>'
        '<biblScope unit="volume">4</biblScope><biblScope unit="page" from="5" to="9" />'
        '<date type="published" when="2014-08-21" /></imprint></monogr></biblStruct>'
    )
    back = f'<div type="references"><listBibl>{printed}{parsed}</listBibl></div>'
    document = read(whole("<div><p>Said.</p></div>", back=back))
    assert document.references == 2
    assert "1. Roe J. Right. J Test 2020;1:2-3." in document.markdown
    assert "2. Poe Ann. Moss. *Bryo* 2014;4:5–9. doi:10.1/x" in document.markdown


def test_divisions_without_a_body_are_read_too():
    body = f"<TEI {NS}><teiHeader/><text><div><head>Aims</head><p>Said.</p></div></text></TEI>"
    assert "## Aims\n\nSaid." in read(body).markdown


def test_nothing_that_stands_between_the_tags_is_lost():
    text = read(whole("<div>Before<head>Aims</head>between<list><item>One</item></list></div>"))
    assert all(word in text.markdown for word in ("Before", "Aims", "between", "One"))


def test_who_wrote_it_is_told():
    assert tei.producer(b'<application version="0.8.1" ident="GROBID" when="x">') == "GROBID 0.8.1"
    assert tei.producer(b"<TEI/>") == ""


@pytest.mark.parametrize("body", ["", "<html><body>Hello</body></html>", "{}", "\x00\x01"])
def test_what_is_no_tei_is_refused(body):
    with pytest.raises(BadContent):
        read(body)


def test_an_answer_that_breaks_off_is_a_part(world):
    half = tei_of(world.paper("publisher_pdf"))
    assert read(half[: len(half) // 2]).verdict == "partial"
    assert read("<TEI").verdict == "partial"


def test_no_entity_is_followed():
    external = '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    body = whole("<div><p>Said &x;.</p></div>").split("\n", 1)[1]
    assert "root:" not in read(external + body).markdown


def test_a_bomb_is_refused_before_it_unfolds():
    rungs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    body = whole("<div><p>Said &l11;.</p></div>").split("\n", 1)[1]
    with pytest.raises(BadContent, match="larger or deeper"):
        read(f'<!DOCTYPE TEI [<!ENTITY l0 "lol">{rungs}]>{body}')


@pytest.mark.parametrize("tag", ["div", "p", "hi", "list", "figure", "ref"])
def test_tags_nested_without_end_are_no_trouble(tag):
    deep = f"<{tag}>" * 5000 + "words" + f"</{tag}>" * 5000
    with pytest.raises(BadContent, match="deeper nested"):
        read(whole(f"<div><p>Said.</p>{deep}</div>"))
    some = f"<{tag}>" * 200 + "words" + f"</{tag}>" * 200
    assert "Said." in read(whole(f"<div><p>Said.</p>{some}</div>")).markdown


def test_a_cell_that_says_it_is_a_million_wide_is_not_believed():
    cells = '<row><cell cols="999999">a</cell></row><row><cell cols="999">b</cell></row>'
    table = f"<figure type='table'><head>Table 1</head><table>{cells}</table></figure>"
    assert len(read(whole(f"<div><p>Said.</p></div>{table}")).markdown) < 20_000
