r"""Faults that real manuscripts showed, each in an article of our own words."""

from __future__ import annotations

import pytest

from tests.formats.latex_articles import body_of, read, whole

ROES = "@article{roe, author={Roe, Ada}, title={Perch}, year=2020}\n"
POES = "@book{poe, author={Poe, Bo}, title={Lakes}, year=2021}\n"


# --- files ----------------------------------------------------------------------------------------


def test_files_named_without_braces_are_read_in() -> None:
    files = {
        "tab_1.tex": "Nine perch.",
        "refs.tex": r"\begin{thebibliography}{1}\bibitem{a} Roe. Perch.\end{thebibliography}",
    }
    made = read(
        {"main.tex": whole("Counted:\n\\input tab_1.tex\nThen~\\cite{a}.\n\\input refs\n"), **files}
    )
    assert "Counted: Nine perch. Then [1]." in made.markdown
    assert (made.references, made.verdict) == (1, "full_text")


@pytest.mark.parametrize(
    "reads", [r"\input{tables/gone}", r"\input tables/gone ", r"\include{tables/gone}"]
)
def test_a_file_that_did_not_come_leaves_the_paper_partial_by_name(reads: str) -> None:
    made = read(whole(f"Before. {reads} After."))
    assert made.verdict == "partial"
    assert "'tables/gone'" in made.evidence
    assert "Before. After." in made.markdown


def test_files_of_tex_itself_and_pictures_leave_it_whole() -> None:
    body = r"Text. \input{plot.tikz} \InputIfFileExists{extra}{}{} \input{figure.pdf_tex}"
    assert read(whole(body, r"\input{glyphtounicode}\input epsf")).verdict == "full_text"


def test_packages_that_came_along_define_and_do_not_speak() -> None:
    package = r"""\NeedsTeXFormat{LaTeX2e}\ProvidesPackage{shoal}[2024 a style]
\RequirePackage{deep}\newcommand{\perch}[1]{perch (#1)}
\newcommand{\runninghead}{\vbox{\vskip 1in Proceedings of the Lake}}
\def\@noise{noise} \newtheorem{find}{Finding} Leaked words of the package.
\newcommand{\machine}{\@ifnextchar[{\@a}{\@b}}"""
    files = {
        "shoal.sty": package,
        "deep.sty": r"\newcommand{\deep}{deep} More noise.",
        "natbib.sty": r"\def\citep{gone} Noise \input{nowhere}" * 2000,
    }
    body = r"\runninghead A \perch{two} is \deep. \begin{find} It swims.\end{find} \machine"
    made = read({"main.tex": whole(body, r"\usepackage{natbib,shoal}"), **files})
    assert made.markdown == "A perch (two) is deep.\n\n**Finding 1.** It swims.\n"
    assert made.verdict == "full_text"


def test_packages_that_load_each_other_end() -> None:
    files = {f"p{n}.sty": rf"\RequirePackage{{p{(n + 1) % 40}}}" for n in range(40)}
    assert (
        body_of("Text.", r"\usepackage{p0}", **{k.replace(".", "__"): v for k, v in files.items()})
        == "Text."
    )


# --- references -----------------------------------------------------------------------------------


def test_data_files_of_biblatex_give_the_list() -> None:
    preamble = (
        r"\usepackage[backend=biber]{biblatex}\addbibresource{a.bib}\addbibresource[x=1]{b.bib}"
    )
    made = read(
        {
            "main.tex": whole(r"So \cite{poe,roe}.\printbibliography", preamble),
            "a.bib": ROES,
            "b.bib": POES,
        }
    )
    assert made.references == 2
    assert "So [1, 2]." in made.markdown


@pytest.mark.parametrize(("silent", "count"), [(r"\nocite{poe}", 2), (r"\nocite{*}", 2), ("", 1)])
def test_works_listed_but_not_cited_are_in_the_list(silent: str, count: int) -> None:
    source = whole(rf"So \cite{{roe}}.{silent}\bibliography{{a}}")
    assert read({"main.tex": source, "a.bib": ROES + POES}).references == count


# --- tables, signs, formulas ----------------------------------------------------------------------


def test_a_deluxetable_is_a_table_with_caption_head_and_notes() -> None:
    assert body_of(
        r"""\begin{deluxetable*}{lcc}[ht]
\tabletypesize{\small}\tablecolumns{3}\tablewidth{0pt}\tablenum{4}
\tablecaption{Fish of the lake\label{t}}
\tablehead{\colhead{Name} & \colhead{Mass\tablenotemark{a}} & \colhead{Age} \\
 & \colhead{(kg)} & \colhead{(yr)}}
\startdata
Perch & 1.0 & \nodata \\
\cutinhead{Guests}
Eel & 2 & 3
\enddata
\tablenotetext{a}{By scale.}\tablecomments{All swim.}\tablerefs{(1) Roe}
\end{deluxetable*}
See Table~\ref{t}."""
    ) == (
        "**Table 4.** Fish of the lake\n\n"
        "| Name | Mass<sup>a</sup> / (kg) | Age / (yr) |\n| --- | --- | --- |\n"
        "| Perch | 1.0 | … |\n| Guests |  |  |\n| Eel | 2 | 3 |\n\n"
        "<sup>a</sup> By scale.\n\nNote. All swim.\n\nReferences. (1) Roe\n\nSee Table 4."
    )


@pytest.mark.parametrize(
    ("tex", "markdown"),
    [
        (r"\ding{51} \ding{55} \ding{72} \ding{108} \ding{172} \ding{9}", "✓ ✗ ★ ● ①"),
        (r"$\ding{51}$", r"$\text{✓}$"),
        (r"\newgeometry{margin=1in} \geometry{margin=1in} Text.", "Text."),
        (r"\begin{minipage}[t]{0.5\textwidth} a\end{minipage}", "a"),
        (r"\begin{multicols}{2} b\end{multicols}", "b"),
        (r"$\begin{tabular}[c]{@{}c@{}}a\\b\end{tabular}$", r"$\begin{array}{c}a\\b\end{array}$"),
        ((r"\begin{equation} a=\begin{tikzpicture}[x=1] \draw (0,0);\end{tikzpicture}\label{e}"
         r"\end{equation}\ref{e}"),
         "$$a=\\text{[diagram]} \\tag{1}$$\n\n1"),
        ("$a\\ $", "$a$"),
    ],
)  # fmt: skip
def test_signs_and_layout(tex: str, markdown: str) -> None:
    assert body_of(tex) == markdown


@pytest.mark.parametrize(
    ("preamble", "body"),
    [
        (r"\newcommand{\eqlabel}[1]{\label{eq:#1}}\renewcommand{\eqref}[1]{(\ref{eq:#1})}",
         r"\begin{equation}x\eqlabel{a}\end{equation}In \eqref{a}"),
        (r"\def\eqlabel#1{\@ifundefined{x}{\label{#1}}{}}",
         r"\begin{equation}x\eqlabel{a}\end{equation}In (\ref{a})"),
        (r"\newcommand{\eqlabel}[1]{\refstepcounter{equation}\tag{\theequation}\label{#1}}",
         r"\[x\eqlabel{a}\]In \eqref{a}"),
        (r"\def\eqlabel#1{\refstepcounter{equation}\eqno(\theequation)\label{#1}}",
         r"$$x\eqlabel{a}$$In \eqref{a}"),
        (r"\newcommand{\beq}[1]{\begin{equation}\label{#1}}\newcommand{\eeq}{\end{equation}}",
         r"\beq{a}x\eeq In \eqref{a}"),
    ],
)  # fmt: skip
def test_labels_set_by_the_papers_own_commands_are_found(preamble: str, body: str) -> None:
    assert body_of(body, preamble) == "$$x \\tag{1}$$\n\nIn (1)"


def test_paired_delimiters_of_every_kind() -> None:
    preamble = r"""\DeclarePairedDelimiterX{\ip}[2]{\langle}{\rangle}{#1, #2}
\DeclarePairedDelimiterXPP{\E}[1]{\mathbb{E}}{[}{]}{^2}{#1}
\DeclarePairedDelimiter{\norm}{\lVert}{\rVert}"""
    assert body_of(r"$\ip{a}{b}$ $\ip*{a}{b}$ $\norm*{x}$ $\norm[\big]{y}$ $\E{z}$", preamble) == (
        r"$\left\langle a, b\right\rangle$ $\left\langle a, b\right\rangle$ "
        r"$\left\lVert x\right\rVert$ $\left\lVert y\right\rVert$ $\mathbb{E}\left[z\right]^2$"
    )


# --- the front ------------------------------------------------------------------------------------


def test_sections_inside_the_abstract_head_its_parts() -> None:
    parts = r"\section{} We count. \section*{Results:} Many."
    for abstract in (rf"\begin{{abstract}}{parts}\end{{abstract}}", rf"\abstract{{{parts}}}"):
        made = read(whole(rf"{abstract}\maketitle\section{{Intro}} Text."))
        assert (
            made.markdown
            == "## Abstract\n\nWe count.\n\n**Results.** Many.\n\n## 1 Intro\n\nText.\n"
        )


@pytest.mark.parametrize(
    "page",
    [
        r"""\begin{flushleft}{\Large \textbf\newline{Perch count lakes by their shores}}\newline\\
Ada Roe\textsuperscript{1*}, Bo van Poe\textsuperscript{2}\\ \bigskip
\textbf{1} Perch University, Harbour\\ * ada@lake.test\end{flushleft}
\section*{Abstract} We count.""",
        r"""\begin{titlepage}\begin{center}{\LARGE\bf Perch count lakes\\ by their shores}\\[2em]
{\large Ada Roe$^{1}$ and Bo van Poe$^{2}$}\\ {\it $^1$ Perch University} \today\end{center}
\begin{abstract}We count.\end{abstract}\end{titlepage}""",
        r"""\begin{center}\textbf{Perch count lakes by their shores}\end{center}
\begin{center}Ada Roe and Bo van Poe\end{center}\begin{abstract}We count.\end{abstract}""",
    ],
)
def test_title_pages_set_by_hand_say_title_and_authors(page: str) -> None:
    made = read(whole(rf"{page} \section{{Intro}} Text of perch."))
    assert made.title == "Perch count lakes by their shores"
    assert made.authors == ("Roe", "Poe")
    assert made.markdown.startswith(
        "# Perch count lakes by their shores\n\n## Abstract\n\nWe count."
    )
    assert made.markdown.endswith("Intro\n\nText of perch.\n")


def test_large_words_in_the_text_are_no_title() -> None:
    made = read(
        whole(r"\section{Intro} Perch {\Large are very large fish} here.", r"\title{Perch}")
    )
    assert made.title == "Perch"
    assert "Perch are very large fish here." in made.markdown
    assert read(whole(r"\section{Intro} {\Large Perch are very large fish} here.")).title == ""


def test_starred_authors_are_authors() -> None:
    source = (
        r"\title{P}\author*[1,2]{\fnm{Ada} \sur{Roe}}\author[2]{\fnm{Bo} \sur{Poe}}\maketitle Text."
    )
    assert read(whole(source)).authors == ("Roe", "Poe")


# --- what two manuscripts lost, read whole by eye -------------------------------------------------


def test_a_listing_that_begins_with_a_percent_sign_is_all_there_and_ends() -> None:
    listing = "\\begin{lstlisting}\n% catch perch\n\\end{lstlisting}\n"
    body = f"Run\n{listing}in the boat, and \\emph{{then}}\n{listing}ashore."
    made = read(whole(body, r"\usepackage{listings}")).markdown
    assert made.count("```\n% catch perch\n```") == 2
    assert "in the boat, and *then*" in made
    assert "lstlisting" not in made


@pytest.mark.parametrize("option", ["", "[language=C]", "\n[language=C]"])
def test_a_listings_option_is_no_part_of_it(option: str) -> None:
    body = f"\\begin{{lstlisting}}{option}\nperch[1];\n\\end{{lstlisting}}"
    assert body_of(body) == "```\nperch[1];\n```"


def test_and_others_are_et_al_in_list_and_text() -> None:
    entry = "@article{roe, author={Roe, Ada and others}, title={Perch}, year=2020}\n"
    text = whole(r"As \citet{roe} saw \citep{roe}.\bibliography{r}", r"\usepackage{natbib}")
    made = read({"main.tex": text, "r.bib": entry}).markdown
    assert "As Roe et al. (2020) saw (Roe et al., 2020)." in made
    assert "1. Ada Roe et al. Perch. (2020)." in made
    assert "others" not in made


def test_a_work_is_cited_by_the_name_it_was_given() -> None:
    text = whole(
        r"\citet[][hereafter \citetalias{roe}]{roe}. \citetalias{roe} counts"
        r" \citepalias[see][p.~3]{roe}.\bibliography{r}",
        r"\usepackage{natbib}\defcitealias{roe}{R20}",
    )
    made = read({"main.tex": text, "r.bib": ROES}).markdown
    assert "Roe (2020, hereafter R20). R20 counts (see R20, p. 3)." in made


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (r"start at Appendix~A on page~\pageref{x} or later.", "start at Appendix A or later."),
        (r"advice in Section 4 starting on page \pageref{x}.", "advice in Section 4."),
        (r"as told (see page~\pageref{x}).", "as told."),
        (r"as told, p.~\pageref{x}, too.", "as told, too."),
        (r"homepage \pageref{x}.", "homepage ."),
    ],
)
def test_pages_that_a_text_does_not_have_are_not_announced(said: str, left: str) -> None:
    assert body_of(said) == left


def test_journals_that_astronomers_abbreviate_are_named() -> None:
    style = r"\def\ref@jnl#1{{\rmfamily #1}}\newcommand\apj{\ref@jnl{ApJ}}"
    body = r"""Text~\cite{a}.
\begin{thebibliography}{1}\bibitem{a} Roe, 2012, \apj, 753, 148, \mnras\ 3\end{thebibliography}"""
    for files in ({}, {"shoal.sty": style}):
        made = read({"main.tex": whole(body, r"\usepackage{shoal}"), **files}).markdown
        assert "Roe, 2012, ApJ, 753, 148, MNRAS 3" in made
    assert body_of(r"\newcommand{\nat}{numbers}All \nat.") == "All numbers."


def test_commands_in_an_address_are_spelled_out() -> None:
    text = (
        r"\newcommand{\code}{perch\_count}\newcommand{\site}{https://e.org}At \url{\site/\code/x}."
    )
    assert body_of(text) == "At https://e.org/perch_count/x."


def test_a_table_of_three_arguments_has_caption_number_and_notes() -> None:
    body = r"""\firstpage{1}See Table~\ref{t}.
\begin{table}\processtable{Perch by lake}{\label{t}\begin{tabular}{ll}
Lake & Count\\ \hline Mere & 3\end{tabular}}{Counted at noon.}\end{table}"""
    made = body_of(body)
    assert "See Table 1." in made
    assert "**Table 1.** Perch by lake\n\n| Lake | Count |" in made
    assert made.endswith("Counted at noon.")
