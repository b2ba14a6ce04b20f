"""Emphasis: what a reader of markdown takes for it, and never through a word."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.readers.jats_snippets import body_of

EDGES = st.text("ab1 .,;:-–()'/", max_size=6)
TEXTS = st.one_of(EDGES, st.sampled_from(["<sub>i</sub>", "<sup>−2</sup>", "β", "x_y", "q * r"]))
FACES = st.sampled_from(["italic", "bold"])


def _in_face(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.lists(parts, max_size=4).map("".join)
    return st.builds(lambda face, inner: f"<{face}>{inner}</{face}>", FACES, joined)


RUNS = st.recursive(TEXTS, _in_face, max_leaves=6)


@pytest.mark.parametrize(
    ("xml", "markdown"),
    [
        ("<italic>Ptdsr-</italic>null", "*Ptdsr*-null"),
        ("null<italic>-Ptdsr </italic>mice", "null-*Ptdsr* mice"),
        ("sp<italic>., Aspergillus niger</italic>, and", "sp., *Aspergillus niger*, and"),
        ("mm<italic>.</italic> Six", "mm. Six"),
        ("h<sup><italic>−</italic>1</sup>", "h<sup>−1</sup>"),
        ("<italic>R</italic><sub><italic>s</italic></sub>", "*R*<sub>*s*</sub>"),
        ("Δ<italic>G</italic> and <italic>p</italic>H", "ΔG and pH"),
        ("<bold>(b) </bold>The", "**(b)** The"),
        ("<italic>et al. </italic>[3]", "*et al.* [3]"),
        ("<bold><italic>a</italic>, b</bold>c", "*a*, bc"),
        ("<bold><italic>a</italic>, b</bold>, c", "***a*, b**, c"),
        ("<italic>a <bold>b</bold></italic>", "*a **b***"),
        ("<italic>a <bold>b <italic>c</italic></bold></italic>", "*a **b c***"),
        ("x<italic>(c</italic>)", "x(*c*)"),
        ("<italic>KU_</italic>EF6", r"*KU*\_EF6"),
        ("see <italic>(a)</italic>", "see *(a)*"),
        ('x<italic><ext-link xlink:href="https://x.org">a b</ext-link></italic>y',
         "x[a b](https://x.org)y"),
    ],
)  # fmt: skip
def test_marks_stand_where_they_are_read_as_emphasis(xml: str, markdown: str) -> None:
    assert body_of(f"<p>{xml}</p>") == markdown


@given(st.lists(RUNS, min_size=1, max_size=6).map("".join))
def test_a_reader_of_markdown_sees_every_mark_as_emphasis(xml: str) -> None:
    made = body_of(f"<p>Zz {xml} zz</p>")
    seen = MarkdownIt("commonmark").renderInline(made)
    assert "*" not in seen.replace("q * r", "")
    words = re.sub(r"</?(?:em|strong)>", "", seen)
    plain = re.sub(r"</?(?:italic|bold)>", "", f"Zz {xml} zz")
    assert words.split() == plain.split()


@given(st.lists(RUNS, min_size=1, max_size=6).map("".join))
def test_no_word_is_split_by_marks(xml: str) -> None:
    assert not re.search(r"[^\W_]\*+[^\W_]", body_of(f"<p>Zz {xml} zz</p>"))


@pytest.mark.parametrize("number", ["&#1;", "&#x2;", "&#0003;", "&#x04;"])
def test_nobody_else_sets_marks(number: str) -> None:
    assert body_of(f"<p>a{number}b</p>") == "a\ufffdb"


def test_many_marks_take_time_for_each() -> None:
    xml = "<italic>a.</italic><bold>-</bold>b <bold><italic>.</italic></bold>" * 20_000
    assert body_of(f"<p>{xml}</p>").count("*a*.-b .") == 20_000
