"""The shell: identifiers and queries in, lines or JSON out.

Exit status: 0 done, 1 some papers have no full text, 2 bad request, 3 nothing could be reached,
4 the shelf could not be read or written (the disk is full), 130 interrupted (what was saved stays;
the same command goes on from there).
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import BadRequest, PaperError
from ..library import Library
from ..settings import version
from ..system import sharing
from ..system.signals import INTERRUPTED, interruptible
from . import (
    checking,
    corpus,
    datasets,
    harvests,
    mirror,
    objects,
    papers,
    resolving,
    reviews,
    searching,
    snowballing,
    upkeep,
    yields,
)
from .output import NO_FULL_TEXT, Verb, complain, leave


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        # A console without Unicode shows a question mark; it is no reason to lose the answer.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words
    try:
        args = _parser().parse_args(words)
        verb: Verb = args.verb
        overrides = {"papers_dir": args.papers_dir} if args.papers_dir else {}
        with interruptible():
            return verb(args, Library(**overrides))
    except PaperError as error:
        return complain(error, as_json)
    except BrokenPipeError:
        # The reader of our pipe has what it wanted; Python would complain again on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        leave(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. What was saved stays; run the same command to go on.\n")
        leave(INTERRUPTED)
    except OSError as error:
        if error.filename and (barred := sharing.access_error(Path(error.filename))):
            return complain(barred, as_json)
        sys.stderr.write(f"The output could not be written: {error.strerror}.\n")
        leave(NO_FULL_TEXT)
    return 0


class _Parser(argparse.ArgumentParser):
    """Complains of a wrong command as of everything else, in JSON too."""

    def error(self, message: str) -> NoReturn:
        raise BadRequest(f"{message[:1].upper()}{message[1:]}.", f"See {self.prog} --help.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="server.py",
        description="Ask for a paper, get its verified full text on your own shelf. "
        "Without a command: the MCP server on stdio.",
    )
    parser.add_argument("--version", action="version", version=f"Papershelf {version()}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    searching.add(commands)
    papers.add(commands)
    objects.add(commands)
    searching.add_references(commands)
    resolving.add(commands)
    checking.add(commands)
    harvests.add(commands)
    reviews.add(commands)
    snowballing.add(commands)
    yields.add(commands)
    corpus.add(commands)
    datasets.add(commands)
    mirror.add(commands)
    upkeep.add_audit(commands)
    upkeep.add(commands)
    return parser
