"""LaTeX sources as markdown, by pandoc: text, citations, figures, tables, files, limits."""

import gzip
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fixtures import fixture_text
from tests.own_words import prose
from tests.readers.submissions import fetch, pack, wrap
from utils import readers as formats
from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Author, Paper
from utils.readers import latex, pandoc, reader_processes

needs_pandoc = pytest.mark.extras("pypandoc")

PERCH = fixture_text("readers/latex_perch.tex")
FILES = {
    "main.tex": PERCH,
    "macros.tex": r"\newcommand{\eps}{\varepsilon}",
    "shoal.sty": "\\ProvidesPackage{shoal} Leaked words.\n"
    "\\newcommand{\\norm}[1]{\\lVert #1\\rVert}\n\\def\\@inner{noise}\n",
    "main.bbl": r"""\begin{thebibliography}{9}\providecommand{\natexlab}[1]{#1}
\bibitem[Roe et~al.(2020)Roe, Poe]{roe} J.~Roe and K.~Poe. \newblock {\em Lakes of the north}. 2020.

\bibitem{doe}\bibinfo{author}{\bibfnamefont{J.}~\bibnamefont{Doe}},
\href@noop {} {\bibinfo{journal}{Fish}} \textbf{12}, 1.\BibitemShut{NoStop}
\end{thebibliography}""",
}
MARKDOWN = fixture_text("readers/latex_markdown.md")


def body_of(body: str, **files: str) -> str:
    """Return the markdown of a body; ``refs__bib`` names the file ``refs.bib``."""
    named = {name.replace("__", "."): text for name, text in files.items()}
    return latex.read_document(fetch({"main.tex": wrap(body), **named})).markdown


@needs_pandoc
def test_a_paper_is_read_with_its_files_in_the_conventions_of_all_readers() -> None:
    made = latex.read_document(fetch(FILES))
    assert made.markdown.replace("\u00a0", " ") == MARKDOWN
    assert made.title == r"Spectral gaps of perch shoals in $\mathbb{R}^n$"
    assert made.authors == ("Müller", "Álvarez")
    assert made.abstract == r"We bound the gap of $A_\varepsilon$ in $5\%$ of all lakes."
    assert (made.references, made.verdict) == (2, "full_text")


@needs_pandoc
def test_both_judges_take_it_and_refuse_it_for_another_paper() -> None:
    long = FILES | {
        "main.tex": PERCH.replace(r"\paragraph", rf"{prose(900)} Table 1 has more. \paragraph")
    }
    title, authors = "Spectral gaps of perch shoals in R^n", (Author("Müller"), Author("Álvarez"))
    record = Paper(Ids(arxiv="2601.00001"), title=title, authors=authors)
    document = formats.read_and_judge(fetch(long), record)
    assert (document.verdict, document.extractor) == ("full_text", "latex 4")
    another = Paper(Ids(arxiv="2601.00002"), title="A theory of harbours and their logs")
    with pytest.raises(BadContent) as caught:
        formats.read_and_judge(fetch(long), another)
    assert caught.value.outcome == "wrong_paper"


@needs_pandoc
def test_it_is_read_in_a_reading_process_as_here() -> None:
    record = Paper(Ids(), title="Spectral gaps of perch shoals")
    fetched = fetch(
        FILES
        | {"main.tex": PERCH.replace("Perch live", f"Perch live. {prose(900)} Table 1 has more. ")}
    )
    try:
        assert reader_processes.read_and_judge_in_child(fetched, record) == formats.read_and_judge(
            fetched, record
        )
    finally:
        reader_processes._get_child_pool().stop_idle_children()


@needs_pandoc
def test_a_bibtex_file_gives_the_references_where_there_is_no_list() -> None:
    bib = "@article{roe, author={Roe, Ada}, title={Perch}, journal={Fish}, year=2020}"
    made = body_of(r"So it is \cite{roe}.\bibliography{refs}", refs__bib=bib)
    assert made == ("So it is (Roe 2020).\n\n## References\n\n1.  Roe, Ada. 2020. “Perch.” *Fish*.")


@needs_pandoc
def test_a_broken_bibtex_file_costs_the_references_only() -> None:
    made = body_of(r"So it is \cite{roe}.\bibliography{refs}", refs__bib="@article{roe, author={")
    assert made.startswith("So it is")


@needs_pandoc
@pytest.mark.parametrize(
    "reads", [r"\input{tables/gone}", r"\input tables/gone ", r"\include{tables/gone}"]
)
def test_a_file_that_did_not_come_leaves_the_paper_partial_by_name(reads: str) -> None:
    made = latex.read_document(fetch(wrap(f"Before. {reads} After.")))
    assert (made.verdict, "'tables/gone'" in made.evidence) == ("partial", True)
    assert made.markdown.split() == ["Before.", "After."]


@needs_pandoc
def test_files_are_read_in_from_the_submission_only(tmp_path: Path) -> None:
    secret = tmp_path / "secret.tex"
    secret.write_text("secret words", encoding="utf-8")
    files = {
        "paper/main.tex": wrap(
            rf"\input{{parts/a}} \include{{b.tex}} \input{{{secret}}} \input{{../../{secret}}}"
            rf"\usepackage{{{secret.with_suffix('')}}} \lstinputlisting{{{secret}}}"
        ),
        "paper/parts/a.tex": "first",
        "paper/b.tex": "second",
    }
    made = latex.read_document(fetch(files)).markdown
    assert made.startswith(("first\n\nsecond", "first second"))
    assert "secret words" not in made


@needs_pandoc
def test_pandoc_itself_opens_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.tex").write_text("secret words", encoding="utf-8")
    try:
        parsed = str(pandoc.parse_latex(rf"a \input{{{tmp_path}/secret.tex}} b"))
    except BadContent:
        return
    assert "secret words" not in parsed


@pytest.mark.slow
@needs_pandoc
@pytest.mark.parametrize(
    "source",
    [
        wrap(r"\a", r"\def\a{\b\b}\def\b{\a\a}"),
        {"main.tex": wrap(r"\input{main}\input{main}")},
        {f"f{n}.tex": wrap(rf"\input{{f{n + 1}}}" * 9) for n in range(9)},
        wrap("\\textbf{a " * 30_000),
        wrap(r"\begin{tabular}{l}" + "a & " * 5000 + r"\end{tabular}"),
        wrap("word", "".join(rf"\def\{a}{{\{b}\{b}\{b}\{b}}}" for a, b in zip(
            "abcdefghij", "bcdefghijk", strict=True)) + r"\def\k{word }") + r"\a",
    ],
    ids=["macros", "files", "many files", "groups", "columns", "growth"],
)  # fmt: skip
def test_a_source_made_to_break_readers_is_read_or_refused(
    source: str | Mapping[str, str | bytes],
) -> None:
    try:
        made = latex.read_document(fetch(source)).markdown
    except BadContent as refused:
        made = str(refused.outcome)
    assert len(made) < 5_000_000


@needs_pandoc
def test_pandoc_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        started.append(real(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(pandoc, "_DEADLINE_S", 0)
    with pytest.raises(BadContent, match="cannot read") as caught:
        latex.read_document(fetch(wrap("word " * 200_000)))
    assert caught.value.outcome == "not_a_paper"
    assert [one.returncode is not None for one in started] == [True]


@needs_pandoc
def test_a_source_cut_off_is_a_part() -> None:
    cut = pack({"main.tex": wrap("word"), "z.tex": "%" * 90_000}, "w")[:-60_000]
    assert latex.read_document(fetch(cut)).verdict == "partial"
    assert latex.read_document(fetch(gzip.compress(wrap("word").encode()))).verdict == "full_text"


def test_without_the_extra_a_source_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pandoc, "find_pandoc_path", lambda: "")
    with pytest.raises(BadContent) as caught:
        latex.read_document(fetch(FILES))
    assert "papershelf[latex]" in caught.value.hint
