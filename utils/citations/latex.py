"""Escape text for BibTeX fields so that every LaTeX engine can typeset the fields.

Letters of the Latin alphabet stay unchanged (UTF-8, which LaTeX reads since 2018 and biber
always). pdfLaTeX has no glyphs outside formulas for Greek letters, arrows and signs; these become
commands by pylatexenc's table. Formulas between dollars, as in arXiv's titles, stay formulas.
Characters with a meaning in LaTeX are escaped.
"""

from __future__ import annotations

import re
from functools import cache

# LaTeX prints \{ as a brace, but BibTeX counts it: only commands that name characters are safe.
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_",
}  # fmt: skip
_LITERAL = str.maketrans({"\\": "%5C", "{": "%7B", "}": "%7D"})
_WORD = re.compile(r"[^\W_](?:[\w'’+-]*\w)?")
# pandoc's rule: no blank inside the dollars, no digit after them. "$5 and $10" is money.
_FORMULA = re.compile(r"\$(?! )((?:[^$\\]|\\.){1,300}?)(?<! )\$(?!\d)")
_IS_FORMULA = re.compile(r"[\\^_=<>+*/]|^[A-Za-z]{1,2}$")
# Greek, primes, superscripts, subscripts, arrows, operators: the signs in biomedical titles.
_NON_LATIN_SIGN = re.compile("[\u0370-\u03ff\u2032-\u2037\u2070-\u209f\u2190-\u22ff]")
_ENSUREMATH_COMMAND = re.compile(r"\{(\\ensuremath\{[^{}]{0,40}(?:\{[^{}]{0,40}\})?\})\}")
_COMMAND_OVERRIDES = {
    "′": r"\ensuremath{'}",
    "″": r"\ensuremath{''}",
    "→": r"\ensuremath{\rightarrow}",
}


def escape_latex(text: str) -> str:
    r"""Return *text* escaped for a BibTeX field.

    >>> escape_latex("R&D at 5% of β₂ in $\\alpha_s$ for $5")
    'R\\&D at 5\\% of {\\ensuremath{\\beta}}{\\ensuremath{_2}} in {$\\alpha_s$} for \\$5'
    """
    pieces, end = [], 0
    for at in _find_formulas(text):
        pieces += [_escape_special_characters(text[end : at.start()]), f"{{{at[0]}}}"]
        end = at.end()
    return "".join([*pieces, _escape_special_characters(text[end:])])


def escape_verbatim_field(text: str) -> str:
    """Return *text* for a field that BibTeX copies verbatim (``doi``, ``url``, ``file``)."""
    return text.translate(_LITERAL)


def unescape_latex(text: str) -> str:
    r"""Return a BibTeX field as plain text: the reverse of `escape_latex`.

    >>> unescape_latex(r"{\ensuremath{\beta}}-cells make CO{\ensuremath{_2}}")
    'β-cells make CO₂'
    """
    return _ENSUREMATH_COMMAND.sub(
        lambda found: _load_characters_by_command().get(found[1], found[0]), text
    )


def protect_capitals(title: str) -> str:
    r"""Return a title with braces around capitals that BibTeX styles would change.

    >>> protect_capitals("Role of mRNA & the T cell in Brazil: A study of DNA_1")
    'Role of {mRNA} \\& the {T} cell in {Brazil}: A study of {DNA\\_1}'
    """
    formulas = [at.span() for at in _find_formulas(title)]
    words = [
        word
        for word in _WORD.finditer(title)
        if not any(start <= word.start() < end for start, end in formulas)
    ]
    ends = [0, *(word.end() for word in words)]
    gaps = [title[end : word.start()] for end, word in zip(ends, words, strict=False)]
    begins = [at == 0 or bool(re.search(r"[:.?!]|\s[-–—]\s", gap)) for at, gap in enumerate(gaps)]
    # If most words begin with a capital, or all letters are capitals, capitals mean nothing.
    long = [word[0] for word, first in zip(words, begins, strict=True) if not first]
    long = [word for word in long if len(word) > 3]
    capitals_mark_names = 2 * sum(word[0].isupper() for word in long) <= len(long)
    all_capitals = title.isupper()
    pieces = []
    for gap, found, first in zip(gaps, words, begins, strict=True):
        word = found[0]
        is_name = capitals_mark_names and word[0].isupper() and not first
        braced = (is_name or any(map(str.isupper, word[1:]))) and not all_capitals
        pieces += [escape_latex(gap), f"{{{escape_latex(word)}}}" if braced else escape_latex(word)]
    return "".join([*pieces, escape_latex(title[ends[-1] :])])


def _find_formulas(text: str) -> list[re.Match[str]]:
    found = _FORMULA.finditer(text)
    return [at for at in found if _IS_FORMULA.search(at[1]) and _has_balanced_braces(at[1])]


def _has_balanced_braces(formula: str) -> bool:
    """Return whether the braces are balanced; BibTeX also counts escaped braces."""
    depth = 0
    for character in formula:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def _escape_special_characters(text: str) -> str:
    whole = "".join(_SPECIAL.get(character, character) for character in text)
    return whole if text.isascii() else _NON_LATIN_SIGN.sub(_to_latex_command, whole)


def _to_latex_command(sign: re.Match[str]) -> str:
    """Return a character's LaTeX command in braces, or the character itself if it has none."""
    command = _COMMAND_OVERRIDES.get(sign[0]) or _load_command_table().get(ord(sign[0]), "")
    return f"{{{command}}}" if command.startswith(r"\ensuremath") else sign[0]


@cache
def _load_characters_by_command() -> dict[str, str]:
    named = {command: chr(code) for code, command in _load_command_table().items()}
    return named | {command: sign for sign, command in _COMMAND_OVERRIDES.items()}


@cache
def _load_command_table() -> dict[int, str]:
    from pylatexenc.latexencode import get_builtin_uni2latex_dict

    table: dict[int, str] = get_builtin_uni2latex_dict()
    return table
