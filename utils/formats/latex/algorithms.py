r"""Algorithms (``algorithmic``, ``algpseudocode``): a list, indented as their loops are."""

from __future__ import annotations

from typing import Final

from .items import items_of
from .signs import ITEM
from .walk import Command, Scope, Walk

_STEPS: Final = {
    "State": ("", ""),
    "STATE": ("", ""),
    "Statex": ("", ""),
    "Require": ("", "Require:"),
    "Ensure": ("", "Ensure:"),
    "Input": ("", "Input:"),
    "Output": ("", "Output:"),
    "Else": ("-+", "else"),
    "Repeat": ("+", "repeat"),
    "Loop": ("+", "loop"),
    "EndFor": ("-", ""),
    "EndWhile": ("-", ""),
    "EndIf": ("-", ""),
    "EndLoop": ("-", ""),
    "EndFunction": ("-", ""),
    "EndProcedure": ("-", ""),
}
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


_DEEPEST_INDENT: Final = 6


def algorithmic(walk: Walk, name: str) -> None:
    """Begin one."""
    walk.gullet.option()
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


def _step(change: str, word: str, loops: bool = False, after: str = "") -> Command:
    def step(walk: Walk) -> None:
        if not any(scope.kind == "algorithmic" for scope in walk.scopes):
            if not loops:
                walk.skip("o", known=False)
            return
        walk.end_paragraph()
        said = walk.line(walk.gullet.argument(long=True)) if loops else ""
        text = " ".join(part for part in (word, said, after) if part)
        walk.blocks.append(f"{ITEM}{change}\x1f{f'**{word}**' + text[len(word) :] if word else ''}")

    return step


def _comment(walk: Walk) -> None:
    said = walk.line(walk.gullet.argument(long=True))
    walk.write(f" (▷ {said})" if said else "")


STEPS: Final[dict[str, Command]] = {
    **{name: _step(*how) for name, how in _STEPS.items()},
    **{name: _step(change, word, True, after) for name, (change, word, after) in _LOOPS.items()},
    **{name.upper(): _step(*how) for name, how in _STEPS.items() if name != "State"},
    **{
        name.upper(): _step(change, word, True, after)
        for name, (change, word, after) in _LOOPS.items()
    },
    "Comment": _comment,
    "COMMENT": _comment,
}
