"""Find the element of a publisher's page that contains the article.

Publishers mark the article in different ways: ``articleBody``, ``<article>``, ``<main>``, or not at
all. First, menus and banners are removed by their names and their share of links. Then the smallest
declared container with nearly all remaining text is chosen (`.parts` adds parts outside of it).
Tested on recorded pages of eight publishers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bs4.element import NavigableString, PageElement, Tag

from ...outline.sections import classify_heading
from .tree import (
    ElementLengths,
    Weights,
    add_descendant_weights,
    find_named_elements,
    get_classes,
    get_text_on_one_line,
    has_word_in_class_or_id,
    list_elements,
    measure_elements,
    remove_nodes,
    replace_nodes_by_text,
)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_NON_TEXT_ELEMENTS = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "applet"),
        *("canvas", "audio", "video", "source", "link", "meta", "button", "input", "select"),
        *("textarea", "dialog", "nav", "map", "hr"),
    )
)
# Site furniture by a part of its class, id or role. Never removed when it holds much of the page.
_FURNITURE_WORDS = frozenset((
    "nav", "navbar", "navigation", "breadcrumb", "breadcrumbs", "cookie", "cookies", "consent",
    "onetrust", "gdpr", "share", "sharing", "addthis", "social", "toolbar", "toolbox", "metrics",
    "altmetric", "dimensions", "banner", "modal", "popup", "tooltip", "skip", "skiplink",
    "skiplinks", "newsletter", "promo", "advert", "advertisement", "ads", "doubleclick",
    "recommender", "recommended", "recommendations", "citedby", "sidebar", "rail", "menu",
    "pagination", "pager", "login", "signin", "printonly", "feedback", "survey", "alert",
    "alerts", "masthead", "complementary", "search", "searchbox", "copyright", "licence",
    "license", "permissionstatement",
))  # fmt: skip
# These name furniture only when the block is mostly links, or nearly empty.
_SUSPECT_WORDS = frozenset((
    "related", "download", "downloads", "toc", "contents", "footer", "header", "tools", "actions",
    "options", "links", "buttons", "aside", "comments", "jump", "carousel", "pdf", "export",
    "cite", "citation", "permissions", "more", "view",
))  # fmt: skip
REFERENCE_WORDS = frozenset((
    "reference", "references", "reflist", "ref", "refs", "reflinks", "bibliography", "citations",
))  # fmt: skip
# Boxes that publishers without such markup put the article in, by class or id.
_ARTICLE_BOXES = frozenset((
    "hlFld-Fulltext", "fulltext-view", "article-body", "article__body", "NLM_body", "maincontent",
    "main-content",
))  # fmt: skip
# Copies that some publishers put on the page for display: captions for a lightbox, the
# article's head beside each figure, a reference beside each number that cites it.
_DISPLAY_COPIES = re.compile(
    r"(?<!\S)(?:html-fig_show|figure-viewer|lightbox"
    r"|(?:figure|table)ViewerArticleInfo|dropDownAlt|html-oa-logo|callout"
    r"|elife-reflinks-sort\S*|elife-reflink-details-cited)(?!\S)"
)
NOISE_LINKS = re.compile(
    r"\[?((view|full|display|open|load) (article|full|full size|large|larger|high res(olution)?)?"
    r" ?(text|size|image|figure|table|version|asset|slide|inline|popup|all references|this \w+:?)?"
    r"|(view|open) (in|on|as) (an? )?(new )?"
    r"(article|tab|window|viewer|figure viewer|gallery|scopus|\w+ site)"
    r"|pub ?med([ /](central|abstract|ncbi))?( full text)?"
    r"|free (full text|(pmc )?article)"
    r"|cross ?ref|google scholar|cas|isi|web of science( ®)?|scopus|full text( pdf)?"
    r"|publisher full text|medline|ads|open url|download( as)?( \w+){0,2}|pdf|powerpoint( slide)?"
    r"|original image|larger image|png|tiff|jats|(return|go) to (ref|citation|text).*"
    r"|back to (top|article).*|view|export citation|chemport|go to:?|permalink to .*"
    r"|click (here )?to (enlarge|display|view|expand|see) .*|webcite|highwire"
    r"|open in (new tab|figure viewer)|article|math scipub|↵|top"
    r"|full[ -]size (image|figure)|(figure|table) \d+ click to view|epub|source data)\]?[\s.;,]*",
    re.I,
)
# How a figure's or table's caption begins.
CAPTION_LABEL = re.compile(
    r"\W*((supplementary|extended data|appendix) )?"
    r"(table|fig(ure)?|scheme|box|video|movie|chart|plate)\b\.?\s?[A-Z]?\d",
    re.I,
)
_HEADINGS = ["h2", "h3", "h4", "h5", "h6"]
_COPY_BUTTON = re.compile(r"(click to )?copy .{0,40}|.{0,40}\bcopied!", re.I)
_RUNNING_TEXT_MIN_CHARS = 60  # of a paragraph that a link is a part of
_HEAD_CHARS, _HEAD_LINKS = 300, 3  # at most in the head of a section
_LAYOUT_MIN_RATIO = 0.25  # of the page's text: a "sidebar" with more is the layout, not furniture
_WHOLE_MIN_RATIO = 0.9  # a container with less than this has lost part of the article
_DECLARED_MIN_RATIO = 0.4  # a declared container with less than this is a teaser or a comment
_ALL_TEXT_RATIO = 0.98
_MENU_LINK_RATIO = 0.5  # menus and "related articles" are links; prose seldom passes a tenth
_NEVER_FURNITURE = frozenset((
    "html", "body", "main", "article", "table", "tbody", "thead", "tr", "td", "th",
))  # fmt: skip
_PROSE = frozenset(("section", "p", "li", "figure", "h1", "h2", "h3", "h4", "h5", "h6"))
_CITATION = frozenset(("cite", "citation"))
_ENTRIES, _FEWEST_ENTRIES = ("li", "tr", "dd"), 3
_MEDIA = ("img", "table", "math")
_KEYWORDS = ("keywords", "keywords:", "key words", "key words:")
_SIDE_ELEMENTS = frozenset(("aside", "footer", "header"))
_LEAF_ELEMENTS = frozenset(("table", "ul", "ol", "p", "section"))
_INLINE_ELEMENTS = frozenset(("span", "sup", "em", "i", "b"))
_ARTICLE_ELEMENTS = frozenset(("article", "main"))
_BUTTON_MAX_NODES = 3  # in the box of a button: its text, and signs


def remove_page_furniture(soup: BeautifulSoup) -> None:
    """Remove everything outside the article from a parsed page, in place."""
    elements = list_elements(soup)
    replace_nodes_by_text(
        (script, f"${' '.join(script.get_text().split())}$")
        for script in elements
        if script.name == "script" and str(script.get("type") or "").lower().startswith("math/tex")
    )
    remove_nodes(
        tag
        for tag in elements
        if tag.name in _NON_TEXT_ELEMENTS
        or (
            tag.name == "span"
            and len(tag.contents) <= _BUTTON_MAX_NODES
            and _COPY_BUTTON.fullmatch(get_text_on_one_line(tag))
        )
        or (
            _is_hidden_or_display_copy(tag)
            and tag.name != "math"
            and tag.find(["table", "math"]) is None
        )
    )
    remove_nodes(_iterate_site_elements(soup))
    noise = [
        link
        for link in find_named_elements(soup, ("a",))
        if NOISE_LINKS.fullmatch(get_text_on_one_line(link))
    ]
    replace_nodes_by_text(_iterate_texts_around_links(noise))
    remove_nodes(noise)


def _iterate_site_elements(soup: BeautifulSoup) -> Iterator[Tag]:
    """Yield the menus, banners and boxes that belong to the site, not to the article."""
    elements, weights = measure_elements(soup)
    # A single link is not a menu: each link counts for the boxes around it.
    links: Weights = Counter()
    for link in [tag for tag in elements if tag.name == "a"]:
        links[id(link.parent)] += weights[id(link)]
    titles = Counter(id(tag) for tag in elements if tag.name == "h1")
    media = Counter(id(tag) for tag in elements if tag.name in _MEDIA)
    for counts in (links, titles, media):
        add_descendant_weights(elements, counts)
    references = _collect_reference_element_ids(elements)
    for tag in elements:
        if id(tag) in references:
            continue
        furniture = has_word_in_class_or_id(tag, _FURNITURE_WORDS)
        if tag.name in _NEVER_FURNITURE or not (
            furniture or has_word_in_class_or_id(tag, _SUSPECT_WORDS) or tag.name in _SIDE_ELEMENTS
        ):
            continue
        weight = weights[id(tag)]
        if (
            weight > _LAYOUT_MIN_RATIO * weights[id(soup)]
            or titles[id(tag)]
            or _is_keyword_box(tag)
        ):
            continue
        is_prose = not furniture or tag.name in _PROSE
        is_empty = not weight and not media[id(tag)]
        if not (furniture or is_empty) and _is_section_head(tag, weights, links):
            yield from (
                link
                for link in find_named_elements(tag, ("a",))
                if link.find_parent(_HEADINGS) is None
            )
        elif is_prose and not is_empty and links[id(tag)] <= _MENU_LINK_RATIO * weight:
            continue
        elif tag.name != "a" or not _is_link_in_running_text(tag, weights, links):
            yield tag


def _collect_reference_element_ids(elements: list[Tag]) -> set[int]:
    """Return the ``id()`` of all elements in reference lists, which may be mostly links."""
    entries: list[Tag] = []
    headed = False  # by the references' heading
    for tag in elements:
        if tag.name in _HEADINGS:
            headed = classify_heading(get_text_on_one_line(tag)) == "references"
        elif headed and (tag.name in _ENTRIES or has_word_in_class_or_id(tag, _CITATION)):
            entries.append(tag)
    found = {id(tag) for tag in entries} if len(entries) >= _FEWEST_ENTRIES else set()
    for tag in elements:
        if id(tag.parent) in found or has_word_in_class_or_id(tag, REFERENCE_WORDS):
            found.add(id(tag))
    return found


def _is_keyword_box(box: Tag) -> bool:
    """Return whether a box begins with the label of the keywords."""
    return next(iter(box.stripped_strings), "").lower() in _KEYWORDS


def _is_link_in_running_text(link: Tag, weights: Weights, links: Weights) -> bool:
    """Return whether *link* is part of a sentence, like the number in "Table 2 shows"."""
    around = link.parent
    while around is not None and around.name in _INLINE_ELEMENTS:
        around = around.parent
    whole = weights[id(around)]
    return whole >= _RUNNING_TEXT_MIN_CHARS and links[id(around)] <= _MENU_LINK_RATIO * whole


def _is_section_head(box: Tag, weights: Weights, links: Weights) -> bool:
    """Return whether *box* is the head of a section or figure with a few buttons."""
    around, weight = box.parent, weights[id(box)]
    whole = weights[id(around)]
    if around is None or weight > _HEAD_CHARS or links[id(around)] > _MENU_LINK_RATIO * whole:
        return False
    if (
        box.find_previous_sibling(True) is not None
        or len(find_named_elements(box, ("a",))) > _HEAD_LINKS
    ):
        return False
    if CAPTION_LABEL.match(box.get_text(" ")):
        return whole > weight
    headings = box.find_all(_HEADINGS, limit=2)
    heading = headings[0] if len(headings) == 1 else None
    unlinked = heading is not None and links[id(heading)] <= _MENU_LINK_RATIO * weights[id(heading)]
    return unlinked and whole >= 2 * weight


def _iterate_texts_around_links(links: list[Tag]) -> Iterable[tuple[PageElement, str]]:
    """Yield the texts around *links* without brackets and commas."""
    texts: dict[int, tuple[PageElement, str]] = {}
    for link in links:
        before, after = link.previous_sibling, link.next_sibling
        if type(before) is not NavigableString:
            continue
        ahead = texts.get(id(before), (before, str(before)))[1].rstrip()
        behind = after.lstrip() if type(after) is NavigableString else ""
        if after is not None and ahead.endswith("[") and behind.startswith("]"):
            texts[id(before)] = before, ahead[:-1]
            texts[id(after)] = after, behind[1:]
        elif ahead.endswith((",", "|", "·")):
            texts[id(before)] = before, ahead[:-1]
    return texts.values()


def find_article_element(soup: BeautifulSoup, page: ElementLengths) -> Tag:
    """Return the element of a pruned page that is the article."""
    elements, weights = page
    root: Tag = soup.body or soup
    declared = [tag for tag in elements if _is_declared_article(tag)]
    most = max((weights[id(tag)] for tag in declared), default=0)
    if most and most >= _DECLARED_MIN_RATIO * weights[id(root)]:
        whole = [tag for tag in declared if weights[id(tag)] >= _WHOLE_MIN_RATIO * most]
        root = min(whole, key=lambda tag: weights[id(tag)])
    while True:  # follow the one child that holds everything, also down a tower of nested boxes
        children = [
            tag for tag in root.find_all(True, recursive=False) if tag.name not in _LEAF_ELEMENTS
        ]
        heavy = [
            tag for tag in children if weights[id(tag)] >= _ALL_TEXT_RATIO * weights[id(root)] > 0
        ]
        if not heavy:
            return root
        root = heavy[0]


def _is_hidden_or_display_copy(tag: Tag) -> bool:
    """Return whether an element repeats text for display, or is hidden from readers."""
    if not tag.attrs:
        return False
    labels = f"{' '.join(get_classes(tag))} {tag.attrs.get('id', '')}"
    return tag.attrs.get("aria-hidden") == "true" or _DISPLAY_COPIES.search(labels) is not None


def is_marked_abstract(tag: Tag) -> bool:
    """Return whether the page marks *tag* as the abstract."""
    if not tag.attrs:
        return False
    labels = (*get_classes(tag), str(tag.attrs.get("id") or ""))
    return tag.attrs.get("itemprop") == "abstract" or "abstract" in map(str.lower, labels)


def _is_declared_article(tag: Tag) -> bool:
    """Return whether the page declares *tag* to be the article."""
    attrs = tag.attrs
    return tag.name in _ARTICLE_ELEMENTS or (
        bool(attrs)
        and (
            attrs.get("role") in _ARTICLE_ELEMENTS
            or "articleBody" in str(attrs.get("itemprop") or "")
            or "ScholarlyArticle" in str(attrs.get("itemtype") or "")
            or not _ARTICLE_BOXES.isdisjoint((*get_classes(tag), str(attrs.get("id") or "")))
        )
    )
