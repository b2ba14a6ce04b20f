"""The commands of the shell, and their parser.

A command's module is imported when that command runs: `--help`, `--version` and a slip of the
keyboard need none of them. So the line that `--help` prints for a command stands here, and its
options stand in the module, in a function `add`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ..errors import BadRequest
from ..system.version import version

if TYPE_CHECKING:
    from ..library import Library

Verb = Callable[[argparse.Namespace, "Library"], int]


class Command(NamedTuple):
    """A command: the module that registers it, and what it does in one line."""

    module: str
    about: str


COMMANDS = {
    "search": Command("searching", "search PubMed, or several sources at once"),
    "download": Command("papers", "put papers on the shelf"),
    "read": Command("papers", "read a paper on the shelf"),
    "list": Command("papers", "list the papers on the shelf"),
    "media": Command("objects", "put figures, tables and supplementary files beside papers"),
    "cite": Command("searching", "references of papers, in any style"),
    "related": Command("searching", "papers around a paper"),
    "resolve": Command("resolving", "find the papers of a list without identifiers"),
    "check": Command(
        "checking", "check a manuscript: references, retractions, quotations, numbers"
    ),
    "verify": Command("verifying", "judge files that are not on the shelf: whole, and this paper?"),
    "harvest": Command("harvests", "get every text of a query or a list"),
    "status": Command("harvests", "list the harvests, or look at one"),
    "report": Command("harvests", "write a harvest's report"),
    "inbox": Command("harvests", "file what was dropped into the shelf's inbox/"),
    "demo": Command("harvests", "see it work: no network, no key, no e-mail address"),
    "review": Command(
        "reviews", "a systematic review as a folder: protocol, searches, decisions, PRISMA figure"
    ),
    "snowball": Command(
        "snowballing", "what the papers of a list cite and who cites them, the most led to first"
    ),
    "sync": Command("corpus", "bring the records of a PubMed query up to date"),
    "checkpoint": Command("corpus", "how far a query is synced"),
    "index": Command("corpus", "cut and embed what changed, to be found"),
    "learn": Command("corpus", "learn other names from NLM's lists"),
    "find": Command("corpus", "find passages by words and by meaning"),
    "quote": Command("corpus", "say where a quotation stands, word for word"),
    "stats": Command("corpus", "what is in the corpus, and what is out of date"),
    "stage": Command("datasets", "make tables of the records of an Entrez query"),
    "datasets": Command("datasets", "the datasets there are"),
    "sql": Command("datasets", "ask a dataset one reading SQL statement"),
    "mirror": Command(
        "mirror", "keep all of PubMed on your own disk, without E-utilities (extra mirror)"
    ),
    "audit": Command("upkeep", "put every text before the judges again"),
    "keep": Command("upkeep", "overrule the judges about one text"),
    "rebuild": Command("upkeep", "make the catalogue again from the files"),
    "reextract": Command("upkeep", "make texts again from the kept bytes"),
    "recheck": Command("upkeep", "ask for retractions, corrections, new copies"),
    "export": Command("upkeep", "write references for Zotero, EndNote, LaTeX"),
    "settings": Command("upkeep", "show every setting and its value"),
    "doctor": Command("upkeep", "check keys, folder and services; --hosts: settings of assistants"),
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
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in dict.fromkeys(COMMANDS[name].module for name in names):
        import_module(f".{module}", __package__).add(commands)
    if not names:
        for name, described in COMMANDS.items():
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
    about = about or COMMANDS[name].about
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
