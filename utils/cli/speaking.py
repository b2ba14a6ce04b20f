"""Output of the shell: lines or JSON, notes and progress on standard error, one exit status."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import PaperError
from ..system.plain_text import clean_text, plain_json

if TYPE_CHECKING:
    from ..library import Library

NO_FULL_TEXT, BAD_REQUEST, UNREACHABLE, NOT_STORED = 1, 2, 3, 4
Verb = Callable[[argparse.Namespace, "Library"], int]


def command(commands: Any, name: str, verb: Verb, about: str) -> argparse.ArgumentParser:
    """Register a command, with the options that all of them have."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--papers-dir", default="", help="the shelf (else PAPERS_DIR)")
    parser.set_defaults(verb=verb)
    return parser


def leave(status: int) -> NoReturn:
    """Exit at once: requests under way would hold us up, and no file is ever half written."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def worst(statuses: Sequence[int]) -> int:
    """One exit status for many papers: 2 and 3 only if they hold for all of them, 4 if for any."""
    if NOT_STORED in statuses:
        return NOT_STORED
    if all(status == BAD_REQUEST for status in statuses):
        return BAD_REQUEST
    if all(status == UNREACHABLE for status in statuses):
        return UNREACHABLE
    return NO_FULL_TEXT if any(statuses) else 0


def say(what: dict[str, Any] | str, as_json: bool = False) -> None:
    """Write an answer to standard output."""
    # JSON is escaped where the console cannot show a letter: a program reads the same.
    ascii_only = not speaks_unicode()
    text = plain_json(what, ascii_only) if as_json else clean_text(str(what))
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def speaks_unicode() -> bool:
    """Whether standard output can show every letter."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def note(text: str) -> None:
    """Write a remark to standard error."""
    sys.stderr.write(f"{clean_text(text)}\n")


def warn(warnings: Iterable[str]) -> None:
    """Write warnings to standard error."""
    for warning in warnings:
        note(f"warning: {warning}")


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "paper"), counted(1200, "paper")
    ('1 paper', '1,200 papers')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def show_count(done: int, total: int) -> None:
    """Show on a terminal how many of *total* are done."""
    if not sys.stderr.isatty():
        return
    sys.stderr.write(f"\r\033[K{done} of {total} …" if done < total else "\r\033[K")
    sys.stderr.flush()


def complain(error: PaperError, as_json: bool) -> int:
    """Print an error; returns its exit status."""
    if as_json:
        say(error.envelope(), as_json=True)
    else:
        note(str(error))
    return error.exit_code
