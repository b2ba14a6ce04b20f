r"""LaTeX: paragraphs with their places, citations of all packages, and the lists they point into.

pylatexenc reads the source, node by node with its place. What typesets nothing is passed by;
``\input`` and ``\include`` are followed within the manuscript's folder. Of citations it counts that
the command's name has *cite* in it, as those of natbib, biblatex and apacite have
(https://ctan.org/pkg/natbib, https://ctan.org/pkg/biblatex). Lists are ``\bibliography``,
``\addbibresource`` and ``thebibliography``, also in the ``.bbl`` beside the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import BadRequest
from .parts import Block, BlockBuilder

_CITES = re.compile(r"(?:[A-Z]?[a-z]*)?cite[a-zA-Z]*\*?")
_NO_CITES = {"citestyle", "citeindextrue", "citeindexfalse", "nocite", "citereset", "citename"}
_CITE_WORDS = """
    cite citep citet citealp citealt citeauthor citeyear citeyearpar Citet Citep Citealp Citealt
    citetext citenum citefullauthor parencite textcite autocite footcite footfullcite smartcite
    supercite fullcite Parencite Textcite Autocite Cite Smartcite cites parencites textcites
    autocites footcites supercites onlinecite shortcite citeA shortciteA citeNP shortciteNP
    citeonline citealtp citetalias citepalias citetitle citesc notecite pnotecite
"""
_CITE_COMMANDS = _CITE_WORDS.split()
_INPUTS = {"input", "include", "subfile"}
_HEADINGS = {
    *("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"),
    *("title", "caption"),
}
_SILENT = {
    *("label", "ref", "eqref", "cref", "Cref", "autoref", "pageref", "includegraphics", "vspace"),
    *("hspace", "usepackage", "documentclass", "bibliographystyle", "bibliography", "newcommand"),
    *("renewcommand", "providecommand", "DeclareMathOperator", "def", "let", "setlength", "index"),
    *("addbibresource", "nocite", "hypersetup", "graphicspath", "pagestyle", "thispagestyle"),
    *("setcounter", "addtocounter", "newtheorem", "theoremstyle", "bibitem", "printbibliography"),
    *("author", "affiliation", "affil", "address", "email", "date", "thanks", "orcid", "keywords"),
}
_SKIPPED = {
    *("equation", "equation*", "align", "align*", "gather", "gather*", "multline", "multline*"),
    *("eqnarray", "eqnarray*", "tabular", "tabular*", "tabularx", "longtable", "array", "verbatim"),
    *("lstlisting", "minted", "tikzpicture", "algorithm", "algorithmic", "comment"),
    *("thebibliography", "table", "table*", "filecontents", "filecontents*"),
}
_QUOTES = {"quote", "quotation", "displayquote", "displaycquote", "blockquote"}
_QUOTED = {"enquote", "textquote", "blockquote", "textcquote", "blockcquote", "textquotedblleft"}
_SIGNS = {
    "%": "%", "&": "&", "#": "#", "_": "_", "$": "$", "{": "{", "}": "}", ",": "\u2009", " ": " ",
    ";": " ", "!": "", "/": "", "\\": " ", "-": "", "quad": " ", "qquad": " ", "newline": " ",
    "linebreak": " ",
    "sim": "~", "approx": "≈", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥",
    "pm": "±", "times": "×", "cdot": "·", "textpm": "±", "textdegree": "°", "degree": "°",
    "celsius": "°C", "textmu": "μ", "micro": "μ", "ldots": "…", "dots": "…", "percent": "%",
    "textless": "<", "textgreater": ">", "lt": "<", "gt": ">", "circ": "°",
}  # fmt: skip
_UNITS = {
    "milli": "m", "kilo": "k", "nano": "n", "pico": "p", "centi": "c", "mega": "M", "gram": "g",
    "kilogram": "kg", "meter": "m", "metre": "m", "litre": "L", "liter": "L", "second": "s",
    "minute": "min", "hour": "h", "day": "d", "mole": "mol", "molar": "M", "kelvin": "K",
    "per": "/",
    "hertz": "Hz", "joule": "J", "watt": "W", "volt": "V", "pascal": "Pa", "dalton": "Da",
    "mg": "mg", "kg": "kg", "ug": "μg", "ng": "ng", "mm": "mm", "cm": "cm", "um": "μm", "nm": "nm",
    "ml": "ml", "ul": "μl", "mmHg": "mmHg", "percent": "%", "celsius": "°C", "micro": "μ",
}  # fmt: skip
_QUANTITIES = {"SI", "qty", "num", "SIrange", "qtyrange", "numrange", "unit", "si"}
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\]]*\])*\])?\s*\{([^{}]+)\}")
_LIST_END = re.compile(r"\\end\s*\{thebibliography\}")
_SOURCES = re.compile(
    r"^[^%\n]*?\\(?:bibliography|addbibresource)\s*(?:\[[^\]]*\])?\s*\{([^{}]+)\}", re.M
)
_DEEPEST = 8  # files in files


def sources(text: str) -> list[str]:
    """The names of the data files of the list of references."""
    named = (name.strip() for found in _SOURCES.finditer(text) for name in found[1].split(","))
    return [name if re.search(r"\.\w{2,4}$", name) else f"{name}.bib" for name in named if name]


def bib_items(text: str) -> Iterator[tuple[str, str, int]]:
    r"""Key, source and place of each ``\bibitem``."""
    found = list(_BIBITEM.finditer(text))
    for one, following in zip(found, [*found[1:], None], strict=False):
        ends = _LIST_END.search(text, one.end())
        stops = [at.start() for at in (following, ends) if at]
        yield one[1].strip(), text[one.end() : min(stops, default=len(text))], one.start()


def plain(source: str) -> str:
    """A piece of LaTeX as it is read, in a line."""
    return " ".join(" ".join(block.text for block in blocks(source)).split())


def blocks(text: str, file: str = "", files: Mapping[str, str] | None = None) -> list[Block]:
    """The paragraphs of a document and of the files it takes in, in order.

    Raises
    ------
    BadRequest
        Its groups are nested too deep to be read.
    """
    return list(_Reading(files or {}).blocks(text, file))


class _Reading:
    """One document with its files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.deep = 0

    def blocks(self, text: str, file: str) -> Iterator[Block]:
        from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

        begins = re.search(r"\\begin\s*\{document\}", text)
        builder = BlockBuilder(text, file)
        self.found: list[Block] = []
        walker = LatexWalker(text, latex_context=_context(), tolerant_parsing=True)
        try:
            nodes = walker.get_latex_nodes(pos=begins.end() if begins else 0)[0]
            _Walk(builder, self, file).nodes(nodes)
        except (RecursionError, LatexWalkerError):
            msg = f"{file or 'The document'} cannot be read as LaTeX."
            raise BadRequest(msg, "Does it compile? Its groups may be unbalanced.") from None
        builder.end()
        yield from builder.blocks

    def taken_in(self, name: str) -> list[Block]:
        """The blocks of another file; none where it is not there, or files go in circles."""
        named = name if re.search(r"\.\w{2,4}$", name) else f"{name}.tex"
        text = self.files.get(named.removeprefix("./"))
        if text is None or self.deep >= _DEEPEST:
            return []
        self.deep += 1
        try:
            return list(self.blocks(text, named))
        finally:
            self.deep -= 1


class _Walk:
    """Writes the nodes of one file as blocks."""

    def __init__(self, builder: BlockBuilder, reading: _Reading, file: str) -> None:
        self.builder = builder
        self.reading = reading
        self.file = file

    def nodes(self, nodes: Sequence[Any], *, math: bool = False) -> None:
        for at, node in enumerate(nodes):
            self.node(node, nodes[at + 1 :], math=math)

    def node(self, node: Any, behind: Sequence[Any], *, math: bool = False) -> None:
        kind = type(node).__name__
        if kind == "LatexCharsNode":
            self.characters(node.chars, node.pos)
        elif kind == "LatexSpecialsNode":
            self.special(node)
        elif kind == "LatexGroupNode":
            self.nodes(node.nodelist, math=math)
        elif kind == "LatexMathNode":
            if node.displaytype == "inline":
                self.nodes(node.nodelist, math=True)
        elif kind == "LatexEnvironmentNode":
            self.environment(node)
        elif kind == "LatexMacroNode":
            self.macro(node, math=math)

    def characters(self, text: str, at: int) -> None:
        for part in re.finditer(r"[ \t]*\n[ \t]*(?:\n\s*)+|\n|[^\n]+", text):
            if part[0].count("\n") > 1:
                self.builder.end()
            else:
                self.builder.add(" " if part[0] == "\n" else part[0], at + part.start())

    def special(self, node: Any) -> None:
        chars = node.specials_chars
        if chars.startswith("\n"):
            self.builder.end()
            return
        signs = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " ", "#": ""}
        self.builder.add(signs.get(chars, chars), node.pos, node.len)

    def environment(self, node: Any) -> None:
        name = node.environmentname
        if name in _SKIPPED:
            return
        is_apart = name in _QUOTES or name in {"abstract", "itemize", "enumerate", "figure"}
        if is_apart:
            self.builder.end()
        self.nodes(node.nodelist)
        if is_apart:
            self.builder.end("quote" if name in _QUOTES else "prose")

    def macro(self, node: Any, *, math: bool) -> None:
        name = node.macroname
        if name in _CITE_COMMANDS or (_CITES.fullmatch(name) and name not in _NO_CITES):
            self.cite(node)
        elif name in _INPUTS:
            self.take_in(node)
        elif name in _HEADINGS:
            self.builder.end()
            self.arguments(node)
            self.builder.end("prose" if name == "caption" else "heading")
        elif name in ("par", "item"):
            self.builder.end()
        elif name in _QUANTITIES:
            self.quantity(node)
        elif name in _QUOTED:
            self.quoted(node)
        elif name in _SIGNS:
            self.builder.add(_SIGNS[name], node.pos, node.len)
        elif name not in _SILENT:
            self.other(node, math=math)

    def other(self, node: Any, *, math: bool) -> None:
        """A letter, or what a command encloses."""
        letters = _letters(node) if not math or not _arguments(node) else ""
        if letters and len(letters) <= 2 and not math:
            self.builder.add(letters, node.pos, node.len)
        elif _arguments(node):
            self.arguments(node, math=math)
        elif letters:
            self.builder.add(letters, node.pos, node.len)

    def arguments(self, node: Any, *, math: bool = False) -> None:
        for argument in _arguments(node):
            if argument.isNodeType(_group()) and argument.delimiters[0] == "[":
                continue
            self.node(argument, (), math=math)

    def cite(self, node: Any) -> None:
        keys = [key.strip() for text in _braced(node) for key in text.split(",")]
        keys = [key for key in keys if key]
        if keys:
            self.builder.cite(keys, f"[{', '.join(keys)}]", node.pos, node.len)

    def take_in(self, node: Any) -> None:
        for name in _braced(node):
            self.builder.end()
            taken = self.reading.taken_in(name.strip())
            self.builder.blocks += taken

    def quantity(self, node: Any) -> None:
        parts = [_unit(argument.latex_verbatim()) for argument in _arguments(node)]
        between = "–" if node.macroname.endswith("range") and len(parts) > 1 else " "
        words = between.join(filter(None, parts[:2]))
        self.builder.add(" ".join(filter(None, (words, *parts[2:]))), node.pos, node.len)

    def quoted(self, node: Any) -> None:
        arguments = [one for one in _arguments(node) if one is not None]
        self.builder.add("“", node.pos, 1)
        if arguments:
            self.node(arguments[-1], ())
        self.builder.add("”", node.pos + node.len - 1, 1)
        if node.macroname.endswith("cquote"):
            keys = [key.strip() for key in _text(arguments[-2]).split(",")] if arguments else []
            self.builder.cite(keys, f" [{', '.join(keys)}]", node.pos, node.len)


def _arguments(node: Any) -> list[Any]:
    found = node.nodeargd.argnlist if node.nodeargd else ()
    return [one for one in found or () if one is not None]


def _braced(node: Any) -> list[str]:
    """The mandatory arguments."""
    groups = (one for one in _arguments(node) if one.isNodeType(_group()))
    return [_text(one) for one in groups if one.delimiters[0] == "{"]


def _text(group: Any) -> str:
    inner: str = group.latex_verbatim()
    return re.sub(r"%[^\n]*\n\s*", "", inner)[1:-1]


def _unit(source: str) -> str:
    r"""A number or unit of siunitx: ``\milli\gram`` as ``mg``."""
    bare = source.strip("{}")
    spelled = re.sub(r"\\([a-zA-Z]+)\s*", lambda found: _UNITS.get(found[1], found[1]), bare)
    return re.sub(r"[{}]", "", spelled).replace("\\,", " ").strip()


def _letters(node: Any) -> str:
    from pylatexenc.latex2text import LatexNodes2Text

    made: str = LatexNodes2Text(math_mode="text").node_to_text(node)
    return made.strip("\n")


@cache
def _group() -> Any:
    from pylatexenc.latexwalker import LatexGroupNode

    return LatexGroupNode


@cache
def _context() -> Any:
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import MacroSpec

    context = get_default_latex_context_db()
    many = [name for name in _CITE_COMMANDS if name.endswith("cites")]
    macros = [MacroSpec(name, "*[[{") for name in _CITE_COMMANDS if name not in many]
    macros += [MacroSpec(name, "[[{[[{[[{") for name in many]
    macros += [MacroSpec(name, "[{{") for name in ("SI", "qty")]
    macros += [MacroSpec(name, "[{{{") for name in ("SIrange", "qtyrange")]
    macros += [MacroSpec("numrange", "[{{"), MacroSpec("num", "[{")]
    macros += [MacroSpec(name, "[{") for name in ("unit", "si")]
    macros += [MacroSpec(name, "*{") for name in ("enquote", "textquote", "blockquote")]
    macros += [MacroSpec(name, "[[{{") for name in ("textcquote", "blockcquote")]
    macros += [MacroSpec(name, "{") for name in ("subfile", "ref", "cref", "Cref", "autoref")]
    macros += [MacroSpec(name, "{") for name in ("eqref", "pageref", "addbibresource", "nocite")]
    context.add_context_category("citations", prepend=True, macros=macros)
    return context
