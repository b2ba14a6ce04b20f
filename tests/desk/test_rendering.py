"""The text of a paper as HTML: complete, and harmless whatever it holds."""

import re
from html.parser import HTMLParser

import pytest

from utils.desk import formulas
from utils.desk.rendering import render_text
from utils.model.identifiers import Ids

ALLOWED = {
    *("h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "em", "sub", "sup", "u"),
    *("a", "span", "code", "pre", "div", "table", "thead", "tbody", "tr", "th", "td", "br", "hr"),
    *("blockquote", *formulas.ELEMENTS),
}
ATTRIBUTES = {
    *("href", "target", "rel", "id", "class", "title", "start", "tabindex", "role"),
    *("aria-label", "display", *formulas.ATTRIBUTES),
}
FORMULAS = [
    r"\href{javascript:alert(1)}{x}",
    r"\href{https://evil.example}{x}",
    r"\text{<script>alert(1)</script>}",
    r"\text{&lt;img src=x onerror=alert(1)&gt;}",
    r"\style{background:url(//evil.example)}{x}",
    r"\class{bar}{x} \id{main}{x}",
    r"\color{red\" onmouseover=\"alert(1)}{x}",
    r"\operatorname{<svg/onload=alert(1)>}",
    r"<annotation-xml encoding=text/html><img src=x></annotation-xml>",
    r"\unknown{<b>}",
    "{" * 400,
    "x^{" * 200,
    r"\frac{",
]
ATTACKS = [
    *(f"${one}$" for one in FORMULAS),
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<math><mtext><img src=x onerror=alert(1)></mtext></math>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<style>*{background:url(//evil.example)}</style>",
    "<p style='position:fixed' onclick=alert(1)>x</p>",
    "<sub onclick=alert(1)>x</sub>",
    "<sub><script>alert(1)</script></sub>",
    "<sup>a<sub>b</sup>c</sub>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](/paper/keep)",
    '[x](https://a.example "onmouseover=alert(1)")',
    "<javascript:alert(1)>",
    "![x](https://evil.example/pixel.png)",
    "![<script>](javascript:alert(1))",
    "[a]: javascript:alert(1)\n\n[a]",
    "$<script>alert(1)</script>$",
    "$$\\href{javascript:alert(1)}{x}$$",
    "`<script>`",
    "```html\n<script>alert(1)</script>\n```",
    "| <script> | a |\n| --- | --- |\n| <img src=x onerror=1> | b |",
    "# <script>alert(1)</script>",
    "<!-- --><script>alert(1)</script>",
    "<a hx-get='/setup' hx-trigger='load'>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


class Elements(HTMLParser):
    """Lists what a browser would make of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.names, self.links = set(), set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]


def render(markdown, on_shelf=()):
    return render_text(
        markdown, lambda papers: {p: f"/paper?id={p.key}" for p in papers if p in on_shelf}
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_a_text_becomes_active(attack):
    for markdown in (attack, f"Before {attack} after.", f"- {attack}", f"> {attack}"):
        found = Elements(render(markdown).html)
        assert found.tags <= ALLOWED
        assert found.names <= ATTRIBUTES
        assert all(re.match(r"https?://|mailto:|#", link) for link in found.links)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x1b"])
def test_letters_that_deceive_are_removed(sign):
    assert sign not in render(f"a{sign}b").html


def test_raised_and_lowered_letters_are_kept():
    html = render("CO<sub>2</sub> at 10<sup>*5*</sup> <u>m</u>, p<sub>a").html
    assert "CO<sub>2</sub> at 10<sup><em>5</em></sup> <u>m</u>, p&lt;sub&gt;a" in html


def test_formulas_become_mathml_and_are_not_read_as_emphasis():
    html = render("So $a_1 * b_2$ holds.\n\n$$v = \\frac{V_{max}}{K_m} \\tag{1}$$").html
    assert "<math><mrow><msub><mi>a</mi><mn>1</mn></msub><mo>*</mo>" in html
    assert '<math display="block"><mrow><mi>v</mi><mo>=</mo><mfrac>' in html
    assert '<span class="number">(1)</span>' in html


def test_a_formula_that_cannot_be_converted_is_shown_as_its_source():
    assert '<code class="formula">\\unknown{x}</code>' in render(r"So $\unknown{x}$ holds.").html


def test_a_price_is_not_a_formula():
    assert "formula" not in render("It costs $5 or $ 6 a day.").html


def test_citations_lead_to_the_references_that_are_there():
    made = render("Seen [1, 3], not [9] nor [2–3].\n\n## References\n\n1. A\n2. B\n3. C\n")
    assert made.references == 3
    assert re.findall(r'href="#(ref-\d)"', made.html) == ["ref-1", "ref-3", "ref-2", "ref-3"]
    assert "[9]" in made.html


def test_a_reference_on_the_shelf_leads_to_it():
    fern = Ids(doi="10.1000/fern")
    made = render("## References\n\n- Fern A. doi:10.1000/Fern.\n- No number\n", {fern})
    assert made.html.count('class="here"') == 1
    assert 'href="/paper?id=doi:10.1000/fern"' in made.html


def test_headings_have_names_and_the_title_is_left_out():
    made = render("# Title\n\n## Methods *and* more\n\n### Mice\n")
    assert [(one.level, one.words, one.name) for one in made.headings] == [
        (2, "Methods and more", "s-1"),
        (3, "Mice", "s-2"),
    ]
    assert '<h2 id="s-1">' in made.html


@pytest.mark.parametrize("piece", ["<sub>", "[", "$", "*", "> ", "![", "`", "| a ", "<sub>x</sub>"])
def test_a_long_hostile_text_is_rendered_in_the_end(piece):
    assert render(piece * 20_000).html
