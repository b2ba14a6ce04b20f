"""Elsevier's XML is read as what it says: the same reader and judges as JATS.

The forms are those of "Tag by Tag" (DTD 5) and of answers of the Article Retrieval API; the words
are invented.
"""

import re

import pytest

from tests.fixtures import fixture_text
from utils.errors import BadContent
from utils.model.paper import Document, Fetched
from utils.readers import elsevier

_HEAD = fixture_text("readers/elsevier_head.xml")

_FULL = (
    _HEAD
    + """<originalText><xocs:doc><xocs:meta><xocs:document-subtype>rev</xocs:document-subtype>
  </xocs:meta>
<xocs:serial-item><ja:article xmlns="http://www.elsevier.com/xml/ja/dtd">
<ce:floats>
  <ce:figure id="f1"><ce:label>Fig. 1</ce:label>
  <ce:caption><ce:simple-para>A rim of ice.</ce:simple-para></ce:caption>
    <ce:alt-text>not for readers</ce:alt-text>
  <ce:link locator="gr1" xlink:href="pii:S1/gr1"/></ce:figure>
  <ce:figure id="f2"><ce:label>Fig. 2</ce:label>
  <ce:caption><ce:simple-para>Called by nobody.</ce:simple-para></ce:caption></ce:figure>
  <ce:table id="t1" xmlns="http://www.elsevier.com/xml/common/cals/dtd">
  <ce:label>Table 1</ce:label>
    <ce:caption><ce:simple-para>Depths.</ce:simple-para></ce:caption>
    <tgroup cols="3"><colspec colname="a"/><colspec colname="b"/><colspec colname="c"/>
    <thead><row><entry namest="a" nameend="b">Pond</entry>
  <entry colname="c">cm</entry></row></thead>
    <tbody><row><entry morerows="1" colname="a">North</entry><entry colname="b">rim</entry>
  <entry colname="c">3</entry></row>
    <row><entry colname="b">middle</entry><entry colname="c">11</entry></row>
    <row><entry colname="a">South</entry><entry colname="c">5</entry></row></tbody></tgroup>
    <ce:legend><ce:simple-para>Measured at noon.</ce:simple-para></ce:legend></ce:table>
</ce:floats>
<head><ce:title>Frost in H<ce:inf>2</ce:inf>O ponds</ce:title>
<ce:author-group><ce:author><ce:given-name>Ina</ce:given-name>
  <ce:surname>Moss</ce:surname></ce:author>
<ce:collaboration><ce:text>The Pond Group</ce:text></ce:collaboration></ce:author-group>
<ce:abstract class="author-highlights">
  <ce:abstract-sec><ce:simple-para>Rims first.</ce:simple-para></ce:abstract-sec></ce:abstract>
<ce:abstract class="author"><ce:section-title>Abstract</ce:section-title>
 <ce:abstract-sec><ce:section-title>Aims</ce:section-title>
  <ce:simple-para>Ponds freeze from the rim.</ce:simple-para></ce:abstract-sec>
 </ce:abstract>
<ce:keywords><ce:keyword><ce:text>ice</ce:text></ce:keyword></ce:keywords></head>
<body><ce:sections><ce:section id="s1"><ce:label>1</ce:label>
  <ce:section-title>Methods</ce:section-title>
<ce:para>We looked<ce:footnote id="n1"><ce:label>1</ce:label>
  <ce:note-para>Twice a day.</ce:note-para></ce:footnote> at
 CO<ce:hsp sp="0.25"/>and <ce:italic>C</ce:italic>
     <ce:inf>2</ce:inf> (<ce:cross-ref refid="f1">Fig. 1</ce:cross-ref>)<ce:float-anchor
 refid="f1"/>, as others did
 <ce:cross-refs refid="b1 b2">[1,2]</ce:cross-refs>:<ce:display><ce:formula id="e1">
  <ce:label>(1)</ce:label>
 <mml:math><mml:mi>x</mml:mi><mml:mo>=</mml:mo>
  <mml:mn>2</mml:mn></mml:math></ce:formula></ce:display></ce:para>
<ce:para><ce:list><ce:list-item><ce:label>a)</ce:label>
  <ce:para>the rim</ce:para></ce:list-item></ce:list></ce:para>
<ce:section id="s2"><ce:label>1.1</ce:label><ce:section-title>Depth</ce:section-title>
<ce:para>See <ce:cross-ref refid="t1">Table 1</ce:cross-ref><ce:float-anchor refid="t1"/> and
 <ce:inter-ref xlink:href="doi:10.1000/made.up">the data</ce:inter-ref>.</ce:para></ce:section>
</ce:section></ce:sections>
<ce:acknowledgment><ce:section-title>Thanks</ce:section-title>
  <ce:para>To the frogs.</ce:para></ce:acknowledgment>
<ce:appendices><ce:section id="s9"><ce:label>Appendix A</ce:label>
  <ce:section-title>More</ce:section-title><ce:para>Nets.</ce:para></ce:section></ce:appendices>
</body>
<tail><ce:bibliography><ce:section-title>References</ce:section-title><ce:bibliography-sec>
<ce:bib-reference id="b1"><ce:label>[1]</ce:label><sb:reference><sb:contribution><sb:authors>
  <sb:author><ce:given-name>O.</ce:given-name><ce:surname>Reed</ce:surname></sb:author>
  <sb:et-al/></sb:authors>
 <sb:title><sb:maintitle>Rims of ice</sb:maintitle></sb:title></sb:contribution><sb:host>
  <sb:issue><sb:series><sb:title><sb:maintitle>J. Ponds</sb:maintitle></sb:title>
  <sb:volume-nr>7</sb:volume-nr></sb:series><sb:date>2011</sb:date></sb:issue>
 <sb:pages><sb:first-page>3</sb:first-page><sb:last-page>9</sb:last-page></sb:pages>
  <ce:doi>10.1000/rims</ce:doi></sb:host></sb:reference></ce:bib-reference>
<ce:bib-reference id="b2"><ce:label>[2]</ce:label><ce:other-ref>
  <ce:textref>Told by a ferryman, 1998.</ce:textref></ce:other-ref></ce:bib-reference>
</ce:bibliography-sec></ce:bibliography></tail></ja:article></xocs:serial-item></xocs:doc>
  </originalText></full-text-retrieval-response>"""
)


def _read(xml: str) -> Document:
    return elsevier.read_document(
        Fetched(xml.encode(), "jats", "https://api.example/article", "elsevier", "elsevier")
    )


@pytest.fixture(scope="module")
def document() -> Document:
    return _read(_FULL)


def test_it_says_what_it_is(document):
    assert document.title == "Frost in H2O ponds"
    assert document.authors == ("Moss",)
    assert (document.ids.doi, document.ids.pmid) == ("10.1016/j.made.2024.01.002", "31452104")
    assert document.license == "CC BY 4.0"
    assert document.article_type == "review-article"
    assert "Ponds freeze from the rim." in document.abstract


def test_sections_keep_their_numbers_and_levels(document):
    titles = re.findall(r"^#+ .*", document.markdown, re.M)
    for title in ("## 1 Methods", "### 1.1 Depth", "## Thanks", "## Highlights", "## References"):
        assert title in titles


def test_floats_stand_where_they_are_called_and_none_is_lost(document):
    text = document.markdown
    assert (
        text.index("(Fig. 1)") < text.index("**Fig. 1.** A rim of ice.") < text.index("1.1 Depth")
    )
    assert "**Fig. 2.** Called by nobody." in text
    assert "not for readers" not in text


def test_tables_keep_spans_and_gaps(document):
    table = [line for line in document.markdown.splitlines() if line.startswith("|")]
    assert table == [
        "| Pond | Pond | cm |",
        "| --- | --- | --- |",
        "| North | rim | 3 |",
        "| North | middle | 11 |",
        "| South |  | 5 |",
    ]
    assert "Measured at noon." in document.markdown


def test_lines_hold_what_print_holds(document):
    text = document.markdown
    assert "CO and *C*<sub>2</sub> (Fig. 1), as others did [1,2]:" in text
    assert "$$x = 2 \\tag{1}$$" in text
    assert "[the data](https://doi.org/10.1000/made.up)" in text
    assert "Twice a day." in text
    assert "the rim" in text


def test_references_are_lines(document):
    assert document.references == 2
    assert (
        "1. Reed O., et al. Rims of ice. *J. Ponds* 2011;7:3–9. doi:10.1000/rims"
        in document.markdown
    )
    assert "2. Told by a ferryman, 1998." in document.markdown


def test_an_answer_without_a_right_has_no_text():
    answer = f"{_HEAD}<originalText/></full-text-retrieval-response>"
    assert not elsevier.has_full_text(answer.encode())
    assert elsevier.has_full_text(_FULL.encode())
    document = _read(answer)
    assert document.body_words == 0
    assert document.abstract == "Ponds freeze from the rim."


def test_old_articles_are_plain_paragraphs():
    raw = "<xocs:rawtext>One line\nand its end.\n\nAnother.</xocs:rawtext>"
    raw = f"<originalText><xocs:doc>{raw}</xocs:doc></originalText>"
    document = _read(f"{_HEAD}{raw}</full-text-retrieval-response>")
    assert "One line and its end.\n\nAnother." in document.markdown


def test_half_an_answer_is_partial():
    assert _read(_FULL[: _FULL.index("<tail>")]).verdict == "partial"


@pytest.mark.parametrize("xml", ["<a/>", "no xml", "<article><front/><body/></article>"])
def test_other_xml_is_no_article(xml):
    assert not elsevier.has_full_text(xml.encode())
    if xml != "<article><front/><body/></article>":
        with pytest.raises(BadContent):
            _read(xml)
