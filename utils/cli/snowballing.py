"""The command ``review snowball``: search the citations of a list in both directions."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..citations import format_ris_record
from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import Paper
from ..system.named_files import require_writable_path
from ..system.plain_text import one_line, to_spreadsheet_cell
from ..system.safe_files import replace_text_file
from .commands import Commands, command
from .options import add_output_option, parse_whole_number, require_output
from .output import NO_FULL_TEXT_STATUS, pluralize, print_answer, print_note, read_arguments

if TYPE_CHECKING:
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..review.snowball import CitationCandidate, Snowball
    from ..search.citation_indexes import Direction

_COLUMNS = ("papers", "round", "pmid", "doi", "title", "year", "journal", "led_to_by", "indexes")
_MAX_ROUNDS = 5
_DEFAULT_PAPERS_PER_ROUND = 50
_MAX_SHOWN_REFERENCES = 20  # printed references that are no paper yet


def add(commands: Commands) -> None:
    """Register the command."""
    parser = command(commands, "review snowball", _search_citations)
    parser.add_argument(
        "what",
        nargs="*",
        help="the name of a review; or identifiers, or files with identifiers; - reads stdin",
    )
    parser.add_argument(
        "--backward", action="store_true", help="search only the works that they cite"
    )
    parser.add_argument(
        "--forward", action="store_true", help="search only the works that cite them"
    )
    parser.add_argument(
        "--rounds",
        type=parse_whole_number,
        default=0,
        metavar="N",
        help="the number of rounds; each starts from the papers found before (1)",
    )
    parser.add_argument(
        *("--per-round",), dest="most", type=parse_whole_number, default=0, metavar="N",
        former=["--most"],
        help="start the next round from at most N papers (50)",
    )  # fmt: skip
    parser.add_argument(
        "--known", type=Path, metavar="FILE", help="a list of papers to leave out of the candidates"
    )
    add_output_option(parser, "write the candidates: .ris or .csv", kind=Path)
    parser.add_argument(
        *("--unmatched",), type=Path, metavar="FILE",
        help="write the references that match no paper: .csv",
    )  # fmt: skip


def _parse_directions(args: argparse.Namespace) -> list[Direction]:
    """Return the directions to search; both if none is named."""
    named: list[Direction] = []
    named += ["backward"] * (args.backward or not args.forward)
    named += ["forward"] * (args.forward or not args.backward)
    return named


def _search_citations(args: argparse.Namespace, library: Library) -> int:
    if review := _find_review_name(args.what, library):
        return _snowball_review(review, args, library)
    if args.rounds > _MAX_ROUNDS:
        raise BadRequest(f"--rounds must be at most {_MAX_ROUNDS}.", "Start with one round.")
    if args.output:
        require_output(args.output, (".ris", ".csv"))
    if args.unmatched:
        require_writable_path(args.unmatched)
    seeds = _read_entries(args.what, library)
    known = _read_entries([str(args.known)], library) if args.known else []
    library.settings.require_email("NCBI")
    found = library.reviews.snowball(
        _fetch_papers(seeds, library),
        known=_fetch_papers(known, library),
        directions=_parse_directions(args),
        rounds=args.rounds or 1,
        per_round=args.most or _DEFAULT_PAPERS_PER_ROUND,
    )
    if args.output:
        _write_candidates(args.output, found)
    if args.unmatched:
        with replace_text_file(args.unmatched) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("cited_by", "reference"))
            writer.writerows(
                [to_spreadsheet_cell(seed), to_spreadsheet_cell(line)]
                for seed, line in found.unmatched
            )
    for one in found.candidates:
        print_answer(_to_candidate_row(one) if args.json else _format_candidate(one), args.json)
    _note_indexes(found)
    return NO_FULL_TEXT_STATUS if found.notes else 0


def _find_review_name(words: Sequence[str], library: Library) -> str:
    """Return the name of the review; empty if the words are papers or files."""
    names = [review.name for review in library.reviews.all()] if len(words) == 1 else []
    return words[0] if len(words) == 1 and words[0] in names else ""


def _snowball_review(name: str, args: argparse.Namespace, library: Library) -> int:
    """Search the citations of a review's included papers; new papers join the review."""
    options = {"--rounds": args.rounds, "--per-round": args.most, "--known": args.known}
    options |= {"--output": args.output, "--unmatched": args.unmatched}
    if named := [option for option, value in options.items() if value]:
        msg = (
            f"{', '.join(named)} cannot be used with a review, which takes in new papers in "
            "one round."
        )
        raise BadRequest(msg, "Leave the option out, or give a list of papers instead of a review.")
    library.settings.require_email("NCBI")
    found = library.reviews.open(name).snowball(_parse_directions(args))
    for one in found.candidates:
        row = {"title": one.paper.title, "ids": one.paper.ids.names(), "led_to_by": one.seeds}
        print_answer(row if args.json else f"{len(one.seeds):>4}  {one.paper.title}", args.json)
    _note_indexes(found)
    return 0


def _note_indexes(found: Snowball) -> None:
    """Print which indexes were asked, and which references did not match."""
    asked = ", ".join(found.indexes) or "no index"
    many = pluralize(len(found.candidates), "new paper")
    print_note(f"{many}, {found.known:,} already known; sites asked: {asked}.")
    for remark in found.notes:
        print_note(f"note: {remark}")
    if found.unmatched:
        many = pluralize(len(found.unmatched), "printed reference")
        print_note(f"{many} without an identifier match no paper:")
    for seed, line in found.unmatched[:_MAX_SHOWN_REFERENCES]:
        print_note(f"  {seed}: {line[:160]}")
    if (rest := len(found.unmatched) - _MAX_SHOWN_REFERENCES) > 0:
        print_note(f"  … and {rest:,} more; to write all of them: --unmatched FILE")


def _read_entries(words: Sequence[str], library: Library) -> list[ListEntry]:
    """Return the entries of lists; a word that is not an identifier is an unknown review."""
    asked = read_arguments(words)
    if asked.query and len(words) == 1:
        library.reviews.open(words[0])  # which says that there is none
    if asked.query:
        msg = "Citations are searched of a review or a list, not of a query."
        raise BadRequest(msg, f"Harvest it first: {command_line(f'harvest {quote(asked.query)}')}")
    return asked.entries


def _fetch_papers(entries: Sequence[ListEntry], library: Library) -> list[Paper]:
    """Return the papers of a list, with their records where known."""
    known = dict(library.references.records(entry.ids for entry in entries if entry.ids))
    made = []
    for entry in entries:
        paper = known.get(entry.ids) if entry.ids else entry.paper
        made.append(paper if isinstance(paper, Paper) else Paper(entry.ids))
    return [paper for paper in made if paper.ids or paper.title]


def _to_candidate_row(one: CitationCandidate) -> dict[str, Any]:
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


def _format_candidate(one: CitationCandidate) -> str:
    name = one.paper.title or str(one.paper.ids)
    return f"{len(one.seeds):>4}  {one_line(name)[:120]}  {one.paper.ids or ''}".rstrip()


def _write_candidates(path: Path, found: Snowball) -> None:
    with replace_text_file(path) as file:
        if path.suffix == ".ris":
            file.writelines(format_ris_record(one.paper) for one in found.candidates)
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for one in found.candidates:
            row = _to_candidate_row(one)
            lists = {name: "; ".join(row[name]) for name in ("led_to_by", "indexes")}
            writer.writerow([to_spreadsheet_cell(str((row | lists)[name])) for name in _COLUMNS])
