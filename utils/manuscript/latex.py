r"""Read LaTeX: paragraphs with their positions, citations, and the document's reference lists.

pylatexenc parses the source into nodes with positions. Commands that print nothing are skipped;
``\input`` and ``\include`` are followed within the manuscript's folder. Every command with *cite*
in its name is a citation, as in natbib, biblatex and apacite
(https://ctan.org/pkg/natbib, https://ctan.org/pkg/biblatex). Lists are ``\bibliography``,
``\addbibresource`` and ``thebibliography``, the last also in the document's ``.bbl`` file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from ..errors import BadRequest
from .parts import BlockBuilder, ManuscriptBlock

_CITE_COMMAND = re.compile(r"(?:[A-Z]?[a-z]*)?cite[a-zA-Z]*\*?")
_NOT_CITATIONS = {"citestyle", "citeindextrue", "citeindexfalse", "nocite", "citereset", "citename"}
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
_UNPRINTED_COMMANDS = {
    *("label", "ref", "eqref", "cref", "Cref", "autoref", "pageref", "includegraphics", "vspace"),
    *("hspace", "usepackage", "documentclass", "bibliographystyle", "bibliography", "newcommand"),
    *("renewcommand", "providecommand", "DeclareMathOperator", "def", "let", "setlength", "index"),
    *("addbibresource", "nocite", "hypersetup", "graphicspath", "pagestyle", "thispagestyle"),
    *("setcounter", "addtocounter", "newtheorem", "theoremstyle", "bibitem", "printbibliography"),
    *("author", "affiliation", "affil", "address", "email", "date", "thanks", "orcid", "keywords"),
}
_SKIPPED_ENVIRONMENTS = {
    *("equation", "equation*", "align", "align*", "gather", "gather*", "multline", "multline*"),
    *("eqnarray", "eqnarray*", "tabular", "tabular*", "tabularx", "longtable", "array", "verbatim"),
    *("lstlisting", "minted", "tikzpicture", "algorithm", "algorithmic", "comment"),
    *("thebibliography", "table", "table*", "filecontents", "filecontents*"),
}
_QUOTE_ENVIRONMENTS = {"quote", "quotation", "displayquote", "displaycquote", "blockquote"}
_QUOTE_COMMANDS = {
    "enquote",
    "textquote",
    "blockquote",
    "textcquote",
    "blockcquote",
    "textquotedblleft",
}
_SYMBOLS = {
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
_QUANTITY_COMMANDS = {"SI", "qty", "num", "SIrange", "qtyrange", "numrange", "unit", "si"}
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\]]*\])*\])?\s*\{([^{}]+)\}")
_LIST_END = re.compile(r"\\end\s*\{thebibliography\}")
_SOURCES = re.compile(
    r"^[^%\n]*?\\(?:bibliography|addbibresource)\s*(?:\[[^\]]*\])?\s*\{([^{}]+)\}", re.M
)
_MAX_INCLUDE_DEPTH = 8  # levels of files that include files


def find_bibliography_names(text: str) -> list[str]:
    """Return the names of the files that contain the reference list."""
    named = (name.strip() for found in _SOURCES.finditer(text) for name in found[1].split(","))
    return [name if re.search(r"\.\w{2,4}$", name) else f"{name}.bib" for name in named if name]


def iterate_bib_items(text: str) -> Iterator[tuple[str, str, int]]:
    r"""Yield the key, source and offset of each ``\bibitem``."""
    found = list(_BIBITEM.finditer(text))
    for one, following in zip(found, [*found[1:], None], strict=False):
        ends = _LIST_END.search(text, one.end())
        stops = [at.start() for at in (following, ends) if at]
        yield one[1].strip(), text[one.end() : min(stops, default=len(text))], one.start()


def latex_to_displayed_text(source: str) -> str:
    """Return the displayed text of a piece of LaTeX on one line."""
    return " ".join(" ".join(block.text for block in parse_latex_blocks(source)).split())


def parse_latex_blocks(
    text: str, file: str = "", files: Mapping[str, str] | None = None
) -> list[ManuscriptBlock]:
    """Return the paragraphs of a document and of the files that it includes, in order.

    Raises
    ------
    BadRequest
        The groups are nested too deeply to be parsed.
    """
    return list(_LatexReader(files or {}).iterate_blocks(text, file))


class _LatexReader:
    """Reads one document and the files that it includes."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.deep = 0

    def iterate_blocks(self, text: str, file: str) -> Iterator[ManuscriptBlock]:
        """Yield the blocks of a file."""
        from pylatexenc.latexwalker import LatexWalker, LatexWalkerError

        begins = re.search(r"\\begin\s*\{document\}", text)
        builder = BlockBuilder(text, file)
        self.found: list[ManuscriptBlock] = []
        walker = LatexWalker(text, latex_context=_build_parsing_context(), tolerant_parsing=True)
        try:
            nodes = walker.get_latex_nodes(pos=begins.end() if begins else 0)[0]
            _NodeConverter(builder, self, file).add_nodes(nodes)
        except (RecursionError, LatexWalkerError):
            msg = f"{file or 'The document'} cannot be read as LaTeX."
            raise BadRequest(
                msg, "Check that it compiles and that its braces are balanced."
            ) from None
        builder.finish_block()
        yield from builder.blocks

    def read_included_file(self, name: str) -> list[ManuscriptBlock]:
        """Return the blocks of an included file; empty if missing or nested too deeply."""
        named = name if re.search(r"\.\w{2,4}$", name) else f"{name}.tex"
        text = self.files.get(named.removeprefix("./"))
        if text is None or self.deep >= _MAX_INCLUDE_DEPTH:
            return []
        self.deep += 1
        try:
            return list(self.iterate_blocks(text, named))
        finally:
            self.deep -= 1


class _NodeConverter:
    """Converts one file's LaTeX nodes to blocks."""

    def __init__(self, builder: BlockBuilder, reading: _LatexReader, file: str) -> None:
        self.builder = builder
        self.reading = reading
        self.file = file

    def add_nodes(self, nodes: Sequence[Any], *, math: bool = False) -> None:
        """Add a sequence of nodes."""
        for at, node in enumerate(nodes):
            self.add_node(node, nodes[at + 1 :], math=math)

    def add_node(self, node: Any, behind: Sequence[Any], *, math: bool = False) -> None:
        """Add one node; *behind* is the node after it."""
        kind = type(node).__name__
        if kind == "LatexCharsNode":
            self.add_characters(node.chars, node.pos)
        elif kind == "LatexSpecialsNode":
            self.add_special(node)
        elif kind == "LatexGroupNode":
            self.add_nodes(node.nodelist, math=math)
        elif kind == "LatexMathNode":
            if node.displaytype == "inline":
                self.add_nodes(node.nodelist, math=True)
        elif kind == "LatexEnvironmentNode":
            self.add_environment(node)
        elif kind == "LatexMacroNode":
            self.add_macro(node, math=math)

    def add_characters(self, text: str, at: int) -> None:
        """Add text; a blank line ends the block."""
        for part in re.finditer(r"[ \t]*\n[ \t]*(?:\n\s*)+|\n|[^\n]+", text):
            if part[0].count("\n") > 1:
                self.builder.finish_block()
            else:
                self.builder.append_text(" " if part[0] == "\n" else part[0], at + part.start())

    def add_special(self, node: Any) -> None:
        """Add a special character such as ``~``."""
        chars = node.specials_chars
        if chars.startswith("\n"):
            self.builder.finish_block()
            return
        signs = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—", "&": " ", "#": ""}
        self.builder.append_text(signs.get(chars, chars), node.pos, node.len)

    def add_environment(self, node: Any) -> None:
        """Add an environment's content; quotations and lists become blocks of their own."""
        name = node.environmentname
        if name in _SKIPPED_ENVIRONMENTS:
            return
        is_apart = name in _QUOTE_ENVIRONMENTS or name in {
            "abstract",
            "itemize",
            "enumerate",
            "figure",
        }
        if is_apart:
            self.builder.finish_block()
        self.add_nodes(node.nodelist)
        if is_apart:
            self.builder.finish_block("quote" if name in _QUOTE_ENVIRONMENTS else "prose")

    def add_macro(self, node: Any, *, math: bool) -> None:
        """Add a command by its meaning: citation, heading, quotation, symbol or other."""
        name = node.macroname
        if name in _CITE_COMMANDS or (_CITE_COMMAND.fullmatch(name) and name not in _NOT_CITATIONS):
            self.add_citation(node)
        elif name in _INPUTS:
            self.add_included_file(node)
        elif name in _HEADINGS:
            self.builder.finish_block()
            self.add_arguments(node)
            self.builder.finish_block("prose" if name == "caption" else "heading")
        elif name in ("par", "item"):
            self.builder.finish_block()
        elif name in _QUANTITY_COMMANDS:
            self.add_quantity(node)
        elif name in _QUOTE_COMMANDS:
            self.add_quotation(node)
        elif name in _SYMBOLS:
            self.builder.append_text(_SYMBOLS[name], node.pos, node.len)
        elif name not in _UNPRINTED_COMMANDS:
            self.add_unknown_macro(node, math=math)

    def add_unknown_macro(self, node: Any, *, math: bool) -> None:
        """Add an unknown command: its letter, or the text of its arguments."""
        letters = _node_to_unicode(node) if not math or not _get_present_arguments(node) else ""
        if letters and len(letters) <= 2 and not math:
            self.builder.append_text(letters, node.pos, node.len)
        elif _get_present_arguments(node):
            self.add_arguments(node, math=math)
        elif letters:
            self.builder.append_text(letters, node.pos, node.len)

    def add_arguments(self, node: Any, *, math: bool = False) -> None:
        """Add the mandatory arguments of a command."""
        for argument in _get_present_arguments(node):
            if argument.isNodeType(_import_group_class()) and argument.delimiters[0] == "[":
                continue
            self.add_node(argument, (), math=math)

    def add_citation(self, node: Any) -> None:
        """Add a citation of the keys in the command's arguments."""
        keys = [key.strip() for text in _get_braced_texts(node) for key in text.split(",")]
        keys = [key for key in keys if key]
        if keys:
            self.builder.append_citation(keys, f"[{', '.join(keys)}]", node.pos, node.len)

    def add_included_file(self, node: Any) -> None:
        """Add the blocks of an included file."""
        for name in _get_braced_texts(node):
            self.builder.finish_block()
            taken = self.reading.read_included_file(name.strip())
            self.builder.blocks += taken

    def add_quantity(self, node: Any) -> None:
        """Add a number or range of siunitx with its unit."""
        parts = [
            _format_siunitx(argument.latex_verbatim()) for argument in _get_present_arguments(node)
        ]
        between = "–" if node.macroname.endswith("range") and len(parts) > 1 else " "
        words = between.join(filter(None, parts[:2]))
        self.builder.append_text(" ".join(filter(None, (words, *parts[2:]))), node.pos, node.len)

    def add_quotation(self, node: Any) -> None:
        """Add an inline quotation in quotation marks, with its citation."""
        arguments = [argument for argument in _get_present_arguments(node) if argument is not None]
        self.builder.append_text("“", node.pos, 1)
        if arguments:
            self.add_node(arguments[-1], ())
        self.builder.append_text("”", node.pos + node.len - 1, 1)
        if node.macroname.endswith("cquote"):
            keys = (
                [key.strip() for key in _get_group_source(arguments[-2]).split(",")]
                if arguments
                else []
            )
            self.builder.append_citation(keys, f" [{', '.join(keys)}]", node.pos, node.len)


def _get_present_arguments(node: Any) -> list[Any]:
    """Return the arguments of a command that are present."""
    found = node.nodeargd.argnlist if node.nodeargd else ()
    return [one for one in found or () if one is not None]


def _get_braced_texts(node: Any) -> list[str]:
    """Return the text of the mandatory arguments."""
    groups = (
        argument
        for argument in _get_present_arguments(node)
        if argument.isNodeType(_import_group_class())
    )
    return [_get_group_source(group) for group in groups if group.delimiters[0] == "{"]


def _get_group_source(group: Any) -> str:
    """Return the source inside a group, without comments."""
    inner: str = group.latex_verbatim()
    return re.sub(r"%[^\n]*\n\s*", "", inner)[1:-1]


def _format_siunitx(source: str) -> str:
    r"""Return a number or unit of siunitx as text: ``\milli\gram`` becomes ``mg``."""
    bare = source.strip("{}")
    spelled = re.sub(r"\\([a-zA-Z]+)\s*", lambda found: _UNITS.get(found[1], found[1]), bare)
    return re.sub(r"[{}]", "", spelled).replace("\\,", " ").strip()


def _node_to_unicode(node: Any) -> str:
    """Return a node as Unicode text."""
    from pylatexenc.latex2text import LatexNodes2Text

    made: str = LatexNodes2Text(math_mode="text").node_to_text(node)
    return made.strip("\n")


@cache
def _import_group_class() -> Any:
    """Import pylatexenc's class of groups on first use."""
    from pylatexenc.latexwalker import LatexGroupNode

    return LatexGroupNode


@cache
def _build_parsing_context() -> Any:
    """Return pylatexenc's context with the argument forms of citation and unit commands."""
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
