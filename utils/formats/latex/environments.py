r"""Environments: lists, floats, tables, theorems, formulas, quotations, code, algorithms."""

from __future__ import annotations

from typing import Final

from ..jats.text import fenced
from . import formulas
from .algorithms import algorithmic
from .front import end_front
from .items import items_of
from .signs import ITEM
from .tables import flat, pipe_table
from .tokens import joined
from .walk import Environment, Scope, Walk

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
_FLOATS: Final = {
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
_HEADED: Final = {
    **dict.fromkeys(
        ("acknowledgments", "acknowledgements", "acknowledgment", "acknowledgement", "acks", "ack"),
        "Acknowledgments",
    ),
}
_DEEPEST_INDENT: Final = 6


def begin(walk: Walk) -> None:
    r"""``\begin{name}``."""
    name = joined(walk.gullet.argument()).strip()
    if name == "document":
        walk.begin_document()
        return
    plain = name.rstrip("*")
    if (environment := walk.environments.get(name) or walk.environments.get(plain)) is not None:
        environment(walk, name)
    elif (own := walk.gullet.environments.get(name)) is not None:
        opening = walk.gullet.substituted(own[0])
        if walk.gullet.spend(sum(map(len, opening)) + 1):
            walk.gullet.put_back(opening)
    elif name in walk.theorems or plain in walk.theorems:
        theorem(walk, name)
    else:
        walk.gullet.option()
        walk.open(Scope(name))


def end(walk: Walk) -> None:
    r"""``\end{name}``."""
    name = joined(walk.gullet.argument()).strip()
    if name == "document":
        walk.end_document()
    elif (own := walk.gullet.environments.get(name)) is not None and (
        name not in walk.environments
    ):
        if walk.gullet.spend(sum(map(len, own[1])) + 1):
            walk.gullet.put_back(own[1])
    else:
        walk.close_environment(name)


# --- lists ----------------------------------------------------------------------------------------


def _list(walk: Walk, name: str) -> None:
    walk.skip("o" if name != "list" else "mm", known=False)
    numbered = name in _NUMBERED_LISTS
    if numbered:
        outer = sum(scope.kind == "numbered list" for scope in walk.scopes)
        walk.numbers.set(f"enum{'i' * min(outer + 1, 4)}", 0)
    kind = "numbered list" if numbered else "list"
    walk.open(Scope(name, kind, lambda blocks: walk.add(listed(blocks, numbered))))


def item(walk: Walk) -> None:
    r"""``\item``."""
    label = walk.gullet.option()
    walk.end_paragraph()
    if walk.inside("numbered list") and label is None:
        depth = sum(scope.kind == "numbered list" for scope in walk.scopes)
        walk.numbers.step(f"enum{'i' * min(depth, 4)}", "item")
    said = walk.line(label) if label is not None else ""
    walk.blocks.append(f"{ITEM}{said}")


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
        between = "\n" if _is_nested_list(inner) else "\n\n"
        made.append(between.join([f"{marker} {indented[0]}", *(blank + b for b in indented[1:])]))
        spread = spread or not (len(inner) < 2 or _is_nested_list(inner))
    return ("\n\n" if spread else "\n").join(made)


def _is_nested_list(blocks: list[str]) -> bool:
    return len(blocks) == 2 and blocks[1].startswith(("- ", "1. "))


# --- floats and tables ----------------------------------------------------------------------------


def _float(kind: str) -> Environment:
    def begin_float(walk: Walk, name: str) -> None:
        walk.skip(_FLOAT_SPECS.get(name.rstrip("*"), "o"), known=False)
        walk.open(Scope(name, kind, lambda blocks: _put_float(walk, blocks)))

    return begin_float


def _put_float(walk: Walk, blocks: list[str]) -> None:
    """The caption first, wherever it was set."""
    captions = [block for block in blocks if block.startswith("**")]
    rest = [block for block in blocks if not block.startswith("**")]
    for block in captions + rest:
        walk.add(block)


def _framed(spec: str) -> Environment:
    """Text that is set in another place or width."""

    def begin_framed(walk: Walk, name: str) -> None:
        walk.skip(spec, known=False)
        walk.open(Scope(name))

    return begin_framed


def _deluxetable(walk: Walk, name: str) -> None:
    walk.skip("omo", known=False)
    walk.open(Scope(name, "table", lambda blocks: _put_float(walk, blocks)))


def _tabular(spec: str) -> Environment:
    def begin_tabular(walk: Walk, name: str) -> None:
        walk.skip("m" + spec if name.endswith("*") else spec, known=False)
        nested = any(scope.kind == "tabular" for scope in walk.scopes)
        outer, walk.words = walk.words, []

        def put(blocks: list[str]) -> None:
            source = " ".join(blocks)
            walk.words = outer
            table = "" if nested else pipe_table(source)
            if nested:
                walk.write(flat(source))
            elif len(table) <= len(source) or walk.gullet.spend(len(table) - len(source)):
                walk.add(table)
            else:
                walk.add(flat(source))

        if not walk.open(Scope(name, "tabular", put)):
            walk.words = outer

    return begin_tabular


# --- theorems, quotations, sections by environment ------------------------------------------------


def theorem(walk: Walk, name: str) -> None:
    """A numbered statement, its head in bold before its text."""
    counter, said = walk.theorems.get(name) or walk.theorems[name.rstrip("*")]
    label = walk.gullet.option()
    walk.open(Scope(name, "theorem", lambda blocks: _put_all(walk, blocks)))
    number = "" if name.endswith("*") or not counter else walk.numbers.step(counter, said)
    head = f"{said} {number}".strip()
    note = f" ({text})" if label and (text := walk.line(label).strip()) else ""
    walk.lead = f"**{head}{note}.** "


def _proof(walk: Walk, name: str) -> None:
    label = walk.gullet.option()
    walk.open(Scope(name, "proof", lambda blocks: _put_all(walk, blocks)))
    said = walk.line(label).strip(" .*") if label else ""
    walk.lead = f"*{said or 'Proof'}.* "


def _put_all(walk: Walk, blocks: list[str]) -> None:
    for block in blocks:
        walk.add(block)


def _quote(walk: Walk, name: str) -> None:
    deep = sum(scope.kind == "quote" for scope in walk.scopes) >= _DEEPEST_INDENT

    def put(blocks: list[str]) -> None:
        if deep:
            _put_all(walk, blocks)
        else:
            text = "\n\n".join(blocks)
            walk.add("\n".join(f"> {line}".rstrip() for line in text.split("\n")) if text else "")

    walk.open(Scope(name, "quote", put))


def _abstract(walk: Walk, name: str) -> None:
    end_front(walk)
    walk.gullet.option()
    walk.in_abstract = True

    def put(blocks: list[str]) -> None:
        walk.in_abstract = False
        walk.front.abstract = walk.front.abstract or blocks

    walk.open(Scope(name, "abstract", put))


def _keywords(walk: Walk, name: str) -> None:
    def put(blocks: list[str]) -> None:
        walk.front.keywords = walk.front.keywords or " ".join(blocks)

    walk.open(Scope(name, "keywords", put))


def _headed(said: str) -> Environment:
    def begin_headed(walk: Walk, name: str) -> None:
        walk.add(f"## {said}")
        walk.open(Scope(name, "section"))

    return begin_headed


def _bibliography(walk: Walk, name: str) -> None:
    walk.gullet.argument()

    def put(blocks: list[str]) -> None:
        items = items_of(blocks)
        for key, inner in items:
            if key and inner:
                walk.bibliography.add(key, " ".join(inner))

    walk.open(Scope(name, "bibliography", put))


# --- formulas, code -------------------------------------------------------------------


def _formula(counts: formulas.Counts, arguments: int) -> Environment:
    def begin_formula(walk: Walk, name: str) -> None:
        walk.skip("m" * arguments, known=False)
        formulas.display(walk, name, "never" if name.endswith("*") else counts)

    return begin_formula


def _subequations(walk: Walk, name: str) -> None:
    walk.open(Scope(name, "", lambda blocks: _put_parts(walk, blocks)))
    walk.numbers.begin_parts()


def _put_parts(walk: Walk, blocks: list[str]) -> None:
    walk.numbers.end_parts()
    _put_all(walk, blocks)


def _math(walk: Walk, name: str) -> None:
    formulas.inline(walk, name)


def _verbatim(spec: str) -> Environment:
    def begin_verbatim(walk: Walk, name: str) -> None:
        if walk.gullet.follows("[" if spec == "o" else ""):
            walk.skip(spec, known=False)
        text = walk.gullet.raw(f"\\end{{{name}}}").strip("\n").rstrip()
        walk.add(fenced(text) if text else "")

    return begin_verbatim


def _unseen(walk: Walk, name: str) -> None:
    walk.gullet.raw(f"\\end{{{name}}}")


ENVIRONMENTS: Final[dict[str, Environment]] = {
    **{name: _formula(*how) for name, how in formulas.ENVIRONMENTS.items()},
    **{name: _verbatim(spec) for name, spec in _VERBATIM.items()},
    **{name: _tabular(spec) for name, spec in _TABULAR.items()},
    **{name: _float(kind) for name, kind in _FLOATS.items()},
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(_UNSEEN, _unseen),
    **dict.fromkeys(_QUOTES, _quote),
    **dict.fromkeys(("abstract", "onecolabstract", "abstracts"), _abstract),
    **dict.fromkeys(("keyword", "keywords", "IEEEkeywords"), _keywords),
    **{name: _headed(said) for name, said in _HEADED.items()},
    **dict.fromkeys(("algorithmic", "algorithmicx"), algorithmic),
    **{name: _framed(spec) for name, spec in _FRAMED.items()},
    **dict.fromkeys(("deluxetable", "longdeluxetable", "splitdeluxetable"), _deluxetable),
    "startdata": _tabular(""),
    "thebibliography": _bibliography,
    "references": _bibliography,
    "subequations": _subequations,
    "math": _math,
    "proof": _proof,
}
