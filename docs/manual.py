"""The man page, made from the commands' own help; `docs.reference` writes it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from utils.cli.command_list import EXIT_STATUSES, SLOGAN, describe_command, list_commands
from utils.cli.commands import build_parser
from utils.command_line import PROGRAM

_COMMON = "options of every command"


def manual_page() -> str:
    """Return the man page in the language of groff's man macros."""
    lines = ['.TH PAPERSHELF 1 "" "Papershelf" "User Commands"', ".SH NAME"]
    lines += [f"papershelf \\- {_escape(SLOGAN[:1].lower() + SLOGAN[1:].rstrip('.'))}"]
    lines += [".SH SYNOPSIS", ".B papershelf", "COMMAND [OPTIONS]", ".SH DESCRIPTION"]
    lines += [
        "Papershelf fetches the verified full text of papers from lawful sources and keeps it in",
        "one folder. Without a command it serves MCP on stdio, for AI assistants.",
        "Typed on a terminal without a command, it lists first steps.",
        ".SH COMMON OPTIONS",
        *_options(build_parser("list"), common=True),
        ".SH COMMANDS",
    ]
    for name in sorted(list_commands()):
        lines += _command(name)
    lines += [".SH EXIT STATUS"]
    for status, meaning in EXIT_STATUSES.items():
        lines += [".TP", f".B {status}", _escape(meaning)]
    lines += [".SH ENVIRONMENT"]
    for variable, text in (
        ("PUBMED_EMAIL", "your e-mail address, which NCBI and Unpaywall require"),
        ("PAPERS_DIR", "the folder of the papers"),
        ("PAGER", "what shows long lists on a terminal; cat shows them as they are"),
        ("NO_PAGER", "when set, lists are never paged"),
        ("NO_COLOR", "when set, output has no colours"),
    ):
        lines += [".TP", f".B {variable}", _escape(text)]
    lines += [".PP", "papershelf setup settings", "lists all settings and their values."]
    return "\n".join(lines) + "\n"


def _command(name: str) -> Iterator[str]:
    parser = build_parser(name)
    yield f".SS {_escape(name)}"
    yield _escape(f"{describe_command(name)[:1].upper()}{describe_command(name)[1:]}.")
    yield from _options(parser, common=False)
    if examples := list_commands()[name].examples:
        yield from (".PP", "Examples:", ".PP", ".nf", ".RS")
        yield from (_escape(f"papershelf {name} {words}".rstrip()) for words in examples)
        yield from (".RE", ".fi")


def _options(parser: argparse.ArgumentParser, *, common: bool) -> Iterator[str]:
    """Yield the options of a command, or those that all commands have."""
    for group in parser._action_groups:
        if (group.title == _COMMON) != common:
            continue
        for action in group._group_actions:
            if action.help == argparse.SUPPRESS or "--help" in action.option_strings:
                continue
            yield ".TP"
            yield f".B {_escape(_spell(action))}"
            text = parser._get_formatter()._expand_help(action) if action.help else ""
            yield _escape(text.replace(PROGRAM, "papershelf"))


def _spell(action: argparse.Action) -> str:
    """Return an option with the name of its value; of an argument, its name."""
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    if action.choices is not None and not action.metavar:
        value = "{" + ",".join(str(choice) for choice in action.choices if choice != "") + "}"
    shown = value if isinstance(value, str) else " ".join(value)
    return f"{', '.join(action.option_strings)} {shown}".strip()


def _escape(text: str) -> str:
    """Return text in which groff sees no request or escape."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    plain = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in plain)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
