"""Write the elements of an article: its blocks, and the inline elements in its text.

Blocks: a figure begins with its label in bold, boxes and quotations are block quotes, lists keep
their printed letters, definitions are bullets with the term in bold.

Running text: ``*italic*``, ``**bold**``, ``<sub>``, ``<sup>`` and ``<u>`` as HTML tags, which
markdown allows, `` `monospace` ``, ``$…$`` for formulas. Emphasis is left out where ``*`` would not
be read as emphasis (`.walk`). A citation number without markup after a word (``IL-6`` + ``12``) is
written in superscript, so that it is not read as part of the word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..safe_xml import get_first_child, list_children
from .tables import CAPTION, write_caption
from .walk import (
    BOLD,
    HREF,
    ITALIC,
    Block,
    Element,
    Inline,
    MarkdownWalk,
    collapse_whitespace,
    format_code_block,
    format_link,
    format_quote,
    get_all_text,
    is_nested_list,
    to_roman,
)

_TITLE: Final = frozenset({"label", "title"})
_BULLETS: Final = frozenset("•·∙●○◦▪■□–—-*→➢✓")
_NUMBERED: Final = re.compile(r"\(?(\d{1,9})[.):]?\)?")
_EMPTY_WORDS: Final = re.compile(
    r"(?:unlabell?ed )?(?:image|graphic|table|fig(?:ure)?)\.?\s*\d*", re.I
)
_QUICK_LABEL: Final = 3  # characters; a longer footnote label is a word
_NOTES: Final = {"coi statement": "Competing interests", "conflict": "Competing interests"}
# The best form of a thing given several times; pictures are the last resort.
_BEST: Final = (
    "table",
    "tex-math",
    "{http://www.w3.org/1998/Math/MathML}math",
    "math",
    "textual-form",
    "code",
    "preformat",
    "chem-struct",
    "media",
    "graphic",
    "inline-graphic",
)


def write_section(el: Element, walk: MarkdownWalk, default: str = "") -> None:
    """Write a titled part of the text; subsections get the next heading level."""
    label, title = (
        walk.format_line(get_first_child(el, "label")),
        walk.format_line(get_first_child(el, "title")),
    )
    is_word = len(label) > _QUICK_LABEL and label[0].isalpha() and label[-1].isalnum()
    head = f"{label}{'.' if is_word and title else ''} {title}".strip() or default
    walk.write_heading(head)
    if head and (kind := el.get("sec-type")):
        walk.declared[head] = kind
    walk.headings += bool(head) and walk.counting
    walk.level += bool(head)
    walk.write_content(el, skip=_TITLE)
    walk.write_unused_lead()
    walk.level -= bool(head)


def _make_section_writer(default: str) -> Block:
    return lambda el, walk: write_section(el, walk, default)


def _write_container_content(el: Element, walk: MarkdownWalk) -> None:
    walk.write_content(el)


def _write_paragraph(el: Element, walk: MarkdownWalk) -> None:
    if len(el):
        walk.write_content(el)
    else:
        walk.write_paragraph(walk.escape(el.text or ""))


def _write_nothing(_el: Element, _walk: MarkdownWalk) -> None:
    return


# --- lists ------------------------------------------------------------------------------------


def _write_list(el: Element, walk: MarkdownWalk) -> None:
    walk.write_paragraph(_format_bold(walk.format_line(get_first_child(el, "title"))))
    kind = el.get("list-type") or ""
    kind = "plain" if walk.in_cell and kind in {"simple", "none"} else kind
    prefix = el.get("prefix-word") or ""
    walk.write_paragraph(walk.escape(el.text or ""))
    items: list[list[str]] = []
    for child in list_children(el):
        if child.tag == "list-item":
            marker, lead = _choose_list_marker(child, walk, kind, len(items) + 1)
            lead = f"{walk.escape(prefix)} {lead}" if prefix else lead
            items.append(_format_list_item(marker, lead, walk, child))
        elif child.tag not in _TITLE:
            items.extend(
                _format_item_blocks("-", [block])
                for block in walk.collect_blocks(child, itself=True)
            )
    _write_list_items(items, walk)


def _choose_list_marker(
    item: Element, walk: MarkdownWalk, kind: str, number: int
) -> tuple[str, str]:
    """Return an item's list marker, and the printed label if markdown has no such marker."""
    label = walk.format_line(get_first_child(item, "label"))
    if match := _NUMBERED.fullmatch(label):
        return f"{int(match[1])}.", ""
    if label:
        return "-", "" if label.replace("\\", "") in _BULLETS else f"{label} "
    if kind == "order" or kind == "ordered":
        return f"{number}.", ""
    if kind.startswith("alpha"):
        letter = chr(ord("a") + (number - 1) % 26)
        return "-", f"{letter.upper() if kind.endswith('upper') else letter}) "
    if kind.startswith("roman"):
        return "-", f"{to_roman(number).upper() if kind.endswith('upper') else to_roman(number)}) "
    return "" if kind == "plain" else "-", ""


def _format_list_item(marker: str, lead: str, walk: MarkdownWalk, el: Element) -> list[str]:
    """Return the blocks of a list item: the first after the marker, the others indented."""
    blocks = walk.collect_blocks(el, skip={"label"}) or [""]
    return _format_item_blocks(marker, [(lead + blocks[0]).rstrip(), *blocks[1:]])


def _format_item_blocks(marker: str, blocks: list[str]) -> list[str]:
    blank = " " * (len(marker) + 1)
    inner = [block.replace("\n", f"\n{blank}") for block in blocks]
    return [f"{marker} {inner[0]}".strip(), *(blank + block for block in inner[1:])]


def _write_list_items(items: list[list[str]], walk: MarkdownWalk) -> None:
    """Write a compact list if every item is one block or a line with a list; else a loose list."""
    plain = all(len(blocks) == 1 or is_nested_list(blocks) for blocks in items)
    between = "\n" if plain else "\n\n"
    walk.add_block(between.join(between.join(blocks) for blocks in items))


def _write_definitions(el: Element, walk: MarkdownWalk) -> None:
    walk.write_paragraph(_format_bold(walk.format_line(get_first_child(el, "title"))))
    heads = [walk.format_line(get_first_child(el, tag)) for tag in ("term-head", "def-head")]
    walk.write_paragraph(_format_bold(" / ".join(filter(None, heads))))
    items: list[list[str]] = []
    for child in list_children(el):
        if child.tag == "def-item":
            items.append(_format_definition(child, walk))
        elif child.tag not in {"title", "label", "term-head", "def-head"}:
            items.extend(
                _format_item_blocks("-", [block])
                for block in walk.collect_blocks(child, itself=True)
            )
    _write_list_items(items, walk)


def _format_definition(el: Element, walk: MarkdownWalk) -> list[str]:
    terms = ", ".join(filter(None, (walk.format_line(term) for term in el.iterchildren("term"))))
    stray = walk.escape(collapse_whitespace(el.text or ""))
    blocks = [stray] if stray else []
    for child in list_children(el):
        if child.tag not in {"term", "label"}:
            blocks += walk.collect_blocks(child, itself=child.tag != "def")
    lead = f"{_format_bold(terms)}: " if terms else ""
    opening = f"{lead}{blocks[0]}" if blocks else lead.rstrip(": ")
    return _format_item_blocks("-", [opening, *blocks[1:]])


def _format_bold(text: str) -> str:
    """Return text in bold, unless it contains bold text already."""
    return f"**{text}**" if text and "**" not in text else text


# --- quotations, boxes, code --------------------------------------------------------------------


def _write_quote(el: Element, walk: MarkdownWalk) -> None:
    walk.add_block(format_quote(walk.collect_blocks(el)))


def _write_attribution(el: Element, walk: MarkdownWalk) -> None:
    walk.write_paragraph(f"— {text}" if (text := walk.format_line(el)) else "")


def _write_box(el: Element, walk: MarkdownWalk) -> None:
    titles = (get_first_child(el, "label"), el.find("caption/title"), get_first_child(el, "title"))
    head = " ".join(filter(None, map(walk.format_line, titles)))
    blocks = [_format_bold(head)] if head else []
    for part in el.iterchildren("caption"):
        blocks += walk.collect_blocks(part, skip=_TITLE)
    walk.add_block(format_quote(blocks + walk.collect_blocks(el, skip=CAPTION)))


def _write_verse(el: Element, walk: MarkdownWalk) -> None:
    """Write the lines of a poem; groups of verses may be nested."""
    lines = []
    for child in list_children(el):
        if child.tag == "verse-line":
            lines.append(walk.format_line(child))
        else:
            walk.write_paragraph("<br>".join(lines))
            lines = []
            walk.write_element(child)
    walk.write_paragraph("<br>".join(lines))


def _write_preformatted(el: Element, walk: MarkdownWalk) -> None:
    text = get_all_text(el).strip("\n").rstrip()
    if walk.counting:
        walk.words += len(text.split())
    language = re.sub(r"[^\w+#-]", "", el.get("language") or "")
    walk.add_block(format_code_block(text, language) if text else "")


def _format_inline_code(el: Element, walk: MarkdownWalk) -> str:
    """Return an inline ``code`` element as markdown."""
    text = collapse_whitespace(get_all_text(el))
    return f"`{text}`" if text and "`" not in text else walk.format_content(el)


def _write_speech(el: Element, walk: MarkdownWalk) -> None:
    speaker = walk.format_line(get_first_child(el, "speaker"))
    walk.write_unused_lead()
    walk.lead = f"**{speaker.rstrip(':')}:** " if speaker else ""
    walk.write_content(el, skip={"speaker"})
    walk.write_unused_lead()


def _write_statement(el: Element, walk: MarkdownWalk) -> None:
    head = " ".join(
        filter(None, (walk.format_line(get_first_child(el, tag)) for tag in ("label", "title")))
    )
    walk.write_unused_lead()
    walk.lead = f"{_format_bold(head)} " if head else ""
    walk.write_content(el, skip=_TITLE)
    walk.write_unused_lead()


# --- figures, files, notes ------------------------------------------------------------------------


def _write_figure(el: Element, walk: MarkdownWalk) -> None:
    write_caption(el, walk)
    walk.write_content(el, skip=CAPTION)


def _write_picture_description(el: Element, walk: MarkdownWalk) -> None:
    """Write ``alt-text`` and ``long-desc``, unless the text already contains their words."""
    text = walk.format_line(el)
    repeats = any(text.rstrip(".") in block for block in walk.blocks[-2:])
    if text and not repeats and not _EMPTY_WORDS.fullmatch(text):
        walk.write_paragraph(f"[Image description: {text}]")


def _write_media(el: Element, walk: MarkdownWalk) -> None:
    write_caption(el, walk)
    walk.write_content(el, skip=CAPTION)
    href = el.get(HREF) or ""
    name = walk.escape(href.rstrip("/").rpartition("/")[2])
    walk.write_paragraph(f"[File: {format_link(name, href)}]" if name else "")


def _write_footnote(el: Element, walk: MarkdownWalk) -> None:
    label = walk.format_line(get_first_child(el, "label"))
    walk.write_unused_lead()
    if label:
        core = re.sub(r"</?sup>", "", label)
        raised = len(core.replace("\\", "")) <= _QUICK_LABEL
        walk.lead = f"<sup>{core}</sup> " if raised else f"{_format_bold(label)} "
    walk.write_paragraph(_format_bold(walk.format_line(get_first_child(el, "title"))))
    walk.write_content(el, skip=_TITLE)
    walk.write_unused_lead()


def write_footnotes(el: Element, walk: MarkdownWalk, default: str = "") -> None:
    """Write a group of footnotes, with its title if present."""
    title = walk.format_line(get_first_child(el, "title")) or default
    walk.write_heading(title)
    walk.level += bool(title)
    for child in list_children(el):
        if child.tag == "fn":
            _write_footnote(child, walk)
        elif child.tag != "title":
            walk.write_element(child)
        walk.write_paragraph(walk.escape(child.tail or ""))
    walk.level -= bool(title)


def _write_notes(el: Element, walk: MarkdownWalk) -> None:
    kind = (el.get("notes-type") or "").replace("-", " ").replace("_", " ").strip().lower()
    write_section(el, walk, _NOTES.get(kind) or kind.capitalize())


def _write_correspondence(el: Element, walk: MarkdownWalk) -> None:
    label = walk.format_line(get_first_child(el, "label"))
    walk.write_paragraph(f"{label} {walk.format_content(el, skip={'label'})}")


def _write_copyright_and_license(el: Element, walk: MarkdownWalk) -> None:
    for child in el.iter("copyright-statement", "license"):
        walk.write_content(child)


def _write_alternative(el: Element, walk: MarkdownWalk) -> None:
    best = _choose_alternative(el)
    if best is not None and best.tag == "table":
        for table in _drop_repeated_tables(el.iterchildren("table")):
            walk.write_element(table)
    elif best is not None:
        walk.write_element(best)


def _drop_repeated_tables(tables: Iterable[Element]) -> Iterator[Element]:
    """Yield the tables without duplicates, because some archives store a table twice."""
    seen = set()
    for table in tables:
        words = "".join(get_all_text(table).split())
        if words not in seen:
            seen.add(words)
            yield table


def _format_alternative(el: Element, walk: MarkdownWalk) -> str:
    best = _choose_alternative(el)
    return walk.format_element(best) if best is not None else walk.escape(el.text or "")


def _choose_alternative(el: Element) -> Element | None:
    for tag in _BEST:
        if (found := get_first_child(el, tag)) is not None:
            return found
    return el[0] if len(el) else None


BLOCK_INLINE: dict[str, Inline] = {
    "code": _format_inline_code,
    "alternatives": _format_alternative,
}
BLOCK: dict[str, Block] = {
    **dict.fromkeys(("p", "title", "subtitle"), _write_paragraph),
    **dict.fromkeys(("sec", "app-group"), write_section),
    "app": _make_section_writer("Appendix"),
    "bio": _make_section_writer("Biography"),
    "notes": _write_notes,
    **dict.fromkeys(("fn-group", "table-wrap-foot", "author-notes"), write_footnotes),
    "ack": _make_section_writer("Acknowledgements"),
    "glossary": _make_section_writer("Glossary"),
    "list": _write_list,
    "def-list": _write_definitions,
    "disp-quote": _write_quote,
    "boxed-text": _write_box,
    "attrib": _write_attribution,
    "verse-group": _write_verse,
    "preformat": _write_preformatted,
    "speech": _write_speech,
    "statement": _write_statement,
    **dict.fromkeys(
        ("fig", "fig-group", "supplementary-material", "chem-struct-wrap"), _write_figure
    ),
    **dict.fromkeys(("alt-text", "long-desc"), _write_picture_description),
    "media": _write_media,
    "corresp": _write_correspondence,
    "permissions": _write_copyright_and_license,
    "alternatives": _write_alternative,
    **dict.fromkeys(("caption", "license-p", "table-wrap-group"), _write_container_content),
    **dict.fromkeys(("disp-formula-group", "question", "answer", "explanation"), _write_statement),
    **dict.fromkeys(("sec-meta", "processing-meta", "counts"), _write_nothing),
}


_LONGEST_NUMBER = 40  # characters of "1, 2-5"; keeps the pattern below from running wild
_LONGEST_LABEL, _MOST_TARGETS = 100, 100  # of a cross-reference without words of its own
_NUMBERS = re.compile(r"[\d\s,;–-]*\d[\d\s,;–-]*")
_LONGEST_WORD = 60
_LONGEST_MARK = 4  # characters of a mark that points to a note
_NOTE_TAGS = frozenset({"table-fn", "fn"})
_ENDS = frozenset({".", ",", ";", ":"})
_YEAR = re.compile(r"\d{4}")
# Words after which a number is read as one: "see reference 12".
_POINTING = frozenset(
    re.findall(
        r"\S+",
        "ref refs ref. refs. reference references citation citations source sources number numbers "
        "no. nos. study studies in see from by of and or to with cf. as than",
    )
)
_POINTERS = frozenset({"bibr", "fig", "table", "disp-formula", "boxed-text", "app"})
_BETWEEN_NUMBERS = frozenset({",", "–", "-", ", ", "−", "‐"})


def _get_text_before(el: Element) -> str:
    """Return the text directly before the element; empty after another element."""
    previous = el.getprevious()
    if previous is not None:
        return previous.tail or ""
    parent = el.getparent()
    return (parent.text or "") if parent is not None else ""


def _make_emphasis_formatter(begin: str, end: str) -> Inline:
    """Return a formatter of emphasis marks, which `.walk` converts at the end of a line."""

    def write_inline(el: Element, walk: MarkdownWalk) -> str:
        inner = walk.format_content(el)
        return f"{begin}{inner}{end}" if inner else ""

    return write_inline


def _get_parent_tag(el: Element) -> str:
    parent = el.getparent()
    return "" if parent is None else parent.tag


def _make_tag_formatter(tag: str) -> Inline:
    return _make_mark_formatter(f"<{tag}>", f"</{tag}>")


def _make_mark_formatter(opening: str, closing: str) -> Inline:
    """Return a function that puts content between marks, with outer whitespace outside of them."""

    def write_inline(el: Element, walk: MarkdownWalk) -> str:
        inner = walk.format_content(el)
        core = inner.strip()
        return inner.replace(core, f"{opening}{core}{closing}", 1) if core else inner

    return write_inline


def format_monospace(el: Element, walk: MarkdownWalk) -> str:
    """Return monospace text in backticks, unless it contains markup."""
    text = collapse_whitespace(el.text or "")
    if len(el) or not text:
        return walk.format_content(el)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _format_line_break(_el: Element, _walk: MarkdownWalk) -> str:
    return "<br>"


def format_nothing(_el: Element, _walk: MarkdownWalk) -> str:
    """Return an empty text, for elements whose content is only for machines."""
    return ""


def _format_cross_reference(el: Element, walk: MarkdownWalk) -> str:
    text = walk.format_content(el)
    if not text.strip():
        return text + _format_empty_reference(el, walk)
    kind = el.get("ref-type")
    if kind == "bibr":
        is_mark = len(text) < _LONGEST_NUMBER and _NUMBERS.fullmatch(text) is not None
    else:
        is_mark = kind in _NOTE_TAGS and len(text) < _LONGEST_MARK and text.isalnum()
    if is_mark and _is_superscript_reference(el, text, walk):
        walk.last_raised = el
        return f"<sup>{text.strip()}</sup>"
    return text


def _is_superscript_reference(el: Element, text: str, walk: MarkdownWalk) -> bool:
    """Return whether a reference mark directly follows a word and is not part of the sentence."""
    if _get_parent_tag(el) in {"sup", "sub", "xref"}:
        return False
    before = _get_text_before(el)
    if before in _BETWEEN_NUMBERS:
        return walk.last_raised is not None and el.getprevious() is walk.last_raised
    last = before[-1:]
    if last.isalnum() or last in {")", "”", "%", "’"}:
        return True
    if el.get("ref-type") != "bibr":
        return last in _ENDS if before else el.getprevious() is not None
    if last.isspace():
        return not _YEAR.search(text) and _is_plain_word_last(before)
    return last in _ENDS and before[-2:-1].isalnum()


def _is_plain_word_last(before: str) -> bool:
    """Return whether *before* ends with a word outside brackets to which no number belongs."""
    word = before[-_LONGEST_WORD:].split()[-1:]
    is_open = any(before.rfind(opening) > before.rfind(end) for opening, end in ("()", "[]"))
    return bool(word) and word[0][-1].isalpha() and word[0].lower() not in _POINTING and not is_open


def _format_empty_reference(el: Element, walk: MarkdownWalk) -> str:
    """Return the text for an empty cross-reference: the label of its target.

    The text is empty for the middle of a range (``3-6`` links to 4 and 5, too) and for links to
    sections.
    """
    previous, following = el.getprevious(), el.getnext()
    touches = previous is not None and previous.tag == "xref" and not previous.tail
    touches |= following is not None and following.tag == "xref" and not el.tail
    if touches or el.get("ref-type") not in _POINTERS:
        return ""
    labels = []
    for rid in dict.fromkeys((el.get("rid") or "").split()[:_MOST_TARGETS]):
        target = walk.elements_by_id.get(rid)
        if target is None:
            continue
        label = get_first_child(target, "label")
        label = get_first_child(target, "title") if label is None else label
        # Not rendered: a label may hold a reference to itself.
        words = "" if label is None else walk.escape(collapse_whitespace(get_all_text(label)))
        labels.append(words[:_LONGEST_LABEL].strip("[]. ") or walk.escape(rid))
    named = ", ".join(labels)
    return f"[{named}]" if named and el.get("ref-type") == "bibr" else named


def _format_external_link(el: Element, walk: MarkdownWalk) -> str:
    inner = walk.format_content(el)
    core = inner.strip()
    href = el.get(HREF) or (get_all_text(el).strip() if el.tag == "uri" else "")
    link = format_link(core, href, el.get("ext-link-type") or "")
    return inner.replace(core, link, 1) if core else link


def _format_email(el: Element, walk: MarkdownWalk) -> str:
    """Return an email address, separated from an address directly before it."""
    previous = el.getprevious()
    touches = previous is not None and previous.tag == "email" and not previous.tail
    return f"{', ' if touches else ''}{_format_external_link(el, walk)}"


def _format_footnote_mark(el: Element, walk: MarkdownWalk) -> str:
    """Return an inline mark for a footnote, whose text follows the block."""
    walk.footnote_count += 1
    number = walk.footnote_count
    text = " ".join(walk.collect_blocks(el, skip={"label"})).replace("\n", " ")
    walk.footnotes.append(f"[^{number}]: {text}")
    return f"[^{number}]"


def _format_abbreviation(el: Element, walk: MarkdownWalk) -> str:
    """Return an ``abbrev`` element, which contains its expansion in ``def``."""
    text = walk.format_content(el, skip={"def"})
    meaning = walk.format_line(get_first_child(el, "def"))
    return f"{text} ({meaning})" if meaning else text


def _format_graphic(el: Element, walk: MarkdownWalk) -> str:
    text = (
        walk.format_line(get_first_child(el, "alt-text")) or (el.get(HREF) or "").rpartition("/")[2]
    )
    return f"[image: {walk.escape(text)}]" if text else ""


def _format_ruby(el: Element, walk: MarkdownWalk) -> str:
    base, reading = (
        walk.format_line(get_first_child(el, "rb")),
        walk.format_line(get_first_child(el, "rt")),
    )
    return f"{base} ({reading})" if reading else base


INLINE: dict[str, Inline] = {
    "italic": _make_emphasis_formatter(*ITALIC),
    "bold": _make_emphasis_formatter(*BOLD),
    "sub": _make_tag_formatter("sub"),
    "sup": _make_tag_formatter("sup"),
    "underline": _make_tag_formatter("u"),
    "strike": _make_mark_formatter("~~", "~~"),
    "monospace": format_monospace,
    "break": _format_line_break,
    "xref": _format_cross_reference,
    "ext-link": _format_external_link,
    "uri": _format_external_link,
    "email": _format_email,
    "fn": _format_footnote_mark,
    "abbrev": _format_abbreviation,
    "inline-graphic": _format_graphic,
    "ruby": _format_ruby,
    **dict.fromkeys(("hr", "object-id", "institution-id", "index-term"), format_nothing),
}


def _format_space(_el: Element, _walk: MarkdownWalk) -> str:
    return " "


def _format_without_footnote_mark(el: Element, walk: MarkdownWalk) -> str:
    return (
        "" if el.get("ref-type") in {"fn", "author-notes", "corresp"} else walk.format_content(el)
    )


def _make_first_child_formatter(*tags: str) -> Callable[[Element, MarkdownWalk], str]:
    """Return a formatter of the first child with one of these tags, or else of all content."""

    def write_first_child(el: Element, walk: MarkdownWalk) -> str:
        for tag in tags:
            if (found := get_first_child(el, tag)) is not None:
                return walk.format_content(found)
        return walk.format_content(el)

    return write_first_child


# What remains when a title or an abstract is wanted as plain words.
PLAIN: dict[str, Inline] = {
    "break": _format_space,
    "xref": _format_without_footnote_mark,
    "alternatives": _make_first_child_formatter(
        "{http://www.w3.org/1998/Math/MathML}math", "math", "textual-form"
    ),
    **dict.fromkeys(("fn", "object-id", "inline-graphic", "graphic", "index-term"), format_nothing),
}
