"""Which part of a publisher's page is the article.

Publishers say it themselves, each in its own way: ``articleBody``, ``<article>``, ``<main>``, or
only by where the words are. So: site furniture is pruned by what its names and its share of links
say, then the tightest declared container that still holds nearly all remaining text is taken,
and an abstract or reference list left outside is fetched back in. Tried on the recorded pages of
eight publishers.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..sections import part_of
from ..words import folded

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_MACHINERY = re.compile(
    r"script|style|noscript|template|svg|iframe|object|embed|applet|canvas|audio|video|source|link"
    r"|meta|button|input|select|textarea|dialog|nav|map"
)
# Site furniture by a part of its class, id or role. Never removed when it holds much of the page.
_FURNITURE = re.compile(
    r"nav|navbar|navigation|breadcrumbs?|cookies?|consent|onetrust|gdpr|shar(e|ing)|addthis|social"
    r"|toolbar|toolbox|metrics|altmetric|dimensions|banner|modal|popup|tooltip|skip|skiplinks?"
    r"|newsletter|promo|advert|advertisement|ads|doubleclick|recommend(er|ed|ations)|citedby|sidebar"
    r"|rail|menu|pagination|pager|login|signin|printonly|feedback|survey|alerts?|masthead"
    r"|complementary|search|searchbox"
)
# These name furniture only when the block is mostly links, or nearly empty.
_SUSPECT = re.compile(
    r"related|downloads?|toc|contents|footer|header|tools|actions|options|links|buttons|aside"
    r"|comments|jump|carousel|pdf|export|cite|citation|permissions|more|view"
)
_ABSTRACT = re.compile(r"abstract")
_REFERENCES = re.compile(r"references?|reflist|refs?|reflinks|bibliography|citations")
# Boxes that publishers without such markup put the article in, by class or id.
_BOXES = re.compile(
    r"hlFld-Fulltext|fulltext-view|article-body|article__body|NLM_body|maincontent|main-content"
)
# The duplicate of a figure's caption some publishers keep for their lightbox.
_DUPLICATES = re.compile(r"html-fig_show|figure-viewer|lightbox|sr-only|visually-hidden")
_NOISE_LINKS = re.compile(
    r"(view (article|full size|large( image| figure)?|in article)|pub ?med( central| abstract)?"
    r"|\[?cross ?ref\]?|google scholar|cas|isi|web of science|scopus|full text( pdf)?"
    r"|publisher full text|medline|ads|open url|download( as)?( \w+){0,2}|pdf|powerpoint( slide)?"
    r"|original image|larger image|png|tiff|jats|return to (ref|citation|text).*"
    r"|back to (top|article).*|view|export citation|chemport|go to:?|permalink to .*"
    r"|open in (new tab|figure viewer)|article|math scipub|↵|top)[\s.;,]*",
    re.I,
)
_KEEP_SHARE = 0.25  # of the page's text: a "sidebar" with more is the layout, not furniture
_WHOLE_SHARE = 0.9  # a container with less than this has lost part of the article
_DECLARED_SHARE = 0.4  # a declared container with less than this is a teaser or a comment
_ALL_SHARE = 0.98
_LINKS_SHARE = 0.5  # menus and "related articles" are links; prose seldom passes a tenth
_TEXT_CHARS = 120  # about twenty words: less is a label, not an abstract or a list
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_NEVER = re.compile(r"html|body|main|article|table|tbody|thead|tr|td|th")
_PROSE = re.compile(r"section|p|li|figure|h[1-6]")
_SIDES = re.compile(r"aside|footer|header")
_LEAVES = re.compile(r"table|ul|ol|p|section")

Weights = Counter[int]  # characters of text by the element's id()


def weigh(root: Tag) -> Weights:
    """Characters of text in every element below *root*: script-neutral, unlike words."""
    weights: Weights = Counter()
    for text in root.find_all(string=True):
        size = len("".join(text.split()))
        for tag in text.parents if size else ():
            weights[id(tag)] += size
    return weights


def prune(soup: BeautifulSoup) -> None:
    """Remove what is not the article from a parsed page, in place."""
    for script in soup.find_all("script", type=re.compile(r"^math/tex", re.I)):
        script.replace_with(f"${' '.join(script.get_text().split())}$")
    for tag in soup.find_all(_MACHINERY):
        tag.decompose()
    for tag in soup.find_all(_is_duplicate):
        if not tag.decomposed and tag.find(["table", "math"]) is None and tag.name != "math":
            tag.decompose()
    weights = weigh(soup)
    for tag in soup.find_all(True):
        if not tag.decomposed and _is_furniture(tag, weights, soup):
            tag.decompose()
    for link in soup.find_all("a"):
        if _NOISE_LINKS.fullmatch(link.get_text(" ", strip=True)):
            link.decompose()


def _is_furniture(tag: Tag, weights: Weights, soup: BeautifulSoup) -> bool:
    if _NEVER.fullmatch(tag.name):
        return False
    furniture = named(tag, _FURNITURE)
    if not furniture and not named(tag, _SUSPECT) and not _SIDES.fullmatch(tag.name):
        return False
    weight = weights[id(tag)]
    if weight > _KEEP_SHARE * weights[id(soup)] or tag.find("h1") is not None:
        return False
    if any(named(above, _REFERENCES) for above in (tag, *tag.parents)):
        return False
    if furniture and not _PROSE.fullmatch(tag.name):
        return True
    if not weight:
        return tag.find(["img", "table", "math"]) is None
    return sum(weights[id(link)] for link in tag.find_all("a")) > _LINKS_SHARE * weight


def named(tag: Tag, pattern: re.Pattern[str]) -> bool:
    """Whether a word of the element's class, id or role is *pattern*.

    ``articleNavigation-bar`` has the words article, navigation and bar.
    """
    names = " ".join(str(name) for key in ("class", "id", "role") for name in _listed(tag.get(key)))
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", names).lower())
    return any(pattern.fullmatch(word) for word in words)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value] if value else []


def article_root(soup: BeautifulSoup) -> Tag:
    """The element of a pruned page that is the article."""
    weights = weigh(soup)
    page: Tag = soup.body or soup
    declared = soup.find_all(_is_declared)
    most = max((weights[id(tag)] for tag in declared), default=0)
    root = page
    if most and most >= _DECLARED_SHARE * weights[id(page)]:
        whole = [tag for tag in declared if weights[id(tag)] >= _WHOLE_SHARE * most]
        root = min(whole, key=lambda tag: weights[id(tag)])
    while True:  # follow the one child that holds everything, also down a tower of nested boxes
        children = [
            tag for tag in root.find_all(True, recursive=False) if not _LEAVES.fullmatch(tag.name)
        ]
        heavy = [tag for tag in children if weights[id(tag)] >= _ALL_SHARE * weights[id(root)] > 0]
        if not heavy:
            return root
        root = heavy[0]


def outside(soup: BeautifulSoup, root: Tag, part: str) -> Tag | None:
    """The page's abstract or reference list, when it stands outside the article's element."""
    names = _ABSTRACT if part == "abstract" else _REFERENCES
    for heading in root.find_all(_HEADINGS):
        if part_of(heading.get_text(" ", strip=True)) == part:
            return None
    near = {id(tag) for tag in (root, *root.parents)}
    found = None
    for tag in soup.find_all(["section", "div", "ol"]):
        if id(tag) not in near and named(tag, names) and len(tag.get_text()) > _TEXT_CHARS:
            if any(above is root for above in tag.parents):
                return None
            found = found or tag
    return found


def order_headings(root: Tag, title: str) -> None:
    """Make the headings say what the boxes say: one title, parts below it, captions no headings.

    Pages number headings for looks: an abstract under ``h2`` before sections under ``h3`` would
    otherwise own the whole paper.
    """
    spelled = "".join(folded(title))
    for heading in root.find_all(_HEADINGS):
        if "".join(folded(heading.get_text())) == spelled:
            _drop_what_precedes(heading, root)
            heading.decompose()
        elif heading.find_parent(["figure", "figcaption", "caption", "table", "li", "blockquote"]):
            heading.name = "p"
    for heading in root.find_all("h1"):
        heading.name = "h2"
    _free_from_abstract(root)
    levels = [int(heading.name[1]) for heading in root.find_all(_HEADINGS)]
    for heading in root.find_all(_HEADINGS):
        heading.name = f"h{int(heading.name[1]) - min(levels) + 2}"


def _drop_what_precedes(heading: Tag, root: Tag) -> None:
    """Journal name and issue above the title."""
    before = [
        node
        for above in (heading, *heading.parents)
        if any(parent is root for parent in above.parents)
        for node in above.previous_siblings
    ]
    if sum(len(node.get_text()) for node in before) < _TEXT_CHARS:
        for node in before:
            node.extract()


def _free_from_abstract(root: Tag) -> None:
    """Raise the sections after the abstract to its level when its box does not hold them."""
    headings = root.find_all(_HEADINGS)
    abstract = next((tag for tag in headings if part_of(tag.get_text(" ")) == "abstract"), None)
    if abstract is None:
        return
    box = abstract
    while box.parent is not None and box is not root and len(box.get_text()) <= _TEXT_CHARS:
        box = box.parent
    inside = [tag for tag in headings if any(above is box for above in tag.parents)]
    rest = [tag for tag in headings if all(tag is not other for other in (*inside, abstract))]
    if box is root or not rest:
        return
    top = min(int(tag.name[1]) for tag in rest)
    for tag in inside:
        tag.name = f"h{min(6, max(int(tag.name[1]), top + 1))}"
    abstract.name = f"h{top}"


def name_abstract(root: Tag) -> None:
    """Give the abstract its heading where the page only marks it by a class."""
    from bs4 import Tag

    part = root.find(_is_abstract)
    if isinstance(part, Tag):
        before = part.find_previous(_HEADINGS)
        headed = before is not None and part_of(before.get_text(" ")) == "abstract"
        if part.find(_HEADINGS) is None and not headed and len(part.get_text()) > _TEXT_CHARS:
            heading = Tag(name="h2")
            heading.string = "Abstract"
            part.insert(0, heading)


def _labels(tag: Tag) -> list[str]:
    return [str(name) for key in ("class", "id") for name in _listed(tag.get(key))]


def _is_duplicate(tag: Tag) -> bool:
    return tag.get("aria-hidden") == "true" or any(map(_DUPLICATES.fullmatch, _labels(tag)))


def _is_abstract(tag: Tag) -> bool:
    return tag.get("itemprop") == "abstract" or "abstract" in map(str.lower, _labels(tag))


def _is_declared(tag: Tag) -> bool:
    """Whether the page says that this is the article."""
    return (
        tag.name in ("article", "main")
        or tag.get("role") in ("article", "main")
        or "articleBody" in str(tag.get("itemprop") or "")
        or "ScholarlyArticle" in str(tag.get("itemtype") or "")
        or any(map(_BOXES.fullmatch, _labels(tag)))
    )
