"""Pandoc as a child process, and its document rewritten in the conventions of our readers.

Pandoc parses a hostile text: it runs in its sandbox, with a time limit and a heap limit, and gets
no standard input of ours. Its document comes as JSON. `Rewriter` then gives citations their
numbers, figures and tables their labels (``**Figure 2.** caption``) and tables one line a row, and
drops pictures and raw TeX. Pandoc itself writes the result as markdown.

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
    "Citation",
    "Rewriter",
    "find_pandoc",
    "parse_latex",
    "to_header",
    "to_text",
    "write_markdown",
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


class Citation(NamedTuple):
    """A reference's place in the list, and its authors as a sentence names them."""

    number: int
    authors: str = ""


@cache
def find_pandoc() -> str:
    """Return the path of the pandoc that the extra ``latex`` brings; empty without it."""
    spec = find_spec("pypandoc")
    name = "pandoc.exe" if sys.platform == "win32" else "pandoc"
    places = [
        Path(folder) / "files" / name
        for folder in (spec.submodule_search_locations if spec else None) or ()
    ]
    return next((str(place) for place in places if place.is_file()), "")


def parse_latex(text: str, bibliography: str = "") -> Node:
    """Parse TeX into pandoc's document; a BibTeX *bibliography* writes out its citations.

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


def write_markdown(document: Node) -> str:
    """Return pandoc's document as markdown.

    Raises
    ------
    BadContent
        Pandoc cannot write it within its limits.
    """
    with tempfile.TemporaryDirectory(prefix="papershelf-") as folder:
        options = ["--from=json", f"--to={_MARKDOWN}", "--wrap=none"]
        written = _run_pandoc(options, json.dumps(document).encode(), Path(folder))
    return _BRACKET.sub(r"\1", written.decode())


def _run_pandoc(options: list[str], body: bytes, folder: Path) -> bytes:
    pandoc = find_pandoc()
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


class Rewriter:
    """A rewriter of one document in reading order, which keeps each figure's picture files."""

    def __init__(self, citations: Mapping[str, Citation]) -> None:
        self.pictures: dict[str, tuple[str, ...]] = {}
        self._citations = citations
        self._figures = 0
        self._tables = 0
        self._in_figure = False
        self._handlers: Mapping[str, Callable[[Any], list[Node]]] = {
            "Cite": self._rewrite_cite,
            "Div": self._rewrite_div,
            "Figure": self._rewrite_figure,
            "Header": self._rewrite_header,
            "Link": self._rewrite_link,
            "Math": self._rewrite_math,
            "Table": self._rewrite_table,
        }

    def rewrite(self, nodes: Iterable[Node]) -> list[Node]:
        """Return blocks or inlines as our markdown has them."""
        made: list[Node] = []
        for node in nodes:
            kind: str = node["t"]
            content: Any = node.get("c")
            if kind in self._handlers:
                made += self._handlers[kind](content)
            elif kind in _UNWRAPPED:
                made += self.rewrite(content[-1] if kind == "Span" else content)
            elif kind not in _DROPPED:
                made.append({**node, "c": self._rewrite_inside(content)} if "c" in node else node)
        return made

    def _rewrite_inside(self, content: Any) -> Any:
        """Rewrite the nodes in a list of any depth."""
        if not isinstance(content, list):
            return content
        if content and all(isinstance(part, dict) and "t" in part for part in content):
            return self.rewrite(content)
        return [self._rewrite_inside(part) for part in content]

    def _rewrite_cite(self, content: Any) -> list[Node]:
        """Write ``[1, 2]``, and the authors before it where they belong to the sentence."""
        cited, words = content
        known = [one for one in cited if one["citationId"] in self._citations]
        if not known:  # pandoc's own words, where it read a BibTeX file
            return self.rewrite(words)
        made: list[Node] = []
        for one in known:
            made += [to_string(", " if made else "["), *self.rewrite(one["citationPrefix"])]
            made.append(to_string(str(self._citations[one["citationId"]].number)))
            made += self.rewrite(one["citationSuffix"])
        authors = self._citations[known[0]["citationId"]].authors
        if authors and known[0]["citationMode"]["t"] == "AuthorInText":
            made.insert(0, to_string(f"{authors} "))
        return [*made, to_string("]")]

    def _rewrite_div(self, content: Any) -> list[Node]:
        """Return the blocks of a division; the list that pandoc made of a BibTeX file, numbered."""
        (name, _, _), blocks = content
        if name != "refs":
            return self.rewrite(blocks)
        style = [1, {"t": "Decimal"}, {"t": "Period"}]
        entries = [self.rewrite([entry]) for entry in blocks]
        listed = [{"t": "OrderedList", "c": [style, entries]}] if entries else []
        return [to_header(2, [to_string("References")]), *listed]

    def _rewrite_header(self, content: Any) -> list[Node]:
        """Return a heading one level down, as the title is the first; a paragraph's as bold."""
        level, _, words = content
        words = self.rewrite(node for node in words if node["t"] != "Note")
        if level < _PARAGRAPH_LEVEL:
            return [to_header(level + 1, words)]
        return [{"t": "Para", "c": [{"t": "Strong", "c": words}]}] if words else []

    def _rewrite_link(self, content: Any) -> list[Node]:
        """Return a link to the web as it is, of one within the paper its words."""
        _, words, target = content
        words = self.rewrite(words)
        inner = target[0].startswith("#")
        return words if inner else [{"t": "Link", "c": [_NO_ATTRIBUTES, words, target]}]

    def _rewrite_math(self, content: Any) -> list[Node]:
        kind, tex = content
        tex = _ALIGNED.sub(lambda found: rf"\{found[1]}{{{found[2] or 'align'}ed}}", tex)
        tex = " ".join(_NOISE.sub("", tex).replace("<", r"\lt ").split())
        return [{"t": "Math", "c": [kind, tex]}] if tex else []

    def _rewrite_figure(self, content: Any) -> list[Node]:
        """Return the caption with its label, then what the figure holds besides pictures."""
        _, (_, caption), blocks = content
        outer, label = not self._in_figure, ""
        if outer and caption:
            self._figures += 1
            label = f"Figure {self._figures}"
            self.pictures[label] = tuple(dict.fromkeys(_find_picture_names(blocks)))
        self._in_figure = True
        made = [*self._make_caption(label, caption), *self.rewrite(blocks)]
        self._in_figure = not outer
        return [block for block in made if block.get("c")]

    def _make_caption(self, label: str, blocks: list[Node]) -> list[Node]:
        words = self._get_inlines(blocks)
        if label and words:
            words = [{"t": "Strong", "c": [to_string(f"{label}.")]}, _SPACE, *words]
        return [{"t": "Para", "c": words}] if words else []

    def _rewrite_table(self, content: Any) -> list[Node]:
        """Return caption and cells: a cell over several columns is in the first of them."""
        _, (_, caption), columns, (_, head), bodies, (_, foot) = content
        label = ""
        if caption:
            self._tables += 1
            label = f"Table {self._tables}"
        width = min(len(columns), _MOST_COLUMNS)
        under = [row for _, _, heads, rows in bodies for row in (*heads, *rows)]
        rows = self._fill_grid([*head, *under, *foot], width)
        first, rest = rows[:1], rows[1:]
        aligned = [[{"t": "AlignDefault"}, {"t": "ColWidthDefault"}]] * width
        table = [_NO_ATTRIBUTES, [None, []], aligned, [_NO_ATTRIBUTES, list(map(_make_row, first))]]
        table += [[[_NO_ATTRIBUTES, 0, [], list(map(_make_row, rest))]], [_NO_ATTRIBUTES, []]]
        return [*self._make_caption(label, caption), {"t": "Table", "c": table}]

    def _fill_grid(self, rows: list[Any], width: int) -> list[list[list[Node]]]:
        """Return rows of *width* cells each; a cell over several rows is in the first."""
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
        """Return a cell's words; a bar in a formula would end the cell."""
        words = self._get_inlines(blocks)
        for node in words:
            if node["t"] == "Math":
                node["c"][1] = node["c"][1].replace("|", r"\vert ")
        return words

    def _get_inlines(self, blocks: list[Node]) -> list[Node]:
        """Return the words of blocks in one line."""
        made: list[Node] = []
        for block in self.rewrite(blocks):
            words = block["c"] if block["t"] in {"Para", "Plain"} else [to_string(to_text([block]))]
            made += [_SPACE, *words] if made else words
        return [_SPACE if node["t"] in {"LineBreak", "SoftBreak"} else node for node in made]


def to_string(text: str) -> Node:
    """Return a word as pandoc's document holds it."""
    return {"t": "Str", "c": text}


def to_header(level: int, words: list[Node]) -> Node:
    """Return a heading as pandoc's document holds it."""
    return {"t": "Header", "c": [level, _NO_ATTRIBUTES, words]}


def to_text(nodes: Any) -> str:
    """Return the plain words of nodes of any depth, formulas between ``$``, notes left out.

    >>> to_text([{"t": "Emph", "c": [to_string("Big")]}, {"t": "Space"}, to_string("fish")])
    'Big fish'
    """
    if isinstance(nodes, list):
        return "".join(map(to_text, nodes))
    if not isinstance(nodes, dict):
        return ""
    kind, content = nodes.get("t"), nodes.get("c", "")
    if kind in {"Str", "Code", "Math"}:
        words = content if kind == "Str" else content[1]
        return f"${words}$" if kind == "Math" else str(words)
    if kind in {"Space", "SoftBreak", "LineBreak"}:
        return "\n" if kind == "LineBreak" else " "
    return "" if kind == "Note" else to_text(content) if isinstance(content, list) else ""


def _make_row(cells: list[list[Node]]) -> list[Any]:
    blocks: list[list[Node]] = [[{"t": "Plain", "c": words}] if words else [] for words in cells]
    return [_NO_ATTRIBUTES, [[_NO_ATTRIBUTES, {"t": "AlignDefault"}, 1, 1, b] for b in blocks]]


def _find_picture_names(nodes: Any) -> Iterator[str]:
    """Yield the files that ``Image`` nodes at any depth name."""
    if isinstance(nodes, dict):
        if nodes.get("t") == "Image":
            yield nodes["c"][2][0]
        nodes = nodes.get("c")
    if isinstance(nodes, list):
        for node in nodes:
            yield from _find_picture_names(node)
