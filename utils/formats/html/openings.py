"""Where the text begins on a page that says so by no heading.

Letters, and papers whose introduction has no title, go on after abstract and keywords as if they
were still abstract or keywords; old platforms print their headings as capitals in a paragraph.
"""

from __future__ import annotations

import re

from bs4.element import NavigableString, Tag

from ...outline.sections import part_of
from ...outline.words import count_words, folded
from .article import LABEL
from .parts import HEADINGS, KEYWORDS, abstract_box, name_of
from .tree import Weights, every, tags, weigh

MAIN_TEXT = "Main text"  # the name that the JATS reader gives it, too
_PROSE_WORDS = 25  # of a paragraph that is running text, not a date or an address
_ENOUGH_WORDS = 100  # of such paragraphs before the next heading, to be a part of its own
_ABOUT = re.compile(
    r"\W{0,3}(©|copyright|\(c\)|licen[sc]e|this is an open[- ]access|open access|doi\b|received"
    r"|correspond|to whom|please cite|cite this|how to cite|citation|key ?words|first published"
    r"|e-?mail|published|author|funding|grant|trial registration|supplementary|acknowledge?ment)",
    re.I,
)
_PRINTED = re.compile(
    r"\W{0,3}(doi\b|https?:|received\b|(first )?published\b|©|copyright\b)[^\d]{0,80}\d", re.I
)
_STANDARD = re.compile(
    r"(\d{1,2}\W{1,2})?(introduction|background|results|discussion|conclusions?|references"
    r"|((patients?|subjects?|materials?|participants) and )?methods?|acknowledge?ments?"
    r"|results and discussion|experimental( section| procedures)?|case (report|presentation))\W?",
    re.I,
)
_LABEL_CHARS = 45
_ABSTRACT_CHARS = 20_000
_LONGEST_ABSTRACT = 5000  # characters: some 750 words


def head_openings(root: Tag, abstract: str) -> None:
    """Give capitals that stand for headings, and a text without a heading, one of their own.

    *abstract* is what is known of it from outside *root*; a text that only says it again is none.
    """
    _head_capitals(root)
    weights = weigh(root)
    headings = [tag for tag in tags(root, HEADINGS) if not _heads_nothing(_said(tag))]
    before = _last_of_front(root, headings, weights)
    if before is None and not abstract:
        return
    known = " ".join(folded(abstract[:_ABSTRACT_CHARS]))
    found = [
        tag
        for tag in _prose_until_heading(before, {id(tag) for tag in headings}, root)
        if " ".join(folded(tag.get_text(" "))) not in known
    ]
    if sum(count_words(tag.get_text(" ")) for tag in found) >= _ENOUGH_WORDS:
        rest = [int(tag.name[1]) for tag in headings if tag.name != "h1"]
        heading = Tag(name=f"h{min(rest, default=2)}")
        heading.string = MAIN_TEXT
        _outermost(found[0], before, root).insert_before(heading)


def _heads_nothing(said: str) -> bool:
    """Whether a heading is one of keywords, or a line of print set large: a DOI, a date."""
    return bool(KEYWORDS.fullmatch(said) or _PRINTED.match(said))


def _said(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def _last_of_front(root: Tag, headings: list[Tag], weights: Weights) -> Tag | None:
    """The abstract with its heading, else the heading of keywords or title, if it is in *root*."""
    heading = next((tag for tag in headings if name_of(tag) == "Abstract"), None)
    if heading is None:
        fronts = [tag for tag in tags(root, HEADINGS) if KEYWORDS.fullmatch(_said(tag))]
        return next(iter(fronts or root.find_all("h1", limit=1)), None)
    if (keywords := _keywords_after(heading)) is not None:
        return keywords
    box = abstract_box(heading, root, weights, 6 * _LABEL_CHARS)
    is_label = weights[id(box)] <= weights[id(heading)]
    return box.find_next_sibling(True) or heading if is_label else box


def _keywords_after(abstract: Tag) -> Tag | None:
    """The heading of the keywords that stand behind the abstract, with no text in between."""
    told = 0
    for node in abstract.next_elements:
        if isinstance(node, Tag) and node.name in HEADINGS and KEYWORDS.fullmatch(_said(node)):
            return node
        if isinstance(node, NavigableString):
            told += len(node.strip())
        if told > _LONGEST_ABSTRACT:
            return None
    return None


def _prose_until_heading(before: Tag | None, headings: set[int], root: Tag) -> list[Tag]:
    """Paragraphs of running text in *root* after *before*, up to the next heading."""
    within = {id(tag) for tag in (before, *every(before))} if before is not None else set()
    tags = every(root)
    if before is not None:
        place = next((at for at, tag in enumerate(tags) if tag is before), 0)
        tags = tags[place + len(within) :]
    found: list[Tag] = []
    for tag in tags:
        if id(tag) in headings:
            break
        if id(tag) in within or tag.name not in ("p", "div") or tag.find(["p", "div", "table"]):
            continue
        text = _said(tag)
        if (
            count_words(text) >= _PROSE_WORDS
            and not _ABOUT.match(text)
            and not LABEL.match(text)
            and tag.find_parent(["figure", "figcaption", "table", "li"]) is None
        ):
            found.append(tag)
    return found


def _outermost(first: Tag, before: Tag | None, root: Tag) -> Tag:
    """The largest box that begins with *first* and does not hold *before*."""
    above = {id(tag) for tag in before.parents} if before is not None else set()
    box = first
    while (
        box.parent is not None
        and box.parent is not root
        and id(box.parent) not in above
        and box.find_previous_sibling(True) is None
    ):
        box = box.parent
    return box


def _head_capitals(root: Tag) -> None:
    """Make ``INTRODUCTION`` in a paragraph of its own a heading, and the others like it."""
    labels: list[Tag] = []
    for tag in tags(root, ("p", "div")):
        text = tag.get_text()
        if (
            len(text) <= 4 * _LABEL_CHARS
            and _STANDARD.fullmatch(said := " ".join(text.split()))
            and said == said.upper()
            and tag.find(["p", "div", *HEADINGS]) is None
            and tag.find_parent(["li", "table", *HEADINGS]) is None
        ):
            labels.append(tag)
    names = [_said(tag) for tag in labels]
    start = next((at for at, name in enumerate(names) if "INTRODUCTION" in name), None)
    if start is None or len(set(names)) < len(names):
        return
    level = min((int(tag.name[1]) for tag in tags(root, HEADINGS)), default=2)
    for tag in labels[start:]:
        tag.name = f"h{level}"
        name = _said(tag).capitalize()
        tag.string = "References" if part_of(name) == "references" else name
