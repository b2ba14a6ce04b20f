"""Shell commands that read papers from Zotero, and write into it."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..model.paper import Paper
from ..system.plain_text import one_line, to_cell
from ..system.safe_files import replace_text_file
from .commands import Commands, command
from .options import add_output_option, require_output
from .output import note, pluralize, say

if TYPE_CHECKING:
    from ..library import Library

_STYLES = {".ris": "ris", ".bib": "bibtex", ".nbib": "nbib"}
_COLUMNS = ("pmid", "pmcid", "doi", "arxiv", "title", "authors", "year", "journal")


def add(commands: Commands) -> None:
    """Register the commands."""
    pull = command(commands, "zotero pull", _pull_papers)
    pull.add_argument("--collection", default="", help="only this one: its name, path or key")
    pull.add_argument(
        "--database", default="", metavar="PATH",
        help="read zotero.sqlite, or the folder with it, instead of the running Zotero",
    )  # fmt: skip
    add_output_option(pull, "write the list: .ris, .bib, .nbib or .csv", kind=Path)


def _pull_papers(args: argparse.Namespace, library: Library) -> int:
    if args.output:
        require_output(args.output, (*_STYLES, ".csv"))
    entries = library.zotero.pull(args.collection, database=args.database)
    papers = [entry.paper for entry in entries if entry.paper]
    if args.output:
        _write_list(args.output, papers, library)
        note(f"Written: {args.output}")
    for paper in papers:
        row = paper.short_row() | {"arxiv": paper.ids.arxiv}
        if args.json:
            say(row, as_json=True)
        elif not args.output:
            say(f"{paper.ids or 'no identifier'}  {one_line(paper.title)[:120]}".strip())
    nameless = sum(not paper.ids for paper in papers)
    note(f"{pluralize(len(papers), 'paper')}, {nameless:,} of them without an identifier.")
    if not args.output:
        words = quote(f"zotero:{args.collection}")
        note(f"To get their texts: {command_line(f'harvest {words}')}")
    return 0


def _write_list(path: Path, papers: Sequence[Paper], library: Library) -> None:
    """Write the papers in the form that the file's name asks for."""
    with replace_text_file(path) as file:
        if style := _STYLES.get(path.suffix.lower()):
            file.writelines(row[style] for row in library.references.citations(papers, [style]))
            return
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for paper in papers:
            ids, authors = paper.ids, "; ".join(author.name for author in paper.authors)
            cells = (ids.pmid, ids.pmcid, ids.doi, f"arXiv:{ids.arxiv}" if ids.arxiv else "")
            writer.writerow(
                [to_cell(one) for one in (*cells, paper.title, authors, paper.year, paper.journal)]
            )
