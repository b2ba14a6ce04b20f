"""Figures, tables and supplementary files in the shell."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import PaperError
from ..model.objects import OBJECT_KINDS, ObjectKind
from ..system.plain_text import one_line, shortened
from .output import NO_FULL_TEXT, command, note, say, worst

if TYPE_CHECKING:
    from ..library import Library
    from ..objects import Kept

_CAPTION = 70  # characters
_PLURAL: dict[ObjectKind, str] = {
    "figure": "figures",
    "table": "tables",
    "supplement": "supplements",
}


def add(commands: Any) -> None:
    """Register the commands."""
    about = "put figures, tables and supplementary files beside a paper"
    media = command(commands, "media", _media, about)
    media.add_argument("paper", nargs="+", help="identifiers or file names of papers on the shelf")
    for kind in OBJECT_KINDS:
        media.add_argument(f"--{_PLURAL[kind]}", dest="kinds", action="append_const", const=kind)
    media.add_argument("--list", dest="fetch", action="store_false", help="fetch nothing")
    media.add_argument("--most-mb", type=int, default=500, help="of one paper's files (500)")


def _media(args: argparse.Namespace, library: Library) -> int:
    statuses = []
    options = {"kinds": tuple(args.kinds or OBJECT_KINDS), "fetch": args.fetch}
    for paper in args.paper:
        try:
            found = library.objects(paper, **options, most_bytes=args.most_mb * 1_000_000)
        except PaperError as error:
            statuses.append(error.exit_code)
            say(
                {"paper": paper, **error.envelope()} if args.json else f"✗ {paper}: {error}",
                args.json,
            )
            continue
        missing = sum(not one.file for one in found.objects)
        statuses.append(NO_FULL_TEXT if args.fetch and missing else 0)
        for one in found.objects:
            say({"paper": paper, **one.row()} if args.json else _line(one), args.json)
        note(_sum(paper, found.objects, str(found.folder) if args.fetch else ""))
    return worst(statuses)


def _line(one: Kept) -> str:
    """``Table 1  12 × 4  Means by group``, and where it lies or why it does not."""
    size = f"  {one.rows} × {one.columns}" if one.rows else ""
    weight = f"  {one.bytes / 1000:,.0f} kB" if one.bytes and not one.rows else ""
    caption = shortened(one_line(one.caption), _CAPTION)
    where = one.file or f"{one.reason} {one.url}".strip()
    return (
        f"{'●' if one.file else '○'} {one.label or one.kind}{size}{weight}  {caption}\n    {where}"
    )


def _sum(paper: str, objects: tuple[Kept, ...], folder: str) -> str:
    counts = [
        f"{number} {_PLURAL[kind] if number != 1 else kind}"
        for kind in OBJECT_KINDS
        if (number := sum(one.kind == kind for one in objects))
    ]
    there = sum(bool(one.file) for one in objects)
    where = f" in {folder}" if folder and there else ""
    return f"{paper}: {', '.join(counts) or 'nothing'}; {there} on the shelf{where}"
