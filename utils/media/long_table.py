"""Write tables as data: a CSV per table, a JSON file per paper, or one long table of many papers.

In the long table each cell is a row of its own, with its paper, table, row name and column
headings, so that a meta-analysis can filter cells of differently shaped tables.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from ..errors import BadRequest, require_pyarrow
from ..model.paper import PaperObject, StoredPaper, TableGrid
from ..shelf import Shelf
from ..system.plain_text import replace_surrogates, to_number_cell
from ..system.safe_files import make_folder, replace_text_file
from .listing import Mention, iterate_tables, list_objects_without_files

COLUMNS = (
    *("paper", "doi", "pmid", "table", "caption"),
    *("row", "column", "unit", "line", "value", "number"),
)
_BATCH_ROWS = 50_000  # rows in memory
_UNIT_WORD = (
    r"(?:[munpkMGTdcµμ]?(?:g|L|l|m|mol|M|s|Hz|Pa|J|V|A|W|Da|bp|b|B|Bq|Gy|Sv|eq|cal|U|IU|K|N|T|F)"
    r"|%|‰|°[CF]?|mm ?Hg|min|h|hrs?|d|wk|mo|yrs?|years?|months?|weeks?|days?|hours?|minutes?"
    r"|seconds?|kcal|cells?|copies|nt|aa|kb|Mb|pp[mbt]|rpm|AU|a\.u\.|[CP]FU|USD|EUR|\$|€)"
)
_UNIT = re.compile(
    rf"{_UNIT_WORD}(?:\s?[/·×.⋅*]?\s?{_UNIT_WORD}|[⁻⁺^-]?[⁰¹²³⁴-⁹\d]){{0,9}}"
    r"(?:/\d{1,6}\s?\w{0,6})?"
)
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,30})[)\]]\s*\Z")
_BEHIND_COMMA = re.compile(r",\s*([^,]{1,20})\Z")
_SPACED = r"\d{1,3}(?:[,\u2009\u00a0 ]\d{3})+(?:\.\d+)?"
_MARKS = r"[*†‡§¶#ᵃ-ᶻˡʰʲʳˢʷʸˣ]{0,6}"  # that refer to notes
_NUMBER = re.compile(rf"([-+−–]?)\s*({_SPACED}|\d+(?:\.\d+)?|\.\d+)\s*%?\s*{_MARKS}")


def grid_to_csv(grid: TableGrid) -> bytes:
    """Return one table as UTF-8 CSV with a header line and the byte order mark that Excel needs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if any(grid.columns):
        writer.writerow(map(to_number_cell, grid.columns))
    writer.writerows([to_number_cell(value) for value in row] for row in grid.rows)
    return b"\xef\xbb\xbf" + text.getvalue().encode("utf-8", "replace")


def table_to_json(
    number: int, item: PaperObject, grid: TableGrid, mention: Mention | None
) -> dict[str, Any]:
    """Return one table as a JSON object: header levels, units, cells, notes and first mention."""
    return {
        "table": number,
        "label": item.label,
        "caption": item.caption,
        "columns": [
            {
                "name": name,
                "levels": [level[at] for level in grid.head],
                "unit": parse_heading_unit(name),
            }
            for at, name in enumerate(grid.columns)
        ],
        "rows": [list(row) for row in grid.rows],
        "notes": list(grid.notes),
        "mentioned": {"section": mention.section, "start": mention.start} if mention else None,
    }


def iterate_cell_rows(
    stored: StoredPaper, objects: Sequence[PaperObject]
) -> Iterator[dict[str, Any]]:
    """Yield every cell of a paper's tables, except row names, as a row with `COLUMNS`."""
    ids = stored.paper.ids
    for number, item, grid in iterate_tables(objects):
        label = item.label or f"Table without label ({number})"
        about: Mapping[str, Any] = {
            "paper": stored.paper.title,
            "doi": ids.doi,
            "pmid": ids.pmid,
            "table": label,
            "caption": item.caption,
        }
        for line, row in enumerate(grid.rows, 1):
            for name, value in list(zip(grid.columns, row, strict=True))[1:]:
                if value:
                    yield {
                        **about,
                        "row": row[0],
                        "column": name,
                        "unit": parse_heading_unit(name) or parse_heading_unit(row[0]),
                        "line": line,
                        "value": value,
                        "number": parse_cell_number(value),
                    }


def write_long_table(texts: Iterable[StoredPaper], shelf: Shelf, path: Path) -> tuple[int, int]:
    """Write the cells of many papers' tables to one CSV or Parquet file, chosen by its extension.

    Returns
    -------
    tuple of int
        The number of tables and cells written.

    Raises
    ------
    BadRequest
        The file name has another extension.
    NotConfigured
        The format is Parquet, and pyarrow is not installed.
    StoreFailed
        The disk refuses to write; the existing file stays unchanged.
    """
    write = _WRITERS.get(path.suffix.lower())
    if write is None:
        raise BadRequest(
            f"{path.name} is neither CSV nor Parquet.", "Give a name that ends in .csv or .parquet."
        )
    if write is _write_parquet_rows:
        require_pyarrow()
    tables = cells = 0

    def iterate_and_count_rows() -> Iterator[dict[str, Any]]:
        nonlocal tables, cells
        for stored in texts:
            objects = list_objects_without_files(stored, shelf)
            tables += sum(1 for _ in iterate_tables(objects))
            for row in iterate_cell_rows(stored, objects):
                cells += 1
                yield row

    make_folder(path.parent)
    with replace_text_file(path) as file:
        write(iterate_and_count_rows(), file)
    return tables, cells


def _write_csv_rows(rows: Iterable[Mapping[str, Any]], file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_to_csv_cell(name, row[name]) for name in COLUMNS] for row in rows)


def _write_parquet_rows(rows: Iterable[Mapping[str, Any]], file: TextIO) -> None:
    """Write every value unchanged; the column types are the same in every file."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {"line": pa.int64(), "number": pa.float64()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in COLUMNS])
    left = iter(rows)
    with parquet.ParquetWriter(file.buffer, schema, compression="zstd") as writer:
        while batch := list(islice(left, _BATCH_ROWS)):
            columns = [[_replace_unencodable_text(row[name]) for row in batch] for name in COLUMNS]
            writer.write_table(pa.table(columns, schema=schema))


_WRITERS: dict[str, Callable[[Iterable[Mapping[str, Any]], TextIO], None]] = {
    ".csv": _write_csv_rows,
    ".parquet": _write_parquet_rows,
}


def _replace_unencodable_text(value: Any) -> Any:
    return replace_surrogates(value) if isinstance(value, str) else value


def _to_csv_cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    return repr(value) if name in {"number", "line"} else to_number_cell(value)


def parse_heading_unit(name: str) -> str:
    """Return the unit at the end of a heading, or "" if it names no known unit.

    >>> [parse_heading_unit(name) for name in ("Weight (kg)", "Dose, mg/kg", "Group (control)")]
    ['kg', 'mg/kg', '']
    """
    for pattern in (_IN_BRACKETS, _BEHIND_COMMA):
        if (found := pattern.search(name)) and _UNIT.fullmatch(found[1].strip()):
            return found[1].strip()
    return ""


def parse_cell_number(value: str) -> float | None:
    """Return a cell's number; None for words, ranges and numbers with an error term.

    >>> [parse_cell_number(cell) for cell in ("−1,234.5*", "12 %", "3.1 (0.2)", "<0.05")]
    [-1234.5, 12.0, None, None]
    """
    found = _NUMBER.fullmatch(value.strip())
    if not found:
        return None
    number = float(re.sub(r"[,\s]", "", found[2]))
    return -number if found[1] in {"-", "−", "–"} else number
