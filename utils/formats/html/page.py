"""A publisher's article page as markdown, and what the page says about itself.

Everything on the page is hostile until shown otherwise: the charset may be wrong, the nesting
absurd, the links scripts, and the whole of it a wall instead of a paper. Reading never decides
that; it reports claims, walls and counts, and `...judges.check` judges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...errors import BadContent
from ...judges.walls import find_walls
from ...model.paper import Document, Fetched
from ...outline.sections import measure
from ...outline.words import without_long_blanks
from .article import article_root, prune
from .claims import Claims, absolute, read_claims
from .latexml import is_broken, is_latexml, latexml_claims, make_ordinary, without_mathml
from .leftovers import without_leftovers
from .lists import make_lists
from .markdown import tidy, to_markdown
from .openings import head_openings
from .parts import HEADINGS, Part, name_of, name_parts, order_headings, parts_beside
from .references import tidy_references
from .tree import remove

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_MOST = 16_000_000  # bytes; the longest article pages are 5 MB
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]?\s*(?:url\s*=)?\s*['\"]?(.*?)['\"]?\s*$", re.I | re.S)


def read(fetched: Fetched) -> Document:
    """Read an article page.

    Raises
    ------
    BadContent
        The answer is no HTML at all (``not_a_paper``) or has nothing in it (``empty``).
    """
    soup = _parse(fetched)
    claims = read_claims(soup, fetched.url)
    walls = find_walls(soup, fetched.url, claims.closed)
    lost = ""
    if is_latexml(soup):
        claims = latexml_claims(soup, claims)
        lost = "the page says that its conversion broke off" if is_broken(soup) else ""
        make_ordinary(soup)
    page_title = _page_title(soup, claims)
    markdown = _markdown(soup, claims, page_title, fetched.url)
    found = measure(markdown)
    return Document(
        markdown=markdown,
        title=page_title,
        abstract=found.abstract or claims.abstract,
        authors=claims.authors,
        ids=claims.ids,
        license=claims.license or fetched.license,
        retracted=bool(re.match(r"\W*retracted\b", page_title, re.I)),
        body_words=found.body_words,
        headings=found.headings,
        references=found.references,
        walls=walls,
        verdict="partial" if lost else "full_text",
        evidence=lost,
    )


def pdf_links(fetched: Fetched) -> list[str]:
    """Absolute addresses at which the page says the same article is to be had as PDF."""
    return list(read_claims(_parse(fetched), fetched.url).pdf)


def xml_links(fetched: Fetched) -> list[str]:
    """Absolute addresses at which the page says the same article is to be had as XML."""
    return list(read_claims(_parse(fetched), fetched.url).xml)


def refresh_target(fetched: Fetched) -> str:
    """Where a ``<meta http-equiv="refresh">`` leads, absolute; empty when there is none."""
    for tag in _parse(fetched).find_all(
        "meta", attrs={"http-equiv": re.compile(r"^refresh$", re.I)}
    ):
        match = _REFRESH.match(str(tag.get("content") or "")[:3000])
        target = absolute(fetched.url, match[1]) if match and match[1] else ""
        if target and target != fetched.url:
            return target
    return ""


def _parse(fetched: Fetched) -> BeautifulSoup:
    from .tree import ShallowSoup

    text = without_mathml(without_long_blanks(_decode(fetched)))
    if not text.strip():
        msg = f"{fetched.source} answered with an empty page."
        raise BadContent(msg, verdict="empty")
    if not re.search(
        r"<(!doctype|html|head|body|meta|div|p|article|title|h1)\b", text[:20_000], re.I
    ):
        msg = f"{fetched.source} called its answer a web page, but it is none."
        raise BadContent(msg, verdict="not_a_paper")
    # An XML declaration only makes the parser warn; the text is decoded already.
    return ShallowSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", text), "lxml")


def _decode(fetched: Fetched) -> str:
    """The page as text: byte order mark, then HTTP header, then what the page declares."""
    from bs4.dammit import EncodingDetector, UnicodeDammit

    body = fetched.body[:_MOST]
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace").replace("\x00", "")
    # UTF-8 before what a guesser thinks, where one happens to be installed.
    declared = EncodingDetector.find_declared_encoding(body, is_html=True)
    known = [name for name in (fetched.charset, declared, "utf-8") if name]
    text = UnicodeDammit(body, known_definite_encodings=known, is_html=True).unicode_markup
    return (text or body.decode("utf-8", "replace")).replace("\x00", "")


def _page_title(soup: BeautifulSoup, claims: Claims) -> str:
    """The article's title: claimed, else the page's first heading, else its ``<title>``."""
    if claims.title:
        return claims.title
    for name in ("h1", "title"):
        tag = soup.find(name)
        if tag is not None and (text := " ".join(tag.get_text(" ").split())):
            return text
    return ""


def _markdown(soup: BeautifulSoup, claims: Claims, title: str, url: str) -> str:
    """The article alone: title, abstract, text, references."""
    prune(soup)
    make_lists(soup)
    tidy_references(soup)
    root = article_root(soup)
    before, after = parts_beside(soup, root)
    name_parts(root)
    told = [part.box.get_text(" ") for part in before if part.name == "Abstract"]
    head_openings(root, " ".join([claims.abstract, *told]))
    order_headings(root, title)
    text = to_markdown(root, url)
    is_told = any(part.name == "Abstract" for part in before + after) or measure(text).abstract
    pieces = [
        f"# {title}" if title else "",
        f"## Abstract\n\n{claims.abstract}" if claims.abstract and not is_told else "",
        *(_under_heading(part, url) for part in before),
        text,
        *(_under_heading(part, url) for part in after),
    ]
    return without_leftovers(tidy("\n\n".join(piece for piece in pieces if piece)))


def _under_heading(part: Part, url: str) -> str:
    """A part found outside the article, under its own heading."""
    headings = part.box.find_all(HEADINGS)
    remove(heading for heading in headings if name_of(heading) == part.name)
    for heading in headings:
        heading.name = "h3"
    return f"## {part.name}\n\n{to_markdown(part.box, url)}"
