"""What keeps the code readable for a newcomer: references lead somewhere, modules stand alone."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RELATIVE = re.compile(r"(?<!`)`(\.+)([a-zA-Z_][\w.]*)`(?!`)")


def modules() -> dict[str, Path]:
    """Our modules by their dotted names."""
    files = (path.relative_to(ROOT) for path in sorted((ROOT / "utils").rglob("*.py")))
    return {
        ".".join(file.with_suffix("").parts).removesuffix(".__init__"): ROOT / file
        for file in files
    }


def names_in(path: Path) -> set[str]:
    """Whatever a module defines, imports or assigns, members of its classes included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


def broken_references(ours: dict[str, Path]) -> Iterator[str]:
    """Relative references such as `..http.session` that name no module, or nothing in it."""
    for name, path in ours.items():
        here = name.split(".")[: None if path.name == "__init__.py" else -1]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for dots, rest in RELATIVE.findall(line):
                full = [*here[: len(here) - len(dots) + 1], *rest.split(".")]
                lengths = range(len(full), 0, -1)
                known = next((n for n in lengths if ".".join(full[:n]) in ours), 0)
                if known < 2 or (
                    known < len(full) and full[known] not in names_in(ours[".".join(full[:known])])
                ):
                    yield f"{name}, line {number}: `{dots}{rest}`"


def test_every_reference_to_a_module_leads_somewhere() -> None:
    assert not list(broken_references(modules()))


def test_a_broken_reference_is_found(tmp_path: Path) -> None:
    page = tmp_path / "utils" / "page.py"
    page.parent.mkdir()
    page.write_text('"""See `.there` and `.there.gone`, and `.nowhere`."""\n', encoding="utf-8")
    there = tmp_path / "utils" / "there.py"
    there.write_text("here = 1\n", encoding="utf-8")
    found = broken_references({"utils.page": page, "utils.there": there})
    assert [one.rpartition(": ")[2] for one in found] == ["`.there.gone`", "`.nowhere`"]


def test_no_hint_removes_the_extras_that_are_installed() -> None:
    """`uv sync --extra X` alone uninstalls every other extra."""
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *modules().values()]
    bare = re.compile(r"uv sync (?!--inexact)[^`'\"\n]*--extra")
    assert not [path for path in pages if bare.search(path.read_text(encoding="utf-8"))]


_IMPORT_EACH_FIRST = """
import importlib, sys
for name in sys.argv[1:]:
    for module in [one for one in sys.modules if one.partition(".")[0] == "utils"]:
        del sys.modules[module]
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:  # of an extra that is not installed
        pass
    except ImportError as error:
        print(name, error)
"""


@pytest.mark.slow
def test_every_reader_and_every_module_of_http_can_be_the_first_to_be_imported() -> None:
    names = [name for name in modules() if name.startswith(("utils.readers", "utils.http"))]
    command = [sys.executable, "-c", _IMPORT_EACH_FIRST, *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""
