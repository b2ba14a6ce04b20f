"""How the shell speaks: lines or JSON out, remarks and progress beside them, one exit status."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import PaperError
from ..system.plain_text import clean_text, plain_json

if TYPE_CHECKING:
    from ..library import Library

NO_FULL_TEXT, BAD_REQUEST, UNREACHABLE, NOT_STORED = 1, 2, 3, 4
Verb = Callable[[argparse.Namespace, "Library"], int]


def command(commands: Any, name: str, verb: Verb, about: str) -> argparse.ArgumentParser:
    """A new command, with the options that all of them have."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--papers-dir", default="", help="the shelf (else PAPERS_DIR)")
    parser.set_defaults(verb=verb)
    return parser


def leave(status: int) -> NoReturn:
    """End now: requests still under way would hold us up, and no file is ever half written."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def worst(statuses: Sequence[int]) -> int:
    """One status for many papers: the worst word only when it holds for all of them.

    A shelf that cannot be written is told at once: no other paper would be kept either.
    """
    if NOT_STORED in statuses:
        return NOT_STORED
    if all(status == BAD_REQUEST for status in statuses):
        return BAD_REQUEST
    if all(status == UNREACHABLE for status in statuses):
        return UNREACHABLE
    return NO_FULL_TEXT if any(statuses) else 0


def say(what: dict[str, Any] | str, as_json: bool = False) -> None:
    """An answer, on standard output."""
    # Escaped where the console cannot show a letter: a program reads it, and loses nothing.
    ascii_only = not speaks_unicode()
    text = plain_json(what, ascii_only) if as_json else clean_text(str(what))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def speaks_unicode() -> bool:
    """Whether every letter can be shown."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def note(text: str) -> None:
    """A remark beside the answers, on standard error."""
    sys.stderr.write(f"{clean_text(text)}\n")


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "paper"), counted(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counter(done: int, total: int) -> None:
    """Where the work is, for somebody who watches; looking papers up comes before the first."""
    if not sys.stderr.isatty():
        return
    sys.stderr.write(f"\r\033[K{done} of {total} …" if done < total else "\r\033[K")
    sys.stderr.flush()


def complain(error: PaperError, as_json: bool) -> int:
    """Say what went wrong; the exit status of it."""
    if as_json:
        say(error.envelope(), as_json=True)
    else:
        note(str(error))
    return error.exit_code
