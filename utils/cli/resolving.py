"""The command ``resolve``: find the papers of a list without identifiers, and complete the list.

What is not sure is listed with its candidates. Exit status: 0 every paper is known, 1 some are not,
3 nothing but sites that did not answer.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..errors import BadRequest
from ..model.paper import Paper
from ..system.plain_text import one_line, to_spreadsheet_cell
from ..system.safe_files import replace_text_file
from .commands import Commands, command
from .options import add_output_option, require_output
from .output import (
    NO_FULL_TEXT_STATUS,
    UNREACHABLE_STATUS,
    pluralize,
    print_answer,
    print_note,
    read_arguments,
)
from .progress import show_count

if TYPE_CHECKING:
    from ..library import Library
    from ..lists.pasted import ListEntry
    from ..search.resolve import Resolution

_DELIMITER_BY_SUFFIX = {".csv": ",", ".tsv": "\t"}
_STYLE_BY_SUFFIX = {".ris": "ris", ".bib": "bibtex", ".nbib": "nbib"}
_COLUMNS = (
    *("row", "status", "pmid", "pmcid", "doi", "arxiv", "confidence", "title", "authors", "year"),
    *("journal", "volume", "issue", "pages", "asked for", "why", "named by", "candidates"),
)
_MARK_BY_STATUS = {"given": "●", "resolved": "●", "candidates": "?", "could_not_tell": "…"}
_STATUS_LABELS = {
    "given": "with an identifier",
    "resolved": "resolved",
    "candidates": "with uncertain candidates",
    "not_found": "not found",
    "could_not_tell": "unknown, because a site did not answer",
    "unreadable": "with too little data to search for",
}


def add(commands: Commands) -> None:
    """Register the command."""
    asked = command(commands, "harvest resolve", _resolve_list)
    asked.add_argument(
        "what", nargs="*", help="files with titles (RIS, NBIB, CSV …); - reads stdin"
    )
    add_output_option(asked, "write the completed list: .csv, .tsv, .ris, .bib or .nbib", kind=Path)
    asked.add_argument(
        "--again",
        action="store_true",
        former=["--anew"],
        help="search again for papers that were not found",
    )


def _resolve_list(args: argparse.Namespace, library: Library) -> int:
    if args.output:
        require_output(args.output, [*_DELIMITER_BY_SUFFIX, *_STYLE_BY_SUFFIX])
    request = read_arguments(args.what)
    if request.query:
        msg = f"{request.query!r} is not a file of references."
        raise BadRequest(msg, f"Give a file. To search by words: {command_line('search QUERY')}")
    entries = request.entries
    found: list[Resolution] = []
    show_count(0, len(entries))
    for one in library.references.resolve(entries, again=args.again):
        found.append(one)
        print_answer(
            {"row": len(found), **one.row()} if args.json else _format_resolution(len(found), one),
            args.json,
        )
        show_count(len(found), len(entries))
    if args.output:
        _write_list(args.output, entries, found, library)
        print_note(f"Written: {args.output}")
    _print_summary(found)
    return _choose_exit_status(found)


def _format_resolution(number: int, one: Resolution) -> str:
    """Return a reference and its paper."""
    head = f"{_MARK_BY_STATUS.get(one.status, '✗')} {number}. {one_line(one.asked)[:120]}"
    if one.ids:
        return f"{head}\n    {str(one) or one.ids}"
    said = f"{_STATUS_LABELS[one.status]}. {one.message}".rstrip(". ")
    return "\n".join([head, f"    {said}", *(f"    {candidate}" for candidate in one.candidates)])


def _print_summary(found: Sequence[Resolution]) -> None:
    counts: Counter[str] = Counter(one.status for one in found)
    told = ", ".join(
        f"{counts[word]:,} {words}" for word, words in _STATUS_LABELS.items() if counts[word]
    )
    print_note(f"{pluralize(len(found), 'reference')}: {told}")
    if counts["could_not_tell"]:
        print_note("To retry the unknown ones, run the same command; the others are kept.")


def _choose_exit_status(found: Sequence[Resolution]) -> int:
    if all(one.ids for one in found):
        return 0
    if all(one.status == "could_not_tell" for one in found):
        return UNREACHABLE_STATUS
    return NO_FULL_TEXT_STATUS


def _write_list(
    path: Path, entries: Sequence[ListEntry], found: Sequence[Resolution], library: Library
) -> None:
    """Write the completed list: database records where the paper is known, or the list's own."""
    known = dict(library.references.records(dict.fromkeys(one.ids for one in found if one.ids)))
    papers: list[Paper] = []
    for entry, one in zip(entries, found, strict=True):
        record = known.get(one.ids)
        papers.append(record if isinstance(record, Paper) else entry.paper or Paper(one.ids))
    with replace_text_file(path) as file:
        if style := _STYLE_BY_SUFFIX.get(path.suffix.lower()):
            file.writelines(row[style] for row in library.references.citations(papers, [style]))
        else:
            writer = csv.writer(
                file, delimiter=_DELIMITER_BY_SUFFIX[path.suffix.lower()], lineterminator="\n"
            )
            writer.writerow(_COLUMNS)
            writer.writerows(_to_cell_rows(papers, found))


def _to_cell_rows(papers: Sequence[Paper], found: Sequence[Resolution]) -> Iterable[list[object]]:
    for number, (paper, one) in enumerate(zip(papers, found, strict=True), 1):
        ids, may_be = one.ids, "; ".join(map(str, one.candidates))
        arxiv = f"arXiv:{ids.arxiv}" if ids.arxiv else ""
        yield [
            to_spreadsheet_cell(value)
            for value in (
                *(number, one.status, ids.pmid, ids.pmcid, ids.doi, arxiv, one.confidence or ""),
                *(paper.title, "; ".join(author.name for author in paper.authors), paper.year),
                *(paper.journal, paper.volume, paper.issue, paper.pages, one.asked),
                *(one.reason or one.message, one.named_by, may_be),
            )
        ]
