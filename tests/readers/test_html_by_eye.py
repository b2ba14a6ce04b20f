"""What a person found who read today's publisher pages beside our texts of them."""

import pytest

from tests.readers.test_html import PROSE
from tests.readers.test_html_today import article, read


def test_an_alternative_text_in_words_is_no_formula() -> None:
    math = '<math alttext="No alternative text available"><mi>S</mi><mo>=</mo><mn>2</mn></math>'
    assert "Bees $S = 2$ fly." in read(article(f"<p>Bees {math} fly. {PROSE}</p>")).markdown


def test_an_alternative_text_in_tex_is_one() -> None:
    math = r'<math alttext="\frac{1}{2}"><mi>half</mi></math>'
    assert r"Bees $\frac{1}{2}$ fly." in read(article(f"<p>Bees {math} fly. {PROSE}</p>")).markdown


def test_the_head_of_the_page_goes_though_a_summary_stands_above_the_abstract() -> None:
    markdown = read(
        "<article><h1>Bees</h1><p>The Journal of Bees</p><p>25 Jul 2024</p><p>Vol 3, Issue 4</p>"
        f"<h2>Editor's summary</h2><p>{PROSE}</p><h2>Abstract</h2><p>{PROSE.replace('b', 'c')}</p>"
        f"<h2>Introduction</h2><p>{PROSE}</p><h2>Results</h2><p>{PROSE}</p></article>"
    ).markdown
    assert markdown.startswith("# Bees\n\n## Editor's summary\n\n")


def test_the_name_of_the_journal_above_the_abstract_is_no_section() -> None:
    markdown = read(
        "<article><h1>Bees</h1><div>A. Doe</div><h2>J. Bees</h2><p>Cite this: J. Bees 2024, 3</p>"
        f"<h2>Abstract</h2><p>{PROSE.replace('b', 'c')}</p><h2>Introduction</h2><p>{PROSE}</p>"
        f"<h2>Results</h2><p>{PROSE}</p></article>"
    ).markdown
    assert markdown.startswith("# Bees\n\n## Abstract\n\n")


def test_highlights_above_the_abstract_stay() -> None:
    markdown = read(
        "<article><h1>Bees</h1><h2>Highlights</h2><ul><li>Bees fly.</li><li>Far.</li></ul>"
        f"<h2>Abstract</h2><p>{PROSE.replace('b', 'c')}</p><h2>Introduction</h2><p>{PROSE}</p>"
        f"<h2>Results</h2><p>{PROSE}</p></article>"
    ).markdown
    assert "## Highlights\n\n- Bees fly." in markdown


def test_the_mark_of_a_note_stands_in_front_of_it() -> None:
    notes = (
        "<div class='footnote'><sup>a</sup><p>Days of sun.</p></div>"
        "<div class='fn'><span class='label'>b</span><p>Days of rain.</p></div>"
    )
    table = (
        "<table><tr><th>Bee</th><th>Days<a href='#fa'>a</a></th></tr>"
        "<tr><td>Apis</td><td>6</td></tr></table>"
    )
    markdown = read(article(f"<p>{PROSE}</p><div>{table}{notes}</div>")).markdown
    assert "| Bee | Days<sup>a</sup> |" in markdown
    assert "<sup>a</sup> Days of sun.\n\nb Days of rain." in markdown


def test_a_label_that_its_caption_repeats_is_told_once() -> None:
    figure = "<h3>Figure 1</h3><p>Figure 1. Bees that fly home by the sun.</p>"
    markdown = read(article(f"<p>{PROSE}</p>{figure}<p>Fig. 2.</p><p>Bees at rest.</p>")).markdown
    assert markdown.count("Figure 1") == 1
    assert "Fig. 2.\n\nBees at rest." in markdown


@pytest.mark.parametrize(
    "line",
    [
        "<div class='copyright-statement'>© 2020 The Author(s)</div>",
        "<div class='article__cc-license'>This publication is licensed under CC BY</div>",
        "<p class='print-hide'>Download figure:</p>",
        "<div class='hidden-js-div'>Data loading...</div>",
        "<p>Citation: Journal of Bees 37, 24; <a href='/x'>10.1175/BEES-D-23-1</a></p>",
        "<p><a href='/epub/1'>EPUB</a></p>",
        "<p><a href='#source2'>Source data</a></p>",
    ],
)
def test_lines_of_the_page_among_the_text_go(line: str) -> None:
    with_line = read(article(f"<p>{PROSE}</p>{line}<p>Bees fly home.</p>")).markdown
    assert with_line == read(article(f"<p>{PROSE}</p><p>Bees fly home.</p>")).markdown


def test_headings_are_as_deep_as_their_numbers_say() -> None:
    markdown = read(
        f"<article><h1>Bees</h1><h2>1. Introduction</h2><p>{PROSE}</p><h2>2. Methods</h2>"
        f"<h4>2.1. Hives</h4><p>{PROSE}</p><h4>2.1.1. Wood</h4><p>{PROSE}</p>"
        f"<h2>3. Results</h2><p>{PROSE}</p></article>"
    ).markdown
    assert "## 2. Methods\n\n### 2.1. Hives\n\n" in markdown
    assert "\n\n#### 2.1.1. Wood\n\n" in markdown


def test_keywords_that_the_page_links_stay() -> None:
    links = "<a href='/s?q=bees'>bees</a><span>, </span><a href='/s?q=sun'>sun compass</a>"
    box = f"<div class='panel skip'><div><div>Keywords:</div>{links}</div></div>"
    text = f"<h2>Introduction</h2><p>{PROSE}</p><h2>Results</h2><p>{PROSE}</p>"
    markdown = read(
        f"<article><h1>Bees</h1><h2>Abstract</h2><p>{PROSE.replace('b', 'c')}</p>{box}{text}"
        "</article>"
    ).markdown
    assert "sun compass" in markdown


_LINKS = (
    '<a href="https://www.ncbi.nlm.nih.gov/pubmed/1{0}">PubMed Abstract </a> | '
    '<a href="https://doi.org/10.1/{0}">Publisher Full Text </a> | '
    '<a href="https://www.ncbi.nlm.nih.gov/pmc/articles/{0}">Free Full Text </a>'
)


@pytest.mark.parametrize(
    ("around", "entry"),
    [
        ("<ul>{}</ul>", "<li><span>{0}. </span><span class='citation'>{1}{2}</span></li>"),
        ("<div>{}</div>", "<div><span>{0}. </span><span class='citation'>{1}{2}</span></div>"),
        ("<div>{}</div>", "<div class='citation'>{0}. {1}{2}</div>"),
        ("{}", "<p class='citation'>{0}. {1}{2}</p>"),
        ("<table>{}</table>", "<tr><td>{0}.</td><td>{1}{2}</td></tr>"),
    ],
)
def test_short_entries_with_more_links_than_words_are_references(around: str, entry: str) -> None:
    short = (
        "Doe A: The sun. Bees 2019; 1: 3.",
        "Roe B: Home. Bees 2020; 2: 4.",
        "Poe: Rain, 2021.",
    )
    rows = "".join(
        entry.format(number, words, _LINKS.format(number)) for number, words in enumerate(short, 1)
    )
    document = read(article(f"<p>{PROSE}</p>", around.format(rows)))
    listed = document.markdown.partition("## References\n\n")[2]
    assert document.references == 3
    assert [line.split(". ", 1)[1] for line in listed.split("\n")] == list(short)
