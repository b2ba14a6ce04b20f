"""The commands of the shell, and their parser.

A command's module is imported when that command runs: `--help`, `--version` and a slip of the
keyboard need none of them. So the line that `--help` prints for a command stands here, and its
options stand in the module, in a function `add`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import BadRequest
from ..plugins import OWN, Command, import_part, plugins
from ..system.version import version

if TYPE_CHECKING:
    from ..library import Library

Verb = Callable[[argparse.Namespace, "Library"], int]


_CORE = {
    "search": Command(".cli.searching", "search PubMed, or several sources at once"),
    "download": Command(".cli.papers", "put papers on the shelf"),
    "read": Command(".cli.papers", "read a paper on the shelf"),
    "list": Command(".cli.papers", "list the papers on the shelf"),
    "media": Command(".cli.objects", "put figures, tables and supplementary files beside papers"),
    "cite": Command(".cli.searching", "references of papers, in any style"),
    "related": Command(".cli.searching", "papers around a paper"),
    "resolve": Command(".cli.resolving", "find the papers of a list without identifiers"),
    "verify": Command(
        ".cli.verifying", "judge files that are not on the shelf: whole, and this paper?"
    ),
    "harvest": Command(".cli.harvests", "get every text of a query or a list"),
    "status": Command(".cli.harvests", "list the harvests, or look at one"),
    "report": Command(".cli.harvests", "write a harvest's report"),
    "inbox": Command(".cli.harvests", "file what was dropped into the shelf's inbox/"),
    "demo": Command(".cli.harvests", "see it work: no network, no key, no e-mail address"),
    "audit": Command(".cli.upkeep", "put every text before the judges again"),
    "keep": Command(".cli.upkeep", "overrule the judges about one text"),
    "rebuild": Command(".cli.upkeep", "make the catalogue again from the files"),
    "reextract": Command(".cli.upkeep", "make texts again from the kept bytes"),
    "recheck": Command(".cli.upkeep", "ask for retractions, corrections, new copies"),
    "export": Command(".cli.upkeep", "write references for Zotero, EndNote, LaTeX"),
    "settings": Command(".cli.upkeep", "show every setting and its value"),
    "doctor": Command(
        ".cli.upkeep", "check keys, folder and services; --hosts: settings of assistants"
    ),
}
COMMANDS = {**_CORE, **{name: one for own in OWN for name, one in own.commands.items()}}
"""Our own commands."""


def find_command(name: str) -> Command | None:
    """Return the command of this name; installed packages are asked for those that are not ours."""
    return COMMANDS.get(name) or _added().get(name)


def _added() -> dict[str, Command]:
    """Return the commands of installed packages."""
    return {
        name: one
        for plugin in plugins()
        for name, one in plugin.commands.items()
        if name not in COMMANDS
    }


def build_parser(*names: str) -> argparse.ArgumentParser:
    """Return a parser that knows the options of the commands *names*.

    Other commands are known only by name, so that `--help` can list them.
    """
    parser = _Parser(
        prog="server.py",
        description="Ask for a paper, get its verified full text on your own shelf. "
        "Without a command: the MCP server on stdio.",
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="print the version")
    if names == ("--version",):
        return parser  # without a look at plugins
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    known = {name: found for name in names if (found := find_command(name))}
    for module in dict.fromkeys(one.module for one in known.values()):
        import_part(module).add(commands)
    if not known:
        for name, described in (COMMANDS | _added()).items():
            commands.add_parser(name, help=described.about)
    return parser


def command(commands: Any, name: str, verb: Verb, about: str = "") -> argparse.ArgumentParser:
    """Register a command, with the options that all of them have.

    A command of a command (`mirror pmc`) says in *about* what it does.
    """
    parser = group(commands, name, about)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--papers-dir", default="", help="the shelf (else PAPERS_DIR)")
    parser.set_defaults(verb=verb)
    return parser


def group(commands: Any, name: str, about: str = "") -> argparse.ArgumentParser:
    """Register a command that only has commands of its own."""
    about = about or (find_command(name) or Command("", "")).about
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    return parser


def introduction() -> str:
    """Return what a person reads who runs the command without any words."""
    return f"""Papershelf {version()}
Ask for a paper, get its verified full text on your own shelf.

  server.py demo: see it work, without network, key or e-mail address
  server.py doctor: check keys, folder and services
  server.py search QUERY: search PubMed, or several sources at once
  server.py download ID: put a paper on the shelf, by PMID, DOI, PMCID or arXiv identifier
  server.py --help: list all commands

An AI assistant starts this command itself, and speaks MCP with it. To connect one:

  server.py doctor --hosts: show what to write into the settings of each assistant

To serve MCP here: server.py --transport stdio, or --transport http for several people.
"""


class _Parser(argparse.ArgumentParser):
    """Complains of a wrong command as of everything else, in JSON too."""

    def error(self, message: str) -> NoReturn:
        raise BadRequest(f"{message[:1].upper()}{message[1:]}.", f"See {self.prog} --help.")


class _ShowVersion(argparse.Action):
    """Prints the version, which is read only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        parser.exit(message=f"Papershelf {version()}\n")
