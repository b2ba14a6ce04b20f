"""Markup and formulas of titles and abstracts, as a person would type them."""

import pytest
from lxml.etree import fromstring

from utils.readers.safe_xml import get_readable_text


def written(markup: str) -> str:
    return get_readable_text(fromstring(f"<ArticleTitle>{markup}</ArticleTitle>"))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("PM<sub>2.5</sub> and Ca<sup>2+</sup>", "PM₂.₅ and Ca²⁺"),
        ("<i>Apoe<sup>-/-</sup></i> mice", "Apoe⁻/⁻ mice"),
        ("T<sub>max</sub>, C<sub>min+1mM</sub>", "T_max, C_(min+1mM)"),
        ("BRAF<sup>V600E</sup> (5<sup>th</sup>)", "BRAF^V600E (5th)"),
        ("GeneReviews<sup>®</sup> X<sup>TM</sup>", "GeneReviews® X™"),
        ("10<sup>-5\u2005</sup>M", "10⁻⁵ M"),
        ("<b>A <i>b <sub>c<sup>2</sup></sub></i></b> d", "A b _c² d"),
        ("a<!-- hidden -->b<?pi hidden?>c", "abc"),
        ("R&amp;D, caf&amp;eacute; &lt; 5", "R&D, café < 5"),
        ("A&amp;notes &amp;unknown; stay", "A&notes &unknown; stay"),
        ("two\n   lines\u00a0here", "two lines here"),
        ("of<DispFormula>x</DispFormula>is", "of x is"),
    ],
)
def test_inline_markup_is_readable(markup: str, text: str) -> None:
    assert written(markup) == text


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x²"),
        ("<msub><mi>a</mi><mi>i</mi></msub>", "a_i"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a + b)/c"),
        ("<mi>R</mi><mo>≥</mo><mo>-</mo><mn>1</mn>", "R ≥ -1"),
        ("<msqrt><mi>n</mi><mo>-</mo><mn>1</mn></msqrt>", "√(n - 1)"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u0304"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
            "∑_(i = 1)^n"),
        ("<mmultiscripts><mi>Tc</mi><mprescripts/><none/><mn>99</mn></mmultiscripts>", "⁹⁹Tc"),
        ("<msup><mi/><mrow><mn>2</mn><mo>+</mo></mrow></msup>", "²⁺"),
        ("<semantics><mi>x</mi><annotation>\\tex{x}</annotation></semantics>", "x"),
        ("x &gt; 1", "x > 1"),  # only text, no formula
        ("<mfrac/><msup/><mroot/><mmultiscripts/>", "()/()√()"),
    ],
)  # fmt: skip
def test_mathml_is_readable(mathml: str, text: str) -> None:
    math = f"<math xmlns='http://www.w3.org/1998/Math/MathML'>{mathml}</math>"
    assert written(f"for {math} holds") == f"for {text} holds"


def test_no_element_has_no_text() -> None:
    assert get_readable_text(None) == ""
