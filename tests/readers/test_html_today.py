"""Pages as publishers serve them now: lists by roles, hidden words, parts that a click shows."""

import json

import pytest

from tests.readers.test_html import PROSE, page
from utils.judges.evidence import find_cited_numbers, gather_evidence
from utils.model.identifiers import Ids
from utils.model.paper import Document, Paper
from utils.readers import html

ENTRIES = (
    "A. Doe, The compass of bees. J. Bees 12, 34-45 (2019).",
    "B. Roe, Flowers that bees remember. J. Bees 13, 4-9 (2020).",
    "C. Poe, The way home at night. J. Bees 14, 22-31 (2021).",
)


def read(body: str, head: str = "", url: str = "https://publisher.test/a") -> Document:
    return html.read_document(page(body, head, url))


def article(text: str, references: str = "") -> str:
    return (
        f"<article><h1>Bees</h1><h2>Introduction</h2><p>{PROSE}</p><h2>Results</h2>{text}"
        f"<h2>References</h2>{references}</article>"
    )


def items(menu: str = "", prefix: str = "r") -> str:
    """A reference list as Atypon's pages have it."""
    return "".join(
        f'<div role="listitem"><div class="label">{number}</div><div id="{prefix}{number}">'
        f'<div class="citation-content">{entry}</div><div class="external-links">{menu}'
        '<a href="https://scholar.google.com/x">Google Scholar</a></div></div></div>'
        for number, entry in enumerate(ENTRIES, 1)
    )


def numbered() -> str:
    return "\n".join(f"{number}. {entry}" for number, entry in enumerate(ENTRIES, 1))


def test_boxes_with_the_roles_of_a_list_are_one_without_menus_back_to_the_text() -> None:
    menu = (
        '<div role="menu" style="display: none;"><ul><li><a class="to-citation" href="#c">a [...] '
        "way home by the sun</a></li></ul></div>"
        '<div><a class="to-citation" href="#c2"><span>GO TO REFERENCE</span></a></div>'
    )
    document = read(article(f"<p>{PROSE}</p>", f'<div role="list">{items(menu)}</div>'))
    assert document.markdown.endswith(f"## References\n\n{numbered()}")
    assert document.references == 3


def test_a_list_and_figures_printed_twice_count_once() -> None:
    caption = "<p>Fig. 1. Bees that fly home by the sun in four seasons</p>"
    again = (
        f'<h2>Figures</h2>{caption}<h2>References</h2><div role="list">{items(prefix="x")}</div>'
    )
    first = f'<div role="list">{items()}</div>'
    body = article(f"<p>{PROSE}</p>{caption}", first).replace(
        "</article>", f'<div role="dialog">{again}</div></article>'
    )
    document = read(body)
    assert document.references == 3
    assert document.markdown.count("## References") == 1
    assert document.markdown.count("Fig. 1.") == 1


@pytest.mark.parametrize(
    "hidden",
    [
        '<span class="off-screen">Citation</span>',
        '<span class="sr-only">Citation</span>',
        '<span class="u-visually-hidden">Citation</span>',
        '<span style="display:none">Citation</span>',
        "<span hidden>Citation</span>",
    ],
)
def test_hidden_labels_are_no_text(hidden: str) -> None:
    document = read(article(f'<p>Bees fly [<a href="#">{hidden}3–7</a>]. {PROSE}</p>'))
    assert "Bees fly [3–7]." in document.markdown


def test_a_folded_reference_list_and_folded_names_stay() -> None:
    folded = "<span class='hide'>, Poe C, Zoe D</span>"
    listed = "".join(f"<li>{entry}{folded}</li>" for entry in ENTRIES)
    listed = f'<div class="references" style="display: none"><ul>{listed}</ul></div>'
    document = read(article(f"<p>{PROSE}</p>", listed))
    assert document.references == 3
    assert document.markdown.count("Zoe D") == 3


def test_buttons_in_running_text_are_words_and_others_are_not() -> None:
    document = read(
        article(
            "<p>Bees remember (<button>Figure 1a</button>) what they saw "
            f"<sup><button>12</button></sup>. {PROSE}</p><p><button>Download 7</button></p>"
        )
    )
    assert "Bees remember (Figure 1a) what they saw <sup>12</sup>." in document.markdown
    assert "Download" not in document.markdown


def test_a_table_that_a_script_keeps_for_a_pop_up_stands_in_its_place() -> None:
    table = "<div><table><tr><th>Bee</th><th>Days</th></tr><tr><td>Apis</td><td>6</td></tr></table>"
    data = json.dumps({"tables": [{"id": "t1", "content": table}], "figures": []})
    document = read(
        article(
            '<p>See <a data-id="t1" href="#">Table 1</a>.</p><div><p>Table 1. Days of memory</p>'
            f'<div><a data-id="t1" href="#">Display Table</a></div></div><p>{PROSE}</p>'
        )
        + f"<script>a.tfviewerdata={data};</script>"
    )
    assert "Table 1. Days of memory\n\n| Bee | Days |" in document.markdown
    assert "| Apis | 6 |" in document.markdown
    assert "See Table 1." in document.markdown


def test_a_table_on_another_page_is_named_as_missing() -> None:
    document = read(
        article(
            '<figure><figcaption><b>Table 1 Days of memory</b></figcaption><div><a href="/a/t/1">'
            f"Full size table</a></div></figure><p>{PROSE}</p>"
        )
    )
    assert "[Table 1 is not part of this page: https://publisher.test/a/t/1]" in document.markdown


def test_references_that_a_click_loads_are_taken_from_the_head_or_named_as_missing() -> None:
    button = "<div><h2><button>Show References</button></h2><div>Please wait… loading.</div></div>"
    body = f"<article><h1>Bees</h1><h2>Results</h2><p>{PROSE}</p>{button}</article>"
    tag = (
        '<meta name="citation_reference" content="citation_title=Bees; citation_author=Doe J; '
        "citation_author=Roe R; citation_journal_title=J Bees; citation_volume=2; "
        'citation_firstpage=3; citation_publication_date=2019">'
    )
    listed = read(body, tag * 3)
    assert "## References\n\n1. Doe J, Roe R. Bees. J Bees. 2019;2:3.\n" in listed.markdown
    assert listed.references == 3
    missing = read(body)
    assert missing.markdown.endswith("## References\n\n[The references are not part of this page]")
    assert missing.references == 0


def test_links_to_places_of_the_page_are_text_under_any_of_its_addresses() -> None:
    head = '<link rel="canonical" href="https://publisher.test/articles/b7">'
    mark = '<p>Bees fly<sup>1,<a href="/articles/b7#ref-2">2</a></sup> <a href="/b8#x">far</a>.</p>'
    document = read(article(f"{mark}<p>{PROSE}</p>"), head, "https://doi.org/10.1000/b7")
    assert "Bees fly<sup>1,2</sup> [far](https://publisher.test/b8#x)." in document.markdown


def test_what_the_pages_own_menu_calls_a_heading_is_one() -> None:
    menu = '<ul><li><a href="#s1">WAYS HOME</a></li></ul>'
    box = f'<div class="title"><a id="s1">WAYS HOME</a></div><p>{PROSE}</p>'
    document = read(f"<nav>{menu}</nav>{article(box)}")
    assert "## WAYS HOME\n\nBees" in document.markdown


def test_what_a_site_prints_below_the_list_is_no_reference() -> None:
    listed = "".join(f"<li>{entry}</li>" for entry in ENTRIES)
    document = read(article(f"<p>{PROSE}</p>", f"<ol>{listed}</ol><p>© 2026 The Authors</p>"))
    assert document.references == 3


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Bees [1a, 2b], and wasps [3-5a].", {1, 2, 3, 4, 5}),
        ("Bees<sup>1,2,[5](https://a.test/x#r5)</sup> and<sup>3–4</sup>", {1, 2, 3, 4, 5}),
        ("Bees [2, [3](https://a.test#r3), [5](https://a.test#r5)] and [1, 4]", {1, 2, 3, 4, 5}),
        ("Bees (3), wasps (1, 2) and others (e.g., refs. 4–6)", {1, 2, 3, 4, 5, 6}),
    ],
)
def test_a_number_in_a_mark_counts_however_it_is_linked(text: str, numbers: set[int]) -> None:
    listed = "\n".join(f"{number}. {ENTRIES[0]}" for number in range(1, 43))
    markdown = f"# Bees\n\n## Results\n\n{PROSE}{text}\n\n## References\n\n{listed}"
    found = gather_evidence(Document(markdown, references=42), Paper(Ids()), "")
    assert found.cited == numbers


def test_numbers_in_words_belong_to_the_way_a_text_cites() -> None:
    assert find_cited_numbers("Ref. 7 says so.", listed=True).numbers == set()


def test_extended_figures_have_a_count_of_their_own() -> None:
    markdown = f"## Results\n\n{PROSE}Fig. 1, Extended Data Fig. 8 and Supplementary Table 9."
    assert gather_evidence(Document(markdown), Paper(Ids()), "").mentioned == {("fig", 1)}


@pytest.mark.parametrize(
    ("box", "walls"),
    [
        ("<div class='reveal-modal noAccessReveal'>Close Modal</div>", ()),
        ("<div class='accessDenialslot' id='accessDenialslot'></div>", ()),
        (f"<section class='ppv'>Correction: two figures were updated. {PROSE}</section>", ()),
        (f"<section class='ppv'>Buy this article for $30. {PROSE}</section>", ("paywall",)),
        ("<div class='noAccess'>Log in</div>", ("paywall",)),
    ],
)
def test_empty_slots_pop_ups_and_notes_named_like_an_offer_are_no_wall(
    box: str, walls: tuple[str, ...]
) -> None:
    assert read(box + article(f"<p>{PROSE}</p>")).walls == walls


def test_a_formula_is_told_once_as_tex_made_from_its_mathml() -> None:
    half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
    math = f"<math><msub><mi>S</mi><mi>t</mi></msub><mo>=</mo>{half}</math>"
    glyphs = '<span class="mjx-chtml MathJax_CHTML"><span class="mjx-char">S</span>t=12</span>'
    markdown = read(article(f"<p>Bees <span>{math}</span>{glyphs} fly. {PROSE}</p>")).markdown
    assert "Bees $S_t = \\frac{1}{2}$ fly." in markdown
    assert "t=12" not in markdown


def test_a_table_kept_below_the_list_stands_under_its_caption() -> None:
    caption = "<b>Table 1.</b> What bees remember of light"
    table = "<table><tr><th>Bee</th><th>Days</th></tr><tr><td>Apis</td><td>6</td></tr></table>"
    kept = f'<div class="show" style="display: none"><div>{caption}</div>{table}</div>'
    listed = "".join(f"<li>{entry}</li>" for entry in ENTRIES)
    markdown = read(
        article(f"<div>{caption}</div><p>{PROSE}</p>", f"<ol>{listed}</ol>{kept}")
    ).markdown
    assert "**Table 1.** What bees remember of light\n\n| Bee | Days |" in markdown
    assert markdown.count("Table 1.") == 1


def test_menus_of_the_site_below_the_references_go() -> None:
    links = "".join(f'<p><a href="/{name}">All about {name}</a></p>' for name in ("us", "jobs"))
    listed = f"<ol>{''.join(f'<li>{entry}</li>' for entry in ENTRIES)}</ol>"
    markdown = read(article(f"<p>{PROSE}</p>", f"{listed}<h2>Get involved</h2>{links}")).markdown
    assert "Get involved" not in markdown


def test_a_list_that_its_style_counts_has_its_numbers() -> None:
    listed = "".join(f"<li>{entry}</li>" for entry in ENTRIES)
    listed = f'<ul class="references numeric-ordered-list">{listed}</ul>'
    assert read(article(f"<p>{PROSE}</p>", listed)).markdown.endswith(f"\n\n{numbered()}")


def menu(*names: str) -> str:
    links = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name in names)
    return f'<nav class="toc"><ul>{links}</ul></nav>'


@pytest.mark.parametrize(
    ("names", "lost"),
    [
        (("Introduction", "Results", "References"), ""),
        (("Introduction", "Methods", "Results", "References"), "Methods"),
        (("Introduction", "Results", "Comments", "Metrics"), ""),
        (("Figures", "Methods"), ""),  # no menu of this text's sections
    ],
)
def test_a_section_that_the_pages_menu_names_and_the_page_lacks_is_a_sign(
    names: tuple[str, ...], lost: str
) -> None:
    document = read(menu(*names) + article(f"<p>{PROSE}</p>"))
    assert [sign.words for sign in document.signs] == (
        [f"the page's menu lists 3 sections, but '{lost}' is missing"] if lost else []
    )


def test_a_word_that_opens_a_glossary_is_text() -> None:
    link = '<span><a class="js-viewGlossaryPopup" title="Glossary">tipping point</a></span>'
    text = html.read_document(
        page(f"<p>The phrase {link} captures little things. {PROSE}</p>")
    ).markdown
    assert "The phrase tipping point captures" in text


def test_a_notice_of_rights_is_no_paragraph() -> None:
    notice = "\u00a9 2020 by the authors. Licensee MDPI, Basel, Switzerland. This article is open."
    text = html.read_document(page(f"<h2>Results</h2><p>{PROSE}</p><p>{notice}</p>")).markdown
    assert "Basel" not in text
    assert "Results" in text


def test_the_head_above_an_abstract_that_comes_again_is_no_text() -> None:
    body = (
        f"<article><div><h2>Abstract</h2><p>{PROSE}</p></div><div>"
        "<ul><li>ISSN: 1543-5938</li><li>Volume 38</li></ul><p>Timothy M. Lenton</p>"
        f"<h2>ABSTRACT</h2><p>{PROSE}</p><h3>Keywords</h3><ul><li>bees</li></ul>"
        f"<h2>Introduction</h2><p>{PROSE * 9}</p></div></article>"
    )
    text = html.read_document(page(body)).markdown
    assert "ISSN" not in text
    assert "Lenton" not in text
    assert "- bees" in text


def test_the_heading_above_a_later_summary_stays() -> None:
    body = (
        f"<article><div><h2>Abstract</h2><p>{PROSE}</p></div><div><h2>Methods</h2><p>{PROSE}</p>"
        "</div><div><h2>Supplementary Material</h2><div><h3>Summary</h3><p>Model validation</p>"
        "</div></div></article>"
    )
    assert "Supplementary Material" in html.read_document(page(body)).markdown
