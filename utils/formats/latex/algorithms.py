r"""Algorithms (``algorithmic``, ``algpseudocode``): a list, indented as their loops are."""

from __future__ import annotations

from typing import Final

from .items import items_of
from .signs import ITEM
from .walk import Command, Scope, Walk

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
_DEEPEST_INDENT: Final = 6


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
