"""Sources made to break readers: our own errors only, nothing written, work that ends.

That work grows with the source and not with its square is seen by counting lines of Python run, for
nothing, n and 4 n of a construct.
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import some
from tests.formats.latex_articles import HARBOUR, PERCH, read, submission, whole
from tests.formats.test_any_input import SAME, often
from tests.formats.test_html_work import lines_run
from utils.errors import BadContent, PaperError
from utils.formats.latex import submission as unpacking

COMMANDS = [
    *("\\section{", "\\begin{", "\\end{", "\\newcommand{\\a}", "\\def\\a#1{", "\\a", "\\input{"),
    *("\\item[", "\\footnote{", "\\cite{", "\\ref{", "\\verb|", "$", "$$", "\\[", "\\]", "{", "}"),
    *("&", "\\\\", "%", "\n\n", "\\begin{tabular}{ll}", "\\end{tabular}", "\\begin{itemize}", "#1"),
    *(
        "\\begin{align}",
        "\\end{align}",
        "\\multicolumn{3}{c}{",
        "\\multirow{9}{*}{",
        "\\if",
        "\\fi",
    ),
    *("\\if", "\\fi"),
    *("\\else", "\\let\\a=", "\\newenvironment{a}{", "\\bibitem{a}", "\\begin{document}", "[", "]"),
    *(
        "\\caption{",
        "\\label{a}",
        "\\'",
        "\\bf ",
        "\\newif\\ifa",
        "\\url{",
        "\\author{",
        "\\title{",
    ),
    *(
        "\\abstract{",
        "\\hskip",
        "\\end{document}",
        "~",
        "^",
        "_",
        "\\",
        "\\appendix",
        "é",
        "\ue001",
    ),
    *("\\begin{thebibliography}{9}", "\\bibliography{a}", "\\begin{verbatim}", "a.b", "\\tag{1}"),
]


def harmless(body: bytes) -> None:
    """Read it: a document that can be kept, or an error that can be shown."""
    try:
        json.dumps(dataclasses.asdict(read(body)), ensure_ascii=False).encode("utf-8")
    except PaperError as error:
        json.dumps(error.envelope(), ensure_ascii=False).encode("utf-8")


def outcome(body: bytes) -> str:
    """The reader's verdict, or why it refused."""
    try:
        return read(body).verdict
    except BadContent as refused:
        return str(refused.outcome)


@often(60, **SAME)
@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    harmless(body)
    harmless(gzip.compress(body))
    harmless(submission({"main.tex": b"\\documentclass{article}" + body}))


@often(150, **SAME)
@given(st.lists(st.sampled_from(COMMANDS), max_size=60))
def test_any_row_of_commands_is_read(commands: list[str]) -> None:
    harmless(gzip.compress(("\\documentclass{article}" + "".join(commands)).encode()))
    harmless(gzip.compress(whole(" ".join(commands)).encode()))


@often(60, **SAME)
@given(st.data())
def test_a_broken_submission_is_read_or_refused(data: st.DataObject) -> None:
    body = bytearray(data.draw(st.sampled_from([PERCH, HARBOUR])).packed())
    for _ in range(data.draw(st.integers(0, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    harmless(bytes(body[: data.draw(st.integers(0, len(body)))]))


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_a_truncated_archive_is_never_taken_for_whole(mode: str) -> None:
    whole_one = submission({"main.tex": PERCH.tex, "x.tex": "% x" * 9000}, mode)
    for share in (0.5, 0.9):
        cut = whole_one[: int(share * len(whole_one.rstrip(b"\0")))]
        assert outcome(cut) in ("partial", "not_a_paper")


def test_no_file_is_written_and_no_link_followed(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind, target in (
            ("../out.tex", tarfile.REGTYPE, ""),
            ("/abs.tex", tarfile.REGTYPE, ""),
            ("link.tex", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard.tex", tarfile.LNKTYPE, "main.tex"),
            ("device", tarfile.CHRTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member, io.BytesIO())
        body = whole(r"text \input{link} \input{hard} \input{../out} \input{device}").encode()
        member = tarfile.TarInfo("main.tex")
        member.size = len(body)
        archive.addfile(member, io.BytesIO(body))
    assert read(packed.getvalue()).markdown.strip() == "text"
    assert not list(tmp_path.iterdir())


def test_what_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_MOST_UNPACKED", 1_000_000)
    monkeypatch.setattr(unpacking, "_MOST_TEXT", 500_000)
    picture = submission({"main.tex": whole("text"), "a.png": bytes(2_000_000)})
    with pytest.raises(BadContent, match="unpacks to more"):
        read(picture)
    assert read(submission({"main.tex": whole("text"), "a.bib": bytes(600_000)})).markdown
    many: dict[str, str | bytes] = {f"{n}.tex": "" for n in range(unpacking._MOST_FILES + 1)}
    with pytest.raises(BadContent, match="unpacks to more"):
        read(many)


@pytest.mark.parametrize("body", [b"%PDF-1.7", b"%!PS-Adobe", b"PK\x03\x04", b"", b"<html>", b"x"])
def test_what_is_no_tex_is_refused(body: bytes) -> None:
    with pytest.raises(BadContent) as caught:
        read(body)
    assert caught.value.outcome in ("not_a_paper", "empty")


@pytest.mark.parametrize(
    ("preamble", "body"),
    [
        (r"\def\a{\b\b}\def\b{\a\a}", r"\a"),
        (r"\def\a{x\b}\def\b{\a}", r"\a"),
        (r"\newcommand{\a}[1]{\b{#1#1}}\newcommand{\b}[1]{\a{#1#1}}", r"\a{xy}"),
        (r"\newenvironment{a}{\begin{b}}{}\newenvironment{b}{x\begin{a}}{}", r"\begin{a}"),
        ("".join(rf"\def\{a}{{\{b}\{b}\{b}\{b}}}"
                 for a, b in zip("abcdefghij", "bcdefghijk", strict=True))
         + r"\def\k{word }", r"\a"),
        ("", r"\input{main}\input{main}"),
        (r"\newcommand{\a}[1]{#1}", "\\a{" * 3000 + "b" + "}" * 3000),
    ],
)  # fmt: skip
def test_what_calls_itself_ends(preamble: str, body: str) -> None:
    source = submission({"main.tex": whole(f"begins {body}", preamble)})
    assert outcome(source) in ("partial", "full_text")
    assert len(read(source).markdown) < 5_000_000


GROWING: dict[str, Callable[[int], str]] = {
    "words": lambda n: "a b\n\n" * n,
    "sections": lambda n: r"\section{a}\label{b} c \ref{b} " * n,
    "groups": lambda n: "{\\bf a " * n + "}" * n,
    "braces nobody closes": lambda n: "\\textbf{a " * n,
    "arguments nobody closes": lambda n: "\\section{a \\footnote{b " * n,
    "brackets nobody closes": lambda n: "\\item[a \\cite[b " * n,
    "labels nobody closes": lambda n: "\\label{a \\ref{b \\begin{c " * n,
    "environments nobody ends": lambda n: "\\begin{itemize}\\item a \\begin{quote}b " * n,
    "ends of nothing": lambda n: "\\begin{center}" * n + "\\end{quote} a " * n,
    "formulas": lambda n: "$a_b$ \\[c\\] \\begin{align}d\\\\e\\end{align} " * n,
    "a formula nobody ends": lambda n: "$ \\begin{align} a & b \\\\ " * n,
    "tables": lambda n: "\\begin{tabular}{ll}a & b\\\\ c & d\\end{tabular}" * n,
    "a table": lambda n: "\\begin{tabular}{ll}" + "a & b\\\\\\hline " * n + "\\end{tabular}",
    "tables in a cell": lambda n: (
        "\\begin{tabular}{l}" + "\\begin{tabular}{l}a\\end{tabular}" * n + "\\end{tabular}"
    ),
    "spans": lambda n: (
        "\\begin{tabular}{l}" + "\\multirow{999}{*}{a}&\\multicolumn{99}{c}{b}\\\\" * n
        + "\\end{tabular}"
    ),
    "macros": lambda n: "\\newcommand{\\a}[1]{#1 b}" + "\\a{c} " * n,
    "conditionals": lambda n: "\\iffalse a \\else b \\fi " * n,
    "conditionals nobody ends": lambda n: "\\iffalse a " * n,
    "notes": lambda n: "a\\footnote{b}\n\n" * n,
    "references": lambda n: (
        "\\cite{a} " * n + "\\begin{thebibliography}{9}"
        + "".join(f"\\bibitem{{k{i}}} b " for i in range(n)) + "\\end{thebibliography}"
    ),
    "verbatim nobody ends": lambda n: "\\begin{verbatim} a " * n,
    "counters": lambda n: "".join(f"\\newtheorem{{t{i}}}{{T}}[section]" for i in range(n)),
}  # fmt: skip


@pytest.mark.parametrize("name", some(GROWING))
def test_lines_run_grow_with_the_source_only(name: str) -> None:
    def work(size: int) -> object:
        return harmless(whole("x " + GROWING[name](size)).encode())

    work(10)  # imports, compiled patterns
    none, once, four = (lines_run(partial(work, size)) for size in (0, 100, 400))
    assert four - once <= 3.3 * (once - none) + 2000
