"""List places in names, docstrings, comments and messages that break the house style.

``python -m quality.prose`` prints ``file:line name: reason`` for each place, and
``python -m quality.prose utils/mcp`` only those of one folder. `tests/test_prose.py` compares the
number of places in each package with `CEILINGS`, which may only go down.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REJECTED = re.compile(
    r"\b(?:anew|whoever|nobody|somebody|at the most|(?<!there )(?:is|are) (?:no|none)\b(?!-)"
    r"|stands (?:in|there|as|twice|once)|told|heed|fate|doom|wish|owes?|forgive)\b",
    re.IGNORECASE,
)
OPENING = re.compile(
    r"(?:What|Who|Whose|Whom|Whether|Where|How|Those|That|Of|As|It|All of it|The same)\b"
)
PARTICIPLES = re.compile(
    "asked|counted|done|entered|fixed|found|given|held|kept|known|listed|made|named|owed|placed"
    "|read_of|said|seen|shown|taken|told|written|own|plain|each|one"
)
CEILINGS = {
    "citations": 1, "cli": 6, "corpus": 11, "curation": 6, "demo": 4, "entrez": 2, "harvest": 1,
    "http": 4, "library": 1, "lists": 4, "logs.py": 1, "manuscript": 3, "mcp": 8, "mirror": 8,
    "plugins.py": 1, "readers": 2, "reports": 1, "review": 1, "search": 7, "settings.py": 1,
    "shelf": 9, "sources": 30, "system": 2,
}  # fmt: skip
"""The greatest number of places in each package; 0 where none is named. They only go down."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Place(NamedTuple):
    """A position in a file, and the rule that it breaks."""

    file: str
    line: int
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name}: {self.reason}"


def find_places(source: str, file: str) -> list[Place]:
    """Return the places in a Python source that break the rules, in the order of lines."""
    tree = ast.parse(source)
    found = [*_check_definitions(tree), *_check_messages(tree), *_check_comments(source)]
    return [Place(file, *place) for place in sorted(set(found))]


def check_tree(folder: Path) -> list[Place]:
    """Return the places in all Python files below a folder, or in one file."""
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]
    return [
        place
        for file in files
        for place in find_places(
            file.read_text(encoding="utf-8"), file.resolve().relative_to(ROOT).as_posix()
        )
    ]


def count_by_package(places: list[Place]) -> Counter[str]:
    """Count places by the first folder or file below ``utils/``."""
    return Counter(place.file.split("/")[1] for place in places)


def _check_definitions(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, Definition):
            continue
        docstring = ast.get_docstring(node) or ""
        summary = docstring.split("\n\n")[0]
        for reason in _check_summary(summary):
            yield node.lineno, node.name, reason
        if isinstance(node, ast.ClassDef) or node.name.startswith("__"):
            continue
        name = node.name.strip("_")
        if PARTICIPLES.fullmatch(name):
            yield node.lineno, node.name, "the name is not a verb"
        if "_" not in name and not docstring:
            yield node.lineno, node.name, "one word, and no docstring"


def _check_summary(summary: str) -> Iterator[str]:
    if not summary:
        return
    if match := OPENING.match(summary):
        yield f"the docstring starts with {match[0]!r}"
    if match := REJECTED.search(summary):
        yield f"the docstring has {match[0]!r}"
    if "\n" in summary:
        yield "the summary of the docstring has more than one line"
    elif not summary.endswith((".", ":", "!")):
        yield "the summary of the docstring does not end with a full stop"


def _check_messages(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | Definition)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in documented or not _is_sentence(node.value):
            continue
        if match := REJECTED.search(node.value):
            yield node.lineno, "text", f"a message has {match[0]!r}"


def _is_sentence(text: str) -> bool:
    """Return whether a text is prose: it has words, and is not a pattern."""
    return len(text.split()) > 2 and not re.search(r"\\[bswd]|\(\?|SELECT |<[a-z]+", text)


def _check_comments(source: str) -> Iterator[tuple[int, str, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := REJECTED.search(token.string)):
            yield token.start[0], "comment", f"a comment has {match[0]!r}"


def main(folders: list[str]) -> int:
    """Print the places in each folder, and return 1 if there are any."""
    places = [place for folder in folders or ["utils"] for place in check_tree(ROOT / folder)]
    sys.stdout.writelines(f"{place}\n" for place in places)
    packages = ", ".join(f"{name} {count}" for name, count in count_by_package(places).items())
    sys.stdout.write(f"{len(places)} places. {packages}\n")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
