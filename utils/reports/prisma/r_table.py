"""``prisma.csv``: the flow as the table that the R package PRISMA2020 draws from.

Its rows and columns are those of ``inst/extdata/PRISMA.csv`` there (version 1.1.4); how they are
read, of ``R/PRISMA_data.R`` and ``R/PRISMA_format.R``: a row is found by a part of its name, so
there may be none besides; a number that is not known is an empty cell, and its line is left out;
databases and reasons are one cell each, ``Reason, 12; Another, 3``, split at semicolons, the name
ending at its first comma. The package draws updated reviews; for a new one the words of its boxes
are told by ``boxtext``::

    data <- PRISMA2020::PRISMA_data(read.csv("prisma.csv"))
    PRISMA2020::PRISMA_flowdiagram(data, previous = FALSE, other = FALSE, detail_databases = TRUE)
"""

from __future__ import annotations

import csv
import io
import re

from ...system.plain_text import one_line
from .flow import TO_FILL, Flow, Parts

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
# Words of boxes that our template has not: the package reads them all the same.
_WORDS = {
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
_SPLITS = re.compile(r"\s*[,;]+\s*")


def r_table(flow: Flow) -> str:
    """The table, as text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    numbers = _numbers(flow)
    words = _WORDS | {count.name: count.words.rstrip("*") for count in flow.counts()}
    words |= {name: _WORDS[name] for name in ("dbr_excluded", "other_excluded")}
    words |= {box: flow.titles.get(column, _WORDS.get(box, "")) for box, column in _TITLES.items()}  # type: ignore[call-overload]
    for row in _ROWS.split("\n"):
        if row:
            data, node, box = row.split()
            name = box if data == "NA" else data
            n = numbers.get(name, "")
            hint = TO_FILL if name in numbers and n == "" else words[name]
            writer.writerow((data, node, box, words[name], words[name], hint, f"#{name}", n))
    return out.getvalue()


def _numbers(flow: Flow) -> dict[str, int | str]:
    """What stands in the column ``n``, for the boxes of this template."""
    made: dict[str, int | str] = {}
    for count in flow.counts():
        made[count.name] = "" if count.n is None else count.n
    numbers = flow.numbers
    made["database_specific_results"] = _listed(numbers.databases)
    made["register_specific_results"] = _listed(numbers.registers)
    for name in ("dbr_excluded", "other_excluded"):
        reasons: Parts | None = getattr(numbers, name)
        if name in made and reasons:
            made[name] = _listed(reasons)
    return made


def _listed(parts: Parts) -> str:
    return "; ".join(_pair(words, n) for words, n in parts)


def _pair(words: str, n: int) -> str:
    name = _SPLITS.sub(" / ", one_line(words))
    return f"{name}, {n}" if name else str(n)
