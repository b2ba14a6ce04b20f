"""Convert JATS, the XML of journal articles, to markdown.

PMC, Europe PMC and the publishers' archives use JATS (NLM 2.x, JATS 1.0-1.4, with or without
namespace, one article or a ``pmc-articleset``). The markdown has this order: title, abstracts,
keywords, body, floating figures and tables, back matter, front notes, references, sub-articles. The
XML is untrusted: no DTD is loaded, no entity is resolved, no file or host is accessed. Sources:
jats.nlm.nih.gov (Archiving 1.3 tag library) and recorded articles.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...errors import BadContent
from ...model.identifiers import Ids
from ...model.paper import Document, Fetched
from ..safe_xml import get_first_child, list_children
from .claims import (
    OTHER_ABSTRACTS,
    find_main_abstract,
    get_abstract_text,
    get_article_ids,
    get_article_title,
    get_author_family_names,
    get_license_text,
    is_article_retracted,
)
from .elements import BLOCK, BLOCK_INLINE, INLINE, PLAIN, write_footnotes, write_section
from .formulas import MATH_BLOCK, MATH_INLINE
from .references import REFERENCE_BLOCK, REFERENCE_INLINE, write_reference_list
from .tables import TABLE_BLOCK
from .walk import (
    LANG,
    Element,
    Inline,
    MarkdownWalk,
    collapse_whitespace,
    get_all_text,
    keep_unescaped,
)
from .wholeness import find_incomplete_body_signs

__all__ = [
    "ParsedXml",
    "choose_article_element",
    "convert_article_element",
    "make_plain_text_walk",
    "parse_jats",
    "read_document",
]

_INLINE: Final = {**INLINE, **BLOCK_INLINE, **MATH_INLINE, **REFERENCE_INLINE}
_BLOCK: Final = {**BLOCK, **MATH_BLOCK, **TABLE_BLOCK, **REFERENCE_BLOCK}
_PLAIN_BLOCK: Final = dict.fromkeys(_BLOCK, lambda el, walk: walk.write_content(el))
_PARTS: Final = frozenset({"front", "body", "back", "front-stub", "floats-group", "floats-wrap"})
_FLOATS: Final = ("floats-group", "floats-wrap")
_SUB_ARTICLES: Final = ("sub-article", "response")
_NAMED_ENTITY: Final = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|&([A-Za-z]\w*);", re.S)
_HALF_PAIR: Final = re.compile(
    rb"&#(?:x0*d[89a-f][0-9a-f]{2}|0*(?:5529[6-9]|55[3-9]\d\d|5[67]\d{3})"
    rb"|x?0*[1-4]);",  # and what no XML may hold, with which `.walk` marks
    re.I,
)
# Letters that print nothing, by which some typesetters indent; before a vowel they are Korean.
_FILLERS: Final = tuple(letter.encode() for letter in "\u115f\u1160\u3164\uffa0\u2800")
_FILLER: Final = re.compile(b"(?:%b)(?!\xe1(?:\x85[\xa1-\xbf]|[\x86\x87]))" % b"|".join(_FILLERS))
_FILLER_REFERENCE: Final = re.compile(
    rb"&#(?:x0*(?:115f|1160|3164|ffa0|2800)|0*(?:4447|4448|12644|65440|10240));", re.I
)
_FOREIGN_ENTITY: Final = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")
_XML_ENTITIES: Final = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_LINE_PARENTS: Final = frozenset({"p", "td", "th", "title", "italic", "bold", "term", "list-item"})
_DATA_META: Final = re.compile(r"data.*availab", re.I)


@dataclass(frozen=True, slots=True)
class ParsedXml:
    """A parsed XML tree; ``cut_off`` is True if the XML is truncated."""

    root: Element
    cut_off: bool


def parse_jats(body: bytes) -> ParsedXml:
    """Parse the XML, repaired as far as possible.

    Raises
    ------
    BadContent
        The bytes contain no XML, or XML nested deeper than in any paper (256 levels).
    """
    from lxml import etree

    from ..safe_xml import SAFE_OPTIONS

    parser = etree.XMLParser(**SAFE_OPTIONS, recover=True, remove_comments=True, remove_pis=True)
    # The parser accepts a reference to a lone surrogate, which later code cannot encode.
    body = _FILLER_REFERENCE.sub(b" ", _HALF_PAIR.sub(b"&#xFFFD;", body.lstrip()))
    if any(map(body.__contains__, _FILLERS)):
        body = _FILLER.sub(b" ", body)
    if _FOREIGN_ENTITY.search(body):
        body = _NAMED_ENTITY.sub(_to_numeric_entity, body)
    try:
        root = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as error:
        raise _make_not_article_error(f"it cannot be read as XML ({error.msg})") from None
    problems = {entry.type_name for entry in parser.error_log}
    if "ERR_RESOURCE_LIMIT" in problems:
        raise _make_not_article_error(
            "its XML is larger or more deeply nested than that of any paper"
        )
    if root is None:
        raise _make_not_article_error("there is no XML in it")
    unfinished = "ERR_TAG_NOT_FINISHED" in problems
    return ParsedXml(root, unfinished or (bool(problems) and not _has_root_end_tag(body, root)))


def _has_root_end_tag(body: bytes, root: Element) -> bool:
    """Return whether the root's end tag is present; other errors are repaired."""
    name = root.tag.rpartition("}")[2].encode()
    end = rb"</(?:[\w.\-]+:)?" + re.escape(name) + rb"\s*>"
    return re.search(end, body.replace(b"\0", b"")) is not None


def _to_numeric_entity(match: re.Match[bytes]) -> bytes:
    """Return ``&#233;`` for ``&eacute;``, because XML without a DTD knows only five names."""
    name = match[1]
    if not name or name in _XML_ENTITIES:
        return match[0]
    text = html.unescape(match[0].decode("ascii", "replace"))
    if text.endswith(";") and text.startswith("&"):
        return match[0]
    return b"".join(b"&#%d;" % ord(char) for char in text)


def _make_not_article_error(reason: str) -> BadContent:
    return BadContent(f"This is not an article: {reason}.", verdict="not_a_paper")


def read_document(fetched: Fetched) -> Document:
    """Convert a JATS article to a document: markdown with metadata.

    An article without ``body`` is returned, too (``body_words`` is 0); truncated XML gets the
    verdict ``partial``. From a set of articles, the one that shares an identifier with
    ``fetched.ids`` is chosen, or else the first.

    Raises
    ------
    BadContent
        The XML contains no article (verdict ``not_a_paper``).
    """
    parsed = parse_jats(fetched.body)
    return convert_article_element(choose_article_element(parsed.root, fetched.ids), parsed.cut_off)


def convert_article_element(article: Element, cut_off: bool) -> Document:
    """Convert an ``article`` without namespaces to a document; see `read_document`."""
    words = make_plain_text_walk(article)
    walk = MarkdownWalk(article, _INLINE, _BLOCK)
    meta = _find_article_meta(article)
    title = get_article_title(meta, words)
    _write_article(article, walk)
    lost = "the XML is cut off" if cut_off else ""
    return Document(
        markdown="\n\n".join(walk.blocks) + "\n",
        title=title,
        abstract=get_abstract_text(meta, words),
        authors=get_author_family_names(meta, words),
        ids=get_article_ids(meta),
        license=get_license_text(meta),
        article_type=(article.get("article-type") or "").lower(),
        retracted=is_article_retracted(article, meta, title),
        body_words=walk.words,
        headings=walk.headings,
        references=walk.references,
        declared=tuple(walk.declared.items()),
        verdict="partial" if lost else "full_text",
        evidence=lost or ("" if article.find("body") is not None else "the XML has no <body>"),
        signs=tuple(find_incomplete_body_signs(article, walk.words)),
    )


def make_plain_text_walk(
    article: Element, inline: Mapping[str, Inline] | None = None
) -> MarkdownWalk:
    """Return a walk that writes plain text; *inline* maps tags to their formatters."""
    return MarkdownWalk(article, {**PLAIN, **(inline or {})}, _PLAIN_BLOCK, keep_unescaped)


def choose_article_element(root: Element, ids: Ids) -> Element:
    """Return the article with one of *ids*, or else the first, without namespaces."""
    articles = [el for el in root.iter("{*}article") if _has_jats_parts(el)]
    if not articles:
        words = collapse_whitespace(get_all_text(root, " "))[:120]
        raise _make_not_article_error(f"there is no <article> in the XML, only {words!r}")
    for el in articles:
        _remove_namespaces(el)
    if ids:
        for el in articles:
            if get_article_ids(_find_article_meta(el)).shares(ids):
                return el
    return articles[0]


def _has_jats_parts(el: Element) -> bool:
    """Return whether an element has the parts of a JATS article; HTML has ``article``, too."""
    return any(
        isinstance(child.tag, str) and child.tag.rpartition("}")[2] in _PARTS
        for child in list_children(el)
    )


def _remove_namespaces(article: Element) -> None:
    """Remove namespaces from the tags, and distinguish code blocks from inline code."""
    if article.tag.startswith("{"):
        prefix = article.tag[: article.tag.index("}") + 1]
        for el in article.iter(f"{prefix}*"):
            el.tag = el.tag[len(prefix) :]
    for el in article.iter("code"):
        parent = el.getparent()
        in_line = parent is None or parent.tag in _LINE_PARENTS
        if "\n" in (el.text or "").strip() or not in_line:
            el.tag = "preformat"


def _find_article_meta(article: Element) -> Element:
    for path in ("front/article-meta", "front-stub", "front"):
        if (found := article.find(path)) is not None:
            return found
    return article.makeelement("article-meta")


# --- the order of the parts -----------------------------------------------------------------------


def _write_article(article: Element, walk: MarkdownWalk) -> None:
    """Write an article part by part (or a sub-article, one heading level down)."""
    meta = _find_article_meta(article)
    _write_title(article, meta, walk)
    walk.level += 1
    _write_abstracts(meta, walk)
    _write_keywords(meta, walk)
    is_main = article is walk.root
    for body in article.findall("body"):
        if len(walk.blocks) > 1 and is_main and not _is_heading_first(body):
            walk.write_heading("Main text")  # or it would read as the end of the abstract
        walk.counting = is_main
        walk.write_content(body)
        walk.write_unused_lead()
        walk.counting = False
    for name in _FLOATS:
        for floats in article.findall(name):
            write_section(floats, walk, "Figures and tables")
    lists = _write_back_matter(article, walk)
    _write_front_notes(article, meta, walk)
    counted = walk.references
    for el in lists:
        write_reference_list(el, walk, "References")
    if not is_main:
        walk.references = counted
        walk.level -= 1
    for name in _SUB_ARTICLES:
        for el in article.findall(name):
            _write_article(el, walk)
    if is_main:
        walk.level -= 1


def _is_heading_first(body: Element) -> bool:
    opening = next(iter(body), None)
    return opening is None or (opening.tag == "sec" and opening.find("title") is not None)


def _write_title(article: Element, meta: Element, walk: MarkdownWalk) -> None:
    groups = meta.findall("title-group")
    skip = {"fn", "xref"}
    titles = [
        walk.format_line(el, skip)
        for group in groups
        for el in group
        if el.tag in {"article-title", "subtitle"}
    ]
    title = ": ".join(text.rstrip(":") for text in titles if text)
    if article is not walk.root:
        kind = (article.get("article-type") or article.tag).replace("-", " ").capitalize()
        lang = article.get(LANG) or ""
        kind += f" ({lang})" if lang and "ranslation" in kind else ""
        title = title if kind.lower() in title.lower() else ": ".join(filter(None, (kind, title)))
    walk.write_heading(title or "Untitled")
    if article is not walk.root:
        walk.write_paragraph(_format_byline(meta, walk))
    for group in groups:
        for el in group.iter("trans-title"):
            walk.write_paragraph(f"Translated title: {walk.format_line(el, skip)}")


def _format_byline(meta: Element, walk: MarkdownWalk) -> str:
    """Return the authors of a decision letter or reply, which the metadata does not list."""
    names = []
    for contrib in meta.iterfind("contrib-group/contrib"):
        name = next(contrib.iter("name", "string-name", "collab"), None)
        roles = ", ".join(filter(None, (walk.format_line(role) for role in contrib.iter("role"))))
        if name is not None and (text := _format_signed_name(name, walk)):
            names.append(f"{text} ({roles})" if roles else text)
    return ", ".join(dict.fromkeys(names))


def _format_signed_name(name: Element, walk: MarkdownWalk) -> str:
    """Return a name as in a signature: ``Jane Q. Roe``."""
    parts = [
        walk.format_line(get_first_child(name, tag)) for tag in ("given-names", "surname", "suffix")
    ]
    return " ".join(filter(None, parts)) or walk.format_element_line(name)


def _write_abstracts(meta: Element, walk: MarkdownWalk) -> None:
    main = find_main_abstract(meta)
    for el in meta.findall("abstract"):
        if main is not None and main.getparent() is el:
            walk.write_content(el, skip={"title"})
            continue
        kind = (el.get("abstract-type") or "").lower()
        other = OTHER_ABSTRACTS.get(kind) or kind.replace("-", " ").capitalize()
        write_section(el, walk, "Abstract" if el is main else other or "Abstract")
    for el in meta.findall("trans-abstract"):
        lang = el.get(LANG) or ""
        title = walk.format_line(el.find("title")) or "Abstract"
        walk.write_heading(f"{title} ({lang})" if lang else title)
        walk.level += 1
        walk.write_content(el, skip={"title"})
        walk.level -= 1


def _write_keywords(meta: Element, walk: MarkdownWalk) -> None:
    for group in meta.findall("kwd-group"):
        name = walk.format_line(group.find("title")).strip("*").rstrip(":") or "Keywords"
        words = [
            walk.format_line(el)
            for el in group.iter("kwd", "compound-kwd", "nested-kwd", "unstructured-kwd-group")
            if el.tag != "nested-kwd" or not len(el)
        ]
        text = "; ".join(dict.fromkeys(filter(None, words)))
        walk.write_paragraph(f"**{name}:** {text}" if text else "")


def _write_back_matter(article: Element, walk: MarkdownWalk) -> list[Element]:
    """Write the back matter except the reference lists, which are returned to be written last."""
    lists: list[Element] = []
    for back in article.findall("back"):
        for el in back:
            if el.tag == "ref-list":
                lists.append(el)
            elif el.tag == "fn-group":
                write_footnotes(el, walk, "Footnotes")
            else:
                walk.write_element(el)
            walk.write_paragraph(walk.escape(el.tail or ""))
    return lists


def _write_front_notes(article: Element, meta: Element, walk: MarkdownWalk) -> None:
    """Write the notes of the front matter, which follow the text."""
    front = article.find("front")
    for el in front if front is not None else ():
        if el.tag in {"notes", "fn-group"}:
            walk.write_element(el)
    for el in meta.iterfind("title-group//fn"):
        walk.write_paragraph(walk.format_line(el))
    for el in meta.findall("author-notes"):
        write_footnotes(el, walk, "Author notes")
    _write_funding(meta, walk)
    for el in meta.iter("custom-meta"):
        name = el.find("meta-name")
        if name is not None and _DATA_META.search(get_all_text(name)):
            walk.write_heading("Data availability")
            walk.write_paragraph(walk.format_line(el.find("meta-value")))


def _write_funding(meta: Element, walk: MarkdownWalk) -> None:
    statements = [walk.format_line(el) for el in meta.iterfind("funding-group/funding-statement")]
    awards = {}
    for el in meta.iterfind("funding-group/award-group"):
        sources = [_format_funder(source, walk) for source in el.findall("funding-source")]
        numbers = [walk.format_line(number) for number in el.findall("award-id")]
        parts = (", ".join(filter(None, sources)), ", ".join(filter(None, numbers)))
        awards[": ".join(filter(None, parts))] = list(filter(None, numbers))
    awards.pop("", None)
    written = "\n".join(walk.blocks)
    unwritten = [text for text in statements if text and text not in written]
    if not unwritten and (not awards or _are_awards_mentioned(awards.values(), written)):
        return
    walk.write_heading("Funding")
    for text in unwritten:
        walk.write_paragraph(text)
    walk.add_block("\n".join(f"- {award}" for award in awards))


def _are_awards_mentioned(awards: Iterable[Sequence[str]], written: str) -> bool:
    """Return whether the article itself mentions the numbers of all its awards."""
    numbers = [number for award in awards for number in award]
    return bool(numbers) and all(number in written for number in numbers)


def _format_funder(source: Element, walk: MarkdownWalk) -> str:
    """Return the funder's name without its registry number."""
    names = list(source.iter("institution"))
    return walk.format_line(names[0]) if names else walk.format_line(source, skip={"named-content"})
