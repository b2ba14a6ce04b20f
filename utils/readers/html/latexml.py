"""Convert LaTeXML's pages (arXiv, ar5iv) to ordinary pages before they are read.

LaTeXML names the source of each element in its classes (``ltx_theorem``, ``ltx_eqn_row``,
``ltx_bibitem`` …) and keeps each formula's TeX beside its MathML. This module converts them to
ordinary headings, lists, tables and formulas, and removes everything that is not the paper. The
result is read like any other page. The class names are those of LaTeXML 0.8 and of arXiv's pages of
2026. https://math.nist.gov/~BMiller/LaTeXML/, https://info.arxiv.org/about/accessible_HTML.html
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bs4.element import NavigableString, PageElement, Tag

from ...model.identifiers import Ids
from ..author_names import extract_family_names_from_line
from ..jats.formulas import format_display_formulas
from .claims import PageMetadata
from .tree import remove_nodes

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_MATH_TAG: Final = re.compile(r"<math\b(?:[^<>\"']++|\"[^\"]{0,50000}+\"|'[^']{0,50000}+')*+>")
_HIDDEN_CLASSES: Final = [
    *("ltx_authors", "ltx_dates", "ltx_ERROR", "ltx_TOC", "ltx_bib_cited", "ltx_rdf"),
    *("ltx_pagination", "ltx_listing_data", "ltx_tag_listingline", "ltx_note_mark"),
    *("ltx_tag_note", "ltx_note_type", "ltx_page_footer"),
]
_INTERACTIVE_ELEMENTS: Final = ["nav", "button", "form"]
_FOOTNOTE_ROLE: Final = re.compile(r"ltx_role_(footnote|footnotetext|endnote)")
_TOP_LEVEL_TITLE: Final = re.compile(
    r"ltx_title_(abstract|bibliography|acknowledgements?|keywords|index)"
)
_RUN_IN_TITLE: Final = re.compile(r"ltx_title_(theorem|proof|paragraph|subparagraph)|ltx_runin")
_BULLET: Final = re.compile(r"[•·∙◦○▪■–—*∗-]?|\(?\d{1,3}[.):]?\)?")
_ARXIV_ID: Final = re.compile(
    r"(?:arXiv:\s*|/html/|/abs/|^\[)(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(v\d{1,2})?\b"
)
_PAGE_LINK: Final = re.compile(r"https?://(?:[\w-]+\.)*arxiv\.org/html/|#")
_FATAL_ERROR: Final = re.compile(r"conversion to html had a fatal error", re.I)
_MAX_TEX_CHARS: Final = 20_000
_MAX_NOTES: Final = 2000
_FONT_ELEMENTS: Final = {
    "ltx_font_bold": "b",
    "ltx_font_italic": "i",
    "ltx_emph": "i",
    "ltx_font_typewriter": "code",
}
_TABLE_ELEMENTS: Final = {"ltx_tabular": "table", "ltx_tr": "tr", "ltx_td": "td"}
_SPAN_CLASS: Final = re.compile(r"ltx_(colspan|rowspan)_(\d{1,3})")


def drop_mathml(text: str) -> str:
    """Return a page's source with only the TeX of each formula.

    MathML needs thirty elements for ten characters of TeX, so a paper with many formulas would
    exceed the limit of elements per page.
    """
    if "ltx_" not in text:
        return text
    parts: list[str] = []
    done = 0
    for match in _MATH_TAG.finditer(text):
        if match.start() < done or " alttext=" not in match[0]:
            continue
        end = text.find("</math>", match.end())
        if end < 0:
            break
        parts += [text[done : match.end()]]
        done = end
    return "".join([*parts, text[done:]])


def is_latexml_page(soup: BeautifulSoup) -> bool:
    """Return whether LaTeXML generated the page."""
    return any("ltx_document" in (tag.get("class") or ()) for tag in soup.find_all(True))


def is_conversion_broken(soup: BeautifulSoup) -> bool:
    """Return whether the page states that LaTeXML failed to convert part of it."""
    return soup.find(string=_FATAL_ERROR) is not None


def complete_page_metadata(soup: BeautifulSoup, claims: PageMetadata) -> PageMetadata:
    """Return the metadata of the page's head, completed and corrected from its body."""
    title = soup.find(class_="ltx_title_document")
    title_text = ""
    if isinstance(title, Tag):
        _remove_elements_with_class(title, ["ltx_note", "ltx_ERROR"])
        title_text = _to_text_with_tex(title)
    authors = [
        family
        for name in find_elements_with_class(soup, "ltx_personname")
        if name.find_parent(class_="ltx_role_author") is not None
        for family in extract_family_names_from_line(_get_first_line(name))
    ]
    license_box = soup.find(id="license-tr")
    license_ = (
        re.sub(r"^licen[sc]e:?\s*", "", _to_text_with_tex(license_box), flags=re.I)
        if license_box
        else ""
    )
    return replace(
        claims,
        title=title_text or claims.title,
        authors=tuple(authors) or claims.authors,
        ids=claims.ids | _find_arxiv_id(soup),
        license=license_ or claims.license,
    )


def _find_arxiv_id(soup: BeautifulSoup) -> Ids:
    """Return the arXiv identifier in the page's margin, URL or head."""
    margin, head = soup.find(id="watermark-tr"), soup.find("title")
    places = [_to_text_with_tex(margin) if margin else ""]
    places += [str(tag.get("href")) for tag in soup.find_all("base", href=True)]
    places += [str(tag.get("href")) for tag in soup.find_all("link", rel="canonical", href=True)]
    places += [_to_text_with_tex(head) if head else ""]
    for place in places:
        if match := _ARXIV_ID.search(place[:500]):
            return Ids.maybe(f"arXiv:{match[1]}{match[2] or ''}")
    return Ids()


def convert_latexml_page(soup: BeautifulSoup) -> None:
    """Convert the page in place to an ordinary page that contains only the paper."""
    article = soup.find(class_="ltx_document")
    if not isinstance(article, Tag) or soup.body is None:
        return
    article.extract()
    soup.body.clear()
    soup.body.append(article)
    article.name = "article"
    _remove_elements_with_class(article, [*_HIDDEN_CLASSES, "ltx_title_document"])
    _replace_equation_tables(article)
    _put_inline_tex_on_one_line(article)
    _move_footnotes(article)
    _convert_headings(article)
    _put_captions_first(article)
    _convert_listings(article)
    _convert_lists(article)
    replace_inline_tables(article)
    convert_fonts_to_elements(article)
    for link in article.find_all("a", href=_PAGE_LINK):
        del link["href"]
    for tag in article.find_all(True):
        del tag["class"]
        del tag["id"]


def _find_first_with_class(root: Tag, *names: str) -> Tag | None:
    """Return the first element with one of these classes; else None."""
    return next(iter(find_elements_with_class(root, *names)), None)


def _remove_elements_with_class(root: Tag, names: list[str]) -> None:
    """Remove the elements with these classes, and all menus, buttons and forms."""
    remove_nodes(find_elements_with_class(root, *names) + root.find_all(_INTERACTIVE_ELEMENTS))


def _to_text_with_tex(tag: PageElement) -> str:
    """Return the text of an element, with formulas as TeX."""
    if not isinstance(tag, Tag):
        return str(tag)
    pieces = []
    for node in tag.descendants:
        if isinstance(node, Tag):
            pieces.append(f"${_get_tex_on_one_line(node)}$" if node.name == "math" else "")
            pieces.append(" " if node.name == "br" else "")
        elif node.find_parent("math") is None:
            pieces.append(str(node))
    return " ".join("".join(pieces).split())


def _get_first_line(name: Tag) -> str:
    """Return the first line of an author's name, without the address below it."""
    _remove_elements_with_class(name, ["ltx_note", "ltx_author_notes"])
    remove_nodes(name.find_all(["sup", "math"]))
    line = ""
    for node in name.descendants:
        if isinstance(node, Tag) and node.name == "br" and line.strip(" ,"):
            break
        line += "" if isinstance(node, Tag) else str(node)
    return " ".join(line.split())


def _get_tex_on_one_line(math: Tag) -> str:
    """Return the TeX of a formula on one line."""
    tex = str(math.get("alttext") or "")[:_MAX_TEX_CHARS]
    return " ".join(tex.removeprefix("\\displaystyle").replace("\\displaystyle", " ").split())


def _build_math_element(tex: str, display: str) -> Tag:
    """Return a formula element with the given TeX."""
    return Tag(name="math", attrs={"alttext": tex, "display": display})


def _has_class(tag: Tag, name: str) -> bool:
    """Return whether an element has the class *name*."""
    return name in (tag.get("class") or [])


# --- formulas -------------------------------------------------------------------------------------


def _replace_equation_tables(article: Tag) -> None:
    """Replace displayed formulas, which LaTeXML lays out as tables."""
    for table in find_elements_with_class(article, "ltx_eqn_table"):
        formulas = list(format_display_formulas(_split_equation_lines(table)))
        table.clear()
        table.name = "div"
        table.extend(_build_math_element(formula[2:-2], "block") for formula in formulas)


def _split_equation_lines(table: Tag) -> list[tuple[str, str]]:
    """Return each line of a formula with its number; a number may cover several lines."""
    lines: list[tuple[str, str]] = []
    numbers: dict[int, str] = {}
    for at, row in enumerate(find_elements_with_class(table, "ltx_eqn_row")):
        tag = _find_first_with_class(row, "ltx_tag_equation", "ltx_tag_equationgroup")
        if tag is not None:
            holder = tag.find_parent(class_="ltx_eqn_cell") or tag
            high = str(holder.get("rowspan") or "1")
            last = at + (int(high) if high.isdecimal() and len(high) < 4 else 1) - 1
            numbers[last] = tag.get_text().strip(" ()\n")
            tag.clear()
        cells = [_get_cell_tex(cell) for cell in find_elements_with_class(row, "ltx_eqn_cell")]
        tex = " & ".join(cell for cell in cells if cell)
        continues = len(cells) > 3 and not any(cells[:2])  # no term left of the relation
        lines.append((f"& {tex}" if tex and continues and at else tex, numbers.get(at, "")))
    return lines


def _get_cell_tex(cell: Tag) -> str:
    """Return the TeX of a cell, with the words between formulas as TeX text."""
    parts = []
    for node in cell.descendants:
        if isinstance(node, Tag):
            parts.append(_get_tex_on_one_line(node) if node.name == "math" else "")
        elif str(node).strip() and node.find_parent("math") is None:
            parts.append(rf"\text{{{' '.join(str(node).split())}}}")
    return " ".join(part for part in parts if part)


def _put_inline_tex_on_one_line(article: Tag) -> None:
    """Put the TeX of inline formulas on one line."""
    for math in article.find_all("math"):
        tex = str(math.get("alttext") or "")
        if tex:
            math["alttext"] = tex if math.get("display") == "block" else _get_tex_on_one_line(math)


def _move_footnotes(article: Tag) -> None:
    """Move footnotes after the paragraph that cites them, as the other readers do."""
    stray: list[Tag] = []
    for number, note in enumerate(find_elements_with_class(article, "ltx_note")[:_MAX_NOTES], 1):
        content = _find_first_with_class(note, "ltx_note_content")
        block = _find_outermost_block(note, article)
        if content is None or not any(
            _FOOTNOTE_ROLE.fullmatch(str(name)) for name in note["class"]
        ):
            stray.append(note)
            continue
        definition = Tag(name="p")
        definition.append(f"[^{number}]:")
        definition.extend(list(content.contents))
        note.clear()
        note.append(f"[^{number}]")
        if block.name == "div":
            block.append(definition)
        else:
            block.insert_after(definition)
    remove_nodes(stray)


def _find_outermost_block(note: Tag, article: Tag) -> Tag:
    """Return the outermost paragraph, list or float that contains a note."""
    block: Tag = note
    for above in note.parents:
        if above is article or above.name in ("section", "article"):
            break
        if above.name in ("div", "p", "figure", "table", "ul", "ol"):
            block = above
    return block


# --- headings, floats, lists ----------------------------------------------------------------------


def _convert_headings(article: Tag) -> None:
    """Set the level and text of headings, and move run-in headings into their paragraphs."""
    run_in: list[Tag] = []
    for heading in article.find_all(["h1", "h2", "h3", "h4", "h5", "h6"]):
        names = " ".join(map(str, heading.get("class") or []))
        if _TOP_LEVEL_TITLE.search(names):
            heading.name = "h2"
        elif _RUN_IN_TITLE.search(names):
            _move_heading_into_line(heading, "em" if "ltx_title_proof" in names else "strong")
            run_in.append(heading)
            continue
        for tag in find_elements_with_class(heading, "ltx_tag"):
            number = tag.get_text().strip()
            if number and not number[-1:].isdigit() and not number.startswith("Appendix"):
                tag.string = f"{number.rstrip('.')}. "
        heading.string = _to_text_with_tex(heading)
    remove_nodes(run_in)


def _move_heading_into_line(heading: Tag, mark: str) -> None:
    """Move the heading of a theorem or paragraph into the first line below it."""
    following = heading.find_next_sibling()
    first = following if isinstance(following, Tag) else None
    if first is not None and first.name != "p":
        first = first.find("p")
    if first is not None:
        _insert_marked_text(first, _to_text_with_tex(heading), mark)


def _insert_marked_text(box: Tag, text: str, mark: str = "b") -> None:
    """Insert *text* inside an element *mark* at the beginning of *box*."""
    if text:
        head = Tag(name=mark)
        head.string = text
        box.insert(0, NavigableString(" "))
        box.insert(0, head)


def _put_captions_first(article: Tag) -> None:
    """Put each caption first in its figure or table, with the label in bold."""
    for caption in article.find_all(["figcaption", "caption"]):
        for tag in find_elements_with_class(caption, "ltx_tag"):
            label = tag.get_text().strip(" :.\n")
            is_part = label.startswith("(")
            tag.name = "span" if is_part else "b"
            tag.string = f"{label} " if is_part else f"{label}. "
            del tag["class"]
    for figure in article.find_all("figure"):
        figure.name = "div"
        own = figure.find("figcaption", recursive=False)
        if isinstance(own, Tag):
            figure.insert(0, own.extract())
    for caption in article.find_all(["figcaption", "caption"]):
        caption.name = "p"


def _convert_listings(article: Tag) -> None:
    """Convert listings to code blocks or lists."""
    for listing in find_elements_with_class(article, "ltx_listing"):
        lines = find_elements_with_class(listing, "ltx_listingline")
        is_code = _has_class(listing, "ltx_lstlisting")
        if is_code:
            listing.string = "\n".join(line.get_text().rstrip() for line in lines)
            listing.name = "pre"
            continue
        for line in lines:
            line.name = "li"
        listing.name = "ul" if lines else listing.name


def _convert_lists(article: Tag) -> None:
    """Convert definition lists, item labels and bibliographies to ordinary lists."""
    terms: list[Tag] = []
    for term in article.find_all("dt"):
        following = term.find_next_sibling()
        if isinstance(following, Tag) and following.name == "dd":
            following.name = "li"
            _join_item_label(following, _to_text_with_tex(term))
            terms.append(term)
    remove_nodes(terms)
    for box in article.find_all("dl"):
        box.name = "ul"
    marks: list[Tag] = []
    for item in article.find_all("li", class_=["ltx_item", "ltx_bibitem"]):
        mark = item.find(class_="ltx_tag", recursive=False)
        label = _to_text_with_tex(mark) if mark is not None else ""
        marks += [mark] if isinstance(mark, Tag) else []
        _join_item_label(
            item, "" if _BULLET.fullmatch(label) or _has_class(item, "ltx_bibitem") else label
        )
        for block in find_elements_with_class(item, "ltx_bibblock"):
            block.append(" ")
    remove_nodes(marks)
    for bibliography in find_elements_with_class(article, "ltx_biblist"):
        bibliography.name = "ol"


def _join_item_label(item: Tag, label: str) -> None:
    """Join the label of an item with the first line of its text."""
    first = item.find(["p", "ul", "ol"])
    if isinstance(first, Tag) and first.name == "p":
        first.name = "span"
        _insert_marked_text(first, label)
    else:
        _insert_marked_text(item, label)


def replace_inline_tables(article: Tag) -> None:
    """Replace inline tables made of spans; inside a cell they only break lines."""
    for table in find_elements_with_class(article, "ltx_tabular"):
        if table.find_parent(["td", "th"]) or table.find_parent(class_="ltx_td"):
            _flatten_nested_table(table)
            continue
        table.name = "table"
        for above in table.parents:
            if above is article:
                break
            if above.name in ("p", "span"):
                above.name = "div"
    for name, element in _TABLE_ELEMENTS.items():
        for tag in find_elements_with_class(article, name):
            tag.name = element if tag.name in ("span", "div") else tag.name
            for key, number in _SPAN_CLASS.findall(" ".join(map(str, tag.get("class") or []))):
                tag[key] = number


def _flatten_nested_table(table: Tag) -> None:
    """Convert a table inside a cell to plain text."""
    for part in [table, *table.find_all(["table", "tbody", "thead", "tr", "td", "th", "span"])]:
        part.name = "span"
        part["class"] = "ltx_inner"
        part.append(" ")


def convert_fonts_to_elements(article: Tag) -> None:
    """Convert font classes to bold, italic and code elements; theorems lose their italics."""
    for name, element in _FONT_ELEMENTS.items():
        for tag in find_elements_with_class(article, name):
            if tag.name not in ("span", "em"):
                continue
            in_theorem = element == "i" and tag.find_parent(class_="ltx_theorem") is not None
            is_code = element == "code"
            if in_theorem or (is_code and tag.find(True) is not None):
                tag.name = "span"
            elif tag.get_text().strip() and tag.find_parent(["h2", "h3", "h4", "pre"]) is None:
                tag.name = element


def find_elements_with_class(root: Tag, *names: str) -> list[Tag]:
    """Return all elements with one of these classes, ten times faster than `select`."""
    wanted = frozenset(names)
    return [
        tag
        for tag in root.descendants
        if isinstance(tag, Tag) and not wanted.isdisjoint(tag.get("class") or ())
    ]
