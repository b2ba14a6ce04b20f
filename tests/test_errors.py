"""Every error says what to do next, also where nobody wrote it down."""

import ast
import functools
import inspect
import re
from pathlib import Path

import pytest

from utils import Library, errors
from utils.command_line import PROGRAM, command_line
from utils.harvest.jobs import Harvest
from utils.python_calls import CALL_BY_COMMAND, to_python_calls
from utils.review import Review

ROOT = Path(__file__).resolve().parents[1]


def kinds(kind=errors.PaperError):
    yield kind
    for narrower in kind.__subclasses__():
        yield from kinds(narrower)


@pytest.mark.parametrize("kind", list(kinds()))
def test_the_envelope_always_suggests_something(kind):
    [usual] = kind("It failed.").envelope()["error"]["suggestions"]
    assert usual.strip()
    assert kind("It failed.", "Do this.").envelope()["error"]["suggestions"] == ["Do this."]


def test_in_python_an_error_names_methods_of_the_library(tmp_path):
    hint = f"To list all: {command_line('harvest status')}"
    error = errors.UnknownName("No harvest of this shelf is named J1.", hint)
    assert str(error).endswith("To list all: library.harvests.all()")
    assert error.text.endswith(hint)


_WITHOUT_METHOD = {
    "setup settings": "settings are read as `library.settings`",
    "setup doctor --hosts": "the settings of a host are changed in a shell",
    "harvest status --papers-dir": "it is run with another PAPERS_SHARED",
    "harvest --lock": "a page of a report quotes it; a Lock is read from a file first",
    "harvest LIST --pdf": "a page of a report quotes it",
    "list --json": "a line of the log",
}


def _spell(node):
    """The text of an expression, with X1 for each value."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_spell, node.values))
    value = node.value if isinstance(node, ast.FormattedValue) else node
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "command_line":
        return command_line(_spell(value.args[0]))
    if isinstance(value, ast.IfExp):
        return _spell(value.body)
    return "pubmed" if ast.unparse(value).endswith("source") else "pmid:1"


def _texts_with_commands():
    """Every text outside of the shell that names a command, by its place."""
    for file in sorted((ROOT / "utils").rglob("*.py")):
        if file.parent.name == "cli":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr | ast.Call) and PROGRAM in (text := _spell(node)):
                yield f"{file.relative_to(ROOT)}:{node.lineno}", text


def _calls_in(text):
    """The calls of a library in a text."""
    for start in re.finditer(r"library\.", text):
        rest = text[start.start() :]
        ends = (end.end() for end in re.finditer(r"\)", rest))
        yield next(tree for end in ends if (tree := _parse(rest[:end])))


def _parse(code):
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def _check_call(call, library):
    """Bind a call to its method, and return what the method returns, for `open` and `harvest`."""
    owner = call.func.value
    names = ast.unparse(owner).split(".")[1:] if isinstance(owner, ast.Attribute) else []
    if isinstance(owner, ast.Call):
        holder = _check_call(owner, library)
    else:
        holder = functools.reduce(getattr, names, library)
    method = getattr(holder, call.func.attr)
    values = [one.id if isinstance(one, ast.Name) else one for one in call.args]
    keywords = {one.arg: one.value for one in call.keywords}
    bound = not isinstance(holder, type)
    inspect.signature(method).bind(*values if bound else (None, *values), **keywords)
    return {"open": Review, "harvest": Harvest}.get(call.func.attr)


@pytest.mark.parametrize(("place", "text"), list(_texts_with_commands()))
def test_every_command_of_a_hint_is_a_call_of_a_method_in_python(place, text, tmp_path):
    told = str(errors.PaperError("It failed.", text))
    if any(f"{PROGRAM} {name}" in told for name in _WITHOUT_METHOD):
        return
    assert PROGRAM not in told
    calls = list(_calls_in(told))
    assert calls
    for call in calls:
        _check_call(call, Library(papers_dir=tmp_path))


@pytest.mark.parametrize("command", CALL_BY_COMMAND)
def test_every_call_of_the_table_is_a_method(command, tmp_path):
    [call] = _calls_in(to_python_calls(command_line(command)))
    _check_call(call, Library(papers_dir=tmp_path))


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("download pmid:1", 'library.download("pmid:1")'),
        ("shelf audit 'pmid:1'", 'library.upkeep.audit(["pmid:1"])'),
        ("shelf keep 'pmid:1' --undo", 'library.upkeep.undo_keep("pmid:1")'),
        ("shelf keep P --as rejected --because X", 'library.upkeep.keep("P", "rejected", "X")'),
        ("review update moss", 'library.reviews.open("moss").update()'),
        ("review export moss --for rayyan", 'library.reviews.open("moss").export("rayyan")'),
        ("shelf pdf --job J1", 'library.texts.fetch_pdfs(job_id="J1")'),
        ("zotero pull --database PATH", 'library.zotero.pull(database="PATH")'),
        ("mirror pmc --retry", "library.mirror.update_pmc(retry=True)"),
        ("harvest --job J1", 'library.harvest(job_id="J1")'),
        ("harvest report J1", 'library.harvest(job_id="J1").report()'),
    ],
)
def test_arguments_of_a_command_become_arguments_of_the_method(words, call):
    assert to_python_calls(f"Try {command_line(words)}.") == f"Try {call}."


def test_a_command_with_an_option_that_no_method_has_stays_a_command():
    command = command_line("harvest status --papers-dir /x")
    assert to_python_calls(command) == command


def test_options_without_a_command_are_keyword_arguments_in_python():
    told = to_python_calls("Give --engine dask, --output PATH or --force. Leave --source out.")
    assert told == 'Give engine="dask", output="PATH" or force=True. Leave sources=… out.'


def test_doors_and_stored_details_take_the_text_of_an_error_not_its_python_form():
    kinds_of_errors = {kind.__name__ for kind in kinds()}
    wrong = []
    for file in sorted((ROOT / "utils").rglob("*.py")):
        for handler in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
                continue
            caught = {one.id for one in ast.walk(handler.type) if isinstance(one, ast.Name)}
            if caught and caught <= kinds_of_errors:
                wrong += [
                    f"{file.relative_to(ROOT)}:{node.lineno}"  # type: ignore[attr-defined]
                    for node in ast.walk(handler)
                    if _shows(node, handler.name)
                ]
    assert not wrong, "use error.text"


def _shows(node, name):
    """Whether a node makes a text of the caught error by `str` or in an f-string."""
    made = node.value if isinstance(node, ast.FormattedValue) else None
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and node.args:
        made = node.args[0]
    return isinstance(made, ast.Name) and made.id == name
