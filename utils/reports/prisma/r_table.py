"""Render ``prisma.csv``: the flow as the table that the R package PRISMA2020 draws from.

The rows and columns are those of the package's ``inst/extdata/PRISMA.csv`` (version 1.1.4). The
package reads them as follows (``R/PRISMA_data.R``, ``R/PRISMA_format.R``):

- A row is found by a part of its name, so the table must not have additional rows.
- An empty cell is an unknown number, and its line is left out.
- Databases and reasons are one cell each, ``Reason, 12; Another, 3``: split at semicolons, with the
  name ending at the first comma.

The package draws updated reviews; for a new review, ``boxtext`` sets the words of the boxes::

    data <- PRISMA2020::PRISMA_data(read.csv("prisma.csv"))
    PRISMA2020::PRISMA_flowdiagram(data, previous = FALSE, other = FALSE, detail_databases = TRUE)
"""

from __future__ import annotations

import csv
import io
import re

from ...system.plain_text import one_line
from .flow import TO_FILL, Parts, PrismaFlow

COLUMNS = ("data", "node", "box", "description", "boxtext", "tooltips", "url", "n")
_ROWS = """
NA node4 prevstud
previous_studies node5 box1
previous_reports NA box1
NA node6 newstud
database_results node7 box2
database_specific_results NA box2
register_results NA box2
register_specific_results NA box2
NA node16 othstud
website_results node17 box11
organisation_results NA box11
citations_results NA box11
duplicates node8 box3
excluded_automatic NA box3
excluded_other NA box3
records_screened node9 box4
records_excluded node10 box5
dbr_sought_reports node11 box6
dbr_notretrieved_reports node12 box7
other_sought_reports node18 box12
other_notretrieved_reports node19 box13
dbr_assessed node13 box8
dbr_excluded node14 box9
other_assessed node20 box14
other_excluded node21 box15
new_studies node15 box10
new_reports NA box10
total_studies node22 box16
total_reports NA box16
identification node1 identification
screening node2 screening
included node3 included
total_studies_ma node23 box17
total_reports_ma NA box17
"""
_TITLES = {"prevstud": "previous", "newstud": "main", "othstud": "other"}
# Words of boxes that our template lacks but the package reads.
_BOX_WORDS = {
    "prevstud": "Previous studies",
    "othstud": "Identification of studies via other methods",
    "previous_studies": "Studies included in previous version of review",
    "previous_reports": "Reports of studies included in previous version of review",
    "database_specific_results": "Specific Databases",
    "register_specific_results": "Specific Registers",
    "website_results": "Websites",
    "organisation_results": "Organisations",
    "citations_results": "Citation searching",
    "dbr_excluded": "Reports excluded",
    "other_sought_reports": "Reports sought for retrieval",
    "other_notretrieved_reports": "Reports not retrieved",
    "other_assessed": "Reports assessed for eligibility",
    "other_excluded": "Reports excluded",
    "total_studies": "Total studies included in review",
    "total_reports": "Reports of total included studies",
    "identification": "Identification",
    "screening": "Screening",
    "included": "Included",
    "total_studies_ma": "Total studies included in meta-analysis",
    "total_reports_ma": "Reports of total included studies in meta-analysis",
}
_SEPARATORS = re.compile(r"\s*[,;]+\s*")


def render_r_table(flow: PrismaFlow) -> str:
    """Render the table as CSV text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    numbers = _build_numbers(flow)
    words = _BOX_WORDS | {count.name: count.words.rstrip("*") for count in flow.iterate_counts()}
    words |= {name: _BOX_WORDS[name] for name in ("dbr_excluded", "other_excluded")}
    for box, column in _TITLES.items():
        words[box] = flow.titles.get(column, _BOX_WORDS.get(box, ""))  # type: ignore[call-overload]
    for row in _ROWS.split("\n"):
        if row:
            data, node, box = row.split()
            name = box if data == "NA" else data
            n = numbers.get(name, "")
            hint = TO_FILL if name in numbers and n == "" else words[name]
            writer.writerow((data, node, box, words[name], words[name], hint, f"#{name}", n))
    return out.getvalue()


def _build_numbers(flow: PrismaFlow) -> dict[str, int | str]:
    """Return the values of the column ``n`` for the boxes of this template."""
    made: dict[str, int | str] = {}
    for count in flow.iterate_counts():
        made[count.name] = "" if count.n is None else count.n
    numbers = flow.numbers
    made["database_specific_results"] = _format_counts_by_name(numbers.databases)
    made["register_specific_results"] = _format_counts_by_name(numbers.registers)
    for name in ("dbr_excluded", "other_excluded"):
        reasons: Parts | None = getattr(numbers, name)
        if name in made and reasons:
            made[name] = _format_counts_by_name(reasons)
    return made


def _format_counts_by_name(parts: Parts) -> str:
    return "; ".join(_format_named_count(words, n) for words, n in parts)


def _format_named_count(words: str, n: int) -> str:
    name = _SEPARATORS.sub(" / ", one_line(words))
    return f"{name}, {n}" if name else str(n)
