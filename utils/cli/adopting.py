"""``adopt`` in the shell: take a folder of PDF files onto the shelf.

Exit status: 0 every file is a paper that is on the shelf now, 1 some file is not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from .commands import Commands, command
from .output import NO_FULL_TEXT_STATUS, print_answer, print_note
from .progress import show_count

if TYPE_CHECKING:
    from ..curation.adoption_journal import AdoptedFile, State
    from ..library import Library

TABLE_NAME = "adopted.csv"


def add(commands: Commands) -> None:
    """Register the command."""
    adopt = command(commands, "shelf adopt", _adopt_folder)
    adopt.add_argument("folder", type=Path, help="a folder with subfolders, or one PDF file")
    adopt.add_argument(
        "--as", dest="paper", default="", metavar="ID", help="the paper that one file is"
    )
    adopt.add_argument(
        "--references",
        action="append",
        default=[],
        metavar="FILE",
        help="BibTeX, RIS, EndNote XML or Zotero RDF with the files of papers",
    )
    adopt.add_argument(
        "--no-lookup",
        dest="lookup",
        action="store_false",
        help="ask no site: identify papers that this machine has records of",
    )
    adopt.add_argument(
        "--by",
        default="copy",
        choices=("copy", "link", "place"),
        help="how the shelf holds the files: a copy, a link, or where they are (copy)",
    )
    adopt.add_argument("--dry-run", action="store_true", help="say what would be filed")
    adopt.add_argument(
        "--again", action="store_true", help="also read what an earlier run could not file"
    )
    adopt.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"the table of files ({TABLE_NAME} on the shelf)",
    )


def _adopt_folder(args: argparse.Namespace, library: Library) -> int:
    from ..curation.adoption_journal import DONE, write_adoption_table

    adoption = library.upkeep.adopt(
        args.folder,
        paper=args.paper,
        lookup=args.lookup,
        dry_run=args.dry_run,
        references=args.references,
        again=args.again,
        by=args.by,
    )
    for line in adoption.unread_references:
        print_note(line)
    total, results = len(adoption.files), []
    show_count(0, total)
    for one in adoption:
        results.append(one)
        if args.json:
            print_answer(one.row(), as_json=True)
        elif one.state not in DONE:
            print_answer(_format_file(one))
        show_count(len(results), total)
    if not results:
        print_note(f"There is no PDF file in {args.folder}.")
        return 0
    _note_counts(Counter(one.state for one in results))
    if args.output or not args.dry_run:
        table = args.output or library.settings.papers_dir / TABLE_NAME
        write_adoption_table(table, results)
        print_note(f"Every file, and what to type about it: {table}")
    return 0 if all(one.state in {*DONE, "ready"} for one in results) else NO_FULL_TEXT_STATUS


def _note_counts(counts: Counter[State]) -> None:
    from ..curation.adoption_journal import STATES

    for state, meaning in STATES.items():
        if counts[state]:
            print_note(f"{counts[state]:>7,}  {meaning}")
    print_note(f"{counts.total():>7,}  {'file' if counts.total() == 1 else 'files'}")


def _format_file(one: AdoptedFile) -> str:
    paper = ", ".join(filter(None, (one.paper, one.title)))
    lines = [f"{one.file}: {one.state.replace('_', ' ')}{f': {paper}' if paper else ''}"]
    lines += [f"    {line}" for line in (one.detail, *one.candidates, one.command) if line]
    return "\n".join(lines)
