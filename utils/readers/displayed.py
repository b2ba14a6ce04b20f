r"""Displayed formulas as markdown: ``$$…$$``, with the number that print gives them.

Markdown's mathematics (KaTeX, MathJax) allows one number a formula; so lines without a number stay
together, aligned, and each number ends a formula of its own, with what continues it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_AMPERSAND = re.compile(r"(?<!\\)&")
_BAR = re.compile(r"(\\)?\|")
_BLANK = re.compile(r"\\\\|\\\s|.", re.S)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def plain_tex(tex: str) -> str:
    r"""A formula on one line, with nothing a markdown reader takes for a tag.

    >>> plain_tex("a<b\n+ c")
    'a\\lt b + c'
    """
    return _TAG.sub(r"\\lt ", trimmed(" ".join(tex.split())))


def trimmed(tex: str) -> str:
    r"""A formula without blanks at its ends, nor half of the command that sets one.

    Of ``\ `` a backslash would be left, which takes its meaning from the brace or dollar behind it.

    >>> trimmed(r" a\ \  "), trimmed(r"a \\ ")
    ('a', 'a \\\\')
    """
    tex = tex.strip()
    if not tex.endswith("\\"):
        return tex
    core = tex.rstrip("\\ \t\n")
    tail = _BLANK.findall(tex, len(core))
    while tail and tail[-1] != "\\\\":
        tail.pop()
    return core + "".join(tail)


def without_bars(tex: str) -> str:
    r"""A formula whose bars cannot end a cell of a table.

    >>> without_bars(r"|x|+\|y\|")
    '\\vert x\\vert+\\Vert y\\Vert'
    """
    return _BAR.sub(_bar, tex)


def _bar(bar: re.Match[str]) -> str:
    name = "\\Vert" if bar[1] else "\\vert"
    return f"{name} " if bar.string[bar.end() : bar.end() + 1].isalpha() else name


def displayed(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Formulas from their lines, each with its number or an empty one.

    >>> list(displayed([("a &= b", ""), ("&= c", "2"), ("d &= e", "3")]))
    ['$$\\begin{aligned} a &= b \\\\ &= c \\end{aligned} \\tag{2}$$', '$$d = e \\tag{3}$$']
    """
    formulas: list[tuple[list[str], str]] = [([], "")]
    for tex, number in lines:
        line = plain_tex(tex)
        together, numbered = formulas[-1]
        continues = line.startswith("&") and not number
        if line and (not numbered or continues):
            together.append(line)
        elif line:
            formulas.append(([line], ""))
        if number and formulas[-1][0]:
            formulas[-1] = (formulas[-1][0], number)
    return (_formula(together, number) for together, number in formulas if together)


def _formula(lines: list[str], number: str) -> str:
    tag = rf" \tag{{{number}}}" if number else ""
    if len(lines) == 1:
        tex = " ".join(_AMPERSAND.sub("", lines[0]).split())
        if "&" in lines[0] and "\\begin{" in lines[0]:  # an array's own columns
            tex = lines[0]
        return f"$${tex}{tag}$$"
    joined = r" \\ ".join(lines)
    return rf"$$\begin{{aligned}} {joined} \end{{aligned}}{tag}$$"
