"""The JATS reader: what it claims about an article, the order of parts, and hostile input."""

from pathlib import Path

import pytest
from lxml import etree

from tests.readers.jats_snippets import article, body_of, meta_of, read
from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.readers import jats
from utils.readers.jats.claims import get_license_text

TITLE = "<title-group><article-title>A title</article-title></title-group>"


def ids_xml(**ids: str) -> str:
    return "".join(
        f'<article-id pub-id-type="{kind.replace("_", "-")}">{text}</article-id>'
        for kind, text in ids.items()
    )


# --- claims ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "pmcid"),
    [
        ({"pmc": "123"}, "PMC123"),
        ({"pmc": "PMC123"}, "PMC123"),
        ({"pmcid": "PMC123", "pmcid_ver": "PMC123.1"}, "PMC123"),
        ({"pmcaid": "123", "pmcaiid": "999"}, "PMC123"),
        ({"pmcid_ver": "PMC123.1"}, ""),
        ({"pmcaiid": "999"}, ""),
        ({"pmcid": "nonsense"}, ""),
    ],
)
def test_every_spelling_of_the_pmcid_is_read(given: dict[str, str], pmcid: str) -> None:
    assert meta_of(ids_xml(**given) + TITLE).ids.pmcid == pmcid


def test_identifiers_come_from_the_article_itself_only() -> None:
    meta = (
        ids_xml(pmid="31452104", doi="https://doi.org/10.1000/ABC", publisher_id="x-1")
        + TITLE
        + '<related-article related-article-type="companion"><article-id pub-id-type="pmid">'
        "777</article-id></related-article>"
    )
    back = '<ref-list><ref><element-citation><pub-id pub-id-type="pmid">888</pub-id>'
    back += "</element-citation></ref></ref-list>"
    assert meta_of(meta, back=back).ids == Ids(pmid="31452104", doi="10.1000/abc")


def test_title_has_its_subtitle_but_no_markup_and_no_footnote_mark() -> None:
    document = meta_of(
        "<title-group><article-title>The <italic>rd7</italic> mouse and\n CO<sub>2</sub>"
        '<xref ref-type="fn" rid="f">*</xref><fn id="f"><p>Told at a meeting.</p></fn>'
        "</article-title><subtitle>A study</subtitle></title-group>"
    )
    assert document.title == "The rd7 mouse and CO2: A study"
    assert document.markdown.startswith("# The *rd7* mouse and CO<sub>2</sub>: A study\n")
    assert "Told at a meeting." in document.markdown


def test_authors_are_family_names_without_editors_and_members_of_groups() -> None:
    document = meta_of(
        TITLE + '<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname>'
        "<given-names>Jane</given-names></name></contrib>"
        '<contrib contrib-type="author"><collab>The Group<contrib-group><contrib><name>'
        "<surname>Member</surname></name></contrib></contrib-group></collab></contrib>"
        '<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib>'
        "<contrib><string-name><given-names>A</given-names> <surname>Ángel</surname>"
        "</string-name></contrib></contrib-group>"
    )
    assert document.authors == ("Doe", "Ángel")


def test_abstract_is_plain_text_with_the_names_of_its_parts() -> None:
    document = meta_of(
        TITLE + '<abstract abstract-type="graphical"><p>A picture.</p></abstract>'
        "<abstract><title>Abstract</title><sec><title>Background:</title><p>We <bold>did</bold>."
        "</p></sec><sec><title>Results</title><p>It is <inline-formula><mml:math><mml:mi>β"
        "</mml:mi></mml:math></inline-formula>.</p></sec></abstract>"
    )
    assert document.abstract == "Background: We did.\nResults: It is β."


def test_abstracts_of_several_kinds_have_headings_of_their_own() -> None:
    markdown = meta_of(
        TITLE + "<abstract><sec><title>Aims</title><p>Main.</p></sec></abstract>"
        '<abstract abstract-type="teaser"><p>Tease.</p></abstract>'
        '<abstract abstract-type="plain-language-summary"><p>Plain.</p></abstract>'
        '<trans-abstract xml:lang="es"><title>Resumen</title><p>Hola.</p></trans-abstract>'
        "<kwd-group><kwd>one</kwd><kwd><italic>two</italic></kwd></kwd-group>"
    ).markdown
    assert markdown == (
        "# A title\n\n## Abstract\n\n### Aims\n\nMain.\n\n## Teaser\n\nTease.\n\n"
        "## Plain language summary\n\nPlain.\n\n## Resumen (es)\n\nHola.\n\n"
        "**Keywords:** one; *two*\n"
    )


def test_an_abstract_beside_a_summary_in_one_element_is_told_apart() -> None:
    document = meta_of(
        TITLE + "<abstract><sec><title>Simple Summary</title><p>Plain.</p></sec>"
        "<sec><title>Abstract</title><p>Main.</p></sec></abstract>"
        '<abstract abstract-type="graphical"><p><fig><graphic xlink:href="fx1.jpg"/></fig></p>'
        "</abstract>"
    )
    assert document.abstract == "Main."
    assert document.markdown == (
        "# A title\n\n## Simple Summary\n\nPlain.\n\n## Abstract\n\nMain.\n\n"
        "## Graphical abstract\n\n[Image: fx1.jpg]\n"
    )


@pytest.mark.parametrize(
    ("rights", "license_name"),
    [
        ('<license xlink:href="https://creativecommons.org/licenses/by/4.0/"/>', "CC BY 4.0"),
        ("<ali:license_ref>http://creativecommons.org/licenses/by-nc-nd/4.0</ali:license_ref>",
            "CC BY-NC-ND 4.0"),
        ('<license xlink:href="https://creativecommons.org/publicdomain/zero/1.0/"/>', "CC0 1.0"),
        ('<license license-type="CC BY-NC"><license-p>Open.</license-p></license>', "CC BY-NC"),
        ("<license>Under the Creative Commons Attribution-NonCommercial License 3.0.</license>",
            "CC BY-NC 3.0"),
        ("<license><license-p>All yours.</license-p></license>", "All yours."),
        ("<copyright-statement>© 2020 Nobody</copyright-statement>", ""),
    ],
)  # fmt: skip
def test_licence_is_named(rights: str, license_name: str) -> None:
    assert meta_of(f"{TITLE}<permissions>{rights}</permissions>").license == license_name


@pytest.mark.parametrize(
    ("kind", "title", "related", "retracted"),
    [
        ("research-article", "A title", "retracted-article", True),
        ("research-article", "A title", "retraction-forward", True),
        ("research-article", "RETRACTED: A title", "", True),
        ("research-article", "[Retracted] A title", "", True),
        ("retraction", "Retraction: A title", "retracted-article", False),
        ("research-article", "Retracted by whom? A study", "", False),
        ("research-article", "Why papers are retracted", "companion", False),
        ("correction", "A title", "corrected-article", False),
    ],
)
def test_retracted_articles_are_told_from_their_notices(
    kind: str, title: str, related: str, retracted: bool
) -> None:
    meta = f"<title-group><article-title>{title}</article-title></title-group>"
    meta += f'<related-article related-article-type="{related}"/>' if related else ""
    document = meta_of(meta, kind=kind)
    assert document.retracted is retracted
    assert document.article_type == kind


def test_words_and_headings_are_those_of_the_body() -> None:
    document = read(
        article(
            "<p>One two three.</p><sec><title>Heading words</title><p>Four <italic>five</italic>."
            "</p><sec><title>Sub</title><table-wrap><table><tbody><tr><td>six</td><td>seven</td>"
            "</tr></tbody></table></table-wrap></sec></sec>",
            meta=f"{TITLE}<abstract><p>Not counted here.</p></abstract>",
            back="<ack><p>Nor here.</p></ack><ref-list><ref><mixed-citation>Nor this."
            "</mixed-citation></ref><ref><mixed-citation>B</mixed-citation></ref></ref-list>",
            more='<sub-article article-type="reply"><front-stub/><body><p>Nor here at all.</p>'
            "<sec><title>No</title><p>x</p></sec></body></sub-article>",
        )
    )
    assert (document.body_words, document.headings, document.references) == (7, 2, 2)


# --- the order of the parts -----------------------------------------------------------------------


def test_parts_come_in_reading_order() -> None:
    markdown = read(
        article(
            "<sec><title>Methods</title><p>m</p></sec>",
            meta=f"{TITLE}<author-notes><fn><p>Equal work.</p></fn></author-notes>"
            "<abstract><p>a</p></abstract><funding-group><award-group><funding-source>NIH"
            "</funding-source><award-id>R01</award-id></award-group></funding-group>"
            "<custom-meta-group><custom-meta><meta-name>Data Availability</meta-name>"
            "<meta-value>On request.</meta-value></custom-meta></custom-meta-group>",
            back="<ref-list><title>REFERENCES</title><ref><mixed-citation>R</mixed-citation></ref>"
            "</ref-list><ack><p>Thanks.</p></ack><app-group><app><label>Appendix A</label>"
            "<title>More</title><p>ap</p></app></app-group><glossary><def-list><def-item><term>X"
            "</term><def><p>ex</p></def></def-item></def-list></glossary>"
            '<notes notes-type="data-availability"><p>At hand.</p></notes>'
            "<bio><p>Jane lives.</p></bio><fn-group><fn><label>1</label><p>Foot.</p></fn>"
            "</fn-group>",
            more="<floats-group><fig><label>Figure 1</label><caption><p>cap</p></caption></fig>"
            "</floats-group>"
            '<response response-type="reply"><front-stub><title-group><article-title>Reply to Y'
            "</article-title></title-group><contrib-group><contrib><name><surname>Doe</surname>"
            "<given-names>J</given-names></name></contrib></contrib-group></front-stub>"
            "<body><sec><title>Point</title><p>r</p></sec></body></response>",
        )
    ).markdown
    headings = [line for line in markdown.split("\n") if line.startswith("#")]
    assert headings == [
        "# A title",
        "## Abstract",
        "## Methods",
        "## Figures and tables",
        "## Acknowledgements",
        "## Appendix A. More",
        "## Glossary",
        "## Data availability",
        "## Biography",
        "## Footnotes",
        "## Author notes",
        "## Funding",
        "## Data availability",
        "## References",
        "## Response: Reply to Y",
        "### Point",
    ]
    for text in ("Equal work.", "- NIH: R01", "On request.", "At hand.", "\n\nJ Doe\n\n"):
        assert text in markdown


def test_text_that_opens_the_body_does_not_read_as_abstract() -> None:
    xml = article("<p>Once.</p>", meta=f"{TITLE}<abstract><p>a</p></abstract>")
    assert "## Abstract\n\na\n\n## Main text\n\nOnce.\n" in read(xml).markdown


def test_article_without_body_is_returned_without_words() -> None:
    document = read(
        "<pmc-articleset>"
        + article(meta=f"{ids_xml(pmid='1')}{TITLE}<abstract><p>a</p></abstract>")
        + "<!--The publisher of this article does not allow downloading of the full text in XML "
        "form.--></pmc-articleset>"
    )
    assert document.body_words == 0
    assert document.ids.pmid == "1"
    assert document.abstract == "a"
    assert "body" in document.evidence


def test_from_a_set_the_article_asked_for_is_taken() -> None:
    articles = [article(f"<p>Text {n}.</p>", meta=ids_xml(pmid=str(n)) + TITLE) for n in (1, 2, 3)]
    xml = f"<pmc-articleset>{''.join(articles)}</pmc-articleset>"
    assert "Text 2." in read(xml, Ids(pmid="2")).markdown
    assert "Text 1." in read(xml).markdown
    assert "Text 1." in read(xml, Ids(pmid="9")).markdown


def test_namespaced_articles_are_read_alike() -> None:
    xml = article("<sec><title>S</title><p>x<sub>2</sub></p></sec>")
    spaced = xml.replace(
        "<article ", '<article xmlns="https://jats.nlm.nih.gov/ns/archiving/1.3/" '
    )
    wrapped = (
        f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><record>{spaced}</record></OAI-PMH>'
    )
    assert read(wrapped).markdown == read(xml).markdown


# --- hostile and broken input ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"not xml at all",
        b"\x00\xff\xfe\x00",
        b"<pmc-articleset><Reply Id='1' error='not available'/></pmc-articleset>",
        b"<html><body><article class='x'><p>Access denied</p></article></body></html>",
        b"%PDF-1.4 ...",
    ],
)
def test_what_holds_no_article_is_refused_by_name(body: bytes) -> None:
    with pytest.raises(BadContent) as caught:
        read(body)
    assert caught.value.outcome == "not_a_paper"


def test_malformed_xml_is_mended() -> None:
    markdown = read(article("<p>A & B < C <i>x</p><p>Next.</p>")).markdown
    assert "A" in markdown
    assert "Next." in markdown


def test_xml_that_ends_in_the_middle_is_only_part_of_a_paper() -> None:
    whole = article("<p>First.</p><p>Second paragraph.</p>")
    assert read(whole).verdict == "full_text"
    cut = read(whole[: whole.index("paragraph")])
    assert cut.verdict == "partial"
    assert "First." in cut.markdown


def test_xml_that_ends_anywhere_in_its_body_is_told_as_cut_off() -> None:
    whole = article(
        '<sec id="s1"><title>A</title><p>One &#945; <italic a="b">two</italic></p></sec>'
    )
    begin, end = whole.index("<body"), whole.rindex("</article>")
    told = {read(whole[:at]).verdict for at in range(begin + 6, end + 9)}
    assert told == {"partial"}


def test_an_article_with_errors_but_an_end_is_not_cut_off() -> None:
    assert read(article("<p>A & B <i>x</p><p a=1>Next.</p>")).verdict == "full_text"


def test_named_entities_survive_without_the_dtd() -> None:
    assert body_of("<p>caf&eacute; &mdash; 5&nbsp;&mu;m &amp; &lt; 3</p>") == "café — 5 μm & < 3"
    code = body_of("<preformat><![CDATA[a &nbsp; b]]></preformat>")
    assert code == "```\na &nbsp; b\n```"


def test_entities_are_neither_expanded_nor_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not tell", encoding="utf-8")
    doctype = (
        '<!DOCTYPE article [<!ENTITY b0 "boom"><!ENTITY b1 "&b0;&b0;">'
        f'<!ENTITY x SYSTEM "{secret.as_uri()}"><!ENTITY % p SYSTEM "{secret.as_uri()}">]>'
    )
    markdown = read(doctype + article("<p>kept &b1; &x; kept too</p>")).markdown
    assert "do not tell" not in markdown
    assert "boom" not in markdown
    assert "kept too" in markdown


def test_entity_bombs_are_refused() -> None:
    bomb = "".join(f'<!ENTITY b{n + 1} "{f"&b{n};" * 10}">' for n in range(12))
    with pytest.raises(BadContent):
        read(f'<!DOCTYPE article [<!ENTITY b0 "boom">{bomb}]>' + article("<p>x &b12; y</p>"))


NESTING = "sec italic list p odd sub fn td ref-list verse-group disp-quote boxed-text"


@pytest.mark.parametrize("tag", NESTING.split())
def test_deep_nesting_is_text_or_refused_never_a_crash(tag: str) -> None:
    deep = article(f"<p>{f'<{tag}>' * 200}deep words{f'</{tag}>' * 200}</p>")
    assert "deep words" in " ".join(read(deep).markdown.split())
    with pytest.raises(BadContent, match="nested"):
        read(article(f"<p>{f'<{tag}>' * 5000}deep{f'</{tag}>' * 5000}</p>"))


def test_deep_mathml_is_text() -> None:
    rows = "<mml:mrow>" * 200 + "<mml:mi>z</mml:mi>" + "</mml:mrow>" * 200
    assert "z" in body_of(f"<p><inline-formula><mml:math>{rows}</mml:math></inline-formula></p>")


def test_hostile_spans_do_not_fill_the_memory() -> None:
    table = '<table><tr><td colspan="999999999" rowspan="999999999">x</td></tr><tr><td>y</td></tr>'
    markdown = body_of(f"<table-wrap>{table}</table></table-wrap>")
    assert len(markdown) < 10_000
    assert "x" in markdown
    assert "y" in markdown


def test_long_cells_are_not_multiplied_by_their_spans() -> None:
    rows = f'<tr><td rowspan="2000">{"long " * 2000}</td></tr>' + "<tr><td>y</td></tr>" * 1999
    assert len(body_of(f"<table>{rows}</table>")) < 200_000


def test_the_tree_alone_can_be_had() -> None:
    parsed = jats.parse_jats(article("<p>x</p>").encode())
    assert (parsed.root.tag, parsed.cut_off) == ("article", False)


@pytest.mark.parametrize(
    "tags", ["table tr td", "def-list def-item", "mixed-citation person-group", "name surname"]
)
def test_nesting_never_doubles_the_work_at_each_level(tags: str) -> None:
    opened = "".join(f"<{tag}>" for tag in tags.split())
    closed = "".join(f"</{tag}>" for tag in reversed(tags.split()))
    markdown = read(article(opened * 60 + "deep words" + closed * 60)).markdown
    assert "deep words" in " ".join(markdown.split())


def test_labels_that_refer_to_themselves_come_to_an_end() -> None:
    loop = '<xref ref-type="bibr" rid="r1"/>'
    back = f'<ref-list><ref id="r1"><label>{loop} a {loop} b</label></ref></ref-list>'
    assert read(article(f"<p>See {loop}.</p>", back=back)).markdown.startswith("# A title")


def test_letters_that_print_nothing_are_blanks_unless_they_are_korean() -> None:
    listed = "<list><list-item><p>\u115f</p><p>\u115fFirst</p></list-item></list>"
    assert body_of(f"<p>\u3164</p>{listed}<p>&#x115F;a&#4447;b\u2800\u115f\u1161</p>") == (
        "- First\n\na b \u115f\u1161"
    )


def test_notes_to_the_title_stand_behind_the_text() -> None:
    note = "<fn><p>From the Lake Institute, Perch University.</p></fn>"
    meta = f"<title-group><article-title>A title</article-title>{note}</title-group>"
    made = read(article("<p>Text.</p>", meta=meta)).markdown
    assert made == "# A title\n\nText.\n\nFrom the Lake Institute, Perch University.\n"


@pytest.mark.parametrize(
    ("permissions", "license_"),
    [
        (
            "<copyright-statement>Roe. Creative Commons Attribution License.</copyright-statement>",
            "CC BY",
        ),
        ('<article-id/><ext-link xlink:href="10.1371/journal.pgen.0030008"/>', ""),
    ],
)
def test_a_licence_without_an_element_of_its_own_is_in_the_copyright_statement(
    permissions, license_
):
    meta = etree.fromstring(
        f'<article-meta xmlns:xlink="http://www.w3.org/1999/xlink">{permissions}</article-meta>'
    )
    assert get_license_text(meta) == license_
