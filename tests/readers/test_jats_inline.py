"""Running text: nothing glued, nothing gained, nothing misread as markup."""

import pytest

from tests.readers.jats_snippets import article, body_of, read


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        ("a <italic>b</italic> <bold>c</bold>", "a *b* **c**"),
        ("a<italic> b </italic>c", "a *b* c"),
        ("un<italic>ital</italic>ic", "unitalic"),
        ("<italic> </italic>x", "x"),
        ("<bold>a</bold><italic>b</italic>", "ab"),
        ("a<italic>(b)</italic>c", "a(*b*)c"),
        ("<italic>p</italic>-value", "*p*-value"),
        ("<bold><italic>x</italic></bold>", "***x***"),
        ("CO<sub>2</sub> 10<sup>-3</sup>", "CO<sub>2</sub> 10<sup>-3</sup>"),
        ("<underline>u</underline><strike>s</strike>", "<u>u</u>~~s~~"),
        ("<sc>Small</sc> <roman>r</roman> <sans-serif>s</sans-serif>", "Small r s"),
        ("run <monospace>a_b*c</monospace> or <code>f(x)</code>", "run `a_b*c` or `f(x)`"),
        ("<styled-content>in</styled-content><named-content>side</named-content>", "inside"),
        ("<abbrev>WHO<def><p>World Health</p></def></abbrev>", "WHO (World Health)"),
        ("one\n   two\u00a0three", "one two three"),
        ("a<!-- no -->b<?pi no?>c", "abc"),
        ("a<unheard-of>b</unheard-of>c", "abc"),
        ("line<break/>break", "line<br>break"),
        (
            "see (\n  <bold>B</bold>\n ) and\n <italic>C</italic>\n , .5\n.5",
            "see (**B**) and *C*, .5 .5",
        ),
        ("<italic>i</italic><italic>n</italic> sum", "*in* sum"),
        ("10<sup>2</sup><sup>3</sup>", "10<sup>2</sup><sup>3</sup>"),
        ("`<italic>i</italic><italic>n</italic>", r"\`*in*"),
        ("<sup>[</sup>\n<sup>1</sup>\n,\n<sup>2</sup>\n<sup>]</sup>", "<sup>[1, 2]</sup>"),
        ("<bold>(a)</bold><hr/>", "**(a)**"),
        ("<email>a@b.org</email><email>c@d.org</email>", "a@b.org, c@d.org"),
    ],
)
def test_inline_elements_neither_glue_nor_gain(xml: str, markdown: str) -> None:
    assert body_of(f"<p>{xml}</p>") == markdown


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("2) no list", r"2\) no list"),
        ("- no list", r"\- no list"),
        ("+ no list", r"\+ no list"),
        ("* no list", r"\* no list"),
        ("&gt; no quote", r"\> no quote"),
        ("| no table", r"\| no table"),
        ("[1]: no definition", r"\[1]: no definition"),
        ("1.5 is a number", "1.5 is a number"),
        ("-5 is one, too", "-5 is one, too"),
        ("p &lt; 0.05 and x &lt;0.1", "p < 0.05 and x <0.1"),
        ("&lt;b&gt;not bold&lt;/b&gt;", r"\<b>not bold\</b>"),
        ("A*B*C and q * r", r"A\*B\*C and q * r"),
        ("id_of_x and _x_", r"id_of_x and \_x\_"),
        ("US$5 to US$10", r"US\$5 to US\$10"),
        ("[1](2) and &amp;lt;", r"[1\](2) and \&lt;"),
        ("a `tick` ~~x~~", r"a \`tick\` \~~x\~~"),
        (r"C:\*", r"C:\\\*"),
    ],
)
def test_text_is_not_read_as_markup(xml: str, markdown: str) -> None:
    assert body_of(f"<p>{xml}</p>") == markdown


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        ('<ext-link xlink:href="https://x.org/a">here</ext-link>', "[here](https://x.org/a)"),
        ('<ext-link xlink:href="https://x.org">https://x.org</ext-link>', "https://x.org"),
        ('<ext-link xlink:href="https://x.org/a_b"/>', "https://x.org/a_b"),
        ('<ext-link ext-link-type="doi" xlink:href="10.1000/a">D</ext-link>',
         "[D](https://doi.org/10.1000/a)"),
        ('<ext-link xlink:href="javascript:alert(1)">x</ext-link>', "x"),
        ('<ext-link xlink:href="file:///etc/passwd">x</ext-link>', "x"),
        ('<ext-link xlink:href="data:text/html,x">x</ext-link>', "x"),
        ('<ext-link xlink:href="https://x.org/) [y](z">x</ext-link>',
         "[x](https://x.org/%29%20[y]%28z)"),
        ("<uri>http://x.org/_a_</uri>", "http://x.org/_a_"),
        ("<email>a@b.org</email>", "a@b.org"),
    ],
)  # fmt: skip
def test_links_have_harmless_schemes_only(xml: str, markdown: str) -> None:
    assert body_of(f"<p>{xml}</p>") == markdown


CITED = '<xref ref-type="bibr" rid="r1">'
NOTED = '<xref ref-type="table-fn" rid="n1">'


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        (f"known [{CITED}1</xref>,{CITED}2</xref>].", "known [1,2]."),
        (f"known ({CITED}Doe, 2010</xref>)", "known (Doe, 2010)"),
        (f"IL-6{CITED}12</xref>", "IL-6<sup>12</sup>"),
        (f"so.{CITED}1</xref>,{CITED}2</xref> Then", "so.<sup>1</sup>,<sup>2</sup> Then"),
        (f"so<sup>{CITED}1</xref></sup>", "so<sup>1</sup>"),
        (f"weight {CITED}1</xref>, {CITED}4</xref> is", "weight <sup>1</sup>, <sup>4</sup> is"),
        (f"in reference {CITED}4</xref>, Doe {CITED}2010</xref>", "in reference 4, Doe 2010"),
        (f"so (see work {CITED}4</xref>) and [\n{CITED}5</xref>]", "so (see work 4) and [5]"),
        (f"{NOTED}a</xref> 30.67{NOTED}b</xref>", "a 30.67<sup>b</sup>"),
        (f"<bold>Age</bold>{NOTED}a</xref>,{NOTED}b</xref>", "**Age**<sup>a</sup>,<sup>b</sup>"),
        (f"p{NOTED}*</xref> 1{NOTED}Note 2</xref>", r"p\* 1Note 2"),
        (f"({CITED}3</xref>{CITED}</xref>{CITED}</xref>–{CITED}6</xref>)", "(3–6)"),
        (f"see {CITED}</xref>.", "see [7]."),
        ('<xref ref-type="fig" rid="f1">Fig. 1</xref>A', "Fig. 1A"),
        ('as in <xref ref-type="fig" rid="f1"/>', "as in Figure 9"),
    ],
)
def test_cross_references_read_as_text(xml: str, markdown: str) -> None:
    back = "<ref-list><ref id='r1'><label>7</label><mixed-citation>R</mixed-citation></ref>"
    floats = "<floats-group><fig id='f1'><label>Figure 9</label></fig></floats-group>"
    text = read(article(f"<p>{xml}</p>", back=f"{back}</ref-list>", more=floats)).markdown
    assert f"\n\n{markdown}\n\n" in text


def test_footnotes_in_a_line_follow_their_block() -> None:
    assert body_of("<p>One<fn><label>*</label><p>A note.</p></fn> two.</p><p>Next.</p>") == (
        "One[^1] two.\n\n[^1]: A note.\n\nNext."
    )


def test_pictures_in_a_line_are_named() -> None:
    xml = '<p>An <inline-graphic xlink:href="a/b.gif"/> and <inline-graphic xlink:href="c.gif">'
    xml += "<alt-text>arrow</alt-text></inline-graphic>.</p>"
    assert body_of(xml) == "An [image: b.gif] and [image: arrow]."
