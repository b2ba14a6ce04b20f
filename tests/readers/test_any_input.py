"""Whatever is thrown at the readers: our own errors only, no word lost, no blow-up.

Time is never looked at. That work grows with the input and not with its square is seen by counting
calls, memory by what Python allocated, each for nothing, n and 4 n of a construct.
"""

import dataclasses
import gc
import json
import math
import re
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from tests.examples import often, some
from tests.readers import strategies as any_
from tests.world.corpus import small_corpus
from tests.world.pdf import pdf_of
from utils import readers as formats
from utils.demo import pages
from utils.demo.jats import document as jats_document
from utils.demo.pubmed_xml import pubmed_article
from utils.errors import BadRequest, PaperError
from utils.http.messages import SECRET_PARAMETERS, redact_url
from utils.http.retry import parse_retry_after
from utils.model.identifiers import Ids
from utils.model.paper import Author, Document, Fetched, Notice, Paper, StoredPaper
from utils.readers import html, jats, plain_markdown
from utils.readers.html import find_meta_refresh_url, find_pdf_links, find_xml_links
from utils.readers.jats import _BLOCK, _INLINE, _PARTS
from utils.readers.pdf import reader as pdf
from utils.readers.pubmed import iterate_records
from utils.shelf import paper_file
from utils.system.plain_text import clean_text, one_line

READERS = {"jats": jats, "html": html, "markdown": plain_markdown, "pdf": pdf}
CASES = Path(__file__).parents[2] / "quality" / "cases"
URL = "https://site.test/article/1"


SAME: dict[str, Any] = {  # the same examples on every machine and every day
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}


def fetched(body: bytes | str, media: str, charset: str = "") -> Fetched:
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    return Fetched(raw, media, URL, "site", "publisher", charset=charset)  # type: ignore[arg-type]


def check(made: Document, size: int) -> None:
    """What holds of every document, whatever it was made from."""
    json.dumps(dataclasses.asdict(made), ensure_ascii=False).encode("utf-8")
    assert len(made.markdown) <= 60 * size + 2000
    assert min(made.body_words, made.headings, made.references, made.pages) >= 0


def harmless(body: bytes | str, media: str, charset: str = "") -> None:
    """Read it: a document that can be kept, or an error that can be shown."""
    if media == "markdown" and charset in any_.NO_TEXT_CHARSETS:
        charset = ""  # its own test below says what happens
    given_ = fetched(body, media, charset)
    try:
        check(READERS[media].read_document(given_), len(given_.body))
    except PaperError as error:
        json.dumps(error.envelope(), ensure_ascii=False).encode("utf-8")


# --- what comes: bytes, text, trees, broken papers -----------------------------------------------

JATS_TAGS = sorted({str(tag) for tag in (*_BLOCK, *_INLINE, *_PARTS)} - {""})
JATS_NAMES = [tag for tag in JATS_TAGS if re.fullmatch(r"[a-z0-9-]+", tag)] + [
    *("article", "article-meta", "title-group", "article-title", "contrib-group", "contrib"),
    *(
        "surname", "given-names", "abstract", "trans-abstract", "article-id", "pub-id",
        "permissions",
    ),
    *("license", "license-p", "kwd-group", "kwd", "title", "label", "caption", "thead", "tbody"),
    *("tr", "td", "th", "list-item", "def-item", "term", "def", "ref", "element-citation", "year"),
    *(
        "sub-article", "response", "math", "mrow", "mi", "mfrac", "msup", "mtable", "mtd",
        "custom-meta",
    ),
]  # fmt: skip
JATS_ATTRIBUTES = [
    *('colspan="3"', 'colspan="0"', 'colspan="-1"', 'colspan="99999999999"', 'colspan="²"'),
    *('rowspan="2"', 'rowspan="99999999"', 'rowspan="٣"', 'id="a"', 'id=""', 'rid="a"',
        'rid="a b a"'),
    *('ref-type="bibr"', 'ref-type="fig"', 'list-type="roman-lower"', 'list-type="order"'),
    *('pub-id-type="doi"', 'pub-id-type="pmid"', 'pub-id-type="pmcid"', 'xml:lang="&#x202e;"'),
    *('abstract-type="graphical"', 'article-type="retraction"', 'license-type="open"'),
    *('x:href="https://[a"', 'x:href="javascript:a"', 'xmlns:x="http://www.w3.org/1999/xlink"'),
    *('xmlns="urn:x"', 'content-type="x"', 'open="("', 'separators=""', 'mathvariant="bold"'),
]  # fmt: skip
HTML_NAMES = [
    *("html", "head", "body", "title", "article", "main", "section", "div", "span", "p", "a", "br"),
    *("h1", "h2", "h3", "h6", "ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead",
        "tr"),
    *("td", "th", "figure", "figcaption", "img", "blockquote", "pre", "code", "em", "b", "sup"),
    *("sub", "math", "mi", "annotation", "svg", "script", "style", "meta", "link", "nav", "aside"),
    *("footer", "header", "form", "input", "button", "iframe", "template", "noscript", "textarea"),
    *("select", "option", "details", "summary", "q", "hr", "base", "frameset", "plaintext",
        "video"),
]  # fmt: skip
HTML_ATTRIBUTES = [
    *('class="abstract"', 'class="references"', 'class="nav"', 'class="related"', 'class=""'),
    *('id="abstract"', 'role="main"', 'role="presentation"', 'itemprop="articleBody"'),
    *('aria-hidden="true"', 'colspan="3"', 'colspan="-1"', 'rowspan="9999999"', 'rowspan="²"'),
    *('href="https://[a"', 'href="//x:y"', 'href="#a"', 'href="javascript:a"', 'href="/a.pdf"'),
    *('name="citation_title"', 'name="citation_doi"', 'name="citation_author"', 'name="robots"'),
    *('name="citation_pdf_url"', 'name="citation_pmid"', 'property="og:title"', 'content=","'),
    *('content="10.1000/a"', 'content="0; url=https://[a"', 'content="²"', 'http-equiv="refresh"'),
    *('http-equiv="content-type"', 'content="text/html; charset=hex"', 'charset="utf-7"'),
    *('type="application/ld+json"', 'type="math/tex"', 'type="password"', 'alttext="x"'),
    *('start="²"', 'start="-1"', 'start="99999999999999999999"', 'encoding="application/x-tex"'),
    *('style="display:none"', 'itemtype="https://schema.org/ScholarlyArticle"', 'rel="license"'),
]
PUBMED_ATTRIBUTES = [
    'IdType="doi"', 'ValidYN="N"', 'EIdType="doi"', 'Label="X"', 'RefType="ErratumIn"',
]  # fmt: skip


@cache
def seeds(media: str) -> list[bytes]:
    """The project's own papers."""
    corpus = small_corpus()
    records = [corpus.branch(name) for name in ("pmc_cloud", "retracted", "non_english")]
    if media == "jats":
        return [path.read_bytes() for path in sorted(CASES.glob("*.xml"))] + [
            jats_document(record) for record in records
        ]
    if media == "html":
        made = [
            pages.build_article_page(record, "https://site.test", family).encode()
            for record, family in zip(records, ("meadow", "harbour", "summit"), strict=True)
        ]
        return [*made, pages.paywall_page(records[0], "https://site.test", "meadow").encode()]
    if media == "pubmed":
        inner = "".join(map(pubmed_article, records))
        return [f"<PubmedArticleSet>{inner}</PubmedArticleSet>".encode()]
    if media == "pdf":
        return [pdf_of(corpus.branch("unpaywall_pdf"))]
    envelope = "Title: A\n\nURL Source: https://a.test/b\n\nMarkdown Content:\n"
    return [
        (
            envelope
            + READERS["jats"].read_document(fetched(jats_document(record), "jats")).markdown
        ).encode()
        for record in records
    ]


def broken(media: str) -> st.SearchStrategy[bytes]:
    return st.deferred(lambda: any_.broken(seeds(media)))


@cache
def pubmed_names() -> list[str]:
    return sorted(set(re.findall(r"<([A-Za-z]+)", seeds("pubmed")[0].decode())) | {"ERROR", "sub"})


@pytest.mark.parametrize("media", ["jats", "html", "markdown"])
@often(60, **SAME)
@given(body=any_.any_bytes, charset=any_.charsets)
def test_any_bytes_are_read_or_refused(media: str, body: bytes, charset: str) -> None:
    harmless(body, media, charset)


@pytest.mark.parametrize("charset", any_.NO_TEXT_CHARSETS)
def test_markdown_in_an_unknown_charset_is_read(charset: str) -> None:
    plain_markdown.read_document(fetched(b"# One\n\ntwo", "markdown", charset))


@often(50, **SAME)
@given(text=any_.texts, charset=any_.charsets)
def test_any_text_is_read_or_refused(text: str, charset: str) -> None:
    harmless(text, "markdown", charset)
    harmless(f"<html><body><p>{text}", "html", charset)
    harmless(f"<article><body><p>{text}</p></body></article>", "jats")


@often(50, **SAME)
@given(
    front=any_.trees(JATS_NAMES, JATS_ATTRIBUTES, most=10),
    body=any_.trees(JATS_NAMES, JATS_ATTRIBUTES),
)
def test_any_tree_of_jats_is_read(front: str, body: str) -> None:
    xml = (
        f"<article><front><article-meta>{front}</article-meta></front><body>{body}</body></article>"
    )
    harmless(xml, "jats")


@pytest.mark.parametrize("reference", ["&#xD800;", "&#57343;"])
def test_half_a_surrogate_pair_in_jats_is_read_or_refused(reference: str) -> None:
    harmless(f"<article><body><p>a{reference}</p></body></article>", "jats")


@often(60, **SAME)
@given(body=any_.trees(JATS_NAMES, JATS_ATTRIBUTES, well_formed=False))
def test_any_broken_tree_of_jats_is_read(body: str) -> None:
    harmless(f"<article><body>{body}", "jats")


@often(50, **SAME)
@given(
    head=any_.trees(["meta", "link", "title", "script", "base"], HTML_ATTRIBUTES, False, 8),
    body=any_.trees(HTML_NAMES, HTML_ATTRIBUTES, False),
)
def test_any_tree_of_html_is_read(head: str, body: str) -> None:
    harmless(f"<html><head>{head}</head><body>{body}", "html")


@often(50, **SAME)
@given(told=any_.json_texts, name=any_.texts, value=any_.texts)
def test_any_claim_in_a_page_is_read(told: str, name: str, value: str) -> None:
    quoted = value.replace('"', "&quot;")
    metas = "".join(
        f'<meta name="citation_{key}" content="{quoted}">'
        for key in ("title", "doi", "author", "pdf_url", "pmid", "abstract", "xml_url")
    )
    refresh = f'<meta http-equiv="refresh" content="{quoted}">'
    data = f'<script type="application/ld+json">{told}</script>'
    page = f"<html><head>{metas}{refresh}{data}</head><body><p>{name}</p></body></html>"
    harmless(page, "html")
    for ask in (find_pdf_links, find_xml_links, find_meta_refresh_url):
        json.dumps(ask(fetched(page, "html")), ensure_ascii=False).encode()


@often(50, **SAME)
@given(data=st.data())
def test_any_tree_of_pubmed_is_read(data: st.DataObject) -> None:
    names = pubmed_names()
    inner = data.draw(any_.trees(names, PUBMED_ATTRIBUTES, data.draw(st.booleans())))
    known = (
        f"<PubmedArticle><MedlineCitation><PMID>7</PMID>{inner}</MedlineCitation></PubmedArticle>"
    )
    records(f"<PubmedArticleSet>{known}{inner}</PubmedArticleSet>".encode())


@often(50, **SAME)
@given(body=any_.any_bytes | broken("pubmed"))
def test_any_pubmed_bytes_are_read_or_refused(body: bytes) -> None:
    records(body)


def records(body: bytes) -> None:
    try:
        for record in iterate_records(body):
            json.dumps(dataclasses.asdict(record), ensure_ascii=False).encode()
    except PaperError as error:
        json.dumps(error.envelope(), ensure_ascii=False).encode()


@pytest.mark.parametrize(("media", "examples"), [("jats", 60), ("html", 25), ("markdown", 30)])
def test_a_broken_paper_is_read_or_refused(media: str, examples: int) -> None:
    @often(examples, **SAME)
    @given(body=broken(media))
    def holds(body: bytes) -> None:
        harmless(body, media)

    holds()


@often(6, **SAME)
@given(body=broken("pdf") | any_.any_bytes.map(b"%PDF-1.7\n".__add__))
def test_a_broken_pdf_is_read_or_refused(body: bytes) -> None:
    harmless(body, "pdf")


# --- the judges ----------------------------------------------------------------------------------

any_ids = st.builds(
    Ids,
    doi=st.just("") | any_.texts.map("10.1000/{}".format),
    pmid=st.sampled_from(["", "1", "31452104"]),
    pmcid=st.sampled_from(["", "PMC123"]),
)
papers = st.builds(
    Paper,
    ids=any_ids,
    title=any_.texts,
    abstract=any_.texts,
    authors=st.lists(
        st.builds(Author, family=any_.texts, given=any_.texts, collective=any_.texts), max_size=3
    ).map(tuple),
    journal=any_.texts,
    published=st.sampled_from(["", "2026", "2026-02", "x"]) | any_.texts,
    pages=any_.texts,
    languages=st.lists(st.sampled_from(["eng", "", "jpn"]) | any_.texts, max_size=2).map(tuple),
    vernacular_title=any_.texts,
    other_abstracts=st.lists(st.tuples(any_.texts, any_.texts), max_size=2).map(tuple),
    publication_types=st.lists(
        st.sampled_from(["Letter", "Retracted Publication", "Published Erratum", "x"]), max_size=2
    ).map(tuple),
    notices=st.lists(st.builds(Notice, st.just("retraction"), any_.texts), max_size=1).map(tuple),
    license=any_.texts,
)


@pytest.mark.parametrize("media", ["jats", "html", "markdown"])
def test_any_record_can_be_judged_against(media: str) -> None:
    @often(25, **SAME)
    @given(paper=papers, body=broken(media) | any_.any_bytes)
    def holds(paper: Paper, body: bytes) -> None:
        try:
            made = formats.read_and_judge(fetched(body, media), paper)
            check(made, len(body))
        except PaperError as error:
            json.dumps(error.envelope(), ensure_ascii=False).encode()

    holds()


# --- no word lost, none glued, order kept ---------------------------------------------------------


@often(50, **SAME)
@given(article=any_.articles_in_jats())
def test_every_word_of_a_jats_article_is_kept_in_order(article: tuple[str, list[str]]) -> None:
    xml, words = article
    assert words_of(jats.read_document(fetched(xml, "jats"))) == words


@often(50, **SAME)
@given(article=any_.articles_in_html())
def test_every_word_of_a_page_is_kept_in_order(article: tuple[str, list[str]]) -> None:
    page, words = article
    assert words_of(html.read_document(fetched(page, "html"))) == words


@often(60, **SAME)
@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=8))
def test_every_word_of_markdown_is_kept_in_order(numbers: list[list[int]]) -> None:
    words = [f"k{number}q" for block in numbers for number in block]
    text = "\n\n".join(" * ".join(f"k{number}q" for number in block) for block in numbers)
    assert words_of(plain_markdown.read_document(fetched(text, "markdown"))) == words


def words_of(made: Document) -> list[str]:
    """Words in the text; two that were glued together count as one that nobody knows."""
    plain = re.sub(r"</?su[bp]>", "", made.markdown)
    return re.findall(r"[^\W_]*k\d+q[^\W_]*", plain)


# --- four times the input, four times the work ----------------------------------------------------


def jats_body(inner: str, more: str = "") -> bytes:
    return (
        f"<article><front/><body><sec><title>T</title>{inner}</sec></body>{more}</article>".encode()
    )


def spanning(n: int, rows: str, cell: str) -> str:
    """Half as many long cells as rows, each said to span them all."""
    above = f'<tr>{f"""<td rowspan="{rows}">{cell}</td>""" * (n // 4)}</tr>'
    return f"<table>{above}{'<tr><td>x</td></tr>' * n}</table>"


def page_of(inner: str, head: str = "") -> bytes:
    return (
        f"<html><head><title>T</title>{head}</head><body><article><h1>T</h1>{inner}</article></body>"
    ).encode()


JATS_GROWING: dict[str, Callable[[int], bytes]] = {
    "paragraphs": lambda n: jats_body("<p>one two</p>" * n),
    "nested sections": lambda n: jats_body("<sec><title>a</title><p>b</p>" * n + "</sec>" * n),
    "nested unknown tags": lambda n: jats_body("<x>a " * n + "<p>b</p>" + "</x>" * n),
    "many towers": lambda n: jats_body(("<x>" * 60 + "<p>b</p>" + "</x>" * 60) * (n // 20)),
    "nested lists": lambda n: jats_body(
        "<list><list-item><p>a</p>" * n + "</list-item></list>" * n
    ),
    "list items": lambda n: jats_body(f"<list>{'<list-item><p>a</p></list-item>' * n}</list>"),
    "emphasis": lambda n: jats_body(f"<p>{'<italic>a</italic><bold>b</bold>' * n}</p>"),
    "nested emphasis": lambda n: jats_body(f"<p>{'<italic>a' * n}{'</italic>' * n}</p>"),
    "stars and brackets": lambda n: jats_body(f"<p>{'*a_[](`$' * n}</p>"),
    "table rows": lambda n: jats_body(f"<table>{'<tr><td>a</td><td>b</td></tr>' * n}</table>"),
    "row spans": lambda n: jats_body(
        "<table>" + '<tr><td rowspan="2">a</td><td>b</td></tr><tr><td>b</td></tr>' * n + "</table>"
    ),
    "a label pointed at": lambda n: jats_body(
        f'<fig id="a"><label>{"w " * n}</label></fig><p><xref ref-type="fig" rid="{"a " * n}"/></p>'
    ),
    "a label under many pointers": lambda n: jats_body(
        f'<fig id="a"><label>{"w " * n}</label></fig>' + '<p><xref ref-type="fig" rid="a"/></p>' * n
    ),
    "footnotes in a line": lambda n: jats_body(f"<p>{'a<fn><p>b</p></fn> ' * n}</p>"),
    "nested footnotes": lambda n: jats_body(f"<p>{'a<fn><p>b' * n}{'</p></fn>' * n}</p>"),
    "cross-references": lambda n: jats_body(
        "<p>" + '<xref ref-type="bibr">1</xref>, ' * n + "</p>"
    ),
    "ids": lambda n: jats_body("".join(f'<p id="p{i}">a <xref rid="p{i}"/></p>' for i in range(n))),
    "references": lambda n: jats_body(
        "<p>a</p>",
        "<back><ref-list>"
        + "<ref><label>1</label><mixed-citation>A <year>1</year>, b</mixed-citation></ref>" * n
        + "</ref-list></back>",
    ),
    "authors of a reference": lambda n: jats_body(
        "<p>a</p>",
        "<back><ref-list><ref><element-citation>"
        + "<name><surname>A</surname><given-names>B</given-names></name>" * n
        + "</element-citation></ref></ref-list></back>",
    ),
    "rows of a formula": lambda n: jats_body(
        f"<p><math><mrow>{'<mi>x</mi><mo>+</mo>' * n}</mrow></math></p>"
    ),
    "nested formula": lambda n: jats_body(
        f"<p><math>{'<msup><mi>x</mi>' * n}<mi>y</mi>{'</msup>' * n}</math></p>"
    ),
    "sub-articles": lambda n: jats_body(
        "<p>a</p>", "<sub-article><front-stub/><body><p>b</p></body></sub-article>" * n
    ),
    "contributors": lambda n: (
        "<article><front><article-meta><contrib-group>"
        + "<contrib><name><surname>A</surname></name></contrib>" * n
        + "</contrib-group></article-meta></front><body><p>a</p></body></article>"
    ).encode(),
    "articles": lambda n: (
        "<set>" + "<article><front/><body><p>a</p></body></article>" * n + "</set>"
    ).encode(),
    "entities": lambda n: jats_body("<p>" + "&eacute;&lol;" * n + "</p>"),
}
HTML_GROWING: dict[str, Callable[[int], bytes]] = {
    "paragraphs": lambda n: page_of("<p>one two</p>" * n),
    "boxes": lambda n: page_of("<div>a</div>" * n),
    "nested boxes": lambda n: page_of("<div>a" * n + "</div>" * n),
    "many towers": lambda n: page_of(("<div>" * 40 + "<p>b</p>" + "</div>" * 40) * (n // 20)),
    "suspect boxes": lambda n: page_of("<div class='related'><p>a b</p></div>" * n),
    "nested suspects": lambda n: page_of("<div class='view'>a" * n + "</div>" * n),
    "headings": lambda n: page_of("<h2>a</h2><p>b c</p>" * n),
    "headings like the title": lambda n: page_of(
        f"<p>{'word ' * 30}</p>" + "<h2>T</h2><p>b</p>" * n
    ),
    "headings in the abstract": lambda n: page_of(
        f"<div class='abstract'><h2>Abstract</h2><p>{'word ' * 60}</p>{'<h3>a</h3><p>b</p>' * n}"
        f"</div>{'<h2>c</h2><p>d</p>' * n}"
    ),
    "abstracts": lambda n: page_of("<div class='abstract'><p>a</p></div>" * n),
    "articles": lambda n: page_of("<article><p>a</p></article>" * n),
    "list items": lambda n: page_of(f"<ul>{'<li>a</li>' * n}</ul>"),
    "nested lists": lambda n: page_of("<ul><li>a" * n + "</li></ul>" * n),
    "tables": lambda n: page_of("<table><tr><td>a</td><td>b</td></tr></table>" * n),
    "table rows": lambda n: page_of(f"<table>{'<tr><td>a</td><td>b</td></tr>' * n}</table>"),
    "header rows": lambda n: page_of(
        f"<table><thead>{'<tr><th>a</th><th>b</th></tr>' * n}</thead><tr><td>c</td></tr></table>"
    ),
    "different header rows": lambda n: page_of(
        f"<table><thead>{''.join(f'<tr><th>a{i}</th><th>b</th></tr>' for i in range(n))}</thead>"
        "<tr><td>c</td></tr></table>"
    ),
    "nested tables": lambda n: page_of(
        ("<table><tr><td>a" * 5 + "</td></tr></table>" * 5) * (n // 5)
    ),
    "links": lambda n: page_of(f"<p>{'<a href=/x>a</a> b ' * n}</p>"),
    "emphasis": lambda n: page_of(f"<p>{'<em>a</em><b>c</b> b ' * n}</p>"),
    "stars and brackets": lambda n: page_of(f"<p>{'*a_[](`$' * n}</p>"),
    "images": lambda n: page_of("<p><img src=a alt='b'></p>" * n),
    "scripts": lambda n: page_of("<p>a</p>" + "<script>x</script>" * n),
    "meta tags": lambda n: page_of("<p>a</p>", "<meta name=citation_author content='A, B'>" * n),
    "linked data": lambda n: page_of(
        "<p>a</p>", '<script type="application/ld+json">{"@type":"ScholarlyArticle"}</script>' * n
    ),
    "list of linked data": lambda n: page_of(
        "<p>a</p>",
        '<script type="application/ld+json">['
        + '{"@type":"ScholarlyArticle","author":{"name":"A"}},' * n
        + "{}]</script>",
    ),
    "references": lambda n: page_of(
        f"<p>a</p></article><section class=references><h2>References</h2><ol>{'<li>a b</li>' * n}"
        "</ol></section><article>"
    ),
    "unclosed tags": lambda n: page_of("<p><b><i>a" * n),
}
MARKDOWN_GROWING: dict[str, Callable[[int], bytes]] = {
    "headings": lambda n: b"# a\n\nb\n\n" * n,
    "sections": lambda n: b"## Abstract\n\nb\n\n## References\n\n1. a\n\n" * n,
    "warnings": lambda n: (
        b"Title: a\nURL Source: b\n" + b"Warning: c\n" * n + b"Markdown Content:\nd"
    ),
    "brackets": lambda n: b"[a](b) ![c](d) [[" * n,
    "paragraphs": lambda n: b"one two\n\n" * n,
}
PUBMED_GROWING: dict[str, Callable[[int], bytes]] = {
    "authors": lambda n: pubmed_with(
        "<AuthorList>" + "<Author><LastName>A</LastName></Author>" * n + "</AuthorList>"
    ),
    "abstract parts": lambda n: pubmed_with(
        "<Abstract>" + "<AbstractText Label='A'>b <i>c</i></AbstractText>" * n + "</Abstract>"
    ),
    "records": lambda n: (
        "<PubmedArticleSet>"
        + "<PubmedArticle><MedlineCitation><PMID>7</PMID></MedlineCitation></PubmedArticle>" * n
        + "</PubmedArticleSet>"
    ).encode(),
    "marks in a title": lambda n: pubmed_with(f"<ArticleTitle>{'<i>a</i> ' * n}</ArticleTitle>"),
    "nested marks": lambda n: pubmed_with(
        f"<ArticleTitle>{'<i>a' * (n // 4)}{'</i>' * (n // 4)}</ArticleTitle>"
    ),
}


def pubmed_with(inner: str) -> bytes:
    return (
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>"
        f"{inner}</Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    ).encode()


GROWING = {
    (media, name): make
    for media, table in (
        ("jats", JATS_GROWING),
        ("html", HTML_GROWING),
        ("markdown", MARKDOWN_GROWING),
        ("pubmed", PUBMED_GROWING),
    )
    for name, make in table.items()
}


def readings(media: str, body: bytes) -> None:
    if media == "pubmed":
        records(body)
    else:
        try:
            READERS[media].read_document(fetched(body, media))
        except PaperError:
            return


SOME = {"html": 20}  # BeautifulSoup is slow, slower still when watched
SOME_ELSEWHERE = 60
LEAST = {"calls": 200, "allocated": 20_000}  # less is noise


def cost(work: Callable[[], None], with_memory: bool) -> dict[str, int]:
    """Functions called, those written in C too, and the most bytes Python held at once."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    if with_memory:
        tracemalloc.start()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        gc.enable()
    return {"calls": count, "allocated": held} if with_memory else {"calls": count}


@pytest.mark.parametrize(("media", "name"), some(GROWING))
def test_work_and_memory_grow_with_the_input_only(media: str, name: str) -> None:
    make = GROWING[media, name]
    some = 100 if name == "headings like the title" else SOME.get(media, SOME_ELSEWHERE)
    readings(media, make(some))  # imports, compiled patterns
    none, once, four = (
        cost(lambda n=n: readings(media, make(n)), media != "html") for n in (0, some, 4 * some)
    )
    for what in once:
        first, rest = once[what] - none[what], four[what] - once[what]
        # Three more parts cost three times the first; the square would be fifteen times.
        assert rest <= 6 * max(first, LEAST[what]), (what, first, rest)


@pytest.mark.parametrize("media", ["jats", "html"])
def test_cells_spanning_many_rows_are_repeated_within_a_budget(media: str) -> None:
    """Repeated without end, these 50 kB would be 32 MB."""
    table = spanning(800, "5000", "w" * 199)
    body = jats_body(table) if media == "jats" else page_of(table)
    document = READERS[media].read_document(fetched(body, media))
    assert len(document.markdown) < 1_500_000


# --- names, files, headers, addresses -------------------------------------------------------------

doi_texts = st.text(st.sampled_from("abz09./:;()_-[]é中"), max_size=12).map("a{}b".format)
ODD_DOIS = ["10.1000/?", "10.1000/#a", "10.1000//", "10.1000/a'.", "10.1000/a%2541"]
typed_ids = (
    st.builds("10.{}/{}".format, st.integers(1000, 999_999_999), doi_texts)
    | st.builds("https://doi.org/10.1000/{}".format, doi_texts)
    | st.builds("PMC{}".format, st.integers(1, 10**9))
    | st.builds("{}".format, st.integers(1, 99_999_999))
    | st.builds("arXiv:{:04d}.{:05d}v{}".format, *[st.integers(0, 9999)] * 3)
    | st.builds("math.GT/{:07d}".format, st.integers(0, 9_999_999))
    | st.binary(min_size=20, max_size=20).map(bytes.hex)
)


def parsed(text: str) -> Ids:
    """The identifiers, or none: nothing else may happen."""
    try:
        return Ids.parse(text)
    except BadRequest as error:
        json.dumps(error.envelope())
        return Ids()


@often(60, **SAME)
@given(any_.texts | st.text() | typed_ids)
def test_any_text_is_an_identifier_or_a_bad_request(text: str) -> None:
    found = parsed(text)
    assert len(found.names()) <= 1
    assert Ids.maybe(text) == found


@often(60, **SAME)
@given(typed_ids)
def test_an_identifier_is_read_back_as_it_is_written(text: str) -> None:
    found = parsed(text)
    assume(found)
    assert parsed(str(found)) == found


@pytest.mark.parametrize("text", ODD_DOIS)
def test_an_odd_doi_is_read_back_as_it_is_written(text: str) -> None:
    found = parsed(text)
    assert parsed(str(found)) == found


some_ids = st.builds(
    Ids,
    doi=st.just("") | any_.texts | typed_ids | st.text(max_size=300),
    pmid=st.just("") | any_.texts,
    pmcid=st.just("") | any_.texts,
)


@often(60, **SAME)
@given(some_ids, st.sampled_from(["full_text", "abstract"]))
def test_a_file_name_is_safe_whatever_the_identifiers(ids: Ids, kind: Any) -> None:
    assume(ids)
    name = paper_file.build_file_stem(ids, kind)
    assert re.fullmatch(r"[A-Za-z0-9._()\[\]{};,+=@#&'!~$%^` -]+", name)
    assert name[0] not in ". -"
    assert name[-1] not in ". "
    assert len(name) <= 240
    assert not re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name)
    assert paper_file.build_file_stem(ids, kind) == name
    assert all(isinstance(each, str) for each in paper_file.list_candidate_names(ids))


@often(60, **SAME)
@given(any_.texts | doi_texts, any_.texts | doi_texts)
def test_two_papers_have_two_file_names(one: str, other: str) -> None:
    ours, theirs = Ids(doi=f"10.1000/{one}"), Ids(doi=f"10.1000/{other}")
    assume(ours and theirs)  # a DOI with a step such as "/../" is none
    # "/" and ":" both became "_" in the older program; the shelf tells such neighbours apart.
    assume(paper_file.to_legacy_name(ours.doi) != paper_file.to_legacy_name(theirs.doi))
    names = {paper_file.build_file_stem(ids).lower() for ids in (ours, theirs)}
    assert len(names) == 2
    assert len({paper_file.append_short_hash("same", each) for each in (ours.doi, theirs.doi)}) == 2


@often(50, **SAME)
@given(
    paper=papers,
    body=any_.texts,
    license_=any_.texts,
    kind=st.sampled_from(["full_text", "abstract"]),
)
def test_a_papers_file_reads_back(paper: Paper, body: str, license_: str, kind: Any) -> None:
    version = "published" if kind == "full_text" else ""
    stored = StoredPaper(paper, kind, "", "PMC", "efetch", "", license=license_, version=version)
    assume(one_line(license_) or not license_)  # see the test below
    writes_abstract = kind == "abstract"
    text = (
        paper_file.build_abstract_file(stored)
        if writes_abstract
        else paper_file.build_full_text_file(stored, body)
    )
    text.encode("utf-8")
    found = paper_file.parse_paper_file(text)
    assert found is not None
    assert found == paper_file.parse_paper_file(text.replace("\n", "\r\n"))
    assert found.header["Title"] == one_line(paper.title)
    assert found.header.get("License", "") == one_line(license_)
    assert found.ids.pmid == paper.ids.pmid
    assert found.ids.doi == one_line(paper.ids.doi)
    is_record = writes_abstract and not found.paper.abstract
    assert (found.kind, found.retracted) == ("record" if is_record else kind, paper.retracted)
    assert found.paper.year == one_line(paper.year)
    if not writes_abstract:
        assert found.body == clean_text(body).strip("\n") + "\n"
    elif paper.abstract.strip() != paper_file.NO_ABSTRACT:
        assert found.paper.abstract == clean_text(paper.abstract).strip()
    stored = replace(stored, kind=found.kind)
    told = paper_file.build_abstract_file(stored) if is_record else text
    assert paper_file.add_header(found.apply_header(stored), found.body) == told


def test_a_blank_license_leaves_no_line_in_the_header() -> None:
    stored = StoredPaper(Paper(Ids(pmid="1")), "full_text", "", "PMC", "efetch", "", license="\n")
    assert "License" not in paper_file.build_full_text_file(stored, "x")


@often(50, **SAME)
@given(any_.texts | st.text())
def test_cleaned_text_is_clean_for_good(text: str) -> None:
    made = clean_text(text)
    made.encode("utf-8")
    assert clean_text(made) == made
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", made)
    assert one_line(one_line(text)) == one_line(text)
    assert not set(one_line(text)) & set("\n\t\r\x0b\x85\u2028")


address_texts = st.text(st.sampled_from("abz09./:;?&=#%@[]+ é\\\t\n"), max_size=12)


@often(60, **SAME)
@given(any_.texts | st.text() | address_texts.map("https://a.test/{}".format) | address_texts)
def test_any_address_can_be_redacted(url: str) -> None:
    made = redact_url(url)
    assert redact_url(made) == made


@often(60, **SAME)
@given(
    name=st.sampled_from(sorted(SECRET_PARAMETERS)),
    spelled=st.sampled_from([str, str.upper, str.title, lambda name: name.replace("e", "%65")]),
    before=address_texts,
    after=address_texts,
    user=st.sampled_from(["", "qqsecretqq@", "me:qqsecretqq@", "a@qqsecretqq@"]),
)
def test_no_secret_survives_redaction(
    name: str, spelled: Callable[[str], str], before: str, after: str, user: str
) -> None:
    before = re.sub(r"[#\t\n]", "", before)
    url = f"https://{user}a.test/x?{before}&{spelled(name)}=qqsecretqq&{after}"
    assert "qqsecretqq" not in redact_url(url)


weekdays = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Wed", "", "x"]),
    st.integers(-1, 99),
    st.sampled_from(["Oct", "Feb", "x"]),
    st.integers(-1, 99999),
    *[st.integers(-1, 99)] * 3,
    st.sampled_from(["GMT", "+9999", "-99999999", "x", ""]),
)


@often(60, **SAME)
@given(any_.texts | st.text() | weekdays | st.floats().map(str) | st.integers().map(str))
def test_any_retry_after_is_a_time_to_wait(value: str) -> None:
    assert 0 <= parse_retry_after(value) < math.inf
