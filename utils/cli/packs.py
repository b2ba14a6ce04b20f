"""Packs of references with their PDF files, in the shell."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest
from .commands import Commands, command
from .options import add_keys_option, add_output_option
from .output import (
    NO_FULL_TEXT_STATUS,
    format_bytes,
    pluralize,
    print_answer,
    print_note,
    read_arguments,
)

if TYPE_CHECKING:
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..packs import Pack

_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9-]*", re.I)


def add(commands: Commands) -> None:
    """Register the command."""
    pack = command(commands, "export pack", _write_pack)
    pack.add_argument(
        "what", nargs="+", help="a harvest, a review, or a list: identifiers or files of references"
    )
    pack.add_argument(
        "--for",
        dest="program",
        default="folder",
        choices=("covidence", "endnote", "folder", "rayyan", "zotero"),
        help="the program that imports the pack (folder)",
    )
    about = "the folder, or a name that ends with .zip (packs/NAME-PROGRAM on the shelf)"
    add_output_option(pack, about, kind=Path)
    pack.add_argument("--zip", action="store_true", help="write a ZIP instead of a folder")
    pack.add_argument(
        "--names",
        default="",
        metavar="PATTERN",
        help="names of the PDF files: '{author} {year} {title}', also {authors}, {journal}, {doi}, "
        "{pmid}, {pmcid}, {arxiv}, {key}",
    )
    add_keys_option(pack)
    pack.add_argument(
        "--own-use",
        action="store_true",
        help="also files that may not be passed on or state no licence: keep the pack to yourself",
    )
    pack.add_argument(
        "--render",
        action="store_true",
        help="print the text of papers without a PDF, marked as such (extra render)",
    )
    pack.add_argument("--dry-run", action="store_true", help="write nothing; say what it takes")


def _write_pack(args: argparse.Namespace, library: Library) -> int:
    papers, title = read_named_papers(args.what)
    pack = library.references.pack(
        papers,
        args.program,
        output=args.output or "",
        zipped=args.zip,
        title=title,
        names=args.names,
        keys=args.keys,
        own_use=args.own_use,
        render=args.render,
        dry_run=args.dry_run,
    )
    if args.json:
        print_answer(_to_row(pack), as_json=True)
    else:
        print_answer(_format_pack(pack, dry_run=args.dry_run))
        for line in _format_reasons(pack):
            print_note(line)
    return NO_FULL_TEXT_STATUS if pack.missing else 0


def read_named_papers(words: list[str]) -> tuple[str | dict[str, list[ListEntry]], str]:
    """Return the name of a harvest or review, or lists by their names, and their title."""
    from ..model.identifiers import Ids

    [first, *rest] = words
    if (
        not rest
        and _NAME_PATTERN.fullmatch(first)
        and not Path(first).exists()
        and not Ids.maybe(first)
    ):
        return first, ""
    asked = read_arguments(words)
    if asked.query:
        msg = f"{asked.query!r} is not a harvest, a review, a file or an identifier."
        raise BadRequest(msg, f"To list the harvests: {command_line('harvest status')}")
    return asked.lists, asked.title


def _format_pack(pack: Pack, *, dry_run: bool) -> str:
    counts = f"{len(pack.attached):,} of {pluralize(len(pack.references), 'reference')} with a PDF"
    if pack.rendered:
        counts += f" ({len(pack.rendered):,} printed from the text)"
    if dry_run:
        return f"{counts}, {format_bytes(pack.size)}; nothing was written to {pack.path}"
    state = "" if pack.is_new else ", unchanged"
    return f"{pack.path}\n{counts}, {format_bytes(pack.size)}{state}"


def _format_reasons(pack: Pack) -> Iterator[str]:
    """Yield why references have no PDF, the most frequent reason first, and what to do."""
    from ..reports.labels import get_missing_reason

    for name, count in pack.reasons.items():
        reason = get_missing_reason(name)
        yield f"{count:,} without a PDF: {reason.name}. {reason.advice}"


def _to_row(pack: Pack) -> dict[str, Any]:
    return {
        "file_path": str(pack.path),
        "program": pack.program,
        "references": len(pack.references),
        "attached": len(pack.attached),
        "rendered": len(pack.rendered),
        "missing": pack.reasons,
        "bytes": pack.size,
        "new": pack.is_new,
    }
