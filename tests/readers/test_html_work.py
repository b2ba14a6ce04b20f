"""The work a page makes grows with its size and not with the square of that.

Calls alone do not show a loop that looks for an element among its siblings, so lines of Python are
counted here, for nothing, n and 4 n of a construct. What a pattern does inside `re` shows nowhere;
for those there is a page so large that the square would take hours.
"""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from tests.examples import some
from tests.readers.test_html import PROSE, page
from utils.readers import html

BEFORE = "<p>one two</p>"  # what a front-to-back search passes first, each time
GROWING: dict[str, Callable[[int], str]] = {
    "scripts after paragraphs": lambda n: BEFORE * n + "<script>x</script>" * n,
    "menus after paragraphs": lambda n: BEFORE * n + "<div class='nav'>x</div>" * n,
    "buttons in a line": lambda n: f"<p>{'<b>a</b> ' * n}{'<a href=/x>PDF</a> | ' * n}</p>",
    "titles after paragraphs": lambda n: f"<p>{PROSE}</p>" + BEFORE * n + "<h2>Bees</h2>" * n,
    "a numbered list": lambda n: f"<ol>{'<li>a b</li>' * n}</ol>",
    "a list with printed numbers": lambda n: (
        f"<ol>{''.join(f'<li><b>{i + 1}.</b> a b</li>' for i in range(n))}</ol>"
    ),
    "headings in and after the abstract": lambda n: (
        f"<div class='abstract'><h2>Abstract</h2><p>{PROSE}</p>{'<h3>a</h3><p>b</p>' * n}</div>"
        + "<h2>c</h2><p>d</p>" * n
    ),
    "a page head": lambda n: BEFORE * n + f"<h2>Abstract</h2><p>{PROSE * n}</p>",
    "references in boxes": lambda n: (
        f"<div id='references'><h2>References</h2>{'<div class=ref><p>A b</p></div>' * n}</div>"
    ),
    "digests beside the article": lambda n: (
        f"<article><p>{PROSE * n}</p></article>" + f"<div><h2>Digest</h2><p>{PROSE}</p></div>" * n
    ),
    "captions with their tables": lambda n: "".join(
        f"<p>Table {i} and what it shows</p><table><caption>Table {i} and what it shows</caption>"
        "<tr><td>a</td><td>b</td></tr></table>"
        for i in range(n)
    ),
    "header rows": lambda n: (
        f"<table><thead>{''.join(f'<tr><th>a{i}</th><th>b</th></tr>' for i in range(n))}</thead>"
        "<tr><td>c</td><td>d</td></tr></table>"
    ),
    "suspects around suspects": lambda n: (
        ("<div class='view'>" * 20 + "<p>a</p>" + "</div>" * 20) * (n // 10)
    ),
}


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python *work* runs."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return note

    traced = sys.gettrace()
    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(traced)
    return count


@pytest.mark.parametrize("name", some(GROWING))
def test_lines_run_grow_with_the_page_only(name: str) -> None:
    def read(size: int) -> object:
        return html.read_document(
            page(f"<main><h1>Bees</h1><p>{PROSE}</p>{GROWING[name](size)}</main>")
        )

    read(10)  # imports, compiled patterns
    none, once, four = (lines_run(partial(read, size)) for size in (0, 40, 160))
    # Three more parts cost three times the first. A search among siblings is short for each, so
    # that its square shows in the third digit only.
    assert four - once <= 3.08 * (once - none)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("<p>" + "enable" * 200_000, ""),
        ("<p>cookies" + "!" * 999 + "x" * 200_000, ""),
        (f"<p>a{'&nbsp;' * 200_000}b</p>", ""),
        ("<section>" * 95 + f"<p>a{'&nbsp;' * 200_000}b</p>", ""),
        ("<p>a</p>", f"<meta name='citation_doi' content='{'10.1234.' * 100_000}'>"),
        (f"<p class='{'aB' * 500_000}'>a</p>", ""),
        (f"<p><a href='/x'>{'download as a ' * 50_000}</a></p>", ""),
        ("<p>a</p>", f"<meta http-equiv='refresh' content='{'0;url= ' * 100_000}'>"),
    ],
)
def test_no_pattern_takes_the_square_of_a_page(body: str, head: str) -> None:
    """Each of these would take from minutes to hours."""
    html.read_document(page(body, head))
    html.find_meta_refresh_url(page(body, head))
