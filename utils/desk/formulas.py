"""Turn the LaTeX of a formula into MathML that cannot harm.

latex2mathml builds a tree of elements. The tree is written out anew with the elements of MathML
that only show something, and a few attributes with plain values; all text is escaped. A formula
with anything else, such as a link, or with a command that the converter does not know, is left to
the caller, who shows its source.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from typing import TYPE_CHECKING

from latex2mathml.converter import convert_to_element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ELEMENTS = frozenset({
    *("math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace"),
    *("msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder"),
    "munderover",
})  # fmt: skip
ATTRIBUTES = frozenset({
    *("accent", "accentunder", "columnalign", "displaystyle", "fence", "linethickness", "lspace"),
    *("mathvariant", "maxsize", "minsize", "movablelimits", "rspace", "scriptlevel", "separator"),
    *("stretchy", "symmetric", "width"),
})  # fmt: skip
_PLAIN_VALUE = re.compile(r"[\w.%+ -]{1,40}", re.A)
_NUMBERED = re.compile(r"\\(?:tag\*?|label)\s?\{([^{}]{0,40})\}")
_MAX_CHARS = 2000
_MAX_DEPTH = 60


@lru_cache(maxsize=500)
def convert_formula(source: str, *, is_block: bool = False) -> str:
    r"""Return a formula as MathML; empty if the formula cannot be converted as a whole.

    >>> convert_formula("a<b")
    '<math><mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow></math>'
    >>> convert_formula(r"\href{javascript:alert(1)}{x}")
    ''
    """
    if len(source) > _MAX_CHARS:
        return ""
    plain = _NUMBERED.sub("", source)
    number = next(iter(_NUMBERED.findall(source)), "")
    try:
        made = convert_to_element(plain)
        made.attrib = {"display": "block"} if is_block else {}
        written = "".join(_write_element(made))
    except Exception:  # noqa: BLE001 - a strange formula may raise anything in the converter
        return ""
    return written + (f' <span class="number">({escape(number)})</span>' if number else "")


def _write_element(element: Element, depth: int = 0) -> list[str]:
    """Return the parts of an element as HTML.

    Raises
    ------
    ValueError
        There is an element, an attribute or a command that is not allowed or not known.
    """
    name = element.tag.rpartition("}")[2]
    if name not in ELEMENTS or depth > _MAX_DEPTH:
        raise ValueError(name)
    attributes = "".join(
        f' {key}="{escape(value)}"'
        for key, value in element.attrib.items()
        if (key in ATTRIBUTES or (key, name) == ("display", "math"))
        and _PLAIN_VALUE.fullmatch(value)
    )
    if {"href", "{http://www.w3.org/1999/xlink}href"} & element.attrib.keys():
        raise ValueError("href")
    text = unescape(element.text or "")
    if "\\" in text and name != "mtext":
        raise ValueError(text)
    inner = [part for child in element for part in _write_element(child, depth + 1)]
    return [f"<{name}{attributes}>", escape(text), *inner, f"</{name}>"]
