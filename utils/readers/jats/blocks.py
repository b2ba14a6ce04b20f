"""Blocks of an article: sections, lists, figures, boxes, quotations, code, notes.

Conventions: a figure or table opens with its label in bold, boxes and quotations are block quotes,
a list keeps the letters it was printed with, definitions are bullets with the term in bold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..safe_xml import children_of, first
from .tables import CAPTION, write_caption
from .text import block_quote, fenced, is_nested_list, link, roman, tidy
from .walk import HREF, Block, Element, Inline, Walk, text_of

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


def write_section(el: Element, walk: Walk, default: str = "") -> None:
    """Write a titled part of the text; its subsections one level down."""
    label, title = walk.line(first(el, "label")), walk.line(first(el, "title"))
    is_word = len(label) > _QUICK_LABEL and label[0].isalpha() and label[-1].isalnum()
    head = f"{label}{'.' if is_word and title else ''} {title}".strip() or default
    walk.heading(head)
    if head and (kind := el.get("sec-type")):
        walk.declared[head] = kind
    walk.headings += bool(head) and walk.counting
    walk.level += bool(head)
    walk.flow(el, skip=_TITLE)
    walk.flush_lead()
    walk.level -= bool(head)


def _titled(default: str) -> Block:
    return lambda el, walk: write_section(el, walk, default)


def _flow(el: Element, walk: Walk) -> None:
    walk.flow(el)


def _paragraph(el: Element, walk: Walk) -> None:
    if len(el):
        walk.flow(el)
    else:
        walk.paragraph(walk.escape(el.text or ""))


def _nothing(_el: Element, _walk: Walk) -> None:
    return


# --- lists ------------------------------------------------------------------------------------


def _list(el: Element, walk: Walk) -> None:
    walk.paragraph(_bold(walk.line(first(el, "title"))))
    kind = el.get("list-type") or ""
    kind = "plain" if walk.in_cell and kind in {"simple", "none"} else kind
    prefix = el.get("prefix-word") or ""
    walk.paragraph(walk.escape(el.text or ""))
    items: list[list[str]] = []
    for child in children_of(el):
        if child.tag == "list-item":
            marker, lead = _marker(child, walk, kind, len(items) + 1)
            lead = f"{walk.escape(prefix)} {lead}" if prefix else lead
            items.append(_item(marker, lead, walk, child))
        elif child.tag not in _TITLE:
            items.extend(_indented("-", [block]) for block in walk.collect(child, itself=True))
    _put_list(items, walk)


def _marker(item: Element, walk: Walk, kind: str, number: int) -> tuple[str, str]:
    """The list marker of an item, and the label to print if markdown has no marker for it."""
    label = walk.line(first(item, "label"))
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
        return "-", f"{roman(number).upper() if kind.endswith('upper') else roman(number)}) "
    return "" if kind == "plain" else "-", ""


def _item(marker: str, lead: str, walk: Walk, el: Element) -> list[str]:
    """The blocks of a list item with the marker before the first, the others indented."""
    blocks = walk.collect(el, skip={"label"}) or [""]
    return _indented(marker, [(lead + blocks[0]).rstrip(), *blocks[1:]])


def _indented(marker: str, blocks: list[str]) -> list[str]:
    blank = " " * (len(marker) + 1)
    inner = [block.replace("\n", f"\n{blank}") for block in blocks]
    return [f"{marker} {inner[0]}".strip(), *(blank + block for block in inner[1:])]


def _put_list(items: list[list[str]], walk: Walk) -> None:
    """Tight when every item is one block or a line with a list under it, else spread out."""
    plain = all(len(blocks) == 1 or is_nested_list(blocks) for blocks in items)
    between = "\n" if plain else "\n\n"
    walk.add(between.join(between.join(blocks) for blocks in items))


def _definitions(el: Element, walk: Walk) -> None:
    walk.paragraph(_bold(walk.line(first(el, "title"))))
    heads = [walk.line(first(el, tag)) for tag in ("term-head", "def-head")]
    walk.paragraph(_bold(" / ".join(filter(None, heads))))
    items: list[list[str]] = []
    for child in children_of(el):
        if child.tag == "def-item":
            items.append(_definition(child, walk))
        elif child.tag not in {"title", "label", "term-head", "def-head"}:
            items.extend(_indented("-", [block]) for block in walk.collect(child, itself=True))
    _put_list(items, walk)


def _definition(el: Element, walk: Walk) -> list[str]:
    terms = ", ".join(filter(None, (walk.line(term) for term in el.iterchildren("term"))))
    stray = walk.escape(tidy(el.text or ""))
    blocks = [stray] if stray else []
    for child in children_of(el):
        if child.tag not in {"term", "label"}:
            blocks += walk.collect(child, itself=child.tag != "def")
    lead = f"{_bold(terms)}: " if terms else ""
    opening = f"{lead}{blocks[0]}" if blocks else lead.rstrip(": ")
    return _indented("-", [opening, *blocks[1:]])


def _bold(text: str) -> str:
    """Text in bold, unless it has bold in it."""
    return f"**{text}**" if text and "**" not in text else text


# --- quotations, boxes, code --------------------------------------------------------------------


def _quote(el: Element, walk: Walk) -> None:
    walk.add(block_quote(walk.collect(el)))


def _attribution(el: Element, walk: Walk) -> None:
    walk.paragraph(f"— {text}" if (text := walk.line(el)) else "")


def _box(el: Element, walk: Walk) -> None:
    titles = (first(el, "label"), el.find("caption/title"), first(el, "title"))
    head = " ".join(filter(None, map(walk.line, titles)))
    blocks = [_bold(head)] if head else []
    for part in el.iterchildren("caption"):
        blocks += walk.collect(part, skip=_TITLE)
    walk.add(block_quote(blocks + walk.collect(el, skip=CAPTION)))


def _verse(el: Element, walk: Walk) -> None:
    """Verses line by line; groups of them may nest."""
    lines = []
    for child in children_of(el):
        if child.tag == "verse-line":
            lines.append(walk.line(child))
        else:
            walk.paragraph("<br>".join(lines))
            lines = []
            walk.write(child)
    walk.paragraph("<br>".join(lines))


def _preformatted(el: Element, walk: Walk) -> None:
    text = text_of(el).strip("\n").rstrip()
    if walk.counting:
        walk.words += len(text.split())
    language = re.sub(r"[^\w+#-]", "", el.get("language") or "")
    walk.add(fenced(text, language) if text else "")


def _code(el: Element, walk: Walk) -> str:
    """``code`` inside a line."""
    text = tidy(text_of(el))
    return f"`{text}`" if text and "`" not in text else walk.inline(el)


def _speech(el: Element, walk: Walk) -> None:
    speaker = walk.line(first(el, "speaker"))
    walk.flush_lead()
    walk.lead = f"**{speaker.rstrip(':')}:** " if speaker else ""
    walk.flow(el, skip={"speaker"})
    walk.flush_lead()


def _statement(el: Element, walk: Walk) -> None:
    head = " ".join(filter(None, (walk.line(first(el, tag)) for tag in ("label", "title"))))
    walk.flush_lead()
    walk.lead = f"{_bold(head)} " if head else ""
    walk.flow(el, skip=_TITLE)
    walk.flush_lead()


# --- figures, files, notes ------------------------------------------------------------------------


def _figure(el: Element, walk: Walk) -> None:
    write_caption(el, walk)
    walk.flow(el, skip=CAPTION)


def _described(el: Element, walk: Walk) -> None:
    """``alt-text`` and ``long-desc``, unless they repeat what is there already."""
    text = walk.line(el)
    repeats = any(text.rstrip(".") in block for block in walk.blocks[-2:])
    if text and not repeats and not _EMPTY_WORDS.fullmatch(text):
        walk.paragraph(f"[Image description: {text}]")


def _media(el: Element, walk: Walk) -> None:
    write_caption(el, walk)
    walk.flow(el, skip=CAPTION)
    href = el.get(HREF) or ""
    name = walk.escape(href.rstrip("/").rpartition("/")[2])
    walk.paragraph(f"[File: {link(name, href)}]" if name else "")


def _footnote(el: Element, walk: Walk) -> None:
    label = walk.line(first(el, "label"))
    walk.flush_lead()
    if label:
        core = re.sub(r"</?sup>", "", label)
        raised = len(core.replace("\\", "")) <= _QUICK_LABEL
        walk.lead = f"<sup>{core}</sup> " if raised else f"{_bold(label)} "
    walk.paragraph(_bold(walk.line(first(el, "title"))))
    walk.flow(el, skip=_TITLE)
    walk.flush_lead()


def write_footnotes(el: Element, walk: Walk, default: str = "") -> None:
    """Write a group of footnotes, under its title if it has one."""
    title = walk.line(first(el, "title")) or default
    walk.heading(title)
    walk.level += bool(title)
    for child in children_of(el):
        if child.tag == "fn":
            _footnote(child, walk)
        elif child.tag != "title":
            walk.write(child)
        walk.paragraph(walk.escape(child.tail or ""))
    walk.level -= bool(title)


def _notes(el: Element, walk: Walk) -> None:
    kind = (el.get("notes-type") or "").replace("-", " ").replace("_", " ").strip().lower()
    write_section(el, walk, _NOTES.get(kind) or kind.capitalize())


def _correspondence(el: Element, walk: Walk) -> None:
    label = walk.line(first(el, "label"))
    walk.paragraph(f"{label} {walk.inline(el, skip={'label'})}")


def _rights(el: Element, walk: Walk) -> None:
    for child in el.iter("copyright-statement", "license"):
        walk.flow(child)


def _best_alternative(el: Element, walk: Walk) -> None:
    best = _best(el)
    if best is not None and best.tag == "table":
        for table in _different(el.iterchildren("table")):
            walk.write(table)
    elif best is not None:
        walk.write(best)


def _different(tables: Iterable[Element]) -> Iterator[Element]:
    """Tables that are not the same again: some archives put two into one place."""
    seen = set()
    for table in tables:
        words = "".join(text_of(table).split())
        if words not in seen:
            seen.add(words)
            yield table


def _best_in_line(el: Element, walk: Walk) -> str:
    best = _best(el)
    return walk.inline_element(best) if best is not None else walk.escape(el.text or "")


def _best(el: Element) -> Element | None:
    for tag in _BEST:
        if (found := first(el, tag)) is not None:
            return found
    return el[0] if len(el) else None


BLOCK_INLINE: dict[str, Inline] = {"code": _code, "alternatives": _best_in_line}
BLOCK: dict[str, Block] = {
    **dict.fromkeys(("p", "title", "subtitle"), _paragraph),
    **dict.fromkeys(("sec", "app-group"), write_section),
    "app": _titled("Appendix"),
    "bio": _titled("Biography"),
    "notes": _notes,
    **dict.fromkeys(("fn-group", "table-wrap-foot", "author-notes"), write_footnotes),
    "ack": _titled("Acknowledgements"),
    "glossary": _titled("Glossary"),
    "list": _list,
    "def-list": _definitions,
    "disp-quote": _quote,
    "boxed-text": _box,
    "attrib": _attribution,
    "verse-group": _verse,
    "preformat": _preformatted,
    "speech": _speech,
    "statement": _statement,
    **dict.fromkeys(("fig", "fig-group", "supplementary-material", "chem-struct-wrap"), _figure),
    **dict.fromkeys(("alt-text", "long-desc"), _described),
    "media": _media,
    "corresp": _correspondence,
    "permissions": _rights,
    "alternatives": _best_alternative,
    **dict.fromkeys(("caption", "license-p", "table-wrap-group"), _flow),
    **dict.fromkeys(("disp-formula-group", "question", "answer", "explanation"), _statement),
    **dict.fromkeys(("sec-meta", "processing-meta", "counts"), _nothing),
}
