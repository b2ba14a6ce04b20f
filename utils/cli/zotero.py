"""Shell commands that read papers from Zotero, and write into it."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import Paper
from ..system.plain_text import one_line, to_spreadsheet_cell
from ..system.safe_files import replace_text_file
from .commands import Commands, command
from .options import add_output_option, require_output
from .output import NO_FULL_TEXT_STATUS, pluralize, print_answer, print_note, print_warnings
from .packs import read_named_papers

if TYPE_CHECKING:
    from ..library import Library
    from ..zotero.push import Push

_STYLE_BY_SUFFIX = {".ris": "ris", ".bib": "bibtex", ".nbib": "nbib"}
_MARK_BY_STATE = {"new": "+", "there": "=", "skipped": "·"}
_COLUMNS = ("pmid", "pmcid", "doi", "arxiv", "title", "authors", "year", "journal")


def add(commands: Commands) -> None:
    """Register the commands."""
    pull = command(commands, "zotero pull", _pull_papers)
    pull.add_argument("--collection", default="", help="only this one: its name, path or key")
    pull.add_argument(
        "--database", default="", metavar="PATH",
        help="read zotero.sqlite, or the folder with it, instead of the running Zotero",
    )  # fmt: skip
    _add_push(commands)
    add_output_option(pull, "write the list: .ris, .bib, .nbib or .csv", kind=Path)


def _add_push(commands: Commands) -> None:
    push = command(commands, "zotero push", _push_papers)
    push.add_argument(
        "what", nargs="*", help="a harvest, a review, or a list: identifiers or files of references"
    )
    push.add_argument("--collection", default="", help="also add the items to this collection")
    push.add_argument(
        "--attach", choices=("linked", "stored", "none"), default="linked",
        help="PDF and text: linked to the shelf, stored in Zotero, or neither (linked)",
    )  # fmt: skip
    push.add_argument("--undo", action="store_true", help="take the last push back")
    push.add_argument("--yes", action="store_true", help="write without asking")
    push.add_argument("--dry-run", action="store_true", help="write nothing; show what it would do")


def _push_papers(args: argparse.Namespace, library: Library) -> int:
    if args.undo and args.what:
        raise BadRequest(
            "--undo takes the last push back, whatever it held.", "Leave the list out."
        )
    if not (args.undo or args.what):
        hint = f"Name a harvest, a review or a list; to list: {command_line('harvest status')}"
        raise BadRequest("No papers were named.", hint)
    papers, title = ("", "") if args.undo else read_named_papers(args.what)
    push = partial(
        library.zotero.push, papers, collection=args.collection, attach=args.attach,
        title=title, undo=args.undo,
    )  # fmt: skip
    planned = push(dry_run=True)
    if not args.json:
        _show_push(planned, undo=args.undo)
    if args.dry_run or not planned.steps:
        print_note("Nothing was written." if planned.steps else "There is nothing to write.")
        if args.json:
            print_answer(_to_row(planned), as_json=True)
        return NO_FULL_TEXT_STATUS if planned.problems else 0
    if not args.yes and not _ask_consent():
        print_note("Nothing was written.")
        return 0
    print_note("If Zotero asks whether Papershelf may write, choose Always Allow.")
    done = push(dry_run=False)
    if args.json:
        print_answer(_to_row(done), as_json=True)
    print_warnings(done.problems)
    print_note(f"{pluralize(done.written, 'change')} in Zotero.")
    if not args.undo:
        print_note(f"To take them back: {command_line('zotero push --undo')}")
    return NO_FULL_TEXT_STATUS if done.problems else 0


def _show_push(push: Push, *, undo: bool) -> None:
    """Print what a push would write, or what its undoing would take back."""
    for one in push.papers:
        what = ", ".join(one.added) or one.detail or "nothing to add"
        print_answer(
            f"{_MARK_BY_STATE[one.action]} "
            f"{one_line(one.paper.title or str(one.paper.ids))[:80]}: {what}"
        )
    kinds = Counter(step.kind for step in push.steps)
    counts = ", ".join(pluralize(number, kind) for kind, number in kinds.items())
    if counts:
        print_note(f"{'To take back' if undo else 'To write'}: {counts}.")
    print_warnings(push.problems)


def _to_row(push: Push) -> dict[str, Any]:
    return push.to_row() | {"papers": [one.to_row() for one in push.papers]}


def _ask_consent() -> bool:
    """Ask whether to write what was shown.

    Raises
    ------
    BadRequest
        There is no terminal to ask on.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        msg = "Nothing was written: there is no terminal to ask on."
        raise BadRequest(msg, "Add --yes, or --dry-run.")
    return input("Write this into Zotero? [Y/n] ").strip().casefold() in ("", "y", "yes")


def _pull_papers(args: argparse.Namespace, library: Library) -> int:
    if args.output:
        require_output(args.output, (*_STYLE_BY_SUFFIX, ".csv"))
    entries = library.zotero.pull(args.collection, database=args.database)
    papers = [entry.paper for entry in entries if entry.paper]
    if args.output:
        _write_list(args.output, papers, library)
        print_note(f"Written: {args.output}")
    for paper in papers:
        row = paper.short_row() | {"arxiv": paper.ids.arxiv}
        if args.json:
            print_answer(row, as_json=True)
        elif not args.output:
            print_answer(f"{paper.ids or 'no identifier'}  {one_line(paper.title)[:120]}".strip())
    nameless = sum(not paper.ids for paper in papers)
    print_note(f"{pluralize(len(papers), 'paper')}, {nameless:,} of them without an identifier.")
    if not args.output:
        words = quote(f"zotero:{args.collection}")
        print_note(f"To get their texts: {command_line(f'harvest {words}')}")
    return 0


def _write_list(path: Path, papers: Sequence[Paper], library: Library) -> None:
    """Write the papers in the form that the file's name asks for."""
    with replace_text_file(path) as file:
        if style := _STYLE_BY_SUFFIX.get(path.suffix.lower()):
            file.writelines(row[style] for row in library.references.citations(papers, [style]))
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for paper in papers:
            ids, authors = paper.ids, "; ".join(author.name for author in paper.authors)
            cells = (ids.pmid, ids.pmcid, ids.doi, f"arXiv:{ids.arxiv}" if ids.arxiv else "")
            writer.writerow(
                [
                    to_spreadsheet_cell(one)
                    for one in (*cells, paper.title, authors, paper.year, paper.journal)
                ]
            )
