"""Export all rows of a statement to a file: CSV for spreadsheets, Parquet for programs.

The statement runs once, in the process of `.sql_query`, and its rows arrive in pages: no process
ever holds all rows. The file appears when it is complete.

CSV is meant for spreadsheets and follows our other tables: text is on one line, and text that a
spreadsheet would run as a formula begins with an apostrophe (`plain_text.to_spreadsheet_cell`).
Numbers stay numbers, NULL is empty. Parquet keeps every value: columns that only have whole numbers
or only numbers have that type, all others are text.
"""

from __future__ import annotations

import csv
import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, TextIO, get_args

from ...errors import BadRequest, require_pyarrow
from ...system.plain_text import to_spreadsheet_cell
from ...system.safe_files import disk_errors, make_folder, replace_text_file
from .sql_query import MAX_TIMEOUT_S, iterate_row_pages

ExportForm = Literal["csv", "parquet"]
MAX_ROWS = 5_000_000
MAX_BYTES = 2 * 10**9  # of the file
EXPORT_MAX_S = 300.0
_EXACT_FLOAT_MAX = 2**53

Page = list[list[Any]]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A written file with its format, rows, columns, bytes and seconds."""

    file: Path
    form: ExportForm
    rows: int
    columns: tuple[str, ...]
    size: int
    seconds: float


def export_rows(
    file: Path,
    sql: str,
    target: Path,
    form: ExportForm = "csv",
    *,
    max_rows: int = MAX_ROWS,
    seconds: float = EXPORT_MAX_S,
) -> ExportedFile:
    """Write every row of one read-only statement on the dataset in *file* to *target*.

    Parameters
    ----------
    file, sql
        As in `.sql_query.run_query`; columns of the same name get a number.
    target : Path
        The file to write; an existing one is replaced when the new one is whole.
    form : {"csv", "parquet"}
        Its format; ``parquet`` needs pyarrow.
    max_rows, seconds
        Limits; beyond them the export fails, because half an export would look complete. A page of
        rows may take at most 60 s, and a file may have at most 2 GB.

    Raises
    ------
    BadRequest
        The statement is wrong (see `.sql_query.run_query`), or gives more than is allowed.
    NotConfigured
        pyarrow is not installed.
    StoreFailed
        The dataset is broken, or the disk refuses.
    """
    if form not in get_args(ExportForm):
        raise BadRequest(f"{form!r} is not a valid export format.", "Give csv or parquet.")
    if form == "parquet":
        require_pyarrow()
    began = time.monotonic()
    with closing(iterate_row_pages(file, sql, min(seconds, MAX_TIMEOUT_S))) as pages:
        columns, first = next(pages)
        columns = _number_duplicate_columns(columns)
        rows = _yield_pages_within_limits(
            chain([first], (page for _, page in pages)), max_rows, began + seconds
        )
        make_folder(target.parent)
        with disk_errors(target), replace_text_file(target) as out:
            write = _write_csv_rows if form == "csv" else _write_parquet_rows
            count = write(columns, rows, out)
            out.flush()
            size = out.buffer.tell()
    return ExportedFile(target, form, count, tuple(columns), size, time.monotonic() - began)


def _yield_pages_within_limits(
    pages: Iterable[Page], max_rows: int, until: float
) -> Iterator[Page]:
    """Yield *pages*; raise `BadRequest` at too many rows or past the deadline."""
    count = 0
    for page in pages:
        count += len(page)
        if count > max_rows:
            msg = f"The statement gives more than {max_rows:,} rows; nothing was written."
            raise BadRequest(msg, "Narrow it with WHERE, end it with LIMIT, or raise max_rows.")
        if time.monotonic() > until:
            msg = "The export took too long and was stopped; nothing was written."
            raise BadRequest(msg, "Export less at a time, narrowed with WHERE on a key.")
        yield page


def _require_below_size_limit(file: IO[bytes]) -> None:
    if file.tell() > MAX_BYTES:
        msg = f"The export passes {MAX_BYTES:,} bytes; nothing was written."
        raise BadRequest(msg, "Export fewer rows, or leave out the columns of long texts.")


def _write_csv_rows(columns: Sequence[str], pages: Iterable[Page], out: TextIO) -> int:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(to_spreadsheet_cell, columns))
    count = 0
    for page in pages:
        writer.writerows([_to_csv_value(value) for value in row] for row in page)
        out.flush()
        _require_below_size_limit(out.buffer)
        count += len(page)
    return count


def _to_csv_value(value: Any) -> Any:
    """Return *value* for a spreadsheet; a negative number is not treated as a formula."""
    if value is None:
        return ""
    return to_spreadsheet_cell(value) if isinstance(value, str) else value


def _write_parquet_rows(columns: Sequence[str], pages: Iterable[Page], out: TextIO) -> int:
    """Write Parquet; rows are read twice because the last row may change a column's type."""
    import pyarrow as pa
    from pyarrow import parquet

    count = 0
    with tempfile.TemporaryFile(dir=Path(out.name).parent) as spool:
        kinds = _spool_rows_and_infer_types(pages, len(columns), spool)
        types = [getattr(pa, kind)() for kind in kinds]
        schema = pa.schema(list(zip(columns, types, strict=True)))
        spool.seek(0)
        with parquet.ParquetWriter(out.buffer, schema, compression="zstd") as writer:
            for line in spool:
                rows = json.loads(line)
                columns_of = zip(zip(*rows, strict=True), kinds, strict=True)
                cells = [_convert_to_parquet_values(column, kind) for column, kind in columns_of]
                arrays = map(pa.array, cells, types)
                writer.write_table(pa.Table.from_arrays(list(arrays), schema=schema))
                count += len(rows)
    return count


def _spool_rows_and_infer_types(pages: Iterable[Page], width: int, spool: IO[bytes]) -> list[str]:
    """Write *pages* to *spool*, one line each, and return the type that fits each column."""
    seen: list[set[str]] = [set() for _ in range(width)]
    for page in filter(None, pages):
        spool.write(json.dumps(page).encode() + b"\n")
        _require_below_size_limit(spool)
        for kinds, column in zip(seen, zip(*page, strict=True), strict=True):
            kinds.update(map(_get_parquet_type, column))
    return [_choose_parquet_column_type(kinds - {""}) for kinds in seen]


def _get_parquet_type(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int):  # beyond 2**53 a fraction could not hold it
        return "int64" if abs(value) > _EXACT_FLOAT_MAX else "int"
    return "float64" if isinstance(value, float) else "string"


def _choose_parquet_column_type(kinds: set[str]) -> str:
    if kinds and kinds <= {"int", "int64"}:
        return "int64"
    return "float64" if kinds and kinds <= {"int", "float64"} else "string"


def _convert_to_parquet_values(column: Iterable[Any], kind: str) -> list[Any]:
    if kind != "string":
        return list(column)
    return [value if value is None else str(value) for value in column]


def _number_duplicate_columns(columns: Iterable[str]) -> list[str]:
    """Return *columns* with a number appended to repeated names."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)
