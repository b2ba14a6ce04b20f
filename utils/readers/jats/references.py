"""Write reference lists, and citations anywhere in the text.

A citation with the publisher's punctuation (``mixed-citation``) is kept as printed. A citation made
of fields (``element-citation``) is composed in PubMed's style: *authors. title. source
year;volume(issue):pages. doi, PMID*. Other fields follow, so that nothing is lost.
"""

from __future__ import annotations

import html
import re
from typing import Final

from ..safe_xml import get_first_child, list_children
from .walk import (
    MARKS,
    Block,
    Element,
    Inline,
    MarkdownWalk,
    collapse_whitespace,
    has_own_text,
    tidy_markdown_line,
)

_SYNONYMS: Final = re.compile(
    r"(?:references?(?: and notes| list)?|reference list|list of references|literature(?: cited)?"
    r"|bibliography|works cited|cited references|literature references)[.:]?",
    re.I,
)
_NUMBER: Final = re.compile(r"[\[(]?(\d{1,6})[\])]?[.:]?")
_CITATIONS: Final = ("mixed-citation", "element-citation", "citation", "nlm-citation")
_CITED: Final = frozenset((*_CITATIONS, "citation-alternatives"))
_LETTER: Final = re.compile(r"\(?[a-z][).]")
_ID_NAMES: Final = {"doi": "doi:", "pmid": "PMID ", "pmcid": "PMCID ", "arxiv": "arXiv:"}
# Adjacent in print, though nothing stands between them.
_TOUCHING: Final = frozenset({"sub", "sup", "xref", "fn", "break", "x"})
_TITLES: Final = ("article-title", "chapter-title", "data-title", "part-title", "trans-title")
_COMPOSED: Final = frozenset(
    (*_TITLES, "source", "year", "volume", "issue", "fpage", "lpage", "elocation-id", "page-range")
)
_NAME_ORDER: Final = {"prefix": 0, "surname": 1, "given-names": 2, "suffix": 3}
_USUAL_NAME: Final = ["surname", "given-names"]
# Of one run in italics cut in two.
_FACES: Final = frozenset({"italic", "bold"})
_PEOPLE: Final = frozenset({"person-group", "name", "string-name", "collab", "etal"})


def write_reference_list(el: Element, walk: MarkdownWalk, default: str = "") -> None:
    """Write a ``ref-list``: title, numbered references and other content."""
    title = walk.format_line(get_first_child(el, "title"))
    if _SYNONYMS.fullmatch(title.strip("*")):
        title = "References"
    title = title or default
    walk.write_heading(title)
    walk.level += bool(title)
    items: list[str] = []
    for child in list_children(el):
        if child.tag == "ref":
            walk.references += 1
            items.append(_format_reference_entry(child, walk, len(items) + 1))
        elif child.tag not in {"title", "label"}:
            walk.add_block("\n".join(items))
            items = []
            walk.write_element(child)
    walk.add_block("\n".join(items))
    walk.level -= bool(title)


def _format_reference_entry(el: Element, walk: MarkdownWalk, number: int) -> str:
    """Return one line of the list; a label that is not a number is put in brackets."""
    parts = []
    several = sum(child.tag in _CITED for child in list_children(el)) > 1
    letters = iter("abcdefghijklmnopqrstuvwxyz") if several else iter(())
    for child in list_children(el):
        if child.tag == "label":
            label = walk.format_line(child)
            if match := _NUMBER.fullmatch(label):
                number = int(match[1])
            elif label:
                parts.append(label if label.startswith("[") else f"[{label}]")
        else:
            entry = walk.format_element_line(child)
            if child.tag in _CITED and (letter := next(letters, "")):
                entry = f"{'<br>' if letter > 'a' else ''}{_add_citation_letter(entry, letter)}"
            parts.append(entry)
        if (tail := child.tail) and not tail.isspace():
            parts.append(walk.escape(collapse_whitespace(tail)))
    entry = " ".join([part for part in parts if part])
    return f"{number}. {entry.replace(' <br>', '<br>') if several else entry}".rstrip()


def _add_citation_letter(citation: str, letter: str) -> str:
    """Return one of several citations under one number, with its letter."""
    return citation if _LETTER.match(citation) else f"({letter}) {citation}"


def _format_citation(el: Element, walk: MarkdownWalk) -> str:
    children = list_children(el)
    tags = {child.tag for child in children}
    if tags.isdisjoint(_COMPOSED) or has_own_text(el, children):
        citation = _format_mixed_citation(el, children, walk)
    else:
        citation = _compose_citation(children, walk)
    if "label" not in tags:
        return citation
    label = walk.format_line(get_first_child(el, "label"))
    return citation if _NUMBER.fullmatch(label) else f"{label} {citation}"


def _format_mixed_citation(el: Element, children: list[Element], walk: MarkdownWalk) -> str:
    """Return a citation as printed, with spaces between elements that would run together."""
    in_sentence = walk.counting and _is_in_paragraph(el)
    parts = [walk.escape(el.text)] if el.text else []
    neighbour: Element | None = None  # what stands before with nothing between
    for child in children:
        tag = child.tag
        if tag == "label":
            piece = ""
        elif tag == "pub-id":
            piece = _format_pub_id(child, walk, "doi" if in_sentence else "".join(parts[-2:]))
            if parts and (parts[-1][-1:].isalnum() or parts[-1].endswith((".", ",", ";", ")"))):
                parts.append(" ")
        else:
            piece = walk.format_element(child)
        if (
            piece
            and neighbour is not None
            and parts
            and _is_space_needed(parts[-1], neighbour, child)
        ):
            parts.append("–" if tag == "lpage" else " ")
        parts.append(piece)
        if tail := child.tail:
            twice = tail[0] == "." != tail[1:2] and piece.rstrip(MARKS).endswith(".")
            parts.append(walk.escape(tail[1:] if twice else tail))
        neighbour = None if tail else child
    return tidy_markdown_line("".join(parts))


def _is_in_paragraph(el: Element) -> bool:
    parent = el.getparent()
    return parent is not None and parent.tag == "p"


def _is_space_needed(before: str, neighbour: Element, el: Element) -> bool:
    """Return whether two adjacent elements need a space that the XML lacks."""
    if el.tag in _TOUCHING or neighbour.tag in _TOUCHING:
        return False
    if el.tag == neighbour.tag and el.tag in _FACES:
        return False
    return bool(before) and not before[-1].isspace() and before[-1] not in "([/–-“‘"


def _format_pub_id(el: Element, walk: MarkdownWalk, before: str = "") -> str:
    """Return a DOI or PMID with its type, unless the text before states the type."""
    # Some archives escape the signs in old DOIs twice.
    text = walk.format_content(el) if len(el) else walk.escape(html.unescape(el.text or ""))
    text = collapse_whitespace(text).replace("\\_", "_")
    kind = (el.get("pub-id-type") or "").lower()
    before = before.rstrip(" :/\\").lower()
    name = _ID_NAMES.get(kind, "")
    if not name or before.endswith((kind, "doi.org", "abs", "pubmed")) or not text[:1].isalnum():
        return text
    if text.lower().startswith(kind) or "://" in text:
        return text
    return name + text


def _compose_citation(children: list[Element], walk: MarkdownWalk) -> str:
    """Return a citation composed of its fields."""
    fields: dict[str, list[str]] = {}
    rest: list[str] = []
    ids: list[str] = []
    people: list[str] = []
    for child in children:
        tag = child.tag
        if tag in _COMPOSED:
            if text := walk.format_line(child):
                fields.setdefault(tag, []).append(text)
        elif tag == "person-group":
            people.append(_format_person_group(child, walk))
        elif tag in _PEOPLE:
            people.append(walk.format_element_line(child))
        elif tag == "pub-id":
            ids.append(_format_pub_id(child, walk))
        elif tag != "label":
            rest.append(
                _format_edition(child, walk)
                if tag == "edition"
                else walk.format_element_line(child)
            )
    titles = [text for tag in _TITLES if tag in fields for text in fields[tag]]
    sentences = [", ".join(filter(None, people)), *titles, _format_source_fields(fields), *rest]
    made = " ".join([_add_full_stop(text) for text in sentences if text])
    return tidy_markdown_line(f"{made} {'. '.join(filter(None, ids))}")


def _format_edition(el: Element, walk: MarkdownWalk) -> str:
    text = walk.format_line(el)
    return f"{text} ed." if text.isalnum() else text


def _format_person_group(el: Element, walk: MarkdownWalk) -> str:
    """Return the people of a group, with their role unless they are the authors."""
    names = _format_names(el, walk)
    role = el.get("person-group-type") or "author"
    return names if role in {"author", "allauthors"} or not names else f"{names} ({role})"


def _format_source_fields(fields: dict[str, list[str]]) -> str:
    """Return ``*Nature* 2005;437(7062):1158–1161``, as far as the fields are known."""
    field = {name: ", ".join(texts) for name, texts in fields.items()}.get
    source, issue = field("source", ""), field("issue")
    numbers = field("volume", "") + (f"({issue})" if issue else "")
    start, end = field("fpage", ""), field("lpage")
    pages = start + (f"–{end}" if end and end != start else "")
    pages = ", ".join(filter(None, [pages or field("page-range"), field("elocation-id")]))
    place = ":".join(filter(None, [numbers, pages]))
    made = ";".join(filter(None, [field("year"), place]))
    named = f"*{source}*" if source and "*" not in source else source
    return " ".join(filter(None, [named, made]))


def _add_full_stop(sentence: str) -> str:
    printed = sentence.rstrip("*_”\"')")
    return sentence if printed.endswith((".", "?", "!", ":")) else f"{sentence}."


def _format_names(el: Element, walk: MarkdownWalk) -> str:
    """Return the names of a group, separated by commas even if the source has none."""
    people = list_children(el)
    if has_own_text(el, people):
        return tidy_markdown_line(walk.format_content(el))
    names = [
        _format_person_name(one, walk) if one.tag == "name" else walk.format_element_line(one)
        for one in people
    ]
    return ", ".join([name for name in names if name])


def _format_person_name(el: Element, walk: MarkdownWalk) -> str:
    """Return ``Smith JA Jr``; names with their own punctuation are unchanged."""
    parts = list_children(el)
    tags = [part.tag for part in parts if not (tail := part.tail) or tail.isspace()]
    if len(tags) < len(parts):
        return walk.format_content(el)
    if tags != _USUAL_NAME:
        if not _NAME_ORDER.keys() >= set(tags):
            return walk.format_content(el)
        parts.sort(key=lambda part: _NAME_ORDER[part.tag])
    return " ".join([text for part in parts if (text := walk.format_line(part))])


def _format_et_al(el: Element, walk: MarkdownWalk) -> str:
    return tidy_markdown_line(walk.format_content(el)) or "et al."


def _format_citation_alternative(el: Element, walk: MarkdownWalk) -> str:
    """Return the printed one of two forms of a citation."""
    best = get_first_child(el, "mixed-citation")
    best = el[0] if best is None and len(el) else best
    return walk.format_element(best) if best is not None else ""


def _format_date_fields(el: Element, walk: MarkdownWalk) -> str:
    """Return a date from its fields, separated by spaces."""
    parts = list_children(el)
    if not has_own_text(el, parts):
        return " ".join(filter(None, map(walk.format_line, parts)))
    written = [walk.escape(el.text or "")]
    for part in parts:
        tail = part.tail or (" " if part is not parts[-1] else "")
        written += [walk.format_element(part), walk.escape(tail)]
    return "".join(written)


REFERENCE_INLINE: dict[str, Inline] = {
    **dict.fromkeys(_CITATIONS, _format_citation),
    "citation-alternatives": _format_citation_alternative,
    "person-group": _format_names,
    "name": _format_person_name,
    "string-name": _format_person_name,
    "etal": _format_et_al,
    **dict.fromkeys(("date", "date-in-citation", "pub-date", "conf-date"), _format_date_fields),
}
REFERENCE_BLOCK: dict[str, Block] = {"ref-list": write_reference_list}
