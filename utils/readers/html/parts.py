"""Find the parts of a paper in its page: abstract, body, notes, references.

Pages choose heading levels for appearance, put the journal's name and the authors' addresses above
the abstract, and put abstract, digest, references or letters in boxes outside the article's
element. Letters, and papers whose introduction has no title, continue after abstract and keywords
without a heading. Old platforms print headings as capitals in a paragraph.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bs4.element import NavigableString, PageElement, Tag

from ...outline.sections import classify_heading
from ...outline.words import count_words, fold_words
from .article import CAPTION_LABEL, REFERENCE_WORDS, is_marked_abstract
from .tree import (
    ElementLengths,
    Weights,
    find_named_elements,
    get_classes,
    get_text_on_one_line,
    has_word_in_class_or_id,
    list_elements,
    measure_elements,
    remove_nodes,
)

HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_ABSTRACT_WORDS = frozenset(("abstract",))
# Headings of the paper's own parts, which may be outside the article's element.
_OWN_PART = re.compile(
    r"acknowledge?ments?|(\w+ )?digest"
    r"|((plain|lay)[ -](language )?|author |editor['\u2019]?s )summary"
    r"|significance( statement)?|decision letter|author response|appendix( \w+)?",
    re.I,
)
_ABOUT_HEADING = re.compile(
    r"authors? (and|&) article information|article (and|&) author information", re.I
)
KEYWORDS_HEADING = re.compile(
    r"(author )?(key ?words?( and phrases)?|index terms|mesh( terms)?"
    r"|mots[- ]cl[ée]s|palabras clave"
    r"|palavras[- ]chave|schl(ü|ue)sselw(ö|oe)rter|parole chiave)\W*",
    re.I,
)
_CAPTION_LINE = re.compile(
    r"\W*(table|fig(ure)?|scheme|box|video|movie)\.?\s?[A-Z]?\d+\b.*", re.I | re.S
)
_HEADING_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s")
_BOX_ELEMENTS = ("section", "div", "ol", "ul")
_INLINE_ELEMENTS = ("a", "span", "em", "i", "b", "strong")
_KEYWORDS_MAX_CHARS = 1000
_TEXT_MIN_CHARS = 120  # about twenty words: less is a label, not an abstract or a list
_BYLINE_MAX_CHARS = 600  # of ISSN, authors and addresses; more is a text
_LABEL_MAX_CHARS = 20  # characters beside a heading that are not text of its section
_PAGE_HEAD_MAX_RATIO = 0.25  # of the article: a longer text above the abstract is part of the paper
MAIN_TEXT = "Main text"  # the JATS reader uses the same name
_PROSE_MIN_WORDS = 25  # of a paragraph that is running text, not a date or an address
_OPENING_MIN_WORDS = 100  # of such paragraphs before the next heading, to be a part of its own
_ABOUT_ARTICLE = re.compile(
    r"\W{0,3}(©|copyright|\(c\)|licen[sc]e|this is an open[- ]access|open access|doi\b|received"
    r"|correspond|to whom|please cite|cite this|how to cite|citation|key ?words|first published"
    r"|e-?mail|published|author|funding|grant|trial registration|supplementary|acknowledge?ment)",
    re.I,
)
_PRINT_LINE = re.compile(
    r"\W{0,3}(doi\b|https?:|received\b|(first )?published\b|©|copyright\b)[^\d]{0,80}\d", re.I
)
_STANDARD_HEADING = re.compile(
    r"(\d{1,2}\W{1,2})?(introduction|background|results|discussion|conclusions?|references"
    r"|((patients?|subjects?|materials?|participants) and )?methods?|acknowledge?ments?"
    r"|results and discussion|experimental( section| procedures)?|case (report|presentation))\W?",
    re.I,
)
_OPENING_MAX_CHARS = 45
_ABSTRACT_MAX_CHARS = 20_000
_ABSTRACT_USUAL_MAX_CHARS = 5000  # characters: some 750 words


class PagePart(NamedTuple):
    """A part of the paper outside the article's element."""

    name: str
    box: Tag


def find_parts_outside_article(
    root: Tag, elements: list[Tag], page: ElementLengths
) -> tuple[list[PagePart], list[PagePart]]:
    """Return the paper's parts before and after *root*, in page order.

    *elements* are the elements in *root*.
    """
    inside = {id(tag) for tag in elements} | {id(root)}
    names = _classify_outside_boxes(elements, page, inside)
    above = {id(tag) for tag in root.parents}
    before: list[PagePart] = []
    after: list[PagePart] = []
    taken: set[int] = set()
    place = before
    for tag in page.elements:
        if tag is root:
            place = after
        elif id(tag) not in inside and id(tag) not in above:
            if id(tag.parent) in taken:
                taken.add(id(tag))
            elif name := names.get(id(tag)):
                taken.add(id(tag))
                place.append(PagePart(name, tag))
    return before, after


def _classify_outside_boxes(
    elements: list[Tag], page: ElementLengths, inside: set[int]
) -> dict[int, str]:
    """Return the part of the paper in each box outside the article, by the box's ``id()``."""
    weights = page.weights
    have = {get_heading_name(heading) for heading in elements if heading.name in HEADINGS}
    names: dict[int, str] = {}
    for tag in [tag for tag in page.elements if tag.name in _BOX_ELEMENTS]:
        for name, words in (("Abstract", _ABSTRACT_WORDS), ("References", REFERENCE_WORDS)):
            if weights[id(tag)] > _TEXT_MIN_CHARS and has_word_in_class_or_id(tag, words):
                if id(tag) in inside:
                    have.add(name)
                else:
                    names.setdefault(id(tag), name)
    for heading in [tag for tag in page.elements if tag.name in HEADINGS]:
        if id(heading) in inside:
            continue
        name = get_heading_name(heading)
        if name in ("Abstract", "References") or _OWN_PART.fullmatch(name):
            box = _find_smallest_box_around(
                heading, weights[id(heading)] + _LABEL_MAX_CHARS, weights
            )
            names.setdefault(id(box), name)
    return {box: name for box, name in names.items() if name not in have}


def get_heading_name(heading: Tag) -> str:
    """Return the text of *heading*, or the English name of an abstract or a reference list."""
    text = get_text_on_one_line(heading)
    part = classify_heading(text)
    return part.capitalize() if part in ("abstract", "references") else text


def _find_smallest_box_around(heading: Tag, least: int, weights: Weights) -> Tag:
    """Return the smallest box around *heading* with more characters than *least*."""
    box = heading
    while box.parent is not None and weights[id(box)] <= least:
        box = box.parent
    return box


def insert_part_headings(article: ElementLengths) -> None:
    """Insert headings for parts that the page marks only by a class or a label."""
    elements, weights = article
    part = next(filter(is_marked_abstract, elements), None)
    if part is not None:
        before = part.find_previous(HEADINGS)
        headed = before is not None and classify_heading(before.get_text(" ")) == "abstract"
        if part.find(HEADINGS) is None and not headed and weights[id(part)] > _TEXT_MIN_CHARS:
            _insert_heading(part, "Abstract", "h2")
    for box in [tag for tag in elements if "articleinfo" in get_classes(tag)]:
        following = box.find_next(HEADINGS)
        _insert_heading(
            box, "Article information", following.name if following is not None else "h2"
        )
    for label in elements:
        if (
            label.name in ("p", "div")
            and 0 < weights[id(label)] <= _LABEL_MAX_CHARS
            and KEYWORDS_HEADING.fullmatch(label.get_text().strip())
        ):
            label.name = "h2"
            label.string = "Keywords"
    for heading in [tag for tag in elements if tag.name in HEADINGS]:
        if KEYWORDS_HEADING.fullmatch(heading.get_text().strip()):
            _separate_keywords_by_commas(heading)


def _separate_keywords_by_commas(heading: Tag) -> None:
    """Separate the keywords under *heading* by commas, and remove their links."""
    first = heading.find_next_sibling(True)
    if first is None or len(first.get_text()) > _KEYWORDS_MAX_CHARS:
        return
    row = list(heading.next_siblings if first.name in _INLINE_ELEMENTS else first.children)
    named = [node for node in row if isinstance(node, Tag) and node.name in _INLINE_ELEMENTS]
    apart = any(type(node) is NavigableString and node.strip() for node in row)
    if not apart and not any(get_text_on_one_line(word).endswith((";", ",")) for word in named):
        for word in named[1:]:
            word.insert_before("; ")
    for link in find_named_elements(first, ("a",)) + [tag for tag in named if tag.name == "a"]:
        link.name = "span"
    for item in find_named_elements(first, ("li",)):
        last = next((text for text in reversed(item.find_all(string=True)) if text.strip()), None)
        if last is not None:
            last.replace_with(NavigableString(last.rstrip(" \t\r\n\xa0,;")))


def _insert_heading(box: Tag, title: str, level: str) -> None:
    """Insert a heading at the beginning of *box*."""
    heading = Tag(name=level)
    heading.string = title
    box.insert(0, heading)


def normalize_heading_levels(root: Tag, title: str) -> None:
    """Normalise heading levels: one title, parts below it, captions as paragraphs.

    Pages choose heading levels for appearance: an abstract under ``h2`` before sections under
    ``h3`` would otherwise contain the whole paper.
    """
    elements, weights = measure_elements(root)
    letters = "".join(fold_words(title))
    titles = []
    for heading in [tag for tag in elements if tag.name in HEADINGS]:
        if letters and "".join(fold_words(heading.get_text())) == letters:
            titles.append(heading)
        elif _CAPTION_LINE.fullmatch(heading.get_text()) or heading.find_parent(
            ["figure", "figcaption", "caption", "table", "li", "blockquote"]
        ):
            heading.name = "p"
    if titles:
        _drop_page_head(titles[0], root, weights, _TEXT_MIN_CHARS)
    remove_nodes(titles)
    headings = find_named_elements(root, HEADINGS)
    for heading in headings:
        heading.name = "h2" if heading.name == "h1" else heading.name
    abstract = next((tag for tag in headings if get_heading_name(tag) == "Abstract"), None)
    if abstract is not None:
        ahead = headings[: headings.index(abstract)]
        first = next((tag for tag in ahead if _OWN_PART.fullmatch(get_heading_name(tag))), abstract)
        if all(map(_is_site_heading, headings[: headings.index(first)])):
            _drop_page_head(first, root, weights, round(_PAGE_HEAD_MAX_RATIO * weights[id(root)]))
        headings = find_named_elements(root, HEADINGS)
        _raise_sections_after_abstract(abstract, headings, root, weights)
        following = filter(get_text_on_one_line, headings[headings.index(abstract) + 1 :])
        again = next(following, abstract)
        above = {id(box) for box in abstract.parents}
        boxes = [box for box in again.parents if id(box) not in above]
        if (
            boxes and get_heading_name(again) == "Abstract"
        ):  # the abstract that begins the text, below the ISSN
            _drop_page_head(again, boxes[-1], weights, _BYLINE_MAX_CHARS)
    _set_heading_levels(headings)


def _is_site_heading(heading: Tag) -> bool:
    """Return whether a heading above the abstract is the site's, such as the journal's name."""
    name = get_heading_name(heading)
    if _ABOUT_HEADING.fullmatch(name) or classify_heading(name) == "back":
        return True
    length = -len(name)
    for node in heading.next_elements:
        if isinstance(node, Tag) and (node.name in HEADINGS or node.name == "li"):
            return node.name != "li"
        if type(node) is NavigableString:
            length += len(node.strip())
        if length > 2 * _TEXT_MIN_CHARS:
            return False
    return False


def _set_heading_levels(headings: list[Tag]) -> None:
    """Set heading levels without gaps; numbered headings get the depth of their numbers."""
    levels = sorted({heading.name for heading in headings})
    ranks = {level: rank for rank, level in enumerate(levels, 2)}
    numbers = {
        id(tag): found[1]
        for tag in headings
        if (found := _HEADING_NUMBER.match(get_text_on_one_line(tag)))
    }
    tops = {ranks[tag.name] for tag in headings if numbers.get(id(tag), ".").isdecimal()}
    for heading in headings:
        level = ranks[heading.name]
        if len(tops) == 1 and id(heading) in numbers:
            level = max(level, min(tops) + numbers[id(heading)].count("."))
        heading.name = f"h{min(6, level)}"


def _drop_page_head(heading: Tag, root: Tag, weights: Weights, most: int) -> None:
    """Remove journal, issue, authors and addresses above *heading* if shorter than *most*."""
    before: list[PageElement] = []
    for above in (heading, *heading.parents):
        if above is root:
            break
        before += above.previous_siblings
    if (
        sum(
            weights[id(node)] if isinstance(node, Tag) else len(node.get_text(strip=True))
            for node in before
        )
        < most
    ):
        remove_nodes(before)


def _find_abstract_box(
    heading: Tag, headings: list[Tag], root: Tag, weights: Weights, least: int
) -> Tag:
    """Return the box of the abstract under *heading*, if possible longer than *least*.

    A box that also contains the keywords or the references is not the abstract's box. Without
    another box, the heading or a box around it is returned.
    """
    beyond = {id(root)}
    for other in headings:
        if get_heading_name(other) == "References" or KEYWORDS_HEADING.fullmatch(
            other.get_text().strip()
        ):
            beyond |= {id(box) for box in other.parents}
    box = heading
    while box.parent is not None and id(box.parent) not in beyond and weights[id(box)] <= least:
        box = box.parent
    return box


def _raise_sections_after_abstract(
    abstract: Tag, headings: list[Tag], root: Tag, weights: Weights
) -> None:
    """Raise the sections after the abstract to its heading level if they are outside its box."""
    box = _find_abstract_box(abstract, headings, root, weights, _TEXT_MIN_CHARS)
    within = {id(tag) for tag in find_named_elements(box, HEADINGS)} - {id(abstract)}
    rest = [tag for tag in headings if id(tag) not in within and tag is not abstract]
    if weights[id(box)] <= weights[id(abstract)] or not rest:
        return
    top = min(int(tag.name[1]) for tag in rest)
    for tag in headings:
        if id(tag) in within and not KEYWORDS_HEADING.fullmatch(tag.get_text().strip()):
            tag.name = f"h{min(6, max(int(tag.name[1]), top + 1))}"
        elif id(tag) in within or tag is abstract:
            tag.name = f"h{top}"


def add_missing_headings(root: Tag, abstract: str) -> None:
    """Convert lines in capitals to headings, and give a text without headings one.

    *abstract* is the abstract's text from outside *root*; a copy of it is not an opening.
    """
    elements, weights = measure_elements(root)
    _convert_capital_lines_to_headings(elements, weights)
    all_headings = [tag for tag in elements if tag.name in HEADINGS]
    headings = [
        tag for tag in all_headings if not _is_decorative_heading(get_text_on_one_line(tag))
    ]
    before = _find_last_front_element(root, headings, all_headings, weights)
    if before is None and not abstract:
        return
    known_text = " ".join(fold_words(abstract[:_ABSTRACT_MAX_CHARS]))
    found = [
        tag
        for tag in _find_paragraphs_after(before, {id(tag) for tag in headings}, elements)
        if " ".join(fold_words(tag.get_text(" "))) not in known_text
    ]
    if sum(count_words(tag.get_text(" ")) for tag in found) >= _OPENING_MIN_WORDS:
        rest = [int(tag.name[1]) for tag in headings if tag.name != "h1"]
        heading = Tag(name=f"h{min(rest, default=2)}")
        heading.string = MAIN_TEXT
        _find_largest_box_from(found[0], before, root).insert_before(heading)


def _is_decorative_heading(text: str) -> bool:
    """Return whether a heading introduces keywords, or is a large printed line such as a DOI."""
    return bool(KEYWORDS_HEADING.fullmatch(text) or _PRINT_LINE.match(text))


def _find_last_front_element(
    root: Tag, headings: list[Tag], all_headings: list[Tag], weights: Weights
) -> Tag | None:
    """Return the last front element in *root*: abstract, keywords or title heading."""
    heading = next((tag for tag in headings if get_heading_name(tag) == "Abstract"), None)
    if heading is None:
        fronts = [
            tag for tag in all_headings if KEYWORDS_HEADING.fullmatch(get_text_on_one_line(tag))
        ]
        return next(iter(fronts or root.find_all("h1", limit=1)), None)
    if (keywords := _find_keywords_heading_after(heading)) is not None:
        return keywords
    box = _find_abstract_box(heading, all_headings, root, weights, 6 * _OPENING_MAX_CHARS)
    is_label = weights[id(box)] <= weights[id(heading)]
    return box.find_next_sibling(True) or heading if is_label else box


def _find_keywords_heading_after(abstract: Tag) -> Tag | None:
    """Return the heading of the keywords directly after the abstract."""
    length = 0
    for node in abstract.next_elements:
        if (
            isinstance(node, Tag)
            and node.name in HEADINGS
            and KEYWORDS_HEADING.fullmatch(get_text_on_one_line(node))
        ):
            return node
        if isinstance(node, NavigableString):
            length += len(node.strip())
        if length > _ABSTRACT_USUAL_MAX_CHARS:
            return None
    return None


def _find_paragraphs_after(
    before: Tag | None, headings: set[int], elements: list[Tag]
) -> list[Tag]:
    """Return the paragraphs among *elements* after *before*, up to the next heading."""
    within = {id(tag) for tag in (before, *list_elements(before))} if before is not None else set()
    if before is not None:
        place = next((at for at, tag in enumerate(elements) if tag is before), 0)
        elements = elements[place + len(within) :]
    found: list[Tag] = []
    for tag in elements:
        if id(tag) in headings:
            break
        if id(tag) in within or tag.name not in ("p", "div") or tag.find(["p", "div", "table"]):
            continue
        text = get_text_on_one_line(tag)
        if (
            count_words(text) >= _PROSE_MIN_WORDS
            and not _ABOUT_ARTICLE.match(text)
            and not CAPTION_LABEL.match(text)
            and tag.find_parent(["figure", "figcaption", "table", "li"]) is None
        ):
            found.append(tag)
    return found


def _find_largest_box_from(first: Tag, before: Tag | None, root: Tag) -> Tag:
    """Return the largest box that begins with *first* and does not contain *before*."""
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


def _convert_capital_lines_to_headings(elements: list[Tag], weights: Weights) -> None:
    """Convert paragraphs such as ``INTRODUCTION`` to headings."""
    labels: list[Tag] = []
    for tag in elements:
        is_short = 0 < weights[id(tag)] <= 4 * _OPENING_MAX_CHARS
        text = tag.get_text() if is_short and tag.name in ("p", "div") else ""
        if (
            0 < len(text) <= 4 * _OPENING_MAX_CHARS
            and _STANDARD_HEADING.fullmatch(line := " ".join(text.split()))
            and line == line.upper()
            and tag.find(["p", "div", *HEADINGS]) is None
            and tag.find_parent(["li", "table", *HEADINGS]) is None
        ):
            labels.append(tag)
    names = [get_text_on_one_line(tag) for tag in labels]
    start = next((at for at, name in enumerate(names) if "INTRODUCTION" in name), None)
    if start is None or len(set(names)) < len(names):
        return
    level = min((int(tag.name[1]) for tag in elements if tag.name in HEADINGS), default=2)
    for tag in labels[start:]:
        tag.name = f"h{level}"
        name = get_text_on_one_line(tag).capitalize()
        tag.string = "References" if classify_heading(name) == "references" else name
