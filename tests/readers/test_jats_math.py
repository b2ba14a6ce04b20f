"""Formulas: MathML and publishers' TeX into LaTeX."""

import pytest

from tests.readers.jats_snippets import body_of
from utils.readers.jats.formulas import strip_tex_document

I = "<mml:mi>{}</mml:mi>".format  # noqa: E741
N = "<mml:mn>{}</mml:mn>".format
O = "<mml:mo>{}</mml:mo>".format  # noqa: E741

ROW = "<mml:mtr><mml:mtd>{}</mml:mtd><mml:mtd>{}</mml:mtd></mml:mtr>".format
TEX_NOTE = '<mml:annotation encoding="application/x-tex">\\alpha</mml:annotation>'


def in_line(mathml: str) -> str:
    return body_of(f"<p><inline-formula><mml:math>{mathml}</mml:math></inline-formula></p>")


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        (I("α") + O("=") + N("2"), r"\alpha = 2"),
        (I("α") + I("x"), r"\alpha x"),
        (f"<mml:msub>{I('x')}{I('i')}</mml:msub>", "x_i"),
        (f"<mml:msup><mml:mrow>{I('x')}{O('+')}{N('1')}</mml:mrow>{N('10')}</mml:msup>",
         "{x + 1}^{10}"),
        (f"<mml:msubsup>{I('x')}{I('i')}{N('2')}</mml:msubsup>", "x_i^2"),
        (f"<mml:mfrac>{I('a')}{I('b')}</mml:mfrac>", r"\frac{a}{b}"),
        (f"<mml:msqrt>{I('a')}</mml:msqrt>", r"\sqrt{a}"),
        (f"<mml:mroot>{I('a')}{N('3')}</mml:mroot>", r"\sqrt[3]{a}"),
        (f"<mml:munderover>{O('∑')}{I('i')}{I('n')}</mml:munderover>{I('x')}", r"\sum_i^nx"),
        (f"<mml:mover>{I('x')}{O('¯')}</mml:mover>", r"\bar{x}"),
        (f"<mml:munder>{I('max')}{I('x')}</mml:munder>", r"\max_x"),
        (f"<mml:mfenced>{I('a')}{I('b')}</mml:mfenced>", r"\left( a, b \right)"),
        (f'<mml:mfenced open="{{" close="">{I("a")}</mml:mfenced>', r"\left\{ a \right."),
        (f"<mml:mtable>{ROW(I('a'), I('b'))}{ROW(I('c'), I('d'))}</mml:mtable>",
         r"\begin{matrix} a & b \\ c & d \end{matrix}"),
        ("<mml:mtext>if 5% </mml:mtext>", r"\text{if 5\% }"),
        ('<mml:mi mathvariant="bold">x</mml:mi>', r"\mathbf{x}"),
        (I("sin") + I("x"), r"\sin x"),
        (I("Dose"), r"\mathrm{Dose}"),
        (f"{O('|')}{I('x')}{O('|')}{O('&lt;')}{I('b')}", r"\vert x\vert \lt b"),
        (f"<mml:mmultiscripts>{I('U')}<mml:mprescripts/>{N('92')}{N('238')}</mml:mmultiscripts>",
         "{}_{92}^{238}U"),
        (f"<mml:semantics>{I('a')}{TEX_NOTE}</mml:semantics>", r"\alpha"),
        (f"<mml:mfrac>{I('a')}</mml:mfrac>", r"\frac{a}{}"),
        (f"<mml:novelty>{I('a')}{I('b')}</mml:novelty>", "ab"),
    ],
)  # fmt: skip
def test_mathml_becomes_latex(mathml: str, latex: str) -> None:
    assert in_line(mathml) == f"${latex}$"


def test_displayed_formulas_stand_alone_with_their_number() -> None:
    xml = f"<p>So<disp-formula><label>(3)</label><mml:math>{I('a')}</mml:math></disp-formula>where"
    assert body_of(f"{xml} b.</p>") == "So\n\n$$a \\tag{3}$$\n\nwhere b."


def test_the_authors_tex_is_preferred_and_freed_of_its_preamble() -> None:
    tex = (
        r"\documentclass[12pt]{minimal} \usepackage{amsmath} \setlength{\oddsidemargin}{-69pt}"
        r" \begin{document}$$ y_{ij} = \mu $$\end{document}"
    )
    forms = f"<alternatives><tex-math>{tex}</tex-math><mml:math>{I('z')}</mml:math></alternatives>"
    assert body_of(f"<p>a <inline-formula>{forms}</inline-formula> b</p>") == (
        r"a $y_{ij} = \mu$ b"
    )
    assert body_of(f"<disp-formula>{forms}</disp-formula>") == r"$$y_{ij} = \mu$$"


def test_environments_of_whole_displays_become_aligned() -> None:
    tex = r"\begin{align*} a &amp;= b \end{align*}"
    assert body_of(f"<disp-formula><tex-math>{tex}</tex-math></disp-formula>") == (
        r"$$\begin{aligned} a &= b \end{aligned}$$"
    )


def test_formulas_in_words_or_pictures_are_kept() -> None:
    words = "<disp-formula>E = mc<sup>2</sup><label>(1)</label></disp-formula>"
    assert body_of(words) == "E = mc<sup>2</sup> (1)"
    assert body_of("<p><inline-formula><italic>x</italic> = 1</inline-formula></p>") == "*x* = 1"
    picture = "<disp-formula><graphic xlink:href='eq1.gif'/></disp-formula>"
    assert body_of(picture) == "[formula: eq1.gif]"


def test_dollars_in_text_stay_dollars_beside_formulas() -> None:
    xml = f"<p>US$5 for <mml:math>{I('x')}</mml:math> or $6</p>"
    assert body_of(xml) == r"US\$5 for $x$ or \$6"


def test_a_relic_before_the_dollars_leaves_no_dollars() -> None:
    tex = r"\begin{document} }{}$\bigcirc$\end{document}"
    xml = f"<p><inline-formula><tex-math>{tex}</tex-math></inline-formula></p>"
    assert body_of(xml) == r"$\bigcirc$"


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        (f"<mml:msub>{I('x')}<mml:mrow>{I('i')}<mml:mspace/></mml:mrow></mml:msub>", "x_i"),
        (f"<mml:mfrac><mml:mrow>{I('a')}<mml:mtext> </mml:mtext></mml:mrow>{I('b')}</mml:mfrac>",
         r"\frac{a}{b}"),
        (f"<mml:mrow>{I('a')}<mml:mspace/></mml:mrow>", "a"),
        (f"<mml:mrow>{I('a')}<mml:mspace/>{I('b')}</mml:mrow>", r"a\ b"),
    ],
)  # fmt: skip
def test_a_blank_at_the_end_of_a_group_leaves_no_backslash(mathml: str, latex: str) -> None:
    assert in_line(mathml) == f"${latex}$"


@pytest.mark.parametrize(
    ("tex", "latex"),
    [
        ("x\\ ", "x"),
        (r"(\text{%}) = 100\%", r"(\text{\%}) = 100\%"),
        ("a = % a remark would follow\nb", r"a = \% a remark would follow b"),
        ("a = %\n  b\n% a remark", "a = b"),
        (r"a \\ ", r"a \\"),
    ],
)
def test_blanks_and_percent_signs_break_no_formula(tex: str, latex: str) -> None:
    xml = f"<p><inline-formula><tex-math>{tex}</tex-math></inline-formula></p>"
    assert body_of(xml) == f"${latex}$"


def test_a_slanted_fraction_has_no_dollars_of_its_own() -> None:
    slash = r"\!\mathord{\left/ {\vphantom {a b}}\right.\kern-0pt}"
    source = rf"$$ x = \raise0.7ex\hbox{{${{\bar a}}$}} {slash} \!\lower0.7ex\hbox{{$b$}} $$"
    assert strip_tex_document(source) == rf"x = {{{{\bar a}}}} {slash} \!{{b}}"
    raised = r"\raisebox{1ex}{$1$}\!\left/ \!\raisebox{-1ex}{$2$}\right."
    assert strip_tex_document(raised) == r"{1}\!\left/ \!{2}\right."
