"""Collect the numbers for PRISMA's boxes from the harvest and from the reviewers.

A harvest supplies the searches, the duplicate records, the reports sought and the reports not
retrieved. Records beyond the harvest's limit are not exclusions; a remark counts them. Numbers that
only reviewers can supply (screening, eligibility, inclusion) stay open.

The reviewers fill in ``prisma.yaml`` in the figure's folder. The file is written once, with every
name commented out, and never overwritten. Its numbers override the harvest's. An entry that cannot
be used is skipped, and a remark below the figure says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from ...model.job import Job
from ...system.plain_text import one_line
from ...system.safe_files import disk_errors, replace_text_file
from ..figures import HarvestFigures
from ..labels import STAND_INS
from .flow import NUMBER_NAMES, Parts, PrismaNumbers

_NAME_MAX_CHARS = 80  # characters of a list's name
NUMBERS_FILE = "prisma.yaml"
_FILE_MAX_CHARS = 100_000  # characters of the file
_NUMBERS_WITH_PARTS = ("databases", "registers", "dbr_excluded", "other_excluded")
NUMBERS_TEMPLATE = """\
# Numbers for the PRISMA 2020 figure that only the reviewers know. Remove the "#" in front of a
# line and fill it in; `report` then redraws the figure. Numbers in this file override the
# harvest's own.

# databases:                      # records identified, as searched
#   Embase (Ovid): 0
# registers:
#   ClinicalTrials.gov: 0
# duplicates: 0
# excluded_automatic: 0           # marked as ineligible by automation tools, before screening
# excluded_other: 0               # removed for other reasons, before screening
# records_screened: 0
# records_excluded: 0
# excluded_by_tools: 0            # how many of them by automation tools, not by a human
# dbr_sought_reports: 0
# dbr_notretrieved_reports: 0
# dbr_assessed: 0
# dbr_excluded:                   # reports excluded, by reason
#   Wrong population: 0
# new_studies: 0                  # studies included
# new_reports: 0                  # reports of them

# Other methods: any number here adds their column.
# website_results: 0
# organisation_results: 0
# citations_results: 0            # citation searching
# other_sought_reports: 0
# other_notretrieved_reports: 0
# other_assessed: 0
# other_excluded:
#   Wrong outcome: 0

# An update of a review: any number here adds the column of previous studies.
# previous_studies: 0
# previous_reports: 0
"""


def count_harvest_numbers(job: Job, figures: HarvestFigures) -> PrismaNumbers:
    """Return the numbers of a harvest under PRISMA's names."""
    sought, retrieved = figures.total, figures.states["full_text"]
    pending = figures.states["pending"]
    origins = _count_records_by_origin(job, sought)
    return PrismaNumbers(
        databases=origins,
        duplicates=job.duplicates,
        excluded_automatic=0,
        excluded_other=0,
        dbr_sought_reports=sought,
        dbr_notretrieved_reports=sought - retrieved - pending,
        remarks=(
            *_describe_left_out(job, origins, sought),
            *_describe_retrieved_reports(figures),
            *_describe_untried_reports(pending),
        ),
    )


def _count_records_by_origin(job: Job, sought: int) -> Parts:
    """Return the number of records found in each database, then the entries of each list."""
    if not job.searches:  # a job of an older version
        identified = max(job.hits, sought + job.duplicates)
        return (("PubMed" if job.query else "Lists of identifiers", identified),)
    origins: Counter[str] = Counter()
    for search in sorted(job.searches, key=lambda one: not one.source):
        origins[search.name[:_NAME_MAX_CHARS]] += search.hits
    return tuple(origins.items())


def _describe_left_out(job: Job, origins: Parts, sought: int) -> tuple[str, ...]:
    """Return remarks on records that were identified but are not in the harvest."""
    unseen = sum(max(0, search.hits - search.taken) for search in job.searches)
    beyond = sum(n for _, n in origins) - job.duplicates - sought - unseen
    made = []
    if unseen:
        made.append(f"{unseen:,} of the records identified were not returned by the site.")
    if beyond > 0:
        made.append(f"{beyond:,} of the records identified are beyond the limit of this harvest.")
    return tuple(made)


def _describe_retrieved_reports(figures: HarvestFigures) -> tuple[str, ...]:
    """Return a remark on reports in other versions, accepted by hand, or doubtful."""
    parts = [(words, figures.versions[version]) for version, words in STAND_INS.items()]
    parts.append(("Accepted by hand", figures.by_hand.total))
    parts.append(("Full text with doubts", figures.doubtful.total))
    named = ", ".join(f"{words} (n = {n:,})" for words, n in parts if n)
    return (f"Among the reports retrieved: {named}.",) if named else ()


def _describe_untried_reports(pending: int) -> tuple[str, ...]:
    return (f"Reports sought, not tried yet (n = {pending:,}).",) if pending else ()


def merge_numbers_file(numbers: PrismaNumbers, folder: Path) -> PrismaNumbers:
    """Override *numbers* with the file in *folder*; write a template if the file is missing.

    Raises
    ------
    StoreFailed
        The file cannot be read or written.
    """
    path = folder / NUMBERS_FILE
    with disk_errors(path):
        if not path.exists():
            with replace_text_file(path) as file:
                file.write(NUMBERS_TEMPLATE)
            return numbers
        text = path.read_bytes()[:_FILE_MAX_CHARS].decode("utf-8", "replace")
    try:
        told = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f", line {place.line + 1}," if place else ""  # where the parser stopped
        return _add_remarks(numbers, [f"{NUMBERS_FILE}{where} is not valid YAML and was not used."])
    return merge_reviewers_numbers(numbers, told, NUMBERS_FILE)


def merge_reviewers_numbers(numbers: PrismaNumbers, told: object, where: str) -> PrismaNumbers:
    """Return numbers in which the reviewers' own replace ours; remarks name their file."""
    if told is None:
        return numbers
    if not isinstance(told, Mapping):
        return _add_remarks(numbers, [f"{where} contains no numbers and was not used."])
    good: dict[str, Any] = {}
    remarks = []
    for name, value in told.items():
        if value is None:
            continue
        if name not in NUMBER_NAMES:
            remarks.append(f"{where}: {_quote_value(name)} is not the name of a number.")
        elif (
            read := _parse_counts_by_name(value)
            if name in _NUMBERS_WITH_PARTS
            else _parse_count(value)
        ) is None:
            remarks.append(f"{where}: {_quote_value(value)} is not a valid number for {name}.")
        else:
            good[name] = read
    return _add_remarks(replace(numbers, **good), remarks)


def _parse_count(value: object) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if fits and isinstance(value, int) else None


def _parse_counts_by_name(value: object) -> Parts | None:
    """Parse numbers by name (a single number gets an empty name); return None if invalid."""
    if (whole := _parse_count(value)) is not None:
        return (("", whole),)
    if not isinstance(value, Mapping):
        return None
    parts = tuple((one_line(str(name)), _parse_count(n)) for name, n in value.items())
    known = tuple((name, n) for name, n in parts if n is not None)
    return known if len(known) == len(parts) else None


def _quote_value(value: object) -> str:
    return one_line(repr(value))[:80]


def _add_remarks(numbers: PrismaNumbers, remarks: list[str]) -> PrismaNumbers:
    return replace(numbers, remarks=(*numbers.remarks, *remarks))
