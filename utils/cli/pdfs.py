"""The PDF of each text, in the shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..system.plain_text import one_line
from .commands import Commands, command
from .output import NO_FULL_TEXT_STATUS, print_answer, print_note
from .progress import show_count

if TYPE_CHECKING:
    from ..download.pdfs import PdfOutcome
    from ..library import Library


def add(commands: Commands) -> None:
    """Register the command."""
    pdf = command(commands, "shelf pdf", _fetch_pdfs)
    pdf.add_argument("paper", nargs="*", help="identifiers or file names; default: the whole shelf")
    pdf.add_argument("--job", dest="job_id", default="", help="only papers of this harvest")


def _fetch_pdfs(args: argparse.Namespace, library: Library) -> int:
    return show_pdfs(library.texts.fetch_pdfs(args.paper, job_id=args.job_id), args.json)


def show_pdfs(outcomes: Iterable[PdfOutcome], as_json: bool) -> int:
    """Print which papers have a PDF now; return the exit status."""
    have = new = missing = 0
    for number, outcome in enumerate(outcomes, 1):
        have, new = have + bool(outcome.pdf), new + outcome.is_new
        missing += outcome.pdf is None
        if as_json:
            print_answer(_to_row(outcome), as_json=True)
        elif outcome.is_new or outcome.pdf is None:
            print_answer(_to_line(outcome))
        show_count(number, 0)
    if have or missing:
        print_note(f"{have:,} with a PDF ({new:,} new), {missing:,} without")
    else:
        print_note("No full text among these papers, so no PDF was looked for.")
    return NO_FULL_TEXT_STATUS if missing else 0


def _to_row(outcome: PdfOutcome) -> dict[str, Any]:
    pdf = outcome.pdf
    row: dict[str, Any] = {"paper": str(outcome.stored.paper.ids), "text": outcome.stored.path}
    if pdf is None:
        return row | {"pdf": "", "attempts": [asdict(one) for one in outcome.attempts]}
    facts = {name: getattr(pdf, name) for name in ("url", "via", "version", "license")}
    return row | {"pdf": str(pdf.path), "new": outcome.is_new, **facts}


def _to_line(outcome: PdfOutcome) -> str:
    ids = outcome.stored.paper.ids
    if outcome.pdf is None:
        reasons = ", ".join(f"{one.source} {one.outcome}" for one in outcome.attempts)
        return f"○ {ids}: no PDF ({reasons or 'no route offers a PDF of this paper'})"
    pdf = outcome.pdf
    differs = pdf.version and pdf.version != (outcome.stored.version or "published")
    version = f", the {pdf.version} version" if differs else ""
    return f"● {ids}: {pdf.path} ({one_line(pdf.via)}{version})"
