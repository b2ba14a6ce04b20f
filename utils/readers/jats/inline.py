"""Running text of an article: emphasis, links, cross-references, footnotes in the line.

Conventions: ``*italic*``, ``**bold**``, ``<sub>``, ``<sup>`` and ``<u>`` as the HTML tags markdown
keeps, `` `monospace` ``, ``$…$`` for formulas. Where ``*`` would not be read as emphasis there is
none (`.text`). A citation number printed raised although its tag does not say so (``IL-6`` +
``12``) is written raised, so that it cannot be read as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..safe_xml import first
from .text import BOLD, ITALIC, link, tidy
from .walk import HREF, Element, Inline, Walk, text_of

_LONGEST_NUMBER = 40  # characters of "1, 2-5"; keeps the pattern below from running wild
_LONGEST_LABEL, _MOST_TARGETS = 100, 100  # of a cross-reference without words of its own
_NUMBERS = re.compile(r"[\d\s,;–-]*\d[\d\s,;–-]*")
_LONGEST_WORD = 60
_LONGEST_MARK = 4  # characters of a mark that points to a note
_NOTES = frozenset({"table-fn", "fn"})
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


def _before(el: Element) -> str:
    """The text right before the element; empty when another element stands there."""
    previous = el.getprevious()
    if previous is not None:
        return previous.tail or ""
    parent = el.getparent()
    return (parent.text or "") if parent is not None else ""


def _emphasis(begin: str, end: str) -> Inline:
    """Mark what `.text` will write when the line is whole."""

    def render(el: Element, walk: Walk) -> str:
        inner = walk.inline(el)
        return f"{begin}{inner}{end}" if inner else ""

    return render


def _parent_tag(el: Element) -> str:
    parent = el.getparent()
    return "" if parent is None else parent.tag


def _tagged(tag: str) -> Inline:
    return _between(f"<{tag}>", f"</{tag}>")


def _between(opening: str, closing: str) -> Inline:
    """Write the content between marks, its outer blanks outside of them."""

    def render(el: Element, walk: Walk) -> str:
        inner = walk.inline(el)
        core = inner.strip()
        return inner.replace(core, f"{opening}{core}{closing}", 1) if core else inner

    return render


def monospace(el: Element, walk: Walk) -> str:
    """Text in a typewriter face, verbatim between backticks unless there is markup in it."""
    text = tidy(el.text or "")
    if len(el) or not text:
        return walk.inline(el)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    blank = " " if "`" in text else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _break(_el: Element, _walk: Walk) -> str:
    return "<br>"


def nothing(_el: Element, _walk: Walk) -> str:
    """For elements that hold data for machines, not text."""
    return ""


def _xref(el: Element, walk: Walk) -> str:
    text = walk.inline(el)
    if not text.strip():
        return text + _pointer(el, walk)
    kind = el.get("ref-type")
    if kind == "bibr":
        is_mark = len(text) < _LONGEST_NUMBER and _NUMBERS.fullmatch(text) is not None
    else:
        is_mark = kind in _NOTES and len(text) < _LONGEST_MARK and text.isalnum()
    if is_mark and _is_raised(el, text, walk):
        walk.last_raised = el
        return f"<sup>{text.strip()}</sup>"
    return text


def _is_raised(el: Element, text: str, walk: Walk) -> bool:
    """Whether a bare number, or letter of a note, touches what it marks or is in a sentence."""
    if _parent_tag(el) in {"sup", "sub", "xref"}:
        return False
    before = _before(el)
    if before in _BETWEEN_NUMBERS:
        return walk.last_raised is not None and el.getprevious() is walk.last_raised
    last = before[-1:]
    if last.isalnum() or last in {")", "”", "%", "’"}:
        return True
    if el.get("ref-type") != "bibr":
        return last in _ENDS if before else el.getprevious() is not None
    if last.isspace():
        return not _YEAR.search(text) and _ends_with_a_word(before)
    return last in _ENDS and before[-2:-1].isalnum()


def _ends_with_a_word(before: str) -> bool:
    """Whether *before* ends with a word that no number belongs to, outside of brackets."""
    word = before[-_LONGEST_WORD:].split()[-1:]
    is_open = any(before.rfind(opening) > before.rfind(end) for opening, end in ("()", "[]"))
    return bool(word) and word[0][-1].isalpha() and word[0].lower() not in _POINTING and not is_open


def _pointer(el: Element, walk: Walk) -> str:
    """Words for a cross-reference that has none: the label of its target.

    Empty for the middle of a range (``3-6`` links to 4 and 5 as well) and for links to sections.
    """
    previous, following = el.getprevious(), el.getnext()
    touches = previous is not None and previous.tag == "xref" and not previous.tail
    touches |= following is not None and following.tag == "xref" and not el.tail
    if touches or el.get("ref-type") not in _POINTERS:
        return ""
    labels = []
    for rid in dict.fromkeys((el.get("rid") or "").split()[:_MOST_TARGETS]):
        target = walk.targets.get(rid)
        if target is None:
            continue
        label = first(target, "label")
        label = first(target, "title") if label is None else label
        # Not rendered: a label may hold a reference to itself.
        words = "" if label is None else walk.escape(tidy(text_of(label)))
        labels.append(words[:_LONGEST_LABEL].strip("[]. ") or walk.escape(rid))
    named = ", ".join(labels)
    return f"[{named}]" if named and el.get("ref-type") == "bibr" else named


def _ext_link(el: Element, walk: Walk) -> str:
    inner = walk.inline(el)
    core = inner.strip()
    href = el.get(HREF) or (text_of(el).strip() if el.tag == "uri" else "")
    made = link(core, href, el.get("ext-link-type") or "")
    return inner.replace(core, made, 1) if core else made


def _email(el: Element, walk: Walk) -> str:
    """An address; some archives put one right after the other."""
    previous = el.getprevious()
    touches = previous is not None and previous.tag == "email" and not previous.tail
    return f"{', ' if touches else ''}{_ext_link(el, walk)}"


def _footnote(el: Element, walk: Walk) -> str:
    """A footnote inside a line: a mark here, its text after the block."""
    walk.footnote_count += 1
    number = walk.footnote_count
    text = " ".join(walk.collect(el, skip={"label"})).replace("\n", " ")
    walk.footnotes.append(f"[^{number}]: {text}")
    return f"[^{number}]"


def _abbreviation(el: Element, walk: Walk) -> str:
    """``abbrev`` holds its own expansion in ``def``."""
    text = walk.inline(el, skip={"def"})
    meaning = walk.line(first(el, "def"))
    return f"{text} ({meaning})" if meaning else text


def _inline_graphic(el: Element, walk: Walk) -> str:
    text = walk.line(first(el, "alt-text")) or (el.get(HREF) or "").rpartition("/")[2]
    return f"[image: {walk.escape(text)}]" if text else ""


def _ruby(el: Element, walk: Walk) -> str:
    base, reading = walk.line(first(el, "rb")), walk.line(first(el, "rt"))
    return f"{base} ({reading})" if reading else base


INLINE: dict[str, Inline] = {
    "italic": _emphasis(*ITALIC),
    "bold": _emphasis(*BOLD),
    "sub": _tagged("sub"),
    "sup": _tagged("sup"),
    "underline": _tagged("u"),
    "strike": _between("~~", "~~"),
    "monospace": monospace,
    "break": _break,
    "xref": _xref,
    "ext-link": _ext_link,
    "uri": _ext_link,
    "email": _email,
    "fn": _footnote,
    "abbrev": _abbreviation,
    "inline-graphic": _inline_graphic,
    "ruby": _ruby,
    **dict.fromkeys(("hr", "object-id", "institution-id", "index-term"), nothing),
}


def _blank(_el: Element, _walk: Walk) -> str:
    return " "


def _no_footnote_mark(el: Element, walk: Walk) -> str:
    return "" if el.get("ref-type") in {"fn", "author-notes", "corresp"} else walk.inline(el)


def _only(*tags: str) -> Callable[[Element, Walk], str]:
    """The first of these children; all content when there is none."""

    def render(el: Element, walk: Walk) -> str:
        for tag in tags:
            if (found := first(el, tag)) is not None:
                return walk.inline(found)
        return walk.inline(el)

    return render


# What remains when a title or an abstract is wanted as plain words.
PLAIN: dict[str, Inline] = {
    "break": _blank,
    "xref": _no_footnote_mark,
    "alternatives": _only("{http://www.w3.org/1998/Math/MathML}math", "math", "textual-form"),
    **dict.fromkeys(("fn", "object-id", "inline-graphic", "graphic", "index-term"), nothing),
}
