"""List every text that users read: errors, hints, warnings, help and tool descriptions.

``python -m quality.messages`` prints tab-separated rows (kind, file, line, text), so that all
messages can be read as one text. Placeholders of f-strings are shown as ``{…}``. A folder can be
named: ``python -m quality.messages utils/mcp``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from utils import errors

ROOT = Path(__file__).resolve().parents[1]
ERRORS = frozenset(
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.PaperError)
)
VARIABLES = frozenset({"msg", "message", "hint", "hints", "default_hint", "description", "notice"})
KEYWORDS = frozenset({"help", "description", "epilog", "message", "hint"})
LOGGED = frozenset({"warning", "error", "info", "exception"})
LISTS = frozenset({"warnings", "notes", "reasons", "steps", "evidence"})


class Message(NamedTuple):
    """A text with its kind and place."""

    kind: str
    file: str
    line: int
    text: str


def find_messages(source: str, file: str) -> list[Message]:
    """Return the messages of a Python source, in the order of lines."""
    found: dict[tuple[int, str], Message] = {}
    for node in ast.walk(ast.parse(source)):
        for kind, value in _texts_of(node):
            text = " ".join(_template(value).split())
            if " " in text:
                found.setdefault((value.lineno, text), Message(kind, file, value.lineno, text))
    return sorted(found.values(), key=lambda message: message.line)


def _texts_of(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the kind and the expression of each text that a node shows to users."""
    if isinstance(node, ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & VARIABLES:
            yield from (("message", part) for part in _parts(node.value))
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ERRORS:
            yield from ((name, part) for one in node.args for part in _parts(one))
        elif name in LOGGED and isinstance(node.func, ast.Attribute):
            yield from (("log", part) for one in node.args[:1] for part in _parts(one))
        elif name in {"append", "extend"} and getattr(node.func, "value", None) is not None:
            holder = ast.unparse(node.func.value)  # type: ignore[attr-defined]
            if holder.split(".")[-1] in LISTS:
                yield from (("note", part) for one in node.args for part in _parts(one))
        for keyword in node.keywords:
            if keyword.arg in KEYWORDS:
                yield from ((keyword.arg, part) for part in _parts(keyword.value))


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the texts in an expression: either branch of a condition, each item of a list."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        yield node
    elif isinstance(node, ast.IfExp):
        yield from (*_parts(node.body), *_parts(node.orelse))
    elif isinstance(node, ast.Tuple | ast.List):
        for item in node.elts:
            yield from _parts(item)


def _template(node: ast.expr) -> str:
    """Return a text with its placeholders as ``{…}``."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values
        )
    return ""


def check_tree(folder: Path) -> Iterator[Message]:
    """Yield the messages of all Python files below a folder."""
    for file in sorted(folder.rglob("*.py")):
        name = file.resolve().relative_to(ROOT).as_posix()
        yield from find_messages(file.read_text(encoding="utf-8"), name)


def main(folders: list[str]) -> int:
    """Print the messages of each folder."""
    for folder in folders or ["utils"]:
        for message in check_tree(ROOT / folder):
            sys.stdout.write("\t".join(map(str, message)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
