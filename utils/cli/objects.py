"""Figures, tables and supplementary files in the shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command_line import command_line
from ..errors import BadRequest, PaperError
from ..model.paper import OBJECT_KINDS, ObjectKind
from ..system.nearest import suggest_nearest_name
from ..system.plain_text import one_line
from .commands import Commands, command
from .options import add_megabytes_option
from .output import NO_FULL_TEXT_STATUS, combine_statuses, print_answer, print_note

if TYPE_CHECKING:
    from ..library import Library
    from ..media import PaperObjects, StoredObject

_CAPTION_MAX_CHARS = 70  # characters
KIND_BY_PLURAL: dict[str, ObjectKind] = {
    "figures": "figure",
    "tables": "table",
    "supplements": "supplement",
}
PaperOutcome = tuple[str, "PaperObjects | PaperError"]


def add(commands: Commands) -> None:
    """Register the commands."""
    media = command(commands, "shelf media", _fetch_media)
    media.add_argument("paper", nargs="*", help="identifiers or file names of papers on the shelf")
    media.add_argument("--job", default="", help="of all full texts in this harvest")
    for name, kind in KIND_BY_PLURAL.items():
        media.add_argument(f"--{name}", dest="kinds", action="append_const", const=kind)
    media.add_argument("--only", default="", help='only this object, such as "Table 2"')
    media.add_argument(
        "--no-fetch",
        dest="fetch",
        action="store_false",
        former=["--list"],
        help="list the objects without downloading them",
    )
    add_megabytes_option(media)


def parse_kinds(words: str) -> tuple[ObjectKind, ...]:
    """Return the kinds named in a list separated by commas.

    Raises
    ------
    BadRequest
        One of its words is not a kind.
    """
    named = [word.strip().lower() for word in words.split(",") if word.strip()]
    if strange := [word for word in named if word not in KIND_BY_PLURAL]:
        msg = f"{strange[0]!r} is not a kind of media."
        known = f"Choose among {', '.join(KIND_BY_PLURAL)}."
        raise BadRequest(msg, suggest_nearest_name(strange[0], KIND_BY_PLURAL), known)
    return tuple(KIND_BY_PLURAL[word] for word in named)


def _fetch_media(args: argparse.Namespace, library: Library) -> int:
    if bool(args.paper) == bool(args.job):
        raise BadRequest(
            "No paper was named.",
            f"For example: {command_line('shelf media --job JOB')}",
        )
    options = {
        "kinds": tuple(args.kinds or OBJECT_KINDS),
        "fetch": args.fetch,
        "max_bytes": args.max_mb * 1_000_000,
    }
    if args.only and args.job:
        raise BadRequest(
            "--only cannot be used with --job, which has many papers.", "Leave out --only or --job."
        )
    one = {"only": args.only, **options}
    found = (
        iterate_job_objects(library, args.job, options)
        if args.job
        else _iterate_objects(args.paper, library, one)
    )
    return show_objects(found, args.json, fetched=args.fetch)


def _iterate_objects(
    papers: Sequence[str], library: Library, options: dict[str, Any]
) -> Iterator[PaperOutcome]:
    for paper in papers:
        try:
            yield paper, library.objects(paper, **options)
        except PaperError as error:
            yield paper, error


def iterate_job_objects(
    library: Library, job_id: str, options: dict[str, Any]
) -> Iterator[PaperOutcome]:
    """Yield the objects of every full text of a harvest."""
    for found in library.texts.all_objects(job_id, **options):
        if isinstance(found, tuple):
            stored, error = found
            yield Path(stored.path).name, error
        else:
            yield str(found.stored.paper.ids), found


def show_objects(outcomes: Iterable[PaperOutcome], as_json: bool, *, fetched: bool = True) -> int:
    """Print the outcome for each paper's objects, and return the exit status."""
    statuses = []
    for paper, found in outcomes:
        if isinstance(found, PaperError):
            statuses.append(found.exit_code)
            row = {"paper": paper, **found.envelope()}
            print_answer(row if as_json else f"✗ {paper}: {found}", as_json)
            continue
        statuses.append(
            NO_FULL_TEXT_STATUS if fetched and not all(o.file for o in found.objects) else 0
        )
        for one in found.objects:
            print_answer({"paper": paper, **one.row()} if as_json else _format_object(one), as_json)
        print_note(_summarize_objects(paper, found.objects, str(found.folder) if fetched else ""))
    return combine_statuses(statuses) if statuses else 0


def _format_object(one: StoredObject) -> str:
    """Return ``● Table 1  12 × 4  Means by group`` with the file, or why the file is missing."""
    size = f"  {one.rows} × {one.columns}" if one.rows else ""
    weight = f"  {one.bytes / 1000:,.0f} kB" if one.bytes and not one.rows else ""
    caption = _shorten_caption(one_line(one.caption), _CAPTION_MAX_CHARS)
    where = one.file or f"{one.reason} {one.url}".strip()
    mark = "●" if one.file else "○"
    return f"{mark} {one.label or one.kind}{size}{weight}  {caption}\n    {where}"


def _shorten_caption(text: str, most: int) -> str:
    """Return the first words of a caption.

    >>> _shorten_caption("Means of all groups", 11)
    'Means of…'
    """
    if len(text) <= most:
        return text
    cut = text[:most]
    words = cut.rpartition(" ")[0] if text[most] != " " else cut
    return f"{(words or cut).rstrip(' ,;:.(')}…"


def _summarize_objects(paper: str, objects: Sequence[StoredObject], folder: str) -> str:
    counts = [
        f"{number} {name if number != 1 else kind}"
        for name, kind in KIND_BY_PLURAL.items()
        if (number := sum(one.kind == kind for one in objects))
    ]
    there = sum(bool(one.file) for one in objects)
    where = f" in {folder}" if folder and there else ""
    return f"{paper}: {', '.join(counts) or 'nothing'}; {there} on the shelf{where}"
