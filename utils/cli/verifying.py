"""``verify`` in the shell: judge files that are not on the shelf, offline.

Exit status: 0 every file is the whole paper (doubts included) and not another one, 1 some file is
not, 2 a file or record cannot be read.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..system.plain_text import one_line
from .commands import Commands, command
from .output import NO_FULL_TEXT_STATUS, combine_statuses, print_answer, print_error

if TYPE_CHECKING:
    from ..curation.verification import Verification
    from ..library import Library

_MARK_BY_WHOLENESS = {"whole": "✓", "doubtful": "?", "not_whole": "✗"}
_IDENTITY_LABELS = {
    "same": "this paper",
    "other": "another paper",
    "unknown": "not compared with a record",
}


def add(commands: Commands) -> None:
    """Register the command."""
    parser = command(commands, "shelf verify", _verify_files)
    parser.add_argument(
        "file",
        nargs="*",
        type=Path,
        help="files of HTML, PDF, JATS or Elsevier XML, Markdown or plain text",
    )
    parser.add_argument(
        "--paper",
        default="",
        former=["--id"],
        help="the identifier of the paper that the file should be",
    )
    parser.add_argument(
        "--record", metavar="FILE", type=Path, help="the paper's record, as one CSL-JSON item"
    )
    parser.add_argument(
        "--pairs", metavar="FILE", type=Path, help='a JSON list of {"file", "url", "record"}'
    )


def _verify_files(args: argparse.Namespace, library: Library) -> int:
    if bool(args.file) == bool(args.pairs):
        raise BadRequest(
            "No file was given.",
            f"For example: {command_line('shelf verify page.html')}",
        )
    if len(args.file) > 1 and (args.paper or args.record):
        msg = "--paper and --record describe one file, and several are named."
        raise BadRequest(msg, "Use --pairs for several files with records.")
    if args.pairs:
        results = library.verify(pairs=args.pairs)
    else:
        results = library.verify(args.file, paper=args.paper, record=args.record)
    return combine_statuses([_show_result(result, as_json=args.json) for result in results])


def _show_result(result: Verification | PaperError, *, as_json: bool) -> int:
    """Print the judgement of one file, or the error, and return the exit status."""
    if isinstance(result, PaperError):
        return print_error(result, as_json)
    fails = result.outcome == "not_whole" or result.identity == "other"
    if as_json:
        print_answer(result.row(), as_json=True)
        return NO_FULL_TEXT_STATUS if fails else 0
    counts = ", ".join(f"{number:,} {name}" for name, number in result.counts.items() if number)
    print_answer(
        f"{_MARK_BY_WHOLENESS[result.outcome]} {one_line(result.file)}: "
        f"{result.verdict.replace('_', ' ')}, "
        f"{_IDENTITY_LABELS[result.identity]}{f' ({counts})' if counts else ''}"
    )
    for reason in result.evidence:
        print_answer(f"  {one_line(reason)}")
    return NO_FULL_TEXT_STATUS if fails else 0
