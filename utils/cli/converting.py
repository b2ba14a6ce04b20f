"""The form of the texts on the shelf, in the shell."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from .commands import Commands, command
from .output import print_answer, print_note
from .progress import show_count

if TYPE_CHECKING:
    from ..library import Library


def add(commands: Commands) -> None:
    """Register the command."""
    convert = command(commands, "shelf convert", _convert_texts)
    convert.add_argument(
        "--to", dest="form", choices=("txt", "md"), required=True,
        help="md: notes with YAML front matter (Obsidian, Logseq, Quarto); txt: plain text files",
    )  # fmt: skip
    convert.add_argument("--dry-run", action="store_true", help="say what would be done, and stop")


def _convert_texts(args: argparse.Namespace, library: Library) -> int:
    counts: Counter[str] = Counter()
    changes = library.upkeep.convert(args.form, dry_run=args.dry_run)
    for number, change in enumerate(changes, 1):
        counts[change.outcome] += 1
        if args.json:
            print_answer(change.row(), as_json=True)
        elif change.reason:
            print_answer(f"kept {change.file}: {change.reason}")
        show_count(number, 0)
    print_note(
        ", ".join(f"{n:,} {outcome}" for outcome, n in counts.items()) or "nothing to convert"
    )
    if args.form != library.settings.papers_form and not args.dry_run:
        print_note(f"New texts still end in .{library.settings.papers_form}. For .{args.form}, set "
             f"PAPERS_FORM={args.form}")  # fmt: skip
    return 0
