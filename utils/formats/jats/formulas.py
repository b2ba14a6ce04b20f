r"""Formulas: MathML and the article's own TeX into LaTeX that KaTeX and MathJax read.

Inline formulas stand between ``$``, displayed ones between ``$$``. The author's ``tex-math``, freed
of the preamble publishers wrap around it, is preferred to MathML generated from it. Signs that mean
something to markdown or HTML (``|``, ``<``) are spelled as commands.
"""

from __future__ import annotations

import re
from typing import Final

from ..displayed import trimmed
from ..xml_tree import children_of, first
from .mathml import latex
from .text import tidy
from .walk import HREF, Block, Element, Inline, Walk, has_own_text, text_of

_MATH: Final = ("{http://www.w3.org/1998/Math/MathML}math", "math")
_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)(?:\\end\{document\}|$)", re.S)
_PREAMBLE = re.compile(
    r"\\(?:documentclass|usepackage|setlength|DeclareMathOperator)(?:\[[^\]]*\])?(?:\{[^{}]*\})*"
)
# Elsewhere a percent sign is one: what is cut off there would leave braces open.
_COMMENT = re.compile(r"^[ \t]*%.*|(?<!\\)%[ \t]*$", re.M)
_PERCENT = re.compile(r"(?<!\\)%")
_DELIMITED = re.compile(r"\$\$(.*)\$\$|\$(.*)\$|\\\[(.*)\\\]|\\\((.*)\\\)", re.S)
_DISPLAY_ONLY = re.compile(r"\\(begin|end)\{(?:align|eqnarray|gather|multline|flalign)\*?\}")
# Slanted fractions of MathType: their dollars would end the formula they stand in.
_RAISED = re.compile(
    r"\\(?:(?:raise|lower)\s{0,3}-?[\d.]{1,6}\s{0,3}(?:ex|em|pt)\s{0,3}\\hbox"
    r"|raisebox\{-?[\d.]{1,6}(?:ex|em|pt)\})\s{0,3}\{\$([^$]{0,2000})\$\}"
)
_EQUATION = re.compile(r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}|\\label\{[^}]*\}")


def tex(source: str) -> str:
    r"""The formula in a ``tex-math`` element, without the document publishers wrap around it.

    >>> tex(r"\documentclass{minimal} \begin{document}$$ y = \mu $$\end{document}")
    'y = \\mu'
    """
    if match := _DOCUMENT.search(source):
        source = match[1]
    source = _COMMENT.sub("", _PREAMBLE.sub("", source)).strip()
    source = _PERCENT.sub(r"\%", source)
    source = source.removeprefix("}{}")  # a relic of one publisher's typesetting
    if match := _DELIMITED.fullmatch(source):
        source = next(part for part in match.groups() if part is not None)
    source = _RAISED.sub(r"{\1}", source)
    source = _DISPLAY_ONLY.sub(r"\\\1{aligned}", _EQUATION.sub("", source))
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\lt ", trimmed(tidy(source)))


def _formula(el: Element) -> str:
    """The LaTeX of a formula element, from whichever of its forms is best; empty without one."""
    holder = first(el, "alternatives")
    holder = el if holder is None else holder
    sources = [tex(text_of(child)) for child in holder.iterchildren("tex-math")]
    if not any(sources):
        sources = [latex(child) for name in _MATH for child in holder.iterchildren(name)]
    return r" \quad ".join(source for source in sources if source)


def _picture(el: Element, walk: Walk) -> str:
    """A mark for a formula that is only a picture, with its description or file name."""
    for tag in ("graphic", "inline-graphic", "media"):
        if (graphic := next(el.iter(tag), None)) is not None:
            words = walk.line(first(graphic, "alt-text"))
            name = walk.escape((graphic.get(HREF) or "").rpartition("/")[2])
            return f"[formula: {words or name}]"
    return ""


def _inline_formula(el: Element, walk: Walk) -> str:
    if not has_own_text(el, children_of(el)):
        if source := _formula(el):
            return f"${source}$"
        if not text_of(el).strip():
            return _picture(el, walk)
    return walk.inline(el)


def _math(el: Element, _walk: Walk) -> str:
    source = latex(el)
    return f"${source}$" if source else ""


def _tex_math(el: Element, _walk: Walk) -> str:
    source = tex(text_of(el))
    return f"${source}$" if source else ""


def _display_formula(el: Element, walk: Walk) -> None:
    label = walk.line(first(el, "label")).strip("()[]. ")
    if not has_own_text(el, children_of(el)) and (source := _formula(el)):
        number = rf" \tag{{{label}}}" if label and "\\tag" not in source else ""
        walk.add(f"$${source}{number}$$")
        return
    before = len(walk.blocks)
    walk.flow(el, skip={"label", "graphic"})
    if len(walk.blocks) == before:
        walk.paragraph(_picture(el, walk))
    if label and len(walk.blocks) > before:
        walk.blocks[-1] += f" ({label})"


MATH_INLINE: dict[str, Inline] = {
    "inline-formula": _inline_formula,
    "tex-math": _tex_math,
    **dict.fromkeys(_MATH, _math),
}
MATH_BLOCK: dict[str, Block] = {"disp-formula": _display_formula}
