"""A publisher's page becomes the article's markdown, and nothing on it can act or mislead."""

from pathlib import Path

import pytest

from utils.errors import BadContent
from utils.model.identifiers import Ids
from utils.model.paper import Document, Fetched
from utils.outline.words import count_words
from utils.readers import html

MULLER = "<html><body><p>Müller</p></body></html>"
PROSE = "Bees find their way home by the sun and remember flowers they liked. " * 6


def page(
    body: str | bytes, head: str = "", url: str = "https://publisher.test/a", charset: str = ""
) -> Fetched:
    sent = (
        body
        if isinstance(body, bytes)
        else f"<html><head>{head}</head><body>{body}</body></html>".encode()
    )
    return Fetched(
        body=sent, media="html", url=url, source="publisher", via="publisher", charset=charset
    )


def read(body: str, head: str = "") -> Document:
    return html.read_document(page(body, head))


def test_claims_are_read_from_the_head() -> None:
    document = read(
        f"<article><h1>Bees &amp; light</h1><p>{PROSE}</p></article>",
        '<meta name="citation_title" content="Bees &amp; light">'
        '<meta name="citation_author" content="Doe, Jane">'
        '<meta name="citation_author" content="Li Wei">'
        '<meta name="citation_doi" content="doi:10.1000/Bees.1">'
        '<meta name="citation_pmid" content="123">'
        '<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">',
    )
    assert document.title == "Bees & light"
    assert document.authors == ("Doe", "Wei")
    assert document.ids == Ids(doi="10.1000/bees.1", pmid="123")
    assert document.license == "https://creativecommons.org/licenses/by/4.0/"


def test_json_ld_is_read_where_there_are_no_meta_tags() -> None:
    document = read(
        f"<p>{PROSE}</p>",
        '<script type="application/ld+json">{"@graph":[{"@type":"ScholarlyArticle",'
        '"headline":"Bees",'
        '"author":[{"familyName":"Doe"}],"sameAs":"https://doi.org/10.1000/b",'
        '"isAccessibleForFree":false}]}'
        "</script>",
    )
    assert (document.title, document.authors, document.ids.doi) == ("Bees", ("Doe",), "10.1000/b")
    assert "paywall" in document.walls


def test_json_ld_says_abstract_license_identifiers_and_where_the_pdf_is() -> None:
    head = (
        '<script type="application/ld+json">{"@type":["MedicalScholarlyArticle"],"name":"Bees",'
        f'"abstract":"{PROSE}","license":{{"@id":"https://creativecommons.org/licenses/by/4.0/"}},'
        '"identifier":[{"@type":"PropertyValue","propertyID":"doi","value":"10.1000/b"}],'
        '"author":["Jane Doe",{"name":"Li Wei"}],"isAccessibleForFree":"http://schema.org/False",'
        '"encoding":{"contentUrl":"/b.pdf","encodingFormat":"application/pdf"}}</script>'
    )
    document = read(f"<h2>Results</h2><p>{PROSE}</p>", head)
    assert document.abstract == PROSE.strip()
    assert document.license == "https://creativecommons.org/licenses/by/4.0/"
    assert (document.ids.doi, document.authors) == ("10.1000/b", ("Doe", "Wei"))
    assert document.walls == ("paywall",)
    assert html.find_pdf_links(page("", head)) == ["https://publisher.test/b.pdf"]


def test_broken_json_ld_is_no_claim() -> None:
    assert (
        read(f"<p>{PROSE}</p>", '<script type="application/ld+json">{"@type": [[[</script>').title
        == ""
    )


def test_site_furniture_goes_and_the_article_stays() -> None:
    document = read(
        "<nav><a href='/x'>Home of journals</a></nav>"
        "<div class='cookie-banner'>We use biscuits here</div>"
        f"<main><h1>Bees</h1><section><h2>Methods</h2><p>{PROSE}</p></section>"
        "<div class='related-articles'><a href='/1'>Another tale of wasps</a></div></main>"
        "<footer class='site-footer'><a href='/t'>Terms and so on</a></footer>"
    )
    for gone in ("Home of journals", "biscuits", "wasps", "Terms and so on"):
        assert gone not in document.markdown
    assert "## Methods" in document.markdown
    assert document.body_words == count_words(PROSE)


def test_a_figure_in_a_carousel_is_kept() -> None:
    shown = "<a href='/f'>View</a><p>Figure 4. Loss of colour.</p>"
    figure = f"<div class='fig-set-carousel'>{shown}</div>"
    assert "Figure 4. Loss of colour." in read(f"<h2>Results</h2><p>{PROSE}</p>{figure}").markdown


def test_a_sidebar_that_is_the_layout_is_kept() -> None:
    assert read(f"<div class='has-sidebar sidebar'><p>{PROSE}</p></div>").body_words == count_words(
        PROSE
    )


def test_abstract_and_references_outside_the_article_come_along() -> None:
    document = read(
        f"<div class='abstract'><p>{PROSE}</p></div>"
        f"<article><h1>Bees</h1><h2>Results</h2><p>{PROSE * 4}</p></article>"
        f"<div id='references'><ol><li>Doe 2020 {PROSE[:80]}</li>"
        f"<li>Roe 2021 {PROSE[:80]}</li></ol></div>"
    )
    assert document.abstract == PROSE.strip()
    assert document.references == 2
    assert document.body_words == count_words(PROSE * 4)


def test_the_papers_own_boxes_beside_the_article_come_along_in_their_order() -> None:
    markdown = read(
        f"<div><h2>Share this</h2><p>Tell all</p></div><div><h2>eLife digest</h2><p>{PROSE}</p>"
        f"</div><div class='fulltext-view'><h2>Results</h2><p>{PROSE * 4}</p></div>"
        f"<div><h2>Acknowledgements</h2><p>{PROSE}</p></div>"
        f"<div><h2>Decision letter</h2><p>{PROSE}</p></div>"
    ).markdown
    names = [line for line in markdown.split("\n") if line.startswith("#")]
    assert names == ["## eLife digest", "## Results", "## Acknowledgements", "## Decision letter"]
    assert "Tell all" not in markdown


def test_what_stands_above_the_abstract_goes() -> None:
    document = read(
        "<article><h1>Bees</h1><ul><li><a href='/a'>Jane Doe</a></li></ul><p>Meadow 12, Bern</p>"
        f"<h2>Abstract</h2><p><b>:</b> {PROSE}</p><div>Keywords:</div><p>bees; light</p>"
        f"<h2>Results</h2><p>{PROSE * 5}</p></article>",
        '<meta name="citation_title" content="Bees">',
    )
    assert document.markdown.startswith("# Bees\n\n## Abstract\n\nBees find their way")
    assert document.abstract == PROSE.strip()
    assert "## Keywords\n\nbees; light" in document.markdown


def test_what_a_page_says_twice_is_said_once() -> None:
    abstract = f"<h2>Abstract</h2><p>{PROSE}</p>"
    caption = "<p>Figure 1. Bees and light</p>"
    markdown = read(
        f"<main>{abstract}<h3>Related articles</h3>{abstract}<h2>Article</h2><h2>Results</h2>"
        f"<p>{PROSE * 4}</p>{caption}<p><a href='/f'>Click here to enlarge figure</a> |</p>"
        f"{caption}"
        "<h2>References</h2><h2>References</h2><ol><li>1. Doe. [<a href='/x'>CrossRef</a>] "
        "[<a href='/y'>PubMed</a>]</li><li>2. Roe</li><li>3. Poe</li></ol>"
        "<h2>Metrics</h2><p>807 views</p></main>"
    ).markdown
    assert [line for line in markdown.split("\n") if line.startswith("#")] == [
        "## Abstract",
        "## Results",
        "## References",
    ]
    assert markdown.count("Figure 1.") == 1
    assert markdown.count(PROSE.strip()) == 1 + 4
    for gone in ("enlarge", "[", "|", "807"):
        assert gone not in markdown


def test_references_in_boxes_are_items() -> None:
    entry = "<div class='ref'><div>{0}</div><cite>On bees</cite><p>A. {0}, Bern, 2020</p></div>"
    document = read(
        f"<article><h2>Results</h2><p>{PROSE * 3}</p><div class='references'><h2>References</h2>"
        f"<div>{''.join(entry.format(number) for number in range(1, 5))}</div></div></article>"
    )
    assert "1. On bees A. 1, Bern, 2020\n2. On bees" in document.markdown
    assert document.references == 4


def test_a_table_kept_for_a_pop_up_stands_under_its_caption() -> None:
    said = "Table 1. How bees see the light"
    markdown = read(
        f"<article><h2>Results</h2><h3>{said}</h3><p>{PROSE}</p><h2>References</h2><ol><li>Doe</li>"
        f"</ol><table><caption>{said}</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td>"
        "<td>2</td></tr></table></article>"
    ).markdown
    assert f"## Results\n\n{said}\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nBees" in markdown


def test_sections_below_a_shallower_abstract_are_body() -> None:
    document = read(
        f"<div class='abstract'><h2>Abstract</h2><p>{PROSE}</p></div>"
        f"<div class='section'><h3>Introduction</h3><p>{PROSE}</p></div>"
        f"<div class='section'><h3>Results</h3><p>{PROSE}</p></div>"
    )
    assert document.headings == 2
    assert document.body_words == 2 * count_words(PROSE)


def test_tables_become_rectangular_and_their_cells_are_escaped() -> None:
    document = read(
        f"<article><h2>Results</h2><p>{PROSE}</p><table><caption>Table 1. Doses</caption><thead>"
        "<tr><th rowspan='2'>Group</th><th colspan='2'>Dose</th></tr>"
        "<tr><th>low</th><th>high</th></tr></thead>"
        "<tbody><tr><td rowspan='2'>a|b</td><td>1</td><td>2</td></tr>"
        "<tr><td>3</td><td>4</td></tr></tbody>"
        "</table></article>"
    )
    assert "| Group | Dose / low | Dose / high |\n| --- | --- | --- |" in document.markdown
    assert "| a\\|b | 1 | 2 |\n| a\\|b | 3 | 4 |" in document.markdown
    assert "Table 1. Doses" in document.markdown


def test_a_span_of_millions_makes_no_table_of_millions() -> None:
    cells = "<tr><td colspan='999999999' rowspan='99999999'>x</td></tr>"
    assert len(read(f"<p>{PROSE}</p><table>{cells * 3}</table>").markdown) < 10_000


def test_only_links_that_lead_out_survive() -> None:
    markdown = read(
        f"<article><p>{PROSE}</p><p>See <a href='/fig2'>the figure</a>, <a href='#r1'>one</a>,"
        " <a href='java&#9;script:alert(1)'>two</a>, <a href=' DATA:text/html,x'>three</a>,"
        " <a href='vbscript:x'>four</a> and <a href='mailto:a@b.test'>mail</a>.</p></article>"
    ).markdown
    assert (
        "[the figure](https://publisher.test/fig2), one, two, three, four"
        " and [mail](mailto:a@b.test)" in markdown
    )


def test_text_that_looks_like_a_tag_stays_text() -> None:
    markdown = read(
        f"<p>{PROSE} &lt;script&gt;x()&lt;/script&gt; p &lt; 0.05</p><script>evil()</script>"
    ).markdown
    assert "&lt;script>x()&lt;/script> p < 0.05" in markdown
    assert "evil" not in markdown


def test_sub_and_superscripts_and_tex_survive() -> None:
    markdown = read(
        f"<p>{PROSE} H<sub>2</sub>O, 10<sup>3</sup>, <script type='math/tex'>E = mc^2</script></p>"
    ).markdown
    assert "H<sub>2</sub>O, 10<sup>3</sup>, $E = mc^2$" in markdown


@pytest.mark.parametrize("depth", [400, 5000])
def test_a_tower_of_boxes_loses_no_text(depth: int) -> None:
    tower = "<div>" * depth + f"<p>{PROSE}</p>" + "</div>" * depth
    assert read(f"{tower}<p>{PROSE}</p>").body_words == 2 * count_words(PROSE)


def test_deep_inline_nesting_falls_back_to_text() -> None:
    assert (
        "deepest"
        in read(f"<p>{PROSE}</p>" + "<b><i>" * 800 + "deepest" + "</i></b>" * 800).markdown
    )


@pytest.mark.parametrize(
    ("sent", "charset"),
    [
        (MULLER.encode("latin-1"), "iso-8859-1"),
        (b"\xef\xbb\xbf" + MULLER.encode(), "iso-8859-1"),
        (f'<meta charset="windows-1252">{MULLER}'.encode("cp1252"), ""),
        (f'<?xml version="1.0" encoding="UTF-8"?>{MULLER}'.encode(), ""),
        (MULLER.encode("utf-16"), ""),
        (MULLER.encode(), ""),
    ],
)
def test_the_charset_comes_from_mark_header_or_page(sent: bytes, charset: str) -> None:
    assert "Müller" in html.read_document(page(sent, charset=charset)).markdown


@pytest.mark.parametrize(("sent", "verdict"), [(b"  ", "empty"), (b'{"error": 1}', "not_a_paper")])
def test_what_is_no_page_is_refused(sent: bytes, verdict: str) -> None:
    with pytest.raises(BadContent) as caught:
        html.read_document(page(sent))
    assert caught.value.outcome == verdict


def test_links_to_pdf_and_xml_are_absolute_http_and_listed_once() -> None:
    fetched = page(
        "",
        '<base href="https://cdn.publisher.test/x/"><meta name="citation_pdf_url" content="a.pdf">'
        '<link rel="alternate" type="application/pdf" href="https://cdn.publisher.test/x/a.pdf">'
        '<link rel="alternate" type="application/pdf" href="javascript:go()">'
        '<meta name="citation_xml_url" content="/a.xml">',
    )
    assert html.find_pdf_links(fetched) == ["https://cdn.publisher.test/x/a.pdf"]
    assert html.find_xml_links(fetched) == ["https://cdn.publisher.test/a.xml"]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("2; url='/retrieve/pii/S1?x=1&amp;y=2'", "https://publisher.test/retrieve/pii/S1?x=1&y=2"),
        ("0;URL=https://other.test/b", "https://other.test/b"),
        ("5", ""),
        ("0; url=javascript:x()", ""),
        ("0; url=https://publisher.test/a", ""),
    ],
)
def test_a_refresh_says_where_it_leads(content: str, target: str) -> None:
    assert (
        html.find_meta_refresh_url(page("", f'<meta http-equiv="Refresh" content="{content}">'))
        == target
    )


@pytest.mark.parametrize(
    ("body", "head", "wall"),
    [
        ('<form><div class="g-recaptcha" data-sitekey="k"></div></form>', "", "captcha"),
        ('<script src="https://js.hcaptcha.com/1/api.js"></script>', "", "captcha"),
        ('<div class="cf-turnstile"></div>', "<title>Just a moment...</title>", "bot_check"),
        ("<script>const POW_COOKIE_NAME = 'cloudpmc-viewer-pow'</script>", "", "bot_check"),
        ('<form action="/login"><input type="password"></form>', "<title>Log in</title>", "login"),
        ('<div id="article-purchase-options">48 hours access</div>', "", "paywall"),
        ("<h1>Access options</h1>", "<title>Get access | Press</title>", "paywall"),
        ("<ul class='purchase'><li>PDF: 39 EUR</li></ul>", "", "paywall"),
        ("<h1>Oops! Something went wrong</h1>", "", "error_page"),
        ("<noscript>Please enable cookies to continue.</noscript>", "", "cookie_wall"),
        ("<h1>404 Not Found</h1>", "", "error_page"),
        ("", "<title>Access Denied | Journal</title>", "refused"),
    ],
)
def test_walls_are_seen_in_the_structure(body: str, head: str, wall: str) -> None:
    assert wall in read(f"<p>Hello.</p>{body}", head).walls


def test_words_about_walls_are_no_walls() -> None:
    document = read(
        f"<h1>CAPTCHA, paywalls and cookies: who may log in?</h1><p>{PROSE * 8}</p>",
        "<title>CAPTCHA, paywalls and cookies: who may log in? | Journal</title>",
    )
    assert document.walls == ()


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "words", "headings", "references"),
    [
        ("bmc/1471-2148-14-70/fulltext.html", 5000, 8, 70),
        ("elife/e04407/fulltext.html", 11500, 18, 51),
        ("mdpi/04-00932/fulltext.html", 3300, 7, 44),
        ("peerj/727/fulltext.html", 3000, 14, 20),
        ("plosone/journal.pone.0111303/fulltext.html", 2600, 9, 51),
        ("springer/s40643-016-0099-3/fulltext.html", 3800, 15, 25),
        ("tandf/20550308.2015.1135230/fulltext.html", 2850, 7, 34),
        ("sandcrawler/elife_article.html", 3900, 10, 17),  # all that the page has
    ],
)
def test_recorded_pages_keep_their_text(
    shared: Path, name: str, words: int, headings: int, references: int
) -> None:
    document = html.read_document(page((shared / "html" / "publisher" / name).read_bytes()))
    assert document.body_words >= words
    assert document.headings >= headings
    assert document.references >= references
    assert document.ids.doi
    assert document.walls == ()
