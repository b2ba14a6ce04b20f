"""Build the review board: an overview of a harvest, for a view in a chat and for a model.

The board has the same figures as the report page (`.page`) and the PRISMA diagram (`.prisma`), as
rows: papers found per source, missing papers with reasons, and next steps. The number of reasons
and routes is bounded, so that a board of thousands of papers costs a model no more than one of
hundreds.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..model.job import Harvested, Job
from . import prisma
from .charts import describe_coverage
from .coverage import HarvestRowReader, read_harvest_page, to_paper_row
from .figures import STATES, HarvestFigures
from .labels import build_search_link, get_missing_reason, get_route_label
from .library_links import ReadersLibrary
from .page import TEMPLATES, list_next_steps, render_template, shorten_to_line

_MAX_ROWS = 12  # routes, and reasons
_TITLE_MAX_CHARS = 160  # characters of a title
_DETAIL_MAX_CHARS = 200
_SCRIPTS = (
    "bridge.js",
    "board.js",
    "review.js",
    "incoming.js",
)  # in order of loading; the last one starts the page


def build_review_board(
    job: Job,
    rows: HarvestRowReader,
    library: ReadersLibrary,
    *,
    start: int = 0,
    most: int = 20,
) -> dict[str, Any]:
    """Return the data of a harvest's review board.

    Parameters
    ----------
    job : Job
    rows : callable
        Iterates the job's papers, as its ledger returns them.
    library : ReadersLibrary
        For links to the missing papers.
    start, most : int
        The page of papers without a text in ``missing``: the first number and the page size.
        ``next_start`` is the first number of the next page.
    """
    figures = HarvestFigures()
    for row in rows():
        figures.add_paper(row)
    missing = read_harvest_page(rows, "not_retrieved", start=start, most=most)
    return {
        "title": shorten_to_line(job.title, _TITLE_MAX_CHARS),
        "headline": describe_coverage(figures),
        "counts": {state: figures.states[state] for state in STATES},
        "sources": _count_routes(figures),
        "reasons": _count_reasons(figures),
        "prisma": to_prisma_rows(
            prisma.build_prisma_flow(prisma.count_harvest_numbers(job, figures))
        ),
        "missing": [_to_missing_row(row, library) for row in missing.rows],
        "next_start": missing.next_start,
        "steps": [step._asdict() for step in list_next_steps(job, figures)[:3]],
        "waits": [f"{wait}." for wait in job.waits],
    }


def render_board_view() -> str:
    """Return the HTML page that shows a board in a chat; the page itself contains no data."""
    script = "\n".join((TEMPLATES / name).read_text("utf-8") for name in _SCRIPTS)
    # Trusted: the script is from this package's files.
    return render_template("board.html", script=Markup(script))  # noqa: S704


def _count_routes(figures: HarvestFigures) -> list[dict[str, Any]]:
    """Return papers tried and texts supplied per route, the most productive route first."""
    tried = sorted(
        figures.routes.items(), key=lambda item: (-figures.via[item[0]], -item[1].total(), item[0])
    )
    return [
        {"source": get_route_label(name), "asked": ends.total(), "full_text": figures.via[name]}
        for name, ends in tried[:_MAX_ROWS]
    ]


def _count_reasons(figures: HarvestFigures) -> list[dict[str, Any]]:
    """Return the reasons for missing texts, the most frequent first; rare ones are combined."""
    ordered = sorted(figures.reasons.items(), key=lambda item: (-item[1].total(), item[0]))
    made = [
        {"reason": reason.name, "papers": split.total(), "advice": reason.advice}
        for name, split in ordered[:_MAX_ROWS]
        for reason in [get_missing_reason(name)]
    ]
    if rest := sum(split.total() for _, split in ordered[_MAX_ROWS:]):
        made.append({"reason": "Other reasons", "papers": rest, "advice": "See not_retrieved.csv."})
    return made


def to_prisma_rows(flow: prisma.PrismaFlow) -> list[dict[str, Any]]:
    """Return the diagram's numbers in reading order, with removed records marked ``left_out``."""
    return [
        {
            "title": count.words.rstrip("*"),
            "n": count.n,
            "left_out": box.column in ("removed", "other_removed"),
            "parts": [{"text": text, "n": n} for text, n in count.parts],
        }
        for box in flow.boxes
        for count in box.counts
    ]


def _to_missing_row(row: Harvested, library: ReadersLibrary) -> dict[str, Any]:
    return {
        **to_paper_row(row),
        "reason": get_missing_reason(row.reason).name,
        "detail": shorten_to_line(row.detail, _DETAIL_MAX_CHARS),
        "link": library.build_link(row.paper) or build_search_link(row),
    }
