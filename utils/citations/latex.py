"""Text for BibTeX fields that every LaTeX engine can set.

Letters of the Latin alphabet stay as they are (UTF-8, which LaTeX reads since 2018 and biber
always); Greek letters, arrows and signs, which pdfLaTeX has no glyphs for outside of formulas,
become commands by pylatexenc's table; formulas between dollars, as arXiv's titles have them, stay
formulas. What LaTeX gives a meaning is escaped.
"""

from __future__ import annotations

import re
from functools import cache

# \{ is a letter to LaTeX, but BibTeX counts its brace: only names of characters are safe.
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_",
}  # fmt: skip
_LITERAL = str.maketrans({"\\": "%5C", "{": "%7B", "}": "%7D"})
_WORD = re.compile(r"[^\W_](?:[\w'’+-]*\w)?")
# As pandoc has it: no blank inside the dollars, no digit behind them. "$5 and $10" is money.
_FORMULA = re.compile(r"\$(?! )((?:[^$\\]|\\.){1,300}?)(?<! )\$(?!\d)")
_IS_FORMULA = re.compile(r"[\\^_=<>+*/]|^[A-Za-z]{1,2}$")
# Greek, primes, raised and lowered digits, arrows, operators: what titles of our field hold.
_SIGN = re.compile("[\u0370-\u03ff\u2032-\u2037\u2070-\u209f\u2190-\u22ff]")
_ENSURED = re.compile(r"\{(\\ensuremath\{[^{}]{0,40}(?:\{[^{}]{0,40}\})?\})\}")
_BY_HAND = {"′": r"\ensuremath{'}", "″": r"\ensuremath{''}", "→": r"\ensuremath{\rightarrow}"}


def latex(text: str) -> str:
    r"""*text* as it is written in a BibTeX field.

    >>> latex("R&D at 5% of β₂ in $\\alpha_s$ for $5")
    'R\\&D at 5\\% of {\\ensuremath{\\beta}}{\\ensuremath{_2}} in {$\\alpha_s$} for \\$5'
    """
    pieces, end = [], 0
    for at in _formulas(text):
        pieces += [_escape(text[end : at.start()]), f"{{{at[0]}}}"]
        end = at.end()
    return "".join([*pieces, _escape(text[end:])])


def literal(text: str) -> str:
    """*text* for a field that is taken as it is (``doi``, ``url``, ``file``)."""
    return text.translate(_LITERAL)


def signs_again(text: str) -> str:
    r"""*text* of a BibTeX field with the signs themselves for the commands that `latex` makes.

    >>> signs_again(r"{\ensuremath{\beta}}-cells make CO{\ensuremath{_2}}")
    'β-cells make CO₂'
    """
    return _ENSURED.sub(lambda found: _signs().get(found[1], found[0]), text)


def with_capitals(title: str) -> str:
    r"""A title in which styles that lower-case it leave acronyms and proper names alone.

    >>> with_capitals("Role of mRNA & the T cell in Brazil: A study of DNA_1")
    'Role of {mRNA} \\& the {T} cell in {Brazil}: A study of {DNA\\_1}'
    """
    formulas = [at.span() for at in _formulas(title)]
    words = [
        word
        for word in _WORD.finditer(title)
        if not any(start <= word.start() < end for start, end in formulas)
    ]
    ends = [0, *(word.end() for word in words)]
    gaps = [title[end : word.start()] for end, word in zip(ends, words, strict=False)]
    begins = [at == 0 or bool(re.search(r"[:.?!]|\s[-–—]\s", gap)) for at, gap in enumerate(gaps)]
    # Where most words begin with a capital, or all letters are capitals, these say nothing.
    long = [word[0] for word, first in zip(words, begins, strict=True) if not first]
    long = [word for word in long if len(word) > 3]
    names = 2 * sum(word[0].isupper() for word in long) <= len(long)
    shouted = title.isupper()
    pieces = []
    for gap, found, first in zip(gaps, words, begins, strict=True):
        word = found[0]
        is_name = names and word[0].isupper() and not first
        braced = (is_name or any(map(str.isupper, word[1:]))) and not shouted
        pieces += [latex(gap), f"{{{latex(word)}}}" if braced else latex(word)]
    return "".join([*pieces, latex(title[ends[-1] :])])


def _formulas(text: str) -> list[re.Match[str]]:
    found = _FORMULA.finditer(text)
    return [at for at in found if _IS_FORMULA.search(at[1]) and _is_balanced(at[1])]


def _is_balanced(formula: str) -> bool:
    """Whether braces are balanced; BibTeX counts escaped ones, too."""
    depth = 0
    for character in formula:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _escape(text: str) -> str:
    whole = "".join(_SPECIAL.get(character, character) for character in text)
    return whole if text.isascii() else _SIGN.sub(_command, whole)


def _command(sign: re.Match[str]) -> str:
    """The command of a sign, in braces so that no style changes its case; else the sign itself."""
    command = _BY_HAND.get(sign[0]) or _table().get(ord(sign[0]), "")
    return f"{{{command}}}" if command.startswith(r"\ensuremath") else sign[0]


@cache
def _signs() -> dict[str, str]:
    named = {command: chr(code) for code, command in _table().items()}
    return named | {command: sign for sign, command in _BY_HAND.items()}


@cache
def _table() -> dict[int, str]:
    from pylatexenc.latexencode import get_builtin_uni2latex_dict

    table: dict[int, str] = get_builtin_uni2latex_dict()
    return table
