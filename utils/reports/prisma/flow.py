"""Build the PRISMA 2020 flow: the boxes of the official templates, with their numbers.

There are four templates: for new or updated reviews, each with databases and registers only or also
with other methods. Words, boxes and arrows are copied from them (Page MJ et al., BMJ 2021;372:n71,
https://doi.org/10.1136/bmj.n71, CC BY 4.0; ``PRISMA_2020_flow_diagram_new_SRs_v1/v2.docx`` and
``…_updated_SRs_v1/v2.docx`` at prisma-statement.org). The numbers have the names of the R package
PRISMA2020 (``inst/extdata/PRISMA.csv`` of prisma-flowdiagram/PRISMA2020).

An unknown number stays blank, never 0, and its box says that reviewers must fill it in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

TO_FILL = "to be filled by the reviewers"
Parts = tuple[tuple[str, int], ...]
Stage = Literal["Identification", "Screening", "Included"]
Column = Literal["previous", "main", "removed", "other", "other_removed"]
STAGES: tuple[Stage, ...] = ("Identification", "Screening", "Included")
IDENTIFIED_NOTE = (
    "*Consider, if feasible to do so, reporting the number of records identified from each "
    "database or register searched (rather than the total number across all databases/registers)."
)
AUTOMATION_NOTE = (
    "**If automation tools were used, indicate how many records were excluded by a human and how "
    "many were excluded by automation tools."
)
SOURCE_NOTE = (
    "Source: Page MJ, et al. BMJ 2021;372:n71. doi: 10.1136/bmj.n71. "
    "This work is licensed under CC BY 4.0."
)


@dataclass(frozen=True, slots=True)
class PrismaNumbers:
    """The numbers in the boxes; None if unknown.

    Parameters
    ----------
    databases, registers : tuple of (str, int)
        Records identified from each. ``database_results`` and ``register_results`` are the totals,
        for use if only the totals are known.
    excluded_by_tools : int or None
        The part of ``records_excluded`` that automation tools excluded, not a person.
    dbr_excluded, other_excluded : tuple of (str, int) or None
        Reports excluded, by reason; a reason without a name is ``""``.
    remarks : tuple of str
        Notes about the numbers, shown below the figure.
    """

    databases: Parts = ()
    registers: Parts = ()
    database_results: int | None = None
    register_results: int | None = None
    duplicates: int | None = None
    excluded_automatic: int | None = None
    excluded_other: int | None = None
    records_screened: int | None = None
    records_excluded: int | None = None
    excluded_by_tools: int | None = None
    dbr_sought_reports: int | None = None
    dbr_notretrieved_reports: int | None = None
    dbr_assessed: int | None = None
    dbr_excluded: Parts | None = None
    website_results: int | None = None
    organisation_results: int | None = None
    citations_results: int | None = None
    other_sought_reports: int | None = None
    other_notretrieved_reports: int | None = None
    other_assessed: int | None = None
    other_excluded: Parts | None = None
    previous_studies: int | None = None
    previous_reports: int | None = None
    new_studies: int | None = None
    new_reports: int | None = None
    total_studies: int | None = None
    total_reports: int | None = None
    remarks: tuple[str, ...] = ()

    @property
    def identified_in_databases(self) -> int | None:
        """The records from databases: the sum over them, else the given total."""
        return sum(n for _, n in self.databases) if self.databases else self.database_results

    @property
    def identified_in_registers(self) -> int | None:
        """The records from registers; 0 if only databases are named."""
        if self.registers:
            return sum(n for _, n in self.registers)
        return 0 if self.register_results is None and self.databases else self.register_results

    def has_known_number(self, *names: str) -> bool:
        """Return whether any of these numbers is known."""
        return any(getattr(self, name) is not None for name in names)

    @property
    def is_update(self) -> bool:
        """True if the review has an earlier version."""
        return self.has_known_number("previous_studies", "previous_reports")

    @property
    def has_other_methods(self) -> bool:
        """True if records were identified outside databases and registers."""
        return self.has_known_number(*_OTHER_METHODS)


_OTHER_METHODS = (
    *("website_results", "organisation_results", "citations_results", "other_sought_reports"),
    *("other_notretrieved_reports", "other_assessed", "other_excluded"),
)


@dataclass(frozen=True, slots=True)
class BoxCount:
    """One number in a box, with its label.

    Parameters
    ----------
    name : str
        The name in the R package PRISMA2020.
    words : str
        The template's text.
    parts : tuple of (str, int)
        The summands of *n*.
    """

    name: str
    words: str
    n: int | None = None
    parts: Parts = ()


@dataclass(frozen=True, slots=True)
class FlowBox:
    """A box with its numbers, and a heading if there are several.

    Parameters
    ----------
    place : int
        The row, from the top.
    feeds : tuple of str
        The boxes that arrows from this box lead to.
    """

    name: str
    stage: Stage
    column: Column
    place: int
    counts: tuple[BoxCount, ...]
    heading: str = ""
    feeds: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if every number of the box is known."""
        return all(count.n is not None for count in self.counts)

    @property
    def paragraphs(self) -> Iterator[tuple[str, int]]:
        """The texts in the box, each with its indent level."""
        if self.heading:
            yield self.heading, 0
        for count in self.counts:
            if self.heading:
                yield f"{count.words} {format_count(count.n)}".strip(), 1
            else:
                yield count.words, 0
                yield format_count(count.n), 0
            for words, n in count.parts if any(words for words, _ in count.parts) else ():
                yield f"{words} {format_count(n)}".strip(), 2 if self.heading and count.words else 1


def format_count(n: int | None) -> str:
    """Return a number as the PRISMA templates print it.

    >>> format_count(1200), format_count(None)
    ('(n = 1,200)', '(n = \u2003)')
    """
    return f"(n = {n:,})" if n is not None else "(n = \u2003)"


@dataclass(frozen=True, slots=True)
class PrismaFlow:
    """A filled-in PRISMA template: its boxes with their numbers.

    Parameters
    ----------
    titles : dict of Column to str
        The titles above the columns.
    remarks : tuple of str
        Notes shown below the figure, contradictions between numbers first.
    """

    numbers: PrismaNumbers
    updated: bool
    other: bool
    titles: dict[Column, str]
    boxes: tuple[FlowBox, ...]
    remarks: tuple[str, ...] = ()

    @property
    def template(self) -> str:
        """The title of the template's own document."""
        kind = "updated" if self.updated else "new"
        sources = "databases, registers and other sources"
        among = sources if self.other else "databases and registers only"
        head = f"PRISMA 2020 flow diagram for {kind} systematic reviews"
        return f"{head} which included searches of {among}"

    def get_box(self, name: str) -> FlowBox:
        """Return the box of this name."""
        return next(box for box in self.boxes if box.name == name)

    def iterate_counts(self) -> Iterator[BoxCount]:
        """Yield every number in reading order."""
        return (count for box in self.boxes for count in box.counts)


def build_prisma_flow(
    numbers: PrismaNumbers, *, updated: bool | None = None, other: bool | None = None
) -> PrismaFlow:
    """Return the template that fits the numbers, or the requested one, filled in."""
    updated = numbers.is_update if updated is None else updated
    other = numbers.has_other_methods if other is None else other
    numbers = _fill_missing_totals(numbers) if updated else numbers
    new = "new " * updated
    titles: dict[Column, str] = {}
    if updated:
        titles["previous"] = "Previous studies"
    titles["main"] = f"Identification of {new}studies via databases and registers"
    if other:
        titles["other"] = f"Identification of {new}studies via other methods"
    boxes = [
        *(_iterate_previous_boxes(numbers) if updated else ()),
        *_iterate_database_boxes(numbers),
        *(_iterate_other_method_boxes(numbers) if other else ()),
        *_iterate_included_boxes(numbers, updated),
    ]
    remarks = (*describe_mismatches(numbers), *numbers.remarks)
    return PrismaFlow(numbers, updated, other, titles, tuple(boxes), remarks)


def _fill_missing_totals(numbers: PrismaNumbers) -> PrismaNumbers:
    """Return the numbers of an updated review with missing totals computed."""
    sums: dict[str, Any] = {}
    for kind in ("studies", "reports"):
        before, new = getattr(numbers, f"previous_{kind}"), getattr(numbers, f"new_{kind}")
        if getattr(numbers, f"total_{kind}") is None and None not in (before, new):
            sums[f"total_{kind}"] = before + new
    return replace(numbers, **sums)


def _make_box_counts(numbers: PrismaNumbers, **words: str) -> tuple[BoxCount, ...]:
    return tuple(BoxCount(name, text, getattr(numbers, name)) for name, text in words.items())


def _iterate_previous_boxes(numbers: PrismaNumbers) -> Iterator[FlowBox]:
    counts = _make_box_counts(
        numbers,
        previous_studies="Studies included in previous version of review",
        previous_reports="Reports of studies included in previous version of review",
    )
    yield FlowBox("box1", "Identification", "previous", 0, counts, feeds=("box16",))


def _iterate_database_boxes(numbers: PrismaNumbers) -> Iterator[FlowBox]:
    identified = (
        BoxCount(
            "database_results", "Databases", numbers.identified_in_databases, numbers.databases
        ),
        BoxCount(
            "register_results", "Registers", numbers.identified_in_registers, numbers.registers
        ),
    )
    removed = _make_box_counts(
        numbers,
        duplicates="Duplicate records removed",
        excluded_automatic="Records marked as ineligible by automation tools",
        excluded_other="Records removed for other reasons",
    )
    screened = _make_box_counts(numbers, records_screened="Records screened")
    heading = "Records identified from*:"
    feeds = ("box3", "box4")
    yield FlowBox("box2", "Identification", "main", 0, identified, heading, feeds)
    heading = "Records removed before screening:"
    yield FlowBox("box3", "Identification", "removed", 0, removed, heading)
    yield FlowBox("box4", "Screening", "main", 1, screened, feeds=("box5", "box6"))
    yield FlowBox("box5", "Screening", "removed", 1, (_count_excluded_records(numbers),))
    yield from _iterate_retrieval_boxes(numbers, "dbr", "main", ("box6", "box7", "box8", "box9"))


def _count_excluded_records(numbers: PrismaNumbers) -> BoxCount:
    total, tools = numbers.records_excluded, numbers.excluded_by_tools
    parts: Parts = ()
    if total is not None and tools is not None:
        parts = (("Excluded by a human", total - tools), ("Excluded by automation tools", tools))
    return BoxCount("records_excluded", "Records excluded**", total, parts)


def _iterate_retrieval_boxes(
    numbers: PrismaNumbers, arm: Literal["dbr", "other"], column: Column, names: tuple[str, ...]
) -> Iterator[FlowBox]:
    """Yield the boxes of reports sought, not retrieved, assessed and excluded in one arm."""
    sought, missing, assessed, excluded = names
    aside: Column = "removed" if column == "main" else "other_removed"
    words = {
        sought: (f"{arm}_sought_reports", "Reports sought for retrieval", column, 2),
        missing: (f"{arm}_notretrieved_reports", "Reports not retrieved", aside, 2),
        assessed: (f"{arm}_assessed", "Reports assessed for eligibility", column, 3),
    }
    feeds = {sought: (missing, assessed), assessed: (excluded, "box10")}
    for name, (number, text, where, row) in words.items():
        counts = _make_box_counts(numbers, **{number: text})
        yield FlowBox(name, "Screening", where, row, counts, feeds=feeds.get(name, ()))
    yield FlowBox(
        excluded, "Screening", aside, 3, *_count_exclusions_by_reason(numbers, f"{arm}_excluded")
    )


def _count_exclusions_by_reason(
    numbers: PrismaNumbers, name: str
) -> tuple[tuple[BoxCount, ...], str]:
    """Return the numbers and the heading of the box of excluded reports."""
    reasons: Parts | None = getattr(numbers, name)
    if reasons is None or not reasons or [words for words, _ in reasons] == [""]:
        n = None if reasons is None else sum(n for _, n in reasons)
        return (BoxCount(name, "Reports excluded", n),), ""
    spelled = tuple((words or "No reason given", n) for words, n in reasons)
    return tuple(BoxCount(name, words, n) for words, n in spelled), "Reports excluded:"


def _iterate_other_method_boxes(numbers: PrismaNumbers) -> Iterator[FlowBox]:
    identified = _make_box_counts(
        numbers,
        website_results="Websites",
        organisation_results="Organisations",
        citations_results="Citation searching",
    )
    heading = "Records identified from:"
    yield FlowBox("box11", "Identification", "other", 0, identified, heading, ("box12",))
    yield from _iterate_retrieval_boxes(
        numbers, "other", "other", ("box12", "box13", "box14", "box15")
    )


def _iterate_included_boxes(numbers: PrismaNumbers, updated: bool) -> Iterator[FlowBox]:
    if not updated:
        counts = _make_box_counts(
            numbers,
            new_studies="Studies included in review",
            new_reports="Reports of included studies",
        )
        yield FlowBox("box10", "Included", "main", 4, counts)
        return
    new = _make_box_counts(
        numbers,
        new_studies="New studies included in review",
        new_reports="Reports of new included studies",
    )
    total = _make_box_counts(
        numbers,
        total_studies="Total studies included in review",
        total_reports="Reports of total included studies",
    )
    yield FlowBox("box10", "Included", "main", 4, new, feeds=("box16",))
    yield FlowBox("box16", "Included", "main", 5, total)


def describe_mismatches(numbers: PrismaNumbers) -> tuple[str, ...]:
    """Return a sentence for each contradiction between known numbers."""
    n = numbers
    found_in = _sum_known_numbers(n.identified_in_databases, n.identified_in_registers)
    removed = _sum_known_numbers(n.duplicates, n.excluded_automatic, n.excluded_other)
    equal = [
        ("Records identified, less those removed", found_in, removed, "records screened",
         n.records_screened),
        ("Records screened, less those excluded", n.records_screened, n.records_excluded,
         "reports sought for retrieval", n.dbr_sought_reports),
        *(
            ("Reports sought, less those not retrieved", getattr(n, f"{arm}_sought_reports"),
             getattr(n, f"{arm}_notretrieved_reports"), f"reports assessed{where}",
             getattr(n, f"{arm}_assessed"))
            for arm, where in (("dbr", ""), ("other", " (other methods)"))
        ),
    ]  # fmt: skip
    made = [
        f"{words}, are {before - less:,}; {name} are {after:,}."
        for words, before, less, name, after in equal
        if before is not None and less is not None and after is not None and before - less != after
    ]
    return (*made, *_describe_count_contradictions(n))


def _describe_count_contradictions(n: PrismaNumbers) -> Iterator[str]:
    """Yield a sentence for each step where more records leave than enter."""
    left = n.dbr_assessed
    if left is not None and n.dbr_excluded is not None and n.new_reports is not None:
        left -= sum(count for _, count in n.dbr_excluded)
        if n.other_assessed is not None:
            left += n.other_assessed - sum(count for _, count in n.other_excluded or ())
        if n.new_reports > left:
            kept = f"{left:,} were assessed and not excluded"
            yield f"{n.new_reports:,} reports are included; {kept}."
    for kind in ("new", "total", "previous"):
        studies, reports = getattr(n, f"{kind}_studies"), getattr(n, f"{kind}_reports")
        if studies is not None and reports is not None and studies > reports:
            yield f"There are more {kind} studies ({studies:,}) than reports of them ({reports:,})."


def _sum_known_numbers(*numbers: int | None) -> int | None:
    return sum(n or 0 for n in numbers) if None not in numbers else None


NUMBER_NAMES = tuple(one.name for one in fields(PrismaNumbers) if one.name != "remarks")
"""The numbers that `prisma.yaml` may set."""
