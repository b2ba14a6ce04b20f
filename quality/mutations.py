"""Good texts made bad, each in one known way: the verdict must follow.

Every mutation says which verdicts are right. More than one is where two names are equally true of
what is left (a page cut to its first lines is ``partial``, or shows the ``abstract_only``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from html import escape
from io import BytesIO

from lxml import etree, html

from utils.model.paper import Media, Paper

SHORTENED = frozenset({"partial", "abstract_only", "front_matter_only", "paywall"})
BOT = (
    b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><h1>site.test</h1>"
    b'<h2>Checking your browser before accessing the site.</h2><form id="challenge-form" '
    b'action="/cdn-cgi/l/chk_jschl"></form><script src="/cdn-cgi/challenge-platform/x.js">'
    b"</script></body></html>"
)
BOT_MARKDOWN = (
    b"Title: Just a moment...\n\nURL Source: https://site.test/a\n\nWarning: This page maybe "
    b"requiring CAPTCHA, please make sure you are authorized to access this page.\n\n"
    b"Markdown Content:\n"
)
Mutation = tuple[str, bytes, Media, frozenset[str]]
# XML that declares its parts is kept with doubts where only one sign speaks against it.
HALVED = SHORTENED | {"doubtful"}
_A_FEW = 30  # words
_PARSER = etree.XMLParser(resolve_entities=False, load_dtd=False, remove_blank_text=False)


def of_jats(body: bytes, other: bytes) -> Iterator[Mutation]:
    """Mutations of an article; *other* is another article."""
    begin, end = body.index(b"<body"), body.index(b"</body>")
    yield "XML cut off", body[: begin + (end - begin) // 10], "jats", frozenset({"partial"})
    yield "body removed", _shortened(body, 0.0), "jats", frozenset({"front_matter_only"})
    swapped = _with_front_of(body, other)
    yield "front of another paper", swapped, "jats", frozenset({"wrong_paper"})
    refused = frozenset({"bot_check", "captcha", "not_a_paper"})
    yield "bot page before the XML", BOT + body, "jats", refused
    yield "bot page instead of XML", BOT, "jats", refused


def cuts_of_jats(body: bytes) -> Iterator[Mutation]:
    """An article with so much of its body, everything else as it was."""
    for share in (0.1, 0.5):
        yield (
            f"body cut to {share:.0%}".replace("%", " %"),
            _shortened(body, share),
            "jats",
            HALVED if share > 0.1 else SHORTENED,
        )


def cuts_of_page(page: bytes) -> Iterator[Mutation]:
    """A page with half of its text, headings and lists as they were."""
    yield "page cut to 50 %", _thinned(page, 0.5), "html", SHORTENED


def of_page(page: bytes, paper: Paper) -> Iterator[Mutation]:
    """Mutations of a publisher's page."""
    yield "page cut to 10 %", _thinned(page, 0.1), "html", SHORTENED
    yield "page without its text", _thinned(page, 0.0), "html", SHORTENED
    yield "page of the abstract", _abstract_page(paper), "html", frozenset({"abstract_only"})
    yield "bot page", BOT, "html", frozenset({"bot_check", "captcha"})
    yield "bot page as PDF", BOT, "pdf", frozenset({"bot_check", "captcha"})
    # The paper is there, after all; but a page that begins like that may be refused.
    yield "bot page before the page", BOT + page, "html", frozenset({"full_text", "bot_check"})
    yield "login page", _login_page(paper), "html", frozenset({"login"})


def of_markdown(markdown: str, paper: Paper) -> Iterator[Mutation]:
    """Mutations of a paper's markdown as Jina's Reader hands it over."""
    blocks = markdown.split("\n\n")
    head = f"Title: {paper.title}\n\nURL Source: https://site.test/a\n\nMarkdown Content:\n"
    tenth = "\n\n".join(blocks[: max(3, len(blocks) // 10)])
    yield "markdown", (head + markdown).encode(), "markdown", frozenset({"full_text"})
    if _A_FEW < len(tenth.split()) < 600:  # a title by itself is no paper cut short
        yield "markdown cut to 10 %", (head + tenth).encode(), "markdown", SHORTENED
    abstract = f"{head}# {paper.title}\n\n## Abstract\n\n{paper.abstract}"
    yield "markdown of the abstract", abstract.encode(), "markdown", frozenset({"abstract_only"})
    yield "bot page in markdown", BOT_MARKDOWN, "markdown", frozenset({"bot_check", "captcha"})


def of_pdf(body: bytes) -> Iterator[Mutation]:
    """Mutations of a PDF of at least four pages."""
    yield "first page of a PDF", first_pages(body, 0.0), "pdf", SHORTENED
    yield "first half of a PDF", first_pages(body, 0.5), "pdf", SHORTENED
    yield "PDF cut off", body[: len(body) // 10], "pdf", frozenset({"partial", "not_a_paper"})


def first_pages(body: bytes, share: float) -> bytes:
    """A PDF of so many of its first pages, one at least."""
    import pypdfium2

    whole, first, out = pypdfium2.PdfDocument(body), pypdfium2.PdfDocument.new(), BytesIO()
    first.import_pages(whole, list(range(max(1, int(share * len(whole))))))
    first.save(out)
    first.close()
    whole.close()
    return out.getvalue()


def _find(tree: etree._Element, name: str) -> etree._Element:
    found = tree.xpath(f"//*[local-name()='{name}'][1]")
    return found[0]


def _shortened(body: bytes, share: float) -> bytes:
    """The article with so much of its body, floats and all; no body at all with 0."""
    tree = etree.fromstring(body, _PARSER)
    place = _find(tree, "body")
    if not share:
        place.getparent().remove(place)
        return bytes(etree.tostring(tree))
    wanted, kept = share * len("".join(place.itertext())), 0
    for el in list(place.iter("{*}p", "{*}table-wrap", "{*}fig", "{*}title")):
        if el.getparent() is None or (el.tag == "p" and el.getparent().tag == "caption"):
            continue
        if kept > wanted:
            el.getparent().remove(el)
        kept += len("".join(el.itertext()))
    for el in list(place.iter("{*}sec")):
        if not "".join(el.itertext()).strip() and el.getparent() is not None:
            el.getparent().remove(el)
    return bytes(etree.tostring(tree))


def _with_front_of(body: bytes, other: bytes) -> bytes:
    tree, donor = etree.fromstring(body, _PARSER), etree.fromstring(other, _PARSER)
    ours, theirs = _find(tree, "front"), _find(donor, "front")
    ours.getparent().replace(ours, deepcopy(theirs))
    return bytes(etree.tostring(tree))


def _thinned(page: bytes, share: float) -> bytes:
    """The page with so much of its text; headings, abstract, lists and what is in the head stay."""
    tree = html.fromstring(page, parser=html.HTMLParser(encoding="utf-8"))
    for el in tree.xpath("//table|//figure|//figcaption"):
        if el.getparent() is not None:
            el.drop_tree()
    texts = [
        (el, part)
        for el in tree.body.iter()  # type: ignore[attr-defined]
        if isinstance(el.tag, str)
        for part in ("text", "tail")
        if len((getattr(el, part) or "").split()) > 3 and not _stays(el, part)
    ]
    for el, part in texts[int(share * len(texts)) :]:
        setattr(el, part, None)
    return bytes(html.tostring(tree))


def _stays(el: html.HtmlElement, part: str) -> bool:
    place = el if part == "text" else el.getparent()
    kept = {"h1", "h2", "h3", "h4", "h5", "h6", "li", "script", "style"}
    around = (place, *place.iterancestors())
    return any(parent.tag in kept for parent in around) or _in_abstract(place)


def _in_abstract(el: html.HtmlElement) -> bool:
    names = (f"{part.get('class', '')} {part.get('id', '')}" for part in (el, *el.iterancestors()))
    return any(re.search(r"\babs(?:tract|\d*\b)", name, re.I) for name in names)


def _head(paper: Paper) -> str:
    return (
        f'<meta name="citation_title" content="{escape(paper.title)}">'
        f'<meta name="citation_doi" content="{escape(paper.ids.doi)}">'
    )


def _abstract_page(paper: Paper) -> bytes:
    abstract = paper.abstract or "We report what was seen in the field over nine years. " * 12
    return (
        f"<html><head>{_head(paper)}<title>{escape(paper.title)}</title></head><body><main>"
        f"<h1>{escape(paper.title)}</h1><h2>Abstract</h2><p>{escape(abstract)}</p></main></body>"
        "</html>"
    ).encode()


def _login_page(paper: Paper) -> bytes:
    return (
        f"<html><head>{_head(paper)}<title>Sign in</title></head><body><main>"
        f"<h1>Sign in to read this article</h1><p>{escape(paper.title)}</p>"
        "<form action='/login' method='post'>"
        "<input type='email' name='user'><input type='password' name='password'></form></main>"
        "</body></html>"
    ).encode()
