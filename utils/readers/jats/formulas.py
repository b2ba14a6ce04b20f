r"""Convert formulas, MathML or the article's own TeX, to LaTeX for KaTeX and MathJax.

Inline formulas are written in ``$``, displayed ones in ``$$``. The author's ``tex-math``, without
the preamble that publishers add, is preferred to MathML generated from it.

Presentation MathML is converted with one function for each element name; an unlisted element is
treated as a row (MathML 3, chapter 3: w3.org/TR/MathML3/chapter3.html). Signs become commands that
LaTeX with amsmath, KaTeX and MathJax support; an unlisted sign is kept, since the renderers read
Unicode. ``|`` and ``<`` are written ``\vert`` and ``\lt``, because the formula becomes part of
markdown and possibly of a table cell.

A formula in markdown can have only one number. So lines without a number are kept together and
aligned, and each numbered line ends a formula, including its continuation lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from ..safe_xml import get_first_child, list_children
from .walk import (
    HREF,
    Block,
    Element,
    Inline,
    MarkdownWalk,
    collapse_whitespace,
    get_all_text,
    has_own_text,
)

_DEEPEST: Final = 60
_FONTS: Final = {
    "normal": "mathrm",
    "bold": "mathbf",
    "bold-italic": "boldsymbol",
    "double-struck": "mathbb",
    "script": "mathcal",
    "bold-script": "mathcal",
    "fraktur": "mathfrak",
    "sans-serif": "mathsf",
    "monospace": "mathtt",
}
_ACCENTS: Final = {
    **dict.fromkeys("¯‾―_ˉ̅", "bar"),
    **dict.fromkeys("^ˆ̂", "hat"),
    **dict.fromkeys("~˜∼̃", "tilde"),
    **dict.fromkeys("→⃗", "vec"),
    **dict.fromkeys("˙.̇", "dot"),
    "¨": "ddot",
    "⏞": "overbrace",
    "˘": "breve",
    "ˇ": "check",
}
_WIDE: Final = {"bar": "overline", "hat": "widehat", "tilde": "widetilde", "vec": "overrightarrow"}
_UNDER: Final = {**dict.fromkeys("_¯‾―", "underline"), "⏟": "underbrace"}
_LIMITS: Final = re.compile(
    r"\\(?:sum|prod|coprod|int|iint|iiint|oint|bigcup|bigcap|bigvee|bigwedge|bigoplus|bigotimes"
    r"|lim|limsup|liminf|max|min|sup|inf|arg|det|gcd|Pr|operatorname\*\{[^}]*\})"
)
_ATOM: Final = re.compile(
    r"[A-Za-z0-9]|\d+|\\[A-Za-z]+|\\(?:math\w+|boldsymbol|text|bar|hat|tilde|vec|dot)\{[^{}]*\}"
)
_FENCES: Final = {"{": r"\{", "}": r"\}", "": ".", "〈": r"\langle", "〉": r"\rangle"}
_TEXT_SPECIAL: Final = re.compile(r"[\\{}$&#%_^~|<>]")
_TEXT_SPELLED: Final = {
    "\\": r"\textbackslash ",
    "^": r"\textasciicircum ",
    "~": r"\textasciitilde ",
    "|": r"\textbar ",
    "<": r"\textless ",
    ">": r"\textgreater ",
}
_GREEK: Final = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota "
    "κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau "
    "υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi "
    "Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega"
)
_SIGNS: Final = (
    "× times ÷ div ± pm ∓ mp · cdot ⋅ cdot ∙ cdot ∗ ast ≤ leq ⩽ leq ≥ geq ⩾ geq ≠ neq ≈ approx "
    "≅ cong ≃ simeq ∼ sim ≡ equiv ∝ propto ≪ ll ≫ gg < lt > gt → to ← leftarrow ↔ leftrightarrow "
    "⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ⟶ longrightarrow ⇌ rightleftharpoons "
    "↑ uparrow ↓ downarrow ∈ in ∉ notin ∋ ni ⊂ subset ⊆ subseteq ⊃ supset ⊇ supseteq ∪ cup ∩ cap "
    "∅ emptyset ∖ setminus ∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊕ oplus ⊗ otimes ∘ circ ∑ sum "
    "∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ∂ partial ∇ nabla ∞ infty √ surd ′ prime … ldots "
    "⋯ cdots ⋮ vdots ⋱ ddots ℓ ell ℏ hbar ℜ Re ℑ Im ∠ angle ⊥ perp ∥ parallel ⟂ perp ⟨ langle "
    "⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ⋃ bigcup ⋂ bigcap | vert ∣ mid ‖ Vert ∴ therefore "
    "∵ because ⊤ top ⊢ vdash ⊨ models † dagger ‡ ddagger"
)


def parse_key_value_words(text: str) -> dict[str, str]:
    """Parse a text of alternating keys and values into a dict.

    >>> parse_key_value_words("α alpha β beta")
    {'α': 'alpha', 'β': 'beta'}
    """
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SYMBOLS: Final[dict[str, str]] = {
    **{sign: f"\\{name}" for sign, name in parse_key_value_words(f"{_GREEK} {_SIGNS}").items()},
    "−": "-",
    "‐": "-",
    "–": "-",
    "″": r"\prime\prime",
    "°": r"^{\circ}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "\\": r"\backslash",
    "~": r"\sim",
    "^": r"\hat{}",
    "ℝ": r"\mathbb{R}",
    "ℕ": r"\mathbb{N}",
    "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}",
    # Invisible signs: function application, times, separator, plus; zero width; byte order mark.
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b\ufeff", ""),
    **dict.fromkeys("\u00a0\u2009\u2003\u2002\u200a\u202f\u2005\u2004", r"\ "),
}
_RELATIONS: Final = frozenset(("=", "+", "-")) | {SYMBOLS[sign] for sign in "×±<>≤≥≈∼→∈≠≡∝"}
Converter: TypeAlias = "Callable[[Element, int], str]"
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


def convert_mathml_to_latex(el: Element) -> str:
    """Return the formula as LaTeX without delimiters; empty for an empty formula."""
    return trim_tex_spaces(collapse_whitespace(_convert_children_to_tex(el, 0)))


def _get_local_name(el: Element) -> str:
    tag = el.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _convert_mathml_element(el: Element, depth: int) -> str:
    if depth > _DEEPEST:
        return _convert_symbols_to_tex(get_all_text(el))
    return _CONVERTERS.get(_get_local_name(el), _convert_children_to_tex)(el, depth + 1)


def _join_tex_tokens(parts: list[str]) -> str:
    """Join tokens, with a space only where a command would absorb the next letter."""
    tex = ""
    for part in parts:
        if part and part[0].isalnum() and re.search(r"\\[A-Za-z]+$", tex[-24:]):
            tex += " "
        tex += part
    return tex


def _convert_children_to_tex(el: Element, depth: int) -> str:
    own = [_convert_symbols_to_tex(el.text)] if el.text and el.text.strip() else []
    parts = own + [_convert_mathml_element(child, depth) for child in list_children(el)]
    return _join_tex_tokens(parts)


def _convert_first_children(el: Element, depth: int, count: int) -> list[str]:
    """Return the first *count* children converted, padded with empty texts."""
    arguments = [_convert_mathml_element(child, depth) for child in list_children(el)]
    arguments += [""] * (count - len(arguments))
    return [*arguments[: count - 1], _join_tex_tokens(arguments[count - 1 :])]


def _convert_symbols_to_tex(text: str | None) -> str:
    return _join_tex_tokens([SYMBOLS.get(char, char) for char in (text or "")])


def _get_one_line_text(el: Element) -> str:
    return collapse_whitespace(get_all_text(el))


def _convert_identifier(el: Element, _depth: int) -> str:
    text = _get_one_line_text(el)
    variant = el.get("mathvariant") or ""
    if text in FUNCTIONS:
        return FUNCTIONS[text]
    tex = _convert_symbols_to_tex(text)
    if variant in _FONTS and not (variant == "normal" and tex.startswith("\\")):
        return f"\\{_FONTS[variant]}{{{tex}}}" if tex else ""
    if len(text) > 1 and text.isalnum() and text.isascii():
        return f"\\mathit{{{tex}}}" if variant == "italic" else f"\\mathrm{{{tex}}}"
    return tex


def _convert_number(el: Element, _depth: int) -> str:
    tex = _convert_symbols_to_tex(_get_one_line_text(el))
    variant = el.get("mathvariant") or ""
    return f"\\mathbf{{{tex}}}" if variant == "bold" and tex else tex


def _convert_operator(el: Element, _depth: int) -> str:
    text = get_all_text(el)
    stripped = text.strip()
    if not stripped:
        return r"\ " if text else ""
    if stripped in FUNCTIONS:
        return FUNCTIONS[stripped]
    if len(stripped) > 1 and stripped.isalpha():
        return f"\\operatorname{{{stripped}}}"
    tex = _convert_symbols_to_tex(stripped)
    # Relations breathe; it costs nothing and reads better in the source.
    return f" {tex} " if tex in _RELATIONS else tex


def _convert_mtext(el: Element, _depth: int) -> str:
    raw = get_all_text(el)
    words = collapse_whitespace(raw)
    if not words:
        return r"\ " if raw else ""
    before = " " if raw[0].isspace() or raw[0] == "\u00a0" else ""
    after = " " if raw[-1].isspace() or raw[-1] == "\u00a0" else ""
    safe = _TEXT_SPECIAL.sub(lambda m: _TEXT_SPELLED.get(m[0], "\\" + m[0]), words)
    return f"\\text{{{before}{safe}{after}}}"


def _wrap_base_in_braces(base: str) -> str:
    base = trim_tex_spaces(base)
    return base if _ATOM.fullmatch(base) else f"{{{base}}}"


def _format_sub_or_superscript(sign: str, script: str) -> str:
    script = trim_tex_spaces(script)
    if not script:
        return ""
    if sign == "^" and script in {r"\prime", r"\prime\prime"}:
        return "'" * script.count("prime")
    return sign + (script if len(script) == 1 else f"{{{script}}}")


def _convert_msub(el: Element, depth: int) -> str:
    base, low = _convert_first_children(el, depth, 2)
    return _wrap_base_in_braces(base) + _format_sub_or_superscript("_", low)


def _convert_msup(el: Element, depth: int) -> str:
    base, high = _convert_first_children(el, depth, 2)
    return _wrap_base_in_braces(base) + _format_sub_or_superscript("^", high)


def _convert_msubsup(el: Element, depth: int) -> str:
    base, low, high = _convert_first_children(el, depth, 3)
    return (
        _wrap_base_in_braces(base)
        + _format_sub_or_superscript("_", low)
        + _format_sub_or_superscript("^", high)
    )


def _convert_mover(el: Element, depth: int) -> str:
    base, high = (trim_tex_spaces(part) for part in _convert_first_children(el, depth, 2))
    sign = _get_one_line_text(el[1]) if len(el) > 1 else ""
    if (accent := _ACCENTS.get(sign)) is not None:
        wide = accent if _ATOM.fullmatch(base) else _WIDE.get(accent, accent)
        return f"\\{wide}{{{base}}}"
    if _LIMITS.match(base):
        return base + _format_sub_or_superscript("^", high)
    return f"\\overset{{{high}}}{{{base}}}"


def _convert_munder(el: Element, depth: int) -> str:
    base, low = (trim_tex_spaces(part) for part in _convert_first_children(el, depth, 2))
    sign = _get_one_line_text(el[1]) if len(el) > 1 else ""
    if (accent := _UNDER.get(sign)) is not None:
        return f"\\{accent}{{{base}}}"
    if _LIMITS.match(base) or base.startswith(("\\underbrace", "\\overbrace")):
        return base + _format_sub_or_superscript("_", low)
    return f"\\underset{{{low}}}{{{base}}}"


def _convert_munderover(el: Element, depth: int) -> str:
    base, low, high = (trim_tex_spaces(part) for part in _convert_first_children(el, depth, 3))
    if _LIMITS.match(base):
        return base + _format_sub_or_superscript("_", low) + _format_sub_or_superscript("^", high)
    return f"\\overset{{{high}}}{{\\underset{{{low}}}{{{base}}}}}"


def _convert_fraction(el: Element, depth: int) -> str:
    top, bottom = (trim_tex_spaces(part) for part in _convert_first_children(el, depth, 2))
    if (el.get("linethickness") or "1").strip().rstrip("ptxem") in {"0", "0.0"}:
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{top}}}{{{bottom}}}"
    return f"\\frac{{{top}}}{{{bottom}}}"


def _convert_square_root(el: Element, depth: int) -> str:
    return f"\\sqrt{{{trim_tex_spaces(_convert_children_to_tex(el, depth))}}}"


def _convert_mroot(el: Element, depth: int) -> str:
    inside, degree = (trim_tex_spaces(part) for part in _convert_first_children(el, depth, 2))
    return f"\\sqrt[{degree}]{{{inside}}}"


def _convert_bracket_to_tex(sign: str) -> str:
    return _FENCES.get(sign) or _convert_symbols_to_tex(sign)


def _convert_mfenced(el: Element, depth: int) -> str:
    opening, closing = el.get("open", "("), el.get("close", ")")
    marks = collapse_whitespace(el.get("separators", ",")).replace(" ", "")
    inside = ""
    for index, child in enumerate(el):
        if index and marks:
            inside += _convert_symbols_to_tex(marks[min(index - 1, len(marks) - 1)]) + " "
        inside += trim_tex_spaces(_convert_mathml_element(child, depth))
    if not opening.strip() and not closing.strip():
        return inside
    left, right = _convert_bracket_to_tex(opening.strip()), _convert_bracket_to_tex(closing.strip())
    return f"\\left{left} {inside} \\right{right}"


def _convert_mtable(el: Element, depth: int) -> str:
    rows = [" & ".join(_convert_table_row(row, depth)) for row in list_children(el)]
    rows = [row for row in rows if row.replace("&", "").strip()]
    if len(rows) == 1 and "&" not in rows[0]:
        return rows[0]
    body = r" \\ ".join(rows)
    return rf"\begin{{matrix}} {body} \end{{matrix}}" if rows else ""


def _convert_table_row(el: Element, depth: int) -> list[str]:
    if _get_local_name(el) not in {"mtr", "mlabeledtr"}:
        return [trim_tex_spaces(_convert_mathml_element(el, depth))]
    return [
        trim_tex_spaces(_convert_children_to_tex(cell, depth + 1)) for cell in list_children(el)
    ]


def _convert_multiscripts(el: Element, depth: int) -> str:
    """Convert ``mmultiscripts``: the base, pairs after it, ``mprescripts``, pairs before it."""
    names = [_get_local_name(child) for child in list_children(el)]
    cut = names.index("mprescripts") if "mprescripts" in names else len(names)
    tex = [_convert_mathml_element(child, depth) for child in list_children(el)]

    def format_script_pairs(parts: list[str]) -> str:
        signs = ("_", "^")
        return "".join(
            _format_sub_or_superscript(signs[n % 2], part) for n, part in enumerate(parts)
        )

    before = format_script_pairs(tex[cut + 1 :])
    return (
        ("{}" + before if before else "")
        + _wrap_base_in_braces("".join(tex[:1]))
        + format_script_pairs(tex[1:cut])
    )


def _convert_menclose(el: Element, depth: int) -> str:
    inside = trim_tex_spaces(_convert_children_to_tex(el, depth))
    notation = el.get("notation") or ""
    if "strike" in notation:
        return f"\\cancel{{{inside}}}"
    return f"\\boxed{{{inside}}}" if "box" in notation else inside


def _convert_semantics(el: Element, depth: int) -> str:
    for child in list_children(el):
        if (
            _get_local_name(child) == "annotation"
            and "tex" in (child.get("encoding") or "").lower()
        ):
            return collapse_whitespace(get_all_text(child))
    return _convert_mathml_element(el[0], depth) if len(el) else ""


def _convert_mspace(_el: Element, _depth: int) -> str:
    return r"\ "


def _convert_to_nothing(_el: Element, _depth: int) -> str:
    return ""


_CONVERTERS: Final[dict[str, Converter]] = {
    "mi": _convert_identifier,
    "mn": _convert_number,
    "mo": _convert_operator,
    "mtext": _convert_mtext,
    "ms": _convert_mtext,
    "msub": _convert_msub,
    "msup": _convert_msup,
    "msubsup": _convert_msubsup,
    "mover": _convert_mover,
    "munder": _convert_munder,
    "munderover": _convert_munderover,
    "mfrac": _convert_fraction,
    "msqrt": _convert_square_root,
    "mroot": _convert_mroot,
    "mfenced": _convert_mfenced,
    "mtable": _convert_mtable,
    "mmultiscripts": _convert_multiscripts,
    "menclose": _convert_menclose,
    "semantics": _convert_semantics,
    "mspace": _convert_mspace,
    "mphantom": _convert_to_nothing,
    "mprescripts": _convert_to_nothing,
    "none": _convert_to_nothing,
}
FUNCTIONS: Final[dict[str, str]] = {
    name: f"\\{name}"
    for name in re.findall(
        r"\w+",
        "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan exp log ln lg lim max "
        "min sup inf det dim ker gcd deg arg limsup liminf Pr",
    )
}


def strip_tex_document(source: str) -> str:
    r"""Return the formula of a ``tex-math`` element without the surrounding document.

    >>> strip_tex_document(r"\documentclass{minimal} \begin{document}$$ y = \mu $$\end{document}")
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
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\lt ", trim_tex_spaces(collapse_whitespace(source)))


def _convert_best_formula(el: Element) -> str:
    """Return the best form of a formula element as LaTeX; empty without one."""
    holder = get_first_child(el, "alternatives")
    holder = el if holder is None else holder
    sources = [strip_tex_document(get_all_text(child)) for child in holder.iterchildren("tex-math")]
    if not any(sources):
        sources = [
            convert_mathml_to_latex(child) for name in _MATH for child in holder.iterchildren(name)
        ]
    return r" \quad ".join(source for source in sources if source)


def _format_picture_formula(el: Element, walk: MarkdownWalk) -> str:
    """Return a placeholder for a formula that is only a picture: its description or file name."""
    for tag in ("graphic", "inline-graphic", "media"):
        if (graphic := next(el.iter(tag), None)) is not None:
            words = walk.format_line(get_first_child(graphic, "alt-text"))
            name = walk.escape((graphic.get(HREF) or "").rpartition("/")[2])
            return f"[formula: {words or name}]"
    return ""


def _format_inline_formula(el: Element, walk: MarkdownWalk) -> str:
    if not has_own_text(el, list_children(el)):
        if source := _convert_best_formula(el):
            return f"${source}$"
        if not get_all_text(el).strip():
            return _format_picture_formula(el, walk)
    return walk.format_content(el)


def _format_mathml(el: Element, _walk: MarkdownWalk) -> str:
    source = convert_mathml_to_latex(el)
    return f"${source}$" if source else ""


def _format_tex_math(el: Element, _walk: MarkdownWalk) -> str:
    source = strip_tex_document(get_all_text(el))
    return f"${source}$" if source else ""


def _write_display_formula(el: Element, walk: MarkdownWalk) -> None:
    label = walk.format_line(get_first_child(el, "label")).strip("()[]. ")
    if not has_own_text(el, list_children(el)) and (source := _convert_best_formula(el)):
        number = rf" \tag{{{label}}}" if label and "\\tag" not in source else ""
        walk.add_block(f"$${source}{number}$$")
        return
    before = len(walk.blocks)
    walk.write_content(el, skip={"label", "graphic"})
    if len(walk.blocks) == before:
        walk.write_paragraph(_format_picture_formula(el, walk))
    if label and len(walk.blocks) > before:
        walk.blocks[-1] += f" ({label})"


MATH_INLINE: dict[str, Inline] = {
    "inline-formula": _format_inline_formula,
    "tex-math": _format_tex_math,
    **dict.fromkeys(_MATH, _format_mathml),
}
MATH_BLOCK: dict[str, Block] = {"disp-formula": _write_display_formula}


_AMPERSAND = re.compile(r"(?<!\\)&")
_BAR = re.compile(r"(\\)?\|")
_BLANK = re.compile(r"\\\\|\\\s|.", re.S)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def clean_tex_for_markdown(tex: str) -> str:
    r"""Return a formula on one line, without characters that markdown reads as a tag.

    >>> clean_tex_for_markdown("a<b\n+ c")
    'a\\lt b + c'
    """
    return _TAG.sub(r"\\lt ", trim_tex_spaces(" ".join(tex.split())))


def trim_tex_spaces(tex: str) -> str:
    r"""Return a formula without leading and trailing spaces; a space command is kept whole.

    Stripping ``\ `` would leave a backslash, which would escape the following brace or dollar sign.

    >>> trim_tex_spaces(r" a\ \  "), trim_tex_spaces(r"a \\ ")
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


def escape_tex_bars(tex: str) -> str:
    r"""Return a formula whose bars cannot end a Markdown table cell.

    >>> escape_tex_bars(r"|x|+\|y\|")
    '\\vert x\\vert+\\Vert y\\Vert'
    """
    return _BAR.sub(_to_bar_command, tex)


def _to_bar_command(bar: re.Match[str]) -> str:
    name = "\\Vert" if bar[1] else "\\vert"
    return f"{name} " if bar.string[bar.end() : bar.end() + 1].isalpha() else name


def format_display_formulas(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Yield displayed formulas made of *lines*, pairs of TeX and an optional number.

    >>> list(format_display_formulas([("a &= b", ""), ("&= c", "2"), ("d &= e", "3")]))
    ['$$\\begin{aligned} a &= b \\\\ &= c \\end{aligned} \\tag{2}$$', '$$d = e \\tag{3}$$']
    """
    formulas: list[tuple[list[str], str]] = [([], "")]
    for tex, number in lines:
        line = clean_tex_for_markdown(tex)
        together, numbered = formulas[-1]
        continues = line.startswith("&") and not number
        if line and (not numbered or continues):
            together.append(line)
        elif line:
            formulas.append(([line], ""))
        if number and formulas[-1][0]:
            formulas[-1] = (formulas[-1][0], number)
    return (_join_formula_lines(together, number) for together, number in formulas if together)


def _join_formula_lines(lines: list[str], number: str) -> str:
    tag = rf" \tag{{{number}}}" if number else ""
    if len(lines) == 1:
        tex = " ".join(_AMPERSAND.sub("", lines[0]).split())
        if "&" in lines[0] and "\\begin{" in lines[0]:  # an array's own columns
            tex = lines[0]
        return f"$${tex}{tag}$$"
    joined = r" \\ ".join(lines)
    return rf"$$\begin{{aligned}} {joined} \end{{aligned}}{tag}$$"
