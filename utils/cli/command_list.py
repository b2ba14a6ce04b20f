"""All commands of the shell: names, groups, examples, and the lists that `--help` prints.

The module of a command is imported when this command runs; nothing here imports one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from functools import cache
from shutil import get_terminal_size

from ..command_line import command_line
from ..errors import BadRequest
from ..plugins import OWN_PLUGINS, Command, list_plugins
from ..system.nearest import find_nearest_name
from ..system.process import get_version

_CORE_COMMANDS = {
    "search": Command(".cli.searching", "search PubMed, or several sources at once",
        ("'CXCL12 AND CXCR4' --since 2020 --limit 20", "'moss light' --source all --json")),
    "download": Command(".cli.papers", "put papers on the shelf",
        ("31452104 10.1371/journal.pone.0111303", "-")),
    "read": Command(".cli.papers", "read a paper on the shelf",
        ("31452104 --section methods", "31452104 --open pdf")),
    "list": Command(".cli.papers", "list the papers on the shelf",
        ("--has-pdf", "moss --since 2020")),
    "cite": Command(".cli.searching", "print references of papers, in any style",
        ("31452104 --style apa", "included.ris --style bibtex --keys authYearTitle")),
    "export": Command(".cli.upkeep", "write references for Zotero, EndNote, LaTeX",
        ("", "--tables tables.parquet")),
    "export pack": Command(".cli.packs", "pack references with their PDFs for another program",
        ("JOB --for zotero", "included.ris --for covidence --zip")),
    "harvest": Command(".cli.harvests", "download every paper of a query or a list",
        ("'CXCL12 AND CXCR4' --plan", "included.ris --source pubmed,europepmc --query 'moss[ti]'")),
    "harvest status": Command(".cli.harvests", "list the harvests, or show one", ("", "JOB")),
    "harvest report": Command(".cli.harvests", "write a harvest's report",
        ("JOB --open", "JOB --draw png,pptx")),
    "harvest resolve": Command(".cli.resolving", "find identifiers for the papers of a list",
        ("covidence.csv", "covidence.csv --output done.ris")),
    "harvest inbox": Command(".cli.harvests", "file the papers put into the shelf's inbox/",
        ("", "--watch --folder ~/Downloads")),
    "review related": Command(".cli.searching",
        "list papers related to a paper: similar, citing or cited",
        ("31452104", "31452104 --kind cited-by --limit 50")),
    "shelf adopt": Command(".cli.adopting", "take a folder of PDF files onto the shelf",
        ("~/Zotero/storage --by place", "scan0001.pdf --as 10.1371/journal.pone.0111303")),
    "shelf audit": Command(".cli.upkeep", "judge every text on the shelf again",
        ("", "31452104 --fix")),
    "shelf keep": Command(".cli.upkeep", "overrule the judges on one text",
        ("31452104 --as full_text --because 'a short letter'", "31452104 --undo")),
    "shelf note": Command(".cli.upkeep", "write a note on a paper, and tag it",
        ("31452104 'good control group' --tag methods", "31452104 --untag methods")),
    "shelf recheck": Command(".cli.upkeep", "look for retractions, corrections and new copies",
        ("", "--texts --due")),
    "shelf watch": Command(".cli.watching",
        "watch queries, authors, papers and reviews, and report what is new",
        ("'moss AND light'", "--output news.html --output ~/feeds/papers.atom")),
    "shelf rebuild": Command(".cli.upkeep", "rebuild the catalogue from the files",
        ("", "--json")),
    "shelf convert": Command(".cli.converting", "make Markdown notes of all texts, or text files",
        ("--to md --dry-run", "--to txt")),
    "shelf reextract": Command(".cli.upkeep", "make texts again from the kept bytes",
        ("", "--all")),
    "shelf pdf": Command(".cli.pdfs", "put the PDF of each text next to it",
        ("31452104", "--job JOB")),
    "shelf media": Command(".cli.objects",
        "download figures, tables and supplementary files of papers",
        ("31452104", "31452104 --only 'Table 2'")),
    "shelf verify": Command(".cli.verifying",
        "judge files outside the shelf: complete, and the right paper?",
        ("page.html --paper 31452104", "--pairs pairs.json")),
    "setup": Command(".cli.setting_up",
        "set up this installation: e-mail, folder, keys, assistants",
        ("", "--email you@your-university.edu --host all --yes")),
    "setup update": Command(".cli.setting_up", "show how to update this installation",
        ("", "--json")),
    "setup settings": Command(".cli.upkeep", "show every setting and its value", ("", "--json")),
    "setup doctor": Command(".cli.upkeep", "check keys, folder and services",
        ("", "--hosts 'Claude Desktop'")),
    "setup desk": Command(".cli.desk", "open the shelf in your browser",
        ("", "--port 8080 --no-open")),
    "setup demo": Command(".cli.harvests", "show a demo: needs no network, key or e-mail address",
        ("", "--open")),
    "setup serve": Command(".cli.serving", "start the MCP server",
        ("", "--transport http --port 3010")),
    "setup token": Command(".cli.serving", "make a token for MCP over HTTP",
        ("alice", "reader --scopes read --days 7")),
    "setup completion": Command(".cli.completing", "print the script for tab completion",
        ("bash", "fish")),
}  # fmt: skip
COMMANDS = {
    **_CORE_COMMANDS,
    **{name: one for own in OWN_PLUGINS for name, one in own.commands.items()},
}
"""Our own commands, by their full names."""
_DESCRIPTION_BY_GROUP = {
    "review": "do a systematic review, from protocol to PRISMA figure",
    "shelf": "check, correct and complete the texts on the shelf",
    "corpus": "keep the records of a field; find passages and quotations",
    "data": "make tables of any Entrez database and query them in SQL",
    "mirror": "keep all of PubMed on your own disk (extra mirror)",
    "zotero": "read papers from Zotero, and write into it",
}
_COMMANDS_BY_HEADING = {
    "Papers": ("search", "download", "read", "list", "cite", "export"),
    "Lists and reviews": ("harvest", "review", "check", "zotero"),
    "Collections": ("shelf", "corpus", "data", "mirror"),
    "Installation": ("setup",),
}
# The commands of these groups can be typed without the group: `audit` is `shelf audit`.
_OPTIONAL_GROUPS = ("harvest", "export", "shelf", "corpus", "data", "setup")
_FORMER_NAMES = {"snowball": "review snowball", "related": "review related"}
EXIT_STATUSES = {
    0: "done",
    1: "done, but: a paper is missing or has no full text, a check found something, no index",
    2: "the command is wrong, or a setting is missing: nothing was done",
    3: "no site could be reached, a service failed, or a check could not be made",
    4: "a file or the shelf cannot be read or written (disk full, in use, no permission)",
    130: "interrupted: what was saved stays, the same command goes on",
}
_HELP_FOOTER = f"""Options and examples of a command: {command_line("help COMMAND")}
The version: {command_line("--version")}
In your browser: {command_line("desk")}
Without a command: the MCP server on stdio, for AI assistants."""
SLOGAN = "Ask for a paper, get its verified full text on your own shelf."


@cache
def list_commands() -> dict[str, Command]:
    """Return our own commands and the commands of installed packages, by full name."""
    added = {name: one for plugin in list_plugins() for name, one in plugin.commands.items()}
    return {**added, **COMMANDS}


def list_members(group: str) -> list[str]:
    """Return the names of a group's commands, without the name of the group."""
    begin = f"{group} "
    return [name.removeprefix(begin) for name in list_commands() if name.startswith(begin)]


def list_top_level_names() -> list[str]:
    """Return the commands and groups that `--help` lists."""
    ours = (name for names in _COMMANDS_BY_HEADING.values() for name in names)
    return list(dict.fromkeys([*ours, *(name.partition(" ")[0] for name in list_commands())]))


def split_command_name(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return the full name of the command or group that *words* begin with, and the other words.

    Raises
    ------
    BadRequest
        There is no such command.
    """
    first, *rest = words
    if rest and f"{first} {rest[0]}" in list_commands():
        return f"{first} {rest[0]}", rest[1:]
    if first in list_top_level_names():
        return first, rest
    if full := _find_full_name(first):
        return full, rest
    if first.startswith("-"):
        common = ("--json", "--quiet", "--verbose", "--papers-dir", "--version", "--help")
        meant = find_nearest_name(first, common)
        if first != meant and meant in ("--version", "--help"):
            raise BadRequest(f"There is no option {first}.", f"Did you mean {command_line(meant)}?")
        hint = f"Write it after the command: {command_line(f'COMMAND {first}')}"
        raise BadRequest(f"{first} has to follow the command.", hint)
    raise _build_unknown_error(first)


def _find_full_name(word: str) -> str:
    """Return the full name of a command typed without its group; "" for others."""
    names = (f"{group} {word}" for group in _OPTIONAL_GROUPS)
    return _FORMER_NAMES.get(word) or next((name for name in names if name in list_commands()), "")


def _build_unknown_error(word: str, group: str = "") -> BadRequest:
    """Return the error for an unknown command; with *group*, for one in that group."""
    known = {name: f"{group} {name}" for name in list_members(group)} if group else {}
    if not group:
        known |= {name.rpartition(" ")[2]: name for name in reversed(list_commands())}
        known |= {word: full for word in known if (full := _find_full_name(word))}
        known |= {name: name for name in list_top_level_names()}
    meant = known.get(find_nearest_name(word, known), "")
    hint = f"Did you mean {command_line(meant)}?" if meant else ""
    listed = f"To list all: {command_line(f'{group} --help'.strip())}"
    return BadRequest(f"There is no command {f'{group} {word}'.strip()}.", hint, listed)


def describe_command(name: str) -> str:
    """Return the one-line description of a command or group."""
    command = list_commands().get(name)
    return command.about if command else _DESCRIPTION_BY_GROUP.get(name, "")


def format_examples(name: str) -> str:
    """Return the end of a command's help: examples, and the commands of its group."""
    command = list_commands().get(name)
    lines = (
        [f"  {command_line(f'{name} {words}')}" for words in command.examples] if command else []
    )
    text = "\n".join(["examples:", *lines]) if lines else ""
    rows = [(f"{name} {one}", describe_command(f"{name} {one}")) for one in list_members(name)]
    return f"{text}\n\n{_format_section('more commands', rows)}".strip() if rows else text


def format_help(words: Sequence[str]) -> str | None:
    """Return the help text that *words* request; None if they run a command."""
    if not words or words[0] in ("-h", "--help"):
        return _format_full_help()
    name, rest = split_command_name(words)
    if name in list_commands():
        return None
    if rest and rest[0] not in ("-h", "--help"):
        raise _build_unknown_error(rest[0], name)
    return _format_group_help(name)


def _format_full_help() -> str:
    """Return the text of `--help`: every command, its description, and the exit statuses."""
    listed = {name for names in _COMMANDS_BY_HEADING.values() for name in names}
    added = tuple(name for name in list_top_level_names() if name not in listed)
    headings = _COMMANDS_BY_HEADING | ({"Plugins": added} if added else {})
    sections = [
        _format_section(heading, [(name, _describe_entry(name)) for name in names], 10)
        for heading, names in headings.items()
    ]
    statuses = [(f"{status}", meaning) for status, meaning in EXIT_STATUSES.items()]
    return "\n\n".join(
        (
            f"usage: {command_line('COMMAND [options]')}",
            SLOGAN,
            *sections,
            _HELP_FOOTER,
            f"{_format_section('Exit status', statuses, 10)}\n",
        )
    )


def _format_group_help(group: str) -> str:
    """Return the text of a group's `--help`."""
    names = list_members(group)
    rows = [(name, describe_command(f"{group} {name}")) for name in names]
    return (
        f"usage: {command_line(f'{group} COMMAND [options]')}\n\n{describe_command(group)}\n\n"
        f"{_format_section('commands', rows)}\n\n"
        f"Options and examples of a command: {command_line(f'help {group} {names[0]}')}\n"
    )


def _describe_entry(name: str) -> str:
    """Return a command's description; for a group, with its commands."""
    names = ", ".join(list_members(name))
    return f"{describe_command(name)} ({names})" if names else describe_command(name)


def _format_section(heading: str, rows: Sequence[tuple[str, str]], width: int = 0) -> str:
    """Return a heading with indented rows, wrapped to the terminal."""
    width = width or max(len(name) for name, _ in rows) + 2
    columns = min(100, get_terminal_size().columns - 1)
    lines = [
        textwrap.fill(text, columns, initial_indent=f"  {name:<{width}}",
                      subsequent_indent=" " * (width + 2), break_on_hyphens=False)
        for name, text in rows
    ]  # fmt: skip
    return "\n".join([f"{heading}:", *lines])


def format_introduction() -> str:
    """Return the text that is shown when the program runs without arguments."""
    return f"""Papershelf {get_version()}
{SLOGAN}

  {command_line("setup demo")}
      watch a demo, without network, key or e-mail address
  {command_line("setup")}
      set up: your e-mail address, the folder, keys, assistants
  {command_line("setup doctor")}
      check keys, folder and services
  {command_line("search 'words of a question'")}
      search PubMed, or several sources at once
  {command_line("download 31452104")}
      put a paper on the shelf, by PMID, DOI, PMCID or arXiv identifier
  {command_line("--help")}
      list all commands

An AI assistant starts this command itself and talks to it over MCP; `setup` connects them.
To serve MCP here: {command_line("setup serve")} (--transport http for several people)
"""
