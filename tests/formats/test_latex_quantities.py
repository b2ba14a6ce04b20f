r"""Numbers with units as siunitx writes them, and arguments of commands that nobody knows."""

from __future__ import annotations

import pytest

from tests.formats.latex_articles import body_of, read

MICRO = "\N{MICRO SIGN}"


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"A \SI{37}{\celsius} B", "A 37 °C B"),
        (r"\qty{5}{\milli\molar}", "5 mM"),
        (r"\SIrange{1}{3}{\micro\gram}", f"1–3 {MICRO}g"),
        (r"\qtyrange[range-units=single]{1}{2}{kg}", "1–2 kg"),
        (r"\SIrange{-5}{3}{\degreeCelsius}", "−5 to 3 °C"),
        (r"\ang{30} \ang{1;2;3.5}", "30° 1°2′3.5″"),
        (r"\si{\kelvin} \unit{\kilo\watt\hour}", "K kW h"),
        (r"\qty{2.5e3}{\per\second}", "2.5 × 10<sup>3</sup> s<sup>−1</sup>"),
        (r"\SI{10}{\micro M}", f"10 {MICRO}M"),
        (r"\num{1.23(4)} \num{e-5} \num{1.2 +- 0.3e4}",
         "1.23(4) 10<sup>−5</sup> (1.2 ± 0.3) × 10<sup>4</sup>"),
        (r"\num{1 x 2} \num{\pm 5} \num{\approx 7}", "1 × 2 ±5 ≈7"),
        (r"\numrange{10}{20}, \numlist{1;2;3}", "10–20, 1, 2 and 3"),
        (r"\qtylist{1;2}{\m} \SIlist[list-units=single]{4;5;6}{\um}",
         f"1 and 2 m 4, 5 and 6 {MICRO}m"),
        (r"\SI[per-mode=symbol]{9.8}{\metre\per\second\squared}", "9.8 m s<sup>−2</sup>"),
        (r"\SI{1}{\square\meter\per\cubic\centi\meter\tothe{4}}",
         "1 m<sup>2</sup> cm<sup>−4</sup>"),
        (r"\SI{1}{kg.m^{2}/s} \SI{2}{m^{-1}}", "1 kg m<sup>2</sup>/s 2 m<sup>−1</sup>"),
        (r"\SI{50}{\percent} \SI{1}{\kilo\ohm} \SI{3}{\angstrom} \SI{4}{\degree}",
         "50 % 1 kΩ 3 Å 4°"),
        (r"\SI{3}{\widget\per\frob} \SI{4}{\text{cells}\per\milli\litre}",
         "3 widget frob<sup>−1</sup> 4 cells mL<sup>−1</sup>"),
        (r"\SI{1}{\cell_{x}}", "1 cell<sub>x</sub>"),
        (r"\SI{}{\kg} \SI{5}[\$]{}", r"kg \$5"),
        (r"\SI{many}{\ms}", "many ms"),
        (r"\SI{5}{\mu m} \SI{5}{$^\circ$C} \nicefrac{1}{2}", f"5 {MICRO}m 5 °C 1/2"),
    ],
)  # fmt: skip
def test_quantities_in_the_text(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"$T=\SI{37}{\celsius}$", r"$T=37\,{}^{\circ}\mathrm{C}$"),
        (r"$\qty{2.5e3}{\per\second}$", r"$2.5 \times 10^{3}\,\mathrm{s}^{-1}$"),
        (r"$\SIrange{1}{3}{\micro\gram}$", r"$1\text{–}3\,\mathrm{\mu g}$"),
        (r"$\ang{30}+\num{-2}$", r"$30^{\circ}+-2$"),
        (r"$\si{\ohm\metre}$", r"$\mathrm{\Omega}\,\mathrm{m}$"),
        (r"\[\SI{5}{\percent}\]", r"$$5\,\mathrm{\%}$$"),
    ],
)
def test_quantities_in_formulas(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


@pytest.mark.parametrize(
    ("preamble", "tex", "markdown"),
    [
        (r"\newcommand{\um}{\micro\metre}", r"\SI{1}{\um}", f"1 {MICRO}m"),
        (r"\newcommand{\w}{\kilo\frob}\newcommand{\x}{3}", r"\SI{\x}{\w}", "3 kfrob"),
        (r"\DeclareSIUnit\cell{cells}", r"\SI{3}{\mega\cell}", "3 Mcells"),
        (r"\DeclareSIUnit[a=b]{\basepair}{bp}", r"\SI{3}{\kilo\basepair}", "3 kbp"),
        (r"\newcommand{\m}{\mathbf{m}}", r"\SI{3}{\m}", "3 m"),
        (r"\newcommand{\unit}[1]{ [#1]}", r"3\unit{kg}", "3 [kg]"),
        (r"\usepackage{units}", r"\unit[5]{kg} \unitfrac[2]{m}{s}", "5 kg 2 m/s"),
        (r"\usepackage{physics}", r"$\qty(\frac{a}{b}) + \qty{a}$",
         r"$\qty(\frac{a}{b}) + \qty{a}$"),
    ],
)  # fmt: skip
def test_authors_own_units(preamble: str, tex: str, markdown: str) -> None:
    assert body_of(tex, preamble) == markdown


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"\unknown{1}{3}", "1 3"),
        (r"\unknown[x]{1}{\textbf{3}}{5}, b", "1 **3** 5, b"),
        (r"10\unknown{3}", "10 3"),
        (r"a\unknown{b}c {d}{e}", "abc de"),
        (r"\textcolor{red}{1}{3}", "13"),
    ],
)
def test_arguments_of_unknown_commands_stay_apart(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


FRONT = r"""\documentclass[aps,prl]{revtex4-2}
\begin{document}
\preprint{X-1}\title{Gaps}\thanks{Funded.}
\author{Ada Roe}, \author{Bo Poe} \and
\altaffiliation[Also at ]{There}\email[Write to: ]{a@b.test}\homepage{http://a.test/%7Eroe}
\affiliation{Here\\ Lake}\collaboration{Lake}\noaffiliation
\equalcont{These authors contributed equally.}\orgdiv{Lake}
\date{\today}
ABSTRACT\pacs{1.2}\keywords{perch}
\somebody{told}
TITLE\section{Perch} Text.\end{document}"""


@pytest.mark.parametrize("after", [r"\maketitle", ""])
def test_nothing_before_the_title_is_made_is_text(after: str) -> None:
    abstract = "\\begin{abstract}Short.\\end{abstract}\n"
    source = FRONT.replace("ABSTRACT", abstract).replace("TITLE", after)
    if not after:
        source = source.replace("\\somebody{told}\n", "")
    made = read(source)
    assert made.markdown == (
        "# Gaps\n\n## Abstract\n\nShort.\n\n**Keywords:** perch\n\n## I. Perch\n\nText.\n"
    )
    assert made.authors == ("Roe", "Poe")


def test_a_percent_sign_in_an_address_begins_no_comment() -> None:
    made = body_of(r"\href{http://a.test/%7Eroe}{Roe} and \homepage{http://a.test/%7Eroe}Poe")
    assert made == "[Roe](http://a.test/%7Eroe) and Poe"


def test_a_text_before_the_title_is_kept() -> None:
    made = body_of(r"\section{A} Words.\title{T}\author{Roe}\section{B}More.\maketitle End.")
    assert made == "# T\n\n## 1 A\n\nWords.\n\n## 2 B\n\nMore.\n\nEnd."
    long = "Perch live here. " * 100
    assert body_of(rf"\author{{Roe}} {long}\maketitle End.").startswith("Perch live here.")
