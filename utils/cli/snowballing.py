"""Citation searching in the shell: what a list cites, and who cites it."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..citations import to_ris
from ..errors import BadRequest
from ..model.paper import Paper
from ..system.plain_text import cell, one_line
from ..system.safe_files import replacing
from .commands import command
from .output import NO_FULL_TEXT, counted, note, read_arguments, say

if TYPE_CHECKING:
    from ..library import Library
    from ..review.indexes import Direction
    from ..review.snowball import Candidate, Snowball

_COLUMNS = ("papers", "round", "pmid", "doi", "title", "year", "journal", "led_to_by", "indexes")
_MOST_ROUNDS = 5
_MOST_SHOWN = 20  # printed references that are no paper yet


def add(commands: Any) -> None:
    """Register the command."""
    parser = command(commands, "snowball", _snowball)
    parser.add_argument("what", nargs="*", help="identifiers, or files of them; - is stdin")
    add_directions(parser)
    parser.add_argument("--rounds", type=int, default=1, help="go on from what was found (1)")
    parser.add_argument(
        "--most", type=int, default=50, help="of a round, those the next begins with (50)"
    )
    parser.add_argument("--known", type=Path, help="a list of papers that are no candidates")
    parser.add_argument("--output", type=Path, help="write them: .ris or .csv")
    parser.add_argument(
        "--unmatched", type=Path, help="write the printed references that are no paper yet: .csv"
    )


def add_directions(parser: argparse.ArgumentParser) -> None:
    """Both directions are searched where none is named."""
    parser.add_argument("--backward", action="store_true", help="only what they cite")
    parser.add_argument("--forward", action="store_true", help="only who cites them")


def directions_of(args: argparse.Namespace) -> list[Direction]:
    """The directions that are meant."""
    named: list[Direction] = []
    named += ["backward"] * (args.backward or not args.forward)
    named += ["forward"] * (args.forward or not args.backward)
    return named


def _snowball(args: argparse.Namespace, library: Library) -> int:
    if not 1 <= args.rounds <= _MOST_ROUNDS or args.most < 1:
        msg = f"--rounds lies between 1 and {_MOST_ROUNDS}, --most is 1 at the least."
        raise BadRequest(msg, "Begin with one round.")
    if args.output and args.output.suffix not in (".ris", ".csv"):
        raise BadRequest(f"{args.output} is no .ris and no .csv.", "Name it so.")
    library.settings.require_email("NCBI")
    seeds = _papers(args.what, library)
    known = _papers([str(args.known)], library) if args.known else []
    found = library.snowball(
        seeds, known=known, directions=directions_of(args), rounds=args.rounds, most=args.most
    )
    if args.output:
        _write(args.output, found)
    if args.unmatched:
        with replacing(args.unmatched) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("cited_by", "reference"))
            writer.writerows([cell(seed), cell(line)] for seed, line in found.unmatched)
    for one in found.candidates:
        say(_row(one) if args.json else _line(one), args.json)
    say_what_was_asked(found)
    return NO_FULL_TEXT if found.notes else 0


def say_what_was_asked(found: Snowball) -> None:
    """The account on standard error."""
    asked = ", ".join(found.indexes) or "no index"
    many = counted(len(found.candidates), "new paper")
    note(f"{many}, {found.known:,} known already; asked: {asked}.")
    for remark in found.notes:
        note(f"note: {remark}")
    if found.unmatched:
        many = counted(len(found.unmatched), "printed reference")
        note(f"{many} without identifier could be matched to no paper:")
    for seed, line in found.unmatched[:_MOST_SHOWN]:
        note(f"  {seed}: {line[:160]}")
    if (rest := len(found.unmatched) - _MOST_SHOWN) > 0:
        note(f"  … and {rest:,} more (`snowball --unmatched FILE` writes all)")


def _papers(words: list[str], library: Library) -> list[Paper]:
    """The papers of a list, as far as they are known."""
    asked = read_arguments(words)
    if asked.query:
        raise BadRequest("Citations are searched of a list, not of a query.", "Harvest it first.")
    entries = asked.entries
    known = dict(library.records(entry.ids for entry in entries if entry.ids))
    made = []
    for entry in entries:
        paper = known.get(entry.ids) if entry.ids else entry.paper
        made.append(paper if isinstance(paper, Paper) else Paper(entry.ids))
    return [paper for paper in made if paper.ids or paper.title]


def _row(one: Candidate) -> dict[str, Any]:
    paper = one.paper
    return {
        "papers": len(one.seeds),
        "round": one.round,
        "pmid": paper.ids.pmid,
        "doi": paper.ids.doi,
        "title": paper.title,
        "year": paper.year,
        "journal": paper.journal or paper.journal_abbreviation,
        "led_to_by": list(one.seeds),
        "indexes": list(one.indexes),
    }


def _line(one: Candidate) -> str:
    name = one.paper.title or str(one.paper.ids)
    return f"{len(one.seeds):>4}  {one_line(name)[:120]}  {one.paper.ids or ''}".rstrip()


def _write(path: Path, found: Snowball) -> None:
    with replacing(path) as file:
        if path.suffix == ".ris":
            file.writelines(to_ris(one.paper) for one in found.candidates)
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for one in found.candidates:
            row = _row(one)
            lists = {name: "; ".join(row[name]) for name in ("led_to_by", "indexes")}
            writer.writerow([cell(str((row | lists)[name])) for name in _COLUMNS])
