"""XML from anywhere: parsed without harm, and its inline elements read as a person would type them.

No DTD is loaded, no entity expanded, no network touched, no tree deeper than the parser's own
bound: entity bombs, external entities and nesting attacks end as a plain error.
https://lxml.de/FAQ.html#how-do-i-use-lxml-safely-as-a-web-service-endpoint

lxml makes its Python elements anew whenever a node is reached and nobody holds the one made before.
Making all children of a node at once is three times as fast as looping over the node.

PubMed's titles and abstracts hold ``<i>``, ``<sub>``, ``<sup>`` and MathML (the entity ``%text;``
of ``pubmed_250101.dtd``). Dropping the tags changes the meaning (``10<sup>-5</sup>`` would read
``10-5``), so `readable_text` keeps the meaning in plain Unicode:

- ``CO<sub>2</sub>`` becomes ``CO₂`` and ``Ca<sup>2+</sup>`` becomes ``Ca²⁺`` wherever every
  character is a digit or sign with a raised or lowered twin (``.``, ``,`` and ``/`` may stand
  between them: ``PM₂.₅``, ``Apoe⁻/⁻``);
- other scripts are written ``T_max``, ``BRAF^V600E`` or, when not one plain word, ``C_(min+1mM)``;
  ordinals (``5th``) and pure symbols (``®``, ``†``) stay in line;
- MathML is linearised: ``(a + b)/c``, ``√(x)``, ``x̄``.

White space is normalised (thin and no-break spaces too), character references that were escaped
twice (``&amp;eacute;``) are read, and nothing else is ever expanded.
"""

from __future__ import annotations

import html
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lxml import etree

from ..errors import BadContent
from ..system.plain_text import clean_text, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.etree import _Element

SAFE_OPTIONS: dict[str, Any] = {
    "load_dtd": False,
    "no_network": True,
    "resolve_entities": False,
    "huge_tree": False,
}


def parse(body: bytes) -> Any:
    """The root element; no text in it holds a character that deceives.

    Raises
    ------
    BadContent
        The bytes are not well-formed XML.
    """
    try:
        root = etree.fromstring(body, etree.XMLParser(**SAFE_OPTIONS))
    except etree.XMLSyntaxError as error:
        msg = f"The answer is not XML: {error.msg}."
        raise BadContent(msg, verdict="not_a_paper") from None
    if not body.isascii() or b"&#" in body or b"\x7f" in body:
        _clean(root)
    return root


def _clean(root: _Element) -> None:
    """Clean all texts of a tree: only here is every encoding and reference read."""
    for element in root.iter():
        if (text := element.text) and not (text.isascii() and text.isprintable()):
            with suppress(TypeError):  # an entity that was not read: its text is its name
                element.text = clean_text(str(text))
        if (tail := element.tail) and not (tail.isascii() and tail.isprintable()):
            element.tail = clean_text(str(tail))
        for name, value in element.attrib.items():
            element.set(name, clean_text(str(value)))


def children_of(element: _Element) -> list[_Element]:
    """All children, in order."""
    children: list[_Element] = element[:]  # type: ignore  # slices: not in the stubs
    return children


def first(element: _Element, tag: str) -> _Element | None:
    """The first child with that tag; ``find`` reads a path and takes twice as long."""
    return next(element.iterchildren(tag), None)


_RAISED = str.maketrans("0123456789+-−–=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_HAS_TWIN = re.compile(r"(?=.*[\d+=()−–-])[\d+=()−–.,/-]+", re.A)
_IN_LINE = re.compile(r"th|st|nd|rd|[^\w^]+")
_WORD = re.compile(r"\w+")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLOCKS = frozenset({"DispFormula", "disp-formula", "p", "br", "break", "list-item"})


def readable_text(element: _Element | None) -> str:
    """All text of an element on one line, markup turned into Unicode (see the module).

    >>> from lxml.etree import fromstring
    >>> readable_text(fromstring("<t>CO<sub>2</sub> at 10<sup>-5</sup> <i>M</i></t>"))
    'CO₂ at 10⁻⁵ M'
    """
    if element is None:
        return ""
    text = _rendered(element) if len(element) else element.text
    if not text:
        return ""
    if text.isalnum():
        return text
    if "&" in text:
        text = _REFERENCE.sub(lambda found: html.unescape(found[0]), text)
    return one_line(text)


def _rendered(element: _Element) -> str:
    parts = [element.text or ""]
    for child in children_of(element):
        parts += _piece(child), child.tail or ""
    return "".join(parts)


def _piece(child: _Element) -> str:
    name = _local(child)
    if name in ("sub", "inf"):
        return _script(_rendered(child), lowered=True)
    if name == "sup":
        return _script(_rendered(child))
    if name == "math":
        return _linear(child) or child.get("alttext") or _rendered(child)
    if not name:
        # An entity the parser refused to expand is kept as written; comments say nothing.
        text = child.text or ""
        return text if _REFERENCE.fullmatch(text) else ""
    return f" {_rendered(child)} " if name in _BLOCKS else _rendered(child)


def _local(element: _Element) -> str:
    """The tag without its namespace; empty for comments, instructions and entities."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _script(text: str, lowered: bool = False) -> str:
    """Text as a raised or lowered script, outer white space kept outside."""
    script = text.strip()
    if not script:
        return text
    if _HAS_TWIN.fullmatch(script):
        written = script.translate(_LOWERED if lowered else _RAISED)
    elif script == "TM":
        written = "™"
    elif _IN_LINE.fullmatch(script):
        written = script
    else:
        written = ("_" if lowered else "^") + _grouped(script)
    return text.replace(script, written, 1)


def _grouped(text: str) -> str:
    """Text in parentheses unless it is one word."""
    return text if len(text) == 1 or _WORD.fullmatch(text) else f"({text})"


# --- MathML ------------------------------------------------------------------------------------

_SPACED = frozenset("=≠<>≤≥≈≃≅∼~≡∝±→←↔⇒⇔∈∉⊂⊆∪∩×∧∨≪≫≲≳")
_SIGNS = frozenset("+-−–")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064\u200b"))
_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "―": "\u0304", "^": "\u0302", "\u02c6": "\u0302", "~": "\u0303",
    "\u02dc": "\u0303", "→": "\u20d7", "⃗": "\u20d7", ".": "\u0307", "˙": "\u0307", "¨": "\u0308",
}  # fmt: skip


def _linear(element: _Element) -> str:
    """A MathML element on one line."""
    name = _local(element)
    if layout := _LAYOUTS.get(name):
        return layout([child for child in children_of(element) if _local(child)])
    if name in ("mo", "mi", "mn", "mtext", "ms"):
        text = _rendered(element).translate(_INVISIBLE)
        return text if name == "mtext" else text.strip()
    if name == "mspace":
        return " "
    if name in ("annotation", "annotation-xml", "mphantom", "none", "mprescripts", ""):
        return ""
    return _row(children_of(element))


def _row(children: list[_Element]) -> str:
    """Children side by side; relations stand between spaces, as do signs between two terms."""
    written = ""
    for child in children:
        text = _linear(child)
        if _local(child) == "mo":
            binary = child is not children[-1] and written[-1:] not in ("", " ", "(", "[")
            if text in _SPACED or (text in _SIGNS and binary):
                text = f" {text} "
            elif text in (",", ";"):
                text += " "
        written += text
    return " ".join(written.split())


def _at(children: list[_Element], index: int) -> str:
    return _linear(children[index]).strip() if index < len(children) else ""


def _base(children: list[_Element]) -> str:
    text = _at(children, 0)
    return f"({text})" if " " in text else text


def _sub(children: list[_Element]) -> str:
    return _base(children) + _script(_at(children, 1), lowered=True)


def _sup(children: list[_Element]) -> str:
    return _base(children) + _script(_at(children, 1))


def _subsup(children: list[_Element]) -> str:
    return _sub(children) + _script(_at(children, 2))


def _over(children: list[_Element]) -> str:
    base, mark = _base(children), _at(children, 1)
    if accent := _ACCENTS.get(mark):
        # A combining mark sits on one character; over a longer term it is spelled out.
        return base + accent if len(base) == 1 else f"{mark}({_at(children, 0)})"
    return base + _script(mark)


def _under(children: list[_Element]) -> str:
    base, mark = _base(children), _at(children, 1)
    if mark in ("¯", "_", "‾", "―"):
        return base + "\u0332" if len(base) == 1 else base
    return base + _script(mark, lowered=True)


def _underover(children: list[_Element]) -> str:
    return _under(children[:2]) + _script(_at(children, 2))


def _fraction(children: list[_Element]) -> str:
    return "/".join(_grouped(_at(children, index)) for index in (0, 1))


def _root(children: list[_Element]) -> str:
    return f"{_script(_at(children, 1))}√({_at(children, 0)})"


def _multiscripts(children: list[_Element]) -> str:
    """Scripts around a base: (sub, sup) pairs after it, then, after mprescripts, before it."""
    names = [_local(child) for child in children]
    cut = names.index("mprescripts") if "mprescripts" in names else len(children)

    def pairs(members: list[_Element]) -> str:
        return "".join(
            _script(_linear(member).strip(), lowered=index % 2 == 0)
            for index, member in enumerate(members)
        )

    return pairs(children[cut + 1 :]) + _base(children) + pairs(children[1:cut])


_LAYOUTS: dict[str, Callable[[list[_Element]], str]] = {
    "msub": _sub,
    "msup": _sup,
    "msubsup": _subsup,
    "mover": _over,
    "munder": _under,
    "munderover": _underover,
    "mfrac": _fraction,
    "msqrt": lambda children: f"√({_row(children)})",
    "mroot": _root,
    "mmultiscripts": _multiscripts,
    "mfenced": lambda children: f"({', '.join(map(_linear, children))})",
    "mtable": lambda children: f"[{'; '.join(map(_linear, children))}]",
    "mtr": lambda children: ", ".join(map(_linear, children)),
    "semantics": lambda children: _at(children, 0),
}
