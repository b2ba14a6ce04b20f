"""Commands of watches: news about queries, authors, papers and reviews."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest
from .commands import Commands, command
from .options import parse_date, require_output
from .output import UNREACHABLE_STATUS, pluralize, print_answer, print_note

if TYPE_CHECKING:
    from ..library import Library

_DIGEST_SUFFIXES = (".html", ".atom", ".eml", ".txt")


def add(commands: Commands) -> None:
    """Register the command."""
    watch = command(commands, "shelf watch", _run_watch)
    watch.add_argument(
        "what", nargs="?", help="what to watch from now on; default: check all watches"
    )
    watch.add_argument(
        "--as",
        dest="kind",
        choices=["query", "author", "paper", "review"],
        help="what it is (a review of this name, else an identifier, else a query)",
    )
    watch.add_argument("--undo", action="store_true", help="end the watch")
    watch.add_argument("--list", action="store_true", help="list all watches")
    watch.add_argument(
        "--since",
        type=parse_date,
        default="",
        metavar="DATE",
        help="show the news since a day again; no site is asked",
    )
    watch.add_argument(
        *("--output", "-o"),
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write the digest: .html, .atom (a feed), .eml (an e-mail, not sent) or .txt; can be "
        "repeated",
    )


def _run_watch(args: argparse.Namespace, library: Library) -> int:
    if args.what == "list":
        msg = "'list' is not watched, as it is probably meant as a command."
        hint = f"To list all watches: {command_line('watch --list')}. As a query: 'list[ti]'."
        raise BadRequest(msg, hint)
    if (args.kind or args.undo) and not args.what:
        msg = "--as and --undo need a query, an author, a paper or a review."
        raise BadRequest(msg, f"To list all watches: {command_line('watch --list')}")
    for path in args.output:
        require_output(path, _DIGEST_SUFFIXES)
    if args.undo:
        library.watches.remove(args.what)
        print_note(f"{args.what} is not watched any more.")
        return 0
    if args.what is not None:
        library.settings.require_email("NCBI")
        watch = library.watches.add(args.what, args.kind)
        print_note(f"Watching the {watch.kind} {watch.name}.")
    if args.list:
        _list_watches(args, library)
        return 0
    return _show_digest(args, library)


def _list_watches(args: argparse.Namespace, library: Library) -> None:
    watches = library.watches.list_all()
    for watch in watches:
        row = {"name": watch.name, "kind": watch.kind, "checked_at": watch.checked_at}
        text = f"{watch.kind:<7} {watch.name}  (checked {watch.checked_at or 'never'})"
        print_answer(row if args.json else text, args.json)
    if not watches:
        _print_that_nothing_is_watched()


def _print_that_nothing_is_watched() -> None:
    example = command_line("watch 'moss AND light'")
    print_note(f"Nothing is watched yet. To watch a query: {example}")


def _show_digest(args: argparse.Namespace, library: Library) -> int:
    """Check all watches, show the unseen news, and write the files that were asked for."""
    from ..reports.digest import format_digest

    watches = library.watches
    digest = watches.read(args.since) if args.since else watches.check()
    if not digest.watches:
        _print_that_nothing_is_watched()
    for path in args.output:
        watches.write(digest, path)
    if args.json:
        for one in digest.news:
            print_answer(one.row(), as_json=True)
        for why in digest.silent:
            print_note(f"Could not be asked: {why}")
    elif digest.news or digest.silent:
        print_answer(format_digest(digest.news, digest.silent).rstrip())
    elif digest.watches:
        print_note(f"No news of {pluralize(len(digest.watches), 'watched item')}.")
    if not args.since:
        watches.mark_seen(digest)
    return UNREACHABLE_STATUS if digest.silent else 0
