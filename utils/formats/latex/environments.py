"""Environments: lists, floats, tables, theorems, formulas, quotations, code, algorithms.

Items: blocks that stand behind a mark, as lists, references and algorithms' lines do.

Algorithms (``algorithmic``, ``algpseudocode``): a list, indented as their loops are.
"""

from __future__ import annotations

from typing import Final

from ..jats.text import block_quote, fenced, is_nested_list
from . import formulas
from .front import end_front
from .signs import ITEM
from .tables import flat, pipe_table
from .walk import Command, Environment, Scope, Walk

_VERBATIM: Final = {
    **dict.fromkeys(("verbatim", "Verbatim", "alltt", "spverbatim", "BVerbatim"), "o"),
    "lstlisting": "o",
    "minted": "om",
}
_UNSEEN: Final = frozenset(("comment", "filecontents", "CCSXML")) | formulas.DRAWN
_TABULAR: Final = {
    **dict.fromkeys(("tabular", "longtable", "array", "supertabular"), "om"),
    **dict.fromkeys(("tabularx", "tabulary"), "mom"),
    "tabu": "m",
    "tblr": "om",
}
_FRAMED: Final = {
    "minipage": "ooom",
    **dict.fromkeys(("adjustwidth", "changemargin", "addmargin"), "mm"),
    **dict.fromkeys(("multicols", "spacing", "adjustbox", "varwidth", "column", "sideways"), "m"),
}
FLOATS: Final = {
    **dict.fromkeys(("figure", "wrapfigure", "SCfigure", "sidewaysfigure"), "figure"),
    **dict.fromkeys(("table", "wraptable", "sidewaystable"), "table"),
    **dict.fromkeys(("algorithm", "algorithm2e", "algo"), "algorithm"),
    **dict.fromkeys(("subfigure", "subtable"), "subfigure"),
}
_FLOAT_SPECS: Final = {
    **dict.fromkeys(("wrapfigure", "wraptable"), "omom"),
    **dict.fromkeys(("subfigure", "subtable"), "ooom"),
}
# Classes define these, so papers need not.
THEOREMS: Final = {
    name: name.capitalize()
    for name in (
        *("theorem", "lemma", "proposition", "corollary", "definition", "remark", "example"),
        *("conjecture", "claim", "assumption", "observation", "problem", "question", "fact"),
        *("notation", "property", "exercise", "case", "note"),
    )
}
_LISTS: Final = frozenset(
    (
        *("itemize", "enumerate", "description", "compactitem", "compactenum", "inparaenum"),
        *("itemize*", "enumerate*", "list", "trivlist", "asparaenum", "tablenotes"),
    )
)
_NUMBERED_LISTS: Final = frozenset(
    ("enumerate", "enumerate*", "compactenum", "inparaenum", "asparaenum")
)
_QUOTES: Final = frozenset(("quote", "quotation", "displayquote", "verse"))
_ACKNOWLEDGMENTS: Final = (
    *("acknowledgments", "acknowledgements", "acknowledgment", "acknowledgement", "acks", "ack"),
)
_DEEPEST_INDENT: Final = 6
# How the indent changes, and the word that opens the line.
_STEPS: Final = {
    **dict.fromkeys(("State", "Statex"), ("", "")),
    **{word: ("", f"{word}:") for word in ("Require", "Ensure", "Input", "Output")},
    "Else": ("-+", "else"),
    "Repeat": ("+", "repeat"),
    "Loop": ("+", "loop"),
    **dict.fromkeys(("EndFor", "EndWhile", "EndIf", "EndLoop"), ("-", "")),
    **dict.fromkeys(("EndFunction", "EndProcedure"), ("-", "")),
}
# With an argument, and the word after it.
_LOOPS: Final = {
    "For": ("+", "for", "do"),
    "ForAll": ("+", "for all", "do"),
    "While": ("+", "while", "do"),
    "If": ("+", "if", "then"),
    "ElsIf": ("-+", "else if", "then"),
    "Until": ("-", "until", ""),
    "Procedure": ("+", "procedure", ""),
    "Function": ("+", "function", ""),
}


def begin(walk: Walk) -> None:
    r"""``\begin{name}``."""
    name = walk.stream.take_text()
    if name == "document":
        walk.begin_document()
        return
    plain = name.rstrip("*")
    if (environment := walk.environments.get(name) or walk.environments.get(plain)) is not None:
        environment(walk, name)
    elif (own := walk.stream.environments.get(name)) is not None:
        walk.stream.put_back_expansion(walk.stream.substitute(own[0]))
    elif name in walk.theorems or plain in walk.theorems:
        theorem(walk, name)
    else:
        walk.stream.take_option()
        walk.open(Scope(name))


def end(walk: Walk) -> None:
    r"""``\end{name}``."""
    name = walk.stream.take_text()
    if name == "document":
        walk.end_document()
    elif name not in walk.environments and (own := walk.stream.environments.get(name)) is not None:
        walk.stream.put_back_expansion(own[1])
    else:
        walk.close_environment(name)


# --- lists ----------------------------------------------------------------------------------------


def _list(walk: Walk, name: str) -> None:
    walk.skip("o" if name != "list" else "mm")
    numbered = name in _NUMBERED_LISTS
    if numbered:
        outer = sum(scope.kind == "numbered list" for scope in walk.scopes)
        walk.numbers.set(f"enum{'i' * min(outer + 1, 4)}", 0)
    kind = "numbered list" if numbered else "list"
    walk.open(Scope(name, kind, lambda blocks: walk.add(listed(blocks, numbered))))


def item(walk: Walk) -> None:
    r"""``\item``."""
    label = walk.stream.take_option()
    walk.end_paragraph()
    if walk.is_inside("numbered list") and label is None:
        depth = sum(scope.kind == "numbered list" for scope in walk.scopes)
        walk.numbers.step(f"enum{'i' * min(depth, 4)}", "item")
    walk.blocks.append(f"{ITEM}{walk.line(label or [])}")


def listed(blocks: list[str], numbered: bool) -> str:
    """A markdown list of the blocks between item marks."""
    made: list[str] = []
    spread = False
    for number, (label, inner) in enumerate(items_of(blocks), 1):
        marker = f"{number}." if numbered else "-"
        lead = label if label in ("", "•", "–", "\\*") else f"**{label.strip('*')}** "
        lead = "" if len(lead) < 3 else lead
        text = [lead + (inner[0] if inner else ""), *inner[1:]]
        blank = " " * (len(marker) + 1)
        indented = [block.replace("\n", f"\n{blank}") for block in text]
        between = "\n" if is_nested_list(inner) else "\n\n"
        made.append(between.join([f"{marker} {indented[0]}", *(blank + b for b in indented[1:])]))
        spread = spread or not (len(inner) < 2 or is_nested_list(inner))
    return ("\n\n" if spread else "\n").join(made)


# --- floats and tables ----------------------------------------------------------------------------


def _float(kind: str) -> Environment:
    def begin_float(walk: Walk, name: str) -> None:
        walk.skip(_FLOAT_SPECS.get(name.rstrip("*"), "o"))
        walk.open(Scope(name, kind, lambda blocks: _put_float(walk, blocks)))

    return begin_float


def _put_float(walk: Walk, blocks: list[str]) -> None:
    """The caption first, wherever it was set."""
    captions = [block for block in blocks if block.startswith("**")]
    walk.add_all(captions + [block for block in blocks if not block.startswith("**")])


def _framed(spec: str) -> Environment:
    """Text that is set in another place or width."""

    def begin_framed(walk: Walk, name: str) -> None:
        walk.skip(spec)
        walk.open(Scope(name))

    return begin_framed


def _deluxetable(walk: Walk, name: str) -> None:
    walk.skip("omo")
    walk.open(Scope(name, "table", lambda blocks: _put_float(walk, blocks)))


def _tabular(spec: str) -> Environment:
    def begin_tabular(walk: Walk, name: str) -> None:
        walk.skip("m" + spec if name.endswith("*") else spec)
        nested = any(scope.kind == "tabular" for scope in walk.scopes)
        outer, walk.words = walk.words, []

        def put(blocks: list[str]) -> None:
            source = " ".join(blocks)
            walk.words = outer
            table = "" if nested else pipe_table(source)
            if nested:
                walk.write(flat(source))
            elif len(table) <= len(source) or walk.stream.spend(len(table) - len(source)):
                walk.add(table)
            else:
                walk.add(flat(source))

        if not walk.open(Scope(name, "tabular", put)):
            walk.words = outer

    return begin_tabular


# --- theorems, quotations, sections by environment ------------------------------------------------


def theorem(walk: Walk, name: str) -> None:
    """A numbered statement, its head in bold before its text."""
    counter, title = walk.theorems.get(name) or walk.theorems[name.rstrip("*")]
    label = walk.stream.take_option()
    walk.open(Scope(name, "theorem", walk.add_all))
    number = "" if name.endswith("*") or not counter else walk.numbers.step(counter, title)
    head = f"{title} {number}".strip()
    note = f" ({text})" if label and (text := walk.line(label).strip()) else ""
    walk.lead = f"**{head}{note}.** "


def _proof(walk: Walk, name: str) -> None:
    label = walk.stream.take_option()
    walk.open(Scope(name, "proof", walk.add_all))
    title = walk.line(label).strip(" .*") if label else ""
    walk.lead = f"*{title or 'Proof'}.* "


def _quote(walk: Walk, name: str) -> None:
    deep = sum(scope.kind == "quote" for scope in walk.scopes) >= _DEEPEST_INDENT
    put = walk.add_all if deep else lambda blocks: walk.add(block_quote(blocks))
    walk.open(Scope(name, "quote", put))


def _abstract(walk: Walk, name: str) -> None:
    end_front(walk)
    walk.stream.take_option()
    walk.in_abstract = True

    def put(blocks: list[str]) -> None:
        walk.in_abstract = False
        walk.front.abstract = walk.front.abstract or blocks

    walk.open(Scope(name, "abstract", put))


def _keywords(walk: Walk, name: str) -> None:
    def put(blocks: list[str]) -> None:
        walk.front.keywords = walk.front.keywords or " ".join(blocks)

    walk.open(Scope(name, "keywords", put))


def _headed(title: str) -> Environment:
    def begin_headed(walk: Walk, name: str) -> None:
        walk.add(f"## {title}")
        walk.open(Scope(name, "section"))

    return begin_headed


def _bibliography(walk: Walk, name: str) -> None:
    walk.stream.take_argument()

    def put(blocks: list[str]) -> None:
        for key, inner in items_of(blocks):
            if key and inner:
                walk.bibliography.add(key, " ".join(inner))

    walk.open(Scope(name, "bibliography", put))


# --- formulas, code -------------------------------------------------------------------


def _formula(counts: formulas.Counts, arguments: int) -> Environment:
    def begin_formula(walk: Walk, name: str) -> None:
        walk.skip("m" * arguments)
        formulas.write_display(walk, name, "never" if name.endswith("*") else counts)

    return begin_formula


def _subequations(walk: Walk, name: str) -> None:
    def put(blocks: list[str]) -> None:
        walk.numbers.end_parts()
        walk.add_all(blocks)

    walk.open(Scope(name, "", put))
    walk.numbers.begin_parts()


def _verbatim(spec: str) -> Environment:
    def begin_verbatim(walk: Walk, name: str) -> None:
        if walk.stream.follows("[" if spec == "o" else ""):
            walk.skip(spec)
        text = walk.stream.take_raw(f"\\end{{{name}}}").strip("\n").rstrip()
        walk.add(fenced(text) if text else "")

    return begin_verbatim


def _unseen(walk: Walk, name: str) -> None:
    walk.stream.take_raw(f"\\end{{{name}}}")


def items_of(blocks: list[str]) -> list[tuple[str, list[str]]]:
    """Each item's label and blocks; what stands before the first is an item of its own."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks:
        if block.startswith(ITEM):
            found.append((block[1:], []))
        elif not found:
            found.append(("", [block]))
        else:
            found[-1][1].append(block)
    return found


def algorithmic(walk: Walk, name: str) -> None:
    """Begin one."""
    walk.stream.take_option()
    walk.open(Scope(name, "algorithmic", lambda blocks: walk.add(_steps(blocks))))


def _steps(blocks: list[str]) -> str:
    """An algorithm's lines as a list, indented as its loops are."""
    made: list[str] = []
    depth = 0
    for label, inner in items_of(blocks):
        change, _, word = label.rpartition("\x1f")
        depth = max(0, depth - ("-" in change))
        text = " ".join(part for part in (word, *inner) if part)
        if text:
            made.append(f"{'  ' * min(depth, _DEEPEST_INDENT)}- {text}")
        depth += "+" in change
    return "\n".join(made)


ENVIRONMENTS: Final[dict[str, Environment]] = {
    **{name: _formula(*how) for name, how in formulas.ENVIRONMENTS.items()},
    **{name: _verbatim(spec) for name, spec in _VERBATIM.items()},
    **{name: _tabular(spec) for name, spec in _TABULAR.items()},
    **{name: _float(kind) for name, kind in FLOATS.items()},
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_UNSEEN, _unseen),
    **dict.fromkeys(_QUOTES, _quote),
    **dict.fromkeys(("abstract", "onecolabstract", "abstracts"), _abstract),
    **dict.fromkeys(("keyword", "keywords", "IEEEkeywords"), _keywords),
    **dict.fromkeys(_ACKNOWLEDGMENTS, _headed("Acknowledgments")),
    **dict.fromkeys(("algorithmic", "algorithmicx"), algorithmic),
    **{name: _framed(spec) for name, spec in _FRAMED.items()},
    **dict.fromkeys(("deluxetable", "longdeluxetable", "splitdeluxetable"), _deluxetable),
    "startdata": _tabular(""),
    "thebibliography": _bibliography,
    "references": _bibliography,
    "subequations": _subequations,
    "math": formulas.write_inline,
    "proof": _proof,
}


def _step(change: str, word: str, after: str | None = None) -> Command:
    """The command of a step; with *after*, not none, it has an argument."""

    def add_step(walk: Walk) -> None:
        if not any(scope.kind == "algorithmic" for scope in walk.scopes):
            if after is None:
                walk.skip("o")
            return
        walk.end_paragraph()
        argument = "" if after is None else walk.take_line()
        text = " ".join(part for part in (word, argument, after) if part)
        walk.blocks.append(f"{ITEM}{change}\x1f{f'**{word}**' + text[len(word) :] if word else ''}")

    return add_step


def _comment(walk: Walk) -> None:
    comment = walk.take_line()
    walk.write(f" (▷ {comment})" if comment else "")


_COMMANDS: Final[dict[str, Command]] = {
    **{name: _step(*step) for name, step in (_STEPS | _LOOPS).items()},
    "Comment": _comment,
}
STEPS: Final = _COMMANDS | {name.upper(): command for name, command in _COMMANDS.items()}
