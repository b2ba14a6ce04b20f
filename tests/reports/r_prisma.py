"""How the R package PRISMA2020 reads its table, after its source.

``R/PRISMA_data.R``, ``R/PRISMA_format.R`` and ``R/PRISMA_default_or_csv.R`` of
prisma-flowdiagram/PRISMA2020, commit 620aaf9b (version 1.1.4, MIT): rows are found by a part of
their name, digits are what counts of a number, an empty cell is none, reasons are cut at
semicolons and commas.
"""

import csv
import io
import re
from typing import Any

_ANCHORED = ("total_studies", "total_reports")
_LISTS = ("database_specific_results", "register_specific_results", "dbr_excluded",
          "other_excluded")  # fmt: skip
_NUMBERS = (
    *("previous_studies", "previous_reports", "register_results", "database_results"),
    *("website_results", "organisation_results", "citations_results", "duplicates"),
    *("excluded_automatic", "excluded_other", "records_screened", "records_excluded"),
    *("dbr_sought_reports", "dbr_notretrieved_reports", "other_sought_reports"),
    *("other_notretrieved_reports", "dbr_assessed", "other_assessed", "new_studies", "new_reports"),
    *("total_studies", "total_reports", "total_studies_ma", "total_reports_ma"),
)
_TITLES = ("prevstud", "newstud", "othstud")


def read_as_r_does(table: str) -> dict[str, Any]:
    """Every number and title of the table, by name; a row that R would not find is an error."""
    rows = list(csv.DictReader(io.StringIO(table)))
    assert list(rows[0]) == [
        *("data", "node", "box", "description", "boxtext", "tooltips", "url", "n"),
    ]
    made: dict[str, Any] = {name: number(one(rows, "data", name)["n"]) for name in _NUMBERS}
    made |= {name: reasons(one(rows, "data", name)["n"]) for name in _LISTS}
    made |= {name: one(rows, "box", name)["boxtext"] for name in _TITLES}
    return made | {f"{name}_text": one(rows, "data", name)["boxtext"] for name in _NUMBERS}


def one(rows: list[dict[str, str]], column: str, name: str) -> dict[str, str]:
    """The row that ``grep(name, data[, column])`` finds; R takes two for a vector, and fails."""
    pattern = re.compile(f"{name}$" if name in _ANCHORED else name)
    [row] = [row for row in rows if pattern.search(row[column])]
    return row


def number(cell: str) -> int | None:
    """``PRISMA_format_number_``."""
    digits = re.sub("[^0-9.]", "", cell.replace(",", ""))
    return int(digits) if digits else None


def reasons(cell: str) -> list[tuple[str, int | None]]:
    """``PRISMA_parse_reasons_``."""
    if not re.search("[^0-9,]", cell):
        return [("", number(cell))]
    made = []
    for part in re.split(r"; ?", cell):
        found = re.fullmatch(r".*?,([ 0-9,]*)", part)
        made.append((re.sub(",.*$", "", part), number(found[1] if found else "")))
    return made
