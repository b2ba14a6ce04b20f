"""The numbers of PRISMA's boxes: those that a harvest knows, and those that only people know.

A harvest knows what was searched, which records were duplicates, which reports were sought and
which of them could not be had. A limit of the harvest excludes nothing: what it left out is a
remark. What only reviewers can know (screening, eligibility, inclusion) stays open.

``prisma.yaml`` beside the figure is for people to fill in. It is written once, with every name as a
remark, and never overwritten. What stands there goes before what a program counted. An entry that
cannot be used is left out, and the figure says so.
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
from ..figures import Figures
from ..labels import STAND_INS
from .flow import NAMES, Numbers, Parts

_NAME = 80  # characters of a list's name
NAME = "prisma.yaml"
_LONGEST = 100_000  # characters of the file
_BY_NAME = ("databases", "registers", "dbr_excluded", "other_excluded")
FORM = """\
# Numbers for the PRISMA 2020 figure that only the reviewers know. Take away the "#" in front of
# a line and fill it in; `report` draws the figure anew. What stands here goes before what was
# counted.

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


def numbers_of(job: Job, figures: Figures) -> Numbers:
    """The numbers of a harvest in the places PRISMA has for them."""
    sought, retrieved = figures.total, figures.states["full_text"]
    pending = figures.states["pending"]
    origins = _origins(job, sought)
    return Numbers(
        databases=origins,
        duplicates=job.duplicates,
        excluded_automatic=0,
        excluded_other=0,
        dbr_sought_reports=sought,
        dbr_notretrieved_reports=sought - retrieved - pending,
        remarks=(*_left_out(job, origins, sought), *_of_retrieved(figures), *_untried(pending)),
    )


def _origins(job: Job, sought: int) -> Parts:
    """What each database that was searched found, then what each list held."""
    if not job.searches:  # a job of an older version
        identified = max(job.hits, sought + job.duplicates)
        return (("PubMed" if job.query else "Lists of identifiers", identified),)
    origins: Counter[str] = Counter()
    for search in sorted(job.searches, key=lambda one: not one.source):
        origins[search.name[:_NAME]] += search.hits
    return tuple(origins.items())


def _left_out(job: Job, origins: Parts, sought: int) -> tuple[str, ...]:
    """Records that were identified, and are not in the harvest, though nobody excluded them."""
    unseen = sum(max(0, search.hits - search.taken) for search in job.searches)
    beyond = sum(n for _, n in origins) - job.duplicates - sought - unseen
    made = []
    if unseen:
        made.append(f"{unseen:,} of the records identified were not handed out by the site.")
    if beyond > 0:
        made.append(f"{beyond:,} of the records identified lie beyond the limit of this harvest.")
    return tuple(made)


def _of_retrieved(figures: Figures) -> tuple[str, ...]:
    """Retrieved reports that are other versions, were accepted by hand or are doubtful."""
    parts = [(words, figures.versions[version]) for version, words in STAND_INS.items()]
    parts.append(("Accepted by hand", figures.by_hand.total))
    parts.append(("Full text with doubts", figures.doubtful.total))
    named = ", ".join(f"{words} (n = {n:,})" for words, n in parts if n)
    return (f"Of the reports retrieved: {named}.",) if named else ()


def _untried(pending: int) -> tuple[str, ...]:
    return (f"Of the reports sought, not tried yet (n = {pending:,}).",) if pending else ()


def with_file(numbers: Numbers, folder: Path) -> Numbers:
    """*numbers* with those of the file in *folder*; the form is written where there is none.

    Raises
    ------
    StoreFailed
        The disk refuses.
    """
    path = folder / NAME
    with disk_errors(path):
        if not path.exists():
            with replace_text_file(path) as file:
                file.write(FORM)
            return numbers
        text = path.read_bytes()[:_LONGEST].decode("utf-8", "replace")
    try:
        told = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f", line {place.line + 1}," if place else ""  # where the reader gave up
        return _remarked(numbers, [f"{NAME}{where} is no YAML, and was not used."])
    return with_told(numbers, told, NAME)


def with_told(numbers: Numbers, told: object, where: str) -> Numbers:
    """*numbers* with those that people told; *where* names the file in remarks."""
    if told is None:
        return numbers
    if not isinstance(told, Mapping):
        return _remarked(numbers, [f"{where} names no numbers, and was not used."])
    good: dict[str, Any] = {}
    remarks = []
    for name, value in told.items():
        if value is None:
            continue
        if name not in NAMES:
            remarks.append(f"{where}: there is no number called {_shown(name)}.")
        elif (read := _parts(value) if name in _BY_NAME else _number(value)) is None:
            remarks.append(f"{where}: {_shown(value)} is no number for {name}.")
        else:
            good[name] = read
    return _remarked(replace(numbers, **good), remarks)


def _number(value: object) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if fits and isinstance(value, int) else None


def _parts(value: object) -> Parts | None:
    """Numbers by name; one without names has the empty one."""
    if (whole := _number(value)) is not None:
        return (("", whole),)
    if not isinstance(value, Mapping):
        return None
    parts = tuple((one_line(str(name)), _number(n)) for name, n in value.items())
    known = tuple((name, n) for name, n in parts if n is not None)
    return known if len(known) == len(parts) else None


def _shown(value: object) -> str:
    return one_line(repr(value))[:80]


def _remarked(numbers: Numbers, remarks: list[str]) -> Numbers:
    return replace(numbers, remarks=(*numbers.remarks, *remarks))
