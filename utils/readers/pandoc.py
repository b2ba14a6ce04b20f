"""Run pandoc as a child process, and rewrite its document tree in the readers' conventions.

The text is untrusted, so pandoc runs in its sandbox, with a time limit and a heap limit, and
without the parent's standard input. It returns the document as JSON. `PandocRewriter` then numbers
citations, labels figures and tables (``**Figure 2.** caption``), puts each table row on one line,
and drops pictures and raw TeX. Pandoc converts the result to markdown.

https://pandoc.org/MANUAL.html ("A note on security"),
https://hackage.haskell.org/package/pandoc-types/docs/Text-Pandoc-Definition.html
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..command_line import install_command
from ..errors import BadContent

__all__ = [
    "CitedReference",
    "PandocRewriter",
    "convert_to_markdown",
    "find_pandoc_path",
    "make_header_node",
    "nodes_to_text",
    "parse_latex",
]

Node = dict[str, Any]
_DEADLINE_S: Final = 25  # two runs end before the limit of a reading process
_MOST_BYTES: Final = 40_000_000  # of JSON; a long thesis has 30 MB
_MOST_COLUMNS: Final = 200
_PARAGRAPH_LEVEL: Final = 4
_MARKDOWN: Final = "commonmark+pipe_tables+footnotes+tex_math_dollars+definition_lists"
_BRACKET: Final = re.compile(r"(?<!\\)\\([\[\]])")
_NOISE: Final = re.compile(r"\\label\s*\{[^{}]*\}|\\(?:begin|end)\{equation\*?\}")
_ALIGNED: Final = re.compile(r"\\(begin|end)\{(?:(align|gather)|(?:flalign|eqnarray))\*?\}")
_UNWRAPPED: Final = frozenset({"Span", "Underline", "SmallCaps"})
_DROPPED: Final = frozenset({"RawInline", "RawBlock", "Image", "HorizontalRule"})
_NO_ATTRIBUTES: Final[list[Any]] = ["", [], []]
_SPACE: Final[Node] = {"t": "Space"}


class CitedReference(NamedTuple):
    """A reference's number in the list, and its authors as a sentence names them."""

    number: int
    authors: str = ""


@cache
def find_pandoc_path() -> str:
    """Return the path of pandoc from the extra ``latex``; empty if not installed."""
    spec = find_spec("pypandoc")
    name = "pandoc.exe" if sys.platform == "win32" else "pandoc"
    places = [
        Path(folder) / "files" / name
        for folder in (spec.submodule_search_locations if spec else None) or ()
    ]
    return next((str(place) for place in places if place.is_file()), "")


def parse_latex(text: str, bibliography: str = "") -> Node:
    """Parse TeX into pandoc's document; a BibTeX *bibliography* resolves its citations.

    Raises
    ------
    BadContent
        Pandoc cannot read the text within its limits, or is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="papershelf-") as folder:
        options = ["--from=latex", "--to=json"]
        if bibliography:
            (Path(folder) / "references.bib").write_text(bibliography, encoding="utf-8")
            options += ["--citeproc", "--bibliography=references.bib"]
        parsed: Node = json.loads(_run_pandoc(options, text.encode(), Path(folder)))
    return parsed


def convert_to_markdown(document: Node) -> str:
    """Return pandoc's document as markdown.

    Raises
    ------
    BadContent
        Pandoc cannot write the markdown within its limits.
    """
    with tempfile.TemporaryDirectory(prefix="papershelf-") as folder:
        options = ["--from=json", f"--to={_MARKDOWN}", "--wrap=none"]
        written = _run_pandoc(options, json.dumps(document).encode(), Path(folder))
    return _BRACKET.sub(r"\1", written.decode())


def _run_pandoc(options: list[str], body: bytes, folder: Path) -> bytes:
    pandoc = find_pandoc_path()
    if not pandoc:
        hint = f"Run: {install_command('latex')}"
        raise BadContent("LaTeX sources are read by pandoc, which is not installed.", hint)
    (folder / "input").write_bytes(body)
    process = subprocess.Popen(  # noqa: S603 - the extra's own program
        [pandoc, "+RTS", "-M512M", "-RTS", "--sandbox", *options, "--output=made", "input"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with suppress(ImportError, AttributeError, OSError, ValueError):
            import resource  # ends pandoc where this process dies first

            cpu = (_DEADLINE_S, _DEADLINE_S)
            resource.prlimit(process.pid, resource.RLIMIT_CPU, cpu)
        failed = process.wait(_DEADLINE_S) != 0
    except subprocess.TimeoutExpired:
        failed = True
    finally:
        process.kill()
        process.wait()
    if failed or (folder / "made").stat().st_size > _MOST_BYTES:
        msg = "Pandoc cannot read the LaTeX source."
        raise BadContent(
            msg, "The source is damaged, or built to attack parsers.", verdict="not_a_paper"
        )
    return (folder / "made").read_bytes()


class PandocRewriter:
    """Rewrites one document in reading order and collects each figure's picture files."""

    def __init__(self, citations: Mapping[str, CitedReference]) -> None:
        self.pictures: dict[str, tuple[str, ...]] = {}
        self._citations = citations
        self._figures = 0
        self._tables = 0
        self._in_figure = False
        self._handlers: Mapping[str, Callable[[Any], list[Node]]] = {
            "Cite": self._rewrite_citation,
            "Div": self._rewrite_division,
            "Figure": self._rewrite_figure,
            "Header": self._rewrite_heading,
            "Link": self._rewrite_link,
            "Math": self._rewrite_math,
            "Table": self._rewrite_table,
        }

    def rewrite_nodes(self, nodes: Iterable[Node]) -> list[Node]:
        """Return blocks or inlines rewritten in the conventions of the readers' markdown."""
        rewritten: list[Node] = []
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind in self._handlers:
                rewritten += self._handlers[kind](content)
            elif kind in _UNWRAPPED:
                rewritten += self.rewrite_nodes(content[-1] if kind == "Span" else content)
            elif kind not in _DROPPED:
                rewritten.append(
                    {**node, "c": self._rewrite_nested_lists(content)} if "c" in node else node
                )
        return rewritten

    def _rewrite_nested_lists(self, content: Any) -> Any:
        """Rewrite the nodes in a list of any depth."""
        if not isinstance(content, list):
            return content
        if content and all(isinstance(part, dict) and "t" in part for part in content):
            return self.rewrite_nodes(content)
        return [self._rewrite_nested_lists(part) for part in content]

    def _rewrite_citation(self, content: Any) -> list[Node]:
        """Return ``[1, 2]``, with the authors before it if they are part of the sentence."""
        cited, words = content
        known = [one for one in cited if one["citationId"] in self._citations]
        if not known:  # pandoc's own words, where it read a BibTeX file
            return self.rewrite_nodes(words)
        made: list[Node] = []
        for one in known:
            made += [
                make_string_node(", " if made else "["),
                *self.rewrite_nodes(one["citationPrefix"]),
            ]
            made.append(make_string_node(str(self._citations[one["citationId"]].number)))
            made += self.rewrite_nodes(one["citationSuffix"])
        authors = self._citations[known[0]["citationId"]].authors
        if authors and known[0]["citationMode"]["t"] == "AuthorInText":
            made.insert(0, make_string_node(f"{authors} "))
        return [*made, make_string_node("]")]

    def _rewrite_division(self, content: Any) -> list[Node]:
        """Return the blocks of a division; pandoc's reference list becomes a numbered list."""
        (name, _, _), blocks = content
        if name != "refs":
            return self.rewrite_nodes(blocks)
        style = [1, {"t": "Decimal"}, {"t": "Period"}]
        entries = [self.rewrite_nodes([entry]) for entry in blocks]
        listed = [{"t": "OrderedList", "c": [style, entries]}] if entries else []
        return [make_header_node(2, [make_string_node("References")]), *listed]

    def _rewrite_heading(self, content: Any) -> list[Node]:
        """Return a heading one level down; a paragraph heading becomes bold text."""
        level, _, words = content
        words = self.rewrite_nodes(node for node in words if node["t"] != "Note")
        if level < _PARAGRAPH_LEVEL:
            return [make_header_node(level + 1, words)]
        return [{"t": "Para", "c": [{"t": "Strong", "c": words}]}] if words else []

    def _rewrite_link(self, content: Any) -> list[Node]:
        """Return a web link unchanged, and a link within the paper as its text."""
        _, words, target = content
        words = self.rewrite_nodes(words)
        inner = target[0].startswith("#")
        return words if inner else [{"t": "Link", "c": [_NO_ATTRIBUTES, words, target]}]

    def _rewrite_math(self, content: Any) -> list[Node]:
        kind, tex = content
        tex = _ALIGNED.sub(lambda found: rf"\{found[1]}{{{found[2] or 'align'}ed}}", tex)
        tex = " ".join(_NOISE.sub("", tex).replace("<", r"\lt ").split())
        return [{"t": "Math", "c": [kind, tex]}] if tex else []

    def _rewrite_figure(self, content: Any) -> list[Node]:
        """Return the caption with its label, followed by the figure's content without pictures."""
        _, (_, caption), blocks = content
        outer, label = not self._in_figure, ""
        if outer and caption:
            self._figures += 1
            label = f"Figure {self._figures}"
            self.pictures[label] = tuple(dict.fromkeys(_iterate_picture_names(blocks)))
        self._in_figure = True
        rewritten = [*self._build_labelled_caption(label, caption), *self.rewrite_nodes(blocks)]
        self._in_figure = not outer
        return [block for block in rewritten if block.get("c")]

    def _build_labelled_caption(self, label: str, blocks: list[Node]) -> list[Node]:
        words = self._join_inlines(blocks)
        if label and words:
            words = [{"t": "Strong", "c": [make_string_node(f"{label}.")]}, _SPACE, *words]
        return [{"t": "Para", "c": words}] if words else []

    def _rewrite_table(self, content: Any) -> list[Node]:
        """Return caption and cells; the text of a cell over several columns is in the first."""
        _, (_, caption), columns, (_, head), bodies, (_, foot) = content
        label = ""
        if caption:
            self._tables += 1
            label = f"Table {self._tables}"
        width = min(len(columns), _MOST_COLUMNS)
        under = [row for _, _, heads, rows in bodies for row in (*heads, *rows)]
        rows = self._expand_cell_spans([*head, *under, *foot], width)
        first, rest = rows[:1], rows[1:]
        aligned = [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]] * width
        table = [
            _NO_ATTRIBUTES,
            [None, []],
            aligned,
            [_NO_ATTRIBUTES, list(map(_make_row_node, first))],
        ]
        table += [[[_NO_ATTRIBUTES, 0, [], list(map(_make_row_node, rest))]], [_NO_ATTRIBUTES, []]]
        return [*self._build_labelled_caption(label, caption), {"t": "Table", "c": table}]

    def _expand_cell_spans(self, rows: list[Any], width: int) -> list[list[list[Node]]]:
        """Return rows of *width* cells each; text over several rows is in the first row."""
        made: list[list[list[Node]]] = []
        covered = [0] * width  # rows for which a cell above covers a column
        for _, cells in rows:
            line: list[list[Node]] = [[] for _ in range(width)]
            at = 0
            for _, _, down, across, blocks in cells:
                while at < width and covered[at]:
                    at += 1
                if at < width:
                    line[at] = self._rewrite_cell(blocks)
                for column in range(at, min(at + across, width)):
                    covered[column] = down
                at += across
            covered = [max(0, left - 1) for left in covered]
            made.append(line)
        return made

    def _rewrite_cell(self, blocks: list[Node]) -> list[Node]:
        """Return the inline nodes of a cell, with bars in formulas replaced."""
        words = self._join_inlines(blocks)
        for node in words:
            if node["t"] == "Math":
                node["c"][1] = node["c"][1].replace("|", r"\vert ")
        return words

    def _join_inlines(self, blocks: list[Node]) -> list[Node]:
        """Return the inline nodes of all blocks on one line."""
        inlines: list[Node] = []
        for block in self.rewrite_nodes(blocks):
            words = (
                block["c"]
                if block["t"] in {"Para", "Plain"}
                else [make_string_node(nodes_to_text([block]))]
            )
            inlines += [_SPACE, *words] if inlines else words
        return [_SPACE if node["t"] in {"LineBreak", "SoftBreak"} else node for node in inlines]


def make_string_node(text: str) -> Node:
    """Return a pandoc node for a word."""
    return {"t": "Str", "c": text}


def make_header_node(level: int, words: list[Node]) -> Node:
    """Return a pandoc node for a heading."""
    return {"t": "Header", "c": [level, _NO_ATTRIBUTES, words]}


def nodes_to_text(nodes: Any) -> str:
    """Return the plain text of nodes of any depth, with formulas in ``$`` and without notes.

    >>> big, fish = make_string_node("Big"), make_string_node("fish")
    >>> nodes_to_text([{"t": "Emph", "c": [big]}, {"t": "Space"}, fish])
    'Big fish'
    """
    if isinstance(nodes, list):
        return "".join(map(nodes_to_text, nodes))
    if not isinstance(nodes, dict):
        return ""
    kind, content = nodes.get("t"), nodes.get("c", "")
    if kind in {"Str", "Code", "Math"}:
        words = content if kind == "Str" else content[1]
        return f"${words}$" if kind == "Math" else str(words)
    if kind in {"Space", "SoftBreak", "LineBreak"}:
        return "\n" if kind == "LineBreak" else " "
    return "" if kind == "Note" else nodes_to_text(content) if isinstance(content, list) else ""


def _make_row_node(cells: list[list[Node]]) -> list[Any]:
    blocks: list[list[Node]] = [[{"t": "Plain", "c": words}] if words else [] for words in cells]
    return [_NO_ATTRIBUTES, [[_NO_ATTRIBUTES, {"t": "AlignDefault"}, 1, 1, b] for b in blocks]]


def _iterate_picture_names(nodes: Any) -> Iterator[str]:
    """Yield the file names in ``Image`` nodes at any depth."""
    if isinstance(nodes, dict):
        if nodes.get("t") == "Image":
            yield nodes["c"][2][0]
        nodes = nodes.get("c")
    if isinstance(nodes, list):
        for node in nodes:
            yield from _iterate_picture_names(node)
