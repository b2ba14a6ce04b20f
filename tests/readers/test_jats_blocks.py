"""Blocks: lists, figures, boxes, quotations, code, notes, and what nobody has heard of."""

import pytest

from tests.readers.jats_snippets import article, back_of, body_of, meta_of, read


def items(*texts: str) -> str:
    return "".join(f"<list-item><p>{text}</p></list-item>" for text in texts)


def test_sections_nest_and_keep_their_labels() -> None:
    assert (
        body_of(
            "<sec><label>1</label><title>One</title><p>lead</p><sec><title>Two</title><p>x</p>"
            "<sec><sec-meta><kwd-group/></sec-meta><p>untitled</p></sec></sec></sec>"
            "<sec><title/><p>y</p></sec>"
        )
        == "## 1 One\n\nlead\n\n### Two\n\nx\n\nuntitled\n\ny"
    )


def test_headings_stop_at_six_levels() -> None:
    xml = "".join(f"<sec><title>L{n}</title>" for n in range(8)) + "<p>x</p>" + "</sec>" * 8
    assert "\n###### L7\n" in body_of(xml)


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        (f'<list list-type="bullet">{items("a", "b")}</list>', "- a\n- b"),
        (f'<list list-type="order">{items("a", "b")}</list>', "1. a\n2. b"),
        (f'<list list-type="simple">{items("a")}</list>', "- a"),
        (f'<list list-type="alpha-lower">{items("x", "y")}</list>', "- a) x\n- b) y"),
        (f'<list list-type="roman-upper">{items("x", "y")}</list>', "- I) x\n- II) y"),
        (f'<list list-type="order"><title>T</title>{items("a")}</list>', "**T**\n\n1. a"),
        ("<list><list-item><label>(iv)</label><p>a</p></list-item></list>", "- (iv) a"),
        ("<list><list-item><label>•</label><p>a</p></list-item></list>", "- a"),
        ("<list><list-item><label>3.</label><p>a</p></list-item></list>", "3. a"),
        (f"<list><list-item><p>a</p><list>{items('b', 'c')}</list></list-item></list>",
            "- a\n  - b\n  - c"),
        ('<list list-type="order"><list-item><p>a</p><p>more</p></list-item></list>',
            "1. a\n\n   more"),
    ],
)  # fmt: skip
def test_lists_keep_order_nesting_and_labels(xml: str, markdown: str) -> None:
    assert body_of(xml) == markdown


def test_definitions_are_bullets_with_bold_terms() -> None:
    assert (
        body_of(
            "<def-list><title>Terms</title><def-item><term>X</term><def><p>ex</p></def></def-item>"
            "<def-item><term>Y<sub>2</sub></term><def><p>why</p></def></def-item></def-list>"
        )
        == "**Terms**\n\n- **X**: ex\n- **Y<sub>2</sub>**: why"
    )


def test_blocks_inside_a_paragraph_stand_apart_from_its_text() -> None:
    assert (
        body_of(
            f"<p>Before<list>{items('item')}</list>between<disp-quote><p>Said.</p></disp-quote>"
            "after <bold>this</bold>.</p>"
        )
        == "Before\n\n- item\n\nbetween\n\n> Said.\n\nafter **this**."
    )


def test_unknown_elements_are_never_dropped() -> None:
    assert (
        body_of(
            "<novelty>loose <p>para</p> end</novelty><p>q <odd>w<list>"
            f"{items('li')}</list></odd> r</p>stray text"
        )
        == "loose\n\npara\n\nend\n\nq\n\nw\n\n- li\n\nr\n\nstray text"
    )


def test_figures_open_with_their_label() -> None:
    assert body_of(
        "<fig><label>Figure 1</label><caption><title>The <italic>rd7</italic> mouse.</title>"
        "<p>(A) One.</p><p>(B) Two.</p></caption><alt-text>a mouse</alt-text>"
        '<graphic xlink:href="f1.jpg"/><attrib>Photo: me</attrib></fig>'
    ) == (
        "**Figure 1.** The *rd7* mouse.\n\n(A) One.\n\n(B) Two.\n\n"
        "[Image description: a mouse]\n\n— Photo: me"
    )
    assert (
        body_of(
            "<fig-group><caption><p>Both.</p></caption><fig><label>Fig. 2.</label><caption><p>Cap."
            "</p></caption></fig></fig-group>"
        )
        == "Both.\n\n**Fig. 2.** Cap."
    )


def test_files_and_pictures_are_named() -> None:
    assert body_of(
        '<supplementary-material><label>File S1</label><media xlink:href="s1.pdf"><caption>'
        "<p>Click here.</p></caption></media></supplementary-material>"
        '<p><media xlink:href="https://x.org/v.mp4"/></p><p><graphic xlink:href="g.jpg"/></p>'
        '<p><chem-struct><graphic xlink:href="scheme1.jpg"/></chem-struct></p>'
    ) == (
        "**File S1.**\n\nClick here.\n\n[File: s1.pdf]\n\n[File: [v.mp4](https://x.org/v.mp4)]\n\n"
        "[Image: g.jpg]\n\n[Image: scheme1.jpg]"
    )


def test_boxes_and_quotations_are_quoted() -> None:
    assert (
        body_of(
            "<boxed-text><label>Box 1</label><caption><title>Key points</title></caption>"
            f"<p>One.</p><list>{items('two')}</list></boxed-text>"
            "<disp-quote><p>Said.</p><attrib>Doe</attrib></disp-quote>"
        )
        == "> **Box 1 Key points**\n>\n> One.\n>\n> - two\n\n> Said.\n>\n> — Doe"
    )


def test_verse_code_speech_and_statements() -> None:
    assert body_of(
        "<verse-group><verse-line>Roses</verse-line><verse-line>Violets</verse-line></verse-group>"
        "<preformat>x  &lt; y\n  `z`</preformat>"
        '<code language="R">a &lt;- 1\nb</code>'
        "<speech><speaker>Dr A</speaker><p>Hello.</p></speech>"
        "<statement><label>Theorem 1</label><p>All is text.</p></statement>"
    ) == (
        "Roses<br>Violets\n\n```\nx  < y\n  `z`\n```\n\n```R\na <- 1\nb\n```\n\n"
        "**Dr A:** Hello.\n\n**Theorem 1** All is text."
    )


def test_code_with_backticks_has_a_longer_fence() -> None:
    assert body_of("<preformat>```\nx</preformat>") == "````\n```\nx\n````"


def test_footnotes_and_notes_in_the_back() -> None:
    assert back_of(
        "<fn-group><title>Notes</title><fn><label>1</label><p>One.</p></fn>"
        "<fn><label>Funding</label><p>Two.</p></fn></fn-group>"
        "<sec><title>Ethics</title><p>Three.</p></sec><ack><title>Thanks</title><p>Four.</p></ack>"
    ) == (
        "## Notes\n\n<sup>1</sup> One.\n\n**Funding** Two.\n\n## Ethics\n\nThree.\n\n"
        "## Thanks\n\nFour."
    )


def test_correspondence_and_funding_statements_are_kept() -> None:
    markdown = meta_of(
        "<title-group><article-title>T</article-title></title-group><author-notes><corresp>"
        "<label>*</label>To: <email>a@b.org</email></corresp></author-notes><funding-group>"
        "<funding-statement>Paid by X.</funding-statement></funding-group>"
    ).markdown
    assert "## Author notes\n\n\\* To: a@b.org\n\n## Funding\n\nPaid by X.\n" in markdown


def test_of_alternatives_one_is_shown() -> None:
    assert (
        body_of(
            "<table-wrap><alternatives><graphic xlink:href='t.jpg'/><table><tr><th>a</th></tr><tr>"
            "<td>1</td></tr></table></alternatives></table-wrap>"
        )
        == "| a |\n| --- |\n| 1 |"
    )


def test_the_writer_of_a_letter_is_named_as_people_sign() -> None:
    letter = (
        "<sub-article><front-stub><contrib-group><contrib><name><surname>Roe</surname>"
        "<given-names>Jane Q.</given-names></name><role>Reviewer</role></contrib></contrib-group>"
        "</front-stub><body><p>Good.</p></body></sub-article>"
    )
    assert "\n\nJane Q. Roe (Reviewer)\n\nGood." in read(article("<p>T</p>", more=letter)).markdown


def test_emphasis_before_a_block_is_not_taken_for_touching_text() -> None:
    xml = "<p><bold>(Table)</bold><list><list-item><p><italic>a</italic></p></list-item></list></p>"
    assert body_of(xml) == "**(Table)**\n\n- *a*"


def test_sub_articles_keep_their_references_apart() -> None:
    reply = (
        '<sub-article article-type="translation" xml:lang="es"><front-stub><title-group>'
        "<article-title>Un título</article-title></title-group></front-stub><body><p>Texto.</p>"
        "</body><back><ref-list><ref><mixed-citation>Uno.</mixed-citation></ref></ref-list></back>"
        "</sub-article>"
    )
    document = read(article("<p>Text.</p>", more=reply))
    assert document.references == 0
    assert document.body_words == 1
    assert "## Translation (es): Un título\n\nTexto.\n\n### References\n\n1. Uno.\n" in (
        document.markdown
    )


def funded(told: str, groups: str) -> str:
    meta = f"<title-group><article-title>T</article-title></title-group><funding-group>{groups}"
    return meta_of(f"{meta}</funding-group>", body=told).markdown


AWARD = (
    "<award-group><funding-source>Lake Fund</funding-source><award-id>LF-7</award-id></award-group>"
)


def test_awards_that_the_article_tells_itself_are_not_told_twice() -> None:
    told = "<sec><title>Funding</title><p>The Lake Fund paid (LF-7).</p></sec>"
    assert funded(told, AWARD).count("Lake Fund") == 1
    assert "## Funding\n\n- Lake Fund: LF-7\n" in funded("<p>The lake.</p>", AWARD)


def test_awards_of_which_the_article_tells_a_part_are_listed() -> None:
    more = AWARD.replace("LF-7", "LF-8")
    assert "- Lake Fund: LF-7\n- Lake Fund: LF-8" in funded("<p>Paid by LF-7.</p>", AWARD + more)


def test_a_funder_without_a_number_is_listed_wherever_else_it_is_named() -> None:
    bare = "<award-group><funding-source>Lake Fund</funding-source></award-group>"
    assert "\n- Lake Fund\n" in funded("<p>The Lake Fund keeps perch.</p>", bare)


def test_a_funding_statement_that_stands_in_the_text_is_not_told_twice() -> None:
    statement = "<funding-statement>Paid by X.</funding-statement>"
    assert funded("<p>Paid by X. Thanks.</p>", statement).count("Paid by X.") == 1
