"""Build publishers' pages: three families, each with its own menus around the paper."""

from collections.abc import Callable
from html import escape
from urllib.parse import quote

from .prose import abstract, body, references
from .records import Record

_TABLE = (
    "<table><caption>Table 1. Means by group.</caption><thead><tr><th>Group</th><th>early</th>"
    "<th>late</th></tr></thead><tbody><tr><td>control</td><td>1.02</td><td>0.98</td></tr><tr>"
    "<td>treated</td><td>3.71</td><td>2.15</td></tr></tbody></table>"
)
_EXTRAS = {
    "table": _TABLE,
    "figure": '<figure><img src="fig1.jpg" alt=""><figcaption>Fig. 1.</figcaption></figure>',
    "formula": '<div class="formula">\\[ v = \\frac{V_{max} S}{K_m + S} \\]</div>',
    "greek": "<p>Values of Δψ and of TGF-β<sub>1</sub> are given as α ± σ.</p>",
}
_COOKIES = (
    '<div id="onetrust-banner-sdk" role="dialog" aria-label="Cookie banner"><p>We use cookies to '
    "improve your experience, to analyse traffic and to show you relevant content. By clicking "
    "accept you agree to our use of cookies.</p><button>Accept all cookies</button>"
    "<button>Manage preferences</button></div>"
)
_NAVIGATION = (
    "<ul><li><a href='/'>Home</a></li><li><a href='/journals'>Journals A–Z</a></li><li>"
    "<a href='/authors'>For authors</a></li><li><a href='/subscribe'>Subscribe</a></li>"
    "<li><a href='/login'>Log in</a></li><li><a href='/cart'>Cart (0)</a></li></ul>"
)
_FOOTER = "<p>© 2026 All rights reserved. Privacy policy. Terms of use. Contact us. Sitemap.</p>"
_RELATED = (
    "<h3>Related articles</h3><ul><li><a href='/x/1'>Ten things nobody measured</a></li><li>"
    "<a href='/x/2'>A letter about letters</a></li></ul><h3>Most read</h3><p>Get alerts.</p>"
)
PICTURE = b"\xff\xd8\xff\xe0 a picture of a page"
Frame = Callable[[Record, str, str], str]


def build_article_page(record: Record, base: str, family: str = "meadow") -> str:
    """Return the publisher's page with the whole paper, without a PDF link."""
    return _write_page(record, base, family, _write_full_text(record, family), pdf=False)


def abstract_page(record: Record, base: str, family: str, *, pdf: bool, more: str = "") -> str:
    """Return the landing page: metadata and abstract, with a PDF link or with *more*."""
    return _write_page(record, base, family, _write_abstract(record) + more, pdf=pdf)


def paywall_page(record: Record, base: str, family: str) -> str:
    """Return a page with the abstract, a preview and a price."""
    offer = (
        '<div class="access-options paywall"><h2>Access options</h2><p>This is a preview of '
        "subscription content, access via your institution.</p><ul><li>Buy this article: "
        "39,95 €</li><li>Rent for 48 hours: 9,95 €</li></ul><a href='/login'>Log in</a></div>"
    )
    return abstract_page(record, base, family, pdf=False, more=offer)


def _write_page(record: Record, base: str, family: str, inner: str, *, pdf: bool) -> str:
    return _FRAMES[family](record, _write_head(record, base, pdf=pdf), inner)


def get_pdf_path(record: Record) -> str:
    """Return the path of a paper's PDF at its publisher."""
    return f"/pdf/{quote(record.doi, safe='')}.pdf"


def _write_head(record: Record, base: str, *, pdf: bool) -> str:
    values = [
        ("citation_title", record.plain_title), ("citation_journal_title", record.journal.title),
        ("citation_publication_date", record.published.replace("-", "/")),
        ("citation_doi", record.doi), ("citation_pmid", record.pmid),
        ("dc.identifier", f"doi:{record.doi}"),
        *(("citation_author", f"{family}, {given}") for family, given in record.authors),
    ]  # fmt: skip
    if pdf:
        values.append(("citation_pdf_url", base + get_pdf_path(record)))
    metas = "".join(
        f'<meta name="{name}" content="{escape(value)}">' for name, value in values if value
    )
    title = escape(f"{record.plain_title} | {record.journal.title}")
    return f'<meta charset="utf-8"><title>{title}</title>{metas}'


def _write_abstract(record: Record) -> str:
    parts = "".join(
        f"<h3>{label.title()}</h3><p>{text}</p>" if label else f"<p>{text}</p>"
        for label, text in abstract(record)
    )
    return (
        f'<section id="abstract" class="abstract"><h2>Abstract</h2>{parts}</section>'
        if parts
        else ""
    )


def _write_full_text(record: Record, family: str) -> str:
    parts = [_write_abstract(record)]
    for title, paragraphs in body(record):
        extra = "".join(html for name, html in _EXTRAS.items() if name in record.features)
        blocks = "".join(
            block if block.startswith("<table") else f"<p>{block}</p>" for block in paragraphs
        )
        parts.append(_write_section(title, blocks + (extra if title == "Results" else ""), family))
    return "".join(parts) + list_references(record, family)


def _write_section(title: str, inner: str, family: str) -> str:
    heading = f"<h2>{title}</h2>" if title else ""
    if family == "harbour":
        return f'<div class="NLM_sec NLM_sec_level_1">{heading}{inner}</div>'
    if family == "summit":
        inside = f'<div class="c-article-section__content">{heading}{inner}</div>'
        return f'<div class="c-article-section">{inside}</div>'
    return f"<section>{heading}{inner}</section>"


def list_references(record: Record, family: str) -> str:
    """Return the section of references."""
    rows = "".join(
        f'<li>{who}. {title}. <i>{journal}</i> {year}. <a href="https://doi.org/{doi}">{doi}</a></li>'
        for who, title, journal, year, doi in references(record)
    )
    if not rows:
        return ""
    name = "references" if family != "summit" else "c-article-references"
    return f'<section id="references" class="{name}"><h2>References</h2><ol>{rows}</ol></section>'


def _write_title(record: Record) -> str:
    people = ", ".join(f"{given} {family}" for family, given in record.authors)
    return (
        f'<h1>{record.title}</h1><p class="authors">{escape(people)}</p><p class="citation">'
        f"{record.journal.title} {record.year};{record.volume}:{record.pages}. "
        f'<a href="https://doi.org/{escape(record.doi)}">https://doi.org/{escape(record.doi)}</a></p>'
    )


def _write_meadow_page(record: Record, head: str, inner: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{_COOKIES}<header><nav>'
        f"{_NAVIGATION}</nav></header><main><article>{_write_title(record)}{inner}</article><aside>"
        f"{_RELATED}</aside></main><footer>{_FOOTER}</footer></body></html>"
    )


def _write_harbour_page(record: Record, head: str, inner: str) -> str:
    return (
        f'<!DOCTYPE html><html class="pb-page"><head>{head}</head><body><div class="header base">'
        f'{_NAVIGATION}</div><div class="container"><div class="article-header">'
        f'{_write_title(record)}</div><div class="hlFld-Fulltext">{inner}</div>'
        f'<div class="rlist related">{_RELATED}</div></div><div class="footer">{_FOOTER}</div>'
        f"{_COOKIES}</body></html>"
    )


def _write_summit_page(record: Record, head: str, inner: str) -> str:
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body><div class="c-header">'
        f'{_NAVIGATION}</div><div id="content" role="main"><div class="c-article-header">'
        f'{_write_title(record)}</div><div class="c-article-body">{inner}</div></div>'
        f'<div class="c-ad">Advertisement</div>{_RELATED}{_COOKIES}<footer>{_FOOTER}</footer>'
        "</body></html>"
    )


_FRAMES: dict[str, Frame] = {
    "meadow": _write_meadow_page,
    "harbour": _write_harbour_page,
    "summit": _write_summit_page,
}
