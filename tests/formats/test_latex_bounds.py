"""What a small source may cost: the text it becomes, the memory it takes, the work it makes.

Each source here once became thousands of times itself. Work is counted in lines of Python run or
in calls, never timed.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest

from tests.formats.latex_articles import body_of, read, whole
from tests.formats.test_html_work import lines_run
from utils.errors import BadContent
from utils.formats.latex import references
from utils.formats.latex import submission as unpacking
from utils.formats.latex.tokens import TokenStream

MANY = 400
CITING = r"\cite{" + ",".join(f"k{n}" for n in range(MANY)) + r"}\bibliography{r}"


def growth(files: dict[str, str | bytes]) -> float:
    """Characters of markdown for each of the source."""
    size = sum(map(len, files.values()))
    return len(read(files).markdown) / size


# --- counters -------------------------------------------------------------------------------------


def test_patterns_that_hold_each_other_are_written_in_few_steps() -> None:
    names = "abcd"
    preamble = r"\renewcommand{\thesection}{\thea}" + "".join(
        rf"\newcommand{{\the{name}}}" + "{" + rf"\the{following}" * 12 + "}"
        for name, following in zip(names, names[1:] + "e", strict=True)
    )
    for last in ("", r"\newcommand{\thee}{}", r"\newcommand{\thee}{\arabic{section}}"):
        work = partial(body_of, r"\section{x}", preamble + last)
        work()
        assert lines_run(work) < 30_000


def test_a_number_is_no_longer_than_any_that_is_printed() -> None:
    preamble = r"\renewcommand{\thesection}{\thea\thea}\newcommand{\thea}{\Roman{section}-x }"
    assert body_of(r"\section{x}", preamble) == "## I-xI-x. x"
    long = r"\renewcommand{\thesection}{" + "1" * 150 + "}"
    assert body_of(r"\section{x}", long) == f"## {'1' * 40} x"


@pytest.mark.parametrize("outer", [lambda n: f"a{n}", lambda n: "section"])
def test_a_step_does_not_pass_every_counter_for_each(outer: Callable[[int], str]) -> None:
    chain = r"\numberwithin{a0}{section}" + "".join(
        rf"\numberwithin{{a{n + 1}}}{{{outer(n)}}}" for n in range(290)
    )
    work = [partial(body_of, chain + r"\section{x}" * n) for n in (1, 11)]
    work[0]()
    one, more = map(lines_run, work)
    assert more - one < 10 * 3000


def test_counters_begin_anew_with_those_around_them_only() -> None:
    preamble = r"\newtheorem{a}{A}[section]\newtheorem{b}{B}[a]\numberwithin{section}{b}"
    body = r"\section{x}\begin{a}p\end{a}\begin{b}q\end{b}\section{y}\begin{b}r\end{b}"
    markdown = body_of(body, preamble.replace(r"\numberwithin{section}{b}", ""))
    assert [line[:12] for line in markdown.split("\n\n")] == [
        *("## 1 x", "**A 1.1.** p", "**B 1.1.1.**", "## 2 y", "**B 2.0.1.**"),
    ]
    assert body_of(body, preamble)  # and a circle ends


# --- references -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        "@a{%s,title={",
        '@a{%s,title="',
        "@a{%s,author={",
        "@a{%s,title={}",
        "@a{%s,title=s#s#s#s#s#s#s#s}",
        "@a{%s,title=s#s#s#s,journal=s#s#s,author=s#s}",
    ],
)
def test_a_bib_file_becomes_no_more_than_it_is(entry: str) -> None:
    entries = "".join(entry % f"k{n}" for n in range(MANY))
    for strings in ("@string{s={" + "x" * 3000 + "}}", ""):
        assert growth({"main.tex": whole(CITING), "r.bib": strings + entries}) < 5


@pytest.mark.parametrize(
    "entry",
    [
        r"\entry{k%d}{a}\field{title}{",
        r"\entry{k%d}{a}\name{author}{{family={",
        r"\entry{k%d}{a}\name{author}{" + "family={given={" * 40 + "}",
        r"\entry{k%d}{a}\name{author}{1}{}{" + "family={given={" * 40,
    ],
)
def test_a_list_of_biblatex_becomes_no_more_than_it_is(entry: str) -> None:
    entries = "".join(entry % n for n in range(MANY))
    assert growth({"main.tex": whole(CITING), "main.bbl": entries}) < 5


def test_an_entry_nobody_closes_ends_where_the_next_begins() -> None:
    bib = "@a{k0, title={Old {fish\n@a{k1, title={New fish}, year=2001}\n@a{k0, title={Other}}"
    markdown = body_of(r"\cite{k0,k1}\bibliography{r}", r__bib=bib)
    assert markdown.endswith("## References\n\n1. Old fish.\n2. New fish. (2001).")


def test_an_entry_is_read_once_however_often_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    reader = references._fields

    def counting(text: str, strings: references._Strings) -> dict[str, str]:
        calls.append(text)
        return reader(text, strings)

    monkeypatch.setattr(references, "_fields", counting)
    assert references.bib_entries("@a{k,title={x}}" * 50, {"k"}) == {"k": {"title": "x"}}
    assert len(calls) == 1


def test_a_file_of_references_is_read_once_by_whatever_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_files: list[str] = []
    for name in ("bib_entries", "biblatex_entries"):
        reader = getattr(references, name)

        def counting(text: str, *wanted: object, reader=reader) -> object:  # type: ignore[no-untyped-def]
            read_files.append(text)
            return reader(text, *wanted)

        monkeypatch.setattr(references, name, counting)
    body = r"\cite{k}" + r"\bibliography{r,./r,r.bib}\bibliography{././r}" * 9
    assert "1. Fish." in body_of(body, r__bib="@a{k,title={Fish}}")
    made = r"\entry{k}{a}{}\field{title}{Fish}"
    assert "1. Fish." in body_of(body, main__bbl=made)
    assert read_files == ["@a{k,title={Fish}}", made]


def test_names_that_strings_give_are_spelled_out() -> None:
    bib = '@string{fish = "Fish and Lakes"}\n@a{k,title={On perch},journal=fish # {, B},year=2001}'
    assert "1. On perch. *Fish and Lakes, B* (2001)." in body_of(
        r"\cite{k}\bibliography{r}", r__bib=bib
    )


# --- tables ---------------------------------------------------------------------------------------


def tabular(rows: str) -> str:
    return rf"\begin{{tabular}}{{l}}{rows}\end{{tabular}}"


@pytest.mark.parametrize(
    "body",
    [
        tabular("a" + "&" * 8000 + r"\\" + r"b\\" * 1000),
        tabular("a" + "&" * 190 + r"\\" + r"b\\" * 900),
        tabular("a" + "&" * 190 + r"\\" + r"b\\" * 900) * 20,
        tabular("a" + "&" * 150 + r"\\" + r"b\\" * 4000),
        tabular(r"\multirow{999}{*}{" + "x" * 2000 + "}" + r"&a\\" + r"&b\\" * 998),
        tabular(r"\multicolumn{60}{c}{" + "x" * 40_000 + r"}\\b\\"),
    ],
)
def test_tables_become_no_more_than_a_long_paper(body: str) -> None:
    markdown = read({"main.tex": whole(body)}).markdown
    assert len(markdown) < 1_200_000 + 10 * len(body)


def test_a_table_far_too_wide_keeps_its_words() -> None:
    row = "&".join(f"w{n}" for n in range(300))
    assert body_of(tabular(rf"{row}\\a&b\\")) == f"{row.replace('&', ' ')} a b"


# --- archives -------------------------------------------------------------------------------------


def header(kind: bytes, size: int) -> bytes:
    """A tar header of a kind, which says that so many bytes follow."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.USTAR_FORMAT)


EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


@pytest.mark.parametrize("kind", EXTENDED)
def test_a_name_is_never_read_as_long_as_it_says(kind: bytes) -> None:
    long = gzip.compress(header(kind, 40_000_000) + bytes(40_000_000), 1)
    tracemalloc.start()
    try:
        with pytest.raises(BadContent, match="unpacks to more"):
            read(long)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", EXTENDED)
def test_names_without_end_are_refused(kind: bytes) -> None:
    with pytest.raises(BadContent, match="unpacks to more"):
        read(gzip.compress(header(kind, 0) * 3000))


def test_a_map_of_holes_is_not_followed() -> None:
    sparse = bytearray(header(tarfile.GNUTYPE_SPARSE, 0))
    sparse[482] = 1  # more of the map follows
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    block = (b"00000000000\0" * 42).ljust(504, b"\0") + b"\1".ljust(8, b"\0")
    packed = gzip.compress(bytes(sparse) + block * 40_000, 1)
    tracemalloc.start()
    try:
        with pytest.raises(BadContent):
            read(packed)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read_in_every_form(form: int) -> None:
    folder = "/".join(["folder"] * (14 if form == tarfile.USTAR_FORMAT else 60))
    names = {f"{folder}/größe.tex": "one", "b.tex": "two", f"{folder}/c.png": "x" * 700}
    if form == tarfile.USTAR_FORMAT:
        names = {name.replace("ö", "o").replace("ß", "s"): text for name, text in names.items()}
    body = whole(" ".join(rf"\input{{{name}}}" for name in names))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
        archive.addfile(tarfile.TarInfo("empty.tex"))
        folder_itself = tarfile.TarInfo(folder)
        folder_itself.type = tarfile.DIRTYPE
        archive.addfile(folder_itself)
        for name, text in {**names, "main.tex": body}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            member.mtime = 0.5  # pax has a header for that too
            archive.addfile(member, io.BytesIO(text.encode()))
    assert read(packed.getvalue()).markdown == "one two\n"
    assert read(packed.getvalue()).verdict == "full_text"


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_a_source_longer_than_is_read_is_no_whole_one(
    packed: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = whole("word " * 500).encode()
    monkeypatch.setattr(unpacking, "_MOST_TEXT", len(source))
    assert read(packed(source)).verdict == "full_text"
    monkeypatch.setattr(unpacking, "_MOST_TEXT", len(source) - 1)
    assert read(packed(source)).verdict == "partial"


# --- verbatim -------------------------------------------------------------------------------------


def test_verbatim_in_a_macro_leaves_the_rest_as_it_is() -> None:
    text = "the rest of the file"
    tokens = TokenStream(text)
    tokens.put_back(["|", "a", "%", "|b|", "c"])
    assert tokens.take_character() == "|"
    assert tokens.take_raw("|", same_line=True) == "a%"
    assert tokens._frames[-1].text is text
    assert tokens._frames[-1].ahead == ["c", "b|"]


@pytest.mark.parametrize(
    ("body", "preamble", "right"),
    [
        (r"\v c", r"\newcommand{\v}{\verb|a b|}", "`a b`c"),
        (r"\v c| d", r"\newcommand{\v}{\verb|a b}", "`a bc` d"),
        ("\\v\nx_1\n\\end{verbatim} d", r"\newcommand{\v}{\begin{verbatim}}", "x_1"),
        (r"\emph{a \verb|b| c \verb+d+ e}", "", "*a `b` c `d` e*"),
        ("\\footnote{a \\verb|b\n\nc} d", "", "d"),
    ],
)
def test_verbatim_is_read_from_macros_and_out_of_them(body: str, preamble: str, right: str) -> None:
    assert right in body_of(body, preamble)


def test_brackets_that_look_like_quantities_are_not_read_again_for_each() -> None:
    lines = [lines_run(partial(body_of, r"$" + r"\qty{" * n)) for n in (2000, 4000)]
    assert lines[1] < 3 * lines[0]
