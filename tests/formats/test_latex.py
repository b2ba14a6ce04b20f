"""LaTeX sources as markdown: words, formulas, numbers, references, as print would have them."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter

import pytest

from tests.formats.latex_articles import ARTICLES, HARBOUR, PERCH, body_of, read, submission, whole
from tests.own_words import prose
from utils import formats
from utils.errors import BadContent
from utils.formats import reader_processes
from utils.model.identifiers import Ids
from utils.model.paper import Author, Fetched, Paper
from utils.outline.words import folded

_FORMULA = re.compile(r"\$\$?(.+?)\$\$?", re.S)
_SPELLED = str.maketrans("", "", "{} &")


def _plain(tex: str) -> str:
    tex = tex.replace("\\vert", "|").replace("\\lt ", "<").replace("\\;", "")
    return re.sub(r"\\(begin|end)\{aligned\}", "", tex).translate(_SPELLED)


@pytest.mark.parametrize("name", ARTICLES)
def test_every_word_of_an_article_is_there(name: str) -> None:
    made = read(ARTICLES[name].packed()).markdown
    numbers = " ".join(re.findall(r"\\tag\{([^}]*)\}", made))
    found = Counter(folded(f"{_FORMULA.sub(' ', made)} {numbers}"))
    assert not Counter(folded(ARTICLES[name].words)) - found


@pytest.mark.parametrize("name", ARTICLES)
def test_every_formula_is_there_with_commands_spelled_out(name: str) -> None:
    made = _plain(read(ARTICLES[name].packed()).markdown)
    assert [tex for tex in ARTICLES[name].formulas if _plain(tex) not in made] == []


def test_what_an_article_says_of_itself() -> None:
    perch = read(PERCH.packed())
    assert perch.title == r"Spectral gaps of perch shoals in $\mathbb{R}^n$"
    assert perch.authors == ("Müller", "Álvarez", "Zhang")
    assert perch.abstract.startswith("We bound the spectral gap of the shoal operator")
    assert (perch.references, perch.headings) == (2, 4)
    assert "draft" not in perch.markdown
    assert "nobody" not in perch.markdown
    assert read(HARBOUR.packed()).authors == ("Vries",)


def test_both_judges_take_it() -> None:
    record = Paper(
        Ids(arxiv="2601.00001"),
        title="Spectral gaps of perch shoals in R^n",
        authors=(Author("Müller"), Author("Álvarez")),
    )
    long = PERCH.tex.replace(r"\subsection{Setting}", rf"\subsection{{Setting}} {prose(900)}")
    fetched = Fetched(gzip.compress(long.encode()), "latex", "", "arxiv", "arxiv_source")
    document = formats.read(fetched, record)
    assert document.verdict == "full_text"
    assert document.extractor == "latex 3"
    another = Paper(Ids(arxiv="2601.00002"), title="A theory of harbours and their logs")
    with pytest.raises(BadContent) as caught:
        formats.read(fetched, another)
    assert caught.value.outcome == "wrong_paper"


def test_it_is_read_in_another_process_as_here() -> None:
    record = Paper(Ids(), title="Spectral gaps of perch shoals")
    body = PERCH.tex.replace("Perch live", f"Perch live here. {prose(900)} ")
    fetched = Fetched(body.encode(), "latex", "", "arxiv", "arxiv_source")
    try:
        assert reader_processes.read_in_child(fetched, record) == formats.read(fetched, record)
    finally:
        reader_processes._children().dismiss()


def test_addresses_are_no_text() -> None:
    front = r"""\documentclass[aps,prl]{revtex4-2}\begin{document}
\title{Gaps \texorpdfstring{of $x$}{of x}}\author{Ada Roe}\email{a@b.test}\affiliation{Lake}
\author{Bo Poe}\affiliation{Here}\altaffiliation[Also at]{There}\date{\today}
\begin{abstract}Short.\end{abstract}\pacs{1.2}\maketitle
\section{Perch}\label{p} In \ref{p}.\end{document}"""
    made = read(front)
    assert made.markdown == "# Gaps of $x$\n\n## Abstract\n\nShort.\n\n## I. Perch\n\nIn I.\n"
    assert made.authors == ("Roe", "Poe")


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"\'e \`a \^o \c{c} \v{s} \H o \u{g} \aa{} \ss{} \i", "é à ô ç š ő ğ å ß ı"),
        (r"``a'' --- b--c `d' \dots", "“a” — b–c ‘d’ …"),
        (r"\textbf{a \emph{b} c} {\it d} {\tt e\_f}", "**a *b* c** *d* `e_f`"),
        (r"50\% \& \$5 a\_b \{c\}", r"50% & \$5 a_b {c}"),
        ("a\n% gone\nb%\nc", "a bc"),
        ("a\n\nb", "a\n\nb"),
        (r"H\textsubscript{2}O 10\textsuperscript{3}", "H<sub>2</sub>O 10<sup>3</sup>"),
        (r"\textcolor{red}{a} \hspace{2cm}b \mbox{c} \unknown{d}", "a b c d"),
        (r"\verb|x_{1}| and \url{https://a.test/b_c%20d}", "`x_{1}` and https://a.test/b_c%20d"),
        (r"\href{javascript:x()}{a} <script>", r"a \<script>"),
        (r"a\kern-2pt b \parindent=0pt c\\ d", "a b c d"),
        ("\\begin{quote}a\n\nb\\end{quote}", "> a\n>\n> b"),
        ("\\begin{comment}a\\end{comment}b\\begin{tikzpicture}c\\end{tikzpicture}", "b"),
    ],
)  # fmt: skip
def test_text(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


@pytest.mark.parametrize(
    ("preamble", "tex", "markdown"),
    [
        (r"\newcommand{\a}[2][x]{#1-#2}", r"\a{b} \a[c]{d}", "x-b c-d"),
        (r"\def\a#1#2{#2#1}", r"\a bc \a{de}{fg}", "cb fgde"),
        (r"\newcommand\a{B\xspace}", r"\a is \a, \a{}c", "B is B, Bc"),
        (r"\let\a\emph", r"\a{b}", "*b*"),
        (r"\newenvironment{e}[1]{<#1:}{>}", r"\begin{e}{a}b\end{e}", r"\<a:b>"),
        (r"\newif\ifx@y\x@ytrue", r"\ifx@y a\else b\fi c", "ac"),
        ("", r"\iffalse a \iftrue b\fi\else c \fi d", "c d"),
        (r"\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}", r"\be x \ee",
         r"$$x \tag{1}$$"),
        (r"\DeclareMathOperator*{\am}{arg\,min}", r"$\am_x$", r"$\operatorname*{arg\,min}_x$"),
        (r"\newcommand{\v}[1]{\mathbf{#1}}", r"$\v{x}$ \ensuremath{\v y}",
         r"$\mathbf{x}$ $\mathbf{y}$"),
        (r"\newcommand{\section}[1]{gone}", r"\section{Here}", "## 1 Here"),
    ],
)  # fmt: skip
def test_authors_own_commands(preamble: str, tex: str, markdown: str) -> None:
    assert body_of(tex, preamble) == markdown


def test_a_conditional_that_nobody_ends_is_text() -> None:
    assert body_of(r"a \ifnum b c") == "a b c"


# --- formulas, numbers, labels --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"\[a\] $$b$$ \(c\)", "$$a$$\n\n$$b$$\n\n$c$"),
        (r"\begin{align}a&=b\\&=c\nonumber\\d&=e\end{align}",
         "$$\\begin{aligned} a&=b \\\\ &=c \\end{aligned} \\tag{1}$$\n\n$$d=e \\tag{2}$$"),
        (r"\begin{equation}\begin{split}a\\b\end{split}\end{equation}",
         r"$$\begin{split}a\\b\end{split} \tag{1}$$"),
        (r"\begin{equation*}a\tag{$*$}\end{equation*}", r"$$a \tag{*}$$"),
        ((r"\begin{subequations}\begin{equation}a\end{equation}\begin{equation}b\end{equation}"
         r"\end{subequations}\begin{equation}c\end{equation}"),
         "$$a \\tag{1a}$$\n\n$$b \\tag{1b}$$\n\n$$c \\tag{2}$$"),
        (r"$\text{if $x$ and } y<z$", r"$\text{if $x$ and } y\lt z$"),
        ("$a\n\nb", "$a$\n\nb"),
    ],
)  # fmt: skip
def test_formulas(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


@pytest.mark.parametrize(
    ("preamble", "tex", "last"),
    [
        ("", r"\section{A}\subsection{B}\label{b} \ref{b}", "1.1"),
        (r"\numberwithin{equation}{section}",
         r"\section{A}\begin{equation}x\label{e}\end{equation} \eqref{e}", "(1.1)"),
        ((r"\makeatletter\@addtoreset{equation}{section}\makeatother"
         r"\renewcommand{\theequation}{\thesection-\arabic{equation}}"),
         r"\section{A}\section{B}\begin{equation}x\label{e}\end{equation} \cref{e}", "Eq. 2-1"),
        (r"\newtheorem{thm}{Theorem}[section]\newtheorem{lem}[thm]{Lemma}",
         r"\section{A}\begin{thm}a\end{thm}\begin{lem}\label{l}b\end{lem} \autoref{l}",
         "Lemma 1.2"),
        ("", r"\appendix\section{A}\subsection{B}\label{b} \ref{b}", "A.1"),
        ("", r"\setcounter{figure}{3}\begin{figure}\caption{a}\label{f}\end{figure} \ref{f}", "4"),
        ("", r"\begin{enumerate}\item a\item\label{i} b\end{enumerate} \ref{i}", "2"),
        ("", r"\ref{nowhere}", "??"),
    ],
)  # fmt: skip
def test_labels(preamble: str, tex: str, last: str) -> None:
    assert body_of(tex, preamble).split("\n\n")[-1] == last


def test_floats_theorems_notes_and_algorithms() -> None:
    made = body_of(
        r"""\begin{table}\begin{tabular}{l|c}a & b\\\hline c & \makecell{d\\e}\\
\multicolumn{2}{c}{f}\\\end{tabular}\caption{T.}\end{table}
\begin{theorem}[Roe]A note\footnote{N $x$.}.\end{theorem}
\begin{algorithmic}\For{$i<n$}\State $a$ \EndFor\State b\end{algorithmic}
\begin{lstlisting}[language=C]
a % b
\end{lstlisting}"""
    )
    assert made.split("\n\n") == [
        "**Table 1.** T.",
        "| a | b |\n| --- | --- |\n| c | d e |\n| f |  |",
        "**Theorem 1 (Roe).** A note[^1].",
        "[^1]: N $x$.",
        "- **for** $i\\lt n$ do\n  - $a$\n- b",
        "```\na % b\n```",
    ]


# --- references, files ----------------------------------------------------------------------------

BIB = """@string{fish = "Journal of Fish"}
@article{roe, author = {Roe, Jane and Jan van Poe}, title = "{Perch} \\& pike", journal = fish,
  volume = 3, pages={1--9}, year = 2020, doi = {10.1/a_b}}
@misc{doe, author={J. Doe}, title={Uncited}, year={1999}}"""
BIBLATEX = r"""\refsection{0}\entry{roe}{article}{}
\name{author}{1}{}{{{hash=1}{family={Roe},familyi={R\bibinitperiod},given={Jane}}}}
\field{title}{Perch}\field{year}{2020}\verb{doi}
\verb 10.1/a
\endverb
\endentry"""


@pytest.mark.parametrize(
    ("tex", "files", "cited", "listed"),
    [
        (r"\cite[p.~2]{roe}\bibliography{refs}", {"refs__bib": BIB}, "[1, p. 2]",
         "1. Jane Roe, Jan van Poe. Perch & pike. *Journal of Fish* 3, 1–9 (2020). doi:10.1/a_b."),
        (r"\cite{roe}\printbibliography", {"main__bbl": BIBLATEX}, "[1]",
         "1. Jane Roe. Perch. (2020). doi:10.1/a."),
        (r"\citet{a} \citep[see][]{a}\bibliography{x}",
         {"main__bbl": r"\begin{thebibliography}{1}\bibitem[{Roe(2020)}]{a}J. Roe."
                       r"\end{thebibliography}"},
         "Roe (2020) (see Roe, 2020)", "1. J. Roe."),
    ],
)  # fmt: skip
def test_references(tex: str, files: dict[str, str], cited: str, listed: str) -> None:
    assert body_of(tex, **files) == f"{cited}\n\n## References\n\n{listed}"


def test_files_are_read_in_and_only_from_the_submission() -> None:
    files: dict[str, str | bytes] = {
        "paper/main.tex": whole(r"\input{parts/a} \include{b.tex} \input{/etc/hostname} \input{c}"),
        "paper/parts/a.tex": "first",
        "paper/b.tex": r"second\endinput not this",
    }
    assert read(files).markdown.strip() == "first second"


@pytest.mark.parametrize(
    "told",
    [
        {"00README.json": json.dumps({"sources": [{"filename": "b.tex", "usage": "toplevel"}]})},
        {"00README.XXX": "a.tex ignore\nb.tex toplevelfile\n"},
        {"b.bbl": ""},
    ],
)
def test_the_main_file_is_the_one_that_says_so(told: dict[str, str | bytes]) -> None:
    files = {"a.tex": whole("wrong and longer"), "b.tex": whole("right")}
    assert read({**files, **told}).markdown.strip() == "right"


@pytest.mark.parametrize(
    "packed",
    [
        whole("text").encode(),
        whole("text").encode("utf-8-sig"),
        gzip.compress(whole("text").encode()),
        submission({"main.tex": whole("text")}, "w"),
        submission({"main.tex": whole("text"), "._main.tex": b"\0\5\xff"}),
    ],
    # Packed bytes hold the time: as names they would differ from one worker to the next.
    ids=["plain", "with a mark", "gzip", "tar", "tar.gz"],
)
def test_every_form_arxiv_sends_is_read(packed: bytes) -> None:
    assert read(packed).markdown.strip() == "text"


def test_an_old_encoding_is_read() -> None:
    assert read(whole("Müller").encode("latin-1")).markdown.strip() == "Müller"
