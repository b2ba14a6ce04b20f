"""Export all rows of a statement as a file: CSV for spreadsheets, Parquet for programs.

The statement runs once, in the process of `.sql_query`, and its rows pass through in pages: neither
side ever holds them all. The file appears when it is whole.

CSV is meant for spreadsheets and follows the other tables of ours: text is on one line, and one
that a spreadsheet would run as a formula begins with an apostrophe (`plain_text.to_cell`).
Numbers stay numbers, NULL is empty. Parquet holds every value as it is: columns that are whole
numbers or fractions throughout have that type, all others are text.
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
from ...system.plain_text import to_cell
from ...system.safe_files import disk_errors, make_folder, replace_text_file
from .sql_query import MOST_SECONDS, all_rows

Form = Literal["csv", "parquet"]
MAX_ROWS = 5_000_000
MAX_BYTES = 2 * 10**9  # of the file
SECONDS = 300.0
_EXACT = 2**53

Page = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written: where, in which form, its rows, columns, bytes and the seconds."""

    file: Path
    form: Form
    rows: int
    columns: tuple[str, ...]
    size: int
    seconds: float


def export(
    file: Path,
    sql: str,
    target: Path,
    form: Form = "csv",
    *,
    max_rows: int = MAX_ROWS,
    seconds: float = SECONDS,
) -> Exported:
    """Write every row of one reading statement on the dataset in *file* to *target*.

    Parameters
    ----------
    file, sql
        As in `.sql_query.ask`; columns of the same name get a number.
    target : Path
        The file to write; an existing one is replaced when the new one is whole.
    form : {"csv", "parquet"}
        Its format; ``parquet`` needs pyarrow.
    max_rows, seconds
        More than that is refused: half an export would look like a whole one. No page of rows may
        take longer than 60 s, and no file may grow beyond 2 GB.

    Raises
    ------
    BadRequest
        The statement is wrong (see `.sql_query.ask`), or gives more than is allowed.
    NotConfigured
        pyarrow is not installed.
    StoreFailed
        The dataset is broken, or the disk refuses.
    """
    if form not in get_args(Form):
        raise BadRequest(f"{form!r} is no form of an export.", "Give csv or parquet.")
    if form == "parquet":
        require_pyarrow()
    began = time.monotonic()
    with closing(all_rows(file, sql, min(seconds, MOST_SECONDS))) as pages:
        columns, first = next(pages)
        columns = _unique(columns)
        rows = _bounded(chain([first], (page for _, page in pages)), max_rows, began + seconds)
        make_folder(target.parent)
        with disk_errors(target), replace_text_file(target) as out:
            write = _write_csv if form == "csv" else _write_parquet
            count = write(columns, rows, out)
            out.flush()
            size = out.buffer.tell()
    return Exported(target, form, count, tuple(columns), size, time.monotonic() - began)


def _bounded(pages: Iterable[Page], max_rows: int, until: float) -> Iterator[Page]:
    """*pages*; raises `BadRequest` where their rows are too many or the time is over."""
    count = 0
    for page in pages:
        count += len(page)
        if count > max_rows:
            msg = f"The statement gives more than {max_rows:,} rows; nothing was written."
            raise BadRequest(msg, "Narrow it with WHERE, end it with LIMIT, or raise max_rows.")
        if time.monotonic() > until:
            msg = "The export takes too long and was stopped; nothing was written."
            raise BadRequest(msg, "Export less at a time, narrowed with WHERE on a key.")
        yield page


def _require_room(file: IO[bytes]) -> None:
    if file.tell() > MAX_BYTES:
        msg = f"The export passes {MAX_BYTES:,} bytes; nothing was written."
        raise BadRequest(msg, "Export fewer rows, or leave out the columns of long texts.")


def _write_csv(columns: Sequence[str], pages: Iterable[Page], out: TextIO) -> int:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(to_cell, columns))
    count = 0
    for page in pages:
        writer.writerows([_shown(value) for value in row] for row in page)
        out.flush()
        _require_room(out.buffer)
        count += len(page)
    return count


def _shown(value: Any) -> Any:
    """*value* as a spreadsheet reads it: a number below zero is no formula."""
    if value is None:
        return ""
    return to_cell(value) if isinstance(value, str) else value


def _write_parquet(columns: Sequence[str], pages: Iterable[Page], out: TextIO) -> int:
    """Reads the rows twice: only the last of them settles what type a column has."""
    import pyarrow as pa
    from pyarrow import parquet

    count = 0
    with tempfile.TemporaryFile(dir=Path(out.name).parent) as spool:
        kinds = _spool(pages, len(columns), spool)
        types = [getattr(pa, kind)() for kind in kinds]
        schema = pa.schema(list(zip(columns, types, strict=True)))
        spool.seek(0)
        with parquet.ParquetWriter(out.buffer, schema, compression="zstd") as writer:
            for line in spool:
                rows = json.loads(line)
                columns_of = zip(zip(*rows, strict=True), kinds, strict=True)
                cells = [_typed(column, kind) for column, kind in columns_of]
                arrays = map(pa.array, cells, types)
                writer.write_table(pa.Table.from_arrays(list(arrays), schema=schema))
                count += len(rows)
    return count


def _spool(pages: Iterable[Page], width: int, spool: IO[bytes]) -> list[str]:
    """Write *pages* to *spool*, a line each; returns the type that fits each column."""
    seen: list[set[str]] = [set() for _ in range(width)]
    for page in filter(None, pages):
        spool.write(json.dumps(page).encode() + b"\n")
        _require_room(spool)
        for kinds, column in zip(seen, zip(*page, strict=True), strict=True):
            kinds.update(map(_kind, column))
    return [_common(kinds - {""}) for kinds in seen]


def _kind(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int):  # beyond 2**53 a fraction could not hold it
        return "int64" if abs(value) > _EXACT else "int"
    return "float64" if isinstance(value, float) else "string"


def _common(kinds: set[str]) -> str:
    if kinds and kinds <= {"int", "int64"}:
        return "int64"
    return "float64" if kinds and kinds <= {"int", "float64"} else "string"


def _typed(column: Iterable[Any], kind: str) -> list[Any]:
    if kind != "string":
        return list(column)
    return [value if value is None else str(value) for value in column]


def _unique(columns: Iterable[str]) -> list[str]:
    """*columns*, with a number at those that come again."""
    names: dict[str, None] = {}
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names[name] = None
    return list(names)
