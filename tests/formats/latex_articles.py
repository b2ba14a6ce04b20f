r"""Articles in LaTeX written for this project, each part beside what print makes of it.

An article is a list of parts, so that what a reader must bring out is known by construction: the
words as printed (numbers of references filled in), the formulas with the authors' commands spelled
out, and how many references there are.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass, field

from utils.formats import latex
from utils.model.paper import Document, Fetched


@dataclass(frozen=True)
class Part:
    """A piece of source, the words print makes of it, the formulas in it."""

    tex: str
    printed: str = ""
    formulas: tuple[str, ...] = ()


@dataclass(frozen=True)
class Article:
    """A submission and what is true of it."""

    parts: tuple[Part, ...]
    references: int
    files: dict[str, str] = field(default_factory=dict)

    @property
    def tex(self) -> str:
        """The main file."""
        return "\n".join(part.tex for part in self.parts)

    @property
    def words(self) -> str:
        """All that print says, formulas left out."""
        return "\n".join(part.printed for part in self.parts)

    @property
    def formulas(self) -> tuple[str, ...]:
        """Every formula in it."""
        return tuple(formula for part in self.parts for formula in part.formulas)

    def packed(self) -> bytes:
        """As arXiv would send it."""
        return submission({"main.tex": self.tex, **self.files})


def submission(files: dict[str, str | bytes], mode: str = "w:gz") -> bytes:
    """A tar of these files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            body = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(name)
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return packed.getvalue()


def read(source: str | bytes | dict[str, str | bytes]) -> Document:
    """What the reader makes of a source."""
    body = submission(source) if isinstance(source, dict) else source
    body = gzip.compress(body.encode()) if isinstance(body, str) else body
    return latex.read(Fetched(body, "latex", "", "arxiv", "arxiv_source"))


def whole(body: str, preamble: str = "") -> str:
    """A document around a body."""
    return (
        f"\\documentclass{{article}}\n{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    )


def body_of(body: str, preamble: str = "", **files: str | bytes) -> str:
    """The markdown of a body."""
    named = {name.replace("__", "."): text for name, text in files.items()}
    return read({"main.tex": whole(body, preamble), **named}).markdown.rstrip("\n")


PERCH = Article(
    (
        Part(
            r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,amsthm,graphicx,booktabs,multirow}
% \begin{document} in a comment begins nothing
\newcommand{\R}{\mathbb{R}}
\newcommand{\norm}[1]{\left\lVert #1\right\rVert}
\newcommand{\ip}[2]{\langle #1,#2\rangle}
\newcommand{\set}[2][x]{\{#1\mid #2\}}
\def\eps{\varepsilon}
\newcommand{\be}{\begin{equation}}
\newcommand{\ee}{\end{equation}}
\DeclareMathOperator{\tr}{tr}
\newtheorem{theorem}{Theorem}[section]
\newtheorem{lemma}[theorem]{Lemma}
\theoremstyle{definition}
\newtheorem{definition}{Definition}
\newif\ifdraft\draftfalse"""
        ),
        Part(
            r"\title{Spectral gaps of perch shoals in $\R^n$\thanks{Paid by nobody.}}",
            "Spectral gaps of perch shoals in",
            (r"\mathbb{R}^n",),
        ),
        Part(
            r"\author{Ada M\"uller \and Jos\'e \'Alvarez \and Wei Zhang}\begin{document}\maketitle"
        ),
        Part(
            r"""\begin{abstract}
We bound the spectral gap of the shoal operator $A_\eps$ from below --- and show that ``perch''
do so in $5\%$ of all lakes.\end{abstract}""",
            "Abstract We bound the spectral gap of the shoal operator from below and show that "
            "perch do so in of all lakes",
            (r"A_\varepsilon", r"5\%"),
        ),
        Part(r"\ifdraft This draft is not for print.\else\fi"),
        Part(r"\section{Introduction}\label{sec:intro}", "1 Introduction"),
        Part(
            r"""Perch live in lakes~\cite{roe,doe}. Their shoals were counted in
Section~\ref{sec:main}, see \eqref{eq:main}, Figure~\ref{fig:gap}, Table~\ref{tab:data}
and Theorem~\ref{thm:gap}.""",
            "Perch live in lakes 1 2 Their shoals were counted in Section 2 see 1 Figure 1 Table 1 "
            "and Theorem 2.1",
        ),
        Part(
            r"""Na\"{\i}ve counts at \v{S}koda bay and \O{}resund are {\bf wrong} or \emph{late} by
10\,km, if $a<b$.\footnote{Not at $x^2$ though.} % nobody reads this""",
            "Naïve counts at Škoda bay and Øresund are wrong or late by 10 km if Not at though",
            ("a<b", "x^2"),
        ),
        Part(
            r"""\be \norm{u}^2=\ip{u}{A_\eps u}\label{eq:main} \ee where $u\in\set{x\in\R^n}$.""",
            "1 where",
            (
                r"\left\lVert u\right\rVert^2=\langle u,A_\varepsilon u\rangle",
                r"u\in\{x\mid x\in\mathbb{R}^n\}",
            ),
        ),
        Part(
            r"\begin{align} a&=b+c\label{eq:a}\\ e&=\tr f\label{eq:b}\end{align}",
            "2 3",
            ("a=b+c", r"e=\operatorname{tr}f"),
        ),
        Part(
            r"\section{Main result}\label{sec:main}\subsection{Setting}",
            "2 Main result 2.1 Setting",
        ),
        Part(
            r"\begin{definition}A shoal is \emph{dense} if $\rho>1$.\end{definition}",
            "Definition 1 A shoal is dense if",
            (r"\rho>1",),
        ),
        Part(
            r"""\begin{theorem}[Gap]\label{thm:gap} Let $u$ be as in \eqref{eq:a} and \eqref{eq:b}.
Then the gap is positive.\end{theorem}""",
            "Theorem 2.1 Gap Let be as in 2 and 3 Then the gap is positive",
            ("u",),
        ),
        Part(
            r"\begin{proof}By Lemma~\ref{lem:old}, which is old.\end{proof}",
            "Proof By Lemma 2.2 which is old",
        ),
        Part(
            r"\begin{lemma}\label{lem:old} Shoals are old.\end{lemma}", "Lemma 2.2 Shoals are old"
        ),
        Part(
            r"""\begin{itemize}\item Small shoals. \item Large shoals
\begin{enumerate}\item of perch, \item of pike. \end{enumerate}\end{itemize}""",
            "Small shoals Large shoals 1 of perch 2 of pike",
        ),
        Part(
            r"""\begin{table}\centering\caption{Lengths of perch.}\label{tab:data}
\begin{tabular}{lcc}\toprule
\multirow{2}{*}{Lake} & \multicolumn{2}{c}{Length} \\ \cmidrule(lr){2-3}
 & least & most \\ \midrule Saimaa & 12 & 45 \\ Inari & $|x|$ & 41 \\ \bottomrule
\end{tabular}\end{table}""",
            "Table 1 Lengths of perch Lake Length least Length most Saimaa 12 45 Inari 41",
            ("|x|",),
        ),
        Part(
            r"""\begin{figure}\includegraphics[width=\textwidth]{gap.pdf}
\caption[Short]{The gap of lake Inari \cite{doe}.}\label{fig:gap}\end{figure}""",
            "Figure 1 The gap of lake Inari 2",
        ),
        Part(r"\appendix\section{Older shoals}", "Appendix A Older shoals"),
        Part(r"They satisfy \[\int_0^1 f\,dx=1.\]", "They satisfy", (r"\int_0^1f\,dx=1.",)),
        Part(
            r"\section*{Acknowledgments} Thanks to all perch.",
            "Acknowledgments Thanks to all perch",
        ),
        Part(
            r"""\begin{thebibliography}{9}
\bibitem{roe} J.~Roe and K.~Poe. \newblock {\em Lakes of the north}. 2020.
\bibitem{doe} J.~Doe. \newblock Counting fish. \emph{Fish}, 12:1--9, 2019.
\end{thebibliography}\end{document}""",
            "References J. Roe and K. Poe. Lakes of the north. 2020. J. Doe. Counting fish. Fish, "
            "12:1–9, 2019.",
        ),
    ),
    2,
)

HARBOUR = Article(
    (
        Part(
            r"""\documentclass{article}\usepackage{natbib,amsmath,hyperref}
\input{macros}
\title{Learning to read harbour logs}
\author{Mia de Vries\\ Port University\\ \texttt{mia@port.test}}
\begin{document}\maketitle""",
            "Learning to read harbour logs",
        ),
        Part(
            r"\begin{abstract}\sys{} reads old logs of ships, with \sys{} small.\end{abstract}",
            "Abstract LogNet reads old logs of ships with LogNet small",
        ),
        Part(r"\input{sections/method}"),
        Part(
            "",
            "1 Method The loss of a page is 1 with in Eq 1 following Smith et al. 2018 and others "
            "Jones and Brown 2021 Smith et al. 2018 see LogNet-2 here",
            (
                r"\mathcal{L}(\theta)=-\sum_{i=1}^{N}\log p_\theta(y_i\mid x_i)",
                r"x_i\in\mathbb{R}^{d}",
            ),
        ),
        Part(
            r"\section{Results}\paragraph{Speed.} It reads 3 pages in a second.",
            "2 Results Speed. It reads 3 pages in a second",
        ),
        Part(
            r"\begin{description}\item[Old] before 1800 \item[New] after\end{description}",
            "Old before 1800 New after",
        ),
        Part(r"See \href{https://port.test/a_b}{the site}.", "See the site"),
        Part(r"\bibliographystyle{plainnat}\bibliography{refs}\end{document}"),
        Part(
            "",
            "References Ann Smith, Bo Lee, and Cy Ray. Reading logs. Journal of Logs, 4:1–20, "
            "2018. Dan Jones and Eve Brown. Old pages. 2021.",
        ),
    ),
    2,
    {
        "macros.tex": "\\newcommand{\\sys}{LogNet}\n\\newcommand{\\loss}{\\mathcal{L}(\\theta)}\n"
        "\\newcommand{\\Rd}{\\mathbb{R}^{d}}\n",
        "sections/method.tex": "\\section{Method}\\label{sec:m}\nThe loss of a page is\n"
        "\\begin{equation}\\loss=-\\sum_{i=1}^{N}\\log p_\\theta(y_i\\mid x_i)\\label{eq:l}"
        "\\end{equation}\nwith $x_i\\in\\Rd$ in Eq.~\\ref{eq:l}, following \\citet{smith} and "
        "others \\citep{jones,smith}, see \\sys-2 here.\n",
        "main.bbl": "\\begin{thebibliography}{2}\n"
        "\\bibitem[Smith et~al.(2018)Smith, Lee, and Ray]{smith}\nAnn Smith, Bo Lee, and Cy Ray.\n"
        "\\newblock Reading logs.\n\\newblock \\emph{Journal of Logs}, 4:\\penalty0 1--20, 2018."
        "\n\n"
        "\\bibitem[Jones and Brown(2021)]{jones}\nDan Jones and Eve Brown.\n"
        "\\newblock Old pages.\n\\newblock 2021.\n\\end{thebibliography}\n",
    },
)
ARTICLES = {"perch": PERCH, "harbour": HARBOUR}

TIDE = Article(
    (
        Part(
            r"""\documentclass[aps,prl]{revtex4-2}\usepackage{amsmath,algpseudocode}
\newcommand{\tide}[2][0]{T_{#2}^{(#1)}}\def\kms{km\,s$^{-1}$}
\begin{document}\title{Tides of the outer bank}\author{Nora Aalto}
\affiliation{Institute of Nothing}
\begin{abstract}We follow the tides of the outer bank for nine years.\end{abstract}\maketitle""",
            "Tides of the outer bank Abstract We follow the tides of the outer bank for nine years",
        ),
        Part(
            r"\section{The bank}\label{bank} It drifts \cite{roe} by \verb|drift_v2| at 3 \kms.",
            "I. The bank It drifts 1 by drift_v2 at 3 km s",
            ("^{-1}",),
        ),
        Part(
            r"\begin{subequations}\begin{align}\tide{a}&=1\label{low}\\ \tide[1]{b}&=2\label{high}"
            r"\end{align}\end{subequations}",
            "1a 1b",
            ("T_{a}^{(0)}=1", "T_{b}^{(1)}=2"),
        ),
        Part(
            r"Eqs.~\eqref{low} and \eqref{high} of Sec.~\ref{bank} hold \cite{poe,roe}.",
            "Eqs. 1a and 1b of Sec. I hold 2 1",
        ),
        Part(
            r"""\begin{quote}Nobody swims there.\end{quote}
\begin{enumerate}\item\label{one} Low water. \item High water, unlike~\ref{one}.\end{enumerate}
\begin{algorithmic}\For{each tide}\State wait\EndFor\end{algorithmic}""",
            "Nobody swims there 1 Low water 2 High water unlike 1 for each tide do wait",
        ),
        Part(
            r"""\begin{table}\begin{tabular}{l|cc}\hline Year & Low & High\\\hline
1 & \multicolumn{2}{c}{none}\\ 2 & 4 & 5\\\hline\end{tabular}
\caption{Tides by year.}\end{table}\bibliography{tides}\end{document}""",
            "Table I Tides by year Year Low High 1 none 2 4 5",
        ),
        Part(
            "",
            "References Jo Roe. Drifting banks. Sea and Shore 4 2001. Al Poe. Holding banks. 2002.",
        ),
    ),
    2,
    {
        "tides.bib": '@string{sas = "Sea and Shore"}\n'
        "@article{roe, author={Roe, Jo}, title={Drifting {B}anks}, journal=sas, volume=4,"
        " year=2001}\n@comment{nothing}\n"
        "@book{poe, title={Holding banks}, author={Al Poe}, year=2002}\n"
        "@book{uncited, title={Other banks}, author={Al Poe}, year=2003}\n"
    },
)
