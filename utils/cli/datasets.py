"""Commands of datasets: store Entrez results as tables, query the tables in SQL, and export."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..command_line import command_line
from ..system.plain_text import clean_text, one_line
from ..system.progress_display import LINE
from .commands import Commands, command
from .options import add_limit_option, add_output_option, parse_whole_number, require_output
from .output import make_console, pluralize, print_answer, print_note, print_warnings
from .progress import show_count

if TYPE_CHECKING:
    from ..library import Library

_BYTES_PER_MB = 1e6


def add(commands: Commands) -> None:
    """Register the commands."""
    stage = command(commands, "data stage", _stage_dataset)
    stage.add_argument("database", help="pubmed, gene, clinvar, …")
    stage.add_argument("term", nargs="*", help="a query in the database's syntax")
    stage.add_argument(
        "--ids", default="", help="identifiers, separated by commas, instead of a query"
    )
    stage.add_argument("--rettype", default="", help="the form of record to use; docsum: summaries")
    add_limit_option(stage, "records", 10_000, former_names=["--max-records"])
    command(commands, "data datasets", _list_datasets).add_argument(
        "dataset",
        nargs="?",
        default="",
        help="show the tables of one dataset, with example queries",
    )
    sql = command(commands, "data sql", _run_sql)
    sql.add_argument("dataset")
    sql.add_argument("statement", help="- reads stdin")
    sql.add_argument("--start", type=parse_whole_number, default=0, metavar="N", help="skip N rows")
    add_limit_option(sql, "rows", 100, former_names=["--max-rows"])
    add_output_option(sql, "write all rows: .csv or .parquet", kind=Path, former_names=["--out"])


def _stage_dataset(args: argparse.Namespace, library: Library) -> int:
    pages = library.entrez.pages(
        args.database, args.ids, query=" ".join(args.term), rettype=args.rettype,
        max_results=args.limit, progress=show_count,
    )  # fmt: skip
    staged = library.datasets.stage(pages)
    if args.json:
        print_answer(asdict(staged), as_json=True)
        return 0
    print_answer(f"{staged.dataset}: {pluralize(staged.records, 'record')}, until {staged.expires}")
    for table, rows in staged.tables.items():
        print_answer(f"  {table:<32} {rows:>10,}")
    print_warnings(staged.warnings)
    print_note(f"To query it: {command_line(f'data datasets {staged.dataset}')}")
    return 0


def _list_datasets(args: argparse.Namespace, library: Library) -> int:
    if args.dataset:
        return _show_schema(args, library)
    datasets = library.datasets.list()
    for one in datasets:
        size = f"{one.size / _BYTES_PER_MB:.1f} MB"
        about = one.broken or f"{one.records or 0:>9,} {size:>10}  until {one.expires[:10]}"
        line = f"{one.id:<24} {about}  {one.title}"
        print_answer(asdict(one) if args.json else line, args.json)
    if not datasets:
        print_note(f"No datasets. Make one: {command_line('data stage gene BRCA1')}")
    return 0


def _show_schema(args: argparse.Namespace, library: Library) -> int:
    schema = library.datasets.schema(args.dataset)
    print_answer(asdict(schema) if args.json else schema.to_text(), args.json)
    return 0


def _run_sql(args: argparse.Namespace, library: Library) -> int:
    statement = sys.stdin.read() if args.statement == "-" else args.statement
    if args.output:
        require_output(args.output, (".csv", ".parquet"))
        export = library.datasets.export(args.dataset, statement, args.output)
        text = f"{pluralize(export.rows, 'row')} in {export.file}"
        print_answer({**asdict(export), "file": str(export.file)} if args.json else text, args.json)
        return 0
    options = {"start": args.start, "max_results": args.limit}
    found = library.datasets.query(args.dataset, statement, **options)
    if args.json:
        for row in found.rows:
            print_answer(dict(zip(found.columns, row, strict=True)), as_json=True)
    else:
        _print_table(found.columns, found.rows)
    if found.next_start is not None:
        print_note(
            f"There are more rows: use --start {found.next_start}, or --output FILE for all of "
            "them."
        )
    return 0


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table on a terminal, or tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            print_answer("\t".join(_to_cell_text(cell) for cell in row))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(*map(_to_cell_text, columns), box=box.SIMPLE_HEAD)
    for row in rows:
        numbers = (isinstance(cell, int | float) for cell in row)
        cells = zip(row, numbers, strict=True)
        table.add_row(*(Text(_to_cell_text(c), justify="right" if n else "left") for c, n in cells))
    LINE.clear_line()
    make_console().print(table)


def _to_cell_text(cell: object) -> str:
    return "" if cell is None else clean_text(one_line(str(cell)))
