"""Every hint can be followed: its commands, options, tools, arguments and settings exist.

All texts of the product's code are gone through (its syntax trees), and what they name is held
against the real argument parsers, the real schemas of the tools and the fields of the settings.
"""

import ast
import asyncio
import itertools
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from fastmcp import Client

from tests.mcp.calling import call
from utils import Library, cli, errors
from utils.cli.command_list import list_top_level_names, split_command_name
from utils.cli.commands import CommandParser, build_parser
from utils.errors import NotFound, PaperError
from utils.http import Answer
from utils.mcp import build
from utils.mcp.tool import list_enabled_tools
from utils.model.identifiers import Ids
from utils.model.paper import Paper
from utils.model.sites import TEXT_SOURCES
from utils.settings import Settings
from utils.sources import elsevier, jina

ROOT = Path(__file__).resolve().parents[2]
ERRORS = {
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, PaperError)
}
PAGES = sorted((ROOT / "utils").rglob("*.html"))
# What stands for a value that is put in when the text is shown.
FILLED_IN = "X1"
# What is typed in a command's place.
OWN = {"help", "--transport", "--help", "--version"}
# Of pip, uv, hosts and the like.
FOREIGN_OPTIONS = {
    *("--extra", "--group", "--inexact", "--version", "--upgrade", "--pull"),
    *("--env", "--scope", "--directory", "--field", "--until-eof", "--me", "--noheader"),
}


class Text(NamedTuple):
    """A text of the code, and where it stands."""

    place: str
    text: str


def spelled(node: ast.AST) -> str | None:
    """A text as it will be shown, with what is put in replaced."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (
            spelled(one) if isinstance(one, ast.Constant) else FILLED_IN for one in node.values
        )
        return "".join(part or "" for part in parts)
    return None


@cache
def modules() -> dict[str, list[ast.AST]]:
    """Return the nodes of every module's syntax tree, by the module's path.

    Called by tests, not while tests are collected: that would take ten seconds of every worker.
    """
    paths = sorted((ROOT / "utils").rglob("*.py"))
    return {
        str(path.relative_to(ROOT)): [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        for path in paths
    }


def texts_in(path: str, nodes: list[ast.AST]) -> Iterator[Text]:
    """Every text of a module but its docstrings; the pieces of a longer one are not repeated."""
    left_out: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Expr):
            left_out.add(node.value)
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
    for node in nodes:
        if node not in left_out and (text := spelled(node)) is not None:
            yield Text(f"{path}:{node.lineno}", text)  # type: ignore[attr-defined]


def hints_in(path: str, nodes: list[ast.AST]) -> Iterator[Text]:
    """What a reader is told to do: the arguments of our errors behind the message, and advice."""
    for node in nodes:
        values: list[ast.AST] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ERRORS:
            values = [one for argument in node.args[1:] for one in ast.walk(argument)]
        if isinstance(node, ast.Assign) and any(
            re.search(r"hint|advice", getattr(target, "id", "")) for target in node.targets
        ):
            values = list(ast.walk(node.value))
        inner = {part for one in values if isinstance(one, ast.JoinedStr) for part in one.values}
        for value in values:
            if value not in inner and (text := spelled(value)):
                yield Text(f"{path}:{node.lineno}", text)  # type: ignore[attr-defined]


@cache
def texts() -> list[Text]:
    """Return the texts of all modules."""
    return [text for path, nodes in modules().items() for text in texts_in(path, nodes)]


@cache
def hints() -> list[Text]:
    """Return the hints of all modules."""
    return [text for path, nodes in modules().items() for text in hints_in(path, nodes)]


@cache
def parsers() -> dict[str, CommandParser]:
    """The parser of every command of the shell."""
    return {name: build_parser(name) for name in cli.COMMANDS}


@cache
def schemas() -> dict[str, dict]:
    """The input schema of every tool."""

    async def listed() -> dict[str, dict]:
        async with Client(build(Library(mcp_toolsets=("all",)))) as client:
            return {one.name: one.input_schema for one in await client.list_tools()}

    return asyncio.run(listed())


@cache
def commands() -> set[Text]:
    """Return the commands of the shell that the code and the pages name."""
    named = {
        Text(f"{path}:{node.lineno}", words)
        for path, nodes in modules().items()
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "command_line"
        for argument in node.args
        if (words := spelled(argument))
    }
    return named | {
        Text(path.name, words)
        for path in PAGES
        for words in re.findall(r"command_line\('([^']*)'\)", path.read_text(encoding="utf-8"))
    }


def fault_of_command(words: str) -> str:
    """Return why the shell would refuse this command, or nothing."""
    if not words or words.split(maxsplit=1)[0] in OWN:
        return ""
    try:
        name, rest = split_command_name(shlex.split(words.replace("mirror X1", "mirror pubmed")))
        if rest not in ([], ["--help"]) and name in parsers():  # else it only names the command
            parsers()[name].parse_args(rest)
    except (PaperError, SystemExit) as refused:
        return str(refused)
    return ""


def test_every_command_named_is_taken_by_its_parser():
    assert len(commands()) > 60
    named = (one for one in commands() if not one.place.startswith("utils/cli/command_list"))
    faults = {
        one: fault_of_command(one.text.replace(f"audit{FILLED_IN}", "audit")) for one in named
    }
    assert not {one: fault for one, fault in faults.items() if fault}


def test_a_command_that_does_not_exist_has_a_fault():
    assert not fault_of_command("shelf audit --fix")
    assert "no option --fxi" in fault_of_command("shelf audit --fxi")
    assert "no command adit" in fault_of_command("adit")


SPELLED_OUT = re.compile(
    rf"server\.py\s+(?!\.)[\w-]|\bpapershelf (?:{'|'.join(list_top_level_names())})\b"
)


def test_one_function_spells_the_command():
    """Elsewhere a text that names the program is a hint that somebody cannot follow."""
    own = "utils/command_line.py"
    named = {text for text in texts() if SPELLED_OUT.search(text.text)}
    assert not {text for text in named if not text.place.startswith((own, "utils/cli/completing"))}
    assert not [path.name for path in PAGES if SPELLED_OUT.search(path.read_text("utf-8"))]
    assert SPELLED_OUT.search("See server.py doctor")
    assert SPELLED_OUT.search("Run: papershelf shelf audit")


def options() -> set[str]:
    return {
        name
        for parser in parsers().values()
        for action in parser._actions
        for name in action.option_strings
    } | FOREIGN_OPTIONS


@pytest.mark.slow
def test_every_option_named_exists():
    named = {
        (text.place, option)
        for text in texts()
        if not text.place.startswith(("utils/readers", "utils/shelf/ledger", "utils/corpus/pgv"))
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text.text)
    }
    assert len({option for _, option in named}) > 20
    assert not {one for one in named if one[1] not in options()}


def variables() -> set[str]:
    """The names of all settings, as they are written in the environment."""
    return {
        str(name).upper()
        for field, about in Settings.model_fields.items()
        for name in getattr(about.validation_alias, "choices", [field])
    }


def test_every_setting_named_exists():
    prefixes = {name.partition("_")[0] for name in variables()}
    named = {
        (text.place, word)
        for text in (*texts(), *hints())
        for word in re.findall(r"(?<![\w${])[A-Z]{2,}(?:_[A-Z]+)+(?![\w(])", text.text)
        if word.partition("_")[0] in prefixes
    }
    assert len({word for _, word in named}) > 20
    others = {"NO_PAGER", "NO_COLOR", "ZOTERO_BIBL"}  # of the terminal; of Word files
    assert not {one for one in named if one[1] not in {*variables(), *others}}


def test_every_tool_and_argument_in_a_hint_exists():
    """A name in small letters with an underscore is a tool, an argument or what a tool answers."""
    tools = schemas()
    arguments = {name for schema in tools.values() for name in properties(schema)}
    chosen = {value for schema in tools.values() for value in choices(schema)}
    known = {*tools, *arguments, *chosen, *answered(), *Settings.model_fields, *TEXT_SOURCES}
    named = {
        (hint.place, word)
        for hint in hints()
        for word in re.findall(r"(?<![\w./{])[a-z]+(?:_[a-z0-9]+)+(?![\w.(*/])", hint.text)
    }
    assert len({word for _, word in named}) >= 10
    assert not {one for one in named if one[1] not in known}


def properties(schema: object) -> Iterator[str]:
    """The names of all members of a schema, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        yield from (name for value in schema.values() for name in properties(value))
    elif isinstance(schema, list):
        yield from (name for value in schema for name in properties(value))


def choices(schema: object) -> Iterator[str]:
    """The values that members of a schema are limited to, at any depth."""
    if isinstance(schema, dict):
        yield from (value for value in schema.get("enum", ()) if isinstance(value, str))
        yield from (value for part in schema.values() for value in choices(part))
    elif isinstance(schema, list):
        yield from (value for part in schema for value in choices(part))


@cache
def answered() -> set[str]:
    """The names that tools answer with."""
    tools = list_enabled_tools(Library(mcp_toolsets=("all",)))
    return {name for one in tools for name in properties(one.output_schema)} | {"next_offset"}


# -- hints that depend on what is there ------------------------------------------------------------


@pytest.mark.anyio
async def test_no_list_in_a_hint_is_empty(settings):
    """Nothing is there under any name: then that is said, not `There are: .`"""
    from fastmcp import FastMCP

    from utils.mcp.calls import CallMiddleware

    server = FastMCP("empty", middleware=[CallMiddleware(Library(**settings), [])])
    async with Client(server) as client:
        for ask in (client.call_tool("no_such_tool", {}), client.get_prompt("no_such_prompt")):
            with pytest.raises(Exception, match="There is no") as refused:
                await ask
            assert "There are: ." not in str(refused.value)


def test_no_hint_tells_to_set_what_is_set(settings, world):
    """Whatever is refused: a key that is set is corrected, not set."""
    paper = Paper(Ids(doi="10.1000/a"), title="Corals")
    for key, status in itertools.product(("", "jina_key"), (401, 402)):
        library = Library(
            **{**settings, "jina_reader_base_url": world.url("jina")}, jina_api_key=key
        )
        refused = Answer(status, "https://r.jina.ai/x", b"{}")
        said = {
            hint
            for ask in (
                lambda: jina._check_status(refused, "a page", library.web),  # noqa: B023
                lambda: list(jina.SOURCE.routes[-1].fetch([paper], library.web)),  # noqa: B023
            )
            for hint in told(ask)
        }
        assert any("JINA_API_KEY" in hint for hint in said)
        assert any("Set JINA_API_KEY" in hint for hint in said) is (not key)


def test_no_hint_tells_to_set_a_token_that_is_set(settings):
    for token in ("", "inst_token"):
        web = Library(**settings, elsevier_api_key="k", elsevier_insttoken=token).web
        said = "APIKey k with IP address 1.2.3.4 does not resolve to an account"
        [hint] = elsevier._record_refusal(said, 401, web).hints
        assert ("set ELSEVIER_INSTTOKEN" in hint) is (not token)


def told(ask: Callable[[], object]) -> tuple[str, ...]:
    with pytest.raises(PaperError) as raised:
        ask()
    return raised.value.hints


@pytest.mark.anyio
async def test_the_hint_of_a_long_search_can_be_followed(settings):
    """Over MCP pages are cut to what fits; the word is the same there and in Python."""
    library = Library(**settings, mcp_toolsets=("entrez",))
    said = told(lambda: library.entrez.search("gene", "human", max_results=20_000))
    assert "set keep" in " ".join(said)
    assert library.entrez.search("gene", "human", keep=True).history
    asked = {"operation": "search", "database": "gene", "term": "human", "keep": True}
    kept = await call(library, "entrez_query", asked)
    assert kept.structured_content["history"]["id"].startswith("h_")


def test_errors_without_hints_have_one_of_their_kind():
    for name in ERRORS:
        kind = getattr(errors, name)
        [suggestion] = kind("It failed.").envelope()["error"]["suggestions"]
        assert suggestion.endswith((".", "doctor")), name
    assert NotFound("It is nowhere.", "", "Look elsewhere.").hints == ("Look elsewhere.",)
