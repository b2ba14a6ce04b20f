"""Convert publishers' article pages to markdown, with their metadata and declared links.

The page is untrusted input: the charset may be wrong, elements may be nested extremely deeply,
links may be scripts, and the page may be a login wall instead of a paper. The reader reports
claims, walls and counts; `...judges.check` decides.

Pages repeat text for their layout (the abstract in tabs, captions in a lightbox, the heading of a
box) and have empty headings for boxes that a script fills. These are removed from the markdown,
where they look alike; in the tree they differ from publisher to publisher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ...errors import BadContent
from ...judges.walls import find_page_walls
from ...model.paper import Document, Fetched
from ...outline.sections import classify_heading, measure_text
from ...outline.words import collapse_long_whitespace, count_words, fold_words
from .article import find_article_element, remove_page_furniture
from .claims import PageMetadata, collect_page_metadata, to_absolute_url
from .latexml import (
    complete_page_metadata,
    convert_latexml_page,
    drop_mathml,
    is_conversion_broken,
    is_latexml_page,
)
from .links import PageLinks
from .loaded import (
    find_script_tables,
    insert_head_references,
    insert_script_tables,
    mark_missing_tables,
)
from .markdown import convert_to_markdown, tidy_markdown
from .outline import find_menu_signs, find_section_menus
from .parts import (
    HEADINGS,
    MAIN_TEXT,
    PagePart,
    add_missing_headings,
    find_parts_outside_article,
    get_heading_name,
    insert_part_headings,
    normalize_heading_levels,
)
from .references import simplify_reference_lists
from .tree import ElementLengths, list_elements, measure_elements, remove_nodes
from .visible import reduce_page_to_visible

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

    from .tree import ShallowSoup

__all__ = ["find_meta_refresh_url", "find_pdf_links", "find_xml_links", "read_document"]

_MAX_PAGE_BYTES = 16_000_000  # bytes; the longest article pages are 5 MB
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_REFRESH = re.compile(r"^\s*[\d.]*\s*[;,]?\s*(?:url\s*=)?\s*['\"]?(.*?)['\"]?\s*$", re.I | re.S)
_HEADING = re.compile(r"(#{1,6})(?: (.*))?")
_CAPTION = re.compile(r"\W*(table|fig(ure)?|scheme|box|video|movie|chart)\b", re.I)
_ONLY_SIGNS = re.compile(r"[\s,;:|.\[\]()*]*")  # left of a row of links
_EDGE_SIGNS = re.compile(r"^\*\*\s*[:.]\s*\*\*\s*|( \|)+$")  # of a bold label, of a row of links
# Headings of the page, not of the paper: what the reader can do with it, or reads next.
_SITE_HEADING = re.compile(
    r"(article )?(level )?metrics( (and|&) citations)?|download( links| citations?)?s?"
    r"|share( this.*)?|cited by.*|cit(ing|ed) (literature|articles?|by).*|citations?"
    r"|categories( and tags)?|tags|subject areas?|(related|similar|associated|recommended|more)"
    r" (articles?|content|links?|papers|research|reading|information|in this journal)( in.*)?"
    r"|similar content being viewed.*|recommend(ed|ations).*|(people|users|readers) also .*"
    r"|(you )?may (also )?(like|be interested).*|of interest"
    r"|(most )?(read|viewed|cited)( articles)?"
    r"|publication (dates?|history)|how to cite.*|cite (this|as).*|(email |content )?alerts?"
    r"|sign up.*|stay up to date|advertisement|view options|access options|author biograph.*"
    r"|published in|submission history|view options|show more|terms (&|and) conditions"
    r"|(notes on|about the) (contributors?|authors?)|more on this topic|article tools|quick links",
    re.I,
)
# Headings of what others wrote about the paper. A journal's decision letter belongs to the article.
_DISCUSSION_HEADING = re.compile(
    r"(open )?peer[- ]review( reports?| status| history| file)?|(current )?(referee|reviewer)s?"
    r"['\u2019]?s? (report|response|status|comment).*|discuss this.*|add (a |your )?comments?"
    r"|(user |reader )?comments?( on this.*| \(\d+\))?"
    r"|(\(\d+\) ?)?(e-?|rapid )(letters?|responses?).*"
    r"|share and cite",
    re.I,
)
# After the references and a section of the site, only sections with these headings are kept.
_PAPER_HEADING = re.compile(
    r"append(ix|ices).*|supplement.*|supporting.*|acknowledg.*|funding.*|author.? contrib.*"
    r"|(competing|conflicts?|declarations?).*|data avail.*|abbreviations?|(foot)?notes?"
    r"|figures?( .*)?|tables?( .*)?|(online )?methods.*|extended data.*"
    r"|decision letter|author resp.*"
    r"|ethic.*|references.*|additional (files?|information)|(electronic )?suppl.*",
    re.I,
)
_LAYOUT_HEADING = re.compile(r"(main )?(article )?(text|article|full text)|main article text", re.I)
_MAX_SITE_WORDS = 150  # longer sections belong to the paper, unless they are mostly links
_CITATION_LINE = re.compile(r"citation: [^\n]{0,300}\b10\.\d{4,9}/[^\n]{0,300}\Z", re.I)
_RIGHTS_LINE = re.compile(
    r"[\W_]{0,6}(copyright\W{0,8})?\u00a9[^\n]{0,80}\b(19|20)\d\d\b[^\n]{0,200}"
    r"(licen[sc]e|rights reserved|open[- ]access)[^\n]{0,900}\Z",
    re.I,
)
_REPEAT_DISTANCE_BLOCKS = 3  # blocks: how far a caption may stand from its copy
_COPY_MIN_WORDS = 25  # a repeated paragraph of this length is a copy
_LABEL_MAX_WORDS = 3  # "Fig. 2.", without what the figure shows
# Sections that repeat figures and tables of the text.
_GALLERY_HEADING = re.compile(
    r"((figures?|tables?|media|multimedia|images?|gallery)( (and|&) \w+)*)( gallery)?", re.I
)
_ABSTRACT_MAX_CHARS = 20_000
_MARKDOWN_LINK = re.compile(r"\[[^\[\]]{0,500}\]\([^()\s]{0,2000}\)")
_MENU_LINK_RATIO = 0.4  # of a section's words, that are linked


def read_document(fetched: Fetched) -> Document:
    """Convert a publisher's article page to a document.

    Raises
    ------
    BadContent
        The response is not HTML (``not_a_paper``) or is empty (``empty``).
    """
    soup = parse_page(fetched)
    claims = collect_page_metadata(soup, fetched.url)
    walls = find_page_walls(soup, fetched.url, claims.closed)
    links = PageLinks(soup, fetched.url)
    lost = ""
    menus = find_section_menus(soup)
    made_by_latexml = is_latexml_page(soup)
    tables = find_script_tables(soup)
    soup.discard_element_list()
    insert_script_tables(soup, tables)
    if made_by_latexml:
        claims = complete_page_metadata(soup, claims)
        lost = "the page says that its conversion was aborted" if is_conversion_broken(soup) else ""
        convert_latexml_page(soup)
    page_title = _choose_page_title(soup, claims)
    markdown = _format_article(soup, claims, page_title, links)
    found = measure_text(markdown)
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
        signs=tuple(find_menu_signs(menus, markdown)),
    )


def find_pdf_links(fetched: Fetched) -> list[str]:
    """Return the absolute URLs at which the page offers the same article as PDF."""
    return list(collect_page_metadata(parse_page(fetched), fetched.url).pdf)


def find_xml_links(fetched: Fetched) -> list[str]:
    """Return the absolute URLs at which the page offers the same article as XML."""
    return list(collect_page_metadata(parse_page(fetched), fetched.url).xml)


def find_meta_refresh_url(fetched: Fetched) -> str:
    """Return the absolute URL of a ``<meta http-equiv="refresh">``; empty without one."""
    for tag in parse_page(fetched).find_all(
        "meta", attrs={"http-equiv": re.compile(r"^refresh$", re.I)}
    ):
        match = _REFRESH.match(str(tag.get("content") or "")[:3000])
        target = to_absolute_url(fetched.url, match[1]) if match and match[1] else ""
        if target and target != fetched.url:
            return target
    return ""


def parse_page(fetched: Fetched) -> ShallowSoup:
    """Parse a page into a tree.

    Raises
    ------
    BadContent
        The response is empty, or not a page.
    """
    from .tree import ShallowSoup

    text = drop_mathml(collapse_long_whitespace(decode_page(fetched)))
    if not text.strip():
        msg = f"{fetched.source} answered with an empty page."
        raise BadContent(msg, verdict="empty")
    if not re.search(
        r"<(!doctype|html|head|body|meta|div|p|article|title|h1)\b", text[:20_000], re.I
    ):
        msg = f"{fetched.source} declared its answer a web page, but the answer is not HTML."
        raise BadContent(msg, verdict="not_a_paper")
    # An XML declaration only makes the parser warn; the text is decoded already.
    return ShallowSoup(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))


def decode_page(fetched: Fetched) -> str:
    """Decode a page by its byte order mark, its HTTP header or its own declaration."""
    from bs4.dammit import EncodingDetector, UnicodeDammit

    body = fetched.body[:_MAX_PAGE_BYTES]
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace").replace("\x00", "")
    # UTF-8 precedes the guess of a charset detector, if one happens to be installed.
    declared = EncodingDetector.find_declared_encoding(body, is_html=True)
    candidates = [name for name in (fetched.charset, declared, "utf-8") if name]
    text = UnicodeDammit(body, known_definite_encodings=candidates, is_html=True).unicode_markup
    return (text or body.decode("utf-8", "replace")).replace("\x00", "")


def _choose_page_title(soup: BeautifulSoup, claims: PageMetadata) -> str:
    """Return the title in the page's metadata, or else the first heading or the ``<title>``."""
    if claims.title:
        return claims.title
    for name in ("h1", "title"):
        tag = soup.find(name)
        if tag is not None and (text := " ".join(tag.get_text(" ").split())):
            return text
    return ""


def _format_article(soup: BeautifulSoup, claims: PageMetadata, title: str, links: PageLinks) -> str:
    """Return the article alone as markdown: title, abstract, text, references."""
    reduce_page_to_visible(soup)
    mark_missing_tables(soup, links.url)
    insert_head_references(soup)
    remove_page_furniture(soup)
    simplify_reference_lists(soup)
    page = measure_elements(soup)
    root = find_article_element(soup, page)
    inside = list_elements(root)
    before, after = find_parts_outside_article(root, inside, page)
    insert_part_headings(ElementLengths(inside, page.weights))
    abstracts = [part.box.get_text(" ") for part in before if part.name == "Abstract"]
    add_missing_headings(root, " ".join([claims.abstract, *abstracts]))
    normalize_heading_levels(root, title)
    text = convert_to_markdown(root, links)
    has_abstract = (
        any(part.name == "Abstract" for part in before + after) or measure_text(text).abstract
    )
    pieces = [
        f"# {title}" if title else "",
        f"## Abstract\n\n{claims.abstract}" if claims.abstract and not has_abstract else "",
        *(_format_outside_part(part, links) for part in before),
        text,
        *(_format_outside_part(part, links) for part in after),
    ]
    return drop_repeated_and_site_sections(
        tidy_markdown("\n\n".join(piece for piece in pieces if piece))
    )


def _format_outside_part(part: PagePart, links: PageLinks) -> str:
    """Return a part found outside the article's element as markdown with a heading of its own."""
    headings = part.box.find_all(HEADINGS)
    remove_nodes(heading for heading in headings if get_heading_name(heading) == part.name)
    for heading in headings:
        heading.name = "h3"
    return f"## {part.name}\n\n{convert_to_markdown(part.box, links)}"


class _MarkdownSection(NamedTuple):
    """A section of the markdown: its heading and the blocks under it."""

    level: int
    name: str
    blocks: tuple[str, ...]


def drop_repeated_and_site_sections(markdown: str) -> str:
    """Return *markdown* without repeated parts, empty headings and sections of the site."""
    sections = list(_drop_repeated_sections(_drop_site_sections(_iterate_sections(markdown))))
    kept: list[str] = []
    ended = False  # True after the references
    for section, following in zip_longest(sections, sections[1:]):
        if not section.blocks and _can_drop_empty_heading(section, following, ended):
            continue
        ended = ended or classify_heading(section.name) == "references"
        kept += [f"{'#' * section.level} {section.name}"] if section.level else []
        kept += section.blocks
    return "\n\n".join(kept)


def _iterate_sections(markdown: str) -> Iterator[_MarkdownSection]:
    """Yield the sections of *markdown*, without copyright lines, citation lines and stray signs."""
    level, name, blocks = 0, "", list[str]()
    for block in markdown.split("\n\n"):
        if (heading := _HEADING.fullmatch(block)) and not heading[2]:
            continue
        if heading:
            yield _MarkdownSection(level, name, tuple(_drop_repeated_captions(blocks)))
            level, name, blocks = len(heading[1]), heading[2], []
        elif not (
            _ONLY_SIGNS.fullmatch(block) or _CITATION_LINE.match(block) or _RIGHTS_LINE.match(block)
        ):
            blocks.append(block if block.startswith("|") else _EDGE_SIGNS.sub("", block))
    yield _MarkdownSection(level, name, tuple(_drop_repeated_captions(blocks)))


def _drop_repeated_captions(blocks: list[str]) -> Iterator[str]:
    """Yield blocks without repeated captions, and without labels that a caption repeats."""
    lately: list[list[str]] = []
    for block, following in zip_longest(blocks, blocks[1:], fillvalue=""):
        caption_words = fold_words(block) if _CAPTION.match(block) else []
        is_label = 0 < len(caption_words) <= _LABEL_MAX_WORDS
        if is_label and fold_words(following)[: len(caption_words)] == caption_words:
            continue
        if not caption_words or caption_words not in lately:
            yield block
        lately = [*lately[1 - _REPEAT_DISTANCE_BLOCKS :], caption_words]


def _drop_site_sections(sections: Iterator[_MarkdownSection]) -> Iterator[_MarkdownSection]:
    """Yield the paper's sections; drop the site's own sections and any text after them."""
    above = 0  # the level of the section of the site that is being left out
    ended = False  # True after the references
    for section in sections:
        name = section.name.strip(" :*")
        if above and section.level > above:
            continue
        is_site = section.level > 1 and (
            _is_site_section(section, name)
            or (ended and not _PAPER_HEADING.fullmatch(name) and _is_mostly_links(section))
        )
        follows = (
            bool(above) and ended and not (_PAPER_HEADING.fullmatch(name) or section.level <= 1)
        )
        above = section.level if is_site or follows else 0
        ended = ended or classify_heading(name) == "references"
        if not above:
            yield section


def _is_site_section(section: _MarkdownSection, name: str) -> bool:
    """Return whether a section belongs to the site and not to the paper."""
    if _DISCUSSION_HEADING.fullmatch(name):
        return True
    if not _SITE_HEADING.fullmatch(name):
        return False
    return sum(map(count_words, section.blocks)) < _MAX_SITE_WORDS or _is_mostly_links(section)


def _is_mostly_links(section: _MarkdownSection) -> bool:
    """Return whether most words of a section are links."""
    text = "\n\n".join(section.blocks)
    linked = sum(count_words(link[0]) for link in _MARKDOWN_LINK.finditer(text))
    return linked > _MENU_LINK_RATIO * count_words(text)


def _drop_repeated_sections(sections: Iterator[_MarkdownSection]) -> Iterator[_MarkdownSection]:
    """Yield the sections without duplicates, and without a second abstract before the text."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    seen_blocks: set[str] = set()  # the blocks of all sections so far
    abstract, within = (
        "",
        0,
    )  # the abstract's words; the level of its heading while inside the abstract
    for section in map(partial(_drop_repeated_gallery, said=seen_blocks), sections):
        if section.blocks and section.name and (section.name, section.blocks) in seen:
            continue
        if not section.blocks and _GALLERY_HEADING.fullmatch(section.name):
            continue
        seen.add((section.name, section.blocks))
        seen_blocks.update(map(_fold_block_words, section.blocks))
        within = 0 if section.level <= within else within
        is_abstract = classify_heading(section.name) == "abstract"
        if is_abstract and not abstract:
            within = within or section.level
        if within and len(abstract) < _ABSTRACT_MAX_CHARS:
            abstract += " ".join([" ", *fold_words(" ".join(section.blocks))])
        elif is_abstract or section.name in ("", MAIN_TEXT):
            kept = tuple(
                block for block in section.blocks if not _is_excerpt_of_abstract(block, abstract)
            )
            if kept or not section.blocks:
                yield section._replace(blocks=kept)
            continue
        yield section


def _drop_repeated_gallery(section: _MarkdownSection, said: set[str]) -> _MarkdownSection:
    """Return *section* without captions that the site shows a second time."""
    if classify_heading(section.name) != "references" and not _GALLERY_HEADING.fullmatch(
        section.name
    ):
        return section
    kept = [block for block in section.blocks if _fold_block_words(block) not in said]
    if len(kept) < len(section.blocks):
        kept = [block for block in kept if not _is_label_without_caption(block)]
    return section._replace(blocks=tuple(kept))


def _is_label_without_caption(block: str) -> bool:
    """Return whether a block is a label such as "Fig. 2." without a caption."""
    return bool(_CAPTION.match(block)) and len(fold_words(block)) <= _LABEL_MAX_WORDS


def _fold_block_words(block: str) -> str:
    """Return the words of a block, folded for comparison."""
    return " ".join(fold_words(block))


def _is_excerpt_of_abstract(block: str, abstract: str) -> bool:
    """Return whether a block is a long excerpt of *abstract*."""
    words = fold_words(block)
    return len(words) >= _COPY_MIN_WORDS and " ".join(words) in abstract


def _can_drop_empty_heading(
    section: _MarkdownSection, following: _MarkdownSection | None, ended: bool
) -> bool:
    """Return whether the heading of an empty section can be dropped."""
    if section.level <= 1:
        return False
    if following is None:
        return ended or classify_heading(section.name) != "body"
    if ended and section.level >= following.level:
        return True
    if section.name == following.name or _LAYOUT_HEADING.fullmatch(section.name):
        return True
    return section.level >= following.level and classify_heading(section.name) != "body"
